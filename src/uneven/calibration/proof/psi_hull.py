"""The lower convex hull of vertices in exact rationals, and the piecewise linear function through it."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

from uneven._hull import lower_hull

Vertex = tuple[Fraction, Fraction]


def vertices_of_largest(x0: Fraction, x1: Fraction, lines: list[tuple[Fraction, Fraction]]) -> list[Vertex]:
    """Vertices of the maximum of affine functions; each is given by its values at x0 and x1."""
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
    """The value at x of the piecewise linear function through the vertices; constant beyond the last vertex."""
    k = bisect_right(vertices, x, key=lambda vertex: vertex[0])
    if k >= len(vertices):
        return vertices[-1][1]
    (x0, y0), (x1, y1) = vertices[k - 1], vertices[k]
    return y0 + (x - x0) * (y1 - y0) / (x1 - x0)


def inverse_on_hull(vertices: list[Vertex], y: Fraction) -> Fraction | None:
    """The largest x at which the rising function through the vertices is at most y; None if it is nowhere larger."""
    if y >= vertices[-1][1]:
        return None
    k = bisect_right([height for _, height in vertices], y)
    (x0, y0), (x1, y1) = vertices[k - 1], vertices[k]
    return x0 + (y - y0) * (x1 - x0) / (y1 - y0)
