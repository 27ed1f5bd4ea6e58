"""The work of ``uneven fit`` after the table is read: compare, and fit to all rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.cli._fitted import loss_in_words, parameters_in_words
from uneven.cli._pipelines import assembled
from uneven.cli.decisions.answers import WhatIf, threshold_in_words
from uneven.cli.decisions.classifiers import Wish, alternatives, contest
from uneven.cli.decisions.decided import thresholds_of
from uneven.cli.decisions.given_costs import GivenCosts, four, mean_regrets
from uneven.cli.decisions.what_ifs import what_ifs
from uneven.cli.tables.columns import Column
from uneven.costs import RowCosts
from uneven.learners.tuning.ways import DECIDE
from uneven.metrics import CostEstimate, compare
from uneven.metrics.passing_costs import fit_with_costs

OURS = "uneven"
_LARGE = 20_000  # rows from which one cross-validation is precise enough, and two folds for the other costs

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Training:
    """A table with labels and costs, and the classifier that was asked for.

    Attributes
    ----------
    wish : Wish
    given : GivenCosts
    costs : RowCosts
    columns : list of Column
    X : DataFrame
    is_positive : ndarray of bool
    """

    wish: Wish
    given: GivenCosts
    costs: RowCosts
    columns: list[Column]
    X: Any
    is_positive: np.ndarray

    def __post_init__(self) -> None:
        mean_regrets(self.costs)  # an error if there is nothing to decide

    def plan_in_words(self, cost_columns: list[str]) -> list[str]:
        """What the outcomes cost, and how costs of rows will be used."""
        found = [self.given.in_words(self.costs)]
        used = [column.name for column in self.columns]
        for name in cost_columns:
            if name in used:
                option = f'--drop "{name}"' if " " in name else f"--drop {name}"
                found.append(f"Column {name!r} is used for costs and for prediction; {option} keeps it for costs only.")
        if not self.given.per_row:
            return [*found, threshold_in_words(thresholds_of(self.costs))]
        turned = int((self.costs.regrets(self.is_positive) < 0).sum())
        if turned:
            found.append(f"In {turned:,} of {self.costs.count:,} rows the mistake costs less than the right decision.")
        if self.wish.tune:
            found.append("Costs differ by row: learning with them and deciding by them are both tried.")
        elif self.wish.way == DECIDE:
            found.append("Costs differ by row: the model learns with their means and decides each row by its own.")
            found.append(threshold_in_words(thresholds_of(self.costs)))
        else:
            found.append(
                "Costs differ by row: the rows are weighted by them, because this loss has no probabilities to decide "
                "each row by."
            )
        return found

    def compared(self, progress: Progress) -> list[CostEstimate]:
        """Cross-validated costs of our classifier, of the usual alternatives and of the constant rules."""
        return self._compared_at(self.costs, self._numbers(), progress, repeats=1 if self._large else 2)

    def what_ifs(self, given: list[CostEstimate], progress: Progress) -> list[WhatIf]:
        """The same comparison at half and double costs of a miss, with all models fitted anew."""

        def compared_at(label: str, costs: RowCosts) -> list[CostEstimate]:
            def told(message: str, share: float) -> None:
                progress(f"a miss costs {label}: {message}", share)

            return self._compared_at(costs, None, told, folds=2 if self._large else 5)

        return what_ifs(self.costs, given, compared_at)

    def fitted(self) -> Any:
        """Our pipeline, fitted to all rows."""
        pipeline = self._assembled(self._classifier(self.costs, self._numbers()))
        y = self.is_positive.astype(int)
        with _without_warnings():
            if self.given.per_row:
                fit_with_costs(pipeline, self.X, y, self.costs)
            else:
                pipeline.fit(self.X, y)
        return pipeline

    def fitted_alternatives(self, pipeline: Any) -> dict[str, Any]:
        """The usual alternatives behind the preprocessing of our pipeline, fitted to all rows, for reports."""
        features, y = pipeline[:-1].transform(self.X), self.is_positive.astype(int)
        models = alternatives(self.costs, per_row=self.given.per_row)
        return {name: model.fit(features, y) for name, model in models.items()}

    def model_in_words(self, pipeline: Any) -> list[str]:
        """What was tuned, and what is known of the loss."""
        found = []
        last = pipeline[-1]
        if hasattr(last, "best_params_"):
            found.append(f"Tuned: {parameters_in_words(last.best_params_)}.")
        way = getattr(last, "row_costs_", None)
        if way is not None:
            chosen = "decide each row by its own costs" if way == DECIDE else "learn with the costs of the rows"
            found.append(f"Of the two ways to use costs of rows the cheaper one is to {chosen}.")
        return [*found, loss_in_words(pipeline)]

    @property
    def _large(self) -> bool:
        return self.is_positive.size > _LARGE

    def _numbers(self) -> dict[str, str] | None:
        return None if self.given.per_row else self.given.numbers()

    def _classifier(self, costs: RowCosts, numbers: dict[str, str] | None) -> Any:
        return self.wish.classifier(costs, per_row=self.given.per_row, numbers=numbers)

    def _assembled(self, classifier: Any) -> Any:
        return assembled(self.columns, self.is_positive.size, classifier)

    def _compared_at(
        self, costs: RowCosts, numbers: dict[str, str] | None, progress: Progress, *, folds: int = 5, repeats: int = 1
    ) -> list[CostEstimate]:
        ours = self._classifier(costs, numbers)
        models = contest(OURS, ours, costs, per_row=self.given.per_row, assemble=self._assembled)
        y = self.is_positive.astype(int)
        with _without_warnings():
            return compare(models, self.X, y, folds=folds, repeats=repeats, progress=progress, **four(costs))


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Rows whose mistake pays were announced before the fit."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="in .* rows the mistake costs less", category=UserWarning)
        yield
