"""What boosted trees descend: derivatives, starts, the same trees as the built-in objective, descent for every phi."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from tree_models import CATBOOST, LIBRARIES, LIGHTGBM, XGBOOST, Library, data

import uneven
from uneven.adapters.trees.tree_objective import row_losses
from uneven.errors import LossError, SolverError
from uneven.solvers.boosting.row_losses import RowLosses, logistic, rule

each_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)


def usable() -> list[str]:
    """Registered phis that trees can descend: calibrated for some costs, without jumps."""
    found = []
    for name in uneven.losses.names():
        try:
            row_losses(uneven.calibrated_loss(name, alpha=0.5), weighted=False)
        except LossError:
            continue
        found.append(name)
    return found


USABLE = usable()
CONVEX = [name for name in USABLE if uneven.phi(name).convex]
OTHER = [name for name in USABLE if not uneven.phi(name).convex]


def losses_of(name: str, gamma: float = 1.0) -> RowLosses:
    return row_losses(uneven.calibrated_loss(name, alpha=0.2, gamma=gamma), weighted=False)


def test_hardly_any_phi_is_left_out() -> None:
    assert set(uneven.losses.names()) - set(USABLE) == {"perceptron", "zero_one"}  # a kink at 0; a jump


def smoothed(name: str, half: float) -> Any:
    """The mean of phi around a margin: what a phi with kinks is replaced by."""
    phi = uneven.phi(name)
    if not half:
        return phi

    def mean(u: np.ndarray) -> np.ndarray:
        kinks = np.array(phi.kinks)
        return np.array([quad(phi, x - half, x + half, points=kinks)[0] / (2 * half) for x in u])

    return mean


@pytest.mark.parametrize("gamma", [0.25, 4.0])
@pytest.mark.parametrize("name", USABLE)
def test_derivatives_are_those_of_the_loss(name: str, gamma: float) -> None:
    """Slopes by finite differences of the losses; curvatures positive; weights and both precisions."""
    losses = losses_of(name, gamma)
    t = np.linspace(-2.03, 2.11, 47)
    half = rule(uneven.phi(name))[0]
    for label, (weight, scale) in enumerate(zip(losses.pair.weights, losses.pair.scales, strict=True)):
        y, s = np.full(t.size, label), np.linspace(0.5, 2, t.size)
        g, h = losses.derivatives(t, y, s)
        phi, step = smoothed(name, half), 1e-5
        slope = (phi(scale * t + step) - phi(scale * t - step)) / (2 * step)
        assert np.allclose(g, s * weight * scale * slope, rtol=1e-4, atol=1e-5)
        assert (h > 0).all()
        single = losses.derivatives(t.astype(np.float32), y, s)
        assert np.allclose(single[0], g, rtol=1e-4, atol=1e-4)
        pairs = losses.derivative_pairs(t, y.astype(np.float32), s.astype(np.float32))
        assert np.allclose(pairs, -np.stack([g, h], axis=1), rtol=1e-5, atol=1e-30)


@pytest.mark.parametrize("name", CONVEX)
def test_the_curvature_of_a_smooth_convex_loss_is_its_own(name: str) -> None:
    phi = uneven.phi(name)
    half, bound, ratio = rule(phi)
    assert bound == 0
    if half:
        return
    t = np.linspace(-3.1, 3.3, 64)
    least = ratio if name != "logistic" else 0.0  # which is the libraries' own
    h = losses_of(name).derivatives(t, np.ones(t.size))[1]
    expected = np.maximum(phi.curvature(t), least * np.abs(phi.slope(t)))
    assert np.allclose(h, np.maximum(expected, 1e-16), rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in OTHER if not uneven.phi(name).kinks])
def test_the_bound_of_the_curvature_makes_a_majorant(name: str) -> None:
    """phi(t + s) <= phi(t) + phi'(t) s + B s^2 / 2 at random t and s; and the bound is not far too large."""
    phi = uneven.phi(name)
    _, bound, _ = rule(phi)
    random = np.random.default_rng(0)
    t, s = random.normal(0, 4, 20_000), random.normal(0, 3, 20_000)
    assert (phi(t + s) <= phi(t) + phi.slope(t) * s + bound * s**2 / 2 + 1e-12).all()
    assert np.max(phi.curvature(np.linspace(-9, 9, 20_001))) >= 0.98 * bound


def test_a_loss_that_jumps_is_refused() -> None:
    with pytest.raises(LossError, match="'zero_one' jumps"):
        rule(uneven.phi("zero_one"))


def test_no_bound_is_an_error() -> None:
    with pytest.raises(LossError, match="no bound of its curvature"):
        rule(uneven.phi("exp(-t) + expit(-t)"))


