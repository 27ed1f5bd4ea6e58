"""Several ordinary learners, averaged, with the decision threshold that is right for your costs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from uneven import inputs
from uneven.costs import GivenCosts
from uneven.decisions.actions import Actions
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import ParameterError
from uneven.inputs import Exact, require_choice, require_integer
from uneven.labels import read_groups
from uneven.learners.ensemble.class_costs import act_without_folds, cost_of_cheapest, member_matrix_costs
from uneven.learners.ensemble.final_models import final_models, limits_of
from uneven.learners.ensemble.findings import EnsembleFindings
from uneven.learners.ensemble.latency import Latency, time_mixture
from uneven.learners.ensemble.members import LARGE
from uneven.learners.ensemble.mixture import Mixture, read_table
from uneven.learners.ensemble.plan import Asked, is_mapping, plan, require_members
from uneven.learners.ensemble.pruning import CostOf, cost_at_alpha
from uneven.learners.ensemble.training import (
    Entry,
    Started,
    Task,
    Trial,
    cut_in_words,
    mix,
    run_folds,
    tested_rows,
    warn_of_threads,
    weigh,
)
from uneven.learners.ensemble.weights import WEIGHTINGS
from uneven.learners.out_of_fold import AllClasses, folds_learnt_from, only_fold, splits
from uneven.learners.seen_rows import MANY, remember_rows
from uneven.learners.several_actions import have_actions_between
from uneven.learners.several_classes import ClassTask, OutOfFoldClasses
from uneven.learners.training_set import read_training_set, require_target
from uneven.metrics.comparison import rows_learnt_from
from uneven.solvers.running import Bar, say

#: Folds for many rows: fewer fits, and each fold still holds thousands of rows.
_FOLDS_OF_MANY = 3


class UnevenEnsembleClassifier(EnsembleFindings):
    r"""The cheapest decisions for your costs from a table and two numbers.

    Several ordinary learners, blind to costs, are fitted on folds of the rows. Their out-of-fold probabilities serve
    three choices: one setting of each member, by log loss; the weights of the members in the average, by log loss; and
    one shift of the average's log-odds, by a smooth loss concentrated at alpha, the probability at which your costs
    change the decision. A row is positive where its corrected probability is above alpha.

    Parameters
    ----------
    fp_cost, fn_cost : number
        What a false positive and a false negative cost. ``fit`` and ``predict`` also take costs of each row.
    tp_cost, tn_cost : number
        What the right decisions cost; a benefit is a negative cost. Each mistake must cost more.
    members : "auto", list of str, or dict of str to classifier
        "auto" uses the families that are installed and suit the size of the data. A list names families: linear,
        kernel, svc, extra_trees, lightgbm, xgboost, forest, catboost, histogram. A dictionary
        holds classifiers of your own, pipelines for example; each is fitted on X and y as they are.
    time_limit : positive number, optional
        Seconds for ``fit``. Members that are not finished by then are left out, expensive ones first; ``cut_short_``
        says which. On larger tables they are fitted in processes, which are ended.
    weighting : {"half_greedy", "greedy", "softmax", "equal"}
        How the weights of the members are found. "greedy" adds the member that lowers the log loss of the average most,
        20 times; "half_greedy" is the mean of these and of equal weights.
    method : {"gibbs", "affine", "argmin", "platt", "isotonic", "cost", "none"}
        How the log-odds of the average are corrected; as in :class:`UnevenThresholdClassifierCV`.
    order : int
        Order of the window loss, 1 to 64: a larger one looks at a narrower neighbourhood of alpha.
    cv : int, splitter, iterable of splits, or None
        None: 5 shuffled stratified folds, 3 above 50,000 rows. A number of folds beyond the size of the rarer class is
        reduced, with a warning. ``TimeSeriesSplit()`` is for rows in the order of time: then ``out_of_fold_cost_`` is
        what the decisions cost with earlier rows only.
    n_jobs : int or None
        Number of members that are fitted at the same time. None is all cores, because members of "auto" use one core
        each; with a dictionary of classifiers None is 1, because they may use threads themselves.
    pos_label : label, optional
        The positive class. Needed unless the labels are {0, 1}, {-1, 1} or {False, True}, or both mistakes cost the
        same.
    neg_label : label, optional
        The other class. With it, labels that a tool of scikit-learn has encoded as 0 and 1 are understood, too.
    keep_training_rows : bool
        Keep label, weight and out-of-fold probability of every row, also of more than 20,000. By default such a model
        keeps groups of rows instead: enough to decide at other costs, not for ``out_of_fold_rows_`` and for guarantees
        at other levels of confidence.
    random_state : int, RandomState or None
        Seed of the folds and of the members of "auto"; by default always the same.
    verbose : bool, int or None
        Progress on stderr. None: only on a terminal, and only if the fit takes long.
    cost_range : pair of numbers or CostPrior, optional
        In place of the costs: the least and the largest ratio fn_cost/fp_cost, or any prior. One correction is found
        for all ratios: its smooth loss is averaged over the range. ``predict(X, fn_cost=...)`` decides at the ratio
        that is known by then, ``predict(X)`` at the range's central ratio. The costs of the fit, such as in ``score``
        and ``out_of_fold_cost_``, are those at the central ratio, with ``fp_cost=1``.
    actions : Actions, optional
        In place of the costs: what can be done, with numbers as costs, such as clear, review and block. :meth:`decide`
        gives the cheapest action, with a correction at each break, and ``score`` is minus what these actions cost.
        :meth:`predict` gives classes, those that are right if only the two outermost actions could be taken.
    monotone : dict of column to {-1, 1}, optional
        Columns of numbers with which P(positive) may only rise (1) or only fall (-1), all else equal, such as
        ``{"income": -1}``; for an array, numbers of columns. Members that cannot keep it are left out (``left_out_``):
        only linear, lightgbm, xgboost, catboost and histogram can. The average, its calibration and its threshold keep
        it. It says nothing about missing values.
    costs : CostMatrix, "equal" or "ordinal", optional
        In place of the costs, for two or more classes: what each action costs in each class. Then :meth:`predict` gives
        actions. "equal": every confusion costs 1. "ordinal": as many as levels lie between; the classes are numbers.
        Of several classes, the log-odds of each are shifted if that pays out of fold; the methods are "gibbs",
        "argmin", "cost" and "none".
    members_at_most : int, optional
        Use at most so many members, for fast predictions: those, with new weights, whose decisions are the cheapest out
        of fold. ``pruning_`` says what this costs. With 1 it is the member of least ``member_costs_``.
    max_latency : positive number, optional
        Milliseconds that 1,000 rows in one call may take to predict. Members are measured after their folds, and left
        out as for ``members_at_most`` until the rest is fast enough; ``latency_`` says what was measured, and what the
        limit costs. Near the limit another machine, or another load, may leave other members.

    Attributes
    ----------
    weights_ : dict of str to float
        Weight of each member; they sum to 1.
    members_ : dict of str to list of estimators
        Fitted members with a positive weight: one model of all rows, or the models of the folds if the time did not
        suffice. They take X as ``predict`` does; members of "auto" know the classes as 0 and 1.
    settings_ : dict of str to dict
        The chosen setting of each member of "auto".
    member_costs_ : dict of str to float
        Expected cost of each member alone, out of fold, cut at alpha, or at the breaks of ``actions``, without a
        correction.
    out_of_fold_rows_ : OutOfFoldRows
        Probabilities, as of ``predict_proba``, of rows that the models did not learn from, with their labels and
        weights. Above 20,000 rows only with ``keep_training_rows``.
    out_of_fold_cost_ : CostEstimate
        Expected cost of the ensemble out of fold, with a 95 % interval. In each fold, settings, weights and correction
        are those found on the other folds that its models learnt from.
    constant_costs_ : dict of str to CostEstimate
        Expected costs of predicting "all positive" and "all negative"; with actions, also of those between.
    pruning_ : Pruning or None
        What ``members_at_most`` and ``max_latency`` cost out of fold: ``price`` per row, ``in_words()``. None
        without a limit.
    latency_ : Latency or None
        With ``max_latency``: milliseconds of members and of the fitted ensemble, ``price`` per row, ``in_words()``.
    left_out_ : dict of str to str
        Members that are not used, and why.
    cut_short_ : str or None
        What ``time_limit`` or Ctrl-C cut from the fit, as a sentence. None: nothing; then the result does not depend
        on the load of the machine.
    seconds_ : dict of str to float
        Time that the folds of each member took.
    correction_ : Correction
        The map of the log-odds.
    shift_ : float
        By how much the average's log-odds are lowered before they are compared with those of alpha. It moves
        ``threshold_``, not the probabilities.
    posterior_ : ShiftPosterior or None
        Mean, standard deviation and curve of the shift's posterior.
    calibration_ : Correction
        The map of the average's log-odds to those of ``predict_proba``; costs play no part in it.
    threshold_ : float or None
        Positive is predicted exactly where ``predict_proba`` is above it; None after a fit with costs of each row.
    action_thresholds_ : dict of str to float
        After a fit with actions: the probability above which each action that pays, but the first, is taken.
    costs_ : CostMatrix
        After a fit with ``costs``: the matrix with its classes in the order of ``classes_``.
    shifts_ : ndarray of shape (n_classes,)
        After a fit to several classes, in place of ``shift_``.
    guarantee_ : ShiftGuarantee, ActionsGuarantee or ClassGuarantee
        Bounds of what the shift costs on new rows against the best shift, with 95 % confidence. They count all
        settings and weights that could have been chosen. With few rows they say nothing, and ``guarantee_.vacuous``
        says so.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    Ctrl-C during ``fit`` keeps the members that are finished: the model is usable, and a line on stderr says so. If
    none is finished, it is a KeyboardInterrupt. A member whose fit raises an error is left out with a warning.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_breast_cancer(return_X_y=True)                    # 0 is malignant: the class to find
    >>> X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> members = ["linear", "extra_trees"]                           # fewer than "auto", to be quick
    >>> clf = uneven.UnevenEnsembleClassifier(fp_cost=1, fn_cost=20, pos_label=0, members=members).fit(X, y)
    >>> sorted(clf.weights_)
    ['extra_trees', 'linear']
    >>> bool(clf.out_of_fold_cost_.cost < clf.constant_costs_["all positive"].cost)
    True
    >>> int(((clf.predict(X_test) == 1) & (y_test == 0)).sum())       # malignant ones missed, of 53
    0
    >>> int((clf.predict(X_test, fn_cost=1) == 0).sum() < (clf.predict(X_test) == 0).sum())    # other costs, no new fit
    1
    """

    monotone: Any = None  # models of older files have no such parameters
    members_at_most: int | None = None
    max_latency: float | None = None
    #: As scikit-learn's group splitters, it wants these without being told.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True, "times": True}

    def __init__(
        self,
        *,
        fp_cost: Exact = 1.0,
        fn_cost: Exact = 1.0,
        tp_cost: Exact = 0.0,
        tn_cost: Exact = 0.0,
        members: Any = "auto",
        time_limit: float | None = None,
        weighting: str = "half_greedy",
        method: str = "gibbs",
        order: int = 4,
        cv: Any = None,
        n_jobs: int | None = None,
        pos_label: Any = None,
        neg_label: Any = None,
        keep_training_rows: bool = False,
        random_state: Any = None,
        verbose: bool | int | None = None,
        cost_range: Any = None,
        actions: Actions | None = None,
        monotone: Any = None,
        costs: CostMatrix | str | None = None,
        members_at_most: int | None = None,
        max_latency: float | None = None,
    ) -> None:
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.tp_cost = tp_cost
        self.tn_cost = tn_cost
        self.members = members
        self.time_limit = time_limit
        self.weighting = weighting
        self.method = method
        self.order = order
        self.cv = cv
        self.n_jobs = n_jobs
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.keep_training_rows = keep_training_rows
        self.random_state = random_state
        self.verbose = verbose
        self.cost_range = cost_range
        self.actions = actions
        self.monotone = monotone
        self.costs = costs
        self.members_at_most = members_at_most
        self.max_latency = max_latency

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = [get_tags(member).input_tags for member in self.members.values()] if is_mapping(self.members) else []
        tags.input_tags.sparse = all(tag.sparse for tag in own)
        tags.input_tags.allow_nan = all(tag.allow_nan for tag in own)
        tags.input_tags.string = True
        return tags

    # -- fitting ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        costs: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        times: Any = None,
    ) -> UnevenEnsembleClassifier:
        """Fit members on folds, choose settings, weights and correction, and fit the chosen members on all rows.

        Parameters
        ----------
        X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
            Numbers may be missing (NaN).
        y : array-like of shape (n_samples,)
            Labels of two classes, or of those of the cost matrix.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights: of the rows in the choices, and for members that take weights.
        groups : array-like of shape (n_samples,), optional
            Rows of one customer: they are in one fold, or go to the splitter of ``cv``. See docs/folds.md.
        costs : CostMatrix or array-like of shape (n_samples, classes, actions), optional
            A matrix for each row; an array has classes and actions in the order of the constructor's matrix.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs, the same for all rows or one for each; those not given are the constructor's. Members do not see
            them; the correction does.
        times : array-like of shape (n_samples,), optional
            When each row happened: numbers, dates or periods. Each fold is then tested with models of earlier rows.

        Returns
        -------
        UnevenEnsembleClassifier
        """
        self._read_parameters()
        started = Started.now()
        require_target(self, y)
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        X = read_table(self, X, reset=True, as_it_is=is_mapping(self.members))
        if self._fit_by_matrix(X, y, sample_weight, costs, given, {"groups": groups, "times": times}):
            return self
        problem = read_training_set(self, X, y, sample_weight, given)
        count, classes, is_positive = problem.y.size, problem.classes, problem.y == 1
        costs = self._given_costs(count, given)
        labels = classes.label(is_positive)
        weight = problem.weight_or_none
        parts = splits(self._folds(count), X, labels, classes.labels, groups, self.random_state, times)
        asked = self._asked(started, count)
        with self._progress() as bar, asked.start_processes(X) as processes:
            task, entries = plan(asked, X, labels, classes.pos_label, is_positive, weight, parts, processes)
            task = replace(task, groups=None if groups is None else read_groups(groups))
            actions = self._actions_of_fit if have_actions_between(self._actions_of_fit) else None
            cost_of = cost_at_alpha(task.is_positive, task.weights, costs, actions)
            trial, mixture, weights = self._train(task, entries, bar, cost_of)
            bar.enter("costs out of fold")
            self._keep(task, trial, mixture, weights, classes, costs)
        return self

    def _fit_classes(self, X: Any, task: ClassTask, params: dict[str, Any]) -> None:
        """Fit to several classes, with a cost matrix."""
        if self.monotone:
            raise ParameterError("monotone is for two classes, where there is one probability that rises or falls")
        started = Started.now()
        count, labels, every = task.truth.size, task.classes[task.truth], AllClasses(task.classes)
        parts = splits(
            self._folds(count),
            X,
            labels,
            task.classes,
            params["groups"],
            self.random_state,
            params["times"],
            every_class=False,
        )
        asked = self._asked(started, count)
        with self._progress() as bar, asked.start_processes(X) as processes:
            work, entries = plan(asked, X, labels, every, task.truth, task.weight_or_none, parts, processes)
            trial, mixture, weights = self._train(work, entries, bar, cost_of_cheapest(work, task.matrix))
            bar.enter("costs out of fold")
            self._keep_models(work, trial, mixture, weights)
            fold = only_fold(parts, count)
            weighting = WEIGHTINGS[self.weighting]
            chosen = act_without_folds(work, trial, task.matrix, weighting, self.method, int(self.order))
            probability = mix({name: choice.probability for name, choice in trial.choices.items()}, weights)
            said = OutOfFoldClasses(probability, fold, folds_learnt_from(parts, fold), rows_learnt_from([parts]))
            self._keep_classes(task, said, params["groups"], chosen)
            self._class_members = member_matrix_costs(work, trial, task.matrix)
            remember_rows(self, X, MANY)

    def _read_parameters(self) -> None:
        require_choice("weighting", self.weighting, tuple(WEIGHTINGS))
        self._require_correction()
        if self.time_limit is not None:
            inputs.positive("time_limit", self.time_limit)
        if self.members_at_most is not None:
            require_integer("members_at_most", self.members_at_most)
        if self.max_latency is not None:
            inputs.positive("max_latency", self.max_latency)
        require_members(self.members, self.monotone)

    def _asked(self, started: Started, rows: int) -> Asked:
        pruned = self.members_at_most is not None or self.max_latency is not None
        deadline = started.deadline(self.time_limit, rows, pruned=pruned)
        return Asked(self.members, self.monotone, self.n_jobs, self.random_state, deadline)

    def _folds(self, count: int) -> Any:
        return _FOLDS_OF_MANY if self.cv is None and count > LARGE else self.cv

    @contextmanager
    def _progress(self) -> Iterator[Bar]:
        with Bar(self.verbose, type(self).__name__, 0, "fits", limit=self.time_limit).ticking() as bar:
            bar.enter("encoding the table")
            yield bar

    def _train(
        self, task: Task, entries: list[Entry], bar: Bar, cost_of: CostOf
    ) -> tuple[Trial, Mixture, dict[str, float]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of members, many times over
            return self._train_members(task, entries, bar, cost_of)

    def _train_members(
        self, task: Task, entries: list[Entry], bar: Bar, cost_of: CostOf
    ) -> tuple[Trial, Mixture, dict[str, float]]:
        last = {entry.member: entry.effort * task.growth for entry in entries}  # each is fitted on all rows, too
        bar.tell(f"members {', '.join(last)}")
        if task.unable:
            bar.tell(f"left out: {', '.join(f'{name} {why}' for name, why in task.unable.items())}")
        folds = len(task.splits)
        bar.expect(len(entries) * folds + len(last), folds * sum(e.effort for e in entries) + sum(last.values()))
        bar.enter("")
        trial = run_folds(task, entries, lambda entry: bar.advance(entry.effort))
        bar.enter("weights")
        rows = tested_rows(trial)
        probabilities = {name: choice.probability for name, choice in trial.choices.items()}
        trial.limits = limits_of(task, trial, self.members_at_most, self.max_latency)
        weights, self.pruning_ = weigh(task, probabilities, WEIGHTINGS[self.weighting], trial.limits, rows, cost_of)
        bar.tell(f"weights {', '.join(f'{name} {weight:.2f}' for name, weight in weights.items() if weight > 0)}")
        unused = [name for name in last if not weights.get(name, 0)]
        bar.expect(-len(unused), -sum(last[name] for name in unused))
        bar.enter("models of all rows")
        mixture, ending = final_models(task, trial, weights, lambda name: bar.advance(last[name]))
        if task.processes is not None:
            task.processes.close()
        self.latency_: Latency | None = None
        if self.pruning_ is not None and trial.limits is not None and trial.limits.times is not None:
            self.latency_ = time_mixture(mixture, trial.limits, self.pruning_.price, task.X)
        warn_of_threads(task)
        self.cut_short_: str | None = cut_in_words(trial, ending, self.time_limit)
        if self.cut_short_ is not None:
            bar.close()
        if ending == "interrupted":
            names = ", ".join(mixture.members)
            say(type(self).__name__, f"interrupted: the model uses what is finished: {names}")
        elif self.cut_short_ is not None and self.verbose is not False and not bar.is_heard:
            say(type(self).__name__, self.cut_short_)
        return trial, mixture, weights

    def permutation_importance(
        self,
        X: Any,
        y: Any,
        *,
        n_repeats: int = 5,
        random_state: Any = None,
        sample_weight: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> Any:
        """How much more the decisions cost per row when a column is shuffled.

        Use rows that the model has not seen: on its training rows, columns look more useful than they are.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        n_repeats : int
            How often each column is shuffled.
        random_state : int, RandomState or None
        sample_weight : array-like of shape (n_samples,), optional
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            As in :meth:`score`.

        Returns
        -------
        Bunch
            Of :func:`sklearn.inspection.permutation_importance`: ``importances_mean``, ``importances_std`` and
            ``importances``, in the unit of the costs.
        """
        from sklearn.inspection import permutation_importance

        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)

        def scorer(model: Any, X: Any, y: Any) -> float:
            return float(model.score(X, y, sample_weight, **given))

        seed = 0 if random_state is None else random_state
        return permutation_importance(self, X, y, scoring=scorer, n_repeats=n_repeats, random_state=seed)
