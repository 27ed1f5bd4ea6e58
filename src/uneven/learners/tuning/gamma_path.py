"""The cost along gamma, and the grid on which it is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.errors import UnevenError

#: The automatic grid: so many gammas, reaching at least and at most so far from 1.
_COUNT = 11
_LEAST_REACH, _MOST_REACH = 4.0, 64.0


def automatic_grid(positives: float, negatives: float, fp_cost: float, fn_cost: float) -> np.ndarray:
    """Gammas in equal ratios around 1, as far as the class ratio or the ratio of the classes' total costs reaches.

    A margin asymmetry beyond both would give the rare class a margin that its examples cannot pay for.
    """
    ratio = negatives / positives
    weighted = ratio * fp_cost / fn_cost
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
        Rising.
    mean_cost : ndarray
        Mean over the splits (minus the score where ``scoring`` was given).
    standard_error : ndarray
        Of that mean, from the scatter of the splits.
    chosen : float
        The gamma that was chosen.
    """

    margin_gamma: np.ndarray
    mean_cost: np.ndarray
    standard_error: np.ndarray
    chosen: float

    def plot(self, ax: Any = None) -> Any:
        """Draw mean and standard error against gamma; returns the axes. Needs matplotlib (the extra ``plot``)."""
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise UnevenError(
                "plot() needs matplotlib, which is not installed; pip install 'uneven[plot]' would help"
            ) from None
        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
        low, high = self.mean_cost - self.standard_error, self.mean_cost + self.standard_error
        ax.fill_between(self.margin_gamma, low, high, alpha=0.2, linewidth=0, label="one standard error")
        ax.plot(self.margin_gamma, self.mean_cost, marker="o", markersize=4, label="mean over splits")
        ax.axvline(1.0, color="0.6", linewidth=0.8, linestyle=":")
        at = int(np.argmin(np.abs(self.margin_gamma - self.chosen)))
        ax.plot(
            [self.chosen],
            [self.mean_cost[at]],
            marker="o",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor="C3",
            markeredgewidth=1.8,
            linestyle="none",
            label=f"chosen: {self.chosen:.3g}",
        )
        ax.set_xscale("log")
        ax.set_xlabel("margin_gamma")
        ax.set_ylabel("cross-validated cost")
        ax.legend(frameon=False)
        return ax
