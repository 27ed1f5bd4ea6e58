"""Certificates: what they prove is true, what is false is never proved, and no tampering is accepted."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from oracle import Truth
from reference_sides import PHIS, Sides, mp
from registered import CALIBRATED
from tampering import is_accepted, mutated

import uneven
from uneven.calibration import Certificate, certify, verify
from uneven.calibration.search.prover import formulas_of
from uneven.calibration.trusted.document import read_loss
from uneven.calibration.trusted.rules import Rules
from uneven.errors import CertificateError, LossError, ParameterError

GAMMAS = ("0.001", "0.1", "1/3", "1", "2", "3", "13.93", "20", "1000")
OTHERS = [name for name in uneven.losses.names() if not uneven.phi(name).convex and name in PHIS]


def numbers_in(data: Any) -> Iterator[Any]:
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        for item in data:
            yield from numbers_in(item)
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield data


def require_agreement(loss: uneven.Loss, certificate: Certificate) -> None:
    """The verdict and the certificate are views of one claim."""
    alpha = certificate.alpha
    if alpha is None:
        alpha = sum(certificate.interval, Fraction(0)) / 2 if certificate.interval else Fraction(1, 3)
    verdict = uneven.analyze(loss, alpha).verdict
    assert (verdict.status in ("calibrated", "calibrated up to rounding")) == (certificate.status == "proved")
    assert (verdict.status == "not calibrated") == (certificate.status == "refuted")
    if certificate.alpha is not None and certificate.extra_regret is not None:
        assert verdict.extra_regret is not None
        assert Fraction(verdict.extra_regret) >= certificate.extra_regret


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("name", uneven.losses.names())
def test_the_registry_is_decided(name: str, gamma: str) -> None:
    """Unweighted and weighted, over six decades of gamma: decided, small, verified, in agreement with the verdict."""
    for alpha in (None, "1/7"):
        loss = uneven.UnevenMarginLoss(name, gamma=gamma, alpha=alpha)
        certificate = certify(loss)
        assert certificate.status != "undecided", certificate
        assert len(certificate.to_json()) < 100_000
        assert verify(certificate.to_json())
        assert not any(isinstance(number, float) for number in numbers_in(certificate.document))
        require_agreement(loss, certificate)
        require_agreement(loss, certify(loss, "0.3"))
        if alpha is None and name in CALIBRATED:
            assert certificate.interval is not None
            low, high = certificate.interval
            assert high - low <= Fraction(1, 10**12)


@pytest.mark.parametrize("name", uneven.losses.names())
def test_small_costs(name: str) -> None:
    """A false alarm that costs a millionth: also there everything is decided."""
    loss = uneven.UnevenMarginLoss(name, gamma=83.9, alpha=1e-6)
    certificate = certify(loss)
    assert certificate.status != "undecided", certificate
    require_agreement(loss, certificate)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.1, 2.0, 10.0])
@pytest.mark.parametrize("name", OTHERS)
def test_the_enclosed_alpha_is_the_one_of_multiprecision(name: str, gamma: float) -> None:
    """Independent 80-digit infima have the two orders at the ends of the certified interval."""
    interval = certify(uneven.UnevenMarginLoss(name, gamma=gamma)).interval
    assert interval is not None
    sides = Sides(name, gamma)
    low, high = interval
    if low == high:
        low, high = low - Fraction(1, 10**6), high + Fraction(1, 10**6)
    for eta, sign in ((low, 1), (high, -1)):
        a, b = (mp.mpf(x.numerator) / x.denominator for x in (eta, 1 - eta))
        positive, negative = sides.brute(a, b)
        assert (positive - negative) * sign > 0


def test_the_uneven_sigmoid() -> None:
    two, three = (certify(uneven.UnevenMarginLoss("sigmoid", gamma=gamma)).interval for gamma in (2, 3))
    assert two is not None
    assert three is not None
    low, high = two  # (3 + 4 sqrt 2)/23 is the positive root of 23 x^2 - 6 x - 1
    assert 23 * low**2 - 6 * low - 1 < 0 < 23 * high**2 - 6 * high - 1
    assert three[0] < Fraction(4, 13) < three[1]
    assert max(high - low, three[1] - three[0]) <= Fraction(1, 10**12)


@pytest.mark.slow
@pytest.mark.parametrize("precision", [Fraction(1, 10**3), Fraction(1, 10**14), Fraction(1, 10**20)])
def test_precision(precision: Fraction) -> None:
    """Beyond doubles the crossing is bisected in balls; the interval may be wider there, but it is proved."""
    certificate = certify(uneven.UnevenMarginLoss("sigmoid", gamma=2), precision=precision)
    assert certificate.status == "proved"
    assert certificate.interval is not None
    low, high = certificate.interval
    assert high - low <= max(precision, Fraction(1, 10**14))
    assert 23 * low**2 - 6 * low - 1 < 0 < 23 * high**2 - 6 * high - 1


def test_an_alpha_asked_for() -> None:
    sigmoid = uneven.UnevenMarginLoss("sigmoid", gamma=3)
    inside = certify(sigmoid, "4/13")
    assert inside.status == "proved"
    assert inside.interval is not None
    assert inside.alpha == Fraction(4, 13)
    assert inside.extra_regret == max(inside.alpha - inside.interval[0], inside.interval[1] - inside.alpha)
    outside = certify(sigmoid, "0.4")
    assert outside.status == "refuted"
    assert outside.witness is not None
    assert uneven.analyze(sigmoid, "0.4").H(float(outside.witness)) == 0
    made = certify(uneven.calibrated_loss("sigmoid", alpha=0.1, gamma=5))
    assert made.status == "proved"
    assert made.extra_regret is not None
    assert made.extra_regret <= Fraction(1, 10**12)
    close = certify(uneven.UnevenMarginLoss("hinge", gamma=0.1, beta=10.0), "1/2")
    assert close.status == "refuted"  # the floats 0.1 and 10.0 are not reciprocal
    exact = certify(uneven.UnevenMarginLoss("hinge", gamma=0.1, alpha="1/11"))
    assert (exact.status, exact.alpha, exact.extra_regret) == ("proved", Fraction(1, 11), 0)


def test_refutations() -> None:
    assert certify("perceptron").method == "convex tie"
    assert certify(uneven.Loss("abs(t) + 1", "relu(1 + t)")).statement == "The loss is calibrated for no alpha."
    flat = certify(uneven.Loss("where(t < 0, 1, 0)", "where(t < 0, 0, 1)"))
    assert (flat.status, flat.method) == ("refuted", "order")
    assert flat.statement == "The loss is calibrated for no alpha."
    assert certify(uneven.Loss("expit(-t)", "expit(-t)")).status == "refuted"


def test_undecided_says_what_is_missing_and_proves_nothing() -> None:
    certificate = certify(uneven.UnevenMarginLoss("sigmoid", gamma=2), budget=3)
    assert certificate.status == "undecided"
    assert "budget" in certificate.statement
    result = verify(certificate)
    assert not result
    assert "proves nothing" in result.reason
    assert certify(uneven.UnevenMarginLoss("tangent", gamma=50), seconds=1e-9).status == "undecided"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"loss": uneven.Loss(lambda t: np.exp(-t), "exp(t)")}, "Python functions cannot be certified"),
        ({"loss": "hinge", "alpha": 1.5}, "strictly between 0 and 1"),
        ({"loss": "hinge", "precision": 0}, "precision must be positive"),
        ({"loss": "hinge", "budget": 0}, "budget must be a positive whole number"),
        ({"loss": "hinge", "budget": True}, "budget must be a positive whole number"),
        ({"loss": "hinge", "seconds": -1}, "seconds must be positive"),
        ({"loss": "hinge", "psi": [0.9]}, "psi is defined from 0 to 0.5"),
        ({"loss": "perceptron", "psi": [0.1]}, "needs an alpha"),
        ({"loss": "hinge", "psi": 5}, "sequence of cost regrets"),
        ({"loss": "hinge", "psi": "0.1"}, "sequence of cost regrets"),
        ({"loss": "hinge", "psi": [0.1] * 301}, "at most 300 cost regrets, got 301"),
    ],
)
def test_bad_requests(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises((LossError, ParameterError), match=complaint):
        certify(**arguments)


# Random losses of known status.

SMOOTH = ("softplus({s}*t)", "expit({s}*t)", "expit({s}*t)**2", "erfc(-({s})*t)", "exp({s}*t/4)", "atan({s}*t) + 2")
CONVEX = ("softplus({s}*t)", "relu(1 + {s}*t)", "relu(1 + {s}*t)**2", "exp({s}*t/2)", "(1 + {s}*t)**2")


def _sum(rng: random.Random, pieces: tuple[str, ...], sign: int) -> str:
    chosen = rng.sample(pieces, rng.randint(1, 2))
    scales = [sign * Fraction(rng.randint(1, 12), rng.randint(2, 5)) for _ in chosen]
    terms = [
        f"{rng.randint(1, 9)}/4*({piece.format(s=f'({scale})')})" for piece, scale in zip(chosen, scales, strict=True)
    ]
    return " + ".join(terms)


@pytest.mark.parametrize("seed", range(30))
def test_random_convex_losses(seed: int) -> None:
    """Calibrated by theorem 4, unless a kink at 0 is added."""
    rng = random.Random(seed)
    positive, negative = _sum(rng, CONVEX, -1), _sum(rng, CONVEX, 1)
    calibrated = certify(uneven.Loss(positive, negative))
    assert calibrated.status == "proved"
    Truth(uneven.Loss(positive, negative)).require(calibrated)
    assert verify(calibrated)
    kinked = certify(uneven.Loss(f"{positive} + abs(t)/8", negative))
    assert kinked.status == "refuted"
    assert verify(kinked)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_random_monotone_losses(seed: int) -> None:
    """Theorem U: calibrated for exactly one alpha; for any other alpha, and with labels exchanged, not."""
    rng = random.Random(1000 + seed)
    positive, negative = _sum(rng, SMOOTH, -1), _sum(rng, SMOOTH, 1)
    loss = uneven.Loss(positive, negative)
    truth, certificate = Truth(loss), certify(loss)
    assert certificate.status != "refuted"
    truth.require(certificate)
    for alpha in ("0.1", "0.6"):
        truth.require(certify(loss, alpha))
    exchanged = uneven.Loss(negative, positive)
    backwards = certify(exchanged)
    assert backwards.status != "proved"
    Truth(exchanged).require(backwards)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_odd_losses(seed: int) -> None:
    """Bumps, wells, caps and steps: whatever is claimed agrees with a fine grid."""
    rng = random.Random(2000 + seed)

    def odd(sign: int) -> str:
        base = _sum(rng, SMOOTH + CONVEX, sign)
        centre, width = Fraction(rng.randint(-12, 12), 4), rng.randint(1, 6)
        bump = f"{rng.randint(1, 8)}/4*exp(-{width}*(t - ({centre}))**2)"
        return rng.choice(
            [
                f"{base} + {bump}",
                f"min({rng.randint(2, 6)}/2, {base})",
                f"{base} + step({sign}*t + {rng.randint(-2, 2)})/2",
                f"where(t < {centre}, {base}, 1/2 + {base})",
                f"max({base}, {bump})",
            ]
        )

    loss = uneven.Loss(odd(-1), odd(1))
    certificate = certify(loss, rng.choice([None, "0.3", "0.5"]), budget=600)
    Truth(loss).require(certificate)
    if certificate.status != "undecided":
        assert verify(certificate)


# Tampering.


def _samples() -> list[Certificate]:
    return [
        certify(uneven.UnevenMarginLoss("sigmoid", gamma=2)),
        certify(uneven.UnevenMarginLoss("savage", gamma=3)),
        certify(uneven.UnevenMarginLoss("tangent", gamma=20)),
        certify(uneven.UnevenMarginLoss("zero_one", gamma=2)),
        certify(uneven.UnevenMarginLoss("ramp", gamma=2, alpha="1/4"), "2/11"),
        certify(uneven.UnevenMarginLoss("modified_huber", gamma=3, alpha="0.1"), psi=["0.05", "0.3"]),
        certify(uneven.UnevenMarginLoss("probit", gamma=2), "1/3"),
        certify(uneven.Loss("expit(-t)**2*softplus(-t)", "expit(t)*softplus(t)")),
        certify(uneven.Loss("expit(-t) + 0.3*exp(-(t - 1)**2)", "expit(t) + 0.1*exp(-(t + 2)**2)")),
        certify("perceptron"),
        certify(uneven.cost_loss("1/4")),
    ]


@pytest.fixture(scope="module")
def samples() -> list[Certificate]:
    return _samples()


@pytest.mark.slow
def test_a_thousand_mutations(samples: list[Certificate]) -> None:
    """None is accepted, unless it still proves its own claim: then that claim is true."""
    rng = random.Random(20261116)
    accepted = 0
    for k in range(1000):
        original = samples[k % len(samples)].document
        mutant = mutated(rng, original)
        if mutant == original:
            continue
        certificate = Certificate(json.dumps(mutant))
        if not is_accepted(certificate):
            continue
        accepted += 1
        if mutant["claim"] != original["claim"] or mutant["loss"] != original["loss"]:
            Truth.of_document(mutant["loss"]).require(certificate)
    assert accepted < 60  # a point, a level or a bound that may be moved a little


@pytest.mark.slow
def test_named_tampering(samples: list[Certificate]) -> None:
    """Each of these is what someone would try first."""
    document = samples[0].document
    floor = next(k for k, step in enumerate(document["steps"]) if step["step"] == "floor" and len(step["cells"]) > 2)

    def rejected(change: Any, match: str) -> None:
        mutant = copy.deepcopy(document)
        change(mutant)
        result = verify(json.dumps(mutant))
        assert not result
        assert re.search(match, result.reason), result.reason
        assert result.claim is None

    def cells(d: dict[str, Any]) -> list[Any]:
        return d["steps"][floor]["cells"]

    rejected(lambda d: cells(d).pop(1), f"step {floor + 1}: .*gap")
    rejected(lambda d: cells(d).pop(0), f"step {floor + 1}: .*reach")
    rejected(lambda d: cells(d)[1].__setitem__(0, "-3"), f"step {floor + 1}: ")
    rejected(lambda d: d["steps"].pop(floor), f"step {floor + 1}: ")
    rejected(lambda d: d["steps"].append(d["steps"][0]), "needs no further step")
    rejected(lambda d: d["loss"]["negative"].__setitem__("weight", "0.75"), "step")
    rejected(lambda d: d["loss"]["negative"].__setitem__("function", "softplus(-t)"), "step")
    rejected(lambda d: d["loss"]["negative"].__setitem__("function", "-t"), "not a loss")
    rejected(lambda d: d.__setitem__("statement", "The loss is calibrated for alpha = 0.5."), "statement")
    rejected(lambda d: d.__setitem__("theorem", "Obvious."), "theorem")
    rejected(lambda d: d.__setitem__("status", "refuted"), "status")
    rejected(lambda d: d.__setitem__("bits", 63), "bits")
    rejected(lambda d: d.__setitem__("bits", True), "bits")
    rejected(lambda d: d.__setitem__("extra", 1), "fields")
    rejected(lambda d: d["claim"].__setitem__("low", "0.3763849673691"), "statement")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "3",
        "[" * 100_000,
        '{"a": NaN}',
        "\ud800",
        "x" * 5_000_001,
    ],
)
def test_unreadable(text: str) -> None:
    with pytest.raises(CertificateError):
        verify(text)


def test_missing_fields() -> None:
    assert "has the fields" in verify('{"schema": "uneven-certificate/1"}').reason


@pytest.mark.parametrize("given", [None, 3, b"{}", {"schema": "uneven-certificate/1"}])
def test_not_a_text(given: Any) -> None:
    with pytest.raises(CertificateError, match="certificate or its JSON text"):
        verify(given)


# Bounds of psi.


@pytest.mark.slow
@pytest.mark.parametrize(("name", "gamma"), [("hinge", 2), ("logistic", 3), ("savage", 2), ("sigmoid", 2), ("ramp", 3)])
def test_psi_is_enclosed(name: str, gamma: int) -> None:
    loss = uneven.calibrated_loss(name, gamma=gamma, alpha="1/4")
    eps = ["0", "0.01", "0.2", "1/3", "3/4"]
    certificate = certify(loss, psi=eps)
    assert verify(certificate)
    assert len(certificate.to_json()) < 100_000
    truth = uneven.analyze(loss).psi([float(Fraction(x)) for x in eps])
    for (x, lower, upper), psi, wanted in zip(certificate.psi_table, truth, eps, strict=True):
        assert x == Fraction(wanted)
        assert float(lower) <= psi + 1e-12
        assert float(upper) >= psi - 1e-12
        assert upper - lower <= Fraction(1, 100) * upper
    middle = certificate.psi_table[2]
    assert certificate.regret_bound(middle[1] / 2) <= middle[0]
    assert certificate.regret_bound(float("inf")) == Fraction(3, 4)
    with pytest.raises(CertificateError, match="no psi table"):
        certify(loss).regret_bound("0.1")


def test_a_raised_psi_is_rejected() -> None:
    certificate = certify(uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/4"), psi=["0.1"])
    mutant = copy.deepcopy(certificate.document)
    mutant["psi"]["rows"][0]["lower"] = "0.06"
    assert verify(json.dumps(mutant)).reason.startswith("psi table: the lower bound")
    mutant = copy.deepcopy(certificate.document)
    mutant["psi"]["above"].pop(3)
    mutant["psi"]["above"].pop()
    assert verify(json.dumps(mutant)).reason.startswith("psi table: the nodes")


# Rules of the rules that a proof once rested on wrongly.


def test_convex_pieces_do_not_make_a_convex_whole() -> None:
    """The ramp is affine between its kinks; at the upper one its slope falls."""
    capped = uneven.phi("ramp", cap="3/2")
    certificate = certify(uneven.UnevenMarginLoss(capped, gamma=3))
    assert certificate.alpha == Fraction(3, 11)
    assert certificate.method == "transversal"


def test_a_jump_at_the_end_of_a_cell_is_seen() -> None:
    """At its end a cell may have another value than beside it."""
    loss = {
        part: {"function": "1 - step(t)", "weight": "1", "scale": scale}
        for part, scale in (("positive", "1"), ("negative", "-1"))
    }
    rules = Rules(*read_loss(loss), 128)
    half = (Fraction(1, 2), Fraction(1, 2))
    assert not rules.is_floor("value", half, Fraction(1), Fraction(0), Fraction(1))
    assert not rules.is_floor("falls", half, Fraction(1), Fraction(0), Fraction(1))


ONE, ZERO = ["1", "0"], ["0", "1"]


def made_by_hand(
    claim: dict[str, Any], method: str, function: str, steps: list[dict[str, Any]], /, **changes: Any
) -> str:
    """A document that no prover wrote, for one function on two scales."""
    from uneven.calibration.trusted.claims import KINDS, statement
    from uneven.calibration.trusted.document import SCHEMA, THEOREMS

    scale = changes.pop("scale", "1")
    negative = changes.pop("negative", function)
    turned = changes.pop("turned", f"-{scale}")
    loss = {
        "positive": {"function": function, "weight": "1", "scale": scale},
        "negative": {"function": negative, "weight": "1", "scale": turned},
    }
    document = {
        "schema": SCHEMA,
        "status": KINDS[claim["kind"]][0],
        "statement": statement(claim),
        "theorem": THEOREMS[method],
        "method": method,
        "claim": claim,
        "loss": loss,
        "bits": 160,
        "steps": steps,
        "psi": None,
    }
    return json.dumps({**document, **changes})


def positive_everywhere(cells: list[list[str]] | None = None) -> list[dict[str, Any]]:
    step = {"step": "sign", "order": 0, "sign": 1, "from": "-inf", "to": "inf", "cells": cells}
    return [{**step, "weights": weights} for weights in (ONE, ZERO)]


def test_a_tiny_loss_is_no_smaller_than_it_is() -> None:
    """An upper bound of e**-4100 was once below it."""
    certificate = certify("exp(-4100)*expit(-t)", "0.5")
    assert certificate.status != "refuted"
    claim = {"kind": "not calibrated", "alpha": "0.5", "witness": "0.75"}
    weights = ["0.75", "0.25"]
    steps = [
        *positive_everywhere(),
        {
            "step": "floor",
            "weights": weights,
            "side": 1,
            "start": "0",
            "level": "at 0",
            "cells": [["0", "inf", "value"]],
        },
        {"step": "point", "weights": weights, "t": "0", "value": f"1/{2**6000}"},
    ]
    assert not verify(made_by_hand(claim, "order", "exp(-1500)*relu(1 - t)", steps, bits=4096))


def test_a_switch_at_1e400_is_seen() -> None:
    """0 * inf was once NaN, and NaN no obstacle."""
    floor = {
        "step": "floor",
        "weights": ONE,
        "side": 1,
        "start": "0",
        "level": "at 0",
        "cells": [["0", "inf", "rises"]],
    }
    point = {"step": "point", "weights": ONE, "t": "0", "value": "1"}
    steps = [*positive_everywhere([["-inf", "inf"]]), floor, point]
    for scale in ("1", "1e-400", "1e400"):
        claim = {"kind": "calibrated for no alpha"}
        assert not verify(made_by_hand(claim, "order", "where(t < 1, 1, relu(2 - t))", steps, scale=scale))


def test_a_slope_at_zero_that_is_0_times_infinity_is_not_0() -> None:
    """sqrt(t**2 + t**4) has slope 1 to the right of 0; substituting t = 0 says 0."""
    negative = "exp(t) + exp(-0.5*relu(-t)) + max(sqrt(relu(t)**2 + relu(t)**4), 0.5*relu(t))"
    loss = uneven.Loss("exp(-t)", negative)
    rules = Rules(*formulas_of(loss), 128)
    slopes = rules.slopes_at_zero(1)
    assert slopes is None or slopes[1].lo > 1.9
    certificate = certify(loss, budget=300)
    assert certificate.status != "proved"


def test_a_loss_that_vanishes_at_zero() -> None:
    certificate = certify(uneven.Loss("step(-1 - t)", "t**2/(1 + t**2)"))
    assert certificate.status == "undecided" or verify(certificate)


@pytest.mark.parametrize(
    "change",
    [
        {"method": []},
        {"method": {}},
        {"steps": [{"step": []}]},
        {"steps": [{"step": {}}]},
        {"steps": [{"step": "point", "weights": ONE, "t": "1e9999", "value": "1"}]},
        {"steps": [{"step": "point", "weights": ONE, "t": "1.234567890123456789e9999", "value": "1"}]},
        {"steps": [{"step": "point", "weights": ONE, "t": "1/0", "value": "1"}]},
        {"scale": "1e1000", "turned": "-1e1000"},
        {"scale": "0", "turned": "0"},
        {"psi": 3},
        {"psi": {}},
        {"bits": 4096, "steps": [{"step": "sign", "pad": "x" * 200_000}]},
    ],
)
def test_strange_documents_are_not_valid(change: dict[str, Any]) -> None:
    claim = {"kind": "calibrated", "alpha": "0.5"}
    result = verify(made_by_hand(claim, "convex", "exp(-t)", [], **change))
    assert not result
    assert result.reason


def test_a_whole_number_of_many_digits() -> None:
    text = made_by_hand({"kind": "calibrated", "alpha": "0.5"}, "convex", "exp(-t)", [])
    with pytest.raises(CertificateError, match="not JSON"):
        verify(text.replace('"bits": 160', '"bits": ' + "9" * 5000))


def test_a_proof_that_fails_its_own_check_is_no_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    from uneven.calibration.search import prover

    def reject(text: str) -> None:
        raise CertificateError("step 1: no", 1)

    monkeypatch.setattr(prover, "check", reject)
    decision = prover.prove(uneven.UnevenMarginLoss("hinge"), None, prover.Limits())
    assert decision.claim.status == "undecided"
    assert decision.claim.missing == "the proof failed its own check (step 1: no)"


def test_what_verify_returns() -> None:
    certificate = certify(uneven.UnevenMarginLoss("hinge", gamma=2, alpha="1/4"))
    valid = verify(certificate)
    assert (valid.valid, bool(valid), valid.reason) == (True, True, certificate.statement)
    assert valid.claim.status == "calibrated"
    assert valid.claim.only.exact == Fraction(1, 4)
    false = verify(certificate.to_json().replace("0.25", "0.3"))
    assert (false.valid, bool(false), false.claim) == (False, False, None)
    assert false.step is not None


def test_numbers_that_a_person_can_read() -> None:
    """``str`` shortens numbers; the statement in the document keeps every digit, and bounds are rounded up."""
    double = Fraction(0.1)
    certificate = certify(uneven.UnevenMarginLoss("logistic", alpha=0.1))
    assert str(certificate) == (
        "proved: The loss is calibrated for alpha = 0.1 (in double precision) and for no other alpha."
    )
    assert f"alpha = {double}" in certificate.statement
    assert str(verify(certificate)) == str(certificate).replace("proved", "valid")
    exact = certify(uneven.UnevenMarginLoss("logistic", alpha="1/10"))
    assert str(exact) == "proved: The loss is calibrated for alpha = 0.1 and for no other alpha."
    elsewhere = certify(uneven.UnevenMarginLoss("logistic", alpha=0.1), 0.2)
    assert "not calibrated for alpha = 0.2 (in double precision): it is calibrated for alpha = 0.1 (in" in str(
        elsewhere
    )
    rounded = certify(uneven.calibrated_loss("sigmoid", gamma=2, alpha=0.1))
    assert rounded.extra_regret is not None
    bound = Fraction(str(rounded).rpartition(" ")[2].removesuffix("."))
    assert rounded.extra_regret <= bound <= rounded.extra_regret * Fraction("1.01")
    close = certify(uneven.UnevenMarginLoss("logistic", alpha="1/3"), 1 / 3)
    assert "Where P(Y = 1) = 0.333333 (rounded)" in str(close)
