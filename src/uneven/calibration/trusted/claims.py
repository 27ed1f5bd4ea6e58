"""Claims about a loss and their exact numbers: as data, as the JSON of a certificate holds them, and in words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from uneven.errors import CertificateError
from uneven.expression.text import number_text

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]{1,4})?(?:/[0-9]+)?")
_MOST_CHARACTERS = 4000
_MOST_BITS = 12_000  # the product of two doubles has at most 4,200


def number(value: Fraction | float) -> str:
    """The text of an exact number, or of an infinite end, in a certificate."""
    if isinstance(value, float):
        return "inf" if value > 0 else "-inf"
    return number_text(value)


def read_number(text: Any) -> Fraction:
    """An exact number from its text, which must be the one that :func:`number` writes."""
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS or not _NUMBER.fullmatch(text):
        raise CertificateError(f"an exact number such as '1/3' or '0.25' is needed, got {str(text)[:60]!r}")
    try:
        value = Fraction(text)
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
            raise CertificateError(f"a number may have at most {_MOST_BITS} bits, got {text[:60]!r}")
        canonical = number_text(value)
    except ZeroDivisionError:
        raise CertificateError(f"{text[:60]!r} divides by 0") from None
    except ValueError:
        raise CertificateError(f"an exact number such as '1/3' or '0.25' is needed, got {text[:60]!r}") from None
    if canonical != text:
        raise CertificateError(f"the number {text[:60]!r} must be written as {canonical[:60]!r} in a certificate")
    return value


def read_end(text: Any) -> Fraction | float:
    """An end of a cell: an exact number, 'inf' or '-inf'."""
    if text in ("inf", "-inf"):
        return math.inf if text == "inf" else -math.inf
    return read_number(text)


# What is claimed about a loss: for which alpha it is calibrated. Data only; the prover makes claims.

CALIBRATED, UP_TO_ROUNDING = "calibrated", "calibrated up to rounding"
CALIBRATED_OR_ROUNDED = (CALIBRATED, UP_TO_ROUNDING)
NOT_CALIBRATED, UNDECIDED = "not calibrated", "undecided"

#: If an alpha differs from the alpha of the loss by at most this share of min(alpha, 1 - alpha), it counts as rounding.
ROUNDING = Fraction(1, 10**9)


@dataclass(frozen=True)
class OnlyAlpha:
    """The only alpha for which a loss is calibrated (by theorem D there is at most one).

    Attributes
    ----------
    kind : str
        ``"exact"``, ``"enclosed"`` (in an interval), ``"none"`` (the loss is calibrated for no alpha) or
        ``"unknown"`` (nothing is proved).
    interval : pair of Fraction or None
        Ends of the interval; equal if the alpha is exact. None if there is no alpha, or nothing is proved.
    """

    kind: str
    interval: tuple[Fraction, Fraction] | None = None

    @classmethod
    def within(cls, low: Fraction, high: Fraction) -> OnlyAlpha:
        """Exactly one alpha, in [low, high]."""
        return cls("exact" if low == high else "enclosed", (low, high))

    @property
    def exact(self) -> Fraction | None:
        """The alpha without rounding, if it is known."""
        return self.interval[0] if self.interval is not None and self.kind == "exact" else None


NO_ALPHA, UNKNOWN_ALPHA = OnlyAlpha("none"), OnlyAlpha("unknown")


@dataclass(frozen=True)
class Claim:
    """What is proved about a loss and the alpha asked for.

    Attributes
    ----------
    alpha : Fraction or None
        The alpha asked for; None if the question was for which alpha the loss is calibrated.
    only : OnlyAlpha
        What is known about the only alpha of the loss.
    witness : Fraction or None
        If the loss is not calibrated for the alpha asked for: an eta other than alpha with H(eta) = 0.
    missing : str
        If nothing is proved: what could not be proved.
    """

    alpha: Fraction | None
    only: OnlyAlpha
    witness: Fraction | None = None
    missing: str = ""

    @property
    def kind(self) -> str:
        """The name of this kind of claim in a certificate."""
        if self.only.kind == "none":
            return "calibrated for no alpha"
        if self.only.interval is None:
            return "undecided" if self.witness is None else "not calibrated"
        low, high = self.only.interval
        if self.alpha is not None and not low <= self.alpha <= high:
            return "calibrated elsewhere"
        return "calibrated" if low == high else "calibrated within"

    @property
    def status(self) -> str:
        """One of ``"calibrated"``, ``"calibrated up to rounding"``, ``"not calibrated"``, ``"undecided"``."""
        match self.kind:
            case "calibrated":
                return CALIBRATED
            case "calibrated within":
                if self.alpha is None or self.extra_regret is None:
                    return CALIBRATED
                close = self.extra_regret <= ROUNDING * min(self.alpha, 1 - self.alpha)
                return UP_TO_ROUNDING if close else UNDECIDED
            case "undecided":
                return UNDECIDED
        return NOT_CALIBRATED

    @property
    def extra_regret(self) -> Fraction | None:
        """How much the difference between the alpha asked for and the proved one can add to the cost regret, if known.

        The cost regret for one alpha exceeds the cost regret for another by at most the difference of the two alphas.
        """
        if self.kind not in ("calibrated", "calibrated within") or self.only.interval is None:
            return None
        if self.alpha is None:
            return Fraction(0) if self.kind == "calibrated" else None
        low, high = self.only.interval
        return max(self.alpha - low, high - self.alpha)


# Claims in a certificate: write them, read them, and say them in words.

PROVED, REFUTED = "proved", "refuted"

#: For each kind of claim: the status of the certificate, and the fields of the claim.
KINDS: dict[str, tuple[str, frozenset[str]]] = {
    "calibrated": (PROVED, frozenset({"kind", "alpha"})),
    "calibrated within": (PROVED, frozenset({"kind", "low", "high", "alpha", "extra_regret"})),
    "calibrated elsewhere": (REFUTED, frozenset({"kind", "alpha", "low", "high", "witness"})),
    "not calibrated": (REFUTED, frozenset({"kind", "alpha", "witness"})),
    "calibrated for no alpha": (REFUTED, frozenset({"kind"})),
    "undecided": (UNDECIDED, frozenset({"kind", "alpha", "missing"})),
}


def claim_data(claim: Claim) -> dict[str, Any]:
    """A claim as the JSON holds it: its kind and its numbers."""
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
    return {name: value for name, value in everything.items() if name in KINDS[claim.kind][1]}


def read_claim(data: Any) -> Claim:
    """A claim from the JSON; it must be exactly what :func:`claim_data` would write."""
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str) or data["kind"] not in KINDS:
        raise CertificateError(f"the kind of the claim must be one of {', '.join(map(repr, KINDS))}")
    kind, fields = data["kind"], KINDS[data["kind"]][1]
    if set(data) != fields:
        raise CertificateError(f"a claim {kind!r} must have the fields {', '.join(sorted(fields))}")
    alpha, low, high = (_probability(data, name) for name in ("alpha", "low", "high"))
    if low is not None and high is not None and low > high:
        raise CertificateError("low must not exceed high")
    witness = None if data.get("witness") is None else read_number(data["witness"])
    missing = data.get("missing", "")
    if not isinstance(missing, str):
        raise CertificateError("'missing' must be a string")
    if kind == "calibrated for no alpha":
        only = NO_ALPHA
    elif kind == "calibrated":
        only = UNKNOWN_ALPHA if alpha is None else OnlyAlpha.within(alpha, alpha)
    else:
        only = UNKNOWN_ALPHA if low is None or high is None else OnlyAlpha.within(low, high)
    claim = Claim(alpha, only, witness, missing)
    if claim_data(claim) != data:
        raise CertificateError(f"the numbers of the claim do not fit its kind {kind!r}")
    _require_witness(claim)
    return claim


def _probability(data: dict[str, Any], name: str) -> Fraction | None:
    if data.get(name) is None:
        return None
    value = read_number(data[name])
    if not 0 < value < 1:
        raise CertificateError(f"{name} must lie strictly between 0 and 1")
    return value


def _require_witness(claim: Claim) -> None:
    """H = 0 between the alpha asked for and the proved interval, so the witness must lie there."""
    if claim.kind == "calibrated elsewhere" and claim.only.interval is not None and claim.alpha is not None:
        low, high = claim.only.interval
        if claim.witness is None or not (claim.alpha < claim.witness <= low or high <= claim.witness < claim.alpha):
            raise CertificateError("the witness must lie between the alpha asked for and the proved interval")


def statement(claim: dict[str, Any]) -> str:
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
            where = (
                f"alpha = {claim['low']}"
                if claim["low"] == claim["high"]
                else f"an alpha in [{claim['low']}, {claim['high']}]"
            )
            return (
                f"The loss is not calibrated for alpha = {claim['alpha']}: it is calibrated for {where} only. "
                f"{_at_witness(claim)}"
            )
        case "not calibrated":
            return f"The loss is not calibrated for alpha = {claim['alpha']}. {_at_witness(claim)}"
        case "calibrated for no alpha":
            return "The loss is calibrated for no alpha."
        case "undecided":
            return f"Nothing is proved: {claim['missing']}"
    raise KeyError(claim["kind"])


def _at_witness(claim: dict[str, Any]) -> str:
    """What H(witness) = 0 means."""
    eta = claim["witness"]
    return f"Where P(Y = 1) = {eta}, the costlier decision is at least as good for the loss as the cheaper one (H = 0)."
