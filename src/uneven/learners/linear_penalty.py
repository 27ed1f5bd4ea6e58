"""The penalty of a linear learner, from its parameters ``penalty`` and ``l1_ratio``."""

from __future__ import annotations

from numbers import Real
from typing import Any

from uneven._inputs import brief
from uneven.errors import ParameterError

PENALTIES = ("l2", "l1", "elasticnet", None)


def penalty_weights(penalty: Any, l1_ratio: Any) -> tuple[float, float]:
    """The weights of the l1 norm of w, and of half its squared norm.

    Examples
    --------
    >>> from uneven.learners.linear_penalty import penalty_weights
    >>> penalty_weights("l2", None), penalty_weights("elasticnet", 0.25)
    ((0.0, 1.0), (0.25, 0.75))
    """
    if not (penalty is None or (isinstance(penalty, str) and penalty in PENALTIES)):
        raise ParameterError(f"penalty must be 'l2', 'l1', 'elasticnet' or None, got {brief(penalty)}")
    if penalty != "elasticnet":
        if l1_ratio is not None:
            raise ParameterError(
                f"l1_ratio is for penalty='elasticnet' only, got l1_ratio={brief(l1_ratio)} with penalty={penalty!r}; "
                "leave it out"
            )
        return {"l2": (0.0, 1.0), "l1": (1.0, 0.0), None: (0.0, 0.0)}[penalty]
    if isinstance(l1_ratio, bool) or not isinstance(l1_ratio, Real) or not 0 <= float(l1_ratio) <= 1:
        raise ParameterError(f"penalty='elasticnet' needs l1_ratio, a number from 0 to 1, got {brief(l1_ratio)}")
    return float(l1_ratio), 1.0 - float(l1_ratio)
