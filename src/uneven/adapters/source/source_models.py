"""What fitted classifiers compute: score, probability and decision, written step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from uneven.adapters.source.source_columns import (
    MISSING,
    CategoryFeature,
    Feature,
    FlagFeature,
    Inputs,
    NumberFeature,
    transform,
)
from uneven.adapters.source.source_trees import Tree, of_boosting, of_histograms, of_scikit_learn, write_trees
from uneven.adapters.source.source_writer import Output, SourceWriter, write_tree
from uneven.costs import COSTS, GivenCosts
from uneven.decisions.alpha import move_threshold
from uneven.decisions.correction import AS_IT_IS, CorrectedOdds, Correction
from uneven.decisions.platt import Sigmoid
from uneven.decisions.scored_rows import MOST_CERTAIN
from uneven.errors import CostError, ParameterError, UnevenError
from uneven.expression import Node
from uneven.expression.tree import ONE, Add, Inv, Mul, Symbol
from uneven.inputs import brief, warn_caller
from uneven.learners.adaboost import UnevenAdaBoostClassifier
from uneven.learners.classifier_cv import UnevenClassifierCV
from uneven.learners.corrected_decisions import CorrectedDecisions
from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier
from uneven.learners.ensemble.member_models import Forest, PlattScaled
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.perceptron import UnevenPerceptron
from uneven.learners.threshold_classifier import UnevenThresholdClassifierCV
from uneven.losses.margin_function import link_tree
from uneven.tables.columns import Column


@dataclass(frozen=True)
class Said:
    """What a classifier says about a row.

    Attributes
    ----------
    label : label
        The class that is meant.
    score : str or None
        None: the probability is what is compared with a threshold.
    probability : str or None
        None if there is none.
    threshold : callable or None
        From costs, which may be those of the fit, to the number above which the class is predicted. None for models
        that know no costs.
    """

    label: Any
    score: str | None
    probability: str | None
    threshold: Callable[[GivenCosts], float] | None = None


def write_model(
    writer: SourceWriter,
    model: Any,
    costs: Mapping[str, Any],
    *,
    columns: list[str] | None = None,
    reading: dict[str, Column] | None = None,
    labels: tuple[Any, Any] | None = None,
) -> Output:
    """Write a fitted model.

    ``costs`` are those given: numbers, names of columns or sentences of columns. ``reading`` says how columns are
    written in the table; ``labels`` replace those of a negative and of a positive row.
    """
    last = _decider(model)
    inputs = Inputs(writer, columns, reading or {})
    said = write_classifier(inputs, model, None)
    given = {name: value for name, value in costs.items() if value is not None}
    assert said.threshold is not None
    if any(isinstance(value, str | Node) for value in given.values()):
        decision = _decide_by_columns(writer, last, said, given)
    else:
        value = said.probability if said.score is None else said.score
        assert value is not None
        decision = _is_above(writer, value, said.threshold(GivenCosts(**given)))
    labels = labels or (last._classes.neg_label, last._classes.pos_label)
    return Output(decision, said.probability, labels, _in_words(model))


def _decider(model: Any) -> Any:
    """The learner that decides; an error if it is not fitted or not one of this library."""
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        raise ParameterError(f"a model to be written must be fitted, got {brief(model)}") from None
    last = model
    while isinstance(last, Pipeline | UnevenClassifierCV):
        last = last.best_estimator_ if isinstance(last, UnevenClassifierCV) else last.steps[-1][1]
    if not hasattr(last, "_classes"):
        raise ParameterError(
            f"{type(last).__name__} knows no costs; wrap it in uneven.UnevenThresholdClassifierCV, which does"
        )
    return last


def _in_words(model: Any) -> str:
    last = _decider(model)
    inner = getattr(last, "estimator_", None)
    if isinstance(inner, Pipeline):
        inner = inner.steps[-1][1]
    return type(last).__name__ + ("" if inner is None else f" around {type(inner).__name__}")


# -- decisions ---------------------------------------------------------------------------------------------------------


def _threshold_of_learner(model: Any, given: GivenCosts) -> float:
    if not given.known:
        return 0.0
    costs = model._costs_of_rows(1, given)
    _require_ordinary(costs)
    return 0.0 if model._fits_for(costs) else -float(move_threshold(model.loss_, np.zeros(1), costs)[0])


def _corrected_threshold(model: Any, given: GivenCosts) -> float:
    if model._row_costs.per_row and len(given.known) < len(COSTS):
        raise CostError(
            f"this {type(model).__name__} was fitted with costs of each row; give all four costs as numbers, or fit it "
            "with numbers"
        )
    costs = model._costs_of_rows(1, given, "predict")
    _require_ordinary(costs)
    return float(model._thresholds(costs, model._odds_for(costs, given))[0])


def _require_ordinary(costs: Any) -> None:
    if float(np.asarray(costs.thresholds()[1]).ravel()[0]) < 0:
        raise CostError("both mistakes cost less than the right decisions; exchange the costs, or the labels")


def _is_above(writer: SourceWriter, value: str, threshold: float) -> str:
    if np.isinf(threshold):  # one decision is the cheaper one at every probability
        return writer.above(*(writer.number(number) for number in ((1, 0) if threshold < 0 else (0, 1))))
    return writer.above(value, writer.number(threshold))


def _decide_by_columns(writer: SourceWriter, last: Any, said: Said, given: dict[str, Any]) -> str:
    """Positive where what it is expected to save is more than what it is expected to cost, with the row's own costs."""
    if said.probability is None or isinstance(last, CorrectedDecisions):
        raise CostError(
            f"{type(last).__name__} decides by numbers as costs here, got {brief(given)}: "
            + ("it has no probabilities" if said.probability is None else "its threshold is corrected for each row")
            + "; a linear learner with the loss 'logistic' would work"
        )
    own = getattr(last, "_costs_of_fit", {})
    written = {}
    for name in COSTS:
        value = given.get(name, own.get(name, getattr(last, name, 0)))
        if isinstance(value, str):
            value = Symbol(value)
        if isinstance(value, Node):
            names = sorted({part.name for part in value.walk() if isinstance(part, Symbol)})
            numbers = {one: writer.number_column(one) for one in names}
            for one, number in numbers.items():
                writer.require(one, number)
            written[name] = write_tree(writer, value, numbers)
        else:
            written[name] = writer.number(float(value))
    fp = writer.difference(written["fp_cost"], written["tn_cost"])
    fn = writer.difference(written["fn_cost"], written["tp_cost"])
    against = writer.product(writer.difference(writer.number(1.0), said.probability), fp)
    return writer.above(writer.product(said.probability, fn), against)


