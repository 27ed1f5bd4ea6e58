"""Several classes: whether shifts pay, judged on rows that did not find them, and the decisions out of fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from uneven.decisions.class_shifts import ClassRows, ClassRule, calibrate, cheapest, find_shifts

#: Parts that take turns if one model judged all rows.
_PARTS = 5


@dataclass(frozen=True)
class FoldRules:
    """Rows that models did not learn from, the folds that tested them, and the rules they support.

    Attributes
    ----------
    rows : ClassRows
    fold : ndarray of int
        The number of the fold that tested each row, -1 if several did.
    learnt : ndarray of bool, shape (folds, folds)
        For each fold (row), whether its model learnt from another (column).
    method : str
    order : int
    """

    rows: ClassRows
    fold: np.ndarray
    learnt: np.ndarray
    method: str
    order: int
    _kept: dict[frozenset[int], tuple[ClassRule, np.ndarray]] = field(default_factory=dict, compare=False)

    @cached_property
    def _parts(self) -> tuple[np.ndarray, np.ndarray]:
        """The part of each row, and from which parts (columns) another (row) may learn."""
        if len(self.learnt) > 1 and (self.fold >= 0).all():
            return self.fold, self.learnt
        part = np.random.default_rng(0).permutation(self.fold.size) % _PARTS
        return part, ~np.eye(_PARTS, dtype=bool)

    @cached_property
    def rule(self) -> ClassRule:
        """From all rows: the shifted decisions if they pay, else those at the probabilities."""
        return self._chosen(frozenset(np.unique(self._parts[0]).tolist()))

    @cached_property
    def pays(self) -> float:
        """By how much the shifted decisions cost less per row, each part judged with what the others say."""
        return self._saving(frozenset(np.unique(self._parts[0]).tolist()))

    def act_plainly(self) -> np.ndarray:
        """The cheapest action of each row at the models' own probabilities."""
        return cheapest(self.rows.probability, self.rows.costs)

    def act_out_of_fold(self) -> np.ndarray:
        """The action of each row by what was known without its fold."""
        chosen = np.empty(self.rows.truth.size, dtype=np.intp)
        for test, known in self._folds(frozenset(np.unique(self._parts[0]).tolist())):
            rows = self.rows.take(test)
            chosen[test] = self._chosen(known).act(rows.probability, rows.costs)
        return chosen

    def calibrate_out_of_fold(self) -> np.ndarray:
        """Probabilities of each row by what was known without its fold; shifts play no part."""
        found = np.empty(self.rows.probability.shape)
        for test, known in self._folds(frozenset(np.unique(self._parts[0]).tolist())):
            found[test] = self._chosen(known).probability(self.rows.probability[test])
        return found

    def _folds(self, among: frozenset[int]) -> Iterator[tuple[np.ndarray, frozenset[int]]]:
        """For each of some parts its rows, and the parts among them that were known before."""
        part, learnt = self._parts
        for number in sorted(among):
            yield part == number, frozenset(np.flatnonzero(learnt[number]).tolist()) & among

    def _found(self, known: frozenset[int]) -> tuple[ClassRule, np.ndarray]:
        """The calibration that the rows of some parts give, and the shifts."""
        if known not in self._kept:
            rows = self.rows.take(np.isin(self._parts[0], sorted(known)))
            rule = calibrate(rows)
            self._kept[known] = rule, find_shifts(rows, rule, self.method, self.order)
        return self._kept[known]

    def _chosen(self, known: frozenset[int]) -> ClassRule:
        """The rule that the rows of some parts give."""
        if not known:
            classes = self.rows.probability.shape[1]
            return ClassRule(1.0, np.zeros(classes), np.zeros(classes), -np.inf)
        rule, shifts = self._found(known)
        if shifts.any() and self._saving(known) > 0:
            return rule.with_shifts(shifts)
        return rule

    def _saving(self, among: frozenset[int]) -> float:
        """By how much shifts lower the mean cost of some parts, each judged with what the others say."""
        saved = weights = 0.0
        for test, known in self._folds(among):
            if not known:
                continue
            rows = self.rows.take(test)
            rule, shifts = self._found(known)
            raw, costs = rows.probability, rows.costs
            plain, shifted = rule.act(raw, costs), rule.with_shifts(shifts).act(raw, costs)
            saved += float(rows.weight @ (rows.paid(plain) - rows.paid(shifted)))
            weights += float(rows.weight.sum())
        return saved / weights if weights else 0.0
