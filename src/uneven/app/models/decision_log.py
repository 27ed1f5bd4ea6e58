"""A log of decisions: a folder of Parquet files to which whole batches are added, and nothing else is ever done.

A Parquet file cannot be added to: its directory stands at its end. So a log is a folder, and each batch is one file of
it, ``part-000000001.parquet`` and so on. pandas, pyarrow, DuckDB and Spark read such a folder as one table.

A part is written under a name that readers skip, brought to the disk, and only then linked to its number. A crash
leaves a batch complete, or not there. The number is taken by the link, which fails if it is taken: of two processes
that add at once, one takes the next number. Each part holds the SHA-256 of the one before it, so that a part that was
changed or removed later is found.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.errors import UnevenError, needs_extra

if TYPE_CHECKING:
    from uneven.app.models.apply_classes import ClassApplication
    from uneven.app.models.apply_model import Application
    from uneven.decisions.decision_table import Decisions

#: Changes when the columns that every log has are others.
FORMAT = 1
_ENDINGS = ("", ".parquet", ".pq")
#: Digits of a part's number: readers sort names as texts.
_DIGITS = 9
_PART = re.compile(rf"part-(\d{{{_DIGITS}}})\.parquet")
#: The key of what a part says about itself.
_KEY = b"uneven_log"
#: What all parts of one log have in common.
_SAME = ("format", "model", "id", "target", "positive", "unit")
#: After so many seconds a file that a crash left is removed; nobody writes one part for that long.
_ABANDONED = 86_400
_SHOWN_OF_HASH = 12


@dataclass(frozen=True)
class LoggedBatch:
    """A batch that is in the log, and on the disk.

    Attributes
    ----------
    number, rows : int
    sha256 : str
        Of the part. Whoever keeps the last one elsewhere can show that no part was removed from the end.
    """

    number: int
    rows: int
    sha256: str

    def in_words(self, path: Any) -> str:
        """Where it is, and how many decisions it has; ``path`` is that of the log, as it was given."""
        return f"{path}: batch {self.number:,}, {self.rows:,} decisions, SHA-256 {self.sha256}."


@dataclass(frozen=True)
class LogCheck:
    """Whether a log is as it was written; truthy if it is.

    Attributes
    ----------
    reason : str
        What is wrong; "" if nothing is.
    batches, rows : int
    model, last : str
        SHA-256 of the model file, and of the last part.
    """

    reason: str
    batches: int
    rows: int
    model: str
    last: str

    def __bool__(self) -> bool:
        return not self.reason

    def __str__(self) -> str:
        if self.reason:
            return f"invalid: {self.reason}"
        batches = "1 batch" if self.batches == 1 else f"{self.batches:,} batches"
        return (
            f"valid: {batches}, {self.rows:,} decisions of the model {self.model[:_SHOWN_OF_HASH]}; no part was "
            f"changed or taken out. The last part has the SHA-256 {self.last}."
        )


class DecisionLog:
    """A folder with the decisions of one model.

    Parameters
    ----------
    path : str or Path
        Made by the first batch.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.suffix.lower() not in _ENDINGS:
            raise UnevenError(
                "a log is a folder of Parquet files, which no crash can tear: give a name that ends in .parquet, got "
                f"{str(path)!r}; pandas.read_parquet reads it, and writes other kinds of file"
            )
        if self.path.exists() and not self.path.is_dir():
            raise UnevenError(f"{path} is a file, and a log is a folder of Parquet files; give another name")
        if not self.path.parent.is_dir():
            raise UnevenError(f"there is no folder {str(self.path.parent)!r} for the log; make it first")

    def __repr__(self) -> str:
        return f"DecisionLog({str(self.path)!r})"

    # -- writing ----------------------------------------------------------------------------------------------------

    def append(self, columns: Any, about: Mapping[str, Any]) -> LoggedBatch:
        """Add a batch; when this returns, it is on the disk.

        Parameters
        ----------
        columns : pyarrow.Table
            As :func:`decision_columns` makes it. ``time`` and ``batch`` are added.
        about : mapping
            ``model`` (SHA-256), the column that names the rows (``id``), ``target``, ``positive``, ``unit``.
        """
        self.path.mkdir(exist_ok=True)
        _flush_folder(self.path.parent)
        now = datetime.now(UTC)
        while True:
            number, last = self._last()
            batch = _with_time(columns, now, number + 1)
            if number:
                self._require_same(batch.schema, about)
            data = _part_bytes(batch, {**about, "format": FORMAT, "number": number + 1, "previous": last})
            with self._flushed(data) as written:
                try:
                    os.link(written, self.path / _name(number + 1))
                except FileExistsError:  # another process took this number
                    continue
                except OSError as error:
                    raise UnevenError(
                        f"{self.path} cannot hold a log: its file system makes no links ({error.strerror}); put the "
                        "log on a local disk"
                    ) from None
                _flush_folder(self.path)
            self._sweep()
            return LoggedBatch(number + 1, batch.num_rows, hashlib.sha256(data).hexdigest())

    def require_model(self, about: Mapping[str, Any]) -> None:
        """An error if the log has decisions of another model, or about other rows."""
        if self.path.exists() and self._last()[0]:
            self._require_same(None, about)

    def _require_same(self, schema: Any, about: Mapping[str, Any]) -> None:
        head, first = self._read(self._numbers()[0])
        if first["model"] != about["model"]:
            raise UnevenError(
                f"{self.path} has decisions of the model {_short(first['model'])}, got the model "
                f"{_short(about['model'])}; a log is of one model: give a new one to this model"
            )
        for name in ("format", "id", "target", "positive", "unit"):
            expected = FORMAT if name == "format" else about[name]
            if first[name] != expected:
                raise UnevenError(
                    f"{self.path} has other decisions: its {_WORDS[name]} is {first[name]!r}, got {expected!r}; "
                    "start a new log"
                )
        if schema is not None and not head.equals(schema):
            there, here = set(head.names), set(schema.names)
            raise UnevenError(
                f"{self.path} has other columns: it {_has(there - here, 'has')}{_has(here - there, 'lacks')}"
                "start a new log, or give the options of its first batch"
            )

    def _last(self) -> tuple[int, str]:
        """The number of the last part, and its SHA-256; 0 and "" of a log without parts."""
        numbers = self._numbers()
        if not numbers:
            return 0, ""
        return numbers[-1], hashlib.sha256((self.path / _name(numbers[-1])).read_bytes()).hexdigest()

    def _numbers(self) -> list[int]:
        """Numbers of the parts, sorted."""
        found = []
        for name in os.listdir(self.path):
            if name.startswith((".", "_")):  # what readers of such a folder skip
                continue
            part = _PART.fullmatch(name)
            if part is None:
                raise UnevenError(f"{self.path} is not a log of decisions: it holds {name!r}")
            found.append(int(part[1]))
        return sorted(found)

    @contextmanager
    def _flushed(self, data: bytes) -> Iterator[Path]:
        """A file with the data that is on the disk, under a name that readers skip; removed at the end."""
        path = self.path / f".{uuid.uuid4().hex}.tmp"
        try:
            with path.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove what crashes left long ago."""
        for path in self.path.glob(".*.tmp"):
            with suppress(FileNotFoundError):  # its writer, or another sweep, was faster
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()

    # -- reading ----------------------------------------------------------------------------------------------------

    def read(self) -> Any:
        """All decisions as a pyarrow table, in the order in which they were logged."""
        pa, parquet = _arrow()
        numbers = self._require_parts()
        with _readable(self.path):
            return pa.concat_tables([parquet.ParquetFile(self.path / _name(number)).read() for number in numbers])

    @property
    def about(self) -> dict[str, Any]:
        """What all parts have in common: the SHA-256 of the model, the target, its positive value, the unit."""
        first = self._read(self._require_parts()[0])[1]
        return {name: first[name] for name in _SAME}

    def check(self) -> LogCheck:
        """Read everything again: every part must be there, follow from the one before it, and be of the same model."""
        numbers = self._require_parts()
        say = partial(LogCheck, batches=len(numbers), rows=0, model="", last="")
        rows, previous = 0, ""
        head: Any = None
        first: dict[str, Any] = {}
        for expected, number in enumerate(numbers, 1):
            if number != expected:
                return say(f"{_name(expected)} is missing")
            name, data = _name(number), (self.path / _name(number)).read_bytes()
            try:
                schema, about = self._read(number)
                rows += _arrow()[1].ParquetFile(io.BytesIO(data)).read().num_rows
            except UnevenError:
                return say(f"{name} is damaged, or is not a part of a log")
            except Exception:  # a damaged file may raise any type of error
                return say(f"{name} is damaged")
            head, first = (schema, about) if number == 1 else (head, first)
            if about["number"] != number or about["previous"] != previous:
                return say(f"{name} does not follow from the part before it: one of the two was changed")
            if not schema.equals(head) or any(about[key] != first[key] for key in _SAME):
                return say(f"{name} is of another model, or has other columns, than the first part")
            previous = hashlib.sha256(data).hexdigest()
        return LogCheck("", len(numbers), rows, first["model"], previous)

    def _require_parts(self) -> list[int]:
        if not self.path.is_dir() or not (numbers := self._numbers()):
            raise UnevenError(f"{self.path} is not a log of decisions: it has no parts")
        return numbers

    def _read(self, number: int) -> tuple[Any, dict[str, Any]]:
        """The columns of a part, and what it says about itself."""
        with _readable(self.path / _name(number)):
            schema = _arrow()[1].ParquetFile(self.path / _name(number)).schema_arrow
            about = json.loads(schema.metadata[_KEY])
            return schema.remove_metadata(), {name: about[name] for name in (*_SAME, "number", "previous")}


_WORDS = {
    "format": "format",
    "id": "column that names the rows",
    "target": "target",
    "positive": "positive value",
    "unit": "unit of money",
}


def _name(number: int) -> str:
    return f"part-{number:0{_DIGITS}d}.parquet"


def _short(model: str) -> str:
    return model[:_SHOWN_OF_HASH]


def _has(names: set[str], verb: str) -> str:
    return f"{verb} {', '.join(sorted(names))}; " if names else ""


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    from uneven.app.files.file_kinds import parsing

    with parsing(str(path), "part of a log of decisions"):
        yield


def _part_bytes(batch: Any, about: Mapping[str, Any]) -> bytes:
    _, parquet = _arrow()
    buffer = io.BytesIO()
    parquet.write_table(batch.replace_schema_metadata({_KEY: json.dumps(about)}), buffer)
    return buffer.getvalue()


def _flush_folder(path: Path) -> None:
    """Bring the names in a folder to the disk, where folders can be opened (not on Windows)."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(path, os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _with_time(columns: Any, now: datetime, number: int) -> Any:
    pa, _ = _arrow()
    count = columns.num_rows
    times = pa.array([now] * count, pa.timestamp("us", tz="UTC"))
    return columns.add_column(0, "time", times).add_column(1, "batch", pa.array([number] * count, pa.int64()))


