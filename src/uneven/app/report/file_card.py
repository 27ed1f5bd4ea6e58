"""The card of a model file: what `uneven fit` wrote about the table, the comparison and the costs."""

from __future__ import annotations

from typing import Any

from uneven.app.models.apply_classes import can_decide_otherwise
from uneven.app.models.apply_model import can_move, words_of
from uneven.app.models.candidates import AUTO, CONSTANT_RULES
from uneven.app.models.written_costs import number_in
from uneven.app.report.card_sections import (
    COMMON_LIMITS,
    NOT_KNOWN,
    OUTCOMES,
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
from uneven.app.report.class_report import rare_classes
from uneven.app.report.model_card import ModelCard
from uneven.app.report.sentences import Choice, first_line
from uneven.costs import COSTS, RowCosts, money
from uneven.decisions.alpha import probability_thresholds
from uneven.inputs import to_float
from uneven.metrics import CostEstimate

#: Below so many rows of the rarer class a model is a rough guess.
_FEW = 50
_TITLE_OF_DATA = "The data it learnt from"


def file_card(content: dict[str, Any], name: str, decided_by: str | None = None) -> ModelCard:
    """The card of the content of a model file.

    Parameters
    ----------
    content : dict
        Of :func:`uneven.app.models.model_files.read_model`.
    name : str
        Of the file.
    decided_by : str, optional
        Who decided the costs, if the file does not say.
    """
    about, pipeline = content["about"], content["pipeline"]
    last = pipeline if about.get("streamed") else pipeline[-1]
    chosen, unit = chosen_model(last), about["costs"].get("unit")
    decided_by = about.get("decided_by") or decided_by
    constant = about.get("model") in CONSTANT_RULES
    proof = prove(chosen)
    study, warnings = _study(about, unit)
    guarantee, about_guarantee = guarantee_section(chosen, unit)
    limits = [*warnings, *limits_of(content, last)]
    members = member_section(chosen, unit)
    hashes = hashes_of(content)
    sections = (
        CardSection("The model", tuple(_model(about, last, name, constant=constant))),
        data_section(about),
        cost_section(_costs(about, unit), decided_by, _threshold(about), unit),
        study,
        *(() if members is None else (members,)),
        guarantee,
        proof.section(),
        CardSection("What it cannot do", tuple(limits), listed=True),
        version_section(content["versions"], {what: value or NOT_KNOWN for what, value in hashes.items()}),
    )
    missing = about.get("missing")
    facts = {
        "model": {
            "name": about.get("model", "linear"),
            "class": type(chosen).__name__,
            "file": name,
            "fitted": about.get("fitted"),
            "target": about["target"],
        },
        "data": {
            "rows": about["rows"],
            "positives": about.get("positives"),
            "classes": {"positive": about["positive"], "negative": about.get("negatives")},
            "columns": about.get("columns"),
            "missing": missing,
            "unlabelled": about.get("unlabelled"),
            "skipped": about.get("skipped"),
            "dropped": about.get("dropped"),
            "table": about.get("table"),
        },
        "costs": {name: about["costs"].get(name) for name in COSTS},
        "actions": about.get("actions"),
        "unit": unit,
        "decided_by": decided_by,
        "study": about_study(about),
        "guarantee": about_guarantee,
        "proved": list(proof.sentences),
        "limits": limits,
        "leaks": about.get("leaks"),
        "versions": {"made": content["versions"], "card": versions_here()},
        "hashes": {
            "model": content["sha256"],
            "table": (about.get("table") or {}).get("sha256"),
            "rows": _rows(content),
        },
    }
    return ModelCard(f"Model card: is {about['target']} {about['positive']}?", sections, facts, proof.certificate)


def about_study(about: dict[str, Any]) -> dict[str, Any] | None:
    """The comparison of the fit as data; None if there was none."""
    return {"how": about["compared"], "costs": about["comparison"]} if about.get("comparison") else None


def _model(about: dict[str, Any], last: Any, name: str, *, constant: bool) -> list[str]:
    when = f"on {about['fitted']}" if about.get("fitted") else f"at a time that is {NOT_KNOWN}"
    kind = type(chosen_model(last)).__name__
    what = f"It is the model {about.get('model', 'linear')} ({kind})"
    found = [f"{what}, in the file {name}, fitted {when}."]
    if constant:
        found.append("It says the same of every row.")
    found.append(f"It predicts whether {about['target']} is {about['positive']}.")
    return found


def data_section(about: dict[str, Any]) -> CardSection:
    rows, positives = about["rows"], about.get("positives")
    table = about.get("table")
    source = f"The table was {table['name']}. " if table else ""
    if "classes" in about:
        counts = ", ".join(f"{label} ({count:,})" for label, count in about["classes"].items())
        found = [f"{source}It had {rows:,} rows with a label: {counts}."]
    elif positives is None:
        found = [f"{source}It had {rows:,} rows; how many were positive is {NOT_KNOWN}."]
    else:
        found = [f"{source}It had {rows:,} rows with a label, {positives:,} of them positive ({positives / rows:.1%})."]
    if about.get("unlabelled"):
        found.append(f"{about['unlabelled']:,} rows without a label were left out.")
    if "negatives" in about:
        negative, positive = words_of(about["positive"], about["negatives"])
        others = f" ({listed(about['negatives'])})" if len(about["negatives"]) > 1 else ""
        found.append(f"The positive class is {positive}, the negative class {negative}{others}.")
    if about.get("id"):
        found.append(f"Column {about['id']!r} names the rows and is not used for prediction.")
    if about.get("dropped"):
        found.append(f"Left out at the wish of whoever fitted it: {listed(about['dropped'])}.")
    found += [f"Column {name!r} was skipped: {why}." for name, why in about.get("skipped", {}).items()]
    columns = about.get("columns")
    if columns is None:
        return CardSection(_TITLE_OF_DATA, (*found, f"What its columns were like is {NOT_KNOWN}."))
    missing = about.get("missing")
    if missing is None:
        found.append(f"How many values were missing is {NOT_KNOWN}: the file is from an earlier version.")
    cells = tuple(
        (one["name"], one["role"], NOT_KNOWN if missing is None else f"{missing.get(one['name'], 0):,}")
        for one in columns
    )
    return CardSection(_TITLE_OF_DATA, tuple(found), ("column used", "kind", "missing values"), cells, words=(0, 1))


def _costs(about: dict[str, Any], unit: str | None) -> dict[str, str]:
    """Costs as they were written; numbers in the digits of money."""
    found = {}
    for name in OUTCOMES:
        number = number_in(name, str(about["costs"][name]))
        found[name] = str(about["costs"][name]) if number is None else money(to_float(number))
    return found


def _threshold(about: dict[str, Any]) -> list[str]:
    numbers = {name: number_in(name, str(about["costs"][name])) for name in COSTS}
    found = [f"Further action: {text}." for text in about.get("actions", ())]
    if any(number is None for number in numbers.values()):
        return [*found, "They differ by row: each row is decided by its own costs, if the model has probabilities."]
    costs = RowCosts.read(1, **{name: to_float(number) for name, number in numbers.items() if number is not None})
    cut = float(probability_thresholds(*costs.thresholds())[0])
    return [*found, f"At these costs flagging a row pays where the probability of a positive is above {cut:.3g}."]


def _study(about: dict[str, Any], unit: str | None) -> tuple[CardSection, list[str]]:
    """What the comparison of the fit found, and warnings that belong to the limits."""
    if not about.get("comparison"):
        how = "What it costs on new rows is not known: it was fitted without a comparison. `uneven report` tells it."
        return study_section((), how, unit), [about["order"]] if about.get("order") else []
    rows = [CostEstimate(**row) for row in about["comparison"]]
    choice = Choice(rows, about["learner"] == AUTO, unit)
    more = [choice.warning() or first_line(rows, unit), *filter(None, [choice.in_words()])]
    more.append(
        "Differences are paired: all models are seen on the same rows. The cheapest was chosen by its cost, which is "
        "therefore a little too low."
    )
    warnings = [about["broken_promise"], about.get("order", "")]
    return study_section(rows, about["compared"], unit, more), [one for one in warnings if one]


def limits_of(content: dict[str, Any], last: Any) -> list[str]:
    about = content["about"]
    found = []
    if "classes" in about:
        names = ", ".join(about["classes"])
        found.append(f"It tells apart {names}; rows of another class are taken for one of these.")
    elif "negatives" in about:
        negative, positive = words_of(about["positive"], about["negatives"])
        found.append(
            f"It tells two classes apart, {positive} and {negative}; rows of a third one are taken for one of them."
        )
    else:
        found.append("It tells two classes apart; rows of a third one are taken for one of them.")
    if "classes" in about:
        found.append(
            "Its costs are fixed until somebody gives others: `uneven predict --costs ...`, without a new fit."
            if can_decide_otherwise(last)
            else "It decides only at the costs of its fit; other costs need a new fit."
        )
    elif about.get("streamed") or can_move(content["pipeline"]):
        found.append(
            "Its costs are fixed until somebody gives others: `uneven predict --fn-cost ...`, without a new fit."
        )
    else:
        found.append("It decides only at the costs of its fit; other costs need a new fit.")
    if not hasattr(last, "predict_proba"):
        found.append("It has no probabilities: it cannot say how sure it is, and cannot keep limits.")
    columns = about.get("columns")
    if columns is not None:
        found.append(
            f"It needs all {len(columns):,} columns above; a table without one of them is refused. Values of a "
            "category that it has not seen are taken for rare ones."
        )
    found += [
        f"WARNING: column {name!r} {why}. If it is not known when you decide, the model is worth less than said."
        for name, why in about.get("leaks", {}).items()
    ]
    if "leaks" not in about:
        found.append(f"Whether a column tells the label by accident (a leak) is {NOT_KNOWN}.")
    elif not about["leaks"]:
        found.append("No column was found that alone tells the label; a leak in several columns would not be found.")
    if about.get("positives") is not None:
        fewest = min(about["positives"], about["rows"] - about["positives"])
        if fewest < _FEW:
            found.append(f"It learnt from only {fewest:,} rows of the rarer class: it is a rough guess.")
    found += rare_classes(about.get("classes", {}), "It learnt from")
    return [*found, *COMMON_LIMITS]


def hashes_of(content: dict[str, Any]) -> dict[str, str | None]:
    return {
        "SHA-256 of the model file": content["sha256"],
        "SHA-256 of the training table (the file)": (content["about"].get("table") or {}).get("sha256"),
        "SHA-256 of its rows, as they were read": _rows(content),
    }


def _rows(content: dict[str, Any]) -> str | None:
    return None if content["seen"] is None else hash_of_rows(content["seen"])
