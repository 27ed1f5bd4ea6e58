"""Time until the objective is within a relative distance of its optimum: UnevenLinearClassifier and other libraries.

``make bench`` runs a small version. For the full one: ``pip install -r benchmarks/peers.txt`` and
``python benchmarks/linear.py --full`` (about half an hour; ``--case tall`` runs one shape only). Each peer runs with
tighter and tighter tolerances until it reaches each target, or a run takes more than half a minute. The time of the
fastest run that reaches a target counts, without the time to convert X to the peer's format. A peer that penalises the
intercept solves another problem, so it is compared with the optimum of that problem. skglm is left out because its
logistic and hinge losses take no weights.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from linear_data import PeakMemory, costs, dense, one_pass, sparse
from linear_peers import Peer, peers, weights, with_ones

import uneven

TARGETS = (1e-3, 1e-4, 1e-6)


def objective(loss: str, X: Any, y: np.ndarray, C: float, w: np.ndarray, b: float, *, with_b: bool) -> float:
    """1/2 ||w||^2 (+ 1/2 b^2) + C sum of the weighted losses, with the NumPy values of phi."""
    margin = np.where(y == 1, 1, -1) * (X @ w + b)
    total = float(weights(y) @ uneven.phi(loss)(margin))
    return 0.5 * float(w @ w) + (0.5 * b * b if with_b else 0.0) + C * total


def fit(loss: str, X: Any, y: np.ndarray, C: float, tol: float, gamma: float = 1.0, **more: Any) -> Any:
    fp_cost, fn_cost = costs(y)
    model = uneven.UnevenLinearClassifier(
        loss, fp_cost=fp_cost, fn_cost=fn_cost, C=C, tol=tol, margin_gamma=gamma, max_iter=10_000, **more
    )
    return model.fit(X, y)


def ours(loss: str, X: Any, y: np.ndarray, C: float, gamma: float, targets: tuple[float, ...], runs: int) -> Any:
    """Seconds to each target (best of several runs), and the largest extra memory as a share of X."""
    best = fit(loss, X, y, C, 1e-7 if loss == "hinge" else 1e-10, gamma).objective_
    seconds, extra = {}, 0.0
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    for target in targets:
        seconds[target] = np.inf
        for _ in range(runs):
            with PeakMemory() as memory:
                start = time.perf_counter()
                model = fit(loss, X, y, C, target, gamma)
                took = time.perf_counter() - start
            extra = max(extra, memory.extra / size)
            reached = (model.objective_ - best) / best
            if reached <= target:
                seconds[target] = min(seconds[target], took)
    return seconds, extra, best


def theirs(
    peer: Peer, loss: str, X: Any, y: np.ndarray, C: float, best: float, targets: tuple[float, ...], limit: float
) -> dict[float, float]:
    """Seconds to each target, infinite if it was not reached within the limit."""
    seconds = dict.fromkeys(targets, np.inf)
    prepared = peer.prepare(X, y)
    for setting in peer.settings:
        start = time.perf_counter()
        try:
            w, b = peer.fit(prepared, y, C, setting)
        except Exception as error:  # if a peer fails, go on with the others
            print(f"    {peer.name}: {type(error).__name__}: {str(error)[:90]}")
            return seconds
        took = time.perf_counter() - start
        reached = objective(loss, X, y, C, w, b, with_b=peer.penalises_intercept) / best - 1
        for target in targets:
            if reached <= target:
                seconds[target] = min(seconds[target], took)
        if took > limit or reached <= min(targets):
            break
    return seconds


def case(name: str, X: Any, y: np.ndarray, losses: dict[str, float], limit: float, runs: int) -> None:
    reading = one_pass(X)
    print(f"\n## {name}: {X.shape[0]} x {X.shape[1]}, {y.mean():.1%} positive, one pass {1e3 * reading:.0f} ms")
    shown = " ".join(f"{f'to {target:.0e}':>10s}" for target in TARGETS)
    print(f"{'loss':14s} {'who':26s} {shown}   {'ratio to us':>22s}  passes  memory")
    for loss, C in losses.items():
        even, extra, best = ours(loss, X, y, C, 1.0, TARGETS, runs)
        line(loss, "uneven", even, even, f"{even[TARGETS[-1]] / reading:6.1f}  {extra:6.1%}")
        wide, extra, _ = ours(loss, X, y, C, 4.0, TARGETS, runs)
        line(loss, "uneven, gamma = 4", wide, even, f"{wide[TARGETS[-1]] / reading:6.1f}  {extra:6.1%}")
        penalised = None
        for peer in peers(loss, sparse=not isinstance(X, np.ndarray)):
            if peer.penalises_intercept and penalised is None:
                tol = 1e-7 if loss == "hinge" else 1e-9
                penalised = fit(loss, with_ones(X), y, C, tol, fit_intercept=False).objective_
            reference = penalised if peer.penalises_intercept else best
            line(loss, peer.name, theirs(peer, loss, X, y, C, reference, TARGETS, limit), even, "")


def line(loss: str, who: str, seconds: dict[float, float], even: dict[float, float], rest: str) -> None:
    times = " ".join(f"{seconds[t]:8.2f} s" if np.isfinite(seconds[t]) else f"{'-':>10s}" for t in TARGETS)
    ratios = " ".join(f"{seconds[t] / even[t]:7.1f}" if np.isfinite(seconds[t]) else f"{'-':>7s}" for t in TARGETS)
    print(f"{loss:14s} {who:26s} {times}   {ratios}  {rest}", flush=True)


def kernel(n: int) -> None:
    """Time for values and slopes of n logistic losses: our kernel, scikit-learn's, and copying as much memory."""
    from sklearn._loss.loss import HalfBinomialLoss

    from uneven.ops.kernels import compiled

    t = np.random.default_rng(0).normal(size=n)
    y = (t > 0).astype(float)
    value, slope = np.empty(n), np.empty(n)
    phi = compiled(uneven.phi("logistic").tree)

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
    for package in ("uneven", "numpy", "scipy", "scikit-learn", "numba", "glum", "snapml", "liblinear-official"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join([f"Python {platform.python_version()}", *found])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="use the data sizes of the documentation")
    parser.add_argument(
        "--case", choices=("tall", "standardised", "square", "sparse", "kernel"), help="run only this case"
    )
    options = parser.parse_args()
    small = 1 if options.full else 20
    limit, runs = (30.0, 3) if options.full else (4.0, 2)
    print(f"{datetime.date.today()}: {versions()}")

    def wanted(name: str) -> bool:
        return options.case in (None, name)

    if wanted("kernel"):
        kernel(10**7 // small)
    if wanted("tall"):
        X, y = dense(10**6 // small, 50, standardised=False)
        case("tall", X, y, {"logistic": 0.01, "squared_hinge": 0.01}, limit, runs)
    if wanted("standardised"):
        X, y = dense(10**6 // small, 50, standardised=True)
        case("tall, standardised", X, y, {"hinge": 0.01}, limit, runs)
    if wanted("square"):
        X, y = dense(10**5 // small, 500, standardised=False)
        case("square", X, y, {"logistic": 0.01, "squared_hinge": 0.01, "hinge": 0.01}, limit, runs)
    if wanted("sparse"):
        X, y = sparse(10**6 // small, 10**5 // small)
        case("sparse", X, y, {"logistic": 0.1, "squared_hinge": 0.1, "hinge": 0.1}, limit, runs)


if __name__ == "__main__":
    main()
