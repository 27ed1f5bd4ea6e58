"""Further actions and limits of ``uneven predict``, as the user writes them, and the decisions within them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.app.files.table import Table
from uneven.app.files.table_columns import read_columns, read_target, type_columns
from uneven.app.models.apply_model import Application, words_of
from uneven.app.models.written_costs import cost_of_rows, costs_by_name, number_in
from uneven.costs import RowCosts
from uneven.errors import UnevenError
from uneven.inputs import brief
from uneven.tables import dates
from uneven.tables.column_values import distinct_texts

if TYPE_CHECKING:
    from uneven.app.models.fit_table import Prepared
    from uneven.decisions.actions import Actions
    from uneven.decisions.decision_table import Decisions

#: Periods that a column of dates can be cut into, with the unit of NumPy.
_PERIODS = {"hour": "h", "day": "D", "week": "W", "month": "M", "year": "Y"}


@dataclass(frozen=True)
class WrittenAction:
    """An action besides the two predictions: its name, and its costs on a positive and on a negative as texts."""

    name: str
    on_positive: str
    on_negative: str

    @classmethod
    def read(cls, text: str) -> WrittenAction:
        """From NAME=ON_POSITIVE:ON_NEGATIVE.

        Examples
        --------
        >>> from uneven.app.models.written_limits import WrittenAction
        >>> WrittenAction.read("review=8:amount*0.01 + 5")
        WrittenAction(name='review', on_positive='8', on_negative='amount*0.01 + 5')
        """
        name, equals, costs = text.partition("=")
        on_positive, colon, on_negative = costs.partition(":")
        parts = [part.strip() for part in (name, on_positive, on_negative)]
        if not (equals and colon and all(parts)) or ":" in on_negative:
            raise UnevenError(
                f"--action takes NAME=COST:COST, its costs on a positive and on a negative row, such as review=8:5, "
                f"got {brief(text)}"
            )
        return cls(*parts)

    @property
    def option(self) -> str:
        """What an error calls it."""
        return f"--action {self.name}"

    def costs(self, table: Table | None, count: int) -> tuple[Any, Any]:
        """The two costs: numbers, or one for each row of the table."""
        found = []
        for text in (self.on_positive, self.on_negative):
            number = number_in(self.option, text)
            if number is None and table is None:
                raise UnevenError(f"{self.option} needs numbers here, got {brief(text)}")
            found.append(number if number is not None or table is None else cost_of_rows(self.option, text, table))
        return found[0], found[1]


def read_actions(texts: tuple[str, ...], words: tuple[str, str]) -> list[WrittenAction]:
    """The actions besides the two predictions, whose words are given; an error names one that is there twice."""
    found = [WrittenAction.read(text) for text in texts]
    taken = [*words]
    for action in found:
        if action.name in taken:
            raise UnevenError(f"--action {brief(action.name)}: there is an action of this name already")
        taken.append(action.name)
    return found


def actions_for(further: list[WrittenAction], words: tuple[str, str], costs: RowCosts, table: Table | None) -> Actions:
    """All actions with their costs: the negative prediction, which does nothing, further ones, the positive one."""
    from uneven.decisions.actions import Actions

    negative, positive = words
    pairs: dict[str, Any] = {negative: (costs.fn_cost, costs.tn_cost)}
    pairs |= {action.name: action.costs(table, costs.count) for action in further}
    pairs[positive] = (costs.tp_cost, costs.fp_cost)
    return Actions(**pairs)


@dataclass(frozen=True)
class WrittenLimits:
    """Limits as options of the command: texts, None if they were not given."""

    at_most: str | None = None
    at_most_share: str | None = None
    flag_rate: str | None = None
    per: str | None = None
    recall_at_least: str | None = None
    precision_at_least: str | None = None
    budget: str | None = None
    flag_takes: str | None = None
    held_out: str | None = None
    confidence: str | None = None

    @property
    def given(self) -> bool:
        """Whether there is any limit."""
        return any(value is not None for value in vars(self).values())

    @property
    def options(self) -> dict[str, str]:
        """The limits that were given, by the names of their options."""
        return {f"--{name.replace('_', '-')}": text for name, text in vars(self).items() if text is not None}

    def read_of_actions(self, table: Table) -> dict[str, Any]:
        """The arguments of ``decide`` with several classes: how many rows may get an action."""
        found: dict[str, Any] = {}
        for name, option in (("at_most", "--at-most"), ("at_most_share", "--at-most-share")):
            text = getattr(self, name)
            if text is None:
                continue
            action, equals, most = text.rpartition("=")
            if not equals or not action.strip():
                raise UnevenError(
                    f"with several classes {option} names the decision that it is on, such as {option} "
                    f"refer={'50' if name == 'at_most' else '0.05'}, got {brief(text)}"
                )
            found[name] = _read_at_most(text) if name == "at_most" else {action.strip(): _number(name, most)}
        if self.per is not None:
            if not found:
                raise UnevenError("--per says where a limit holds: give --at-most or --at-most-share, too")
            found["per"] = read_groups(table, self.per)
        return found

    def read(self, table: Table) -> dict[str, Any]:
        """The arguments of ``decide``, but for held-out rows."""
        found: dict[str, Any] = {
            name: _number(name, getattr(self, name))
            for name in ("at_most_share", "flag_rate", "recall_at_least", "precision_at_least", "confidence")
            if getattr(self, name) is not None
        }
        if self.at_most is not None:
            found["at_most"] = _read_at_most(self.at_most)
        if self.per is not None:
            found["per"] = read_groups(table, self.per)
        if (self.budget is None) != (self.flag_takes is None):
            raise UnevenError("--budget and --flag-takes belong together: what may be spent, and what a flag takes")
        if self.budget is not None and self.flag_takes is not None:
            takes = number_in("--flag-takes", self.flag_takes)
            each = cost_of_rows("--flag-takes", self.flag_takes, table) if takes is None else float(takes)
            found["budget"] = (_number("budget", self.budget), each)
        return found


def _number(name: str, text: str) -> str:
    """An exact number as a text; ``decide`` says which ones make sense."""
    option = f"--{name.replace('_', '-')}"
    number = number_in(option, text)
    if number is None:
        raise UnevenError(f"{option} must be a number, got {brief(text)}")
    return str(number)


def _read_at_most(text: str) -> int | dict[str, int]:
    name, equals, limit = text.rpartition("=")
    if not limit.strip().isdecimal() or (equals and not name.strip()):
        raise UnevenError(f"--at-most takes a whole number such as 200, or ACTION=200, got {brief(text)}")
    number = int(limit)
    return {name.strip(): number} if equals else number


def read_groups(table: Table, text: str) -> np.ndarray:
    """The group of each row: a column, or COLUMN:day (hour, week, month, year) of a column of dates."""
    name, colon, period = text.rpartition(":")
    if text in table.frame.columns or not (colon and period in _PERIODS):
        table.require([text], ", which --per needs")
        codes, names = distinct_texts(table.written(text))
        return np.append(names, "").astype(str)[codes]
    table.require([name], f", which --per {brief(text)} needs")
    values = _dates_of(table, name)
    missing = np.flatnonzero(np.isnat(values))
    if missing.size:
        raise table.wrong_value(name, int(missing[0]), f"a date, which --per {brief(text)} needs")
    return np.datetime_as_string(values.astype(f"datetime64[{_PERIODS[period]}]"))


def _dates_of(table: Table, name: str) -> np.ndarray:
    from pandas.api import types

    series = table.frame[name]
    if types.is_datetime64_any_dtype(series.dtype):
        return dates.typed_dates(series)
    codes, names = distinct_texts(table.texts(name))
    found = dates.find_dates(names, table.reading.day_first, decimal_comma=table.decimal == ",")
    if found is None:
        raise UnevenError(f"{table.path}: column {name!r} holds no dates, which --per {name}:day needs")
    return dates.of_codes(dates.parsed(names, found.format), codes)


# -- decisions --------------------------------------------------------------------------------------------------------


def decide_table(
    content: dict[str, Any],
    used: Application,
    table: Table,
    further: list[WrittenAction],
    limits: WrittenLimits,
    held_out: Table | None,
    *,
    changed: bool,
) -> Decisions:
    """What is done with each row of a table, within limits.

    ``used`` is the model applied to the table. ``changed``: its costs are not those of the fit.
    """
    if used.decisions.probability is None:
        raise UnevenError(
            "limits and further actions need probabilities, and this model has none: "
            f"{used.decisions.why_no_probability}"
        )
    pipeline = content["pipeline"]
    last = pipeline[-1]
    if not hasattr(last, "decide"):
        raise UnevenError(
            f"this model ({used.about['model']}) decides the same for every row; limits and further actions need one "
            "that tells rows apart"
        )
    arguments = limits.read(table)
    past = None if held_out is None else _past_rows(content, used, held_out)
    if further:
        actions = actions_for(further, used.words, used.decisions.costs, table)
        known = None if past is None else (*past[:2], actions_for(further, used.words, past[2], held_out))
        return last.decide(pipeline[:-1].transform(used.X), actions=actions, held_out=known, **arguments)
    told = costs_by_name(used.decisions.costs) if used.given.per_row or changed else {}
    labelled = None if past is None else past[:2] if not told else (*past[:2], costs_by_name(past[2]))
    found = last.decide(pipeline[:-1].transform(used.X), held_out=labelled, **told, **_named(arguments, used.words))
    return replace(found, labels=used.words)


def _named(arguments: dict[str, Any], words: tuple[str, str]) -> dict[str, Any]:
    """With two predictions, a limit on one of them is a limit on flagged rows."""
    limit = arguments.get("at_most")
    if isinstance(limit, dict):
        ((name, number),) = limit.items()
        if name != words[1]:
            raise UnevenError(f"--at-most can be on {words[1]!r}, which flags a row, got {brief(name)}")
        return {**arguments, "at_most": number}
    return arguments


def _past_rows(content: dict[str, Any], used: Application, table: Table) -> tuple[Any, np.ndarray, RowCosts]:
    """Features, labels and costs of held-out rows; an error if the model learnt from them."""
    from uneven.app.models.apply_model import in_training

    about = content["about"]
    labels = read_target(table, about["target"], about["positive"], others_negative=about["others_negative"])
    labelled = table.rows(labels.known)
    X = type_columns(labelled, read_columns(about["columns"]))
    seen = int(in_training(X, content["seen"]).sum())
    if seen:
        raise UnevenError(
            f"{table.path}: {seen:,} of {len(labelled):,} rows were in the training table (same values in all "
            "columns); a guarantee needs rows that the model did not learn from"
        )
    features = content["pipeline"][:-1].transform(X)
    return features, labels.is_positive.astype(int), used.given.of(labelled)


def decided_table(used: Application, found: Decisions, *, further: bool) -> Any:
    """For each row its name, what is done, the probability, what each action is expected to cost, saving and rank."""
    import pandas as pd

    columns: dict[str, Any] = {"action" if further else "prediction": found.action, "probability": found.probability}
    for label, costs in zip(found.labels, found.expected_costs.T, strict=True):
        columns[f"cost_if_{label}"] = costs
    columns |= {"saving": found.saving, "rank": found.rank}
    if found.groups.size > 1:
        columns["group"] = found.groups[found.group]
    if used.names is not None:
        name, values = used.names
        if name in columns:
            raise UnevenError(f"the column {name!r} that names the rows has the name of a result; rename it")
        columns = {name: values.reset_index(drop=True), **columns}
    return pd.DataFrame(columns)


def written_actions(about: dict[str, Any]) -> tuple[str, ...]:
    """The further actions that a model file holds, as they were written."""
    return tuple(about.get("actions", ()))


def fitted_actions(texts: tuple[str, ...], ready: Prepared) -> list[str]:
    """Sentences about the further actions of a fit; an error if one makes no sense, or needs a column that lacks."""
    if not texts:
        return []
    if not ready.training.asked.has_probabilities:
        raise UnevenError("--action needs a model with probabilities; this loss or learner has none")
    words = words_of(ready.labels.positive, ready.labels.negatives)
    further, costs = read_actions(texts, words), ready.training.costs
    actions = actions_for(further, words, costs, ready.table.rows(ready.labels.known))
    if actions.rows is not None and not actions.dominated:
        return []
    return [actions.in_words(ready.training.given.unit)]
