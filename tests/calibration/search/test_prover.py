"""Losses that are hard to prove, rules that must not prove too much, and limits of time."""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from oracle import Truth
from tampering import is_accepted, mutated

import uneven
from uneven.calibration import Certificate, certify, verify
from uneven.calibration.search.prover import formulas_of
from uneven.calibration.trusted.claims import read_number
from uneven.calibration.trusted.document import read_loss
from uneven.calibration.trusted.rules import Rules, at
from uneven.errors import CertificateError
from uneven.expression import parse, simplify, substitute, to_text
from uneven.expression.algebra import neg
from uneven.expression.tree import T

HALF = Fraction(1, 2)
CLIPPED = "where(expit(t) <= 0.05, 0, (expit(t)-0.05)**4*(-log(1.05-expit(t))))"
FLAT = "1-exp(-relu(1-t)**2/2)"


def mirrored(text: str) -> str:
    return to_text(substitute(simplify(parse(text)), {"t": neg(T)}))


HARD: dict[str, tuple[uneven.Loss, Fraction | float]] = {
    "an infimum of 0 at infinity": (uneven.Loss("1-atan(t)*2/pi", "0.4*(1+atan(3*t)*2/pi)"), 0.334406690179),
    "nonnegative because of its guard": (uneven.Loss("(1-expit(t))*softplus(-t)", CLIPPED), 0.147293568348),
    "weights inside the probability": (
        uneven.Loss("(1-exp(-10*softplus(-t)))**2*10*softplus(-t)", "(1-exp(-softplus(t)))**2*softplus(t)"),
        0.055690523182,
    ),
    "flat to fourth order": (uneven.UnevenMarginLoss(uneven.phi(FLAT), gamma=1), HALF),
    "flat to fourth order, as two expressions": (uneven.Loss(FLAT, mirrored(FLAT)), HALF),
    "flat to fourth order, weighted": (uneven.Loss(FLAT, f"3*({mirrored(FLAT)})"), Fraction(3, 4)),
    "varifocal": (uneven.Loss("softplus(-t)", "0.75*expit(t)**2*softplus(t)"), 0.309120394865),
    "focal": (
        uneven.Loss("0.25*(1-expit(t))**2*softplus(-t)", "0.75*expit(t)**2*softplus(t)"),
        Fraction(3, 4),
    ),
    "constant risk": (uneven.Loss("pi/2-atan(t)", "2*(pi/2+atan(t))"), Fraction(2, 3)),
}