# -- classifiers -------------------------------------------------------------------------------------------------------


def write_classifier(inputs: Inputs, model: Any, features: list[Feature] | None) -> Said:
    """Write a fitted classifier; ``features`` is None if it sees the table itself."""
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            if step is not None and step != "passthrough":
                features = transform(inputs, step, features)
        return write_classifier(inputs, model.steps[-1][1], features)
    if type(model) not in CLASSIFIERS:
        names = ", ".join(kind.__name__ for kind in CLASSIFIERS)
        raise ParameterError(f"{type(model).__name__} cannot be written in {inputs.writer.language}; {names} can")
    return CLASSIFIERS[type(model)](inputs, model, features)


def _probability_of(inputs: Inputs, model: Any, features: Any, label: Any, sigmoid: Sigmoid | None = None) -> str:
    """The probability of a class as an inner model says it."""
    writer, said = inputs.writer, write_classifier(inputs, model, features)
    one = writer.number(1.0)
    if said.probability is not None and sigmoid is None:
        return said.probability if said.label == label else writer.keep(writer.difference(one, said.probability))
    if sigmoid is None or said.score is None:
        raise ParameterError(f"{type(model).__name__} has no probabilities to be written in {writer.language}")
    slope = sigmoid.slope if said.label == label else -sigmoid.slope
    line = writer.product(writer.number(slope), said.score)
    return writer.expit(writer.total([writer.number(sigmoid.offset), line]))


