"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from uneven.solvers.linear.proof import Proof


@dataclass(frozen=True)
class Solution:
    """A minimiser and the evidence for it.

    Attributes
    ----------
    theta : ndarray
        Coefficients, then the intercept.
    value : float
        The objective there.
    converged : bool
        From a solver: whether its own stopping rule holds. From :func:`~uneven.solvers.linear.solve.minimise`: whether
        the gap is within the tolerance; for a loss that is not convex, what the solver says.
    status : str
        Why the solver stopped, as the end of a sentence.
    iterations : int
    multipliers : ndarray of shape (kinks, rows), optional
        Slopes at the kinks of the losses: without them, a small gap cannot be proved for a loss with kinks.
    duality_gap : float or None
        At least the value minus the optimum; only :func:`~uneven.solvers.linear.solve.minimise` sets it.
    stationarity : float or None
        See :class:`~uneven.solvers.linear.proof.Proof`; set with the gap, and for losses that are not convex.
    proof : Proof, optional
        A solver may have proved its gap at theta; otherwise :func:`~uneven.solvers.linear.solve.minimise` does.
    stats : dict
        Counts, such as the number of passes over X.
    """

    theta: np.ndarray
    value: float
    converged: bool
    status: str
    iterations: int
    multipliers: np.ndarray | None = None
    duality_gap: float | None = None
    stationarity: float | None = None
    proof: Proof | None = None
    stats: dict[str, float] = field(default_factory=dict)
