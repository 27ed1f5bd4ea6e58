"""What flagging each row saves, by rank: how much a limit leaves on the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.costs import money
from uneven.figures.displays.display import Display, add_legend
from uneven.figures.style import GREY, money_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uneven.decisions.decision_table import Decisions

#: Room to the right of the last rank that matters, as a share of the width.
_ROOM = 0.1


class RankedGainsDisplay(Display):
    """Gain of each row by its rank, with the rows that get a place and the price of one more.

    The gain is what the best limited action saves against the best other one. With groups, the curve is the mean over
    groups of the gain at each rank.

    Parameters
    ----------
    decisions : Decisions
        What :func:`uneven.decide` returns.
    name : str, optional
        A title.
    unit : str, optional
        Unit of the costs, such as ``"EUR"``.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure

    Examples
    --------
    >>> import uneven
    >>> decisions = uneven.decide([0.9, 0.02, 0.3, 0.6, 0.1], fp_cost=1, fn_cost=9, at_most=2)
    >>> display = uneven.figures.RankedGainsDisplay(decisions, unit="EUR").plot()
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('rank of the row', 'saved by flagging the row (EUR)')
    """

    def __init__(self, decisions: Decisions, *, name: str | None = None, unit: str | None = None) -> None:
        self.decisions = decisions
        self.name = name
        self.unit = unit

    def _draw(self, axes: Axes, name: str | None, *, curve_kwargs: dict[str, Any]) -> None:
        made = self.decisions
        groups = made.groups.size
        rank = made.rank - 1
        gain = np.bincount(rank, made.gain) / np.bincount(rank)
        taken = np.isin(made.choice, made.limited)
        share = np.bincount(rank, taken) / np.bincount(rank)
        last = int(max(np.flatnonzero(gain > 0).max(initial=0), np.flatnonzero(share > 0).max(initial=0))) + 1
        shown = min(gain.size, max(last + max(2, round(_ROOM * last)), 5))
        x = np.arange(shown + 1) + 0.5
        each = f", mean over {groups:,} groups" if groups > 1 else ""
        axes.stairs(gain[:shown], x, baseline=None, label=f"saved{each}", **{"linewidth": 1.6, **curve_kwargs})
        actions = " or ".join(str(made.labels[k]) for k in made.limited)
        axes.fill_between(
            np.repeat(x, 2)[1:-1],
            np.repeat(np.where(share > 0, gain * share, 0.0)[:shown], 2),
            alpha=0.2,
            linewidth=0,
            label=f"{actions}: {int(taken.sum()):,} rows",
        )
        axes.axhline(0.0, color=GREY, linewidth=0.8)
        if made.next_gain is not None:
            price = float(made.next_gain.mean())
            told = f"one more place{' in each group' if groups > 1 else ''} saves {money(price, self.unit)}"
            axes.axhline(price, color=GREY, linewidth=1.0, linestyle="--", label=told + (" on average" * (groups > 1)))
        axes.set_xlim(0.5, shown + 0.5)
        axes.set_xlabel("rank of the row" + (" in its group" if groups > 1 else ""))
        flag = "flagging the row" if len(made.limited) > 1 or len(made.labels) == 2 else actions
        money_axis(axes.yaxis, f"saved by {flag}", self.unit)
        if name:
            axes.set_title(name)
        add_legend(axes)
