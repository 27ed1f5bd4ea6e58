"""How often 95 % intervals hold the truth, and how wide they are, with few mistakes that are dear.

    python benchmarks/interval_coverage.py                    # all worlds, 1000 draws each: about half an hour
    python benchmarks/interval_coverage.py --draws 200 --before 0 --only paired

In each world the truth is known. Rows are drawn again and again, and the program counts how often the interval misses
the truth on either side: for the percentile bootstrap that this library used before (on the first draws only, because
it is slow), and for its intervals now. "width"
is the median width divided by the ideal one, which is that of the central 95 % of the estimates themselves.

Worlds: costs that are numbers; costs of rows that are log-normal or Pareto, with misses that fall on all rows alike, on
dear rows or on cheap ones (chance proportional to the cost to the power "lean"); a rule that flags no one; paired
differences; worlds beyond those on which the constants were chosen; savings; resampled metrics; cross-validation and
out_of_fold_cost_, where the truth is the cost of the model that is fitted to all rows. There "before" is the bootstrap
over rows as well.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import uneven
from uneven.costs import RowCosts
from uneven.metrics import compare, metric_interval, savings_score
from uneven.metrics.intervals import estimates

#: low and high of the interval before and now, and the estimate
Found = tuple[tuple[float, float], tuple[float, float], float]


def percentile_bootstrap(values: np.ndarray, asked: bool) -> tuple[float, float]:
    """Quantiles of the means of 2000 resamples of the rows: how intervals were made before."""
    if not asked:
        return np.nan, np.nan
    random = np.random.default_rng(values.size)  # so that the rows that are drawn next do not depend on it
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size <= 1000:
        means = random.multinomial(values.size, counts / values.size, 2000) @ distinct / values.size
    else:
        group = random.permutation(values.size) % 2000
        sums = np.bincount(group, values)
        means = sums[random.integers(sums.size, size=(2000, sums.size))].sum(axis=1) / values.size
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True)
class World:
    """Rows with a known truth: the name of its kind, its numbers, one draw of the intervals, and the truth."""

    kind: str
    name: str
    draw: Callable[[np.random.Generator, bool], Found]
    truth: float | None  # None: each draw has its own, and tells the estimate minus it


# -- rows and decisions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misses:
    """Rows of which some are positive, and how a classifier decides about them.

    Attributes
    ----------
    n : int
    positive : float
        Share of positives.
    misses : float
        Expected number.
    amounts : tuple
        ("number", cost), ("log-normal", sigma) or ("Pareto", index): what a miss costs; a false alarm costs 1.
    lean : float
    alarms : float
        Share of negatives that are flagged.
    """

    n: int
    positive: float
    misses: float
    amounts: tuple[str, float]
    lean: float = 0.0
    alarms: float = 0.05

    def quantiles(self, u: np.ndarray) -> np.ndarray:
        from scipy.special import ndtri

        kind, number = self.amounts
        if kind == "number":
            return np.full(u.size, number)
        return 30 * (np.exp(number * ndtri(u)) if kind == "log-normal" else (1 - u) ** (-1 / number))

    def chances(self, amount: np.ndarray) -> np.ndarray:
        """P(miss) of a positive row."""
        return np.minimum(self.misses / (self.n * self.positive) * (amount / 30) ** self.lean / self._norm, 1.0)

    @cached_property
    def _norm(self) -> float:
        return float(((self.quantiles(_MIDPOINTS) / 30) ** self.lean).mean())

    @property
    def cost(self) -> float:
        amount = self.quantiles(_MIDPOINTS)
        missed = float((amount * self.chances(amount)).mean())
        return self.positive * missed + (1 - self.positive) * self.alarms

    def rows(self, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, RowCosts]:
        truth = random.random(self.n) < self.positive
        amount = self.quantiles(random.random(self.n))
        fn_cost: Any = self.amounts[1] if self.amounts[0] == "number" else amount
        return truth, amount, RowCosts.read(self.n, fp_cost=1.0, fn_cost=fn_cost)

    def draw(self, random: np.random.Generator, before: bool) -> Found:
        truth, amount, costs = self.rows(random)
        said = np.where(truth, random.random(self.n) >= self.chances(amount), random.random(self.n) < self.alarms)
        return _both(costs, truth, {"model": said}, before)

    def draw_pair(self, random: np.random.Generator, before: bool) -> Found:
        """Misses that only one of two classifiers makes, three of four the second; as many that both make."""
        truth, amount, costs = self.rows(random)
        u, p = random.random(self.n), self.chances(amount)
        both = random.random(self.n) < p
        alarms = random.random((2, self.n)) < self.alarms
        first = np.where(truth, ~(both | (u < 0.25 * p)), alarms[0])
        second = np.where(truth, ~(both | ((u >= 0.25 * p) & (u < p))), alarms[1])
        return _both(costs, truth, {"first": first, "second": second}, before)

    @property
    def difference(self) -> float:
        amount = self.quantiles(_MIDPOINTS)
        p = self.chances(amount)
        return self.positive * 0.5 * float((amount * p * (1 - p)).mean())

    def draw_savings(self, random: np.random.Generator, before: bool) -> Found:
        truth, amount, costs = self.rows(random)
        said = np.where(truth, random.random(self.n) >= self.chances(amount), random.random(self.n) < self.alarms)
        how = {"fp_cost": 1.0, "fn_cost": costs.fn_cost, "baseline": np.zeros(self.n, dtype=int)}
        found = metric_interval(savings_score, truth.astype(int), said.astype(int), **how)
        paid, base = costs.paid(truth, said), costs.paid(truth, np.zeros(self.n, dtype=bool))
        if not before:
            return (np.nan, np.nan), (found.low, found.high), found.value
        chosen = np.random.default_rng(self.n).integers(self.n, size=(500, self.n))
        drawn = 1 - paid[chosen].sum(axis=1) / base[chosen].sum(axis=1)
        return tuple(np.quantile(drawn, [0.025, 0.975])), (found.low, found.high), found.value

    @property
    def savings(self) -> float:
        return 1 - self.cost / (self.positive * float(self.quantiles(_MIDPOINTS).mean()))

    def draw_resampled(self, random: np.random.Generator, before: bool) -> Found:
        """The same cost by a function that metric_interval does not know."""
        truth, amount, costs = self.rows(random)
        said = np.where(truth, random.random(self.n) >= self.chances(amount), random.random(self.n) < self.alarms)

        def metric(y: np.ndarray, guess: np.ndarray) -> float:
            return float(np.mean(np.where(y == 1, self.amounts[1] * (guess == 0), guess == 1)))

        found = metric_interval(metric, truth.astype(int), said.astype(int), draws=200)
        old = percentile_bootstrap(costs.paid(truth, said), before)
        return old, (found.low, found.high), found.value


_MIDPOINTS = (np.arange(1_000_000) + 0.5) / 1_000_000


def _both(costs: RowCosts, truth: np.ndarray, said: dict[str, np.ndarray], before: bool) -> Found:
    """The interval of the cost of one classifier, or of the difference of two."""
    found = estimates(costs, truth, {name: one[None] for name, one in said.items()})[-1]
    paid = [costs.paid(truth, one) for one in said.values()]
    if len(paid) == 1:
        return percentile_bootstrap(paid[0], before), (found.low, found.high), found.cost
    old = percentile_bootstrap(paid[1] - paid[0], before)
    return old, (found.difference_low or 0.0, found.difference_high or 0.0), found.difference or 0.0


# -- cross-validation -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CrossValidation:
    """A learner on small tables: the truth is what the model costs that is fitted to all rows."""

    learner: Any
    n: int
    columns: int
    offset: float
    fn_cost: float

    def table(self, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = random.normal(size=(n, self.columns))
        chance = expit(self.offset + 2 * X[:, 0] + 1.2 * X[:, 1] + 0.8 * X[:, 0] * X[:, 1])
        return X, (random.random(n) < chance).astype(int)

    def draw(self, random: np.random.Generator, before: bool) -> Found:
        X, y = self.table(self.n, random)
        while y.sum() < 5:
            X, y = self.table(self.n, random)
        test, truth = self.table(20_000, random)
        how: dict[str, Any] = {"fp_cost": 1, "fn_cost": self.fn_cost, "decide": "alpha", "repeats": 1}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self.learner.fit(X, y)
            if hasattr(model, "out_of_fold_cost_"):
                found, said = model.out_of_fold_cost_, model.predict(test) == 1
            else:
                (found,) = compare({"model": self.learner}, X, y, **how)
                said = model.predict_proba(test)[:, 1] > 1 / (1 + self.fn_cost)
        costs = RowCosts.read(truth.size, fp_cost=1, fn_cost=self.fn_cost)
        real = float(costs.paid(truth == 1, said).mean())
        misses, alarms = int(found.false_negatives), int(found.false_positives)
        values = np.repeat([self.fn_cost, 1.0, 0.0], [misses, alarms, self.n - misses - alarms])
        low, high = percentile_bootstrap(values, before)
        return (low - real, high - real), (found.low - real, found.high - real), found.cost - real


# -- all of them ------------------------------------------------------------------------------------------------------


def worlds() -> Iterator[World]:
    for n, positive in ((100, 0.5), (1000, 0.2), (100_000, 0.02)):
        for misses in (0.3, 1, 3, 10, 40):
            for cost in (1.0, 30.0, 1000.0):
                made = Misses(n, positive, misses, ("number", cost))
                yield World("constant", f"n {n:,}, {misses} misses, cost {cost:g}", made.draw, made.cost)
    for amounts in (("log-normal", 1.0), ("log-normal", 1.5), ("Pareto", 2.5), ("Pareto", 1.5)):
        for n, positive in ((100, 0.5), (1000, 0.2), (100_000, 0.02)):
            for misses in (0.3, 1, 3, 10, 40):
                for lean in (0.0, 0.5, -0.5) if amounts[1] != 1.5 or amounts[0] == "log-normal" else (0.0, -0.5):
                    if lean == 0 or misses in (3, 10, 40):
                        made = Misses(n, positive, misses, amounts, lean)
                        name = f"n {n:,}, {misses} misses, {amounts[0]} {amounts[1]}, lean {lean}"
                        yield World("rows", name, made.draw, made.cost)
        for n, misses in ((1000, 10), (1000, 40), (1000, 400)):
            made = Misses(n, misses / n, misses, amounts, alarms=0.0)
            yield World("no one", f"n {n:,}, {misses} missed, {amounts[0]} {amounts[1]}", made.draw, made.cost)
    for n in (1000, 100_000):
        for misses in (0.3, 1, 3, 10, 40):
            for amounts in (("number", 30.0), ("number", 1000.0), ("log-normal", 1.5)):
                made = Misses(n, 0.2, misses, amounts)
                name = f"n {n:,}, {misses} misses apart, {amounts[0]} {amounts[1]}"
                yield World("paired", name, made.draw_pair, made.difference)
    yield from _beyond()
    for misses in (0.3, 1, 3, 10, 40):
        made = Misses(1000, 0.1, misses, ("number", 100.0))
        yield World("savings", f"n 1,000, {misses} misses, cost 100", made.draw_savings, made.savings)
        yield World("resampled", f"n 1,000, {misses} misses, cost 100", made.draw_resampled, made.cost)
    tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=5, random_state=0)
    for learner in (LogisticRegression(), tree):
        for n, columns, offset, cost in ((100, 5, -2, 10), (200, 20, -3, 20), (400, 5, -4, 50), (1000, 5, -4, 10)):
            made = CrossValidation(learner, n, columns, offset, cost)
            name = f"{type(learner).__name__}, n {n:,}, {columns} columns, cost {cost}"
            yield World("folds", name, made.draw, None)
            ours = uneven.UnevenThresholdClassifierCV(learner, fp_cost=1, fn_cost=cost)
            made = CrossValidation(ours, n, columns, offset, cost)
            yield World("out of fold", f"UnevenThresholdClassifierCV of {name}", made.draw, None)


def _beyond() -> Iterator[World]:
    """Worlds on which no constant of the method was chosen: tails that are heavier still, and harder pairs."""
    for amounts in (("log-normal", 1.75), ("log-normal", 2.0), ("Pareto", 1.3)):
        for n, positive in ((300, 0.3), (3000, 0.1)):
            for misses in (3, 10, 30):
                for lean in (0.0, 0.5, -0.5) if amounts[0] == "log-normal" else (0.0, -0.5):
                    made = Misses(n, positive, misses, amounts, lean)
                    name = f"n {n:,}, {misses} misses, {amounts[0]} {amounts[1]}, lean {lean}"
                    yield World("beyond", name, made.draw, made.cost)
    for misses in (3, 10, 40):
        for amounts, lean in ((("log-normal", 1.5), 0.5), (("log-normal", 1.5), -0.5), (("Pareto", 1.5), 0.0)):
            made = Misses(1000, 0.2, misses, amounts, lean)
            name = f"n 1,000, {misses} misses apart, {amounts[0]} {amounts[1]}, lean {lean}"
            yield World("beyond", name, made.draw_pair, made.difference)


@dataclass(frozen=True)
class Coverage:
    """Shares of draws whose interval lies above the truth and below it, and the median width over the ideal one."""

    above: float
    below: float
    width: float

    @property
    def holds(self) -> float:
        return 1 - self.above - self.below


def measure(world: World, draws: int, bootstrapped: int, seed: int = 0) -> tuple[Coverage, Coverage]:
    """Coverage before, on the first draws, and now."""
    random = np.random.default_rng(seed)
    found = [world.draw(random, k < bootstrapped) for k in range(draws)]
    truth = 0.0 if world.truth is None else world.truth
    ideal = float(np.diff(np.quantile([one[2] for one in found], [0.025, 0.975]))[0]) or np.inf

    def coverage(ends: np.ndarray) -> Coverage:
        if not ends.size:
            return Coverage(np.nan, np.nan, np.nan)
        above, below = ends[:, 0] > truth * (1 + 1e-12), ends[:, 1] < truth * (1 - 1e-12)
        return Coverage(float(above.mean()), float(below.mean()), float(np.median(ends[:, 1] - ends[:, 0])) / ideal)

    return coverage(np.array([one[0] for one in found[:bootstrapped]])), coverage(np.array([one[1] for one in found]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--before", type=int, default=200, help="draws on which the bootstrap is seen as well")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one kind of world, such as paired")
    asked = parser.parse_args()
    started = time.perf_counter()
    print("| world | | covered before | width | covered now | truth below | truth above | width |")
    print("|---|---|---|---|---|---|---|---|")
    for world in worlds():
        if asked.only in (None, world.kind):
            before, now = measure(world, asked.draws, asked.before, asked.seed)
            was = f"{before.holds:.1%} | {before.width:.2f}" if asked.before else "- | -"
            print(
                f"| {world.kind} | {world.name} | {was} | {now.holds:.1%} "
                f"| {now.above:.1%} | {now.below:.1%} | {now.width:.2f} |",
                flush=True,
            )
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
