"""What `analyze(...).prescription` tells to do is true: the prover decides about the prescribed loss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uneven
from uneven.losses import names

CALIBRATED = ("calibrated", "calibrated up to rounding")


@pytest.mark.parametrize("name", names())
def test_every_phi_gets_a_true_prescription(name: str) -> None:
    alpha = Fraction(1, 12)
    loss = uneven.UnevenMarginLoss(name, gamma=2)
    analysis = uneven.analyze(loss, alpha)
    assert analysis.verdict.status == "not calibrated"
    remedy = analysis.prescription
    assert remedy is not None
    assert uneven.analyze(remedy.loss, alpha).verdict.status == remedy.status
    assert remedy.status in CALIBRATED
    assert f"Remedy    {remedy.words} ({remedy.loss!r}), which is {remedy.status}" in analysis.report()
    assert analysis.to_dict()["remedy"] == {"words": remedy.words, "loss": repr(remedy.loss)}


@given(
    st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50),
    st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=50),
)
@settings(max_examples=40, deadline=None)
def test_the_weight_in_words_is_the_weight_of_the_loss(weight: Fraction, alpha: Fraction) -> None:
    """Positives weighted by w: calibrated for 1/(1 + w). The words must say what turns that into alpha."""
    loss = uneven.Loss(f"{weight}*softplus(-t)", "softplus(t)")
    remedy = uneven.analyze(loss, alpha).prescription
    if alpha == 1 / (1 + weight):
        assert remedy is None
        return
    assert remedy is not None
    needed = (1 - alpha) / alpha / weight
    which = "positives" if needed > 1 else "negatives"
    assert remedy.words.startswith(f"weight the {which} by ")
    said = remedy.words.removeprefix(f"weight the {which} by ").removeprefix("about ")
    assert float(Fraction(said)) == pytest.approx(float(max(needed, 1 / needed)), rel=1e-5)
    assert uneven.analyze(remedy.loss, alpha).verdict.status == "calibrated"
    before, after = loss.partials[0].tree, remedy.loss.partials[0]
    assert after.value(np.array([0.3]))[0] == pytest.approx(float(needed) * loss.positive(0.3)), before


def test_no_weights_repair_a_loss_without_alpha() -> None:
    remedy = uneven.analyze("perceptron", 0.1).prescription
    assert remedy is not None
    assert remedy.words == "no weights repair this loss; take another, such as logistic"
    assert remedy.loss == uneven.UnevenMarginLoss("logistic", alpha=0.1)


def test_nothing_is_prescribed_without_need_or_proof() -> None:
    assert uneven.analyze(uneven.UnevenMarginLoss("hinge", alpha="1/12")).prescription is None
    by_function = uneven.Loss(lambda t: np.logaddexp(0, -t), lambda t: np.logaddexp(0, t))
    assert uneven.analyze(by_function, 0.1).prescription is None
    assert "Remedy" not in uneven.analyze(by_function, 0.1).report()
