"""Families of members: what "auto" chooses, and that one fit serves several settings."""

from __future__ import annotations

import pickle
from copy import deepcopy
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from skops import io
from small_members import use_small_members

import uneven
from uneven.errors import MissingExtraError
from uneven.learners.ensemble import members
from uneven.learners.ensemble.member_models import Forest, has_settings
from uneven.learners.ensemble.members import FAMILIES, Family, Size, choose_families, families_named
from uneven.learners.out_of_fold import positive_probability, positive_scores

Ensemble = uneven.UnevenEnsembleClassifier


def _names(rows: int, columns: int = 20, **more: Any) -> list[str]:
    sizes = [Size(rows, 20), Size(rows, columns, **more)]  # of the folds: the largest one counts
    return [family.name for family in choose_families({"linear": sizes, "trees": sizes})]


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(150, 5, n_informative=3, weights=[0.7], flip_y=0.1, random_state=1)
    return X.astype(np.float32), y


def _without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    found = members.find_spec
    monkeypatch.setattr(members, "find_spec", lambda name: None if name in packages else found(name))


def test_auto_uses_what_suits_the_size() -> None:
    assert _names(1_000) == ["linear", "kernel", "svc", "extra_trees", "lightgbm", "forest", "catboost"]
    assert _names(20_000) == ["linear", "extra_trees", "lightgbm", "forest", "catboost"]
    assert _names(1_000_000) == _names(20_000)
    assert "kernel" not in _names(1_000, columns=600)
    assert _names(30, columns=8_000) == ["linear", "extra_trees", "forest"]
    assert set(_names(9_000, columns=8_000)) > {"linear", "extra_trees", "forest"}


def test_large_data_get_fewer_fits_and_trees() -> None:
    for family in FAMILIES.values():
        counts = [len(family.candidates(Size(rows, 20), 0)) for rows in (1_000, 20_000, 200_000)]
        assert counts[0] >= counts[1] >= counts[2]
    trees = [FAMILIES["forest"].candidates(Size(rows, 20), 0)[0].estimator for rows in (1_000, 200_000)]
    assert trees[0].n_estimators > trees[1].n_estimators


def test_auto_uses_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "catboost")
    assert "catboost" not in _names(1_000)
    assert "histogram" not in _names(1_000)
    with pytest.raises(
        MissingExtraError, match=r"members named 'catboost' need the extra 'catboost'.*uneven\[catboost"
    ):
        families_named(["linear", "catboost"])
    _without(monkeypatch, "catboost", "lightgbm", "xgboost")
    assert "histogram" in _names(1_000)
    assert "histogram" not in _names(1_000, sparse=True)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_learns(name: str, data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_members(monkeypatch)
    X, y = data
    family: Family = members.FAMILIES[name]
    for candidate in family.candidates(Size(150, 5), 0):
        model = candidate.estimator.fit(X, y, sample_weight=np.ones(150))
        scores, are_probabilities = positive_scores(model, X, 1)
        assert are_probabilities
        assert scores.reshape(150, -1).shape[1] == len(candidate.settings)
        for column in scores.reshape(150, -1).T:
            assert ((column >= 0) & (column <= 1)).all()
            assert column[y == 1].mean() > column[y == 0].mean()


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("svc", "forest", "extra_trees")])
def test_one_fit_serves_every_setting(
    name: str, data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_small_members(monkeypatch)
    X, y = data
    candidate = members.FAMILIES[name].candidates(Size(150, 5), 0)[0]
    assert has_settings(candidate.estimator)
    model = candidate.estimator.fit(X, y)
    columns, _ = positive_scores(model, X, 1)
    for number in range(len(candidate.settings)):
        alone = candidate.estimator.unfitted_at(number).fit(X, y)
        np.testing.assert_allclose(positive_probability(model.fitted_at(number), X, 1), columns[:, number], atol=1e-6)
        # A linear path ends when its accuracy suffices, and so does a fit alone.
        np.testing.assert_allclose(positive_probability(alone, X, 1), columns[:, number], atol=2e-2)


def test_a_forest_is_as_good_as_that_of_scikit_learn() -> None:
    X, y = make_classification(600, 6, n_informative=4, flip_y=0.1, random_state=0)
    ours = Forest(60, min_samples_leaf=3).fit(X[:300], y[:300])
    theirs = RandomForestClassifier(60, min_samples_leaf=3, random_state=0).fit(X[:300], y[:300])
    a, b = (model.predict_proba(X[300:])[:, 1] for model in (ours, theirs))
    assert np.abs(a - b).mean() < 0.05
    assert np.corrcoef(a, b)[0, 1] > 0.97


def test_a_forest_says_the_mean_of_its_trees(data: tuple[np.ndarray, np.ndarray]) -> None:
    """Exactly what ``predict_proba`` of its trees says, also of trees that have seen one class only, and of gaps."""
    X, y = data
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X).astype(np.float32)
    for rows, most in ((X.astype(np.float32), None), (gaps, None), (gaps, 2)):
        forest = Forest(15, max_samples=most).fit(rows, y)
        total = np.zeros((len(rows), 2))
        for tree in forest.trees_:
            total[:, tree.classes_] += tree.predict_proba(rows, check_input=False)
        np.testing.assert_array_equal(forest.predict_proba(rows), total / 15)


