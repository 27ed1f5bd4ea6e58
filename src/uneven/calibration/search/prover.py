"""Find a proof about the only alpha of a loss, and keep the answer.

The prover may guess with floats, for example where a minimum lies. The steps that it writes down are proved by the
rules and do not depend on these guesses. The checker of certificates confirms every proof before it is returned.
Answers are cached, unless the machine was too busy for a search.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from uneven.calibration.search.attempt import Attempt, NotShown, Proof, witness
from uneven.calibration.search.cells import Budget, Exhausted, Search
from uneven.calibration.search.hints import Hints
from uneven.calibration.search.proof_methods import (
    prove_convex,
    prove_tangential,
    prove_transversal,
    refute_every_alpha,
    refute_one_alpha,
)
from uneven.calibration.trusted.checker import check
from uneven.calibration.trusted.claims import UNKNOWN_ALPHA, Claim
from uneven.calibration.trusted.document import read_loss, write_document, write_loss
from uneven.calibration.trusted.formulas import PartialFormula
from uneven.calibration.trusted.rules import NEGATIVE, POSITIVE, Rules
from uneven.calibration.trusted.steps import Step
from uneven.errors import CertificateError, ExpressionError
from uneven.losses import Loss, phi


class _Stops(threading.local):
    """How often the clock cut a result short in this thread."""

    count = 0


STOPS = _Stops()


def cut_short() -> None:
    """Say that the result that this thread computes was cut short by the clock."""
    STOPS.count += 1


BITS = 160
_METHODS: tuple[Callable[[Attempt], Proof], ...] = (
    prove_convex,
    prove_tangential,
    prove_transversal,
    refute_every_alpha,
)


@dataclass(frozen=True)
class Limits:
    """The width of the interval around an alpha, and how long a search may take."""

    precision: Fraction = Fraction(1, 10**12)
    cells: int = 3_000
    seconds: float = 10.0


@dataclass(frozen=True)
class Decision:
    """A claim about a loss, and its proof.

    Attributes
    ----------
    stopped, starved : bool
        Whether the clock stopped the search before it had the whole answer, as in
        :class:`~uneven.calibration.search.cells.Budget`.
    """

    claim: Claim
    proof: Proof
    stopped: bool = False
    starved: bool = False

    def after(self, search: Budget | Decision) -> Decision:
        """The same, stopped or starved if a search for it was and more could be proved than this."""
        if self.claim.kind not in ("undecided", "calibrated within"):
            return self
        return replace(self, stopped=self.stopped or search.stopped, starved=self.starved or search.starved)


def formulas_of(loss: Loss) -> tuple[PartialFormula, PartialFormula]:
    """What a proof knows of a loss: the formulas, weights and scales of its partial losses."""
    first, second = (
        PartialFormula(partial.require_phi("proof").tree, partial.weight, partial.inner) for partial in loss.partials
    )
    return first, second


def attempt_at(loss: Loss, limits: Limits, *, shorten: bool = True) -> Attempt:
    """The tools for a proof about this loss."""
    rules = Rules(*read_loss(write_loss(*formulas_of(loss)), refuse=phi), BITS)
    budget = Budget(limits.cells, limits.seconds)
    hints = Hints(loss, budget.check_time)
    return Attempt(
        rules, Search(rules, budget, hints.edges, shorten=shorten), hints, loss.exact_alpha, limits.precision
    )


def prove(loss: Loss, alpha: Fraction | None, limits: Limits, known: Proof | None = None) -> Decision:
    """A claim about the loss and this alpha, with a proof that the checker has confirmed.

    ``known`` is an earlier proof about the only alpha of the same loss. If it decides the question, there is no search.
    """
    if known is not None and known.only.kind != "unknown":
        return Decision(conclude(known, alpha), known)
    attempt = attempt_at(loss, limits)
    return _search(attempt, loss, alpha, known).after(attempt.search.budget)


def _search(attempt: Attempt, loss: Loss, alpha: Fraction | None, known: Proof | None) -> Decision:
    missing: list[str] = []
    try:
        steps = _nonnegative(attempt)
        proof = None if known is not None else _first(_METHODS, attempt, missing)
        if proof is None and alpha is not None:
            proof = _first((lambda chosen: refute_one_alpha(chosen, alpha),), attempt, missing)
        if proof is not None:
            return _confirm(loss, alpha, Proof(proof.method, steps + proof.steps, proof.only, proof.ties))
    except (NotShown, ExpressionError) as gap:
        missing = [str(gap)]
    except Exhausted as spent:
        missing.append(str(spent))
    return undecided(alpha, "; ".join(dict.fromkeys(missing)))


def undecided(alpha: Fraction | None, missing: str) -> Decision:
    """The decision if nothing is proved; ``missing`` says what could not be proved."""
    return Decision(Claim(alpha, UNKNOWN_ALPHA, missing=missing), Proof("none", [], UNKNOWN_ALPHA))


def conclude(proof: Proof, alpha: Fraction | None) -> Claim:
    """What a proof about the only alpha of a loss says about the alpha asked for."""
    claim = Claim(alpha, proof.only)
    if alpha is None or claim.kind in ("calibrated", "calibrated within"):
        return claim
    return Claim(alpha, proof.only, witness=witness(proof, alpha))


def write(loss: Loss, proof: Proof, claim: Claim, psi: dict[str, Any] | None = None) -> str:
    """The certificate of a claim, as JSON."""
    steps = [step.to_dict() for step in proof.steps]
    return write_document(write_loss(*formulas_of(loss)), proof.method, steps, claim, BITS, psi)


def _nonnegative(attempt: Attempt) -> list[Step]:
    """Steps that show that both partial losses are never negative."""
    steps = [attempt.search.sign(0, weights, 1) for weights in (POSITIVE, NEGATIVE)]
    found = [step for step in steps if step is not None]
    if len(found) < len(steps):
        raise NotShown("no proof was found that both partial losses are never negative")
    return list(found)


def _first(methods: Iterable[Callable[[Attempt], Proof]], attempt: Attempt, missing: list[str]) -> Proof | None:
    """The proof of the first method that succeeds; the reasons why others failed are added to ``missing``."""
    for method in methods:
        try:
            return method(attempt)
        except (NotShown, ExpressionError) as gap:  # ExpressionError: a derivative may be too large
            missing += [str(gap)] if str(gap) else []
    return None


def _confirm(loss: Loss, alpha: Fraction | None, proof: Proof) -> Decision:
    """The decision if the checker accepts the proof; so a bug in the prover cannot become a claim."""
    claim = conclude(proof, alpha)
    try:
        check(write(loss, proof, claim))
    except CertificateError as error:
        return undecided(alpha, f"the proof failed its own check ({error})")
    return Decision(claim, proof)


# Ask the prover about a loss and an alpha; each answer is cached, unless the machine was too busy for a search.

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


#: Methods whose conclusion about a loss holds for scores within any bound (Theorem L in docs/theory.md).
_KEPT_WITHIN_BOUNDS = ("convex", "convex tie", "tangential")


def for_scores_within(loss: Loss, score_bound: Fraction | None) -> Loss:
    """The loss to prove something about if scores lie within a bound; no bound is None.

    In general it is the clipped loss. If the partial losses are convex, or t = 0 minimises the risk at the alpha of the
    loss, a bound changes no verdict (Theorem L), and the loss itself has the shorter proof.
    """
    if score_bound is None or decide(loss).proof.method in _KEPT_WITHIN_BOUNDS:
        return loss
    return loss.clipped(score_bound)


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
