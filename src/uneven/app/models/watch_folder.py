"""A folder of decided rows, watched: each file is read once, further rows and late labels when they come.

The state is one file. It says which rows of which files were counted, and holds the monitor, so that both are always of
the same moment: it is written whole after each file, and a command that was stopped goes on from there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from uneven._whole_files import write_whole
from uneven.app.files.file_kinds import READABLE
from uneven.app.files.table import Table, read_table
from uneven.app.files.table_columns import read_columns, read_target, type_columns
from uneven.app.files.table_formats import Reading
from uneven.app.models.apply_model import apply_model, row_hashes, words_of
from uneven.app.models.decision_log import DecisionLog
from uneven.app.models.written_costs import WrittenCosts, costs_by_name
from uneven.app.models.written_limits import read_groups, written_actions
from uneven.costs import GivenCosts, RowCosts
from uneven.errors import UnevenError
from uneven.monitor import CostMonitor, LateLabels

FORMAT = 1
_LOG_PART = "part-*.parquet"
#: What a table of predictions has, from which decisions are read without the model.
_LOGGED = ("prediction", "probability")
_NONE = {"fp_cost": None, "fn_cost": None, "tp_cost": None, "tn_cost": None}


@dataclass
class Watch:
    """What a command reads and writes.

    Attributes
    ----------
    content : dict
        Of the model file.
    monitor : CostMonitor
    files : dict of str
        For each file what was counted of it.
    problems : list of str
        Files that could not be read: nothing of them is counted.
    said : list of str
        What was found, a sentence for each file with something new.
    """

    content: dict[str, Any]
    monitor: CostMonitor
    files: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The state, for its file."""
        return {
            "uneven_watch": FORMAT,
            "model": self.content["sha256"],
            "files": self.files,
            "monitor": self.monitor.to_dict(),
        }


def open_watch(
    content: dict[str, Any], state: Path, reference: str | None, reading: Reading, promise: str | None
) -> Watch:
    """The watch whose state is in a file, or a new one if there is no such file."""
    about, pipeline = content["about"], content["pipeline"]
    if about.get("streamed"):
        raise UnevenError("a model that was fitted in parts cannot be watched yet: it keeps no rows to compare with")
    if written_actions(about):
        raise UnevenError("a watch is for two decisions, and this model was fitted with further actions")
    if state.exists():
        return _read_watch(content, state)
    given = WrittenCosts(**about["costs"])
    numbers = _NONE if given.per_row else {name: float(value) for name, value in _numbers(given).items()}
    labelled = None if reference is None else _read_reference(content, reference, reading)
    try:
        return Watch(content, CostMonitor(pipeline, labelled, **numbers, promise=promise))
    except UnevenError as error:
        hint = "reference=(X, y), labelled rows"
        if reference is None and hint in str(error):
            raise UnevenError(str(error).replace(hint, "--reference DATA, a table of labelled rows")) from None
        raise


def _numbers(given: WrittenCosts) -> dict[str, Any]:
    from fractions import Fraction

    return {name: Fraction(text) for name, text in given.numbers().items()}


def _read_reference(content: dict[str, Any], path: str, reading: Reading) -> tuple[Any, ...]:
    about = content["about"]
    table = read_table(path, reading, about["decimal"])
    labels = read_target(table, about["target"], about["positive"], others_negative=about["others_negative"])
    known = table.rows(labels.known)
    X, given = type_columns(known, read_columns(about["columns"])), WrittenCosts(**about["costs"])
    costs = costs_by_name(given.of(known)) if given.per_row else {}
    return X, labels.is_positive.astype(int), costs


def _read_watch(content: dict[str, Any], state: Path) -> Watch:
    """The watch of a file; an error says what is wrong with it, and the file stays as it is."""
    try:
        kept = json.loads(state.read_bytes())
    except (ValueError, RecursionError):
        kept = None
    if not isinstance(kept, dict) or "uneven_watch" not in kept:
        raise UnevenError(f"{state} is not the state of a watch, or is damaged; give another --state, or remove it")
    if kept["uneven_watch"] != FORMAT:
        raise UnevenError(f"{state} has another format ({kept['uneven_watch']!r}) than this version reads ({FORMAT})")
    if kept.get("model") != content["sha256"]:
        raise UnevenError(f"{state} is about another model file; give another --state to this model")
    if not isinstance(kept.get("files"), dict):
        raise UnevenError(f"{state} is damaged: it does not say which files were read; remove it to start again")
    return Watch(content, CostMonitor.from_dict(kept.get("monitor", {}), content["pipeline"]), kept["files"])


