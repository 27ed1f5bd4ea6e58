"""The perceptron with uneven margins."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_consistent_length

from uneven import _inputs
from uneven._inputs import Exact, brief
from uneven.errors import CostError, LossError
from uneven.learners.base import Problem, UnevenClassifier, _read_weights
from uneven.learners.labels import positive_class, two_classes
from uneven.learners.progress import progress
from uneven.solvers.kernel.gram import squared_norms


class UnevenPerceptron(UnevenClassifier):
    r"""The perceptron algorithm with uneven margins, for streams and for separable data.

    Row by row: if a positive has a score of at most :math:`\tau_+ = 1`, or a negative one of at least
    :math:`-\tau_- = -1/\gamma`, the weights move,

    .. math:: w \leftarrow w + \eta s_i c_i y_i x_i, \qquad b \leftarrow b + \eta s_i c_i y_i R^2,

    with :math:`c_i` the cost of missing that example (:math:`c_{FN}` or :math:`c_{FP}`, divided by the larger one).

    **What is guaranteed.** If some :math:`(u, v)` with :math:`\|u\|^2 + v^2/R^2 = 1` has
    :math:`y_i (u^\top x_i + v) \ge \Gamma > 0` on all rows (weights 1), the costs of all updates add up to at most
    :math:`(\|x\|^2_{max} + R^2 + 2 \max(1, 1/\gamma)/\eta)/\Gamma^2`; then a pass without update ends the fit, and each
    training row has its margin. **What is not.** On data that are not separable it never settles: the last weights
    depend on the last rows. Each update is a subgradient step on the uneven hinge, which is calibrated for the
    costs, without a penalty; the average of the weights (``average=True``, the default) is therefore near a
    minimiser of that loss for a small ``eta0``, the last weights need not be. With both margins 0 this would be the
    plain perceptron, whose loss is calibrated for no costs at all (``uneven.analyze`` says so): the margins make it
    a hinge. For the exact minimum use :class:`uneven.UnevenLinearClassifier` with ``loss="hinge"``.

    Parameters
    ----------
    fp_cost, fn_cost : positive number
        What a false positive and a false negative cost; they weigh the updates.
    margin_gamma : positive number
        Margin asymmetry: positives want a margin of 1, negatives one of 1/margin_gamma.
    eta0 : positive number
        Step :math:`\eta`.
    average : bool
        Predict with the mean of the weights over all rows seen, instead of the last ones.
    max_iter : int
        Most passes of ``fit``.
    tol : positive number or None
        ``fit`` ends when the loss of a pass was not below ``1 - tol`` times the best for ``n_iter_no_change`` passes;
        None: only when a pass makes no update.
    n_iter_no_change : int
    shuffle : bool
        Each pass of ``fit`` in a new random order.
    pos_label : label, optional
        The positive class; needed unless the labels are {0, 1}, {-1, 1} or {False, True}, or everything is symmetric.
    random_state : int, RandomState or None
        Of the shuffling; by default always the same.
    verbose : bool or int
        Progress on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Positive values speak for ``classes_[1]``, as in scikit-learn.
    intercept_ : ndarray of shape (1,)
    n_iter_ : int
        Passes over the data.
    n_updates_ : int
        Updates in all of them.
    t_ : int
        Rows seen.
    radius_ : float
        R: the largest norm in the data of ``fit`` or of the first ``partial_fit``.
    classes_ : ndarray of shape (2,)
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
        margin_gamma: Exact = 1.0,
        eta0: float = 1.0,
        average: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        pos_label: Any = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.margin_gamma = margin_gamma
        self.eta0 = eta0
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.pos_label = pos_label
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> UnevenPerceptron:
        """Pass over the examples until a pass makes no update or the loss no longer falls.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights of the updates.

        Returns
        -------
        UnevenPerceptron
        """
        self._read_parameters()
        self._make_loss()
        problem = self._read(X, y, sample_weight)
        self._start(problem.X)
        random = check_random_state(0 if self.random_state is None else self.random_state)
        tell = progress(self.verbose, type(self).__name__)
        best, stale, settled = np.inf, 0, False
        order = np.arange(problem.y.size)
        while not settled and self.n_iter_ < self.max_iter:
            if self.shuffle:
                random.shuffle(order)
            updates, loss = self._pass(problem, order)
            tell(f"pass {self.n_iter_}: {updates} updates")
            stale = 0 if self.tol is None or loss < (1 - float(self.tol)) * best else stale + 1
            best = min(best, loss)
            settled = updates == 0 or stale >= self.n_iter_no_change
        if not settled:
            warnings.warn(
                f"{type(self).__name__} did not settle in max_iter={self.max_iter} passes: the last one made {updates} "
                "updates; data that are not separable never settle, so raise tol or max_iter, or use "
                "UnevenLinearClassifier('hinge')",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._keep(separated=updates == 0)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> UnevenPerceptron:
        """One pass over the next rows of a stream, in their order; memory does not grow with their number.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; a batch may hold one class only.
        classes : array-like of shape (2,), optional
            Both labels; needed at the first call unless that batch holds both.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        UnevenPerceptron
        """
        self._read_parameters()
        self._make_loss()
        problem = self._read_batch(X, y, classes, sample_weight)
        if not hasattr(self, "_weights"):
            self._start(problem.X)
        self._pass(problem, np.arange(problem.y.size))
        return self._keep(separated=False)

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read_parameters(self) -> None:
        _inputs.positive("eta0", self.eta0)
        if self.tol is not None:
            _inputs.positive("tol", self.tol)
        for name in ("max_iter", "n_iter_no_change"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
                raise LossError(f"{name} must be a positive integer, got {brief(value)}")

    def _read_batch(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Problem:
        """A batch of a stream: the classes are those of the first call."""
        first = not hasattr(self, "_weights")
        labels = column_or_1d(y, warn=True)
        if first:
            known, _ = two_classes(labels if classes is None else column_or_1d(classes))
            positive = positive_class(known, self.pos_label, symmetric=self._symmetric())
        else:
            known, positive = self.classes_, self._positive
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
        weight = _read_weights(sample_weight, labels.shape[0])
        self.classes_, self._positive = known, positive
        self._fitted_with = (self.loss, self.fp_cost, self.fn_cost, self.margin_gamma)
        return Problem(X, (labels == known[positive]).astype(np.int8), weight)

    # -- passes -----------------------------------------------------------------------------------------------------

    def _start(self, X: Any) -> None:
        self.radius_ = float(np.sqrt(squared_norms(X).max())) or 1.0
        self._weights = np.zeros(X.shape[1] + 1)
        self._moments = np.zeros(X.shape[1] + 1)
        self.n_iter_ = self.n_updates_ = self.t_ = 0

    def _pass(self, problem: Problem, order: np.ndarray) -> tuple[int, float]:
        from uneven.solvers.compiled import perceptron_passes

        costs = np.array([float(_inputs.exact("", cost)) for cost in (self.fp_cost, self.fn_cost)])
        rates = float(self.eta0) * (costs / costs.max())[problem.y]
        if problem.sample_weight.size:
            rates = rates * problem.sample_weight
        signs = np.where(problem.y == 1, 1.0, -1.0)
        inverse = _inputs.to_float(1 / _inputs.positive("margin_gamma", self.margin_gamma))
        common = (order, signs, np.where(problem.y == 1, 1.0, inverse), rates, self.radius_**2)
        state = (self._weights, self._moments, float(self.t_))
        X = problem.X
        if isinstance(X, np.ndarray):
            updates, loss = perceptron_passes.pass_dense(np.ascontiguousarray(X), *common, *state)
        else:
            updates, loss = perceptron_passes.pass_sparse(X.data, X.indices, X.indptr, *common, *state)
        self.n_iter_ += 1
        self.n_updates_ += updates
        self.t_ += order.size
        return updates, loss

    def _keep(self, *, separated: bool) -> UnevenPerceptron:
        """Weights to predict with; those that separate the data with their margins need no average."""
        weights = self._weights
        if self.average and not separated:
            # An update at time t counts for the t_ - t + 1 rows from its own on.
            weights = ((self.t_ + 1) * self._weights - self._moments) / self.t_
        if self._positive != 1:
            weights = -weights
        self.coef_ = weights[:-1].reshape(1, -1).copy()
        self.intercept_ = weights[-1:].copy()
        return self

    def _score(self, X: Any) -> np.ndarray:
        score = np.asarray(X @ self.coef_[0]).ravel() + self.intercept_[0]
        return score if self._positive == 1 else -score
