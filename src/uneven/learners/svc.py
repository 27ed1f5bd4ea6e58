"""A kernel support vector machine with an uneven hinge, calibrated for the user's costs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from uneven import inputs
from uneven.costs import GivenCosts
from uneven.errors import CostError, ParameterError
from uneven.inputs import Exact, brief, require_integer, show_above, warn_caller
from uneven.learners.base import UnevenClassifier
from uneven.learners.training_set import TrainingSet, Weighting
from uneven.solvers.hinge_identity import HingeIdentity
from uneven.solvers.kernel import smo
from uneven.solvers.kernel.kernel_matrix import KERNELS, Buffer, Gram, KernelFunction, Stored, gram, weights
from uneven.solvers.kernel.smo import Dual, KernelSolution, check_solution
from uneven.solvers.running import progress, single_threaded_blas

#: Bound of the sum of all upper bounds, and of the kernel; below it products of coefficients stay finite.
_MOST = 1e150
#: Up to this many rows, computing all of K in reused memory is faster than computing the rows that one fit needs.
_FEW_ROWS = 4000
#: Numbers that differ by no more than this, relatively, count as equal.
_SAME = 1e-14


@dataclass(frozen=True)
class _Numbers:
    """The parameters that are numbers, checked."""

    inverse: float
    C: float
    identity: HingeIdentity
    tol: float
    cache_size: float

    @classmethod
    def of(cls, margin_gamma: Any, C: Any, tol: Any, cache_size: Any, coef0: Any) -> _Numbers:
        factor, accuracy = inputs.positive("C", C), inputs.positive("tol", tol)
        megabytes = inputs.positive("cache_size", cache_size)
        inverse = inputs.to_float(1 / inputs.positive("margin_gamma", margin_gamma))
        inputs.exact("coef0", coef0)
        return cls(inverse, inputs.to_float(factor), HingeIdentity.of(margin_gamma), float(accuracy), float(megabytes))


#: Exact arithmetic is slow next to a small fit, and most fits have the parameters of the one before.
_kept_numbers = lru_cache(maxsize=256, typed=True)(_Numbers.of)


class UnevenSVC(UnevenClassifier):
    r"""A kernel SVM that is right for your costs: scikit-learn's SVC with the uneven hinge loss.

    With the score :math:`f_i = w^\top \Phi(x_i) + b` of the positive class and the margin asymmetry :math:`\gamma`
    (``margin_gamma``) it minimises

    .. math:: \tfrac12 \|w\|^2 + C \sum_i \frac{s_i r_i}{\bar r} \left[ 1\{y_i = +\} (1 - f_i)_+
              + \tfrac{1}{\gamma} 1\{y_i = -\} (1 + \gamma f_i)_+ \right].

    The regret :math:`r_i` is what the mistake costs more than the right decision: :math:`c_{FN} - c_{TP}` for a
    positive row, :math:`c_{FP} - c_{TN}` for a negative one. Regrets are divided by their mean over the training rows,
    so the unit of the costs does not matter, and C means what it means in SVC. Positive rows need a margin of 1,
    negative rows one of :math:`1/\gamma`. For every :math:`\gamma` the loss is calibrated for the costs: the sign of
    ``decision_function`` is the cheaper class. The intercept is not penalised. Therefore the solution is :math:`f = a h
    + (1 - 1/\gamma)/2` with :math:`a = (1 + 1/\gamma)/2`, where h is the ordinary cost-weighted SVM with C/a: if C/a
    stays the same, :math:`\gamma` only moves the decision threshold of one fit.

    Parameters
    ----------
    fp_cost, fn_cost : number
        What a false positive and a false negative cost. ``fit`` also takes costs of each row.
    tp_cost, tn_cost : number
        What the right decisions cost; a benefit is a negative cost. Each mistake must cost more.
    margin_gamma : positive number
        Margin asymmetry. You may tune it freely: the classifier stays calibrated for your costs.
    C : positive number
        Weight of the data against the penalty.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable
        A callable takes two matrices and returns the matrix of all pairs. "precomputed" takes that matrix as X.
    degree : int
        Of "poly".
    gamma : {"scale", "auto"} or positive number
        Width of "rbf", "poly" and "sigmoid": 1/(n_features * X.var()), 1/n_features, or the number. Sample weights
        count in the variance as repetitions would.
    coef0 : number
        Offset in "poly" and "sigmoid".
    tol : positive number
        A fit without a warning promises two things. The objective is at most ``1 + tol`` times its optimum;
        ``duality_gap_`` proves it. No pair of rows violates optimality by more than ``tol``, in units of half the
        distance between the two margins; this is all that SVC promises. If the kernel is not positive semidefinite,
        there is no proof, and only the second holds.
    cache_size : positive number
        Megabytes for rows of the kernel matrix. If the whole matrix does not fit, or there are more than 4,000 rows and
        tol is at least 1e-4, rows are stored in float32. The objective and its gap are always computed in float64.
    max_iter : int
        Most steps of the solver; -1 for no limit. It stops by itself where rounding errors allow no progress.
    warm_start : bool
        Start from the coefficients of the last fit, if it had the same rows and labels.
    pos_label : label, optional
        The positive class. Needed unless the labels are {0, 1}, {-1, 1} or {False, True}, or both classes are treated
        alike.
    neg_label : label, optional
        The other class. With it, labels that a tool of scikit-learn has encoded as 0 and 1 are understood, too.
    random_state : int, RandomState or None
        Not used, because the solver draws no random numbers. It is here because SVC has it.
    verbose : bool or int
        Progress on stderr.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Row numbers of the support vectors.
    support_vectors_ : ndarray or CSR matrix
        Empty for a precomputed kernel.
    n_support_ : ndarray of shape (2,)
        In the order of ``classes_``.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors in f; positive ones favour ``classes_[1]``.
    intercept_ : ndarray of shape (1,)
    coef_ : ndarray of shape (1, n_features)
        With the linear kernel.
    classes_ : ndarray of shape (2,)
        Sorted labels.
    objective_ : float
        The minimised function at the solution.
    duality_gap_ : float
        Upper bound of the objective minus its optimum, rounding errors of the kernel included: the objective minus the
        dual objective. Infinite if the kernel is not positive semidefinite: "sigmoid", "poly" with a negative coef0, or
        a matrix or function with which a negative curvature was met. A given matrix is not tested otherwise.
    n_iter_ : int
        Steps of the solver.
    fit_status_ : int
        0 if tol was reached, 1 if not; then the fit warns with the gap it proved.
    constant_costs_ : dict of str to CostEstimate
        What "all positive" and "all negative" cost on the training rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.
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
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)                    # 0 is malignant: the class to find
    >>> clf = uneven.UnevenSVC(fp_cost=1, fn_cost=20, margin_gamma=2, pos_label=0).fit(scale(X), y)
    >>> clf.analysis_.verdict.status
    'calibrated'
    >>> int(((clf.predict(scale(X)) == 1) & (y == 0)).sum())          # malignant ones missed
    0
    >>> optimum_is_at_least = clf.objective_ - clf.duality_gap_
    >>> bool(clf.objective_ <= (1 + clf.tol) * optimum_is_at_least)
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
        C: float = 1.0,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 200,
        max_iter: int = -1,
        warm_start: bool = False,
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
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _learn(self, problem: TrainingSet, given: GivenCosts) -> None:
        before = self._warm if self.warm_start and hasattr(self, "_warm") else None
        kernel = self._read_kernel(problem)
        self._fit(self._read_parameters(), problem, kernel, gram(kernel, problem.X), before)

    def _fit(
        self,
        numbers: _Numbers,
        problem: TrainingSet,
        kernel: KernelFunction,
        K: Gram,
        before: tuple[np.ndarray, np.ndarray] | None,
    ) -> None:
        """Fit to data that have been read; several fits can share the matrix K."""
        weighting = problem.weighting(self.loss)
        self._remember(problem, weighting.scale)
        dual = self._dual(numbers, weighting, K)
        tol = numbers.tol
        start = None
        if before is not None and before[0].shape == dual.signs.shape and (before[0] * dual.signs >= 0).all():
            start = smo.feasible(*before, dual)
        solution = smo.solve(
            dual,
            tol=tol * numbers.identity.a,
            gap=tol,
            max_iter=int(self.max_iter),
            cache_size=numbers.cache_size,
            start=start,
            progress=progress(self.verbose, type(self).__name__),
        )
        check_solution(dual, solution, tol)
        self._keep(solution, solution.intercept + K.shift(solution.b), problem, kernel)
        if self.warm_start:
            self._warm = (solution.b, dual.upper)
        if not solution.converged:
            warn_caller(self._shortfall(solution), ConvergenceWarning)

    def _shortfall(self, solution: KernelSolution) -> str:
        """What a fit that did not reach tol has reached."""
        if not solution.bounded:
            proved = ""
        elif solution.duality_gap < solution.value:
            relative = solution.duality_gap / (solution.value - solution.duality_gap)
            proved = (
                f"its objective is proved to be at most {show_above(relative, 2)} (relative) above the optimum, and "
            )
        else:
            proved = "no lower bound of its optimum above 0 was found, and "
        if 0 <= self.max_iter <= solution.iterations:
            advice = "raise max_iter or tol, or standardise the columns of X"
        else:
            advice = "rounding errors allow no better proof; standardise the columns of X, lower C, or raise tol"
        return (
            f"{type(self).__name__} did not reach tol={self.tol:g} in {solution.iterations} steps ({proved}a pair "
            f"violates optimality by {solution.violation:.2g}); {advice}"
        )

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read_parameters(self) -> _Numbers:
        """Check all parameters; the loss is made when it is asked for."""
        given = (self.margin_gamma, self.C, self.tol, self.cache_size, self.coef0)
        try:
            numbers = _kept_numbers(*given)
        except TypeError:  # not hashable
            numbers = _Numbers.of(*given)
        require_integer("max_iter", self.max_iter, least=-1, wanted="-1 (no limit) or an integer of at least 0")
        if not callable(self.kernel) and self.kernel not in (*KERNELS, "precomputed"):
            raise ParameterError(
                f"kernel must be one of {', '.join(KERNELS)}, precomputed, or a function of two matrices, got "
                f"{brief(self.kernel)}"
            )
        require_integer("degree", self.degree, least=0, wanted="an integer of at least 0")
        if self.gamma not in ("scale", "auto"):
            if isinstance(self.gamma, str):
                raise ParameterError(f"gamma must be 'scale', 'auto' or a positive number, got {brief(self.gamma)}")
            inputs.positive("gamma", self.gamma)
        return numbers

    def _read_kernel(self, problem: TrainingSet) -> KernelFunction:
        """The kernel with its parameters; "scale" and "auto" are replaced by numbers."""
        X = problem.X
        if callable(self.kernel) or self.kernel == "precomputed":
            if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
                raise CostError(
                    f"Precomputed matrix must be a square matrix: fit takes the kernel of all pairs of training rows, "
                    f"got shape {X.shape}"
                )
            return KernelFunction(self.kernel)
        width = 1.0
        if self.gamma == "scale":
            spread = _variance(X, problem.sample_weight)
            width = 1 / (X.shape[1] * spread) if spread > 0 else 1.0
        elif self.gamma == "auto":
            width = 1 / X.shape[1]
        else:
            width = float(inputs.exact("gamma", self.gamma))
        return KernelFunction(
            self.kernel, width=width, offset=float(inputs.exact("coef0", self.coef0)), degree=float(self.degree)
        )

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        X = super()._read_features(X, reset=reset)
        if self.kernel == "precomputed" and not isinstance(X, np.ndarray):
            raise CostError("a precomputed kernel must be a dense matrix, got a sparse one; X.toarray() would work")
        if isinstance(X, np.ndarray):
            return np.ascontiguousarray(X, dtype=np.float64)
        return X.astype(np.float64, copy=False)

    def _dual(self, numbers: _Numbers, weighting: Weighting, K: Gram) -> Dual:
        """The uneven dual: margins 1 and -1/gamma, upper bounds C times the weight of the row."""
        with np.errstate(over="ignore"):
            upper, y = numbers.C * weighting.factors, weighting.y
        if not upper.max() < _MOST / upper.size or not np.isfinite(numbers.inverse):
            raise ParameterError(
                f"C times the costs and weights must be finite in double precision, got C={brief(self.C)}, "
                f"fp_cost={brief(self.fp_cost)}, fn_cost={brief(self.fn_cost)}, "
                f"margin_gamma={brief(self.margin_gamma)}"
            )
        dual = Dual(K, np.array([-numbers.inverse, 1.0])[y], np.array([-1.0, 1.0])[y], upper)
        largest = np.abs(dual.diagonal).max()
        if not largest < _MOST:
            raise CostError(
                f"the kernel of a row with itself must be below {_MOST:g}, got {largest:g}; standardising the columns "
                "of X would work"
            )
        return dual

    # -- keeping and predicting -------------------------------------------------------------------------------------

    def _keep(self, solution: KernelSolution, intercept: float, problem: TrainingSet, kernel: KernelFunction) -> None:
        turned = self._classes.turned
        self.support_ = np.flatnonzero(solution.b).astype(np.int32)
        self.dual_coef_ = turned(solution.b[self.support_].reshape(1, -1))
        self.intercept_ = np.array([turned(intercept)])
        if kernel.name == "precomputed":
            self.support_vectors_: Any = np.empty((0, 0))
        else:
            self.support_vectors_ = problem.X[self.support_]
        above = int((solution.b > 0).sum())
        self.n_support_ = np.array(self._classes.in_order(self.support_.size - above, above), dtype=np.int32)
        self.shape_fit_ = problem.X.shape
        self.objective_ = solution.value
        self.duality_gap_ = solution.duality_gap
        self.n_iter_ = solution.iterations
        self.fit_status_ = 0 if solution.converged else 1
        self._kernel = kernel

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features, with the linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ exists with kernel='linear' only; other kernels have support_ and dual_coef_")
        return weights(self.support_vectors_, self.dual_coef_[0]).reshape(1, -1)

    def _score(self, X: Any) -> np.ndarray:
        coefficients = self.dual_coef_[0]
        if self._kernel.name == "precomputed":
            values = X[:, self.support_] @ coefficients
        else:
            values = self._kernel.values(X, self.support_vectors_, coefficients)
        return np.asarray(self._classes.turned(values + self.intercept_[0]))