def test_a_forest_of_few_rows_per_tree(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    for bootstrap in (True, False):
        forest = Forest(20, bootstrap=bootstrap, max_samples=4).fit(X, np.where(y == 1, "b", "a"))
        probability = forest.predict_proba(X)
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        assert set(forest.predict(X)) <= {"a", "b"}
        assert min(tree.tree_.n_node_samples[0] for tree in forest.trees_) <= 4


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("max_samples", [None, 2])
def test_a_stored_forest_is_the_same(gaps: bool, max_samples: int | None, data: tuple[np.ndarray, np.ndarray]) -> None:
    """Also if a tree has seen one class only, and if a file holds the trees one by one, as older files do."""
    X, y = data
    X = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X) if gaps else X
    forest = Forest(12, max_samples=max_samples).fit(X, np.where(y == 1, "b", "a"))
    older = Forest()
    older.__setstate__({**forest.__getstate__(), "trees_": forest.trees_})
    file = io.dumps(forest)
    assert len(ZipFile(BytesIO(file)).read("schema.json")) < 100_000
    loaded = io.loads(file, trusted=uneven.trusted_types())
    for again in (loaded, pickle.loads(pickle.dumps(forest)), deepcopy(forest), older):
        np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))
        assert [tree.get_params() for tree in again.trees_] == [tree.get_params() for tree in forest.trees_]
        assert [tree.get_depth() for tree in again.trees_] == [tree.get_depth() for tree in forest.trees_]
    assert not hasattr(clone(forest), "trees_")


def test_skops_keeps_names_of_columns(data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_members(monkeypatch)
    X, y = data
    table = pd.DataFrame(X, columns=[f"ä {k}" for k in range(X.shape[1])])
    model = Ensemble(fp_cost=1, fn_cost=5, members=["linear", "forest"], cv=3).fit(table, y)
    for again in (io.loads(io.dumps(model), trusted=uneven.trusted_types()), deepcopy(model)):
        np.testing.assert_array_equal(again.feature_names_in_, table.columns)
        np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))


@pytest.mark.parametrize("name", ["catboost", "lightgbm", "xgboost", "histogram"])
def test_skops_keeps_boosters(name: str, data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_members(monkeypatch)
    X, y = data
    model = Ensemble(fp_cost=1, fn_cost=5, members=[name], cv=3).fit(X, y)
    file = io.dumps(model)
    again = io.loads(file, trusted=io.get_untrusted_types(data=file))
    assert again.predict_proba(X).tolist() == model.predict_proba(X).tolist()


def test_everything_together(data: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_members(monkeypatch)
    X, y = data
    model = Ensemble(fp_cost=1, fn_cost=5, cv=3, random_state=3).fit(X, y)
    assert set(model.weights_) == set(_names(150, columns=5))
    assert not model.left_out_
    assert set(model.seconds_) == set(model.settings_) == set(model.member_costs_) == set(model.weights_)
    assert -model.score(X, y) < min(one.cost for one in model.constant_costs_.values())
