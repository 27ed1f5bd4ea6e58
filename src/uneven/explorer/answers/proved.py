"""Everything that is proved: it takes longer than a picture and comes when the sliders rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.calibration import Analysis, analyze, certify, verify
from uneven.calibration.prescription import Prescription
from uneven.errors import LossError
from uneven.explorer.answers.numbers import drawn, stated
from uneven.explorer.answers.question import Question, read_question
from uneven.explorer.answers.words import costs, verdict_in_words
from uneven.expression.text import to_text
from uneven.expression.tree import MAX_CHARACTERS
from uneven.losses import UnevenMarginLoss

_EPS = 33
#: Surrogate regrets of the bound, from 1e-4 to 1: the page moves on this grid, so that every number it shows is proved.
_REGRETS = np.array([float(f"{r:.3g}") for r in np.geomspace(1e-4, 1.0, 41)])


def verdict(data: Any) -> dict[str, Any]:
    """Whether the loss is calibrated for the costs, why, which costs it assumes, and what would repair it."""
    question = read_question(data)
    analysis = analyze(question.loss, question.alpha)
    found, implied = analysis.verdict, analysis.implied_alpha
    remedy = analysis.prescription
    return {
        "status": found.status,
        "sentence": verdict_in_words(found, question.alpha, never=implied.proved_none),
        "reason": found.reason,
        "witness": None if found.witness is None else stated(found.witness),
        "costs": costs(question.alpha),
        "alpha": analysis.alpha,
        "implied": implied.in_words(reason=False),
        "implied_alpha": implied.alpha,
        "loss": repr(question.loss),
        "remedy": None if remedy is None else {"words": remedy.words, "set": _remedy_fields(question, remedy)},
    }


def _remedy_fields(question: Question, remedy: Prescription) -> dict[str, Any] | None:
    """What the page must change to ask about the loss that is prescribed; None if it has no field for it."""
    found = remedy.loss
    if not question.weighted and found == question.plain.weighted(question.alpha):
        return {"weighted": True}
    if question.phi is None and found.symbolic:
        texts = [to_text(partial.tree) for partial in found.partials]
        fits = max(map(len, texts)) <= MAX_CHARACTERS
        return {"kind": "pair", "positive": texts[0], "negative": texts[1], "weighted": False} if fits else None
    if not isinstance(found, UnevenMarginLoss):
        return None
    if question.phi is not None and found.phi == question.phi:
        beta = found.exact_beta
        return {"beta": str(beta) if beta.denominator < 10**9 else repr(found.beta)}
    if found.phi.name is None:
        return None
    return {"kind": "phi", "phi": found.phi.name, "parameters": {}, "gamma": "1", "beta": None, "weighted": True}


def enclosure(data: Any) -> dict[str, Any]:
    """Proved bounds of psi, and of the cost regret that a surrogate regret allows."""
    question = read_question(data)
    analysis = analyze(question.loss, question.alpha)
    if not question.loss.symbolic:
        return {"reason": "A proved bound needs the loss as formulas in t."}
    eps = _graded(analysis)
    lower, upper = analysis.psi_bounds(eps)
    return {
        "eps": drawn(eps),
        "lower": drawn(lower),
        "upper": drawn(upper),
        "regret": _REGRETS.tolist(),
        "bound": [stated(x) for x in analysis.regret_bound(_REGRETS)],
        "largest": analysis.largest_regret,
    }


def _graded(analysis: Analysis) -> np.ndarray:
    """Cost regrets, denser near 0, with the place at which psi may have a kink."""
    end, near = analysis.largest_regret, min(analysis.alpha, 1 - analysis.alpha)
    return np.unique(np.append(end * np.linspace(0, 1, _EPS) ** 1.5, near))


def certificate(data: Any) -> dict[str, Any]:
    """The proof as a file, which was checked again from its text."""
    question = read_question(data)
    made = certify(question.loss, question.alpha)
    text = made.to_json()
    checked = verify(text) if made.status != "undecided" else None
    if checked is not None and not checked:
        raise LossError(f"the certificate failed its own check: {checked.reason}")
    return {
        "text": text,
        "summary": str(made),
        "status": made.status,
        "checked": checked is not None,
        "name": f"certificate-{_file_name(question)}.json",
    }


def _file_name(question: Question) -> str:
    name = question.phi.name if question.phi is not None and question.phi.name else "loss"
    return f"{name}-alpha-{analyze(question.loss, question.alpha).alpha:.4g}"
