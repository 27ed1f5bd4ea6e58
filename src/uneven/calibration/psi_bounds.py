"""Proved bounds of psi from below and above, for one loss and one alpha."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property

from uneven._shared import shared_lock
from uneven.calibration.decide import decide
from uneven.calibration.proof.attempt import NotShown
from uneven.calibration.proof.prover import Limits, attempt_at
from uneven.calibration.proof.psi import Contact, EtaNode, lower_vertices, upper_vertices
from uneven.calibration.proof.psi_hull import Vertex, inverse_on_hull, on_hull
from uneven.calibration.proof.psi_search import contact_at, etas_around, float_hull, nodes_at, rooms
from uneven.calibration.proof.rules import at
from uneven.calibration.proof.search import Exhausted
from uneven.losses import Loss
from uneven.ops.balls import Undefined

_MOST_CELLS = 100_000
#: Held while bounds are computed: all threads that use an analysis share one budget, and what was found so far.
_LOCK = shared_lock()
#: Number of evenly spaced nodes, number of octaves of smaller and smaller distances from alpha, and nodes per octave;
#: by whether the wrong-side risk is known to be affine. If it is, a node costs one evaluation; if not, a search.
_FINE = {True: (64, 24, 4), False: (16, 8, 1)}


class PsiBounds:
    """Piecewise linear bounds of psi. The rules of the prover make them when they are first needed."""

    def __init__(self, loss: Loss, alpha: Fraction) -> None:
        self.alpha = alpha
        self.largest = max(alpha, 1 - alpha)
        start = time.monotonic()
        self._affine = decide(loss, alpha).proof.shows_affine_wrong_side(alpha)
        left = max(Limits().seconds - (time.monotonic() - start), 0)  # one budget for the call that comes here first
        self._attempt = attempt_at(loss, Limits(cells=_MOST_CELLS, seconds=left), shorten=False)
        self._begun = False
        self._contacts: dict[Fraction, Contact] = {}

    @contextmanager
    def turn(self) -> Iterator[PsiBounds]:
        """Give a call of the user its own budget; the first call shares it with the proof made before.

        Looser bounds that a busy machine left in an earlier call are forgotten.
        """
        with _LOCK:
            budget = self._attempt.search.budget
            if budget.starved:
                for name in ("_nodes", "_lower", "_float_hull"):
                    self.__dict__.pop(name, None)
            if self._begun:
                budget.restart(Limits().seconds)
            self._begun = True
            yield self

    @cached_property
    def _nodes(self) -> dict[int, list[EtaNode]]:
        return {
            side: nodes_at(self._attempt, self.alpha, side, self._mesh(room), affine=self._affine)
            for side, room in rooms(self.alpha).items()
        }

    def _mesh(self, room: Fraction) -> list[Fraction]:
        """Distances from alpha, dense at both ends; with min(alpha, 1 - alpha), at which psi may have a kink."""
        count, depth, per_octave = _FINE[self._affine]
        even = [room * Fraction(k, count) for k in range(count + 1)]
        shrunk = [Fraction(round(2 ** (-k / per_octave) * 2**40), 2**40) for k in range(1, depth * per_octave)]
        ends = [room * x / count for x in shrunk]
        near = 1 - self.largest
        return sorted({*even, *ends, *(room - x for x in ends[:: 2 * per_octave]), *([near] if near <= room else [])})

    @cached_property
    def _lower(self) -> list[Vertex]:
        try:
            return lower_vertices(self._attempt.rules, self.alpha, self._nodes)
        except (NotShown, Exhausted, Undefined):  # psi is never negative
            return [(Fraction(0), Fraction(0)), (self.largest, Fraction(0))]

    def bounds(self, eps: Fraction) -> tuple[Fraction, Fraction]:
        """Rationals below and above psi(eps)."""
        lower = on_hull(self._lower, eps)
        try:
            contacts = [self._contact(eta) for eta in etas_around(self._float_hull, eps)]
            upper = on_hull(upper_vertices(self.alpha, contacts), eps)
        except (NotShown, Exhausted, Undefined):
            upper = self._without_search(eps)
        return min(lower, upper), upper

    def _without_search(self, eps: Fraction) -> Fraction:
        """psi is convex and 0 at 0; at its end it is at most the risk at t = 0 of the eta farthest from alpha."""
        farthest = Fraction(1 if 1 - self.alpha == self.largest else 0)
        return self._attempt.rules.upper_at(at(farthest), Fraction(0)) * eps / self.largest

    @cached_property
    def _float_hull(self) -> dict[Fraction, Fraction]:
        return float_hull(self._attempt, self.alpha, self._nodes)

    def _contact(self, eta: Fraction) -> Contact:
        if eta not in self._contacts:
            self._contacts[eta] = contact_at(self._attempt, self.alpha, eta)
        return self._contacts[eta]

    def inverse_of_lower(self, r: Fraction) -> Fraction:
        """sup{eps: lower bound of psi(eps) <= r}, an upper bound of the inverse of psi at r."""
        found = inverse_on_hull(self._lower, r)
        return self.largest if found is None else found
