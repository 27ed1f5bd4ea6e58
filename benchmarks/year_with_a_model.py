"""A year with a model on real rows that drift: taxi trips of New York, month by month.

python benchmarks/year_with_a_model.py downloads the source package of great_expectations 1.9.3 (36 MB), whose tests
hold 10,000 trips of each month of 2018 to 2020, and takes trips paid by card. Who will give no tip? A reminder
costs 1, a missed one 15. The model learns from January to October 2018; November and December are the reference. Labels
come two months late.

Walks: 2019 as it was; 2019 with three times as many positives from July on, uncorrected and corrected; 2020, when the
city stood still; the same shift in months that were shuffled, so that nothing else changes; and 100 shuffled years in
which nothing changes at all, to count false alarms.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import uneven
from uneven.metrics import expected_cost
from uneven.monitor import CostMonitor

PACKAGE = "great_expectations==1.9.3"
FOLDER = "taxi_yellow_tripdata_samples/yellow_tripdata_sample_"
COSTS = {"fp_cost": 1, "fn_cost": 15}
DELAY, SHIFT_FROM, TIMES = 2, "2019-07", 3
Months = dict[str, tuple[pd.DataFrame, np.ndarray]]


def download() -> dict[str, pd.DataFrame]:
    """The trips of each month."""
    with tempfile.TemporaryDirectory() as place:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "great_expectations"]
        subprocess.run([*pip, PACKAGE, "-d", place], check=True)
        found = {}
        with tarfile.open(next(Path(place).glob("*.tar.gz"))) as archive:
            for member in archive:
                if FOLDER in member.name and (file := archive.extractfile(member)) is not None:
                    found[member.name[-11:-4]] = pd.read_csv(io.BytesIO(file.read()), low_memory=False)
    return dict(sorted(found.items()))


def rows(trips: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """What is known when the taxi stops, and whether there was no tip."""
    trips = trips[trips["payment_type"] == 1].reset_index(drop=True)
    start, end = (pd.to_datetime(trips[name]) for name in ("pickup_datetime", "dropoff_datetime"))
    X = pd.DataFrame(
        {
            "hour": start.dt.hour,
            "weekday": start.dt.day_of_week,
            "minutes": (end - start).dt.total_seconds() / 60,
            **{name: trips[name].astype(float) for name in ("passenger_count", "trip_distance", "fare_amount")},
            **{name: trips[name].astype(float) for name in ("tolls_amount", "rate_code_id", "vendor_id")},
            **{name: trips[name].astype(float) for name in ("pickup_location_id", "dropoff_location_id")},
        }
    )
    return X, (trips["tip_amount"] == 0).to_numpy().astype(int)


def with_more_positives(months: Months) -> Months:
    """From some month on three times as many: a label shift, by drawing rows of each class anew."""
    random, found = np.random.default_rng(0), {}
    for name, (X, y) in months.items():
        at = np.arange(y.size)
        if name >= SHIFT_FROM:
            share = min(TIMES * y.mean(), 0.9)
            weight = np.where(y == 1, share / y.mean(), (1 - share) / (1 - y.mean()))
            at = random.choice(at, y.size, p=weight / weight.sum())
        found[name] = X.iloc[at].reset_index(drop=True), y[at]
    return found


def walk(model: Any, reference: Any, months: Months, *, correct: bool = False) -> CostMonitor:
    """A year of decisions, with labels two months late; each line is what was known then, and what was true."""
    monitor, names, corrected = CostMonitor(model, reference), list(months), False
    found = monitor.expected_cost
    print(f"  promised at most {1000 * monitor.promise:.0f} per 1,000; the reference cost {1000 * found.cost:.0f}")
    for k, name in enumerate(names):
        X, y = months[name]
        made = monitor.update(X, batch=name)
        paid = expected_cost(y, monitor.model.predict(X), **COSTS)
        plain = expected_cost(y, model.predict(X), **COSTS)
        best = expected_cost(y, model.with_costs(prevalence=float(y.mean())).predict(X), **COSTS)
        if k >= DELAY:
            monitor.add_labels(months[names[k - DELAY]][1], batch=names[k - DELAY])
        told = (made.prevalence, made.by_decisions)
        shares = ", ".join(f"{100 * one.value:.1f} ({100 * one.low:.1f} to {100 * one.high:.1f})" for one in told)
        drift = ", ".join(f"{one.column} {1000 * one.money:+.0f}" for one in made.drift[:2])
        print(
            f"  {name}: cost expected {1000 * made.estimate.value:4.0f} ({1000 * made.estimate.low:.0f} to "
            f"{1000 * made.estimate.high:.0f}), true {1000 * paid:4.0f}, uncorrected {1000 * plain:4.0f}, with the "
            f"true share {1000 * best:4.0f}; positives {shares} %, true {100 * y.mean():.1f} %; drift {drift or 'none'}"
            f"{'; does not fit' if made.notes else ''}"
        )
        for alarm in monitor.alarms:
            if alarm.batch == name or (k >= DELAY and alarm.batch == names[k - DELAY]):
                print(f"    ALARM in {name}: {alarm.kind}, about {alarm.batch}")
        if correct and not corrected and monitor.alarms:
            corrected = True
            seen = monitor.batches[max(k - DELAY, 0)]  # the last one with labels, if scores of this one do not fit
            share = seen.positives / max(seen.labelled, 1) if made.notes else None
            print(f"    corrected to {monitor.correct(share).prevalence_:.3f} by {'labels' if made.notes else 'EM'}")
    return monitor


def shuffled_months(pool: tuple[pd.DataFrame, np.ndarray], like: list[str]) -> tuple[Any, Months]:
    """A reference and months of the same rows in another order: nothing changes from month to month."""
    X, y = pool
    parts = np.array_split(np.random.default_rng(2).permutation(y.size), len(like) + 2)
    first = np.concatenate(parts[:2])
    months = {name: (X.iloc[at].reset_index(drop=True), y[at]) for name, at in zip(like, parts[2:], strict=True)}
    return (X.iloc[first].reset_index(drop=True), y[first]), months


def shuffled_years(model: Any, pool: tuple[pd.DataFrame, np.ndarray], lives: int) -> None:
    """Years in which nothing changes: reference and months are drawn from the same rows."""
    X, y = pool
    probability, flagged = model.predict_proba(X)[:, 1], model.predict(X) == 1
    count, random, fired = 1500, np.random.default_rng(1), []
    for _ in range(lives):
        order = random.permutation(y.size)
        some, rest = order[:6000], order[6000:]
        monitor = CostMonitor(model, (X.iloc[some], y[some]))
        for k in range(12):
            at = rest[k * count : (k + 1) * count]
            monitor.update(y=y[at], probability=probability[at], flagged=flagged[at])
        fired.append({alarm.kind for alarm in monitor.alarms})
    kinds = ", ".join(f"{kind} {sum(kind in one for one in fired)}" for kind in ("cost", "prevalence"))
    print(f"{lives} shuffled years: a false alarm in {sum(map(bool, fired))} ({kinds})")


def main() -> None:
    months = {name: rows(trips) for name, trips in download().items()}

    def joined(names: list[str]) -> tuple[pd.DataFrame, np.ndarray]:
        parts = [months[name] for name in names]
        return pd.concat([X for X, _ in parts], ignore_index=True), np.concatenate([y for _, y in parts])

    learn = [f"2018-{k:02d}" for k in range(1, 11)]
    trees = HistGradientBoostingClassifier(max_iter=80, learning_rate=0.08, random_state=0)
    X, y = joined(learn)
    model = uneven.UnevenThresholdClassifierCV(trees, **COSTS).fit(X, y)
    reference = joined(["2018-11", "2018-12"])
    print(f"fitted to {y.size:,} trips, {100 * y.mean():.1f} % without a tip; threshold {model.threshold_:.3f}")
    year = {name: one for name, one in months.items() if name.startswith("2019")}
    print("2019 as it was")
    walk(model, reference, year)
    shifted = with_more_positives(year)
    for correct in (False, True):
        print(f"2019 with {TIMES} times as many positives from {SHIFT_FROM} on, {'' if correct else 'un'}corrected")
        walk(model, reference, shifted, correct=correct)
    print("2020 as it was")
    walk(model, reference, {name: one for name, one in months.items() if name.startswith("2020")})
    pool = joined([name for name in months if "2018-10" < name < "2020"])
    same, alike = shuffled_months(pool, list(year))
    for correct in (False, True):
        print(
            f"shuffled months, {TIMES} times as many positives from {SHIFT_FROM} on, {'' if correct else 'un'}corrected"
        )
        walk(model, same, with_more_positives(alike), correct=correct)
    shuffled_years(model, pool, 100)


if __name__ == "__main__":
    main()
