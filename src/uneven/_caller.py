"""Warnings that point at the line of the user's code which made the call."""

from __future__ import annotations

import sys
import warnings

#: Packages whose frames stand between the user's line and the warning: ours, and the tools that call our estimators.
_BETWEEN = ("uneven", "sklearn", "joblib")


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside this package and scikit-learn.

    A fixed ``stacklevel`` is wrong as soon as ``fit`` is called by a pipeline, a search or another learner. Python 3.12
    has ``skip_file_prefixes`` for this; 3.11 has not.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_between(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_between(module: str) -> bool:
    return module.partition(".")[0] in _BETWEEN
