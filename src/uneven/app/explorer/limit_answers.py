"""Limits on the tab "Your data": so many flags, or a person who decides for a price, on rows that no model had seen.

The page keeps these rows (:func:`describe_limits`) and sends them with each question (:func:`flag_limit`,
:func:`review`). So a slider moves without a new fit, and the server remembers nothing.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import expit, logit

from uneven import inputs
from uneven.app.explorer.questions import Refusal, finite_or_none, in_field, round_numbers
from uneven.costs import RowCosts, money
from uneven.decisions.actions import Actions
from uneven.decisions.alpha import alpha_log_odds, threshold_log_odds
from uneven.decisions.decide import decide
from uneven.decisions.decision_table import Decisions
from uneven.metrics import cost_at_capacity, cost_by_capacity

#: Rows that the page keeps at most; of more it keeps groups. A question then takes about as long as a slider may wait.
MOST_ROWS = 50_000
#: Points of the curve that the page gets at most.
_MOST_POINTS = 400
#: How far the curve goes on beyond the last row that is flagged without a limit.
_BEYOND = 1.15
#: What is done with a row.
ACTIONS = ("clear", "review", "flag")
#: Smallest relative distance of a probability from alpha: decisions survive rounding.
_APART = 1e-12
_LONGEST_NUMBER = 60  # characters
_LONGEST_UNIT = 20


# -- what the page gets after a fit ------------------------------------------------------------------------------------


def describe_limits(
    is_positive: np.ndarray, probability: np.ndarray, threshold: Any, *, fp_cost: Any, fn_cost: Any
) -> dict[str, Any] | None:
    """The cost at every number of flags, and the rows for later questions.

    Parameters
    ----------
    is_positive : ndarray of bool
    probability : ndarray
        Of rows that the models did not learn from.
    threshold : float or ndarray
        The probability above which the model flags; one for each row if costs differ by row.
    fp_cost, fn_cost : float or ndarray

    Returns
    -------
    dict or None
        None for costs of rows and more rows than the page keeps: rows of different costs make no groups.
        ``unseen`` has the rows as :meth:`UnseenRows.read` reads them, in base64. Their probabilities are moved so
        that the model's threshold lies at alpha, by ``shift`` in the log-odds.
    """
    by_row = np.ndim(fp_cost) > 0 or np.ndim(fn_cost) > 0
    if by_row and is_positive.size > MOST_ROWS:
        return None
    moved, shift = _move_to_alpha(probability, threshold, fp_cost, fn_cost)
    curve = cost_by_capacity(is_positive.astype(int), moved, fp_cost=fp_cost, fn_cost=fn_cost, pos_label=1)
    count = is_positive.size
    flags = round(float(curve.flagged[-1]) * count)
    last = min(count, max(int(_BEYOND * flags), flags + 1))
    kept = np.unique([*np.linspace(0, last, min(last + 1, _MOST_POINTS)).astype(int), flags, int(curve.best_capacity)])
    if by_row:
        costs = tuple(np.broadcast_to(np.asarray(cost, dtype=float), count) for cost in (fp_cost, fn_cost))
        rows, pays_below = UnseenRows(moved, is_positive.astype(float), count, costs), None
    else:
        rows = UnseenRows(moved, is_positive.astype(float), count).group()
        free = Actions.refer(fp_cost=fp_cost, fn_cost=fn_cost, price=0, names=ACTIONS)
        pays_below = inputs.to_float(free.price_at_which("review"))
    return {
        "unseen": base64.b64encode(rows.to_bytes()).decode(),
        "shift": shift,
        "flags": flags,
        "capacity": kept.tolist(),
        "cost": round_numbers(1000 * curve.cost[kept]),
        "best": {"capacity": int(curve.best_capacity), "cost": finite_or_none(1000 * curve.best_cost)},
        "pays_below": pays_below,
    }


def _move_to_alpha(probability: np.ndarray, threshold: Any, fp_cost: Any, fn_cost: Any) -> tuple[np.ndarray, float]:
    """Probabilities whose log-odds are moved so that the threshold comes to lie at alpha, and by how much.

    With costs of rows each row has an alpha and a threshold of its own; the number is then that of the first row.
    """
    alpha = alpha_log_odds(RowCosts(probability.size, fp_cost, fn_cost))[0]
    with np.errstate(invalid="ignore"):
        shift = threshold_log_odds(np.broadcast_to(np.asarray(threshold, dtype=float), alpha.shape)) - alpha
    shift = np.where(np.isfinite(shift), shift, 0.0)  # everyone is flagged, or no one
    with np.errstate(divide="ignore"):
        moved = np.asarray(expit(logit(probability) - shift))
    cut = expit(alpha)
    below = np.minimum(cut * (1 - _APART), np.nextafter(cut, 0))
    above = np.minimum(np.maximum(cut * (1 + _APART), np.nextafter(cut, 1)), 1.0)
    return np.where(probability > threshold, np.maximum(moved, above), np.minimum(moved, below)), float(shift[0])


@dataclass(frozen=True)
class UnseenRows:
    """Rows that no model had seen, or groups of as many rows each.

    Attributes
    ----------
    probability : ndarray
        Of each row; the mean of a group.
    positive : ndarray
        1 for a positive row, 0 for a negative one; the share of a group.
    of : int
        The number of rows in all.
    costs : (ndarray, ndarray) or None
        What a false alarm and a miss cost in each row, if that differs.
    """

    probability: np.ndarray
    positive: np.ndarray
    of: int
    costs: tuple[np.ndarray, ...] | None = None

    @classmethod
    def read(cls, content: bytes, of: Any, *, by_row: bool = False) -> UnseenRows:
        """From :meth:`to_bytes`; a :class:`Refusal` if the bytes are something else."""
        wrong = Refusal("these are not the rows of a fit")
        columns = 4 if by_row else 2
        if not content or len(content) % (8 * columns) or isinstance(of, bool) or not isinstance(of, int):
            raise wrong
        probability, positive, *costs = np.frombuffer(content, "<f8").reshape(columns, -1)
        inside = all(((part >= 0) & (part <= 1)).all() for part in (probability, positive))
        known = all((np.isfinite(part) & (part >= 0)).all() for part in costs)
        if not inside or not known or not positive.any() or of < positive.size or (by_row and of != positive.size):
            raise wrong
        return cls(probability, positive, of, tuple(costs) if by_row else None)

    def to_bytes(self) -> bytes:
        """The probabilities, then the labels, then the costs of the rows if there are any, as doubles."""
        return np.concatenate([self.probability, self.positive, *(self.costs or ())]).astype("<f8").tobytes()

    def group(self) -> UnseenRows:
        """At most ``MOST_ROWS`` groups of neighbours by probability; their sizes differ by 1 at most."""
        if self.probability.size <= MOST_ROWS:
            return self
        order = np.argsort(self.probability, kind="stable")
        edges = np.linspace(0, order.size, MOST_ROWS + 1).astype(int)
        sizes = np.diff(edges)
        probability, positive = (
            np.add.reduceat(part[order], edges[:-1]) / sizes for part in (self.probability, self.positive)
        )
        return UnseenRows(probability, positive, self.of)

    def own_limit(self, limit: int | None) -> float:
        """A limit for all rows as one for these, which are groups if there are many."""
        return self.positive.size * (1 if limit is None else limit / self.of)

    def labelled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Labels, probabilities and, for groups, weights: a group is a positive and a negative row."""
        if np.isin(self.positive, (0, 1)).all():
            return self.positive.astype(int), self.probability, None
        weight = np.concatenate([self.positive, 1 - self.positive])
        label = np.repeat([1, 0], self.positive.size)
        return label[weight > 0], np.tile(self.probability, 2)[weight > 0], weight[weight > 0]

    def cost(self, found: Decisions) -> float:
        """What decisions cost per 1,000 rows."""
        on_positive, on_negative = (
            np.array(part)[found.choice] for part in zip(*found.actions.costs.values(), strict=True)
        )
        return 1000 * float((self.positive * on_positive + (1 - self.positive) * on_negative).mean())


