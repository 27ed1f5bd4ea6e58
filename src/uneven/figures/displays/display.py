"""What all displays share: the axes they draw on, and what a fitted estimator says about rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from uneven.costs import COSTS, DEFAULT_COSTS, GivenCosts, RowCosts
from uneven.errors import ParameterError, needs_extra
from uneven.figures.style import COLOURS, styled
from uneven.inputs import brief
from uneven.labels import positive_class
from uneven.learners.contract import EstimatorContract, costs_of_fit
from uneven.metrics.cost_curve import ScaledCosts
from uneven.metrics.passing_costs import answer_with_costs, takes_costs
from uneven.metrics.rows import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class Display(ABC):
    """A picture in scikit-learn's convention: made by a class method, drawn again by :meth:`plot`.

    Attributes
    ----------
    ax_ : matplotlib axes
    figure_ : matplotlib figure
    """

    name: str | None
    ax_: Axes
    figure_: Figure | SubFigure

    #: Width and height of a new figure in inches.
    _size: ClassVar[tuple[float, float]] = (6.0, 4.2)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, curve_kwargs: dict[str, Any] | None = None
    ) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.
        name : str, optional
            Name of the model in the legend.
        curve_kwargs : dict, optional
            Options of Matplotlib's ``plot`` for the curve, or for the points.
        """
        return self._plot(ax, name, curve_kwargs=curve_kwargs or {})

    def _plot(self, ax: Axes | None, name: str | None, **options: Any) -> Self:
        with _drawing(ax, self._size) as axes:
            self._draw(axes, self.name if name is None else name, **options)
            self.ax_, self.figure_ = axes, axes.figure
        return self

    @abstractmethod
    def _draw(self, axes: Axes, name: str | None, *args: Any, **options: Any) -> None:
        """Draw on the axes; ``options`` are those of ``plot``."""


class PredictionsDisplay(Display):
    """A display of predictions for rows with labels and costs."""

    #: What gives the scores, unless ``response_method`` says so.
    _response: ClassVar[str] = "auto"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the picture of a fitted classifier on some rows.

        Parameters
        ----------
        estimator : fitted classifier of two classes, or a pipeline or search with one
        X, y
            The rows and their labels.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n,), optional
            As in :func:`uneven.metrics.expected_cost`; by default those of the estimator, else 1 for a mistake.
        pos_label : label, optional
            The positive class; by default that of the estimator, else 1.
        name : str, optional
            Name of the model; by default that of the estimator's class.
        **options
            The other arguments of :meth:`from_predictions`. A display of scores also takes ``response_method``:
            "decision_function" or "predict_proba"; by default ("auto") the decision function if there is one. A
            display of labels takes ``decide``: "auto", "predict" or "alpha", as in
            :func:`uneven.metrics.make_cost_scorer`.
        """
        require_matplotlib()
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        answers, positive, costs = cls._ask(estimator, X, y, pos_label, given, options)
        known = {**costs, "pos_label": positive, "name": _name_of(estimator, name)}
        return cls.from_predictions(y, answers, **known, **options)

    @classmethod
    def _ask(
        cls, estimator: Any, X: Any, y: Any, pos_label: Any, given: GivenCosts, options: dict[str, Any]
    ) -> tuple[np.ndarray, Any, GivenCosts]:
        """What the estimator says, its positive class and the costs; takes out the options that are about this."""
        response = options.pop("response_method", cls._response) if cls._response == "auto" else cls._response
        positive, costs = positive_of(estimator, pos_label), costs_of(estimator, given)
        return _scores_of(estimator, X, positive, response, costs), positive, costs

    @classmethod
    @abstractmethod
    def from_predictions(cls, *args: Any, **options: Any) -> Self:
        """Draw the picture of what a classifier said about some rows."""


# -- axes -------------------------------------------------------------------------------------------------------------

_OURS = "drawn by uneven"
#: Width of a letter in a legend of our style, in inches and on average.
_CHARACTER = 0.057

#: A point that is not in the legend; its line tells which model it belongs to.
MARK: dict[str, Any] = {"markersize": 7, "markerfacecolor": "white", "zorder": 4, "label": "_mark"}


def require_matplotlib() -> None:
    """Raise an error that names the extra ``plot`` if Matplotlib is missing; called before any computation."""
    with needs_extra("figures", "plot"):
        import matplotlib.pyplot as plt  # noqa: F401


@contextmanager
def _drawing(ax: Axes | None, size: tuple[float, float]) -> Iterator[Axes]:
    """The given axes as they are, or those of a new figure, in our style."""
    require_matplotlib()
    if ax is not None and ax.get_label() != _OURS:
        yield ax
        return
    with styled():
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=size, layout="constrained")
            ax.set_prop_cycle(color=COLOURS)
            ax.set_label(_OURS)
        yield ax


def add_legend(ax: Axes) -> None:
    """A legend above our own axes, where it hides nothing; the user's axes may have a title there."""
    if ax.get_label() == _OURS:
        lines = [line for label in ax.get_legend_handles_labels()[1] for line in label.split("\n")]
        room = ax.figure.bbox.width / ax.figure.dpi / 2 - 0.65  # inches for the text of a column
        columns = 2 if max(map(len, lines)) * _CHARACTER <= room else 1
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=columns, borderaxespad=0.2)
    else:
        ax.legend(loc="best", framealpha=0.8)


