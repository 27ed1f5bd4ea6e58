"""One claim: verdict, implied costs, calibrated losses and certificates are views of it and cannot disagree."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import uneven
from uneven.calibration import Claim, OnlyAlpha
from uneven.calibration.search.prover import Limits, decide
from uneven.calibration.trusted.claims import (
    CALIBRATED,
    NO_ALPHA,
    NOT_CALIBRATED,
    ROUNDING,
    UNDECIDED,
    UNKNOWN_ALPHA,
    UP_TO_ROUNDING,
    claim_data,
    read_claim,
)
from uneven.errors import CertificateError

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
probabilities = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=10**6)


@given(probabilities, probabilities, probabilities)
def test_a_claim_survives_its_certificate(alpha: Fraction, one: Fraction, other: Fraction) -> None:
    """What is written is read back as the same claim, with the same status."""
    low, high = min(one, other), max(one, other)
    outside = not low <= alpha <= high
    witness = (low if alpha < low else high) if outside else None
    for claim in (
        Claim(None, OnlyAlpha.within(low, high)),
        Claim(alpha, OnlyAlpha.within(low, high), witness),
        Claim(alpha, UNKNOWN_ALPHA, one),
        Claim(alpha, UNKNOWN_ALPHA, missing="something"),
    ):
        again = read_claim(claim_data(claim))
        assert (again.kind, again.status, again.only, again.extra_regret) == (
            claim.kind,
            claim.status,
            claim.only,
            claim.extra_regret,
        )


def test_statuses() -> None:
    near = OnlyAlpha.within(HALF - ROUNDING / 8, HALF + ROUNDING / 8)
    wide = OnlyAlpha.within(HALF - Fraction(1, 100), HALF + Fraction(1, 100))
    exact = OnlyAlpha.within(HALF, HALF)
    assert Claim(HALF, exact).status == CALIBRATED
    assert Claim(None, near).status == CALIBRATED
    assert Claim(HALF, near).status == UP_TO_ROUNDING
    assert Claim(HALF, wide).status == UNDECIDED
    assert Claim(THIRD, exact, Fraction(2, 5)).status == NOT_CALIBRATED
    assert Claim(THIRD, NO_ALPHA).status == NOT_CALIBRATED
    assert Claim(THIRD, UNKNOWN_ALPHA, HALF).status == NOT_CALIBRATED
    assert Claim(THIRD, UNKNOWN_ALPHA, missing="time").status == UNDECIDED
    assert Claim(HALF, near).extra_regret == ROUNDING / 8


@pytest.mark.parametrize(
    "change",
    [
        {"low": "0.6"},
        {"low": "0"},
        {"high": "1.5"},
        {"extra_regret": "0.2"},
        {"alpha": "0.7"},
        {"alpha": None},
        {"kind": "calibrated"},
        {"kind": []},
        {"witness": "0.5"},
    ],
)
def test_a_claim_that_does_not_fit_together_is_refused(change: dict[str, object]) -> None:
    data = claim_data(Claim(HALF, OnlyAlpha.within(Fraction(2, 5), Fraction(3, 5))))
    with pytest.raises(CertificateError):
        read_claim({**data, **change})


@pytest.mark.parametrize("gamma", ["1", "3", "20"])
@pytest.mark.parametrize("name", uneven.losses.names())
def test_views_of_one_claim(name: str, gamma: str) -> None:
    loss = uneven.UnevenMarginLoss(name, gamma=gamma)
    claim, certificate, implied = decide(loss).claim, uneven.certify(loss), uneven.implied_alpha(loss)
    assert certificate.interval == claim.only.interval
    assert implied.exact == claim.only.exact
    if claim.only.interval is None:
        assert implied.alpha is None
        with pytest.raises(uneven.errors.LossError, match="calibrated for no alpha"):
            uneven.calibrated_loss(name, alpha=0.2, gamma=gamma)
        return
    low, high = claim.only.interval
    assert implied.interval is not None
    assert Fraction(implied.interval[0]) <= low <= high <= Fraction(implied.interval[1])
    made = uneven.calibrated_loss(name, alpha=0.2, gamma=gamma)
    assert uneven.analyze(made).verdict.status in (CALIBRATED, UP_TO_ROUNDING)
    assert uneven.analyze(loss, low).verdict.status != NOT_CALIBRATED


def test_losses_that_two_engines_once_saw_differently() -> None:
    focal = uneven.Loss("0.25*(1-expit(t))**2*softplus(-t)", "0.75*expit(t)**2*softplus(t)")
    assert uneven.implied_alpha(focal).exact == uneven.certify(focal).alpha == Fraction(3, 4)
    sigmoid = uneven.analyze(uneven.calibrated_loss("sigmoid", alpha=0.1, gamma=3)).verdict
    assert sigmoid.status == "calibrated up to rounding"
    assert 0 < sigmoid.extra_regret < 1e-12
    mixed = uneven.Loss("softplus(-t)", "0.75*expit(t)**2*softplus(t)")
    low, high = uneven.implied_alpha(mixed).interval
    assert high - low < 1e-12
    assert uneven.certify(mixed).interval == decide(mixed).claim.only.interval


@pytest.mark.parametrize("weights", [("1e-200", "1e200"), ("1e200", "1e-200"), ("1e-200", "1e-200")])
def test_costs_beyond_doubles_in_words(weights: tuple[str, str]) -> None:
    implied = uneven.implied_alpha(uneven.Loss(f"{weights[0]}*softplus(-t)", f"{weights[1]}*softplus(t)"))
    words = implied.in_words()
    assert words.startswith("This loss treats")
    assert "inf" not in words
    assert implied.cost_ratio is not None


def test_a_certificate_refuses_a_negative_regret() -> None:
    certificate = uneven.certify(uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/4"), psi=["0.1"])
    with pytest.raises(CertificateError, match="at least 0"):
        certificate.regret_bound(-1)


def test_a_search_that_is_stopped_says_so() -> None:
    """Every search has an end, after ten seconds by default; what is found by then is said."""
    assert Limits().seconds == 10
    loss = uneven.Loss("softplus(-t) + exp(-9*(t - 1)**2)", "softplus(t)**2*expit(3*t) + exp(-4*(t + 2)**2)")
    stopped = uneven.certify(loss, seconds=1e-6)
    assert stopped.status == "undecided"
    assert "stopped after 1e-06 s" in stopped.statement
