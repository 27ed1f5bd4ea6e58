"""What is claimed about a loss: for which alpha it is calibrated. Data only; the prover makes claims."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

CALIBRATED, UP_TO_ROUNDING = "calibrated", "calibrated up to rounding"
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
