"""The cost along gamma, and the grid on which it is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: The automatic grid: how many gammas, and the least and the largest value that its largest gamma may have.
_COUNT = 11
_LEAST_REACH, _MOST_REACH = 4.0, 64.0


def automatic_grid(ratio: float, weighted: float) -> np.ndarray:
    """Gammas in equal ratios around 1, up to the larger of the class ratio and the ratio of the classes' total costs.

    Both ratios are negative over positive. A larger asymmetry would ask for a margin of the rare class that its few
    examples cannot outweigh.
    """
    reach = float(np.clip(max(ratio, 1 / ratio, weighted, 1 / weighted), _LEAST_REACH, _MOST_REACH))
    grid = np.exp(np.linspace(-np.log(reach), np.log(reach), _COUNT))
    grid[_COUNT // 2] = 1.0
    return np.array([float(f"{gamma:.4g}") for gamma in grid])


@dataclass(frozen=True)
class GammaPath:
    """Cross-validated cost per gamma, at the chosen C and loss.

    Attributes
    ----------
    margin_gamma : ndarray
        In rising order.
    mean_cost : ndarray
        Mean over the splits (minus the score where ``scoring`` was given).
    standard_error : ndarray
        Standard error of that mean, from the scatter of the splits.
    chosen : float
        The gamma that was chosen.
    """

    margin_gamma: np.ndarray
    mean_cost: np.ndarray
    standard_error: np.ndarray
    chosen: float

    def plot(self, ax: Any = None) -> Any:
        """Draw mean and standard error against gamma; returns the axes. Needs Matplotlib (the extra ``plot``)."""
        from uneven.figures.displays.fitted_curves import GammaPathDisplay

        return GammaPathDisplay(self).plot(ax).ax_
