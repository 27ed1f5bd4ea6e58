"""More than two actions: the envelope, Theorem A, the tie rule, prices, the double hinge and bounds by psi."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import uneven
from uneven.costs import RowCosts
from uneven.errors import CostError, LossError, ParameterError

THREE = uneven.Actions(clear=(100, 0), review=(8, 5), block=(0, 20))


def random_actions(rng: np.random.Generator, *, most: int = 5, low: int = -9, high: int = 30) -> uneven.Actions:
    """Two to ``most`` actions with small whole costs, so that ties, equal actions and dominated ones occur."""
    count = int(rng.integers(2, most + 1))
    costs = rng.integers(low, high, (count, 2)).tolist()
    return uneven.Actions(**{f"a{k}": pair for k, pair in enumerate(costs)})


def exact_cost(actions: uneven.Actions, name: str, eta: Fraction) -> Fraction:
    on_positive, on_negative = actions.exact_costs(name)
    return eta * on_positive + (1 - eta) * on_negative


def with_breaks(rng: np.random.Generator) -> uneven.Actions:
    """Actions of which at least two pay."""
    while True:
        actions = random_actions(rng)
        if actions.breaks:
            return actions


@pytest.mark.slow
def test_theorem_a() -> None:
    """The regret of action k is the sum of m_i |eta - e_i| over breaks on whose wrong side it is: 20,000 cases."""
    rng = np.random.default_rng(0)
    several = 0
    for _ in range(20_000):
        actions = random_actions(rng)
        kept, breaks = actions.envelope, actions.exact_breaks
        several += len(kept) > 2
        assert all(0 < at < 1 for at in breaks)
        assert all(low < high for low, high in pairwise(breaks))
        eta = rng.choice([Fraction(int(rng.integers(0, 13)), 12), *breaks])
        k = int(rng.integers(len(kept)))
        least = min(exact_cost(actions, name, eta) for name in actions.names)
        wrong = [(k >= i) != (eta > at) for i, at in enumerate(breaks, start=1)]
        parts = zip(actions.exact_masses, breaks, wrong, strict=True)
        assert exact_cost(actions, kept[k], eta) - least == sum(m * abs(eta - at) for m, at, bad in parts if bad)
    assert several > 1500


def test_two_actions_are_todays_decisions_bit_for_bit() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        four = {name: rng.choice(np.round(rng.normal(3, 4, 60), 1), 50) for name in ("fp_cost", "fn_cost")}
        four |= {"tp_cost": rng.choice([0.0, 0.1, -2.5], 50), "tn_cost": 0.3}
        costs = RowCosts.read(50, **four)
        alpha = np.clip(costs.thresholds()[0], 0, 1)
        p = np.where(rng.random(50) < 0.5, alpha, rng.random(50))  # half of them tie, or miss a tie by rounding
        chosen = uneven.Actions.binary(**four).choose(p) == "positive"
        np.testing.assert_array_equal(chosen, costs.prefers_positive(p))
    alphas = np.arange(1, 20) / 20
    for at in alphas:
        costs = RowCosts.read(19, fp_cost=at, fn_cost=1 - at)
        chosen = uneven.Actions.binary(fp_cost=at, fn_cost=1 - at).choose(alphas) == "positive"
        np.testing.assert_array_equal(chosen, costs.prefers_positive(alphas))


def test_the_chosen_action_is_the_cheapest_and_the_first_of_equals() -> None:
    rng = np.random.default_rng(2)
    p = np.arange(0, 65) / 64  # exact in binary, as are the costs: ties are ties
    for _ in range(200):
        actions = random_actions(rng)
        costs = actions.expected_costs(p)
        np.testing.assert_array_equal(actions.choose(p), np.asarray(actions.names)[np.argmin(costs, axis=1)])
        assert actions.choose(0.25) == actions.choose(p)[16]
    rows = {f"a{k}": (rng.normal(5, 3, 40), rng.normal(5, 3, 40)) for k in range(4)}
    actions, p = uneven.Actions(**rows), rng.random(40)
    np.testing.assert_array_equal(actions.choose(p), np.asarray(actions.names)[actions.expected_costs(p).argmin(1)])
    assert [actions.row(k).choose(p[k]) for k in range(40)] == actions.choose(p).tolist()
    assert actions.take(np.arange(5)).choose(p[:5]).tolist() == actions.choose(p).tolist()[:5]


def test_an_action_pays_exactly_below_its_price() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        actions = random_actions(rng)
        for name in actions.names:
            change = actions.price_at_which(name)
            assert name in actions.envelope or change <= 0
            assert name not in actions.reprice(name, change + Fraction(1, 10**6)).envelope
            assert name in actions.reprice(name, change - Fraction(1, 10**6)).envelope
            always = actions.price_at_which(name, pays="always")
            assert actions.reprice(name, always - Fraction(1, 10**6)).envelope == (name,)
            assert actions.reprice(name, always + Fraction(1, 10**6)).envelope != (name,)
        never = set(actions.names) - set(actions.envelope)
        assert set(actions.dominated) == never


def test_prices_of_rows_are_those_of_each_row() -> None:
    rng = np.random.default_rng(4)
    actions = uneven.Actions(**{name: (rng.normal(9, 9, 30), rng.normal(9, 9, 30)) for name in "abcd"})
    for name in "abcd":
        for pays in (True, "always"):
            found = actions.price_at_which(name, pays=pays)
            each = [float(actions.row(k).price_at_which(name, pays=pays)) for k in range(30)]
            np.testing.assert_allclose(found, each, rtol=1e-12, atol=1e-12)


def test_a_person_who_errs() -> None:
    """Where the person is asked, against the closed form; an empty interval means that asking never pays."""
    rng = np.random.default_rng(5)
    asked = 0
    for _ in range(400):
        c0, c1 = (Fraction(int(n)) for n in rng.integers(1, 100, 2))
        e0, e1 = (Fraction(int(n), 50) for n in rng.integers(0, 20, 2))
        price = Fraction(int(rng.integers(0, 40)), 2)
        low = (price + c0 * e0) / (c1 * (1 - e1) + c0 * e0)
        high = (c0 * (1 - e0) - price) / (c0 * (1 - e0) + c1 * e1)
        actions = uneven.Actions.refer(fp_cost=c0, fn_cost=c1, price=price, misses=e1, false_alarms=e0)
        if low < high and low > 0:
            asked += 1
            assert actions.exact_breaks == ((low, high) if high < 1 else (low,))
        elif low >= high:
            assert "review" in actions.dominated
            assert actions.exact_breaks == (c0 / (c0 + c1),)
    assert asked > 100
    per_row = uneven.Actions.refer(fp_cost=20, fn_cost=[100, 300], price=5, misses=0.1, false_alarms=[0.02, 0])
    one = uneven.Actions.refer(fp_cost=20, fn_cost=300, price=5, misses=0.1, false_alarms=0)
    np.testing.assert_allclose(per_row.row(1).breaks, one.breaks)


def test_chows_rule() -> None:
    for price in ("1/10", "1/4", "2/5"):
        at = Fraction(price)
        assert uneven.Actions.refer(fp_cost=1, fn_cost=1, price=price).exact_breaks == (at, 1 - at)
    assert uneven.Actions.refer(fp_cost=1, fn_cost=1, price="1/2").dominated == ("review",)


def test_units_and_the_other_class() -> None:
    rng = np.random.default_rng(6)
    for _ in range(100):
        actions = with_breaks(rng)
        pairs = {name: actions.exact_costs(name) for name in actions.names}
        larger = uneven.Actions(**{name: (1000 * one, 1000 * other) for name, (one, other) in pairs.items()})
        assert larger.exact_breaks == actions.exact_breaks
        assert larger.exact_masses == tuple(1000 * mass for mass in actions.exact_masses)
        turned = uneven.Actions(**{name: pair[::-1] for name, pair in pairs.items()})
        assert turned.exact_breaks == tuple(1 - at for at in reversed(actions.exact_breaks))
        assert turned.exact_masses == actions.exact_masses[::-1]
        assert set(turned.dominated) == set(actions.dominated)


# -- the double hinge -------------------------------------------------------------------------------------------------


def taken(t: np.ndarray, thresholds: tuple[float, ...]) -> np.ndarray:
    """How far along the envelope a score leads."""
    return np.searchsorted(np.asarray(thresholds), t, side="left")


def regrets(actions: uneven.Actions, eta: np.ndarray, k: np.ndarray) -> np.ndarray:
    costs = actions.expected_costs(eta)[:, [actions.names.index(name) for name in actions.envelope]]
    return costs[np.arange(eta.size), k] - costs.min(axis=1)


def test_the_double_hinge_has_the_factor_two_and_attains_it() -> None:
    rng = np.random.default_rng(7)
    largest = 0.0
    for _ in range(60):
        actions = with_breaks(rng)
        loss, cuts = actions.loss(), np.asarray(actions.thresholds)
        ends = np.concatenate([[-sum(actions.masses) / 2], -sum(actions.masses) / 2 + np.cumsum(actions.masses)])
        eta = np.repeat(np.concatenate([[0.0, 1.0], rng.random(10), actions.breaks]), 40)
        t = rng.uniform(1.5 * ends[0], 1.5 * ends[-1], eta.size)
        t = np.where(rng.random(eta.size) < 0.3, rng.choice(np.concatenate([cuts, ends]), eta.size), t)
        least = np.min([loss.conditional_risk(eta, np.full(eta.size, end)) for end in ends], axis=0)
        surrogate, cost = loss.conditional_risk(eta, t) - least, regrets(actions, eta, taken(t, tuple(cuts)))
        assert (surrogate >= -1e-9).all()
        assert (cost <= 2 * surrogate + 1e-9).all()
        largest = max(largest, float(np.max(cost[surrogate > 1e-6] / surrogate[surrogate > 1e-6])))
        # the least expected loss is the least expected cost, but for a number of each class
        first, last = (actions.exact_costs(actions.envelope[k]) for k in (0, -1))
        moved = actions.expected_costs(eta).min(axis=1) - eta * float(last[0]) - (1 - eta) * float(first[1])
        np.testing.assert_allclose(least, moved, atol=1e-9)
    assert largest == pytest.approx(2.0)


def test_the_double_hinge_of_two_actions_is_the_hinge_and_of_chow_that_of_bartlett_and_wegkamp() -> None:
    t = np.linspace(-3, 3, 61)
    hinge = uneven.UnevenMarginLoss("hinge", alpha="1/10")
    ours = uneven.Actions.binary(fp_cost="1/5", fn_cost="9/5").loss()  # costs that sum to 2: the step is [-1, 1]
    np.testing.assert_allclose(ours.positive(t), hinge.positive(t))
    np.testing.assert_allclose(ours.negative(t), hinge.negative(t))
    d = 0.2
    double = uneven.Actions.refer(fp_cost=1, fn_cost=1, price="1/5").loss()
    published = d * np.maximum.reduce([np.zeros_like(t), 1 - t, 1 - (1 - d) / d * t])
    np.testing.assert_allclose(double.positive(t), published, atol=1e-15)
    np.testing.assert_allclose(double.negative(t), published[::-1], atol=1e-15)


@pytest.mark.slow
def test_certificates_prove_each_break() -> None:
    rng = np.random.default_rng(8)
    for actions in (THREE, with_breaks(rng), with_breaks(rng), uneven.Actions.binary(fp_cost="1/3", fn_cost=1e6)):
        found = actions.certificates()
        assert [certificate.claim.alpha for certificate in found] == list(actions.exact_breaks)
        assert all(uneven.verify(certificate).valid for certificate in found)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "exponential", "double hinge"])
def test_the_bound_by_psi_holds_on_finite_worlds(loss: str) -> None:
    rng = np.random.default_rng(9)
    for _ in range(6):
        actions = with_breaks(rng)
        chosen = actions.loss() if loss == "double hinge" else uneven.UnevenMarginLoss(loss)
        cuts = actions.thresholds if loss == "double hinge" else tuple(chosen.link(np.array(actions.breaks)))
        weight, eta = rng.dirichlet(np.ones(12), 25), rng.beta(0.5, 0.5, (25, 12))
        spread = max(actions.thresholds) - min(actions.thresholds) + 1 if loss == "double hinge" else 2.0
        t = rng.normal(0, spread, (25, 12))
        analysis = uneven.analyze(chosen)
        surrogate = (weight * (chosen.conditional_risk(eta, t) - analysis.optimal_risk(eta))).sum(axis=1)
        cost = (weight * regrets(actions, eta.ravel(), taken(t.ravel(), cuts)).reshape(25, 12)).sum(axis=1)
        bound = actions.regret_bound(chosen, np.maximum(surrogate, 0.0))
        assert (cost <= bound + 1e-9).all()
        if loss == "double hinge":
            assert (bound <= np.nextafter(2 * np.maximum(surrogate, 0.0), np.inf)).all()


def test_the_bound_is_rounded_up_and_never_above_the_worst_regret() -> None:
    actions = uneven.Actions(a=("1/3", 0), b=("1/7", "1/9"), c=(0, "1/3"))
    assert Fraction(actions.regret_bound(actions.loss(), np.inf)) >= Fraction(1, 3)
    assert actions.regret_bound(actions.loss(), np.inf) == pytest.approx(1 / 3)
    assert actions.regret_bound(uneven.analyze(actions.loss()), 0.0) == 0.0
    bounds = [uneven.analyze("logistic", alpha=at).regret_bound(0.01) for at in actions.exact_breaks]
    total = sum(mass * Fraction(bound) for mass, bound in zip(actions.exact_masses, bounds, strict=True))
    found = actions.regret_bound("logistic", 0.01, thresholds=[0, 0])
    assert 0 <= Fraction(found) - total <= Fraction(1, 10**15)
    own = THREE.regret_bound(THREE.loss(), [0.125, 3.0])
    np.testing.assert_array_equal(own, [0.25, 6.0])
    np.testing.assert_array_less(own, THREE.regret_bound(THREE.loss(), [0.125, 3.0], thresholds=THREE.thresholds))


# -- words, errors, pictures ------------------------------------------------------------------------------------------


def test_words() -> None:
    assert THREE.in_words() == "clear up to probability 0.05155, review up to 0.6522, block above."
    dear = uneven.Actions(clear=(100, 0), review=(30, 18), block=(0, 20))
    assert dear.in_words("EUR").endswith(
        "review never pays; it would if both of its costs were lower by more than 3.333 EUR."
    )
    assert uneven.Actions(a=(1, 0), b=(1, 0)).in_words().startswith("a is the cheapest action at every probability.")
    twice = uneven.Actions(clear=([100, 10], 0), again=([100, 10], 0), block=(0, 20))
    assert twice.dominated == ("again",)
    assert uneven.Actions(clear=([1, 2], 0), again=([1, 2], 0)).dominated == ("again",)
    touching = uneven.Actions(a=(2, 0), b=(1, 1), c=(0, 2))
    assert touching.in_words().endswith("b never pays; it would if both of its costs were a little lower.")
    rows = uneven.Actions(clear=([100, 10], 0), review=(30, 18), block=(0, 20))
    assert "Each of the 2 rows has costs of its own." in rows.in_words()
    assert "review never pays, in no row; it would if" in rows.in_words()
    assert THREE.regions["review"] == pytest.approx((5 / 97, 15 / 23))


def test_an_action_is_a_value() -> None:
    again = uneven.Actions(clear=(100.0, 0), review=("8", Fraction(5)), block=(0, 20))
    assert again == THREE
    assert hash(again) == hash(THREE)
    assert pickle.loads(pickle.dumps(THREE)) == THREE
    assert eval(repr(THREE), {"uneven": uneven}) == THREE
    assert uneven.Actions(clear=([1, 2], 0), b=(0, 1)) == uneven.Actions(clear=(np.array([1.0, 2.0]), 0), b=(0, 1))
    assert THREE.reprice("review", 1) != THREE
    assert THREE != "three"


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: uneven.Actions(a=(1, 0)), CostError, "at least two actions"),
        (lambda: uneven.Actions(a=(1, 0), b=3), CostError, "b must be two costs"),
        (lambda: uneven.Actions(a=(1, 0), b=(1, "x")), CostError, "b on a negative must be a finite number"),
        (lambda: uneven.Actions(a=(1, 0), b=(np.nan, 0)), CostError, "finite"),
        (lambda: uneven.Actions(a=([1, 2], 0), b=([1, 2, 3], 0)), CostError, "of the same rows, got 2 and 3"),
        (lambda: uneven.Actions(a=([1, np.inf], 0), b=(0, 1)), CostError, "finite numbers"),
        (lambda: uneven.Actions(a=([1, 2], 0), b=(0, 1)).breaks, CostError, r"row\(0\)"),
        (lambda: uneven.Actions(a=([1, 2], 0), b=(0, 1)).plot(), CostError, "differ from row to row"),
        (lambda: uneven.Actions(a=([1, 2], 0), b=(0, 1)).choose([0.1]), CostError, "2 numbers, one for each row"),
        (lambda: uneven.Actions(a=(1e308, 0), b=(-1e308, 1)).choose(0.5), CostError, "another unit"),
        (lambda: THREE.choose(1.5), CostError, r"must lie in \[0, 1\]"),
        (lambda: THREE.price_at_which("reviews"), CostError, "did you mean 'review'"),
        (lambda: THREE.price_at_which("review", pays="never"), CostError, "pays must be True or 'always'"),
        (lambda: uneven.Actions.refer(fp_cost=1, fn_cost=1, price=1, misses=2), CostError, "misses must lie in"),
        (lambda: uneven.Actions.refer(fp_cost=[1, 2], fn_cost=[1] * 3, price=1), CostError, "of the same rows"),
        (lambda: uneven.Actions(a=(1, 0), b=(2, 0)).loss(), LossError, "a is the cheapest action at every"),
        (lambda: THREE.regret_bound("logistic", -1), ParameterError, "at least 0"),
        (lambda: THREE.regret_bound("logistic", 1, thresholds=[1]), ParameterError, "2 rising numbers"),
        (lambda: THREE.regret_bound("hinge", 1), LossError, "does not identify probabilities"),
    ],
)
def test_bad_input_gets_one_sentence(make: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()  # type: ignore[operator]


def test_extreme_costs() -> None:
    tiny = uneven.Actions(a=(1e300, 0), b=(1, 1e-300), c=(0, 2e-300))
    assert all(0 < at < 1 for at in tiny.exact_breaks)
    assert tiny.choose(0.0) == "a"
    assert tiny.choose(1.0) == "c"
    assert tiny.choose([5e-324, 1e-12]).tolist() == ["b", "c"]
    assert tiny.breaks[0] > 0  # it is below every double
    with pytest.raises(LossError, match="too many digits for an exact loss"):
        tiny.loss()
    with pytest.raises(ParameterError, match="within the range of double precision"):
        tiny.regret_bound("logistic", 1.0)
    rare = uneven.Actions(a=(1e12, 0), b=(1, 0.5), c=(0, 2))
    assert rare.regret_bound(rare.loss(), 0.5) == 1.0
    assert rare.plot().get_xscale() == "logit"


def test_picture() -> None:
    pytest.importorskip("matplotlib")
    dear = uneven.Actions(clear=(1000, 0), review=(30, 2), second_look=(60, 12), block=(0, 20))
    axes = dear.plot(unit="EUR")
    labels = axes.get_legend_handles_labels()[1]
    assert labels == ["clear", "review", "second_look (never pays)", "block", "the cheapest"]
    assert axes.get_xscale() == "logit"
    eta, costs = axes.lines[1].get_data()
    np.testing.assert_allclose(costs, dear.expected_costs(eta)[:, 1])
    np.testing.assert_allclose(axes.lines[4].get_ydata(), dear.expected_costs(eta).min(axis=1))
    assert {text.get_text() for text in axes.texts} >= {"clear", "review", "block"}
    assert THREE.plot().get_xscale() == "linear"
    import matplotlib.pyplot as plt

    plt.close("all")


def test_bounds_of_regrets_that_are_no_doubles_are_rounded_up() -> None:
    """1/3 lies above the nearest double; twice that double would lie below twice 1/3."""
    loss = THREE.loss()
    for regret in (Fraction(1, 3), Fraction(1, 7), 2**53 + 1, np.longdouble(1) / 3):
        exact = Fraction(*regret.as_integer_ratio())
        assert Fraction(THREE.regret_bound(loss, regret)) >= min(2 * exact, 100)
        matrix = uneven.CostMatrix([[0, 10**30], [10**30, 0]])
        assert Fraction(matrix.regret_bound(regret, loss="brier")) ** 2 >= min(exact, 1) * 10**60 / 2
    prior = uneven.CostPrior.range(5, 50)
    assert Fraction(uneven.analyze(prior.loss(), prior).regret_bound(Fraction(1, 3))) >= Fraction(1, 3)


def test_what_is_no_action_no_cost_and_no_threshold() -> None:
    cases = {
        "there is no action": lambda: THREE.price_at_which(["review"]),  # type: ignore[arg-type]
        "finite numbers, one for each row": lambda: uneven.Actions(a=(1, 0), b=([], 0)),
        "b must be two costs": lambda: uneven.Actions(a=(1, 0), b={1, 2}),
        "must hold numbers": lambda: uneven.Actions(a=(1, 0), b=([[1, 2], [3]], 0)),
        "three different names": lambda: uneven.Actions.refer(fp_cost=1, fn_cost=1, price=0, names=None),  # type: ignore[arg-type]
    }
    for words, make in cases.items():
        with pytest.raises(CostError, match=words):
            make()
    with pytest.raises(ParameterError, match="thresholds must be 2 rising numbers"):
        THREE.regret_bound("logistic", 0.1, thresholds=0.5)
    pair = pd.Series([8, 5], index=[3, 4])
    assert uneven.Actions(clear=(100, 0), review=pair, block=(0, 20)) == THREE


def test_a_regret_within_a_score_bound_bounds_no_actions() -> None:
    """Against the best score within 1/10, t = 0 at eta = 1 loses 0.05 only, and costs 1: all scores would say 0.1."""
    bounded = uneven.analyze(uneven.UnevenMarginLoss("hinge", alpha="1/2"), score_bound="1/10")
    with pytest.raises(ParameterError, match="scores within a bound"):
        uneven.Actions(no=(1, 0), yes=(0, 1)).regret_bound(bounded, bounded.H(1.0), thresholds=[0])