def _arrow() -> tuple[Any, Any]:
    with needs_extra("logs of decisions", "data"):
        import pyarrow
        from pyarrow import parquet
    return pyarrow, parquet


def open_log(path: str, output: str) -> DecisionLog:
    """The log for a command that also writes predictions; an error if both have one name."""
    log = DecisionLog(path)
    if log.path.resolve() == Path(output).resolve():
        raise UnevenError(f"{output} is both the log and the file of predictions; give the log another name")
    return log


# -- the columns of a log ----------------------------------------------------------------------------------------------


def about_log(content: Mapping[str, Any], used: Application | ClassApplication) -> dict[str, Any]:
    """What all batches of a log have in common, of a model file and a table that it was applied to."""
    return {
        "model": content["sha256"],
        "id": None if used.names is None else str(used.names[0]),
        "target": used.about["target"],
        "positive": used.about.get("positive"),  # none with several classes
        "unit": used.given.unit,
    }


def decision_columns(
    content: Mapping[str, Any], used: Application, found: Decisions | None = None, reasons: Any = None
) -> Any:
    """One line for each row: who decided, at which costs and threshold, how probable it was, and what was decided.

    Parameters
    ----------
    content : dict
        Of the model file.
    used : Application
    found : Decisions, optional
        Decisions within limits or between several actions, in place of those of the model.
    reasons : DataFrame, optional
        Columns with reasons.
    """
    pa, _ = _arrow()
    model, costs = used.decisions, used.decisions.costs
    negative, positive = used.words
    decision = np.where(model.said_positive, positive, negative) if found is None else found.action.astype(str)
    count = costs.count
    expected: Any = None
    if found is not None:
        expected = found.expected_cost
    elif model.probability is not None:
        expected = np.where(model.said_positive, *model.expected_costs[::-1])
    flagged = np.where(decision == positive, 1.0, np.where(decision == negative, 0.0, np.nan))
    columns: dict[str, Any] = {"model": pa.array([content["sha256"]] * count, pa.string())}
    columns["row"] = pa.array(np.arange(1, count + 1))
    columns["id"] = _texts(None if used.names is None else used.names[1], count)
    for name in ("fp_cost", "fn_cost", "tp_cost", "tn_cost"):
        columns[name] = _numbers(getattr(costs, name), count)
    columns["probability"] = _numbers(model.probability, count)
    columns["threshold"] = _numbers(model.threshold, count)
    columns["score"] = _numbers(model.score, count)
    columns["decision"] = pa.array(decision.tolist(), pa.string())
    columns["flagged"] = _numbers(flagged, count).cast(pa.bool_())
    columns["expected_cost"] = _numbers(expected, count)
    for name in () if reasons is None else reasons.columns:
        values = reasons[name]
        columns[name] = _numbers(values, count) if values.dtype.kind == "f" else _texts(values, count)
    return pa.table(columns)


