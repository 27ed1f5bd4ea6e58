"""How the loops here are compiled."""

from __future__ import annotations

from typing import Any

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