def set_limits(ax: Axes, x: tuple[float, float], y: tuple[float, float], *, fresh: bool) -> None:
    """The limits of both axes; if something was drawn before, what is seen stays in sight."""
    if not fresh:
        x = min(x[0], ax.get_xlim()[0]), max(x[1], ax.get_xlim()[1])
        y = min(y[0], ax.get_ylim()[0]), max(y[1], ax.get_ylim()[1])
    ax.set(xlim=x, ylim=y)


def is_drawn(ax: Axes, label: str) -> bool:
    """Whether the legend has this label: what two models share is drawn once."""
    return label in ax.get_legend_handles_labels()[1]


# -- estimators -------------------------------------------------------------------------------------------------------

_METHODS = {"auto": ("decision_function", "predict_proba")}


def _chain(estimator: Any) -> list[Any]:
    """The estimator and the learner inside it: the best estimator of a search, the last step of a pipeline."""
    found = [estimator]
    while True:
        inside = getattr(found[-1], "best_estimator_", None)
        if inside is None and getattr(found[-1], "steps", None):
            inside = found[-1].steps[-1][1]
        if inside is None:
            return found
        found.append(inside)


def own_parameter(estimator: Any, parameter: str) -> Any:
    """A parameter of the estimator or of one inside, where it is not None; None if there is none."""
    values = (getattr(one, parameter, None) for one in _chain(estimator))
    return next((value for value in values if value is not None), None)


def _name_of(estimator: Any, name: str | None) -> str:
    """The name for the legend: the given one, or the class of the learner."""
    return type(_chain(estimator)[-1]).__name__ if name is None else name


def costs_of(estimator: Any, given: GivenCosts) -> GivenCosts:
    """The costs that are given; for those that are None, the estimator's own, or 1 for a mistake and 0 otherwise.

    The own ones of a learner with actions or a range are those of its fit, not its parameters, which are not used.
    """
    own: Mapping[str, Any] = {name: own_parameter(estimator, name) for name in COSTS}
    for one in _chain(estimator):
        if isinstance(one, EstimatorContract) and any(
            getattr(one, name, None) is not None for name in ("actions", "cost_range")
        ):
            own = costs_of_fit(one)
    return given.filled(own).filled(DEFAULT_COSTS)


def positive_of(estimator: Any, pos_label: Any) -> Any:
    """The positive class: the given one, the estimator's own, or 1."""
    chosen = own_parameter(estimator, "pos_label") if pos_label is None else pos_label
    classes = _classes(estimator)
    return classes.tolist()[positive_class(classes, chosen, symmetric=False)]


def _scores_of(estimator: Any, X: Any, pos_label: Any, response_method: str, costs: GivenCosts) -> np.ndarray:
    """Scores that rise with the probability of the positive class; ``costs`` are for estimators that need them."""
    from sklearn.utils.validation import _num_samples

    methods = _METHODS.get(response_method, (response_method,))
    known = ("auto", *_METHODS["auto"])
    if response_method not in known:
        raise ParameterError(f"response_method must be one of {', '.join(known)}, got {brief(response_method)}")
    found = next((method for method in methods if hasattr(estimator, method)), None)
    if found is None:
        raise ParameterError(f"{brief(estimator)} has no {' or '.join(methods)}, which this display needs")
    if _needs_costs(estimator, found, costs):
        values = np.asarray(answer_with_costs(estimator, found, X, RowCosts.read(_num_samples(X), **costs)))
    else:
        values = np.asarray(getattr(estimator, found)(X))
    index = _classes(estimator).tolist().index(pos_label)
    if found == "predict_proba":
        return values[:, index]
    return values if index == 1 else -values


def _needs_costs(estimator: Any, method: str, costs: GivenCosts) -> bool:
    """Whether the answer may need costs of rows: a probability after a fit with them, a search that decides by them."""
    if not costs.per_row or not takes_costs(estimator, method):
        return False
    return method == "predict_proba" or own_parameter(estimator, "row_costs_") == "decide"


def default_threshold(rows: Rows, score: np.ndarray) -> float:
    """0 for decision values; for probabilities (all scores lie in [0, 1]) the alpha of the average costs."""
    if score.min() >= 0 and score.max() <= 1:
        return ScaledCosts.of(rows).own_alpha
    return 0.0


def _classes(estimator: Any) -> np.ndarray:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2:
        what = "no classes_" if classes is None else f"{len(classes)} classes"
        raise ParameterError(f"a display needs a fitted classifier of two classes, got {brief(estimator)} with {what}")
    return np.asarray(classes)
