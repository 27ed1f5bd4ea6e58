"""The law of columns: the same values give the same matrix, however they come.

CSV, Excel, data frames of pandas and polars, Arrow, Parquet in parts and partitions as Dask has them are generated from
the same values: numbers with gaps, decimals, truth values, codes such as "05", dates, texts, rare and new categories.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.sparse import issparse

from uneven.app.files.table import read_table
from uneven.app.files.table_columns import plan_columns, type_columns
from uneven.parts.streamed_rows import tables_of
from uneven.parts.table_source import TableSource
from uneven.tables import FrameEncoder
from uneven.tables.arrow_columns import table_of_frame
from uneven.tables.columns import Sizes
from uneven.tables.columns_in_parts import ColumnSummary, encoded, is_number, output_names

BUCKETS, MOST = 64, 60
WORDS = np.array(["red", "blue", "green", "old", "new", "car", "bus", "bike", "fast", "slow", "Wien", "Graz"])


def generated(seed: int, rows: int) -> pd.DataFrame:
    """Columns of every kind. ``gaps`` are missing values; some columns have none, some have them in all first rows."""
    random = np.random.default_rng(seed)

    def gaps(values: Any, share: float = 0.1, first: int = 0) -> pd.Series:
        missing = (random.random(rows) < share) | (np.arange(rows) < first)
        return pd.Series(values, dtype=object).where(~missing, None)

    frame = pd.DataFrame({"plain": random.normal(size=rows).round(3)})
    frame["whole"] = random.integers(-5, 900, rows)
    frame["gappy"] = gaps(random.lognormal(3, 2, rows).round(2), 0.3).astype(float)
    frame["late"] = gaps(random.normal(1e6, 1e5, rows).round(1), 0.2, rows // 2).astype(float)
    frame["truth"] = random.random(rows) < 0.3
    frame["code"] = gaps([f"{k:02d}" for k in random.integers(0, 15, rows)])
    frame["post"] = [f"{k:05d}" for k in random.integers(0, 90, rows)]
    frame["colour"] = gaps(random.choice(WORDS[:3], rows), 0.1, rows // 3)
    frame["rare"] = np.where(random.random(rows) < 0.02, [f"r{k}" for k in range(rows)], "usual")
    frame["town"] = gaps([f"town {k}" for k in random.zipf(1.5, rows).clip(0, 45)])
    frame["many"] = [f"m{k % (rows // 3)}" for k in random.integers(0, 10**6, rows)]
    frame["said"] = gaps([" ".join(random.choice(WORDS, random.integers(3, 7))) for _ in range(rows)])
    frame["amount"] = gaps([f"{v:,.2f} €" for v in random.lognormal(5, 2, rows)])
    frame["comma"] = gaps([f"{v:.1f}".replace(".", ",") for v in random.normal(7, 3, rows)])
    frame["share"] = [f"{v:.1f} %" for v in 100 * random.random(rows)]
    frame["when"] = pd.Timestamp("2021-11-03") + pd.to_timedelta(random.integers(0, 9 * 10**7, rows), unit="s")
    frame["day"] = gaps([f"{d}.{m}.20{y}" for d, m, y in random.integers([1, 1, 20], [28, 12, 25], (rows, 3))])
    frame["same"], frame["nothing"] = "x", None
    return frame


def from_files(frame: pd.DataFrame, new: pd.DataFrame, ending: str, folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What `uneven fit` learns from, and what `uneven predict` makes of new rows."""
    tables = []
    for name, rows in (("fit", frame), ("new", new)):
        path = folder / f"{name}.{ending}"
        labelled = rows.assign(y=["u", "v"] * (len(rows) // 2))
        write = {"csv": labelled.to_csv, "xlsx": labelled.to_excel, "parquet": labelled.to_parquet}[ending]
        write(path, index=False)
        tables.append(read_table(str(path)))
    columns = plan_columns(tables[0], "y", keep=list(frame.columns)).columns
    return type_columns(tables[0], columns), type_columns(tables[1], columns)


def dense(found: Any) -> np.ndarray:
    return found.toarray() if issparse(found) else np.asarray(found)


def encoder(view: str) -> FrameEncoder:
    return FrameEncoder(view=view, most_categories=MOST, buckets=BUCKETS)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "rows"), [(0, 60), (1, 240), (2, 700), (3, 700)])
