"""Cost matrices: decisions, what they cannot see, and Theorem M on random matrices and on its tight cases."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import rel_entr, xlogy

import uneven
from uneven._hull import lower_hull
from uneven.costs import RowCosts
from uneven.decisions import matrix_regret
from uneven.errors import CostError


def random_costs(rng: np.random.Generator) -> np.ndarray:
    """Costs of any sign with many equal ones, or ordinal, or with one dear class."""
    count, width = rng.integers(2, 5, size=2)
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(-3, 8, size=(count, width)).astype(float)
    if kind == 1:
        return np.abs(np.arange(count)[:, None] - np.linspace(0, count - 1, width)) ** float(rng.integers(1, 3))
    costs = rng.random((count, width)).round(2)
    costs[0] *= 50
    return costs


def near_ties(rng: np.random.Generator, costs: np.ndarray, count: int) -> np.ndarray:
    """Random probabilities, half of them moved to where two actions cost about the same: there decisions are wrong."""
    q = rng.dirichlet(np.full(costs.shape[0], 0.5), size=count)
    other = rng.dirichlet(np.full(costs.shape[0], 0.5), size=count)
    d = costs[:, 0] - costs[:, -1]
    a, b = q @ d, other @ d
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(a * b < 0, b / (b - a), 1.0)[:, None]
    moved = share * q + (1 - share) * other
    return np.where(np.arange(count)[:, None] % 2 == 0, q, moved)


@pytest.mark.slow
def test_theorem_m_on_50000_random_matrices():
    """At each x: lambda times the cost regret minus K(lambda) is at most KL(p || q), for every lambda."""
    rng = np.random.default_rng(0)
    rates = np.array([0.1, 1.0, 5.0])
    nearest, tried = math.inf, 0
    while tried < 50_000:
        costs = random_costs(rng)
        found = matrix_regret.MatrixRegret(tuple(tuple(Fraction(x) for x in row) for row in costs.tolist()))
        if found.largest == 0:  # one action is the cheapest in every class: nothing to decide
            continue
        tried += 1
        shares = rng.standard_exponential((6, costs.shape[0]))
        shares /= shares.sum(axis=1, keepdims=True)
        q, p = shares[:3], shares[3:]
        d = costs[:, 0] - costs[:, -1]
        first, second = q[0] @ d, q[1] @ d
        if first * second < 0:  # move one estimate to where two actions cost about the same: there decisions are wrong
            q[0] = (second * q[0] - first * q[1]) / (second - first)
        p[0] = (9 * q[0] + p[0]) / 10
        paid = p @ costs
        regret = paid[range(3), (q @ costs).argmin(axis=1)] - paid.min(axis=1)
        assert regret.max() <= found.largest * (1 + 1e-12) + 1e-12
        lower = rates[:, None] * (regret / found.largest) - found._log_mean(rates)[0][:, None]
        nearest = min(nearest, float((rel_entr(p, q).sum(axis=1) - lower).min()))
    assert nearest >= -1e-9
    assert nearest < 1e-5, "the random cases come close to the bound"


@pytest.mark.parametrize("seed", range(25))
def test_tight_cases_attain_psi(seed):
    rng = np.random.default_rng(seed)
    costs = random_costs(rng)
    matrix = uneven.CostMatrix(costs, actions=range(costs.shape[1]))
    found = matrix.regret
    if found.largest == 0:
        return
    for share in (0.01, 0.3, 0.7):
        eps = share * found._finite
        case = found.tight_case(eps)
        paid, said = case.truth @ costs, case.estimate @ costs
        size = np.abs(costs).max()
        chosen = said <= said.min(axis=1, keepdims=True) + 1e-9 * size  # equally cheap at the estimate
        worst = np.where(chosen, paid, -np.inf).max(axis=1) - paid.min(axis=1)
        assert case.weights @ worst >= eps - 1e-7 * size
        assert case.cost_regret == pytest.approx(eps, rel=1e-6)
        assert case.surrogate_regret == pytest.approx(found.psi(eps), rel=1e-5, abs=1e-9)
        assert case.weights @ rel_entr(case.truth, case.estimate).sum(axis=1) == pytest.approx(case.surrogate_regret)


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.01])
def test_two_classes_have_the_psi_of_log_loss(alpha):
    """At alpha the log loss has H(eta) = kl(eta, alpha): psi is the hull of the smaller one of its two sides."""
    found = uneven.CostMatrix([[0, alpha], [1 - alpha, 0]]).regret
    eps = np.linspace(0, 1 - alpha, 801)

    def kl(eta):
        with np.errstate(invalid="ignore"):
            value = xlogy(eta, eta / alpha) + xlogy(1 - eta, (1 - eta) / (1 - alpha))
        return np.where((eta < 0) | (eta > 1), np.inf, value)

    nu = np.minimum(kl(alpha + eps), kl(alpha - eps))
    psi = found.psi(eps)
    assert (psi <= nu + 1e-12).all()
    hull = lower_hull(eps.tolist(), nu.tolist())
    np.testing.assert_allclose(psi, np.interp(eps, eps[hull], nu[hull]), atol=1e-5)
    analysis = uneven.analyze(uneven.UnevenMarginLoss("logistic", alpha=Fraction(1, 2)))
    if alpha == 0.5:  # L_1/2 is half the log loss, on the scale of log-odds
        np.testing.assert_allclose(analysis.psi(eps), psi / 2, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_above_the_floats_and_close(seed):
    costs = random_costs(np.random.default_rng(100 + seed))
    matrix = uneven.CostMatrix(costs, actions=range(costs.shape[1]))
    r = np.geomspace(1e-12, 30, 40)
    bound, found = matrix.regret_bound(r), matrix.regret.psi_inverse(r)
    assert (bound >= found * (1 - 1e-13)).all()
    np.testing.assert_allclose(bound, found, rtol=1e-7)
    assert (np.diff(bound) >= 0).all()
    assert matrix.regret_bound(0.0) == 0.0
    assert matrix.regret_bound(math.inf) == matrix.regret.largest
    brier = matrix.regret_bound(r, loss="brier")
    assert (brier[:-1] <= brier[1:]).all()
    assert brier[-1] == matrix.regret.largest


@pytest.mark.slow
def test_the_brier_bound_holds_and_is_attained():
    rng = np.random.default_rng(5)
    for _ in range(40):
        costs = random_costs(rng)
        matrix = uneven.CostMatrix(costs, actions=range(costs.shape[1]))
        q, p = near_ties(rng, costs, 300), rng.dirichlet(np.ones(costs.shape[0]), size=300)
        paid = p @ costs
        regret = paid[np.arange(300), matrix.decide(q)] - paid.min(axis=1)
        assert (regret <= matrix.regret_bound(((p - q) ** 2).sum(axis=1), loss="brier") + 1e-12).all()
    two = uneven.CostMatrix([[0, 1], [1, 0]])
    assert two.regret_bound(2 * 0.1**2, loss="brier") == pytest.approx(0.2)  # p = .5 and q = .6 on either side


def test_corners_are_those_of_all_choices_of_constraints():
    """Against brute force: every choice of as many tight constraints as there are classes, less one."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        costs = random_costs(rng)
        count, width = costs.shape
        exact = tuple(tuple(Fraction(x) for x in row) for row in costs)
        for b in range(width):
            rows = [*np.eye(count), *(costs[:, b] - costs[:, a] for a in range(width) if a != b)]
            expected = set()
            for tight in itertools.combinations(range(len(rows)), count - 1):
                system = np.array([np.ones(count), *(rows[k] for k in tight)])
                if abs(np.linalg.det(system)) < 1e-9:
                    continue
                q = np.linalg.solve(system, np.eye(count)[0])
                if q.min() > -1e-9 and all(q @ (costs[:, b] - costs[:, a]) < 1e-9 for a in range(width)):
                    expected.add(tuple(np.round(q, 6) + 0.0))
            found = matrix_regret.MatrixRegret(exact).corners(b)
            assert {tuple(np.round([float(x) for x in q], 6) + 0.0) for q in found} == expected


