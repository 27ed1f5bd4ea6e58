"""Mixtures of losses: Theorem N, its converse, and that a mixture is a loss like any other."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification

import uneven
from uneven.errors import LossError, ParameterError
from uneven.losses import mixture

CONVEX = [name for name in uneven.losses.names() if uneven.phi(name).convex and name != "perceptron"]
#: Calibrated because t = 0 minimises the risk at alpha (Theorem T), for these gammas.
TANGENTIAL = [("focal", "5/2"), ("savage", 2), ("tangent", 3), ("savage", "1/2"), ("sigmoid", 1)]
shares = st.fractions(min_value="1/100", max_value=1, max_denominator=100)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.sampled_from(CONVEX), min_size=2, max_size=3),
    gammas=st.lists(st.fractions(min_value="1/20", max_value=20, max_denominator=20), min_size=3, max_size=3),
    weights=st.lists(shares, min_size=3, max_size=3),
    alpha=st.fractions(min_value="1/1000", max_value="999/1000", max_denominator=1000),
)
def test_mixtures_of_convex_losses_stay_calibrated(
    names: list[str], gammas: list[Fraction], weights: list[Fraction], alpha: Fraction
) -> None:
    parts = [
        uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha) for name, gamma in zip(names, gammas, strict=False)
    ]
    certificate = uneven.certify(mixture(parts, weights[: len(parts)]), alpha)
    assert uneven.verify(certificate).claim.status == "calibrated"


@pytest.mark.slow
def test_mixtures_by_theorem_t_stay_calibrated() -> None:
    rng = np.random.default_rng(1)
    every = [*TANGENTIAL, ("logistic", 4), ("hinge", "1/3")]
    for _ in range(12):
        chosen = [every[k] for k in rng.choice(len(every), size=3, replace=False)]
        parts = [uneven.UnevenMarginLoss(name, gamma=gamma, alpha="1/4") for name, gamma in chosen]
        loss = mixture(parts, [Fraction(int(k), 8) for k in rng.integers(1, 9, size=3)])
        assert uneven.verify(uneven.certify(loss, "1/4")).claim.status == "calibrated", loss


@pytest.mark.slow
def test_H_of_a_mixture_lies_between_its_bounds() -> None:  # noqa: N802
    """Below the mean of the parts' H, and above the share of the part whose minimiser is nearest to 0."""
    rng = np.random.default_rng(2)
    eta = np.linspace(0.001, 0.999, 301)
    for _ in range(30):
        alpha = float(rng.uniform(0.05, 0.95))
        names = rng.choice([name for name in CONVEX if name not in ("hinge", "absolute")], size=2)
        parts = [uneven.UnevenMarginLoss(name, gamma=float(np.exp(rng.normal())), alpha=alpha) for name in names]
        share = Fraction(int(rng.integers(1, 16)), 16)
        weights = np.array([float(share), 1 - float(share)])
        H = uneven.analyze(mixture(parts, [share, 1 - share]), alpha).H(eta)  # noqa: N806
        each = np.array([uneven.analyze(part, alpha).H(eta) for part in parts])
        slack = 1e-11 + 1e-9 * H
        assert np.all(weights @ each + slack >= H)
        assert np.all(np.min(weights[:, None] * each, axis=0) - slack <= H)
        minimisers = np.array([np.abs(part.link(eta)) for part in parts])
        nearest = np.argmin(minimisers, axis=0)
        assert np.all(weights[nearest] * each[nearest, np.arange(eta.size)] <= H + slack)


def test_calibrated_losses_whose_mixture_is_not() -> None:
    """The example of docs/theory.md: a sigmoid with gamma = 3 and the logistic loss, both for alpha = 1/2."""
    parts = [uneven.UnevenMarginLoss("sigmoid", gamma=3, beta="3/4"), uneven.UnevenMarginLoss("logistic")]
    assert {uneven.analyze(part, "1/2").verdict.status for part in parts} <= {"calibrated", "calibrated up to rounding"}
    mixed = mixture(parts)
    verdict = uneven.analyze(mixed, "1/2").verdict
    assert verdict.status == "not calibrated"
    assert uneven.implied_alpha(mixed).exact == Fraction(17, 29)
    assert uneven.analyze(mixed, "1/2").H(verdict.witness) == 0


