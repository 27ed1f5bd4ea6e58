"""Integrals of a smooth density by Gauss quadrature on panels, each summed from its own end to keep its digits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


class Panels:
    """A density of u on adjacent panels, scaled to the integral 1."""

    def __init__(self, edges: Array, density: Callable[[Array], Array]) -> None:
        self.edges = edges
        self._density = density
        self.scale = 1.0
        self._sums: dict[object, tuple[Array, Array]] = {}
        self.scale = 1 / float(self._cumulated(np.ones_like)[0][-1])
        self._sums.clear()

    def _integral(self, start: Array, end: Array, function: Callable[[Array], Array]) -> Array:
        half = (end - start) / 2
        u = start[..., None] + np.multiply.outer(half, NODES + 1)
        return half * ((self._density(u) * function(u)) @ WEIGHTS) * self.scale

    def _cumulated(self, function: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Integrals up to each edge, and beyond each edge."""
        if function not in self._sums:
            parts = self._integral(self.edges[:-1], self.edges[1:], function)
            up = np.concatenate([[0.0], np.cumsum(parts)])
            down = np.concatenate([np.cumsum(parts[::-1])[::-1], [0.0]])
            self._sums[function] = up, down
        return self._sums[function]

    def up_to(self, u: Array, function: Callable[[Array], Array]) -> Array:
        """The integral of the density times a function, up to u."""
        place = np.clip(u, self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, place, side="right") - 1, 0, len(self.edges) - 2)
        return self._cumulated(function)[0][panel] + self._integral(self.edges[panel], place, function)

    def beyond(self, u: Array, function: Callable[[Array], Array]) -> Array:
        """The integral of the density times a function, beyond u."""
        place = np.clip(u, self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, place, side="left") - 1, 0, len(self.edges) - 2)
        return self._cumulated(function)[1][panel + 1] + self._integral(place, self.edges[panel + 1], function)
