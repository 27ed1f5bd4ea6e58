"""A linear classifier calibrated for the user's costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from uneven import inputs
from uneven.calibration.calibrated_losses import loss_for_rows, only_alpha
from uneven.costs import Cost, GivenCosts, RowCosts
from uneven.errors import LossError, ParameterError
from uneven.inputs import Exact, generator, require_choice, require_integer, show_above, warn_caller
from uneven.learners.base import penalty_weights, with_parameters
from uneven.learners.cost_range import spread_prior
from uneven.learners.linear_parts import LearnsInParts
from uneven.learners.training_set import TrainingSet, Weighting
from uneven.losses import Declaration, Loss, Phi
from uneven.parts.streamed_rows import StreamedRows, is_streamed
from uneven.solvers.linear.design import design
from uneven.solvers.linear.objective import TIMES_LARGER, Objective
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.linear.path import Follower
from uneven.solvers.linear.proof import minimise
from uneven.solvers.linear.solver import Settings, Solution, names
from uneven.solvers.running import progress, silent


class UnevenLinearClassifier(LearnsInParts):
    r"""A linear classifier that is right for your costs.

    With the score :math:`f_i = w^\top x_i + b` of the positive class, it minimises

    .. math:: P(w) + C \sum_i \frac{s_i r_i}{\bar r} \left[ 1\{y_i = +\} \varphi(f_i)
              + \tfrac{1}{\gamma} 1\{y_i = -\} \varphi(-\gamma f_i) \right]

    with :math:`P(w) = \tfrac12 \|w\|^2` unless ``penalty`` says otherwise. The regret :math:`r_i` is what the mistake
    costs more than the right decision: :math:`c_{FN} - c_{TP}` for a positive row, :math:`c_{FP} - c_{TN}` for a
    negative one. Regrets are divided by their mean over the training rows, :math:`\bar r = \sum_i s_i r_i / \sum_i
    s_i`. So the unit of the costs does not matter, and C means what it means in LogisticRegression. The intercept is
    never penalised. For a phi that is not convex, the two terms are weighted so that the loss is calibrated for the
    costs (:func:`uneven.calibrated_loss`).

    Parameters
    ----------
    loss : str, Phi or Loss
        A name (:func:`uneven.losses.names`), an expression in t, a phi, or a finished loss. A finished loss is used as
        it is, with its own weights; one that is not calibrated for the costs is rejected.
    fp_cost, fn_cost : number
        What a false positive and a false negative cost. ``fit`` and ``predict`` also take costs of each row.
    tp_cost, tn_cost : number
        What the right decisions cost; a benefit is a negative cost. Each mistake must cost more.
    margin_gamma : positive number
        Margin asymmetry gamma. You may tune it freely: the classifier stays calibrated for your costs.
    C : positive number
        Weight of the data against the penalty.
    penalty : {"l2", "l1", "elasticnet", None}
        "l2": half the squared norm of w. "l1": the sum of absolute values, which makes many coefficients exactly 0; it
        needs a convex loss. "elasticnet": ``l1_ratio`` times the latter plus ``1 - l1_ratio`` times the former.
    fit_intercept : bool
    solver : {"auto", "lbfgs", "newton", "lagrangian", "dual", "coordinate", "gram"}
        "auto" chooses by the loss, the penalty and the shape of X. "coordinate" is for all convex losses with the
        penalty "l1" or "elasticnet". The others are for "l2" and None: "lbfgs" and "newton" for smooth losses ("lbfgs"
        also for those that are not convex), "lagrangian" for convex losses with kinks, "dual" for convex losses made of
        straight pieces on CSR matrices. "gram", for "l2", is for all convex losses on more columns than rows.
    tol : positive number
        For a convex loss the fit ends when the objective is proved to be above its optimum by at most this fraction of
        itself (``duality_gap_``, which says what that means without a penalty), or it warns and says how far it got.
        For other losses it ends near a local minimum.
    max_iter : int
        Most steps of the solver.
    warm_start : bool
        Start from the coefficients of the last fit.
    pos_label : label, optional
        The positive class. Needed unless the labels are {0, 1}, {-1, 1} or {False, True}, or both classes are treated
        alike.
    neg_label : label, optional
        The other class. With it, labels that a tool of scikit-learn has encoded as 0 and 1 are understood, too.
    random_state : int, RandomState or None
        Seed of the sample of rows that some solvers draw; by default always the same.
    verbose : bool or int
        Progress on stderr.
    l1_ratio : number from 0 to 1, optional
        Share of the l1 norm, for ``penalty="elasticnet"`` only: 0 is "l2", 1 is "l1".
    cost_range : pair of numbers or CostPrior, optional
        In place of the costs: the least and the largest ratio fn_cost/fp_cost, or a prior that has a formula. The loss
        is the mean cost over the range, not convex, and the fit starts at that of the logistic loss. ``predict(X,
        fn_cost=...)`` decides at the ratio that is known by then, ``predict(X)`` at the range's central ratio. The
        costs of the fit, such as in ``score``, are those at the central ratio, with ``fp_cost=1``.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Positive values favour ``classes_[1]``, as in scikit-learn.
    intercept_ : ndarray of shape (1,)
    classes_ : ndarray of shape (2,)
        Sorted labels.
    n_iter_ : int
    constant_costs_ : dict of str to CostEstimate
        What "all positive" and "all negative" cost on the training rows.
    probability_ratio_ : float or None
        Mean of ``predict_proba`` over the share of positives, on the training rows (with ``cost_range``, on those whose
        probability is within the range); if it is far from 1, ``predict_proba`` warns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.
    objective_ : float
        The minimised function at the solution; for a convex loss it is wrong by less than ``duality_gap_``.
    duality_gap_ : float or None
        A proved bound of ``objective_`` minus its optimum, for a convex loss; it includes errors of rounding. Without
        penalty it compares with coefficients of a bounded size only: no column may move the scores by more than ten
        times as much as the column that moves them most now. Nothing is proved about larger ones then: if columns are
        nearly the same, their difference may need them, and the optimum may be far below. None for a loss that is not
        convex: its fit is a local minimum, as far as ``stationarity_`` says.
    stationarity_ : float
        The largest entry of the gradient at the solution, each divided by the sum of the absolute values of its terms:
        0 at a stationary point, at most 1, whatever the units of the columns.
    cost_scale_ : float
        1 over the mean regret: the costs times this number are the weights of the rows, 1 on average.
    loss_ : Loss
        The calibrated loss. With costs of each row, the loss that they weight.
    analysis_ : AnalysisInMoney
        What it guarantees: verdict, regret bounds, also in the unit of the costs.

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
    >>> from sklearn.preprocessing import StandardScaler
    >>> sparse = uneven.UnevenLinearClassifier("logistic", fn_cost=40, penalty="l1", C=0.3, pos_label=0)
    >>> int((sparse.fit(StandardScaler().fit_transform(X), y).coef_ != 0).sum())    # of 30
    5
    """

    def __init__(
        self,
        loss: str | Phi | Loss = "logistic",
        *,
        fp_cost: Exact = 1.0,
        fn_cost: Exact = 1.0,
        tp_cost: Exact = 0.0,
        tn_cost: Exact = 0.0,
        margin_gamma: Exact = 1.0,
        C: float = 1.0,
        penalty: str | None = "l2",
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
        pos_label: Any = None,
        neg_label: Any = None,
        random_state: Any = None,
        verbose: bool | int = False,
        l1_ratio: float | None = None,
        cost_range: Any = None,
    ) -> None:
        self.loss = loss
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.tp_cost = tp_cost
        self.tn_cost = tn_cost
        self.margin_gamma = margin_gamma
        self.C = C
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.random_state = random_state
        self.verbose = verbose
        self.l1_ratio = l1_ratio
        self.cost_range = cost_range

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        target: str | None = None,
        columns: list[str] | None = None,
    ) -> Self:
        """Fit to examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            float64 and float32 in C or F order and CSR matrices are used without a copy. Rows that do not fit into
            memory are :class:`uneven.StreamedRows`, or what these are made from: a path or pattern of Parquet files,
            an Arrow dataset, a large :class:`numpy.memmap`, or an iterable of batches (X, y).
        y : array-like of shape (n_samples,)
            Labels of two classes. Of Parquet files and datasets the name of the column, as ``target``.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs, the same for all rows or one for each; those not given are the constructor's. A row whose mistake
            costs nothing does not count; one whose mistake pays is learnt with the other label, with a warning. Of
            Parquet files and datasets, costs and weights of rows are names of columns.
        target : str, optional
            The column of the labels, if X is a table that is read in parts.
        columns : list of str, optional
            Columns of such a table to learn from; by default all that have no other use.

        Returns
        -------
        estimator

        Examples
        --------
        A missed fraud costs its amount, a check costs 5:

        >>> import numpy as np
        >>> import uneven
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(500, 3))
        >>> fraud = random.random(500) < 1 / (1 + np.exp(2 - X[:, 0]))
        >>> amount = np.exp(4 + X[:, 1])
        >>> clf = uneven.UnevenLinearClassifier(fp_cost=5).fit(X, fraud, fn_cost=amount)
        >>> clf.predict(X[:3]).tolist()
        [True, True, True]
        >>> plain = uneven.UnevenLinearClassifier().fit(X, fraud)         # or: probabilities first, costs later
        >>> plain.predict(X[:3], fp_cost=5, fn_cost=amount[:3]).tolist()
        [True, True, True]
        """
        self._read_parameters()
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        if target is not None or columns is not None or (type(X) is not np.ndarray and is_streamed(X)):
            parts = StreamedRows.of(X, y, sample_weight, target, columns).parts(given)
            return self.fit_parts(parts, **given)
        before = self._last_theta()
        self.__dict__.pop("_table_plan", None)  # of an earlier fit on a table
        problem = self._read(X, y, sample_weight, given)
        loss = self._loss_for(problem.costs)
        weighting = problem.weighting(self.loss)
        self._remember(problem, weighting.scale, loss)
        objective = self._objective(problem, weighting, self._pair(loss, weighting))
        convex = None
        if not objective.pair.convex:
            convex = objective.with_losses(self._convex_pair(problem.costs, weighting))
        solution = minimise(
            objective,
            self._settings(),
            convex=convex,
            theta=before if before is not None and before.size == objective.size else None,
            solver=self.solver,
        )
        self._keep(solution, problem)
        self._check_probabilities(problem.X, problem.y, problem.sample_weight, given)
        self._warn(solution, self.penalty is None and objective.separates(solution.theta))
        return self

    def fit_path(
        self,
        X: Any,
        y: Any,
        Cs: Iterable[float],
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> list[UnevenLinearClassifier]:
        """Fitted copies of this learner, one for each C. Each fit starts from that of the next smaller C.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        Cs : iterable of positive numbers
        sample_weight : array-like of shape (n_samples,), optional
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            As in :meth:`fit`.

        Returns
        -------
        list of UnevenLinearClassifier
            In the order of ``Cs``.

        Examples
        --------
        >>> import uneven
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.preprocessing import StandardScaler
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> learner = uneven.UnevenLinearClassifier("logistic", penalty="l1", pos_label=0)
        >>> path = learner.fit_path(StandardScaler().fit_transform(X), y, [0.001, 0.01, 0.1, 1])
        >>> [int((model.coef_ != 0).sum()) for model in path]         # columns that each model uses
        [0, 2, 8, 16]
        """
        given = list(Cs)
        for C in given:
            inputs.positive("Cs", C)
        rising = sorted(set(given))
        if not rising:
            raise ParameterError("Cs is empty; give at least one positive number")
        params = [{"C": C} for C in rising]
        costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        fits = dict(zip(rising, fits_along(self, X, y, sample_weight, costs, params, Follower(), by="C"), strict=True))
        return [fits[C] for C in given]

    def _read_parameters(self) -> None:
        """Check the parameters that only this learner has."""
        for name in ("C", "tol"):
            inputs.positive(name, getattr(self, name))
        require_integer("max_iter", self.max_iter)
        penalty_weights(self.penalty, self.l1_ratio)
        require_choice("solver", self.solver, names())

    def _pair(self, loss: Loss, weighting: Weighting) -> PairOfLosses:
        """The two partial losses with what they count in the objective: C times the weight of the class."""
        pair = _kept_pair(loss, _declarations(loss), isinstance(self.loss, Loss))
        return pair.times(float(self.C) * weighting.class_factors)

    def _convex_pair(self, costs: Cost | RowCosts, weighting: Weighting) -> PairOfLosses:
        """The logistic losses for the same costs, whose solution is where a loss that is not convex starts."""
        gamma, factors = self.margin_gamma, weighting.class_factors
        if isinstance(self.loss, Loss):
            inside = costs.exact_alpha if isinstance(costs, Cost) else only_alpha(self.loss)  # costs in the loss itself
            gamma, factors = 1, factors * 2 * np.array([float(inside), float(1 - inside)])
        logistic = loss_for_rows("logistic", gamma)
        return _kept_pair(logistic, _declarations(logistic), True).times(float(self.C) * factors)

    def _objective(self, problem: TrainingSet, weighting: Weighting, pair: PairOfLosses) -> Objective:
        l1, squared = penalty_weights(self.penalty, self.l1_ratio)
        if l1 > 0 and pair.why_not_convex:
            why = pair.why_not_convex if spread_prior(self) is None else "the mean cost over cost_range is not convex"
            raise LossError(f"penalty={self.penalty!r} needs a convex loss, but {why}; penalty='l2' would work")
        return Objective(
            design=design(problem.X),
            y=weighting.y,
            pair=pair,
            sample_weight=weighting.row_factors,
            penalty=squared,
            fit_intercept=bool(self.fit_intercept),
            l1=l1,
        )

    def _settings(self) -> Settings:
        return Settings(
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            random=generator(self.random_state),
            progress=progress(self.verbose, type(self).__name__),
        )

    def _last_theta(self) -> np.ndarray | None:
        """Coefficients of the last fit, as scores of the positive class."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        return self._theta().astype(np.float64)

    def _keep(self, solution: Solution, problem: TrainingSet) -> None:
        self._keep_theta(solution.theta)  # in float64 also for float32 data: rounded, it would be another solution
        self.n_iter_ = max(solution.iterations, 1)
        self.objective_ = solution.value
        self.duality_gap_ = solution.duality_gap
        self.stationarity_ = solution.stationarity

    def _warn(self, solution: Solution, separated: bool) -> None:
        if separated:
            message = (
                "the two classes are perfectly separable and there is no penalty: larger coefficients always lower the "
                "loss, and the solver stopped at these; penalty='l2' gives a finite answer"
            )
        elif not solution.converged:
            message = (
                f"{type(self).__name__} did not reach tol={self.tol:g}: {solution.status}, "
                f"{_how_far(solution, self.penalty is None)}; raise max_iter={self.max_iter} or tol, or standardise "
                "the columns of X"
            )
        else:
            return
        warn_caller(message, ConvergenceWarning)


