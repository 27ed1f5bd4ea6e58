"""What is guaranteed for the shift of a classifier that decides by corrected log-odds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven._inputs import Exact
from uneven.costs import RowCosts
from uneven.decisions.correction import CorrectedOdds
from uneven.decisions.guarantee import ShiftGuarantee, shift_guarantee
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.errors import ParameterError


class GuaranteedShift(ABC):
    """``guarantee`` and ``guarantee_`` of classifiers with out-of-fold rows and a correction."""

    method: Any
    order: Any
    _odds: CorrectedOdds
    _rows: OutOfFoldRows
    _row_costs: RowCosts
    _fold: np.ndarray  # that tested each of the out-of-fold rows; -1 if several did

    @property
    def guarantee_(self) -> ShiftGuarantee:
        """:meth:`guarantee` with its defaults, computed once; there is no such attribute if nothing is guaranteed."""
        check_is_fitted(self, "classes_")
        if "_guarantee" not in self.__dict__:
            try:
                self._guarantee = self.guarantee()
            except ParameterError as error:
                raise AttributeError(str(error)) from None
        return self._guarantee

    def guarantee(
        self,
        confidence: Exact = 0.95,
        *,
        largest_fp_regret: Exact | None = None,
        largest_fn_regret: Exact | None = None,
    ) -> ShiftGuarantee:
        """Bounds of what the shift costs on new rows, against the best shift; docs/guarantee.md proves them.

        Parameters
        ----------
        confidence : number in (0, 1)
            All bounds hold together with at least this probability, over the draw of the rows.
        largest_fp_regret, largest_fn_regret : positive number, optional
            Only for costs of each row: no mistake can cost more than this. By default the largest ones of the rows.

        Returns
        -------
        ShiftGuarantee
            ``print(model.guarantee().in_words())`` says what is guaranteed and what is assumed. With folds it is for
            the fold models, not for the one that is fitted to all rows.
        """
        check_is_fitted(self, "classes_")
        reason = self._why_no_guarantee()
        if reason is not None:
            raise ParameterError(f"there is no guarantee for this fit: {reason}")
        self._require_rows(f"a guarantee at {confidence!r} other than guarantee_", ParameterError)
        correction = self._odds.correction
        rows = self._rows.with_costs(self._row_costs)
        folds = [rows.take(self._fold == number) for number in np.unique(self._fold)]
        return shift_guarantee(
            folds,
            correction.posterior,
            order=int(self.order),
            shift=correction.shift,
            confidence=confidence,
            largest_fp_regret=largest_fp_regret,
            largest_fn_regret=largest_fn_regret,
            refitted=self._is_refitted,
            choices=self._models_to_choose_from(),
        )

    @property
    @abstractmethod
    def _is_refitted(self) -> bool:
        """Whether the model in use was fitted again to all rows."""

    @abstractmethod
    def _require_rows(self, what: str, error: type[Exception] = AttributeError) -> None:
        """Raise an error, which names what needs them, if the out-of-fold rows were not kept one by one."""

    def _why_no_guarantee(self) -> str | None:
        """None if the theorem covers the fit."""
        if self._odds.correction.slope != 1:
            return (
                f"method={self.method!r} does more than to shift the log-odds; 'gibbs', 'argmin' or 'cost' would work"
            )
        if (self._fold < 0).any():
            return "some rows were tested by several folds; cv=5 would work"
        return None

    def _models_to_choose_from(self) -> int:
        """From how many models the one in use was chosen with the out-of-fold rows."""
        return 1