@pytest.mark.parametrize("gamma", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("name", CONVEX)
def test_the_start_is_the_best_constant(name: str, gamma: float) -> None:
    losses = losses_of(name, gamma)
    masses = np.array([7.0, 3.0])
    start = losses.best_constant(masses)
    y = np.array([0.0, 1.0])
    g, _ = losses.derivatives(np.full(2, start), y, masses)
    assert abs(g.sum()) <= 1e-6 * np.abs(g).sum()
    if not uneven.phi(name).kinks:
        values = [losses.total(np.full(2, start + step), y, masses) for step in (0.0, -0.3, -0.01, 0.01, 0.3)]
        assert values[0] <= min(values[1:])


def test_the_logistic_start_is_the_log_odds() -> None:
    assert logistic().best_constant(np.array([7.0, 3.0])) == pytest.approx(np.log(3 / 7), rel=1e-12)


@each_library
def test_same_trees_as_the_built_in_objective(library: Library) -> None:
    """gamma = 1, equal costs, logistic, the same start: equal scores, with and without weights."""
    X, y = data()
    weight = np.linspace(0.5, 1.5, y.size)
    weight /= weight.mean()
    for given in (None, weight):
        model = library.make(depth=3).fit(X, y, sample_weight=given)
        expected = library.built_in(X, y, model.start_, weight=given)
        assert np.ptp(expected) > 1
        assert np.allclose(model.decision_function(X), expected, atol=2e-5)
        door = library.through_the_door(library.door.objective(), X, y, weight=given)
        if library is not CATBOOST or given is None:  # its learning rate is chosen by the total weight
            assert np.allclose(door, expected, atol=2e-5)


@each_library
@pytest.mark.parametrize("name", USABLE)
def test_the_training_loss_never_rises(library: Library, name: str) -> None:
    """Small steps descend, convex or not, with costs and gamma; a phi with kinks descends its smoothed form."""
    X, y = data(300)
    params = {"learning_rate": 0.05, "margin_gamma": 2, "fn_cost": 3, "depth": 2, "warmup_rounds": 0}
    model = library.make(name, rounds=12, **params).fit(X, y, eval_set=[(X, y)])
    if library is CATBOOST:
        model = library.make(name, rounds=12, use_best_model=False, **params).fit(X, y, eval_set=[(X, y)])
    values = np.array(model.evals_result_["validation_0"]["surrogate"])
    assert len(values) == 12
    assert np.diff(values).max() <= (2e-3 if rule(uneven.phi(name))[0] else 1e-6) * values[0]
    assert values[-1] < values[0]


@pytest.mark.parametrize("library", [XGBOOST, LIGHTGBM], ids=lambda library: library.name)
@pytest.mark.parametrize("name", OTHER)
def test_even_full_steps_of_a_majorant_descend(library: Library, name: str) -> None:
    """Leaf values that minimise the quadratic bound never raise the loss, at any learning rate up to 1."""
    X, y = data(300)
    model = library.make(name, rounds=10, learning_rate=1.0, reg_lambda=0.0, fn_cost=3, depth=2, warmup_rounds=0)
    values = np.array(model.fit(X, y, eval_set=[(X, y)]).evals_result_["validation_0"]["surrogate"])
    if not uneven.phi(name).kinks:
        assert np.diff(values).max() <= 1e-6 * values[0]
    assert values[-1] < values[0]


@each_library
def test_warmup_starts_from_the_convex_fit(library: Library) -> None:
    """The first rounds are those of the logistic loss; the others descend the loss that is not convex."""
    X, y = data(300)
    convex = library.make("logistic", rounds=6, depth=2, fn_cost=3, learning_rate=0.1)
    expected = convex.fit(X, y)
    warm = library.make("sigmoid", rounds=6, depth=2, fn_cost=3, learning_rate=0.1, warmup_rounds=6).fit(X, y)
    assert warm.start_ == pytest.approx(expected.start_, rel=1e-6)
    assert np.allclose(warm.decision_function(X), expected.decision_function(X), atol=1e-4)
    longer = library.make("sigmoid", rounds=12, depth=2, fn_cost=3, learning_rate=0.1, warmup_rounds=6).fit(X, y)
    half = library.make("sigmoid", rounds=12, depth=2, fn_cost=3, learning_rate=0.1).fit(X, y)
    assert np.array_equal(half.decision_function(X), longer.decision_function(X))
    assert longer.loss_(np.where(y == 1, 1, -1), longer.decision_function(X)).sum() < (
        longer.loss_(np.where(y == 1, 1, -1), warm.decision_function(X)).sum()
    )


@each_library
def test_the_unit_of_the_loss_does_not_matter(library: Library) -> None:
    X, y = data(200)
    one = library.make("relu(1 - t)**2", fn_cost=3).fit(X, y)
    two = library.make("5*relu(1 - t)**2", fn_cost=3).fit(X, y)
    assert np.allclose(one.decision_function(X), two.decision_function(X), atol=1e-5)


@each_library
def test_objectives_and_metrics_can_be_pickled(library: Library) -> None:
    _, y = data(100)
    objective = library.door.objective("savage", fn_cost=4, margin_gamma=2)
    metric = library.door.metric("surrogate", "savage", fn_cost=4, margin_gamma=2)
    again, measured = pickle.loads(pickle.dumps((objective, metric)))
    t = np.linspace(-1, 1, y.size)
    for one, two in zip(objective.derivatives(y, t, None), again.derivatives(y, t, None), strict=True):
        assert np.array_equal(one, two)
    assert measured.value(y, t) == metric.value(y, t)
    assert metric.value(y, t) == pytest.approx(float(objective.loss(np.where(y == 1, 1, -1), t).mean()))
    cost = library.door.metric("cost", fn_cost=4)
    expected = uneven.metrics.expected_cost(y, (t > 0).astype(int), fn_cost=4, sample_weight=t + 2)
    assert cost.value(y, t, t + 2) == pytest.approx(expected)


def test_divergence_is_an_error() -> None:
    """An infinite slope is named, with its row; the libraries would silently return a constant model."""
    losses = losses_of("exponential")
    with pytest.raises(SolverError, match="not finite at the score -800 of row 1: training has diverged"):
        losses.derivatives(np.array([0.0, -800.0]), np.ones(2))
    g, _ = losses.derivatives(np.array([0.0, -800.0]), np.ones(2), np.array([1.0, 0.0]))  # it does not count
    assert g[1] == 0
