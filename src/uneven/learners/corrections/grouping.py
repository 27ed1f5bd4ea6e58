"""Many rows as few: rows with nearly the same log-odds count as one."""

from __future__ import annotations

import numpy as np

#: Rows up to which nothing is grouped.
MOST_ROWS = 20_000
#: Width of a cell in log-odds.
CELL = 1 / 256


def grouped(
    columns: tuple[np.ndarray, ...], signs: np.ndarray, weights: np.ndarray
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """The rows, or if they are many their means in cells of the columns, with the weights of each cell summed.

    A cell holds rows of one sign. A sum over the rows of weight times a smooth function of the columns changes by at
    most the second derivative times the cell's width squared over 8 per weight: the first-order terms cancel.
    """
    if signs.size <= MOST_ROWS:
        return columns, signs, weights
    cells = [np.rint(column / CELL).astype(np.int64) for column in columns]
    key = np.where(signs > 0, 1, 0)
    for cell in cells:
        _, codes = np.unique(cell, return_inverse=True)
        _, key = np.unique(key * (codes.max() + 1) + codes, return_inverse=True)
    total = np.bincount(key, weights)
    means = tuple(np.bincount(key, weights * column) / total for column in columns)
    sign = np.empty(total.size)
    sign[key] = signs
    return means, sign, total