def write_line(inputs: Inputs, features: list[Feature], weights: np.ndarray, intercept: float) -> str:
    """The intercept plus the weighted sum of features; features of one column of categories are one table."""
    writer = inputs.writer
    terms, constant = [], float(intercept)
    tables: dict[str, dict[tuple[str, bool], float]] = {}
    for feature, weight in zip(features, weights.tolist(), strict=True):
        if isinstance(feature, CategoryFeature):
            tables.setdefault(feature.value, {})[feature.category, feature.is_literal] = weight
        elif isinstance(feature, FlagFeature):
            if weight:
                constant -= weight * feature.centre / feature.scale
                flag = writer.number(weight / feature.scale)
                terms.append(writer.choose(writer.is_missing(feature.value), flag, writer.number(0.0)))
        else:
            _require_number(writer, feature)
            terms.append(_number_term(writer, feature, weight))
    zero = writer.number(0.0)
    for value, table in tables.items():
        named = {one: writer.number(weight) for (one, is_literal), weight in table.items() if is_literal}
        missing, other = (writer.number(table.get((kind, False), 0.0)) for kind in (MISSING, "other"))
        if {*named.values(), missing, other} != {zero}:
            terms.append(writer.look_up(value, named, missing, other))
    return writer.keep(writer.total([writer.number(constant), *terms]))


def _require_number(writer: SourceWriter, feature: Feature) -> None:
    if isinstance(feature, NumberFeature) and not feature.filled:
        writer.require(feature.name, feature.value)


def _number_term(writer: SourceWriter, feature: NumberFeature, weight: float) -> str:
    value = feature.value
    if feature.centre:
        value = writer.difference(value, writer.number(feature.centre))
    term = writer.product(writer.number(weight / feature.scale), value)
    return writer.choose(writer.is_missing(feature.value), writer.number(0.0), term) if feature.filled else term


def _linear(inputs: Inputs, model: Any, features: list[Feature] | None) -> Said:
    """A linear learner of this library."""
    theta = model._theta()
    score = write_line(inputs, inputs.numbers(model) if features is None else features, theta[:-1], theta[-1])
    return _with_link(inputs, model, score)


def _boosted(inputs: Inputs, model: Any, features: list[Feature] | None) -> Said:
    features = inputs.numbers(model) if features is None else features
    trees = of_boosting(model._trees)
    score = write_trees(inputs.writer, trees, features, single=False, start=float(model.init_score_))
    return _with_link(inputs, model, inputs.writer.keep(score))


def _with_link(inputs: Inputs, model: Any, score: str) -> Said:
    """Score and probability of a learner of this library: 1/(1 + falling/rising), slopes of its two partial losses."""
    writer, label = inputs.writer, model._classes.pos_label
    at = partial(_threshold_of_learner, model)
    if model._has_row_costs:
        return Said(label, score, None, at)
    try:
        tree = link_tree(model.loss_)
    except UnevenError:
        return Said(label, score, None, at)
    doubt = model._doubt_about_probabilities()
    if doubt is not None:
        warn_caller(f"do not take the probability of this {type(model).__name__} for one: {doubt}")
    symbols = {"t": score}
    terms = tree.argument.children if isinstance(tree, Inv) and isinstance(tree.argument, Add) else ()
    if len(terms) != 2 or ONE not in terms:
        return Said(label, score, writer.keep(write_tree(writer, tree, symbols)), at)
    ratio = terms[0] if terms[1] == ONE else terms[1]
    parts = ratio.children if isinstance(ratio, Mul) else (ratio,)
    below = [part.argument for part in parts if isinstance(part, Inv)]
    above = [part for part in parts if not isinstance(part, Inv)]
    falling, rising = (writer.keep(_product(writer, side, symbols)) for side in (above, below))
    both = writer.keep(writer.total([rising, falling]))
    certain = writer.choose(writer.above(score, writer.number(0.0)), writer.number(1.0), writer.number(0.0))
    share = writer.quotient(rising, both)
    if below:  # both slopes may be 0 far out
        share = writer.choose(writer.above(both, writer.number(0.0)), share, certain)
    return Said(label, score, writer.keep(share), at)