@pytest.mark.slow
def test_pairs_alone_are_still_a_bound(monkeypatch):
    rng = np.random.default_rng(2)
    weaker = 0
    for _ in range(30):
        costs = random_costs(rng)
        full = uneven.CostMatrix(costs, actions=range(costs.shape[1]))
        if full.regret.largest == 0:
            continue
        eps = np.linspace(0, 0.9, 8) * full.regret._finite
        psi = full.regret.psi(eps)
        with monkeypatch.context() as patch:
            patch.setattr(matrix_regret, "_MOST_CORNERS", 0)
            pairs = uneven.CostMatrix(costs, actions=range(costs.shape[1])).regret
        assert not pairs.exact
        assert (pairs.psi(np.minimum(eps, pairs.largest)) <= psi + 1e-9).all()
        weaker += bool((pairs.psi(np.minimum(eps, pairs.largest)) < psi - 1e-3).any())
    assert weaker, "the exact function is better somewhere"


@pytest.mark.slow
def test_no_distribution_that_a_search_finds_beats_psi():
    """Minimise KL(p || q) - psi by a general optimiser from many starts: it is never below 0, and gets near."""
    costs = np.array([[0.0, 1, 4], [2, 0, 1], [10, 3, 0]])
    matrix = uneven.CostMatrix(costs)
    found = matrix.regret
    rng, lowest = np.random.default_rng(3), math.inf
    for b, a in itertools.permutations(range(3), 2):
        d = costs[:, b] - costs[:, a]
        for _ in range(4):
            start = rng.dirichlet(np.ones(3), size=2).ravel()
            constraints = [
                {"type": "eq", "fun": lambda z: z[:3].sum() - 1},
                {"type": "eq", "fun": lambda z: z[3:].sum() - 1},
                {"type": "eq", "fun": lambda z, d=d: z[:3] @ d - 0.5},
                {"type": "ineq", "fun": lambda z, b=b: z[3:] @ (costs - costs[:, [b]])},
            ]
            done = minimize(
                lambda z: rel_entr(np.abs(z[:3]), np.maximum(z[3:], 1e-12)).sum(),
                start,
                bounds=[(1e-12, 1)] * 6,
                constraints=constraints,
            )
            if done.success:
                lowest = min(lowest, float(done.fun))
    assert lowest >= found.psi(0.5) - 1e-6
    assert lowest <= found.psi(0.5) + 1e-3


