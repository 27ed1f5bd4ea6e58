"""The tab "Your data" with several classes: what decisions cost by a table of costs, on rows that no model had seen.

Costs play no part in the fit, so other costs need no new one: the page keeps the rows and sends them with each
question.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uneven.app.explorer.limit_answers import MOST_ROWS, read_unit
from uneven.app.explorer.questions import Refusal, finite_or_none, in_field, round_numbers
from uneven.costs import money
from uneven.decisions.cost_matrix import CostMatrix
from uneven.inputs import brief
from uneven.metrics.intervals import ends_in_words
from uneven.metrics.matrix_estimates import MatrixCostEstimate, matrix_estimates

#: Classes that a table of costs on a page can have, and decisions.
MOST_CLASSES, MOST_ACTIONS = 10, 15
_LONGEST_NAME, _LONGEST_COST = 200, 60  # characters
#: Regions of more classes take long, and are no picture.
_TRIANGLE = 3
#: Classes up to which odd costs are looked for while somebody types.
_REMARKS = 5
#: Corners of the triangle: the first class on the left, the second on the right, the third above.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


@dataclass(frozen=True)
class UnseenClassRows:
    """Rows that no model had seen.

    Attributes
    ----------
    probability : ndarray of shape (n, classes)
    truth : ndarray of int
        The number of each row's class.
    """

    probability: np.ndarray
    truth: np.ndarray

    @classmethod
    def read(cls, content: bytes, classes: int) -> UnseenClassRows:
        """From :meth:`to_bytes`; a :class:`Refusal` if the bytes are something else."""
        wrong = Refusal("these are not the rows of a fit")
        if not content or len(content) % (8 * (classes + 1)):
            raise wrong
        table = np.frombuffer(content, "<f8").reshape(-1, classes + 1)
        probability, truth = table[:, :-1], table[:, -1]
        shares = ((probability >= 0) & (probability <= 1)).all() and (np.abs(probability.sum(axis=1) - 1) < 1e-6).all()
        if not shares or not np.isin(truth, np.arange(classes)).all():
            raise wrong
        return cls(probability, truth.astype(np.intp))

    def to_bytes(self) -> bytes:
        """A row after the other: its probabilities, then its class, as doubles."""
        return np.column_stack([self.probability, self.truth]).astype("<f8").tobytes()

    def some(self) -> UnseenClassRows:
        """At most ``MOST_ROWS`` of them, drawn once and for all."""
        if self.truth.size <= MOST_ROWS:
            return self
        drawn = np.sort(np.random.default_rng(0).permutation(self.truth.size)[:MOST_ROWS])
        return UnseenClassRows(self.probability[drawn], self.truth[drawn])


# -- reading -----------------------------------------------------------------------------------------------------------


def read_matrix(data: Mapping[str, Any], classes: list[str] | None = None) -> CostMatrix:
    """The table of costs on the page, its classes in the order of ``classes``."""
    asked = data.get("costs")
    found: list[Any] = [asked.get(field) if isinstance(asked, Mapping) else None for field in _FIELDS]
    names, actions, cells = found
    for what, given, most in (("classes", names, MOST_CLASSES), ("decisions", actions, MOST_ACTIONS)):
        if not isinstance(given, list) or not all(isinstance(one, str) and len(one) <= _LONGEST_NAME for one in given):
            raise Refusal(f"the names of the {what} must be texts", "costs")
        if not 2 <= len(given) <= most:
            raise Refusal(f"a table of costs has 2 to {most} {what} here, got {len(given)}", "costs")
    if not isinstance(cells, list) or not all(isinstance(row, list) and len(row) == len(actions) for row in cells):
        raise Refusal("every class needs a cost for each decision", "costs")
    for y, row in zip(names, cells, strict=False):
        for a, cell in zip(actions, row, strict=True):
            if not isinstance(cell, str) or not cell.strip() or len(cell) > _LONGEST_COST:
                raise Refusal(
                    f"the cost of {brief(a)} where {brief(y)} is true is missing; 0 and 2.5 would work", "costs"
                )
    with in_field("costs"):
        matrix = CostMatrix([[cell.strip() for cell in row] for row in cells], names, actions)
        matrix = matrix if classes is None else matrix.for_classes(classes)
    regrets = matrix.costs - matrix.costs.min(axis=1, keepdims=True)
    free = np.flatnonzero(~(regrets > 0).any(axis=0))
    if free.size:
        always = brief(matrix.actions[int(free[0])])
        raise Refusal(f"{always} is a cheapest decision whatever is true, so there is nothing to decide", "costs")
    return matrix


_FIELDS = ("classes", "actions", "cells")


def _read_limit(data: Mapping[str, Any], matrix: CostMatrix) -> dict[str, int] | None:
    """At most so many rows get a decision; None if nothing is written."""
    action, written = data.get("limited", ""), data.get("most", "")
    if not isinstance(written, str) or len(written) > _LONGEST_COST or not isinstance(action, str):
        raise Refusal("a limit is a whole number of rows", "most")
    written = written.replace(",", "").strip()
    if not written or not action:
        return None
    if not (written.isascii() and written.isdecimal()):
        raise Refusal(f"a limit is a whole number of rows, got {brief(written)}", "most")
    if action not in matrix.actions:
        raise Refusal(f"{brief(action)} is none of the decisions", "most")
    return {action: int(written)}


# -- answers -----------------------------------------------------------------------------------------------------------


def class_costs(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the cheapest decisions cost by the costs on the page, perhaps within a limit."""
    asked = data.get("costs")
    names = asked.get("classes") if isinstance(asked, Mapping) else None
    classes = data.get("classes")
    if not isinstance(classes, list) or not isinstance(names, list) or set(map(str, names)) != set(map(str, classes)):
        raise Refusal("the costs are not about the classes of this fit", "costs")
    matrix, unit = read_matrix(data, classes), read_unit(data)
    rows, trained = UnseenClassRows.read(data["content"], len(classes)), data.get("trained")
    if trained is not None and (isinstance(trained, bool) or not isinstance(trained, int | float) or trained <= 0):
        raise Refusal("these are not the rows of a fit")
    return describe_costs(rows, matrix, unit, trained, _read_limit(data, matrix))


