"""The log of decisions: only whole batches, none lost that was confirmed, whatever crashes and whoever else writes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from uneven.app.models.decision_log import DecisionLog
from uneven.errors import UnevenError

ABOUT = {"model": "a" * 64, "id": "order", "target": "late", "positive": "yes", "unit": None}
ROWS = 5


def batch(name: str = "x", rows: int = ROWS) -> Any:
    return pa.table({"id": [f"{name}-{k}" for k in range(rows)], "probability": [k / rows for k in range(rows)]})


def names(log: DecisionLog) -> list[str]:
    """Names of batches, in order; an error unless each is whole."""
    found = log.read().column("id").to_pylist()
    assert len(found) % ROWS == 0
    batches = [found[k : k + ROWS] for k in range(0, len(found), ROWS)]
    for some in batches:
        first = some[0].rpartition("-")[0]
        assert some == [f"{first}-{k}" for k in range(ROWS)]
    return [some[0].rpartition("-")[0] for some in batches]


def test_every_reader_finds_all_rows_in_order(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "decisions.parquet")
    for k in range(12):
        assert log.append(batch(str(k)), ABOUT).number == k + 1
    (log.path / ".crashed.tmp").write_bytes(b"PAR1 and no more")
    expected = [f"{k}-{row}" for k in range(12) for row in range(ROWS)]
    read = pd.read_parquet(log.path)
    assert read["id"].tolist() == expected
    assert read["batch"].tolist() == [k + 1 for k in range(12) for _ in range(ROWS)]
    assert str(read["time"].dt.tz) == "UTC"
    assert read["time"].is_monotonic_increasing
    assert log.read().column("id").to_pylist() == expected
    found = duckdb.sql(f"SELECT id FROM '{log.path}/*.parquet'").fetchall()
    assert [one for (one,) in found] == expected
    assert log.about["model"] == ABOUT["model"]


class CrashedError(BaseException):
    pass


def crash_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From this call of the system on, the process does nothing more: also no cleaning up."""
    left = [step]

    def counted(call: Any) -> Any:
        def run(*arguments: Any, **others: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise CrashedError
            return call(*arguments, **others)

        return run

    for name in ("open", "fsync", "link", "mkdir", "unlink"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))


