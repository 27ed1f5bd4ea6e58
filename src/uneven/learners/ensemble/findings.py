"""What a fitted ensemble keeps, and what it tells of its members, their costs and its guarantee."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from uneven.costs import COSTS, RowCosts
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.labels import Classes
from uneven.learners.background import run_parts
from uneven.learners.ensemble.fold_costs import out_of_fold_costs
from uneven.learners.ensemble.mixture import Mixture, read_table, row_chunks
from uneven.learners.ensemble.training import OutOfFoldCosts, Task, Trial, mix, tested_rows
from uneven.learners.ensemble.weights import WEIGHTINGS, possible_mixtures
from uneven.learners.matrix_decisions import MatrixDecisions
from uneven.learners.out_of_fold import folds_learnt_from, only_fold
from uneven.learners.seen_rows import MANY, remember_rows
from uneven.metrics.comparison import rows_learnt_from


class EnsembleFindings(MatrixDecisions):
    """An ensemble after its fit; :class:`UnevenEnsembleClassifier` fits it."""

    weighting: str
    members_at_most: int | None
    max_latency: float | None
    n_jobs: int | None

    def _keep(
        self,
        task: Task,
        trial: Trial,
        mixture: Mixture,
        weights: dict[str, float],
        classes: Classes,
        costs: RowCosts,
    ) -> None:
        rows = tested_rows(trial)
        probability = mix({name: choice.probability for name, choice in trial.choices.items()}, weights)
        found = OutOfFoldRows(probability, task.is_positive, task.weights).take(rows)
        self._keep_decisions(found, costs.take(rows))
        fold = only_fold(task.splits, task.is_positive.size)
        self._group = None if task.groups is None else task.groups[rows]
        self._fold, self._learnt = fold[rows], folds_learnt_from(task.splits, fold)
        self._trained = rows_learnt_from([trial.folds])
        self._keep_models(task, trial, mixture, weights)
        self._out_of_fold_costs: OutOfFoldCosts = out_of_fold_costs(
            task,
            trial,
            costs,
            rows,
            WEIGHTINGS[self.weighting],
            self.method,
            int(self.order),
            self._correct_for(costs),
            self._actions_of_fit,
        )
        self.classes_ = classes.labels
        self._positive = classes.positive
        remember_rows(self, task.X, MANY)
        self._forget_rows()
        if not self._has_rows:
            self._out_of_fold_costs = replace(self._out_of_fold_costs, said=None)

    def _keep_models(self, task: Task, trial: Trial, mixture: Mixture, weights: dict[str, float]) -> None:
        self._settings_tried = dict(trial.settings_tried)
        self._mixture = mixture
        self.weights_ = weights
        self.settings_ = {
            name: dict(choice.entry.candidate.settings[choice.number])
            for name, choice in trial.choices.items()
            if choice.entry.view is not None
        }
        self.left_out_ = {**task.unable, **trial.left_out}
        self.seconds_ = {name: choice.seconds for name, choice in trial.choices.items()}

    # -- what was found ---------------------------------------------------------------------------------------------

    @property
    def members_(self) -> dict[str, list[Any]]:
        """Fitted members with a positive weight."""
        return {name: member.estimators for name, member in self._mixture.members.items()}

    @property
    def member_costs_(self) -> dict[str, float]:
        """Expected cost of each member alone, out of fold, without a correction."""
        check_is_fitted(self, "classes_")
        if self._several is not None:
            return self._class_members
        if self._at_other_costs:
            raise AttributeError("member_costs_ is for the costs of the fit; what members say about rows is not kept")
        return self._out_of_fold_costs.members

    @property
    def out_of_fold_cost_(self) -> Any:  # CostEstimate, or MatrixCostEstimate of several classes
        """Expected cost of the ensemble, out of fold, with an interval.

        After :meth:`with_costs`, the correction of a fold comes from the other folds, settings and weights from all.
        """
        if self._several is not None:
            return self._several.cost
        if not self._at_other_costs:
            return self._out_of_fold_costs.ensemble
        if "_out_of_fold_cost" not in self.__dict__:
            self._require_rows("out_of_fold_cost_ at other costs")
            if "_learnt" not in self.__dict__:
                raise AttributeError("out_of_fold_cost_ at other costs needs a fit of this version, got an older file")
            self._out_of_fold_cost = self._estimate_out_of_fold(self._trained)
        return self._out_of_fold_cost

    def _decide_out_of_fold(self, costs: RowCosts) -> np.ndarray:
        """At the costs of the fit, the decisions that ``out_of_fold_cost_`` is the cost of."""
        said, fit = self._out_of_fold_costs.said, self._row_costs
        same = all(np.array_equal(getattr(costs, name), getattr(fit, name)) for name in COSTS)
        if said is None or self._at_other_costs or not same:
            return super()._decide_out_of_fold(costs)
        return said

    @property
    def _at_other_costs(self) -> bool:
        """Whether costs, actions or share of positives were changed after the fit."""
        if "_of_fit" not in self.__dict__:
            return False
        same = self._row_costs == self._of_fit["_row_costs"] and self._actions_of_fit == self._of_fit["_actions_of_fit"]
        return not same

    @property
    def constant_costs_(self) -> dict[str, Any]:
        """Expected costs of the same decision for every row."""
        several = self._several is not None
        return super().constant_costs_ if several or self._at_other_costs else self._out_of_fold_costs.constant

    def _why_no_guarantee(self) -> str | None:
        """None if the theorem covers the fit: the mixture was chosen among finitely many."""
        scaled = [name for name, member in self._mixture.members.items() if member.sigmoid is not None]
        if scaled:
            return (
                f"member {scaled[0]!r} has no predict_proba, and its scores were scaled with the same rows; "
                "CalibratedClassifierCV around it would work"
            )
        if possible_mixtures(self.weighting, self._settings_tried) is None:
            return f"weighting={self.weighting!r} chooses among infinitely many weights; 'half_greedy' would work"
        return super()._why_no_guarantee()

    def _models_to_choose_from(self) -> int:
        some_left_out = bool(self.left_out_) or self.members_at_most is not None or self.max_latency is not None
        return int(possible_mixtures(self.weighting, self._settings_tried, some_left_out=some_left_out) or 1)

    @property
    def _is_refitted(self) -> bool:
        return any(len(member.models) == 1 for member in self._mixture.members.values())

    def _raw_probabilities(self, X: Any) -> np.ndarray:
        return self._raw_probability(X)

    def _raw_probability(self, X: Any) -> np.ndarray:
        as_it_is = self._takes_tables_as_they_are
        X = read_table(self, X, reset=False, as_it_is=as_it_is)
        parts = list(row_chunks(X))
        if len(parts) == 1 or as_it_is or hasattr(X, "columns"):
            return np.concatenate([self._mixture.probability(part) for part in parts])
        found: list[Any] = [None] * len(parts)
        work = [lambda part=part: self._mixture.probability(part) for part in parts]
        workers = effective_n_jobs(-1 if self.n_jobs is None else self.n_jobs)
        if run_parts(work, found.__setitem__, workers=min(workers, len(parts))) == "interrupted":
            raise KeyboardInterrupt
        return np.concatenate(found)

    @property
    def _takes_tables_as_they_are(self) -> bool:
        return all(encoder is None for member in self._mixture.members.values() for encoder in member.encoders)
