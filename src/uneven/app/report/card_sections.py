"""The sections that all cards share: costs, study, guarantee, proof, members, versions."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import uneven
from uneven.app.report.page import bullets, cost_cells, heading, paragraph, table
from uneven.app.report.sentences import is_ensemble, left_out_in_words, members_of, per_thousand, rough_in_words
from uneven.calibration import Certificate
from uneven.calibration.implied_costs import costs_in_words
from uneven.costs import read_cost
from uneven.errors import UnevenError
from uneven.inputs import show_above, to_float
from uneven.learners.corrected_decisions import CorrectedDecisions
from uneven.metrics import CostEstimate

#: What stands for a fact that is not known.
NOT_KNOWN = "not known"
OUTCOMES = {
    "fp_cost": "false alarm: flagged, and negative",
    "fn_cost": "miss: not flagged, and positive",
    "tp_cost": "hit: flagged, and positive",
    "tn_cost": "rightly left alone: not flagged, and negative",
}
_LIBRARIES = ("numpy", "scikit-learn", "skops")
#: Methods that make the window loss small; the others use no loss of this library.
_BY_WINDOW = ("gibbs", "argmin")
_WARNING, _CODE = "WARNING", re.compile("`([^`<>]+)`")
_SHOWN = 60  # names of columns in a sentence


@dataclass(frozen=True)
class CardSection:
    """A heading, sentences, and perhaps a table.

    Attributes
    ----------
    title : str
    sentences : tuple of str
    header : tuple of str
    rows : tuple of tuple of str
        Empty if there is no table.
    words : tuple of int
        Columns of the table that hold words.
    listed : bool
        Whether the sentences are a list.
    """

    title: str
    sentences: tuple[str, ...]
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    words: tuple[int, ...] = (0,)
    listed: bool = False

    def to_html(self) -> str:
        """The section as HTML."""
        warnings = [sentence for sentence in self.sentences if sentence.startswith(_WARNING)]
        others = [sentence for sentence in self.sentences if not sentence.startswith(_WARNING)]
        said = [paragraph(sentence, "warning") for sentence in warnings]
        said += [bullets(others)] if self.listed else [paragraph(sentence) for sentence in others]
        parts = [heading(self.title), _CODE.sub(r"<code>\1</code>", "".join(said))]
        if self.rows:
            parts.append(table(self.header, self.rows, words=self.words))
        return "".join(parts)

    def summary(self) -> str:
        """The section as text."""
        lines = [self.title, *(f"  {sentence}" for sentence in self.sentences)]
        names = [f"{name}: " if name else "" for name in self.header]
        for row in self.rows:
            cells = (f"{name}{cell}" for name, cell in zip(names, row, strict=True) if cell)
            lines.append(f"  - {'; '.join(cells)}")
        return "\n".join(lines)


COMMON_LIMITS = (
    "Costs and guarantees hold for rows like those of the fit: if prevalence, prices or behaviour move, they may not.",
    "Whether its mistakes fall more on some groups of people than on others was not studied.",
)


# -- the proof --------------------------------------------------------------------------------------------------------

CERTIFICATE = "The certificate"


@dataclass(frozen=True)
class Proof:
    """What is proved of the loss of a model.

    Attributes
    ----------
    certificate : Certificate or None
    sentences : tuple of str
    """

    certificate: Certificate | None
    sentences: tuple[str, ...]

    def section(self) -> CardSection:
        """For a card."""
        return CardSection(CERTIFICATE, self.sentences)


def prove(model: Any) -> Proof:
    """Certify the loss of a fitted model, and check the certificate again from its text alone."""
    try:
        loss, role = _loss_of(model)
        if loss is None:
            return Proof(None, (f"There is no certificate: {role}.",))
        certificate = uneven.certify(loss)
    except UnevenError as error:
        return Proof(None, (f"There is no certificate: {error}.".replace("..", "."),))
    if certificate.status == "undecided":
        return Proof(None, (f"The loss {loss!r} {role}. Whether it is calibrated could not be decided.",))
    checked = uneven.verify(certificate)
    if not checked:
        return Proof(None, (f"The certificate of the loss failed its own check: {checked.reason}.",))
    said = str(checked).removeprefix("valid: ")
    alpha = certificate.alpha
    assumed = () if alpha is None else (f"alpha = {_short(alpha)} says: {costs_in_words(alpha)}.",)
    return Proof(
        certificate,
        (
            f"The loss {loss!r} {role}.",
            f"Proved: {said[:1].lower()}{said[1:]}",
            *assumed,
            "Calibrated means: whoever makes this loss small enough makes the cheapest decisions. This is a proof "
            "about the loss, not about how small the model made it.",
            "The proof was checked again when this card was made: valid. `uneven verify card.html` checks it from the "
            "page alone.",
        ),
    )


def _short(alpha: Fraction) -> str:
    return str(alpha) if alpha.denominator < 10**9 else f"{to_float(alpha):.6g}"


def _loss_of(model: Any) -> tuple[Any, str]:
    """The loss to certify and its role; or None and why there is none."""
    from uneven.app.models.candidates import LogisticRule

    if isinstance(model, CorrectedDecisions):
        if model.method not in _BY_WINDOW:
            return None, f"method={model.method!r} makes no loss of this library small"
        costs = model._row_costs
        role = "corrects the threshold of the model, at the costs of the fit"
        alpha = Fraction(1, 2)
        if costs.per_row:
            role = "corrects the threshold; each row is moved by its own threshold, so it must be calibrated for 1/2"
        else:
            alpha = read_cost(costs.fp_regret, costs.fn_regret).exact_alpha
            if model._actions_of_fit is not None:
                role = (
                    "corrects the thresholds; at each break it has the alpha of that break, here that of all together"
                )
        return uneven.calibrated_loss(uneven.phi("beta", order=int(model.order)), alpha=alpha), role
    if isinstance(model, LogisticRule):
        loss = uneven.UnevenMarginLoss("logistic")
        if model.way == "weighted":
            cost = uneven.Cost(fp_cost=model.fp_cost, fn_cost=model.fn_cost)
            return loss.weighted(cost.exact_alpha), "is what this logistic regression makes small"
        after = (
            "; the threshold of its probabilities carries the costs" if model.way == "moved" else "; it knows no costs"
        )
        return loss.weighted(Fraction(1, 2)), f"is what this logistic regression makes small{after}"
    if hasattr(model, "loss_"):
        return model.loss_, "is what the model makes small"
    return None, f"{type(model).__name__} has no loss"


# -- sections that cards of models and of files share -----------------------------------------------------------------


def chosen_model(last: Any) -> Any:
    """The model that decides: of a search the one that it chose."""
    return getattr(last, "best_estimator_", last)


def cost_section(values: dict[str, str], decided_by: str | None, more: Sequence[str], unit: str | None) -> CardSection:
    """What the four outcomes cost, as it was written, and who decided that."""
    rows = tuple((outcome, values[name]) for name, outcome in OUTCOMES.items() if name in values)
    who = f"Decided by: {decided_by}." if decided_by else f"Who decided these costs is {NOT_KNOWN}."
    cost = f"costs ({unit})" if unit else "costs"
    return CardSection("What mistakes cost, and who decided it", (who, *more), ("outcome", cost), rows)


def study_section(rows: Sequence[CostEstimate], how: str, unit: str | None, more: Sequence[str] = ()) -> CardSection:
    """What models cost on rows that they did not learn from; ours first."""
    title = "What it costs on rows that it has not seen"
    if not rows:
        return CardSection(title, (how, *more))
    rough = rough_in_words(rows)
    sentences = (f"Costs per 1,000 rows, {how}, with 95 % intervals.", *more, *([rough] if rough else []))
    header, cells = cost_cells(list(rows), unit)
    return CardSection(title, sentences, tuple(header), tuple(map(tuple, cells)))


def guarantee_section(model: Any, unit: str | None) -> tuple[CardSection, dict[str, Any] | None]:
    """What is guaranteed for new rows, with its assumptions; and the same as data."""
    title = "What is guaranteed for new rows"
    try:
        found = getattr(model, "guarantee_", None)
    except UnevenError as error:
        return CardSection(title, (f"Nothing is: {error}.",)), None
    if found is not None:
        in_unit = f" Amounts are in {unit}, per row." if unit else " Amounts are in the unit of the costs, per row."
        return CardSection(title, (found.in_words() + in_unit,)), found.to_dict()
    if isinstance(model, CorrectedDecisions):
        reason = model._why_no_guarantee()
        because = f": {reason}" if reason else ": the file keeps too few of the out-of-fold rows"
        return CardSection(title, (f"Nothing is{because}.",)), None
    none = (
        "No statistical guarantee: this model keeps no rows that it did not learn from. The ensemble and "
        "UnevenThresholdClassifierCV have one."
    )
    if not hasattr(model, "analysis_"):
        return CardSection(title, (none,)), None
    return _loss_bounds(title, none, model, unit)


def _loss_bounds(title: str, none: str, model: Any, unit: str | None) -> tuple[CardSection, dict[str, Any] | None]:
    """What a small loss guarantees, if the loss has a bound."""
    levels = (0.1, 0.01, 0.001)
    try:
        bounds = np.asarray(model.analysis_.cost_regret_bound(np.array(levels))).tolist()
    except UnevenError:
        return CardSection(title, (none,)), None
    rows = tuple((f"{level:g}", show_above(bound, 3)) for level, bound in zip(levels, bounds, strict=True))
    sentences = (
        none,
        "What its loss guarantees: if the expected loss of new rows is at most so much above the smallest possible "
        "one, the expected cost per row is at most so much above the smallest possible one. How far the model is from "
        "the smallest possible loss is not known.",
    )
    header = ("expected loss above the best", f"cost above the best{f' ({unit})' if unit else ''}")
    section = CardSection(title, sentences, header, rows, words=())
    return section, {"loss_above_the_best": list(levels), "cost_above_the_best": bounds}


def member_section(model: Any, unit: str | None) -> CardSection | None:
    """The members of an ensemble; None of other models."""
    if not is_ensemble(model):
        return None
    try:
        cells: list[tuple[str, ...]]
        cells = [(one.name, f"{one.weight:.2f}", per_thousand(one.cost)) for one in members_of(model)]
        header: tuple[str, ...] = ("member", "weight", f"alone it costs per 1,000 rows{f' ({unit})' if unit else ''}")
    except AttributeError:  # after with_costs, what members say about rows is not kept
        header, cells = ("member", "weight"), [(name, f"{weight:.2f}") for name, weight in model.weights_.items()]
    sentences = ("An average of several learners; costs alone are out of fold.", *left_out_in_words(model))
    return CardSection("What the ensemble is made of", sentences, header, tuple(cells))


def version_section(made: dict[str, str] | None, hashes: dict[str, str]) -> CardSection:
    """With which versions the model and the card were made, and what identifies them."""
    now = versions_here()
    rows = [
        (name, (made or {}).get(name, NOT_KNOWN), now.get(name, "not installed")) for name in {**(made or {}), **now}
    ]
    sentences = tuple(f"{name}: {value}" for name, value in hashes.items())
    header = ("library", "made with", "this card")
    return CardSection("Versions and hashes", sentences, header, tuple(rows), words=(0, 1, 2))


def versions_here() -> dict[str, str]:
    """Versions of what is installed."""
    found = {"uneven": uneven.__version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # vendored under another name
            continue
    return found


def hash_of_rows(hashes: np.ndarray) -> str:
    """One SHA-256 for hashes of rows, in their order."""
    return hashlib.sha256(np.ascontiguousarray(hashes, dtype="<u8").tobytes()).hexdigest()


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(map(str, names[:_SHOWN])) + more
