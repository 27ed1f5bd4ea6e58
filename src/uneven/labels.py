"""Labels of two classes, which of them is positive, groups and weights of examples: how they are read and checked."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven import inputs
from uneven.errors import CostError
from uneven.inputs import brief, warn_caller


def read_vector(name: str, value: Any) -> np.ndarray:
    """Doubles without NaN in one dimension."""
    array, scalar = inputs.float_array(name, value, CostError)
    if scalar or array.ndim != 1:
        shape = () if scalar else array.shape
        raise CostError(f"{name} must be a one-dimensional array of numbers, got shape {shape}")
    return array.astype(np.float64, copy=False)


def read_labels(name: str, labels: Any) -> np.ndarray:
    """Numbers, booleans or strings in one dimension, none of them missing."""
    try:
        array = np.asarray(labels)
    except ValueError:
        raise CostError(f"{name} must be a one-dimensional array of labels, got {brief(labels)}") from None
    if array.ndim != 1 or array.size == 0:
        raise CostError(f"{name} must be a one-dimensional array with at least one label, got shape {array.shape}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise CostError(f"{name} must not contain NaN")
    plain = array.dtype.kind not in "cmMV" and (array.dtype.kind != "O" or all(map(_is_label, array)))
    if not plain:
        raise CostError(f"{name} must hold numbers, booleans or strings as labels, got {brief(labels)}")
    if np.ma.is_masked(labels) or (array.dtype.kind == "O" and any(map(_is_missing, array))):
        raise CostError(f"{name} must not contain missing labels")
    return array


def _is_label(value: Any) -> bool:
    return isinstance(value, Hashable) and not isinstance(value, tuple)  # NumPy compares a tuple item by item


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(operator.ne(label, label))
    except TypeError:  # pandas.NA has no truth value
        return True


def read_groups(groups: Any, name: str = "groups") -> np.ndarray:
    """For each row the number of its group.

    Examples
    --------
    >>> from uneven.labels import read_groups
    >>> read_groups(["Ann", "Bob", "Ann"]).tolist()
    [0, 1, 0]
    """
    if isinstance(groups, str) or not hasattr(groups, "__len__"):
        raise CostError(f"{name} must have an entry for each row, got {brief(groups)}")
    values = np.asarray(groups)
    if values.ndim != 1:
        raise CostError(f"{name} must have one entry for each row, got an array of shape {values.shape}")
    if values.dtype.kind in "biu":
        return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)
    missing = np.array([_is_missing(value) or value == "" for value in values.tolist()], dtype=bool)
    if missing.any():
        raise CostError(
            f"{name} must be known for every row, got {int(missing.sum()):,} of {missing.size:,} rows without one; "
            "give these a group of their own each, or leave them out"
        )
    place: dict[Any, int] = {}
    return np.array([place.setdefault(value, len(place)) for value in values.tolist()], dtype=np.int64)


def require_same_length(**arrays: np.ndarray) -> None:
    """Raise unless two named arrays have the same length."""
    (first, a), (second, b) = arrays.items()
    for name, array in arrays.items():
        if not np.ndim(array):
            raise CostError(f"{name} must hold one entry for each row, got {brief(array.item())}")
    if len(a) != len(b):
        raise CostError(f"{first} and {second} must have the same length, got {len(a)} and {len(b)}")


def distinct_labels(*arrays: np.ndarray) -> list[Any]:
    """The different labels in the arrays, in order of appearance.

    Each of the first three labels costs one comparison of the whole array, which is much faster than sorting or
    hashing a million labels of two classes. Further ones are hashed.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.labels import distinct_labels
    >>> distinct_labels(np.array(["ok", "fraud", "ok"]), np.array(["ok"]))
    ['ok', 'fraud']
    """
    found: list[Any] = []
    for array in arrays:
        unseen = np.ones(array.size, dtype=bool)
        for _ in range(3):
            if not unseen.any():
                break
            first = int(unseen.argmax())
            found.extend(array[first : first + 1].tolist())
            unseen &= np.asarray(array != array[first], dtype=bool)
        found.extend(array[unseen].tolist())
    return list(dict.fromkeys(found))


def positive_label(pos_label: Any, present: Iterable[Any], *, symmetric: bool = False) -> Any:
    """The positive one of at most two labels.

    Without ``pos_label`` it is 1 for the labels {0, 1}, {-1, 1} and {False, True}. Other labels would get their costs
    by alphabetical order, so ``pos_label`` is required, unless the two classes are treated alike (``symmetric``).

    Examples
    --------
    >>> from uneven.labels import positive_label
    >>> positive_label(None, [-1, 1]), positive_label("fraud", ["fraud", "ok"])
    (1, 'fraud')
    """
    labels = list(present)
    shown = " and ".join(sorted(map(repr, labels)))
    if pos_label is None:
        if set(labels) <= {0, 1} or set(labels) <= {-1, 1}:
            return 1
        if symmetric:
            return max(labels)
        raise CostError(
            f"pos_label must say which of the labels {shown} is the positive class, the one whose misses cost fn_cost"
        )
    if not _is_label(pos_label) or _is_missing(pos_label) or (len(labels) == 2 and pos_label not in labels):
        raise CostError(
            f"pos_label must be one of the labels {shown}, got {brief(pos_label)}{_encoded(pos_label, labels)}"
        )
    return pos_label


def _encoded(pos_label: Any, labels: list[Any]) -> str:
    """What probably happened if a text is the positive class of labels 0 and 1."""
    if not isinstance(pos_label, str) or set(labels) != {0, 1}:
        return ""
    return (
        ": some tools of scikit-learn (CalibratedClassifierCV, StackingClassifier, VotingClassifier, cross_val_predict "
        "for probabilities) replace labels by 0 and 1 in sorted order before they reach the learner; give neg_label "
        f"too, or give them y == {brief(pos_label)} as labels and leave pos_label out"
    )


def where_positive(pos_label: Any, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """For each array of labels, a boolean array that says where its label is the positive one."""
    present = distinct_labels(*arrays)
    if len(present) > 2:
        few = ", ".join(sorted(map(repr, present))[:6])
        raise CostError(f"labels must come from two classes, got {len(present)}: {few}")
    positive = positive_label(pos_label, present)
    return tuple(np.asarray(array == positive, dtype=bool) for array in arrays)


def two_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two classes to learn, sorted, and for each label the index of its class as int8.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.labels import two_classes
    >>> classes, index = two_classes(np.array(["ok", "fraud", "ok"]))
    >>> classes.tolist(), index.tolist()
    (['fraud', 'ok'], [1, 0, 1])
    """
    require_classes(y)
    found = distinct_labels(y)
    if len(found) == 1:
        raise CostError(
            f"the labels must come from two classes, got one class only: {brief(found[0])}; a classifier needs "
            "examples of both"
        )
    if len(found) > 2:  # scikit-learn's checks look for the first two sentences
        raise CostError(
            "Only binary classification is supported. The type of the target is multiclass: got "
            f"{len(found)} classes, {brief(found)}; one class against the rest would work"
        )
    classes = np.unique(np.array(found, dtype=y.dtype))
    return classes, np.asarray(y == classes[1]).astype(np.int8)


