"""A linear learner on rows that nobody holds at once: one fit for files, batches, Dask and Spark, and predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven.calibration.calibrated_losses import only_alpha
from uneven.costs import COSTS, Cost, GivenCosts, RowCosts, plain_numbers, read_cost
from uneven.errors import CostError, LossError
from uneven.inputs import brief, exact, to_float
from uneven.labels import Classes
from uneven.learners.base import LinearScores, penalty_weights
from uneven.learners.constant_rules import sums_of_classes
from uneven.learners.contract import costs_of_fit
from uneven.learners.cost_range import spread_prior
from uneven.learners.training_set import TrainingSet, Weighting, of_classes
from uneven.losses import Loss
from uneven.parts.blocks import Batch, Source, batches
from uneven.parts.streamed_rows import StreamedRows, is_streamed
from uneven.solvers.running import require_finite

if TYPE_CHECKING:
    from uneven.parts.fitting import RowsInParts
    from uneven.parts.summed_answers import Survey
    from uneven.solvers.linear.pair_of_losses import PairOfLosses
    from uneven.solvers.linear.solver import Settings, Solution


@dataclass(frozen=True)
class PredictedBatch:
    """What a model says about some rows.

    Attributes
    ----------
    batch : Batch
        The rows, with the labels and costs that were asked for.
    score : ndarray
        Scores of the positive class.
    is_positive : ndarray of bool
        Where the positive class is decided.
    classes : Classes
    loss : Loss, optional
        The loss that makes probabilities of scores, if the model knows them.
    """

    batch: Batch
    score: np.ndarray
    is_positive: np.ndarray
    classes: Classes
    loss: Loss | None = None

    @property
    def label(self) -> np.ndarray:
        """The decision for each row, as a label."""
        return self.classes.label(self.is_positive)

    @property
    def probability(self) -> np.ndarray | None:
        """The probability of the positive class, if it is known."""
        return None if self.loss is None else np.asarray(self.loss.inverse_link(self.score))

    @property
    def truth(self) -> np.ndarray:
        """Where the rows are positive by their own labels."""
        return np.asarray(self.batch.y == self.classes.pos_label)


class LearnsInParts(LinearScores):
    """A linear learner that can be fitted to rows in parts, and predicts them.

    A subclass has the parameters ``penalty``, ``l1_ratio`` and ``fit_intercept``, and says how it reads its parameters,
    which losses it minimises, with which settings, and what it keeps of a solution.
    """

    penalty: Any
    l1_ratio: Any
    fit_intercept: Any

    @abstractmethod
    def _read_parameters(self) -> None: ...

    @abstractmethod
    def _pair(self, loss: Loss, weighting: Weighting) -> PairOfLosses: ...

    @abstractmethod
    def _settings(self) -> Settings: ...

    @abstractmethod
    def _last_theta(self) -> np.ndarray | None: ...

    @abstractmethod
    def _keep(self, solution: Solution, problem: TrainingSet) -> None: ...

    @abstractmethod
    def _warn(self, solution: Solution, separated: bool) -> None: ...

    def fit_parts(
        self, parts: RowsInParts, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> Self:
        """Fit to rows that nobody holds at once. ``fit`` calls it for files, batches and Dask collections.

        The learner is changed only if the fit succeeds.

        Parameters
        ----------
        parts : RowsInParts
            Whoever holds the rows: it answers questions about them.
        fp_cost, fn_cost, tp_cost, tn_cost : number, optional
            Those that the parts do not bring for each row; by default the constructor's.

        Returns
        -------
        UnevenLinearClassifier
        """
        from uneven.parts.blocks import BlockMaker
        from uneven.parts.fitting import guess_positive, look, solve

        self._read_parameters()
        if spread_prior(self) is not None:
            raise LossError(
                f"data in parts need a convex loss, and the mean cost over cost_range={brief(self.cost_range)} is not; "
                "fp_cost and fn_cost would work, and predict_proba serves every ratio"
            )
        before, settings = self._last_theta(), self._settings()
        four = costs_of_fit(self, GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost))
        numbers = {name: value for name, value in four.items() if name not in parts.row_costs}
        regrets = parts.regrets if parts.row_costs else read_cost(**four)
        costs = regrets or RowCosts.read(1, **{**numbers, **{name: np.ones(1) for name in parts.row_costs}})
        finished = self.loss if isinstance(self.loss, Loss) else None
        loss = self._loss_for(costs)

        def positive(classes: np.ndarray) -> int:
            return self._positive_of(classes, costs)

        make_block = BlockMaker(guess_positive(np.asarray(parts.some.y), self.pos_label, positive))
        if regrets is None:
            make_block = make_block.with_costs(_doubles(numbers), _inside(finished))
        kinked = any(partial.function.kinks for partial in loss.partials if hasattr(partial.function, "kinks"))
        parts.expect(kinked=kinked, progress=settings.progress)
        seen = look(parts, make_block, positive, settings.random)
        weighting = _weighting(seen.survey, regrets, finished)
        solution, separated = solve(
            parts,
            seen,
            self._pair(loss, weighting),
            penalty_weights(self.penalty, self.l1_ratio),
            bool(self.fit_intercept),
            settings,
            before,
        )
        for name in ("feature_names_in_", "probability_ratio_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self._keep_classes(seen.classes)
        self.n_features_in_ = parts.some.X.shape[1]
        if parts.names is not None:
            self.feature_names_in_ = np.array(parts.names, dtype=object)
        self._table_plan = parts.plan
        kept = _constant_sums(seen.survey, numbers)
        problem = TrainingSet(
            None, weighting.y, weighting.row_factors, seen.classes, costs, plain_numbers(numbers), kept
        )
        self._remember(problem, weighting.scale, loss)
        self._keep(solution, problem)
        self._warn(solution, separated)
        return self

    def predict_parts(
        self,
        X: Any,
        *,
        labels: str | None = None,
        row_costs: Mapping[str, str] | None = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> Iterator[PredictedBatch]:
        """Predictions of one batch after the other, so that neither the rows nor the predictions must fit into memory.

        Parameters
        ----------
        X : StreamedRows, or what these are made from
        labels : str, optional
            A column of a table that is read as well, to compare the predictions with.
        row_costs : dict of str, optional
            Columns of a table with costs of each row, which are read as well.
        fp_cost, fn_cost, tp_cost, tn_cost : number, optional
            Costs in place of those of the fit, as in ``predict``.

        Yields
        ------
        PredictedBatch
        """
        check_is_fitted(self, "classes_")
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        rows = X if isinstance(X, StreamedRows) else StreamedRows(X)
        source = rows.to_predict(self.__dict__.get("_table_plan"), labels, dict(row_costs or {}))
        loss = self.loss_ if not self._has_row_costs and hasattr(self, "predict_proba") else None
        for number, (score, batch) in enumerate(self._scored(source)):
            if batch.y is not None:
                _require_known(batch.y, self.classes_, number)
            yield PredictedBatch(batch, score, np.asarray(self._decision(score, given) > 0), self._classes, loss)

    def _scored(self, source: Source) -> Iterator[tuple[np.ndarray, Batch]]:
        """The scores of each batch, and the batch."""
        for number, batch in enumerate(batches(source)):
            if batch.X.shape[1] != self.n_features_in_:
                raise CostError(
                    f"batch {number} has {batch.X.shape[1]} columns, but the model was fitted with "
                    f"{self.n_features_in_}"
                )
            score = self._score(batch.X)
            if not np.isfinite(score).all():
                row = int(np.flatnonzero(~np.isfinite(score))[0])
                raise CostError(
                    f"X must hold finite numbers, but row {row} of batch {number} (both count from 0) has a score that "
                    "is not finite; fill in or drop such values before"
                )
            yield score, batch

    def _checked_score(self, X: Any) -> np.ndarray:
        if is_streamed(X):
            return np.concatenate([one.score for one in self.predict_parts(X)])
        plan = self.__dict__.get("_table_plan")
        if plan is None or not hasattr(X, "iloc") or list(X.columns) == self.feature_names_in_.tolist():
            return super()._checked_score(X)
        # A dataframe with the columns of the table that the learner was fitted to, and not with those made of them.
        from uneven.tables.arrow_columns import table_of_frame
        from uneven.tables.columns_in_parts import encoded

        check_is_fitted(self, "classes_")
        matrix = encoded(plan, table_of_frame(X), "X")
        require_finite("X", matrix)
        return self._score(matrix)


def _require_known(y: np.ndarray, classes: np.ndarray, number: int) -> None:
    """Raise if a label of a batch is not one of the classes."""
    unknown = np.flatnonzero(~np.isin(y, classes))
    if unknown.size:
        known = " or ".join(map(repr, classes.tolist()))
        raise CostError(
            f"labels must be {known}, got {brief(y[unknown[0]].item())} in row {unknown[0]} of batch {number} (both "
            "count from 0)"
        )


def _doubles(costs: Mapping[str, Any]) -> dict[str, float]:
    return {name: to_float(exact(name, value, CostError)) for name, value in costs.items()}


def _inside(finished: Loss | None) -> tuple[float, float]:
    """The costs that a finished loss contains itself, by which regrets of rows are divided."""
    if finished is None:
        return 1.0, 1.0
    alpha = only_alpha(finished)
    return to_float(alpha), to_float(1 - alpha)


def _weighting(survey: Survey, costs: Cost | None, finished: Loss | None) -> Weighting:
    """How much each class counts; the factors of the rows stay with the rows. ``costs`` None: they differ by row."""
    nothing = np.empty(0, dtype=np.int8)
    if costs is not None:
        negatives, positives = survey.weights.tolist()
        return Weighting(nothing, *of_classes(costs, negatives, positives, finished, np.empty(0)))
    mean = float(survey.weights.sum()) / survey.given_weight
    return Weighting(nothing, np.ones(2) / mean, np.empty(0), 1 / mean)


def _constant_sums(survey: Survey, numbers: dict[str, Any]) -> dict[str, Any] | None:
    """What is kept for ``constant_costs_``; None unless all four costs are numbers.

    The squares of the weights are those of equal weights within a class: a survey does not sum them.
    """
    if len(numbers) < len(COSTS):
        return None
    return sums_of_classes(numbers, survey.rows, survey.weights, survey.weights**2 / survey.rows)
