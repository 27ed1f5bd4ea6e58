"""Whether an exported model says what its learner says: both are asked about the same rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from uneven.errors import needs_extra
from uneven.inputs import brief

with needs_extra("ONNX models", "export"):
    import onnxruntime

#: Rows of the user that are compared: more would take long for a slow model, and find little more.
_MOST_GIVEN = 2000
#: Rows that are made up in each of two ways from those of the user.
_MADE_UP = 512
#: Pairs of rows with different labels, and how often the way between them is halved: a step is a row to compare.
_PAIRS, _HALVINGS = 64, 12
#: Single precision, in which skl2onnx computes, cannot tell a score from 0 that is below this share of the usual ones.
_ROUNDING = 1e-4


def difference(model: Any, exported: Any, X: Any, *, ties: bool) -> str | None:
    """What an exported model does otherwise than the fitted model it was made from; None if there is nothing.

    Both get the same numbers: rows are rounded to the precision of the exported model's input first. What counts is the
    label. It does not count where the score of Python is so near to the threshold that single precision cannot tell the
    side, but is not on it.

    Parameters
    ----------
    model : fitted classifier
    exported : onnx.ModelProto
    X : array of shape (n_samples, n_features) or DataFrame
        Rows to compare, and to make up others from.
    ties : bool
        Whether rows with a score of exactly 0 count: those of a forest are many, those of a line a matter of rounding.
    """
    try:
        run = _Runner(exported)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about names of columns, which exported models do not have
            rows, usual = _rows(model, X, run)
            here = _lead(model.decision_function(rows))
            labels = model.predict(rows).tolist()
        label, score = run(rows)
    except _CannotRun as error:
        return f"onnxruntime cannot run the model that skl2onnx makes of it ({error})"
    wrong = np.array([a != b for a, b in zip(label.tolist(), labels, strict=True)])
    wrong &= (np.abs(here) > _ROUNDING * usual) | (ties & (here == 0))
    if not wrong.any():
        return None
    clearest = int(np.argmax(np.where(wrong, np.abs(here), -1)))
    return (
        f"for {wrong.sum():,} of {wrong.size:,} rows the exported model gives another label than Python, such as for a "
        f"row with the score {here[clearest]:.4g} in Python and {_lead(score)[clearest]:.4g} in ONNX"
    )


class _CannotRun(Exception):
    """The runtime refuses the exported model."""


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # onnxruntime has many errors, with no class in common
        raise _CannotRun(brief((str(error).splitlines() or [""])[0])) from None


class _Runner:
    """The exported model as a function of rows."""

    def __init__(self, exported: Any) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors only
        with _refusals():
            self._session = onnxruntime.InferenceSession(exported.SerializeToString(), options)
        self._inputs = self._session.get_inputs()

    def rounded(self, X: Any) -> Any:
        """The same numbers in the precision of the input."""
        if hasattr(X, "columns"):
            return X
        return np.asarray(X, dtype=np.float32 if self._inputs[0].type == "tensor(float)" else np.float64)

    def __call__(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores."""
        feed = {entry.name: X for entry in self._inputs}
        if hasattr(X, "columns"):  # skl2onnx makes one input of each column
            feed = {entry.name: X[[entry.name]].to_numpy() for entry in self._inputs}
        with _refusals():
            label, score = self._session.run(["label", "score"], feed)
        return label, score


def _rows(model: Any, X: Any, run: _Runner) -> tuple[Any, float]:
    """Rows to compare, in the precision of the exported model, and the usual distance of a score from 0."""
    X = X.toarray() if hasattr(X, "toarray") else X
    chosen = np.unique(np.linspace(0, len(X) - 1, min(len(X), _MOST_GIVEN)).astype(int))
    given = X.iloc[chosen] if hasattr(X, "iloc") else run.rounded(X)[chosen]
    if not hasattr(given, "columns"):
        random = np.random.default_rng(0)
        rows = np.concatenate([given, run.rounded(_rows_around(given, random))])
        try:
            usual = _usual(model.decision_function(rows))
            return np.concatenate([rows, run.rounded(_rows_near_threshold(rows, model.predict, random))]), usual
        except Exception:  # any step may refuse what we made up, such as a category that it does not know
            pass
    return given, _usual(model.decision_function(given))


def _lead(scores: Any) -> np.ndarray:
    """The score; of several, by how much the largest one leads."""
    found = np.asarray(scores, dtype=np.float64)
    return found if found.ndim == 1 else -np.diff(np.sort(found, axis=1)[:, :-3:-1], axis=1)[:, 0]


def _usual(scores: np.ndarray) -> float:
    leads = _lead(scores)
    finite = np.abs(leads[np.isfinite(leads)])
    return float(np.median(finite)) if finite.size else 0.0


def _rows_around(rows: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows near the given ones and far from them, which have probabilities of 0 and 1, and rows at splits of trees."""
    spread, size = np.nanstd(rows, axis=0), np.nanmean(np.abs(rows), axis=0)
    spread = np.where(spread > 0, spread, np.where(size > 0, size, 1.0))
    chosen = rows[random.integers(len(rows), size=_MADE_UP)].astype(np.float64)
    far = np.geomspace(0.1, 10, _MADE_UP)[:, None]
    made = np.concatenate([chosen + far * spread * random.normal(size=chosen.shape), _at_splits(rows, random)])
    never_negative = ~(rows < 0).any(axis=0)  # counts and amounts
    return np.where(never_negative, np.abs(made), made)


def _at_splits(rows: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows with numbers halfway between two neighbours of a column: trees split there, and round them each in its way.

    Data with few decimals have such numbers often.
    """
    made = rows[random.integers(len(rows), size=_MADE_UP)].astype(np.float64)
    for j in range(rows.shape[1]):
        known = np.unique(rows[:, j][np.isfinite(rows[:, j])]).astype(np.float64)
        if known.size > 1:
            halfway = (known[1:] + known[:-1]) / 2
            made[:, j] = np.where(random.random(len(made)) < 0.5, random.choice(halfway, len(made)), made[:, j])
    return made


def _rows_near_threshold(
    rows: np.ndarray, predict: Callable[[Any], np.ndarray], random: np.random.Generator
) -> np.ndarray:
    """Rows nearer and nearer to the threshold: on the way between two rows with different labels."""
    labels = predict(rows)
    first = labels == labels[0]
    if first.all():
        return rows[:0]
    left, right = (rows[random.choice(np.flatnonzero(side), _PAIRS)].astype(np.float64) for side in (first, ~first))
    found = []
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        like_left = (predict(middle.astype(rows.dtype)) == labels[0])[:, None]
        left, right = np.where(like_left, middle, left), np.where(like_left, right, middle)
        found.append(middle)
    return np.concatenate(found)
