"""Parts of boosting against slow versions of themselves: bins, splits, rounded kinks, leaf values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from registered import CALIBRATED

import uneven
from uneven.expression import derivative, parse
from uneven.losses.margin_function import smooth_switches
from uneven.ops.kernels import compile_kernel
from uneven.shape.kinks import kinks_and_jumps
from uneven.solvers.boosting.boost import ALGORITHMS, BoostedRows, round_kinks, round_kinks_of_tree
from uneven.solvers.boosting.trees import MISSING, find_thresholds, grow, put_in_bins
from uneven.solvers.linear.pair_of_losses import PairOfLosses

CONVEX = [name for name in CALIBRATED if uneven.phi(name).convex]
NO_WEIGHT = np.empty(0)


def holes(n: int, d: int, seed: int = 0, values: int | None = None) -> np.ndarray:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) if values is None else random.integers(0, values, (n, d)).astype(float)
    X[random.random((n, d)) < 0.1] = np.nan
    return X


def test_bins_keep_the_order_and_the_holes() -> None:
    for X in (holes(900, 3), holes(900, 3, values=7), holes(900, 3).astype(np.float32)):
        data = put_in_bins(X, find_thresholds(X, NO_WEIGHT, np.random.default_rng(0)))
        np.testing.assert_array_equal(data.bins.T == MISSING, np.isnan(X))
        for j in range(3):
            known = ~np.isnan(X[:, j])
            cuts = data.thresholds[j]
            np.testing.assert_array_equal(data.bins[j, known], np.searchsorted(cuts, X[known, j], side="left"))
            assert data.bins[j, known].max() < MISSING
    few = holes(900, 1, values=7)
    np.testing.assert_array_equal(
        find_thresholds(few, NO_WEIGHT, np.random.default_rng(0))[0, :7], [*np.arange(6) + 0.5, np.inf]
    )


def test_bins_of_many_values_have_equal_weight() -> None:
    random = np.random.default_rng(1)
    X = random.exponential(size=(20_000, 1))
    for weight in (NO_WEIGHT, random.integers(1, 5, 20_000).astype(float)):
        data = put_in_bins(X, find_thresholds(X, weight, random))
        mass = np.bincount(data.bins[0], weight if weight.size else None, minlength=255)[:255]
        assert np.abs(mass / mass.mean() - 1).max() < 0.1
    spike = np.where(random.random((5000, 1)) < 0.9, 0.0, random.normal(size=(5000, 1)))
    cuts = find_thresholds(spike, NO_WEIGHT, random)[0]
    assert (np.diff(cuts[np.isfinite(cuts)]) > 0).all()


def test_neighbouring_doubles_and_huge_values_are_told_apart() -> None:
    for low, high in ((1.0, np.nextafter(1.0, 2)), (-1.7e308, 1.7e308), (0.0, 5e-324)):
        X = np.array([[low], [high]])
        data = put_in_bins(X, find_thresholds(X, NO_WEIGHT, np.random.default_rng(0)))
        assert data.bins[0].tolist() == [0, 1]


def gain(g: float, h: float) -> float:
    return g * g / h if h > 0 else 0.0


def slow_best(X: np.ndarray, pairs: np.ndarray) -> float:
    """The best rise of any split at any value, with missing values on either side."""
    whole, best = gain(*pairs.sum(axis=0)), 0.0
    for j in range(X.shape[1]):
        known = X[~np.isnan(X[:, j]), j]
        for cut, missing_left in itertools.product([*np.unique(known)], (True, False)):
            left = np.where(np.isnan(X[:, j]), missing_left, X[:, j] <= cut)
            if left.all() or not left.any():
                continue
            best = max(best, gain(*pairs[left].sum(axis=0)) + gain(*pairs[~left].sum(axis=0)) - whole)
    return best


@pytest.mark.parametrize("seed", range(5))
def test_the_split_is_the_best_of_all(seed: int) -> None:
    random = np.random.default_rng(seed)
    X = holes(80, 3, seed, values=None if seed % 2 else 6)
    pairs = np.column_stack([random.normal(size=80), random.exponential(size=80)])
    data = put_in_bins(X, find_thresholds(X, NO_WEIGHT, random))
    shape = grow(data, pairs, 2, np.ones(80), 0.0)
    assert shape.gains[0] == pytest.approx(slow_best(X, pairs), rel=1e-9)
    for node, side in ((1, shape.slots < 2), (2, shape.slots >= 2)):
        assert shape.gains[node] == pytest.approx(slow_best(X[side], pairs[side]), rel=1e-9)
    np.testing.assert_array_equal(shape.slots_of(data), shape.slots)


@pytest.mark.parametrize("sentence", ["relu(1 - t)", "abs(1 - t)", "relu(1 - t) + 2*relu(-1/2 - t)", "relu(1/8 - t)"])
def test_rounded_kinks(sentence: str) -> None:
    """Convex, without kink, hardly above, and the same away from the kinks and at 0."""
    tree = parse(sentence)
    smooth = round_kinks_of_tree(tree)
    kernel, plain = (compile_kernel(one, smooth_switches(one)) for one in (smooth, tree))
    t = np.linspace(-3, 3, 6001)
    value, slope = kernel.first(t)
    kinks, jumps = map(np.array, kinks_and_jumps(tree))
    assert (np.diff(slope) >= -1e-12).all()
    assert np.diff(slope).max() < 0.02 * max(1, jumps.max() / np.abs(kinks).min())
    above = value - plain.first(t)[0]
    assert above.min() >= -1e-14
    assert above.max() <= (jumps / 16).max() + 1e-12
    far = (np.abs(t[:, None] - kinks) > 0.25).all(axis=1)
    np.testing.assert_allclose(slope[far], plain.first(t)[1][far], atol=1e-12)
    at_zero = [one.first(np.zeros(1))[1][0] for one in (kernel, plain)]
    assert at_zero[0] == at_zero[1]
    assert derivative(smooth) is not None


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
@pytest.mark.parametrize("loss", CONVEX)
def test_leaf_values_are_minima(loss: str, algorithm: str) -> None:
    """Along the direction of the tree, or in each leaf of its own, no other length has a smaller loss."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300).astype(np.int8)
    slots = random.integers(0, 4, 300).astype(np.int32)
    pair = round_kinks(PairOfLosses.of(uneven.UnevenMarginLoss(loss, gamma=3, alpha="1/5")))
    rows = BoostedRows(pair, y, random.exponential(size=300), random.normal(size=300) / 3)
    pairs = rows.pairs()
    sums = rows.leaf_sums(slots, 4, pairs)
    leaves = ALGORITHMS[algorithm](rows, slots, sums, pairs)

    def value(values: np.ndarray) -> float:
        return rows.along(rows.spread(slots, values), 1.0)[0]

    least = value(leaves)
    assert least < rows.loss
    others = [np.eye(4)[k] for k in range(4)] if algorithm == "real" else [leaves / np.abs(leaves).max()]
    for other, step in itertools.product(others, (-0.1, -1e-3, 1e-3, 0.1)):
        assert value(leaves + step * other) >= least * (1 - 1e-12)
    assert algorithm != "discrete" or np.unique(np.abs(leaves)).size == 1
