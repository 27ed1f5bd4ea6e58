"""The tab "Your data": the gamma path of a linear classifier, thresholds of an ensemble, and what they cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from uneven.app.explorer.class_answers import describe_classes
from uneven.app.explorer.class_fits import ClassQuestion, at_its_costs, fit_ensemble, has_classes, read_class_question
from uneven.app.explorer.limit_answers import describe_limits
from uneven.app.explorer.questions import finite_or_none, round_numbers
from uneven.app.explorer.table_questions import MEMBERS, FitQuestion, read_fit_question
from uneven.app.files.remarks import leaking_columns
from uneven.app.models.written_costs import costs_by_name, reference_costs
from uneven.costs import RowCosts, money
from uneven.metrics.intervals import ROUGH_MEANS, ends_in_words
from uneven.metrics.passing_costs import fit_with_costs

Tell = Callable[[dict[str, Any]], None]

#: Thresholds that the page gets at most.
_MOST_THRESHOLDS = 1500
#: Share of the progress bar that the gamma path takes.
_PATH_SHARE = 0.3


def fit(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Fit to a table; parts of the answer are told as they come."""
    from uneven.solvers.running import listening

    tell({"progress": "reading the table", "share": 0.0})
    if has_classes(data):
        return _fit_classes(data, tell)
    asked = read_fit_question(data)
    ready, training = asked.ready, asked.ready.training
    leaks = [{"column": name, "words": why} for name, why in leaking_columns(training.X, ready.labels).items()]
    warning = _leaks_in_words(leaks)
    tell({"about": asked.about(), "positive": ready.labels.positive, "rows": int(training.is_positive.size)})
    tell({"leaks": leaks, "warning": warning})
    tell({"progress": "gamma path: fitting a linear classifier", "share": 0.02})
    with listening(_listener(tell, 0.02, _PATH_SHARE, "gamma path")):
        path = _gamma_path(asked)
    tell({"gamma_path": path})
    model = _fit_ensemble(asked, tell, _PATH_SHARE)
    _keep(_key(data), model)
    answer = describe_fit(model, training.costs, unit=training.given.unit, per_row=training.given.per_row)
    return {**answer, "leaks": leaks, "warning": warning or answer["warning"]}


