"""The cross-validated cost along gamma."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uneven.learners.tuning.gamma_path import GammaPath


def gamma_path(path: GammaPath, ax: Axes | None = None) -> Any:
    """Mean cost and its standard error against gamma, with the chosen gamma marked; returns the axes.

    Parameters
    ----------
    path : GammaPath
        ``gamma_path_`` of a fitted :class:`uneven.UnevenClassifierCV`.
    ax : matplotlib axes, optional
        By default those of a new figure.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtraError("figures", "plot") from None
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    low, high = path.mean_cost - path.standard_error, path.mean_cost + path.standard_error
    ax.fill_between(path.margin_gamma, low, high, alpha=0.2, linewidth=0, label="one standard error")
    ax.plot(path.margin_gamma, path.mean_cost, marker="o", markersize=4, label="mean over splits")
    ax.axvline(1.0, color="0.6", linewidth=0.8, linestyle=":")
    at = int(np.argmin(np.abs(path.margin_gamma - path.chosen)))
    ax.plot(
        [path.chosen],
        [path.mean_cost[at]],
        marker="o",
        markersize=11,
        markerfacecolor="none",
        markeredgecolor="C3",
        markeredgewidth=1.8,
        linestyle="none",
        label=f"chosen: {path.chosen:.3g}",
    )
    ax.set_xscale("log")
    ax.set_xlabel("margin_gamma")
    ax.set_ylabel("cross-validated cost")
    ax.legend(frameon=False)
    return ax