def _how_far(solution: Solution, unpenalised: bool) -> str:
    """What is proved about the distance from the optimum."""
    if solution.duality_gap is None:
        return "not at a local minimum yet"
    lower = solution.value - solution.duality_gap
    if not lower > 0:
        return "no lower bound of its optimum above 0 was found"
    relative = show_above(solution.duality_gap / lower, 2)
    if not unpenalised:
        return f"its objective is proved to be at most {relative} (relative) above the optimum"
    return (
        f"its objective is proved to be at most {relative} (relative) above that of any coefficients that move the "
        f"scores up to {TIMES_LARGER:g} times as much; without a penalty nothing is proved about larger ones"
    )


def _declarations(loss: Loss) -> tuple[Declaration, ...]:
    return tuple(part.function.declaration for part in loss.partials if isinstance(part.function, Phi))


@lru_cache(maxsize=1024)
def _kept_pair(loss: Loss, declared: tuple[Declaration, ...], weighted: bool) -> PairOfLosses:
    """The same in every fit. Two losses with one formula are equal, but their phis may be declared otherwise."""
    return PairOfLosses.of(loss, weighted=weighted)


def fits_along(
    learner: UnevenLinearClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    costs: GivenCosts,
    params: list[dict[str, Any]],
    follower: Follower,
    *,
    by: str = "margin_gamma",
    proved: bool = True,
) -> Iterator[UnevenLinearClassifier]:
    """Fitted copies of a learner, for parameters in rising order of gamma with one loss and one C, or of another one.

    The data are read once, and each fit starts from a guess extrapolated from the fits before. A loss that is not
    convex has many local minima, so each of its fits starts as it would alone. ``costs`` are those given to ``fit``.

    With ``proved=False`` a model may have only what it needs to predict: a smooth objective with a squared penalty is
    then minimised until its gradient promises ``tol``. Where that fails, the fit is the ordinary one, with its proof or
    its warning.
    """
    models = [with_parameters(learner, one) for one in params]
    reader = models[0]
    reader._read_parameters()
    problem = reader._read(X, y, sample_weight, costs)
    weighting = problem.weighting(reader.loss)
    losses = [model._loss_for(problem.costs) for model in models]
    pairs = [model._pair(loss, weighting) for model, loss in zip(models, losses, strict=True)]
    if not all(pair.convex for pair in pairs):
        for model in models:
            yield model.fit(X, y, sample_weight, **costs)
        return
    first = reader._objective(problem, weighting, pairs[0])
    objectives = [first, *(first.with_losses(pair) for pair in pairs[1:])]
    places = [math.log(float(getattr(model, by))) for model in models]
    settings = replace(reader._settings(), progress=silent)
    for model, loss, objective, at in zip(models, losses, objectives, places, strict=True):
        model._keep_classes(problem.classes)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(reader, name):
                setattr(model, name, getattr(reader, name))
        model._remember(problem, weighting.scale, loss)
        theta = None if proved else follower.solve_unproved(objective, at, settings, solver=model.solver)
        if theta is not None:
            model._keep_theta(theta)
        else:
            solution = follower.solve(objective, at, replace(model._settings(), progress=silent), solver=model.solver)
            model._keep(solution, problem)
            model._warn(solution, model.penalty is None and objective.separates(solution.theta))
        yield model