def _fit_classes(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """The same with several classes."""
    asked = read_class_question(data)
    leaks = [{"column": name, "words": why} for name, why in asked.ready.leaks.items()]
    warning = _leaks_in_words(leaks)
    tell({"about": asked.about(), "rows": int(asked.ready.training.truth.size)})
    tell({"leaks": leaks, "warning": warning})
    model = _fit_any(asked, tell, 0.02)
    _keep(_key(data), model)
    answer = describe_classes(model, asked.given.unit)
    warning = warning or ("" if answer["mistakes"] else _no_mistake(answer["rows"]))
    return {**answer, "leaks": leaks, "warning": warning}


def _leaks_in_words(leaks: list[dict[str, str]]) -> str:
    """What is said first if columns may give the target away; else ""."""
    if not leaks:
        return ""
    if len(leaks) == 1:
        return f"Too good to be true? Column {leaks[0]['column']!r} {leaks[0]['words']}."
    return f"Too good to be true? {len(leaks)} columns may give the target away."


# -- the fits ----------------------------------------------------------------------------------------------------------


def _listener(tell: Tell, start: float, end: float, what: str) -> Callable[[str, str, float], None]:
    return lambda name, words, share: tell({"progress": f"{what}: {words}", "share": start + (end - start) * share})


def _cost_numbers(asked: FitQuestion) -> dict[str, Any]:
    """The costs of a learner: the numbers, or for costs of rows numbers in the ratio of their means."""
    training = asked.ready.training
    found = reference_costs(training.costs) if training.given.per_row else costs_by_name(training.costs)
    return {name: float(found[name]) for name in ("fp_cost", "fn_cost")}


def _fit_with_costs(model: Any, asked: FitQuestion) -> Any:
    training = asked.ready.training
    y = training.is_positive.astype(int)
    return fit_with_costs(model, training.X, y, training.costs) if training.given.per_row else model.fit(training.X, y)


def _gamma_path(asked: FitQuestion) -> dict[str, Any]:
    from sklearn.pipeline import make_pipeline

    from uneven.learners.classifier_cv import UnevenClassifierCV
    from uneven.learners.linear import UnevenLinearClassifier
    from uneven.tables import FrameEncoder

    model = make_pipeline(FrameEncoder(view="linear"), UnevenLinearClassifier("logistic"))
    path = _fit_with_costs(UnevenClassifierCV(model, **_cost_numbers(asked), refit=False), asked).gamma_path_
    return {
        "gamma": round_numbers(path.margin_gamma),
        "cost": round_numbers(1000 * path.mean_cost),
        "error": round_numbers(1000 * path.standard_error),
        "chosen": path.chosen,
    }


def _fit_ensemble(asked: FitQuestion, tell: Tell, start: float) -> Any:
    from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier
    from uneven.solvers.running import listening

    members = MEMBERS[asked.members]
    model = UnevenEnsembleClassifier(
        **_cost_numbers(asked),
        members="auto" if members is None else members.split(","),
        time_limit=asked.seconds,
        keep_training_rows=True,
        random_state=0,
    )
    tell({"progress": "ensemble: fitting the members", "share": start})
    with listening(_listener(tell, start, 0.97, "ensemble")):
        return _fit_with_costs(model, asked)


def _fit_any(asked: FitQuestion | ClassQuestion, tell: Tell, start: float) -> Any:
    """The ensemble of a question about two classes or more."""
    if isinstance(asked, FitQuestion):
        return _fit_ensemble(asked, tell, start)
    tell({"progress": "ensemble: fitting the members", "share": start})
    return fit_ensemble(asked, _listener(tell, start, 0.97, "ensemble"))


#: The last fit of this process: which question it answers, and its model. It saves a second fit if the model is wanted.
_KEPT: dict[bytes, Any] = {}


def kept_fit(data: Mapping[str, Any], asked: FitQuestion | ClassQuestion, tell: Tell) -> Any:
    """The model of a question: that of the last fit, or fitted again if this process had another question since."""
    key = _key(data)
    if key not in _KEPT:
        _keep(key, _fit_any(asked, tell, 0.02))
    return at_its_costs(_KEPT[key], asked) if isinstance(asked, ClassQuestion) else _KEPT[key]


def _keep(key: bytes, model: Any) -> None:
    _KEPT.clear()
    _KEPT[key] = model


def _key(data: Mapping[str, Any]) -> bytes:
    """A hash of the table and of all that matters for the fit; a table of costs does not."""
    fields = ("name", "sheet", "target", "positive", "fp", "fn", "members", "seconds", "leave_out")
    said = json.dumps([data.get(field) for field in fields])
    return sha256(said.encode() + b"\n" + data["content"]).digest()


# -- what the page gets ------------------------------------------------------------------------------------------------


def describe_fit(model: Any, costs: RowCosts, *, unit: str | None, per_row: bool) -> dict[str, Any]:
    """Thresholds, curves, limits and the sentence of an ensemble, on rows that its models had not seen."""
    from uneven.metrics import cost_by_threshold, cost_curve, expected_cost

    rows = model.out_of_fold_rows_
    truth, score = rows.is_positive.astype(int), rows.probability
    given: dict[str, Any] = {"fp_cost": costs.fp_cost, "fn_cost": costs.fn_cost}
    found, counted = cost_by_threshold(truth, score, **given), cost_by_threshold(truth, score)
    count, positives = truth.size, int(truth.sum())
    cut = model.thresholds(costs) if per_row else float(model.threshold_ or 0.0)
    said = score > cut
    own = expected_cost(truth, said.astype(int), **given)
    chosen = float(found.threshold[int(found.cost.argmin())]) if per_row else cut
    kept = _choose_thresholds(found.threshold, found.cost, chosen)
    curve = cost_curve(truth, score, threshold="alpha" if per_row else chosen, **given)
    ours, everyone, no_one = (
        model.out_of_fold_cost_,
        model.constant_costs_["all positive"],
        model.constant_costs_["all negative"],
    )
    return {
        "rows": count,
        "positives": positives,
        "per_row": per_row,
        **({} if per_row else given),
        "unit": unit or "",
        "threshold": {
            "chosen": min(max(chosen, 0.0), 1.0),
            "at": [0.0, *round_numbers(found.threshold[kept][1:])],  # nobody is at or below the first one
            "cost": round_numbers(1000 * found.cost[kept]),
            "misses": np.rint(counted.false_negative_cost[kept] * count).astype(int).tolist(),
            "alarms": np.rint(counted.false_positive_cost[kept] * count).astype(int).tolist(),
            "own": {
                "cost": finite_or_none(1000 * own),
                "misses": int((~said & (truth == 1)).sum()),
                "alarms": int((said & (truth == 0)).sum()),
            },
        },
        "cost": {"cost": ours.cost, "low": ours.low, "high": ours.high, "rough": ours.rough},
        "note": ROUGH_MEANS if ours.rough else "",
        "warning": "" if ours.false_positives or ours.false_negatives else _no_mistake(count),
        "everyone": everyone.cost,
        "no_one": no_one.cost,
        "curve": {
            "alpha": round_numbers(curve.alpha),
            "cost": round_numbers(curve.cost),
            "best": round_numbers(curve.best_cost),
            "constant": round_numbers(curve.constant_cost),
            "own": curve.own_alpha,
        },
        "members": {name: finite_or_none(weight) for name, weight in model.weights_.items() if weight > 0},
        "left_out": dict(model.left_out_),
        "limits": describe_limits(rows.is_positive, score, cut, **given),
        "sentence": _in_words(None if per_row else chosen, ours, everyone.cost, no_one.cost, unit),
    }


def _choose_thresholds(threshold: np.ndarray, cost: np.ndarray, chosen: float) -> np.ndarray:
    """Numbers of the thresholds that are sent: all, or a share of them with the cheapest and the chosen one."""
    count = threshold.size
    if count <= _MOST_THRESHOLDS:
        return np.arange(count)
    even = np.linspace(0, count - 1, _MOST_THRESHOLDS).astype(int)
    at = int(np.searchsorted(threshold, chosen, side="right")) - 1
    return np.unique(np.concatenate([even, [int(cost.argmin()), max(at, 0), min(at + 1, count - 1)]]))


def _no_mistake(count: int) -> str:
    return (
        f"Too good to be true? There is not one mistake in {count:,} rows: look for columns that are not known when "
        "you decide."
    )


def _in_words(threshold: float | None, ours: Any, everyone: float, no_one: float, unit: str | None) -> str:
    rule, name = min((everyone, "flagging everyone"), (no_one, "flagging no one"))
    low, high = (money(1000 * x) for x in (ours.low, ours.high))
    ends = ends_in_words(low, high, rough=ours.rough)
    saved = 1000 * (rule - ours.cost)
    same = money(1000 * rule, unit) == money(1000 * ours.cost, unit)
    against = "as much as" if same else f"{money(abs(saved), unit)} {'less' if saved > 0 else 'more'} than"
    where = "that is cheaper at its own costs" if threshold is None else f"the probability is above {threshold:.3g}"
    return (
        f"Flag a row where {where}. Per 1,000 rows this costs "
        f"{money(1000 * ours.cost, unit)} (95 % interval {ends}), {against} {name}."
    )
