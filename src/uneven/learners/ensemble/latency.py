"""How long members take to predict, which of them a limit leaves, and how long the mixture takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from uneven.learners.ensemble.mixture import FittedMember, Mixture, encode
from uneven.learners.out_of_fold import positive_probability

#: Rows of one call whose time is measured.
BATCH = 1_000
#: A call is repeated so often, or until all repetitions took so many seconds. The shortest counts: other programs can
#: only make it longer.
_REPEATS, _ENOUGH = 5, 0.5


@dataclass(frozen=True)
class Times:
    """Milliseconds for 1,000 rows in one call, measured.

    Attributes
    ----------
    members : mapping of str to float
        Of each member's model, from the matrix that it takes.
    views : mapping of str to float
        Of making each matrix, once for all members that take it.
    view_of : mapping of str to str
        The view that each member takes; members that take the table as it is are not there.
    """

    members: Mapping[str, float]
    views: Mapping[str, float] = field(default_factory=dict)
    view_of: Mapping[str, str] = field(default_factory=dict)

    def of(self, names: Collection[str]) -> float:
        """Of some members together.

        Examples
        --------
        >>> from uneven.learners.ensemble.latency import Times
        >>> Times({"forest": 8.0, "catboost": 3.0}, {"trees": 1.0}, {"forest": "trees", "catboost": "trees"}).of(
        ...     ["forest", "catboost"]
        ... )
        12.0
        """
        views = {self.view_of[name] for name in names if name in self.view_of}
        return sum(self.members[name] for name in names) + sum(self.views[view] for view in sorted(views))


@dataclass(frozen=True)
class Limits:
    """What a mixture may need.

    Attributes
    ----------
    members : int or None
        Most members.
    milliseconds : float or None
        Most time for 1,000 rows.
    times : Times or None
        Needed with ``milliseconds``.
    """

    members: int | None = None
    milliseconds: float | None = None
    times: Times | None = None

    def allow(self, names: Collection[str]) -> bool:
        """Whether these members may be used together."""
        if self.members is not None and len(names) > self.members:
            return False
        return self.milliseconds is None or self.times is None or self.times.of(names) <= self.milliseconds

    def possible(self, names: Sequence[str]) -> list[str]:
        """The members that may be used alone; if there are none, the fastest."""
        found = [name for name in names if self.allow([name])]
        if found or self.times is None:
            return found
        return [min(names, key=lambda name: self.times.of([name]))]  # type: ignore[union-attr]


@dataclass(frozen=True)
class Latency:
    """How long a fitted ensemble takes to predict probabilities: measured at the end of the fit, on its machine.

    Attributes
    ----------
    limit : float
        ``max_latency``.
    members : dict of str to float
        Milliseconds that the model of each member takes for 1,000 rows, also of those that are not used.
    views : dict of str to float
        Milliseconds for making the matrix that members share, for 1,000 rows.
    expected : float
        By these numbers, of the members in use; they were chosen by it.
    of_all : float
        By these numbers, of all members.
    measured : float
        Milliseconds of the fitted ensemble for 1,000 rows in one call.
    one_row : float
        Milliseconds of the fitted ensemble for one row in one call.
    price : float
        What the limit costs per row, out of fold: ``pruning_.price``.
    """

    limit: float
    members: dict[str, float]
    views: dict[str, float]
    expected: float
    of_all: float
    measured: float
    one_row: float
    price: float

    def in_words(self, unit: str | None = None) -> str:
        """The same as a sentence."""
        from uneven.costs import money

        return (
            f"1,000 rows take {self.measured:.3g} ms in one call, one row {self.one_row:.3g} ms; the limit is "
            f"{self.limit:g} ms for 1,000 rows, and all members would take {self.of_all:.3g} ms. The limit costs "
            f"{money(self.price, unit)} per row."
        )


def time_members(members: Mapping[str, FittedMember], view_of: Mapping[str, str], X: Any) -> Times:
    """Measure each member, by the first of its models."""
    rows = take_batch(X)
    views: dict[str, float] = {}
    matrices: dict[str, Any] = {}
    found: dict[str, float] = {}
    for name, member in members.items():
        matrix, view = rows, view_of.get(name)
        if view is not None:
            if view not in views:
                matrices[view] = encode(member.encoders[0], rows)
                views[view] = milliseconds(partial(encode, member.encoders[0], rows))
            matrix = matrices[view]
        said = partial(positive_probability, member.models[0], matrix, member.positive, member.sigmoid)
        found[name] = milliseconds(said)
    return Times(found, views, dict(view_of))


def time_mixture(mixture: Mixture, limits: Limits, price: float, X: Any) -> Latency:
    """Measure the fitted ensemble, whose members were chosen by measured times."""
    assert limits.times is not None
    assert limits.milliseconds is not None
    times = limits.times
    rows = take_batch(X)
    one = _safe_indexing(rows, np.arange(1))
    return Latency(
        limits.milliseconds,
        dict(times.members),
        dict(times.views),
        times.of(list(mixture.members)),
        times.of(list(times.members)),
        milliseconds(lambda: mixture.probability(rows)),
        milliseconds(lambda: mixture.probability(one)),
        float(price),
    )


def take_batch(X: Any) -> Any:
    """1,000 rows; of fewer, some several times."""
    return _safe_indexing(X, np.resize(np.arange(min(BATCH, _num_samples(X))), BATCH))


def milliseconds(call: Callable[[], Any]) -> float:
    """The shortest of some repetitions."""
    shortest, began = np.inf, time.perf_counter()
    for _ in range(_REPEATS):
        started = time.perf_counter()
        call()
        shortest = min(shortest, time.perf_counter() - started)
        if time.perf_counter() - began > _ENOUGH:
            break
    return 1000 * float(shortest)
