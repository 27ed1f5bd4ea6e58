"""``uneven report``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uneven.app.cli.options import (
    applying,
    changed_cost_options,
    changed_costs,
    read_options,
    reading_options,
    skip_costs_option,
    volume_option,
)
from uneven.errors import UnevenError

if TYPE_CHECKING:
    from uneven.app.files.table import Table
    from uneven.app.report.class_report import ClassReport
    from uneven.app.report.table_report import Report


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--id", "id_column", metavar="COL", help="The column that names the rows; by default that of the fit.")
@click.option("--html", "page", metavar="FILE", help="Also write the report as one HTML file, with figures.")
@changed_cost_options
@skip_costs_option
@volume_option
@reading_options
@applying
def report(
    model: str,
    data: str,
    id_column: str | None,
    page: str | None,
    fp_cost: str | None,
    fn_cost: str | None,
    tp_cost: str | None,
    tn_cost: str | None,
    skip_bad_costs: bool,
    rows_per_year: float | None,
    **reading: Any,
) -> None:
    """What a model costs on a table with labels.

    Give it rows that were not in the training table: the answer comes from such rows only, or from the comparison of
    the fit if there are too few.

    In money, with confidence intervals: against flagging everyone or no one and against the usual alternatives, at the
    costs of the model, at half and at double costs of a miss; what a limit on flagged rows would cost; the rows it
    would flag first, its decision threshold, and what it was not able to know. Costs that you give replace those of the
    fit; nothing is fitted again.
    """
    from uneven.app.files.file_kinds import require_output
    from uneven.app.files.table import read_table
    from uneven.app.models.apply_classes import has_several_classes, require_two_classes
    from uneven.app.models.apply_model import read_rows
    from uneven.app.models.model_files import read_model
    from uneven.app.report.class_report import make_class_report
    from uneven.app.report.table_report import make_report

    if page is not None:
        require_output(page, inputs=(model, data))
    options = read_options(**reading)
    content = read_model(model)
    changes = changed_costs(fp_cost, fn_cost, tp_cost, tn_cost)
    if has_several_classes(content):
        if changes:
            require_two_classes(content, model, f"--{next(iter(changes)).replace('_', '-')}")
        table = read_table(data, options, content["about"]["decimal"])
        made_of_classes = make_class_report(content, table, id_column, rows_per_year)
        if page is not None:
            made_of_classes.to_html(page)
        _print_classes(made_of_classes)
        if page is not None:
            click.echo(f"The report is in {page}.")
        return
    if content["about"].get("streamed"):
        if page is not None or id_column is not None:
            option = "--html" if page is not None else "--id"
            raise UnevenError(f"{model} was fitted in parts; its report is for the terminal, without {option}")
        _print_in_parts(content, data, changes)
        return
    table, skipped = read_rows(content, data, options, changes, skip_bad_costs=skip_bad_costs)
    made = make_report(content, table, id_column, changes, rows_per_year)
    if page is not None:
        made.to_html(page)
    _print_table(made, table, skipped, fitted_alone=not content["rivals"])
    if page is not None:
        click.echo(f"The report is in {page}.")


def _print_table(made: Report, table: Table, skipped: str, *, fitted_alone: bool) -> None:
    """What a model of two classes costs: money first."""
    from uneven.app.cli.terminal import print_first_rows, print_limits, print_members
    from uneven.app.report.sentences import is_ensemble, model_in_words, threshold_in_words

    used, unit = made.used, made.unit
    click.echo(made.answer)
    if made.volume:
        click.echo(made.volume)
    if skipped:
        click.echo(skipped)
    if made.seen:
        click.echo(made.seen)
    if claim := used.about.get("random_folds"):
        click.echo(f"At the fit: {claim[:1].lower()}{claim[1:]}")
    click.echo(table.in_words())
    click.echo(f"{made.is_positive.size:,} rows, {int(made.is_positive.sum()):,} positive.")
    click.echo(used.given.in_words(used.decisions.costs))
    known = used.decisions.probability is not None
    click.echo(threshold_in_words(used.decisions.threshold, has_probability=known))
    for remark in used.remarks:
        click.echo(remark)
    _print_comparisons(made, fitted_alone=fitted_alone)
    print_limits(made)
    print_first_rows(made)
    click.echo("\nWhat the model was not able to know:")
    for sentence in made.unknowns:
        click.echo(f"- {sentence}")
    last = made.pipeline[-1]
    if is_ensemble(last):
        print_members(last, unit)
    for sentence in model_in_words(made.pipeline):
        click.echo(sentence)


def _print_classes(made: ClassReport) -> None:
    """What a model of several classes costs: money first."""
    from uneven.app.cli.terminal import console, new_table, print_confusion, print_costs, print_members
    from uneven.app.report.class_report import CLASS_HEADER, class_cells
    from uneven.app.report.sentences import capitalise, cheapest_in_words, is_ensemble, model_in_words

    kept, same = made.compared
    rows: Any = kept
    known: Any = made.known
    claim = made.about.get("random_folds", "")
    told = f"At the fit: {claim[:1].lower()}{claim[1:]}" if claim else ""
    for sentence in filter(None, [made.answer, made.likeliest, made.volume, made.seen, told, made.read_as]):
        click.echo(sentence)
    for sentence in (made.counts_in_words, made.given.in_words(made.matrix)):
        click.echo(sentence)
    if rows:
        print_costs(rows, made.how, made.unit)
        click.echo(capitalise(cheapest_in_words(rows)))
    if same:
        click.echo(same)
    if not made.about["comparison"]:
        click.echo("The model was fitted with --quick: there are no alternatives to compare it with.")
    print_confusion(made.judged, made.matrix, made.unit)
    click.echo(f"\nEach class, {made.shown_on}:")
    table = new_table()
    for k, name in enumerate(CLASS_HEADER):
        table.add_column(name, justify="right" if k else "left")
    for cells in class_cells(made.judged, made.matrix):
        table.add_row(*cells)
    console().print(table)
    if known:
        print_costs(known, made.known_how, made.unit)
    click.echo("\nWhat the model was not able to know:")
    for sentence in made.unknowns:
        click.echo(f"- {sentence}")
    click.echo(f"\nWhat is guaranteed: {made.guarantee}")
    if is_ensemble(made.pipeline[-1]):
        print_members(made.pipeline[-1], made.unit)
    for sentence in model_in_words(made.pipeline):
        click.echo(sentence)


def _print_comparisons(made: Report, *, fitted_alone: bool) -> None:
    """What the models cost on rows that no fit has seen; then on rows of the training table, which are named so."""
    from uneven.app.cli.terminal import print_costs, print_what_ifs
    from uneven.app.report.sentences import capitalise, cheapest_in_words

    if made.rows:
        print_costs(made.rows, made.how, made.unit)
        click.echo(capitalise(cheapest_in_words(made.rows)))
    if fitted_alone:
        click.echo("The model was fitted with --quick: there are no alternatives to compare it with.")
    if made.new is not None:
        print_what_ifs(made.new.what_ifs, made.how_moved, made.unit)
    if made.known is not None:
        click.echo("")
        print_costs(made.known.rows, made.known.how, made.unit)
        if made.new is None:
            print_what_ifs(made.known.what_ifs, f"{made.how_moved}, {made.known.how}", made.unit, learnt=True)


def _print_in_parts(content: dict[str, Any], data: str, changes: dict[str, str]) -> None:
    """What a model that was fitted in parts costs on all rows of some files."""
    from uneven.app.cli.terminal import print_costs
    from uneven.app.models.files_in_parts import report_in_parts
    from uneven.app.report.sentences import first_line

    made = report_in_parts(content, data, changes)
    click.echo(first_line(made.costs, made.unit))
    click.echo(f"{data}: {made.rows:,} rows, read in parts, {made.positives:,} positive.")
    print_costs(made.costs, "over all rows of these files", made.unit)
    click.echo("Intervals are for new rows of the same kind. Rows of the fit make a model look better than it is.")
