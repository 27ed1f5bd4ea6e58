"""How the loops here are compiled."""

from __future__ import annotations

import time
from typing import Any

from numba.core import event

from uneven.solvers.running import say

#: Sums may be taken in any order, so that loops use vector registers; NaN and infinity keep their meaning. Functions
#: hold no lock, so threads can run them at the same time. The compiled code is kept on disk.
ANY_ORDER: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz"},
}
#: As above, for data that hold neither NaN nor infinity.
ANY_ORDER_FINITE: dict[str, Any] = {**ANY_ORDER, "fastmath": {"contract", "reassoc", "nsz", "nnan", "ninf"}}
#: Sums are taken in the order in which they are written.
IN_ORDER: dict[str, Any] = {**ANY_ORDER, "fastmath": {"contract"}}


class _Announcement(event.Listener):  # type: ignore[misc]
    """Says once that loops are being compiled, if that takes long: the first time on a machine it does.

    Code that is found on disk is not compiled, and gives no event.
    """

    #: Seconds of compilation that nobody notices.
    SHORT = 1.0

    def __init__(self) -> None:
        self.spent, self.started, self.said = 0.0, 0.0, False

    def on_start(self, event: Any) -> None:
        """A function is going to be compiled."""
        self.started = time.perf_counter()
        ours = getattr(event.data["dispatcher"], "__module__", "").startswith("uneven")
        if ours and self.spent >= self.SHORT and not self.said:
            self.said = True
            say("uneven", "compiling loops for this machine; this takes some seconds, once: they are kept on disk")

    def on_end(self, event: Any) -> None:
        """It is compiled."""
        self.spent += time.perf_counter() - self.started


announcement = _Announcement()
event.register("numba:compile", announcement)
