"""Time until the objective is within a relative distance of its optimum: UnevenLinearClassifier and other libraries.

``make bench`` runs a small version. For the full one: ``pip install -r benchmarks/peers.txt`` and
``python benchmarks/linear.py --full`` (more than an hour; ``--case tall`` runs one shape only). Each peer runs with
tighter and tighter tolerances until it reaches each target, or a run takes more than half a minute. The time of the
fastest run that reaches a target counts, without the time to convert X to the peer's format. A peer that penalises the
intercept, or fits none, solves another problem, so it is compared with the optimum of that problem. skglm and celer
take no weights, so they take part in the case of sparse models only, where all weights are 1.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from linear_data import PeakMemory, costs, dense, few_relevant, one_pass, sparse, texts
from linear_peers import Peer, peers, weights, with_ones

import uneven

TARGETS = (1e-3, 1e-4, 1e-6)
SMOOTH = ("logistic", "squared_hinge")


@dataclass(frozen=True)
class Task:
    """What is minimised: penalty + C * sum of weighted losses."""

    loss: str
    C: float
    penalty: str = "l2"

    def value(self, X: Any, y: np.ndarray, w: np.ndarray, b: float, *, with_b: bool) -> float:
        """The objective, with the NumPy values of phi; ``with_b``: the intercept is penalised too."""
        margin = np.where(y == 1, 1, -1) * (X @ w + b)
        total = self.C * float(weights(y) @ uneven.phi(self.loss)(margin))
        if self.penalty == "l1":
            return float(np.abs(w).sum()) + total
        return 0.5 * float(w @ w) + (0.5 * b * b if with_b else 0.0) + total

    def fit(self, X: Any, y: np.ndarray, tol: float, gamma: float = 1.0, **more: Any) -> Any:
        fp_cost, fn_cost = costs(y)
        model = uneven.UnevenLinearClassifier(
            self.loss,
            fp_cost=fp_cost,
            fn_cost=fn_cost,
            C=self.C,
            penalty=self.penalty,
            tol=tol,
            margin_gamma=gamma,
            max_iter=10_000,
            **more,
        )
        return model.fit(X, y)

    def optimum(self, X: Any, y: np.ndarray, gamma: float = 1.0, **more: Any) -> float:
        """The objective of a fit that is tighter than every target."""
        return self.fit(X, y, 1e-2 * min(TARGETS), gamma, **more).objective_


def ours(task: Task, X: Any, y: np.ndarray, gamma: float, runs: int) -> Any:
    """Seconds to each target (best of several runs), the largest extra memory as a share of X, and the optimum.

    A fit that does not prove that it has reached the target does not count.
    """
    best = task.optimum(X, y, gamma)
    seconds, extra = dict.fromkeys(TARGETS, np.inf), 0.0
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    for target in TARGETS:
        for _ in range(runs):
            with PeakMemory() as memory:
                start = time.perf_counter()
                model = task.fit(X, y, target, gamma)
                took = time.perf_counter() - start
            extra = max(extra, memory.extra / size)
            proved, reached = model.duality_gap_ / model.objective_, (model.objective_ - best) / best
            if max(proved, reached) <= target:
                seconds[target] = min(seconds[target], took)
    return seconds, extra, best


def theirs(peer: Peer, task: Task, X: Any, y: np.ndarray, best: float, limit: float, runs: int) -> dict[float, float]:
    """Seconds to each target, infinite if it was not reached within the limit; the best of several short runs."""
    seconds = dict.fromkeys(TARGETS, np.inf)
    few = np.concatenate([np.flatnonzero(y == label)[:50] for label in (0, 1)])
    try:
        # Imports and compiles what the peer needs; with this C its coefficients are not all 0.
        peer.fit(
            peer.prepare(X[few], y[few]), y[few], task.C * y.size / few.size, peer.settings[3 % len(peer.settings)]
        )
        prepared = peer.prepare(X, y)
        for setting in peer.settings:
            took = np.inf
            for run in range(runs):
                start = time.perf_counter()
                w, b = peer.fit(prepared, y, task.C, setting)
                took = min(took, time.perf_counter() - start)
                if (run + 1) * took > 1.0:
                    break
            reached = task.value(X, y, w, b, with_b=peer.penalises_intercept) / best - 1
            for target in TARGETS:
                if reached <= target:
                    seconds[target] = min(seconds[target], took)
            if took > limit or reached <= min(TARGETS):
                break
    except Exception as error:  # if a peer fails, go on with the others
        print(f"    {peer.name} failed: {type(error).__name__}: {str(error)[:90]}")
    return seconds


def case(name: str, X: Any, y: np.ndarray, tasks: list[Task], limit: float, runs: int) -> None:
    reading = one_pass(X)
    print(f"\n## {name}: {X.shape[0]} x {X.shape[1]}, {y.mean():.1%} positive, one pass {1e3 * reading:.0f} ms")
    shown = " ".join(f"{f'to {target:.0e}':>10s}" for target in TARGETS)
    print(f"{'loss, C':22s} {'who':26s} {shown}   {'ratio to us':>22s}  passes  memory")
    for task in tasks:
        even, extra, best = ours(task, X, y, 1.0, runs)
        line(task, "uneven", even, even, f"{even[TARGETS[-1]] / reading:6.1f}  {extra:6.1%}")
        if task.penalty == "l2":
            skewed, extra, _ = ours(task, X, y, 4.0, runs)
            line(task, "uneven, gamma = 4", skewed, even, f"{skewed[TARGETS[-1]] / reading:6.1f}  {extra:6.1%}")
        optima = {(False, False): best}
        others = peers(task.loss, X, task.penalty)
        if not others:
            print(f"    no peer minimises the {task.loss} with the penalty {task.penalty}")
        for peer in others:
            kind = peer.penalises_intercept, peer.without_intercept
            if kind not in optima:
                data = with_ones(X) if peer.penalises_intercept else X
                optima[kind] = task.optimum(data, y, fit_intercept=False)
            line(task, peer.name, theirs(peer, task, X, y, optima[kind], limit, runs), even, "")


def line(task: Task, who: str, seconds: dict[float, float], even: dict[float, float], rest: str) -> None:
    times = " ".join(f"{seconds[t]:8.3f} s" if np.isfinite(seconds[t]) else f"{'-':>10s}" for t in TARGETS)
    ratios = " ".join(f"{seconds[t] / even[t]:7.1f}" if np.isfinite(seconds[t]) else f"{'-':>7s}" for t in TARGETS)
    print(f"{f'{task.loss}, {task.C:.3g}':22s} {who:26s} {times}   {ratios}  {rest}", flush=True)


def sparse_tasks(X: Any, y: np.ndarray) -> list[Task]:
    """l1 problems with 20 times the C at which the first coefficient leaves 0."""
    first = 1 / float(np.abs(X.T @ (0.5 * np.where(y == 1, 1, -1))).max())
    return [Task("logistic", 20 * first, "l1"), Task("squared_hinge", 5 * first, "l1"), Task("hinge", 10 * first, "l1")]


def kernel(n: int) -> None:
    """Time for values and slopes of n logistic losses: our kernel, scikit-learn's, and copying as much memory."""
    from sklearn._loss.loss import HalfBinomialLoss

    from uneven.ops.kernels import compile_kernel

    t = np.random.default_rng(0).normal(size=n)
    y = (t > 0).astype(float)
    value, slope = np.empty(n), np.empty(n)
    phi = compile_kernel(uneven.phi("logistic").tree)

    def best(function: Any) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
        return min(times)

    def copy() -> None:
        value[:] = t
        slope[:] = t

    mine, memory = best(lambda: phi.into(t, value, slope)), best(copy)
    peer = best(lambda: HalfBinomialLoss().loss_gradient(y, t, loss_out=value, gradient_out=slope))
    print(
        f"\n## kernel: {n} logistic losses and slopes, one thread\nuneven {mine:.3f} s, scikit-learn {peer:.3f} s "
        f"(ratio {peer / mine:.1f}), copying alone {memory:.3f} s (ours is {mine / memory:.1f} times that)"
    )


