"""Which parameters, or which threshold on the score, give a loss of another library one's own costs.

If a loss is calibrated for alpha with the threshold c, then at P(Y = 1) = alpha both decisions have the same smallest
expected loss, so c is a minimiser of C(alpha, .) or lies between two. Floats find the minimiser; the prover decides
about the loss that is moved there. If C(alpha, .) has one minimiser, no other threshold is possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from uneven.calibration import implied_alpha
from uneven.calibration.implied_costs import costs_in_words
from uneven.calibration.search.prover import decide
from uneven.calibration.trusted.claims import (
    CALIBRATED,
    CALIBRATED_OR_ROUNDED,
    NOT_CALIBRATED,
    ROUNDING,
    UNDECIDED,
    UP_TO_ROUNDING,
)
from uneven.errors import CostError, UnevenError
from uneven.expression import substitute, to_text
from uneven.expression.algebra import add
from uneven.expression.text import number_text
from uneven.expression.tree import Number, T
from uneven.inputs import Exact, between_0_and_1, positive, to_float
from uneven.losses import Loss
from uneven.zoo.catalogue import built, declared, outside, read
from uneven.zoo.zoo_loss import REQUIRED, Knob, ZooLoss, decimal, shown

_GRID = np.unique(np.concatenate([np.linspace(-40, 40, 3201), -np.geomspace(40, 1e4, 200), np.geomspace(40, 1e4, 200)]))


@dataclass(frozen=True)
class Threshold:
    """A threshold, and the loss as a function of the score minus it, about which the prover decided ``status``."""

    point: Fraction
    loss: Loss
    status: str


@dataclass(frozen=True)
class NoThreshold:
    """Why there is no threshold, as a clause; ``status`` is "undecided" if there may be one."""

    reason: str
    status: str = NOT_CALIBRATED


def threshold_for(loss: Loss, alpha: Fraction) -> Threshold | NoThreshold:
    """The threshold that makes a loss calibrated for alpha, or why there is none.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import uneven
    >>> from uneven.zoo.parameters_for import threshold_for
    >>> threshold_for(uneven.Loss("relu(1 - t)**2", "relu(1 + t)**2"), Fraction(1, 11)).point
    Fraction(-9, 11)
    """
    if not loss.symbolic:
        return NoThreshold("a threshold is proved only for losses written as expressions", UNDECIDED)
    if np.ptp(loss.conditional_risk(float(alpha), _GRID)) == 0:
        return NoThreshold("its loss does not depend on the score")
    place = _minimiser(loss, float(alpha))
    if place is None:
        return NoThreshold(
            "where P(Y = 1) is alpha its loss is smallest at infinite scores, so no threshold separates the decisions"
        )
    simple = Fraction(place).limit_denominator(10**6)
    candidates = [simple] if abs(float(simple) - place) < 1e-14 * (1 + abs(place)) else []
    for point in (*candidates, Fraction(place)):
        moved = _shift(loss, point)
        status = None if moved is None else _proved_status(moved, alpha)
        if moved is not None and status is not None:
            return Threshold(point, moved, status)
    tied = _shift(loss, candidates[0]) if candidates else None
    if tied is not None and decide(tied).claim.only.kind == "none":
        return NoThreshold(
            f"no threshold can: where P(Y = 1) is alpha its loss is smallest at t = {to_float(candidates[0]):.6g}, "
            "a kink that many values of P(Y = 1) share (proved)"
        )
    return NoThreshold(f"the only possible threshold, {place:.6g}, is not proved to give these costs", UNDECIDED)


def _minimiser(loss: Loss, alpha: float) -> float | None:
    """Where C(alpha, .) is smallest; None if that is at infinity."""
    risk = np.asarray(loss.conditional_risk(alpha, _GRID))
    k = int(np.argmin(risk))
    ends = loss.conditional_risk(alpha, np.array([-np.inf, np.inf]))
    if k in (0, _GRID.size - 1) or min(ends) <= risk[k]:
        return None
    low, high = float(_GRID[k - 1]), float(_GRID[k + 1])
    for _ in range(200):
        middle = low / 2 + high / 2
        if middle in (low, high):
            break
        slope = alpha * loss.slope(1, middle) + (1 - alpha) * loss.slope(-1, middle)
        low, high = (low, middle) if slope > 0 else (middle, high)
    return low / 2 + high / 2


def _shift(loss: Loss, point: Fraction) -> Loss | None:
    """The loss as a function of the score minus the threshold; None if the expressions would be too long."""
    place = {"t": add(T, Number(point))}
    try:
        return Loss(*(to_text(substitute(partial.tree, place)) for partial in loss.partials))
    except UnevenError:
        return None


def _proved_status(loss: Loss, alpha: Fraction) -> str | None:
    """What is proved about alpha, if it is the alpha of the loss, perhaps up to the rounding of the threshold."""
    claim = decide(loss, alpha).claim
    if claim.status in CALIBRATED_OR_ROUNDED:
        return claim.status
    if claim.only.interval is not None:
        low, high = claim.only.interval
        if max(abs(alpha - low), abs(alpha - high)) <= ROUNDING * min(alpha, 1 - alpha):
            return UP_TO_ROUNDING
    return None


@dataclass(frozen=True)
class Recipe:
    """What to pass to a loss of another library so that it assumes given costs; made by :func:`parameters_for`.

    Attributes
    ----------
    name : str
        The loss.
    alpha : Fraction
        The costs: a false positive costs alpha, a false negative 1 - alpha.
    parameters : dict or None
        What to pass to the loss, as exact numbers; None if nothing gives it these costs.
    threshold : float
        Predict positive where the score is above this. It is 0 unless only a threshold can do it.
    status : str
        The prover's verdict about the loss with these parameters and this threshold: ``"calibrated"``,
        ``"calibrated up to rounding"`` or, without parameters, ``"not calibrated"`` or ``"undecided"``.
    reason : str
        Why there are no such parameters, or why the threshold must move.
    loss : Loss or None
        The loss with these parameters, moved so that its threshold is 0; :func:`uneven.certify` proves it for alpha.
    """

    name: str
    alpha: Fraction
    parameters: dict[str, Any] | None
    threshold: float = 0.0
    status: str = "not calibrated"
    reason: str = ""
    loss: Loss | None = field(default=None, repr=False)

    def in_words(self) -> str:
        """One or two sentences."""
        costs = f"{costs_in_words(self.alpha)} (alpha = {number_text(self.alpha)})"
        if self.parameters is None and self.status == UNDECIDED:
            return f"No parameter and no threshold is proved to make {self.name} assume that {costs}: {self.reason}."
        if self.parameters is None:
            return f"No parameter and no threshold make {self.name} assume that {costs}: {self.reason}."
        given = ", ".join(f"{key}={shown(value)}" for key, value in self.parameters.items())
        verdict = "proved" if self.status == CALIBRATED else "proved up to rounding"
        if self.threshold == 0:
            return f"{self.name}({given}) assumes that {costs}: {verdict}."
        moved = f"predict positive where the score is above {self.threshold:.12g}"
        return f"With {self.name}({given}), {moved}: then {costs}, {verdict}. The reason: {self.reason}."


def parameters_for(name: str, /, *, fp_cost: Exact, fn_cost: Exact, **parameters: Any) -> Recipe:
    """Which weight, alpha or threshold gives a loss of another library one's own costs.

    Parameters
    ----------
    name : str
        A loss of :func:`uneven.zoo.names`.
    fp_cost, fn_cost : positive numbers
        A float stands for the decimal number that it prints, as in :func:`uneven.zoo.loss`.
    **parameters
        Parameters of the loss that you have chosen already, such as ``label_smoothing=0.1``.

    Returns
    -------
    Recipe
        Exact where the alpha of the loss is; the prover has decided about the loss with these parameters. If nothing
        gives it these costs, ``parameters`` is None and ``reason`` says why.

    Examples
    --------
    >>> import uneven
    >>> uneven.zoo.parameters_for("torch.nn.CrossEntropyLoss", fp_cost=1, fn_cost=10, label_smoothing=0.1).parameters
    {'label_smoothing': Fraction(1, 10), 'weight': (1, Fraction(191, 29))}
    >>> uneven.zoo.parameters_for("torchvision.ops.sigmoid_focal_loss", fp_cost=1, fn_cost=10).parameters
    {'alpha': Fraction(10, 11)}
    >>> print(uneven.zoo.parameters_for("optax.losses.sigmoid_binary_cross_entropy", fp_cost=1, fn_cost=10).in_words())
    With optax.losses.sigmoid_binary_cross_entropy(), predict positive where the score is above -2.30258509299: then a
    false negative costs 10 times a false positive (alpha = 1/11), proved up to rounding. The reason: no parameter of it
    sets the costs.
    >>> uneven.zoo.parameters_for("optax.losses.hinge_loss", fp_cost=1, fn_cost=10).parameters is None
    True
    """
    costs = [decimal(key, cost) for key, cost in (("fp_cost", fp_cost), ("fn_cost", fn_cost))]
    fp, fn = (positive(key, cost, CostError) for key, cost in zip(("fp_cost", "fn_cost"), costs, strict=True))
    alpha = between_0_and_1("alpha", fp / (fp + fn), CostError)
    if isinstance(name, str) and name in outside():
        return Recipe(name, alpha, None, reason=outside()[name])
    one = declared(name)
    knob = one.knob
    if knob is None:
        return _move_threshold(one, alpha, parameters, "no parameter of it sets the costs")
    taken = next((key for key in (knob.parameter, *knob.also) if _is_taken(one, knob, key, parameters)), None)
    if taken is not None:
        return _move_threshold(one, alpha, parameters, f"{taken} is chosen already")
    return _turn_knob(one, knob, alpha, parameters)


def _is_taken(one: ZooLoss, knob: Knob, key: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a user has chosen a value that leaves the knob no room."""
    if parameters.get(key) is None:
        return False
    parameter = next(parameter for parameter in one.parameters if parameter.name == key)
    return key not in knob.also or parameter.read(parameters[key]) != parameter.read(knob.also[key])


