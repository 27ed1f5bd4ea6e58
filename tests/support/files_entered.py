"""Which source files a call enters: how many files a reader has to open to follow it.

``python tests/support/files_entered.py`` prints those of a warm linear fit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import uneven

PACKAGE = Path(uneven.__file__).parent


def files_entered(call: Callable[[], Any]) -> list[str]:
    """Files of this package, relative to it, of which a function runs during the call in this thread; sorted."""
    found: set[str] = set()

    def notice(frame: Any, event: str, value: Any) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        call()
    finally:
        sys.setprofile(before)
    inside = (Path(name) for name in found)
    return sorted(str(path.relative_to(PACKAGE)) for path in inside if path.is_relative_to(PACKAGE))


def entered_by_linear_fit() -> list[str]:
    """Files of the second of two equal fits of the linear classifier: what is made once is there already."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 5))
    y = X[:, 0] + random.logistic(size=200) > 1
    learner = uneven.UnevenLinearClassifier(fn_cost=5).fit(X, y)
    return files_entered(lambda: learner.fit(X, y))


if __name__ == "__main__":
    files = entered_by_linear_fit()
    print("\n".join(files))
    print(len(files), "files")
