"""How losses and analyses look in a notebook: short, escaped, without colours, and never slow."""

from __future__ import annotations

import html
import re

import pytest

import uneven
from uneven.calibration.search.prover import decide
from uneven.losses import names


def shown(thing: object) -> str:
    text = thing._repr_html_()
    assert isinstance(text, str)
    assert "color" not in text, "colours of our own would not fit a dark page"
    tags = re.sub(r"</?(?:div|code|b)(?: style=\"margin: \.3em 0\")?>", "", text)
    assert "<" not in tags, "everything else is escaped"
    assert len(text) < 3000
    return html.unescape(tags)


@pytest.mark.parametrize("name", names())
def test_every_phi(name: str) -> None:
    phi = uneven.phi(name)
    assert phi._repr_latex_() == rf"$\displaystyle \varphi(t) = {phi.latex()}$"
    assert shown(phi) == repr(phi) + phi._repr_latex_()
    loss = uneven.UnevenMarginLoss(name, gamma=2, alpha="1/4")
    assert shown(loss) == repr(loss) + loss._repr_latex_()
    assert uneven.analyze(loss)._repr_latex_() == loss._repr_latex_() + rf" at $\alpha = {loss.alpha or 0.5:.6g}$"
    assert loss._repr_latex_().count("$") == 2


def test_both_partial_losses() -> None:
    loss = uneven.Loss("where(t < 1, (1 - t)**2, 0)", "exp(t)")
    assert loss._repr_latex_() == (
        r"$\displaystyle \begin{aligned} L(1, t) &= \begin{cases} \left(1 - t\right)^{2}, & t < 1 \\ 0, & "
        r"\text{otherwise} \end{cases} \\ L(-1, t) &= e^{t} \end{aligned}$"
    )


def test_a_float_is_not_a_long_fraction() -> None:
    assert r"L(1, t) &= 0.9 e^{-t}" in uneven.UnevenMarginLoss("exponential", alpha=0.1)._repr_latex_()
    tiny = uneven.phi("1e-300*exp(-t)")
    assert r"1 \cdot 10^{-300}" in tiny.latex()


def test_python_functions_have_no_formula() -> None:
    loss = uneven.Loss(lambda t: 1 + 0 * t, "relu(1 + t)")
    assert loss._repr_latex_() is None
    assert "<lambda>" in shown(loss)


def test_a_long_formula_is_left_out() -> None:
    text = " + ".join(f"relu({k} - t)**2" for k in range(1, 60))
    loss = uneven.Loss(text, "exp(t)")
    assert loss._repr_latex_() is None
    assert shown(loss).endswith("...")


def test_an_analysis_starts_no_long_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    convex = uneven.analyze("logistic", "1/12")
    assert "Costs: alpha = 0.0833333, a false negative costs 11 times a false positive" in shown(convex)
    assert f"Verdict: {convex.verdict}" in shown(convex)
    slow = uneven.analyze(uneven.UnevenMarginLoss("sigmoid", gamma=7), 0.1)
    asked = []
    monkeypatch.setattr("uneven.calibration.verdict.decide", lambda *a: asked.append(a) or decide(*a))
    assert "Verdict: not asked for yet; .verdict proves it" in shown(slow)
    assert not asked
    assert slow.verdict.status == "not calibrated"
    assert "Verdict: not calibrated" in shown(slow)