def watch_folder(
    watch: Watch,
    folder: str,
    state: Path,
    reading: Reading,
    *,
    id_column: str | None = None,
    per: str | None = None,
    labels: tuple[str, ...] = (),
    hear: Callable[[str], None] = lambda words: None,
) -> Watch:
    """Read what is new in a folder, and labels in further files; after each file the state is written.

    A file that cannot be read changes nothing: it is among the problems of the watch that is returned.
    """
    place = Path(folder)
    if not place.is_dir():
        raise UnevenError(f"{folder} is not a folder; give the folder of decided rows, or a log of decisions")
    rows: list[tuple[str, Callable[[Watch], str]]] = []
    later: list[tuple[str, Callable[[Watch], str]]] = []
    for path in [place] if any(place.glob(_LOG_PART)) else _entries(place):
        if path.is_dir():
            rows.append((path.name, partial(_add_log, path=path)))
            continue
        read = partial(_add_table, path=path, reading=reading, id_column=id_column, per=per)
        (later if _is_labels(watch, path, reading) else rows).append((path.name, read))
    for given in labels:
        later.append((given, partial(_add_labels, path=Path(given), reading=reading, id_column=id_column)))
    if not rows and not later:
        raise UnevenError(f"{folder} has no tables ({', '.join(READABLE)}) and no log of decisions")
    for name, add in [*rows, *later]:
        before = json.dumps(watch.to_dict(), allow_nan=False)
        hear(name)
        try:
            said = add(watch)
        except (UnevenError, OSError) as error:
            kept = json.loads(before)
            problems, told = [*watch.problems, f"{name}: {error}"], watch.said
            monitor = CostMonitor.from_dict(kept["monitor"], watch.content["pipeline"])
            watch = Watch(watch.content, monitor, kept["files"], problems, told)
            continue
        if said:
            watch.said.append(said)
            write_whole(state, json.dumps(watch.to_dict(), allow_nan=False))
    if not state.exists():
        write_whole(state, json.dumps(watch.to_dict(), allow_nan=False))
    return watch


def _entries(place: Path) -> list[Path]:
    """Tables and logs in a folder, by name."""
    found = [path for path in sorted(place.iterdir()) if not path.name.startswith((".", "_"))]
    return [
        path
        for path in found
        if (path.is_dir() and any(path.glob(_LOG_PART))) or (path.is_file() and path.name.lower().endswith(READABLE))
    ]


def _id_of(watch: Watch, table: Table, id_column: str | None) -> str | None:
    name = id_column if id_column is not None else watch.content["about"]["id"]
    return name if name is not None and name in table.frame.columns else None


def _names(table: Table, column: str) -> list[str]:
    texts = table.written(column).to_pylist()
    if None in texts:
        row = texts.index(None) + 1
        raise UnevenError(f"{table.path}: column {column!r}, row {row}, names no row; every row needs its name")
    return texts


def _is_labels(watch: Watch, path: Path, reading: Reading) -> bool:
    """Whether a table has names and labels of rows, and nothing to decide about. What is unreadable is told later."""
    about = watch.content["about"]
    try:
        table = read_table(str(path), reading, about["decimal"])
    except (UnevenError, OSError):
        return False
    columns = set(table.frame.columns)
    features = {column["name"] for column in about["columns"]}
    return about["target"] in columns and not features & columns and not set(_LOGGED) <= columns


