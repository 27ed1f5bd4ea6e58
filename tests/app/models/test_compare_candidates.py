"""Candidates on the same folds: the costs are those of the metrics, and a tie goes to the simplest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from uneven import UnevenLinearClassifier
from uneven.app.models.candidates import ALTERNATIVES, CONSTANT_RULES, AskedLearner, Candidate, candidates, savable
from uneven.app.models.compare_candidates import AS_GIVEN, FACTORS, Clock, Rows, compare_on_folds, listener
from uneven.app.models.written_costs import WrittenCosts, scale_misses
from uneven.costs import RowCosts
from uneven.errors import CostError, UnevenError
from uneven.metrics import compare


def rows(n: int = 240, *, per_row: bool = False) -> Rows:
    random = np.random.default_rng(2)
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=list("abc"))
    is_positive = X["a"].to_numpy() + random.logistic(size=n) > 1
    fn_cost = random.uniform(1, 9, n) if per_row else 4.0
    return Rows(X, is_positive, RowCosts(n, 1.0, fn_cost), per_row)


def quiet(message: str, share: float) -> None:
    assert message
    assert 0 <= share < 1


LINEAR = AskedLearner.read("linear", None, None, False, None, None)


class LearnsMeans(UnevenLinearClassifier):
    """Fits with the means of the costs of its rows; ``predict`` is told the costs of each row."""

    def fit(self, X: np.ndarray, y: np.ndarray, *, fp_cost: np.ndarray, fn_cost: np.ndarray) -> LearnsMeans:
        self.set_params(fp_cost="1", fn_cost=f"{fn_cost.mean() / fp_cost.mean():.3g}")
        return super().fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("per_row", [False, True])
def test_costs_are_those_of_compare(per_row: bool) -> None:
    data, given = rows(per_row=per_row), WrittenCosts("1", "c" if per_row else "4")
    found = candidates(LINEAR, given, data.costs)
    outcome = compare_on_folds(data, found, StandardScaler(), quiet, folds=2, repeats=2)
    assert outcome.how == "cross-validated, 2 folds twice"
    y = data.truth.astype(int)
    for label, factor in FACTORS.items():
        costs = scale_misses(data.costs, factor)
        exact = data.costs if label == AS_GIVEN else costs
        models = {one.name: one.pipeline(exact, StandardScaler()) for one in found}
        if per_row:
            models["uneven linear"].steps[-1] = ("classifier", LearnsMeans("logistic"))
        paid = {"fp_cost": costs.fp_cost, "fn_cost": costs.fn_cost}
        theirs = {row.name: row for row in compare(models, data.X, y, folds=2, **paid)}
        ours = outcome.rows("uneven linear", label)
        assert ours[0].name == "uneven linear"
        assert [row.cost for row in ours[1:]] == sorted(row.cost for row in ours[1:])
        for row in ours:
            assert row.cost == pytest.approx(theirs[row.name].cost)
            expected = theirs[row.name].cost - theirs["uneven linear"].cost
            assert (row.difference or 0.0) == pytest.approx(expected)


def test_one_split_tests_a_quarter_that_no_model_has_seen() -> None:
    data = rows(400)
    seen: list[int] = []

    class Watching(LogisticRegression):  # type: ignore[misc]
        def fit(self, X: np.ndarray, y: np.ndarray) -> Watching:
            seen.append(len(X))
            return super().fit(X, y)

    found = [Candidate("one", lambda _: Watching(), moves=True)]
    outcome = compare_on_folds(data, found, StandardScaler(), quiet, folds=1, repeats=1)
    assert seen == [300]
    assert outcome.truth.size == 100
    assert outcome.how == "on 100 rows kept out of the fits"
    assert outcome.decisions[AS_GIVEN]["one"].shape == (1, 100)


def test_a_tie_goes_to_the_simplest() -> None:
    data = rows()
    found = [Candidate(name, lambda _: LogisticRegression(), moves=True) for name in ("simple", "same")]
    outcome = compare_on_folds(data, found, StandardScaler(), quiet, folds=2, repeats=1)
    assert outcome.cheapest(["simple", "same"]) == "simple"


def test_who_may_be_saved() -> None:
    data, given = rows(), WrittenCosts("1", "4")
    auto = AskedLearner.read(None, None, None, False, "linear, forest", None)
    assert auto.members == ("linear", "forest")
    names = [one.name for one in savable(auto, candidates(auto, given, data.costs))]
    assert names == [*ALTERNATIVES, "ensemble"]
    assert [one.name for one in savable(LINEAR, candidates(LINEAR, given, data.costs))] == ["uneven linear"]
    tuned = AskedLearner.read(None, None, None, True, None, None)
    assert [one.name for one in candidates(tuned, given, data.costs)] == [
        *CONSTANT_RULES,
        *ALTERNATIVES,
        "uneven linear (tuned)",
        "ensemble",
    ]


def test_options_that_exclude_each_other() -> None:
    assert AskedLearner.read(None, "hinge", None, False, None, None).kind == "linear"
    assert AskedLearner.read(None, None, "2", False, None, None).kind == "linear"
    for arguments, sentence in (
        (("ensemble", "hinge", None, False, None, None), "--loss is for --learner linear, got --learner ensemble"),
        (("ensemble", None, None, True, None, None), "--tune is for --learner auto or linear or svc, got"),
        (("linear", None, None, False, "forest", None), "--members is for --learner auto or ensemble, got"),
        (("svc", None, None, False, None, 3.0), "--time-limit is for --learner auto or ensemble, got"),
        (("auto", None, None, False, " , ", None), "--members needs names with commas between them"),
        (("auto", None, None, False, None, 0.0), "--time-limit must be a positive number of seconds, got 0"),
        (("auto", None, None, False, None, float("nan")), "--time-limit must be a positive number of seconds, got nan"),
    ):
        with pytest.raises(UnevenError, match=sentence):
            AskedLearner.read(*arguments)


def test_one_row_of_a_class_cannot_be_compared() -> None:
    data = rows(40)
    lonely = Rows(data.X, np.arange(40) == 3, data.costs, per_row=False)
    with pytest.raises(CostError, match="needs two rows of each class, got 1 of one; --quick skips it"):
        compare_on_folds(
            lonely, candidates(LINEAR, WrittenCosts("1", "4"), data.costs), StandardScaler(), quiet, folds=5, repeats=1
        )


def test_the_time_left_is_told_when_enough_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first fits compile loops: what they took, times all fits, once promised 32 hours for twelve minutes."""
    now = [0.0]
    monkeypatch.setattr("uneven.app.models.compare_candidates.time.monotonic", lambda: now[0])
    clock = Clock(3)
    assert clock.left == ""
    now[0] = 60.0  # until the end of the first fit; it does not count
    clock.hear(0.01)
    assert clock.left == ""
    now[0] = 62.0
    clock.hear(0.05)  # a hundredth of the work: too little
    assert clock.left == ""
    now[0] = 70.0
    clock.hear(0.41)  # a tenth
    assert clock.left == ", about 90 s left"
    now[0] = 160.0
    clock.advance()
    assert clock.share == 0.25
    assert clock.left == ", about 5 min left"
    now[0] = 61.0 + 24.75
    assert clock.left == ", about 78 s left"
    limited = Clock(3, limit=40.0)
    limited.hear(0.1)
    now[0] += 10.0
    limited.hear(0.3)  # by its pace 190 seconds are left, and by the limit 30
    assert limited.left == ", about 30 s left"


def test_the_time_is_told_at_once_when_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log gets one line of detail in a while; the first time is not left out of it."""
    now = [0.0]
    monkeypatch.setattr("uneven.app.models.compare_candidates.time.monotonic", lambda: now[0])
    heard: list[tuple[str, bool]] = []
    hear = listener(lambda message, share, *, detail=False: heard.append((message, detail)), "fold 1 of 3", Clock(3))
    for share in (0.1, 0.2, 0.3, 0.4, 0.5):
        now[0] += 2.0
        hear("ensemble", "some fits", share)
    told = ["about" in message for message, _ in heard]
    assert told == sorted(told)
    assert sum(not detail for _, detail in heard) == 1
    assert next(message for message, detail in heard if not detail).startswith("fold 1 of 3: some fits, about ")
