"""From a table to a classifier: what is done to its columns, and the learners that are compared."""

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

from uneven.cli._tables import Columns
from uneven.learners import UnevenClassifierCV, UnevenLinearClassifier, UnevenSVC

MISSING = "missing"


def as_texts(values: Any) -> np.ndarray:
    """Categories as texts, missing ones marked."""
    import pandas as pd

    frame = pd.DataFrame(values)
    return frame.astype(object).where(frame.notna(), MISSING).astype(str).to_numpy(dtype=object)


def preprocessing(columns: Columns) -> ColumnTransformer:
    """Numbers: median for missing ones (which are flagged), then scaled. Texts: one column for each of them."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    texts = make_pipeline(
        FunctionTransformer(as_texts, feature_names_out="one-to-one"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    return ColumnTransformer([("numbers", numbers, columns.numeric), ("texts", texts, columns.categorical)])


def learner(kind: str, loss: str | None, fp_cost: str, fn_cost: str, *, tune: bool, gamma: str) -> BaseEstimator:
    """The classifier that was asked for; labels are 0 and 1."""
    costs: dict[str, Any] = {"fp_cost": float_or_text(fp_cost), "fn_cost": float_or_text(fn_cost)}
    if tune:
        return UnevenClassifierCV(kind, loss=loss, **costs) if loss else UnevenClassifierCV(kind, **costs)
    if kind == "svc":
        return UnevenSVC(margin_gamma=float_or_text(gamma), **costs)
    return UnevenLinearClassifier(loss or "logistic", margin_gamma=float_or_text(gamma), **costs)


def float_or_text(value: str) -> float | str:
    """A cost as scikit-learn likes it, a number; 1/3 stays exact."""
    try:
        return float(value)
    except ValueError:
        return value


def alternatives(fp_cost: float, fn_cost: float) -> dict[str, BaseEstimator]:
    """What someone would use instead."""
    threshold = fp_cost / (fp_cost + fn_cost)
    plain = LogisticRegression(max_iter=2000)
    return {
        "plain logistic regression": plain,
        "class-weighted": LogisticRegression(max_iter=2000, class_weight={0: fp_cost, 1: fn_cost}),
        "threshold-moved": FixedThresholdClassifier(plain, threshold=threshold, response_method="predict_proba"),
    }


def assembled(columns: Columns, classifier: BaseEstimator) -> Pipeline:
    return Pipeline([("columns", preprocessing(columns)), ("classifier", classifier)])
