"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


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
        Whether the stopping rule holds.
    status : str
        A sentence.
    iterations : int
    suboptimality : float
        Most that the value can be above the optimum: a proved gap, or an estimate (``status`` says which).
    duality_gap : float or None
        Value minus a proved lower bound of the optimum, where there is one.
    stats : dict
        Counts, such as the number of passes over X.
    """

    theta: np.ndarray
    value: float
    converged: bool
    status: str
    iterations: int
    suboptimality: float
    duality_gap: float | None = None
    stats: dict[str, float] = field(default_factory=dict)
