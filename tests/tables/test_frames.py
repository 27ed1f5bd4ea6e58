"""Laws of FrameEncoder: what it may depend on, and what it may not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks
from skops import io

from uneven.tables import FrameEncoder
from uneven.tables.category_columns import ManyCategoriesEncoder

VIEWS = ("trees", "linear")
ROWS = 240


def dense(found: object) -> np.ndarray:
    return found.toarray() if issparse(found) else np.asarray(found)  # type: ignore[union-attr, attr-defined]


def table(seed: int, rows: int = ROWS) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    words = np.array(["red", "blue", "green", "old", "new", "car", "bus", "bike", "fast", "slow"])
    return pd.DataFrame(
        {
            "size": np.where(random.random(rows) < 0.2, np.nan, random.normal(50, 9, rows)),
            "count": pd.array(np.where(random.random(rows) < 0.1, None, random.integers(0, 9, rows)), dtype="Int64"),
            "colour": random.choice(["red", "blue", None], rows),
            "place": [f"place {k}" for k in random.integers(0, 40, rows)],
            "title": [" ".join(random.choice(words, 4)) + f" {k}" for k in random.integers(0, 900, rows)],
            "when": pd.Timestamp("2021-03-01") + pd.to_timedelta(random.integers(0, 9000, rows), unit="h"),
        }
    )


@pytest.fixture
def labels() -> np.ndarray:
    return np.random.default_rng(5).choice(["no", "yes"], ROWS, p=[0.7, 0.3])


@parametrize_with_checks([FrameEncoder(view) for view in VIEWS])
def test_scikit_learn_contract(estimator: FrameEncoder, check: object) -> None:
    check(estimator)  # type: ignore[operator]


@pytest.mark.parametrize("view", VIEWS)
def test_the_order_of_the_rows_does_not_matter(view: str, labels: np.ndarray) -> None:
    X, new = table(0), table(1, 50)
    order = np.random.default_rng(2).permutation(ROWS)
    first = FrameEncoder(view).fit(X, labels)
    second = FrameEncoder(view).fit(X.iloc[order], labels[order])
    assert list(first.get_feature_names_out()) == list(second.get_feature_names_out())
    assert np.allclose(dense(first.transform(new)), dense(second.transform(new)), atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("view", VIEWS)
def test_the_order_of_the_columns_does_not_matter_and_further_ones_are_ignored(view: str, labels: np.ndarray) -> None:
    encoder, new = FrameEncoder(view).fit(table(0), labels), table(1, 50)
    found = dense(encoder.transform(new))
    other = new[new.columns[::-1]].assign(further="x")
    assert np.array_equal(dense(encoder.transform(other)), found, equal_nan=True)


def test_rows_of_the_fit_for_linear_models(labels: np.ndarray) -> None:
    encoder = FrameEncoder("linear")
    first = encoder.fit_transform(table(0), labels)
    assert issparse(first)
    assert np.array_equal(first.toarray(), encoder.transform(table(0)).toarray())


def test_rows_of_the_fit_for_trees_differ_in_labels_and_counts_only(labels: np.ndarray) -> None:
    encoder = FrameEncoder("trees")
    first, second = encoder.fit_transform(table(0), labels), encoder.transform(table(0))
    assert first.dtype == second.dtype == np.float32
    names = encoder.get_feature_names_out()
    learnt = np.array([name.endswith((": mean label", ": rows")) for name in names])
    assert np.array_equal(first[:, ~learnt], second[:, ~learnt], equal_nan=True)
    counts = np.array([name.endswith(": rows") for name in names])
    assert np.array_equal(first[:, counts] + 1, second[:, counts])
    assert sum(counts) == 2


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_each_row_is_encoded_alone(view: str, rows: int, labels: np.ndarray) -> None:
    encoder, new = FrameEncoder(view).fit(table(0), labels), table(1, 50)
    whole = dense(encoder.transform(new))
    assert np.allclose(dense(encoder.transform(new[:rows])), whole[:rows], atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("view", VIEWS)
def test_clone_fits_the_same_and_a_fit_forgets_the_one_before(view: str, labels: np.ndarray) -> None:
    encoder = FrameEncoder(view).fit(table(0), labels)
    again = clone(encoder).fit(np.zeros((3, 2))).fit(table(0), labels)
    assert np.array_equal(dense(encoder.transform(table(1))), dense(again.transform(table(1))), equal_nan=True)
    assert not hasattr(again.fit(np.zeros((3, 2))), "feature_names_in_")


@pytest.mark.parametrize("view", VIEWS)
def test_a_file_without_pickle(view: str, labels: np.ndarray) -> None:
    encoder = FrameEncoder(view).fit(table(0), labels)
    data = io.dumps(encoder)
    foreign = io.get_untrusted_types(data=data)
    assert foreign
    assert all(name.startswith("uneven.tables.") for name in foreign)
    again = io.loads(data, trusted=foreign)
    assert np.array_equal(dense(again.transform(table(1))), dense(encoder.transform(table(1))), equal_nan=True)


# -- labels -----------------------------------------------------------------------------------------------------------


def categories(codes: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"city": pd.Categorical([f"c{code}" for code in codes])})


def test_mean_labels_are_those_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    codes, y = random.integers(0, 30, 500), random.integers(0, 2, 500)
    X, new = categories(codes), categories(np.arange(40))
    ours = ManyCategoriesEncoder().fit(X, y)
    theirs = TargetEncoder(smooth=10.0).fit(X.astype(str), y)
    assert np.allclose(ours.transform(new)[:, 0], theirs.transform(new.astype(str))[:, 0], rtol=1e-6)
    assert np.array_equal(ours.transform(new)[:, 1], np.bincount(codes, minlength=40))


def test_mean_labels_of_the_fit_come_from_other_folds() -> None:
    random = np.random.default_rng(1)
    codes, y = random.integers(0, 30, 500), random.integers(0, 2, 500)
    found = ManyCategoriesEncoder(random_state=3).fit_transform(categories(codes), y)[:, 0]
    for train, test in StratifiedKFold(5, shuffle=True, random_state=3).split(codes, y):
        for row in test[:20]:
            same = train[codes[train] == codes[row]]
            assert found[row] == pytest.approx((y[same].sum() + 10 * y[train].mean()) / (same.size + 10), rel=1e-6)


@pytest.mark.parametrize("rows_of_each", [1, 2, 4])
def test_random_labels_cannot_be_learnt(rows_of_each: int) -> None:
    random = np.random.default_rng(rows_of_each)
    codes, y = np.repeat(np.arange(3000 // rows_of_each), rows_of_each), random.integers(0, 2, 3000)
    encoder = ManyCategoriesEncoder()
    honest = encoder.fit_transform(categories(codes), y)[:, 0]
    naive = encoder.transform(categories(codes))[:, 0]
    assert roc_auc_score(y, naive) > 0.75  # what it would look like if rows saw their own labels
    assert abs(roc_auc_score(y, honest) - 0.5) < 0.04


def test_a_pipeline_learns_from_honest_columns() -> None:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"number": random.normal(size=600), "card": [f"card {k}" for k in np.repeat(np.arange(300), 2)]})
    y = random.integers(0, 2, 600)
    forest = RandomForestClassifier(50, oob_score=True, random_state=0, min_samples_leaf=5)
    model = make_pipeline(FrameEncoder("trees"), forest).fit(X, y)
    assert abs(model[-1].oob_score_ - 0.5) < 0.08


def test_many_categories_help_where_they_matter() -> None:
    random = np.random.default_rng(0)
    rate = random.choice([0.1, 0.9], 60)
    codes = random.integers(0, 60, 1500)
    X, y = pd.DataFrame({"shop": [f"s{code}" for code in codes]}), random.random(1500) < rate[codes]
    for model in (RandomForestClassifier(30, random_state=0), LogisticRegression()):
        view = "linear" if isinstance(model, LogisticRegression) else "trees"
        found = cross_val_predict(make_pipeline(FrameEncoder(view), model), X, y, method="predict_proba")[:, 1]
        assert roc_auc_score(y, found) > 0.85


@pytest.mark.parametrize(
    "y", [np.arange(60) % 3, np.arange(60) / 7, np.r_[np.zeros(59), 1], np.zeros(60), None], ids=str
)
def test_other_labels(y: np.ndarray | None) -> None:
    X = pd.DataFrame({"shop": [f"s{k % 30}" for k in range(60)]})
    encoder = FrameEncoder("trees")
    found = encoder.fit_transform(X, y)
    assert np.isfinite(found).all()
    assert found.shape[1] == len(encoder.get_feature_names_out()) == encoder.transform(X).shape[1]
    assert found.shape[1] == {"None": 1}.get(str(y), 4 if y is not None and y.max() == 2 else 2)