@pytest.mark.parametrize("share", ["1/100", "1/2", "99/100"])
def test_the_converse(share: str) -> None:
    """If t = 0 is not optimal at alpha, a hinge that is flat up to t = s and down to t = -M moves the alpha."""
    sigmoid = uneven.UnevenMarginLoss("sigmoid", gamma=3, beta="3/4")
    hinge = uneven.Loss("relu(1/10 - t)", "relu(40 + t)")
    assert uneven.analyze(hinge, "1/2").verdict.status == "calibrated"
    mixed = mixture([sigmoid, hinge], [1 - Fraction(share), share])
    assert uneven.analyze(mixed, "1/2").verdict.status == "not calibrated"


def test_what_a_mixture_is() -> None:
    t = np.linspace(-5, 5, 41)
    phis = mixture(["hinge", "logistic", "exp(-t)"], [1, 2, 1])
    assert isinstance(phis, uneven.losses.Phi)
    expected = uneven.phi("hinge")(t) / 4 + uneven.phi("logistic")(t) / 2 + np.exp(-t) / 4
    assert np.allclose(phis(t), expected, rtol=1e-14)
    assert mixture(["ramp"]) == uneven.phi("ramp")
    same = mixture([uneven.UnevenMarginLoss(name, gamma=2, alpha="1/4") for name in ("hinge", "logistic")])
    assert same == uneven.UnevenMarginLoss(mixture(["hinge", "logistic"]), gamma=2, alpha="1/4")
    parts = [uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/4"), uneven.Loss("exp(-t)", "exp(t)", alpha="1/4")]
    mixed = mixture(parts, ["1/3", "2/3"])
    assert mixed.exact_alpha == Fraction(1, 4)
    for y in (1, -1):
        assert np.allclose(mixed(y, t), parts[0](y, t) / 3 + 2 * parts[1](y, t) / 3, rtol=1e-14)
    assert pickle.loads(pickle.dumps(mixed)) == mixed
    assert mixture([parts[0], "logistic"]).exact_alpha is None


@pytest.mark.parametrize(
    ("parts", "weights", "message"),
    [
        ("hinge", None, "must be a list"),
        ([], None, "must be a list"),
        (["hinge", "logistic"], [1], "one weight for each part, got 2 parts and 1 weights"),
        (["hinge", "logistic"], [1, 0], "each weight must be positive"),
        (["hinge", "logistic"], [1, -1], "each weight must be positive"),
        (3, None, "parts must be a list"),
        (["hinge", "logistic"], 0.5, "weights must be a list"),
    ],
)
def test_bad_input(parts: object, weights: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        mixture(parts, weights)


def test_a_python_function_has_no_mixture() -> None:
    with pytest.raises(LossError, match="has no mixture"):
        mixture([uneven.Loss(np.abs, np.square), "hinge"])


@pytest.mark.slow
def test_learners_take_a_mixture_and_the_search_chooses_one() -> None:
    X, y = make_classification(200, 4, weights=[0.8], random_state=0)
    losses = ["logistic", mixture(["logistic", "squared_hinge"]), "squared_hinge"]
    search = uneven.UnevenClassifierCV(
        "linear", losses=losses, margin_gammas=[1, 2], fp_cost=1, fn_cost=5, cv=3, verbose=False
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_params_["loss"] in losses
    mixed = uneven.UnevenLinearClassifier(losses[1], fp_cost=1, fn_cost=5, margin_gamma=2).fit(X, y)
    assert mixed.analysis_.verdict.status == "calibrated"
    assert mixed.duality_gap_ <= 1e-3 * mixed.objective_


def test_frameworks_take_a_mixture() -> None:
    torch = pytest.importorskip("torch")
    from uneven.adapters.torch import UnevenLoss

    loss = mixture(
        [uneven.UnevenMarginLoss("logistic", gamma=2, alpha=0.2), uneven.Loss("exp(-t)", "exp(t)", alpha=0.2)]
    )
    t, y = torch.linspace(-3, 3, 13, dtype=torch.float64, requires_grad=True), torch.arange(13) % 2
    value = UnevenLoss(loss, reduction="sum")(t, y)
    value.backward()
    labels = np.where(y.numpy() > 0, 1, -1)
    assert value.item() == pytest.approx(loss(labels, t.detach().numpy()).sum(), rel=1e-12)
    assert np.allclose(t.grad.numpy(), loss.slope(labels, t.detach().numpy()), rtol=1e-12)
