"""The shift of least window loss, without a prior."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from uneven.learners.corrections.correction import Correction
from uneven.learners.corrections.posterior import supported_shifts
from uneven.learners.corrections.scored_rows import ScoredRows
from uneven.learners.corrections.window import grouped_window_losses


def argmin(rows: ScoredRows, order: int) -> Correction:
    """The shift at which the window losses are least; of equal ones the nearest to 0."""
    shifts, losses = supported_shifts(rows, order, prior=0.0)
    best = np.flatnonzero(losses <= losses.min() * (1 + 1e-12))
    k = int(best[np.argmin(np.abs(shifts[best]))])
    if best.size > 1 or k in (0, shifts.size - 1):
        return Correction(shift=float(shifts[k]))
    losses_of = grouped_window_losses(rows, order)
    found = minimize_scalar(
        lambda u: float(losses_of(np.array([u]))[0]),
        bounds=(shifts[k - 1], shifts[k + 1]),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return Correction(shift=float(found.x) if found.fun < losses[k] else float(shifts[k]))
