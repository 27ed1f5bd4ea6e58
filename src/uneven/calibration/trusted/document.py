"""The JSON document of a certificate: write it, and read its fields, its loss and its steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from uneven.calibration.trusted.claims import KINDS, Claim, claim_data, number, read_claim, read_number, statement
from uneven.calibration.trusted.formulas import PartialFormula
from uneven.calibration.trusted.rules import Rules
from uneven.calibration.trusted.steps import Floor, Step, read_step
from uneven.errors import CertificateError, UnevenError
from uneven.expression import parse, simplify, to_text
from uneven.expression.algebra import mul
from uneven.expression.tree import Number

SCHEMA = "uneven-certificate/1"
MAX_CHARACTERS = 5_000_000


#: The theorem behind each method, by the method's name in the document.
THEOREMS = {
    "convex": "Theorem 4 and corollary 2: convex partial losses, both differentiable at 0 with L1'(0) < 0 < L-1'(0), "
    "are calibrated for the alpha that balances the two slopes, and for no other.",
    "tangential": "Theorem T: if L1(t) >= L1(0) for t <= 0, L-1(t) >= L-1(0) for t >= 0, L1'(0) < 0 < L-1'(0), and "
    "t = 0 minimises C(alpha, .) with slope 0, the loss is alpha-CC.",
    "transversal": "Theorem D: alpha-CC iff A > B for eta below alpha and A < B above it. A and B are concave in eta, "
    "and A - B changes its sign once.",
    "convex tie": "Theorem 4: a convex loss that is calibrated is differentiable at 0 with L1'(0) < 0 < L-1'(0).",
    "order": "Theorem D: alpha-CC iff A > B for eta below alpha and A < B above it; at the eta of this proof, A and B "
    "have the wrong order.",
    "none": "No theorem could be applied.",
}


def write_loss(positive: PartialFormula, negative: PartialFormula) -> dict[str, Any]:
    """Both partial losses as the JSON holds them."""
    return {"positive": _write_partial(positive), "negative": _write_partial(negative)}


def _write_partial(partial: PartialFormula) -> dict[str, str]:
    return {
        "function": to_text(partial.function),
        "weight": number(partial.weight),
        "scale": number(partial.scale),
    }


def write_document(
    loss: dict[str, Any],
    method: str,
    steps: list[dict[str, Any]],
    claim: Claim,
    bits: int,
    psi: dict[str, Any] | None = None,
) -> str:
    """The certificate of a claim, with the loss and the steps of the proof."""
    data = claim_data(claim)
    document = {
        "schema": SCHEMA,
        "status": KINDS[claim.kind][0],
        "statement": statement(data),
        "theorem": THEOREMS[method],
        "method": method,
        "claim": data,
        "loss": loss,
        "bits": bits,
        "steps": steps,
        "psi": psi,
    }
    return _lay_out(document)


def _lay_out(document: dict[str, Any]) -> str:
    """JSON with one line per field, step and node, so that a person can read it and a diff is short."""
    return "{\n" + ",\n".join(_write_field(key, value, "  ") for key, value in document.items()) + "\n}\n"


def _write_field(key: str, value: Any, indent: str) -> str:
    if key == "psi" and value is not None:
        inner = ",\n".join(_write_field(name, part, indent + "  ") for name, part in value.items())
        return f'{indent}"psi": {{\n{inner}\n{indent}}}'
    if isinstance(value, list) and value:
        items = ",\n".join(f"{indent}  {json.dumps(item)}" for item in value)
        return f"{indent}{json.dumps(key)}: [\n{items}\n{indent}]"
    return f"{indent}{json.dumps(key)}: {json.dumps(value)}"


S = TypeVar("S", bound=Step)
_ZERO = Fraction(0)
_FIELDS = {"schema", "status", "statement", "theorem", "method", "claim", "loss", "bits", "steps", "psi"}
_BITS = range(64, 4097)
_MOST_WORK = 500_000_000  # characters times bits; up to here, checking takes seconds


def read_document(text: str) -> dict[str, Any]:
    """The document; its fields are checked, and its sentences compared with what they must be."""
    if not isinstance(text, str):
        raise CertificateError(
            f"a certificate or its JSON text is needed, got a {type(text).__name__}", unreadable=True
        )
    if len(text) > MAX_CHARACTERS:
        raise CertificateError(
            f"a certificate may have at most {MAX_CHARACTERS} characters, and this one has more", unreadable=True
        )
    try:
        document = json.loads(text, object_pairs_hook=_without_repeats)
    except CertificateError:
        raise
    except (ValueError, RecursionError) as error:  # ValueError also for an integer with thousands of digits
        raise CertificateError(f"this is not JSON: {error}", unreadable=True) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise CertificateError(f"this is not a certificate of the schema {SCHEMA}", unreadable=True)
    if set(document) != _FIELDS:
        raise CertificateError(f"a certificate has the fields {', '.join(sorted(_FIELDS))} and no others")
    claim = read_claim(document["claim"])
    status = KINDS[claim.kind][0]
    if document["status"] != status:
        raise CertificateError(f"the status of a claim {claim.kind!r} must be {status!r}")
    if (
        not isinstance(document["method"], str)
        or document["method"] not in THEOREMS
        or document["theorem"] != THEOREMS[document["method"]]
    ):
        raise CertificateError("the theorem is not that of the method")
    if document["statement"] != statement(document["claim"]):
        raise CertificateError("the statement does not say what the claim says")
    if type(document["bits"]) is not int or document["bits"] not in _BITS:
        raise CertificateError(f"bits must be a whole number from {_BITS.start} to {_BITS.stop - 1}")
    if len(text) * document["bits"] > _MOST_WORK:
        raise CertificateError(
            f"at {document['bits']} bits a certificate may have at most {_MOST_WORK // document['bits']} characters"
        )
    if not isinstance(document["steps"], list):
        raise CertificateError("steps must be a list")
    return document


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise CertificateError("a field is given twice")
    return found


def accept_any(function: str) -> None:
    """Refuse no formula."""


def read_loss(data: Any, refuse: Callable[[str], object] = accept_any) -> tuple[PartialFormula, PartialFormula]:
    """The two partial losses, each weight * function(scale * t), parsed from their texts.

    ``refuse`` is called with the text of each function. It may raise an :class:`UnevenError`, and can do nothing else.
    """
    if not isinstance(data, dict) or set(data) != {"positive", "negative"}:
        raise CertificateError("the loss must have two fields, 'positive' and 'negative'")
    return _read_partial(data["positive"], refuse), _read_partial(data["negative"], refuse)


def _read_partial(data: Any, refuse: Callable[[str], object]) -> PartialFormula:
    if not isinstance(data, dict) or set(data) != {"function", "weight", "scale"}:
        raise CertificateError("a partial loss must have the fields 'function', 'weight' and 'scale'")
    weight, scale = read_number(data["weight"]), read_number(data["scale"])
    if weight <= 0 or scale == 0:
        raise CertificateError("a weight must be positive, and a scale must not be 0")
    text = data["function"]
    try:
        refuse(text)
        written = parse(text)
        partial = PartialFormula(simplify(written), weight, scale)
        canonical = to_text(partial.function)
        to_text(mul(Number(weight), partial.unweighted))  # raises an error if it has too many digits
    except UnevenError as error:
        raise CertificateError(f"a partial loss is not a loss: {error}") from None
    # What simplifying changes could be defined where the formula as written is not: log(t) - log(t) is 0.
    if canonical != text or written != partial.function:
        raise CertificateError(f"a function must be in its canonical form, {canonical!r}")
    return partial


class Steps:
    """The steps in order. Each step is checked when it is taken."""

    def __init__(self, data: list[Any], rules: Rules) -> None:
        self._data = data
        self.rules = rules
        self._taken = 0

    def fail(self, message: str) -> CertificateError:
        """An error that names the step taken last."""
        return CertificateError(f"step {self._taken}: {message}", self._taken)

    def peek(self) -> Step | None:
        if self._taken == len(self._data):
            return None
        try:
            return read_step(self._data[self._taken])
        except CertificateError as error:
            self._taken += 1
            raise self.fail(str(error)) from None

    def take(self, kind: type[S], **expected: object) -> S:
        """The next step. It must be of this kind, have these fields, and hold."""
        step = self.peek()
        self._taken += 1
        if not isinstance(step, kind):
            given = "there is none" if step is None else f"the step is {step.name!r}"
            raise self.fail(f"the method needs a step {kind.name!r} here, but {given}")
        if isinstance(step, Floor):
            expected.setdefault("start", _ZERO)
        for field, value in expected.items():
            if getattr(step, field) != value:
                needed, given = _shown(value), _shown(getattr(step, field))
                raise self.fail(f"the method needs {field} = {needed} in this step {kind.name!r}, got {given}")
        try:
            step.check(self.rules)
        except CertificateError as error:
            raise self.fail(f"{kind.name}: {error}") from None
        return step

    def require_end(self) -> None:
        if self._taken != len(self._data):
            self._taken += 1
            raise self.fail("the method needs no further step")


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    text = "F(0)" if value is None else number(value) if isinstance(value, Fraction | float) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
