"""Time and memory to encode a table of 200,000 x 40 with texts: FrameEncoder, and skrub if it is installed.

Each encoder runs in a process of its own, on one core. ``--rows`` makes the table smaller.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ENCODERS = ("trees", "linear", "skrub")
PAGE = 4096


def table(rows: int) -> Any:
    """26 numbers, 6 categories (2 to 3,000 values), 4 dates, 4 texts (1 to 15 words); up to 20 % missing."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(0)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = np.array(["".join(random.choice(letters, random.integers(3, 9))) for _ in range(20_000)], dtype=object)
    columns: dict[str, Any] = {}
    for k in range(26):
        values = random.normal(size=rows) * 10.0 ** random.integers(-2, 4)
        values[random.random(rows) < 0.1 * (k % 3)] = np.nan
        columns[f"number {k}"] = values
    for count in (2, 5, 15, 60, 300, 3000):
        names = np.array([f"cat {k}" for k in range(count)], dtype=object)
        columns[f"category {count}"] = names[np.minimum(random.zipf(1.3, rows) - 1, count - 1)]
    for k in range(4):
        seconds = pd.to_timedelta(random.integers(0, 3 * 10**8, rows), unit="s")
        columns[f"date {k}"] = pd.Series(pd.Timestamp("2015-01-01") + seconds).where(random.random(rows) > 0.05)
    for length in (1, 4, 8, 15):
        texts = [" ".join(some) for some in words[random.integers(0, words.size, (rows // 2, length))]]
        if length == 1:
            texts = [f"user{k:06x}" for k in range(rows // 2)]
        chosen = np.array(texts, dtype=object)[random.integers(0, rows // 2, rows)]
        chosen[random.random(rows) < 0.05] = None
        columns[f"text {length}"] = chosen
    return pd.DataFrame(columns), (random.random(rows) < 0.1).astype(int)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def measured(name: str, rows: int) -> str:
    """One line: shape, seconds of the processor, and memory above what the table and the libraries take."""
    X, y = table(rows)
    if name == "skrub":
        from skrub import TableVectorizer

        encoder = TableVectorizer()
    else:
        from uneven.tables import FrameEncoder

        encoder = FrameEncoder(name)
    before, most, done = resident(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            most[0] = max(most[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.process_time()
    found = encoder.fit_transform(X, y)
    fitted = time.process_time()
    done.set()
    watcher.join()
    encoder.transform(X)
    end = time.process_time()
    return (
        f"{name:8s} {found.shape[1]:7,d} columns   fit_transform {fitted - start:6.1f} s   "
        f"transform {end - fitted:6.1f} s   memory {(most[0] - before) / 1e9:.2f} GB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--encoder", choices=ENCODERS)
    chosen = parser.parse_args()
    if chosen.encoder:
        print(measured(chosen.encoder, chosen.rows))
        return
    one_core = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for name in ENCODERS:
        command = [sys.executable, __file__, "--rows", str(chosen.rows), "--encoder", name]
        done = subprocess.run(command, env=one_core, capture_output=True, text=True, check=False)
        print(done.stdout.strip() or f"{name:8s} {done.stderr.strip().splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main()
