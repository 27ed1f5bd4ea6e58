"""Weights of the members, from their out-of-fold probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from uneven.decisions.scored_rows import row_count

#: Steps of the greedy choice; each adds one member, so that weights are multiples of 1/20.
STEPS = 20

#: Log loss, per row, that counts as much as a factor e between two softmax weights.
TEMPERATURE = 0.02

#: From the probabilities of m members (n rows, m columns; of several classes a third axis), the positive rows, or the
#: number of each row's class, and weights of the rows to m weights.
Weighting = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def of_truth(probability: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """What each column says of the true class: P(positive), or the probabilities of all classes on a third axis."""
    if probability.ndim == 2:
        return np.where(truth[:, None], probability, 1 - probability)
    return np.asarray(np.take_along_axis(probability, truth[:, None, None], axis=2)[:, :, 0])


def log_losses(probability: np.ndarray, is_positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Mean log loss of each column.

    Probabilities are clipped to [e, 1 - e] with e = 1/(n + 2): n rows cannot show more certainty.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.ensemble.weights import log_losses
    >>> log_losses(np.array([[0.5, 1.0], [0.5, 0.0]]), np.array([True, False]), np.ones(2)).round(3).tolist()
    [0.693, 0.288]
    """
    least = 1 / (row_count(weight) + 2)
    said = of_truth(probability, is_positive)
    return np.asarray(-(weight @ np.log(np.clip(said, least, 1 - least))) / weight.sum())


def greedy(probability: np.ndarray, is_positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Add the member that lowers the log loss of the mean most, 20 times, with replacement (Caruana et al., 2004).

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.ensemble.weights import greedy
    >>> truth = np.array([True, False, True, False])
    >>> members = np.array([[0.9, 0.6, 0.1], [0.4, 0.1, 0.9], [0.6, 0.9, 0.1], [0.1, 0.4, 0.9]])
    >>> greedy(members, truth, np.ones(4)).tolist()
    [0.5, 0.5, 0.0]
    """
    least = 1 / (row_count(weight) + 2)
    said = of_truth(probability, is_positive)
    chosen = np.zeros(probability.shape[1])
    total = np.zeros(is_positive.size)
    share = weight / weight.sum()
    for step in range(1, STEPS + 1):
        losses = [-float(share @ np.log(np.clip((total + column) / step, least, 1 - least))) for column in said.T]
        best = int(np.argmin(losses))
        chosen[best] += 1
        total += said[:, best]
    return chosen / STEPS


def half_greedy(probability: np.ndarray, is_positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The mean of the greedy and of equal weights: with few rows, the greedy choice is partly luck.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.ensemble.weights import half_greedy
    >>> half_greedy(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([True, False]), np.ones(2)).tolist()
    [0.75, 0.25]
    """
    return (greedy(probability, is_positive, weight) + 1 / probability.shape[1]) / 2


def softmax(probability: np.ndarray, is_positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weights proportional to exp(-log loss/0.02)."""
    losses = log_losses(probability, is_positive, weight)
    odds = np.exp((losses.min() - losses) / TEMPERATURE)
    return np.asarray(odds / odds.sum())


def equal(probability: np.ndarray, is_positive: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The same weight for all members."""
    return np.full(probability.shape[1], 1 / probability.shape[1])


#: The values of the parameter ``weighting``.
WEIGHTINGS: dict[str, Weighting] = {
    "half_greedy": half_greedy,
    "greedy": greedy,
    "softmax": softmax,
    "equal": equal,
}


def possible_weights(weighting: str, members: int) -> int | None:
    """How many different weights a weighting can give so many members; None if they are not finitely many.

    A bound that holds for all of them at once holds for the chosen ones.

    Examples
    --------
    >>> from uneven.learners.ensemble.weights import possible_weights
    >>> possible_weights("greedy", 2)  # 0, 1/20, ..., 1
    21
    """
    if weighting == "softmax":
        return None
    return 1 if weighting == "equal" else math.comb(STEPS + members - 1, members - 1)


def possible_mixtures(weighting: str, settings: Mapping[str, int], *, some_left_out: bool = False) -> int | None:
    """How many mixtures could have been chosen from members with so many settings each; None if infinitely many.

    Which members are left out, by a time limit or an error, may depend on the rows. A member left out has weight 0,
    which is one of the greedy weights; for the others each set of members that are left counts on its own.

    Examples
    --------
    >>> from uneven.learners.ensemble.weights import possible_mixtures
    >>> possible_mixtures("greedy", {"linear": 4, "svc": 2})
    168
    >>> possible_mixtures("equal", {"linear": 1, "svc": 1, "forest": 1}, some_left_out=True)
    7
    """
    sizes = range(1, len(settings)) if some_left_out and weighting != "greedy" else ()
    weights = possible_weights(weighting, len(settings))
    if weights is None:
        return None
    fewer = sum(math.comb(len(settings), size) * int(possible_weights(weighting, size) or 1) for size in sizes)
    return (weights + fewer) * math.prod(settings.values())
