"""Write a proof to a certificate that anyone can check again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from uneven import inputs
from uneven.calibration.search.attempt import NotShown
from uneven.calibration.search.cells import Exhausted
from uneven.calibration.search.prover import Decision, Limits, attempt_at, decide, write
from uneven.calibration.search.psi_search import psi_alpha, psi_table
from uneven.calibration.verification import Certificate, verify
from uneven.errors import LossError, ParameterError
from uneven.inputs import Exact
from uneven.losses import Loss, Phi
from uneven.losses.loss import as_loss

_USUAL = Limits()
_MOST_EPS = 300  # a certificate of more would be too large to check


def certify(
    loss: Loss | Phi | str,
    alpha: Exact | None = None,
    *,
    precision: Exact = _USUAL.precision,
    budget: int = _USUAL.cells,
    seconds: float = _USUAL.seconds,
    psi: Sequence[Exact] | None = None,
) -> Certificate:
    """A machine-checkable proof that a loss is, or is not, calibrated for alpha.

    Parameters
    ----------
    loss : Loss, Phi or str
        A phi or its name stands for the margin loss with gamma = 1. Python functions cannot be certified.
    alpha : number in (0, 1), optional
        Cost parameter: a false positive costs alpha, a false negative 1 - alpha. By default the alpha that the loss is
        weighted by. Without any alpha, the certificate says for which alpha the loss is calibrated.
    precision : positive number
        If the alpha of the loss is not found exactly: the largest width of the proved interval around it, relative to
        min(alpha, 1 - alpha). If the budget does not suffice for that, a wider interval is proved.
    budget : int
        Largest number of cells (intervals of t) that the search looks at.
    seconds : float
        Time after which the search stops.
    psi : sequence of numbers, optional
        Cost regrets at which the certificate also bounds psi from below and above.

    Returns
    -------
    Certificate
        ``status`` is ``"proved"``, ``"refuted"`` or ``"undecided"``; :func:`uneven.verify` checks the first two again.

    Notes
    -----
    If the alpha of a loss is irrational, the certificate proves an interval around it. If the alpha asked for lies in
    this interval, the status is ``"proved"``, and ``extra_regret`` bounds the cost regret that the difference can add.

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
    if not chosen.symbolic:
        raise LossError(
            "a loss given as Python functions cannot be certified; write it as expressions in t, such as "
            "uneven.Loss('softplus(-t)', '10*softplus(t)')"
        )
    asked = chosen.exact_alpha if alpha is None else inputs.between_0_and_1("alpha", alpha)
    limits = _read_limits(precision, budget, seconds)
    eps = None if psi is None else _read_eps(psi)
    decision = decide(chosen, asked, None if limits == _USUAL else limits)
    table = None if eps is None or decision.proof.method == "none" else _psi_table(chosen, decision, eps, limits)
    certificate = Certificate(write(chosen, decision.proof, decision.claim, table))
    if table is not None and not (checked := verify(certificate)):
        raise LossError(f"psi was not bounded: the table failed its own check ({checked.reason})")
    return certificate


def _read_limits(precision: Exact, budget: Any, seconds: Any) -> Limits:
    width = inputs.positive("precision", precision)
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise ParameterError(f"budget must be a positive whole number of cells, got {inputs.brief(budget)}")
    return Limits(width, budget, float(inputs.positive("seconds", seconds)))


def _read_eps(psi: Sequence[Exact]) -> list[Fraction]:
    if isinstance(psi, str) or not isinstance(psi, Iterable):
        raise ParameterError(f"psi must be a sequence of cost regrets such as [0.01, 0.1], got {inputs.brief(psi)}")
    values = [inputs.exact("psi", value) for value in psi]
    if len(values) > _MOST_EPS:
        raise ParameterError(f"psi must hold at most {_MOST_EPS} cost regrets, got {len(values)}")
    return values


def _psi_table(loss: Loss, decision: Decision, eps: list[Fraction], limits: Limits) -> dict[str, Any]:
    alpha = psi_alpha(decision.claim)
    try:
        return psi_table(attempt_at(loss, limits), decision.proof, alpha, eps)
    except NotShown as gap:
        raise LossError(f"psi was not bounded: {gap}; a larger budget may help") from None
    except Exhausted:
        raise LossError("the search used up its budget before psi was bounded; a larger budget may help") from None
