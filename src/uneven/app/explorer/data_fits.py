"""The tab "Your data": a table, what is in it, the gamma path of a linear classifier, thresholds of an ensemble."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import inputs
from uneven.app.explorer.limit_answers import describe_limits, read_unit
from uneven.app.explorer.questions import Refusal, finite_or_none, in_field, round_numbers
from uneven.app.files.file_kinds import TEXT, WORKBOOK, require_content
from uneven.app.files.remarks import about_reading, leaking_columns
from uneven.app.files.table import Table, table_of_bytes
from uneven.app.files.table_columns import plan_columns, read_target, require_memory, type_columns
from uneven.app.files.table_formats import Reading, sheets_with_rows
from uneven.costs import money
from uneven.inputs import to_float
from uneven.metrics.intervals import ROUGH_MEANS, ends_in_words
from uneven.tables.column_values import distinct_texts, without_marks

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
#: Columns with more different values cannot be the target.
_MOST_LABELS = 20
_MOST_COLUMNS = 2000
_MOST_CATEGORIES = 500


def example(data: Any) -> bytes:
    """The breast-cancer data of scikit-learn as a text table."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer(as_frame=True)
    frame = found.data.assign(diagnosis=np.where(found.target == 0, "malignant", "benign"))
    text: str = frame.to_csv(index=False)
    return text.encode()


def table(data: Mapping[str, Any]) -> dict[str, Any]:
    """How a table was read, and which of its columns can be the target, with their values."""
    sheets, chosen = _sheets(data)
    found = _read({**data, "sheet": chosen})
    targets = [one for name in found.frame.columns if (one := _labels(found, name)) is not None]
    if not targets:
        raise Refusal("no column has between 2 and 20 different values, so none can be the one to predict", "target")
    columns = [str(name) for name in found.frame.columns]
    return {
        "words": found.in_words(),
        "rows": len(found),
        "targets": targets,
        "columns": columns,
        "sheets": sheets,
        "sheet": chosen,
    }


def _sheets(data: Mapping[str, Any]) -> tuple[list[str], str]:
    """The sheets of a workbook that hold something, and the one to read: that which was asked for, or the first."""
    if not _name(data).lower().endswith(WORKBOOK):
        return [], ""
    with in_field("file"):
        require_content(_name(data), "workbook", data["content"][:512])
        sheets = sheets_with_rows(_name(data), data["content"])
    return sheets, str(data.get("sheet") or next(iter(sheets), ""))


def _labels(found: Table, name: str) -> dict[str, Any] | None:
    """The different values of a column, the rarest first: it is usually the one to find."""
    codes, labels = distinct_texts(without_marks(found.written(name)))
    if not 2 <= labels.size <= _MOST_LABELS:
        return None
    counts = np.bincount(codes[codes >= 0], minlength=labels.size)
    order = np.argsort(counts, kind="stable")
    return {"name": name, "values": [{"value": str(labels[k]), "rows": int(counts[k])} for k in order]}


def _read(data: Mapping[str, Any]) -> Table:
    name = _name(data)
    if not name.lower().endswith((*TEXT, *WORKBOOK)):
        raise Refusal("the table must be .csv, .tsv, .txt or .xlsx; `uneven fit` also reads Parquet", "file")
    with in_field("file"):
        found = table_of_bytes(name, data["content"], Reading(sheet=data.get("sheet") or None))
    if found.frame.shape[1] > _MOST_COLUMNS:
        raise Refusal(
            f"the table has {found.frame.shape[1]:,} columns; at most {_MOST_COLUMNS:,} are read here", "file"
        )
    return found


def _name(data: Mapping[str, Any]) -> str:
    return str(data.get("name", ""))[:200] or "table.csv"


@dataclass(frozen=True)
class _FitQuestion:
    """What was asked about a table."""

    target: str
    positive: str
    fp_cost: float
    fn_cost: float
    members: str
    seconds: float
    leave_out: tuple[str, ...]
    unit: str | None


def _read_fit_question(data: Mapping[str, Any]) -> _FitQuestion:
    def text(field: str) -> str:
        value = data.get(field)
        if not isinstance(value, str) or not value or len(value) > 500:
            raise Refusal(f"{field} is missing", field)
        return value

    costs = {}
    for field, words in (("fp", "the cost of a false alarm"), ("fn", "the cost of a miss")):
        with in_field(field):
            costs[field] = to_float(inputs.positive(words, text(field).strip()))
    members = text("members")
    if members not in MEMBERS:
        raise Refusal(f"members must be one of {', '.join(MEMBERS)}", "members")
    with in_field("seconds"):
        seconds = to_float(inputs.positive("the time limit", text("seconds").strip()))
    if seconds > MOST_SECONDS:
        raise Refusal(f"the time limit is at most {MOST_SECONDS:,} seconds here", "seconds")
    leave_out = data.get("leave_out", [])
    if not isinstance(leave_out, list) or not all(isinstance(name, str) for name in leave_out):
        raise Refusal("leave_out must be a list of columns", "columns")
    return _FitQuestion(
        text("target"), text("positive"), costs["fp"], costs["fn"], members, seconds, tuple(leave_out), read_unit(data)
    )


