"""A monitor of costs: what it says without and with labels, late or in part, from memory or from its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.errors import UnevenError
from uneven.metrics import expected_cost
from uneven.monitor import CostMonitor
from uneven.tables import FrameEncoder

RANDOM = np.random.default_rng(0)
COSTS = {"fp_cost": 1, "fn_cost": 10}


def rows(count: int, share: float = 0.1, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(seed)
    y = (random.random(count) < share).astype(int)
    X = pd.DataFrame({"a": random.normal(1.5 * y), "b": random.normal(-1.0 * y), "c": random.normal(size=count)})
    return X, y


@pytest.fixture(scope="module")
def model() -> Any:
    return uneven.UnevenThresholdClassifierCV(LogisticRegression(), **COSTS).fit(*rows(3000))


def test_nothing_changed_and_labels_come_late(model: Any) -> None:
    monitor = CostMonitor(model, rows(2000, seed=1))
    for k in range(4):
        X = rows(800, seed=10 + k)[0]
        made = monitor.update(X, batch=f"month {k}")
        assert made.realised is None
        assert made.prevalence.low <= 0.1 <= made.prevalence.high
        if k > 0:
            before = rows(800, seed=10 + k - 1)[1]
            assert monitor.add_labels(before, batch=f"month {k - 1}").added == 800
    assert monitor.alarms == []
    assert monitor.waiting == 800
    said = np.concatenate([model.predict(rows(800, seed=10 + k)[0]) for k in range(3)])
    truth = np.concatenate([rows(800, seed=10 + k)[1] for k in range(3)])
    assert monitor.realised.mean == pytest.approx(expected_cost(truth, said, **COSTS))
    first = monitor.batches[0]
    assert first.realised is not None
    assert first.realised.cost == pytest.approx(expected_cost(truth[:800], said[:800], **COSTS))
    assert any("nothing to do" in sentence for sentence in monitor.sentences("EUR"))


def test_more_positives_are_found_and_corrected(model: Any) -> None:
    monitor = CostMonitor(model)
    assert monitor.update(rows(1500, seed=2)[0]).name == "1"
    made = monitor.update(rows(1500, 0.3, seed=3)[0])
    assert made.prevalence.low <= 0.3 <= made.prevalence.high
    assert made.by_decisions.low <= 0.3 <= made.by_decisions.high
    assert [alarm.kind for alarm in monitor.alarms] == ["prevalence"]
    changed = monitor.correct()
    assert changed.prevalence_ == pytest.approx(made.prevalence.value)
    assert monitor.model is changed
    X, y = rows(4000, 0.3, seed=4)
    after = monitor.update(X, y)
    assert after.flagged == int(changed.predict(X).sum())
    assert expected_cost(y, changed.predict(X), **COSTS) < expected_cost(y, model.predict(X), **COSTS)
    assert len(monitor.alarms) == 1  # the new share is the one in use


def test_dear_mistakes_are_found_by_labels(model: Any) -> None:
    """The probabilities turn wrong: without labels nobody can know, with labels the alarm is quick."""
    monitor = CostMonitor(model)
    for k in range(3):
        monitor.update(*rows(600, seed=20 + k))
    assert monitor.alarms == []
    assert monitor.realised.low <= monitor.realised.mean <= monitor.realised.high
    X, y = rows(600, 0.2, seed=30)
    monitor.update(X, RANDOM.permutation(y))
    assert "cost" in [alarm.kind for alarm in monitor.alarms]
    assert any("did not all have the same mean" in sentence for sentence in monitor.sentences())


def test_labels_in_any_pieces_are_the_same_labels(model: Any) -> None:
    (X, y), monitors = rows(500, seed=5), [CostMonitor(model) for _ in range(3)]
    monitors[0].update(X, y, batch="m")
    monitors[1].update(X, np.where(np.arange(500) < 200, y, np.nan), batch="m")
    assert monitors[1].add_labels(y, batch="m") == uneven.monitor.LateLabels(300, repeated=200)
    monitors[2].update(X, batch="m", ids=np.arange(500))
    order = np.random.default_rng(1).permutation(500)
    for part in np.array_split(order, 7):
        monitors[2].add_labels(y[part], ids=part)
    late = monitors[2].add_labels([1, 0], ids=["nobody", 3])
    assert (late.added, late.unknown) == (0, 2)  # the rows no longer wait
    for monitor in monitors:
        made = monitor.batches[0]
        assert (made.labelled, made.positives, monitor.waiting) == (500, int(y.sum()), 0)
        assert made.realised == monitors[0].batches[0].realised
        assert monitor.realised.mean == pytest.approx(monitors[0].realised.mean)


def test_a_label_that_changes_is_told_and_not_counted_twice(model: Any) -> None:
    monitor = CostMonitor(model)
    X, y = rows(50, seed=6)
    monitor.update(X, ids=[f"k{k}" for k in range(50)])
    monitor.add_labels(y[:10], ids=[f"k{k}" for k in range(10)])
    late = monitor.add_labels(1 - y[:5], ids=[f"k{k}" for k in range(5)])
    assert (late.added, late.changed, monitor.batches[0].labelled) == (0, 5, 10)


def test_a_logged_decision_is_as_good_as_the_model(model: Any) -> None:
    X, y = rows(700, seed=7)
    asked, told = CostMonitor(model), CostMonitor(model)
    one = asked.update(X, y)
    other = told.update(y=y, probability=model.predict_proba(X)[:, 1], flagged=model.predict(X) == 1)
    assert one == other


def test_it_goes_on_from_its_file(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    whole, parts = CostMonitor(model), CostMonitor(model)
    for k in range(5):
        X = rows(300, 0.1 if k < 3 else 0.4, seed=40 + k)[0]
        for monitor in (whole, parts):
            monitor.update(X, ids=[f"{k}-{row}" for row in range(300)])
            if k:
                monitor.add_labels(rows(300, 0.1 if k < 4 else 0.4, seed=39 + k)[1], batch=str(k))
            if k == 3:
                monitor.correct()
        parts.save(path)
        parts = CostMonitor.load(path, model)
    assert parts.to_dict() == whole.to_dict()
    assert parts.alarms == whole.alarms
    assert parts.model.prevalence_ == whole.model.prevalence_


def test_bad_input_changes_nothing(model: Any) -> None:
    monitor = CostMonitor(model)
    X, y = rows(100, seed=8)
    monitor.update(X, ids=np.arange(100), batch="first")
    before = json.dumps(monitor.to_dict())
    cases = [
        lambda: monitor.update(X, batch="first"),
        lambda: monitor.update(X, ids=np.arange(100)),
        lambda: monitor.update(X, ids=np.zeros(100)),
        lambda: monitor.update(X, np.full(100, 7)),
        lambda: monitor.update(X, y[:50]),
        lambda: monitor.update(X[:0]),
        monitor.update,
        lambda: monitor.update(probability=[0.2]),
        lambda: monitor.update(probability=[0.2, np.nan], flagged=[True, False]),
        lambda: monitor.update(probability=[0.2, 1.2], flagged=[True, False]),
        lambda: monitor.update(probability=[0.2], flagged=["yes"]),
        lambda: monitor.update(probability=[], flagged=[]),
        lambda: monitor.update(X, fn_cost=-5),
        lambda: monitor.update(X, fn_cost=np.full(100, np.nan)),
        lambda: monitor.add_labels(y),
        lambda: monitor.add_labels(y, batch="second"),
        lambda: monitor.add_labels(y[:3], batch="first"),
        lambda: monitor.add_labels([1, "x"], ids=[1, 2]),
        lambda: monitor.add_labels([1, 0], ids=[1, 1]),
        lambda: monitor.correct(prevalence=1.5),
        lambda: CostMonitor(model, X),
        lambda: CostMonitor(model, (X, np.zeros(100))),
        lambda: CostMonitor(LogisticRegression().fit(X, y)),
        lambda: CostMonitor(uneven.UnevenLinearClassifier("hinge").fit(X, y)),
    ]
    for case in cases:
        with pytest.raises(UnevenError):
            case()
        assert json.dumps(monitor.to_dict()) == before


def test_a_broken_state_is_refused(model: Any, tmp_path: Path) -> None:
    monitor, path = CostMonitor(model), tmp_path / "state.json"
    monitor.update(*rows(100, seed=9))
    monitor.save(path)
    good = path.read_bytes()
    random = np.random.default_rng(0)
    for _ in range(20):
        path.write_bytes(good[: random.integers(len(good))])
        with pytest.raises(UnevenError):
            CostMonitor.load(path, model)
    state = json.loads(good)
    for broken in (
        [],
        {},
        {"format": 99},
        {**state, "reference": {}},
        {**state, "batches": [1]},
        {**state, "alarm": {}},
    ):
        with pytest.raises(UnevenError):
            CostMonitor.from_dict(broken, model)
    with pytest.raises(UnevenError, match="another model"):
        CostMonitor.from_dict(state, model.with_costs(fn_cost=99))


def test_any_classifier_of_scikit_learn_and_pipelines() -> None:
    X, y = rows(2000, seed=11)
    words = np.where(y == 1, "bad", "good")
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, words)
    monitor = CostMonitor(plain, (X, words), **COSTS, pos_label="bad")
    made = monitor.update(*rows(500, seed=12)[:1], y=np.where(rows(500, seed=12)[1] == 1, "bad", "good"))
    assert made.labelled == 500
    assert made.positives == int(rows(500, seed=12)[1].sum())
    with pytest.raises(UnevenError, match="with_costs"):
        monitor.correct()
    ours = make_pipeline(StandardScaler(), uneven.UnevenLinearClassifier("logistic", **COSTS)).fit(X, y)
    watched = CostMonitor(ours, (X, y))
    watched.update(rows(500, 0.3, seed=13)[0])
    assert watched.correct().predict(X[:5]).shape == (5,)


def test_costs_of_each_row() -> None:
    X, y = rows(3000, seed=14)
    amount = np.random.default_rng(15).lognormal(3, 1, 3000)
    model = uneven.UnevenLinearClassifier("logistic", fp_cost=5).fit(X, y)
    monitor = CostMonitor(model, (X, y, {"fn_cost": amount}), most_cost=1e4)
    Z, z = rows(500, seed=16)
    made = monitor.update(Z, z, fn_cost=amount[:500])
    said = model.predict(Z, fn_cost=amount[:500])
    assert made.realised is not None
    assert made.realised.cost == pytest.approx(expected_cost(z, said, fp_cost=5, fn_cost=amount[:500]))
    assert monitor.update(Z, z, fn_cost=np.full(500, 1e9)).labelled == 500  # dearer than said


def test_drift_is_told_in_money(model: Any) -> None:
    """A column without weight may move far: it costs nothing. One that the model uses costs what it changes."""
    reference = rows(4000, seed=17)
    monitor = CostMonitor(model, reference)
    X, _ = rows(3000, seed=18)
    X = X.assign(c=X["c"] + 3, a=X["a"] + 0.5)
    made = monitor.update(X)
    found = {one.column: one for one in made.drift}
    assert set(found) == {"a", "c"}
    assert made.drift[0].column == "a"
    assert abs(found["c"].money) < 0.1 * abs(found["a"].money)
    back = X.assign(a=X["a"] - 0.5)
    p, q = (monitor._ask(part, uneven.costs.GivenCosts())[0].mean() for part in (X, back))
    assert found["a"].money == pytest.approx(p - q, rel=0.2)
    assert made.notes  # no share of positives explains it
    with pytest.raises(UnevenError, match="not known without labels"):
        monitor.correct()
    assert monitor.correct(prevalence=0.2).prevalence_ == 0.2
    assert CostMonitor(model, reference).update(rows(3000, seed=19)[0]).drift == []


def test_strange_columns_are_compared() -> None:
    random, count = np.random.default_rng(20), 1200
    y = random.random(count) < 0.2
    X = pd.DataFrame(
        {
            "town": random.choice(["A", "B", "C"], count),
            "size": np.where(random.random(count) < 0.1, np.nan, random.normal(2.0 * y)),
            "empty": np.full(count, np.nan),
            "on": pd.Timestamp("2025-01-01") + pd.to_timedelta(np.arange(count), unit="h"),
            "text": [f"row {k}" for k in range(count)],
        }
    )
    model = make_pipeline(FrameEncoder("linear"), uneven.UnevenLinearClassifier("logistic", **COSTS)).fit(
        X[:600], y[:600]
    )
    monitor = CostMonitor(model, (X[600:], y[600:]))
    Z = X[600:].assign(town="D", size=np.nan, on=X["on"][600:] + pd.Timedelta(days=900))
    made = monitor.update(Z)
    assert {one.column for one in made.drift} == {"town", "size"}
    assert all(np.isfinite(one.money) for one in made.drift)
    assert any("not seen before" in one.what for one in made.drift)
    assert any("missing in 100.0%" in one.what for one in made.drift)
