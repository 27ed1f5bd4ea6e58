"""Classifiers that find probabilities first, and thresholds for two classes or for several actions after."""

from __future__ import annotations

from abc import ABC
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven import inputs
from uneven.costs import GivenCosts, RowCosts
from uneven.decisions.action_cuts import Cut, costs_of_breaks, count_breaks, find_cuts
from uneven.decisions.action_guarantee import ActionsGuarantee
from uneven.decisions.actions import Actions
from uneven.decisions.correction import CorrectedOdds, Correction
from uneven.decisions.guarantee import ShiftGuarantee
from uneven.errors import CostError, ParameterError
from uneven.inputs import Exact
from uneven.learners.constant_rules import constant_costs
from uneven.learners.corrected_decisions import CorrectedDecisions
from uneven.learners.out_of_fold import SEED
from uneven.learners.several_actions import envelope_costs, envelope_rules, estimate_actions, have_actions_between
from uneven.metrics.intervals import CostEstimate, estimates

#: Parts of the rows of a fitted estimator that take turns in the estimate of the cost.
_PARTS = 5


class CorrectedActions(CorrectedDecisions, ABC):
    """Base of classifiers that decide by corrected log-odds, also between several actions.

    Its parameter ``actions`` stands in place of the costs. The fit is one with the costs of the two outermost actions;
    between them each break gets the correction for its own two costs, found on the same out-of-fold rows. So the
    decision at a break is that of ``predict`` at the costs of the break, and other actions need no new fit.
    """

    _learnt: np.ndarray  # for each fold (row) whether its model learnt from another (column)

    # -- what was found ---------------------------------------------------------------------------------------------

    @property
    def action_thresholds_(self) -> dict[str, float]:
        """For each action that pays, but the first, the probability above which it is taken, or one after it.

        Only after a fit with ``actions``. ``decide`` without limits compares ``predict_proba`` with these numbers. An
        action has the same threshold as the next one if the out-of-fold rows leave no probability for it.
        """
        self._require_odds()
        actions = self._actions_of_fit
        if actions is None:
            raise AttributeError(f"{type(self).__name__} was fitted without actions; threshold_ is the threshold")
        return dict(zip(actions.envelope[1:], self._thresholds_of(actions).tolist(), strict=True))

    @property
    def constant_costs_(self) -> dict[str, CostEstimate]:
        """Expected costs of the same decision for every row, on the training rows, with 95 % intervals.

        After a fit with actions, "all negative" and "all positive" are the two outermost ones, and there is one more
        for each action between them, such as "all review".
        """
        check_is_fitted(self, "classes_")
        actions = self._actions_of_fit
        sums = self.__dict__.get("_constant_sums")
        if not have_actions_between(actions) or sums is None:
            return super().constant_costs_
        costs = envelope_costs(self._actions_on_rows_of_fit(actions))
        between = {name: tuple(costs[level]) for name, level in envelope_rules(actions).items()}
        return constant_costs(sums, dict(list(between.items())[2:]))

    def _estimate_out_of_fold(self, trained: float | None) -> CostEstimate:
        """Cost of the out-of-fold decisions; ``trained`` is the number of rows that a fold's model learnt from."""
        rows, costs, actions = self._rows, self._row_costs, self._actions_of_fit
        how = self._how_out_of_fold
        weight = None if (rows.weight == 1).all() else rows.weight
        if have_actions_between(actions):
            actions = self._actions_on_rows_of_fit(actions)
            pairs = costs_of_breaks(actions)
            plain = count_breaks(rows.cuts(pairs, "none", int(self.order)), rows.probability)
            taken = {"cut at the breaks": plain, self.method: rows.act_out_of_fold(pairs, *how)}
            return estimate_actions(actions, rows.is_positive, taken, weight, trained, groups=self._group)[-1]
        plain = CorrectedOdds(Correction(), self._odds.limits).decision(rows.probability, costs) > 0
        decided = CorrectedActions._decide_out_of_fold(self, costs)
        both = {"cut at alpha": plain[None], self.method: decided[None]}
        return estimates(costs, rows.is_positive, both, weight, trained=trained, groups=self._group)[-1]

    def _decide_out_of_fold(self, costs: RowCosts) -> np.ndarray:
        """Where each of the out-of-fold rows is said to be positive at these costs, corrected by other folds only."""
        return self._rows.decide_out_of_fold(costs, *self._how_out_of_fold, self._correct_for(costs)) > 0

    @property
    def _how_out_of_fold(self) -> tuple[str, int, np.ndarray, np.ndarray]:
        """Method and order of the correction, the fold of each row, and from which folds each may learn."""
        fold, learnt = self._fold, self._learnt
        if len(learnt) == 1:  # one model judged all rows: parts of them take turns
            fold = np.random.default_rng(SEED).permutation(fold.size) % _PARTS
            learnt = ~np.eye(_PARTS, dtype=bool)
        return self.method, int(self.order), fold, learnt

    # -- what is guaranteed -----------------------------------------------------------------------------------------

    def _find_guarantee(
        self, confidence: Exact, largest: tuple[Exact | None, Exact | None]
    ) -> ShiftGuarantee | ActionsGuarantee:
        """Of several actions Theorem G at each break, where the probability of an error is shared equally."""
        actions = self._actions_of_fit
        if not have_actions_between(actions):
            return super()._find_guarantee(confidence, largest)
        if any(one is not None for one in largest):
            raise ParameterError("largest_fp_regret and largest_fn_regret are for costs of each row, not for actions")
        cuts, actions = self._cuts_for(actions), self._actions_on_rows_of_fit(actions)
        level, pairs = inputs.between_0_and_1("confidence", confidence), costs_of_breaks(actions)
        each = 1 - (1 - level) / len(pairs)
        parts: list[ShiftGuarantee] = []
        count = self._rows.is_positive.size
        for cut in cuts:
            for fp_cost, fn_cost in pairs[len(parts) : len(parts) + cut.breaks]:
                costs, alone = RowCosts(count, fp_cost, fn_cost), cut.breaks == 1
                shift = cut.odds.correction.shift if alone else self._rows.shift_at(cut.log_odds, costs)
                posterior = cut.odds.correction.posterior if alone else None
                parts.append(self._shift_guarantee(costs, shift, posterior, each))
        paid = envelope_costs(actions)
        shares = np.bincount(self._rows.is_positive, minlength=2) / count
        constant = float(((paid - paid.min(axis=0)) @ shares).min())
        return ActionsGuarantee(float(level), dict(zip(actions.envelope[1:], parts, strict=True)), constant)

    @property
    def _only_shifts(self) -> bool:
        actions = self._actions_of_fit
        if not have_actions_between(actions):
            return super()._only_shifts
        return all(cut.odds.correction.slope == 1 for cut in self._cuts_for(actions))

    # -- deciding ---------------------------------------------------------------------------------------------------

    def _actions_on_rows_of_fit(self, actions: Actions) -> Actions:
        """The actions with their costs on rows of the fit."""
        return actions if self._in_use is None else self._in_use.actions_on_rows_of_fit(actions)

    def _cuts_for(self, actions: Actions) -> list[Cut]:
        """Where the model's log-odds are cut for actions: the correction at each break is that for its costs."""

        def find(fp_cost: float, fn_cost: float) -> CorrectedOdds:
            return self._odds_for(RowCosts(1, fp_cost, fn_cost), GivenCosts())

        pairs = tuple(costs_of_breaks(self._actions_on_rows_of_fit(actions)))
        cuts: list[Cut] | None = self._kept.get(pairs)
        if cuts is None:
            cuts = find_cuts(pairs, find)
            self._kept[pairs] = cuts
        return cuts

    def _thresholds_of(self, actions: Actions) -> np.ndarray:
        """For each break of actions the number with which the probability is compared."""
        cuts = self._cuts_for(actions)
        found = [self._thresholds(cut.costs(1), cut.odds)[0] for cut in cuts]
        return np.repeat(np.asarray(found, dtype=np.float64), [cut.breaks for cut in cuts])

    def _action_probability(self, X: Any, actions: Actions, given: GivenCosts) -> tuple[np.ndarray, np.ndarray | None]:
        """The same for several actions: which one it is, by the threshold in use at each break."""
        self._require_odds()
        if actions.rows is not None:
            return super()._action_probability(X, actions, given)
        if given.known:
            raise CostError(f"give actions or {' and '.join(given.known)}, not both: actions have costs of their own")
        probability = self._calibrated.probability(self._raw_probability(X))
        level = np.searchsorted(self._thresholds_of(actions), probability, side="left")
        return probability, np.array([actions.names.index(name) for name in actions.envelope])[level]
