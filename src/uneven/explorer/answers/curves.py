"""Everything that is drawn while a slider moves, in floats: it must take a few hundredths of a second."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from uneven._hull import lower_hull
from uneven.calibration import Analysis, analyze
from uneven.calibration.calibrated_losses import numeric_odds, own_alpha
from uneven.calibration.risk.half_lines import HalfLineSolver
from uneven.errors import LossError
from uneven.explorer.answers.numbers import drawn
from uneven.explorer.answers.question import Question, read_phi, read_question
from uneven.expression.mathml import to_mathml
from uneven.losses import Loss, Phi

#: t runs from minus this to this.
REACH = 5.0
#: eta moves in steps of 1/ETAS, and its minima are known at each.
ETAS = 200
_POINTS = 201
_EPS = 121
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
        "t": drawn(t),
        "positive": drawn(question.loss.positive(t)),
        "negative": drawn(question.loss.negative(t)),
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
    above = [_own(function, float(gamma)) for gamma in _GAMMAS]
    if all(np.isnan(above)):
        return {"reason": "No alpha was found for which this phi is calibrated."}
    gammas = np.concatenate([1 / _GAMMAS[:0:-1], _GAMMAS])
    return {"gamma": drawn(gammas), "alpha": drawn([*(1 - x for x in above[:0:-1]), *above]), "convex": False}


def _own(function: Phi, gamma: float) -> float:
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
    """Smallest conditional risk over t >= 0 and over t <= 0, and where; null where it is a limit at infinity."""
    eta = np.arange(ETAS + 1) / ETAS
    solver = HalfLineSolver(loss)
    found = {"positive": solver.minimum(1, eta, 1 - eta), "negative": solver.minimum(-1, eta, 1 - eta)}
    return {side: {"value": drawn(one.value), "at": drawn(one.at)} for side, one in found.items()}


def _h(analysis: Analysis) -> dict[str, Any]:
    alpha = analysis.alpha
    near = np.concatenate([alpha * (1 - _NEAR_ALPHA), [alpha], alpha + (1 - alpha) * _NEAR_ALPHA])
    eta = np.unique(np.concatenate([np.linspace(0, 1, _POINTS), near]))
    return {"x": drawn(eta), "y": drawn(analysis.H(eta))}


def _nu_and_psi(analysis: Analysis) -> dict[str, Any]:
    """nu, with a gap where it may jump, and its convex hull.

    The hull of samples lies a little above psi. That is good enough to look at while a slider moves; the proved bounds,
    which replace it when the slider rests, are made from psi itself.
    """
    near, end = min(analysis.alpha, 1 - analysis.alpha), analysis.largest_regret
    shares = np.unique(np.concatenate([np.linspace(0, 1, _EPS), np.geomspace(1e-4, 1e-2, 8)]))
    eps = near * shares
    if near < end:
        eps = np.concatenate([eps, near + (end - near) * np.maximum(shares, 1e-9)])
    value = analysis.nu(eps)
    hull = lower_hull(eps.tolist(), value.tolist())
    x, y = drawn(eps), drawn(value)
    if near < end and value[shares.size] > value[shares.size - 1] + 1e-6 * value.max():
        x.insert(shares.size, x[shares.size - 1])
        y.insert(shares.size, None)
    return {"nu": {"x": x, "y": y}, "psi": {"x": drawn(eps[hull]), "y": drawn(value[hull])}}
