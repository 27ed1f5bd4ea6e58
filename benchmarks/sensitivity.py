"""What happens to the time of a fit if a tuned number of a solver is halved or doubled.

    python benchmarks/sensitivity.py [--record coordinate smo] [--runs 5] [--case tall]

Each solver keeps what was tuned by measuring in one frozen record, ``LIMITS``. The cases are small versions of the
shapes of ``linear.py``, ``small.py`` and ``svm.py``, on one thread. First each case runs once to see which numbers it
reads. Then each of these numbers is halved and doubled. The fits with the old and the new number take turns; the ratio
of the quickest of both counts, in seconds of this process. Other work on the machine changes these by a few percent, so
the table also says in how many cases the coefficients change at all: where they do not, a number that decides about
steps has no effect. A fit is right if it proves the gap that was asked for, or warns with both numbers.

A number whose effect is below 5 % in every case need not be tuned: it becomes a plain number with a reason, or goes.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np
from linear_data import costs, dense, few_relevant, sparse, texts
from sklearn.datasets import make_classification

import uneven
import uneven.solvers

TOL = 1e-6
#: Seconds of fits that are measured together.
SHORT = 0.01
#: Effects below this are not seen through the noise, and do not matter.
LITTLE = 0.05


@dataclass(frozen=True)
class Outcome:
    """What a case gave: its numbers, and whether it kept what it promises."""

    numbers: np.ndarray
    right: bool


Case = Callable[[], Outcome]


def linear(X: Any, y: np.ndarray, loss: str, tol: float = TOL, **more: Any) -> Case:
    fp_cost, fn_cost = costs(y)

    def fit() -> Outcome:
        model = uneven.UnevenLinearClassifier(loss, fp_cost=fp_cost, fn_cost=fn_cost, tol=tol, max_iter=1000, **more)
        model.fit(X, y)
        proved = model.duality_gap_ is None or model.duality_gap_ <= tol * model.objective_
        return Outcome(np.append(model.coef_[0], model.intercept_), bool(proved))

    return fit


def kernel(n: int, C: float = 1.0) -> Case:
    X, y = make_classification(
        n, 20, n_informative=10, n_redundant=0, weights=[0.9], flip_y=0.02, class_sep=0.6, random_state=0
    )

    def fit() -> Outcome:
        model = uneven.UnevenSVC(fn_cost=5, C=C).fit(X, y)
        right = model.duality_gap_ <= 1e-3 * (model.objective_ - model.duality_gap_)
        return Outcome(np.append(model.dual_coef_[0], model.support_), bool(right))

    return fit


def tuning(loss: str, n: int) -> Case:
    X, y = make_classification(
        n, 20, n_informative=10, n_redundant=0, weights=[0.9], flip_y=0.02, class_sep=0.6, random_state=0
    )
    learner = uneven.UnevenLinearClassifier(loss, fn_cost=5)

    def fit() -> Outcome:
        gammas = np.geomspace(0.2, 5, 6)
        search = uneven.UnevenClassifierCV(learner, margin_gammas=gammas, Cs=[0.1, 1], cv=2, verbose=False)
        return Outcome(np.asarray(search.fit(X, y).cv_results_["mean_test_score"]), True)

    return fit


def cases() -> dict[str, Case]:
    """Every case by its name."""
    found: dict[str, Case] = {}
    for n, d in ((200, 10), (5000, 50), (20_000, 20)):
        X, y = make_classification(
            n, d, n_informative=d // 2, n_redundant=0, flip_y=0.05, class_sep=0.8, random_state=0
        )
        for loss in ("logistic", "hinge"):
            found[f"{n} x {d}, {loss}"] = linear(X, y, loss)
    found["20000 x 20, sigmoid"] = linear(X, y, "sigmoid")
    tall = dense(100_000, 50, standardised=False)
    found["tall, logistic"] = linear(*tall, "logistic", C=0.01)
    found["tall, squared_hinge"] = linear(*tall, "squared_hinge", C=0.01)
    for n in (35_000, 70_000, 300_000):
        found[f"tall {n} x 20, hinge"] = linear(*dense(n, 20, standardised=True), "hinge", C=0.01)
    square = dense(6000, 400, standardised=False)
    by_rows = sparse(40_000, 5000)
    for loss in ("logistic", "hinge"):
        found[f"square, {loss}"] = linear(*square, loss, C=0.01)
        found[f"sparse, {loss}"] = linear(*by_rows, loss, C=0.1)
        for n, d in ((150, 900), (600, 4000)):
            found[f"wide {n} x {d}, {loss}"] = linear(*dense(n, d, standardised=True), loss)
    wide_sparse = sparse(5000, 50_000, per_row=50)
    found["wide sparse, logistic, C = 100"] = linear(*wide_sparse, "logistic", C=100.0)
    found["wide sparse, hinge"] = linear(*wide_sparse, "hinge")
    for name, (X, y) in {"texts": texts(3000, 2000), "few relevant": few_relevant(4000, 300)}.items():
        first = 1 / float(np.abs(X.T @ (0.5 * np.where(y == 1, 1, -1))).max())
        for loss, factor, tol in (("logistic", 20, 1e-6), ("hinge", 5, 1e-4)):
            found[f"l1, {name}, {loss}"] = linear(X, y, loss, tol, C=factor * first, penalty="l1")
    for n in (14_000, 30_000):
        found[f"l1, {n} x 60, logistic"] = linear(*few_relevant(n, 60), "logistic", 1e-5, C=0.01, penalty="l1")
    for n, C in ((500, 1.0), (2000, 1.0), (3500, 1.0), (1000, 1e5)):
        found[f"kernel, {n} rows, C = {C:g}"] = kernel(n, C)
    for loss, n in (("logistic", 1000), ("hinge", 1000), ("logistic", 40_000)):
        found[f"tuning, {n} rows, {loss}"] = tuning(loss, n)
    return found


def records() -> dict[str, Any]:
    """The modules of the solvers that have a record, by their last names."""
    found = {}
    for module in pkgutil.walk_packages(uneven.solvers.__path__, "uneven.solvers."):
        if ".loops" not in module.name:
            loaded = importlib.import_module(module.name)
            if is_dataclass(getattr(loaded, "LIMITS", None)) and type(loaded.LIMITS).__module__ == loaded.__name__:
                found[module.name.rpartition(".")[2]] = loaded
    return found


class Watched:
    """A record that notes which of its numbers are read."""

    def __init__(self, record: Any, seen: set[str]) -> None:
        self._record, self._seen = record, seen

    def __getattr__(self, name: str) -> Any:
        self._seen.add(name)
        return getattr(self._record, name)


@contextmanager
def changed(module: Any, record: Any) -> Iterator[None]:
    before = module.LIMITS
    module.LIMITS = record
    try:
        yield
    finally:
        module.LIMITS = before


def readers(modules: dict[str, Any], works: dict[str, Case]) -> dict[tuple[str, str], list[str]]:
    """The cases that read each number."""
    found: dict[tuple[str, str], list[str]] = {}
    for case, work in works.items():
        work()  # compiles
        seen: dict[str, set[str]] = {name: set() for name in modules}
        before = {name: module.LIMITS for name, module in modules.items()}
        for name, module in modules.items():
            module.LIMITS = Watched(before[name], seen[name])
        try:
            work()
        finally:
            for name, module in modules.items():
                module.LIMITS = before[name]
        for name, numbers in seen.items():
            for number in numbers:
                found.setdefault((name, number), []).append(case)
    return found


def timed(work: Case) -> tuple[float, Outcome]:
    """Seconds of the process for one fit; a short one is repeated."""
    start, count = time.process_time(), 0
    while True:
        outcome, count = work(), count + 1
        spent = time.process_time() - start
        if spent > SHORT:
            return spent / count, outcome


@dataclass(frozen=True)
class Effect:
    """Of one change on one case."""

    case: str
    ratio: float
    differs: bool
    right: bool


def effect(module: Any, record: Any, case: str, work: Case, runs: int) -> Effect:
    """Old and new number in turn. A clear ratio needs fewer runs than one near the limit."""
    old, new = [], []
    for run in range(runs):
        seconds, before = timed(work)
        old.append(seconds)
        with changed(module, record):
            seconds, after = timed(work)
        new.append(seconds)
        ratio = min(new) / min(old)
        if (run and abs(ratio - 1) < 0.4 * LITTLE) or (run > 1 and abs(ratio - 1) > 4 * LITTLE) or ratio > 4:
            break
    same = before.numbers.shape == after.numbers.shape and bool((before.numbers == after.numbers).all())
    return Effect(case, ratio, not same, after.right)


def times(value: Any, factor: float) -> Any:
    """A number times a factor. Of a share near 1, the distance from 1 changes by it; an integer stays one."""
    if 0.5 < value < 1:
        return 1 - (1 - value) / factor
    return type(value)(max(1, round(value * factor))) if isinstance(value, int) else value * factor


def shown(effects: list[Effect]) -> str:
    """The least and the largest ratio with its case, in how many cases the coefficients change, what goes wrong."""
    ratios = [one.ratio for one in effects]
    worst = max(effects, key=lambda one: abs(np.log(one.ratio)))
    text = f"{min(ratios):.2f} to {max(ratios):.2f} ({worst.case})"
    differ, wrong = sum(one.differs for one in effects), [one.case for one in effects if not one.right]
    return f"{text}; {differ} of {len(effects)} change" + (f"; NOT RIGHT: {', '.join(wrong)}" if wrong else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", nargs="+", help="only the records of these files")
    parser.add_argument("--case", nargs="+", help="only the cases whose names hold one of these texts")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    modules = {name: module for name, module in records().items() if name in (arguments.record or [name])}
    works = {name: work for name, work in cases().items() if any(text in name for text in arguments.case or [""])}
    read = readers(modules, works)
    print("| number | value | halved | doubled | verdict |\n|---|---|---|---|---|", flush=True)
    for name, module in modules.items():
        for field in fields(module.LIMITS):
            value, used = getattr(module.LIMITS, field.name), read.get((name, field.name), [])
            label = f"| {name}.{field.name} | {float(value):g} |"
            if not used:
                print(f"{label} | | not read |", flush=True)
                continue
            both = []
            for factor in (0.5, 2.0):
                record = replace(module.LIMITS, **{field.name: times(value, factor)})
                both.append([effect(module, record, case, works[case], arguments.runs) for case in used])
            largest = max(abs(one.ratio - 1) for effects in both for one in effects)
            differ = any(one.differs for effects in both for one in effects)
            verdict = "matters" if largest > LITTLE else "little" if differ else "nothing"
            print(f"{label} {shown(both[0])} | {shown(both[1])} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