def _turn_knob(one: ZooLoss, knob: Knob, alpha: Fraction, parameters: Mapping[str, Any]) -> Recipe:
    """The weight that gives the loss these costs."""
    given = {**{key: value for key, value in parameters.items() if key != knob.parameter}, **knob.also}
    neutral = read(one, {**_required(one), **given, knob.parameter: knob.value(Fraction(1))})
    fixed = {
        key: value for key, value in neutral.items() if key in {**_required(one), **given} and key != knob.parameter
    }
    rounded = False
    if knob.weight is not None:
        weight = knob.weight(alpha, neutral)
    else:
        implied = implied_alpha(built(one, neutral))
        found = implied.weight_for(alpha)
        if found is None:
            return _move_threshold(
                one, alpha, parameters, "weights cannot repair a loss that is calibrated for no costs"
            )
        weight, rounded = found, implied.exact is None
    value = knob.value(weight)
    answer = {**fixed, knob.parameter: _as_decimals(value) if rounded else value}
    loss = built(one, read(one, answer))
    status = decide(loss, alpha).claim.status
    if status in CALIBRATED_OR_ROUNDED:
        return Recipe(one.name, alpha, answer, 0.0, status, "", loss)
    return _move_threshold(one, alpha, parameters, f"{knob.parameter} does not set its costs here")


def _as_decimals(value: Any) -> Any:
    """The value rounded to doubles, which are shorter to write."""
    return tuple(map(_as_decimals, value)) if isinstance(value, tuple) else decimal("value", float(value))


def _required(one: ZooLoss) -> dict[str, Any]:
    """Parameters without a default, with the values of the first case."""
    return {
        parameter.name: one.cases[0].parameters[parameter.name]
        for parameter in one.parameters
        if parameter.default == REQUIRED
    }


def _move_threshold(one: ZooLoss, alpha: Fraction, parameters: Mapping[str, Any], why: str) -> Recipe:
    """The threshold that gives the loss these costs, with its parameters as they are."""
    values = read(one, {**_required(one), **parameters})
    kept = {key: values[key] for key in {**_required(one), **parameters}}
    loss = built(one, values)
    status = decide(loss, alpha).claim.status
    if status in CALIBRATED_OR_ROUNDED:
        return Recipe(one.name, alpha, kept, 0.0, status, "", loss)
    found = threshold_for(loss, alpha)
    if isinstance(found, NoThreshold):
        return Recipe(one.name, alpha, None, status=found.status, reason=f"{why}, and {found.reason}")
    return Recipe(one.name, alpha, kept, float(found.point), found.status, why, found.loss)
