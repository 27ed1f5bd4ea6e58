r"""Which confusions a softmax loss of another library assumes to cost what.

The losses here have the form :math:`\ell_y(p) = \sum_c T_{yc} \, g(p_c)` for probabilities p of a softmax, nonnegative
targets T (one-hot, smoothed, weighted), and one function g that falls strictly. docs/losses-assume.md proves that the
largest probability is then the cheapest action for the costs :math:`C_{ya} = T_{yy} - T_{ya}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import LossError, ParameterError, did_you_mean
from uneven.expression.text import number_text
from uneven.inputs import brief, require_integer, to_float
from uneven.zoo.zoo_loss import Number, decimal

Targets = tuple[tuple[Fraction, ...], ...]
#: From the values of the parameters and the number of classes to the targets.
MakeTargets = Callable[[Mapping[str, Any], int], Targets]


@dataclass(frozen=True)
class EachClass:
    """Positive numbers, one for each class; ``words`` are other values, such as "balanced"."""

    name: str
    default: Any = None
    words: tuple[str, ...] = ()

    def read(self, value: Any, classes: Sequence[Any] | None) -> Any:
        """Fractions, a word or None. A mapping has the names of the classes, or their numbers."""
        if value is None or (isinstance(value, str) and value in self.words):
            return value
        if isinstance(value, Mapping):
            labels = list(classes) if classes is not None else list(range(len(value)))
            strange = [label for label in value if label not in labels]
            if strange:
                raise ParameterError(
                    f"{self.name} has an entry for {brief(strange[0])}, which is none of {brief(labels)}"
                )
            value = [value.get(label, 1) for label in labels]
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, str) or not isinstance(value, Sequence):
            also = "".join(f", or {word!r}" for word in self.words)
            raise ParameterError(
                f"{self.name} must hold a number for each class, such as (1, 10, 5){also}, got {brief(value)}"
            )
        numbers = tuple(decimal(self.name, number) for number in value)
        if len(numbers) < 2 or min(numbers) <= 0:
            raise ParameterError(
                f"{self.name} must hold a positive number for each of two classes or more, got {brief(value)}"
            )
        return numbers


@dataclass(frozen=True)
class SoftmaxLoss:
    """A softmax loss of a library.

    Parameters
    ----------
    name : str
        As its users write it.
    parameters : tuple
    targets : callable
    version : str
        Of the library that was read.
    falls : str
        The function g, as a formula in p.
    remark : str
        What a user should know, as a sentence.
    also_called : tuple of str
    refute : callable
        ``refute(values, count)``: why there is no matrix, or None if theorem W holds.
    """

    name: str
    parameters: tuple[Number | EachClass, ...]
    targets: MakeTargets
    version: str
    falls: str = "-log p"
    remark: str = ""
    also_called: tuple[str, ...] = ()
    refute: Callable[[Mapping[str, Any], int], str | None] = lambda values, count: None


@dataclass(frozen=True)
class ImpliedCostMatrix:
    """The costs of confusions that a softmax loss assumes.

    Attributes
    ----------
    matrix : CostMatrix or None
        What each decision costs in each class above the right one; None if no matrix says it.
    reason : str
        Why.
    exact : bool
        Whether the costs are exact; else they hold a square root that was rounded.
    remark : str
        What a user of the library should know.
    """

    matrix: CostMatrix | None
    reason: str
    exact: bool = True
    remark: str = ""
    targets: Targets = field(default=(), repr=False)

    @property
    def exact_costs(self) -> Targets:
        """The costs as rationals; none if there is no matrix."""
        return _above_the_right_one(self.targets)

    def in_words(self) -> str:
        """What the confusions cost, in a sentence or two."""
        if self.matrix is None:
            return f"This loss assumes no cost matrix: {self.reason}."
        return _describe(self.exact_costs, self.matrix.classes)


def _describe(regrets: Targets, classes: Sequence[Any]) -> str:
    """The costs of the confusions, in units of the cheapest one if all cost something."""
    count = len(classes)
    wrong = {(y, a): regrets[y][a] for y in range(count) for a in range(count) if a != y}
    least = min(wrong.values())
    if max(wrong.values()) == least:
        return "This loss treats all confusions alike."
    if least <= 0:
        y, a = min(wrong, key=lambda pair: wrong[pair])
        verb = "costs nothing" if least == 0 else "costs less than to predict it"
        return (
            f"Where {classes[y]!r} is true, to predict {classes[a]!r} {verb}: this loss never leads to {classes[y]!r} "
            f"where {classes[a]!r} will do."
        )
    if all(len({regrets[y][a] for a in range(count) if a != y}) == 1 for y in range(count)):
        cheap = min(range(count), key=lambda y: regrets[y][y - 1])
        others = [
            f"of {classes[y]!r} {_times(regrets[y][y - 1] / least)} times"
            for y in range(count)
            if y != cheap and regrets[y][y - 1] != least
        ]
        compared = f"{', '.join(others)} as much as of {classes[cheap]!r}"
        return f"A mistake costs what class is true, whatever is predicted: {compared}."
    y, a = max(wrong, key=lambda pair: wrong[pair])
    z, b = min(wrong, key=lambda pair: wrong[pair])
    return (
        f"The costs depend on the prediction, too: {classes[y]!r} taken for {classes[a]!r} costs "
        f"{_times(wrong[y, a] / least)} times as much as {classes[z]!r} taken for {classes[b]!r}, the cheapest "
        "confusion."
    )


def _times(ratio: Fraction) -> str:
    text = number_text(ratio)
    return text if len(text) <= 9 else f"{to_float(ratio):.6g}"


def _above_the_right_one(targets: Targets) -> Targets:
    return tuple(tuple(row[y] - cost for cost in row) for y, row in enumerate(targets))


def implied_cost_matrix(
    loss: str, *, classes: int | Sequence[Any] | None = None, **parameters: Any
) -> ImpliedCostMatrix:
    """Which confusions a softmax loss of another library assumes to cost what.

    Who minimises the loss, and predicts the class with the largest probability, makes the cheapest decisions for
    this matrix: docs/losses-assume.md has the proof.

    Parameters
    ----------
    loss : str
        As its users write it, such as ``"torch.nn.CrossEntropyLoss"``.
    classes : int or sequence of labels, optional
        How many classes there are, or their names; needed if no parameter has a number for each.
    **parameters
        As users of the library write them. A float stands for the decimal number that it prints. ``counts`` are
        the rows of each class, which "balanced" needs. For keras and XGBoost, ``class_weight`` and ``sample_weight``
        are the weights that rows of each class get in ``fit``.

    Returns
    -------
    ImpliedCostMatrix

    Examples
    --------
    >>> import uneven
    >>> name = "sklearn.linear_model.LogisticRegression"
    >>> weights = uneven.implied_cost_matrix(name, class_weight={0: 1, 1: 5, 2: 20})
    >>> weights.matrix.costs.tolist()
    [[0.0, 1.0, 1.0], [5.0, 0.0, 5.0], [20.0, 20.0, 0.0]]
    >>> weights.in_words()
    'A mistake costs what class is true, whatever is predicted: of 1 5 times, of 2 20 times as much as of 0.'

    In PyTorch, label smoothing and weights multiply. A class that is much lighter than another may never be predicted:

    >>> smoothed = uneven.implied_cost_matrix("torch.nn.CrossEntropyLoss", weight=(1, 5, 20), label_smoothing=0.1)
    >>> smoothed.matrix.costs.round(3).tolist()
    [[0.0, 0.767, 0.267], [4.633, 0.0, 4.0], [18.633, 18.5, 0.0]]
    >>> print(smoothed.in_words())    # doctest: +NORMALIZE_WHITESPACE
    The costs depend on the prediction, too: 2 taken for 0 costs 69.875 times as much as 0 taken for 2, the cheapest
    confusion.
    """
    one = _declared(loss)
    labels = _labels(classes)
    values = _read(one, parameters, labels)
    counts = {name: len(value) for name, value in values.items() if isinstance(value, tuple)}
    if labels is not None:
        counts["classes"] = len(labels)
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} {number}" for name, number in counts.items())
        raise ParameterError(f"the parameters speak of different numbers of classes: {said}")
    if not counts:
        raise ParameterError(f"{one.name} needs to know how many classes there are: give classes=3, or their names")
    count = next(iter(counts.values()))
    why_none = one.refute(values, count)
    if why_none is not None:
        return ImpliedCostMatrix(None, why_none, remark=one.remark)
    targets = one.targets(values, count)
    names = list(range(count)) if labels is None else labels
    exact = values.get("auto_class_weights") != "SqrtBalanced"
    reason = (
        f"theorem W: its risk is the sum of targets times {one.falls}, so the class with the largest target is chosen"
    )
    return ImpliedCostMatrix(CostMatrix(_above_the_right_one(targets), names), reason, exact, one.remark, targets)


def _labels(classes: Any) -> list[Any] | None:
    if classes is None:
        return None
    if isinstance(classes, int) and not isinstance(classes, bool):
        require_integer("classes", classes, least=2, wanted="at least two classes")
        return list(range(classes))
    if isinstance(classes, str) or not isinstance(classes, Sequence | np.ndarray) or len(classes) < 2:
        raise ParameterError(f"classes must be a number or at least two names, got {brief(classes)}")
    return [label.item() if isinstance(label, np.generic) else label for label in classes]


def _declared(name: Any) -> SoftmaxLoss:
    if not isinstance(name, str):
        raise ParameterError(f"the name of a loss is a text such as 'torch.nn.CrossEntropyLoss', got {brief(name)}")
    known = _known()
    if name in known:
        return known[name]
    if name in _REFUTED:
        raise LossError(f"{name} assumes no cost matrix that is known: {_REFUTED[name]}")
    hint = did_you_mean(
        name, {one: (one.rpartition(".")[2],) for one in known}, f"known are {', '.join(sorted(known))}"
    )
    raise LossError(f"there is no softmax loss named {brief(name)} here; {hint}")


def _read(one: SoftmaxLoss, given: Mapping[str, Any], labels: list[Any] | None) -> dict[str, Any]:
    known = {parameter.name: parameter for parameter in one.parameters}
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes no parameters here"
            hint = did_you_mean(name, dict.fromkeys(known, ()), takes)
            raise ParameterError(f"{one.name} has no parameter {brief(name)} here; {hint}")
    return {
        name: parameter.read(given.get(name, parameter.default), labels)
        if isinstance(parameter, EachClass)
        else parameter.read(given.get(name, parameter.default))
        for name, parameter in known.items()
    }


# -- targets ----------------------------------------------------------------------------------------------------------


def _one_hot(count: int, smoothing: Fraction = Fraction(0)) -> Targets:
    share = smoothing / count
    return tuple(tuple((1 - smoothing) * (a == y) + share for a in range(count)) for y in range(count))


def _by_row(targets: Targets, weights: Sequence[Fraction] | None) -> Targets:
    """Rows of class y count so much: Keras, scikit-learn, trees."""
    return (
        targets
        if weights is None
        else tuple(tuple(w * t for t in row) for w, row in zip(weights, targets, strict=True))
    )


def _by_column(targets: Targets, weights: Sequence[Fraction] | None) -> Targets:
    """The logarithm of each probability counts so much: PyTorch."""
    return (
        targets
        if weights is None
        else tuple(tuple(w * t for w, t in zip(weights, row, strict=True)) for row in targets)
    )


def _counts(values: Mapping[str, Any], words: str) -> tuple[Fraction, ...]:
    found = values.get("counts")
    if found is None:
        raise ParameterError(f"{words} needs counts, the numbers of rows of the classes such as (900, 80, 20)")
    return tuple(found)


def _weights(name: str) -> MakeTargets:
    """Weights of rows; "balanced" are n/(K n_y)."""

    def make(values: Mapping[str, Any], count: int) -> Targets:
        weights = values[name]
        if weights == "balanced":
            rows = _counts(values, f"{name}='balanced'")
            weights = [sum(rows, Fraction(0)) / (len(rows) * number) for number in rows]
        return _by_row(_one_hot(count, values.get("label_smoothing") or Fraction(0)), weights)

    return make


def _catboost(values: Mapping[str, Any], count: int) -> Targets:
    weights, word = values["class_weights"], values["auto_class_weights"]
    if word is not None:
        if weights is not None:
            raise ParameterError("catboost takes class_weights or auto_class_weights, not both")
        rows = _counts(values, f"auto_class_weights={word!r}")
        weights = [max(rows) / number for number in rows]
        if word == "SqrtBalanced":
            weights = [Fraction(math.sqrt(weight)) for weight in weights]
    return _by_row(_one_hot(count), weights)


def _columns(name: str) -> MakeTargets:
    def make(values: Mapping[str, Any], count: int) -> Targets:
        return _by_column(_one_hot(count, values.get("label_smoothing") or Fraction(0)), values[name])

    return make


def _kornia(values: Mapping[str, Any], count: int) -> Targets:
    """alpha is the factor of all classes but the first, whose factor is 1 - alpha."""
    alpha = values["alpha"]
    plain = _by_column(_one_hot(count), values["weight"])
    return plain if alpha is None else _by_column(plain, [1 - alpha, *[alpha] * (count - 1)])


def _refute_margins(values: Mapping[str, Any], count: int) -> str | None:
    """The sum of hinges of all wrong classes (Weston and Watkins); docs/losses-assume.md has the proof."""
    if count == 2:
        return None  # a margin loss, weighted by the class
    if values["p"] != 1:
        raise LossError("of torch.nn.MultiMarginLoss with p=2 and more than two classes nothing is proved here")
    return (
        "if two classes of three have probabilities, times their weights, between 1/3 and 1/2 of the whole, its lowest "
        "risk is at a tie of these two, whichever is larger; so no matrix fits in which the decision between them "
        "matters"
    )


_SMOOTHING = Number("label_smoothing", 0, at_least=0, below=1)
_GAMMA = Number("gamma", 2, at_least=0)
_FOCAL = "-(1 - p)**gamma log p"
_COUNTS = EachClass("counts")
_COLUMNS = "Weight and smoothing multiply: each class gets a share of the smoothing times its own weight."
_ROWS = "Smoothing changes no decision: all classes get the same share of it."

_LOSSES = (
    SoftmaxLoss(
        "torch.nn.CrossEntropyLoss",
        (EachClass("weight"), _SMOOTHING),
        _columns("weight"),
        "2.13.0",
        remark=_COLUMNS,
        also_called=("torch.nn.functional.cross_entropy",),
    ),
    SoftmaxLoss("torch.nn.NLLLoss", (EachClass("weight"),), _columns("weight"), "2.13.0", remark="After log_softmax."),
    SoftmaxLoss(
        "torch.nn.MultiMarginLoss",
        (EachClass("weight"), Number("p", 1, at_least=1, at_most=2), Number("margin", 1, above=0)),
        _weights("weight"),
        "2.13.0",
        falls="a convex function of the margin",
        remark="It has no probabilities: the decision is the largest score.",
        refute=_refute_margins,
    ),
    SoftmaxLoss(
        "keras.losses.CategoricalCrossentropy",
        (EachClass("class_weight"), _SMOOTHING),
        _weights("class_weight"),
        "3.15.1",
        remark=_ROWS,
    ),
    SoftmaxLoss(
        "keras.losses.SparseCategoricalCrossentropy", (EachClass("class_weight"),), _weights("class_weight"), "3.15.1"
    ),
    SoftmaxLoss(
        "keras.losses.CategoricalFocalCrossentropy",
        (EachClass("alpha"), _GAMMA, _SMOOTHING),
        _columns("alpha"),
        "3.15.1",
        falls=_FOCAL,
        remark=f"One number alpha, the default 0.25, changes nothing. {_COLUMNS}",
    ),
    SoftmaxLoss(
        "optax.losses.softmax_cross_entropy",
        (EachClass("sample_weight"), _SMOOTHING),
        _weights("sample_weight"),
        "0.2.8",
        remark=f"label_smoothing is the alpha of optax.smooth_labels. {_ROWS}",
        also_called=("optax.softmax_cross_entropy", "optax.losses.softmax_cross_entropy_with_integer_labels"),
    ),
    SoftmaxLoss(
        "optax.losses.poly_loss_cross_entropy",
        (EachClass("sample_weight"), Number("epsilon", 2, above=-1)),
        _weights("sample_weight"),
        "0.2.8",
        falls="-log p + epsilon (1 - p)",
        also_called=("optax.poly_loss_cross_entropy",),
    ),
    SoftmaxLoss(
        "sklearn.linear_model.LogisticRegression",
        (EachClass("class_weight", words=("balanced",)), _COUNTS),
        _weights("class_weight"),
        "1.9.1",
        also_called=("sklearn.ensemble.HistGradientBoostingClassifier",),
    ),
    SoftmaxLoss(
        "xgboost.XGBClassifier",
        (EachClass("sample_weight"),),
        _weights("sample_weight"),
        "3.2.0",
        remark="The objective is multi:softprob. scale_pos_weight has no effect with more than two classes.",
    ),
    SoftmaxLoss(
        "lightgbm.LGBMClassifier",
        (EachClass("class_weight", words=("balanced",)), _COUNTS),
        _weights("class_weight"),
        "4.7.0",
        remark="The objective is multiclass; is_unbalance and scale_pos_weight have no effect on it.",
    ),
    SoftmaxLoss(
        "catboost.CatBoostClassifier",
        (EachClass("class_weights"), EachClass("auto_class_weights", words=("Balanced", "SqrtBalanced")), _COUNTS),
        _catboost,
        "1.2.10",
        remark="The loss function is MultiClass.",
    ),
    SoftmaxLoss(
        "kornia.losses.focal_loss",
        (Number("alpha", None, above=0, below=1), _GAMMA, EachClass("weight")),
        _kornia,
        "0.9.0",
        falls=_FOCAL,
        remark="alpha is the factor of all classes but the first, whose factor is 1 - alpha.",
    ),
)

#: Softmax losses to which theorem W does not apply, and why.
_REFUTED = {
    "fastai.losses.FocalLoss": (
        "the focal factor is computed from the weighted cross entropy, so each class has a function of its own; for "
        "two classes uneven.implied_alpha proves its costs, for more nothing is proved"
    ),
}


@lru_cache(maxsize=1)
def _known() -> dict[str, SoftmaxLoss]:
    return {name: one for one in _LOSSES for name in (one.name, *one.also_called)}


def softmax_losses() -> tuple[SoftmaxLoss, ...]:
    """All softmax losses that are known here."""
    return _LOSSES
