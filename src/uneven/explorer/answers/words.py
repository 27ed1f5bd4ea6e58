"""The sentence on top of the page."""

from __future__ import annotations

from fractions import Fraction

from uneven._inputs import to_float
from uneven.calibration.claim import CALIBRATED, NOT_CALIBRATED, UP_TO_ROUNDING
from uneven.calibration.verdict import Verdict


def costs(alpha: Fraction) -> str:
    """What alpha says, in a practitioner's words.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from uneven.explorer.answers.words import costs
    >>> costs(Fraction(1, 21)), costs(Fraction(3, 4)), costs(Fraction(1, 2))
    ('a miss counts 20 false alarms', 'a false alarm counts 3 misses', 'both mistakes count the same')
    """
    if 2 * alpha == 1:
        return "both mistakes count the same"
    ratio = to_float((1 - alpha) / alpha)
    if ratio > 1:
        return f"a miss counts {_times(ratio)} false alarms"
    return f"a false alarm counts {_times(to_float(alpha / (1 - alpha)))} misses"


def _times(ratio: float) -> str:
    return f"{ratio:.4g}" if ratio < 1e4 else f"{ratio:,.0f}" if ratio < 1e9 else f"{ratio:.3g}"


def verdict_in_words(found: Verdict, alpha: Fraction, *, never: bool) -> str:
    """One sentence about a verdict; ``never``: the loss is proved to be calibrated for no costs."""
    if found.status == CALIBRATED:
        return f"Calibrated for your costs: {costs(alpha)}."
    if found.status == UP_TO_ROUNDING:
        return f"Calibrated for your costs, up to rounding: {costs(alpha)}."
    if found.status != NOT_CALIBRATED:
        return "Undecided: it is neither proved nor refuted that this loss is calibrated for your costs."
    if found.witness is None:
        return f"Not calibrated for your costs: {costs(alpha)}."
    can = "can decide" if never else "decides"
    return f"Not calibrated: at P = {found.witness:.2g} it {can} the wrong way."
