"""``uneven predict``."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from uneven.app.cli.options import (
    applying,
    changed_cost_options,
    changed_costs,
    limit_options,
    read_options,
    reading_options,
    skip_costs_option,
)
from uneven.errors import UnevenError

if TYPE_CHECKING:
    from uneven.app.files.table import Table
    from uneven.app.models.apply_model import Application
    from uneven.app.models.decision_log import DecisionLog
    from uneven.app.models.written_limits import WrittenLimits
    from uneven.decisions.decision_table import Decisions


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--id", "id_column", metavar="COL", help="The column that names the rows; by default that of the fit.")
@changed_cost_options
@click.option("--costs", metavar="FILE", help="With several classes: a table of costs, if it is not that of the fit.")
@skip_costs_option
@limit_options
@click.option(
    "--reasons",
    type=click.IntRange(min=1),
    metavar="N",
    help="Add the N columns that spoke most for each decision, with their money, and a change that would change it. "
    "For two classes, without limits. Takes much longer: the model is asked about many changed copies of each row.",
)
@click.option(
    "--log",
    metavar="FOLDER",
    help="Also add the decisions to a log that only grows: a folder of Parquet files, such as decisions.parquet.",
)
@reading_options
@click.option("-o", "--output", required=True, metavar="OUT", help="The file to write: .csv, .tsv, .xlsx or .parquet.")
@applying
def predict(
    model: str,
    data: str,
    id_column: str | None,
    fp_cost: str | None,
    fn_cost: str | None,
    tp_cost: str | None,
    tn_cost: str | None,
    costs: str | None,
    skip_bad_costs: bool,
    actions: tuple[str, ...],
    reasons: int | None,
    log: str | None,
    output: str,
    **others: Any,
) -> None:
    """Predict with a model of `uneven fit`, within limits.

    Writes for each row: its ID, the prediction in the words of the target, the probability, the threshold of the row,
    the expected costs of both decisions, and the score. Probability and expected costs only if the model has them.
    Costs that you give replace those of the fit; nothing is fitted again. A text file is written as DATA is: with its
    separator, decimal sign and encoding.

    With a limit (--at-most 200 --per day) or a further action (--action review=8:5) it writes what is done with each
    row, what each action is expected to cost, what the decision saves, and the rank of the row; and it says what the
    limit costs, and what one more place would save.

    A model of several classes (`uneven fit --costs`) writes the decision of each row, what it and every other decision
    is expected to cost, and the probability of each class. --costs takes another table of costs, --at-most refer=50 is
    a limit on a decision.

    With --log, the decisions are logged before OUT is written: time, model, costs, threshold, probability, decision. A
    log is of one model.
    """
    from uneven.app.files.file_kinds import PARQUET, WRITABLE, require_output, write_whole
    from uneven.app.files.table import read_table
    from uneven.app.files.written_tables import sensible_digits, table_bytes
    from uneven.app.models.apply_classes import has_several_classes, require_two_classes
    from uneven.app.models.apply_model import COMPARED, apply_model, read_rows
    from uneven.app.models.decision_log import about_log, decision_columns, open_log
    from uneven.app.models.model_files import read_model
    from uneven.app.models.written_limits import WrittenLimits, written_actions

    limits = WrittenLimits(**{name: others.pop(name) for name in WrittenLimits.__dataclass_fields__})
    require_output(output, WRITABLE, inputs=(model, data, *filter(None, (limits.held_out, costs))))
    kept = None if log is None else open_log(log, output)
    options = read_options(**others)
    content = read_model(model)
    about = content["about"]
    asked = actions or written_actions(about)
    changes = changed_costs(fp_cost, fn_cost, tp_cost, tn_cost)
    if has_several_classes(content):
        for_two: dict[str, Any] = {"--reasons": reasons, "--action": actions or None}
        for_two |= {f"--{name.replace('_', '-')}": cost for name, cost in changes.items()}
        for_two |= {option: text for option, text in limits.options.items() if option not in _OF_CLASSES}
        if unfit := next((option for option, value in for_two.items() if value is not None), None):
            require_two_classes(content, model, unfit)
        table = read_table(data, options, about["decimal"])
        _predict_classes(content, table, (data, id_column, output), costs, limits, kept)
        return
    if costs is not None:
        raise UnevenError("--costs is for models of several classes; this one takes --fp-cost and --fn-cost")
    if reasons is not None and (asked or limits.given):
        raise UnevenError(
            "--reasons explains decisions by the threshold; limits and further actions decide otherwise: leave one out"
        )
    if about.get("streamed"):
        whole = {"--reasons": reasons, "--log": log, "a limit or a further action": asked or limits.given or None}
        unfit = next((option for option, value in whole.items() if value is not None), "")
        _predict_in_parts(model, content, data, id_column, changes, output, unfit)
        return
    table, skipped = read_rows(content, data, options, changes, skip_bad_costs=skip_bad_costs)
    used = apply_model(content, table, id_column, changes)
    if kept is not None:
        kept.require_model(about_log(content, used))
    past = None if limits.held_out is None else read_table(limits.held_out, options, about["decimal"])
    answer = _answer(
        content,
        table,
        used,
        (asked, limits, past),
        reasons,
        changed=bool(changes),
        decimal="." if output.lower().endswith(PARQUET) else table.decimal,
    )
    frame = answer.frame if output.lower().endswith(PARQUET) else sensible_digits(answer.frame, COMPARED)
    written, said = table_bytes(frame, output, table), f"{output}: {len(table):,} rows, {answer.counts}"
    if kept is not None:  # first the log: no decision leaves without being in it
        batch = kept.append(decision_columns(content, used, answer.found, answer.reasons), about_log(content, used))
        said += f"\n{batch.in_words(log)}"
    write_whole(output, written)
    click.echo(table.in_words())
    for sentence in filter(None, [skipped, *answer.sentences]):
        click.echo(sentence)
    click.echo(said)
    if used.names is None:
        _tell_order(about, table, data)


def _tell_order(about: dict[str, Any], table: Table, data: str) -> None:
    """Say that no column names the rows, and which could."""
    from uneven.app.files.table_columns import LIKE_AN_ID

    like_ids = [name for name, why in about.get("skipped", {}).items() if why.startswith(LIKE_AN_ID)]
    column = next((shlex.quote(name) for name in like_ids if name in table.frame.columns), "COL")
    click.echo(f"They are in the order of {data}; --id {column} adds the column that names them.")


#: Limits that models of several classes keep, too.
_OF_CLASSES = ("--at-most", "--at-most-share", "--per")


def _predict_classes(
    content: dict[str, Any],
    table: Table,
    names: tuple[str, str | None, str],
    costs: str | None,
    limits: WrittenLimits,
    log: DecisionLog | None,
) -> None:
    """Predict with a model of several classes; ``names`` are those of the table, of its IDs, and of the output."""
    from uneven.app.files.file_kinds import PARQUET, write_whole
    from uneven.app.files.written_tables import sensible_digits, table_bytes
    from uneven.app.models.apply_classes import apply_to_classes, class_prediction_table
    from uneven.app.models.decision_log import about_log, class_decision_columns
    from uneven.app.models.written_matrix import WrittenMatrix

    data, id_column, output = names
    changed = None if costs is None else WrittenMatrix.read(costs, None)
    used = apply_to_classes(content, table, id_column, changed, limits)
    about = about_log(content, used)
    if log is not None:
        log.require_model(about)
    frame, compared = class_prediction_table(used)
    shown = frame if output.lower().endswith(PARQUET) else sensible_digits(frame, compared)
    written, said = table_bytes(shown, output, table), f"{output}: {len(table):,} rows: {used.counts_in_words()}"
    if log is not None:  # first the log: no decision leaves without being in it
        said += f"\n{log.append(class_decision_columns(content, used), about).in_words(log.path)}"
    write_whole(output, written)
    for sentence in [table.in_words(), *used.remarks, used.expected_in_words()]:
        click.echo(sentence)
    click.echo(said)
    if used.names is None:
        _tell_order(content["about"], table, data)


@dataclass(frozen=True)
class _Answer:
    """The table of predictions, the decisions if limits made them, columns with reasons, and what is told."""

    frame: Any
    found: Decisions | None
    reasons: Any
    sentences: list[str]
    counts: str


def _answer(
    content: dict[str, Any],
    table: Table,
    used: Application,
    limited: tuple[tuple[str, ...], WrittenLimits, Table | None],
    reasons: int | None,
    *,
    changed: bool,
    decimal: str,
) -> _Answer:
    """What is decided; ``limited`` are further actions, limits, and held-out rows.

    ``decimal`` is the decimal sign of values in reasons.
    """
    from uneven.app.cli.terminal import end_progress, stopping_at_ctrl_c
    from uneven.app.files.remarks import new_categories
    from uneven.app.models.apply_model import dearer_in_words, in_training, prediction_table, seen_in_words
    from uneven.app.models.row_reasons import add_reasons
    from uneven.app.models.written_limits import decide_table, decided_table, read_actions

    about, (asked, limits, past) = used.about, limited
    known = seen_in_words(in_training(used.X, content["seen"]))
    sentences = [*used.remarks, *new_categories(content["preprocessing"], used.X), known]
    if asked or limits.given:
        further = read_actions(asked, used.words)
        found = decide_table(content, used, table, further, limits, past, changed=changed)
        sentences.append(replace(found, labels=tuple(map(repr, found.labels))).summary(used.given.unit))
        counts = ", ".join(f"{count:,} {label}" for label, count in found.counts.items()) + "."
        return _Answer(decided_table(used, found, further=bool(further)), found, None, sentences, counts)
    counts = f"{int(used.decisions.said_positive.sum()):,} predicted {about['target']} = {about['positive']}."
    sentences += [used.expected_in_words(), dearer_in_words(used, content["pipeline"])]
    frame = prediction_table(used)
    if reasons is None:
        return _Answer(frame, None, None, sentences, counts)
    click.echo(
        f"Reasons of {len(frame):,} rows, and a change that would change each decision: the model is asked about many "
        "changed copies of each row, which may take minutes.",
        err=True,
    )
    with stopping_at_ctrl_c() as progress:
        explained, sentence = add_reasons(frame, content, used, reasons, progress, changed=changed, decimal=decimal)
        end_progress()
    return _Answer(explained, None, explained.iloc[:, frame.shape[1] :], [*sentences, sentence], counts)


def _predict_in_parts(
    model: str,
    content: dict[str, Any],
    data: str,
    id_column: str | None,
    changes: dict[str, str],
    output: str,
    unfit: str,
) -> None:
    """Predict with a model that was fitted in parts; ``unfit`` is an option that needs all rows at once."""
    from uneven.app.models.files_in_parts import write_predictions

    if unfit:
        raise UnevenError(f"{model} was fitted in parts and decides row by row; {unfit} needs all rows at once")
    about = content["about"]
    if id_column is not None:
        about["id"] = id_column
    rows, count, expected = write_predictions(content, data, output, changes)
    if expected:
        click.echo(expected)
    click.echo(f"{output}: {rows:,} rows, {count:,} predicted {about['target']} = {about['positive']}.")