def versions() -> str:
    found = []
    peers = ("glum", "snapml", "liblinear-official", "skglm", "celer")
    for package in ("uneven", "numpy", "scipy", "scikit-learn", "numba", *peers):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join([f"Python {platform.python_version()}", *found])


def cases(full: bool = False, seconds: float | None = None) -> dict[str, Callable[[], None]]:
    """What ``--case`` chooses from."""
    small = 1 if full else 20
    limit, runs = (30.0, 3) if full else (4.0, 2)
    limit = limit if seconds is None else seconds

    def tasks(C: float, *losses: str) -> list[Task]:
        return [Task(loss, C) for loss in losses]

    def tall() -> None:
        case("tall", *dense(10**6 // small, 50, standardised=False), tasks(0.01, *SMOOTH), limit, runs)

    def standardised() -> None:
        case("tall, standardised", *dense(10**6 // small, 50, standardised=True), tasks(0.01, "hinge"), limit, runs)

    def square() -> None:
        case("square", *dense(10**5 // small, 500, standardised=False), tasks(0.01, *SMOOTH, "hinge"), limit, runs)

    def by_rows() -> None:
        case("sparse", *sparse(10**6 // small, 10**5 // small), tasks(0.1, *SMOOTH, "hinge"), limit, runs)

    def wide() -> None:
        for n, d in ((500, 3_000), (2_000, 20_000)) if full else ((100, 600), (200, 2_000)):
            case("wide", *dense(n, d, standardised=True), tasks(1.0, *SMOOTH, "hinge"), limit, runs)

    def wide_sparse() -> None:
        X, y = sparse(10**5 // small, 10**6 // small, per_row=50)
        case("wide, sparse", X, y, [*tasks(1.0, "logistic"), *tasks(100.0, "logistic")], limit, runs)

    def sparse_models() -> None:
        for X, y in (texts(10**5 // small, 50_000 // small), few_relevant(10**5 // small, 500)):
            case("sparse models", X, y, sparse_tasks(X, y), limit, runs)

    return {
        "kernel": lambda: kernel(10**7 // small),
        "tall": tall,
        "standardised": standardised,
        "square": square,
        "sparse": by_rows,
        "wide": wide,
        "wide-sparse": wide_sparse,
        "sparse-models": sparse_models,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="use the data sizes of the documentation")
    parser.add_argument("--limit", type=float, help="seconds after which a peer's next setting is not tried")
    parser.add_argument("--case", choices=tuple(cases()), help="run only this case")
    options = parser.parse_args()
    print(f"{datetime.date.today()}: {versions()}")
    for name, run in cases(options.full, options.limit).items():
        if options.case in (None, name):
            run()


if __name__ == "__main__":
    main()
