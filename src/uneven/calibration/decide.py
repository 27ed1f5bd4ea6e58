"""One door to the prover: what is proved about a loss and an alpha, found once and kept."""

from __future__ import annotations

import time
from fractions import Fraction
from functools import lru_cache

from uneven.calibration.proof.prover import Decision, Limits, prove, undecided
from uneven.losses import Loss

_FUNCTIONS = (
    "a loss given as Python functions can be studied only numerically; written as expressions it could be decided"
)


def decide(loss: Loss, alpha: Fraction | None = None, limits: Limits | None = None) -> Decision:
    """What is proved about a loss, and about this alpha if one is given.

    Verdicts, implied costs, calibrated losses, learners and certificates are views of this one decision. With the usual
    limits it is kept, by loss and alpha.
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
