"""UnevenClassifierCV on a Dask cluster: the same answers, and what it says if the cluster is gone."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from local_cluster import thread_cluster
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import uneven
from uneven.errors import ClusterError, MissingExtraError, ParameterError
from uneven.learners.tuning import dask_search
from uneven.learners.tuning.gamma_search import Task, candidates
from uneven.parts import cluster as cluster_module

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of distributed: about lost workers, and about ports

GAMMAS = [0.5, 1.0, 2.0, 4.0]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with thread_cluster(threads_per_worker=2) as client:
        yield client


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(240, 6, n_informative=4, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=5)


def same(here: uneven.UnevenClassifierCV, there: uneven.UnevenClassifierCV) -> None:
    assert there.best_params_ == here.best_params_
    for name in here.cv_results_:
        if name.endswith("test_score"):
            np.testing.assert_array_equal(there.cv_results_[name], here.cv_results_[name], err_msg=name)


SEARCHES: dict[str, Callable[..., uneven.UnevenClassifierCV]] = {
    "losses and C": lambda **more: uneven.UnevenClassifierCV(
        "linear", losses=["logistic", "squared_hinge"], Cs=[0.1, 1], fn_cost=5, margin_gammas=GAMMAS, cv=3, **more
    ),
    "a pipeline that ends in a hinge": lambda **more: uneven.UnevenClassifierCV(
        make_pipeline(StandardScaler(), uneven.UnevenSVC()), Cs=[0.5, 5], fn_cost=5, margin_gammas=GAMMAS, cv=3, **more
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_cluster_finds_what_one_machine_finds(client: Any, data: Any, name: str) -> None:
    X, y = data
    same(SEARCHES[name]().fit(X, y), SEARCHES[name](client=client).fit(X, y))


def test_costs_and_weights_of_each_row_reach_the_workers(client: Any, data: Any) -> None:
    X, y = data
    given = {"fn_cost": np.exp(X[:, 0]), "sample_weight": np.random.default_rng(0).uniform(0.5, 2, y.size)}
    searches = [uneven.UnevenClassifierCV("linear", margin_gammas=GAMMAS, cv=2, client=c) for c in (None, client)]
    here, there = (search.fit(X, y, **given) for search in searches)
    same(here, there)
    assert there.row_costs_ == here.row_costs_


@pytest.mark.parametrize("losses", [1, 9])
def test_data_that_are_lost_are_sent_again(
    client: Any, data: Any, losses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after the death of all workers that hold them."""
    scatter, sent = client.scatter, []

    def lossy(*args: Any, **more: Any) -> Any:
        sent.extend(scatter(*args, **more))
        if len(sent) <= losses:
            sent[-1].cancel()
        return sent[-1:]

    monkeypatch.setattr(client, "scatter", lossy)
    search = uneven.UnevenClassifierCV("linear", margin_gammas=[1, 2], cv=2, client=client)
    if losses > 3:
        with pytest.raises(ClusterError, match="the Dask workers lost the data of the search 4 times"):
            search.fit(*data)
        return
    same(uneven.UnevenClassifierCV("linear", margin_gammas=[1, 2], cv=2).fit(*data), search.fit(*data))
    assert len(sent) == losses + 1


def test_an_error_of_a_task_is_the_error_of_the_search(client: Any, data: Any) -> None:
    X, y = data
    learner = make_pipeline(FunctionTransformer(lambda rows: np.full_like(rows, np.nan)), uneven.UnevenSVC())
    search = uneven.UnevenClassifierCV(learner, margin_gammas=[1], cv=2, client=client)
    with pytest.raises(ValueError, match="NaN"):
        search.fit(X, y)


def test_tasks_cover_every_candidate_once_and_keep_a_hinge_together() -> None:
    learner = uneven.UnevenLinearClassifier()
    grid = candidates(learner, ["hinge", "logistic"], [0.1, 1], np.array(GAMMAS), [None])
    task = Task(learner, None, grid, None, 1, None)  # type: ignore[arg-type]
    paths = [candidate.path for candidate in grid]
    for threads in (1, 3, 7, 12, 100):
        found = dask_search.pieces(task, 3, threads)
        for split in range(3):
            groups = [group for number, group in found if number == split]
            assert sorted(itertools.chain(*groups)) == list(range(len(grid)))
            for path in {candidate.path for candidate in grid if candidate.loss == "hinge"}:
                assert sum(any(paths[index] == path for index in group) for group in groups) == 1
        assert len(found) >= min(threads, 3 * 10)  # 2 hinge paths, and 2 x 4 single gammas


def test_clones_share_the_client_and_files_lack_it(client: Any, data: Any) -> None:
    search = uneven.UnevenClassifierCV("linear", margin_gammas=[1, 2], cv=2, client=client)
    assert clone(search).client is client
    stored = pickle.loads(pickle.dumps(search.fit(*data)))
    assert stored.client is None
    np.testing.assert_array_equal(stored.predict(data[0]), search.predict(data[0]))


def test_what_is_refused(client: Any, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match=r"client must be a dask\.distributed\.Client that is not"):
        uneven.UnevenClassifierCV("linear", client="here").fit(*data)
    with pytest.raises(ParameterError, match="give client or n_jobs, got both: n_jobs=2"):
        uneven.UnevenClassifierCV("linear", client=client, n_jobs=2).fit(*data)
    closed = distributed.Client(client.scheduler.address, timeout=600)
    closed.close()
    with pytest.raises(ClusterError, match=r"the Dask scheduler at .* is gone; connect a new client"):
        uneven.UnevenClassifierCV("linear", client=closed).fit(*data)

    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(cluster_module, "import_module", absent)
    with pytest.raises(MissingExtraError, match=r"need the extra 'dask', .* pip install 'uneven\[dask\]'"):
        uneven.UnevenClassifierCV("linear", client=client).fit(*data)
