"""Time and memory of UnevenEnsembleClassifier: a fit on 200,000 x 40 with texts, and predictions of 1,000,000 rows.

    python benchmarks/ensemble.py            # both, each in a process of its own
    python benchmarks/ensemble.py fit --rows 20000
    python benchmarks/ensemble.py limit --rows 300000 --seconds 60 --latency 5    # is the time kept?

The fit prints wall time, seconds of the processor, the peak of the memory of the whole process (table and libraries
included) and what the model costs on 20,000 other rows. The goal is 5 minutes and 4 GB on two cores. The predictions
are compared with those of the members alone, in turns, in seconds of the processor. "limit" is a fit of a table of 30
numbers with a time limit, or none, and prints what was cut, and the memory of all processes together (on Linux).
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from frames import table

import uneven

TESTED = 20_000
COSTS = {"fp_cost": 1, "fn_cost": 10}


def labelled(rows: int) -> tuple[Any, np.ndarray]:
    """The table, with labels that depend on a number, a category, a date and a text."""
    X, _ = table(rows)
    random = np.random.default_rng(1)
    number = X["number 0"].fillna(0.0)
    long_ago = X["date 0"].dt.year.fillna(2020) < 2018
    vowel = X["text 4"].fillna("").str[0].isin(list("aeiou"))
    score = 1.5 * number / number.std() + 1.0 * (X["category 15"] == "cat 1") + 0.8 * long_ago + 1.2 * vowel - 4.0
    return X, (random.random(rows) < 1 / (1 + np.exp(-score))).to_numpy().astype(int)


def fit(rows: int) -> None:
    X, y = labelled(rows + TESTED)
    before = peak()
    wall, processor = time.perf_counter(), time.process_time()
    model = uneven.UnevenEnsembleClassifier(**COSTS).fit(X.iloc[:rows], y[:rows])
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"fit of {rows:,} x {X.shape[1]}, {y.mean():.1%} positive: {wall:.0f} s, {processor:.0f} s of the processor")
    print(f"memory {peak():.1f} GB at most, {before:.1f} GB of it for table and libraries")
    seconds = time.process_time()
    cost = -model.score(X.iloc[rows:], y[rows:])
    print(f"{TESTED:,} other rows predicted in {time.process_time() - seconds:.1f} s of the processor")
    constant = min(rule.cost for rule in model.constant_costs_.values())
    print(
        f"cost per row {cost:.3f}, out of fold {model.out_of_fold_cost_.cost:.3f}, better constant rule {constant:.3f}"
    )
    for name, weight in model.weights_.items():
        took = f"{model.seconds_[name]:.0f} s for the folds"
        print(f"  {name:12s} weight {weight:.2f}, cost {model.member_costs_[name]:.3f}, {took}")


def limit(rows: int, seconds: float | None, latency: float | None) -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(rows, 30))
    score = X[:, 0] + X[:, 1] * X[:, 2] - 0.5 * X[:, 3] ** 2 - 1.5
    y = (random.random(rows) < 1 / (1 + np.exp(-score))).astype(int)
    most, before, done = 0.0, memory_of_all(), threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.5):
            most = max(most, memory_of_all())

    threading.Thread(target=watch, daemon=True).start()
    wall = time.perf_counter()
    model = uneven.UnevenEnsembleClassifier(**COSTS, time_limit=seconds, max_latency=latency, verbose=True).fit(X, y)
    wall = time.perf_counter() - wall
    done.set()
    of = "no limit" if seconds is None else f"a limit of {seconds:g} s"
    print(f"{rows:,} x 30, {of}: {wall:.1f} s, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"memory of all processes {most:.2f} GB at most, {before:.2f} GB of it before the fit")
    print(model.cut_short_ or "nothing was cut")
    if model.latency_ is not None:
        print(model.latency_.in_words())


def memory_of_all() -> float:
    """Of this process and those that it started; pages that several share are counted once."""
    found, me = 0, str(os.getpid())
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, StopIteration):
            parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
            if me in (folder.name, parent):
                lines = (folder / "smaps_rollup").read_text().splitlines()
                found += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return found / 1e6


def predict(rows: int) -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(rows, 20))
    y = (random.random(rows) < 1 / (1 + np.exp(3 - X[:, 0] - X[:, 1] * X[:, 2]))).astype(int)
    model = uneven.UnevenEnsembleClassifier(**COSTS).fit(X[:20_000], y[:20_000])

    def members() -> None:
        for models in model.members_.values():
            for one in models:
                one.predict_proba(X)

    ways: dict[str, Callable[[], Any]] = {"members": members, "ensemble": lambda: model.predict(X)}
    wall, processor = dict.fromkeys(ways, np.inf), dict.fromkeys(ways, np.inf)
    for _ in range(2):
        for name, way in ways.items():
            started = time.perf_counter(), time.process_time()
            way()
            wall[name] = min(wall[name], time.perf_counter() - started[0])
            processor[name] = min(processor[name], time.process_time() - started[1])
    used = ", ".join(f"{name} {weight:.2f}" for name, weight in model.weights_.items() if weight > 0)
    print(f"predict of {rows:,} x 20 ({used})")
    for name in ways:
        print(f"  {name:8s} {processor[name]:6.1f} s of the processor, {wall[name]:6.1f} s")
    print(f"  ratio of processor seconds {processor['ensemble'] / processor['members']:.2f}")


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("fit", "predict", "limit"))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--latency", type=float)
    chosen = parser.parse_args()
    if chosen.what == "fit":
        fit(chosen.rows or 200_000)
    elif chosen.what == "predict":
        predict(chosen.rows or 1_000_000)
    elif chosen.what == "limit":
        limit(chosen.rows or 300_000, chosen.seconds, chosen.latency)
    else:
        for what in ("fit", "predict"):
            subprocess.run([sys.executable, __file__, what], check=True)


if __name__ == "__main__":
    main()
