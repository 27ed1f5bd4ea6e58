"""A throw-away phi, declared here in one place, passes every law and every door."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from laws import LAWS, Law

import uneven
from uneven.cli.main import main
from uneven.losses import Parameter


@pytest.fixture
def throw_away() -> Iterator[str]:
    uneven.losses.register(
        "throw_away",
        "softplus(-t)**2 + pull*relu(-t)",
        parameters=(Parameter("pull", default=1, at_least=0),),
        limits=("inf", "0"),
        minimiser=float("inf"),
        minimum="0",
    )
    yield "throw_away"
    uneven.losses.unregister("throw_away")


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("pull", [0, 1])
def test_law(throw_away: str, law: Law, pull: int) -> None:
    law(uneven.phi(throw_away, pull=pull))


def test_every_door(throw_away: str) -> None:
    assert throw_away in uneven.losses.names()
    phi = uneven.phi(throw_away, pull=0)
    assert uneven.UnevenMarginLoss(phi, gamma=2).positive(0.0) == pytest.approx(np.log(2) ** 2)
    assert uneven.Loss(phi, "exp(t)").positive(0.0) == pytest.approx(np.log(2) ** 2)
    assert uneven.calibrated_loss(phi, alpha=0.2, gamma=5).alpha == 0.2
    assert uneven.calibrated_loss(phi, alpha=0.2, gamma=5).inverse_link(0.0) == pytest.approx(0.2)
    assert uneven.analyze(uneven.calibrated_loss(phi, alpha=0.2, gamma=5)).verdict.status == "calibrated"
    assert uneven.analyze(uneven.calibrated_loss(phi, alpha=0.2)).regret_bound(1e-3) > 0
    assert uneven.verify(uneven.certify(phi, psi=["0.1"]))
    assert uneven.implied_alpha(phi).exact == Fraction(1, 2)
    table = CliRunner().invoke(main, ["losses"])
    assert table.exit_code == 0
    assert throw_away in table.output


def test_a_kink_at_zero_is_found_in_it_too(throw_away: str) -> None:
    with pytest.raises(uneven.errors.LossError, match="calibrated for no alpha"):
        uneven.calibrated_loss(throw_away, alpha=0.2)


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ({"convex": True}, "above its chord"),
        ({"limits": ("2", "0")}, "declared to tend to 2"),
        ({"limits": ("1", "inf")}, "declared to tend to inf"),
        ({"minimiser": 0.0}, "declared to fall up to t = 0"),
        ({"minimum": "0.1"}, "declared to be at least 0.1"),
    ],
)
def test_a_false_declaration_is_refused(facts: dict[str, object], complaint: str) -> None:
    with pytest.raises(uneven.errors.LossError, match=complaint):
        uneven.losses.register("false_facts", "expit(-t)", **facts)
    assert "false_facts" not in uneven.losses.names()


@pytest.mark.parametrize("name", ["hinge", "t", "exp", "Two Words", "", "Upper", "phi²"])
def test_a_taken_or_odd_name_is_refused(name: str) -> None:
    with pytest.raises(uneven.errors.LossError, match="name"):
        uneven.losses.register(name, "exp(-t)")


def test_a_registered_phi_survives_in_another_process(throw_away: str) -> None:
    """Its pickle carries the declaration, so that workers that never registered it can load it."""
    import pickle

    data = pickle.dumps(uneven.UnevenMarginLoss(throw_away, gamma=3))
    declared = uneven.losses.registry._added.pop(throw_away)
    try:
        assert pickle.loads(data).negative(1.0) > 0
    finally:
        uneven.losses.registry._added[throw_away] = declared
