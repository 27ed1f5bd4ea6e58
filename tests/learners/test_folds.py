"""Folds of later rows and of whole groups, in every learner that makes folds: laws on random rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, StratifiedKFold

import uneven
from uneven.errors import CostError
from uneven.labels import read_groups
from uneven.learners.folds import time_and_group_splits
from uneven.tables.times import read_times


def some_rows(seed: int, rows: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X, y, groups of uneven sizes and times with many ties, in random order."""
    random = np.random.default_rng(seed)
    group = random.choice(40, rows, p=random.dirichlet(np.ones(40)))
    time = random.integers(0, 30, rows)
    X = random.normal(size=(rows, 3)) + random.normal(size=(40, 3))[group]
    y = (X[:, 0] + random.logistic(size=rows) > 0.5).astype(int)
    return X, y, group, time


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("folds", [2, 3, 5])
def test_laws_of_folds(seed: int, folds: int) -> None:
    _, y, group, time = some_rows(seed)
    by_time = time_and_group_splits(y, folds, times=time)
    by_group = time_and_group_splits(y, folds, groups=group)
    by_both = time_and_group_splits(y, folds, times=time, groups=group)
    for found in (by_time, by_both):
        for train, test in found:
            assert time[train].max() < time[test].min()
    for found in (by_group, by_both):
        for train, test in found:
            assert not set(group[train]) & set(group[test])
    for found in (by_time, by_group, by_both):
        tested = np.concatenate([test for _, test in found])
        assert np.unique(tested).size == tested.size
        assert all(np.unique(y[train]).size == 2 for train, _ in found)
    assert len(by_time) == len(by_group) == folds
    assert sum(test.size for _, test in by_group) == y.size
    assert {*np.concatenate([test for _, test in by_both])} == {
        *np.concatenate([test for _, test in time_and_group_splits(y, min(folds, 3), times=time)])
    }


@pytest.mark.parametrize("seed", range(8))
def test_classes_are_as_even_as_those_of_scikit_learn(seed: int) -> None:
    X, y, group, _ = some_rows(seed)
    group = group * 7 + np.arange(y.size) % 7
    theirs = StratifiedGroupKFold(5, shuffle=True, random_state=seed).split(X, y, group)
    ours = time_and_group_splits(y, 5, groups=group, seed=seed)

    def spread(found: Any) -> float:
        counts = np.array([np.bincount(y[test], minlength=2) for _, test in found])
        return float((counts.std(axis=0) / counts.mean(axis=0)).sum())

    assert spread(ours) <= 1.5 * spread(list(theirs)) + 0.02


def test_rows_of_any_order_have_the_same_folds_in_time() -> None:
    _, y, _, time = some_rows(0)
    order = np.random.default_rng(1).permutation(y.size)
    there = [set(test) for _, test in time_and_group_splits(y, 4, times=time)]
    here = [set(order[test]) for _, test in time_and_group_splits(y[order], 4, times=time[order])]
    assert there == here


TIMES: list[tuple[list[Any], list[int]]] = [
    ([3.5, 1, 2], [2, 0, 1]),
    (["10", "9", "2"], [2, 1, 0]),
    (["31.12.2023", "01.01.2024", "02.01.2023"], [1, 2, 0]),
    (["2024-02", "2023-12", "2024-10"], [1, 0, 2]),
    (["12.2023", "01.2024", "02.2023"], [1, 2, 0]),
    (["Dec 2023", "Jan 2024", "Feb 2023"], [1, 2, 0]),
    (["2024-Q1", "2023-Q4", "2024-Q2"], [1, 0, 2]),
    (["Q1 2024", "Q4 2023", "Q2 2024"], [1, 0, 2]),
    (["2024-W9", "2024-W10", "2023-W50"], [1, 2, 0]),
    (["2013/14", "2012/13", "2014/15"], [1, 0, 2]),
    (["2024-03-01T10:00:00", "2024-03-01T09:59:00", "2023-03-01T10:00:00"], [2, 1, 0]),
    ([np.datetime64("2024-03-01"), np.datetime64("2023-03-01")], [1, 0]),
]


@pytest.mark.parametrize(("times", "expected"), TIMES)
def test_times_in_any_form(times: list[Any], expected: list[int]) -> None:
    assert read_times(times).tolist() == expected
    assert read_times(np.array(times)).tolist() == expected


