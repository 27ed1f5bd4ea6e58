"""Every phi and every negative partial loss against mpmath, from 5e-324 to 1e308.

The true numbers come from a table made by make_reference.py, which has formulas of its own; for a phi that is not in
the table they are computed here from its sentence (sentence_reference.py).
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import make_reference
import numpy as np
import pytest
from registered import NAMES
from sentence_reference import derivatives, function_of, wide

import uneven

TABLE = json.loads(make_reference.TABLE.read_text(encoding="utf-8"))
TABULATED = sorted(make_reference.REFERENCES)
RELATIVE = {"value": 4e-15, "slope": 2e-13, "curvature": 2e-13}
RELATIVE_FLOAT32 = 1e-5
UNIT_ROUNDOFF = 2.0**-53

Entry = dict[str, Any]
each_phi = pytest.mark.parametrize("name", NAMES)
each_quantity = pytest.mark.parametrize("quantity", RELATIVE)


def entries_of(kind: str, name: str, **wanted: Any) -> list[Entry]:
    """The entries of one phi, from the table or else computed."""
    entries = TABLE[kind] if name in TABULATED else computed(name)[kind]
    return [e for e in entries if e["phi"] == name and all(e[key] == value for key, value in wanted.items())]


@cache
def computed(name: str) -> dict[str, list[Entry]]:
    """Entries like those of the table, from the sentence of a phi."""
    negative = [(gamma, t) for gamma in make_reference.GAMMAS for t in make_reference.UNEVEN_POINTS]
    return {
        "phi": [{"phi": name, "t": t, **of_sentence(name, t)} for t in make_reference.POINTS],
        "negative": [{"phi": name, "gamma": g, "t": t, **of_sentence(name, t, g)} for g, t in negative],
    }


def of_sentence(name: str, t: float, gamma: float | None = None) -> Entry:
    """What is true of phi, or of phi(-gamma t)/gamma, at t."""
    phi = uneven.phi(name)
    function = function_of(phi.declaration.sentence, phi.exact_parameters, wide)
    inner, weight = (wide.one, wide.one) if gamma is None else (-wide.mpf(gamma), 1 / wide.mpf(gamma))
    found = derivatives(function, inner * wide.mpf(t))
    factors = (weight, weight * inner, weight * inner**2)
    return {
        quantity: None if value is None else make_reference.written(make_reference.mp.mpf(factor * value))
        for quantity, value, factor in zip(RELATIVE, found, factors, strict=True)
    }


def column(entries: list[Entry], key: str) -> np.ndarray:
    """One number of each entry, NaN where it does not exist."""
    return np.array([math.nan if entry[key] is None else float(entry[key]) for entry in entries])


def of_phi(name: str, quantity: str) -> Callable[[Any], Any]:
    """The package's phi, its slope or its curvature."""
    phi = uneven.phi(name)
    return {"value": phi, "slope": phi.slope, "curvature": phi.curvature}[quantity]


def of_negative(name: str, gamma: float, quantity: str) -> Callable[[Any], Any]:
    """The package's negative partial loss, its slope or its curvature."""
    loss = uneven.UnevenMarginLoss(name, gamma=gamma)
    if quantity == "value":
        return loss.negative
    derivative = loss.slope if quantity == "slope" else loss.curvature
    return lambda t: derivative(-1, t)


def allowance(true: np.ndarray, quantity: str, relative: float) -> np.ndarray:
    """How far a result may be off: a relative error, and for values four subnormals."""
    limits = np.finfo(true.dtype)
    if quantity == "value":
        return relative * np.abs(true) + 4 * limits.smallest_subnormal
    return relative * np.maximum(np.abs(true), limits.tiny)


def rounded_product(entries: list[Entry]) -> np.ndarray:
    """What half an ulp in the product gamma*t is worth: a loss is evaluated at the nearest double to it."""
    with np.errstate(over="ignore"):
        worth = UNIT_ROUNDOFF * np.abs(column(entries, "t") * column(entries, "slope"))
    return np.where(np.isfinite(worth), worth, 0)


def wrong(got: np.ndarray, true: np.ndarray, allowed: np.ndarray, entries: list[Entry]) -> list[str]:
    """A line for every result that is NaN or further from an existing true number than allowed."""
    with np.errstate(all="ignore"):
        right = np.isnan(true) | (got == true) | (np.isfinite(true) & (np.abs(got - true) <= allowed))
    bad = np.flatnonzero(np.isnan(got) | ~right)
    return [f"gave {got[i]!r}, true {true[i]!r}, may be off {allowed[i]:.2g}: {entries[i]}" for i in bad]


@each_quantity
@each_phi
def test_phi_is_what_mpmath_says(name: str, quantity: str) -> None:
    """Every phi is right to its last digits, at every scale."""
    entries = entries_of("phi", name)
    true = column(entries, quantity)
    got = of_phi(name, quantity)(column(entries, "t"))
    complaints = wrong(got, true, allowance(true, quantity, RELATIVE[quantity]), entries)
    assert not complaints, "\n".join(complaints)


