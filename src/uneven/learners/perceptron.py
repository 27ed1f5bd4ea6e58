"""The perceptron with uneven margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_consistent_length

from uneven import inputs
from uneven.costs import Cost, GivenCosts, RowCosts, plain_numbers, read_costs
from uneven.errors import CostError
from uneven.inputs import Exact, brief, require_integer, to_float, warn_caller
from uneven.labels import Classes, one_column, read_weights, two_classes
from uneven.learners.base import LinearScores
from uneven.learners.contract import costs_of_fit
from uneven.learners.training_set import TrainingSet, learnt_labels, require_both
from uneven.solvers.kernel.kernel_matrix import squared_norms
from uneven.solvers.perceptron_training import Examples, PerceptronState, one_pass, train
from uneven.solvers.running import progress


class UnevenPerceptron(LinearScores):
    r"""The perceptron algorithm with uneven margins, for streams and for separable data.

    It visits one row after the other. If a positive row has a score of at most :math:`\tau_+ = 1`, or a negative row a
    score of at least :math:`-\tau_- = -1/\gamma`, the weights move:

    .. math:: w \leftarrow w + \eta s_i c_i y_i x_i, \qquad b \leftarrow b + \eta s_i c_i y_i R^2,

    where :math:`c_i` is what the mistake costs more than the right decision (:math:`c_{FN} - c_{TP}` or :math:`c_{FP} -
    c_{TN}`), times ``cost_scale_``: 1 over the largest such regret of the rows of ``fit`` or of the first
    ``partial_fit``.

    **What is guaranteed.** If some :math:`(u, v)` with :math:`\|u\|^2 + v^2/R^2 = 1` has :math:`y_i (u^\top x_i + v)
    \ge \Gamma > 0` on all rows (weights 1), the costs of all updates add up to at most :math:`(\|x\|^2_{max} + R^2 + 2
    \max(1, 1/\gamma)/\eta)/\Gamma^2`. Then the fit ends with a pass without update, and each training row has its
    margin. **What is not.** On data that are not separable it never settles: the last weights depend on the last rows.
    Each update is a subgradient step on the uneven hinge without a penalty, which is calibrated for the costs. So for a
    small ``eta0`` the average of the weights (``average=True``, the default) is near a minimiser of that loss; the last
    weights need not be. With both margins 0 this would be the plain perceptron, whose loss is calibrated for no costs
    at all (``uneven.analyze`` says so). For the exact minimum use :class:`uneven.UnevenLinearClassifier` with
    ``loss="hinge"``.

    Parameters
    ----------
    fp_cost, fn_cost : number
        What a false positive and a false negative cost; updates are weighted by them. ``fit`` also takes costs of each
        row.
    tp_cost, tn_cost : number
        What the right decisions cost; a benefit is a negative cost. Each mistake must cost more.
    margin_gamma : positive number
        Margin asymmetry: positive rows need a margin of 1, negative rows one of 1/margin_gamma.
    eta0 : positive number
        Step :math:`\eta`.
    average : bool
        Predict with the mean of the weights over all rows seen, instead of the last ones.
    max_iter : int
        Most passes of ``fit``.
    tol : positive number or None
        ``fit`` ends when for ``n_iter_no_change`` passes the loss was not below ``1 - tol`` times the best one; None:
        it ends only when a pass makes no update.
    n_iter_no_change : int
    shuffle : bool
        Each pass of ``fit`` in a new random order.
    pos_label : label, optional
        The positive class. Needed unless the labels are {0, 1}, {-1, 1} or {False, True}, or both classes are treated
        alike.
    neg_label : label, optional
        The other class. With it, labels that a tool of scikit-learn has encoded as 0 and 1 are understood, too.
    random_state : int, RandomState or None
        Seed of the shuffling; by default always the same.
    verbose : bool or int
        Progress on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Positive values favour ``classes_[1]``, as in scikit-learn.
    intercept_ : ndarray of shape (1,)
    n_iter_ : int
        Passes over the data.
    n_updates_ : int
        Updates in all passes.
    t_ : int
        Rows seen.
    radius_ : float
        R: the largest norm in the data of ``fit`` or of the first ``partial_fit``.
    classes_ : ndarray of shape (2,)
    constant_costs_ : dict of str to CostEstimate
        What "all positive" and "all negative" cost on the training rows.
    cost_scale_ : float
        1 over the largest regret: the costs times this number weight the updates.
    loss_, analysis_
        The uneven hinge, and what it guarantees.

    References
    ----------
    Li, Zaragoza, Herbrich, Shawe-Taylor, Kandola: The Perceptron Algorithm with Uneven Margins, ICML 2002.

    Examples
    --------
    >>> import numpy as np
    >>> import uneven
    >>> X, y = np.array([[-2.0], [-1.0], [-0.5], [3.0]]), np.array([0, 0, 0, 1])
    >>> clf = uneven.UnevenPerceptron(fn_cost=9, margin_gamma=2, average=False).fit(X, y)
    >>> f = clf.decision_function(X)
    >>> bool((f[y == 1] > 1).all() and (f[y == 0] < -1 / 2).all())    # both margins are kept
    True
    """

    loss = "hinge"

    def __init__(
        self,
        *,
        fp_cost: Exact = 1.0,
        fn_cost: Exact = 1.0,
        tp_cost: Exact = 0.0,
        tn_cost: Exact = 0.0,
        margin_gamma: Exact = 1.0,
        eta0: float = 1.0,
        average: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        pos_label: Any = None,
        neg_label: Any = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.tp_cost = tp_cost
        self.tn_cost = tn_cost
        self.margin_gamma = margin_gamma
        self.eta0 = eta0
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, problem: TrainingSet, given: GivenCosts) -> None:
        loss = self._loss_for(problem.costs)
        target, regrets = learnt_labels(problem.costs, problem.y)
        require_both(target, regrets, problem.classes)
        self._remember(problem, 1 / float(regrets.max()), loss)
        self._start(problem.X)
        training = train(
            self._examples(problem, target, regrets),
            self._state,
            max_iter=int(self.max_iter),
            tol=None if self.tol is None else float(self.tol),
            n_iter_no_change=int(self.n_iter_no_change),
            shuffle=check_random_state(0 if self.random_state is None else self.random_state) if self.shuffle else None,
            progress=progress(self.verbose, type(self).__name__),
        )
        if not training.settled:
            warn_caller(
                f"{type(self).__name__} did not settle in max_iter={self.max_iter} passes: the last one made "
                f"{training.last_updates} updates; data that are not separable never settle, so raise tol or max_iter, "
                "or use UnevenLinearClassifier('hinge')",
                ConvergenceWarning,
            )
        self._keep(separated=training.separated)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> UnevenPerceptron:
        """One pass over the next rows of a stream, in their order; memory does not grow with their number.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; a batch may hold one class only.
        classes : array-like of shape (2,), optional
            Both labels; needed at the first call unless that batch holds both.
        sample_weight : array-like of shape (n_samples,), optional
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            As in :meth:`fit`. All calls should agree on whether costs differ from row to row.

        Returns
        -------
        UnevenPerceptron
        """
        self._read_parameters()
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        problem = self._read_batch(X, y, classes, sample_weight, given)
        loss = self._loss_for(problem.costs)
        target, regrets = learnt_labels(problem.costs, problem.y)
        if not hasattr(self, "_state"):
            self._remember(problem, 1 / _largest(problem.costs, regrets), loss)
            self._start(problem.X)
        one_pass(self._examples(problem, target, regrets), np.arange(problem.y.size), self._state)
        return self._keep(separated=False)

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read_parameters(self) -> None:
        inputs.positive("eta0", self.eta0)
        if self.tol is not None:
            inputs.positive("tol", self.tol)
        for name in ("max_iter", "n_iter_no_change"):
            require_integer(name, getattr(self, name))

    def _read_batch(self, X: Any, y: Any, classes: Any, sample_weight: Any, given: GivenCosts) -> TrainingSet:
        """A batch of a stream; the classes are those of the first call."""
        first = not hasattr(self, "_state")
        labels = one_column(y)
        four = costs_of_fit(self, given)
        costs = _costs_of_batch(labels.shape[0], four)
        numbers = plain_numbers(four)
        if first:
            known, _ = two_classes(labels if classes is None else column_or_1d(classes))
            both = Classes(known, self._positive_of(known, costs))
        else:
            both, known = self._classes, self.classes_
            if classes is not None and not np.array_equal(np.unique(classes), known):
                raise CostError(
                    f"classes must stay those of the first call to partial_fit, {brief(known.tolist())}, got "
                    f"{brief(classes)}"
                )
        strange = ~np.isin(labels, known)
        if strange.any():
            raise CostError(
                f"y must hold the classes {brief(known.tolist())} of the first call, got {brief(labels[strange][0])}; "
                "give classes at the first call"
            )
        X = self._read_features(X, reset=first)
        check_consistent_length(X, labels)
        weight = read_weights(sample_weight, labels.shape[0])
        self._keep_classes(both)
        return TrainingSet(X, (labels == known[both.positive]).astype(np.int8), weight, both, costs, numbers)

    # -- passes -----------------------------------------------------------------------------------------------------

    def _start(self, X: Any) -> None:
        self.radius_ = float(np.sqrt(squared_norms(X).max())) or 1.0
        self._state = PerceptronState.zero(X.shape[1])

    def _examples(self, problem: TrainingSet, target: np.ndarray, regrets: np.ndarray) -> Examples:
        rates = float(self.eta0) * self.cost_scale_ * regrets
        if problem.sample_weight.size:
            rates = rates * problem.sample_weight
        inverse = inputs.to_float(1 / inputs.positive("margin_gamma", self.margin_gamma))
        positive = target == 1
        return Examples(
            X=problem.X,
            signs=np.where(positive, 1.0, -1.0),
            margins=np.where(positive, 1.0, inverse),
            rates=rates,
            radius=self.radius_,
        )

    def _keep(self, *, separated: bool) -> UnevenPerceptron:
        """Keep the weights to predict with. Weights that separate the data with their margins need no average."""
        state = self._state
        self._keep_theta(state.average() if self.average and not separated else state.weights)
        self.n_iter_, self.n_updates_, self.t_ = state.passes, state.updates, state.rows_seen
        return self


def _costs_of_batch(count: int, given: GivenCosts) -> Cost | RowCosts:
    """Costs given for each row stay such, also if they are equal: a batch of a stream may be a single row."""
    return RowCosts.read(count, **given) if given.per_row else read_costs(count, given)


def _largest(costs: Cost | RowCosts, regrets: np.ndarray) -> float:
    """The largest regret of the rows, or of both classes: the first batch of a stream may hold one class only."""
    if isinstance(costs, Cost):
        return max(map(to_float, costs.exact_costs))
    if not costs.per_row:
        return float(max(np.abs(costs.fp_regret), np.abs(costs.fn_regret))) or 1.0
    return float(regrets.max()) or 1.0