def _product(writer: SourceWriter, factors: list[Node], symbols: dict[str, str]) -> str:
    if not factors:
        return writer.number(1.0)
    return write_tree(writer, factors[0] if len(factors) == 1 else Mul(*factors), symbols)


def _logistic_regression(inputs: Inputs, model: Any, features: list[Feature] | None) -> Said:
    _require_two(model, inputs.writer)
    features = inputs.numbers(model) if features is None else features
    score = write_line(inputs, features, model.coef_[0], model.intercept_[0])
    return Said(model.classes_[1], score, inputs.writer.expit(score))


def _require_two(model: Any, writer: SourceWriter) -> None:
    if len(model.classes_) != 2:
        raise ParameterError(
            f"{type(model).__name__} with {len(model.classes_)} classes cannot be written here; two can"
        )


def _trees_of(inputs: Inputs, model: Any, features: Any, trees: list[Any]) -> Said:
    """The mean of what trees of scikit-learn say about the second class."""
    _require_two(model, inputs.writer)
    features = inputs.numbers(model if hasattr(model, "n_features_in_") else trees[0]) if features is None else features
    found: list[Tree] = []
    for tree in trees:
        share = tree.tree_.value[:, 0, :]
        known = [int(one) for one in tree.classes_] if len(tree.classes_) < 2 else [0, 1]
        second = share[:, known.index(1)] / share.sum(axis=1) if 1 in known else np.zeros(len(share))
        found.append(of_scikit_learn(tree.tree_, second))
    total = write_trees(inputs.writer, found, features, single=True, start=0.0)
    mean = total if len(found) == 1 else inputs.writer.quotient(total, inputs.writer.number(len(found)))
    return Said(model.classes_[1], None, inputs.writer.keep(mean))


def _gradient_boosting(inputs: Inputs, model: Any, features: Any) -> Said:
    _require_two(model, inputs.writer)
    if model.loss != "log_loss" or not isinstance(model.init_, DummyClassifier):
        raise ParameterError(
            f"GradientBoostingClassifier with loss={model.loss!r} and init={brief(model.init)} cannot be written in "
            f"{inputs.writer.language}; loss='log_loss' and init=None can"
        )
    features = inputs.numbers(model) if features is None else features
    for feature in features:
        _require_number(inputs.writer, feature)
    trees = [of_scikit_learn(one.tree_, one.tree_.value[:, 0, 0]) for one in model.estimators_[:, 0]]
    start = float(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0, 0])
    score = write_trees(inputs.writer, trees, features, single=True, start=start, factor=float(model.learning_rate))
    score = inputs.writer.keep(score)
    return Said(model.classes_[1], score, inputs.writer.expit(score))


def _histogram_boosting(inputs: Inputs, model: Any, features: Any) -> Said:
    _require_two(model, inputs.writer)
    if model.is_categorical_ is not None and np.any(model.is_categorical_):
        raise ParameterError(
            f"HistGradientBoostingClassifier with categorical_features cannot be written in {inputs.writer.language}; "
            "FrameEncoder(view='trees') before it makes columns of 0 and 1, which can"
        )
    features = inputs.numbers(model) if features is None else features
    trees = [of_histograms(one) for (one,) in model._predictors]
    start = float(np.ravel(model._baseline_prediction)[0])
    score = inputs.writer.keep(write_trees(inputs.writer, trees, features, single=False, start=start))
    return Said(model.classes_[1], score, inputs.writer.expit(score))


def _platt_scaled(inputs: Inputs, model: Any, features: Any) -> Said:
    return Said(1, None, _probability_of(inputs, model.estimator_, features, 1, model.sigmoid_))


# -- probabilities that are corrected ----------------------------------------------------------------------------------


def _threshold_classifier(inputs: Inputs, model: Any, features: Any) -> Said:
    label = model._classes.pos_label
    raw = _probability_of(inputs, model.estimator_, features, label, model._sigmoid)
    return Said(label, None, _calibrate(inputs.writer, model._calibrated, raw), partial(_corrected_threshold, model))


