"""A rigorous two-sided enclosure of psi, in exact rationals.

On a cell between two nodes, the wrong-side risk is concave in eta, so it lies above the chord of its lower
bounds at the nodes (for a convex calibrated loss it is the affine C(eta, 0) itself, theorem 5). The optimal
risk lies below the affine C(eta, t) of any t. Their difference bounds H below by an affine function, and the
lower hull of all vertices of the largest such functions lies below psi. Values of H at the nodes, bounded
above, have a lower hull that lies above psi. Everything is rational; nothing is rounded to nearest.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from uneven._hull import lower_hull
from uneven.calibration.infimum import RigorousRisk
from uneven.losses import Loss
from uneven.ops.balls import above, below

Vertex = tuple[Fraction, Fraction]
_CONVEX_NODES, _OTHER_NODES = 64, 16


@dataclass(frozen=True)
class _Node:
    """At eta = alpha + side * eps: bounds on the wrong-side risk and the optimal risk, and affine majorants."""

    eps: Fraction
    eta: Fraction
    wrong_lower: Fraction
    wrong_upper: Fraction
    best_lower: Fraction
    majorant: tuple[Fraction, Fraction]  # upper bounds of L(1, t), L(-1, t) at a near minimiser t

    @property
    def gap_upper(self) -> Fraction:
        return max(self.wrong_upper - self.best_lower, Fraction(0))


class PsiEnclosure:
    """Lower and upper piecewise linear bounds of psi, made once per loss and alpha."""

    def __init__(self, loss: Loss, alpha: Fraction, *, affine_wrong_side: bool) -> None:
        self.alpha = alpha
        self.risk = RigorousRisk(loss)
        self.affine_wrong_side = affine_wrong_side
        self.near, self.end = min(alpha, 1 - alpha), max(alpha, 1 - alpha)

    @cached_property
    def _nodes(self) -> dict[int, list[_Node]]:
        return {side: self._side(side, room) for side, room in ((1, 1 - self.alpha), (-1, self.alpha))}

    def _side(self, side: int, room: Fraction) -> list[_Node]:
        mesh = self._mesh(room)
        etas = [self.alpha + side * eps for eps in mesh]
        right, wrong = self.risk.minimisers(side, etas), self.risk.minimisers(-side, etas)
        return [self._node(side, *row) for row in zip(mesh, etas, right, wrong, strict=True)]

    def _mesh(self, room: Fraction) -> list[Fraction]:
        """Nodes of [0, room], dense at both ends; b is one of them wherever it fits."""
        count = _CONVEX_NODES if self.risk.convex else _OTHER_NODES
        even = [room * Fraction(k, count) for k in range(count + 1)]
        depth, per_octave = (24, 4) if self.risk.convex else (8, 1)
        shrunk = [Fraction(round(2 ** (-k / per_octave) * 2**40), 2**40) for k in range(1, depth * per_octave)]
        ends = [room * x / count for x in shrunk]
        far_ends = ends[:: 2 * per_octave]
        return sorted({*even, *ends, *(room - x for x in far_ends), *([self.near] if self.near <= room else [])})

    def _node(self, side: int, eps: Fraction, eta: Fraction, right: Fraction, left_behind: Fraction) -> _Node:
        a, b = eta, 1 - eta
        wrong = self._wrong_side(side, a, b, left_behind)
        best = self.risk.bounds(side, a, b, right)
        first, second = self.risk.value(best.at, best.at)
        return _Node(
            eps=eps,
            eta=eta,
            wrong_lower=wrong[0],
            wrong_upper=wrong[1],
            best_lower=min(best.lower, wrong[0]),
            majorant=(above(first.hi), above(second.hi)),
        )

    def _wrong_side(self, side: int, a: Fraction, b: Fraction, near: Fraction) -> tuple[Fraction, Fraction]:
        if self.affine_wrong_side:
            at_zero = self.risk.at(a, b, Fraction(0))
            return below(at_zero.lo), above(at_zero.hi)
        bounds = self.risk.bounds(-side, a, b, near)
        return bounds.lower, bounds.upper

    @cached_property
    def _lower(self) -> list[Vertex]:
        vertices = [vertex for side, nodes in self._nodes.items() for vertex in self._cells(side, nodes)]
        return hull([(Fraction(0), Fraction(0)), *vertices])

    def _cells(self, side: int, nodes: list[_Node]) -> list[Vertex]:
        found = []
        for left, right in pairwise(nodes):
            lines = [(Fraction(0), Fraction(0))]  # H >= 0
            for p, n in (left.majorant, right.majorant):
                lines.append((left.wrong_lower - _risk(left, p, n), right.wrong_lower - _risk(right, p, n)))
            found += vertices_of_largest(left.eps, right.eps, lines)
        return found

    @cached_property
    def _upper(self) -> list[Vertex]:
        values: dict[Fraction, Fraction] = {Fraction(0): Fraction(0)}
        for nodes in self._nodes.values():
            for node in nodes:
                if node.eps > 0:
                    values[node.eps] = min(values.get(node.eps, node.gap_upper), node.gap_upper)
        return hull(list(values.items()))

    def bounds(self, eps: Fraction) -> tuple[Fraction, Fraction]:
        """Rationals below and above psi(eps)."""
        lower, upper = on_hull(self._lower, eps), on_hull(self._upper, eps)
        return min(lower, upper), upper

    def inverse_of_lower(self, r: Fraction) -> Fraction:
        """sup{eps: lower bound <= r}: at least the inverse of psi."""
        vertices = self._lower
        if r >= vertices[-1][1]:
            return self.end
        values = [y for _, y in vertices]
        k = bisect_right(values, r)
        (x0, y0), (x1, y1) = vertices[k - 1], vertices[k]
        return x0 + (r - y0) * (x1 - x0) / (y1 - y0)


def _risk(node: _Node, p: Fraction, n: Fraction) -> Fraction:
    return node.eta * p + (1 - node.eta) * n


def vertices_of_largest(x0: Fraction, x1: Fraction, lines: list[tuple[Fraction, Fraction]]) -> list[Vertex]:
    """Vertices of the maximum of affine functions given by their values at x0 and x1."""
    places = {Fraction(0), Fraction(1)}
    for i, (u0, u1) in enumerate(lines):
        for v0, v1 in lines[:i]:
            change = (v1 - v0) - (u1 - u0)
            if change:
                place = (u0 - v0) / change
                if 0 < place < 1:
                    places.add(place)
    return [(x0 + s * (x1 - x0), max(u0 + s * (u1 - u0) for u0, u1 in lines)) for s in sorted(places)]


def hull(vertices: list[Vertex]) -> list[Vertex]:
    """Vertices of the lower convex hull, in order."""
    ordered = sorted(vertices)
    kept = lower_hull([x for x, _ in ordered], [y for _, y in ordered])
    return [ordered[k] for k in kept]


def on_hull(vertices: list[Vertex], x: Fraction) -> Fraction:
    """The piecewise linear function through vertices, at x; beyond the last, its value."""
    k = bisect_right(vertices, x, key=lambda vertex: vertex[0])
    if k >= len(vertices):
        return vertices[-1][1]
    (x0, y0), (x1, y1) = vertices[k - 1], vertices[k]
    return y0 + (x - x0) * (y1 - y0) / (x1 - x0)
