"""From a table to a classifier: preprocessing of the columns, and the classifiers that are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from uneven import _inputs
from uneven.cli._tables import Columns
from uneven.costs import Cost
from uneven.learners import UnevenClassifierCV, UnevenLinearClassifier, UnevenSVC

MISSING = "missing"


def as_texts(values: Any) -> np.ndarray:
    """Categories as strings; a missing one becomes the category "missing"."""
    import pandas as pd

    frame = pd.DataFrame(values)
    return frame.astype(object).where(frame.notna(), MISSING).astype(str).to_numpy(dtype=object)


def preprocessing(columns: Columns) -> ColumnTransformer:
    """Numbers are scaled, missing ones filled with the median and flagged; strings are one-hot encoded."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    texts = make_pipeline(
        FunctionTransformer(as_texts, feature_names_out="one-to-one"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    return ColumnTransformer([("numbers", numbers, columns.numeric), ("texts", texts, columns.categorical)])


def read_costs(fp_cost: str, fn_cost: str) -> Cost:
    """Two positive costs as doubles."""
    fp, fn = (float(_inputs.positive(*given)) for given in (("--fp-cost", fp_cost), ("--fn-cost", fn_cost)))
    return Cost(fp_cost=fp, fn_cost=fn)


def learner(kind: str, loss: str | None, fp_cost: str, fn_cost: str, *, tune: bool, gamma: str) -> BaseEstimator:
    """The classifier that was asked for; its labels are 0 and 1."""
    costs: dict[str, Any] = {"fp_cost": _float_or_text(fp_cost), "fn_cost": _float_or_text(fn_cost)}
    if tune:
        return UnevenClassifierCV(kind, loss=loss, **costs) if loss else UnevenClassifierCV(kind, **costs)
    if kind == "svc":
        return UnevenSVC(margin_gamma=_float_or_text(gamma), **costs)
    return UnevenLinearClassifier(loss or "logistic", margin_gamma=_float_or_text(gamma), **costs)


def _float_or_text(value: str) -> float | str:
    """A decimal as the float a Python user would give; a fraction such as 1/3 as text, which is read exactly."""
    try:
        return float(value)
    except ValueError:
        return value


def alternatives(cost: Cost) -> dict[str, BaseEstimator]:
    """What is commonly used when costs are unequal."""
    plain = LogisticRegression(max_iter=2000)
    weights = {0: cost.fp_cost, 1: cost.fn_cost}
    return {
        "plain logistic regression": plain,
        "class-weighted": LogisticRegression(max_iter=2000, class_weight=weights),
        "threshold-moved": FixedThresholdClassifier(plain, threshold=cost.alpha, response_method="predict_proba"),
    }


def assembled(columns: Columns, classifier: BaseEstimator) -> Pipeline:
    """Preprocessing and a classifier in one pipeline."""
    return Pipeline([("columns", preprocessing(columns)), ("classifier", classifier)])
