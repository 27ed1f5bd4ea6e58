"""Whether a theta separates the classes: then, without a penalty, larger coefficients always lower the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.parts.block import Block


@dataclass(frozen=True)
class Separated:
    """Whether every row is on its side."""

    all_rows: bool

    def __add__(self, other: Separated) -> Separated:
        return Separated(self.all_rows and other.all_rows)


@dataclass(frozen=True)
class SeparatedBy:
    """Ask whether a theta puts every row on its side of 0."""

    theta: np.ndarray
    pair: PairOfLosses

    def answer(self, block: Block) -> Separated:
        """The answer for one block."""
        return Separated(block.losses(self.pair).separates(self.theta))
