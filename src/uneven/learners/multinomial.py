"""The linear classifier for several classes with a cost for every confusion."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from uneven import inputs
from uneven.decisions.cost_matrix import CostMatrix
from uneven.decisions.decide import Limits
from uneven.decisions.matrix_limits import decide_within
from uneven.decisions.matrix_table import MatrixTable
from uneven.errors import CostError, LossError
from uneven.inputs import Exact, brief, generator, require_integer, warn_caller
from uneven.labels import (
    read_labels,
    read_target,
    read_weights,
    require_same_length,
    require_weighted_classes,
    several_classes,
)
from uneven.learners.contract import EstimatorContract
from uneven.learners.model_decisions import take_groups
from uneven.learners.seen_rows import remember_rows
from uneven.learners.training_set import read_features, require_target
from uneven.losses import Phi, phi
from uneven.solvers.linear.solver import Settings
from uneven.solvers.multinomial.joint_objective import CostedRows, JointObjective, RowLosses, SoftmaxRows
from uneven.solvers.multinomial.minimise_jointly import JointSolution, minimise_jointly
from uneven.solvers.running import progress

#: The loss that is multinomial logistic regression; every other one is a phi of the costs.
SOFTMAX = "logistic"


def _has_probabilities(learner: UnevenMultinomialClassifier) -> bool:
    if not learner._of_probabilities:
        raise AttributeError(
            f"{type(learner).__name__} has no predict_proba with loss={brief(learner.loss)}: it learns the decisions "
            f"for its costs alone; loss={SOFTMAX!r} learns probabilities"
        )
    return True


class UnevenMultinomialClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Linear classifier for several classes, with the cheapest actions for a cost matrix.

    With ``loss="logistic"`` this is multinomial logistic regression, which does not look at the costs. They decide when
    it predicts, so other costs need no new fit. It minimises

    .. math:: \frac{1}{2} \|W\|^2 + C \sum_i s_i \left( \ln \sum_k e^{z_{ik}} - z_{i y_i} \right),
              \quad z_i = W x_i + b.

    With a convex :math:`\varphi`, it learns one score for each action, and chooses the largest. It minimises

    .. math:: \frac{1}{4} \|W\|^2 + C \sum_i s_i \sum_a c_{ia} \, \varphi(-z_{ia}), \quad \sum_a z_{ia} = 0,

    where :math:`c_{ia}` is what action a costs in the class of the row above the cheapest action, divided by the mean
    over the rows of the sum over a. docs/cost-matrix.md proves that this is calibrated for every cost matrix if phi is
    differentiable at all t up to 0 and falls at 0, and bounds the cost.

    Two classes give the results of :class:`UnevenLinearClassifier`. For this, :math:`\|W\|^2` has the factor 1 instead
    of 1/2 with two classes and ``loss="logistic"``. C therefore means what it means in scikit-learn's
    ``LogisticRegression``, for two classes and for more.

    Parameters
    ----------
    loss : str or Phi
        ``"logistic"``, multinomial logistic regression; or a convex phi that the costs multiply: a name such as
        ``"hinge"`` or ``"squared_hinge"``, a sentence, or a phi such as ``uneven.phi("logistic")``.
    costs : CostMatrix, array-like, mapping or data frame, optional
        What each action costs in each class, as :class:`uneven.CostMatrix` takes it. A table without names has its
        rows in sorted order of the classes. By default each mistake costs 1.
    C : float
        Weight of the loss against the penalty.
    fit_intercept : bool
        Whether scores have an intercept, which is not penalised.
    tol : float
        The objective is proved to be within this fraction of its optimum.
    max_iter : int
        Largest number of steps of the solver.
    random_state : int, RandomState or None
        Draws the sample whose solution the solver starts from.
    verbose : bool
        Whether to write one line per step to stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels of the fit.
    actions_ : ndarray of shape (n_actions,)
        What :meth:`predict` chooses from.
    costs_ : CostMatrix or None
        The cost matrix of the fit; None after a fit with costs of each row.
    coef_, intercept_ : ndarray of shape (n_scores, n_features) and (n_scores,)
        One row for each class, or for each action if a phi is the loss. Their columns sum to 0.
    cost_scale_ : float
        By what the costs were multiplied; 1 with ``loss="logistic"``.
    objective_ : float
    duality_gap_ : float
        Proved bound of how far the objective is above its optimum.
    stationarity_ : float
        The largest entry of the gradient, each divided by a bound of the sum of the absolute values of its terms.
    n_iter_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> costs = uneven.CostMatrix([[0, 1, 2], [5, 0, 1], [20, 5, 0]])
    >>> X = (X - X.mean()) / X.std()
    >>> model = uneven.UnevenMultinomialClassifier(costs=costs).fit(X, y)
    >>> model.predict(X[:3]).tolist(), model.predict(X[:3], costs=[[0, 0, 9], [9, 0, 9], [9, 0, 0]]).tolist()
    ([0, 0, 0], [1, 1, 1])
    >>> model.duality_gap_ <= 1e-6 * model.objective_
    True
    >>> hinge = uneven.UnevenMultinomialClassifier("hinge", costs=costs).fit(X, y)
    >>> -hinge.score(X, y) < 0.05                                   # the mean cost
    True
    """

    def __init__(
        self,
        loss: str | Phi = SOFTMAX,
        *,
        costs: Any = None,
        C: Exact = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.loss = loss
        self.costs = costs
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    __repr__ = EstimatorContract.__repr__

    @property
    def _of_probabilities(self) -> bool:
        return isinstance(self.loss, str) and self.loss == SOFTMAX

    # -- fitting ------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> Self:
        """Fit to examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            float64 and float32 arrays and CSR matrices are used without a copy.
        y : array-like of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights.
        costs : CostMatrix, array-like, mapping or data frame, optional
            In place of those of the constructor. A matrix for each row has the shape (n_samples, n_classes,
            n_actions).

        Returns
        -------
        estimator

        Examples
        --------
        A missed fraud costs its amount:

        >>> import numpy as np
        >>> import uneven
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(500, 2))
        >>> fraud = np.where(random.random(500) < 1 / (1 + np.exp(2 - X[:, 0])), "fraud", "honest")
        >>> costs = uneven.CostMatrix({"honest": {"pay": 0, "check": 4}, "fraud": {"pay": 0, "check": 4}})
        >>> of_rows = costs.with_costs_of_rows({("fraud", "pay"): np.exp(4 + X[:, 1])})
        >>> model = uneven.UnevenMultinomialClassifier("hinge").fit(X, fraud, costs=of_rows)
        >>> model.predict(X[:3]).tolist()
        ['check', 'check', 'check']
        """
        for name in ("C", "tol"):
            inputs.positive(name, getattr(self, name))
        require_integer("max_iter", self.max_iter)
        chosen = None if self._of_probabilities else _calibrated_phi(self.loss)
        require_target(self, y)
        rows = read_features(self, X, reset=True)
        labels, weight = _read_rows(y, sample_weight, rows.shape[0])
        self.classes_, index = several_classes(labels)
        matrix = self._matrix(self.costs if costs is None else costs, rows.shape[0], of_rows=costs is not None)
        require_weighted_classes(weight, index, self.classes_)
        self._costs_of_rows = matrix.per_row
        self.costs_ = None if matrix.per_row else matrix
        self.actions_ = self._labels_of(matrix)
        self.cost_scale_ = 1.0
        factor = float(self.C)
        losses: RowLosses
        if chosen is None:
            losses = SoftmaxRows(index, factor * weight, len(self.classes_))
            penalty = 2.0 if len(self.classes_) == 2 else 1.0
        else:
            regrets, self.cost_scale_ = self._regrets(matrix, index, weight)
            losses, penalty = CostedRows.of(factor * regrets, chosen), 0.5
        objective = JointObjective(rows, losses, penalty, bool(self.fit_intercept))
        solution = minimise_jointly(
            objective,
            Settings(
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                random=generator(self.random_state),
                progress=progress(self.verbose, type(self).__name__),
            ),
        )
        self._keep(solution)
        remember_rows(self, rows)
        return self

    def _regrets(self, matrix: CostMatrix, index: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
        """What each action costs above the cheapest one in each row, in units of their mean sum, and that unit."""
        places = np.array([matrix.classes.index(label) for label in self.classes_.tolist()])[index]
        table = matrix.costs - matrix.costs.min(axis=-1, keepdims=True)
        largest = float(table.max())
        found = (table[np.arange(len(index)), places] if matrix.per_row else table[places]) / (largest or 1.0)
        weighted = weight[:, None] * found
        never = ~weighted.any(axis=0)
        if never.any():
            name = brief(matrix.actions[int(never.argmax())])
            raise CostError(
                f"in the rows of the fit, no action is cheaper than {name}: taking it always costs least, and there is "
                "nothing to learn"
            )
        mean = float(weighted.sum()) / float(weight.sum())
        return np.ascontiguousarray(weighted.T / mean), 1 / mean / largest

    def _keep(self, solution: JointSolution) -> None:
        self.coef_, self.intercept_ = solution.w, solution.b
        self.n_iter_ = max(solution.iterations, 1)
        self.objective_ = solution.value
        self.duality_gap_ = solution.gap
        self.stationarity_ = solution.stationarity
        if not solution.converged:
            lower = solution.value - solution.gap
            far = f"within {solution.gap / lower:.2g} of its optimum" if lower > 0 else "above 0 only"
            warn_caller(
                f"{type(self).__name__} did not reach tol={self.tol:g}: {solution.status}, its objective is proved to "
                f"be {far}; raise max_iter={self.max_iter} or tol, or standardise the columns of X",
                ConvergenceWarning,
            )

    # -- costs --------------------------------------------------------------------------------------------------------

    def _matrix(self, given: Any, count: int, *, of_rows: bool) -> CostMatrix:
        """A cost matrix whose classes include those of the fit."""
        labels = self.classes_.tolist()
        if given is None:
            return CostMatrix(1.0 - np.eye(len(labels)), labels)
        found = given if isinstance(given, CostMatrix) else CostMatrix(given)
        plain = tuple(range(len(found.classes)))
        if not isinstance(given, CostMatrix) and found.classes == plain and set(labels) - set(plain):
            if len(labels) != len(plain):
                raise CostError(
                    f"costs have {len(plain)} rows without names, but y has {len(labels)} classes; give "
                    "uneven.CostMatrix(costs, classes=[...])"
                )
            found = CostMatrix(given, labels, None if found.actions == plain else found.actions)
        missing = [label for label in labels if label not in found.classes]
        if missing:
            raise CostError(
                f"costs have no row for the class {brief(missing[0])}; they have {brief(list(found.classes))}"
            )
        if found.per_row and not of_rows:
            raise CostError("costs of the learner itself must be one matrix; costs of each row go to fit and predict")
        if found.per_row and len(found.costs) != count:
            raise CostError(f"there are costs for {len(found.costs)} rows, but X has {count}")
        return found

    def _labels_of(self, matrix: CostMatrix) -> np.ndarray:
        """The actions, in the type of the labels if they are classes of the fit."""
        labels = self.classes_.tolist()
        if all(action in labels for action in matrix.actions):
            return np.asarray(self.classes_[[labels.index(action) for action in matrix.actions]])
        same = len({type(action) for action in matrix.actions}) == 1
        return np.array(matrix.actions, dtype=None if same else object)

    def _matrix_to_decide(self, given: Any, count: int) -> CostMatrix:
        if given is not None:
            return self._matrix(given, count, of_rows=True)
        if self.costs_ is None:
            raise CostError("the fit had costs of each row, so these rows need theirs: give costs")
        return self.costs_

    # -- predicting ---------------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "classes_")
        rows = read_features(self, X, reset=False)
        return np.asarray(rows @ self.coef_.T) + self.intercept_

    def _values(self, X: Any, costs: Any) -> tuple[np.ndarray, np.ndarray]:
        """A number for each row and action, of which the largest is chosen, and the actions."""
        scores = self._scores(X)
        if not self._of_probabilities:
            if costs is not None and not self._costs_of_rows:
                raise LossError(
                    f"{type(self).__name__} with loss={brief(self.loss)} decides for the costs of its fit only; "
                    f"loss={SOFTMAX!r} can decide for other costs"
                )
            return scores, self.actions_
        matrix = self._matrix_to_decide(costs, len(scores))
        every = np.zeros((len(scores), len(matrix.classes)))
        every[:, [matrix.classes.index(label) for label in self.classes_.tolist()]] = _softmax(scores)
        table = matrix.costs - matrix.costs.min(axis=-1, keepdims=True)
        regrets = np.einsum("ny,nya->na", every, table) if matrix.per_row else every @ table
        return -regrets, self._labels_of(matrix)

    def predict(self, X: Any, *, costs: Any = None) -> np.ndarray:
        """The cheapest action for each row; of equally cheap ones the first.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        costs : CostMatrix, array-like, mapping or data frame, optional
            Other costs, also with other actions, or a matrix for each row. Only ``loss="logistic"`` can decide for
            other costs than those of the fit.

        Returns
        -------
        ndarray of shape (n_samples,)
            Actions; these are classes unless the cost matrix names others.
        """
        values, actions = self._values(X, costs)
        return np.asarray(actions[values.argmax(axis=1)])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def decide(
        self, X: Any, *, costs: Any = None, at_most: Any = None, at_most_share: Any = None, per: Any = None
    ) -> MatrixTable:
        """The cheapest actions, with what each is expected to cost, also if only so many rows may get some of them.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        costs : CostMatrix, array-like, mapping or data frame, optional
            As in :meth:`predict`.
        at_most, at_most_share, per : optional
            As in :meth:`uneven.CostMatrix.decide_within`; ``per`` may name a column of the data frame X.
        """
        check_is_fitted(self, "classes_")
        X, limits = take_groups(self, X, Limits(at_most, at_most_share, per))
        shares = self.predict_proba(X)
        matrix = self._matrix_to_decide(costs, len(shares)).for_classes(self.classes_.tolist())
        index = X.index if hasattr(X, "iloc") else None
        return decide_within(matrix, shares, limits, self._values(X, costs)[0].argmax(axis=1), index)

    _has_several_classes = True

    def _matrix_to_explain(self, costs: Any, count: int) -> CostMatrix:
        return self._matrix_to_decide(costs, count).for_classes(self.classes_.tolist())

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def explain(self, X: Any, background: Any = None, *, n_draws: int = 32, costs: Any = None) -> Any:
        """Which columns spoke for the decision about each row, in money: see :func:`uneven.explain`.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        background : DataFrame or array-like, optional
            Rows to compare with, such as training rows. By default X.
        n_draws : int
            Background rows that are drawn.
        costs : CostMatrix, array-like, mapping or data frame, optional
            As in :meth:`predict`.
        """
        from uneven.learners.explaining.explanation import explain

        check_is_fitted(self, "classes_")
        return explain(self, X, background, n_draws=n_draws, costs=costs)

    def decision_function(self, X: Any, *, costs: Any = None) -> np.ndarray:
        """A number for each action, of which the largest is chosen.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        costs : CostMatrix, array-like, mapping or data frame, optional
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_actions), or (n_samples,) if there are two actions
            With ``loss="logistic"`` minus the expected cost, up to a constant in each row; else the scores. Of two
            actions, the second number less the first.
        """
        values, _ = self._values(X, costs)
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, which do not depend on the costs.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return _softmax(self._scores(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of :meth:`predict_proba`, without loss of digits in small ones.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        scores -= scores.max(axis=1, keepdims=True)
        return np.asarray(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> float:
        """Minus the mean cost of the actions, in the unit of your costs.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        costs : CostMatrix, array-like, mapping or data frame, optional
            Other costs: see :meth:`predict`. After a fit with costs of each row they are needed.

        Returns
        -------
        float
        """
        taken = self.predict(X, costs=costs)
        truth = read_labels("y", y)
        require_same_length(X=taken, y=truth)
        paid = self._matrix_to_decide(costs, len(taken)).paid(truth, taken)
        weight = read_weights(sample_weight, len(taken))
        return -float(np.average(paid, weights=weight if weight.size else None))


def _softmax(scores: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares)


def _read_rows(y: Any, sample_weight: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels and weights."""
    labels = read_target(y, count)
    if not count:
        raise CostError("X must have at least one row, got none")
    weight = read_weights(sample_weight, count)
    return labels, weight if weight.size else np.ones(count)


def _calibrated_phi(loss: Any) -> Phi:
    """The phi of a loss, if the sum of costs times phi is calibrated for every cost matrix (docs/cost-matrix.md)."""
    chosen = phi(loss)
    name = repr(chosen.name or chosen.text)
    if not chosen.convex:
        raise LossError(
            f"{name} is not known to be convex, and only a convex phi can be minimised here; 'hinge' is one"
        )
    early = [kink for kink in chosen.kinks if kink <= 0]
    if early:
        raise LossError(
            f"{name} has a kink at t = {early[0]:g}, and is therefore not calibrated for every cost matrix; a phi that "
            "is differentiable at all t up to 0 is, such as 'hinge'"
        )
    if not chosen.slope(0.0) < 0:
        raise LossError(f"{name} does not fall at t = 0, so it is not calibrated; 'hinge' and 'squared_hinge' do")
    return chosen
