"""Labels as users of PyTorch and JAX have them: 0 and 1, or -1 and 1. What is above 0 is positive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uneven._inputs import brief
from uneven.errors import ParameterError


def require_hard(*, zero: bool, minus_one: bool, other: bool, example: Callable[[], Any]) -> None:
    """Raise unless the labels are of one of the two kinds.

    Parameters
    ----------
    zero, minus_one, other : bool
        Whether there is a label 0, a label -1, and one that is none of 0, 1 and -1.
    example : callable
        Returns such a label, for the message.
    """
    if other:
        raise ParameterError(
            f"targets must be 0 and 1, or -1 and 1, got {brief(example())}; soft labels, such as those of label "
            "smoothing, would change the costs that the loss assumes"
        )
    if zero and minus_one:
        raise ParameterError("targets must be 0 and 1, or -1 and 1, got both 0 and -1")
