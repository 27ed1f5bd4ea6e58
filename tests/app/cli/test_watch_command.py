"""``uneven watch``: a folder that grows, labels that come late, files that are broken, and kill -9 at any time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from uneven.app.cli.main import main
from uneven.app.models.model_files import read_model
from uneven.metrics import expected_cost
from uneven.monitor import CostMonitor

pytestmark = pytest.mark.slow


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def rows(count: int, share: float, start: int) -> pd.DataFrame:
    random = np.random.default_rng(start)
    y = random.random(count) < share
    return pd.DataFrame(
        {
            "id": [f"c{start + k}" for k in range(count)],
            "amount": np.exp(random.normal(4 + 0.9 * y)).round(2),
            "country": np.where(random.random(count) < 0.5 + 0.2 * y, "US", random.choice(["AT", "FR"], count)),
            "fraud": np.where(y, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with its reference, made once."""
    place = tmp_path_factory.mktemp("watch")
    rows(1500, 0.1, 0).to_csv(place / "train.csv", index=False)
    rows(1500, 0.1, 5000).to_csv(place / "reference.csv", index=False)
    asked = ["--target", "fraud", "--positive", "yes", "--fp-cost", 5, "--fn-cost", 60, "--unit", "EUR", "--id", "id"]
    result = run("fit", place / "train.csv", *asked, "--quick", "--learner", "linear", "-o", place / "model.skops")
    assert result.exit_code == 0, result.output
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "decisions"
    found.mkdir()
    return found


def watch(place: Path, folder: Path, *more: object) -> Result:
    page = folder.parent / "report.html"
    return run("watch", place / "model.skops", folder, "--reference", place / "reference.csv", "-o", page, *more)


def state(folder: Path) -> dict[str, Any]:
    return json.loads((folder.parent / "report.html.json").read_bytes())


def monitor_of(place: Path, folder: Path) -> CostMonitor:
    return CostMonitor.from_dict(state(folder)["monitor"], read_model(str(place / "model.skops"))["pipeline"])


def test_a_folder_that_grows_is_counted_once(place: Path, folder: Path) -> None:
    march, april = rows(400, 0.1, 10_000), rows(300, 0.1, 20_000)
    march.drop(columns="fraud").to_csv(folder / "2026-03.csv", index=False)
    first = watch(place, folder)
    assert first.exit_code == 0, first.output
    assert "2026-03.csv: 400 new rows." in first.output
    assert "Nothing is new." in watch(place, folder).output
    march.to_csv(folder / "2026-03.csv", index=False)  # the same rows, now with labels
    april.drop(columns="fraud").to_parquet(folder / "2026-04.parquet")
    assert "2026-03.csv: 400 late labels." in watch(place, folder).output
    april[["id", "fraud"]].sample(frac=1, random_state=0).to_csv(folder / "labels.csv", index=False)
    again = watch(place, folder)
    assert "labels.csv: 300 late labels." in again.output
    monitor = monitor_of(place, folder)
    assert [(one.name, one.rows, one.labelled) for one in monitor.batches] == [
        ("2026-03", 400, 400),
        ("2026-04", 300, 300),
    ]
    predicted = folder.parent / "out.csv"
    march.to_csv(folder.parent / "march.csv", index=False)
    run("predict", place / "model.skops", folder.parent / "march.csv", "-o", predicted)
    said = pd.read_csv(predicted)["prediction"]
    assert monitor.batches[0].realised is not None
    paid = expected_cost(march["fraud"], said, fp_cost=5, fn_cost=60, pos_label="yes")
    assert monitor.batches[0].realised.cost == pytest.approx(paid)
    page = (folder.parent / "report.html").read_text()
    assert "The money over time" in page
    assert "EUR" in page


def test_rows_are_added_at_the_end_of_a_file_and_nowhere_else(place: Path, folder: Path) -> None:
    both = rows(500, 0.1, 30_000)
    both[:200].to_csv(folder / "all.csv", index=False)
    watch(place, folder)
    both.to_csv(folder / "all.csv", index=False)
    assert "all.csv: 300 new rows." in watch(place, folder).output
    assert [one.rows for one in monitor_of(place, folder).batches] == [200, 300]
    before = state(folder)
    both[1:].to_csv(folder / "all.csv", index=False)
    refused = watch(place, folder)
    assert refused.exit_code == 2
    assert "no longer its first rows" in refused.output
    assert state(folder) == before


def test_batches_by_month_and_predictions_without_rows(place: Path, folder: Path) -> None:
    table = rows(600, 0.1, 40_000).assign(on=pd.date_range("2026-01-01", periods=600, freq="3h").astype(str))
    table.to_csv(folder / "all.csv", index=False)
    assert watch(place, folder, "--per", "on:month").exit_code == 0
    by_month = monitor_of(place, folder).batches
    assert [one.name for one in by_month] == ["2026-01", "2026-02", "2026-03"]
    (folder.parent / "report.html.json").unlink()
    run("predict", place / "model.skops", folder / "all.csv", "-o", folder.parent / "said.parquet")
    pd.read_parquet(folder.parent / "said.parquet").assign(fraud=table["fraud"]).to_parquet(folder / "all.parquet")
    (folder / "all.csv").unlink()
    assert watch(place, folder).exit_code == 0
    (logged,) = monitor_of(place, folder).batches
    assert logged.flagged == sum(one.flagged for one in by_month)
    assert logged.realised is not None
    assert logged.realised.cost == pytest.approx(
        sum(one.rows * one.realised.cost for one in by_month if one.realised) / 600
    )