# -- decisions ---------------------------------------------------------------------------------------------------------


def test_two_classes_decide_as_two_costs_bit_for_bit():
    rng = np.random.default_rng(0)
    p = np.concatenate([rng.random(5000), [0, 1, 0.5, 0.1, 0.09999999999999999, 0.10000000000000002]])
    for fp, fn, tp, tn in [(1, 9, 0, 0), (0.1, 0.9, 0, 0), (5, 3, 1, -2)]:
        matrix = uneven.CostMatrix([[tn, fp], [fn, tp]])
        expected = RowCosts.read(p.size, fp_cost=fp, fn_cost=fn, tp_cost=tp, tn_cost=tn).prefers_positive(p)
        np.testing.assert_array_equal(matrix.decide(np.column_stack([1 - p, p])) == 1, expected)


@pytest.mark.slow
def test_units_constants_and_permutations_change_nothing():
    rng = np.random.default_rng(4)
    for _ in range(25):
        costs = rng.integers(0, 9, size=(3, 4)).astype(float)
        matrix = uneven.CostMatrix(costs)
        q = rng.dirichlet(np.ones(3), size=50)
        moved = uneven.CostMatrix(8 * costs + np.array([[1.0], [5.0], [-2.0]]))
        np.testing.assert_array_equal(moved.decide(q), matrix.decide(q))
        order = rng.permutation(3)
        turned = uneven.CostMatrix(costs[order], classes=order.tolist())
        np.testing.assert_array_equal(turned.decide(q[:, order]), matrix.decide(q))
        if matrix.regret.largest:
            for other, factor in ((moved, 8), (turned, 1)):
                np.testing.assert_allclose(
                    other.regret_bound([1e-3, 0.1]), factor * matrix.regret_bound([1e-3, 0.1]), rtol=1e-9
                )


def test_a_matrix_for_each_row():
    rng = np.random.default_rng(6)
    costs, q = rng.random((20, 3, 4)), rng.dirichlet(np.ones(3), size=20)
    many = uneven.CostMatrix(costs, actions=list("abcd"))
    expected = [uneven.CostMatrix(one, actions=list("abcd")).decide(row) for one, row in zip(costs, q, strict=True)]
    assert many.decide(q).tolist() == expected
    np.testing.assert_allclose(many.expected_cost(q)[3], q[3] @ costs[3])
    with pytest.raises(CostError, match="one matrix for all rows"):
        many.regret_bound(0.1)


