"""What a user should know about a table before a fit: how it was read, and columns that may know the target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.tables.column_values import distinct_texts

if TYPE_CHECKING:
    from uneven.app.files.table import Table
    from uneven.app.files.table_columns import ClassTarget, Plan, Target


#: A column whose values alone order the rows this well is suspicious.
_NEAR_PERFECT = 0.99
_FEWEST = 10  # rows of each class
_BINS = 50
_ONLY_POSITIVE = 0.99
#: What such a column does, almost and wholly.
_SURE = ("alone predicts the target almost perfectly", "alone predicts the target perfectly")
#: Numbers that are looked at together: a table may have thousands of columns, and calls for one column take long.
_AT_ONCE = 1 << 17


def find_leaks(X: Any, is_positive: np.ndarray) -> dict[str, str]:
    """Suspicious columns, and what each tells about the target."""
    positives = int(is_positive.sum())
    if min(positives, is_positive.size - positives) < _FEWEST:
        return {}
    half = np.random.default_rng(0).permutation(is_positive.size) % 2 == 0
    best, partly = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=bool)
    for some in _column_groups(X):
        first = X.iloc[:, some[0]]
        if hasattr(first, "cat"):
            codes = first.cat.codes.to_numpy().astype(int)[:, None]
            best[some], missing = _order_by_codes(codes, is_positive, half), codes[:, 0] < 0
        else:
            values = X.iloc[:, some].to_numpy()
            missing = np.isnan(values[:, 0])
            best[some] = np.maximum(
                _order_by_numbers(values, missing, is_positive),
                _order_by_codes(_bin_numbers(values, missing), is_positive, half),
            )
        partly[some] = is_positive.mean() <= 0.5 and _only_positive(is_positive, ~missing)
    found = {}
    for k in np.flatnonzero((best >= _NEAR_PERFECT) | partly):
        if best[k] >= _NEAR_PERFECT:
            found[X.columns[k]] = _SURE[int(best[k] == 1)]
        else:
            found[X.columns[k]] = "is filled in almost only for positive rows"
    return found


def _column_groups(X: Any) -> list[np.ndarray]:
    """Positions of columns in groups: numbers without gaps many at once, every other column alone."""
    whole = np.array([dtype.kind == "f" for dtype in X.dtypes])
    whole[whole] = ~X.loc[:, whole].isna().to_numpy().any(axis=0)
    numbers, step = np.flatnonzero(whole), max(1, _AT_ONCE // len(X))
    groups = [numbers[k : k + step] for k in range(0, numbers.size, step)]
    return [*groups, *np.flatnonzero(~whole)[:, None]]


def _only_positive(is_positive: np.ndarray, present: np.ndarray) -> bool:
    enough = _FEWEST <= present.sum() < present.size
    return bool(enough and is_positive[present].mean() >= _ONLY_POSITIVE)


def _share_in_order(scores: np.ndarray, is_positive: np.ndarray) -> np.ndarray:
    """For each column of scores, the share of pairs of a positive and a negative row that it orders rightly.

    This is the area under the ROC curve.
    """
    from scipy.stats import rankdata

    positives = int(is_positive.sum())
    negatives = is_positive.size - positives
    if not positives or not negatives:
        return np.full(scores.shape[1], 0.5)
    ranks = rankdata(scores, axis=0)[is_positive].sum(axis=0) - positives * (positives + 1) / 2
    return np.asarray(ranks / (positives * negatives))


def _order_by_numbers(values: np.ndarray, missing: np.ndarray, is_positive: np.ndarray) -> np.ndarray:
    """How well columns of numbers order the rows, up or down, with missing values last or first."""
    best = np.full(values.shape[1], 0.5)
    for filling in (-np.inf, np.inf) if missing.any() else (0.0,):
        share = _share_in_order(np.where(missing[:, None], filling, values), is_positive)
        best = np.maximum(best, np.maximum(share, 1 - share))
    return best


def _bin_numbers(values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """The bin of each number, between quantiles of its column; -1 if missing."""
    edges = np.sort(np.quantile(values[~missing], np.linspace(0, 1, _BINS + 1)[1:-1], axis=0), axis=0)
    bins = np.empty(values.shape, dtype=int)
    for k in range(values.shape[1]):
        bins[:, k] = np.searchsorted(edges[:, k], values[:, k])
    return np.where(missing[:, None], -1, bins)


def _order_by_codes(codes: np.ndarray, is_positive: np.ndarray, half: np.ndarray) -> np.ndarray:
    """How well the share of positives in each category, counted in one half, orders the other half; mean of both.

    Each column has codes of its own, -1 if missing.
    """
    count = codes.max() + 2
    cells = codes + 1 + count * np.arange(codes.shape[1])
    orders = []
    for counted in (half, ~half):
        of_half = cells[counted].ravel()
        weights = np.repeat(is_positive[counted], codes.shape[1])
        total = np.bincount(of_half, minlength=count * codes.shape[1])
        positive = np.bincount(of_half, weights=weights, minlength=count * codes.shape[1])
        share = (positive + is_positive.mean()) / (total + 1)
        orders.append(_share_in_order(share[cells[~counted]], is_positive[~counted]))
    return np.asarray(np.mean(orders, axis=0))


# -- sentences about a table -------------------------------------------------------------------------------------------


def about_table(
    table: Table, plan: Plan, X: Any, labels: Target | ClassTarget, width: int, leaks: dict[str, str]
) -> Iterator[str]:
    """Sentences: how the table was read, which columns are not used, and which look suspicious."""
    yield from about_reading(table, plan, X, labels, width)
    for name, why in leaks.items():
        option = f'--drop "{name}"' if " " in name else f"--drop {name}"
        yield f"WARNING: column {name!r} {why}. If it is not known when you decide, leave it out: {option}"


def leaking_columns(X: Any, labels: Target | ClassTarget) -> dict[str, str]:
    """Columns of the table that may give the target away, and what each tells about it.

    With several classes, columns that tell every one of them from the others.
    """
    from uneven.app.files.table_columns import Target, with_parts

    parts, source = with_parts(X)
    leaks = find_leaks(parts, labels.is_positive) if isinstance(labels, Target) else _leaks_of_all(parts, labels)
    found: dict[str, str] = {}
    for name, why in leaks.items():
        found.setdefault(source[name], why)
    return found


def _leaks_of_all(parts: Any, labels: ClassTarget) -> dict[str, str]:
    leaks = dict.fromkeys(parts.columns, _SURE[1])
    enough = [k for k, count in enumerate(labels.counts) if count >= _FEWEST]
    for k in enough:
        found = find_leaks(parts[list(leaks)], labels.codes == k) if leaks else {}
        leaks = {name: min(leaks[name], why, key=_SURE.index) for name, why in found.items() if why in _SURE}
    return leaks if enough else {}


def about_reading(table: Table, plan: Plan, X: Any, labels: Target | ClassTarget, width: int) -> Iterator[str]:
    """Sentences: how the table was read, and which columns are not used."""
    from uneven.tables.columns import DATE, NUMBER

    yield table.in_words()
    yield labels.in_words()
    unlabelled = int((~labels.known).sum())
    if unlabelled:
        yield f"{unlabelled:,} {'row' if unlabelled == 1 else 'rows'} without a label skipped."
    yield from plan.remarks
    for name, why in plan.skipped.items():
        yield f"Column {name!r} skipped: {why}."
    gaps = dict(zip(X.columns, X.isna().to_numpy().sum(axis=0).tolist(), strict=True))
    for column in plan.columns:
        missing = gaps[column.name]
        if missing:
            filled = column.role in (NUMBER, DATE)
            how = "filled with the mean and flagged" if filled else "treated as a category"
            yield f"Column {column.name!r}: {missing:,} missing {'value' if missing == 1 else 'values'}, {how}."
    free = sum(column.words for column in plan.columns)
    words = f", and the words of {free}" if free else ""
    yield f"The model sees {width:,} columns made from {len(plan.columns) - free} of the table{words}."


def new_categories(preprocessing: Any, X: Any) -> list[str]:
    """How many values a model has never seen in the columns of categories: one sentence for each column."""
    import numpy as np

    found = []
    encoder = preprocessing.blocks_.named_transformers_["categories"]
    for name, known in zip(getattr(encoder, "names_", ()), getattr(encoder, "categories_", ()), strict=True):
        if name not in X.columns:  # a part of a date
            continue
        column = X[name]
        new = np.flatnonzero(~column.cat.categories.isin(known))
        rows = int(column.cat.codes.isin(new).sum())
        if rows:
            have = "row has" if rows == 1 else "rows have"
            found.append(f"Column {name!r}: {rows:,} {have} a value that was rare or absent in training.")
    return found


def repeated_ids(table: Table, name: str | None) -> str:
    """A sentence if names of rows occur more than once; else ""."""
    if name is None or name not in table.frame.columns:
        return ""
    codes, names = distinct_texts(table.texts(name))
    counts = np.bincount(codes[codes >= 0], minlength=names.size)
    twice = np.flatnonzero(counts > 1)
    if not twice.size:
        return ""
    ids = "1 ID occurs" if twice.size == 1 else f"{twice.size:,} IDs occur"
    return f"Column {name!r}: {ids} more than once, in {int(counts[twice].sum()):,} rows (such as {names[twice[0]]!r})."
