"""Random losses that jump at t = 0, with the exact infima of their conditional risk over both decisions.

On each side of 0 both partial losses are constant on steps, or affine in expit(t). So for every eta the infimum over a
side is the smallest of finitely many expected losses: of the steps, of the limits at the ends, and of t = 0 itself.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

import uneven
from uneven.expression.text import number_text

Pair = tuple[Fraction, Fraction]  # the losses of a positive and of a negative example

_FAR, _TINY = 60.0, 1e-30


@dataclass(frozen=True)
class Jumping:
    """A loss; per decision, what its partial losses attain or approach; and values of t with these losses."""

    loss: uneven.Loss
    positive: tuple[Pair, ...]
    negative: tuple[Pair, ...]
    places: tuple[float, ...]
    at_zero: Pair

    def infima(self, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A and B, in floats."""
        first, second = (
            np.min([eta * float(p) + (1 - eta) * float(n) for p, n in side], axis=0)
            for side in (self.positive, self.negative)
        )
        return first, second

    def difference(self, eta: Fraction) -> Fraction:
        """A - B, exactly."""
        return smallest(self.positive, eta) - smallest(self.negative, eta)

    def kinks(self) -> list[Fraction]:
        """0, 1, and every eta at which A - B, which is piecewise affine, may have a kink or changes its sign."""
        nodes = sorted({Fraction(0), Fraction(1), *_crossings(self.positive), *_crossings(self.negative)})
        return nodes + self._sign_changes(nodes)

    def _sign_changes(self, nodes: list[Fraction]) -> list[Fraction]:
        values = [(eta, self.difference(eta)) for eta in nodes]
        return [low + (high - low) * u / (u - v) for (low, u), (high, v) in pairwise(values) if u * v < 0]

    def only_alpha(self) -> Fraction | None:
        """The alpha for which it is calibrated: A - B is positive below and negative above."""
        zeros = [eta for eta in self.kinks() if self.difference(eta) == 0]
        once = len(zeros) == 1 and self.difference(Fraction(0)) > 0 > self.difference(Fraction(1))
        return zeros[0] if once else None

    def printed_definition_holds(self, alpha: Fraction) -> bool:
        """Definition 1 as printed: t = 0 counts as a positive decision too. Its H below alpha must not vanish."""
        nodes = sorted({Fraction(0), *(eta for eta in _crossings((*self.negative, self.at_zero)) if eta < alpha)})
        tried = [*nodes, *((low + high) / 2 for low, high in pairwise([*nodes, alpha]))]
        return all(smallest((self.at_zero,), eta) > smallest(self.negative, eta) for eta in tried)


def smallest(side: tuple[Pair, ...], eta: Fraction) -> Fraction:
    return min(eta * p + (1 - eta) * n for p, n in side)


def _crossings(side: tuple[Pair, ...]) -> list[Fraction]:
    """The eta in (0, 1) at which two of the expected losses are equal."""
    found = []
    for k, (p, n) in enumerate(side):
        for q, m in side[:k]:
            slope = (p - n) - (q - m)
            if slope != 0 and 0 < (m - n) / slope < 1:
                found.append((m - n) / slope)
    return found


def jumping_loss(rng: random.Random) -> Jumping:
    """Steps, or pieces that are affine in expit(t)."""
    return _steps(rng) if rng.random() < 0.6 else _curves(rng)


def _value(rng: random.Random, shift: int) -> Fraction:
    """Often such that positives want t > 0 and negatives t < 0; small numbers, so that ties are frequent."""
    return Fraction(max(0, rng.randint(0, 8) + shift), 8)


def _steps(rng: random.Random) -> Jumping:
    edges = [Fraction(rng.randint(1, 3), 2) for _ in range(2)]
    lean = rng.choice((0, 3, 6))
    losses = [[_value(rng, -s * lean), _value(rng, s * lean)] for s in (-1, -1, 0, 1, 1)]
    texts = []
    for which in (0, 1):
        a, b, c, d, e = (number_text(pair[which]) for pair in losses)
        left, right = number_text(-edges[0]), number_text(edges[1])
        texts.append(f"where(t < {left}, {a}, where(t < 0, {b}, where(t <= 0, {c}, where(t <= {right}, {d}, {e}))))")
    pairs = [(p, n) for p, n in losses]
    places = (-_FAR, -float(edges[0]), 0.0, float(edges[1]), _FAR)
    return Jumping(uneven.Loss(*texts), tuple(pairs[3:]), tuple(pairs[:3]), places, pairs[2])


def _curves(rng: random.Random) -> Jumping:
    lean = rng.choice((0, 3, 6))
    ends = [[_value(rng, -s * lean), _value(rng, s * lean)] for s in (-1, -1, 0, 1, 1)]  # at -inf, 0-, 0, 0+, inf
    texts = []
    for which in (0, 1):
        far, before, at, after, end = (pair[which] for pair in ends)
        left = f"{number_text(far)} + ({number_text(2 * (before - far))})*expit(t)"
        right = f"{number_text(end)} + ({number_text(2 * (after - end))})*expit(-t)"
        texts.append(f"where(t < 0, {left}, where(t > 0, {right}, {number_text(at)}))")
    pairs = [(p, n) for p, n in ends]
    places = (-_FAR, -_TINY, 0.0, _TINY, _FAR)
    return Jumping(uneven.Loss(*texts), tuple(pairs[3:]), tuple(pairs[:3]), places, pairs[2])