def _ensemble(inputs: Inputs, model: Any, features: Any) -> Said:
    """The mixture of the members; a member that cannot be written is named."""
    if features is not None:
        raise ParameterError(f"an ensemble after other steps cannot be written in {inputs.writer.language}")
    writer, terms = inputs.writer, []
    seen: dict[int, list[Feature]] = {}
    for name, member in model._mixture.members.items():
        parts = []
        for inner, encoder in zip(member.models, member.encoders, strict=True):
            try:
                if encoder is not None and id(encoder) not in seen:
                    seen[id(encoder)] = transform(inputs, encoder, None)
                view = None if encoder is None else seen[id(encoder)]
                parts.append(_probability_of(inputs, inner, view, member.positive, member.sigmoid))
            except UnevenError as error:
                raise ParameterError(f"the member {name!r} of the ensemble stops it: {error}") from None
        mean = writer.quotient(writer.total(parts), writer.number(len(parts)))
        terms.append(writer.product(writer.number(member.weight), mean))
    raw = writer.keep(writer.total(terms))
    probability = _calibrate(writer, model._calibrated, raw)
    return Said(model._classes.pos_label, None, probability, partial(_corrected_threshold, model))


def _calibrate(writer: SourceWriter, odds: CorrectedOdds, raw: str) -> str:
    """Log-odds within limits, corrected, as a probability again."""
    if odds == AS_IT_IS:
        return raw
    raw, one, zero = writer.keep(raw), writer.number(1.0), writer.number(0.0)
    inside = writer.difference(writer.log(raw), writer.log(writer.difference(one, raw)))
    lowest, highest = writer.number(-MOST_CERTAIN), writer.number(MOST_CERTAIN)
    z = writer.choose(writer.above(raw, zero), writer.choose(writer.above(one, raw), inside, highest), lowest)
    z = writer.keep(z)
    low, high = odds.limits
    if np.isfinite(high):
        excess = writer.difference(z, writer.number(high))
        slower = writer.total([writer.number(high), writer.log(writer.total([one, excess]))])
        z = writer.keep(writer.choose(writer.above(z, writer.number(high)), slower, z))
    if np.isfinite(low):
        excess = writer.difference(writer.number(low), z)
        slower = writer.difference(writer.number(low), writer.log(writer.total([one, excess])))
        z = writer.keep(writer.choose(writer.above(writer.number(low), z), slower, z))
    return writer.expit(_correct(writer, odds.correction, z))


def _correct(writer: SourceWriter, line: Correction, z: str) -> str:
    if line.knots is None or line.values is None:
        return writer.difference(writer.product(writer.number(line.slope), z), writer.number(line.shift))
    found = writer.number(line.values[0])
    slopes = np.diff(line.values) / np.diff(line.knots)
    for knot, value, slope in zip(line.knots[:-1], line.values[:-1], slopes, strict=True):
        beyond = writer.product(writer.number(slope), writer.difference(z, writer.number(knot)))
        found = writer.choose(writer.above(z, writer.number(knot)), writer.total([beyond, writer.number(value)]), found)
    return writer.choose(writer.above(z, writer.number(line.knots[-1])), writer.number(line.values[-1]), found)


CLASSIFIERS: dict[type, Callable[[Inputs, Any, list[Feature] | None], Said]] = {
    UnevenLinearClassifier: _linear,
    UnevenPerceptron: _linear,
    UnevenAdaBoostClassifier: _boosted,
    UnevenThresholdClassifierCV: _threshold_classifier,
    UnevenEnsembleClassifier: _ensemble,
    UnevenClassifierCV: lambda inputs, model, features: write_classifier(inputs, model.best_estimator_, features),
    LogisticRegression: _logistic_regression,
    DecisionTreeClassifier: lambda inputs, model, features: _trees_of(inputs, model, features, [model]),
    RandomForestClassifier: lambda inputs, model, features: _trees_of(inputs, model, features, model.estimators_),
    ExtraTreesClassifier: lambda inputs, model, features: _trees_of(inputs, model, features, model.estimators_),
    Forest: lambda inputs, model, features: _trees_of(inputs, model, features, model.trees_),
    GradientBoostingClassifier: _gradient_boosting,
    HistGradientBoostingClassifier: _histogram_boosting,
    PlattScaled: _platt_scaled,
}
