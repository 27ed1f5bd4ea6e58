"""Certificates that someone forged by hand; each once passed, or came close."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import pytest
from jumping_losses import jumping_loss
from oracle import Truth
from tampering import is_accepted, mutated

import uneven
from uneven.calibration import Certificate
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


# t = 0 is a negative decision. Each of these forgeries takes it for a positive one, where the loss jumps.


def _document(loss: uneven.Loss, method: str, claim: dict[str, Any], steps: list[dict[str, Any]]) -> str:
    data = {
        name: {"function": to_text(partial.tree), "weight": "1", "scale": "1"}
        for name, partial in zip(("positive", "negative"), loss.partials, strict=True)
    }
    status = "proved" if claim["kind"].startswith("calibrated") and "alpha" in claim else "refuted"
    signs = [_sign(["1", "0"]), _sign(["0", "1"])]
    words = {"statement": statement(claim), "theorem": THEOREMS[method]}
    document = {"schema": SCHEMA, "status": status, **words, "method": method, "claim": claim, "loss": data}
    return json.dumps({**document, "bits": 160, "steps": signs + steps, "psi": None})


def _step_loss(positive: tuple[str, str, str], negative: tuple[str, str, str]) -> uneven.Loss:
    """Values for t < 0, at 0, and for t > 0."""
    texts = (f"where(t < 0, {a}, where(t > 0, {c}, {b}))" for a, b, c in (positive, negative))
    return uneven.Loss(*texts)


def test_a_tie_at_zero_is_no_tie_of_the_two_decisions() -> None:
    """The proof that the cost itself is calibrated for no alpha, as it was accepted once; and that of one alpha."""
    loss = uneven.cost_loss("1/4")
    floor = {"step": "floor", "side": -1, "start": "0", "level": "at 0", "cells": [["-inf", "0", "value"]]}
    for claim, eta in (
        ({"kind": "calibrated for no alpha"}, "0"),
        ({"kind": "not calibrated", "alpha": "0.25", "witness": "0.125"}, "0.125"),
    ):
        weights = [eta, number_text(1 - Fraction(eta))]
        value = number_text(Fraction(3, 4) * Fraction(eta))
        point = {"step": "point", "weights": weights, "t": "0", "value": value}
        result = uneven.verify(_document(loss, "order", claim, [{**floor, "weights": weights}, point]))
        assert not result
        assert "other side" in result.reason


def test_mirror_images_do_not_tie_if_zero_is_better() -> None:
    """Calibrated for 0.9: at 1/2 the best negative decision is t = 0, which has no mirror image."""
    loss = _step_loss(("1", "0.1", "0"), ("0", "0.1", "1"))
    honest = uneven.certify(_step_loss(("1", "2", "0"), ("0", "2", "1"))).document
    assert honest["claim"] == {"kind": "calibrated", "alpha": "0.5"}
    data = json.loads(_document(loss, "transversal", honest["claim"], []))
    steps = honest["steps"]
    kept = [step for step in steps if step["step"] != "mirror"][: len(steps) - 4]
    data["steps"] = [*kept, {"step": "mirror", "eta": "0.5"}]
    assert not uneven.verify(json.dumps(data))
    data["loss"] = honest["loss"]
    result = uneven.verify(json.dumps(data))
    assert not result
    assert "mirror image" in result.reason


def test_psi_is_not_bounded_from_above_by_the_risk_at_zero() -> None:
    """Below alpha t = 0 is right: its excess, 0 for the cost itself, bounds nothing."""
    document = uneven.certify(uneven.cost_loss("3/4"), psi=["0.5"]).document
    contact = next(c for c in document["psi"]["contacts"] if Fraction(c["point"]["weights"][0]) < Fraction(3, 4))
    contact["point"] |= {"t": "0", "value": contact["floor"]["level"]}
    document["psi"]["rows"][0] |= {"lower": "0", "upper": "0"}
    result = uneven.verify(json.dumps(document))
    assert not result
    assert "wrong side" in result.reason


@pytest.mark.parametrize("change", [{"side": -1}, {"level": "at 0"}, {"start": "0"}])
def test_only_positive_decisions_are_open(change: dict[str, Any]) -> None:
    document = uneven.certify(uneven.cost_loss("1/4")).document
    opened = [step for step in document["steps"] if step.get("start") == "beyond 0"]
    assert opened
    opened[0] |= change
    if "side" in change:
        opened[0]["cells"] = [["-inf", "0", "value"]]
    assert not uneven.verify(json.dumps(document))


@pytest.mark.slow
def test_mutations_of_proofs_about_losses_that_jump() -> None:
    """None of 600 is accepted, unless it still proves its own claim: then claim and psi table are true."""
    rng = random.Random(11)
    samples = []
    while len(samples) < 12:
        case = jumping_loss(rng)
        alpha = case.only_alpha()
        table = None if alpha is None else ["0.1", number_text(min(alpha, 1 - alpha))]
        samples.append(uneven.certify(case.loss, alpha, psi=table).document)
    accepted = 0
    for k in range(600):
        original = samples[k % len(samples)]
        mutant = mutated(rng, original)
        if not is_accepted(certificate := Certificate(json.dumps(mutant))):
            continue
        accepted += 1
        if mutant["claim"] != original["claim"] or mutant["loss"] != original["loss"]:
            Truth.of_document(mutant["loss"]).require(certificate)
        if mutant["psi"] is not None and mutant["psi"] != original["psi"]:
            partials = mutant["loss"].values()
            loss = uneven.Loss(*(f"{p['weight']}*({p['function']})" for p in partials))
            a = uneven.analyze(loss, mutant["psi"]["alpha"])
            for eps, low, high in certificate.psi_table:
                assert low <= a.psi(float(eps)) + 1e-12
                assert high >= a.psi(float(eps)) - 1e-12
    assert accepted > 0
