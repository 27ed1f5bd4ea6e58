"""Folds that test later rows than those learnt from, and folds that keep the rows of a customer together.

A row of time t is tested by models that learnt from rows before t only: the rows are cut into blocks at times, and each
block but the first is tested once. The rows of a group are in one fold. With both, a block is tested fold by fold: by a
model of the earlier rows of all *other* groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uneven.errors import CostError
from uneven.inputs import warn_caller
from uneven.labels import read_groups
from uneven.tables.times import read_times

#: Train and test rows of a fold.
Split = tuple[np.ndarray, np.ndarray]

#: With times and groups: at most so many tested blocks, and parts of the groups in each. 3 times 3 fits, where more of
#: both would cost more than they tell, and models of two thirds of the groups.
_BLOCKS, _PARTS = 3, 3
MOST_FITS = _BLOCKS * _PARTS
#: Rows of each class that the first block has to hold.
_FEWEST = 2


def time_and_group_splits(
    label: np.ndarray,
    folds: int,
    *,
    names: Sequence[str] = ("negative rows", "positive rows"),
    times: Any = None,
    groups: Any = None,
    seed: Any = 0,
    share: float | None = None,
) -> list[Split]:
    """Folds that keep times in their order, groups together, or both.

    Parameters
    ----------
    label : ndarray of bool or int, shape (n,)
        The number of the class of each row.
    folds : int
        Tested blocks of later rows, or folds of groups; fewer, with a warning, if times or groups do not suffice.
    times, groups : array-like of shape (n,), optional
        At least one of them.
    names : sequence of str
        What rows of each class are called in errors.
    seed : int or RandomState
        Of the order in which groups of the same kind are dealt to the folds.
    share : float, optional
        Only one split, which tests at least nearly this share of the rows: the last ones, or some groups.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.folds import time_and_group_splits
    >>> y = np.arange(12) % 2 == 0
    >>> for train, test in time_and_group_splits(y, 2, times=np.arange(12) // 2):
    ...     print(train.tolist(), test.tolist())
    [0, 1, 2, 3] [4, 5, 6, 7]
    [0, 1, 2, 3, 4, 5, 6, 7] [8, 9, 10, 11]
    >>> [test.tolist() for _, test in time_and_group_splits(y, 2, groups=np.arange(12) // 4)]
    [[0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7]]
    """
    rows, label = label.size, label.astype(np.intp)
    when = None if times is None else _of_rows("times", read_times(times), rows)
    group = None if groups is None else _of_rows("groups", read_groups(groups), rows)
    if when is None:
        assert group is not None
        wanted = folds if share is None else max(2, round(1 / share))
        part = _deal(label, group, wanted, seed, names)
        found = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(int(part.max()) + 1)]
        return found if share is None else found[:1]
    if share is None:
        block = _blocks(label, when, folds if group is None else min(folds, _BLOCKS), names)
    else:
        block = _last_block(label, when, share, names)
    tested = range(1, int(block.max()) + 1)
    if group is None:
        return [(np.flatnonzero(block < k), np.flatnonzero(block == k)) for k in tested]
    part = _deal(label, group, min(folds, _PARTS) if share is None else 2, seed, names)
    both = [
        (np.flatnonzero((block < k) & (part != g)), np.flatnonzero((block == k) & (part == g)))
        for k in tested
        for g in range(int(part.max()) + 1)
    ]
    both = [(train, test) for train, test in both if test.size]
    if any(np.unique(label[train]).size < len(names) for train, _ in both):
        raise CostError(
            "the earlier rows of the other groups lack a class to learn from; fewer folds, times alone or groups alone "
            "would work"
        )
    return both if share is None else [max(both, key=lambda split: split[1].size)]


def _of_rows(name: str, found: np.ndarray, rows: int) -> np.ndarray:
    if found.size != rows:
        raise CostError(f"{name} must have an entry for each of the {rows:,} rows, got {found.size:,}")
    return found


# -- time -------------------------------------------------------------------------------------------------------------


def _blocks(label: np.ndarray, when: np.ndarray, folds: int, names: Sequence[str]) -> np.ndarray:
    """The number of the block of each row: 0 is never tested, each other is tested with the rows before it."""
    count = np.cumsum(np.bincount(when))
    first = _first_end(label, when, names)
    start = max(label.size / (folds + 1), float(count[first]))
    wanted = start + (label.size - start) * np.arange(folds) / folds
    ends = np.abs(count[first:-1, None] - wanted).argmin(axis=0) + first  # the last time of block 0, 1, ...
    ends = np.unique(ends)
    if ends.size < folds:
        warn_caller(
            f"times has {count.size:,} different values, and whole times stay together: using {ends.size} "
            f"{'block' if ends.size == 1 else 'blocks'} of later rows instead of {folds}"
        )
    return np.asarray(np.searchsorted(ends, when, side="left"))


def _last_block(label: np.ndarray, when: np.ndarray, share: float, names: Sequence[str]) -> np.ndarray:
    """1 for the last rows, about such a share, and 0 for the rows before them."""
    count = np.cumsum(np.bincount(when))
    first = _first_end(label, when, names)
    end = first + int(np.abs(count[first:-1] - (1 - share) * label.size).argmin())
    return np.asarray(when > end, dtype=np.intp)


def _first_end(label: np.ndarray, when: np.ndarray, names: Sequence[str]) -> int:
    """The first time up to which all classes can be learnt; an error if nothing is later."""
    times = int(when.max()) + 1
    if times < 2:
        raise CostError(
            "times has the same value in every row, so no row is later than another; times that differ, or folds "
            "without times, would work"
        )
    known = np.stack([np.cumsum(np.bincount(when[label == k], minlength=times)) for k in range(len(names))])
    first = int((known >= _FEWEST).all(axis=0).argmax())
    if not (known[:, first] >= _FEWEST).all() or first == times - 1:
        rare = int(known[:, -2].argmin())
        raise CostError(
            f"before the last of the {times:,} different times there are only {int(known[rare, -2]):,} {names[rare]}, "
            f"and {_FEWEST} are needed to learn from; finer times, more rows, or folds without times, would work"
        )
    return first


# -- groups -----------------------------------------------------------------------------------------------------------


def _deal(label: np.ndarray, group: np.ndarray, folds: int, seed: Any, names: Sequence[str]) -> np.ndarray:
    """The fold of each row: whole groups, classes as even as they allow.

    Large groups first, each goes where its classes have least so far.
    """
    sizes = np.stack([np.bincount(group[label == k], minlength=group.max() + 1) for k in range(len(names))])
    folds = _possible_folds(sizes, folds, names)
    shares = sizes / sizes.sum(axis=1, keepdims=True)
    random = seed if hasattr(seed, "permutation") else np.random.RandomState(seed)
    order = random.permutation(sizes.shape[1])
    order = order[np.argsort(-shares.sum(axis=0)[order], kind="stable")]
    loads = [[0.0] * len(names) for _ in range(folds)]
    fold = np.empty(sizes.shape[1], dtype=np.intp)
    for number, own in zip(order.tolist(), shares[:, order].T.tolist(), strict=True):
        keys = [(sum(a * b for a, b in zip(load, own, strict=True)), sum(load)) for load in loads]
        to = keys.index(min(keys))
        fold[number] = to
        loads[to] = [a + b for a, b in zip(loads[to], own, strict=True)]
    return fold[group]


def _possible_folds(sizes: np.ndarray, folds: int, names: Sequence[str]) -> int:
    """As many folds as there are groups of the class that fewest have; an error if that is one."""
    having = (sizes > 0).sum(axis=1)
    rare = int(having.argmin())
    if sizes.shape[1] < 2:
        raise CostError("groups has the same value in every row; two groups, or folds without groups, would work")
    if having[rare] < 2:
        raise CostError(
            f"all {names[rare]} are in one group, so no model could learn from some and be tested on others; "
            f"{names[rare]} in two groups, or folds without groups, would work"
        )
    if having[rare] < folds:
        warn_caller(f"only {having[rare]} groups have {names[rare]}, for {folds} folds: using {having[rare]} instead")
    return min(folds, int(having[rare]))
