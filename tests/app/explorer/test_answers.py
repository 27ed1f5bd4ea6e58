"""What the page shows is what the library says, for every registered phi."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import uneven
from uneven.app.explorer.answers import ETAS, alpha_of_gamma, certificate, curves, enclosure, verdict
from uneven.app.explorer.questions import read_question
from uneven.app.explorer.workers import DONE, REFUSED, answer, to_json

PHIS = uneven.losses.names()


def asked(phi: str, **change: Any) -> dict[str, Any]:
    usual = {"kind": "phi", "phi": phi, "gamma": "2", "beta": None, "fp": "1", "fn": "9", "weighted": True}
    return {**usual, **change}


def array(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values])


@pytest.mark.parametrize("phi", PHIS)
def test_curves_are_those_of_the_analysis(phi: str) -> None:
    question = asked(phi)
    found = json.loads(to_json(curves(question)))
    loss = read_question(question).loss
    analysis = uneven.analyze(loss, "1/10")
    assert (found["alpha"], found["largest"]) == (analysis.alpha, analysis.largest_regret)
    t = array(found["t"])
    # Points beside a jump are rounded for the picture, so they are left out.
    far = (
        np.min([np.abs(t - knot) for partial in loss.partials for knot in (*partial.switch_points, 99.0)], axis=0)
        > 1e-6
    )
    np.testing.assert_allclose(array(found["positive"])[far], loss.positive(t[far]), rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(array(found["negative"])[far], loss.negative(t[far]), rtol=1e-5, atol=1e-12)
    eta = np.arange(ETAS + 1) / ETAS
    sides = [array(found["minima"][side]["value"]) for side in ("positive", "negative")]
    np.testing.assert_allclose(np.minimum(*sides), analysis.optimal_risk(eta), rtol=2e-5, atol=1e-9)
    x, y = (np.array(found["H"][key]) for key in "xy")
    np.testing.assert_allclose(y, analysis.H(x), rtol=1e-3, atol=2e-6)
    assert analysis.alpha in x
    psi = np.interp(grid := np.linspace(0, analysis.largest_regret, 50), *(np.array(found["psi"][key]) for key in "xy"))
    exact = analysis.psi(grid)
    assert (psi >= exact - 1e-5).all()  # a hull of samples lies above
    assert np.abs(psi - exact).max() < 5e-3 * exact.max() + 1e-9
    nu = array(found["nu"]["y"])
    assert np.nanmin(nu) >= 0
    for markup in found["formulas"].values():
        assert markup.startswith("<m")


@pytest.mark.parametrize("phi", PHIS)
def test_the_sentence_says_what_is_proved(phi: str) -> None:
    question = asked(phi)
    found = json.loads(to_json(verdict(question)))
    analysis = uneven.analyze(read_question(question).loss, "1/10")
    assert found["status"] == analysis.verdict.status
    assert found["implied"] == analysis.implied_alpha.in_words(reason=False)
    if found["status"] == "calibrated":
        assert found["sentence"] == "Calibrated for your costs: a miss counts 9 false alarms."
    if found["status"] == "not calibrated":
        assert found["sentence"].startswith(f"Not calibrated: at P = {found['witness']:.2g} it ")
        assert analysis.H(found["witness"]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("weighted", [True, False])
def test_the_remedy_is_one(phi: str, weighted: bool) -> None:
    question = asked(phi, weighted=weighted, beta="1/3")
    remedy = verdict(question)["remedy"]
    if remedy is not None and remedy["set"] is not None:
        assert verdict({**question, **remedy["set"]})["status"] in ("calibrated", "calibrated up to rounding")


def test_the_remedy_of_formulas_is_one() -> None:
    question = {"kind": "pair", "positive": "10*softplus(-t)", "negative": "softplus(t)", "fp": "1", "fn": "9"}
    remedy = verdict({**question, "weighted": False})["remedy"]
    assert verdict({**question, **remedy["set"]})["status"] == "calibrated"


@pytest.mark.slow
@pytest.mark.parametrize("phi", ["hinge", "sigmoid", "perceptron"])
def test_the_enclosure_holds_psi_and_the_bound_is_proved(phi: str) -> None:
    question = asked(phi)
    found = json.loads(to_json(enclosure(question)))
    analysis = uneven.analyze(read_question(question).loss, "1/10")
    eps, lower, upper = (np.array(found[key]) for key in ("eps", "lower", "upper"))
    psi = analysis.psi(np.minimum(eps, analysis.largest_regret))
    slack = 1e-5 * psi.max() + 1e-9  # of the rounding for the picture
    assert (lower <= psi + slack).all()
    assert (psi <= upper + slack).all()
    assert found["bound"] == analysis.regret_bound(found["regret"]).tolist()


@pytest.mark.parametrize("phi", ["hinge", "perceptron", "sigmoid"])
def test_the_certificate_can_be_verified(phi: str) -> None:
    made = certificate(asked(phi))
    assert made["checked"]
    assert uneven.verify(made["text"])
    assert made["name"] == f"certificate-{phi}-alpha-0.1.json"


def test_alpha_of_gamma() -> None:
    assert alpha_of_gamma(asked("hinge"))["alpha"] == [0.5, 0.5]
    assert "kink" in alpha_of_gamma(asked("perceptron"))["reason"]
    assert "one phi" in alpha_of_gamma({"kind": "pair"})["reason"]
    sigmoid = alpha_of_gamma(asked("sigmoid"))
    for gamma, alpha in zip(sigmoid["gamma"][::6], sigmoid["alpha"][::6], strict=True):
        own = uneven.implied_alpha(uneven.UnevenMarginLoss("sigmoid", gamma=gamma)).alpha
        assert alpha == pytest.approx(own, abs=1e-4)


@pytest.mark.parametrize("phi", ["hinge", "exponential", "sigmoid"])
@pytest.mark.parametrize(
    "change",
    [
        {"gamma": "1e-12"},
        {"gamma": "1e12"},
        {"beta": "1e-300"},
        {"beta": "1e300"},
        {"alpha": "1e-15"},
        {"alpha": "0.999999999999"},
        {"gamma": "1e-3", "weighted": False},
    ],
)
def test_extreme_numbers_give_an_answer_or_a_sentence(phi: str, change: dict[str, Any]) -> None:
    for task in ("curves", "verdict", *(["enclosure"] if phi == "hinge" else [])):
        kind, content = answer(task, asked(phi, **change), lambda part: None)
        assert kind in (DONE, REFUSED), (task, content)
        assert content["error"] if kind == REFUSED else json.loads(content)
