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
    frame["share"] = [f"{v:.1f} %" for v in 100 * random.random(rows)]
    frame["when"] = pd.Timestamp("2021-11-03") + pd.to_timedelta(random.integers(0, 9 * 10**7, rows), unit="s")
    frame["day"] = gaps([f"{d}.{m}.20{y}" for d, m, y in random.integers([1, 1, 20], [28, 12, 25], (rows, 3))])
    frame["same"], frame["nothing"] = "x", None
    return frame


def from_file(path: Path, frame: pd.DataFrame) -> pd.DataFrame:
    """What `uneven fit` learns from."""
    table = read_table(str(path))
    return type_columns(table, plan_columns(table, "y", keep=list(frame.columns)).columns)


def dense(found: Any) -> np.ndarray:
    return found.toarray() if issparse(found) else np.asarray(found)


def encoder() -> FrameEncoder:
    return FrameEncoder(view="linear", most_categories=MOST, buckets=BUCKETS)


def standardised(matrix: Any, numbers: np.ndarray) -> np.ndarray:
    """As a fit in parts standardises: numbers and flags, by mean and deviation over all rows."""
    found = dense(matrix).astype(float)
    some = found[:, numbers]
    deviation = some.std(axis=0)
    found[:, numbers] = (some - some.mean(axis=0)) / np.where(
        deviation > 1e-12 * np.abs(some).max(axis=0), deviation, 1
    )
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "rows"), [(0, 60), (1, 240), (2, 700), (3, 700)])
def test_the_same_values_give_the_same_matrix(seed: int, rows: int, tmp_path: Path) -> None:
    frame = generated(seed, rows)
    reference = encoder()
    expected = dense(reference.fit_transform(frame))
    names = list(reference.get_feature_names_out())
    new = generated(seed + 100, 40).assign(colour="never seen", town="town 4")
    expected_new = dense(reference.transform(new))

    frames = {"polars": pl.from_pandas(frame), "Arrow": table_of_frame(frame)}
    labelled = frame.assign(y=["u", "v"] * (rows // 2))
    for name in ("t.csv", "t.xlsx", "t.parquet"):
        path = tmp_path / name
        {"csv": labelled.to_csv, "xlsx": labelled.to_excel, "parquet": labelled.to_parquet}[name[2:]](path, index=False)
        frames[name] = from_file(path, frame)
    for how, other in frames.items():
        found = encoder()
        np.testing.assert_allclose(dense(found.fit_transform(other)), expected, rtol=1e-9, atol=1e-9, err_msg=how)
        assert list(found.get_feature_names_out()) == names, how
        np.testing.assert_allclose(dense(found.transform(new)), expected_new, rtol=1e-9, atol=1e-9, err_msg=how)

    for how, plan, matrix in in_parts(frame, tmp_path):
        assert output_names(plan) == names, how
        numbers = is_number(plan)
        np.testing.assert_allclose(standardised(matrix, numbers), expected, rtol=1e-6, atol=1e-6, err_msg=how)


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
