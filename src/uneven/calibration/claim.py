"""What is claimed about a loss: for which alpha it is calibrated. Data only; the prover makes it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

CALIBRATED, UP_TO_ROUNDING = "calibrated", "calibrated up to rounding"
NOT_CALIBRATED, UNDECIDED = "not calibrated", "undecided"

#: An alpha this close to the loss's own alpha, relative to min(alpha, 1 - alpha), differs from it by rounding only.
ROUNDING = Fraction(1, 10**9)


@dataclass(frozen=True)
class OnlyAlpha:
    """The only alpha for which a loss is calibrated (no loss has two; theorem D).

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
        """The alpha without rounding, where it is known."""
        return self.interval[0] if self.interval is not None and self.kind == "exact" else None


NO_ALPHA, UNKNOWN_ALPHA = OnlyAlpha("none"), OnlyAlpha("unknown")


@dataclass(frozen=True)
class Claim:
    """What is proved about a loss and the alpha asked for.

    Attributes
    ----------
    alpha : Fraction or None
        The alpha asked for; None: whichever alpha the loss is calibrated for.
    only : OnlyAlpha
        What is known about the only alpha of the loss.
    witness : Fraction or None
        If the loss is not calibrated for the alpha asked for: an eta other than alpha at which H vanishes.
    missing : str
        If nothing is proved: what was not found.
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
        """How much cost regret the distance of the alpha asked for to the proved one can add; None if unknown.

        The regret for one alpha exceeds the regret for another by at most their distance.
        """
        if self.kind not in ("calibrated", "calibrated within") or self.only.interval is None:
            return None
        if self.alpha is None:
            return Fraction(0) if self.kind == "calibrated" else None
        low, high = self.only.interval
        return max(self.alpha - low, high - self.alpha)
