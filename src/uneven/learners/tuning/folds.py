"""Splits for cross-validation in which both classes can be learnt, whatever the order of the rows."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from uneven._caller import warn_caller
from uneven._inputs import brief
from uneven.errors import CostError

#: Default number of folds.
_FOLDS = 5
#: Seed of the shuffle if none is given. A file in the order of time, class or branch must give the folds that its
#: shuffled copy gives, and the same ones each time.
SEED = 0

Split = tuple[np.ndarray, np.ndarray]


def splits(
    cv: Any, X: Any, labels: np.ndarray, classes: np.ndarray, groups: Any, random_state: Any = None
) -> list[Split]:
    """Pairs of train and test rows.

    A number means shuffled stratified folds, by default always the same ones. A number of folds larger than the rarer
    class is reduced to its size, with a warning. Any other ``cv`` is used as it is, such as TimeSeriesSplit for rows
    in the order of time; it is rejected if a training part lacks a class.
    """
    counts = [int((labels == label).sum()) for label in classes]
    rare, names = int(np.argmin(counts)), classes.tolist()
    if cv is None or (isinstance(cv, numbers.Integral) and not isinstance(cv, bool)):
        wanted = _FOLDS if cv is None else int(cv)
        if wanted < 2:
            raise CostError(f"cv must be at least 2 folds, a splitter or a list of splits, got {brief(cv)}")
        if counts[rare] < 2:
            raise CostError(
                f"cross-validation needs at least 2 examples of each class, got {counts[rare]} of class "
                f"{names[rare]!r}; more examples, or a fit without cross-validation, would work"
            )
        if counts[rare] < wanted:
            warn_caller(
                f"only {counts[rare]} examples of class {names[rare]!r} for {wanted} folds: using "
                f"{counts[rare]} stratified folds instead"
            )
            wanted = counts[rare]
        cv = StratifiedKFold(wanted, shuffle=True, random_state=SEED if random_state is None else random_state)
    try:
        found = list(check_cv(cv, labels, classifier=True).split(X, labels, groups))
    except ValueError as error:
        raise CostError(f"cv={brief(cv)} cannot split these {labels.size} rows: {error}") from None
    for number, (train, _) in enumerate(found, 1):
        for label in names:
            if not (labels[train] == label).any():
                raise CostError(
                    f"split {number} of {len(found)} has no example of class {label!r} to learn from; "
                    "StratifiedKFold, or fewer folds, would work"
                )
    if not found:
        raise CostError(f"cv must yield at least one split, got none from {brief(cv)}")
    return found
