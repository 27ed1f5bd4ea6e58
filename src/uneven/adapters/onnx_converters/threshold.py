"""Corrected decisions: calibrated log-odds of an ensemble, or of a classifier of another library, less the threshold's.

What our own nodes compute in double precision is compared with the very number where Python changes its decision; what
skl2onnx computes is in single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from uneven.adapters.onnx_graph import Converter, SkGraph
from uneven.adapters.onnx_members import can_be_written, class_probabilities, encode, positive_probability
from uneven.costs import RowCosts
from uneven.decisions.correction import Correction
from uneven.decisions.cost_matrix import CostMatrix
from uneven.decisions.scored_rows import MOST_CERTAIN
from uneven.errors import CostError, ParameterError, UnevenError
from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier
from uneven.learners.out_of_fold import AllClasses
from uneven.learners.threshold_classifier import UnevenThresholdClassifierCV

#: Differences of log-odds that may be rounding errors, relative to their size: skl2onnx computes probabilities in
#: single precision.
_ROUNDING = 2e-6


def _scores(graph: SkGraph, model: Any, values: str) -> str:
    """Log-odds of ``predict_proba`` minus those of the threshold; of several classes a score for each action."""
    if model._several is not None:
        return _scores_of_actions(graph, model, values)
    if _inner(model) is None:
        raw = positive_probability(graph, model.estimator_, values, model._classes.pos_label)
        return _scores_of_doubles(graph, model, raw)
    cut = _cut(model)
    calibrated, steepest = _calibrated_log_odds(graph, model, values)
    score = graph.node("Sub", calibrated, graph.number(cut))
    # 0 where single precision cannot tell, as a forest often says the threshold itself.
    rounding = graph.number(_ROUNDING * (1 + abs(cut)) * max(1.0, steepest))
    return graph.node("Where", graph.node("LessOrEqual", graph.node("Abs", score), rounding), graph.number(0.0), score)


def _scores_of_mixture(graph: SkGraph, model: Any, X: str) -> str:
    """The same of the mean of an ensemble's members."""
    if model._several is not None:
        return _scores_of_actions(graph, model, X)
    return _scores_of_doubles(graph, model, _mixture(graph, model, X))


def _mixture(graph: SkGraph, model: Any, X: str) -> str:
    """The mean of the members, before the calibration; an error names the first that cannot be exported."""
    terms, matrices = [], {}
    for name, member in model._mixture.members.items():
        parts = []
        for inner, encoder in zip(member.models, member.encoders, strict=True):
            try:
                if encoder is not None and id(encoder) not in matrices:
                    matrices[id(encoder)] = encode(graph, encoder, X)
                matrix = X if encoder is None else matrices[id(encoder)]
                if isinstance(member.positive, AllClasses):
                    parts.append(class_probabilities(graph, inner, matrix, member.positive.labels))
                else:
                    parts.append(positive_probability(graph, inner, matrix, member.positive, member.sigmoid))
            except UnevenError as error:
                raise ParameterError(f"the member {name!r} of the ensemble stops the export: {error}") from None
        mean = _total(graph, parts)
        mean = mean if len(parts) == 1 else graph.node("Div", mean, graph.number(float(len(parts))))
        terms.append(graph.node("Mul", graph.number(float(member.weight)), mean))
    return _total(graph, terms)


def _total(graph: SkGraph, terms: list[str]) -> str:
    total = terms[0]
    for term in terms[1:]:
        total = graph.node("Add", total, term)
    return total


def _scores_of_doubles(graph: SkGraph, model: Any, raw: str) -> str:
    """Positive exactly where Python says so: where the probability before the calibration is above a number."""
    said = graph.node("Greater", raw, graph.number(_raw_cut(model)))
    calibrated, _ = _calibrated_log_odds(graph, model, raw)
    score = graph.node("Sub", calibrated, graph.number(_cut(model)))
    above = graph.node("Max", score, graph.number(float(np.finfo(np.float64).tiny)))
    return graph.node("Where", said, above, graph.node("Min", score, graph.number(0.0)))


def _raw_cut(model: Any) -> float:
    """The largest probability before the calibration at which Python says negative, by bisection over all doubles."""
    _cut(model)  # an error if there is no threshold
    fit = model._row_costs
    costs = RowCosts(1, fit.fp_regret, fit.fn_regret)
    threshold = model._thresholds(costs, model._odds)

    def is_positive(raw: float) -> bool:
        return bool(model._is_beyond(np.array([raw]), threshold, costs)[0])

    if is_positive(0.0) or not is_positive(1.0):
        raise CostError(_ALWAYS_THE_SAME)
    low, high = 0, int(np.float64(1.0).view(np.int64))
    while high - low > 1:
        middle = (low + high) // 2
        if is_positive(float(np.int64(middle).view(np.float64))):
            high = middle
        else:
            low = middle
    return float(np.int64(low).view(np.float64))


