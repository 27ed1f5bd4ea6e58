"""Theorem M against what a hostile reader would try: ties, corners, probabilities of 0, costs from 1e-12 to 1e12."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.special import rel_entr

import uneven

Shares = list[Fraction]


def hostile_costs(rng: np.random.Generator, kind: int) -> np.ndarray:
    """Free actions, twins, dominated actions, classes of very different size, and ordinal costs."""
    count, width = rng.integers(2, 5, size=2)
    costs = rng.integers(0, 6, size=(count, width)).astype(float)
    if kind == 1:
        return 10.0 ** rng.uniform(-12, 12, size=(count, width)) * (rng.random((count, width)) > 0.3)
    if kind == 2:
        costs[:, rng.integers(width)] = 0
        costs += rng.integers(-4, 1, size=(1, width)) * (rng.random((count, width)) < 0.5)
    elif kind == 3:
        costs[:, -1] = costs[:, 0]
    elif kind == 4:
        costs = costs * 1e-12 + rng.integers(0, 2, size=(count, 1)) * 1e3
    elif kind == 5:
        costs *= 10.0 ** rng.integers(-12, 13, size=(count, 1))
    elif kind == 6:
        costs = np.abs(np.arange(count)[:, None] - np.linspace(0, count - 1, width)) ** 2
    elif kind == 7:
        costs[0, 0] = 1e12  # the first one of tied actions may be very dear in a class that seems impossible
    return costs


def exactly(shares: np.ndarray) -> Shares:
    values = [Fraction(x) for x in shares.tolist()]
    return [x / sum(values) for x in values]


def divergence(p: Shares, q: Shares) -> float:
    """KL(p || q), rounded up."""
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return np.inf
    terms = [
        arb(a.numerator) / a.denominator * (arb((a / b).numerator) / (a / b).denominator).log()
        for a, b in zip(p, q, strict=True)
        if a
    ]
    return max(float(np.nextafter(float(sum(terms, arb(0)).upper()), np.inf)), 0.0)


@pytest.mark.parametrize("kind", range(8))
def test_what_is_decided_costs_at_most_the_bound(kind: int) -> None:
    """Estimates on the corners and edges of the regions; cost regrets in rationals, log-loss regrets in balls."""
    rng, tried, wrong = np.random.default_rng(kind), 0, 0
    while tried < 60:
        costs = hostile_costs(rng, kind)
        width = costs.shape[1]
        matrix = uneven.CostMatrix(costs, actions=[f"a{k}" for k in range(width)])
        exact, found = matrix.exact_costs, matrix.regret
        assert exact is not None
        if found.largest == 0:
            continue
        corners = np.array([[float(x) for x in corner] for a in range(width) for corner in found.corners(a)])
        for _ in range(6):
            some = corners[rng.choice(len(corners), min(2, len(corners)), replace=False)]
            estimate = rng.integers(1, 50, size=len(some)) @ some
            estimate = np.maximum(estimate / estimate.sum(), 10.0 ** rng.uniform(-30, -10) * (rng.random() < 0.5))
            estimate /= estimate.sum()
            b = matrix.actions.index(matrix.decide(estimate))
            a = int(rng.integers(width))
            d = np.array([float(row[b] - row[a]) for row in exact])
            tilt = 10.0 ** rng.uniform(-9, 2) * d / (np.abs(d).max() or 1.0)
            truth = estimate * np.exp(tilt - tilt.max())
            if rng.random() < 0.3:  # a class that seemed impossible
                truth = 0.9 * truth / truth.sum() + 0.1 * np.eye(len(costs))[rng.integers(len(costs))]
            p, q = exactly(truth), exactly(estimate)
            paid = [sum(x * row[a] for x, row in zip(p, exact, strict=True)) for a in range(width)]
            regret = paid[b] - min(paid)
            squared = float(np.nextafter(float(sum((x - y) ** 2 for x, y in zip(p, q, strict=True))), np.inf))
            # Two classes and two actions are compared in doubles, as two costs are.
            slack = max(map(max, exact)) / 10**15 if costs.shape == (2, 2) else 0
            assert regret <= Fraction(float(matrix.regret_bound(divergence(p, q)))) + slack
            assert regret <= Fraction(float(matrix.regret_bound(squared, loss="brier"))) + slack
            tried += 1
            wrong += regret > 0
    assert wrong > 2, "decisions that cost something"


def test_rounding_does_not_decide_for_a_thousand() -> None:
    """In doubles the first two actions cost the same; the first one costs 1,000 if the third class is the true one."""
    matrix = uneven.CostMatrix([[1, 1, 0, 3], [1, 1, 3, 0], [1000, 0, 0, 0]], actions=list("abcd"))
    estimate, truth = np.array([0.5, 0.5, 1e-20]), np.array([0.45, 0.45, 0.1])
    assert matrix.decide(estimate) == "b"
    paid = truth @ matrix.costs
    bound = matrix.regret_bound(rel_entr(truth, estimate).sum())
    assert paid[1] - paid.min() <= bound < 4 < paid[0] - paid.min()
    assert matrix.decide([[0.5, 0.5, 0], [0.5, 0.5, 1e-20], [0.2, 0.8, 0]]).tolist() == ["a", "b", "d"]


def test_twins_and_orders_change_no_bound() -> None:
    rng = np.random.default_rng(0)
    r = np.array([1e-12, 1e-3, 0.5, 5.0])
    for _ in range(6):
        costs = rng.integers(0, 9, size=(3, 3)).astype(float)
        plain = uneven.CostMatrix(costs)
        twins = uneven.CostMatrix(np.column_stack([costs, costs[:, 1]]))
        turned = uneven.CostMatrix(costs[rng.permutation(3)][:, rng.permutation(3)])
        for other in (twins, turned):
            for loss in ("log", "brier"):
                np.testing.assert_allclose(
                    other.regret_bound(r, loss=loss), plain.regret_bound(r, loss=loss), rtol=1e-9
                )


def lattice(classes: int, parts: int) -> np.ndarray:
    """All probabilities that are multiples of 1/parts."""
    every = np.stack(np.meshgrid(*[np.arange(parts + 1)] * classes, indexing="ij"), axis=-1).reshape(-1, classes)
    return np.asarray(every[every.sum(axis=1) == parts] / parts)


@pytest.mark.parametrize(("classes", "parts"), [(2, 64), (3, 16), (4, 8)])
def test_every_point_of_a_small_simplex(classes: int, parts: int) -> None:
    """By brute force: decisions, ties included, are those of whole numbers; no truth and estimate beat psi."""
    rng = np.random.default_rng(classes)
    points = lattice(classes, parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = rel_entr(points[:, None], points).sum(axis=2)  # truth, estimate
    nearest = np.inf
    for _ in range(6):
        costs = rng.integers(0, 7, size=(classes, int(rng.integers(2, 5))))
        matrix = uneven.CostMatrix(costs.tolist(), actions=[f"a{k}" for k in range(costs.shape[1])])
        whole = np.rint(points * parts).astype(int) @ costs
        taken = whole.argmin(axis=1)
        assert matrix.decide(points).tolist() == [f"a{k}" for k in taken]
        if not matrix.regret.largest:
            continue
        # At a tie any cheapest action may be taken: the dearest one for this truth.
        cheapest = whole == whole.min(axis=1, keepdims=True)
        regret = np.where(cheapest, whole[:, None], -1).max(axis=2) - whole.min(axis=1)[:, None]
        distinct, place = np.unique(regret, return_inverse=True)
        needed = matrix.psi(distinct / parts)[place.reshape(regret.shape)]
        assert (needed <= lost * (1 + 1e-9) + 1e-12).all()
        some = (regret > 0) & np.isfinite(lost)
        nearest = min(nearest, float((lost[some] / needed[some]).min(initial=np.inf)))
    assert nearest < 1.2, "some of them come near"
