"""Small smooth objectives on the same rows, minimised together: Newton steps of all of them by few products with X.

Alone, each would need its own calls, which cost more than the arithmetic. A matrix of second derivatives serves several
steps, as long as they converge fast. Only whole steps are tried. An objective that needs more care is left to the
ordinary way, and so is one whose gradient does not promise the tolerance in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from uneven.solvers.compiled import passes
from uneven.solvers.linear.objective import Objective
from uneven.solvers.linear.small import is_small
from uneven.solvers.linear.solver import Settings
from uneven.solvers.threads import single_threaded_blas

#: Most rows times objectives that are minimised at once: this many scores are in memory.
_MOST_SCORES = 1 << 20
_MOST_STEPS = 30
_SUFFICIENT = 1e-4  # a step must bring this share of the decrease that the slope at its start promises
#: Relative change of the objective below which rounding hides it. Then only a smaller gradient shows progress.
_ROUNDING = 1e-13
#: The matrix is renewed after a step that leaves more than this share of the gap.
_SLOW = 0.05
#: Part of the tolerance that the gradient must promise; a step costs little, so it is more than a proof would need.
_SHARE = 0.1


def go_together(objective: Objective) -> bool:
    """Whether an objective may be minimised here, with others on the same rows and with the same penalty."""
    smooth = objective.pair.convex and not objective.pair.kinked
    return smooth and objective.design.n >= objective.design.d and is_small(objective)


def minimise_together(
    objectives: Sequence[Objective], starts: np.ndarray, settings: Settings
) -> Iterator[np.ndarray | None]:
    """The minimiser of each objective, from its row of ``starts``; None where the tolerance was not reached.

    The objectives differ only in their losses, and :func:`go_together` holds for them. A minimiser is not proved:
    :meth:`Objective.promised_gap`, an estimate, is within a part of ``settings.tol`` times the value.
    """
    size = max(1, _MOST_SCORES // max(objectives[0].design.n, 1))
    for lo in range(0, len(objectives), size):
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            thetas, reached = _Together(objectives[lo : lo + size]).minimise(starts[lo : lo + size], settings)
        yield from (theta if good else None for theta, good in zip(thetas, reached, strict=True))


class _Together:
    """Objectives with their rows, a column of ones for the intercept included; one row of each array per objective."""

    def __init__(self, objectives: Sequence[Objective]) -> None:
        first = objectives[0]
        n, d = first.design.n, first.design.d
        self.columns = np.ones((d + first.fit_intercept, n))
        self.columns[:d] = first.design.X.T
        self.rows = self.columns.T
        self.losses = [objective.derivatives for objective in objectives]
        self.penalty = np.zeros(len(self.columns))
        self.penalty[:d] = first.penalty
        self.d, self.free, self.size = d, first.fit_intercept, first.size

    def minimise(self, starts: np.ndarray, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
        """Solutions, and which of them reached the tolerance."""
        theta = starts[:, : len(self.columns)].copy()
        everything = np.arange(len(theta))
        value, gradient, gap, bends = self._evaluated(theta, everything)
        inverses = np.empty((len(theta), self.columns.shape[0], self.columns.shape[0]))
        renew, hopeful = np.ones((2, len(theta)), dtype=bool)
        for _ in range(min(_MOST_STEPS, settings.max_iter)):
            at = np.flatnonzero(hopeful & ~(gap <= _SHARE * settings.tol * value))
            if not at.size:
                break
            for k in at[renew[at]]:
                inverses[k] = self._inverse(bends[k])
            direction = -(inverses[at] @ gradient[at, :, None])[:, :, 0]
            promised = (gradient[at] * direction).sum(axis=1)
            tried = theta[at] + direction
            new_value, new_gradient, new_gap, new_bends = self._evaluated(tried, at)
            change = new_value - value[at]
            better = change <= _SUFFICIENT * promised
            better |= (np.abs(change) <= _ROUNDING * np.abs(value[at])) & (new_gap < 0.5 * gap[at])
            better &= promised < 0
            hopeful[at] = better | ~renew[at]  # after a step with an old matrix, a new one is tried
            renew[at] = ~(new_gap <= _SLOW * gap[at]) | ~better
            good = at[better]
            theta[good], value[good], gradient[good] = tried[better], new_value[better], new_gradient[better]
            gap[good], bends[good] = new_gap[better], new_bends[better]
        found = np.zeros((len(theta), self.size))
        found[:, : len(self.columns)] = theta
        return found, gap <= _SHARE * settings.tol * value

    def _evaluated(self, theta: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Values, gradients and promised gaps of some objectives, and the curvatures of their rows."""
        scores = theta @ self.columns
        slopes, bends = np.empty((2, *scores.shape))
        value = np.empty(len(theta))
        for k, t, r, h in zip(range(len(theta)), scores, slopes, bends, strict=True):
            value[k] = passes.losses_along(self.losses[which[k]], t, t, 0.0, r, h)[0]
        pull = self.penalty * theta
        value += 0.5 * (pull * theta).sum(axis=1)
        gradient = slopes @ self.rows + pull
        w = gradient[:, : self.d]
        gap = 0.5 * (w * w).sum(axis=1) / self.penalty[0]
        if self.free:
            b, curvature = gradient[:, -1], bends.sum(axis=1)
            gap += np.where(curvature > 0, 0.5 * b * b / np.maximum(curvature, 1e-300), np.abs(b))
        return value, gradient, gap, bends

    def _inverse(self, bends: np.ndarray) -> np.ndarray:
        """The inverse of the second derivatives, computed at unit diagonal; not a number if there is none."""
        matrix = (self.columns * bends) @ self.rows
        matrix.flat[:: len(matrix) + 1] += self.penalty
        scale = 1 / np.sqrt(matrix.diagonal())
        try:
            return np.linalg.inv(matrix * scale * scale[:, None]) * scale * scale[:, None]
        except np.linalg.LinAlgError:
            return np.full_like(matrix, np.nan)
