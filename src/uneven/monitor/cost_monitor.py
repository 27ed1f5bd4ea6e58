"""A model in use: what its decisions are expected to cost, what they did cost, and an alarm that seldom errs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from uneven import inputs
from uneven._whole_files import write_whole
from uneven.costs import COSTS, GivenCosts, RowCosts
from uneven.errors import CostError, ParameterError, UnevenError
from uneven.inputs import Exact
from uneven.metrics.cost_sequence import CostSequence
from uneven.metrics.intervals import CostEstimate
from uneven.metrics.mean_interval import share_interval
from uneven.monitor.batches import (
    ASSUMES,
    Alarm,
    Batch,
    cost_alarm,
    find_misfits,
    prevalence_alarm,
    realised_in_words,
)
from uneven.monitor.cost_alarm import CostAlarm
from uneven.monitor.drift import ColumnReference, ScoreReference, find_drift, reference_columns
from uneven.monitor.estimated_cost import estimate_cost
from uneven.monitor.prevalence import PrevalenceEstimate, ScoredReference, share_by_decisions, share_by_probability
from uneven.monitor.saved_state import read_state, write_state
from uneven.monitor.waiting_rows import LateLabels, WaitingRows, find_rows, match_labels, read_ids
from uneven.monitor.watched_model import UNKNOWN, SaidRows, WatchedModel

__all__ = ["CostMonitor"]

#: What may go wrong in a whole life, together at most: the promise is an end of a 95 % interval, so half of this is
#: its; an alarm for cost and one for prevalence share the other half.
_DELTA = 0.05
_OF_COST, _OF_PREVALENCE = _DELTA / 4, _DELTA / 4
#: A corrected decision that saves less than this share of the expected cost is not worth an alarm.
_WORTH = 0.01
#: Rows of a reference that are kept; of more, every n-th.
_MOST_ROWS = 50_000


class CostMonitor:
    """Watches a model in use, in money.

    Each batch of rows is judged without labels when it comes, and by its labels when they come. An alarm is raised if
    the decisions cost more than was promised, or if the share of positives moved so far that corrected decisions save
    money. It is made so that in its whole life, and however often one looks, it raises a false one with a chance of at
    most 5 %. For the cost of labelled rows against a fixed ``promise`` this is a theorem; the promise from a reference
    and the share of positives rest on intervals that are approximate, and were simulated (docs/year.md).

    Parameters
    ----------
    model : estimator
        A fitted classifier with probabilities: of this library, or of scikit-learn with costs given here; or a pipeline
        of either.
    reference : (X, y), optional
        Labelled rows that the model did not learn from. By default the rows that its own folds judged, if it keeps
        them; columns are then compared with those of the first batch. A third entry is a dictionary of costs of these
        rows, if these differ from row to row.
    fp_cost, fn_cost, tp_cost, tn_cost : number, optional
        By default those of the model.
    promise : number, optional
        The mean cost per row above which an alarm is raised. By default the upper end of the 95 % interval of the cost
        of the reference.
    most_cost : number, optional
        The largest cost that a row can have. By default the largest one of the reference.
    pos_label : label, optional
        For a classifier of scikit-learn.

    Attributes
    ----------
    batches : list of Batch
    alarms : list of Alarm
    realised : CostSequence
        The mean cost of all labelled rows, with an interval that may be looked at at any time.
    promise : float
    expected_cost : CostEstimate
        What the decisions cost on the reference.
    model : estimator
        The model that decides; :meth:`correct` changes it.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from uneven.monitor import CostMonitor
    >>> X, y = make_classification(6000, weights=[0.9], class_sep=0.8, random_state=0)
    >>> model = uneven.UnevenThresholdClassifierCV(LogisticRegression(), fp_cost=1, fn_cost=10).fit(X[:3000], y[:3000])
    >>> monitor = CostMonitor(model)
    >>> january = monitor.update(X[3000:4500], batch="January")
    >>> late = monitor.add_labels(y[3000:4500], batch="January")
    >>> late.added, january.labelled, monitor.alarms
    (1500, 1500, [])
    """

    def __init__(
        self,
        model: Any,
        reference: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        promise: Exact | None = None,
        most_cost: Exact | None = None,
        pos_label: Any = None,
    ) -> None:
        self._given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        self._watched = WatchedModel(model, self._given, pos_label)
        self._decides = self._watched
        self._columns: dict[str, ColumnReference] = {}
        self.batches: list[Batch] = []
        self.alarms: list[Alarm] = []
        self._waiting: dict[str, WaitingRows] = {}
        self._same_model = reference is not None  # models of folds spread their scores a little otherwise
        self._set_reference(*self._watched.read_reference(reference), promise, most_cost)
        if reference is not None:
            self._columns = reference_columns(reference[0])

    # -- the reference ----------------------------------------------------------------------------------------------

    def _set_reference(
        self,
        scored: ScoredReference,
        margin: np.ndarray,
        costs: RowCosts,
        found: CostEstimate,
        promise: Exact | None,
        most_cost: Exact | None,
    ) -> None:
        self.expected_cost = found
        self._scores = ScoreReference.of(margin, scored)
        if scored.weight.size > _MOST_ROWS:
            step = -(-scored.weight.size // _MOST_ROWS)
            parts = (scored.log_odds, scored.is_positive, scored.flagged, scored.weight)
            scored = ScoredReference(*(part[::step] for part in parts))
        self._reference = scored
        four = [np.asarray(getattr(costs, name), dtype=np.float64) for name in COSTS]
        self._least = min(0.0, *(float(part.min()) for part in four))
        most = max(float(part.max()) for part in four)
        self._most = most if most_cost is None else inputs.to_float(inputs.exact("most_cost", most_cost, CostError))
        if not self._most > self._least:
            raise CostError(f"most_cost must be above {self._least:g}, what a row costs at least, got {self._most:g}")
        wanted = found.high if promise is None else inputs.to_float(inputs.exact("promise", promise, CostError))
        self.realised = CostSequence(most=self._most, least=self._least)
        self._episodes = 0
        low, high = share_interval(scored.share, float(scored.weight.sum()))
        self._in_use = PrevalenceEstimate(scored.share, low, high)
        self._set_promise(wanted)

    def _set_promise(self, promise: float) -> None:
        """Start the alarm for costs above a promise; each further one has half of the chance to err."""
        self._episodes += 1
        self.promise = max(promise, self._least + 1e-9 * (self._most - self._least))
        self._alarm = CostAlarm(self.promise, least=self._least, most=self._most, delta=_OF_COST / 2**self._episodes)

    @property
    def model(self) -> Any:
        """The model that is watched."""
        return self._decides.model

    @property
    def prevalence_in_use(self) -> PrevalenceEstimate:
        """The share of positives that decisions are for: of the reference, or as last corrected."""
        return self._in_use

    @property
    def waiting(self) -> int:
        """Rows whose labels have not come yet."""
        return sum(int((rows.label == UNKNOWN).sum()) for rows in self._waiting.values())

    # -- rows -------------------------------------------------------------------------------------------------------

    def update(
        self,
        X: Any = None,
        y: Any = None,
        *,
        ids: Any = None,
        batch: str | None = None,
        probability: Any = None,
        flagged: Any = None,
        threshold: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> Batch:
        """Add a batch of rows; all of it or, after an error, nothing.

        Parameters
        ----------
        X : array-like or DataFrame, optional
            The rows; the model decides them. Not needed if ``probability`` and ``flagged`` say what was decided, but
            then drift of columns cannot be seen.
        y : array-like, optional
            Labels; None or NaN where they are not known yet.
        ids : list of texts or numbers, optional
            Names of the rows, by which late labels find them.
        batch : str, optional
            The name of the batch, such as a month. By default its number.
        probability, flagged, threshold : array-like, optional
            What was logged: probability of the positive class, decision (True for positive), and threshold.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like, optional
            Costs of these rows.

        Returns
        -------
        Batch
        """
        name = str(len(self.batches) + 1) if batch is None else str(batch)
        if any(one.name == name for one in self.batches):
            raise ParameterError(f"there is a batch {name!r} already; give this one another name")
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        said, decided = self._read_rows(X, given, probability, flagged, threshold)
        label = self._watched.read_labels(y, said.count)
        names = read_ids(ids, said.count)
        if names is not None:
            known = {one for rows in self._waiting.values() for one in rows.ids or ()}
            again = [one for one in names if one in known]
            if again:
                raise ParameterError(f"ids must be new: {again[0]!r} is the name of a row that waits for its label")
        made, alarm = self._judge(name, said, decided, X, given)
        self._require_range(said)
        rows = WaitingRows(decided, said.costs, np.full(said.count, UNKNOWN, dtype=np.int8), names)
        # Nothing was changed before this line; what follows does not fail.
        if X is not None and not self._columns and not self.batches:
            self._columns = reference_columns(X)
        self.batches.append(made)
        if alarm is not None:
            self.alarms.append(alarm)
        self._waiting[name] = rows
        self._add({name: (np.flatnonzero(label != UNKNOWN), label[label != UNKNOWN])})
        return made

    def _read_rows(
        self, X: Any, given: GivenCosts, probability: Any, flagged: Any, threshold: Any
    ) -> tuple[SaidRows, np.ndarray]:
        """What the model says of rows, and what was decided."""
        if (probability is None) != (flagged is None):
            raise ParameterError("probability and flagged belong together: give both, as they were logged")
        if probability is not None:
            count = len(np.atleast_1d(np.asarray(probability)))
            if not count:
                raise ParameterError("a batch needs at least one row, got none")
            told = given.filled(self._given)
            said = self._watched.logged(probability, flagged, self._watched.read_costs(count, told), threshold)
            return said, said.flagged
        if X is None:
            raise ParameterError("update needs rows X, or what was logged of them: probability and flagged")
        if not len(X):
            raise ParameterError("a batch needs at least one row, got none")
        said = self._watched.say(X, given)
        decided = said.flagged if self._decides is self._watched else self._decides.say(X, given).flagged
        return said, decided

    def _require_range(self, said: SaidRows) -> None:
        least = min(float(np.min(getattr(said.costs, name))) for name in COSTS)
        if least < self._least:
            raise CostError(
                f"a row of this batch can cost {least:g}, less than any of the reference ({self._least:g}); make a new "
                "monitor whose reference has such rows"
            )

    def _judge(
        self, name: str, said: SaidRows, decided: np.ndarray, X: Any, given: GivenCosts
    ) -> tuple[Batch, Alarm | None]:
        """What is known of a batch without labels, and an alarm if the share of positives moved."""
        reference = self._reference
        share = share_by_probability(reference, said.log_odds)
        by_decisions = share_by_decisions(reference, said.flagged)
        estimate = estimate_cost(reference, said.log_odds, decided, said.costs, share)
        near, expected = float((np.abs(said.margin) < 0.5).mean()), self._scores.near(share.value)
        flagged = int(decided.sum())
        made = Batch(name, said.count, flagged, estimate, share, by_decisions, near, expected, self._episodes)
        made.notes += find_misfits(made, self._reference, self._scores if self._same_model else None, said.margin)
        if X is not None and self._columns:
            made.drift = find_drift(self._columns, X, lambda part: self._ask(part, given), said.count)
        return made, self._prevalence_alarm(made, said)

    def _ask(self, part: Any, given: GivenCosts) -> tuple[np.ndarray, np.ndarray]:
        """What decisions about rows are expected to cost, and the decisions; costs of single rows by their means."""
        means = GivenCosts(**{name: None if value is None else float(np.mean(value)) for name, value in given.items()})
        said = self._watched.say(part, means)
        p = self._reference.probability(said.log_odds)
        one = np.where(said.flagged, said.costs.tp_cost, said.costs.fn_cost)
        other = np.where(said.flagged, said.costs.fp_cost, said.costs.tn_cost)
        return p * one + (1 - p) * other, said.flagged

    def _prevalence_alarm(self, made: Batch, said: SaidRows) -> Alarm | None:
        """An alarm if shares differ, at a level that all batches together share, and money is at stake."""
        number = len(self.batches) + 1
        level = 1 - _OF_PREVALENCE / (number * (number + 1)) / 2
        now = share_by_probability(self._reference, said.log_odds, level)
        before = self._in_use
        if self._decides is self._watched:
            ends = share_interval(self._reference.share, float(self._reference.weight.sum()), level)
            before = PrevalenceEstimate(self._reference.share, *ends)
        worth = made.estimate.saved > _WORTH * abs(made.estimate.value)
        told = any(one.kind == "prevalence" and one.episode == self._episodes for one in self.alarms)
        if told or not worth or not now.differs(before):
            return None
        return prevalence_alarm(made, now.value, before.value)

    # -- labels -----------------------------------------------------------------------------------------------------

    def add_labels(self, y: Any, *, ids: Any = None, batch: str | None = None) -> LateLabels:
        """Add labels that came late: by the names of rows, or one for each row of a batch, in its order.

        Parameters
        ----------
        y : array-like
            None or NaN where a label is still not known.
        ids : list, optional
            The names of the rows as in :meth:`update`. Others are counted and left out.
        batch : str, optional
            In place of ``ids``: the batch whose rows these are.

        Returns
        -------
        LateLabels

        Notes
        -----
        The alarm assumes that labels do not come sooner for dear mistakes: add the labels of a time together, or those
        of rows that were chosen without a look at the outcome.
        """
        if (ids is None) == (batch is None):
            raise ParameterError("labels need the names of their rows, ids=, or batch=, the batch that they belong to")
        if batch is not None:
            of_batch = next((one for one in self.batches if one.name == str(batch)), None)
            if of_batch is None:
                shown = ", ".join(repr(one.name) for one in self.batches[-3:])
                raise ParameterError(f"there is no batch {str(batch)!r}; the last ones are {shown or 'none'}")
            label = self._watched.read_labels(y, of_batch.rows)
            if str(batch) not in self._waiting:
                return LateLabels(0, repeated=int((label != UNKNOWN).sum()))
            places = {str(batch): np.arange(of_batch.rows)}
            return self._match(places, {str(batch): label}, 0)
        names = read_ids(ids, len(np.atleast_1d(np.asarray(ids, dtype=object))))
        assert names is not None
        label = self._watched.read_labels(y, len(names))
        return self._match(*find_rows(self._waiting, names, label))

    def _match(self, places: dict[str, np.ndarray], labels: dict[str, np.ndarray], unknown: int) -> LateLabels:
        fresh, told = match_labels(self._waiting, places, labels, unknown)
        self._add(fresh)
        return told

    def _add(self, fresh: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
        """Count labels of waiting rows, in the order of their batches."""
        paid, of_alarm = [], []
        for made in self.batches:
            at, now = fresh.get(made.name, (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int8)))
            if not at.size:
                continue
            rows = self._waiting[made.name]
            rows.label[at] = now
            paid.append(rows.paid(at))
            if made.episode == self._episodes:  # rows that were decided as now
                of_alarm.append(paid[-1])
            made.labelled, made.positives = made.labelled + at.size, made.positives + int((now == 1).sum())
            made.realised = rows.estimate()
            if made.labelled == made.rows:
                del self._waiting[made.name]
        if not paid:
            return
        self.realised.update(np.clip(np.concatenate(paid), self._least, self._most))
        before = self._alarm.fires
        if of_alarm and self._alarm.update(np.concatenate(of_alarm)).fires and not before:
            last = next(one for one in reversed(self.batches) if one.name in fresh)
            self.alarms.append(cost_alarm(last, self.promise, self._alarm, self._episodes))

    # -- what to do -------------------------------------------------------------------------------------------------

    def correct(self, prevalence: Exact | None = None) -> Any:
        """Correct the decisions for another share of positives, and watch the corrected model from now on.

        Parameters
        ----------
        prevalence : number in (0, 1), optional
            By default the estimate of the last batch.

        Returns
        -------
        estimator
            ``model.with_costs(prevalence=...)``. The promise becomes the upper end of what these decisions are
            expected to cost on rows like those of the last batch, and the alarm starts again.
        """
        if not self.batches:
            raise ParameterError("correct needs a batch to know the share of positives, and there is none yet")
        last = self.batches[-1]
        if prevalence is None and last.notes:
            raise ParameterError(
                f"the share of positives of {last.name!r} is not known without labels: {last.notes[0]} Give "
                "prevalence=, such as the share among labelled rows"
            )
        share = last.prevalence.value if prevalence is None else float(inputs.between_0_and_1("prevalence", prevalence))
        if not 0 < share < 1:
            raise ParameterError(f"the last batch seems to have a share of positives of {share:g}; give prevalence=")
        changed = self._watched.with_prevalence(share)
        self._decides = WatchedModel(changed, self._given)
        low, high = (last.prevalence.low, last.prevalence.high) if prevalence is None else (share, share)
        self._in_use = PrevalenceEstimate(share, low, high)
        self._set_promise(last.estimate.high - last.estimate.saved)
        return changed

    def __repr__(self) -> str:
        labelled = sum(one.labelled for one in self.batches)
        rows = sum(one.rows for one in self.batches)
        return (
            f"<CostMonitor of {self._watched.name}: {len(self.batches)} batches, {rows:,} rows, {labelled:,} with "
            f"labels, {len(self.alarms)} alarms>"
        )

    def sentences(self, unit: str | None = None) -> list[str]:
        """What is known, and what to do."""
        of = f" {unit}" if unit else ""
        found = [
            f"Promised is a cost of at most {1000 * self.promise:.4g}{of} per 1,000 rows; the reference cost "
            f"{1000 * self.expected_cost.cost:.4g} ({1000 * self.expected_cost.low:.4g} to "
            f"{1000 * self.expected_cost.high:.4g})."
        ]
        if self.realised.count:
            found.append(realised_in_words(self.realised, of))
        if self.waiting:
            found.append(f"{self.waiting:,} rows wait for their labels.")
        if self.batches:
            found += [self.batches[-1].in_words(unit), ASSUMES, *self.batches[-1].notes]
        found += [f"ALARM ({one.kind}, after {one.batch}): {one.message}" for one in self.alarms]
        return found if self.alarms else [*found, "No alarm: there is nothing to do."]

    # -- files ------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The whole state as plain data, without the model."""
        return write_state(self)

    @classmethod
    def from_dict(cls, state: dict[str, Any], model: Any, *, pos_label: Any = None) -> CostMonitor:
        """The monitor whose state this is.

        Parameters
        ----------
        state : dict
            What :meth:`to_dict` gave.
        model : estimator
            The model that it watched, as it was before :meth:`correct`.
        pos_label : label, optional

        Returns
        -------
        CostMonitor
        """
        found = cls.__new__(cls)
        read_state(found, state, model, pos_label)
        return found

    def save(self, path: str | Path) -> None:
        """Write the state to one file (JSON): whole, or after a crash not at all.

        Parameters
        ----------
        path : str or Path
        """
        write_whole(path, json.dumps(self.to_dict(), allow_nan=False))

    @classmethod
    def load(cls, path: str | Path, model: Any, *, pos_label: Any = None) -> CostMonitor:
        """The monitor that :meth:`save` wrote; it goes on as if it had never stopped.

        Parameters
        ----------
        path : str or Path
        model : estimator
            The model that it watches, as it was before :meth:`correct`.
        pos_label : label, optional

        Returns
        -------
        CostMonitor
        """
        try:
            state = json.loads(Path(path).read_bytes())
        except (ValueError, RecursionError):
            raise UnevenError(f"{path} is not a readable state of a monitor; it is damaged, or another file") from None
        return cls.from_dict(state, model, pos_label=pos_label)
