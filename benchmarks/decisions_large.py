"""Study 2: what is cheapest at real sizes? Runs what ``decisions_large_sets.py`` declares, and makes its tables.

    python -m venv study && . study/bin/activate && pip install -e .[all] -r benchmarks/peers_large.txt
    python benchmarks/decisions_large.py run --until 23:30 [--sets adult] [--sizes 1000] [--methods FLAML]   # resumable
    python benchmarks/decisions_large.py try [--sets bank]      # every method once on 1,000 rows of a design set
    python benchmarks/decisions_large.py table

``run`` adds a line to ``decisions_large.jsonl`` for each set, size, repetition, method and kind of costs; what is
there is not run again. Nothing is begun that may not be finished ``--until``. It takes about 12 hours of two cores in
all. Each method runs in a process of its own (``decisions_large_methods.py``), which is ended with all its children
when its time is over or it needs more than 20 GiB."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from decisions_large_data import DESIGN, Data, load, split
from decisions_large_methods import CORES, METHODS, OURS, Method, Task
from decisions_large_sets import MOST_ROWS, PER_ROW, RATIOS, SEEN_SMALL, SIZES, TEST

from uneven.costs import RowCosts

RESULTS = Path(__file__).with_name("decisions_large.jsonl")
#: Our time limit by the number of training rows, in seconds.
LIMITS = {1_000: 60.0, 5_000: 120.0, 25_000: 600.0, 100_000: 1_800.0}
#: A process is ended after so many of our limits, or of its own if that is more, and at so much memory.
PATIENCE, MOST_BYTES = 3.0, 20 * 2**30
#: The least wall time of a method with a limit.
LEAST_SECONDS = 30.0
#: Relative costs below this count as this: a few rows decide there.
LEAST_RATIO = 0.01
SINGLE = ("CatBoost, tuned", "LightGBM, tuned", "XGBoost, tuned", "EBM", "random forest", "logistic regression")
BEST = "AutoGluon best, equal time"


@dataclass(frozen=True)
class Unit:
    """A set with a number of training rows and a repetition."""

    name: str
    size: int
    repetition: int

    @property
    def key(self) -> tuple[str, int, int]:
        return self.name, self.size, self.repetition


def units(names: list[str], sizes: list[int]) -> Iterator[Unit]:
    """In the order in which they run: small sizes and first repetitions of all sets first."""
    for repetition in (0, 1):
        for size in sizes:
            for name in names:
                if (repetition == 0 or size <= 5_000) and size <= MOST_ROWS.get(name, 0):
                    yield Unit(name, size, repetition)


def names_of_costs(name: str) -> list[str]:
    """The kinds of costs of a set."""
    return [*(f"{ratio:g}:1" for ratio in RATIOS), "class ratio", *(["per row"] if name in PER_ROW else [])]


def kinds_of_costs(data: Data, train: np.ndarray) -> dict[str, RowCosts]:
    """Costs of all rows by their names."""
    ratios = {f"{ratio:g}:1": ratio for ratio in RATIOS}
    ratios["class ratio"] = float((data.y[train] == 0).sum() / (data.y[train] == 1).sum())
    costs = {kind: RowCosts.read(data.y.size, fp_cost=1.0, fn_cost=ratio) for kind, ratio in ratios.items()}
    return costs if data.costs is None else {**costs, "per row": data.costs}


def tasks_of(method: str, kinds: list[str], how: Method) -> list[list[str]]:
    """Kinds of costs that are run together."""
    able = [kind for kind in kinds if (not how.kinds or kind in how.kinds) and (how.per_row or kind != "per row")]
    return [[kind] for kind in able] if how.per_costs else [able]


# -- running ----------------------------------------------------------------------------------------------------------


def run(path: Path, wanted: list[Unit], methods: list[str], until: datetime) -> None:
    """Fit what is not in the file yet, and may be finished in time."""
    lines = read(path)
    known = {(*key(line), line["method"], line["kind"]) for line in lines}
    seconds = {key(line): line["wall"] for line in lines if line["method"] == OURS and line["status"] == "done"}
    for unit in wanted:
        limit = LIMITS[unit.size]
        data: Data | None = None
        for method in methods:
            how = METHODS[method]
            equal = max(LEAST_SECONDS, seconds.get(unit.key, limit))
            own = limit if not how.share else how.share * equal
            for together in tasks_of(method, names_of_costs(unit.name), how):
                left = [kind for kind in together if (*unit.key, method, kind) not in known]
                if not left:
                    continue
                patience = max(PATIENCE * limit, 2 * own)
                if datetime.now() + timedelta(seconds=patience) > until:
                    continue
                if data is None:
                    data = load(unit.name)
                    train, test = split(data, unit.size, unit.repetition)
                    kinds = kinds_of_costs(data, train)
                costs, new = ({kind: kinds[kind].take(rows) for kind in together} for rows in (train, test))
                X, later = (data.X.iloc[rows].reset_index(drop=True) for rows in (train, test))
                task = Task(method, X, data.y[train], later, costs, new, own, unit.repetition)
                found = run_apart(task, patience)
                if method == OURS and found.status == "done":
                    seconds[unit.key] = found.wall
                for kind in left:
                    said = None if found.said is None else found.said[kind]
                    line = told(unit, method, kind, new[kind], data.y[test] == 1, said, found)
                    with path.open("a") as file:
                        file.write(json.dumps(line) + "\n")
                sys.stderr.write(f"{unit.key} {method} {' '.join(left)}: {found.status}, {found.wall:.0f} s\n")


def key(line: dict[str, Any]) -> tuple[str, int, int]:
    """The unit of a line."""
    return line["set"], line["size"], line["repetition"]


def told(
    unit: Unit, method: str, kind: str, costs: RowCosts, truth: np.ndarray, said: np.ndarray | None, found: Found
) -> dict[str, Any]:
    """A line of the results; costs are sums over the test rows."""
    rules = {"all positive": np.ones(truth.size, bool), "all negative": np.zeros(truth.size, bool)}
    paid = {name: float(costs.paid(truth, rule).sum()) for name, rule in rules.items()}
    line = {
        "set": unit.name,
        "size": unit.size,
        "repetition": unit.repetition,
        "method": method,
        "kind": kind,
        "status": found.status,
        "rows": truth.size,
        "positives": int(truth.sum()),
        "all positive": round(paid["all positive"], 4),
        "all negative": round(paid["all negative"], 4),
        "wall": round(found.wall, 1),
        "processor": round(found.processor, 1),
        "megabytes": round(found.most_bytes / 2**20),
    }
    if said is None:
        return line
    alarms, misses = int((said & ~truth).sum()), int((~said & truth).sum())
    return {**line, "alarms": alarms, "misses": misses, "cost": round(float(costs.paid(truth, said).sum()), 4)}


@dataclass
class Found:
    """Decisions by kind of costs (None: there are none), why it ended, wall time of the fit, processor time, memory."""

    said: dict[str, np.ndarray] | None
    status: str
    wall: float
    processor: float
    most_bytes: int


def run_apart(task: Task, patience: float) -> Found:
    """Run a task in a process of its own, and end it with all its children when it takes too long or too much."""
    program = Path(__file__).with_name("decisions_large_methods.py")
    with tempfile.TemporaryDirectory() as folder:
        given, answers = Path(folder, "task.pickle"), Path(folder, "answers.pickle")
        given.write_bytes(pickle.dumps(task))
        environment = {**os.environ, "OMP_NUM_THREADS": str(CORES), "TMPDIR": folder}
        started = time.monotonic()
        with Path(folder, "told").open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, str(program), str(given), str(answers)],
                env=environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        processor, most_bytes, status = 0.0, 0, "done"
        try:
            while process.poll() is None:
                time.sleep(0.5)
                used, memory = _usage(process.pid)
                processor, most_bytes = max(processor, used), max(most_bytes, memory)
                if time.monotonic() - started > patience:
                    status = f"ended after {patience:.0f} s"
                elif memory > MOST_BYTES:
                    status = "ended: more than 20 GiB"
                if status != "done":
                    break
        finally:
            _end(process)
        wall = time.monotonic() - started
        if status != "done" or not answers.exists():
            return Found(None, status if status != "done" else "the process died", wall, processor, most_bytes)
        said, wall = pickle.loads(answers.read_bytes())
        if isinstance(said, str):
            return Found(None, said, wall, processor, most_bytes)
        return Found(said, "done", wall, processor, most_bytes)


def _usage(number: int) -> tuple[float, int]:
    """Processor seconds and bytes in use, of a process and all its children."""
    seconds, memory = 0.0, 0
    try:
        family = [psutil.Process(number)]
        family += family[0].children(recursive=True)
    except psutil.NoSuchProcess:
        return seconds, memory
    for one in family:
        try:
            times = one.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
            memory += one.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return seconds, memory


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its session; H2O's server and AutoGluon's workers are in it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def try_methods(names: list[str], methods: list[str]) -> None:
    """Each method once on 1,000 rows of a design set: does it run?"""
    if any(name in TEST for name in names):
        raise SystemExit("try is for design sets; test sets are for run")
    for name in names:
        data = load(name)
        train, test = split(data, 1_000, 0)
        kinds = kinds_of_costs(data, train)
        for method in methods:
            how = METHODS[method]
            together = next(kinds for kinds in tasks_of(method, list(kinds), how) if "20:1" in kinds)
            costs, new = ({kind: kinds[kind].take(rows) for kind in together} for rows in (train, test))
            X, later = (data.X.iloc[rows].reset_index(drop=True) for rows in (train, test))
            found = run_apart(Task(method, X, data.y[train], later, costs, new, LEAST_SECONDS, 0), 20 * LEAST_SECONDS)
            text = found.status
            if found.said is not None:
                truth = data.y[test] == 1
                line = told(Unit(name, 1_000, 0), method, "20:1", new["20:1"], truth, found.said["20:1"], found)
                text = f"relative cost {relative(line):.3f} at 20:1"
            print(
                f"{name}, {method}: {text}; {found.wall:.0f} s, {found.processor:.0f} s of processors, "
                f"{found.most_bytes / 2**20:.0f} MB",
                flush=True,
            )


# -- tables -----------------------------------------------------------------------------------------------------------


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of the results."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def relative(line: dict[str, Any]) -> float:
    """Cost over that of the better constant rule, which a method that failed is counted as; .01 at least."""
    constant = min(line["all positive"], line["all negative"])
    return max(LEAST_RATIO, line["cost"] / constant) if "cost" in line and constant > 0 else 1.0


def by_set(lines: list[dict[str, Any]], method: str, size: int, kinds: set[str] | None = None) -> dict[str, float]:
    """Mean log relative cost of each set, over kinds of costs and repetitions."""
    found: dict[str, list[float]] = {}
    for line in lines:
        if line["method"] == method and line["size"] == size and (kinds is None or line["kind"] in kinds):
            found.setdefault(line["set"], []).append(float(np.log(relative(line))))
    return {name: float(np.mean(values)) for name, values in found.items()}


def holm(p_values: list[float]) -> list[float]:
    """Adjusted p values of a family of tests.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order, least = np.argsort(p_values), 0.0
    adjusted = [0.0] * len(p_values)
    for rank, number in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[number]))
        adjusted[number] = round(least, 12)
    return adjusted


