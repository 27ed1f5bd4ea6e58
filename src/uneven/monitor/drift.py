"""Which columns look different from the reference, and what that moves in money; and where scores do not fit.

Most drift costs nothing: a column may move far without changing a decision. So a column that differs is put back to
what it was in the reference, value by value, and the model is asked what its decisions would then be expected to cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc

from uneven.monitor.prevalence import ScoredReference

#: A column differs if chance does as much in less than this share of updates, over all columns together.
_CHANCE = 0.01
#: Values kept of a column of numbers; bins in which numbers are compared; rows that the model is asked about.
_QUANTILES, _BINS, _ROWS = 201, 12, 1000
#: Categories compared one by one; more are one.
_MOST_CATEGORIES = 40
#: A text column with more different values than this share of its rows is not compared.
_MOST_DISTINCT = 0.5
#: Edges of the bins of log-odds around the threshold.
_EDGES = np.array([-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0])
#: Log-odds that are near the threshold.
NEAR = 0.5

NUMBER, CATEGORY = "number", "category"


@dataclass(frozen=True)
class ColumnDrift:
    """A column that looks different.

    Attributes
    ----------
    column : str
    money : float
        By how much its drift raises the expected cost per row: the rows as they are, minus with this column put back.
    changed : float
        The share of decisions that it changes.
    what : str
        What is different, in words.
    """

    column: str
    money: float
    changed: float
    what: str

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class ColumnReference:
    """What a column looked like: quantiles of its numbers or counts of its values, and how many were missing.

    Attributes
    ----------
    name : str
    kind : {"number", "category"}
    values : tuple
        Quantiles, or values from the most frequent on.
    counts : tuple of int
        Of the bins of numbers, or of the values; the last two are those of all other values, and of missing ones.
    """

    name: str
    kind: str
    values: tuple[Any, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, name: str, column: Any) -> ColumnReference | None:
        """The reference of a column; None if it is of dates, which always move, or of texts that seldom recur."""
        kind, numbers, texts, missing = _read(column)
        if kind is None or not len(missing):
            return None
        if kind == NUMBER:
            known = numbers[~missing]
            if not known.size:
                return cls(name, CATEGORY, (), (0, int(missing.sum())))
            quantiles = np.quantile(known, np.linspace(0, 1, _QUANTILES), method="inverted_cdf")
            found = cls(name, NUMBER, tuple(quantiles.tolist()), ())
            return cls(name, NUMBER, found.values, tuple(found._count(column).tolist()))
        values, counts = np.unique(texts[~missing], return_counts=True)
        if values.size > max(_MOST_CATEGORIES, _MOST_DISTINCT * len(missing)):
            return None
        order = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
        kept = tuple(values[order].tolist())
        return cls(name, CATEGORY, kept, tuple(cls(name, CATEGORY, kept, ())._count(column).tolist()))

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> ColumnReference:
        """The reference that :meth:`to_dict` told of."""
        return cls(state["name"], state["kind"], tuple(state["values"]), tuple(state["counts"]))

    def _edges(self) -> np.ndarray:
        inner = np.array(self.values)[:: (_QUANTILES - 1) // _BINS][1:]
        return np.unique(inner)

    def _count(self, column: Any) -> np.ndarray:
        _, numbers, texts, missing = _read(column, self.kind)
        if self.kind == NUMBER:
            edges = self._edges()
            bins = np.searchsorted(edges, numbers[~missing], side="left")
            counts = np.bincount(bins, minlength=edges.size + 1)
            return np.append(np.append(counts, 0), missing.sum())
        place = {value: k for k, value in enumerate(self.values)}
        at = np.array([place.get(value, len(place)) for value in texts[~missing]], dtype=np.intp)
        return np.append(np.bincount(at, minlength=len(place) + 1), missing.sum())

    def chance(self, column: Any) -> float:
        """How often chance alone makes two sets of rows differ as much (a chi-squared test)."""
        return two_sample_chance(np.array(self.counts, dtype=float), self._count(column).astype(float))

    def what(self, column: Any) -> str:
        """How a column differs, in words."""
        _, numbers, _, missing = _read(column, self.kind)
        before, now = self.counts[-1] / max(sum(self.counts), 1), float(missing.mean())
        said = []
        if self.kind == NUMBER and not missing.all():
            middle = f"{float(np.median(self.values)):.4g}", f"{float(np.median(numbers[~missing])):.4g}"
            said.append(f"median {middle[1]}, was {middle[0]}")
        elif self.kind == CATEGORY:
            total = max(sum(self.counts), 1)
            shares = self._count(column) / len(missing)
            apart = shares[:-1] - np.array(self.counts[:-1]) / total
            at = int(np.argmax(np.abs(apart))) if apart.size else 0
            name = "values not seen before" if at == len(self.values) else repr(self.values[at])
            if abs(apart[at]) > 0:
                said.append(f"{name} in {shares[at]:.1%} of rows, was {self.counts[at] / total:.1%}")
        if abs(now - before) > 0.005:
            said.append(f"missing in {now:.1%} of rows, was {before:.1%}")
        return "; ".join(said) or "other shares of its values"

    def put_back(self, column: Any, random: np.random.Generator) -> np.ndarray:
        """Values as in the reference for each row, with as little change as possible: ranks of numbers stay."""
        _, numbers, texts, missing = _read(column, self.kind)
        count = missing.size
        wanted = self.counts[-1] / max(sum(self.counts), 1)
        if self.kind == NUMBER:
            rank = np.empty(count)
            order = np.lexsort((random.random(count), np.where(missing, np.inf, numbers)))
            known = int(count - missing.sum())
            rank[order[:known]] = (np.arange(known) + 0.5) / max(known, 1)
            rank[missing] = random.random(int(missing.sum()))
            found = np.quantile(np.array(self.values), rank, method="inverted_cdf")
            out = _choose_missing(missing, wanted, random)
            found[out] = np.nan
            return np.asarray(found)
        found = texts.astype(object)
        found[missing] = None
        names = np.array([*self.values, None], dtype=object)
        target = np.array([*self.counts[: len(self.values)], self.counts[-1]], dtype=float)
        target = np.round(target / max(target.sum(), 1) * count)
        now: dict[Any, list[int]] = {}
        for at, value in enumerate(found):
            now.setdefault(value, []).append(at)
        free: list[int] = []
        lacking: list[Any] = []
        for name, want in zip(names, target, strict=True):
            rows = random.permutation(now.pop(name, [])).astype(int)
            free += rows[int(want) :].tolist()
            lacking += [name] * max(int(want) - rows.size, 0)
        free += [row for rows in now.values() for row in rows]
        for row, name in zip(random.permutation(free).astype(int), lacking, strict=False):
            found[row] = name
        return np.asarray(found)


def _choose_missing(missing: np.ndarray, wanted: float, random: np.random.Generator) -> np.ndarray:
    """Which rows are missing if a share ``wanted`` is: those that are, some fewer or some more."""
    target, order = round(wanted * missing.size), np.lexsort((random.random(missing.size), ~missing))
    found = np.zeros(missing.size, dtype=bool)
    found[order[:target]] = True
    return found


def _read(column: Any, kind: str | None = None) -> tuple[str | None, np.ndarray, np.ndarray, np.ndarray]:
    """The kind of a column, its numbers, its texts, and where it has no value."""
    array = np.asarray(column)
    if array.dtype.kind in "mM" or str(getattr(column, "dtype", "")).startswith("datetime"):
        return None, np.empty(0), np.empty(0), np.zeros(len(array), dtype=bool)
    if kind != CATEGORY and array.dtype.kind in "fiu":
        numbers = array.astype(np.float64)
        return NUMBER, numbers, np.empty(0), ~np.isfinite(numbers)
    if kind == NUMBER:
        from pandas import to_numeric

        numbers = np.asarray(to_numeric(array.ravel(), errors="coerce"), dtype=np.float64)
        return NUMBER, numbers, np.empty(0), ~np.isfinite(numbers)
    objects = array.astype(object)
    missing = np.array([value is None or str(value) in {"nan", "NaT", "<NA>"} for value in objects], dtype=bool)
    return CATEGORY, np.empty(0), np.array([str(value) for value in objects], dtype=object), missing


def two_sample_chance(first: np.ndarray, second: np.ndarray) -> float:
    """The p value of a chi-squared test that two lists of counts have the same shares.

    Kinds with few rows are put together: fewer than 5 are expected of them.
    """
    total = first + second
    n, m = first.sum(), second.sum()
    if not n or not m:
        return 1.0
    few = total * min(n, m) / (n + m) < 5
    if few.any():
        first, second = (np.append(part[~few], part[few].sum()) for part in (first, second))
        total = first + second
    some = total > 0
    if some.sum() < 2:
        return 1.0
    expected = total[some] * n / (n + m), total[some] * m / (n + m)
    statistic = sum(
        float(((part[some] - want) ** 2 / want).sum()) for part, want in zip((first, second), expected, strict=True)
    )
    return float(chdtrc(int(some.sum()) - 1, statistic))


def columns_of(X: Any) -> dict[str, Any]:
    """The columns of a data frame or of an array."""
    if hasattr(X, "columns"):
        return {str(name): X[name] for name in X.columns}
    array = np.asarray(X)
    return {f"x{k}": array[:, k] for k in range(array.shape[1])} if array.ndim == 2 else {}


def reference_columns(X: Any) -> dict[str, ColumnReference]:
    """The references of all columns that can be compared."""
    found = {name: ColumnReference.of(name, column) for name, column in columns_of(X).items()}
    return {name: reference for name, reference in found.items() if reference is not None}


def find_drift(
    references: dict[str, ColumnReference], X: Any, ask: Callable[[Any], tuple[np.ndarray, np.ndarray]], rows: int
) -> list[ColumnDrift]:
    """The columns that differ by more than chance, those that move most money first.

    ``ask`` says for rows what their decisions are expected to cost, and the decisions; X has so many rows.
    """
    columns = columns_of(X)
    limit = _CHANCE / max(len(references), 1)
    differing = [
        name for name, reference in references.items() if name in columns and reference.chance(columns[name]) < limit
    ]
    if not differing:
        return []
    random = np.random.default_rng(0)
    some = np.sort(random.permutation(rows)[:_ROWS])
    part = X.iloc[some] if hasattr(X, "iloc") else np.asarray(X)[some]
    cost, said = ask(part)
    found = []
    for name in differing:
        reference = references[name]
        other_cost, other_said = ask(_with_column(part, name, reference.put_back(columns_of(part)[name], random)))
        changed = float(np.mean(other_said != said))
        found.append(ColumnDrift(name, float((cost - other_cost).mean()), changed, reference.what(columns[name])))
    return sorted(found, key=lambda one: -abs(one.money))


def _with_column(X: Any, name: str, values: np.ndarray) -> Any:
    if not hasattr(X, "columns"):
        X = np.array(X, copy=True)
        X[:, int(name[1:])] = values
        return X
    import pandas as pd

    label = next(one for one in X.columns if str(one) == name)
    dtype = X[label].dtype
    column = pd.Series(values, index=X.index)
    if isinstance(dtype, pd.CategoricalDtype):
        column = column.astype(pd.CategoricalDtype(pd.unique(column.dropna())))
    elif dtype.kind == "f" or not column.isna().any():
        column = column.astype(dtype, errors="ignore")
    return X.assign(**{label: column}) if isinstance(label, str) else X.copy().assign(**{str(label): column})


# -- scores around the threshold --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreReference:
    """How many negatives (first row) and positives of the reference lie in each bin around the threshold."""

    counts: tuple[tuple[float, ...], tuple[float, ...]]

    @classmethod
    def of(cls, margin: np.ndarray, reference: ScoredReference) -> ScoreReference:
        """From log-odds minus those of the threshold."""
        bins = np.searchsorted(_EDGES, margin)
        negative, positive = (
            tuple(np.bincount(bins[kind], reference.weight[kind], _EDGES.size + 1).tolist())
            for kind in (~reference.is_positive, reference.is_positive)
        )
        return cls((negative, positive))

    def near(self, share: float) -> float:
        """The share of rows near the threshold, if so many are positive."""
        negative, positive = (np.array(part) / sum(part) for part in self.counts)
        inner = slice(int(np.searchsorted(_EDGES, -NEAR)) + 1, int(np.searchsorted(_EDGES, NEAR)) + 1)
        return float(((1 - share) * negative + share * positive)[inner].sum())

    def chance(self, margin: np.ndarray, share: float) -> float:
        """How often chance alone makes scores differ as much from a mixture of both classes."""
        negative, positive = (np.array(part) for part in self.counts)
        n, parts = margin.size, []
        mix, noise = np.zeros(negative.size), np.zeros(negative.size)
        for weight, counts in ((1 - share, negative), (share, positive)):
            q = (counts + 0.5) / (counts.sum() + 0.5 * counts.size)
            mix, noise = mix + weight * q, noise + weight**2 * q * (1 - q) / counts.sum()
            parts.append(q)
        seen = np.bincount(np.searchsorted(_EDGES, margin), minlength=mix.size) / n
        some = n * mix >= 5
        if some.sum() < 4:
            return 1.0
        statistic = float(((seen - mix)[some] ** 2 / (mix / n + noise)[some]).sum())
        return float(chdtrc(int(some.sum()) - 2, statistic))
