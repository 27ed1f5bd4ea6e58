"""Slopes and second derivatives of the rows' losses, kept so that they are not computed twice at the same scores."""

from __future__ import annotations

import numpy as np


class RowSlopes:
    """Slopes and second derivatives of losses without kinks in their scores, as they were evaluated last.

    Second derivatives (``bends``) are kept from the first time on that they are asked for: a proof does without.
    """

    def __init__(self, n: int) -> None:
        self.slopes, self.bends = np.empty(n), np.empty(0)
        self.loss = np.inf
        self.place: tuple[np.ndarray | None, float] | None = None

    def evaluated(self, q: np.ndarray | None, at: float, loss: float) -> None:
        """They are now those at the scores t + at * q."""
        self.place, self.loss = (q, at), loss

    def keep_bends(self) -> None:
        """Keep the second derivatives, too."""
        if self.bends.size != self.slopes.size:
            self.bends, self.place = np.empty(self.slopes.size), None

    def moved(self, q: np.ndarray | None, at: float) -> None:
        """The scores have been moved by at * q."""
        here = self.place is not None and self.place[0] is q and self.place[1] == at
        self.place = (None, 0.0) if here else None

    def forget(self) -> None:
        """The scores have changed in another way."""
        self.place = None

    @property
    def current(self) -> bool:
        """Whether they are those at the current scores."""
        return self.place is not None and self.place[1] == 0.0
