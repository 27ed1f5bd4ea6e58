"""Boosted trees: what our objective costs in time, and whether training with costs makes decisions cheaper.

    python benchmarks/trees.py speed [--rows 1000000] [--rounds 20] [--repeats 3] [--threads 2] [--libraries ...]
    pip install empulse                                    # for the study only: empulse is under the AGPL
    python benchmarks/trees.py study [--rows 4000] [--folds 3] [--rounds 80] [--sets churn,bank,pakdd,vub]
    python benchmarks/trees.py ranges                      # from benchmarks/decisions.jsonl, no package needed
    python benchmarks/trees.py goals                       # speed, benchmarks/boosting.py and benchmarks/cascade.py

``speed``: seconds of training with our objective (logistic, gamma = 2) over those with the library's built-in logistic
objective, on the same rows x 30 table, runs interleaved, the fastest of each; also processor seconds.

``study``, in the manner of Vanderschueren, Verdonck, Baesens and Verbeke (2022), "Predict-then-optimize or
predict-and-optimize?": learners x training losses x decision rules on four sets with costs of each row. Their
cost-sensitive boosting started at 0 with the hessian's absolute value; ours starts at the best constant, with a bound
of the curvature. Printed is the cost per row over that of the better constant rule (below 1 is better than no model),
and its difference to training blind and cutting at the row's alpha, with a paired 95 % interval over rows.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import OrdinalEncoder

import uneven
from uneven.costs import RowCosts
from uneven.metrics.mean_interval import Cell, CountedRows, mean_interval

COSTS = ("fp_cost", "fn_cost", "tp_cost", "tn_cost")
REFERENCE = ("blind", "the row's alpha")
RESULTS = Path(__file__).with_name("decisions.jsonl")


def built_in(library: str, rounds: int, threads: int, **more: Any) -> Any:
    """The library's classifier with its own logistic objective."""
    if library == "xgboost":
        import xgboost

        return xgboost.XGBClassifier(n_estimators=rounds, n_jobs=threads, **more)
    if library == "lightgbm":
        import lightgbm

        return lightgbm.LGBMClassifier(n_estimators=rounds, n_jobs=threads, verbosity=-1, **more)
    import catboost

    return catboost.CatBoostClassifier(
        iterations=rounds, thread_count=threads, verbose=False, allow_writing_files=False, **more
    )


def ours(library: str, rounds: int, threads: int, loss: Any = "logistic", **more: Any) -> Any:
    """Our classifier over the same library."""
    if library == "xgboost":
        return uneven.UnevenXGBClassifier(loss, n_estimators=rounds, n_jobs=threads, **more)
    if library == "lightgbm":
        return uneven.UnevenLGBMClassifier(loss, n_estimators=rounds, n_jobs=threads, **more)
    return uneven.UnevenCatBoostClassifier(loss, iterations=rounds, thread_count=threads, **more)


def speed(rows: int, rounds: int, repeats: int, threads: int, libraries: list[str]) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 30)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + random.logistic(size=rows) > 1).astype(int)
    cases: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
        ("XGBoost", "xgboost", {}, {"margin_gamma": 2}),
        ("LightGBM", "lightgbm", {}, {"margin_gamma": 2}),
        ("CatBoost, gamma = 1", "catboost", {}, {"margin_gamma": 1}),
        ("CatBoost, defaults of each", "catboost", {}, {"margin_gamma": 2}),
        ("CatBoost, 1 leaf iteration", "catboost", {"leaf_estimation_iterations": 1}, {"margin_gamma": 2}),
        ("CatBoost, 10 leaf iterations", "catboost", {"leaf_estimation_iterations": 10}, {"margin_gamma": 2}),
    ]
    print(f"{rows:,} x 30, {rounds} rounds, {threads} threads, fastest of {repeats}")
    print("| library | built-in, s | ours, s | ratio | ratio of processor time |\n|---|---|---|---|---|")
    for name, library, both, own in cases:
        if library not in libraries:
            continue
        makers: tuple[Callable[[], Any], ...] = (
            lambda library=library, both=both: built_in(library, rounds, threads, **both),
            lambda library=library, both=both, own=own: ours(library, rounds, threads, **both, **own),
        )
        makers[1]().fit(X[:1000], y[:1000])  # compile before the clock runs
        wall: list[list[float]] = [[], []]
        cpu: list[list[float]] = [[], []]
        for _ in range(repeats):
            for k, make in enumerate(makers):
                started, used = time.perf_counter(), time.process_time()
                make().fit(X, y)
                wall[k].append(time.perf_counter() - started)
                cpu[k].append(time.process_time() - used)
        (theirs, own_time), (their_cpu, own_cpu) = map(min, wall), map(min, cpu)
        print(
            f"| {name} | {theirs:.2f} | {own_time:.2f} | {own_time / theirs:.2f} | {own_cpu / their_cpu:.2f} |",
            flush=True,
        )


