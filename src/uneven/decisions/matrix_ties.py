"""The cheapest action of each row for one cost matrix, settled in rationals where doubles cannot tell.

A rounding error in an expected cost is a share of 1e-16 of it. It may still be dear: two actions that cost nearly the
same in expectation may differ by a thousand in a class whose estimated probability is 1e-20, and if this class is the
true one more often than that, the wrong one of the two costs a thousand. Theorem M speaks of the action that is the
cheapest, so rows where two actions are this close are decided exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

#: Expected costs that differ by a smaller share may be in the wrong order; rounding is far below it.
_CLOSE = 1e-12
#: Far above what is lost if products are too small for doubles.
_TINY = 1e-300


def settle_ties(shares: np.ndarray, expected: np.ndarray, costs: Sequence[Sequence[Fraction]]) -> np.ndarray:
    """The number of the cheapest action of each row; of equally cheap ones the first.

    Parameters
    ----------
    shares : ndarray of shape (n, classes)
        Probabilities; each double is the number that it is.
    expected : ndarray of shape (n, actions)
        Expected costs above the cheapest action of each class, in doubles: sums of products that are not negative.
    costs : sequence of sequences of Fraction
        For each class the cost of each action.

    Examples
    --------
    In doubles both actions cost 1; the second one does not cost 1,000 if the third class is true after all.

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from uneven.decisions.matrix_ties import settle_ties
    >>> costs = [[Fraction(x) for x in row] for row in ([1, 1, 0, 3], [1, 1, 3, 0], [1000, 0, 0, 0])]
    >>> q = np.array([[0.5, 0.5, 1e-20]])
    >>> settle_ties(q, q @ np.array(costs, dtype=float), costs).tolist()
    [1]
    """
    choice = np.asarray(expected.argmin(axis=1))
    columns = list(zip(*costs, strict=True))
    # Two classes and two actions: one product against another, as the two costs of a binary decision are compared.
    if len(costs) == len(columns) == 2:
        return choice
    different = [a for a, column in enumerate(columns) if column not in columns[:a]]
    some = expected[:, different]
    close = some <= some.min(axis=1, keepdims=True) * (1 + _CLOSE) + _TINY
    rows = np.flatnonzero(close.sum(axis=1) > 1)
    if not rows.size:
        return choice
    distinct, first, inverse = np.unique(shares[rows], axis=0, return_index=True, return_inverse=True)
    settled = np.empty(len(distinct), dtype=choice.dtype)
    for number, (share, row) in enumerate(zip(distinct.tolist(), rows[first].tolist(), strict=True)):
        exact = [(y, Fraction(q)) for y, q in enumerate(share) if q]
        rivals = [different[k] for k in np.flatnonzero(close[row])]
        settled[number] = min(rivals, key=lambda a: (sum(q * columns[a][y] for y, q in exact), a))
    choice[rows] = settled[inverse.reshape(-1)]
    return choice
