"""The engine against an independent table at 30 digits (made by make_calibration_reference.py).

For a phi that is not in the table a few rows are computed here, by brute force from its sentence.
"""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from live_calibration import computed_rows
from places import REFERENCE

import uneven

TABLE = REFERENCE / "calibration.json"


@cache
def rows(kind: str) -> dict[str, dict[tuple[float, float], np.ndarray]]:
    """Rows by phi and by (alpha, gamma), numbers as floats (psi not computed: NaN)."""
    with TABLE.open() as file:
        data = json.load(file)[kind]["rows"]
    groups: dict[str, dict[tuple[float, float], list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for name, alpha, gamma, *rest in data:
        groups[name][float(alpha), float(gamma)].append([float("nan") if x is None else float(x) for x in rest])
    return {name: {key: np.array(values) for key, values in inner.items()} for name, inner in groups.items()}


def rows_of(kind: str, name: str) -> dict[tuple[float, float], np.ndarray]:
    """Rows of one phi, from the table or else computed."""
    return rows(kind)[name] if name in rows(kind) else computed_rows(name)[kind]


def relative(found: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Relative error; where the truth is 0, the absolute one."""
    return np.abs(found - true) / np.where(true == 0, 1.0, np.abs(true))


@pytest.mark.parametrize("name", uneven.losses.names())
def test_conditional_risks(name: str) -> None:
    """C* and C^- to 1e-12; H to 1e-12 where it is not tiny, 1e-8 down to |eta - alpha| = 1e-7."""
    for (alpha, gamma), table in rows_of("conditional", name).items():
        a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha))
        eta, best, wrong, gap = table.T
        where = f"alpha={alpha} gamma={gamma}"
        scale = wrong.max()
        assert np.all(np.abs(a.optimal_risk(eta) - best) <= 1e-12 * best + 1e-28 * scale), where
        assert np.all(np.abs(a.wrong_side_risk(eta) - wrong) <= 1e-12 * wrong + 1e-28 * scale), where
        found = a.H(eta)
        error = relative(found, gap)
        settled = (gap > 1e-4 * scale) | (gap == 0)
        assert np.all(error[settled] <= 1e-12 * np.maximum(1, scale)), (where, eta[settled], error[settled])
        assert np.all(error <= 1e-8), (where, eta, error)


@cache
def exact_psi() -> dict[tuple[str, float, float], list[tuple[Fraction, Fraction]]]:
    """Pairs (eps, psi) as rationals: eps the double, psi the 24 digits of the table."""
    with TABLE.open() as file:
        data = json.load(file)["bounds"]["rows"]
    found = defaultdict(list)
    for name, alpha, gamma, eps, _, _, psi in data:
        if psi is not None:
            found[name, float(alpha), float(gamma)].append((Fraction(float(eps)), Fraction(psi)))
    return found


@pytest.mark.parametrize(
    ("name", "alpha", "gamma"),
    [
        ("hinge", 0.1, 2.0),
        ("squared", 0.8, 0.5),
        ("exponential", 0.25, 10.0),
        ("logistic", 0.25, 2.0),
        ("modified_huber", 0.5, 0.1),
        ("sigmoid", 0.5, 2.0),
        ("tangent", 0.8, 2.0),
        ("ramp", 0.25, 0.5),
    ],
)
def test_the_enclosure_contains_psi_to_every_digit(name: str, alpha: float, gamma: float) -> None:
    """Compared in rationals: the table is right to 22 digits, the bounds must hold without any slack of ours."""
    a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha))
    digits = Fraction(1, 10**22)
    for eps, psi in exact_psi()[name, alpha, gamma]:
        lower, upper = map(Fraction, a.psi_bounds(float(eps)))
        assert lower <= psi + digits
        assert upper >= psi - digits


@pytest.mark.slow
@pytest.mark.parametrize("name", uneven.losses.names())
def test_bounds(name: str) -> None:
    """nu, mu, psi to 1e-10, and psi_inverse undoes psi."""
    for (alpha, gamma), table in rows_of("bounds", name).items():
        a = uneven.analyze(uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha))
        eps, nu, mu, psi = table.T
        where = f"alpha={alpha} gamma={gamma}"
        # At b the reference, like us, takes the smaller value.
        assert np.all(relative(a.nu(eps), nu) <= 1e-10), (where, eps, a.nu(eps), nu)
        assert np.all(relative(a.mu(eps), mu) <= 1e-10), where
        known = ~np.isnan(psi)
        if known.any():
            found = a.psi(eps[known])
            assert np.all(relative(found, psi[known]) <= 1e-10), (where, eps[known], found, psi[known])
            back = a.psi_inverse(found)
            positive = found > 0
            assert np.allclose(back[positive], eps[known][positive], rtol=1e-8, atol=1e-8), where
            assert np.all(back >= eps[known] - 1e-8), where
