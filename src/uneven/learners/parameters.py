"""Checks of parameters that several learners have."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from uneven._inputs import brief
from uneven.errors import ParameterError

#: The seed of ``random_state=None``; making it takes longer than making a generator from it.
_ALWAYS = np.random.SeedSequence(0)


def require_integer(name: str, value: Any, *, least: int = 1, wanted: str = "a positive integer") -> None:
    """Raise unless a value is an integer of at least ``least``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be {wanted}, got {brief(value)}")


def require_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise unless a value is one of the choices."""
    if value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(choices)}, got {brief(value)}")


def generator(random_state: Any) -> np.random.Generator:
    """A NumPy generator from scikit-learn's ``random_state``; None always gives the same generator."""
    if random_state is None:
        return np.random.Generator(np.random.PCG64(_ALWAYS))
    from sklearn.utils import check_random_state

    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
