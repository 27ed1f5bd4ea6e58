"""What UnevenThresholdClassifierCV says about bad input: one sentence each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from uneven import UnevenThresholdClassifierCV as Threshold
from uneven.errors import UnevenError
from uneven.labels import positive_class

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.arange(40) % 2
FITTED = GaussianNB().fit(X, Y)


class FailsOnFewRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fits all 40 rows and no fold of them."""

    def fit(self, X: Any, y: Any) -> FailsOnFewRows:
        if len(X) < 40:
            raise RuntimeError("too few rows")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.full((len(X), 2), 0.5)


@pytest.mark.parametrize(
    ("parameters", "fit", "words"),
    [
        (
            {"method": "best"},
            {},
            "method must be one of gibbs, affine, argmin, platt, isotonic, cost, none, got 'best'",
        ),
        ({"order": 0}, {}, "order must be an integer from 1 to 64, got 0"),
        ({"order": 65}, {}, "order must be an integer from 1 to 64, got 65"),
        ({"order": 2.5}, {}, "order must be an integer from 1 to 64, got 2.5"),
        ({"estimator": LogisticRegression}, {}, "estimator must be a classifier, such as LogisticRegression"),
        ({"estimator": None}, {}, "estimator must be a classifier, such as LogisticRegression.., got None"),
        ({"estimator": LinearRegression()}, {}, "estimator must have predict_proba or decision_function"),
        ({"estimator": FailsOnFewRows()}, {}, "FailsOnFewRows cannot be fitted on every fold: RuntimeError: too few"),
        ({"prefit": True}, {}, "prefit=True needs a fitted estimator, got GaussianNB.*fit it first"),
        ({"prefit": True, "estimator": FITTED}, {"y": np.where(Y, "a", "b")}, "knows the classes .0, 1., got rows of"),
        ({"cv": "prefit"}, {}, "got 'prefit'; prefit=True would work"),
        ({"cv": 1}, {}, "cv must be at least 2 folds"),
        ({"cv": 1.5}, {}, "a share of rows between 0 and 1.*got 1.5"),
        ({"cv": []}, {}, "cv must yield at least one split"),
        ({"refit": False}, {}, "refit=False needs a single split, such as cv=0.2, got 5 splits"),
        ({"fp_cost": 0}, {}, "fp_cost must be positive, got 0"),
        ({"fn_cost": -1}, {}, "fn_cost must be positive, got -1"),
        ({"fn_cost": [1.0] * 40}, {}, "fn_cost of the learner itself must be a number"),
        ({}, {"fn_cost": [1.0] * 3}, "fn_cost must be a number or 40 numbers, one for each row, got shape"),
        ({}, {"fn_cost": np.nan}, "fn_cost must be a finite number, got nan"),
        ({}, {"sample_weight": -np.ones(40)}, "sample_weight must be finite and nonnegative"),
        ({}, {"sample_weight": np.ones(3)}, "sample_weight must be 40 numbers"),
        ({}, {"y": None}, "requires y to be passed"),
        ({}, {"y": np.zeros(40)}, "two classes, got one class only"),
        ({}, {"y": np.arange(40) % 3}, "Only binary classification is supported"),
        ({}, {"y": np.arange(40) == 3}, "cross-validation needs at least 2 examples of each class, got 1"),
        ({"fn_cost": 3}, {"y": np.where(Y, "a", "b")}, "pos_label must say which of the labels 'a' and 'b'"),
        ({"pos_label": "c"}, {"y": np.where(Y, "a", "b")}, "pos_label must be one of the labels 'a' and 'b', got 'c'"),
        ({"pos_label": "a"}, {}, "replace labels by 0 and 1 in sorted order.* give neg_label too"),
        ({"neg_label": 0}, {}, "neg_label needs pos_label"),
        ({"pos_label": "a", "neg_label": "c"}, {"y": np.where(Y, "a", "b")}, "must be the two labels 'a' and 'b', got"),
        ({"pos_label": 1, "neg_label": 1}, {}, "must be the two labels 0 and 1, got 1 and 1"),
        ({"pos_label": "a", "neg_label": 3}, {}, "must be the two labels 0 and 1, got 'a' and 3"),
    ],
)
def test_one_sentence(parameters: dict[str, Any], fit: dict[str, Any], words: str) -> None:
    model = Threshold(**{"estimator": GaussianNB(), **parameters})
    with pytest.raises(UnevenError, match=words) as caught:
        model.fit(X, **{"y": Y, **fit})
    assert "\n" not in str(caught.value)


def test_fewer_folds_for_a_rare_class() -> None:
    y = (np.arange(40) < 3).astype(int)
    with pytest.warns(UserWarning, match="using 3 stratified folds"):
        Threshold(GaussianNB()).fit(X, y)


def test_costs_that_predict_needs() -> None:
    model = Threshold(GaussianNB(), fp_cost=2).fit(X, Y, fn_cost=np.arange(1.0, 41.0))
    for method in ("predict", "decision_function"):
        with pytest.raises(UnevenError, match=f"the fit had fn_cost of each row, so {method} needs it for these rows"):
            getattr(model, method)(X)
    with pytest.raises(UnevenError, match="so score needs it"):
        model.score(X, Y)
    assert model.predict_proba(X).shape == (40, 2)
    assert model.predict(X, fn_cost=np.arange(1.0, 41.0)).shape == (40,)
    with pytest.raises(UnevenError, match="fn_cost must be a number or 40 numbers"):
        model.predict(X, fn_cost=[1.0, 2.0])
    with pytest.raises(UnevenError, match="fn_cost must not be negative"):
        model.predict(X, fn_cost=-2)


def test_the_positive_class_of_encoded_labels() -> None:
    words, codes = np.array(["fraud", "ok"]), np.array([0, 1])
    for classes in (words, codes, codes.astype(float), codes.astype(bool)):
        assert positive_class(classes, "fraud", symmetric=False, neg_label="ok") == 0
        assert positive_class(classes, "ok", symmetric=False, neg_label="fraud") == 1
    assert positive_class(codes, 1, symmetric=False, neg_label=2) == 0  # encoded: 1 became 0, 2 became 1
    assert positive_class(codes, 1, symmetric=False, neg_label=0) == 1
