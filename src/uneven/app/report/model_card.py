"""A model's card: data, costs and who decided them, what it costs, what is guaranteed and proved, and its limits.

:func:`learner_card` is ``model.card()``, of what a fitted model knows of itself; :mod:`uneven.app.report.file_card` has
that of a model file, which knows more. What is not known is said.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import uneven
from uneven.app.models.apply_model import row_hashes
from uneven.app.report.page import bullets, cost_cells, heading, page, paragraph, table, text
from uneven.app.report.sentences import is_ensemble, left_out_in_words, members_of, per_thousand, rough_in_words
from uneven.calibration import Certificate
from uneven.calibration.implied_costs import costs_in_words
from uneven.costs import COSTS, money, read_cost
from uneven.errors import CertificateError, UnevenError
from uneven.inputs import brief, show_above, to_float
from uneven.learners.constant_rules import ALL_NEGATIVE, ALL_POSITIVE
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
_ELEMENT = re.compile(r'<script type="application/json" id="uneven-certificate">(.*?)</script>', re.DOTALL)
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


@dataclass(frozen=True)
class ModelCard:
    """What is known of a model, for those who must answer for it.

    Attributes
    ----------
    title : str
    sections : tuple of CardSection
    facts : dict
        The same as plain data; None for what is not known.
    certificate : Certificate or None
        Proof that the loss of the model is, or is not, calibrated for the costs. The page holds it, and
        ``uneven verify card.html`` checks it again.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = uneven.UnevenLinearClassifier(fp_cost=1, fn_cost=20, pos_label=0, tol=1e-3).fit(X, y)
    >>> card = model.card(X, decided_by="Risk committee, 2026-03-01")
    >>> card
    <ModelCard of UnevenLinearClassifier: 8 sections, with a certificate>
    >>> card.facts["costs"]["fn_cost"], card.facts["decided_by"], card.facts["data"]["rows"]
    (20, 'Risk committee, 2026-03-01', 569)
    >>> bool(uneven.verify(card.certificate))
    True
    """

    title: str
    sections: tuple[CardSection, ...]
    facts: dict[str, Any] = field(repr=False)
    certificate: Certificate | None = None

    def __repr__(self) -> str:
        proof = "with a certificate" if self.certificate else "without a certificate"
        return f"<ModelCard of {self.facts['model']['name']}: {len(self.sections)} sections, {proof}>"

    def to_dict(self) -> dict[str, Any]:
        """All facts as data that JSON can hold; None for what is not known."""
        return {**self.facts, "certificate": None if self.certificate is None else self.certificate.document}

    def to_html(self) -> str:
        """One page that loads nothing from elsewhere, and holds the certificate as JSON."""
        return page(self.title, f"<h1>{text(self.title)}</h1>", *self._parts(), self._element())

    def _repr_html_(self) -> str:
        """The sections, for notebooks."""
        return f"<h1>{text(self.title)}</h1>{''.join(self._parts())}"

    def summary(self) -> str:
        """The card as text."""
        return "\n\n".join([self.title, *(section.summary() for section in self.sections)])

    def _parts(self) -> list[str]:
        found = []
        for section in self.sections:
            found.append(section.to_html())
            if section.title == CERTIFICATE and self.certificate is not None:
                document = text(json.dumps(self.certificate.document, indent=1))
                found.append(f"<details><summary>show it</summary><pre>{document}</pre></details>")
        return found

    def _element(self) -> str:
        if self.certificate is None:
            return ""
        inside = self.certificate.to_json().replace("<", "\\u003c")  # no text of a loss ends the element
        return f'<script type="application/json" id="uneven-certificate">{inside}</script>'


def certificate_in(html: str) -> str:
    """The JSON text of the certificate in a card; an error if there is none.

    Examples
    --------
    >>> from uneven.app.report.model_card import certificate_in
    >>> certificate_in('<script type="application/json" id="uneven-certificate">{"a": 1}</script>')
    '{"a": 1}'
    """
    found = _ELEMENT.findall(html)
    if len(found) != 1:
        raise CertificateError(
            f"a card of `uneven card` holds one certificate, this page holds {len(found)}", unreadable=True
        )
    return str(found[0])


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


# -- the card of a fitted model ---------------------------------------------------------------------------------------


def learner_card(model: Any, X: Any = None, *, decided_by: str | None = None, unit: str | None = None) -> ModelCard:
    """The card of a fitted estimator; see ``model.card``."""
    chosen = chosen_model(model)
    name = type(model).__name__
    proof = prove(chosen)
    data, about_data = _data_section(model, X)
    costs, about_costs = _learner_costs(model, decided_by, unit)
    study, about_study = _learner_study(model, unit)
    guarantee, about_guarantee = guarantee_section(chosen, unit)
    limits = _learner_limits(model)
    members = member_section(model, unit)
    table_hash = None if X is None or not hasattr(X, "columns") else hash_of_rows(row_hashes(X))
    hashes = {"SHA-256 of the model": f"{NOT_KNOWN} before it is a file"}
    if table_hash is not None:
        hashes["SHA-256 of the rows of the table given here"] = table_hash
    sections = (
        CardSection("The model", (f"{name}, a classifier of two classes.", " ".join(repr(model).split()))),
        data,
        costs,
        study,
        *(() if members is None else (members,)),
        guarantee,
        proof.section(),
        CardSection("What it cannot do", tuple(limits), listed=True),
        version_section(None, hashes),
    )
    facts = {
        "model": {
            "name": name,
            "parameters": {key: brief(value) for key, value in model.get_params(deep=False).items()},
        },
        "data": about_data,
        "costs": about_costs,
        "unit": unit,
        "decided_by": decided_by,
        "study": about_study,
        "guarantee": about_guarantee,
        "proved": list(proof.sentences),
        "limits": limits,
        "versions": {"made": None, "card": versions_here()},
        "hashes": {"model": None, "rows": table_hash},
    }
    return ModelCard(f"Model card: {name}", sections, facts, proof.certificate)


def _data_section(model: Any, X: Any) -> tuple[CardSection, dict[str, Any]]:
    classes = model._classes
    counts = _counts(model)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    width = getattr(model, "n_features_in_", None)
    sentences = [f"The positive class is {brief(classes.pos_label)}, the negative class {brief(classes.neg_label)}."]
    if counts is None:
        sentences.append(f"How many rows it learnt from is {NOT_KNOWN}.")
    else:
        share = counts[1] / sum(counts)
        sentences.append(f"It learnt from {sum(counts):,} rows, {counts[1]:,} of them positive ({share:.1%}).")
    shown = (f": {listed(names)}" if names else "; their names are not known") if X is None else ""
    sentences.append(f"It uses {NOT_KNOWN if width is None else f'{width:,}'} columns{shown}.")
    rows: list[tuple[str, ...]] = []
    missing = None
    if X is None:
        sentences.append("Types and missing values of the columns are not known: a model keeps no table.")
    else:
        rows, missing = describe_columns(X)
        sentences.append(f"The table given for this card has {len(rows):,} columns:")
    section = CardSection("The data", tuple(sentences), ("column", "type", "missing"), tuple(rows), words=(0, 1))
    facts = {
        "rows": None if counts is None else sum(counts),
        "positives": None if counts is None else counts[1],
        "classes": {"positive": brief(classes.pos_label), "negative": brief(classes.neg_label)},
        "columns": names or None,
        "missing": missing,
    }
    return section, facts


def _counts(model: Any) -> tuple[int, int] | None:
    """Negative and positive rows of the fit: the mistakes of the two constant rules; None if they are not kept."""
    rules = getattr(model, "constant_costs_", None)
    if rules is None:
        return None
    return round(rules[ALL_POSITIVE].false_positives), round(rules[ALL_NEGATIVE].false_negatives)


def describe_columns(X: Any) -> tuple[list[tuple[str, ...]], dict[str, int]]:
    """Columns of a table with their types and missing values."""
    if not hasattr(X, "columns"):
        values = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        gaps = np.isnan(values).sum(axis=0) if values.dtype.kind == "f" else np.zeros(values.shape[1], dtype=int)
        named = [(f"column {k + 1}", str(values.dtype), int(gap)) for k, gap in enumerate(gaps)]
    else:
        import pandas as pd

        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame({name: X[name].to_numpy() for name in X.columns})
        named = [(str(name), str(frame[name].dtype), int(frame[name].isna().sum())) for name in frame.columns]
    rows: list[tuple[str, ...]] = [(name, kind, f"{gap:,}") for name, kind, gap in named]
    return rows, {name: gap for name, _, gap in named}


def _learner_costs(model: Any, decided_by: str | None, unit: str | None) -> tuple[CardSection, dict[str, Any]]:
    known = dict(model._costs_of_fit)
    values = {name: _amount(known[name]) if name in known else "one for each row" for name in COSTS}
    more = []
    if getattr(model, "_range_of_fit", None) is not None:
        more.append(f"The costs are a range: {brief(model._range_of_fit)}; those below are the central ones.")
    if model._actions_of_fit is not None:
        more.append(f"It decides between several actions: {model._actions_of_fit!r}.")
    threshold = getattr(model, "threshold_", None)
    if threshold is not None:
        more.append(f"It predicts positive where the probability is above {float(threshold):.4g}.")
    if model._in_use is not None:
        more += model._in_use.notes
    section = cost_section(values, decided_by, more, unit)
    return section, {name: _plain(known.get(name)) for name in COSTS}


def _amount(value: Any) -> str:
    return money(to_float(uneven.inputs.exact("cost", value)) if not isinstance(value, float) else value)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float) else str(value)


def _learner_study(model: Any, unit: str | None) -> tuple[CardSection, dict[str, Any] | None]:
    own = getattr(model, "out_of_fold_cost_", None)
    rules = getattr(model, "constant_costs_", None) or {}
    if own is None:
        how = "What it costs on new rows is not known: this fit compared nothing. uneven.metrics.compare tells it."
        return study_section((), how, unit), None
    rows = [replace(own, name="this model"), *rules.values()]
    how = "out of fold: of models that did not learn from the row"
    more = ("The two constant rules are there to compare: all rows positive, or none.",)
    section = study_section(rows, how, unit, more)
    first, cost, _, *mistakes = section.header  # differences to the constant rules are not kept
    cells = tuple((row[0], row[1], *row[3:]) for row in section.rows)
    return replace(section, header=(first, cost, *mistakes), rows=cells), {
        "how": how,
        "costs": [_finite(row.to_dict()) for row in rows],
    }


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {key: None if isinstance(value, float) and not np.isfinite(value) else value for key, value in row.items()}


def _learner_limits(model: Any) -> list[str]:
    classes = model._classes
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    found = [
        f"It tells two classes apart, {brief(classes.neg_label)} and {brief(classes.pos_label)}; rows of a third one "
        "are taken for one of them.",
    ]
    if hasattr(model, "predict_proba"):
        found.append(
            "Its costs are fixed until somebody gives others; predict and with_costs take them, without a new fit."
        )
    else:
        found.append("It has no probabilities: it decides only at the costs of its fit, and cannot say how sure it is.")
    if names:
        found.append(f"It needs all of its {len(names):,} columns, under the same names.")
    return [*found, *COMMON_LIMITS, f"Whether a column tells the label by accident (a leak) is {NOT_KNOWN}."]


COMMON_LIMITS = (
    "Costs and guarantees hold for rows like those of the fit: if prevalence, prices or behaviour move, they may not.",
    "Whether its mistakes fall more on some groups of people than on others was not studied.",
)
