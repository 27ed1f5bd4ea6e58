"""Questions of the page: reading them, refusing them beside the field that is wrong, and numbers as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from uneven import inputs, zoo
from uneven.app.explorer.mathml import to_mathml
from uneven.errors import ExpressionError, UnevenError
from uneven.expression import parse
from uneven.expression.tree import MAX_CHARACTERS
from uneven.losses import Loss, Phi, UnevenMarginLoss, phi
from uneven.losses.registry import declared


class Refusal(Exception):
    """A question that has no answer, with the reason.

    Attributes
    ----------
    message : str
    field : str or None
        The field of the page that is wrong.
    column : int or None
        Where in the text of the field, counted from 1.
    """

    def __init__(self, message: str, field: str | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message, self.field, self.column = " ".join(message.split()), field, column

    def to_dict(self) -> dict[str, Any]:
        """What the page gets."""
        return {"error": self.message, "field": self.field, "column": self.column}


@contextmanager
def in_field(name: str) -> Iterator[None]:
    """Errors of bad input in this block belong to a field of the page."""
    try:
        yield
    except UnevenError as error:
        column = error.column if isinstance(error, ExpressionError) else None
        raise Refusal(str(error), name, column) from None


# -- numbers as JSON: short, and null where there is no finite one -----------------------------------------------------

#: Digits that a picture can show.
_DIGITS = 6


def round_numbers(values: Any) -> list[float | None]:
    """Numbers for a picture, rounded to six digits.

    Examples
    --------
    >>> from uneven.app.explorer.questions import round_numbers
    >>> round_numbers([1 / 3, float("inf")])
    [0.333333, None]
    """
    numbers = np.asarray(values, dtype=float).ravel().tolist()
    return [float(f"{x:.{_DIGITS}g}") if math.isfinite(x) else None for x in numbers]


def finite_or_none(value: float) -> float | None:
    """A number to be read as it is; None if it is not finite."""
    return float(value) if math.isfinite(value) else None


# -- a loss and the costs it should be right for -----------------------------------------------------------------------

#: How a loss can be chosen: a registered phi, a phi as text, both partial losses as texts, a loss of another library.
KINDS = ("phi", "own", "pair", "zoo")
_FIELDS = frozenset(
    (
        "kind",
        "phi",
        "parameters",
        "text",
        "positive",
        "negative",
        "zoo",
        "gamma",
        "beta",
        "alpha",
        "fp",
        "fn",
        "weighted",
    )
)
_LONGEST_NUMBER = 60  # characters


@dataclass(frozen=True)
class Question:
    """A loss and an alpha.

    Attributes
    ----------
    loss : Loss
        Weighted by the costs, if that was asked for.
    plain : Loss
        Without these weights.
    phi : Phi or None
        Of an uneven margin loss.
    alpha : Fraction
        Cost parameter: a false alarm costs alpha, a miss 1 - alpha.
    weighted : bool
    """

    loss: Loss
    plain: Loss
    phi: Phi | None
    alpha: Fraction
    weighted: bool


def read_question(data: Any) -> Question:
    """The question in the data that a page sent; a :class:`Refusal` names the field that is wrong."""
    given = _read_fields(data)
    function = _read_phi(given)
    plain = _read_loss(given, function)
    alpha = _read_alpha(given)
    weighted = given.get("weighted", True)
    if not isinstance(weighted, bool):
        raise Refusal("weighted must be true or false", "weighted")
    with in_field("weighted"):
        loss = plain.weighted(alpha) if weighted else plain
    return Question(loss, plain, function, alpha, weighted)


def read_phi(data: Any) -> Phi | None:
    """The phi in the data; None for losses that are no uneven margin losses."""
    return _read_phi(_read_fields(data))


def _read_fields(data: Any) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise Refusal("a question is a JSON object")
    unknown = sorted(set(data) - _FIELDS)
    if unknown:
        raise Refusal(f"there is no field {inputs.brief(unknown[0])} in a question")
    if data.get("kind") not in KINDS:
        raise Refusal(f"kind must be one of {', '.join(KINDS)}, got {inputs.brief(data.get('kind'))}", "kind")
    return data


def _text(given: Mapping[str, Any], field: str, longest: int = MAX_CHARACTERS) -> str:
    value = given.get(field)
    if not isinstance(value, str):
        raise Refusal(f"{field} must be a text, got {inputs.brief(value)}", field)
    if len(value) > longest:
        raise Refusal(f"this has {len(value):,} characters; at most {longest:,} are allowed", field)
    return value


def _number(given: Mapping[str, Any], field: str) -> str:
    text = _text(given, field, _LONGEST_NUMBER).strip()
    if not text:
        raise Refusal("a number is missing here, such as 2, 0.5 or 1/3", field)
    return text


def _read_phi(given: Mapping[str, Any]) -> Phi | None:
    if given["kind"] == "own":
        with in_field("text"):
            return phi(_text(given, "text"))
    if given["kind"] != "phi":
        return None
    parameters = given.get("parameters") or {}
    if not isinstance(parameters, dict) or len(parameters) > 8:
        raise Refusal("parameters must be an object of numbers by name", "phi")
    name = _text(given, "phi", 80)
    with in_field("phi"):
        declared(name)  # an error for what is no name: formulas have a field of their own
        return phi(name, **{key: _number(parameters, key) for key in parameters})


def _read_loss(given: Mapping[str, Any], function: Phi | None) -> Loss:
    if given["kind"] == "pair":
        texts = {field: _text(given, field) for field in ("positive", "negative")}
        for field, text in texts.items():
            with in_field(field):
                Loss(text, text)  # an error belongs to the field that has it
        with in_field("positive"):
            return Loss(texts["positive"], texts["negative"])
    if given["kind"] == "zoo":
        with in_field("zoo"):
            return zoo.loss(_text(given, "zoo", 200))
    assert function is not None
    with in_field("gamma"):
        gamma = inputs.positive("gamma", _number(given, "gamma"))
    beta = None
    if given.get("beta") is not None:
        with in_field("beta"):
            beta = inputs.positive("beta", _number(given, "beta"))
    with in_field("gamma"):
        return UnevenMarginLoss(function, gamma=gamma, beta=beta)


def _read_alpha(given: Mapping[str, Any]) -> Fraction:
    if given.get("alpha") is not None:
        with in_field("alpha"):
            return inputs.between_0_and_1("alpha", _number(given, "alpha"))
    costs = {}
    for field, words in (("fp", "the cost of a false alarm"), ("fn", "the cost of a miss")):
        with in_field(field):
            costs[field] = inputs.positive(words, _number(given, field))
    return costs["fp"] / (costs["fp"] + costs["fn"])


def formula(data: Any) -> dict[str, Any]:
    """The text as MathML, as written: nothing is simplified, and it need not be a loss yet."""
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise Refusal("a formula is a JSON object with a text")
    with in_field(str(data.get("field", "text"))[:20]):
        return {"mathml": to_mathml(parse(data["text"]))}
