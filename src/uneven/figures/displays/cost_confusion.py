"""The four outcomes of decisions: how many rows, and how much money."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from uneven.costs import GivenCosts, RowCosts, money
from uneven.figures.displays.display import PredictionsDisplay, costs_of, positive_of, require_matplotlib
from uneven.labels import distinct_labels, read_labels
from uneven.metrics.matrix_comparison import decide_by_matrix
from uneven.metrics.matrix_rows import read_matrix_rows, require_matrix
from uneven.metrics.passing_costs import predict_labels, require_way_to_decide
from uneven.metrics.rows import read_decisions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Letters of a title, and of a line in a cell: in large letters, and at most.
_TITLE, _LARGE_LETTERS, _CELL = 50, 16, 24
_OUTCOMES = (("true negatives", "false positives"), ("false negatives", "true positives"))


class CostConfusionDisplay(PredictionsDisplay):
    """A confusion matrix with money: number of rows and their costs for each of the four outcomes.

    Make it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    counts : ndarray of shape (2, 2)
        Number of rows, or the sum of their weights: rows are the true classes, columns the predicted ones, the negative
        class first.
    costs : ndarray of shape (2, 2)
        The sum of the costs in each cell.
    labels : pair
        The negative and the positive label.
    name : str, optional
        Name of the model in the title.
    unit : str, optional
        Unit of the costs, such as ``"EUR"``.
    actions : sequence of labels, optional
        With a cost matrix: what the columns are; then ``labels`` are all classes.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure

    Examples
    --------
    >>> from uneven.figures import CostConfusionDisplay
    >>> display = CostConfusionDisplay.from_predictions(
    ...     [1, 1, 0, 0], [1, 0, 1, 0], fp_cost=4, fn_cost=[200, 50, 80, 10], tp_cost=4, unit="EUR"
    ... )
    >>> display.counts.tolist(), display.costs.tolist()
    ([[1.0, 1.0], [1.0, 1.0]], [[0.0, 4.0], [50.0, 4.0]])
    >>> display.ax_.get_title()
    'total cost 58 EUR, 14.5 EUR per row'
    """

    _size = (4.8, 4.2)

    def __init__(
        self,
        counts: np.ndarray,
        costs: np.ndarray,
        *,
        labels: tuple[Any, ...] = (0, 1),
        name: str | None = None,
        unit: str | None = None,
        actions: tuple[Any, ...] | None = None,
    ) -> None:
        self.counts = counts
        self.costs = costs
        self.labels = labels
        self.name = name
        self.unit = unit
        self.actions = actions

    @classmethod
    def _ask(
        cls, estimator: Any, X: Any, y: Any, pos_label: Any, given: GivenCosts, options: dict[str, Any]
    ) -> tuple[np.ndarray, Any, GivenCosts]:
        """Labels; with ``decide`` by probabilities, or with the costs of the rows if any are given."""
        decide = options.pop("decide", "auto")
        require_way_to_decide(decide)
        if options.get("costs") is not None:
            matrix = require_matrix(options["costs"], given, pos_label)
            return np.asarray(decide_by_matrix(estimator, X, matrix, decide)), None, given
        positive, costs = positive_of(estimator, pos_label), costs_of(estimator, given)
        rows = RowCosts.read(read_labels("y", y).size, **costs)
        how = {"decide": decide, "costs_of_rows": bool(given.known), "pos_label": positive}
        return predict_labels(estimator, X, rows, **how), positive, costs

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        fp_cost: Any = 1.0,
        fn_cost: Any = 1.0,
        tp_cost: Any = 0.0,
        tn_cost: Any = 0.0,
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        unit: str | None = None,
        ax: Axes | None = None,
        cmap: Any = "Blues",
        costs: Any = None,
    ) -> Self:
        """Draw the outcomes of decisions.

        Parameters
        ----------
        y_true, y_pred, fp_cost, fn_cost, tp_cost, tn_cost, pos_label, sample_weight
            As in :func:`uneven.metrics.total_cost`: a row of weight 2 counts as two rows.
        name : str, optional
            Name of the model in the title.
        unit : str, optional
            Unit of the costs, such as ``"EUR"``.
        ax : matplotlib axes, optional
            By default those of a new figure.
        cmap : str or matplotlib colormap
            Colours of the cells: the larger the cost, the darker. Cells that earn money are green.
        costs : CostMatrix, optional
            In place of the four costs: a row for each class, a column for each action.
        """
        require_matplotlib()
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        if costs is not None:
            matrix = require_matrix(costs, given, pos_label)
            of_matrix = read_matrix_rows(matrix, y_true, sample_weight)
            cells = of_matrix.truth, of_matrix.read_actions("y_pred", y_pred)
            counts, sums = (np.zeros(matrix.costs.shape[-2:]) for _ in range(2))
            np.add.at(counts, cells, of_matrix.repetitions)
            np.add.at(sums, cells, of_matrix.repetitions * of_matrix.paid(cells[1]))
            found = cls(counts, sums, labels=matrix.classes, name=name, unit=unit, actions=matrix.actions)
            return found.plot(ax, cmap=cmap)
        rows, said = read_decisions(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight, **given)
        paid = rows.repetitions * rows.costs.paid(rows.is_positive, said)
        four = [[(rows.is_positive == true) & (said == guess) for guess in (False, True)] for true in (False, True)]
        return cls(
            np.array([[rows.repetitions[cell].sum() for cell in line] for line in four]),
            np.array([[paid[cell].sum() for cell in line] for line in four]),
            labels=_labels(read_labels("y_true", y_true), read_labels("y_pred", y_pred), rows.is_positive, said),
            name=name,
            unit=unit,
        ).plot(ax, cmap=cmap)

    def plot(  # type: ignore[override]
        self, ax: Axes | None = None, *, name: str | None = None, cmap: Any = "Blues"
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax, name, cmap
            As in :meth:`from_predictions`.
        """
        return self._plot(ax, name, cmap=cmap)

    def _plot(self, ax: Axes | None, name: str | None, **options: Any) -> Self:
        height, width = self.counts.shape
        self._size = (max(4.8, 1.0 + 1.25 * width), max(4.2, 1.0 + 0.95 * height))  # type: ignore[misc]
        return super()._plot(ax, name, **options)

    def _draw(self, axes: Axes, name: str | None, *, cmap: Any) -> None:
        size, rows = np.abs(self.costs), float(self.counts.sum())
        share = size / (size.max() or 1.0)
        colours = np.where(self.costs[..., None] < 0, _colours("Greens", share), _colours(cmap, share))
        axes.imshow(colours, aspect="auto")
        for k in range(1, self.counts.shape[0]):
            axes.axhline(k - 0.5, color="white", linewidth=2)
        for k in range(1, self.counts.shape[1]):
            axes.axvline(k - 0.5, color="white", linewidth=2)
        for (i, j), cost in np.ndenumerate(self.costs):
            red, green, blue, _ = colours[i, j]
            ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
            count = f"{money(float(self.counts[i, j]))} ({self.counts[i, j] / rows:.1%})"
            if self.actions is None:
                count = f"{_OUTCOMES[i][j]}\n{count}"
            axes.text(j, i - 0.17, count, ha="center", va="center", color=ink, linespacing=1.5)
            paid, size_of_text = _in_cell(float(cost), self.unit)
            if self.actions is not None:
                size_of_text = "medium"
            axes.text(j, i + 0.22, paid, ha="center", va="center", color=ink, fontsize=size_of_text)
        across = self.labels if self.actions is None else self.actions
        axes.set_xticks(range(len(across)), [_short(str(label)) for label in across])
        upright: dict[str, Any] = {"rotation": 90, "va": "center"}
        axes.set_yticks(range(len(self.labels)), [_short(str(label)) for label in self.labels], **upright)
        axes.set(xlabel="predicted" if self.actions is None else "decision", ylabel="true")
        axes.grid(visible=False)
        axes.tick_params(length=0)
        total = float(self.costs.sum())
        what = f"total cost {money(total, self.unit)}, {money(total / rows, self.unit)} per row"
        what = textwrap.fill(what, _TITLE)
        axes.set_title(what if name is None else f"{name}\n{what}")


