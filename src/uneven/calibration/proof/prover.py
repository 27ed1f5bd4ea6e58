"""Find a proof that a loss is, or is not, calibrated.

The prover may guess with floats: where the sides cross, where a minimum lies. What it writes down holds by the rules
of the rules, on which alone a certificate rests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from uneven import _inputs
from uneven._inputs import Exact
from uneven.calibration.certificate.checker import verify
from uneven.calibration.certificate.document import CLAIMS, SCHEMA, THEOREMS, Certificate, number, statement
from uneven.calibration.certificate.reader import read_loss
from uneven.calibration.implied_costs import as_loss
from uneven.calibration.proof.attempt import Attempt, NotShown, Proof
from uneven.calibration.proof.hints import Hints
from uneven.calibration.proof.methods.convex import prove_convex
from uneven.calibration.proof.methods.order import refute, refute_far
from uneven.calibration.proof.methods.tangential import prove_tangential
from uneven.calibration.proof.methods.transversal import prove_transversal
from uneven.calibration.proof.psi_search import prove_psi, psi_alpha
from uneven.calibration.proof.rules import NEGATIVE, POSITIVE, Rules
from uneven.calibration.proof.search import Budget, Exhausted, Search
from uneven.calibration.proof.steps import Step
from uneven.errors import CertificateError, ExpressionError, LossError
from uneven.expression import to_text
from uneven.losses import Loss, Phi
from uneven.losses.partial import Partial

_BITS = 160
_METHODS: tuple[Callable[[Attempt], Proof], ...] = (
    prove_convex,
    refute_far,
    prove_tangential,
    prove_transversal,
    refute,
)


def certify(
    loss: Loss | Phi | str,
    alpha: Exact | None = None,
    *,
    precision: Exact = Fraction(1, 10**12),
    budget: int = 3_000,
    seconds: float | None = None,
    psi: Sequence[Exact] | None = None,
) -> Certificate:
    """A machine-checkable proof that a loss is, or is not, calibrated for alpha.

    Parameters
    ----------
    loss : Loss, Phi or str
        A phi or its name stands for the margin loss with gamma = 1. Python functions cannot be certified.
    alpha : number in (0, 1), optional
        By default the weight of a weighted loss; for an unweighted one, whichever alpha it is calibrated for.
    precision : positive number
        Width of the interval in which alpha is enclosed where it is not found exactly.
    budget : int
        Cells the search may look at.
    seconds : float, optional
        Time after which the search gives up; 10 by default.
    psi : sequence of numbers, optional
        Cost regrets at which the certificate also bounds psi from below and above.

    Returns
    -------
    Certificate
        ``status`` is ``"proved"``, ``"refuted"`` or ``"undecided"``; :func:`uneven.verify` re-checks the first two.

    Notes
    -----
    Where the one alpha of a loss is irrational it is enclosed. An alpha asked for that lies in the enclosure
    counts as proved, and ``extra_regret`` says what the difference can cost.

    Examples
    --------
    >>> import uneven
    >>> certificate = uneven.certify(uneven.UnevenMarginLoss("sigmoid", gamma=3))
    >>> certificate.status, certificate.method
    ('proved', 'transversal')
    >>> low, high = certificate.interval
    >>> low < uneven.certify("sigmoid").alpha, low < 4 / 13 < high, float(high - low) <= 1e-12
    (True, True, True)
    >>> print(uneven.certify("perceptron"))
    refuted: The loss is calibrated for no alpha.
    """
    chosen = as_loss(loss)
    if not all(partial.symbolic for partial in chosen.partials):
        raise LossError(
            "a loss given as Python functions cannot be certified; written as expressions in t it can, such as "
            "uneven.Loss('softplus(-t)', '10*softplus(t)')"
        )
    asked = chosen.exact_alpha if alpha is None else _inputs.between_0_and_1("alpha", alpha)
    width = _inputs.positive("precision", precision)
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise LossError(f"budget must be a positive whole number of cells, got {_inputs.brief(budget)}")
    limit = None if seconds is None else float(_inputs.positive("seconds", seconds))
    eps = None if psi is None else _read_eps(psi)
    written = dict(zip(("positive", "negative"), map(_written, chosen.partials), strict=True))
    rules = Rules(*read_loss(written), _BITS)
    limits = Budget(budget, limit)
    hints = Hints(chosen, limits.check_time)
    attempt = Attempt(rules, Search(rules, limits, hints.edges), hints, asked, width)
    proof = _proof(attempt)
    table = None if eps is None or proof.method == "none" else _psi_table(attempt, proof, eps)
    certificate = _written_out(written, proof, table)
    try:
        if proof.method != "none":
            verify(certificate)
    except CertificateError as error:  # a fault of the prover must not become a claim
        return _written_out(written, _undecided(attempt, f"the proof did not stand its own check ({error})"), None)
    return certificate


def _read_eps(psi: Sequence[Exact]) -> list[Fraction]:
    if isinstance(psi, str) or not isinstance(psi, Iterable):
        raise LossError(f"psi must be a sequence of cost regrets such as [0.01, 0.1], got {_inputs.brief(psi)}")
    return [_inputs.exact("psi", value) for value in psi]


def _written_out(loss: dict[str, Any], proof: Proof, table: dict[str, Any] | None) -> Certificate:
    document = {
        "schema": SCHEMA,
        "status": CLAIMS[proof.claim["kind"]][0],
        "statement": statement(proof.claim),
        "theorem": THEOREMS[proof.method],
        "method": proof.method,
        "claim": proof.claim,
        "loss": loss,
        "bits": _BITS,
        "steps": [step.to_dict() for step in proof.steps],
        "psi": table,
    }
    return Certificate(_laid_out(document))


def _written(partial: Partial) -> dict[str, str]:
    assert isinstance(partial.function, Phi)
    return {
        "function": to_text(partial.function.tree),
        "weight": number(partial.weight),
        "scale": number(partial.inner),
    }


def _proof(attempt: Attempt) -> Proof:
    """The first method that comes to an end, else what is missing."""
    missing: list[str] = []
    try:
        loss_steps: list[Step] = []
        for weights in (POSITIVE, NEGATIVE):
            step = attempt.search.sign(0, weights, 1)
            if step is None:
                return _undecided(attempt, "that both partial losses are never negative was not seen")
            loss_steps.append(step)
        for method in _METHODS:
            try:
                proof = method(attempt)
            except (NotShown, ExpressionError) as gap:
                missing += [str(gap)] if str(gap) else []
            else:
                return Proof(proof.method, loss_steps + proof.steps, proof.claim)
    except Exhausted as stop:
        missing.append(str(stop))
    return _undecided(attempt, "; ".join(dict.fromkeys(missing)))


def _undecided(attempt: Attempt, missing: str) -> Proof:
    asked = None if attempt.alpha is None else number(attempt.alpha)
    return Proof("none", [], {"kind": "undecided", "alpha": asked, "missing": missing})


def _psi_table(attempt: Attempt, proof: Proof, eps: list[Fraction]) -> dict[str, Any]:
    alpha = psi_alpha(proof.claim, attempt.alpha)
    exact = proof.claim["kind"] == "calibrated" and proof.method in ("convex", "tangential")
    try:
        return prove_psi(attempt, alpha, eps, affine=exact)
    except NotShown as gap:
        raise LossError(f"psi was not bounded: {gap}; a larger budget may help") from None
    except Exhausted as stop:
        raise LossError(f"{stop} before psi was bounded; a larger budget may help") from None


def _laid_out(document: dict[str, Any]) -> str:
    """JSON with one line per field, step and node: a person can read it, and a diff is short."""
    return "{\n" + ",\n".join(_field(key, value, "  ") for key, value in document.items()) + "\n}\n"


def _field(key: str, value: Any, indent: str) -> str:
    if key == "psi" and value is not None:
        inner = ",\n".join(_field(name, part, indent + "  ") for name, part in value.items())
        return f'{indent}"psi": {{\n{inner}\n{indent}}}'
    if isinstance(value, list) and value:
        items = ",\n".join(f"{indent}  {json.dumps(item)}" for item in value)
        return f"{indent}{json.dumps(key)}: [\n{items}\n{indent}]"
    return f"{indent}{json.dumps(key)}: {json.dumps(value)}"
