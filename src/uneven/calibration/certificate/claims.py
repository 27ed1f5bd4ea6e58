"""Claims in a certificate: write them, read them, and say them in words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from uneven.calibration.claim import NO_ALPHA, UNDECIDED, UNKNOWN_ALPHA, Claim, OnlyAlpha
from uneven.calibration.proof.numbers import number, read_number
from uneven.errors import CertificateError

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