def test_a_crash_at_every_step_leaves_whole_batches(tmp_path: Path) -> None:
    outcomes = []
    for step in range(30):
        log = DecisionLog(tmp_path / f"{step}.parquet")
        if step % 2:
            log.append(batch("before"), ABOUT)
        before = ["before"] * (step % 2)
        with pytest.MonkeyPatch.context() as patched:
            crash_at(step // 2, patched)
            try:
                log.append(batch("new"), ABOUT)
                outcomes.append("confirmed")
            except CrashedError:
                outcomes.append("crashed")
        there = names(log) if list(log.path.glob("part-*")) else []
        assert there in ([*before, "new"], before if outcomes[-1] == "crashed" else [*before, "new"])
        assert log.append(batch("after"), ABOUT).number == len(there) + 1
        assert names(log) == [*there, "after"]
        assert log.check()
    assert "crashed" in outcomes[:6]
    assert outcomes[-1] == "confirmed"


WRITER = """
import sys, itertools
import pyarrow as pa
from uneven.app.models.decision_log import DecisionLog
log, name, rows, about = DecisionLog(sys.argv[1]), sys.argv[2], int(sys.argv[3]), eval(sys.argv[4])
for k in itertools.count():
    batch = f"{name}.{k}"
    table = pa.table({"id": [f"{batch}-{i}" for i in range(rows)], "probability": [i / rows for i in range(rows)]})
    log.append(table, about)
    print(batch, flush=True)
"""


def start(log: Path, name: str) -> Any:
    command = [sys.executable, "-c", WRITER, str(log), name, str(ROWS), repr(ABOUT)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_two_processes_and_kill_9(tmp_path: Path) -> None:
    """Two writers at once, both killed without warning, again and again: what was confirmed is there, once."""
    log, chance, confirmed = DecisionLog(tmp_path / "decisions.parquet"), random.Random(5), []
    for life in range(3):
        writers = [start(log.path, f"{who}{life}") for who in "ab"]
        first = [writer.stdout.readline().strip() for writer in writers]  # both are at work
        time.sleep(chance.uniform(0.02, 0.4))
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
        with ThreadPoolExecutor() as pool:
            said = list(pool.map(lambda writer: writer.communicate()[0].split(), writers))
        confirmed += first + [name for words in said for name in words]
        there = names(log)
        assert len(set(there)) == len(there)
        assert set(confirmed) <= set(there)
        assert len(there) - len(confirmed) <= 2 * (life + 1)  # written, and killed before it was said
        for writer in "ab":
            own = [name for name in there if name.startswith(f"{writer}{life}.")]
            assert own == [f"{writer}{life}.{k}" for k in range(len(own))]
        assert log.check(), str(log.check())
    assert len(confirmed) > 12


def test_another_model_or_other_columns_are_refused(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "decisions")
    log.append(batch(), ABOUT)
    before = sorted(log.path.iterdir())
    for change, sentence in (
        ({"model": "b" * 64}, "has decisions of the model aaaaaaaaaaaa, got the model bbbbbbbbbbbb"),
        ({"id": "loan"}, "its column that names the rows is 'order', got 'loan'"),
        ({"unit": "EUR"}, "its unit of money is None, got 'EUR'"),
    ):
        with pytest.raises(UnevenError, match=sentence):
            log.append(batch(), ABOUT | change)
        with pytest.raises(UnevenError, match=sentence):
            log.require_model(ABOUT | change)
    with pytest.raises(UnevenError, match="has other columns: it lacks reason_1; start a new log"):
        log.append(batch().append_column("reason_1", pa.array(["x"] * ROWS)), ABOUT)
    with pytest.raises(UnevenError, match="has other columns: it has probability; "):
        log.append(batch().drop(["probability"]), ABOUT)
    assert sorted(log.path.iterdir()) == before


def test_names_that_are_no_log(tmp_path: Path) -> None:
    with pytest.raises(UnevenError, match=r"give a name that ends in \.parquet, got '.*decisions\.csv'"):
        DecisionLog(tmp_path / "decisions.csv")
    (tmp_path / "out.parquet").write_bytes(b"PAR1")
    with pytest.raises(UnevenError, match="is a file, and a log is a folder"):
        DecisionLog(tmp_path / "out.parquet")
    with pytest.raises(UnevenError, match="there is no folder"):
        DecisionLog(tmp_path / "nowhere" / "log.parquet")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "january.parquet").write_bytes(b"PAR1")
    with pytest.raises(UnevenError, match=r"is not a log of decisions: it holds 'january\.parquet'"):
        DecisionLog(tmp_path / "data").append(batch(), ABOUT)
    with pytest.raises(UnevenError, match="it has no parts"):
        DecisionLog(tmp_path / "new").read()


def rewritten(part: Path, **changes: Any) -> None:
    """A part that says another probability, or other things about itself, and is a whole Parquet file."""
    table = pq.read_table(part)
    about = json.loads(table.schema.metadata[b"uneven_log"]) | changes
    table = table.set_column(table.schema.get_field_index("probability"), "probability", pa.array([0.5] * ROWS))
    pq.write_table(table.replace_schema_metadata({b"uneven_log": json.dumps(about)}), part)


@pytest.mark.parametrize(
    ("tamper", "sentence"),
    [
        (lambda parts: rewritten(parts[1]), "part-000000003.parquet does not follow"),
        (lambda parts: parts[1].unlink(), "part-000000002.parquet is missing"),
        (lambda parts: parts[0].unlink(), "part-000000001.parquet is missing"),
        (lambda parts: (parts[1].unlink(), parts[2].rename(parts[1])), "part-000000002.parquet does not follow"),
        (lambda parts: parts[3].write_bytes(parts[3].read_bytes()[:-9]), "part-000000004.parquet is damaged"),
        (lambda parts: rewritten(parts[3], model="c" * 64), "part-000000004.parquet is of another model"),
    ],
)
def test_a_changed_log_is_found(tmp_path: Path, tamper: Any, sentence: str) -> None:
    log = DecisionLog(tmp_path / "decisions.parquet")
    for k in range(4):
        last = log.append(batch(str(k)), ABOUT)
    found = log.check()
    assert found
    assert (found.batches, found.rows, found.model, found.last) == (4, 4 * ROWS, ABOUT["model"], last.sha256)
    tamper(sorted(log.path.glob("part-*")))
    assert not log.check()
    assert sentence in str(log.check())


def test_what_a_crash_left_is_removed_after_a_day(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "decisions.parquet")
    log.append(batch(), ABOUT)
    old, fresh = log.path / ".old.tmp", log.path / ".fresh.tmp"
    for path in (old, fresh):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    log.append(batch(), ABOUT)
    assert not old.exists()
    assert fresh.exists()