def class_decision_columns(content: Mapping[str, Any], used: ClassApplication) -> Any:
    """The same with several classes: costs of all decisions and probabilities of all classes."""
    pa, _ = _arrow()
    found = used.decisions
    count = len(found)
    columns: dict[str, Any] = {"model": pa.array([content["sha256"]] * count, pa.string())}
    columns["row"] = pa.array(np.arange(1, count + 1))
    columns["id"] = _texts(None if used.names is None else used.names[1], count)
    columns["decision"] = pa.array(found.action.astype(str).tolist(), pa.string())
    columns["expected_cost"] = _numbers(found.expected_cost, count)
    for action, costs in zip(found.costs.actions, found.expected_costs.T, strict=True):
        columns[f"cost_if_{action}"] = _numbers(costs, count)
    for label, share in zip(found.costs.classes, found.probability.T, strict=True):
        columns[f"P({label})"] = _numbers(share, count)
    return pa.table(columns)


def _numbers(values: Any, count: int) -> Any:
    """A column of doubles; what is not known is null."""
    pa, _ = _arrow()
    if values is None:
        return pa.nulls(count, pa.float64())
    whole = np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype=np.float64), (count,)))
    return pa.array(whole, pa.float64(), from_pandas=True)


def _texts(values: Any, count: int) -> Any:
    """A column of texts: the same IDs are numbers in one table and texts in another."""
    pa, _ = _arrow()
    if values is None:
        return pa.nulls(count, pa.string())
    out = values.isna().tolist()
    return pa.array([None if no else str(one) for one, no in zip(values.tolist(), out, strict=True)], pa.string())