def describe_classes(model: Any, unit: str | None) -> dict[str, Any]:
    """What the page gets after a fit: the answer for its costs, and the rows for later questions."""
    found = model.out_of_fold_classes_
    every = UnseenClassRows(found.probability, found.truth)
    rows, trained = every.some(), found.trained
    return {
        "classes": [str(label) for label in model.classes_],
        "rows": int(found.truth.size),
        "kept": int(rows.truth.size),
        "unit": unit or "",
        "trained": None if trained is None else float(trained),
        "unseen": base64.b64encode(rows.to_bytes()).decode(),
        "members": {name: finite_or_none(weight) for name, weight in model.weights_.items() if weight > 0},
        "left_out": dict(model.left_out_),
        **describe_costs(rows, model.costs_, unit, trained),
    }


def describe_costs(
    rows: UnseenClassRows,
    matrix: CostMatrix,
    unit: str | None,
    trained: float | None,
    limit: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Cost with its interval, what the likeliest class and the best constant decision cost, counts and money."""
    found = matrix.decide_within(rows.probability, at_most=limit)
    taken = {"ours": found.choice[None]}
    if set(matrix.classes) <= set(matrix.actions):
        of_class = np.array([matrix.actions.index(label) for label in matrix.classes])
        taken = {"likeliest": of_class[rows.probability.argmax(axis=1)][None], **taken}
    *others, ours = matrix_estimates(matrix.costs, rows.truth, taken, trained=trained)
    shares = np.bincount(rows.truth, minlength=len(matrix.classes)) / rows.truth.size
    constant = shares @ matrix.costs
    possible = [k for k, action in enumerate(matrix.actions) if limit is None or action not in limit]
    best = min(possible, key=lambda k: float(constant[k]))
    paid = ours.counts * matrix.costs
    rule = str(matrix.actions[best]), float(constant[best])
    words = _in_words(ours, others[0] if others else None, rule, unit, free=limit is None)
    limits = [] if found.limits is None else list(found.limits.in_words(unit))
    remarks = matrix.remarks if len(matrix.classes) <= _REMARKS else []
    return {
        "cost": {"cost": ours.cost, "low": ours.low, "high": ours.high, "rough": ours.rough},
        "likeliest": None if not others else others[0].cost,
        "constant": {"action": str(matrix.actions[best]), "cost": float(constant[best])},
        "cheaper": bool(ours.cost < constant[best]),
        "names": list(matrix.classes),
        "actions": list(matrix.actions),
        "counts": np.rint(ours.counts).astype(int).tolist(),
        "paid": [round_numbers(1000 * row / rows.truth.size) for row in paid],
        "triangle": _triangle(matrix, rows),
        "limit": ". ".join(one[0].upper() + one[1:] for one in limits) + ("." if limits else ""),
        "remarks": [one[0].upper() + one[1:] + "." for one in remarks],
        "mistakes": bool(ours.cost > float(shares @ matrix.costs.min(axis=1)) + 1e-12),
        "sentence": words,
    }


def _in_words(
    ours: MatrixCostEstimate,
    likeliest: MatrixCostEstimate | None,
    constant: tuple[str, float],
    unit: str | None,
    *,
    free: bool,
) -> str:
    """``constant`` is the best decision that is the same for all rows; ``free``: there is no limit."""

    def per_thousand(cost: float) -> str:
        return money(1000 * cost, unit)

    def against(saved: float) -> str:
        if per_thousand(abs(saved)) == per_thousand(0.0):
            return "as much as"
        return f"{per_thousand(abs(saved))} {'less' if saved > 0 else 'more'} than"

    ends = ends_in_words(money(1000 * ours.low), money(1000 * ours.high), rough=ours.rough)
    within = "" if free else " within the limit"
    words = (
        f"Each row gets the decision that is expected to cost least{within}: {per_thousand(ours.cost)} per 1,000 rows "
        f"(95 % interval {ends}). That is {against(constant[1] - ours.cost)} always {brief(constant[0])}"
    )
    if likeliest is None:
        return f"{words}."
    if not ours.difference:
        return f"{words}, and as much as the likeliest class."
    low, high = -(ours.difference_high or 0.0), -(ours.difference_low or 0.0)
    ends = ends_in_words(money(1000 * low), money(1000 * high), rough=ours.difference_rough)
    chance = "; this may be chance" if low <= 0 <= high else ""
    return (
        f"{words}, and {against(-ours.difference)} the likeliest class (95 % interval of this saving {ends}{chance})."
    )


def _triangle(matrix: CostMatrix, rows: UnseenClassRows) -> dict[str, Any] | None:
    """With three classes: where each decision is the cheapest, as polygons, and some of the rows."""
    if len(matrix.classes) != _TRIANGLE:
        return None
    regions = []
    for action, corners in matrix.regions().items():
        points = corners @ _CORNERS
        if len(points) > 2:
            middle = points - points.mean(axis=0)
            points = points[np.argsort(np.arctan2(middle[:, 1], middle[:, 0]))]
            regions.append({"action": str(action), "x": round_numbers(points[:, 0]), "y": round_numbers(points[:, 1])})
    drawn = np.random.default_rng(0).permutation(rows.truth.size)[:_SHOWN_ROWS]
    places = rows.probability[drawn] @ _CORNERS
    shown = [
        {"x": round_numbers(places[rows.truth[drawn] == y, 0]), "y": round_numbers(places[rows.truth[drawn] == y, 1])}
        for y in range(_TRIANGLE)
    ]
    return {"regions": regions, "rows": shown}


#: Rows in the triangle: more would hide the regions.
_SHOWN_ROWS = 400
