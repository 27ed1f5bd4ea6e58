"""A small fuzz that looks for texts which take long: formulas wrapped around each other again and again."""

from __future__ import annotations

import contextlib
import random
import time

import pytest

import uneven
from uneven.errors import UnevenError
from uneven.expression import parse
from uneven.expression.functions import FUNCTIONS
from uneven.expression.tree import MAX_CHARACTERS

WRAPPERS = [
    *(f"{name}({{}} - K)" for name, function in FUNCTIONS.items() if function.arity == 1 and function.orders is None),
    *(f"{name}({{}} - K, 3)" for name, function in FUNCTIONS.items() if function.orders is not None),
    *(f"{name}({{}}, K - t)" for name, function in FUNCTIONS.items() if function.arity == 2),
    "where(t < K, {}, K)", "where({} < K, t, K)", "({} - 1/3)**2 + 1e-900", "({})*({})", "({})*exp(-t)", "({})**t",
    "log(exp({}) + exp(t))", "t*({})", "1/(1 + abs({}))", "K*{}", "abs({}) + {}", "({})**1.5", "1 - {}",
]  # fmt: skip
NUMBERS = ["1", "2", "0.1", "1/3", "1e-5", "1e9", "1e300", "1e-900"]


def grown(rng: random.Random) -> str:
    """A text nested, or a sum continued, until the parser refuses it."""
    wrappers = rng.choices(WRAPPERS, k=rng.choice([1, 2, 3]))
    nests = rng.random() < 0.6
    text = rng.choice(["t", "exp(t)", "t**3 - t", "abs(t - 1)", "softplus(-t)"])
    for i in range(rng.choice([6, 12, 30, 60])):
        inner = text if nests else f"(t - {i})"
        step = wrappers[i % len(wrappers)].replace("K", rng.choice(NUMBERS)).replace("{}", inner)
        longer = step if nests else f"{text} + {step}"
        if len(longer) > MAX_CHARACTERS:
            break
        try:
            parse(longer)
        except UnevenError:
            break
        text = longer
    return text


@pytest.mark.parametrize("seed", range(30))
def test_an_answer_comes_soon(seed: int) -> None:
    text = grown(random.Random(seed))
    start = time.thread_time()
    with contextlib.suppress(UnevenError):
        uneven.phi(text).kinks  # noqa: B018 - must end as well
    assert time.thread_time() - start < 5.0, text