def _read_labels(watch: Watch, table: Table) -> np.ndarray | None:
    """1 for positive, 0 for negative, NaN where the label is not known; None without a column of labels."""
    about = watch.content["about"]
    target, positive, negatives = about["target"], about["positive"], set(about["negatives"])
    if target not in table.frame.columns:
        return None
    found = np.full(len(table), np.nan)
    for row, text in enumerate(table.texts(target).to_pylist()):
        if text is None:
            continue
        if text != positive and text not in negatives and not about["others_negative"]:
            raise UnevenError(
                f"{table.path}: column {target!r}, row {table.frame.index[row] + 1} below the header, has {text!r}; "
                f"the model knows {', '.join(map(repr, [positive, *sorted(negatives)]))}"
            )
        found[row] = text == positive
    return found


# -- tables -----------------------------------------------------------------------------------------------------------


def _add_table(watch: Watch, path: Path, reading: Reading, id_column: str | None, per: str | None) -> str:
    """Count the rows of a table that are new, and labels that came since; a sentence, "" if there is nothing new."""
    about = watch.content["about"]
    raw = hashlib.sha256(path.read_bytes()).hexdigest()
    known = watch.files.get(path.name, {"sha256": "", "rows": 0, "head": "", "batches": []})
    if known["sha256"] == raw:
        return ""
    table = read_table(str(path), reading, about["decimal"])
    column = _id_of(watch, table, id_column)
    label = _read_labels(watch, table)
    features = {one["name"] for one in about["columns"]}
    if not features <= set(table.frame.columns) and not set(_LOGGED) <= set(table.frame.columns):
        if label is not None and not features & set(table.frame.columns):
            return _match_labels(watch, path.name, table, column, label)
        apply_model(watch.content, table)  # an error that names the columns that are missing
    X, probability, flagged, threshold, costs = _said(watch, table, logged=not features <= set(table.frame.columns))
    ids = None if column is None else _names(table, column)
    count, before = len(table), int(known["rows"])
    heads = _row_digests(X, probability, ids)
    if count < before or _digest(heads[:before]) != known["head"]:
        raise UnevenError(
            f"{path} was counted with {before:,} rows, and these are no longer its first rows; a file may get labels "
            "and further rows at its end, other rows belong to a new file"
        )
    added = LateLabels(0)
    group = np.full(count, path.name.partition(".")[0]) if per is None else read_groups(table, per)
    for batch, of_group, start, stop in known["batches"]:
        if label is not None:
            at = np.flatnonzero(group[start:stop] == of_group) + start
            added = _summed(added, watch.monitor.add_labels(label[at], batch=batch))
    batches = [*known["batches"]]
    for of_group in dict.fromkeys(group[before:].tolist()):
        at = np.flatnonzero(group[before:] == of_group) + before
        some = costs.take(at)
        watch.monitor.update(
            None if X is None else X.iloc[at],
            None if label is None else label[at],
            ids=None if ids is None else [ids[k] for k in at],
            batch=(name := _new_name(watch, str(of_group))),
            probability=probability[at],
            flagged=flagged[at],
            threshold=threshold[at],
            **(costs_by_name(some) if some.by_row or some.per_row else _NONE),
        )
        batches.append([name, str(of_group), before, count])
    watch.files[path.name] = {"sha256": raw, "rows": count, "head": _digest(heads), "batches": batches}
    return _in_words(path.name, count - before, added)


def _said(watch: Watch, table: Table, *, logged: bool) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, RowCosts]:
    """The rows if the table has them, probability, decision, threshold and costs."""
    about = watch.content["about"]
    if not logged:
        used = apply_model(watch.content, table)
        found = used.decisions
        if found.probability is None:
            raise UnevenError(f"this model has no probabilities: {found.why_no_probability}")
        return used.X, found.probability, found.said_positive, found.threshold, found.costs
    negative, positive = words_of(about["positive"], about["negatives"])
    texts = table.texts("prediction").to_pylist()
    strange = next((text for text in texts if text not in (negative, positive)), None)
    if strange is not None or None in texts:
        raise UnevenError(
            f"{table.path}: column 'prediction' must hold {negative!r} or {positive!r} in every row, got {strange!r}"
        )
    probability = table.required_numbers("probability")
    costs = WrittenCosts(**about["costs"]).of(table)
    cut = table.required_numbers("threshold") if "threshold" in table.frame.columns else costs.thresholds()[0]
    return None, probability, np.array([text == positive for text in texts]), cut, costs


