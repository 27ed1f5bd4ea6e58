"""Synthetic data for the linear benchmark, and the time to read them.

4% positives and columns of different scale; for sparse models exactly half of the rows are positive.
"""

from __future__ import annotations

import resource
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp


def costs(y: np.ndarray) -> tuple[float, float]:
    """Costs that balance the classes: the only costs that all peers support."""
    share = float(np.mean(y))
    return 0.5 / (1 - share), 0.5 / share


def dense(n: int, d: int, *, standardised: bool) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    X += 0.5 * random.standard_normal((n, 1))
    if not standardised:
        X *= np.exp(random.standard_normal(d))
    score = X @ (random.standard_normal(d) * 2 / np.sqrt(d) / X[:10_000].std(axis=0))
    return X, labels(score, random)


def sparse(n: int, d: int, per_row: int = 30) -> tuple[sp.csr_matrix, np.ndarray]:
    """Sparse data like word counts: a few columns are used by many rows, the others by few rows."""
    random = np.random.default_rng(0)
    columns = np.sort((d * random.random((n, per_row)) ** 3).astype(np.int32), axis=1)
    values = random.random(n * per_row) + 0.2
    X = sp.csr_matrix((values, columns.ravel(), np.arange(0, n * per_row + 1, per_row, dtype=np.int32)), shape=(n, d))
    X.sum_duplicates()
    return X, labels(X @ random.standard_normal(d), random)


def few_relevant(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns of unit scale, a tenth of which decide the label."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    X += 0.5 * random.standard_normal((n, 1))
    return X, half(X @ _few(d, random), random)


def texts(n: int, d: int, per_row: int = 75) -> tuple[sp.csr_matrix, np.ndarray]:
    """Sparse data like weighted word counts of news: rows of length 1, a tenth of the columns decide the label."""
    X, _ = sparse(n, d, per_row)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    random = np.random.default_rng(1)
    return X, half(X @ _few(d, random), random)


def _few(d: int, random: np.random.Generator) -> np.ndarray:
    return random.standard_normal(d) * (random.random(d) < 0.1)


def half(score: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Noisy labels, half of them 1: then all weights are 1, and peers that take no weights can be compared."""
    score = score / score.std() + 0.5 * random.logistic(size=score.size)
    y = np.zeros(score.size, dtype=np.int64)
    y[np.argsort(score)[score.size // 2 :]] = 1
    return y


def labels(score: np.ndarray, random: np.random.Generator) -> np.ndarray:
    score = 2 * (score - np.quantile(score, 0.96))
    return (random.random(score.size) < 1 / (1 + np.exp(-score))).astype(np.int64)


def one_pass(X: Any) -> float:
    """Seconds to read every number of X once, with two threads."""
    arrays = [X.ravel()] if isinstance(X, np.ndarray) else [X.data, X.indices]
    halves = [half for array in arrays for half in np.array_split(array, 2)]
    best = np.inf
    with ThreadPoolExecutor(2) as pool:
        for _ in range(7):
            start = time.perf_counter()
            list(pool.map(_read, halves))
            best = min(best, time.perf_counter() - start)
    return best


def _read(array: np.ndarray) -> float:
    whole = array[: array.size // 8 * 8].view(np.uint8).view(np.float32)
    return float(np.dot(whole, whole)) if array.dtype != np.float64 else float(np.dot(array, array))


class PeakMemory(threading.Thread):
    """Watch the resident memory while something runs; ``extra`` is its largest growth in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._done, self._before, self.extra = threading.Event(), resident(), 0

    def run(self) -> None:
        while not self._done.wait(0.001):
            self.extra = max(self.extra, resident() - self._before)

    def __enter__(self) -> PeakMemory:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
