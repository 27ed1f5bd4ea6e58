r"""Minimise an objective to a duality gap: a proved bound of how far it is above its optimum, for every convex loss.

Lines that support the losses of the rows bound the objective from below: with slopes s in the scores and v = X' s,
every (w', b') costs at least

.. math:: \textstyle\sum_i \text{constant}_i + v^\top w' + r b' + \frac{\rho}{2} \|w'\|^2 + \lambda \|w'\|_1,
          \qquad r = \sum_i s_i.

A line that touches the loss at the current score has the height 0 below it there; a line through a kink may have any
slope between those on its two sides. The minimum of the bound over w' is known in closed form, so that the gap is

.. math:: \textstyle\sum_i \text{height}_i + \sum_j \left[ \frac{\rho}{2} w_j^2 + \lambda |w_j| + v_j w_j
          + \frac{(|v_j| - \lambda)_+^2}{2 \rho} \right] + \text{what the intercept can gain}.

For lambda = 0 the middle term is \|v + rho w\|^2/(2 rho). The intercept is free, so r must be 0: b is moved to its best
value, and slopes at kinks are moved (:mod:`~uneven.solvers.linear.supporting_lines`). What rounding leaves of r costs
at most \|r\| times a proved bound of the optimal \|b\|. Other errors of rounding are bounded as well and added.

Without any penalty v must be 0 too, which floating point cannot reach. The statement is then about coefficients of a
bounded size: the gap bounds how far the objective is above that of all coefficients for which no column moves the
scores by more than ten times as much as the column that moves them most now (:meth:`Objective.reach`). Nothing is
proved about larger ones. If two columns are nearly the same, the optimum may need such: then it can be far below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

import numpy as np

from uneven.errors import SolverError
from uneven.ops.kernels import CompiledPhi
from uneven.solvers.linear.algorithms.newton import balance_slopes, is_small
from uneven.solvers.linear.lagrangian import Lagrangian, Support
from uneven.solvers.linear.newton_systems import MOST_COLUMNS
from uneven.solvers.linear.objective import Objective, Penalised
from uneven.solvers.linear.pair_of_losses import absolute_sums
from uneven.solvers.linear.solver import AUTO, Settings, Solution, choose
from uneven.solvers.linear.supporting_lines import balance, set_multipliers_from_scores
from uneven.solvers.running import silent, single_threaded_blas

EPS = float(np.finfo(np.float64).eps)
#: Share of the wanted gap that the intercept may cost. If it costs more, the intercept is placed more accurately.
_INTERCEPT_SHARE = 1e-2
#: Share of the wanted gap that rounding of X' s, or of the scores and losses, may cost. If it costs more, they are
#: computed in twice the precision.
_ROUNDING_SHARE = 0.1
#: Sizes of margins between which a bound of a margin is looked for.
_SIZES = 2.0 ** np.arange(0.0, 1000.0)
#: Up to this many numbers are summed without any error of rounding; more would take long, and are summed in pairs.
_SUMMED_EXACTLY = 2000


@dataclass(frozen=True)
class Proof:
    """An objective and how far it can be above its optimum.

    Attributes
    ----------
    theta : ndarray
        The point, with the intercept moved to its best value.
    value : float
        The objective there.
    error : float
        How wrong the value can be by rounding.
    gap : float
        At least the exact value minus the optimum, and at least the error; never negative. Without a penalty the
        optimum is the least value within :meth:`Objective.reach`.
    stationarity : float
        The largest entry of the gradient, each divided by the sum of the absolute values of its terms. 0 at a
        stationary point, at most 1, whatever the units of the columns.
    slopes : ndarray
        Of the losses in the coefficients.
    careful : bool
        Whether the value was computed in twice the precision, as by :func:`careful_value`.
    """

    theta: np.ndarray
    value: float
    error: float
    gap: float
    stationarity: float
    slopes: np.ndarray
    careful: bool = False

    @property
    def bound(self) -> float:
        """A lower bound of the optimum."""
        return self.value - self.error - self.gap


def prove(
    objective: Objective,
    theta: np.ndarray,
    multipliers: np.ndarray | None = None,
    *,
    wanted: float = 0.0,
    scores: np.ndarray | None = None,
) -> Proof:
    """Bound the distance of a convex objective from its optimum, by two passes over X.

    Parameters
    ----------
    objective : Objective
    theta : ndarray
    multipliers : ndarray of shape (kinks, rows), optional
        Slopes at the kinks, as a solver for losses with kinks finds them. None: a row right of a kink has the whole
        jump, a row left of it has none.
    wanted : float
        The gap that the caller needs; the intercept is placed accurately enough for it.
    scores : ndarray, optional
        X w + b as computed from theta; they are overwritten. Scores that were moved step by step would not do, because
        their errors of rounding add up.
    """
    reach = 1 + abs(float(theta[-1]))
    if objective.fit_intercept and objective.l1 > 0 and objective.penalty == 0:  # the gap will not bound it any better
        reach = max(reach, min(bound_of_intercept(objective, theta, objective.value_at_zero), 1e300))
    enough = _INTERCEPT_SHARE * wanted / reach
    start = theta
    theta, t, sums, v, sizes = _small_lines(objective, theta, enough) or _lines(
        objective, theta, multipliers, enough, scores
    )
    value = sums.loss + objective.penalty_of(theta[:-1])
    rounded = EPS * ((16 + objective.design.terms_of_sums) * abs(value) + 16 * sums.moment)
    rounded_scores = _error_of_scores(objective, theta, sums, sizes)
    careful, apart = rounded + rounded_scores > _ROUNDING_SHARE * wanted, 0.0
    if careful:
        theta, t, sums, v, sizes = _lines(objective, start, multipliers, enough, objective.design.careful_scores(start))
        # A large intercept cannot move by as little as the scores did, so the lines touch beside the actual scores.
        actual = objective.design.careful_scores(theta)
        apart = _height_beside(objective, sums, t, actual)
        value = _summed_losses(objective, actual) + objective.penalty_of(theta[:-1])
        rounded = EPS * ((56 + math.log2(t.size)) * abs(value) + 16 * sums.moment)
        rounded_scores *= (objective.design.most_terms + 4) * EPS
        rounded_scores += 4 * EPS * (sums.moment + sums.size * objective.pair.largest_kink)
    w = theta[:-1]
    v, error = _with_error(objective, w, v, sizes, sums, wanted)
    # The value is rounded, and so are the scores: a row may lie on the other side of its kink.
    gap = sums.above + apart + rounded + rounded_scores
    gap += gap_of_penalty(objective, w, v, error, sums.loss)
    excess, inexact = _sum(sums.slopes, sums.size, enough)
    if objective.fit_intercept:
        stuck = abs(excess) + inexact
        gap = with_intercept(objective, theta, value + rounded + rounded_scores, gap, stuck, wanted)
    gap = min(gap, value + rounded + rounded_scores - objective.lower_bound)
    return Proof(
        theta,
        value,
        error=rounded + rounded_scores,
        gap=math.inf if math.isnan(gap) else max(float(gap), 0.0),
        stationarity=gradient_share(objective, theta, v, sizes, excess, sums.size),
        slopes=v,
        careful=careful,
    )


#: A point, its scores, lines that support the losses there, X' times their slopes, abs(X)' times the absolute slopes.
_Lines = tuple[np.ndarray, np.ndarray, Support, np.ndarray, np.ndarray]


def careful_value(objective: Objective, theta: np.ndarray) -> float:
    """The objective, with scores in twice the precision: columns far from 0 move them by much more than their sum."""
    return _summed_losses(objective, objective.design.careful_scores(theta)) + objective.penalty_of(theta[:-1])


def _summed_losses(objective: Objective, scores: np.ndarray) -> float:
    """The sum of the losses; few are summed exactly, many in pairs."""
    losses = objective.losses(scores)
    exact = losses.size <= _SUMMED_EXACTLY and bool(np.isfinite(losses).all())
    return math.fsum(losses.tolist()) if exact else float(losses.sum())


def _height_beside(objective: Objective, sums: Support, t: np.ndarray, actual: np.ndarray) -> float:
    """How much higher above their lines the losses can be at the actual scores than at t, where the lines touch."""
    distances = np.abs(actual - t)
    if objective.pair.kinked:
        return 2 * float(sums.steepest @ distances)
    return float(np.abs(objective.slopes(actual) - sums.slopes) @ distances)


def _error_of_scores(objective: Objective, theta: np.ndarray, sums: Support, sizes: np.ndarray) -> float:
    """What rounding of the scores can change in the losses: their errors, each times the steepest slope of its row."""
    terms = float(sizes @ np.abs(theta[:-1])) + sums.size * (abs(float(theta[-1])) + objective.pair.largest_kink)
    return (objective.design.most_terms + 4) * EPS * terms


def _lines(
    objective: Objective,
    theta: np.ndarray,
    multipliers: np.ndarray | None,
    enough: float,
    scores: np.ndarray | None,
) -> _Lines:
    """Lines whose slopes sum to at most ``enough``, if possible; for that, the intercept moves."""
    state = Lagrangian(objective, theta, 1.0, scores)
    if multipliers is not None:
        # Rounded to float32, a multiplier may exceed the jump, and its line would not support the loss.
        state.u = np.clip(multipliers.astype(np.float64), 0.0, state.jumps[objective.y].T)
    else:
        set_multipliers_from_scores(state)
    if objective.fit_intercept:
        balance(state, enough)
    sums = state.support()
    return state.theta, state.t, sums, *objective.design.transposed_product(sums.slopes, sums.steepest)


def _small_lines(objective: Objective, theta: np.ndarray, enough: float) -> _Lines | None:
    """The same for smooth losses on small data, with fewer calls; None if more care is needed."""
    found = balance_slopes(objective, theta, enough) if not objective.pair.kinked and is_small(objective) else None
    if found is None:
        return None
    theta, t, slopes, loss = found
    sums = Support(slopes, slopes, loss, 0.0, *absolute_sums(slopes, t))
    return theta, t, sums, *objective.design.transposed_product(slopes, slopes)


def stationarity(objective: Objective, theta: np.ndarray) -> float:
    """How close a point of any objective is to a stationary one; see :class:`Proof`."""
    slopes = objective.slopes(objective.design.scores(theta))
    v, sizes = objective.design.transposed_product(slopes, slopes)
    return gradient_share(objective, theta, v, sizes, float(slopes.sum()), float(np.abs(slopes).sum()))


def _with_error(
    objective: Objective, w: np.ndarray, v: np.ndarray, sizes: np.ndarray, sums: Support, wanted: float
) -> tuple[np.ndarray, np.ndarray]:
    """X' s and bounds of its error: a unit of rounding for each addition, relative to the sum of absolute values.

    Where that would cost more than a part of the wanted gap (columns of very different scale), v is computed again in
    twice the precision.
    """
    error = (objective.design.terms_of_sums + 16) * EPS * sizes
    plain = gap_of_penalty(objective, w, v, np.zeros_like(error), sums.loss)
    if gap_of_penalty(objective, w, v, error, sums.loss) - plain <= _ROUNDING_SHARE * wanted:
        return v, error
    v = objective.design.careful_transposed_product(sums.slopes)
    return v, EPS * np.abs(v) + 2 * ((objective.design.n + 16) * EPS) ** 2 * sizes


def _sum(numbers: np.ndarray, size: float, enough: float) -> tuple[float, float]:
    """Their sum, and how wrong it can be; ``size`` is the sum of their absolute values.

    Few numbers are summed exactly, unless an error of ``enough`` does not matter.
    """
    error = (40 + math.log2(numbers.size)) * EPS * size
    if enough < error < math.inf and numbers.size <= _SUMMED_EXACTLY:  # fsum raises if a sum overflows
        total = math.fsum(numbers.tolist())
        return total, EPS * abs(total)
    return float(numbers.sum()), error


def with_intercept(
    objective: Penalised, theta: np.ndarray, value: float, gap: float, stuck: float, wanted: float
) -> float:
    """Add to a gap what the intercept can gain where the slopes sum to ``stuck`` instead of 0.

    With a squared penalty the objective rises with the square of the distance from its optimum. So a gap, even a large
    one, bounds the optimal coefficients, hence the optimal intercept, hence a better gap.
    """
    total = min(gap + stuck * bound_of_intercept(objective, theta, value), value - objective.lower_bound)
    if total - gap <= _INTERCEPT_SHARE * wanted:
        return total
    for _ in range(6 if objective.penalty > 0 and math.isfinite(total) else 0):
        distance = math.sqrt(2 * max(total, 0.0) / objective.penalty)
        better = gap + stuck * bound_of_intercept(objective, theta, value, distance)
        if better > 0.5 * total or better - gap <= _INTERCEPT_SHARE * wanted:
            return min(better, total)
        total = better
    return total


def gap_of_penalty(objective: Penalised, w: np.ndarray, v: np.ndarray, error: np.ndarray, loss: float) -> float:
    """The part of the gap that belongs to the coefficients; v may be wrong by ``error``."""
    rho, l1 = objective.penalty, objective.l1
    if rho > 0 and l1 == 0:
        return float(np.sum((np.abs(v + rho * w) + error) ** 2)) / (2 * rho)
    if l1 == 0:
        return float((np.abs(v) + error) @ (np.abs(w) + objective.reach(w)))
    # Lines are mixed with the constant line below the loss, until no |v| exceeds lambda.
    largest = float((np.abs(v) + error).max(initial=0.0))
    share = min(1.0, l1 / largest) if largest > 0 else 1.0
    own = 0.5 * rho * w * w + l1 * np.abs(w) + np.abs(w) * error
    gap = float(np.maximum(own + share * v * w, 0.0).sum())
    if share < 1:
        gap += (1 - share) * (loss - objective.lower_bound)
    if rho > 0:
        over = np.maximum(np.abs(v) + error - l1, 0.0)
        gap = min(gap, float(np.maximum(own + v * w + over * over / (2 * rho), 0.0).sum()))
    return gap


def bound_of_intercept(objective: Penalised, theta: np.ndarray, value: float, distance: float = math.inf) -> float:
    """A bound of how far the optimal intercept is from this one; infinite if the loss sets none.

    At the optimum the losses of some rows of a class do not exceed ``value`` (less what the others need at least). So
    the loss at their mean margin is bounded, because phi is convex, and that margin lies in an interval. Its part from
    the coefficients is bounded too: by their penalty, or because they are within ``distance`` of those of theta.
    """
    room = value - objective.lower_bound
    if not math.isfinite(room):
        return math.inf
    lowest, highest = -math.inf, math.inf
    for label, (kernel, least) in enumerate(zip(objective.pair.kernels, objective.pair.infima, strict=True)):
        total, mean = objective.mean_row(label)
        if not total > 0:
            continue
        limit = 1.001 * max(room, 0.0) / total + least
        scale = float(objective.pair.scales[label])
        left, right = sorted(margin / scale for margin in _margins_below(kernel, limit))
        near, far = _scores_of_optimum(objective, theta[:-1], mean, room, distance)
        lowest, highest = max(lowest, left - far), min(highest, right - near)
    b = float(theta[-1])
    return max(abs(lowest - b), abs(highest - b)) if lowest <= highest else math.inf


def _scores_of_optimum(
    objective: Penalised, w: np.ndarray, row: np.ndarray, room: float, distance: float
) -> tuple[float, float]:
    """Bounds of the score of a row under optimal coefficients, without the intercept."""
    if objective.penalty > 0:
        score, length = float(row @ w), math.sqrt(float(row @ row))
        far = 1.001 * length * math.sqrt(2 * max(room, 0.0) / objective.penalty)
        near = 1.001 * length * distance + 1e-9 * abs(score)
        return max(-far, score - near), min(far, score + near)
    if objective.l1 > 0:
        far = 1.001 * float(np.abs(row).max(initial=0.0)) * max(room, 0.0) / objective.l1
    else:
        far = 1.001 * float(np.abs(row) @ objective.reach(w))
    return -far, far


def _margins_below(kernel: CompiledPhi, limit: float) -> tuple[float, float]:
    """An interval outside of which a convex phi exceeds a limit; an end is infinite if phi does not grow there."""
    left, right = (
        float(_SIZES[np.argmax(values > limit)]) if values[-1] > limit else math.inf for values in _growth(kernel)
    )
    return -left, right


@lru_cache(maxsize=256)
def _growth(kernel: CompiledPhi) -> tuple[np.ndarray, np.ndarray]:
    """A convex phi at minus and plus the sizes, where it rises away from 0; minus infinity where it does not."""
    found = []
    for side in (-1, 1):
        values, slopes = kernel.plain.first(side * _SIZES)
        found.append(np.where(side * slopes > 0, values, -np.inf))
    return found[0], found[1]


def gradient_share(
    objective: Penalised, theta: np.ndarray, v: np.ndarray, sizes: np.ndarray, excess: float, size: float
) -> float:
    """The largest entry of the gradient, each divided by the sum of the absolute values of its terms."""
    w = theta[:-1]
    gradient, terms = v + objective.penalty * w, sizes + objective.penalty * np.abs(w)
    if objective.l1 > 0:
        gradient = np.where(w == 0, np.maximum(np.abs(v) - objective.l1, 0.0), gradient + objective.l1 * np.sign(w))
        terms += objective.l1 * (w != 0)
    shares = np.divide(np.abs(gradient), terms, out=np.zeros_like(terms), where=terms > 0)
    intercept = abs(excess) / size if objective.fit_intercept and size > 0 else 0.0
    return min(max(float(shares.max(initial=0.0)), intercept), 1.0)


# -- minimising to a gap
# ------------------------------------------------------------------------------------------------

P = TypeVar("P", bound=Penalised)


def minimise(
    objective: Objective,
    settings: Settings,
    *,
    theta: np.ndarray | None = None,
    convex: Objective | None = None,
    solver: str = AUTO,
) -> Solution:
    """Minimise an objective.

    Parameters
    ----------
    objective : Objective
    settings : Settings
    theta : ndarray, optional
        Starting point.
    convex : Objective, optional
        A convex objective whose minimum is a good starting point; used if the objective itself is not convex and there
        is no theta.
    solver : str
        A name of :func:`uneven.solvers.linear.solver.names`.

    Raises
    ------
    LossError
        If the solver does not accept the objective; the message says why and which solvers would.
    """
    record = choose(solver, objective)
    # BLAS would start its own threads for long vectors; idle, they would still block ours. Small data need none.
    with single_threaded_blas() if objective.size > MOST_COLUMNS or is_small(objective) else nullcontext():
        if objective.pair.convex:
            return minimise_to_gap(record.minimise, objective, theta, settings)
        if theta is None and convex is not None:
            start = replace(settings, tol=max(settings.tol, 1e-6), progress=silent)
            theta = minimise(convex, start).theta
        solution = record.minimise(objective, theta, settings)
        return replace(solution, duality_gap=None, stationarity=stationarity(objective, solution.theta))


@np.errstate(over="ignore", invalid="ignore")  # numbers near the end of the range: the proof says what came of them
def minimise_to_gap(
    solve: Callable[[P, np.ndarray | None, Settings], Solution],
    objective: P,
    theta: np.ndarray | None,
    settings: Settings,
) -> Solution:
    """Minimise a convex objective until its duality gap is within the tolerance.

    Each solver stops by a rule of its own. If the gap is then too large, it goes on from there with a stricter
    tolerance, until the gap is reached, the steps are used up, or rounding hides any gain.
    """
    start = objective.value_at_zero
    best = Proof(np.zeros(objective.size), start, 0.0, math.inf, 1.0, np.empty(0))
    if theta is not None:
        start = objective.value_and_gradient(theta)[0]
        best = replace(best, theta=theta, value=start, error=math.inf)  # unknown before the first proof
    inner, steps, proofs = settings.tol, 0, list[Proof]()
    while True:
        solution = solve(objective, theta, replace(settings, tol=inner, max_iter=settings.max_iter - steps))
        steps += solution.iterations
        wanted = inner * max(solution.value, objective.floor)  # stricter each time, as for the solver
        proof = solution.proof or _proof(objective, solution, wanted)
        proofs.append(proof)
        if proof.value - proof.error > solution.value:  # moving the intercept for the lines raised the objective
            unmoved = _value(objective, solution.theta, careful=proof.careful)
            if unmoved < proof.value:  # so its gap is smaller, too
                proof = replace(proof, theta=solution.theta, value=unmoved)
        better = proof.gap < 0.5 * best.gap
        if math.isinf(best.error):  # the value at the starting point is as rounded as that of the proof
            if proof.careful:
                start = _value(objective, best.theta, careful=True)
            best = replace(best, value=start, error=proof.error)
        if proof.value < best.value or (proof.value == best.value and proof.gap < best.gap):
            best = proof
        proved = (one.bound for one in proofs if objective.covers(one.theta[:-1], best.theta[:-1]))
        lower = max(proved, default=-math.inf)
        gap = min(best.gap, max(best.value - lower, 0.0) + best.error)
        settings.progress(f"objective {best.value:.10g}, proved gap {gap:.2e}")
        reached = gap <= settings.tol * max(best.value, objective.floor)
        if reached or not better or steps >= settings.max_iter or inner < 1e-15:
            break
        inner *= 1e-2
        theta = best.theta
    require_consistent(objective, best.value, gap, start)
    return replace(
        solution,
        theta=best.theta,
        value=best.value,
        converged=reached,
        iterations=steps,
        duality_gap=gap,
        stationarity=best.stationarity,
        multipliers=None,
        proof=None,
    )


def _value(objective: Penalised, theta: np.ndarray, *, careful: bool) -> float:
    if careful and isinstance(objective, Objective):
        return careful_value(objective, theta)
    return objective.value_and_gradient(theta)[0]


def _proof(objective: Penalised, solution: Solution, wanted: float) -> Proof:
    assert isinstance(objective, Objective)  # a solver of rows in parts proves its gap itself
    return prove(objective, solution.theta, solution.multipliers, wanted=wanted)


def require_consistent(objective: Penalised, value: float, gap: float, start: float) -> None:
    """Raise if a solution contradicts itself, which would be a mistake in a solver or in a phi's formula."""
    slack = 1e-9 * (abs(start) + abs(objective.lower_bound))
    problem = None
    if not value >= objective.lower_bound - slack:
        problem = f"the objective is {value:g}, but its losses are at least {objective.lower_bound:g}"
    elif not value <= start + slack:
        problem = f"the objective is {value:g}, larger than {start:g} at the start"
    elif not gap >= 0:
        problem = f"the duality gap is {gap:g}"
    if problem:
        raise SolverError(
            f"the fit of {objective.pair.names} contradicts itself: {problem}; the model is not returned. Another "
            "solver or a simpler formula of the loss may work, and a report of this case would help"
        )
