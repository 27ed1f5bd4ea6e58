"""Ask the prover about a loss and an alpha; each answer is cached."""

from __future__ import annotations

import time
from fractions import Fraction
from functools import lru_cache

from uneven.calibration.proof.prover import Decision, Limits, prove, undecided
from uneven.losses import Loss

_FUNCTIONS = "a loss given as Python functions can only be studied numerically; a proof needs it as expressions in t"


def decide(loss: Loss, alpha: Fraction | None = None, limits: Limits | None = None) -> Decision:
    """What is proved about a loss, and about this alpha if one is given.

    Verdicts, implied costs, calibrated losses, learners and certificates use this decision, so they cannot disagree.
    With the default limits it is cached by loss and alpha.
    """
    return _kept(loss, alpha) if limits is None else prove(loss, alpha, limits)


@lru_cache(maxsize=1024)
def _kept(loss: Loss, alpha: Fraction | None) -> Decision:
    if not loss.symbolic:
        return undecided(alpha, _FUNCTIONS)
    if alpha is None:
        return prove(loss, None, Limits())
    start = time.monotonic()
    known = _kept(loss, None)
    left = Limits().seconds - (time.monotonic() - start)  # both searches share one budget
    if known.claim.only.kind == "unknown" and left <= 0:
        return undecided(alpha, known.claim.missing)
    return prove(loss, alpha, Limits(seconds=left), known=known.proof)
