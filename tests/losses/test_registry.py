"""Every law for every registered phi, with default and with other parameters."""

from __future__ import annotations

import pytest
from laws import LAWS, Law
from registered import CASES, NAMES

import uneven


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize(("name", "parameters"), CASES, ids=[f"{n}-{p}" for n, p in CASES])
def test_law(name: str, parameters: dict[str, object], law: Law) -> None:
    law(uneven.phi(name, **parameters))


def test_every_family_is_documented_and_declares_its_facts() -> None:
    import importlib

    for name in NAMES:
        module = importlib.import_module(f"uneven.losses.phis.{name}")
        assert "varphi" in module.__doc__
        declaration = uneven.losses.declared(name)
        assert declaration.limits is not None
        assert declaration.minimiser is not None
        assert declaration.minimum is not None
        assert declaration.convex is not None


@pytest.mark.parametrize(
    ("name", "parameters", "complaint"),
    [
        ("ramp", {"cap": 0.5}, "cap must be at least 1, got 0.5"),
        ("smoothed_hinge", {"width": 0}, "width must be greater than 0, got 0"),
        ("smoothed_hinge", {"width": 2}, "width must be at most 1, got 2"),
        ("focal", {"exponent": -1}, "exponent must be at least 0, got -1"),
        ("hinge", {"cap": 1}, "takes no parameters, got cap=1"),
        ("ramp", {"height": 1}, "takes cap, got height=1"),
        ("ramp", {"cap": float("nan")}, "cap must be a finite number, got nan"),
        ("hing", {}, "did you mean 'hinge'?"),
    ],
)
def test_bad_parameters_are_named(name: str, parameters: dict[str, float], complaint: str) -> None:
    with pytest.raises((uneven.errors.LossError, uneven.errors.ParameterError), match=complaint.replace("?", r"\?")):
        uneven.phi(name, **parameters)


def test_other_names_are_suggested() -> None:
    """A name of another library is refused with ours; no other name is ambiguous or taken."""
    seen: dict[str, str] = {name: name for name in NAMES}
    for name in NAMES:
        for other in uneven.losses.declared(name).also_called:
            assert seen.setdefault(other, name) == name
            with pytest.raises(uneven.errors.LossError, match=f"no phi named {other!r}; did you mean {name!r}"):
                uneven.phi(other)
    for written, meant in {"sigmoid_loss": "sigmoid", "HingeLoss": "hinge", "log_loss": "logistic"}.items():
        with pytest.raises(uneven.errors.LossError, match=f"did you mean {meant!r}"):
            uneven.UnevenMarginLoss(written)
    with pytest.raises(uneven.errors.LossError, match="registered are absolute, "):
        uneven.phi("qqq")
