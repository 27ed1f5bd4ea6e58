"""The work of ``uneven fit`` after the table is read: compare, choose, and fit to all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.cli.decisions.answers import threshold_in_words
from uneven.cli.decisions.candidates import ALTERNATIVES, Candidate, candidates, wished
from uneven.cli.decisions.contest import Outcome, Progress, Rows, contest
from uneven.cli.decisions.ensembles import members_in_words
from uneven.cli.decisions.given_costs import GivenCosts, mean_regrets
from uneven.cli.decisions.promises import broken_promise, order_in_words
from uneven.cli.decisions.wish import AUTO, Wish
from uneven.costs import RowCosts
from uneven.decisions.alpha import DECIDE, probability_thresholds
from uneven.learners.frames import FrameEncoder
from uneven.learners.frames.columns import DATE, Column
from uneven.learners.progress import listening
from uneven.metrics import CostEstimate

#: Folds of a comparison with ensembles, by the largest number of rows; above the last, one split.
_FOLDS = {1000: 5, 20_000: 3}
#: Folds without ensembles, and rows up to which there are two repeats.
_QUICK_FOLDS, _TWICE = 5, 20_000
#: Of a time limit, for the fits of ensembles; the rest is for everything else.
_FOR_ENSEMBLES = 0.9
_PAYS = "Flagging a row pays"


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
        """What the outcomes cost, how costs of rows will be used, and what the ensemble is made of."""
        found = [self.given.in_words(self.costs)]
        used = [column.name for column in self.columns]
        for name in cost_columns:
            if name in used:
                option = f'--drop "{name}"' if " " in name else f"--drop {name}"
                found.append(f"Column {name!r} is used for costs and for prediction; {option} keeps it for costs only.")
        found += self._decisions_in_words()
        if self.wish.has_ensemble:
            found += members_in_words(self.wish.members)
        return found

    def _decisions_in_words(self) -> list[str]:
        known, threshold = self.wish.way == DECIDE, probability_thresholds(*self.costs.thresholds())
        if not self.given.per_row:
            return [threshold_in_words(threshold, has_probability=known, action=_PAYS)]
        found = []
        turned = int((self.costs.regrets(self.is_positive) < 0).sum())
        if turned:
            found.append(f"In {turned:,} of {self.costs.count:,} rows the mistake costs less than the right decision.")
        if self.wish.tune and self.wish.kind != AUTO:
            return [*found, "Costs differ by row: learning with them and deciding by them are both tried."]
        if known:
            found.append("Costs differ by row: each row is decided by its own.")
            return [*found, threshold_in_words(threshold, action=_PAYS)]
        return [
            *found,
            "Costs differ by row: the rows are weighted by them, because this loss has no probabilities to decide each "
            "row by.",
        ]

    def compared(self, progress: Progress) -> Outcome:
        """All candidates on the same folds."""
        repeats = 1 if self.wish.has_ensemble or self.is_positive.size > _TWICE else 2
        how = {"folds": self._folds, "repeats": repeats}
        return contest(self._rows, self._candidates(), self._preprocessing(), progress, **how)

    def cheapest(self, outcome: Outcome) -> str:
        """The name of the cheapest candidate that may be saved."""
        return outcome.cheapest([candidate.name for candidate in wished(self.wish, self._candidates())])

    @property
    def first_choice(self) -> str:
        """The name of what is fitted if nothing is compared."""
        return self._candidates()[-1].name

    def fitted(self, name: str, progress: Progress) -> Any:
        """The pipeline of a candidate, fitted to all rows."""
        chosen = next(candidate for candidate in self._candidates() if candidate.name == name)

        def hear(learner: str, words: str, share: float) -> None:
            progress(f"fitting {name} to all rows: {words}", share, detail=True)

        with listening(hear):
            return self._rows.fit(chosen.pipeline(self.costs, self._preprocessing()))

    def broken_promise(self, shown: CostEstimate, outcome: Outcome, pipeline: Any) -> str:
        """A warning if the fitted pipeline does not cost what the comparison showed; else ""."""
        return broken_promise(shown, outcome.is_positive.size, pipeline, self._rows)

    def order_in_words(self, *, quick: bool) -> str:
        """A sentence if later rows may cost more than shuffled folds say; else "". Quick: look at dates only."""
        dates = [column.name for column in self.columns if column.role == DATE]
        return order_in_words(None if quick else self._rows, self._preprocessing(), dates)

    def fitted_alternatives(self, name: str, pipeline: Any, *, quick: bool) -> tuple[Any, dict[str, Any]]:
        """The preprocessing, and the usual alternatives behind it but the named one, all fitted; none if ``quick``."""
        first = pipeline[0] if pipeline[0] != "passthrough" else self._preprocessing().fit(self.X)
        if quick:
            return first, {}
        features, y = first.transform(self.X), self.is_positive.astype(int)
        usual = (candidate for candidate in self._candidates() if candidate.name in ALTERNATIVES)
        return first, {c.name: c.new(self.costs).fit(features, y) for c in usual if c.name != name}

    @property
    def _rows(self) -> Rows:
        return Rows(self.X, self.is_positive, self.costs, self.given.per_row)

    @property
    def _folds(self) -> int:
        if not self.wish.has_ensemble:
            return _QUICK_FOLDS
        return next((folds for most, folds in _FOLDS.items() if self.is_positive.size <= most), 1)

    def _candidates(self) -> list[Candidate]:
        limit = self.wish.time_limit
        seconds = None if limit is None else _FOR_ENSEMBLES * limit / (self._folds + 1)
        return candidates(self.wish, self.given, self.costs, seconds)

    def _preprocessing(self) -> Any:
        return FrameEncoder(view="linear")
