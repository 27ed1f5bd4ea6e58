"""The registered phis as test cases: with several parameter values, and those that are calibrated for some costs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import uneven
from uneven.losses import Parameter, declared

NAMES = uneven.losses.names()


def other_values(parameter: Parameter) -> list[Fraction]:
    """Parameter values to test besides the default: the ends of the range, one near its lower end, one far above."""
    default = Fraction(parameter.default)
    lower = parameter.at_least if parameter.at_least is not None else parameter.above
    found = [parameter.at_least, parameter.at_most, default * Fraction(5, 2)]
    if lower is not None:
        found.append(lower + (default - lower) / 10)
    allowed = [
        value
        for value in found
        if value is not None
        and (parameter.at_least is None or value >= parameter.at_least)
        and (parameter.above is None or value > parameter.above)
        and (parameter.at_most is None or value <= parameter.at_most)
        and not (parameter.whole and Fraction(value).denominator != 1)
    ]
    return sorted({Fraction(value) for value in allowed} - {default})


#: Every phi with its default parameters, and with each parameter at other values.
CASES: list[tuple[str, dict[str, Fraction]]] = [
    (name, given)
    for name in NAMES
    for given in [{}, *({p.name: value} for p in declared(name).parameters for value in other_values(p))]
]


def _sides_differ(name: str) -> bool:
    """Whether t < 0 is clearly better at eta = 0.49 and gamma = 1, on a grid of t."""
    t = np.concatenate([[0.0], np.geomspace(1e-6, 1, 2000), np.linspace(1, 60, 6001), np.geomspace(60, 1e9, 200)])
    loss = uneven.UnevenMarginLoss(name)
    right, left = (float(np.min(loss.conditional_risk(0.49, side * t))) for side in (1, -1))
    return right > left * (1 + 1e-12)


#: The phis that are calibrated for equal costs at gamma = 1; the perceptron is not.
CALIBRATED: list[str] = [name for name in NAMES if _sides_differ(name)]
