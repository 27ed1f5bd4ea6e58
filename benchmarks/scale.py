"""Fits on files that are larger than the memory they may use: time and memory against the number of rows.

Run ``python benchmarks/scale.py 1e5 1e6`` (small sizes by default). It writes Parquet files of 20 float32 columns into
``--folder``, reads them with pyarrow alone, and fits a logistic and a hinge loss to a proved gap of 1e-6. Each
measurement is a process of its own, so that its memory is its own. ``--peers PYTHON`` also measures other libraries
on the files of ``--peer-rows`` rows, with an interpreter that has what ``scale_peers.py`` needs. ``--picture FILE``
draws time and memory.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS, ROWS_OF_FILE, ROWS_OF_GROUP = 20, 2_000_000, 262_144
NAMES = [f"x{j}" for j in range(COLUMNS)]


def write(folder: Path, rows: int) -> None:
    """Files of normal columns and a label with a logistic probability; plain encoding is the fastest to read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if folder.exists():
        return
    unfinished = folder.with_name(folder.name + ".unfinished")
    unfinished.mkdir(parents=True, exist_ok=True)
    w = np.random.default_rng(1).normal(size=COLUMNS).astype(np.float32)
    for number, low in enumerate(range(0, rows, ROWS_OF_FILE)):
        random, count = np.random.default_rng(low + 7), min(ROWS_OF_FILE, rows - low)
        X = random.standard_normal((COLUMNS, count), dtype=np.float32)
        y = (random.random(count, dtype=np.float32) < 1 / (1 + np.exp(3 - w @ X))).astype(np.int8)
        table = pa.table({**dict(zip(NAMES, X, strict=True)), "y": y})
        pq.write_table(
            table,
            unfinished / f"part-{number:03d}.parquet",
            row_group_size=ROWS_OF_GROUP,
            compression="none",
            use_dictionary=False,
        )
    unfinished.rename(folder)


def read_groups(paths: list[str]) -> int:
    """Row group after row group, as pyarrow does by itself."""
    import pyarrow.parquet as pq

    rows = 0
    for path in paths:
        file = pq.ParquetFile(path, memory_map=True)
        for group in range(file.num_row_groups):
            rows += file.read_row_group(group, columns=[*NAMES, "y"]).num_rows
    return rows