def _colours(cmap: Any, share: np.ndarray) -> np.ndarray:
    """Red, green, blue and opacity for shares from 0 to 1; the darkest quarter of the colours is left out."""
    import matplotlib as mpl

    return np.asarray(mpl.colormaps.get_cmap(cmap)(0.75 * share))


def _in_cell(cost: float, unit: str | None) -> tuple[str, float | str]:
    """What a cell cost, and the size of the letters with which it fits: a long unit goes into a line of its own."""
    amount = money(cost)
    if unit is None or len(amount) + 1 + len(unit) <= _LARGE_LETTERS:
        words = money(cost, unit)
    else:
        words = "\n".join([amount, *textwrap.wrap(unit, _CELL)])
    longest = max(map(len, words.splitlines()))
    return words, "x-large" if longest <= _LARGE_LETTERS else 13 * _LARGE_LETTERS / longest


def _short(label: str) -> str:
    """A label that fits the side of a cell."""
    return label if len(label) <= 24 else f"{label[:21]}..."


def _labels(truth: np.ndarray, prediction: np.ndarray, is_positive: np.ndarray, said: np.ndarray) -> tuple[Any, Any]:
    """The negative and the positive label, or words for one that does not occur."""
    names: list[Any] = []
    for positive, word in ((False, "negative"), (True, "positive")):
        seen = distinct_labels(truth[is_positive == positive], prediction[said == positive])
        names.append(seen[0] if seen else word)
    return names[0], names[1]
