"""Time for H at 1,001 etas and psi at 1,001 eps, compared with scipy.optimize.minimize_scalar for each eta and side."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

import uneven

ETAS = np.linspace(0, 1, 1001)
CASES = [(name, gamma) for name in uneven.losses.names() if name != "perceptron" for gamma in (1, 3)]


def median_time(function: Callable[[], object], runs: int = 5) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def normal_tail(t: float) -> float:
    return math.erfc(t / math.sqrt(2)) / 2


#: Each phi as a user would write it by hand; its argument stays within [-400, 400].
BY_HAND: dict[str, Callable[[float], float]] = {
    "absolute": lambda t: abs(1 - t),
    "exponential": lambda t: math.exp(-t),
    "focal": lambda t: (1 / (1 + math.exp(t))) ** 2 * math.log1p(math.exp(-t)),
    "hinge": lambda t: max(0.0, 1 - t),
    "logistic": lambda t: math.log1p(math.exp(-t)),
    "modified_huber": lambda t: -4 * t if t < -1 else max(0.0, 1 - t) ** 2,
    "probit": normal_tail,
    "ramp": lambda t: min(2.0, max(0.0, 1 - t)),
    "savage": lambda t: 1 / (1 + math.exp(2 * t)) ** 2,
    "sigmoid": lambda t: 1 / (1 + math.exp(t)),
    "smoothed_hinge": lambda t: 0.5 - t if t <= 0 else max(0.0, 1 - t) ** 2 / 2,
    "squared": lambda t: (1 - t) ** 2,
    "squared_hinge": lambda t: max(0.0, 1 - t) ** 2,
    "tangent": lambda t: (2 * math.atan(t) - 1) ** 2,
    "zero_one": lambda t: float(t <= 0),
}


def plain_h(name: str, loss: uneven.UnevenMarginLoss, alpha: float, etas: np.ndarray) -> np.ndarray:
    """H by a bounded scalar minimisation on each half line, t = 0 included."""
    phi, gamma = BY_HAND[name], loss.gamma
    first, second = (float(partial.weight) for partial in loss.partials)

    def risk(t: float, eta: float) -> float:
        return eta * first * phi(t) + (1 - eta) * second * phi(-gamma * t)

    result = []
    for eta in etas.tolist():
        sides = []
        for bounds in ((0.0, 40.0), (-40.0, 0.0)):
            found = minimize_scalar(risk, args=(eta,), bounds=bounds, method="bounded", options={"xatol": 1e-10})
            sides.append(min(found.fun, risk(0.0, eta)))
        result.append(max(0.0, float(np.sign(alpha - eta)) * (sides[0] - sides[1])))
    return np.array(result)


def plain_psi_time(name: str, loss: uneven.UnevenMarginLoss, alpha: float, eps: np.ndarray) -> float:
    """Seconds for nu by scalar minimisation (H at alpha + eps and alpha - eps), extrapolated from 1/20 of the eps."""
    few = eps[::20]
    etas = np.concatenate([alpha + few, alpha - few])
    start = time.perf_counter()
    plain_h(name, loss, alpha, etas[(etas >= 0) & (etas <= 1)])
    return (time.perf_counter() - start) * eps.size / few.size


def main() -> None:
    alpha = 0.3
    few = ETAS[::20]
    print("Times for 1,001 points. psi first: including its convex hull; again: on the same analysis.")
    columns = "gamma   form   H plain      ours  ratio  difference   psi plain     first     again  ratio report"
    print(f"{'phi':16s} {columns}")
    for name, gamma in CASES:
        loss = uneven.calibrated_loss(name, alpha=alpha, gamma=gamma)
        analysis = uneven.analyze(loss)
        closed = analysis._curves.risk.closed_form is not None
        start = time.perf_counter()
        plain = plain_h(name, loss, alpha, few)
        slow = (time.perf_counter() - start) * ETAS.size / few.size
        worst = float(np.max(np.abs(plain - analysis.H(few))))
        fast = median_time(lambda a=analysis: a.H(ETAS))
        eps = np.linspace(0, analysis.largest_regret, 1001)
        slow_psi = plain_psi_time(name, loss, alpha, eps)
        first = median_time(lambda x=loss, e=eps: uneven.analyze(x).psi(e), runs=3)
        again = median_time(lambda a=analysis, e=eps: a.psi(e))
        report = median_time(lambda x=loss: uneven.analyze(x).report(), runs=3)
        print(
            f"{name:16s} {gamma:5g}   {'closed' if closed else 'engine'} {slow:6.3f} s {1e3 * fast:6.2f} ms "
            f"{slow / fast:6.0f} {worst:11.1e}   {slow_psi:7.3f} s {1e3 * first:6.1f} ms {1e3 * again:6.2f} ms "
            f"{slow_psi / again:6.0f} {1e3 * report:4.0f} ms"
        )


if __name__ == "__main__":
    main()