def read_threads(paths: list[str]) -> int:
    """Row groups in as many threads as there are cores: the fastest way that was found."""
    import threading
    from concurrent.futures import ThreadPoolExecutor

    import pyarrow.parquet as pq

    mine = threading.local()

    def read(item: tuple[str, int]) -> int:
        path, group = item
        if getattr(mine, "path", None) != path:
            mine.path, mine.file = path, pq.ParquetFile(path, memory_map=True)
        return mine.file.read_row_group(group, columns=[*NAMES, "y"], use_threads=False).num_rows

    groups = [(path, group) for path in paths for group in range(pq.read_metadata(path).num_row_groups)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return sum(pool.map(read, groups))


def read_dataset(paths: list[str]) -> int:
    """The scanner of pyarrow.dataset with its defaults."""
    import pyarrow.dataset as ds

    return sum(batch.num_rows for batch in ds.dataset(paths).to_batches(columns=[*NAMES, "y"]))


READERS = {"groups": read_groups, "dataset": read_dataset, "threads": read_threads}


def forget(paths: list[str]) -> None:
    """Ask the system to drop the files from its cache, so that the disk itself is read."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def peak() -> float:
    """Largest resident memory of this process so far, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured_read(paths: list[str], how: str, cold: bool) -> dict[str, Any]:
    read = READERS[how]
    times = []
    for _ in range(1 if cold else 4):  # the first one of four may bring the files into the cache of the system
        if cold:
            forget(paths)
        start = time.perf_counter()
        rows = read(paths)
        times.append(time.perf_counter() - start)
    return {"rows": rows, "seconds": min(times), "memory": peak()}


def measured_fit(paths: list[str], loss: str, limit: str, cold: bool) -> dict[str, Any]:
    import uneven
    from uneven.parts import block_loop

    reads: list[tuple[int, float]] = []
    plain = block_loop.BlockLoop.ask

    def ask(self: Any, question: Any) -> Any:
        start = time.perf_counter()
        answer = plain(self, question)
        reads.append((self.rows, time.perf_counter() - start))
        if cold:
            forget(paths)
        return answer

    small = np.random.default_rng(0).normal(size=(3000, COLUMNS)).astype(np.float32)
    rows = uneven.StreamedRows([(np.asfortranarray(small), small[:, 0] > 1)])
    model = uneven.UnevenLinearClassifier(loss, fp_cost=1, fn_cost=10, tol=1e-6)
    model.fit(rows)  # compiles
    block_loop.BlockLoop.ask = ask  # type: ignore[method-assign]
    if cold:
        forget(paths)
    start = time.perf_counter()
    model.fit(uneven.StreamedRows(paths, target="y", memory_limit=limit))
    return {
        "rows": reads[0][0],
        "seconds": time.perf_counter() - start,
        "memory": peak(),
        "reads": len(reads),
        "gap": model.duality_gap_ / model.objective_,
        "rates": [rows / seconds for rows, seconds in reads],
    }


def run(
    arguments: list[str], python: str = sys.executable, program: str = __file__, timeout: int | None = None
) -> dict[str, Any]:
    """What a process of its own measures."""
    try:
        done = subprocess.run(
            [python, program, *arguments], capture_output=True, text=True, check=False, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {timeout} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["?"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def compared(folder: Path, rows: int, limit: str, cold: bool, losses: list[str]) -> list[dict[str, Any]]:
    """Reading alone and both fits at one size."""
    pattern = str(folder / f"{rows}" / "*.parquet")
    write(folder / f"{rows}", rows)
    kind = "cold" if cold else "warm"
    alone = {how: run(["--one", "read", pattern, how, kind]) for how in READERS}
    gigabytes = sum(os.path.getsize(path) for path in glob.glob(pattern)) / 1e9
    found = []
    print(f"\n{rows:,} rows, {gigabytes:.2f} GB, files {'from the disk' if cold else 'in the cache of the system'}")
    for how, one in alone.items():
        speed = one["rows"] / one["seconds"]
        print(f"  reading alone ({how:7s}) {one['seconds']:7.2f} s, {speed / 1e6:5.1f} million rows/s", flush=True)
    for loss in losses:
        one = run(["--one", "fit", pattern, loss, limit, kind])
        if "failed" in one:
            print(f"  {loss}: {one['failed']}")
            continue
        speed = one["rows"] * one["reads"] / one["seconds"]
        shares = {how: speed / (other["rows"] / other["seconds"]) for how, other in alone.items()}
        steps = sorted(one["rates"])[len(one["rates"]) // 2]
        print(
            f"  {loss:9s} {one['seconds']:7.2f} s, {one['reads']:2d} reads, {speed / 1e6:5.1f} million rows/s "
            f"({steps / 1e6:.1f} in the median read); "
            + ", ".join(f"{share:.2f} of {how}" for how, share in shares.items())
            + f"; {one['memory']:5.0f} MB, gap {one['gap']:.1e}; each read: "
            + " ".join(f"{rate / 1e6:.1f}" for rate in one["rates"]),
            flush=True,
        )
        found.append({"loss": loss, "rows": rows, **one})
    return found


def picture(found: list[dict[str, Any]], path: str) -> None:
    """Seconds and memory against the rows."""
    from uneven.figures.style import captioned, curve_style, panels, styled

    with styled():
        figure, ((time_axes, memory_axes),) = panels(1, 2, width=7.2, height=3.4)
        for k, loss in enumerate(("logistic", "hinge")):
            mine = sorted((one["rows"], one["seconds"], one["memory"]) for one in found if one["loss"] == loss)
            rows, seconds, memory = np.array(mine).T
            time_axes.loglog(rows, seconds, marker="o", **curve_style(k), label=loss)
            memory_axes.semilogx(rows, memory, marker="o", **curve_style(k), label=loss)
        time_axes.set(xlabel="rows", ylabel="seconds of a fit")
        memory_axes.set(xlabel="rows", ylabel="largest resident memory (MB)", ylim=(0, None))
        time_axes.legend()
        captioned(figure, "20 float32 columns in Parquet files, fitted to a proved gap of 1e-6.").savefig(path)


def one(kind: str, pattern: str, *rest: str) -> None:
    """A measurement, printed as JSON."""
    paths = sorted(glob.glob(pattern))
    if kind == "read":
        print(json.dumps(measured_read(paths, rest[0], rest[1] == "cold")))
    else:
        print(json.dumps(measured_fit(paths, rest[0], rest[1], rest[2] == "cold")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=float, default=[1e5, 1e6])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "uneven-scale")
    parser.add_argument("--memory-limit", default="1GB")
    parser.add_argument("--losses", nargs="+", default=["logistic", "hinge"])
    parser.add_argument("--cold", action="store_true", help="drop the files from the cache of the system before reads")
    parser.add_argument("--results", type=Path, help="a JSON file to add the results to")
    parser.add_argument("--picture", help="a file to draw all results of --results into")
    parser.add_argument("--peers", metavar="PYTHON", help="an interpreter with what scale_peers.py needs")
    parser.add_argument("--peer-rows", type=float, default=1e6)
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(*given.one)
        return
    found: list[dict[str, Any]] = []
    for size in given.sizes:
        found += compared(given.folder, int(size), given.memory_limit, given.cold, given.losses)
    if given.results:
        before = json.loads(given.results.read_text()) if given.results.exists() else []
        sizes = {(new["rows"], new["loss"]) for new in found}
        found = [old for old in before if (old["rows"], old["loss"]) not in sizes] + found
        given.results.write_text(json.dumps(found, indent=1))
    if given.picture:
        picture(found, given.picture)
    if given.peers:
        write(given.folder / f"{int(given.peer_rows)}", int(given.peer_rows))
        program = str(Path(__file__).with_name("scale_peers.py"))
        subprocess.run(
            [sys.executable, program, str(given.folder / f"{int(given.peer_rows)}"), given.peers], check=True
        )


if __name__ == "__main__":
    main()