@pytest.fixture(scope="module")
def certificates() -> dict[str, Certificate]:
    return {name: certify(loss) for name, (loss, _) in HARD.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
def test_hard_losses_are_proved(name: str, certificates: dict[str, Certificate]) -> None:
    loss, alpha = HARD[name]
    certificate = certificates[name]
    assert certificate.status == "proved", certificate
    assert verify(certificate.to_json())
    Truth(loss).require(certificate)
    assert certificate.interval is not None
    low, high = certificate.interval
    if isinstance(alpha, Fraction):
        assert (low, high) == (alpha, alpha)
    else:
        assert float(low) == pytest.approx(alpha, rel=1e-11)


@pytest.mark.slow
def test_mutations_of_hard_proofs(certificates: dict[str, Certificate]) -> None:
    """None is accepted, unless it still proves its own claim: then that claim is true."""
    rng = random.Random(7)
    samples = list(certificates.values())
    for k in range(250):
        original = samples[k % len(samples)].document
        mutant = mutated(rng, original)
        if rng.random() < 0.3:
            cells = [cell for step in mutant["steps"] or [] if isinstance(step, dict) for cell in _cells(step)]
            if cells:
                rng.choice(cells)[2] = rng.choice(["flat", "balanced", "rises", "falls", "fades", "value"])
        certificate = Certificate(json.dumps(mutant))
        if not is_accepted(certificate):
            continue
        if mutant["claim"] != original["claim"] or mutant["loss"] != original["loss"]:
            Truth.of_document(mutant["loss"]).require(certificate)


def _cells(step: dict[str, Any]) -> list[list[Any]]:
    cells = step.get("cells")
    return [cell for cell in cells if isinstance(cell, list) and len(cell) == 3] if isinstance(cells, list) else []


# Random losses with guards, caps and irrational limits.

PIECES = (
    "where(expit({s}*t) <= {c}, 0, (expit({s}*t) - {c})**2*softplus({s}*t))",
    "where(expit({s}*t) > {c}, expit({s}*t)**2, {c}**2)",
    "where(expit({s}*t) > {c}, expit({s}*t)**2, 0)",
    "(1-min(1 + {c} - expit({s}*t), 1))**2*(1 + softplus({s}*t))",
    "min(softplus({s}*t), 2)",
    "pi/2 + atan({s}*t)",
    "(1 + atan({s}*t)*2/pi)**2",
    "1 - exp(-relu(1 + {s}*t)**2*{c})",
    "softplus({s}*t) - expit({s}*t)",
    "where(abs(1 + {s}*t) <= {c}, (1 + {s}*t)**2/2, {c}*abs(1 + {s}*t) - {c}**2/2)",
    "where(expit({s}*t) < 0.5, expit({s}*t)**2*4, 1)*softplus({s}*t)",
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_random_guarded_losses(seed: int) -> None:
    """Whatever is claimed agrees with a fine grid."""
    rng = random.Random(3000 + seed)

    def drawn(sign: int) -> str:
        scale, bound = rng.choice(["1", "2", "1/2"]), rng.choice(["0.05", "0.3", "1/2", "0.9"])
        return rng.choice(PIECES).format(s=f"({'-' if sign < 0 else ''}{scale})", c=bound)

    positive = f"{drawn(-1)} + {rng.choice(['0', '1', '1/3'])}*({drawn(rng.choice([-1, -1, 1]))})"
    negative = mirrored(positive) if rng.random() < 0.5 else drawn(1)
    loss = uneven.Loss(positive, f"{rng.choice(['1', '3', '1/7'])}*({negative})")
    certificate = certify(loss, rng.choice([None, None, "0.3", "0.5"]), budget=600)
    Truth(loss).require(certificate)
    if certificate.status != "undecided":
        assert verify(certificate.to_json())


# Rules that must not see what is not there.


def _rules(positive: str, negative: str) -> Rules:
    return Rules(*formulas_of(uneven.Loss(positive, negative)), 160)


CELL = (Fraction(0), Fraction(1, 64))


def test_the_rule_for_flat_minima() -> None:
    flat = _rules(FLAT, mirrored(FLAT))
    assert flat.is_floor("flat", at(HALF), None, *CELL)
    assert flat.is_floor("flat", at(HALF), None, -CELL[1], CELL[1])
    assert not flat.is_floor("balanced", at(HALF), None, *CELL)
    assert not flat.is_floor("flat", at(HALF), None, Fraction(1, 128), CELL[1])  # 0 does not lie in the cell
    assert not flat.is_floor("flat", at(HALF), None, Fraction(0), Fraction(2))  # the formula changes at 1
    assert not flat.is_floor("flat", at(HALF), Fraction(1, 2), *CELL)  # F(0) is smaller
    for eta in (HALF + Fraction(1, 10**30), HALF - Fraction(1, 10**30)):
        both = [flat.is_floor("flat", at(eta), None, *cell) for cell in (CELL, (-CELL[1], Fraction(0)))]
        assert both.count(True) <= 1
        assert not flat.is_floor("flat", at(eta), None, -CELL[1], CELL[1])


@pytest.mark.parametrize("factor", ["0.5000000000000000000001", "0.51", "1"])
def test_a_flat_maximum_is_no_minimum(factor: str) -> None:
    """Slightly narrower wells: the second derivative of the risk is negative at 0."""
    text = f"1-exp(-relu(1-t)**2*{factor})"
    rules = _rules(text, mirrored(text))
    assert not rules.is_floor("flat", at(HALF), None, *CELL)
    assert not rules.is_floor("balanced", at(HALF), None, *CELL)


def test_a_loss_that_is_almost_never_negative() -> None:
    """Limits that miss 0 by 1e-40, or a guard that is a little too low, are not taken for 0."""
    digits = "0." + "6" * 40
    assert _sign_seen("1 - 2/pi*atan(t)")
    assert not _sign_seen(f"{digits} - 4/3/pi*atan(t)")  # tends to -6.7e-41
    assert _sign_seen(f"{digits}7 - 4/3/pi*atan(t)")


def _sign_seen(text: str) -> bool:
    loss = {
        "positive": {"function": "softplus(-t)", "weight": "1", "scale": "1"},
        "negative": {"function": "softplus(-t)", "weight": "1", "scale": "-1"},
    }
    rules = Rules(*read_loss(loss), 160)
    rules._trees = [(simplify(parse(text)),) * 2]
    infinite = float("inf")
    unit = (Fraction(1), Fraction(0))
    return rules.has_sign_by_structure(0, unit, 1) or rules.has_sign(0, unit, 1, -infinite, infinite)


# Limits of time.


def test_what_stopped_the_search_is_said() -> None:
    loss = uneven.UnevenMarginLoss("tangent", gamma=50)
    assert "after 0.001 s" in certify(loss, seconds=0.001).statement
    assert "budget of 3 cells" in certify(loss, budget=3).statement


def test_a_search_is_no_longer_than_asked() -> None:
    certificate = certify(uneven.UnevenMarginLoss("tangent", gamma=50), budget=10**9, seconds=1e-6)
    assert certificate.status == "undecided"
    assert "after 1e-06 s" in certificate.statement


@pytest.mark.parametrize("bits", [160, 4000])
@pytest.mark.parametrize("rule", ["falls", "tangent", "mean"])
def test_an_expensive_file_is_refused_at_once(bits: int, rule: str) -> None:
    """A thousand cells at 4,000 bits took half a minute, of a file of 30 kB."""
    document = copy.deepcopy(certify(HARD["focal"][0]).document)
    ends = [f"{-k / 4096}" if k else "0" for k in range(1024 if bits > 1000 else 8192)][::-1]
    floor = next(step for step in document["steps"] if step["step"] == "floor" and step["weights"] == ["1", "0"])
    floor["cells"] = [["-inf", ends[0], "falls"], *([u, v, rule] for u, v in pairwise(ends))]
    document["bits"] = bits
    assert "would take too long" in verify(json.dumps(document)).reason


def test_many_flat_cells_are_refused() -> None:
    document = copy.deepcopy(certify(HARD["flat to fourth order"][0]).document)
    flat = next(step for step in document["steps"] if any(cell[2] == "flat" for cell in _cells(step)))
    document["steps"] += [flat] * 20
    assert "at most 16 cells may have the rule 'flat'" in verify(json.dumps(document)).reason


@pytest.mark.parametrize(
    "text", ["1.5/3", "1e3/7", "0.5/0.5", "1/0", "--1", "1_000", "0x1", " 1", "1/ 2", 1, None, 0.5]
)
def test_numbers_of_a_certificate(text: Any) -> None:
    with pytest.raises(CertificateError):
        read_number(text)


def test_a_deeply_nested_file_is_refused() -> None:
    document = copy.deepcopy(certify(HARD["focal"][0]).document)
    for place in ("steps", "psi"):
        nested: list[Any] = []
        for _ in range(400):
            nested = [nested]
        assert not verify(json.dumps({**document, place: nested}))
