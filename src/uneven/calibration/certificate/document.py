"""The JSON document of a certificate: exact numbers, and sentences that say what it claims."""

from __future__ import annotations

import json
from typing import Any

from uneven.calibration.certificate.claims import KINDS, claim_data, statement
from uneven.calibration.claim import Claim
from uneven.calibration.proof.formulas import PartialFormula
from uneven.calibration.proof.numbers import number
from uneven.expression import to_text

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
