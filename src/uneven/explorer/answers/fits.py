"""Fits of the tab "Your data": the gamma path of a linear classifier, and the thresholds of an ensemble."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uneven._money import money
from uneven.explorer.answers.numbers import drawn, stated
from uneven.metrics.intervals import ROUGH_MEANS, ends_in_words

Tell = Callable[[dict[str, Any]], None]

#: Members of the ensemble, by what the page calls them.
MEMBERS: dict[str, Any] = {"quick": ["linear", "extra_trees"], "all": "auto"}
MOST_SECONDS = 1200
#: Rows that each class must have.
FEWEST = 10
#: Thresholds that the page gets at most.
_MOST_THRESHOLDS = 1500
#: Share of the progress bar that the gamma path takes.
_PATH_SHARE = 0.3


def fitted(
    X: Any,
    is_positive: np.ndarray,
    *,
    fp_cost: float,
    fn_cost: float,
    members: str,
    seconds: float,
    tell: Tell,
) -> dict[str, Any]:
    """Fit both; the gamma path is told as soon as it is there."""
    from uneven.learners.progress import listening

    y = is_positive.astype(int)
    costs = {"fp_cost": fp_cost, "fn_cost": fn_cost}

    def listener(start: float, end: float, what: str) -> Callable[[str, str, float], None]:
        return lambda name, words, share: tell({"progress": f"{what}: {words}", "share": start + (end - start) * share})

    tell({"progress": "gamma path: fitting a linear classifier", "share": 0.02})
    with listening(listener(0.02, _PATH_SHARE, "gamma path")):
        path = _gamma_path(X, y, costs)
    tell({"gamma_path": path, "progress": "ensemble: fitting the members", "share": _PATH_SHARE})
    with listening(listener(_PATH_SHARE, 0.97, "ensemble")):
        return _thresholds(X, y, costs, members, seconds)


def _gamma_path(X: Any, y: np.ndarray, costs: dict[str, Any]) -> dict[str, Any]:
    from sklearn.pipeline import make_pipeline

    from uneven.learners.cv import UnevenClassifierCV
    from uneven.learners.frames import FrameEncoder
    from uneven.learners.linear import UnevenLinearClassifier

    model = make_pipeline(FrameEncoder(view="linear"), UnevenLinearClassifier("logistic"))
    path = UnevenClassifierCV(model, **costs, refit=False).fit(X, y).gamma_path_
    return {
        "gamma": drawn(path.margin_gamma),
        "cost": drawn(1000 * path.mean_cost),
        "error": drawn(1000 * path.standard_error),
        "chosen": path.chosen,
    }


def _thresholds(X: Any, y: np.ndarray, costs: dict[str, Any], members: str, seconds: float) -> dict[str, Any]:
    from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier
    from uneven.metrics import cost_by_threshold, cost_curve

    how: dict[str, Any] = {"members": MEMBERS[members], "time_limit": seconds, "keep_training_rows": True}
    model = UnevenEnsembleClassifier(**costs, **how).fit(X, y)
    rows = model.out_of_fold_rows_
    truth, score = rows.is_positive.astype(int), rows.probability
    found = cost_by_threshold(truth, score, **costs)
    chosen = float(model.threshold_ or 0.0)
    kept = _kept(found.threshold, found.cost, chosen)
    curve = cost_curve(truth, score, threshold=chosen, **costs)
    ours, everyone, no_one = (
        model.out_of_fold_cost_,
        model.constant_costs_["all positive"],
        model.constant_costs_["all negative"],
    )
    count, positives = truth.size, int(truth.sum())
    return {
        "rows": count,
        "positives": positives,
        **costs,
        "threshold": {
            "chosen": stated(chosen),
            "at": [0.0, *drawn(found.threshold[kept][1:])],  # nobody is at or below the first one
            "misses": np.rint(found.false_negative_cost[kept] * count / costs["fn_cost"]).astype(int).tolist(),
            "alarms": np.rint(found.false_positive_cost[kept] * count / costs["fp_cost"]).astype(int).tolist(),
        },
        "cost": {"cost": ours.cost, "low": ours.low, "high": ours.high, "rough": ours.rough},
        "note": ROUGH_MEANS if ours.rough else "",
        "warning": "" if ours.false_positives or ours.false_negatives else _no_mistake(count),
        "everyone": everyone.cost,
        "no_one": no_one.cost,
        "curve": {
            "alpha": drawn(curve.alpha),
            "cost": drawn(curve.cost),
            "best": drawn(curve.best_cost),
            "constant": drawn(curve.constant_cost),
            "own": curve.own_alpha,
        },
        "members": {name: stated(weight) for name, weight in model.weights_.items() if weight > 0},
        "left_out": dict(model.left_out_),
        "sentence": _in_words(chosen, ours, everyone.cost, no_one.cost),
    }


def _kept(threshold: np.ndarray, cost: np.ndarray, chosen: float) -> np.ndarray:
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


def _in_words(threshold: float, ours: Any, everyone: float, no_one: float) -> str:
    rule, name = min((everyone, "flagging everyone"), (no_one, "flagging no one"))
    cost, low, high = (money(1000 * x) for x in (ours.cost, ours.low, ours.high))
    ends = ends_in_words(low, high, rough=ours.rough)
    saved = 1000 * (rule - ours.cost)
    against = f"{money(saved)} less than {name}" if saved > 0 else f"{money(-saved)} more than {name}"
    return (
        f"Flag a row where the probability is above {threshold:.3g}. Per 1,000 rows this costs {cost} (95 % interval "
        f"{ends}), {against}."
    )
