"""Ask the prover about a loss and an alpha; each answer is cached, unless the machine was too busy for a search."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from uneven._shared import cut_short
from uneven.calibration.proof.prover import Decision, Limits, prove, undecided
from uneven.losses import Loss

_FUNCTIONS = "a loss given as Python functions can only be studied numerically; a proof needs it as expressions in t"


def decide(loss: Loss, alpha: Fraction | None = None, limits: Limits | None = None) -> Decision:
    """What is proved about a loss, and about this alpha if one is given.

    Verdicts, implied costs, calibrated losses, learners and certificates use this decision, so they cannot disagree.
    With the default limits it is cached by loss and alpha. A search that the clock stopped is only cached if it had a
    processor for its time: on a busy machine, or beside other threads, the next call searches again.
    """
    decision = _known(loss, alpha, Limits()) if limits is None else prove(loss, alpha, limits)
    if decision.stopped:
        cut_short()
    return decision


class _Starved(Exception):
    """Carries a decision past the cache."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision


def _known(loss: Loss, alpha: Fraction | None, limits: Limits) -> Decision:
    try:
        return _kept(loss, alpha, limits)
    except _Starved as carrier:
        return carrier.decision


@lru_cache(maxsize=1024)
def _kept(loss: Loss, alpha: Fraction | None, limits: Limits) -> Decision:
    decision = _search_within(loss, alpha, limits)
    if decision.starved:
        raise _Starved(decision)  # no cache keeps an exception
    return decision


def _search_within(loss: Loss, alpha: Fraction | None, limits: Limits) -> Decision:
    if not loss.symbolic:
        return undecided(alpha, _FUNCTIONS)
    if alpha is None:
        return prove(loss, None, limits)
    start = time.monotonic()
    known = _known(loss, None, limits)
    left = limits.seconds - (time.monotonic() - start)  # both searches share one budget
    if known.claim.only.kind == "unknown" and left <= 0:
        return undecided(alpha, known.claim.missing).after(known)
    return prove(loss, alpha, replace(limits, seconds=left), known=known.proof).after(known)
