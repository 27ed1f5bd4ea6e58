r"""Minimise a joint objective, and prove how far it can be above its optimum.

Lines that support the losses of the rows, with slopes g, bound the objective from below, as in
:mod:`uneven.solvers.linear.proof`. With V = G X, the gap is

.. math:: \sum_i \text{height}_i + \frac{\|V + \rho W\|^2}{2 \rho} + r^\top (b - b^*), \qquad r = \sum_i g_i,

where b* are the optimal intercepts. Newton steps in b make r small, and what rounding leaves of it costs at most half
its absolute sum times a proved bound of :math:`\max(b - b^*) - \min(b - b^*)`. Errors of rounding are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from uneven.solvers.linear.lbfgs import evaluate_at, lbfgs
from uneven.solvers.linear.newton_systems import Metric
from uneven.solvers.linear.solver import Settings
from uneven.solvers.multinomial.joint_objective import MOST_COEFFICIENTS, CostedRows, JointObjective
from uneven.solvers.running import silent

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Limits:
    """What was tuned by measuring."""

    #: Rows of the sample for each coefficient of a score, whose solution is the starting point and the metric.
    sample: int = 60
    #: The most of the rows that the sample may have.
    share: float = 0.25
    #: Rows below which all of them are the sample.
    few: int = 4000
    #: Factor of the stiffness of kinks from one round to the next.
    stiffer: float = 8.0
    #: Most rounds.
    rounds: int = 25
    #: The tolerance of the first round, in which the multipliers of kinks are far off.
    first: float = 1e-2


LIMITS = Limits()


@dataclass(frozen=True)
class JointSolution:
    """A minimiser and the evidence for it.

    Attributes
    ----------
    w, b : ndarray
        Coefficients and intercepts, whose columns sum to 0.
    value : float
        The objective there.
    gap : float
        At least the objective minus its optimum.
    stationarity : float
        The largest entry of the gradient, each divided by a bound of the sum of the absolute values of its terms.
    iterations : int
    converged : bool
    status : str
        Why the solver stopped, as the end of a sentence.
    """

    w: np.ndarray
    b: np.ndarray
    value: float
    gap: float
    stationarity: float
    iterations: int
    converged: bool
    status: str


@np.errstate(over="ignore", invalid="ignore")
def minimise_jointly(objective: JointObjective, settings: Settings) -> JointSolution:
    """Minimise until the proved gap is within the tolerance of the objective."""
    theta, metric = _start(objective, settings)
    best: JointSolution | None = None
    steps, tol = 0, LIMITS.first if objective.losses.kinked else settings.tol
    stuck = 0
    for _ in range(LIMITS.rounds):
        found, value, taken = _solve(
            objective, theta, metric, replace(settings, tol=tol, max_iter=settings.max_iter - steps)
        )
        steps += taken
        theta, solution = prove(objective, found, steps, wanted=settings.tol * value)
        if best is not None and solution.gap > 0.5 * best.gap:
            stuck += 1
        if best is None or solution.gap < best.gap:
            best = solution
        settings.progress(f"objective {best.value:.10g}, proved gap {best.gap:.2e}")
        if best.gap <= settings.tol * best.value:
            return replace(best, iterations=steps, converged=True, status="reached the tolerance")
        if steps >= settings.max_iter or stuck > (4 if objective.losses.kinked else 1):
            break
        if isinstance(objective.losses, CostedRows) and objective.losses.kinked:
            scores = objective.scores(*objective.coefficients(theta))
            stiffer = objective.losses.stiffness * LIMITS.stiffer
            objective = objective.with_losses(objective.losses.improved(scores, stiffer))
            tol = max(0.1 * tol, 0.05 * settings.tol)
        else:
            tol *= 1e-2
        metric = None
    assert best is not None
    status = f"stopped after {steps} steps" if steps >= settings.max_iter else "reached the limit of rounding"
    return replace(best, iterations=steps, status=status)


def _start(objective: JointObjective, settings: Settings) -> tuple[np.ndarray, Metric | None]:
    """The solution on a sample, and the metric there; of few rows, or with kinks, zero."""
    theta = np.zeros(objective.size)
    wanted = int(max(LIMITS.few, LIMITS.sample * (objective.d + 1)))
    if objective.losses.kinked or wanted > LIMITS.share * objective.n or objective.size > MOST_COEFFICIENTS:
        return theta, None
    rows = np.sort(settings.random.choice(objective.n, wanted, replace=False))
    sampled = objective.on_rows(rows)
    rough = replace(settings, tol=max(settings.tol, objective.d / wanted), max_iter=60, progress=silent)
    theta, _, _ = _solve(sampled, theta, None, rough)
    return theta, sampled.metric(theta)


def _solve(
    objective: JointObjective, theta: np.ndarray, metric: Metric | None, settings: Settings
) -> tuple[np.ndarray, float, int]:
    """L-BFGS from theta, in the metric of the second derivatives; those of few rows are taken in each step."""
    exact = objective.size <= MOST_COEFFICIENTS and (metric is None or objective.losses.kinked)

    def refresh(now: object, iteration: int) -> Metric | None:
        if objective.size > MOST_COEFFICIENTS:
            return objective.metric(now.theta) if iteration in (10, 30, 100) else None  # type: ignore[attr-defined]
        if exact:
            return objective.metric(now.theta) if iteration else None  # type: ignore[attr-defined]
        return objective.metric(now.theta) if iteration in (15, 40) else None  # type: ignore[attr-defined]

    start = evaluate_at(objective.value_and_gradient, theta)
    if theta.any() and not start.value < objective.value_at_zero:
        start = evaluate_at(objective.value_and_gradient, np.zeros(objective.size))
    first = objective.metric(start.theta) if metric is None else metric

    def promised(now: object) -> float:
        gradient = now.gradient.reshape(-1, objective.d + 1)  # type: ignore[attr-defined]
        own = float(np.sum(gradient[:, :-1] ** 2)) / (2 * objective.penalty)
        alone = np.zeros_like(gradient)
        alone[:, -1] = gradient[:, -1]
        return own + 0.5 * float(alone.ravel() @ first(alone.ravel()))

    found = lbfgs(
        objective.value_and_gradient,
        start,
        first,
        tol=settings.tol,
        max_iter=settings.max_iter,
        memory=0 if exact else 10,
        gap=promised,
        rescale=objective.size > MOST_COEFFICIENTS,
        refresh=refresh,
        progress=settings.progress,
    )
    return found.theta, max(found.value, 0.0), found.iterations


# The proof.


def prove(
    objective: JointObjective, theta: np.ndarray, iterations: int = 0, *, wanted: float = 0.0
) -> tuple[np.ndarray, JointSolution]:
    """Theta with its intercepts balanced, and a bound of how far the objective is above its optimum.

    The intercepts are placed accurately enough for the gap ``wanted``.
    """
    w, b = objective.coefficients(theta)
    scores = objective.scores(w, b)
    rho = objective.penalty
    enough = 0.0
    if objective.fit_intercept and wanted > 0:
        reach = objective.losses.intercepts(
            objective.masses, w, b, objective.value_at_zero, math.sqrt(8 * wanted / rho)
        )
        enough = 0.05 * wanted / max(reach, 1.0)
    b, loss, height, slopes = _balance(objective, scores, b, enough)
    value = loss + 0.5 * rho * float(np.sum(w * w))
    v = objective.product(slopes)
    # The sums of the absolute values of the terms of v are at most these, by Cauchy and Schwarz.
    sizes = np.outer(np.linalg.norm(slopes, axis=1), objective.column_lengths) * (1 + 1e-9)
    v -= v.mean(axis=0)  # the scores sum to 0, so a constant in the slopes of a row does not count
    error = (objective.terms + 16) * EPS * (sizes + sizes.mean(axis=0))
    off = v + rho * w
    gap = height + float(np.sum((np.abs(off) + error + 4 * EPS * rho * np.abs(w)) ** 2)) / (2 * rho)
    moment = float(np.sum(np.abs(slopes * scores)))
    steep = np.abs(slopes).sum(axis=1)
    gap += EPS * ((16 + objective.terms) * (abs(value) + height) + 16 * moment)
    gap += (objective.d + len(w) + 4) * EPS * float(np.sum(sizes * np.abs(w)) + steep @ np.abs(b))
    r = slopes.sum(axis=1)
    r -= r.mean()
    if objective.fit_intercept:
        left = 0.5 * float(np.sum(np.abs(r) + (objective.terms + 16) * EPS * (steep + steep.mean())))
        gap = _with_intercepts(objective, w, b, value, gap, left)
    gradient = np.column_stack([off, r if objective.fit_intercept else np.zeros_like(r)])
    size = np.column_stack([sizes + rho * np.abs(w), steep])
    share = float(np.max(np.abs(gradient) / np.where(size > 0, size, 1.0), initial=0.0))
    gap = min(gap, value) if math.isfinite(gap) else math.inf  # no loss is negative
    found = JointSolution(w, b, value, gap, min(share, 1.0), iterations, converged=False, status="")
    return objective.reduced(w, b), found


def _balance(
    objective: JointObjective, scores: np.ndarray, b: np.ndarray, enough: float
) -> tuple[np.ndarray, float, float, np.ndarray]:
    """Newton steps in the intercepts alone, at fixed scores X w, which move with them, until r is at most ``enough``.

    Returns the intercepts, and the lines there.
    """
    basis, hessian = objective.basis, None
    loss, height, slopes = objective.lines(scores)
    for _ in range(8):
        r = basis.T @ slopes.sum(axis=1)
        size = float(np.abs(r).sum())
        if not objective.fit_intercept or size <= max(enough, 64 * EPS * float(np.abs(slopes).sum())):
            break
        if hessian is None or objective.losses.kinked:
            hessian = basis.T @ _total_curvature(objective, scores) @ basis
        try:
            step = -basis @ np.linalg.solve(hessian + 1e-14 * np.trace(hessian) * np.eye(len(r)), r)
        except np.linalg.LinAlgError:
            break
        tried = scores + step[:, None]
        found = objective.lines(tried)
        if not float(np.abs(basis.T @ found[2].sum(axis=1)).sum()) < 0.5 * size:
            break
        scores[:], (loss, height, slopes), b = tried, found, b + step
    return b, loss, height, slopes


def _total_curvature(objective: JointObjective, scores: np.ndarray) -> np.ndarray:
    """The second derivatives in the intercepts; for smooth losses of a tenth of the rows, if they are many."""
    count, width = len(scores), max(64, 1_000_000 // len(scores) ** 2)
    stride = 10 if objective.n >= 40_000 and not objective.losses.kinked else 1
    width = min(width, 2000) if stride > 1 else width
    total, seen = np.zeros((count, count)), 0
    for lo in range(0, objective.n, width * stride):
        hi = min(lo + width, objective.n)
        total += objective.losses.curvatures(scores[:, lo:hi], lo, hi).sum(axis=2)
        seen += hi - lo
    return np.asarray(total * (objective.n / seen))


def _with_intercepts(
    objective: JointObjective, w: np.ndarray, b: np.ndarray, value: float, gap: float, left: float
) -> float:
    """Add what the intercepts can gain where half the absolute slopes sum to ``left``.

    The objective rises at least with the square of the distance of the coefficients. So a gap bounds the optimal
    coefficients, hence the optimal intercepts, hence a better gap.
    """
    total = above = value * (1 + 1e-9)  # for its rounding
    for _ in range(4):
        distance = math.sqrt(2 * max(total, 0.0) / objective.penalty)
        better = gap + left * max(objective.losses.intercepts(objective.masses, w, b, above, distance), 0.0)
        if not better < 0.9 * total:
            return min(better, total)
        total = better
    return total