@each_quantity
@pytest.mark.parametrize("order", make_reference.ORDERS)
def test_every_order_is_what_mpmath_says(order: int, quantity: str) -> None:
    """A power of order k multiplies the rounding error of its base by k."""
    entries = [e for e in TABLE["orders"] if e["order"] == order]
    true = column(entries, quantity)
    phi = uneven.phi("beta", order=order)
    got = {"value": phi, "slope": phi.slope, "curvature": phi.curvature}[quantity](column(entries, "t"))
    relative = max(RELATIVE[quantity], 5e-16 * order)
    complaints = wrong(got, true, allowance(true, quantity, relative), entries)
    assert not complaints, "\n".join(complaints)


@each_quantity
@each_phi
def test_negative_partial_is_what_mpmath_says(name: str, quantity: str) -> None:
    """phi(-gamma t)/gamma is right although gamma*t or phi of it may leave the doubles."""
    complaints = []
    for gamma in make_reference.GAMMAS:
        entries = entries_of("negative", name, gamma=gamma)
        true = column(entries, quantity)
        allowed = allowance(true, quantity, RELATIVE[quantity])
        if quantity == "value":
            allowed += rounded_product(entries)
        complaints += wrong(of_negative(name, gamma, quantity)(column(entries, "t")), true, allowed, entries)
    assert not complaints, "\n".join(complaints)


@each_quantity
@each_phi
def test_never_nan_at_infinity(name: str, quantity: str) -> None:
    """Infinite t, single or double, gives the limit, not NaN."""
    functions = [of_phi(name, quantity), *(of_negative(name, gamma, quantity) for gamma in make_reference.GAMMAS)]
    for function in functions:
        for dtype in (np.float64, np.float32):
            assert not np.isnan(function(np.array([-np.inf, np.inf], dtype=dtype))).any()


@each_quantity
@each_phi
def test_float32_stays_float32(name: str, quantity: str) -> None:
    """Single precision in, single precision out, and right to 1e-5."""
    complaints = []
    functions = [(of_phi(name, quantity), entries_of("phi", name))]
    for gamma in make_reference.GAMMAS:
        functions.append((of_negative(name, gamma, quantity), entries_of("negative", name, gamma=gamma)))
    for function, every_entry in functions:
        entries = [e for e in every_entry if e["t"] == 0 or 1e-37 < abs(e["t"]) <= 38]
        got = function(column(entries, "t").astype(np.float32))
        assert got.dtype == np.float32
        with np.errstate(over="ignore", under="ignore"):
            true = column(entries, quantity).astype(np.float32)
        complaints += wrong(got, true, allowance(true, quantity, RELATIVE_FLOAT32), entries)
    assert not complaints, "\n".join(complaints)


@pytest.mark.slow
def test_table_is_what_its_script_writes() -> None:
    """The grid is complete, and another handful of entries at every run is computed again."""
    grid = [(name, t) for name in TABULATED for t in make_reference.POINTS]
    uneven_points = make_reference.UNEVEN_POINTS
    uneven_grid = [(name, gamma, t) for name in TABULATED for gamma in make_reference.GAMMAS for t in uneven_points]
    assert [(e["phi"], e["t"]) for e in TABLE["phi"]] == grid
    assert [(e["phi"], e["gamma"], e["t"]) for e in TABLE["negative"]] == uneven_grid
    orders = [(order, t) for order in make_reference.ORDERS for t in make_reference.ORDER_POINTS]
    assert [(e["order"], e["t"]) for e in TABLE["orders"]] == orders
    for entry in random.sample(TABLE["orders"], 20):
        assert entry == make_reference.order_entry(entry["order"], entry["t"])
    for entry in random.sample(TABLE["phi"], 30):
        assert entry == make_reference.phi_entry(entry["phi"], entry["t"])
    for entry in random.sample(TABLE["negative"], 30):
        assert entry == make_reference.negative_entry(entry["phi"], entry["gamma"], entry["t"])


@pytest.mark.parametrize("name", TABULATED)
def test_the_table_is_about_the_sentences(name: str) -> None:
    """The formulas of the script, and mpmath's reading of the declared sentence, are the same function."""
    for entry in random.sample([e for e in TABLE["phi"] if e["phi"] == name], 4):
        truth = of_sentence(name, entry["t"])
        for quantity in RELATIVE:
            assert (truth[quantity] is None) == (entry[quantity] is None)
            if truth[quantity] is not None and "inf" not in truth[quantity]:
                ours, theirs = Fraction(truth[quantity]), Fraction(entry[quantity])
                assert abs(ours - theirs) <= abs(theirs) / 10**20, entry


@pytest.mark.parametrize("name", TABULATED)
def test_derivatives_in_the_script_are_derivatives(name: str) -> None:
    """The slopes and curvatures written there by hand agree with numerical differentiation."""
    mp, reference = make_reference.mp, make_reference.REFERENCES[name]
    with mp.workdps(60):
        for t in map(mp.mpf, (-2.3, -0.6, 0.4, 1.7)):
            for function, derivative in ((reference.value, reference.slope), (reference.slope, reference.curvature)):
                assert mp.almosteq(mp.diff(function, t), derivative(t), rel_eps=1e-40, abs_eps=1e-40)
