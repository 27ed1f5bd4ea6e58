"""Answers of the explorer: curves, choices, and what is proved."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from uneven import __version__, losses, zoo
from uneven._hull import lower_hull
from uneven.app.explorer.mathml import to_mathml
from uneven.app.explorer.questions import Question, finite_or_none, read_phi, read_question, round_numbers
from uneven.calibration import Analysis, analyze, certify, verify
from uneven.calibration.calibrated_losses import numeric_odds, own_alpha
from uneven.calibration.half_lines import HalfLineSolver
from uneven.calibration.implied_costs import Prescription
from uneven.calibration.trusted.claims import CALIBRATED, NOT_CALIBRATED, UP_TO_ROUNDING
from uneven.calibration.verdict import Verdict
from uneven.errors import LossError
from uneven.expression.functions import FUNCTIONS
from uneven.expression.text import number_text, to_text
from uneven.expression.tree import MAX_CHARACTERS
from uneven.inputs import to_float
from uneven.losses import Loss, Phi, UnevenMarginLoss, phi
from uneven.losses.registry import declared

#: t runs from minus this to this.
REACH = 5.0
#: eta moves in steps of 1/ETAS, and its minima are known at each.
ETAS = 200
_POINTS = 201
_NU_POINTS = 121
_NEAR_ALPHA = np.geomspace(1e-4, 3e-2, 6)
#: gamma in the curve of alpha(gamma): powers of 2 and what is between, from 1 up; below 1 it is mirrored.
_GAMMAS = np.exp2(np.linspace(0.0, 5.0, 16))
_LONGEST = 400  # characters of MathML per part; a longer formula would fill the page


def curves(data: Any) -> dict[str, Any]:
    """The partial losses, the minima of the conditional risk for every eta, H, nu and psi."""
    question = read_question(data)
    analysis = analyze(question.loss, question.alpha)
    t = _decision_values(question.loss)
    return {
        "alpha": analysis.alpha,
        "largest": analysis.largest_regret,
        "formulas": _formulas(question),
        "t": round_numbers(t),
        "positive": round_numbers(question.loss.positive(t)),
        "negative": round_numbers(question.loss.negative(t)),
        "minima": _minima(question.loss),
        "H": _h(analysis),
        **_nu_and_psi(analysis),
    }


def alpha_of_gamma(data: Any) -> dict[str, Any]:
    """The alpha for which (phi(t), phi(-gamma t)/gamma) is calibrated, for many gamma; or why there is none."""
    function = read_phi(data)
    if function is None:
        return {"reason": "Gamma belongs to losses that are made from one phi."}
    if function.convex:  # the same for every gamma (corollary 2), if there is one at all
        try:
            same = own_alpha(function, Fraction(1)).alpha
        except LossError as error:
            return {"reason": str(error)}
        ends = [1 / float(_GAMMAS[-1]), float(_GAMMAS[-1])]
        return {"gamma": ends, "alpha": [same, same], "convex": True}
    above = [_own_alpha(function, float(gamma)) for gamma in _GAMMAS]
    if all(np.isnan(above)):
        return {"reason": "No alpha was found for which this phi is calibrated."}
    gammas = np.concatenate([1 / _GAMMAS[:0:-1], _GAMMAS])
    return {
        "gamma": round_numbers(gammas),
        "alpha": round_numbers([*(1 - x for x in above[:0:-1]), *above]),
        "convex": False,
    }


def _own_alpha(function: Phi, gamma: float) -> float:
    odds = numeric_odds(function, Fraction(gamma))
    return float("nan") if odds is None else odds / (1 + odds)


def _decision_values(loss: Loss) -> np.ndarray:
    """Values of t, with the places where a formula changes."""
    knots = [t for partial in loss.partials for t in partial.switch_points if abs(t) < REACH] if loss.symbolic else []
    beside = [t + side for t in knots for side in (-1e-9, 0.0, 1e-9)]
    return np.unique(np.concatenate([np.linspace(-REACH, REACH, _POINTS), beside]))


def _formulas(question: Question) -> dict[str, str | None]:
    """MathML of phi and of both partial losses."""
    trees = {"phi": None if question.phi is None else question.phi.tree}
    if question.loss.symbolic:
        trees |= {side: part.tree for side, part in zip(("positive", "negative"), question.loss.partials, strict=True)}
    found = {name: None if tree is None else to_mathml(tree) for name, tree in trees.items()}
    return {name: text if text is None or len(text) < 40 * _LONGEST else None for name, text in found.items()}


def _minima(loss: Loss) -> dict[str, Any]:
    """Smallest conditional risk over t > 0 and over t <= 0, and where; null where it is a limit at infinity."""
    eta = np.arange(ETAS + 1) / ETAS
    solver = HalfLineSolver(loss)
    found = {"positive": solver.minimum(1, eta, 1 - eta), "negative": solver.minimum(-1, eta, 1 - eta)}
    return {side: {"value": round_numbers(one.value), "at": round_numbers(one.at)} for side, one in found.items()}


def _h(analysis: Analysis) -> dict[str, Any]:
    alpha = analysis.alpha
    near = np.concatenate([alpha * (1 - _NEAR_ALPHA), [alpha], alpha + (1 - alpha) * _NEAR_ALPHA])
    eta = np.unique(np.concatenate([np.linspace(0, 1, _POINTS), near]))
    return {"x": round_numbers(eta), "y": round_numbers(analysis.H(eta))}


def _nu_and_psi(analysis: Analysis) -> dict[str, Any]:
    """nu, with a gap where it may jump, and its convex hull.

    The hull of samples lies a little above psi. That is good enough to look at while a slider moves; the proved bounds,
    which replace it when the slider rests, are made from psi itself.
    """
    near, end = min(analysis.alpha, 1 - analysis.alpha), analysis.largest_regret
    shares = np.unique(np.concatenate([np.linspace(0, 1, _NU_POINTS), np.geomspace(1e-4, 1e-2, 8)]))
    eps = near * shares
    if near < end:
        eps = np.concatenate([eps, near + (end - near) * np.maximum(shares, 1e-9)])
    value = analysis.nu(eps)
    hull = lower_hull(eps.tolist(), value.tolist())
    x, y = round_numbers(eps), round_numbers(value)
    if near < end and value[shares.size] > value[shares.size - 1] + 1e-6 * value.max():
        x.insert(shares.size, x[shares.size - 1])
        y.insert(shares.size, None)
    return {"nu": {"x": x, "y": y}, "psi": {"x": round_numbers(eps[hull]), "y": round_numbers(value[hull])}}


# -- what can be chosen on the page ------------------------------------------------------------------------------------


def choices(data: Any) -> dict[str, Any]:
    """Registered phis with their parameters, losses of other libraries, and words of the little language."""
    return {
        "version": __version__,
        "phis": [_phi(name) for name in losses.names()],
        "zoo": list(zoo.names()),
        "functions": [*FUNCTIONS, "where"],
        "longest": MAX_CHARACTERS,
        "etas": ETAS,
    }


def _phi(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": name.replace("_", " "),
        "mathml": to_mathml(phi(name).tree),
        "parameters": [
            {"name": each.name, "default": number_text(each.read(each.default)), "whole": each.whole}
            for each in declared(name).parameters
        ],
    }


# -- the sentence on top of the page -----------------------------------------------------------------------------------


def costs(alpha: Fraction) -> str:
    """What alpha says, in a practitioner's words.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from uneven.app.explorer.answers import costs
    >>> costs(Fraction(1, 21)), costs(Fraction(3, 4)), costs(Fraction(1, 2))
    ('a miss counts 20 false alarms', 'a false alarm counts 3 misses', 'both mistakes count the same')
    """
    if 2 * alpha == 1:
        return "both mistakes count the same"
    ratio = to_float((1 - alpha) / alpha)
    if ratio > 1:
        return f"a miss counts {_times(ratio)} false alarms"
    return f"a false alarm counts {_times(to_float(alpha / (1 - alpha)))} misses"


def _times(ratio: float) -> str:
    return f"{ratio:.4g}" if ratio < 1e4 else f"{ratio:,.0f}" if ratio < 1e9 else f"{ratio:.3g}"


def verdict_in_words(found: Verdict, alpha: Fraction, *, never: bool) -> str:
    """One sentence about a verdict; ``never``: the loss is proved to be calibrated for no costs."""
    if found.status == CALIBRATED:
        return f"Calibrated for your costs: {costs(alpha)}."
    if found.status == UP_TO_ROUNDING:
        return f"Calibrated for your costs, up to rounding: {costs(alpha)}."
    if found.status != NOT_CALIBRATED:
        return "Undecided: it is neither proved nor refuted that this loss is calibrated for your costs."
    if found.witness is None:
        return f"Not calibrated for your costs: {costs(alpha)}."
    can = "can decide" if never else "decides"
    return f"Not calibrated: at P = {found.witness:.2g} it {can} the wrong way."


# -- what is proved: it takes longer than a picture and comes when the sliders rest ------------------------------------

_PSI_POINTS = 33
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
        "witness": None if found.witness is None else finite_or_none(found.witness),
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
    eps = _cost_regrets(analysis)
    lower, upper = analysis.psi_bounds(eps)
    return {
        "eps": round_numbers(eps),
        "lower": round_numbers(lower),
        "upper": round_numbers(upper),
        "regret": _REGRETS.tolist(),
        "bound": [finite_or_none(x) for x in analysis.regret_bound(_REGRETS)],
        "largest": analysis.largest_regret,
    }


def _cost_regrets(analysis: Analysis) -> np.ndarray:
    """Cost regrets, denser near 0, with the place at which psi may have a kink."""
    end, near = analysis.largest_regret, min(analysis.alpha, 1 - analysis.alpha)
    return np.unique(np.append(end * np.linspace(0, 1, _PSI_POINTS) ** 1.5, near))


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
