"""A model's card: data, costs and who decided them, what it costs, what is guaranteed and proved, and its limits.

:func:`learner_card` is ``model.card()``, of what a fitted model knows of itself; :mod:`uneven.app.report.file_card` has
that of a model file, which knows more. What is not known is said.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import uneven
from uneven.app.models.apply_model import row_hashes
from uneven.app.report.card_sections import (
    CERTIFICATE,
    COMMON_LIMITS,
    NOT_KNOWN,
    CardSection,
    chosen_model,
    cost_section,
    guarantee_section,
    hash_of_rows,
    listed,
    member_section,
    prove,
    study_section,
    version_section,
    versions_here,
)
from uneven.app.report.page import page, text
from uneven.calibration import Certificate
from uneven.costs import COSTS, money
from uneven.errors import CertificateError
from uneven.inputs import brief, to_float
from uneven.learners.constant_rules import ALL_NEGATIVE, ALL_POSITIVE

_ELEMENT = re.compile(r'<script type="application/json" id="uneven-certificate">(.*?)</script>', re.DOTALL)


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


# -- the card of a fitted model ---------------------------------------------------------------------------------------


def learner_card(model: Any, X: Any = None, *, decided_by: str | None = None, unit: str | None = None) -> ModelCard:
    """The card of a fitted estimator; see ``model.card``."""
    if len(model.classes_) > 2:
        from uneven.app.report.class_card import class_learner_card

        return class_learner_card(model, X, decided_by=decided_by, unit=unit)
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