def compare(ours: dict[str, float], theirs: dict[str, float]) -> tuple[np.ndarray, float, float, float, float]:
    """Log ratios of sets that both have, the geometric mean of the ratios, its 95 % interval, and Wilcoxon's p."""
    from scipy.stats import wilcoxon

    ratios = np.array([ours[name] - theirs[name] for name in ours if name in theirs])
    random = np.random.default_rng(0)
    means = ratios[random.integers(ratios.size, size=(10_000, ratios.size))].mean(axis=1)
    low, high = np.exp(np.quantile(means, [0.025, 0.975]))
    p = float(wilcoxon(ratios).pvalue) if np.any(ratios != 0) else 1.0
    return ratios, float(np.exp(ratios.mean())), float(low), float(high), p


def table(lines: list[dict[str, Any]]) -> str:
    """The primary comparisons, then every method at every size."""
    rows, p_values = [], []
    sizes = [size for size in SIZES if any(line["size"] == size for line in lines)]
    for without in ((), SEEN_SMALL):
        some = [line for line in lines if line["set"] not in without]
        for size in sizes:
            ours = by_set(some, OURS, size)
            single = min(SINGLE, key=lambda name: np.mean([*by_set(some, name, size).values()] or [np.inf]))
            for peer in (BEST, single):
                theirs = by_set(some, peer, size)
                if not set(ours) & set(theirs):
                    continue
                ratios, mean, low, high, p = compare(ours, theirs)
                counts = f"{int((ratios < 0).sum())} / {int((ratios > 0).sum())}"
                rows.append([f"{size:,}", peer, f"{mean:.3f}", f"{low:.3f} to {high:.3f}", counts, p, bool(without)])
                if not without:
                    p_values.append(p)
    adjusted = iter(holm(p_values))
    text = [
        "| rows | ours against | ratio of costs | 95 % interval | sets cheaper / dearer | p, Holm |",
        "|---" * 6 + "|",
    ]
    for *cells, p, is_part in rows:
        last = f"{p:.3g}, without sets seen small, not adjusted" if is_part else f"{next(adjusted):.3g}"
        text.append(f"| {' | '.join([*cells, last])} |")
    text += ["", f"| method | {' | '.join(f'{size:,} rows' for size in sizes)} |", "|---" * (1 + len(sizes)) + "|"]
    for method in METHODS:
        cells = []
        for size in sizes:
            values = [*by_set(lines, method, size).values()]
            cells.append(f"{np.exp(np.mean(values)):.3f} ({len(values)})" if values else "")
        text.append(f"| {method} | {' | '.join(cells)} |")
    text += ["", *(f"- {one}" for one in dearer_than_constant(lines))]
    return "\n".join(text)


