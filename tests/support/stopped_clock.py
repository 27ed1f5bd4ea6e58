"""A clock for tests of time limits: a busy machine does not move it."""

from __future__ import annotations


class StoppedClock:
    """Stands in for ``time.monotonic``: shows the same time until somebody moves it."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        return self._now

    def move(self, seconds: float) -> None:
        self._now += seconds
