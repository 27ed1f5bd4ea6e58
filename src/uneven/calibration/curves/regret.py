"""nu, mu, psi and the inverse of psi, which bound the cost regret by the surrogate regret (theorem 1)."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from uneven.calibration.curves.hull import Gap, find_gaps, mesh, zero_between
from uneven.calibration.risk.conditional import ConditionalRisk
from uneven.calibration.risk.probabilities import Probabilities

# nu may jump just right of b. An eps that exceeds b only by rounding counts as b, where nu has its smaller, safe value.
_SLACK = 1 + 4 * 2.0**-52


class RegretCurves:
    """H, nu, mu and psi of one loss at one alpha, vectorised."""

    def __init__(self, risk: ConditionalRisk, alpha: Fraction, *, monotone: bool) -> None:
        self.risk = risk
        self.alpha = alpha
        self.monotone = monotone
        self.near = min(alpha, 1 - alpha)
        self.largest = max(alpha, 1 - alpha)
        self.b, self.end = float(self.near), float(self.largest)

    def H(self, points: Probabilities) -> np.ndarray:  # noqa: N802 - the paper's symbol
        """max(0, D) below alpha, max(0, -D) above, 0 at alpha."""
        side = -np.sign(points.minus(self.alpha))
        return np.maximum(side * self.risk.sides(points).difference, 0.0) + 0.0

    def branches(self, eps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """H(alpha + eps) and H(alpha - eps), infinite outside [0, 1]."""
        offsets, admissible = [], []
        for sign, room in ((1, 1 - self.alpha), (-1, self.alpha)):
            admissible.append(eps <= float(room) * _SLACK)
            inside = eps[admissible[-1]]
            offsets.append(sign * np.minimum(inside, float(room)))
        found = self.H(Probabilities(self.alpha, np.concatenate(offsets)))
        up, down = np.full(eps.shape, np.inf), np.full(eps.shape, np.inf)
        up[admissible[0]], down[admissible[1]] = np.split(found, [offsets[0].size])
        return up, down

    def nu(self, eps: np.ndarray) -> np.ndarray:
        up, down = self.branches(eps)
        return np.minimum(up, down)

    @cached_property
    def _hull(self) -> tuple[np.ndarray, np.ndarray, list[Gap]]:
        return find_gaps(self.nu, self.branches, mesh(self.b, self.end))

    @property
    def gaps(self) -> list[Gap]:
        return self._hull[2]

    def mu(self, eps: np.ndarray) -> np.ndarray:
        """The infimum of nu over [eps, B]: nu itself if Lemma M applies, else from the minima of nu on the mesh."""
        value = self.nu(eps)
        if self.monotone:
            return value
        nodes, values = self._descents
        suffix = np.minimum.accumulate(values[::-1])[::-1]
        following = np.searchsorted(nodes, eps, side="left")
        beyond = np.append(suffix, np.inf)[following]
        return np.minimum(value, beyond)

    @cached_property
    def _descents(self) -> tuple[np.ndarray, np.ndarray]:
        """Mesh nodes and refined local minima of nu."""
        nodes, values = self._hull[0], self._hull[1]
        for _ in range(6):
            dips = np.flatnonzero((values[1:-1] < values[:-2]) & (values[1:-1] <= values[2:])) + 1
            if dips.size == 0:
                break
            extra = np.concatenate([np.linspace(nodes[k - 1], nodes[k + 1], 17) for k in dips[:20]])
            nodes = np.union1d(nodes, extra)
            values = self.nu(nodes)
        return nodes, values

    def psi(self, eps: np.ndarray) -> np.ndarray:
        """The convex hull of nu: chords over the gaps, nu elsewhere."""
        outside = np.ones(eps.shape, dtype=bool)
        value = np.empty(eps.shape)
        for gap in self.gaps:
            inside = (eps > gap.left) & (eps < gap.right)
            value[inside] = gap.value(eps[inside])
            outside &= ~inside
        value[outside] = self.nu(eps[outside])
        return value

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        nodes = np.union1d(self._hull[0], [x for gap in self.gaps for x in (gap.left, gap.right)])
        return nodes, np.maximum.accumulate(self.psi(nodes))

    def psi_inverse(self, r: np.ndarray) -> np.ndarray:
        """sup{eps <= B: psi(eps) <= r}."""
        nodes, values = self._table
        cell = np.searchsorted(values, r, side="right")  # values[cell - 1] <= r < values[cell]
        result = np.full(r.shape, self.end)
        rows = np.flatnonzero((cell < nodes.size) & (r > 0))
        low, high = cell[rows] - 1, cell[rows]
        target = r[rows]
        result[rows] = zero_between(
            lambda eps, live: self.psi(eps) - target[live],
            nodes[low],
            nodes[high],
            values[low] - target,
            values[high] - target,
        )
        if np.any((r == 0) & (cell < nodes.size)):
            result[r == 0] = self._end_of_zeros
        return result

    @cached_property
    def _end_of_zeros(self) -> float:
        """The largest eps with psi(eps) = 0; it is 0 for a calibrated loss."""
        nodes, values = self._table
        first = int(np.searchsorted(values, 0.0, side="right"))
        low, high = nodes[first - 1], nodes[first]
        while low < (middle := 0.5 * (low + high)) < high:
            low, high = (middle, high) if self.psi(np.array([middle]))[0] <= 0 else (low, middle)
        return float(low)
