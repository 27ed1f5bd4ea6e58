"""When a cache on disk pays: fits with and without ``cache_folder`` on plain, compressed and text tables.

Run ``python benchmarks/scale_cache.py 1e6``. Nothing is kept in memory (``memory_limit`` is the smallest one), so that
every read after the first is one of the files or one of the cache. Each fit is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scale import COLUMNS, NAMES, ROWS_OF_GROUP, peak

TABLES = ("plain", "snappy", "zstd", "text", "text zstd")


def write(path: Path, kind: str, rows: int) -> None:
    """A file of amounts in cents, which compress, or of four texts and four numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.exists():
        return
    random = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    if kind.startswith("text"):
        for k, different in enumerate((5, 20, 80, 5000)):
            words = pa.array([f"value {j}" for j in range(different)])
            columns[f"t{k}"] = words.take(pa.array(random.integers(0, different, rows)))
        for name in NAMES[:4]:
            columns[name] = random.standard_normal(rows, dtype=np.float32)
        score = columns["x0"] + columns["x1"]
    else:
        for name in NAMES:
            columns[name] = np.round(random.standard_normal(rows, dtype=np.float32), 2)
        score = sum(columns[name] for name in NAMES) / COLUMNS**0.5
    columns["y"] = (random.random(rows, dtype=np.float32) < 1 / (1 + np.exp(1 - score))).astype(np.int8)
    compression = "zstd" if kind.endswith("zstd") else "snappy" if kind == "snappy" else "none"
    pq.write_table(pa.table(columns), path, row_group_size=ROWS_OF_GROUP, compression=compression)


def measured(path: str, cache: str) -> dict[str, Any]:
    import uneven
    from uneven.learners.streaming import loop

    reads: list[float] = []
    plain = loop.BlockLoop.ask

    def ask(self: Any, question: Any) -> Any:
        start = time.perf_counter()
        answer = plain(self, question)
        reads.append(time.perf_counter() - start)
        return answer

    def fit(**options: Any) -> None:
        rows = uneven.StreamedRows(path, target="y", standardize=True, memory_limit="64MB", **options)
        uneven.UnevenLinearClassifier(fp_cost=1, fn_cost=10, tol=1e-6).fit(rows)

    fit()  # compiles, and brings the file into the cache of the system
    loop.BlockLoop.ask = ask  # type: ignore[method-assign]
    start = time.perf_counter()
    fit(**({"cache_folder": cache} if cache else {}))
    seconds = time.perf_counter() - start
    later = float(np.median(reads[1:]))
    return {"seconds": seconds, "reads": len(reads), "first": reads[0], "later": later, "memory": peak()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=float, default=1e6)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "uneven-scale-cache")
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(*given.one)))
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    for kind in given.tables:
        path = given.folder / f"{kind.replace(' ', '-')}-{int(given.rows)}.parquet"
        write(path, kind, int(given.rows))
        for cache in ("", str(given.folder)):
            done = subprocess.run(
                [sys.executable, __file__, "--one", str(path), cache], capture_output=True, text=True, check=True
            )
            one = json.loads(done.stdout.splitlines()[-1])
            print(
                f"{kind:10s} {path.stat().st_size / 1e6:7.0f} MB {'cache' if cache else 'files':6s} "
                f"{one['seconds']:6.2f} s, {one['reads']} reads; first {one['first']:.2f} s, then {one['later']:.2f} s "
                f"each; {one['memory']:.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