def test_times_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    days = pandas.Series(pandas.to_datetime(["2024-03-01", "2023-01-05", "2024-03-01"]))
    for one in (days, days.dt.to_period("M"), days.dt.tz_localize("Europe/Berlin"), days.dt.date, days.astype(str)):
        assert read_times(one).tolist() == [1, 0, 1]
    sizes = pandas.Series(pandas.Categorical(["old", "new", "old"], categories=["old", "new"], ordered=True))
    assert read_times(sizes).tolist() == [0, 1, 0]
    assert read_groups(sizes).tolist() == [0, 1, 0]
    with pytest.raises(CostError, match="1 of 3 rows without a time"):
        read_times(days.where([True, False, True]))
    with pytest.raises(CostError, match="1 of 3 rows without one"):
        read_groups(pandas.Series(["a", None, "b"]))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"times": np.ones(20)}, "same value in every row"),
        ({"times": [*np.arange(19.0), np.nan]}, "1 of 20 rows without a time"),
        ({"times": ["March", "April"] * 10}, "2024-Q1"),
        ({"times": np.arange(19)}, "each of the 20 rows, got 19"),
        ({"times": np.zeros((20, 2))}, "one entry for each row"),
        ({"times": "date"}, "got 'date'"),
        ({"times": np.where(np.arange(20) < 10, 0, 1)}, "before the last of the 2 different times"),
        ({"groups": np.ones(20)}, "two groups"),
        ({"groups": np.arange(20) // 10}, "are in one group"),
        ({"groups": [None, *range(19)]}, "1 of 20 rows without one"),
    ],
)
def test_what_cannot_be(given: dict[str, Any], said: str) -> None:
    y = np.arange(20) // 10
    with pytest.raises(CostError, match=said):
        uneven.UnevenThresholdClassifierCV(LogisticRegression()).fit(np.zeros((20, 1)), y, **given)


def test_fewer_folds_with_a_warning() -> None:
    y = np.arange(30) % 2
    with pytest.warns(UserWarning, match="3 different values"):
        assert len(time_and_group_splits(y, 5, times=np.arange(30) // 10)) == 2
    with pytest.warns(UserWarning, match="3 groups have"):
        assert len(time_and_group_splits(y, 5, groups=np.arange(30) // 10)) == 3
    with pytest.raises(CostError, match="give cv as a number"):
        uneven.UnevenThresholdClassifierCV(LogisticRegression(), cv=StratifiedKFold(2)).fit(y[:, None], y, times=y)


class Told(LogisticRegression):  # type: ignore[misc]
    """Remembers which rows each fit saw: the last column of X is the row."""

    seen: list[set[int]] = []  # noqa: RUF012 - clones share it

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.seen.append(set(X[:, -1].astype(int)))
        return super().fit(X, y, sample_weight)


def learners() -> list[Any]:
    return [
        uneven.UnevenThresholdClassifierCV(Told(), cv=3, fn_cost=5),
        uneven.UnevenThresholdClassifierCV(Told(), cv=0.3, fn_cost=5),
        uneven.UnevenEnsembleClassifier(members={"told": Told()}, cv=3, fn_cost=5),
    ]


@pytest.mark.parametrize("learner", learners(), ids=str)
def test_the_folds_of_learners(learner: Any) -> None:
    X, y, group, time = some_rows(3)
    X = np.column_stack([X[:, :2], np.arange(y.size)])
    for given in ({"times": time}, {"groups": group}, {"times": time, "groups": group}):
        Told.seen.clear()
        learner.fit(X, y, **given)
        folds = [rows for rows in Told.seen if len(rows) < y.size]
        assert folds
        for rows in folds:
            inside, others = np.array(sorted(rows)), np.array(sorted(set(range(y.size)) - rows))
            if given.keys() == {"groups"}:
                assert not set(group[inside]) & set(group[others])
            elif given.keys() == {"times"}:
                assert time[inside].max() < time[others].min()
        tested = ~np.isnan(learner.out_of_fold_probability_) if hasattr(learner, "out_of_fold_probability_") else None
        if tested is not None and "times" in given:
            assert time[tested].min() > time[~tested].min()
        assert learner.out_of_fold_cost_.low <= learner.out_of_fold_cost_.cost <= learner.out_of_fold_cost_.high


def test_search_uses_them() -> None:
    X, y, group, time = some_rows(4)
    search = uneven.UnevenClassifierCV("linear", margin_gammas=[1.0, 2.0], cv=3, fn_cost=5)
    for given in ({"times": time}, {"groups": group}):
        parts = time_and_group_splits(y, 3, **given)
        expected = uneven.UnevenClassifierCV("linear", margin_gammas=[1.0, 2.0], cv=parts, fn_cost=5).fit(X, y)
        assert np.array_equal(
            search.fit(X, y, **given).cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
        )


def test_a_splitter_of_groups_and_routing() -> None:
    X, y, group, _ = some_rows(5)
    ours = uneven.UnevenThresholdClassifierCV(LogisticRegression(), cv=GroupKFold(3), fn_cost=5).fit(X, y, groups=group)
    number = uneven.UnevenThresholdClassifierCV(LogisticRegression(), cv=3, fn_cost=5).fit(X, y, groups=group)
    with config_context(enable_metadata_routing=True):
        for one in (ours, number):
            routed = uneven.UnevenThresholdClassifierCV(**one.get_params(deep=False)).fit(X, y, groups=group)
            assert routed.shift_ == one.shift_