# -- questions ---------------------------------------------------------------------------------------------------------


def flag_limit(data: Mapping[str, Any]) -> dict[str, Any]:
    """What it costs to flag at most so many rows, in numbers and in one sentence."""
    rows, unit = _read_rows(data), read_unit(data)
    costs = _read_costs(data) if rows.costs is None else dict(zip(("fp_cost", "fn_cost"), rows.costs, strict=True))
    limit = _read_limit(data, "most_flags", rows)
    own = rows.own_limit(limit)
    label, probability, weight = rows.labelled()
    how = {**costs, "pos_label": 1, "sample_weight": weight}
    cost = 1000 * cost_at_capacity(label, probability, at_most=own, **how)
    curve = cost_by_capacity(label, probability, **how)
    found = float(np.interp(own, curve.capacity, curve.found))
    saved = float(decide(rows.probability, **costs, at_most=round(own)).price_of_one_more)
    positives = rows.of * float(rows.positive.mean())
    more = f"one more flag is expected to save {money(saved, unit)}" if saved > 0 else "more flags would save nothing"
    limited = "Without a limit" if limit is None else f"With {_at_most(limit, 'flag')}"
    words = (
        f"{limited}, {found * positives:,.0f} of {positives:,.0f} positives are found and 1,000 rows cost "
        f"{money(cost, unit)}; {more}."
    )
    return {"cost": finite_or_none(cost), "found": found, "saved": finite_or_none(saved), "words": words}


@dataclass(frozen=True)
class _Person:
    """Someone who decides for a price, and errs; ``most`` is how many rows at most, None without a limit."""

    price: Fraction
    misses: Fraction
    false_alarms: Fraction
    most: int | None


