"""The first decision on the example table: what a user must type and wait for, and what the decisions cost.

    pip install ".[data]"                                              # uneven and scikit-learn
    python -m venv ag && ag/bin/pip install "autogluon.tabular[lightgbm,catboost]"   # an environment of its own
    PYTHONPATH=src python benchmarks/first_decision.py --autogluon ag/bin/python

Each program finds the same two files: `train.csv` (with `subscribed`) and `new.csv` (without), three quarters and one
quarter of `uneven.load_example()`. Both have the column `miss`: what it costs not to call a client who would subscribe.
A call costs 1. Keystrokes are characters without leading blanks. Seconds are those of the whole program, with its
imports: of the clock, and of the processor, which depend less on what else the machine does. One program decides by
hand what the scorer of scikit-learn or AutoGluon cannot: a threshold for each client.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import uneven

UNEVEN = """
import pandas as pd, uneven
table, new = pd.read_csv("train.csv"), pd.read_csv("new.csv")
y, miss, new_miss = table.pop("subscribed"), table.pop("miss"), new.pop("miss")
model = uneven.UnevenEnsembleClassifier(members=["linear", "extra_trees"])
model.fit(table, y, fp_cost=1, fn_cost=miss, tp_cost=1)
called = model.predict(new, fp_cost=1, fn_cost=new_miss, tp_cost=1)
"""

SKLEARN = """
import pandas as pd, sklearn
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV
table, new = pd.read_csv("train.csv"), pd.read_csv("new.csv").drop(columns="miss")
y, miss = table.pop("subscribed"), table.pop("miss")
words = list(table.select_dtypes(exclude="number"))
table, new = (t.astype({w: "category" for w in words}) for t in (table, new))
def gain(y, said, miss):
    return -(said + miss * (y & ~said)).sum()
sklearn.set_config(enable_metadata_routing=True)
scorer = make_scorer(gain).set_score_request(miss=True)
model = TunedThresholdClassifierCV(HistGradientBoostingClassifier(), scoring=scorer).fit(table, y, miss=miss)
called = model.predict(new)
"""

BY_HAND = """
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
table, new = pd.read_csv("train.csv"), pd.read_csv("new.csv")
y, miss, new_miss = table.pop("subscribed"), table.pop("miss"), new.pop("miss")
words = list(table.select_dtypes(exclude="number"))
table, new = (t.astype({w: "category" for w in words}) for t in (table, new))
model = HistGradientBoostingClassifier().fit(table, y)
called = model.predict_proba(new)[:, 1] * new_miss > 1
"""

AUTOGLUON = """
import pandas as pd
from autogluon.core.metrics import make_scorer
from autogluon.tabular import TabularPredictor
table, new = pd.read_csv("train.csv"), pd.read_csv("new.csv").drop(columns="miss")
ratio = table.pop("miss")[table["subscribed"]].mean()
def gain(y, said):
    return -(said + ratio * (y > said)).mean()
metric = make_scorer("gain", gain, optimum=0, needs_class=True)
model = TabularPredictor("subscribed").fit(table, time_limit=60)
model.set_decision_threshold(model.calibrate_decision_threshold(metric=metric))
called = model.predict(new)
"""

PROGRAMS = {
    "uneven": (UNEVEN, "here"),
    "scikit-learn, TunedThresholdClassifierCV": (SKLEARN, "here"),
    "scikit-learn, each client's threshold by hand": (BY_HAND, "here"),
    "AutoGluon, its threshold calibrated": (AUTOGLUON, "autogluon"),
}
#: Added to each program, not counted: the decisions go into a file.
_END = '\nimport numpy as np\nnp.save("called.npy", np.asarray(called).astype(bool))\n'


def write_tables(folder: Path) -> None:
    """The two files that every program reads."""
    for rows, name in (("train", "train.csv"), ("test", "new.csv")):
        X, y, costs = uneven.load_example(rows)
        table = X.assign(miss=costs["fn_cost"])
        (table.assign(subscribed=y) if rows == "train" else table).to_csv(folder / name, index=False)


def held_out_cost(called: np.ndarray) -> float:
    """Euros per 1,000 clients that no program has learnt from."""
    _, y, costs = uneven.load_example("test")
    return 1000 * float(np.mean(np.where(called, costs["fp_cost"], np.where(y, costs["fn_cost"], 0.0))))


def run(program: str, python: str) -> tuple[float, float, float] | str:
    """Seconds of the clock, of the processor, and the cost; or the last line of the error."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder)
        (folder / "program.py").write_text(program + _END, encoding="utf-8")
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([python, "program.py"], cwd=folder, capture_output=True, text=True, check=False)
        clock, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["no message"])[-1]
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return clock, processor, held_out_cost(np.load(folder / "called.npy"))


def main() -> None:
    """Run all programs, one after the other, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--autogluon", help="the Python of an environment with AutoGluon")
    pythons = {"here": sys.executable, "autogluon": parser.parse_args().autogluon}
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| program | lines | keystrokes | seconds | of the processor | EUR per 1,000 new clients |")
    print("|---|---|---|---|---|---|")
    for name, (program, where) in PROGRAMS.items():
        lines = [line.strip() for line in program.strip().splitlines()]
        python = pythons[where]
        found = run(program, python) if python else "n/a"
        numbers = found if isinstance(found, str) else "{:.0f} | {:.0f} | {:.0f}".format(*found)
        print(f"| {name} | {len(lines)} | {sum(map(len, lines))} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