def dearer_than_constant(lines: list[dict[str, Any]]) -> list[str]:
    """Sets on which our ensemble is more than 1 % dearer than the better constant rule, all costs together."""
    found = []
    for name in TEST:
        logs = [np.log(relative(line)) for line in lines if line["set"] == name and line["method"] == OURS]
        if logs and np.exp(np.mean(logs)) > 1.01:
            found.append(f"{name}: {np.exp(np.mean(logs)):.3f} of the better constant rule")
    return found or ["On no set is ours more than 1 % dearer than the better constant rule."]


def until_time(text: str) -> datetime:
    """Today at HH:MM, or tomorrow if that is over."""
    hours, minutes = map(int, text.split(":"))
    then = datetime.now().replace(hour=hours, minute=minutes, second=0, microsecond=0)
    return then if then > datetime.now() else then + timedelta(days=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "try", "table"))
    parser.add_argument("--until", help="HH:MM, local time; by default nothing ends it")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--sets")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--methods", help="separated by semicolons")
    arguments = parser.parse_args()
    names = arguments.sets.split(",") if arguments.sets else ["bank"] if arguments.what == "try" else list(TEST)
    if unknown := [name for name in names if name not in {*DESIGN, *TEST}]:
        parser.error(f"unknown sets {', '.join(unknown)}; there are {', '.join([*DESIGN, *TEST])}")
    methods = arguments.methods.split(";") if arguments.methods else list(METHODS)
    if unknown := [name for name in methods if name not in METHODS]:
        parser.error(f"unknown methods {'; '.join(unknown)}; there are {'; '.join(METHODS)}")
    if arguments.what == "table":
        print(table(read(arguments.results)))
    elif arguments.what == "try":
        try_methods(names, methods)
    else:
        until = until_time(arguments.until) if arguments.until else datetime.max - timedelta(days=1)
        sizes = [int(size) for size in arguments.sizes.split(",")]
        run(arguments.results, list(units(names, sizes)), methods, until)


if __name__ == "__main__":
    main()