def fits_along_c(
    learner: UnevenSVC, X: Any, y: Any, sample_weight: Any, costs: GivenCosts, Cs: list[Any], buffer: Buffer
) -> Iterator[UnevenSVC]:
    """Fitted copies of a learner at gamma = 1, for each C in rising order.

    The data are read once. The kernel matrix is computed once, if it fits into ``cache_size`` and that is faster.
    ``costs`` are those given to ``fit``.
    """
    learner.set_params(margin_gamma=1.0, C=Cs[0], warm_start=True)
    learner._read_parameters()
    problem = learner._read(X, y, sample_weight, costs)
    kernel = learner._read_kernel(problem)
    K = gram(kernel, problem.X)
    fits = 8 * K.n**2 <= float(learner.cache_size) * 2**20
    if fits and (len(Cs) > 1 or K.n <= _FEW_ROWS):
        with single_threaded_blas():
            K = Stored(K.whole(buffer), K)
    before = None
    for C in Cs:
        model = copy.copy(learner).set_params(C=C)
        numbers = model._read_parameters()
        model._fit(numbers, problem, kernel, K, before)
        before = model._warm
        del model._warm
        model.warm_start = False
        yield model


def _variance(X: Any, weight: np.ndarray) -> float:
    """Variance of all numbers of X, where each row counts as often as its weight says; 0 if only rounding varies."""
    if isinstance(X, np.ndarray) and not weight.size:
        spread, typical = float(X.var()), float(X.flat[0])
    else:
        share = weight / weight.sum() if weight.size else np.full(X.shape[0], 1 / X.shape[0])
        typical = mean = float(share @ np.asarray(X.mean(axis=1)).ravel())
        if isinstance(X, np.ndarray):
            spread = float(share @ np.square(X - mean).mean(axis=1))
        else:
            spread = float(share @ np.asarray(X.multiply(X).mean(axis=1)).ravel()) - mean**2
    return spread if spread > (_SAME * typical) ** 2 else 0.0
