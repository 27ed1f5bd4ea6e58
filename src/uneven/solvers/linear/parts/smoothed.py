r"""Losses with kinks, smoothed: each kink becomes a parabola of width sigma.

The term :math:`J (m - k)_+` of a kink k with jump J becomes

.. math:: \max_{0 \le u \le J} u (m - k) - \tfrac{\sigma}{2} (u - J/2)^2,

which lies below it by at most :math:`\sigma J^2/8`. The best u is the slope there, and the line through the kink with
that slope supports the true loss. So a minimum of the smoothed losses also gives a lower bound for the true ones.
"""

from __future__ import annotations

import numpy as np

from uneven.solvers.compiled import kinked_passes
from uneven.solvers.linear.lagrangian import Lagrangian, Support
from uneven.solvers.linear.objective import Objective


class Smoothed:
    """The smoothed losses of some rows at a theta. Losses without kinks stay as they are."""

    def __init__(self, losses: Objective, theta: np.ndarray, sigma: float) -> None:
        self._state = Lagrangian(losses, theta, 1.0)
        self._state.sigma = sigma
        self._state.u = self._state.u.astype(np.float64)  # rounded to float32, a slope may exceed its jump

    def curvature(self) -> np.ndarray:
        """Matrix of second derivatives; to be asked for before :meth:`lines`."""
        return self._state.hessian()

    def lines(self) -> Support:
        """Lines that support the true losses; their slopes are those of the smoothed ones."""
        self._state.update()
        return self._state.support()

    def value(self, lines: Support) -> float:
        """Sum of the smoothed losses; to be asked for after :meth:`lines`."""
        state = self._state
        parts = state.over_rows(lambda k, lo, hi: kinked_passes.off_centre(state.common, state.u, lo, hi))
        return lines.loss - lines.above - 0.5 * state.sigma * sum(parts)