def fit(data: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Fit to a table; parts of the answer are told as they come."""
    asked = _read_fit_question(data)
    tell({"progress": "reading the table", "share": 0.0})
    found = _read(data)
    with in_field("target"):
        labels = read_target(found, asked.target, asked.positive, others_negative=True)
        if min(labels.is_positive.sum(), (~labels.is_positive).sum()) < FEWEST:
            raise Refusal(f"each class needs at least {FEWEST} rows", "target")
    labelled = found.rows(labels.known)
    with in_field("columns" if asked.leave_out else "file"):
        plan = plan_columns(labelled, asked.target, asked.leave_out)
    with in_field("file"):
        X = type_columns(labelled, plan.columns)
        width = require_memory(X, _MOST_CATEGORIES)
    words = list(about_reading(found, plan, X, labels, width))
    if asked.leave_out:
        words.append(f"Left out at your wish: {', '.join(map(repr, asked.leave_out))}.")
    leaks = [{"column": name, "words": why} for name, why in leaking_columns(X, labels).items()]
    warning = _leaks_in_words(leaks)
    tell({"about": words, "positive": labels.positive, "rows": int(labels.is_positive.size)})
    tell({"leaks": leaks, "warning": warning})
    answer = fit_and_describe(
        X,
        labels.is_positive,
        fp_cost=asked.fp_cost,
        fn_cost=asked.fn_cost,
        members=asked.members,
        seconds=asked.seconds,
        unit=asked.unit,
        tell=tell,
    )
    return {**answer, "leaks": leaks, "warning": warning or answer["warning"]}


def _leaks_in_words(leaks: list[dict[str, str]]) -> str:
    """What is said first if columns may give the target away; else ""."""
    if not leaks:
        return ""
    if len(leaks) == 1:
        return f"Too good to be true? Column {leaks[0]['column']!r} {leaks[0]['words']}."
    return f"Too good to be true? {len(leaks)} columns may give the target away."


# -- the fits ----------------------------------------------------------------------------------------------------------


def fit_and_describe(
    X: Any,
    is_positive: np.ndarray,
    *,
    fp_cost: float,
    fn_cost: float,
    members: str,
    seconds: float,
    unit: str | None = None,
    tell: Tell,
) -> dict[str, Any]:
    """Fit both; the gamma path is told as soon as it is there."""
    from uneven.solvers.progress import listening

    y = is_positive.astype(int)
    costs = {"fp_cost": fp_cost, "fn_cost": fn_cost}

    def listener(start: float, end: float, what: str) -> Callable[[str, str, float], None]:
        return lambda name, words, share: tell({"progress": f"{what}: {words}", "share": start + (end - start) * share})

    tell({"progress": "gamma path: fitting a linear classifier", "share": 0.02})
    with listening(listener(0.02, _PATH_SHARE, "gamma path")):
        path = _gamma_path(X, y, costs)
    tell({"gamma_path": path, "progress": "ensemble: fitting the members", "share": _PATH_SHARE})
    with listening(listener(_PATH_SHARE, 0.97, "ensemble")):
        return _thresholds(X, y, costs, members, seconds, unit)


def _gamma_path(X: Any, y: np.ndarray, costs: dict[str, Any]) -> dict[str, Any]:
    from sklearn.pipeline import make_pipeline

    from uneven.learners.classifier_cv import UnevenClassifierCV
    from uneven.learners.linear import UnevenLinearClassifier
    from uneven.tables import FrameEncoder

    model = make_pipeline(FrameEncoder(view="linear"), UnevenLinearClassifier("logistic"))
    path = UnevenClassifierCV(model, **costs, refit=False).fit(X, y).gamma_path_
    return {
        "gamma": round_numbers(path.margin_gamma),
        "cost": round_numbers(1000 * path.mean_cost),
        "error": round_numbers(1000 * path.standard_error),
        "chosen": path.chosen,
    }


def _thresholds(
    X: Any, y: np.ndarray, costs: dict[str, Any], members: str, seconds: float, unit: str | None
) -> dict[str, Any]:
    from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier
    from uneven.metrics import cost_by_threshold, cost_curve

    how: dict[str, Any] = {"members": MEMBERS[members], "time_limit": seconds, "keep_training_rows": True}
    model = UnevenEnsembleClassifier(**costs, **how).fit(X, y)
    rows = model.out_of_fold_rows_
    truth, score = rows.is_positive.astype(int), rows.probability
    found = cost_by_threshold(truth, score, **costs)
    chosen = float(model.threshold_ or 0.0)
    kept = _choose_thresholds(found.threshold, found.cost, chosen)
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
        "unit": unit or "",
        "threshold": {
            "chosen": finite_or_none(chosen),
            "at": [0.0, *round_numbers(found.threshold[kept][1:])],  # nobody is at or below the first one
            "misses": np.rint(found.false_negative_cost[kept] * count / costs["fn_cost"]).astype(int).tolist(),
            "alarms": np.rint(found.false_positive_cost[kept] * count / costs["fp_cost"]).astype(int).tolist(),
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
        "limits": describe_limits(rows.is_positive, score, chosen, **costs),
        "sentence": _in_words(chosen, ours, everyone.cost, no_one.cost, unit),
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


def _in_words(threshold: float, ours: Any, everyone: float, no_one: float, unit: str | None) -> str:
    rule, name = min((everyone, "flagging everyone"), (no_one, "flagging no one"))
    low, high = (money(1000 * x) for x in (ours.low, ours.high))
    ends = ends_in_words(low, high, rough=ours.rough)
    saved = 1000 * (rule - ours.cost)
    same = money(1000 * rule, unit) == money(1000 * ours.cost, unit)
    against = "as much as" if same else f"{money(abs(saved), unit)} {'less' if saved > 0 else 'more'} than"
    return (
        f"Flag a row where the probability is above {threshold:.3g}. Per 1,000 rows this costs "
        f"{money(1000 * ours.cost, unit)} (95 % interval {ends}), {against} {name}."
    )
