"""What a model saves in money, in sentences: against the same decision for everyone, against the usual models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.app.models.candidates import ALWAYS, EVERYONE, NO_ONE, LogisticRule, is_rule
from uneven.app.models.class_candidates import LIKELIEST, LogisticClassRule
from uneven.costs import COSTS, RowCosts, money
from uneven.decisions.alpha import DECIDE
from uneven.decisions.cost_matrix import CostMatrix
from uneven.figures.style import LARGE
from uneven.metrics import CostEstimate
from uneven.metrics.intervals import ROUGH_MEANS, ends_in_words
from uneven.metrics.matrix_estimates import MatrixCostEstimate

PER = 1000  # rows
#: What the constant rules do, by name.
RULES = {EVERYONE: "flagging everyone", NO_ONE: "flagging no one"}


@dataclass(frozen=True)
class WhatIf:
    """The comparison at other costs of a miss.

    Attributes
    ----------
    label : str
        Such as "half".
    ratio : str
        How many false alarms a miss costs, such as "10 : 1".
    mean : bool
        Whether that is a mean over rows.
    rows : list of CostEstimate
        Ours first.
    """

    label: str
    ratio: str
    mean: bool
    rows: list[CostEstimate]

    @property
    def cheapest(self) -> str:
        """The name of the cheapest; the simplest of those that share the first place: a constant rule, else ours."""
        return min(self.rows, key=lambda row: (row.cost, not is_rule(row.name))).name

    @property
    def is_tie(self) -> bool:
        """Whether ours costs no more than a constant rule that is the cheapest."""
        return self.cheapest != self.rows[0].name and self.rows[0].cost == min(row.cost for row in self.rows)

    @property
    def may_be_chance(self) -> bool:
        """Whether the difference between ours and the cheapest, or the next if ours is it, may be chance."""
        return may_be_chance(min(self.rows[1:], key=lambda row: row.cost))

    @property
    def cells(self) -> tuple[str, str, str]:
        """For a table: what a miss costs, which classifier is the cheapest, and what ours costs per 1,000 rows."""
        note = " (may be chance)" if self.may_be_chance else ""
        cheapest = f"{self.cheapest}{' (same cost)' if self.is_tie else note}"
        return f"{self.label}, {self.ratio}", cheapest, per_thousand(self.rows[0].cost)


def rule_in_words(name: str) -> str:
    """What a rule does that takes the same decision for every row."""
    return RULES[name] if name in RULES else f"deciding {name.removeprefix(ALWAYS)!r} for every row"


def better_constant(rows: list[CostEstimate]) -> CostEstimate:
    """The cheapest of the constant rules."""
    return min((row for row in rows if is_rule(row.name)), key=lambda row: row.cost)


def per_thousand(value: float, unit: str | None = None) -> str:
    """A cost per row, for 1,000 rows."""
    return money(PER * value, unit)


def difference_in_words(row: CostEstimate, unit: str | None = None) -> str:
    """How much more a row costs than ours, with its interval."""
    if row.difference is None or row.difference_low is None or row.difference_high is None:
        return ""
    ends = _ends(row.difference_low, row.difference_high, rough=row.difference_rough)
    return f"{per_thousand(row.difference, unit)} ({ends})"


def cost_interval_in_words(row: CostEstimate) -> str:
    """The interval of the cost."""
    return _ends(row.low, row.high, rough=row.rough)


def chance_in_words(row: CostEstimate, sign: int = 1, chance: str = "it may be chance") -> str:
    """The interval of a difference, or of minus it, and whether it may be chance; "" for the first row."""
    if row.difference_low is None or row.difference_high is None:
        return ""
    low, high = sorted((sign * row.difference_low, sign * row.difference_high))
    note = f"; {chance}" if chance and may_be_chance(row) else ""
    return f" (95 % interval {_ends(low, high, rough=row.difference_rough)}{note})"


def rough_in_words(rows: Iterable[CostEstimate]) -> str:
    """What "rough" means, if it is said of one of these rows; else ""."""
    said = any(row.rough or (row.difference is not None and row.difference_rough) for row in rows)
    return ROUGH_MEANS if said else ""


def _ends(low: float, high: float, *, rough: bool) -> str:
    return ends_in_words(per_thousand(low), per_thousand(high), rough=rough)


def mistake_names(rows: Iterable[CostEstimate | MatrixCostEstimate]) -> list[str]:
    """The names of the columns with mistakes; none with several classes, which have a table of their own."""
    return ["false alarms", "misses"] if all(isinstance(row, CostEstimate) for row in rows) else []


def mistake_cells(row: CostEstimate | MatrixCostEstimate) -> list[str]:
    """How many mistakes of each kind there are."""
    return [f"{row.false_positives:,g}", f"{row.false_negatives:,g}"] if isinstance(row, CostEstimate) else []


def confusion_cells(counts: np.ndarray, matrix: CostMatrix) -> tuple[list[str], list[list[str]]]:
    """Header and cells of a table of classes and decisions: how many rows, and what they cost in all."""
    header = ["", *(f"decided {action}" for action in matrix.actions)]
    cells = [
        [str(label), *(f"{n:,g} ({money(float(n * c))})" if n else "" for n, c in zip(row, costs, strict=True))]
        for label, row, costs in zip(matrix.classes, counts, matrix.costs, strict=True)
    ]
    return header, cells


def never_chosen_in_words(counts: np.ndarray, matrix: CostMatrix) -> str:
    """Which decisions no row got; "" if every one was taken."""
    absent = [repr(a) for a, count in zip(matrix.actions, counts.sum(axis=0), strict=True) if not count]
    return f"Never decided: {', '.join(absent)}." if absent else ""


def first_line(rows: list[CostEstimate], unit: str | None) -> str:
    """The answer: what the model saves against the better constant rule, or that it is dearer."""
    rule = better_constant(rows)
    name = rule_in_words(rule.name)
    assert rule.difference is not None
    if rule.difference < 0:
        return (
            f"WARNING: this model is dearer than {name}: it costs {per_thousand(-rule.difference, unit)} more per "
            f"1,000 rows{chance_in_words(rule, -1)}. Rather do that, or find better columns, more rows or other costs."
        )
    if rule.difference == 0:
        return f"WARNING: this model saves nothing: it costs as much as {name}."
    saved = per_thousand(rule.difference, unit)
    return f"Per 1,000 rows this model saves {saved} against {name}{chance_in_words(rule)}."


def likeliest_in_words(rows: list[CostEstimate], unit: str | None) -> str:
    """What the likeliest class of the same model costs instead, whatever the costs; "" if it is not known."""
    found = next((row for row in rows if row.name == f"{rows[0].name}{LIKELIEST}"), None)
    if found is None or found.difference is None:
        return ""
    if not found.difference:
        return "Taking its likeliest class instead, whatever the costs, costs as much."
    more = f"{per_thousand(abs(found.difference), unit)} {'more' if found.difference > 0 else 'less'}"
    return (
        f"Taking its likeliest class instead, whatever the costs, costs {more} per 1,000 rows"
        f"{chance_in_words(found, 1 if found.difference > 0 else -1)}."
    )


def not_saved_in_words(rows: list[CostEstimate]) -> str:
    """Why the likeliest class of another model is not saved though it is cheaper here; "" if none is."""
    cheaper = [row.name for row in rows[1:] if row.name.endswith(LIKELIEST) and row.cost < rows[0].cost]
    cheaper = [name for name in cheaper if not name.startswith(rows[0].name)]
    if not cheaper:
        return ""
    return f"{capitalise(cheaper[0])}, is there to compare: what is saved decides by your costs."


def volume_in_words(rows: list[CostEstimate], unit: str | None, volume: float | None) -> str:
    """What the first row costs and saves in a year with so many rows, if they are like these; "" without a volume."""
    if volume is None:
        return ""
    ours, rule = rows[0], better_constant(rows)
    ends = ends_in_words(_large(volume * ours.low), _large(volume * ours.high), rough=ours.rough)
    cost = f"At {volume:,.0f} rows a year {ours.name} costs {_large(volume * ours.cost, unit)} (95 % interval {ends})"
    if rule.difference is None or rule.difference_low is None or rule.difference_high is None:
        return f"{cost}."
    saved = "saves" if rule.difference >= 0 else "loses"
    low, high = sorted(
        volume * (end if rule.difference >= 0 else -end) for end in (rule.difference_low, rule.difference_high)
    )
    ends = ends_in_words(_large(low), _large(high), rough=rule.difference_rough)
    return (
        f"{cost}, and {saved} {_large(volume * abs(rule.difference), unit)} (95 % interval {ends}) against "
        f"{rule_in_words(rule.name)}, if these rows are like those here."
    )


def _large(amount: float, unit: str | None = None) -> str:
    """An amount of a year: from a billion on in billions, which can be read."""
    size, word = next(((size, word) for size, word in LARGE if abs(amount) >= size >= 1e9), (1.0, ""))
    return money(amount / size, " ".join(filter(None, [word, unit])) or None)


def cheapest_in_words(rows: list[CostEstimate]) -> str:
    """Which row is the cheapest, seen from the first row, which is ours; the intervals are paired."""
    ours, *others = rows
    rival = min(others, key=lambda row: row.cost)
    if rival.cost == ours.cost:
        *first, last = [row.name for row in rows if row.cost == ours.cost]
        return f"{', '.join(first)} and {last} are the cheapest here, at the same cost."
    close = " (the difference may be chance)" if may_be_chance(rival) else ""
    if ours.cost < rival.cost:
        return f"{ours.name} is the cheapest here; next is {rival.name}{close}."
    return f"{rival.name} is the cheapest here, not {ours.name}{close}."


def capitalise(words: str) -> str:
    """Words that begin a sentence."""
    return words[:1].upper() + words[1:]


def may_be_chance(row: CostEstimate) -> bool:
    """Whether the interval of the difference from the first row holds 0."""
    low, high = row.difference_low, row.difference_high
    return low is None or high is None or low <= 0 <= high


def ratio_in_words(costs: RowCosts) -> str:
    """How many false alarms a miss costs, such as "20 : 1"; the mean over rows if they differ."""
    fp, fn = (float(np.mean(regret)) for regret in (costs.fp_regret, costs.fn_regret))
    if fp <= 0 or fn <= 0:
        return f"{money(fn)} : {money(fp)}"
    ratio = max(fn, fp) / min(fn, fp)
    shown = f"{ratio:.3g}" if ratio < 1000 else money(ratio)
    return f"{shown} : 1" if fn >= fp else f"1 : {shown}"


def what_if_title(given: WhatIf) -> str:
    """The title of the what-if table."""
    return f"Are you sure about {given.ratio}{' on average' if given.mean else ''}?"


def stability_in_words(what_ifs: list[WhatIf]) -> str:
    """Whether another cost of a miss changes which model is the cheapest."""
    given = next(what for what in what_ifs if what.label == "as given")
    changes: dict[str, list[WhatIf]] = {}
    for what in what_ifs:
        if what.cheapest != given.cheapest:
            same = what.is_tie and given.cheapest == what.rows[0].name
            changes.setdefault(f"{what.cheapest} costs as much" if same else f"it is {what.cheapest}", []).append(what)
    if not changes:
        return f"Whether a miss costs half or double: {given.cheapest} stays the cheapest."
    parts = [f"if it costs {' or '.join(what.label for what in some)}, {then}" for then, some in changes.items()]
    others = [what for some in changes.values() for what in some if not what.is_tie]
    sure = any(not what.may_be_chance for what in others)
    advice = ": find out what a miss costs" if sure else ". These differences may be chance" if others else ""
    return f"At your costs of a miss the cheapest is {given.cheapest}; {', and '.join(parts)}{advice}."


def probability_in_words(probability: float) -> str:
    """A probability in three digits; none is shown as 1 or 0 that is not."""
    if probability > 0.999:
        return ">0.999" if probability < 1 else "1"
    return f"{probability:.3f}" if probability >= 0.01 else f"{probability:.2g}"


def threshold_in_words(
    threshold: np.ndarray, *, has_probability: bool = True, action: str = "The model flags a row"
) -> str:
    """The decision threshold in probability: one number, or the range over the rows."""
    if not has_probability:
        return "This loss has no probabilities: the model flags a row where its score is above 0."
    known = threshold[~np.isnan(threshold)]
    others = threshold.size - known.size
    odd = f" In {others:,} {'row' if others == 1 else 'rows'} both mistakes pay." if others else ""
    if not known.size:
        return odd.strip()
    low, middle, high = (f"{part:.3g}" for part in np.quantile(known, [0, 0.5, 1]))
    if low == high:
        return f"{action} where the probability is above {low}.{odd}"
    spread = f"{low} to {high}, median {middle}"
    return f"{action} where the probability is above the threshold of the row: {spread}.{odd}"


# -- which candidate is saved and why ---------------------------------------------------------------------------------

_CHANCE = "the difference may be chance"


@dataclass(frozen=True)
class Choice:
    """The classifier to save, and what all of them cost.

    Attributes
    ----------
    rows : list of CostEstimate
        The chosen one first, then the others by cost.
    free : bool
        Whether the cheapest was chosen; else it was asked for.
    unit : str or None
    broken : str
        A warning that the costs are not those of the model that is saved; "" if they are.
    """

    rows: list[CostEstimate]
    free: bool
    unit: str | None = None
    broken: str = ""

    @property
    def useless(self) -> bool:
        """Whether a constant rule costs no more."""
        return better_constant(self.rows).cost <= self.rows[0].cost

    def in_words(self) -> str:
        """Which model is the cheapest, by how much, and whether that may be chance; constant rules are no models."""
        ours, *others = self.rows
        models = [row for row in others if not is_rule(row.name) and not row.name.endswith(LIKELIEST)]
        if not models:
            return ""
        rival = min(models, key=lambda row: row.cost)
        of = f"Cheapest of {len(models) + 1} models: "
        if rival.cost == ours.cost:
            reason = "the simpler one is saved" if self.free else "it was asked for"
            return f"{of}{ours.name}, at the same cost as {rival.name}; {reason}."
        gap, dearer = abs(rival.cost - ours.cost), max(rival.cost, ours.cost)
        chance = chance_in_words(rival, 1 if ours.cost < rival.cost else -1, _CHANCE)
        less = f"{per_thousand(gap, self.unit)}{f' ({100 * gap / dearer:.0f} %)' if dearer > gap else ''} less"
        if ours.cost < rival.cost:
            return f"{of}{ours.name}. Per 1,000 rows it costs {less} than {rival.name}, the next{chance}."
        return (
            f"{of}{rival.name}, not {ours.name}. Per 1,000 rows it costs {less}{chance}. --learner auto "
            "saves the cheapest."
        )

    def warning(self) -> str:
        """That a constant rule costs no more, or that the model may be cheaper by chance, if so; else ""."""
        rule, ours = better_constant(self.rows), self.rows[0]
        name = rule_in_words(rule.name)
        if not self.useless:
            if not may_be_chance(rule):
                return ""
            subject = "no model is" if self.free else f"{ours.name} is not"
            saved = per_thousand(rule.cost - ours.cost, self.unit)
            return (
                f"WARNING: {subject} shown to beat {name}. {capitalise(ours.name)} saves {saved} per "
                f"1,000 rows{chance_in_words(rule, chance='')}: this may be chance."
            )
        more = "as much" if rule.cost == ours.cost else f"{per_thousand(ours.cost - rule.cost, self.unit)} more"
        if self.free:
            found = f"no model beats {name}. The cheapest model, {ours.name}, costs {more} per 1,000 rows"
        else:
            found = f"{ours.name} does not beat {name}. It costs {more} per 1,000 rows"
        chance = chance_in_words(rule, -1, _CHANCE)
        return f"WARNING: {found}{chance}. Rather do that, or find better columns, more rows or other costs."


# -- what a fitted pipeline says about itself -------------------------------------------------------------------------

_LOGISTIC = {
    "plain": "Logistic regression; it flags a row where its probability is above 0.5, whatever the costs.",
    "weighted": "Logistic regression; the positives are weighted by the ratio of the costs.",
    "moved": "Logistic regression; its threshold is moved to the costs.",
}
_LOGISTIC_OF_CLASSES = {
    "plain": "Logistic regression; it decides for the likeliest class, whatever the costs.",
    "weighted": "Logistic regression; each class is weighted by the mean cost of its mistakes.",
    "moved": "Logistic regression; it takes the decision of the least expected cost.",
}


def model_in_words(pipeline: Any) -> list[str]:
    """What the model is: what was tuned, and what is known of its loss or of its threshold."""
    last = pipeline[-1]
    if isinstance(last, LogisticRule):
        return [_LOGISTIC[last.way]]
    if isinstance(last, LogisticClassRule):
        return [_LOGISTIC_OF_CLASSES[last.way]]
    if is_ensemble(last):
        return [*left_out_in_words(last), *(shifts_in_words(last) if knows_classes(last) else shift_in_words(last))]
    if hasattr(last, "shift_"):
        return shift_in_words(last)
    if not hasattr(getattr(last, "best_estimator_", last), "analysis_"):
        return []  # a model of others: nothing is known of its loss
    found = []
    if hasattr(last, "best_params_"):
        found.append(f"Tuned: {_parameters_in_words(last.best_params_)}.")
    way = getattr(last, "row_costs_", None)
    if way is not None:
        chosen = "decide each row by its own costs" if way == DECIDE else "learn with the costs of the rows"
        found.append(f"Of the two ways to use costs of rows the cheaper one is to {chosen}.")
    learner = getattr(last, "best_estimator_", last)
    return [*found, f"The loss is {learner.loss_!r}: {learner.analysis_.verdict}."]


def _parameters_in_words(parameters: dict[str, Any]) -> str:
    shown = (f"{value:.4g}" if isinstance(value, float) else str(value) for value in parameters.values())
    return ", ".join(f"{key} = {value}" for key, value in zip(parameters, shown, strict=True))


# -- what an ensemble is made of --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Member:
    """A member of a fitted ensemble.

    Attributes
    ----------
    name : str
    weight : float
    cost : float
        What it would cost alone per row, out of fold.
    """

    name: str
    weight: float
    cost: float


def is_ensemble(classifier: Any) -> bool:
    """Whether a fitted classifier is an ensemble."""
    return hasattr(classifier, "member_costs_")


def members_of(ensemble: Any) -> list[Member]:
    """The members of a fitted ensemble, the largest weight first."""
    weights, costs = ensemble.weights_, ensemble.member_costs_
    found = [Member(name, float(weight), float(costs[name])) for name, weight in weights.items()]
    return sorted(found, key=lambda member: -member.weight)


def constant_costs_of(ensemble: Any) -> dict[str, float]:
    """What the same decision for every row costs per row, on the rows of the ensemble's own folds."""
    costs = ensemble.constant_costs_
    if knows_classes(ensemble):
        return {rule_in_words(ALWAYS + name.removeprefix("all ")): one.cost for name, one in costs.items()}
    return {"flagging everyone": costs["all positive"].cost, "flagging no one": costs["all negative"].cost}