def test_the_same_values_give_the_same_matrix(seed: int, rows: int, tmp_path: Path) -> None:
    frame, y = generated(seed, rows), np.random.default_rng(seed).integers(0, 2, rows)
    new = generated(seed + 100, 40).assign(colour="never seen", town="town 4")
    ways = {"polars": (pl.from_pandas(frame), pl.from_pandas(new)), "Arrow": (table_of_frame(frame), new)}
    ways |= {ending: from_files(frame, new, ending, tmp_path) for ending in ("csv", "xlsx", "parquet")}
    for view in ("linear", "trees"):
        reference = encoder(view)
        expected = dense(reference.fit_transform(frame, y)), dense(reference.transform(new))
        names = list(reference.get_feature_names_out())
        close = {"linear": 1e-9, "trees": 1e-5}[view]
        for how, (fitted, others) in ways.items():
            one = encoder(view)
            found = dense(one.fit_transform(fitted, y)), dense(one.transform(others))
            assert list(one.get_feature_names_out()) == names, how
            for ours, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=close, atol=close, err_msg=f"{view}, {how}")


@pytest.mark.parametrize(("seed", "rows"), [(0, 60), (1, 240), (2, 700), (3, 700)])
def test_rows_in_parts_give_the_same_matrix(seed: int, rows: int, tmp_path: Path) -> None:
    """A fit in parts standardises numbers and flags by their mean and deviation over all rows."""
    frame = generated(seed, rows)
    new = generated(seed + 100, 40).assign(colour="never seen", town="town 4")
    reference = encoder("linear")
    expected = dense(reference.fit_transform(frame)), dense(reference.transform(new))
    for how, plan, matrix in in_parts(frame, tmp_path):
        assert output_names(plan) == list(reference.get_feature_names_out()), how
        numbers = is_number(plan)
        shift, scale = matrix[:, numbers].mean(axis=0), matrix[:, numbers].std(axis=0)
        for ours, theirs in zip((matrix, dense(encoded(plan, table_of_frame(new), "new"))), expected, strict=True):
            found = ours.astype(float)
            found[:, numbers] = (found[:, numbers] - shift) / scale
            np.testing.assert_allclose(found, theirs, rtol=1e-6, atol=1e-6, err_msg=how)


def in_parts(frame: pd.DataFrame, tmp_path: Path) -> list[tuple[str, Any, Any]]:
    """The plan and the matrix of the rows in parts of several sizes: in files, and as partitions."""
    found = []
    folder = tmp_path / "parts"
    folder.mkdir()
    cuts = [0, len(frame) // 7, len(frame) // 2, len(frame)]
    parts = [frame[low:high] for low, high in pairwise(cuts)]
    whole = pa.Table.from_pandas(frame, preserve_index=False)

    for k, (low, high) in enumerate(pairwise(cuts)):
        parquet.write_table(whole.slice(low, high - low), folder / f"{k}.parquet", row_group_size=50)
    source = TableSource(tables_of(folder), columns=list(frame.columns), most_categories=MOST, buckets=BUCKETS)
    blocks = [batch.X for load in source.loads() for batch in load.read(True)]
    found.append(("Parquet in parts", source.plan, np.vstack([dense(block) for block in blocks])))
    for size in (1, 3):
        some = parts if size == 3 else [frame]
        tables = [table_of_frame(part.reset_index(drop=True)) for part in some]
        summary = ColumnSummary.of(tables[0], Sizes(MOST, BUCKETS))
        for table in tables[1:]:
            summary = summary + ColumnSummary.of(table, Sizes(MOST, BUCKETS))
        plan = summary.plan()
        found.append((f"{size} partitions", plan, np.vstack([dense(encoded(plan, table, "X")) for table in tables])))
    return found
