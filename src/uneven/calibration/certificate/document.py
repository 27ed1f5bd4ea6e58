"""What a certificate is: a JSON document with exact numbers, and the sentences that go with its claims."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from uneven import _inputs
from uneven._inputs import Exact
from uneven.calibration.claim import NO_ALPHA, UNKNOWN_ALPHA, Claim, OnlyAlpha
from uneven.errors import CertificateError
from uneven.expression import to_text
from uneven.expression.text import number_text
from uneven.losses import Loss, Phi
from uneven.losses.partial import Partial

SCHEMA = "uneven-certificate/1"
PROVED, REFUTED, UNDECIDED = "proved", "refuted", "undecided"
MAX_CHARACTERS = 5_000_000
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]{1,4})?(?:/[0-9]+)?")
_MOST_CHARACTERS = 4000
_MOST_BITS = 12_000  # two doubles multiplied have 4,200 at most

ClaimData = dict[str, Any]  # a claim as it stands in the JSON


def number(value: Fraction | float) -> str:
    """An exact number, or an infinite end, as it stands in the document."""
    if isinstance(value, float):
        return "inf" if value > 0 else "-inf"
    return number_text(value)


def read_number(text: Any) -> Fraction:
    """An exact number of the document, in the one way that it is written there."""
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS or not _NUMBER.fullmatch(text):
        raise CertificateError(f"an exact number such as '1/3' or '0.25' is needed, got {str(text)[:60]!r}")
    try:
        value = Fraction(text)
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
            raise CertificateError(f"a number has at most {_MOST_BITS} bits, got {text[:60]!r}")
        canonical = number_text(value)
    except ZeroDivisionError:
        raise CertificateError(f"{text[:60]!r} divides by 0") from None
    except ValueError:
        raise CertificateError(f"an exact number such as '1/3' or '0.25' is needed, got {text[:60]!r}") from None
    if canonical != text:
        raise CertificateError(f"{text[:60]!r} is written {canonical[:60]!r} in a certificate")
    return value


def read_end(text: Any) -> Fraction | float:
    """An end of a cell: an exact number, 'inf' or '-inf'."""
    if text in ("inf", "-inf"):
        return math.inf if text == "inf" else -math.inf
    return read_number(text)


#: What each method rests on, by its name in the document.
THEOREMS = {
    "convex": "Theorem 4 and corollary 2: convex partial losses, both differentiable at 0 with L1'(0) < 0 < L-1'(0), "
    "are calibrated for the alpha that balances the two slopes, and for no other.",
    "tangential": "Theorem T: if L1(t) >= L1(0) for t <= 0, L-1(t) >= L-1(0) for t >= 0, L1'(0) < 0 < L-1'(0), and "
    "t = 0 minimises C(alpha, .) with slope 0, the loss is alpha-CC.",
    "transversal": "Theorem D: alpha-CC iff A > B below alpha and A < B above it. The sides are concave in eta; they "
    "change places once.",
    "convex tie": "Theorem 4: a convex loss that is calibrated is differentiable at 0 with L1'(0) < 0 < L-1'(0).",
    "order": "Theorem D: alpha-CC iff A > B below alpha and A < B above it; at the eta of this proof they have the "
    "wrong order.",
    "none": "No theorem could be applied.",
}


def statement(claim: ClaimData) -> str:
    """The claim in words."""
    match claim["kind"]:
        case "calibrated":
            return f"The loss is calibrated for alpha = {claim['alpha']} and for no other alpha."
        case "calibrated within":
            text = f"The loss is calibrated for exactly one alpha, which lies in [{claim['low']}, {claim['high']}]."
            if claim["alpha"] is not None:
                text += (
                    f" For alpha = {claim['alpha']} the cost regret exceeds what the loss guarantees for its own alpha "
                    f"by at most {claim['extra_regret']}."
                )
            return text
        case "calibrated elsewhere":
            where = claim["low"] if claim["low"] == claim["high"] else f"an alpha in [{claim['low']}, {claim['high']}]"
            return (
                f"The loss is not calibrated for alpha = {claim['alpha']}: it is calibrated for {where} only, and H "
                f"vanishes at eta = {claim['witness']}."
            )
        case "not calibrated":
            return f"The loss is not calibrated for alpha = {claim['alpha']}: H vanishes at eta = {claim['witness']}."
        case "calibrated for no alpha":
            return "The loss is calibrated for no alpha."
        case "undecided":
            return f"Nothing is proved: {claim['missing']}"
    raise CertificateError(f"a claim of kind {str(claim['kind'])[:60]!r} is not known")


#: Fields of each kind of claim, and the status that goes with it.
CLAIMS: dict[str, tuple[str, frozenset[str]]] = {
    "calibrated": (PROVED, frozenset({"kind", "alpha"})),
    "calibrated within": (PROVED, frozenset({"kind", "low", "high", "alpha", "extra_regret"})),
    "calibrated elsewhere": (REFUTED, frozenset({"kind", "alpha", "low", "high", "witness"})),
    "not calibrated": (REFUTED, frozenset({"kind", "alpha", "witness"})),
    "calibrated for no alpha": (REFUTED, frozenset({"kind"})),
    "undecided": (UNDECIDED, frozenset({"kind", "alpha", "missing"})),
}


def written_loss(loss: Loss) -> dict[str, Any]:
    """Both partial losses as they stand in the JSON."""
    return dict(zip(("positive", "negative"), map(_written_partial, loss.partials), strict=True))


def _written_partial(partial: Partial) -> dict[str, str]:
    assert isinstance(partial.function, Phi)
    return {
        "function": to_text(partial.function.tree),
        "weight": number(partial.weight),
        "scale": number(partial.inner),
    }


def read_claim(data: ClaimData) -> Claim:
    """A claim from its place in the JSON, once its fields have been checked."""

    def value(name: str) -> Fraction | None:
        return None if data.get(name) is None else read_number(data[name])

    alpha, low, high = value("alpha"), value("low"), value("high")
    match data["kind"]:
        case "calibrated":
            assert alpha is not None
            only = OnlyAlpha.within(alpha, alpha)
        case "calibrated for no alpha":
            only = NO_ALPHA
        case _:
            only = UNKNOWN_ALPHA if low is None or high is None else OnlyAlpha.within(low, high)
    return Claim(alpha, only, value("witness"), data.get("missing", ""))


def claim_data(claim: Claim) -> ClaimData:
    """A claim as it stands in the JSON: its kind, and the numbers that go with it."""
    low, high = claim.only.interval or (None, None)
    numbers = {
        "alpha": low if claim.kind == "calibrated" else claim.alpha,
        "low": low,
        "high": high,
        "witness": claim.witness,
        "extra_regret": claim.extra_regret,
    }
    texts = {name: None if value is None else number(value) for name, value in numbers.items()}
    everything = {"kind": claim.kind, **texts, "missing": claim.missing}
    return {name: value for name, value in everything.items() if name in CLAIMS[claim.kind][1]}


@dataclass(frozen=True)
class Certificate:
    """A proof that a loss is, or is not, calibrated: a JSON text that :func:`uneven.verify` re-checks.

    Attributes
    ----------
    text : str
        The JSON document.
    """

    text: str

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document as dictionaries and lists; changing it does not change the certificate."""
        return json.loads(self.text)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """A certificate from its JSON text; nothing is checked yet."""
        return cls(text)

    def to_json(self) -> str:
        """The JSON text."""
        return self.text

    @property
    def status(self) -> str:
        """``"proved"``, ``"refuted"`` or ``"undecided"``."""
        return self.document["status"]

    @property
    def statement(self) -> str:
        """The claim in words."""
        return self.document["statement"]

    @property
    def method(self) -> str:
        """How it is proved."""
        return self.document["method"]

    @property
    def theorem(self) -> str:
        """What the method rests on."""
        return self.document["theorem"]

    def _claimed(self, name: str) -> Fraction | None:
        value = self.document["claim"].get(name)
        return None if value is None else Fraction(value)

    @property
    def alpha(self) -> Fraction | None:
        """The alpha the claim is about, if it names one."""
        return self._claimed("alpha")

    @property
    def interval(self) -> tuple[Fraction, Fraction] | None:
        """Ends of an interval that holds the one alpha for which the loss is calibrated; None if not proved."""
        if self.document["claim"]["kind"] == "calibrated":
            alpha = self._claimed("alpha")
            assert alpha is not None
            return alpha, alpha
        low, high = self._claimed("low"), self._claimed("high")
        return None if low is None or high is None else (low, high)

    @property
    def extra_regret(self) -> Fraction | None:
        """How much cost regret the distance of the alpha asked for to the proved one can add at most."""
        if self.document["claim"]["kind"] == "calibrated":
            return Fraction(0)
        return self._claimed("extra_regret")

    @property
    def witness(self) -> Fraction | None:
        """If not calibrated for alpha: an eta other than alpha at which H vanishes."""
        return self._claimed("witness")

    @property
    def cells(self) -> int:
        """Number of cells in all steps."""
        return sum(len(step.get("cells") or ()) for step in self.document["steps"])

    @property
    def psi_table(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Rows (cost regret eps, lower bound of psi(eps), upper bound), if asked for."""
        rows = (self.document["psi"] or {"rows": []})["rows"]
        return [(Fraction(row["eps"]), Fraction(row["lower"]), Fraction(row["upper"])) for row in rows]

    def regret_bound(self, surrogate_regret: Exact) -> Fraction:
        """A cost regret that is not exceeded, from the psi table alone.

        The smallest eps of the table whose psi exceeds the surrogate regret, else the largest regret there is.

        Examples
        --------
        >>> import uneven
        >>> hinge = uneven.certify(uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/4"), psi=["0.1", "0.2"])
        >>> hinge.regret_bound("0.04"), hinge.regret_bound("0.5")
        (Fraction(1, 10), Fraction(3, 4))
        """
        table = self.document["psi"]
        if table is None:
            raise CertificateError("this certificate has no psi table; certify(..., psi=[0.01, 0.1]) makes one")
        alpha = Fraction(table["alpha"])
        if surrogate_regret == math.inf:
            return max(alpha, 1 - alpha)
        regret = _inputs.exact("surrogate_regret", surrogate_regret)
        enough = [eps for eps, lower, _ in self.psi_table if lower > regret]
        return min([*enough, max(alpha, 1 - alpha)])

    def __str__(self) -> str:
        return f"{self.status}: {self.statement}"


def written_certificate(
    loss: dict[str, Any],
    method: str,
    steps: list[dict[str, Any]],
    claim: Claim,
    bits: int,
    psi: dict[str, Any] | None = None,
) -> Certificate:
    """The document: the loss, what is claimed about it, and the steps of the proof."""
    data = claim_data(claim)
    document = {
        "schema": SCHEMA,
        "status": CLAIMS[claim.kind][0],
        "statement": statement(data),
        "theorem": THEOREMS[method],
        "method": method,
        "claim": data,
        "loss": loss,
        "bits": bits,
        "steps": steps,
        "psi": psi,
    }
    return Certificate(_laid_out(document))


def _laid_out(document: dict[str, Any]) -> str:
    """JSON with one line per field, step and node: a person can read it, and a diff is short."""
    return "{\n" + ",\n".join(_field(key, value, "  ") for key, value in document.items()) + "\n}\n"


def _field(key: str, value: Any, indent: str) -> str:
    if key == "psi" and value is not None:
        inner = ",\n".join(_field(name, part, indent + "  ") for name, part in value.items())
        return f'{indent}"psi": {{\n{inner}\n{indent}}}'
    if isinstance(value, list) and value:
        items = ",\n".join(f"{indent}  {json.dumps(item)}" for item in value)
        return f"{indent}{json.dumps(key)}: [\n{items}\n{indent}]"
    return f"{indent}{json.dumps(key)}: {json.dumps(value)}"
