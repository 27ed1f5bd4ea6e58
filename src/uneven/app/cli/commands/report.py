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
    from uneven.app.cli.terminal import print_first_rows, print_limits, print_members
    from uneven.app.files.file_kinds import require_output
    from uneven.app.models.apply_classes import require_two_classes
    from uneven.app.models.apply_model import read_rows
    from uneven.app.models.model_files import read_model
    from uneven.app.report.sentences import is_ensemble, model_in_words, threshold_in_words
    from uneven.app.report.table_report import make_report

    if page is not None:
        require_output(page, inputs=(model, data))
    options = read_options(**reading)
    content = read_model(model)
    require_two_classes(content, model, "`uneven report`")
    if content["about"].get("streamed"):
        if page is not None or id_column is not None:
            option = "--html" if page is not None else "--id"
            raise UnevenError(f"{model} was fitted in parts; its report is for the terminal, without {option}")
        _print_in_parts(content, data, changed_costs(fp_cost, fn_cost, tp_cost, tn_cost))
        return
    changes = changed_costs(fp_cost, fn_cost, tp_cost, tn_cost)
    table, skipped = read_rows(content, data, options, changes, skip_bad_costs=skip_bad_costs)
    made = make_report(content, table, id_column, changes, rows_per_year)
    if page is not None:
        made.to_html(page)
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
    _print_comparisons(made, fitted_alone=not content["rivals"])
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
    if page is not None:
        click.echo(f"The report is in {page}.")


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
            print_what_ifs(made.known.what_ifs, f"{made.how_moved}, {made.known.how}", made.unit)


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
