"""How the time of a fit grows with the rows of a dense matrix and with the nonzeros of a sparse one.

Run ``python benchmarks/linear_growth.py docs/images/linear-cost-growth.png`` to draw the picture of the documentation;
``--quick`` stops at a tenth of the sizes. C falls as the rows grow, so that the penalty keeps its share.
"""

from __future__ import annotations

import argparse
import gc
import time
from pathlib import Path
from typing import Any

import numpy as np
from linear_data import dense, sparse

import uneven
from uneven.figures.style import GREY, captioned, curve_style, panels, styled

LOSSES = ("logistic", "hinge")
COLUMNS, PER_ROW, WIDTH = 20, 30, 10_000


def seconds(loss: str, X: Any, y: np.ndarray, runs: int = 5) -> float:
    """Time of a fit to a proved gap of 1e-4, the best of several runs."""
    model = uneven.UnevenLinearClassifier(loss, C=1000 / y.size, fn_cost=10, tol=1e-4)
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        model.fit(X, y)
        times.append(time.perf_counter() - start)
    return min(times)


def measured(make: Any, sizes: np.ndarray) -> dict[str, list[float]]:
    """Seconds of each loss at each size."""
    found: dict[str, list[float]] = {loss: [] for loss in LOSSES}
    first = make(int(sizes[0]))
    for loss in LOSSES:
        seconds(loss, *first, runs=1)  # compiles
    for size in sizes:
        X, y = make(int(size))
        for loss in LOSSES:
            found[loss].append(seconds(loss, X, y))
            print(f"{X.shape[0]:8d} x {X.shape[1]:6d} {loss:10s} {1e3 * found[loss][-1]:9.1f} ms", flush=True)
        del X, y
        gc.collect()
    return found


def slope(sizes: np.ndarray, times: list[float], last: int = 4) -> float:
    """Exponent of the growth over the largest sizes: time is proportional to size to this power."""
    return float(np.polyfit(np.log(sizes[-last:]), np.log(times[-last:]), 1)[0])


def picture(results: list[tuple[str, np.ndarray, dict[str, list[float]]]]) -> Any:
    """Time against size in one panel each, with lines of linear growth behind."""
    with styled():
        figure, ((*axes,),) = panels(1, len(results), width=7.2, height=3.6, sharey=True)
        for ax, (title, sizes, times) in zip(axes, results, strict=True):
            for k, (loss, at) in enumerate(times.items()):
                label = f"{loss}: power {slope(sizes, at):.2f}"
                ax.plot(sizes, at, marker="o", markersize=3.5, label=label, **curve_style(k))
                ax.plot(sizes, at[-1] * sizes / sizes[-1], color=GREY, linewidth=0.7, linestyle=":", zorder=1)
            ax.set(xscale="log", yscale="log", xlabel=title)
            ax.legend(loc="upper left")
        low = min(min(at) for _, _, times in results for at in times.values())
        high = max(max(at) for _, _, times in results for at in times.values())
        axes[0].set(ylabel="seconds of a fit", ylim=(low / 2, 6 * high))
        return captioned(
            figure,
            "Time of a fit to a proved gap of 1e-4 (best of five, two cores). Dotted: linear growth. The power is "
            "the slope over the four largest sizes.",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path, nargs="?", help="where to save the picture")
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    options = parser.parse_args()
    rows = np.geomspace(1e3, 1e5 if options.quick else 1e6, 5 if options.quick else 7).round()
    sparse_rows = np.geomspace(1e4, 1e5 if options.quick else 1e6, 4 if options.quick else 5).round()
    by_rows = measured(lambda n: dense(n, COLUMNS, standardised=True), rows)
    by_nonzeros = measured(lambda n: sparse(n, WIDTH, PER_ROW), sparse_rows)
    figure = picture(
        [
            (f"rows (dense, {COLUMNS} columns)", rows, by_rows),
            (f"nonzeros (CSR, {PER_ROW} per row, {WIDTH:,} columns)", PER_ROW * sparse_rows, by_nonzeros),
        ]
    )
    if options.picture:
        figure.savefig(options.picture, dpi=160)


if __name__ == "__main__":
    main()
