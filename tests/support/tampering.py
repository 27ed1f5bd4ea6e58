"""Random changes of a certificate, like those of a forger."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from uneven.calibration import Certificate, verify
from uneven.errors import CertificateError
from uneven.expression.text import number_text


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(data, dict | list):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from _places(data[key], (*path, key))


def mutated(rng: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    """One random change: a value, a missing or doubled or swapped entry."""
    mutant = copy.deepcopy(document)
    path = rng.choice([path for path in _places(mutant) if path])
    parent: Any = mutant
    for key in path[:-1]:
        parent = parent[key]
    key, value = path[-1], parent[path[-1]]
    if isinstance(parent, list) and rng.random() < 0.4:
        change = rng.choice(["drop", "double", "swap"])
        if change == "drop":
            del parent[key]
        elif change == "double":
            parent.insert(key, copy.deepcopy(value))
        else:
            other = rng.randrange(len(parent))
            parent[key], parent[other] = parent[other], parent[key]
    elif isinstance(value, str):
        parent[key] = _other_text(rng, value)
    elif isinstance(value, bool) or value is None:
        parent[key] = rng.choice([True, False, None, "0.5", []])
    elif isinstance(value, int):
        parent[key] = rng.choice([-value, value + 1, 0, str(value)])
    else:
        parent[key] = rng.choice([None, [], {}, "0", 1])
    return mutant


def _other_text(rng: random.Random, text: str) -> str:
    try:
        value = Fraction(text)
    except ValueError:
        words = [
            "value",
            "falls",
            "rises",
            "tangent",
            "mean",
            "balanced",
            "fades",
            "flat",
            "inf",
            "-inf",
            "0",
            "floor",
            "point",
            "at 0",
            "beyond 0",
        ]
        return rng.choice([*words, text.replace("t", "2*t"), text.replace("2", "3"), text + " "])
    change = [-value, value + Fraction(1, 10**14), value * Fraction(1001, 1000), value / 2, 1 - value, value + 1]
    return rng.choice([*map(number_text, change), "inf", "x"])


def is_accepted(certificate: Certificate | str) -> bool:
    """Whether a certificate is accepted; a text that is no longer a certificate is not."""
    try:
        return bool(verify(certificate))
    except CertificateError as error:
        assert error.unreadable
        return False
