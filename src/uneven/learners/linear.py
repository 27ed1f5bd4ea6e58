"""A linear classifier calibrated for the user's costs."""

from __future__ import annotations

import math
import numbers
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from uneven import _inputs
from uneven._inputs import Exact, brief
from uneven.calibration import calibrated_loss
from uneven.errors import LossError
from uneven.learners.base import Problem, UnevenClassifier
from uneven.learners.progress import progress
from uneven.losses import Loss, Phi
from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import Objective, PairOfLosses
from uneven.solvers.linear.registry import names
from uneven.solvers.linear.solution import Solution
from uneven.solvers.linear.solve import minimise
from uneven.solvers.linear.solver import Settings


class UnevenLinearClassifier(UnevenClassifier):
    r"""A linear classifier that is right for your costs.

    It minimises, with the score :math:`f_i = w^\top x_i + b` of the positive class,

    .. math:: \tfrac12 \|w\|^2 + C \sum_i s_i \left[ c_{FN} 1\{y_i = +\} \varphi(f_i)
              + \tfrac{c_{FP}}{\gamma} 1\{y_i = -\} \varphi(-\gamma f_i) \right].

    The intercept is not penalised, whatever the loss. For a phi that is not convex, the weights are moved so
    that the loss stays calibrated for the costs (:func:`uneven.calibrated_loss`).

    Parameters
    ----------
    loss : str, Phi or Loss
        A name (:func:`uneven.losses.names`), an expression in t, a phi, or a finished loss. A finished loss is used
        as it is: it must not be wrong for the costs, and its own weights stand in place of theirs.
    fp_cost, fn_cost : positive number
        What a false positive and a false negative cost.
    margin_gamma : positive number
        Margin asymmetry gamma; free to tune, the costs stay right.
    C : positive number
        Weight of the data against the penalty.
    penalty : {"l2", None}
    fit_intercept : bool
    solver : {"auto", "lbfgs", "newton", "lagrangian", "dual"}
        "auto" chooses by the loss and the shape of X. "lbfgs" and "newton" are for smooth losses, "lagrangian" for
        convex ones with kinks, "dual" for those of straight pieces on CSR matrices.
    tol : positive number
        The objective is within this fraction of its optimum.
    max_iter : int
        Most steps of the solver.
    warm_start : bool
        Start from the coefficients of the last fit.
    pos_label : label, optional
        The positive class; needed unless the labels are {0, 1}, {-1, 1} or {False, True}, or everything is symmetric.
    random_state : int, RandomState or None
        Of the rows sampled for the start and the metric; by default always the same.
    verbose : bool or int
        Progress on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Positive values speak for ``classes_[1]``, as in scikit-learn.
    intercept_ : ndarray of shape (1,)
    classes_ : ndarray of shape (2,)
        Sorted labels.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.
    objective_ : float
        What was minimised, at the solution.
    duality_gap_ : float or None
        Objective minus a proved lower bound of its optimum, where the solver proves one.
    loss_ : Loss
        The calibrated loss.
    analysis_ : Analysis
        What it guarantees: verdict, regret bounds.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)                    # 0 is malignant: the class to find
    >>> clf = uneven.UnevenLinearClassifier("logistic", fp_cost=1, fn_cost=40, margin_gamma=3, pos_label=0).fit(X, y)
    >>> clf.loss_, clf.analysis_.verdict.status
    (uneven.UnevenMarginLoss('logistic', gamma=3.0, alpha='1/41'), 'calibrated')
    >>> int(((clf.predict(X) == 1) & (y == 0)).sum())                 # malignant ones missed
    0
    """

    def __init__(
        self,
        loss: str | Phi | Loss = "logistic",
        *,
        fp_cost: Exact = 1.0,
        fn_cost: Exact = 1.0,
        margin_gamma: Exact = 1.0,
        C: float = 1.0,
        penalty: str | None = "l2",
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        pos_label: Any = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.loss = loss
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.margin_gamma = margin_gamma
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.pos_label = pos_label
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> UnevenLinearClassifier:
        """Fit to examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            float64 and float32 in C or F order and CSR matrices are used without a copy.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights; also a cost for each example.

        Returns
        -------
        UnevenLinearClassifier
        """
        factor = self._read_parameters()
        cost, loss = self._make_loss()
        if not isinstance(self.loss, Loss):
            factor *= sum(cost.exact_costs)
        before = self._last_theta()
        problem = self._read(X, y, sample_weight)
        objective = Objective(
            design=design(problem.X),
            y=problem.y,
            pair=PairOfLosses.of(loss, factor),
            sample_weight=problem.sample_weight,
            penalty=1.0 if self.penalty == "l2" else 0.0,
            fit_intercept=bool(self.fit_intercept),
        )
        convex = None
        if not objective.pair.convex:
            gamma = 1 if isinstance(self.loss, Loss) else self.margin_gamma
            start = calibrated_loss("logistic", alpha=cost.exact_alpha, gamma=gamma)
            convex = replace(objective, pair=PairOfLosses.of(start, Fraction(self.C) * sum(cost.exact_costs)))
        solution = minimise(
            objective,
            Settings(
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                random=_generator(self.random_state),
                progress=progress(self.verbose, type(self).__name__),
            ),
            convex=convex,
            theta=before if before is not None and before.size == objective.size else None,
            solver=self.solver,
        )
        self._keep(solution, problem)
        self._warn(solution, objective)
        return self

    def _read_parameters(self) -> Fraction:
        """Check the parameters that only this learner has; C as a rational."""
        factor = _inputs.positive("C", self.C)
        _inputs.positive("tol", self.tol)
        if not isinstance(self.max_iter, numbers.Integral) or isinstance(self.max_iter, bool) or self.max_iter < 1:
            raise LossError(f"max_iter must be a positive integer, got {brief(self.max_iter)}")
        if self.penalty not in ("l2", None):
            raise LossError(f"penalty must be 'l2' or None, got {brief(self.penalty)}")
        if self.solver not in names():
            raise LossError(f"solver must be one of {', '.join(names())}, got {brief(self.solver)}")
        return factor

    def _last_theta(self) -> np.ndarray | None:
        """Coefficients of the last fit, as scores of the positive class."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        theta = np.append(self.coef_.ravel(), self.intercept_).astype(np.float64)
        return theta if self._positive == 1 else -theta

    def _keep(self, solution: Solution, problem: Problem) -> None:
        theta = solution.theta if self._positive == 1 else -solution.theta
        theta = theta.astype(problem.X.dtype)
        self.coef_ = theta[:-1].reshape(1, -1).copy()
        self.intercept_ = theta[-1:].copy()
        self.n_iter_ = max(solution.iterations, 1)
        self.objective_ = solution.value
        self.duality_gap_ = solution.duality_gap

    def _warn(self, solution: Solution, objective: Objective) -> None:
        if self.penalty is None and objective.separates(solution.theta):
            message = (
                "the two classes are perfectly separable and there is no penalty: ever larger coefficients bring the "
                "loss ever closer to its infimum, and these are where the solver stopped; penalty='l2' gives a finite "
                "answer"
            )
        elif not solution.converged:
            relative = solution.suboptimality / solution.value if solution.value > 0 else math.inf
            message = (
                f"{type(self).__name__} did not reach tol={self.tol:g}: {solution.status}, about {relative:.1g} "
                f"(relative) above the optimum; raise max_iter={self.max_iter} or tol, or standardise the columns of X"
            )
        else:
            return
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _score(self, X: Any) -> np.ndarray:
        score = np.asarray(X @ self.coef_[0]).ravel() + self.intercept_[0]
        return score if self._positive == 1 else -score


def _generator(random_state: Any) -> np.random.Generator:
    """A generator from scikit-learn's notion of a random state; the same one each time for None."""
    if random_state is None:
        return np.random.default_rng(0)
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