def test_rows_are_taken_and_pay_as_one_matrix_each():
    rng = np.random.default_rng(8)
    base = uneven.CostMatrix(rng.random((3, 4)), classes=list("xyz"), actions=list("abcd"))
    amount = rng.random(30)
    many = base.with_costs_of_rows({("y", "c"): amount, ("x", "a"): 0.25})
    assert many.costs.shape == (30, 3, 4)
    np.testing.assert_array_equal(many.costs[:, 1, 2], amount)
    assert set(many.costs[:, 0, 0]) == {0.25}
    q, truth, said = rng.dirichlet(np.ones(3), 30), rng.choice(list("xyz"), 30), rng.choice(list("abcd"), 30)
    single = [uneven.CostMatrix(one, base.classes, base.actions) for one in many.costs]
    expected = [one.paid(truth[[k]], said[[k]])[0] for k, one in enumerate(single)]
    np.testing.assert_array_equal(many.paid(truth, said), expected)
    some = rng.permutation(30)[:7]
    np.testing.assert_array_equal(many.take(some).decide(q[some]), many.decide(q)[some])
    mask = np.zeros(30, dtype=bool)
    mask[some] = True
    assert many.take(mask) == many.take(np.sort(some))
    assert base.take(some) is base
    np.testing.assert_array_equal(
        base.paid(truth, said),
        [base.costs["xyz".index(y), "abcd".index(a)] for y, a in zip(truth, said, strict=True)],
    )


def test_regions_are_where_an_action_is_decided():
    """Mixtures of the corners of a region are decided as its action; random probabilities lie in one region."""
    rng = np.random.default_rng(9)
    for _ in range(20):
        costs = random_costs(rng)
        matrix = uneven.CostMatrix(costs, actions=range(costs.shape[1]))
        total = 0
        for action, corners in matrix.regions().items():
            total += len(corners)
            if not len(corners):
                assert action in matrix.never_cheapest
                continue
            mixed = rng.dirichlet(np.ones(len(corners)), size=50) @ corners
            expected = mixed @ costs
            assert (expected[:, action] <= expected.min(axis=1) + 1e-12 * np.abs(costs).max()).all()
        assert total >= len(costs)
        for y, label in enumerate(matrix.classes):  # each certain class is a corner of the region of its decision
            sure = np.eye(len(costs))[y]
            assert (matrix.regions()[matrix.decide(sure)] == sure).all(axis=1).any(), label


def test_the_ways_to_give_a_matrix(tmp_path):
    costs = {"ill": {"home": 100, "ward": 0}, "well": {"home": 0, "ward": 5}}
    first = uneven.CostMatrix(costs)
    frame = pd.DataFrame(costs).T
    path = tmp_path / "costs.csv"
    path.write_text("true,home,ward\nill,100,0\nwell,0,5\n")
    for other in (uneven.CostMatrix(frame), uneven.CostMatrix.read(path)):
        assert other == first
        assert hash(other) == hash(first)
    assert first.classes == ("ill", "well")
    assert uneven.CostMatrix([["1/3", 0], [0, "0.1"]]) != uneven.CostMatrix([[1 / 3, 0], [0, 0.1]])
    assert first.decide([0.04, 0.96]) == "home"
    assert first.decide([0.05, 0.95]) == "ward"


def test_remarks():
    matrix = uneven.CostMatrix([[0, 6, 10], [10, 6, 0]], actions=["a", "between", "b"])
    assert matrix.never_cheapest == {
        "between": "'between' is never the cheapest action; it would be for some probabilities if it cost 1 less in "
        "every class"
    }
    assert uneven.CostMatrix([[0, 5, 10], [10, 5, 0]], actions=["a", "between", "b"]).never_cheapest == {}
    told = uneven.CostMatrix([[0, 5], [2, 7], [9, 0]], actions=["wait", "act"])
    assert told.never_told_apart == [(0, 1)]
    assert told.remarks == ["no decision depends on whether 0 or 1 is true"]


def test_at_the_price_that_is_shown_an_action_is_the_cheapest_somewhere():
    """In rationals: at the shown price the region is not empty, and a little above it, it is."""
    rng, tried = np.random.default_rng(12), 0
    for _ in range(150):
        costs = (rng.random((3, 4)) * 10.0 ** rng.integers(-6, 7)).tolist()
        for action, words in uneven.CostMatrix(costs, actions=range(4)).never_cheapest.items():
            price = Fraction(words.split("if it cost ")[1].split()[0])
            for share, never in ((Fraction(1), False), (1 - Fraction(1, 10_000), True)):
                moved = [[Fraction(c) - (k == action) * share * price for k, c in enumerate(row)] for row in costs]
                assert (action in uneven.CostMatrix(moved, actions=range(4)).regret.never_cheapest) is never
            tried += 1
    assert tried > 20