def study(sets: list[str], rows: int, folds: int, rounds: int, threads: int) -> None:
    from per_row_costs import load

    print(f"{rows} rows of each set, {folds} folds, {rounds} rounds, learning rate 0.1, depth 4")
    print("| set | learner | training loss | decision | relative cost | difference to the row's alpha (95 %) | s |")
    print("|---|---|---|---|---|---|---|")
    totals: dict[tuple[str, str, str], list[float]] = {}
    for name in sets:
        frame, y, costs = load(name)
        few = np.sort(np.random.default_rng(0).permutation(y.size)[:rows])
        frame, y, costs = frame.iloc[few], y[few], costs.take(few)
        columns = make_column_transformer(
            ("passthrough", make_column_selector(dtype_include=np.number)),
            (
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
                make_column_selector(dtype_exclude=np.number),
            ),
        )
        X = np.asarray(columns.fit_transform(frame), dtype=np.float64)
        everyone = np.ones(y.size, dtype=bool)
        constant = min(float(costs.paid(y == 1, rule).mean()) for rule in (everyone, ~everyone))
        for learner in ("xgboost", "lightgbm", "catboost"):
            paid: dict[tuple[str, str], np.ndarray] = {}
            seconds: dict[tuple[str, str], float] = {}
            for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y):
                for key, said, took in decisions(learner, X, y, costs, train, test, rounds, threads):
                    row = paid.setdefault(key, np.zeros(y.size))
                    row[test] = costs.take(test).paid(y[test] == 1, said) / constant
                    seconds[key] = seconds.get(key, 0.0) + took
            for key, values in paid.items():
                totals.setdefault((learner, *key), []).append(float(values.mean()))
                difference = values - paid[REFERENCE]
                rows = CountedRows.of(difference)
                ends = mean_interval([Cell(rows, rows)])
                print(
                    f"| {name} | {learner} | {key[0]} | {key[1]} | {values.mean():.3f} | {difference.mean():+.3f} "
                    f"({ends.low:+.3f} to {ends.high:+.3f}) | {seconds[key]:.1f} |",
                    flush=True,
                )
    print("\nmean and range over the sets\n| learner | training loss | decision | relative cost |\n|---|---|---|---|")
    for (learner, loss, rule), values in totals.items():
        print(f"| {learner} | {loss} | {rule} | {np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f}) |")


def ranges() -> None:
    """How much more each set costs if a library is weighted by the costs, than if it is blind and cut at alpha."""
    from decisions_table import cost_of

    totals: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    with open(RESULTS, encoding="utf-8") as lines:
        for fold in map(json.loads, lines):
            for kind, results in fold["results"].items():
                costs = f"{kind}, {fold['name']}" if kind == "per row" else kind
                for library in ("XGBoost", "LightGBM", "CatBoost"):
                    both = [f"{library}, {how}" for how in ("cut at alpha", "weighted by costs")]
                    if results.keys() >= set(both):
                        sets = totals.setdefault((costs, library), {})
                        paid = np.array([cost_of(fold, kind, method) for method in both])
                        sets[fold["name"]] = sets.get(fold["name"], np.zeros(2)) + paid
    print("| costs | library | sets | median | range | dearer in |\n|---|---|---|---|---|---|")
    for (costs, library), sets in sorted(totals.items()):
        more = [weighted / blind - 1 for blind, weighted in sets.values() if blind > 0]
        dearer = sum(value > 0 for value in more)
        median, low, high = np.median(more), min(more), max(more)
        print(f"| {costs} | {library} | {len(more)} | {median:+.1%} | {low:+.0%} to {high:+.0%} | {dearer} |")


def decisions(
    learner: str,
    X: np.ndarray,
    y: np.ndarray,
    costs: RowCosts,
    train: np.ndarray,
    test: np.ndarray,
    rounds: int,
    threads: int,
) -> Any:
    """For every training loss and decision rule: its names, its decisions about the test rows, its seconds."""
    own, new = costs.take(train), costs.take(test)
    given = {name: getattr(own, name) for name in COSTS}
    same = {"learning_rate": 0.1, "depth" if learner == "catboost" else "max_depth": 4}
    started = time.perf_counter()
    blind = built_in(learner, rounds, threads, **same)
    known = cross_val_predict(blind, X[train], y[train], cv=3, method="predict_proba")[:, 1]
    tuning = time.perf_counter() - started
    started = time.perf_counter()
    probability = blind.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    took = time.perf_counter() - started
    yield ("blind", "0.5"), probability > 0.5, took
    yield REFERENCE, new.prefers_positive(probability), took
    thresholds = np.quantile(known, np.linspace(0, 1, 201))
    paid = [own.paid(y[train] == 1, known > threshold).sum() for threshold in thresholds]
    yield ("blind", "one tuned threshold"), probability > thresholds[int(np.argmin(paid))], took + tuning
    regrets = own.regrets(y[train] == 1)
    label, weight = np.where(regrets < 0, 1 - y[train], y[train]), np.abs(regrets) / np.abs(regrets).mean()
    started = time.perf_counter()
    weighted = built_in(learner, rounds, threads, **same).fit(X[train], label, sample_weight=weight)
    said = weighted.predict(X[test]) == 1
    yield ("built-in, weighted by regret", "0.5"), said, time.perf_counter() - started
    for loss, gamma in (("logistic", 1), ("logistic", "1/3"), ("logistic", 3), ("sigmoid", 1)):
        started = time.perf_counter()
        model = ours(learner, rounds, threads, loss, margin_gamma=gamma, **same).fit(X[train], y[train], **given)
        said = model.decision_function(X[test]) > 0
        yield (f"uneven {loss}, gamma {gamma}", "0"), said, time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "study", "ranges", "goals"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--libraries", default="xgboost,lightgbm,catboost")
    parser.add_argument("--sets", default="churn,bank,pakdd,vub")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.what in ("speed", "goals"):
        speed(given.rows or 1_000_000, given.rounds or 20, given.repeats, given.threads, given.libraries.split(","))
    if given.what == "ranges":
        ranges()
    if given.what == "goals":
        from boosting import stumps
        from cascade import cascades

        stumps(100_000, 5, with_sklearn=True)
        cascades(["sylva", "digits"], 2)
    if given.what == "study":
        study(given.sets.split(","), given.rows or 4000, given.folds, given.rounds or 80, given.threads)


if __name__ == "__main__":
    main()
