"""Proved bounds of psi from below and above, for one loss and one alpha."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from uneven.calibration.decide import decide
from uneven.calibration.proof.prover import Limits, attempt_at
from uneven.calibration.proof.psi import Contact, EtaNode, lower_vertices, upper_vertices
from uneven.calibration.proof.psi_hull import Vertex, inverse_on_hull, on_hull
from uneven.calibration.proof.psi_search import contact_at, etas_around, float_hull, nodes_at, rooms
from uneven.losses import Loss

_LIMITS = Limits(cells=100_000)
#: Number of evenly spaced nodes, number of octaves of smaller and smaller distances from alpha, and nodes per octave;
#: by whether the wrong-side risk is known to be affine. If it is, a node costs one evaluation; if not, a search.
_FINE = {True: (64, 24, 4), False: (16, 8, 1)}


class PsiBounds:
    """Piecewise linear bounds of psi. The rules of the prover make them when they are first needed."""

    def __init__(self, loss: Loss, alpha: Fraction) -> None:
        self.alpha = alpha
        self.largest = max(alpha, 1 - alpha)
        self._affine = decide(loss, alpha).proof.shows_affine_wrong_side(alpha)
        self._attempt = attempt_at(loss, _LIMITS)
        self._contacts: dict[Fraction, Contact] = {}

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
        return lower_vertices(self._attempt.rules, self.alpha, self._nodes)

    def bounds(self, eps: Fraction) -> tuple[Fraction, Fraction]:
        """Rationals below and above psi(eps)."""
        self._attempt.search.budget.restart()
        contacts = [self._contact(eta) for eta in etas_around(self._float_hull, eps)]
        lower, upper = on_hull(self._lower, eps), on_hull(upper_vertices(self.alpha, contacts), eps)
        return min(lower, upper), upper

    @cached_property
    def _float_hull(self) -> dict[Fraction, Fraction]:
        return float_hull(self._attempt, self.alpha, self._nodes)

    def _contact(self, eta: Fraction) -> Contact:
        if eta not in self._contacts:
            self._contacts[eta] = contact_at(self._attempt, self.alpha, eta)
        return self._contacts[eta]

    def inverse_of_lower(self, r: Fraction) -> Fraction:
        """sup{eps: lower bound of psi(eps) <= r}, an upper bound of the inverse of psi at r."""
        self._attempt.search.budget.restart()
        found = inverse_on_hull(self._lower, r)
        return self.largest if found is None else found
