"""What scikit-learn's checks would return unchanged is read without them, to the same effect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from linear_data import binary
from sklearn.exceptions import DataConversionWarning

from uneven import UnevenLinearClassifier as Linear
from uneven.errors import CostError
from uneven.learners.training_set import read_features
from uneven.solvers.running import require_finite

X, Y = binary(200, 3)


def test_a_plain_array_is_not_copied_and_its_columns_are_counted() -> None:
    model = Linear()
    for kind in (X, np.asfortranarray(X), X.astype(np.float32), X[::2], X[:, ::2]):
        assert read_features(model, kind, reset=True) is kind
        assert model.n_features_in_ == kind.shape[1]


@pytest.mark.parametrize(
    "other",
    [X.tolist(), X.astype(">f8"), X.astype(np.float16), (10 * X).astype(int), X.astype(object), pd.DataFrame(X)],
    ids=["list", "big-endian", "half", "int", "object", "DataFrame"],
)
def test_other_kinds_are_converted(other: Any) -> None:
    model = Linear().fit(other, Y)
    same = Linear().fit(np.asarray(other, dtype=np.float64), Y)
    assert model.n_features_in_ == 3
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-6)


def test_names_of_columns_are_forgotten_by_a_fit_without_them() -> None:
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = Linear().fit(table, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but"):
        model.predict(table)


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (X[:, :2], "X has 2 features, but UnevenLinearClassifier is expecting 3 features"),
        (X[:0], "0 sample"),
        (X[0], "Expected 2D array, got 1D array"),
        (X[None], "Found array with dim 3"),
        (X + 1j, "Complex data not supported"),
        (np.full((2, 3), np.nan), "X must hold finite numbers, got NaN in row 0, column 0"),
    ],
)
def test_what_does_not_fit_is_refused(bad: np.ndarray, complaint: str) -> None:
    model = Linear().fit(X, Y)
    with pytest.raises(ValueError, match=complaint):
        model.predict(bad)


def test_numbers_whose_sum_overflows_are_finite() -> None:
    require_finite("X", np.array([[1.7e308], [1.7e308]]))
    with pytest.raises(CostError, match="got inf in row 2, column 0"):
        require_finite("X", np.array([[1.7e308], [1.7e308], [np.inf]]))


@pytest.mark.parametrize(
    "labels",
    [Y, Y[::-1][::-1], Y.astype(bool), Y.astype(float), Y.astype(np.int8), Y.tolist(), Y.astype("U3"), Y.astype("S3")],
)
def test_labels_of_any_kind(labels: Any) -> None:
    model = Linear().fit(X, labels)
    np.testing.assert_array_equal(model.coef_, Linear().fit(X, Y).coef_)
    assert model.classes_.dtype == np.asarray(labels).dtype
    assert set(model.predict(X).tolist()) == set(np.asarray(labels).tolist())


def test_labels_in_a_column_warn() -> None:
    with pytest.warns(DataConversionWarning, match="column-vector"):
        Linear().fit(X, Y[:, None])


@pytest.mark.parametrize("labels", [Y[:-1], Y[:-1].tolist(), Y[:-1].astype(object)])
def test_another_number_of_labels_is_refused(labels: Any) -> None:
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[200, 199\]"):
        Linear().fit(X, labels)
