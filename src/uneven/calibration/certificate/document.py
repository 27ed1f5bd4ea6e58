"""A certificate: a JSON document with exact numbers, and sentences that say what it claims."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from uneven import _inputs
from uneven._inputs import Exact
from uneven.calibration.certificate.claims import KINDS, claim_data, read_claim, statement, summary
from uneven.calibration.claim import Claim
from uneven.calibration.proof.numbers import number
from uneven.errors import CertificateError
from uneven.expression import to_text
from uneven.losses import Loss, Phi
from uneven.losses.partial import Partial

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


def written_loss(loss: Loss) -> dict[str, Any]:
    """Both partial losses as the JSON holds them."""
    return dict(zip(("positive", "negative"), map(_written_partial, loss.partials), strict=True))


def _written_partial(partial: Partial) -> dict[str, str]:
    assert isinstance(partial.function, Phi)
    return {
        "function": to_text(partial.function.tree),
        "weight": number(partial.weight),
        "scale": number(partial.inner),
    }


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
        """The claim in words, with every digit of its numbers; ``str`` of the certificate has readable ones."""
        return self.document["statement"]

    @property
    def method(self) -> str:
        """The method of proof."""
        return self.document["method"]

    @property
    def theorem(self) -> str:
        """The theorem behind the method."""
        return self.document["theorem"]

    @cached_property
    def claim(self) -> Claim:
        """What is claimed; nothing is checked yet."""
        return read_claim(self.document["claim"])

    @property
    def alpha(self) -> Fraction | None:
        """The alpha the claim is about, if it names one."""
        return self.claim.alpha

    @property
    def interval(self) -> tuple[Fraction, Fraction] | None:
        """Ends of an interval that contains the only alpha for which the loss is calibrated; None if not proved."""
        return self.claim.only.interval

    @property
    def extra_regret(self) -> Fraction | None:
        """How much the difference between the alpha asked for and the proved one can add to the cost regret."""
        return self.claim.extra_regret

    @property
    def witness(self) -> Fraction | None:
        """If the loss is not calibrated for alpha: an eta other than alpha with H(eta) = 0."""
        return self.claim.witness

    @property
    def cells(self) -> int:
        """Number of cells in all steps."""
        return sum(len(step.get("cells") or ()) for step in self.document["steps"])

    @property
    def psi_table(self) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Rows (cost regret eps, lower bound of psi(eps), upper bound); empty if none were asked for."""
        rows = (self.document["psi"] or {"rows": []})["rows"]
        return [(Fraction(row["eps"]), Fraction(row["lower"]), Fraction(row["upper"])) for row in rows]

    def regret_bound(self, surrogate_regret: Exact) -> Fraction:
        """An upper bound of the cost regret, given the surrogate regret, from the psi table alone.

        This is the smallest eps of the table whose lower bound of psi exceeds the surrogate regret. If there is none,
        it is the largest possible cost regret.

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
        if regret < 0:
            raise CertificateError(f"surrogate_regret must be at least 0, got {_inputs.brief(surrogate_regret)}")
        enough = [eps for eps, lower, _ in self.psi_table if lower > regret]
        return min([*enough, max(alpha, 1 - alpha)])

    def __str__(self) -> str:
        return f"{self.status}: {summary(self.document['claim'])}"


def written_certificate(
    loss: dict[str, Any],
    method: str,
    steps: list[dict[str, Any]],
    claim: Claim,
    bits: int,
    psi: dict[str, Any] | None = None,
) -> Certificate:
    """A certificate of the claim, with the loss and the steps of the proof."""
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
    return Certificate(_laid_out(document))


def _laid_out(document: dict[str, Any]) -> str:
    """JSON with one line per field, step and node, so that a person can read it and a diff is short."""
    return "{\n" + ",\n".join(_field(key, value, "  ") for key, value in document.items()) + "\n}\n"


def _field(key: str, value: Any, indent: str) -> str:
    if key == "psi" and value is not None:
        inner = ",\n".join(_field(name, part, indent + "  ") for name, part in value.items())
        return f'{indent}"psi": {{\n{inner}\n{indent}}}'
    if isinstance(value, list) and value:
        items = ",\n".join(f"{indent}  {json.dumps(item)}" for item in value)
        return f"{indent}{json.dumps(key)}: [\n{items}\n{indent}]"
    return f"{indent}{json.dumps(key)}: {json.dumps(value)}"
