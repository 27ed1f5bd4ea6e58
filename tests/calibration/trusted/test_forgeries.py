"""Certificates that someone forged by hand; each once passed, or came close."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

import uneven
from uneven.calibration.trusted.claims import statement
from uneven.calibration.trusted.document import SCHEMA, THEOREMS
from uneven.expression import parse, simplify, to_text
from uneven.expression.text import number_text
from uneven.shape.rewrites import use_guards

#: 1 everywhere but at one point, where it is 0; the second divides by 0 there in the branch that is not used.
HOLE = "where(abs(t - {at}) <= 0, 0, 1)"
POLE = "where(abs(t - {at}) <= 0, 0, abs(t - {at})*(1/abs(t - {at})))"


def _sign(weights: list[str], order: int = 0) -> dict[str, Any]:
    return {"step": "sign", "weights": weights, "order": order, "sign": 1, "from": "-inf", "to": "inf", "cells": None}


@pytest.mark.parametrize(("hole", "wrong_step"), [(HOLE, 3), (POLE, 1)])
@pytest.mark.parametrize("rule", ["rises", "falls", "mean", "tangent", "value", "supporting", "flat", "balanced"])
def test_an_isolated_value_is_not_overlooked(rule: str, hole: str, wrong_step: int) -> None:
    """Calibrated for 1/2, because of the values at t = 1 and t = -1 alone; the forgery looks at all others."""
    first, second = (uneven.phi(f"t**2 + 10*{hole.format(at=at)}") for at in ("1", "(-1)"))
    loss = uneven.Loss(first, second)
    assert loss.conditional_risk(0.9, 1.0) < 2 < loss.conditional_risk(0.9, 0.0)
    claim = {"kind": "not calibrated", "alpha": "0.5", "witness": "0.9"}
    weights = ["0.9", "0.1"]
    floor = {"step": "floor", "weights": weights, "side": 1, "start": "0", "level": "at 0"}
    cells = [["0", "1", rule], ["1", "1.5", rule], ["1.5", "inf", "rises"]]
    point = {"step": "point", "weights": weights, "t": "0", "value": "10"}
    document = {
        "schema": SCHEMA,
        "status": "refuted",
        "statement": statement(claim),
        "theorem": THEOREMS["order"],
        "method": "order",
        "claim": claim,
        "loss": {
            name: {"function": to_text(phi.tree), "weight": "1", "scale": "1"}
            for name, phi in (("positive", first), ("negative", second))
        },
        "bits": 128,
        "steps": [_sign(["1", "0"]), _sign(["0", "1"]), {**floor, "cells": cells}, point],
        "psi": None,
    }
    result = uneven.verify(json.dumps(document))
    assert not result
    assert result.step == wrong_step


def test_no_pole_hides_behind_a_guard() -> None:
    """Simplifying folds 0*(1/0) to 0: a guard around a pole must stay."""
    tree = simplify(parse(POLE.format(at="1")))
    assert "where" in to_text(use_guards(tree))


def test_what_is_undefined_far_away_is_no_loss() -> None:
    """Convex and nonnegative by structure, but undefined for t below -7e306: nothing is proved about it."""
    first, second = uneven.phi("10 - log(2 - exp(-1e-307*t))"), uneven.phi("10 - log(2 - exp(1e-307*t))")
    claim = {"kind": "calibrated", "alpha": "0.5"}
    units = (["1", "0"], ["0", "1"])
    steps = [_sign(unit, order) for order in (0, 2) for unit in units]
    slope = {"step": "slope at 0", "weights": ["0.5", "0.5"], "side": 1, "sign": 0}
    document = {
        "schema": SCHEMA,
        "status": "proved",
        "statement": statement(claim),
        "theorem": THEOREMS["convex"],
        "method": "convex",
        "claim": claim,
        "loss": {
            name: {"function": to_text(phi.tree), "weight": "1", "scale": "1"}
            for name, phi in (("positive", first), ("negative", second))
        },
        "bits": 128,
        "steps": [*steps, {"step": "descent at 0"}, slope],
        "psi": None,
    }
    result = uneven.verify(json.dumps(document))
    assert not result
    assert result.step == 1
    assert uneven.certify(uneven.Loss(first, second)).status == "undecided"


def test_a_table_of_thousands_of_nodes_is_refused() -> None:
    """Each node takes about 2 ms, however small the formula: 5,000 of them took ten seconds."""
    document = uneven.certify(uneven.UnevenMarginLoss("exponential"), psi=["0.1"]).document
    count = 2_000
    document["psi"]["above"] = [
        {"eta": number_text(Fraction(count + k, 2 * count)), "t": "1", "floor": None} for k in range(count + 1)
    ]
    result = uneven.verify(json.dumps(document))
    assert not result
    assert "nodes" in result.reason
