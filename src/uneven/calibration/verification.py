"""A certificate as users hold it, and its verification.

What must be believed of a certificate is checked by :func:`~uneven.calibration.trusted.checker.check`, without a
float. Floats run here only: they may refuse a text that is no loss, and then name a point that shows it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from uneven import inputs
from uneven.calibration.trusted.checker import check
from uneven.calibration.trusted.claims import Claim, claim_data, number, read_claim, read_number, statement
from uneven.errors import CertificateError
from uneven.inputs import Exact, to_float


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
        regret = inputs.exact("surrogate_regret", surrogate_regret)
        if regret < 0:
            raise CertificateError(f"surrogate_regret must be at least 0, got {inputs.brief(surrogate_regret)}")
        enough = [eps for eps, lower, _ in self.psi_table if lower > regret]
        return min([*enough, max(alpha, 1 - alpha)])

    def __str__(self) -> str:
        return f"{self.status}: {summary(self.document['claim'])}"


@dataclass(frozen=True)
class Verification:
    """The result of :func:`verify`; true if the certificate is valid.

    Attributes
    ----------
    valid : bool
        Whether every step holds and the claim follows from them.
    reason : str
        The proved statement, with every digit of its numbers, or the first error.
    claim : Claim or None
        What is proved; None if the certificate is not valid.
    step : int or None
        The first step that does not hold, counted from 1; None if the error is not in a step.
    """

    valid: bool
    reason: str
    claim: Claim | None = None
    step: int | None = None

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        if self.claim is not None:
            return f"valid: {summary(claim_data(self.claim))}"
        return f"not valid: {self.reason}"


def verify(certificate: Certificate | str) -> Verification:
    """Check a certificate again, from its JSON text alone.

    Parameters
    ----------
    certificate : Certificate or str
        A certificate, or its JSON text.

    Returns
    -------
    Verification
        True if the certificate proves its claim; otherwise false, with the reason. An undecided certificate proves
        nothing, so it is not valid.

    Raises
    ------
    CertificateError
        If the text is not a certificate at all.

    Examples
    --------
    >>> import uneven
    >>> certificate = uneven.certify(uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/4"))
    >>> result = uneven.verify(certificate)
    >>> bool(result), result.claim.status
    (True, 'calibrated')
    >>> print(uneven.verify(certificate.to_json().replace('"scale": "-2"', '"scale": "-3"')))
    not valid: step 6: slope at 0: the slope at t = 0 could not be shown to be 0
    """
    from uneven.losses import phi

    text = certificate.text if isinstance(certificate, Certificate) else certificate
    try:
        return Verification(True, *check(text, refuse=phi))
    except CertificateError as error:
        if error.unreadable:
            raise
        return Verification(False, str(error), step=error.step)


def summary(claim: dict[str, Any]) -> str:
    """The claim in words, with numbers that a person can read; :func:`statement` has all their digits."""
    short = dict(claim)
    for name in ("alpha", "witness", *(("low", "high") if claim.get("low") == claim.get("high") else ())):
        if short.get(name) is not None:
            short[name] = _short(read_number(short[name]))
    if short.get("extra_regret") is not None:
        short["extra_regret"] = _round_up(read_number(short["extra_regret"]))
    return statement(short)


def _short(value: Fraction) -> str:
    """The exact text if it is short; a double as Python writes it, and saying so; else six digits."""
    text = number(value)
    if len(text) <= 20:
        return text
    nearest = to_float(value)
    return f"{nearest!r} (in double precision)" if Fraction(nearest) == value else f"{nearest:.6g} (rounded)"


def _round_up(value: Fraction) -> str:
    """A bound with three digits, not below the value."""
    text = number(value)
    if len(text) <= 9:
        return text
    digits = Context(prec=3, rounding=ROUND_UP).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{digits:.2e}"
