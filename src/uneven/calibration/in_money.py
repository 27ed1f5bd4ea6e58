r"""The regret bound of a learner in the unit of its costs.

Let rows have regrets of their own, :math:`c_0(x)` for a false positive and :math:`c_1(x)` for a false negative, and
:math:`W = E[c_1 1\{Y=1\} + c_0 1\{Y=-1\}]`. If a loss is calibrated for equal costs and psi is its function at 1/2,
then

.. math:: R_{money} - R_{money}^* \le 2 W \psi^{-1}\!\left(\frac{R_L - R_L^*}{W}\right),

where the loss of each row is weighted by its regret in :math:`R_L`; docs/theory.md has the proof. The right side grows
with W, so an upper bound of W is safe. With the same costs in all rows theorem 1 applies directly, without W.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from uneven import inputs
from uneven.calibration.analysis import Analysis
from uneven.calibration.implied_costs import ImpliedAlpha
from uneven.calibration.search.psi_search import PsiBounds
from uneven.calibration.verdict import Verdict


class AnalysisInMoney(Analysis):
    """The analysis of a learner's loss, with its regret bound in the unit of the costs.

    Attributes
    ----------
    cost_scale : float
        ``cost_scale_`` of the learner: 1 over the mean regret of the training rows.
    per_row : bool
        Whether the costs were given for each row. If they differ, the rows' weights hold them, and ``alpha`` is 1/2, or
        the own alpha of a finished loss. If all training rows have the same ones, loss and ``alpha`` are those of these
        two numbers, but nothing says that new rows have them, too: the bound needs the mean regret all the same.
    """

    def __init__(
        self,
        analysis: Analysis,
        *,
        cost_scale: float,
        total_cost: float | None,
        weighted_loss: bool = False,
        fixed_costs: bool = True,
    ) -> None:
        vars(self).update(vars(analysis))
        self._plain = analysis
        self.cost_scale = cost_scale
        self._total = total_cost
        self._weighted_loss = weighted_loss
        self._fixed_costs = fixed_costs

    # What takes long is computed once for all learners with the same loss.

    @property
    def verdict(self) -> Verdict:
        """Whether the loss is calibrated for alpha (alpha-CC), and why; if not, with a witness."""
        return self._plain.verdict

    @property
    def implied_alpha(self) -> ImpliedAlpha:
        """The costs that the loss assumes."""
        return self._plain.implied_alpha

    @property
    def _psi_bounds(self) -> PsiBounds:
        return self._plain._psi_bounds

    @property
    def per_row(self) -> bool:
        return self._total is None or not self._fixed_costs

    def cost_regret_bound(self, surrogate_regret: Any, *, mean_regret: float | None = None) -> Any:
        """An upper bound of the expected cost per row above the smallest possible one, in the unit of the costs.

        Parameters
        ----------
        surrogate_regret : number or array-like
            Expected loss above the smallest possible one, where each row counts as in the learner's objective: with its
            weight over the mean weight, before C.
        mean_regret : positive number, optional
            Only for costs that were given for each row: the expected regret of a row's mistake, or an upper bound of
            it. By default that of the training rows; then the bound holds as far as this mean is that of new rows.

        Examples
        --------
        >>> import uneven
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> clf = uneven.UnevenLinearClassifier("hinge", fp_cost=50, fn_cost=1000, pos_label=0, tol=1e-3).fit(X, y)
        >>> round(clf.analysis_.cost_regret_bound(0.01), 2)                # in the unit of 50 and 1000
        4.04
        """
        values, scalar = self._regrets(surrogate_regret)
        inside_alpha = self._weighted_loss or self._total is not None  # regrets count over alpha or 1 - alpha
        mean = 1 / self.cost_scale if self._total is None else self._total
        if mean_regret is not None and self.per_row:
            mean = float(inputs.positive("mean_regret", mean_regret))
            if inside_alpha:
                mean /= min(self.alpha, 1 - self.alpha)
        weight, unit = mean * self.cost_scale, mean if inside_alpha else 2 * mean
        with np.errstate(over="ignore"):
            inside = np.nextafter(values / weight, math.inf)
        inside = np.where(values == 0, 0.0, inside)
        bound = np.asarray(self.regret_bound(inside)) * unit
        return inputs.unwrapped(np.where(bound > 0, np.nextafter(bound, math.inf), 0.0), scalar)

    def to_dict(self) -> dict[str, Any]:
        """The content of the report as a dictionary that JSON can hold."""
        return {**super().to_dict(), "cost_scale": self.cost_scale, "per_row": self.per_row}

    def report(self, *, remedy_by: str | None = None) -> str:
        """A page of text for a person to read; see :meth:`Analysis.report`."""
        about = "costs of each row" if self.per_row else f"costs that sum to {self._total:.6g}"
        lines = ["", f"In the unit of your costs ({about}; rows are weighted to a mean of 1)", ""]
        lines.append("surrogate regret   allows an expected cost per row above the best of at most")
        regrets = [10.0**-k for k in (1, 2, 3, 4)]
        if self.loss.symbolic:
            lines += [
                f"  {r:15.4g}   {e:.6g}" for r, e in zip(regrets, self.cost_regret_bound(regrets).tolist(), strict=True)
            ]
        return super().report(remedy_by=remedy_by) + "\n" + "\n".join(lines)