def _calibrated_log_odds(graph: SkGraph, model: Any, probability: str) -> tuple[str, float]:
    """Log-odds of ``predict_proba``, and the largest slope of the map to them."""
    # Sums of trees in single precision exceed 1, and the logarithm of a negative number is NaN.
    probability = graph.node("Clip", probability, graph.number(0.0), graph.number(1.0))
    log_odds = graph.node(
        "Sub", graph.node("Log", probability), graph.node("Log", graph.node("Sub", graph.number(1.0), probability))
    )
    log_odds = graph.node("Clip", log_odds, graph.number(-MOST_CERTAIN), graph.number(MOST_CERTAIN))
    for limit, sign in zip(model._calibrated.limits, (-1.0, 1.0), strict=True):
        if np.isfinite(limit):
            log_odds = _compress(graph, log_odds, float(limit), sign)
    return _calibrate(graph, model.calibration_, log_odds)


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


# -- several classes ---------------------------------------------------------------------------------------------------


def _logs_of_classes(graph: SkGraph, model: Any, values: str) -> str:
    """Logarithms of the calibrated probabilities up to a constant for each row, from X or what skl2onnx says of it."""
    if isinstance(model, UnevenEnsembleClassifier):
        raw = _mixture(graph, model, values)
    elif can_be_written(model.estimator_):
        raw = class_probabilities(graph, model.estimator_, values, model.classes_)
    else:
        raw = values
    rule = model._several.rule
    logs = graph.node("Log", graph.node("Clip", raw, graph.number(0.0), graph.number(1.0)))
    logs = graph.node("Max", logs, graph.number(-MOST_CERTAIN))
    if np.isfinite(rule.least):
        logs = _compress(graph, logs, float(rule.least), -1.0)
    return graph.node("Add", graph.node("Mul", graph.number(rule.slope), logs), graph.constant(rule.offsets[None]))


def _scores_of_actions(graph: SkGraph, model: Any, values: str) -> str:
    """Minus the expected cost of each action, at the probabilities that the shifts tilt."""
    logs, matrix = _logs_of_classes(graph, model, values), _matrix_of(model)
    tilted = graph.node("Softmax", graph.node("Sub", logs, graph.constant(model.shifts_[None])), axis=1)
    return graph.node("MatMul", tilted, graph.constant(-matrix.costs))


def _matrix_of(model: Any) -> CostMatrix:
    try:
        matrix: CostMatrix = model._several.matrix_in_use(None)
    except CostError:
        raise CostError(_NEEDS_COSTS.format(type(model).__name__)) from None
    return matrix


def _actions(model: Any) -> np.ndarray | None:
    """The actions of a model of several classes; two classes say classes only."""
    if model._several is not None:
        matrix = _matrix_of(model)
        return matrix.label_actions(np.arange(len(matrix.actions)))
    matrix = model._matrix
    if matrix is not None and set(matrix.actions) != set(matrix.classes):
        raise ParameterError(
            "with two classes the actions of a model to export must be the classes; fit it with fp_cost and fn_cost, "
            "and compare its probability with action_thresholds_"
        )
    return None


def _probability(graph: SkGraph, model: Any, score: str) -> str:
    """P(positive) from the score; of several classes all, from what the scores are made of."""
    if model._several is not None:
        return graph.node("Softmax", _logs_of_classes(graph, model, score), axis=1)
    return graph.node("Sigmoid", graph.node("Add", score, graph.number(_cut(model))))


_NEEDS_COSTS = (
    "an {} that was fitted with costs of each row cannot be exported to ONNX: its decisions need the costs of new "
    "rows; fit it with numbers"
)
_ALWAYS_THE_SAME = "a rule that always says the same cannot be exported to ONNX; flag everyone or no one"


def _cut(model: Any) -> float:
    """Log-odds of the threshold."""
    if model.threshold_ is None:
        raise CostError(_NEEDS_COSTS.format(type(model).__name__))
    cut = float(logit(model.threshold_))
    if not np.isfinite(cut):
        raise CostError(_ALWAYS_THE_SAME)
    return cut


def _inner(model: Any) -> Any:
    """The classifier that skl2onnx converts; None if our own nodes do."""
    several = model._several is not None
    if model._sigmoid is not None or (several and not hasattr(model.estimator_, "predict_proba")):
        raise ParameterError(
            f"an UnevenThresholdClassifierCV around {type(model.estimator_).__name__}, which has no predict_proba, "
            "cannot be exported to ONNX; a classifier with probabilities can"
        )
    if not several:
        _cut(model)
    return None if can_be_written(model.estimator_) else model.estimator_


def _always(model: Any) -> bool:
    return True


CONVERTERS = [
    Converter(
        UnevenThresholdClassifierCV,
        _scores,
        _probability,
        has_probability=_always,
        inner=_inner,
        actions=_actions,
        ties=True,
    ),
    Converter(
        UnevenEnsembleClassifier,
        _scores_of_mixture,
        _probability,
        has_probability=_always,
        actions=_actions,
        ties=True,
    ),
]
