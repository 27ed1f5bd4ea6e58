"""``uneven.report``: what a fitted model costs and saves, from X and y in memory."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from uneven import inputs
from uneven.app.models.apply_model import Application, Decisions, answer, decide_features
from uneven.app.models.candidates import CONSTANT_RULES, EVERYONE, NO_ONE
from uneven.app.models.compare_candidates import what_ifs
from uneven.app.models.written_costs import WrittenCosts
from uneven.app.report.class_report import ClassReport
from uneven.app.report.columns_in_money import columns_in_money
from uneven.app.report.judged_rows import OUT_OF_FOLD, decides_classes, split_rows
from uneven.app.report.limit_costs import FurtherActions, capacity_costs
from uneven.app.report.sentences import per_thousand
from uneven.app.report.table_report import ENOUGH, OURS, Judgement, Report, flag_first
from uneven.costs import COSTS, GivenCosts, RowCosts
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief
from uneven.labels import positive_label, read_labels, require_same_length, where_positive
from uneven.learners.contract import EstimatorContract, costs_to_score
from uneven.learners.corrected_actions import CorrectedActions
from uneven.learners.seen_rows import known_rows
from uneven.learners.several_actions import have_actions_between
from uneven.metrics import CostEstimate, compare
from uneven.metrics.intervals import estimates
from uneven.metrics.passing_costs import takes_costs


def report(
    model: Any,
    X: Any,
    y: Any,
    *,
    fp_cost: Any = None,
    fn_cost: Any = None,
    tp_cost: Any = None,
    tn_cost: Any = None,
    costs: Any = None,
    against: Mapping[str, Any] | None = None,
    unit: str | None = None,
    rows_per_year: float | None = None,
    pos_label: Any = None,
    folds: int | None = None,
    columns: bool = True,
) -> Report | ClassReport:
    """What a fitted model costs and saves, in money, on rows that it has not seen.

    Give it rows that were kept out of the fit. Rows of the fit are recognised, and the answer then comes from decisions
    out of fold, which ensembles and thresholds keep, or from ``folds``; it never comes from rows that the model has
    learnt from.

    Parameters
    ----------
    model : classifier or Pipeline
        A fitted classifier: of this library, a pipeline or search around one, or any other.
    X : DataFrame, array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
        What each outcome costs, by default as in the fit. Those of which the fit had one for each row must be given.
    costs : CostMatrix, optional
        With several classes, in place of these four: what each decision costs in each class, by default as in the fit.
    against : mapping of str to classifier, optional
        Other fitted models to compare with, by name.
    unit : str, optional
        Such as "EUR".
    rows_per_year : number, optional
        Money is then also told for so many rows.
    pos_label
        For models that do not know it: the positive class, as in :func:`uneven.metrics.expected_cost`.
    folds : int, optional
        If the rows are those of the fit and the model keeps no decisions out of fold: fit copies of it on so many
        folds.
    columns : bool
        Whether to find out which columns matter; it takes some seconds for slow models.

    Returns
    -------
    Report, or ClassReport with several classes
        It shows itself in a notebook; ``to_html(path)``, ``summary()`` and ``to_dict()`` say the same.

    Examples
    --------
    >>> import uneven
    >>> X, y, costs = uneven.load_example("train")
    >>> model = uneven.UnevenEnsembleClassifier(members=["linear"]).fit(X, y, **costs)
    >>> X_test, y_test, costs = uneven.load_example("test")
    >>> found = uneven.report(model, X_test, y_test, **costs, unit="EUR", rows_per_year=100_000, columns=False)
    >>> print(found.answer)
    Per 1,000 rows ...
    """
    labels = read_labels("y", y)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    require_same_length(X=np.arange(_num_samples(X)), y=labels)
    given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    if decides_classes(model, costs):
        from uneven.app.report.class_model_report import class_model_report

        if rows_per_year is not None:
            inputs.positive("rows_per_year", rows_per_year)
        for name, value in {**given.known, "pos_label": pos_label}.items():
            if value is not None:
                raise CostError(f"{name} is for two classes, got {brief(value)}; with several, costs=CostMatrix(...)")
        how: dict[str, Any] = {"unit": unit, "rows_per_year": rows_per_year, "folds": folds, "columns": columns}
        return class_model_report(model, X, y, labels, costs=costs, against=against or {}, **how)
    asked = _Asked.of(model, given, pos_label, labels)
    if rows_per_year is not None:
        inputs.positive("rows_per_year", rows_per_year)
    (is_positive,) = where_positive(asked.positive, labels)
    of_rows = asked.costs_of(given, labels.size)
    for name in against or {}:
        if name in (OURS, *CONSTANT_RULES):
            raise ParameterError(f"against has a model with the name {name!r}, which the report needs; rename it")
    others = {name: _Asked.of(one, given, asked.positive, labels) for name, one in (against or {}).items()}
    known = known_rows(asked.learner, asked.read(X)) if isinstance(asked.learner, EstimatorContract) else None
    rows = _Rows(X, is_positive, of_rows, [f"row {k}" for k in _names(X, labels.size)])
    found = _Found(asked, others, rows, known)
    return found.report(model, unit, rows_per_year, folds, y, columns=columns, against=against or {})


def _names(X: Any, count: int) -> Any:
    index = getattr(X, "index", None)
    if index is None or callable(index) or len(index) != count:
        return range(1, count + 1)
    plain = index.dtype.kind in "iu" and bool((np.asarray(index) == np.arange(count)).all())
    return range(1, count + 1) if plain else index


@dataclass(frozen=True)
class _Asked:
    """A fitted classifier behind pipelines and searches, the steps before it, and whether it is told the costs."""

    learner: Any
    steps: list[Any]
    moves: bool
    told: bool
    known: dict[str, Any]
    positive: Any

    @classmethod
    def of(cls, model: Any, given: GivenCosts, pos_label: Any, labels: np.ndarray) -> _Asked:
        """What decides; its classes must be those of the labels."""
        steps: list[Any] = []
        while True:
            if isinstance(model, Pipeline):
                steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
                model = model[-1]
            elif isinstance(model, EstimatorContract):
                inner, told = model._asks(given)
                if inner is model:
                    break
                model, given = inner, told
            elif hasattr(model, "best_estimator_"):
                model = model.best_estimator_
            else:
                break
        if not hasattr(model, "predict") or not hasattr(model, "classes_"):
            raise ParameterError(f"report needs a fitted classifier, got {brief(model)}")
        classes = np.asarray(model.classes_).tolist()
        if len(classes) != 2:
            raise CostError(f"report is for two classes, and this model knows {len(classes)}: {brief(classes)}")
        strange = sorted(set(labels.tolist()) - set(classes), key=str)
        if strange:
            raise CostError(f"y has labels that the model does not know: {brief(strange)}; it knows {brief(classes)}")
        ours = isinstance(model, EstimatorContract)
        positive = model._classes.pos_label if ours else positive_label(pos_label, classes)
        if pos_label is not None and positive != pos_label:
            raise CostError(f"the positive class of this model is {positive!r}, got pos_label={pos_label!r}")
        known = dict(model._costs_of_fit) if ours else {"tp_cost": 0.0, "tn_cost": 0.0}
        moves = takes_costs(model) and hasattr(model, "predict_proba")  # else it decides at the costs of its fit
        return cls(model, steps, moves, bool(given.known) and moves, known, positive)

    def costs_of(self, given: GivenCosts, count: int) -> RowCosts:
        """The costs of the rows: those given, and those of the fit."""
        if not isinstance(self.learner, EstimatorContract) and (given["fp_cost"] is None or given["fn_cost"] is None):
            raise CostError(f"{type(self.learner).__name__} does not know what mistakes cost: give fp_cost and fn_cost")
        return RowCosts.read(count, **costs_to_score(self.known, given, "report"))

    def read(self, X: Any) -> Any:
        """Rows as the learner takes them."""
        for step in self.steps:
            X = step.transform(X)
        return X

    def decide(self, X: Any, costs: RowCosts) -> Decisions:
        """What it says about rows."""
        found = decide_features(self.learner, self.read(X), costs, told=self.told, positive=self.positive)
        if isinstance(self.learner, EstimatorContract):
            return found
        return Decisions(
            costs, found.said_positive, found.score, found.probability, _own_cut(found), found.why_no_probability
        )

    def said_positive(self, X: Any, costs: RowCosts, *, told: bool) -> np.ndarray:
        """Where it says positive."""
        return np.asarray(answer(self.learner, "predict", self.read(X), costs, told=told)) == self.positive


def _own_cut(found: Decisions) -> np.ndarray:
    """The probability above which a model of others flags a row: that of the costs or 1/2; NaN if neither is it."""
    p = found.probability
    for cut in (found.threshold, np.full(found.threshold.size, 0.5)):
        if p is not None and ((p > cut) == found.said_positive).all():
            return cut
    return np.full(found.threshold.size, np.nan)


@dataclass(frozen=True)
class _Rows:
    """Rows with labels, costs and names."""

    X: Any
    is_positive: np.ndarray
    costs: RowCosts
    names: list[str]

    def take(self, rows: np.ndarray) -> _Rows:
        """Some of them."""
        kept = np.flatnonzero(rows)
        X = self.X.tocsr()[kept] if hasattr(self.X, "tocsr") else _safe_indexing(self.X, kept)
        return _Rows(X, self.is_positive[kept], self.costs.take(kept), [self.names[k] for k in kept])


@dataclass(frozen=True)
class _Found:
    """A model, the rows, and which of them it has learnt from: all that a report is made of."""

    asked: _Asked
    others: dict[str, _Asked]
    rows: _Rows
    known: np.ndarray | float | None

    def report(
        self,
        model: Any,
        unit: str | None,
        rows_per_year: float | None,
        folds: int | None,
        y: Any,
        *,
        columns: bool,
        against: Mapping[str, Any],
    ) -> Report:
        """The report."""
        rows, learner = self.rows, self.asked.learner
        fresh, seen, remarks = split_rows(self.known, rows.is_positive, self._instead)
        new, known, fitted, compared, kept, capacity = None, None, [], "", rows, None
        if fresh is not None:
            kept = rows.take(fresh)
            new = self._judge(kept, f"on {kept.is_positive.size:,} rows that the model has not learnt from")
        elif (out_of_fold := self._out_of_fold()) is not None:
            new, kept = out_of_fold
        else:
            known = self._judge(rows, f"on {rows.is_positive.size:,} rows, of which the model has learnt from most")
            if folds is not None:
                fitted, compared = self._cross_validate(model, against, y, folds), f"cross-validated, {folds} folds"
            elif (rough := _without_rows(learner)) is not None:
                fitted, compared = rough, OUT_OF_FOLD
        judged = new or known
        assert judged is not None
        decided, truth = judged.decisions, judged.is_positive
        if new is not None:
            capacity = capacity_costs(decided, truth)
        worths, how = ([], "") if not columns else self._columns(kept if fresh is not None else rows, fresh is None)
        about = self._about(y, fitted, compared, decided)
        used = Application(about, _written(rows.costs, unit), rows.X, decided, None, [])
        return Report(
            used=used,
            is_positive=truth,
            new=new,
            known=known,
            fitted=fitted,
            how_moved="thresholds moved, nothing refitted" if self.asked.moves else "the decisions stay",
            first=flag_first(decided, truth, kept.names if len(kept.names) == truth.size else _numbered(truth.size)),
            seen=seen,
            unknowns=[*remarks, *self._unknowns(truth)],
            pipeline=Pipeline([("classifier", learner)]),
            capacity=capacity,
            further=self._actions(rows if fresh is None else kept, unit),
            rows_per_year=None if rows_per_year is None else float(rows_per_year),
            columns=worths,
            columns_how=how,
        )

    # -- what it costs ------------------------------------------------------------------------------------------------

    @property
    def _instead(self) -> str:
        kept = isinstance(self.asked.learner, CorrectedActions)
        return f"the answer is {OUT_OF_FOLD}" if kept else "they say little about new rows"

    def _judge(self, rows: _Rows, how: str) -> Judgement:
        decided = self.asked.decide(rows.X, rows.costs)
        theirs = {name: one.said_positive(rows.X, rows.costs, told=one.told) for name, one in self.others.items()}
        given = _compared(rows.costs, rows.is_positive, {OURS: decided.said_positive, **theirs})

        def compared_at(_: str, other: RowCosts) -> list[CostEstimate]:
            ours = decided.said_positive
            if self.asked.moves:
                ours = self.asked.said_positive(rows.X, other, told=True)
            there = {
                name: one.said_positive(rows.X, other, told=True) if one.moves else theirs[name]
                for name, one in self.others.items()
            }
            return _compared(other, rows.is_positive, {OURS: ours, **there})

        return Judgement(decided, rows.is_positive, given, what_ifs(rows.costs, given, compared_at), how)

    def _out_of_fold(self) -> tuple[Judgement, _Rows] | None:
        """The decisions about rows of the fit by models that had not learnt from them; None if they are not kept."""
        learner = self.asked.learner
        if not isinstance(learner, CorrectedActions) or not learner._has_rows:
            return None
        kept, mine = learner.out_of_fold_rows_, self.rows
        same = np.array_equal(kept.is_positive, mine.is_positive)
        if not same and mine.costs.per_row:
            mine = _Rows(mine.X, kept.is_positive, learner._row_costs, [])
        elif not same:
            numbers = {name: getattr(mine.costs, name) for name in COSTS}
            mine = _Rows(mine.X, kept.is_positive, RowCosts.read(kept.is_positive.size, **numbers), [])
        costs, weight = mine.costs, None if (kept.weight == 1).all() else kept.weight
        said = learner._decide_out_of_fold(costs)
        cut = np.asarray(learner.thresholds(costs))
        with np.errstate(invalid="ignore"):
            score = np.where(said, 1.0, -1.0) * np.abs(kept.probability - np.nan_to_num(cut, nan=0.5))
        decided = Decisions(costs, said, score, kept.probability, cut)

        def compared_at(_: str, other: RowCosts) -> list[CostEstimate]:
            there = {OURS: learner._decide_out_of_fold(other)}
            return _compared(other, mine.is_positive, there, weight, learner._trained, learner._group)

        given = _compared(costs, mine.is_positive, {OURS: said}, weight, learner._trained, learner._group)
        return Judgement(decided, mine.is_positive, given, what_ifs(costs, given, compared_at), OUT_OF_FOLD), mine

    def _cross_validate(self, model: Any, against: Mapping[str, Any], y: Any, folds: int) -> list[CostEstimate]:
        """Copies of the models, fitted and tested on folds of the rows."""
        classes = np.asarray(self.asked.learner.classes_)
        label = classes[classes != self.asked.positive][0], self.asked.positive
        rules = {
            name: DummyClassifier(strategy="constant", constant=label[k]) for k, name in enumerate((NO_ONE, EVERYONE))
        }
        costs = {name: getattr(self.rows.costs, name) for name in COSTS}
        models = {OURS: model, **against, **rules}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="in .* rows the mistake costs less", category=UserWarning)
            found = compare(
                models, self.rows.X, y, **costs, pos_label=self.asked.positive, folds=folds, repeats=1, rules=rules
            )
        return [found[0], *sorted(found[1:], key=lambda row: row.cost)]

    # -- what else it says --------------------------------------------------------------------------------------------

    def _columns(self, rows: _Rows, learnt: bool) -> tuple[list[Any], str]:
        def decide(X: Any, some: np.ndarray) -> np.ndarray:
            return self.asked.said_positive(X, rows.costs.take(some), told=self.asked.told)

        return columns_in_money(decide, rows.X, rows.is_positive, rows.costs, learnt=learnt)

    def _actions(self, rows: _Rows, unit: str | None) -> FurtherActions | None:
        """What the further actions of a model do on these rows; None if it has only two."""
        learner = self.asked.learner
        actions = getattr(learner, "_actions_of_fit", None)
        if not have_actions_between(actions):
            return None
        found = learner.decide(self.asked.read(rows.X))
        pairs = list(actions.costs.values())
        on_label = np.stack([np.where(rows.is_positive, *pair) + np.zeros(rows.is_positive.size) for pair in pairs], 1)
        paid = float(np.take_along_axis(on_label, np.asarray(found.choice)[:, None], axis=1).mean())
        shares = ", ".join(f"{label} {count / len(found):.1%}" for label, count in found.counts.items())
        return FurtherActions(
            actions,
            [
                actions.in_words(unit),
                f"With all of its actions ({shares}) it costs {per_thousand(paid, unit)} per 1,000 rows here. The "
                "costs above are those of the two outermost actions alone.",
            ],
        )

    def _about(self, y: Any, fitted: list[CostEstimate], compared: str, decided: Decisions) -> dict[str, Any]:
        learner, positive = self.asked.learner, self.asked.positive
        classes = np.asarray(learner.classes_)
        negative = classes[classes != positive][0]
        words = {True: "yes", False: "no"} if classes.dtype == bool else {}
        name = type(learner).__name__
        seen = learner.__dict__.get("_seen", {}) if hasattr(learner, "__dict__") else {}
        ours = isinstance(learner, EstimatorContract)
        return {
            "target": str(getattr(y, "name", None) or "y"),
            "positive": words.get(positive, str(positive)),
            "negatives": [words.get(negative, str(negative))],
            "model": name,
            "rows": seen.get("rows"),
            "comparison": [],
            "compared": compared,
            "learner": "given",
            "own_threshold": not ours and bool(np.isnan(decided.threshold).all()),
            "lacking": f"{name} keeps no decisions out of fold (folds=5 would fit copies of it on folds)",
        }

    def _unknowns(self, truth: np.ndarray) -> list[str]:
        found = []
        fewest = int(min(truth.sum(), (~truth).sum()))
        if fewest < ENOUGH:
            found.append(f"There are only {fewest} rows of the rarer class: a few decisions carry the result.")
        found.append("Whether things change over time cannot be seen: rows of another time may cost more.")
        return found


def _compared(
    costs: RowCosts,
    is_positive: np.ndarray,
    said: dict[str, np.ndarray],
    weight: np.ndarray | None = None,
    trained: float | None = None,
    groups: np.ndarray | None = None,
) -> list[CostEstimate]:
    """Costs with intervals, ours first, then by cost; with the constant rules."""
    rules = {NO_ONE: np.zeros_like(is_positive), EVERYONE: np.ones_like(is_positive)}
    every = {name: part[None] for name, part in {**said, **rules}.items()}
    first, *others = estimates(costs, is_positive, every, weight, trained=trained, rules=CONSTANT_RULES, groups=groups)
    return [first, *sorted(others, key=lambda row: row.cost)]


def _without_rows(learner: Any) -> list[CostEstimate] | None:
    """Costs out of fold of a model that did not keep its rows one by one; None if it has none.

    Differences are not paired: the ends are those of both intervals, which no correlation can make too narrow.
    """
    if not isinstance(learner, CorrectedActions):
        return None
    ours = learner.out_of_fold_cost_
    found = [CostEstimate(**{**ours.to_dict(), "name": OURS, "difference": None, "difference_rough": False})]
    for name, rule in zip((NO_ONE, EVERYONE), ("all negative", "all positive"), strict=True):
        one = learner.constant_costs_[rule]
        apart = {
            "name": name,
            "difference": one.cost - ours.cost,
            "difference_low": one.low - ours.high,
            "difference_high": one.high - ours.low,
            "difference_rough": one.rough or ours.rough,
        }
        found.append(CostEstimate(**{**one.to_dict(), **apart}))
    return [found[0], *sorted(found[1:], key=lambda row: row.cost)]


def _written(costs: RowCosts, unit: str | None) -> WrittenCosts:
    """The costs as texts: what a report says of them."""
    texts = {}
    for name in COSTS:
        cost = getattr(costs, name)
        texts[name] = _OF_EACH_ROW if isinstance(cost, np.ndarray) else repr(float(cost))
    return WrittenCosts(**texts, unit=unit)


_OF_EACH_ROW = "what is given for each row"


def _numbered(count: int) -> list[str]:
    return [f"row {k + 1}" for k in range(count)]