def several_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes to learn, sorted, at least two, and for each label the number of its class.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.labels import several_classes
    >>> classes, index = several_classes(np.array(["mid", "low", "high", "low"]))
    >>> classes.tolist(), index.tolist()
    (['high', 'low', 'mid'], [2, 1, 0, 1])
    """
    require_classes(y)
    try:
        classes, index = np.unique(y, return_inverse=True)
    except TypeError:
        raise CostError(f"y must hold labels that can be sorted, got {brief(distinct_labels(y))}") from None
    if classes.size < 2:
        raise CostError(
            f"the labels must come from two classes or more, got one class only: {brief(classes.tolist()[0])}; a "
            "classifier needs examples of both"
        )
    return classes, np.asarray(index, dtype=np.intp)


def require_classes(y: np.ndarray) -> None:
    """Raise for missing labels and for measurements such as 0.37, which are no classes."""
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise CostError("y must hold labels, got NaN or an infinite number among them; drop those rows")
    if y.dtype.kind in "biuUS" or (y.dtype.kind == "f" and bool((y == np.floor(y)).all())):
        return
    if y.dtype.kind == "O" and any(map(_is_missing, y.tolist())):
        raise CostError("y must not contain missing labels (None or NaN); drop those rows")
    from sklearn.utils.multiclass import check_classification_targets

    check_classification_targets(y)


def positive_class(classes: np.ndarray, pos_label: Any, *, symmetric: bool, neg_label: Any = None) -> int:
    """The index of the positive one of two sorted classes; see :func:`positive_label`.

    With ``neg_label`` the classes may also be 0 and 1 that stand for the two labels in sorted order, as tools of
    scikit-learn encode them.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.labels import positive_class
    >>> positive_class(np.array(["fraud", "ok"]), "fraud", symmetric=False, neg_label="ok")
    0
    >>> positive_class(np.array([0, 1]), "fraud", symmetric=False, neg_label="ok")
    0
    """
    labels = classes.tolist()
    if neg_label is None:
        return labels.index(positive_label(pos_label, labels, symmetric=symmetric))
    if pos_label is None:
        raise CostError(f"neg_label needs pos_label, the name of the positive class, got neg_label={brief(neg_label)}")
    named = [neg_label, pos_label]
    if all(map(_is_label, named)) and neg_label != pos_label:
        if set(named) == set(labels):
            return labels.index(pos_label)
        if set(labels) == {0, 1}:
            try:
                return sorted(named).index(pos_label)
            except TypeError:  # a text and a number have no order
                pass
    raise CostError(
        f"pos_label and neg_label must be the two labels {' and '.join(map(repr, labels))}, got {brief(pos_label)} and "
        f"{brief(neg_label)}"
    )


def read_target(y: Any, count: int) -> np.ndarray:
    """The labels of a training set, one for each of ``count`` rows, as scikit-learn's own learners take them."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biufUS" and y.size == count:
        return np.ascontiguousarray(y)
    from sklearn.utils.validation import check_consistent_length

    labels = one_column(y)
    check_consistent_length(np.empty((count, 0)), labels)
    return labels