@pytest.mark.slow
def test_class_weights_are_right_exactly_if_wrong_actions_cost_the_same():
    rng = np.random.default_rng(7)
    weights = np.array([1.0, 4.0, 20.0])
    base = np.array([0.5, -1.0, 3.0])
    matrix = uneven.CostMatrix(np.where(np.eye(3), base[:, None], (base + weights)[:, None]))
    found = matrix.expressible_by_class_weights
    assert found
    assert found.weights == {0: 1.0, 1: 4.0, 2: 20.0}
    q = rng.dirichlet(np.ones(3), size=20_000)
    np.testing.assert_array_equal(matrix.decide(q), (q * weights).argmax(axis=1))
    other = uneven.CostMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert not other.expressible_by_class_weights
    assert other.expressible_by_class_weights.reason.startswith("where 0 is true, 1 costs 1 and 2 costs 2;")
    for trial in np.exp(rng.normal(0, 1, size=(300, 3))):
        assert (other.decide(q) != (q * trial).argmax(axis=1)).any()
    assert "not the classes" in uneven.CostMatrix([[0, 1, 2], [1, 0, 2]]).expressible_by_class_weights.reason
    assert "no more" in uneven.CostMatrix([[1, 1, 1], [1, 0, 1], [1, 1, 0]]).expressible_by_class_weights.reason


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: uneven.CostMatrix([[0, 1], [1]]), "same number of actions"),
        (lambda: uneven.CostMatrix([0, 1]), "must have the shape"),
        (lambda: uneven.CostMatrix([[0, 1]]), "two classes and two actions"),
        (
            lambda: uneven.CostMatrix([[0, "x"], [1, 0]]),
            "the cost of 1 where 0 is true must be a finite number, got 'x'",
        ),
        (lambda: uneven.CostMatrix([[0, math.nan], [1, 0]]), "finite number"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]], classes=["a"]), "classes must have 2 names, got 1"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]], classes=["a", "a"]), "different names"),
        (lambda: uneven.CostMatrix({"a": {"x": 1}, "b": {"y": 1}}), "'b' differs"),
        (lambda: uneven.CostMatrix({"a": 1}), "the form"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).decide([[0.5, 0.4]]), "must sum to 1, got 0.9"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).decide([[0.5, 0.4, 0.1]]), "2 columns, one for each class"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).regret_bound(-1), "at least 0, got -1.0"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).regret.psi(2), "eps must lie between 0 and 1.0"),
        (lambda: uneven.CostMatrix.read("no such file.csv"), "cannot read"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).paid([0, 2], [0, 0]), "2 is no class of the cost matrix"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).paid([0, 1], [0, 7]), "7 is no action of the cost matrix"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).paid([0, 1], [0]), "length"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).with_costs_of_rows({(0, 1): 3}), "one length, got numbers only"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).with_costs_of_rows({}), "the form"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).with_costs_of_rows({0: [1, 2]}), "pairs"),
        (lambda: uneven.CostMatrix([[0, 1], [1, 0]]).with_costs_of_rows({(0, 1): [1, math.inf]}), "finite"),
    ],
)
def test_bad_input_gets_a_sentence(make, words):
    with pytest.raises(CostError, match=words):
        make()


def test_extreme_costs():
    """A miss of 1e12, and costs near the ends of double precision: numbers, no NaN."""
    for costs in ([[0, 1, 2], [1, 0, 1], [1e12, 1e6, 0]], [[0, 1e300], [1e-300, 0]], [[0, 1e308], [1e308, 0]]):
        matrix = uneven.CostMatrix(costs)
        bound = matrix.regret_bound([1e-300, 1e-12, 1.0, 1e300])
        assert np.isfinite(bound).all()
        assert (np.diff(bound) >= 0).all()
        assert matrix.decide(np.full(len(costs), 1 / len(costs))) in matrix.actions


@pytest.mark.parametrize("names", [3, "ab", [["a"], ["b"]], np.zeros((2, 2))])
def test_names_that_are_no_list(names: object) -> None:
    with pytest.raises(CostError, match="classes must"):
        uneven.CostMatrix([[0, 1], [1, 0]], classes=names)  # type: ignore[arg-type]
    with pytest.raises(CostError, match="read takes the path"):
        uneven.CostMatrix.read(None)  # type: ignore[arg-type]


def test_differences_of_costs_that_are_no_doubles() -> None:
    """Infinity times the probability 0 would be NaN, and NaN the smallest cost."""
    costs = np.array([[1e308, -1e308], [0.0, 1.0]])
    for given in (costs, np.stack([costs, costs])):
        with pytest.raises(CostError, match="too large for double precision"):
            uneven.CostMatrix(given)
    with pytest.raises(CostError, match="too large for double precision"):
        uneven.Actions(a=([1e308, 1.0], 0), b=(-1e308, 1), c=(0, 0)).price_at_which("c")