def review(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the reviews of a person cost and save, in numbers and in one sentence."""
    rows, costs, unit = _read_rows(data), _read_costs(data), read_unit(data)
    person = _Person(
        _read_amount(data, "price", "the price of a review"),
        _read_amount(data, "misses", "the share of missed positives", 100) / 100,
        _read_amount(data, "false_alarms", "the share of false alarms", 100) / 100,
        _read_limit(data, "most_reviews", rows),
    )
    with in_field("price"):
        chances = {"misses": person.misses, "false_alarms": person.false_alarms}
        actions = Actions.refer(**costs, price=person.price, **chances, names=ACTIONS)
        limit = None if person.most is None else {"review": round(rows.own_limit(person.most))}
        found = decide(rows.probability, actions=actions, at_most=limit)
    cost, without = rows.cost(found), rows.cost(decide(rows.probability, **costs))
    pays_below = inputs.to_float(person.price + actions.price_at_which("review"))
    between = _review_region(actions, _read_number(data, "shift"))
    saved = found.price_of_one_more
    return {
        "shares": {name: count / len(found) for name, count in found.counts.items()},
        "cost": finite_or_none(cost),
        "without": finite_or_none(without),
        "between": between,
        "pays_below": finite_or_none(pays_below),
        "saved": saved,
        "words": _review_in_words(person, between, pays_below, (cost, without), saved, unit),
    }


def _review_in_words(
    person: _Person,
    between: list[float] | None,
    pays_below: float,
    costs: tuple[float, float],
    saved: float | None,
    unit: str | None,
) -> str:
    """``costs`` are those with and without reviews."""
    price = f"A review at {money(inputs.to_float(person.price), unit)}"
    if between is None:
        free = "with so many errors not even if it were free"
        return f"{price} never pays; {f'it would below {money(pays_below, unit)}' if pays_below > 0 else free}."
    low, high = between
    where = f"between the probabilities {low:.3g} and {high:.3g}" if (low, high) != (0, 1) else "at every probability"
    limit = "" if person.most is None else f" with {_at_most(person.most, 'review')}"
    more = f"; one more review is expected to save {money(saved, unit)}" if saved else ""
    return (
        f"{price} pays {where}: 1,000 rows cost {money(costs[0], unit)}{limit}, and {money(costs[1], unit)} without "
        f"reviews{more}."
    )


def _review_region(actions: Actions, shift: float) -> list[float] | None:
    """Between which probabilities a review pays, on the scale of the model's own threshold; None if never."""
    if "review" not in actions.envelope:
        return None
    at = actions.envelope.index("review")
    edges = (Fraction(0), *actions.exact_breaks, Fraction(1))[at : at + 2]
    odds = ((edge.numerator, edge.denominator - edge.numerator) for edge in edges)
    # logarithms of whole numbers: an alpha of 1 - 1e-12 keeps its digits
    return [float(expit(math.log(yes) - math.log(no) + shift)) if yes and no else float(no == 0) for yes, no in odds]


def _at_most(limit: int, what: str) -> str:
    return f"at most {limit:,} {what}{'' if limit == 1 else 's'}"


# -- reading -----------------------------------------------------------------------------------------------------------


def _read_rows(data: Mapping[str, Any]) -> UnseenRows:
    return UnseenRows.read(data["content"], data.get("rows"), by_row=data.get("per_row") is True)


def _read_number(data: Mapping[str, Any], field: str) -> float:
    value = data.get(field)
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise Refusal(f"{field} must be a number, got {inputs.brief(value)}")
    return float(value)


def _read_costs(data: Mapping[str, Any]) -> dict[str, Any]:
    costs = {"fp_cost": _read_number(data, "fp"), "fn_cost": _read_number(data, "fn")}
    if min(costs.values()) <= 0:
        raise Refusal("both costs must be positive")
    return costs


def _read_text(data: Mapping[str, Any], field: str) -> str:
    value = data.get(field)
    if not isinstance(value, str) or len(value) > _LONGEST_NUMBER:
        raise Refusal("a number is missing here, such as 2, 0.5 or 1/3", field)
    return value.strip()


def _read_limit(data: Mapping[str, Any], field: str, rows: UnseenRows) -> int | None:
    """A number of rows; None if nothing is written."""
    written = _read_text(data, field).replace(",", "")
    if not written:
        return None
    if not (written.isascii() and written.isdecimal()):
        raise Refusal(f"a limit is a whole number of rows, got {inputs.brief(written)}", field)
    return min(int(written), rows.of)


def _read_amount(data: Mapping[str, Any], field: str, words: str, most: int | None = None) -> Fraction:
    """A number that is not negative; 0 if nothing is written."""
    written = _read_text(data, field)
    with in_field(field):
        found = inputs.exact(words, written or "0")
    if found < 0 or (most is not None and found > most):
        wanted = "not be negative" if most is None else f"lie between 0 and {most} %"
        raise Refusal(f"{words} must {wanted}, got {inputs.brief(written)}", field)
    return found


def read_unit(data: Mapping[str, Any]) -> str | None:
    """The unit of the costs, such as EUR; None if there is none."""
    unit = data.get("unit", "")
    if not isinstance(unit, str) or len(unit) > _LONGEST_UNIT:
        raise Refusal(f"a unit is a short word such as EUR, with at most {_LONGEST_UNIT} letters", "unit")
    return " ".join(unit.split()) or None