def _row_digests(X: Any, probability: np.ndarray, ids: list[str] | None) -> list[str]:
    values = row_hashes(X).tolist() if X is not None else probability.tolist()
    return [f"{value}" if ids is None else f"{value} {name}" for value, name in zip(values, ids or values, strict=True)]


def _digest(heads: list[str]) -> str:
    return hashlib.sha256("\n".join(heads).encode()).hexdigest() if heads else ""


def _new_name(watch: Watch, wanted: str) -> str:
    taken = {batch.name for batch in watch.monitor.batches}
    if wanted not in taken:
        return wanted
    return next(name for k in range(2, len(taken) + 3) if (name := f"{wanted} ({k})") not in taken)


# -- labels -----------------------------------------------------------------------------------------------------------


def _add_labels(watch: Watch, path: Path, reading: Reading, id_column: str | None) -> str:
    table = read_table(str(path), reading, watch.content["about"]["decimal"])
    label = _read_labels(watch, table)
    if label is None:
        table.require([watch.content["about"]["target"]], ", the labels")
    assert label is not None
    column = id_column if id_column is not None else watch.content["about"]["id"]
    return _match_labels(watch, str(path), table, column, label)


def _match_labels(watch: Watch, name: str, table: Table, column: str | None, label: np.ndarray) -> str:
    if column is None:
        raise UnevenError("labels need the column that names their rows: give --id COL, as for the rows themselves")
    table.require([column], ", which names the rows")
    names = _names(table, column)
    last = {one: k for k, one in enumerate(names)}  # a name that occurs again has its last label
    at = np.array(list(last.values()), dtype=np.intp)
    return _in_words(name, 0, watch.monitor.add_labels(label[at], ids=list(last)))


def _summed(one: LateLabels, other: LateLabels) -> LateLabels:
    return LateLabels(*(getattr(one, name) + getattr(other, name) for name in LateLabels.__dataclass_fields__))


def _in_words(name: str, rows: int, labels: LateLabels) -> str:
    """What was new in a file; "" if nothing was."""
    parts = [f"{rows:,} new rows"] if rows else []
    if labels.added:
        parts.append(f"{labels.added:,} late labels")
    if labels.changed:
        parts.append(f"{labels.changed:,} labels that were the other one before, not counted again")
    if labels.unknown and parts:
        parts.append(f"{labels.unknown:,} labels of rows that do not wait for one, left out")
    return f"{name}: {', '.join(parts)}." if parts else ""


# -- logs -------------------------------------------------------------------------------------------------------------


def _add_log(watch: Watch, path: Path) -> str:
    """Count the batches of a log that are new."""
    log = DecisionLog(path)
    about = log.about
    if about["model"] != watch.content["sha256"]:
        raise UnevenError(f"{path} has decisions of another model ({about['model'][:12]})")
    rows = log.read().to_pandas()
    known = watch.files.get(path.name, {"batches": 0})
    new = rows[rows["batch"] > known["batches"]]
    if not len(new):
        return ""
    if new["flagged"].isna().any() or new["probability"].isna().any():
        raise UnevenError(f"{path} has rows without a probability, or with further actions; these cannot be watched")
    for number, part in new.groupby("batch"):
        four = {name: part[name].to_numpy(dtype=float) for name in _NONE}
        fixed = {name: value[0] for name, value in four.items() if not np.ptp(value)}
        per_row = WrittenCosts(**watch.content["about"]["costs"]).per_row
        when = str(part["time"].iloc[0])[:10]
        named = part["id"].notna().all()
        watch.monitor.update(
            ids=part["id"].tolist() if named else None,
            batch=_new_name(watch, f"{when} #{number}"),
            probability=part["probability"].to_numpy(dtype=float),
            flagged=part["flagged"].to_numpy(dtype=bool),
            threshold=part["threshold"].to_numpy(dtype=float),
            **GivenCosts(**(four if per_row else {**four, **fixed})),
        )
    watch.files[path.name] = {"batches": int(new["batch"].max())}
    return f"{path.name}: {len(new):,} new rows."
