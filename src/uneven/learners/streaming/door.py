"""The door of a linear learner for rows that are not an array in memory: its ``fit``, and its scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven._inputs import brief
from uneven.costs import COSTS, GivenCosts, RowCosts
from uneven.errors import CostError, ParameterError
from uneven.learners.base import Problem
from uneven.learners.contract import costs_of_fit
from uneven.learners.costs_and_loss import plain_numbers, read_cost
from uneven.learners.linear_penalty import penalty_weights
from uneven.learners.reading import require_finite
from uneven.learners.streaming import fitting
from uneven.learners.streaming.batch import Source, batches
from uneven.learners.streaming.frame_columns import encoded, table_of_frame
from uneven.learners.streaming.loop import BlockLoop
from uneven.learners.streaming.rows import StreamedRows, per_row
from uneven.losses import Loss
from uneven.solvers.linear.solution import Solution
from uneven.solvers.threads import thread_count

if TYPE_CHECKING:
    from uneven.learners.linear import UnevenLinearClassifier

#: Share of the memory limit that blocks may take; the rest is for blocks that are read ahead, the sample and sums.
_FOR_BLOCKS = 0.6
#: The same for what is being read and decoded.
_FOR_LOADS = 0.3


def as_rows(X: Any, y: Any, sample_weight: Any, target: Any, columns: Any) -> StreamedRows:
    """What was given to ``fit``, as rows."""
    if isinstance(X, StreamedRows):
        for name, value in (("y", y), ("sample_weight", sample_weight), ("target", target), ("columns", columns)):
            if value is not None:
                raise ParameterError(f"{name} belongs to StreamedRows itself here, got {brief(value)}; give it there")
        return X
    if y is not None and target is not None:
        raise ParameterError(f"give the labels as y or as target=, not both, got target={brief(target)}")
    return StreamedRows(X, target=target if y is None else y, columns=columns, sample_weight=sample_weight)


def fit(learner: UnevenLinearClassifier, rows: StreamedRows, given: GivenCosts) -> tuple[Solution, bool]:
    """Fit a learner to rows in parts; ``given`` are the costs given to ``fit``.

    Returns the solution, and whether the classes are separated without a penalty.
    """
    before = learner._last_theta()
    four = {name: getattr(learner, name) if given[name] is None else given[name] for name in COSTS}
    source = rows.source(per_row(given))
    first = next(batches(source), None)
    if first is None or first.y is None:
        raise CostError("there are no rows: the data are empty")
    numbers = {name: value for name, value in four.items() if name not in source.row_costs}
    costs = None if source.row_costs else read_cost(**costs_of_fit(learner, given))
    finished = learner.loss if isinstance(learner.loss, Loss) else None
    marking = fitting.first_marking(first.y, learner.pos_label, costs, numbers, finished)
    either: Any = costs or RowCosts.read(1, **{**numbers, **{name: np.ones(1) for name in source.row_costs}})
    loss = learner._loss_for(either)
    settings = learner._settings()
    loop = BlockLoop(
        source,
        marking,
        int(_FOR_BLOCKS * rows.bytes),
        kinked=any(partial.function.kinks for partial in loss.partials if hasattr(partial.function, "kinks")),
        workers=_workers(source, rows.bytes),
        progress=settings.progress,
    )
    seen = fitting.look(
        loop,
        marking,
        first,
        positive=lambda classes: learner._positive_of(classes, costs),
        seed=int(settings.random.integers(2**31)),
    )
    loop.with_marking(seen.marking)
    learner._keep_classes(seen.classes)
    learner.n_features_in_ = first.X.shape[1]
    learner.__dict__.pop("feature_names_in_", None)
    if source.names is not None:
        learner.feature_names_in_ = np.array(source.names, dtype=object)
    learner._table_plan = getattr(source, "plan", None)
    weighting = fitting.weighting_of(seen.survey, costs, finished)
    kept = fitting.constant_sums(seen.survey, numbers)
    problem = Problem(None, weighting.y, weighting.row_factors, seen.classes, either, plain_numbers(numbers), kept)
    learner._remember(problem, weighting.scale, loss)
    solution, separated = fitting.solved(
        loop,
        seen,
        learner._pair(loss, weighting),
        penalty_weights(learner.penalty, learner.l1_ratio),
        bool(learner.fit_intercept),
        fitting.standardisation(seen.survey, rows.standardize, source.numbers),
        settings,
        before,
    )
    learner._keep(solution, problem)
    return solution, separated


def _workers(source: Source, limit: int) -> int:
    """Threads, each of which has a load in memory; on many cores fewer than cores, so that the limit holds."""
    of_one = max(int(getattr(source, "bytes_of_load", 0)), 1)
    return max(2, min(thread_count(), int(_FOR_LOADS * limit) // of_one))


def scores(learner: Any, X: Any) -> np.ndarray:
    """Scores of the positive class for rows in parts, one number per row."""
    return np.concatenate([score for score, _ in _scored(learner, _to_predict(learner, X))])


def scores_of_frame(learner: Any, frame: Any) -> np.ndarray:
    """Scores of a dataframe in memory, if the learner was fitted to a table: its columns become numbers like those."""
    X = encoded(learner._table_plan, table_of_frame(frame), "X")
    require_finite("X", X)
    found: np.ndarray = learner._score(X)
    return found


def decided(
    learner: Any, X: Any, given: dict[str, Any]
) -> Iterator[tuple[np.ndarray, np.ndarray | None, np.ndarray, np.ndarray]]:
    """For each batch: where the positive class is decided, its probability (if known), the score, and the label.

    ``given`` are costs in place of those of the fit.
    """
    for score, _ in _scored(learner, _to_predict(learner, X)):
        is_positive = _decided(learner, score, given)
        known = not learner._has_row_costs and hasattr(learner, "predict_proba")
        probability = learner.loss_.inverse_link(score) if known else None
        yield is_positive, probability, score, learner._classes.label(is_positive)


def judged(
    learner: Any, rows: StreamedRows, given: dict[str, Any], costs: dict[str, str]
) -> Iterator[tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]]:
    """For each batch of a table with labels: where the positive class is decided, where it is right, costs of rows.

    ``given`` are costs in place of those of the fit, ``costs`` names of columns that are read as well.
    """
    source = rows.to_judge(learner.__dict__.get("_table_plan"), costs)
    for number, (score, batch) in enumerate(_scored(learner, source)):
        unknown = np.flatnonzero(~np.isin(batch.y, learner.classes_))
        if unknown.size:
            known = " or ".join(map(repr, learner.classes_.tolist()))
            raise CostError(
                f"labels must be {known}, got {brief(batch.y[unknown[0]].item())} in row {unknown[0]} of batch "
                f"{number} (both count from 0)"
            )
        yield _decided(learner, score, given), batch.y == learner._classes.label(np.array([True]))[0], batch.costs


def _decided(learner: Any, score: np.ndarray, given: dict[str, Any]) -> np.ndarray:
    return np.asarray(learner._decision(score, GivenCosts(**given)) > 0)


def _to_predict(learner: Any, X: Any) -> Source:
    rows = X if isinstance(X, StreamedRows) else StreamedRows(X)
    return rows.to_predict(learner.__dict__.get("_table_plan"))


def _scored(learner: Any, source: Source) -> Iterator[tuple[np.ndarray, Any]]:
    """The scores of each batch, and the batch."""
    for number, batch in enumerate(batches(source)):
        if batch.X.shape[1] != learner.n_features_in_:
            raise CostError(
                f"batch {number} has {batch.X.shape[1]} columns, but the model was fitted with {learner.n_features_in_}"
            )
        part = learner._score(batch.X)
        if not np.isfinite(part).all():
            row = int(np.flatnonzero(~np.isfinite(part))[0])
            raise CostError(
                f"X must hold finite numbers, but row {row} of batch {number} (both count from 0) has a score that is "
                "not finite; fill in or drop such values before"
            )
        yield part, batch
