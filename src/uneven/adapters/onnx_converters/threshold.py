"""Classifiers of other libraries with the threshold for the costs: calibrated log-odds of the inner model."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from uneven.adapters.onnx_graph import Converter, SkGraph
from uneven.decisions.correction import Correction
from uneven.decisions.scored_rows import MOST_CERTAIN
from uneven.errors import CostError, ParameterError
from uneven.learners.threshold_classifier import UnevenThresholdClassifierCV

#: Differences of log-odds that may be rounding errors, relative to their size: skl2onnx computes probabilities in
#: single precision.
_ROUNDING = 2e-6


def _scores(graph: SkGraph, model: Any, probability: str) -> str:
    """Log-odds of ``predict_proba`` minus those of the threshold.

    0 where single precision cannot tell, as a forest often says the threshold itself.
    """
    cut = _cut(model)
    # Sums of trees in single precision exceed 1, and the logarithm of a negative number is NaN.
    probability = graph.node("Clip", probability, graph.number(0.0), graph.number(1.0))
    log_odds = graph.node(
        "Sub", graph.node("Log", probability), graph.node("Log", graph.node("Sub", graph.number(1.0), probability))
    )
    log_odds = graph.node("Clip", log_odds, graph.number(-MOST_CERTAIN), graph.number(MOST_CERTAIN))
    for limit, sign in zip(model._calibrated.limits, (-1.0, 1.0), strict=True):
        if np.isfinite(limit):
            log_odds = _compress(graph, log_odds, float(limit), sign)
    calibrated, steepest = _calibrate(graph, model.calibration_, log_odds)
    score = graph.node("Sub", calibrated, graph.number(cut))
    rounding = graph.number(_ROUNDING * (1 + abs(cut)) * max(1.0, steepest))
    return graph.node("Where", graph.node("LessOrEqual", graph.node("Abs", score), rounding), graph.number(0.0), score)


def _compress(graph: SkGraph, log_odds: str, limit: float, sign: float) -> str:
    """What exceeds a limit by r exceeds it by log(1 + r) only."""
    side = graph.number(sign)
    excess = graph.node("Relu", graph.node("Mul", side, graph.node("Sub", log_odds, graph.number(limit))))
    slower = graph.node("Log", graph.node("Add", graph.number(1.0), excess))
    return graph.node("Sub", log_odds, graph.node("Mul", side, graph.node("Sub", excess, slower)))


def _calibrate(graph: SkGraph, line: Correction, log_odds: str) -> tuple[str, float]:
    """The log-odds of probabilities, and the largest slope of the map."""
    if line.knots is None or line.values is None:
        scaled = graph.node("Mul", graph.number(line.slope), log_odds)
        return graph.node("Sub", scaled, graph.number(line.shift)), line.slope
    slopes = np.diff(line.values) / np.diff(line.knots)
    inner = line.knots[1:-1]  # the outer ones are out of reach
    value = graph.number(line.values[1])
    straight = graph.node("Mul", graph.number(slopes[0]), graph.node("Sub", log_odds, graph.number(inner[0])))
    value = graph.node("Add", value, straight)
    for knot, bend in zip(inner, np.diff(slopes), strict=True):
        beyond = graph.node("Relu", graph.node("Sub", log_odds, graph.number(knot)))
        value = graph.node("Add", value, graph.node("Mul", graph.number(bend), beyond))
    return value, float(slopes.max())


def _probability(graph: SkGraph, model: Any, score: str) -> str:
    return graph.node("Sigmoid", graph.node("Add", score, graph.number(_cut(model))))


def _cut(model: Any) -> float:
    """Log-odds of the threshold."""
    if model.threshold_ is None:
        raise CostError(
            "an UnevenThresholdClassifierCV that was fitted with costs of each row cannot be exported to ONNX: its "
            "decisions need the costs of new rows; fit it with numbers"
        )
    return float(logit(model.threshold_))


def _inner(model: Any) -> Any:
    if model._sigmoid is not None:
        raise ParameterError(
            f"an UnevenThresholdClassifierCV around {type(model.estimator_).__name__}, which has no predict_proba, "
            "cannot be exported to ONNX; a classifier with probabilities can"
        )
    if not np.isfinite(_cut(model)):
        raise CostError("a rule that always says the same cannot be exported to ONNX; flag everyone or no one")
    return model.estimator_


CONVERTERS = [
    Converter(UnevenThresholdClassifierCV, _scores, _probability, has_probability=lambda model: True, inner=_inner)
]
