"""Costs for observed rows: laws on finite worlds whose rows are changed by definition, without the library."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uneven
from uneven.errors import CostError, ParameterError

USE = uneven.Cost(fp_cost=1, fn_cost=10)
#: Worlds of each law.
WORLDS = 20_000
#: Worlds that the same things happen to.
SAME_STEPS = 5


@dataclass(frozen=True)
class FiniteWorld:
    """For each point the masses of positives and negatives: integers over their total."""

    positive: list[int]
    negative: list[int]

    @property
    def sums(self) -> tuple[int, int]:
        return sum(self.positive), sum(self.negative)

    @property
    def share(self) -> Fraction:
        """The share of positives."""
        return Fraction(self.sums[0], sum(self.sums))

    def regret(self, alpha: Fraction, said_positive: list[bool]) -> Fraction:
        """What decisions cost above the best ones, at costs alpha and 1 - alpha."""
        fp_cost, unit = alpha.numerator, alpha.denominator
        total = 0
        for p, q, said in zip(self.positive, self.negative, said_positive, strict=True):
            false_positive, false_negative = fp_cost * q, (unit - fp_cost) * p
            total += (false_positive if said else false_negative) - min(false_positive, false_negative)
        return Fraction(total, unit * sum(self.sums))

    def best(self, alpha: Fraction) -> list[int]:
        """1 where positive is cheaper, -1 where negative is, 0 where both cost the same."""
        fp_cost, fn_cost = alpha.numerator, alpha.denominator - alpha.numerator
        worth = [fn_cost * p - fp_cost * q for p, q in zip(self.positive, self.negative, strict=True)]
        return [(one > 0) - (one < 0) for one in worth]


@dataclass(frozen=True)
class Step:
    """A method of Cost with its parameters in 64ths, and what it makes of the masses at a point and their sums."""

    method: str
    parameters: dict[str, Any]
    masses: Callable[[int, int, int, int], tuple[int, int]]

    def world(self, world: FiniteWorld) -> FiniteWorld:
        sums = world.sums
        pairs = [self.masses(p, q, *sums) for p, q in zip(world.positive, world.negative, strict=True)]
        return FiniteWorld([p for p, _ in pairs], [q for _, q in pairs])

    def cost(self, cost: Any) -> Any:
        return getattr(cost, self.method)(**self.parameters)


def flip(random: np.random.Generator, share: Fraction) -> Step:
    up = int(random.integers(0, 63))
    down = int(random.integers(0, 64 - up))
    rates = {"positive": Fraction(up, 64), "negative": Fraction(down, 64)}
    return Step("for_noisy_labels", rates, lambda p, q, *_: ((64 - up) * p + down * q, up * p + (64 - down) * q))


def hide(random: np.random.Generator, share: Fraction) -> Step:
    kept = int(random.integers(1, 65))
    frequency = {"label_frequency": Fraction(kept, 64)}
    return Step("for_unlabelled", frequency, lambda p, q, *_: (kept * p, 64 * q + (64 - kept) * p))


def resample(random: np.random.Generator, share: Fraction) -> Step:
    train = int(random.integers(1, 64))
    shares = {"train": Fraction(train, 64), "use": share}
    return Step("for_prevalence", shares, lambda p, q, ps, qs: (train * p * qs, (64 - train) * q * ps))


STEPS = (flip, hide, resample)


def finite_world(random: np.random.Generator) -> FiniteWorld:
    """Three points with 12 positives and 20 negatives in all; some have none of one class."""
    positive, negative = (random.multinomial(count, random.dirichlet(np.full(3, 0.7))) for count in (12, 20))
    return FiniteWorld(positive.tolist(), negative.tolist())


def any_costs(random: np.random.Generator) -> uneven.Cost:
    fp_cost, fn_cost = (int(one) for one in random.integers(1, 50, 2))
    return uneven.Cost(fp_cost=fp_cost, fn_cost=fn_cost)


@pytest.mark.slow
def test_every_rule_has_the_factor_times_its_observed_regret_and_the_best_rules_are_the_same() -> None:
    random = np.random.default_rng(0)
    lengths, regrets = set(), 0
    for _ in range(WORLDS // SAME_STEPS):
        use = any_costs(random)
        cost: Any = use
        worlds = clean = [finite_world(random) for _ in range(SAME_STEPS)]  # with the same share of positives
        for step in random.integers(0, len(STEPS), int(random.integers(1, 4))):
            happened = STEPS[step](random, worlds[0].share)
            cost, worlds = happened.cost(cost), [happened.world(world) for world in worlds]
        lengths.add(len(cost.changes))
        alpha, observed_alpha, factor = use.exact_alpha, cost.exact_alpha, cost.exact_factor
        money, observed_money = sum(use.exact_costs), sum(cost.exact_costs)
        for before, after in zip(clean, worlds, strict=True):
            assert after.best(observed_alpha) == before.best(alpha)
            rule = [bool(one) for one in random.integers(0, 2, 3)]
            regret, observed = before.regret(alpha, rule), after.regret(observed_alpha, rule)
            assert regret == factor * observed
            assert regret * money == observed * observed_money
            regrets += regret > 0
    assert lengths == {1, 2, 3}
    assert regrets > WORLDS / 2


@pytest.mark.slow
def test_wrong_rates_cost_at_most_the_factor_times_the_error_of_alpha() -> None:
    random = np.random.default_rng(1)
    positive = 0
    for _ in range(2_000):
        use, clean = any_costs(random), finite_world(random)
        true, believed = flip(random, clean.share), flip(random, clean.share)
        world, cost, wrong = true.world(clean), true.cost(use), believed.cost(use)
        rule = [sign > 0 for sign in world.best(wrong.exact_alpha)]  # the best one for who believes the wrong rates
        regret = clean.regret(use.exact_alpha, rule)
        assert regret <= cost.exact_factor * abs(cost.exact_alpha - wrong.exact_alpha)
        positive += regret > 0
    assert positive > 100


@pytest.mark.slow
@pytest.mark.parametrize("phi", ["hinge", "logistic"])
def test_a_surrogate_regret_on_observed_rows_bounds_the_regret_in_use(phi: str) -> None:
    """Theorem 1 on the observed rows, and the factor; with scores just beyond 0, the bound of the hinge is attained."""
    random = np.random.default_rng(6)
    nearest = 0.0
    for _ in range(12):
        use, clean = any_costs(random), finite_world(random)
        happened = STEPS[random.integers(0, 3)](random, clean.share)
        world, cost = happened.world(clean), happened.cost(use)
        loss = uneven.calibrated_loss(phi, alpha=cost.exact_alpha)
        analysis = uneven.analyze(loss, cost.exact_alpha)
        positive, negative = (
            np.array([float(Fraction(m, sum(world.sums))) for m in each]) for each in (world.positive, world.negative)
        )
        mass = positive + negative
        eta = np.divide(positive, mass, out=np.zeros(3), where=mass > 0)
        for _ in range(40):
            score = random.normal(size=3) * random.choice([1e-9, 1.0])
            excess = loss.conditional_risk(eta, score) - analysis.optimal_risk(eta)
            surrogate = float(mass @ np.maximum(excess, 0.0))
            bound = cost.regret_bound(analysis.regret_bound(surrogate))
            regret = float(clean.regret(use.exact_alpha, (score > 0).tolist()))
            assert regret <= bound * (1 + 1e-9) + 1e-12  # the surrogate regret is a float
            nearest = max(nearest, regret / bound if bound > 0 else 0.0)
    assert nearest > (0.999 if phi == "hinge" else 0.3)


@pytest.mark.slow
def test_the_f_measure_is_a_cost_ratio() -> None:
    random = np.random.default_rng(5)
    rules = [[bool(k & 1), bool(k & 2), bool(k & 4)] for k in range(8)]
    for _ in range(WORLDS):
        world = finite_world(random)
        square = Fraction(int(random.integers(1, 40)), 10)  # of beta
        total, reached = sum(world.sums), []
        for rule in rules:
            said = sum(p + q for p, q, flag in zip(world.positive, world.negative, rule, strict=True) if flag)
            found = sum(p for p, flag in zip(world.positive, rule, strict=True) if flag)
            reached.append(((1 + square) * found / (square * world.sums[0] + said), said))
        best = max(measure for measure, _ in reached)
        alpha = best / (1 + square)
        measure, said = reached[k := int(random.integers(0, 8))]
        unit = (1 + square) * total / (square * world.sums[0] + said)
        assert best - measure == unit * world.regret(alpha, rules[k])
        assert world.regret(alpha, rules[[one for one, _ in reached].index(best)]) == 0


rates = st.fractions(0, Fraction(9, 20), max_denominator=1000)
shares = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)
costs = st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)


@pytest.mark.slow
@settings(max_examples=60)
@given(costs, costs, rates, rates, shares, shares)
def test_the_published_formulas(fp: Any, fn: Any, up: Any, down: Any, train: Any, use: Any) -> None:
    clean = uneven.Cost(fp_cost=fp, fn_cost=fn)
    alpha = clean.exact_alpha
    noisy = clean.for_noisy_labels(positive=up, negative=down)
    assert noisy.exact_alpha == (1 - up - down) * alpha + down
    assert noisy.exact_factor == 1 / (1 - up - down)
    labelled = clean.for_unlabelled(label_frequency=use)
    assert (labelled.exact_alpha, labelled.exact_factor) == (use * alpha, 1 / use)
    resampled = clean.for_prevalence(train=train, use=use)
    assert resampled.exact_costs == (fp * (1 - use) / (1 - train), fn * use / train)
    assert resampled.exact_factor == alpha * (1 - use) / (1 - train) + (1 - alpha) * use / train
    odds = use * (1 - train) / ((1 - use) * train)
    assert resampled.log_odds_shift == pytest.approx(math.log(odds), rel=1e-14, abs=1e-15)
    weighted = clean.for_weights(positive=3, negative=2)
    assert weighted.exact_costs == (fp / 2, fn / 3)
    assert weighted.log_odds_shift == pytest.approx(math.log(2 / 3))
    assert noisy.log_odds_shift is None or up == down == 0


@pytest.mark.slow
@settings(max_examples=60)
@given(costs, costs, rates, rates, rates, rates, shares, shares, shares)
def test_the_laws_of_chains(
    fp: Any, fn: Any, up: Any, down: Any, up_again: Any, down_again: Any, a: Any, b: Any, c: Any
) -> None:
    clean = uneven.Cost(fp_cost=fp, fn_cost=fn)
    twice = clean.for_noisy_labels(positive=up, negative=down).for_noisy_labels(positive=up_again, negative=down_again)
    once = clean.for_noisy_labels(
        positive=up * (1 - down_again) + (1 - up) * up_again, negative=down * (1 - up_again) + (1 - down) * down_again
    )
    assert twice.exact_costs == once.exact_costs
    hidden = clean.for_unlabelled(label_frequency=a)
    assert hidden.exact_costs == clean.for_noisy_labels(positive=1 - a, negative=0).exact_costs
    assert hidden.for_unlabelled(label_frequency=b).exact_costs == (
        clean.for_unlabelled(label_frequency=a * b).exact_costs
    )
    through = clean.for_prevalence(train=b, use=a).for_prevalence(train=c, use=b)
    assert through.exact_costs == clean.for_prevalence(train=c, use=a).exact_costs
    back = clean.for_prevalence(train=b, use=a).for_prevalence(train=a, use=b)
    assert (back.exact_costs, back.exact_factor, back.log_odds_shift) == (clean.exact_costs, 1, 0.0)
    factors = [hidden.exact_factor, twice.exact_factor]
    assert hidden.for_noisy_labels(positive=up, negative=down).for_noisy_labels(
        positive=up_again, negative=down_again
    ).exact_factor == math.prod(factors)
    as_weights = clean.for_weights(positive=a / b, negative=(1 - a) / (1 - b))
    assert as_weights.exact_costs == clean.for_prevalence(train=a, use=b).exact_costs


def test_the_order_of_a_chain_matters() -> None:
    noise = {"positive": "1/5", "negative": "1/100"}
    shift = {"train": "1/2", "use": "1/50"}
    first = USE.for_noisy_labels(**noise).for_prevalence(**shift)
    last = USE.for_prevalence(**shift).for_noisy_labels(**noise)
    assert first.exact_alpha != last.exact_alpha


def test_two_samples_of_positives_and_of_unlabelled_rows() -> None:
    """A sample of positives beside a sample of all rows: the chain of docs/resampling.md."""
    random = np.random.default_rng(2)
    for _ in range(60):
        use, clean = any_costs(random), finite_world(random)
        part = int(random.integers(1, 64))  # 64ths of the observed rows are from the sample of positives
        (positives, negatives), points = clean.sums, zip(clean.positive, clean.negative, strict=True)
        unlabelled = [(64 - part) * (p + q) * positives for p, q in points]
        world = FiniteWorld([part * p * (positives + negatives) for p in clean.positive], unlabelled)
        half = Fraction(1, 2)  # any frequency: positives of the world before are then made up for
        before = clean.share / (half + half * clean.share)
        cost = (
            use.for_prevalence(train=before, use=clean.share)
            .for_unlabelled(label_frequency=half)
            .for_prevalence(train=Fraction(part, 64), use=half * before)
        )
        assert world.best(cost.exact_alpha) == clean.best(use.exact_alpha)
        rule = [bool(one) for one in random.integers(0, 2, 3)]
        assert clean.regret(use.exact_alpha, rule) == cost.exact_factor * world.regret(cost.exact_alpha, rule)


# -- numbers in doubles -----------------------------------------------------------------------------------------------


def moebius(cost: Any, p: float) -> Fraction:
    """The probability in use of an exact observed one, from the definition of each change, backwards."""
    value = Fraction(p)
    for change in reversed(cost.changes):
        given = {name: Fraction(number) for name, number in change.parameters}
        if change.method == "for_noisy_labels":
            value = (value - given["negative"]) / (1 - given["positive"] - given["negative"])
        elif change.method == "for_unlabelled":
            value = value / given["label_frequency"]
        else:
            train, use = given["train"], given["use"]
            positive, negative = value * use / train, (1 - value) * (1 - use) / (1 - train)
            value = positive / (positive + negative)
    return value


AWKWARD = [0.0, 5e-324, 1e-300, 1e-12, 1e-9, 0.02, 0.5, 0.98, 1 - 1e-9, 1 - 2**-53, 1.0]


@pytest.mark.parametrize("alpha", [1e-12, 0.1, 0.5])
@pytest.mark.parametrize("use", [1e-9, 0.02, 0.5, 1 - 1e-9])
def test_probabilities_and_alphas_at_the_ends(alpha: float, use: float) -> None:
    clean = uneven.Cost.from_alpha(alpha)
    cost = clean.for_prevalence(train=0.5, use=use)
    found = cost.probability(AWKWARD)
    for p, q in zip(AWKWARD, found, strict=True):
        true = moebius(cost, p)
        assert abs(Fraction(q) - true) <= 4e-16 * true + Fraction(5e-324)
    assert found[0] == 0
    assert found[-1] == 1
    assert (np.diff(found) >= 0).all()
    back = np.asarray(cost.observed_probability(found))
    inside = (found > 1e-290) & (found < 0.9)  # 1 - p of larger ones has too few digits left
    assert back[inside] == pytest.approx(np.array(AWKWARD)[inside], rel=1e-14)
    assert cost.observed_probability([0.0, 1.0]).tolist() == [0.0, 1.0]
    assert cost.observed_probability(clean.alpha) == pytest.approx(cost.alpha, rel=1e-14)
    assert uneven.undo_resampling(AWKWARD, train=0.5, use=use).tolist() == found.tolist()
    assert 0 < cost.alpha < 1
    assert cost.factor >= cost.exact_factor
    noisy = cost.for_noisy_labels(positive=1e-9, negative=0.25)
    kept = noisy.probability([0.0, 0.25, 0.5, 1.0])
    assert kept[0] == kept[1] == 0
    assert kept[-1] == 1
    assert np.isfinite(kept).all()
    assert noisy.observed_probability(clean.alpha) == pytest.approx(noisy.alpha, rel=1e-12)


@pytest.mark.slow
def test_decisions_by_probabilities_in_use_are_those_at_the_observed_alpha() -> None:
    random = np.random.default_rng(3)
    p = np.append(random.random(40), [0.0, 1.0])
    for _ in range(1_000):
        use = any_costs(random)
        cost = STEPS[random.integers(0, 3)](random, Fraction(int(random.integers(1, 64)), 64)).cost(use)
        clear = np.abs(p - cost.alpha) > 1e-9
        in_use = cost.probability(p)
        assert ((in_use >= 0) & (in_use <= 1)).all()
        assert np.array_equal((in_use > use.alpha)[clear], (p > cost.alpha)[clear])
        possible = cost.observed_probability(in_use)
        again = cost.probability(possible)
        assert again == pytest.approx(in_use, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=60)
@given(costs, costs, rates, rates, st.floats(0, 1e300))
def test_the_bound_is_the_next_double_above(fp: Any, fn: Any, up: Any, down: Any, regret: float) -> None:
    cost = uneven.Cost(fp_cost=fp, fn_cost=fn).for_noisy_labels(positive=up, negative=down)
    bound, exact = cost.regret_bound(regret), cost.exact_factor * Fraction(regret)
    assert Fraction(bound) >= exact
    assert bound == 0 or Fraction(math.nextafter(bound, 0.0)) < exact
    assert Fraction(cost.factor) >= cost.exact_factor


def test_a_bound_beyond_the_doubles_is_infinite() -> None:
    assert USE.for_unlabelled(label_frequency=0.01).regret_bound(1.7e308) == math.inf


# -- costs of rows, copies, words and errors --------------------------------------------------------------------------


def test_costs_of_each_row() -> None:
    random = np.random.default_rng(4)
    for step in STEPS:
        cost = step(random, Fraction(1, 50)).cost(USE)
        fp, fn, tp, tn = random.uniform(1, 9, (4, 50))
        rows = cost.at(fp_cost=fp + tn, fn_cost=fn + tp, tp_cost=tp, tn_cost=tn)
        for k in range(50):
            alone = uneven.Cost(fp_cost=fp[k], fn_cost=fn[k])
            for one in cost.changes:
                alone = getattr(alone, one.method)(**dict(one.parameters))
            assert (rows["fp_cost"][k], rows["fn_cost"][k]) == pytest.approx((alone.fp_cost, alone.fn_cost), rel=1e-9)
        assert rows["tp_cost"] == rows["tn_cost"] == 0
        same = cost.at()
        assert (same["fp_cost"], same["fn_cost"]) == pytest.approx((cost.fp_cost, cost.fn_cost), rel=1e-15)
    with pytest.raises(CostError, match=r"costs of each row must have the same length, got shapes \[\(2,\), \(3,\)\]"):
        cost.at(fp_cost=[1, 2], fn_cost=[1, 2, 3])
    with pytest.raises(CostError, match="too large for double precision; use another unit"):
        USE.for_unlabelled(label_frequency=0.01).at(fn_cost=1.7e308)


def test_copies_and_names() -> None:
    cost = USE.for_noisy_labels(positive=0.2, negative="1/100").for_prevalence(train=0.5, use=0.02)
    for other in (copy.deepcopy(cost), pickle.loads(pickle.dumps(cost)), eval(repr(cost), {"Cost": uneven.Cost})):
        assert other == cost
        assert hash(other) == hash(cost)
        assert other.exact_costs == cost.exact_costs
    assert cost != USE.for_prevalence(train=0.5, use=0.02)
    assert isinstance(cost, uneven.Cost)
    assert cost.use is USE
    assert dict(**cost) == {"fp_cost": cost.fp_cost, "fn_cost": cost.fn_cost}
    assert dict(**USE) == {"fp_cost": 1, "fn_cost": 10}
    with pytest.raises(KeyError):
        USE["tp_cost"]


def test_words_name_what_is_assumed() -> None:
    cost = USE.for_unlabelled(label_frequency=0.3).for_prevalence(train=0.5, use=0.006).for_weights(positive=3)
    words = cost.in_words()
    for said in (
        "30 % of positives are labelled, chosen by chance; all other rows are unlabelled and taken for negatives, then "
        "50 % of them are positive, in use 0.6 %; rows of one class look the same in both, then "
        "a positive counts 3 times, a negative 1 times.",
        f"Train for alpha = {cost.alpha:.4g}",
        f"is {cost.factor:.4g} times the regret at alpha = {cost.alpha:.4g} on such rows.",
    ):
        assert said in words


@pytest.mark.parametrize(
    ("method", "given", "says"),
    [
        ("for_noisy_labels", {"positive": 0.6, "negative": 0.4}, r"positive \+ negative must be below 1, got 0.6 and"),
        ("for_noisy_labels", {"positive": 1, "negative": 0}, "positive must be the share of wrong labels, at least 0"),
        ("for_noisy_labels", {"positive": 0, "negative": -0.1}, "negative must be the share .* below 1, got -0.1"),
        ("for_noisy_labels", {"positive": math.nan, "negative": 0}, "positive must be a finite number, got nan"),
        ("for_unlabelled", {"label_frequency": 0}, "label_frequency must be .* above 0 and at most 1, got 0"),
        ("for_unlabelled", {"label_frequency": 30}, "label_frequency must be .* above 0 and at most 1, got 30"),
        ("for_prevalence", {"train": 0.5, "use": 0}, "use must lie strictly between 0 and 1, got 0"),
        ("for_prevalence", {"train": 1, "use": 0.1}, "train must lie strictly between 0 and 1, got 1"),
        ("for_prevalence", {"train": 0.5, "use": "2 %"}, "use must be a finite number, got '2 %'"),
        ("for_weights", {"positive": 0}, "positive must be positive, got 0"),
        ("for_weights", {"positive": 1e-320, "negative": 1e300}, "fn_cost on the observed rows must be 0 or within"),
    ],
)
def test_bad_rates(method: str, given: dict[str, Any], says: str) -> None:
    with pytest.raises(CostError, match=says):
        getattr(USE, method)(**given)


def test_bad_probabilities_and_regrets() -> None:
    cost = USE.for_prevalence(train=0.5, use=0.02)
    with pytest.raises(ParameterError, match=r"one number for each row, such as predict_proba\(X\)\[:, 1\], got shape"):
        cost.probability([[0.2, 0.8]])
    with pytest.raises(ParameterError, match=r"probabilities must lie in \[0, 1\], got 2.0"):
        uneven.undo_resampling([0.5, 2], train=0.5, use=0.02)
    with pytest.raises(ParameterError, match="probabilities must not contain NaN"):
        uneven.undo_class_weights([math.nan], positive=3)
    with pytest.raises(CostError, match="a factor of the odds must be 0 or within the range of double precision"):
        uneven.undo_class_weights(0.5, positive=1e300, negative=1e-300)
    with pytest.raises(ParameterError, match="observed_regret must not be negative, got -1"):
        cost.regret_bound(-1)
    assert isinstance(cost.probability(0.5), float)
    assert cost.probability(np.float32([0.5])).dtype == np.float64


def test_probabilities_after_labels_that_say_almost_nothing() -> None:
    """Both masses are differences of nearly equal numbers: in rationals, p has an exact answer."""
    rng = np.random.default_rng(3)
    for gap in (Fraction(1, 10**3), Fraction(1, 10**12), Fraction(1, 10**20), Fraction(1, 10**40)):
        for _ in range(20):
            up = Fraction(rng.integers(1, 99).item(), 100)
            down = 1 - up - gap * (1 - up)
            cost = uneven.Cost(fp_cost=1, fn_cost=1).for_noisy_labels(positive=up, negative=down)
            for p in {float(down), float(1 - up), float((down + 1 - up) / 2), 0.0, 0.5, 1.0}:
                exact = min(max((Fraction(p) - down) / (1 - up - down), Fraction(0)), Fraction(1))
                assert cost.probability(p) == pytest.approx(float(exact), rel=1e-12, abs=1e-15)