def one_column(y: Any) -> np.ndarray:
    """Labels in one dimension; a matrix of one column is taken, with the warning that scikit-learn's own would give."""
    from sklearn.exceptions import DataConversionWarning
    from sklearn.utils import column_or_1d

    labels = np.asarray(column_or_1d(y))
    if np.asarray(y).ndim == 2:
        warn_caller(
            "A column-vector y was passed when a 1d array was expected; it is read as 1d, and y.ravel() is one",
            DataConversionWarning,
        )
    return labels


def read_weights(sample_weight: Any, count: int) -> np.ndarray:
    """Finite nonnegative weights, not all 0; empty if none are given. One number is the weight of every row."""
    if sample_weight is None:
        return np.empty(0)
    weight, scalar = inputs.float_array("sample_weight", sample_weight, CostError)
    if scalar:
        weight = np.full(count, weight[0])
    if weight.shape != (count,):
        raise CostError(f"sample_weight must be {count} numbers, one for each row, got shape {weight.shape}")
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    least, largest = weight.min(), weight.max()
    if least < 0 or not np.isfinite(largest):
        raise CostError(f"sample_weight must be finite and nonnegative, got {brief(least if least < 0 else largest)}")
    if largest == 0:
        raise CostError(
            "sample_weight must not be zero for every row: there would be nothing to learn from or to judge"
        )
    return weight


def require_weighted_classes(weight: np.ndarray, index: np.ndarray, classes: np.ndarray) -> None:
    """Raise if all examples of a class have the weight 0; ``index`` is the number of each example's class."""
    for label in range(classes.size):
        if weight.size and not weight[index == label].any():
            raise CostError(
                "the labels must come from two classes, but sample_weight is 0 for every example of class "
                f"{classes[label].item()!r}"
            )


def read_repetitions(sample_weight: Any, count: int) -> np.ndarray:
    """How often each example counts in a sum: its weight, 1 by default. A metric takes no weight that is one number."""
    if sample_weight is None:
        return np.ones(count)
    return read_weights(read_vector("sample_weight", sample_weight), count)


def read_relative_weights(sample_weight: Any, count: int) -> np.ndarray:
    """The same times a power of two, so that their sum is finite: for means, where only ratios matter."""
    weight = read_repetitions(sample_weight, count)
    return np.ldexp(weight, -np.frexp(weight.max())[1])


# The two classes of a learner, and which of them is the positive one.


@dataclass(frozen=True)
class Classes:
    """Sorted labels and the position of the positive one.

    Inside a learner, a score speaks for the positive class. Outside it speaks for ``labels[1]``, as everywhere in
    scikit-learn. The two differ in sign if the positive label is the first one ("fraud" < "ok").

    Attributes
    ----------
    labels : ndarray of shape (2,)
    positive : int
        0 or 1.
    """

    labels: np.ndarray
    positive: int

    @property
    def pos_label(self) -> Any:
        """The label of the positive class, as a Python object."""
        return self.labels.tolist()[self.positive]

    @property
    def neg_label(self) -> Any:
        """The label of the negative class."""
        return self.labels.tolist()[1 - self.positive]

    def turned(self, values: Any) -> Any:
        """Scores or coefficients of the positive class as those of ``labels[1]``, and the other way round."""
        return values if self.positive == 1 else -values

    def in_order(self, negative: Any, positive: Any) -> tuple[Any, Any]:
        """What belongs to the negative and to the positive class, in the order of the labels."""
        return (negative, positive) if self.positive == 1 else (positive, negative)

    def label(self, is_positive: np.ndarray) -> np.ndarray:
        """The label of each row; ``is_positive`` is 1 or True for a positive one."""
        negative, positive = self.in_order(self.labels[:1], self.labels[1:])
        return np.where(is_positive, positive, negative)