def test_a_log_is_read_by_batch_with_labels_beside_it(place: Path, folder: Path) -> None:
    log = folder / "log.parquet"
    for k in range(2):
        rows(200, 0.1, 50_000 + 1000 * k).drop(columns="fraud").to_csv(folder.parent / "new.csv", index=False)
        log = folder / "log.parquet"
        made = run(
            "predict", place / "model.skops", folder.parent / "new.csv", "--log", log, "-o", folder.parent / "o.csv"
        )
        assert made.exit_code == 0, made.output
        assert "log.parquet: 200 new rows." in watch(place, folder).output
    rows(200, 0.1, 50_000)[["id", "fraud"]].to_csv(folder.parent / "late.csv", index=False)
    found = run(
        *("watch", place / "model.skops", log, "--reference", place / "reference.csv"),
        *("--labels", folder.parent / "late.csv", "-o", folder.parent / "report.html"),
    )
    assert found.exit_code == 0, found.output
    assert [one.labelled for one in monitor_of(place, folder).batches] == [200, 0]


def test_a_shift_is_told_with_what_to_do(place: Path, folder: Path) -> None:
    for k, share in enumerate((0.1, 0.1, 0.4)):
        rows(900, share, 60_000 + 1000 * k).drop(columns="fraud").to_csv(folder / f"{k}.csv", index=False)
    found = watch(place, folder)
    assert found.exit_code == 0
    assert "ALARM (prevalence, after 2)" in found.output
    page = folder.parent / "report.html"
    assert "Label rows of 2 before you trust its estimate" in page.read_text()
    rows(900, 0.4, 62_000)[["id", "fraud"]].to_csv(folder.parent / "labels.csv", index=False)
    assert watch(place, folder, "--labels", folder.parent / "labels.csv").exit_code == 0
    assert "with_costs(prevalence=" in page.read_text()


def test_broken_files_change_nothing_and_are_named(place: Path, folder: Path) -> None:
    rows(200, 0.1, 70_000).to_csv(folder / "b.csv", index=False)
    rows(200, 0.1, 71_000).to_parquet(folder / "c.parquet")
    good = (folder / "c.parquet").read_bytes()
    (folder / "a.csv").write_bytes(b"")
    (folder / "c.parquet").write_bytes(good[:-300])
    rows(200, 0.1, 72_000).drop(columns="amount").to_csv(folder / "d.csv", index=False)
    rows(50, 0.1, 73_000).assign(fraud="perhaps").to_csv(folder / "e.csv", index=False)
    (folder / "notes.md").write_text("nothing")
    found = watch(place, folder)
    assert found.exit_code == 2
    for name in ("a.csv", "c.parquet", "d.csv", "e.csv"):
        assert name in found.output.splitlines()[-1]
    assert [one.name for one in monitor_of(place, folder).batches] == ["b"]
    assert "Not read, and not counted" in (folder.parent / "report.html").read_text()
    for name in ("a.csv", "d.csv", "e.csv"):
        (folder / name).unlink()
    (folder / "c.parquet").write_bytes(good)
    assert watch(place, folder).exit_code == 0
    assert [one.name for one in monitor_of(place, folder).batches] == ["b", "c"]


def test_a_broken_state_is_refused_and_stays(place: Path, folder: Path) -> None:
    rows(100, 0.1, 80_000).to_csv(folder / "b.csv", index=False)
    watch(place, folder)
    kept = folder.parent / "report.html.json"
    good = kept.read_bytes()
    for bad in (good[:500], b"{}", b"", good.replace(b'"model": "', b'"model": "0', 1)):
        kept.write_bytes(bad)
        found = watch(place, folder)
        assert found.exit_code == 2
        assert kept.read_bytes() == bad
    assert run("watch", place / "model.skops", folder / "none", "-o", folder.parent / "p.html").exit_code == 2
    assert run("watch", place / "model.skops", folder, "-o", folder).exit_code == 2
    without = run("watch", place / "model.skops", folder, "-o", folder.parent / "p.html")
    assert without.exit_code == 2
    assert "--reference" in without.output


#: Starts the command again and again in a child of its own, and kills it at a random time: one import for all.
_KILLING = """
import os, random, signal, sys, time
from uneven.app.cli.main import main
arguments, kept, taken = sys.argv[3:], sys.argv[1], float(sys.argv[2])
killed, random = 0, random.Random(0)
for _ in range(12):
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        main(arguments, standalone_mode=False)
        os._exit(0)
    time.sleep(taken * random.uniform(0.05, 0.9))
    os.kill(child, signal.SIGKILL)
    killed += os.waitpid(child, 0)[1] == signal.SIGKILL
    if os.path.exists(kept):
        import json
        json.loads(open(kept, "rb").read())  # whole at any time
print(killed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")
def test_killed_at_any_time_nothing_is_lost_or_counted_twice(place: Path, folder: Path) -> None:
    for k in range(6):
        table = rows(150, 0.1, 90_000 + 1000 * k)
        (table if k % 2 else table.drop(columns="fraud")).to_csv(folder / f"{k}.csv", index=False)
    kept = folder.parent / "report.html.json"
    watch(place, folder)
    kept.unlink()
    start = time.monotonic()
    assert watch(place, folder).exit_code == 0
    taken = time.monotonic() - start
    whole = kept.read_bytes()
    kept.unlink()
    page = folder.parent / "report.html"
    arguments = ["watch", place / "model.skops", folder, "--reference", place / "reference.csv", "-o", page]
    command = [sys.executable, "-c", _KILLING, kept, taken, *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, env=environment)
    assert int(found.stdout) >= 6
    assert watch(place, folder).exit_code == 0
    assert kept.read_bytes() == whole
    assert [one.name for one in monitor_of(place, folder).batches] == [str(k) for k in range(6)]