def shift_in_words(model: Any) -> list[str]:
    """The threshold that was found, against the one that right probabilities would need.

    In probability, as ``predict`` shows it. The shift itself is one of log-odds before the calibration: the threshold
    in probability can move the other way. With costs of each row there is no one threshold, and the shift is told.
    """
    shift, posterior, numbers = float(model.shift_), model.posterior_, model._costs_of_fit
    deviation = "" if posterior is None else f"give or take {posterior.standard_deviation:.2g}"
    if model._actions_of_fit is not None:
        shown = ", ".join(f"{name} {cut:.3g}" for name, cut in model.action_thresholds_.items())
        return [f"Thresholds at the costs of the fit: {shown}; rows that the model had not seen support them best."]
    if model.threshold_ is None or len(numbers) < len(COSTS):
        if not np.isfinite(shift):
            return []
        direction, of = "raised" if shift > 0 else "lowered", "average" if is_ensemble(model) else "model"
        return [
            f"The threshold of the {of}'s log-odds is {direction} by {abs(shift):.2g}"
            f"{f' ({deviation})' if deviation else ''}, before the calibration, which rows that it had not seen "
            "support best. Probabilities stay as they are."
        ]
    used, named = (f"{cut:.3g}" for cut in (model.threshold_, RowCosts.read(1, **numbers).thresholds()[0][0]))
    if used == named:
        return [f"At the costs of the fit the threshold in use is {used}, as the costs say."]
    return [
        f"At the costs of the fit the threshold in use is {used} instead of {named}, which rows that the model had "
        f"not seen support best{f' ({deviation} in log-odds before the calibration)' if deviation else ''}. "
        "Probabilities stay as they are."
    ]


def knows_classes(model: Any) -> bool:
    """Whether a fitted classifier decides between several classes."""
    return len(model.classes_) > 2


def shifts_in_words(model: Any) -> list[str]:
    """Whether log-odds of the classes are shifted, and by how much."""
    if not model.shifts_.any():
        return ["Decisions are the cheapest at its calibrated probabilities: shifts of the log-odds did not pay."]
    shown = ", ".join(f"{label} {shift:+.2g}" for label, shift in zip(model.classes_, -model.shifts_, strict=True))
    return [f"For the decisions the log-odds of the classes are shifted ({shown}), which paid on rows not seen."]


def left_out_in_words(ensemble: Any) -> list[str]:
    """Which members are missing, and why: a time limit, which may have cut more, or an error."""
    reasons: dict[str, list[str]] = {}
    cut = getattr(ensemble, "cut_short_", None)  # models of older files have none
    for name, why in ensemble.left_out_.items():
        if cut is None or not why.startswith("not finished"):  # the sentence names these
            reasons.setdefault(why, []).append(name)
    missing = [f"Left out: {', '.join(names)} ({why})." for why, names in reasons.items()]
    return missing if cut is None else [cut, *missing]
