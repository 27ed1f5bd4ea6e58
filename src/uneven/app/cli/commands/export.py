"""``uneven export``."""

from __future__ import annotations

import click

from uneven.app.cli.options import changed_cost_options, changed_costs
from uneven.errors import UnevenError


@click.command()
@click.argument("model")
@click.option("--to", required=True, type=click.Choice(["sql", "python"]), help="What to write.")
@click.option("--table", metavar="NAME", help="For SQL: the table whose rows are to be decided.")
@click.option(
    "--dialect",
    type=click.Choice(["postgresql", "duckdb", "sqlite"]),
    default="postgresql",
    show_default=True,
    help="For SQL: the database.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COL",
    help="For SQL: a column that the result has too; may be repeated. By default the one that names the rows.",
)
@changed_cost_options
@click.option("-o", "--output", required=True, metavar="OUT", help="The file to write.")
def export(
    model: str,
    to: str,
    table: str | None,
    dialect: str,
    keep: tuple[str, ...],
    fp_cost: str | None,
    fn_cost: str | None,
    tp_cost: str | None,
    tn_cost: str | None,
    output: str,
) -> None:
    """Write a model as an SQL query or a Python module.

    The model is one of `uneven fit`. The query computes probability and decision of the rows of a table, within the
    database. The module has a function predict(row) and needs Python's standard library only. Linear models and small
    trees can be written; the message names what cannot. Costs that you give replace those of the fit.
    """
    from uneven.app.files.file_kinds import require_output, write_whole
    from uneven.app.models.apply_classes import require_two_classes
    from uneven.app.models.export_model import export_model
    from uneven.app.models.model_files import read_model

    require_output(output, inputs=(model,))
    if to == "sql" and not table:
        raise UnevenError("--to sql needs --table NAME, the table whose rows are to be decided")
    if to == "python" and (table or keep):
        raise UnevenError("--table and --keep are for --to sql; a Python module gets its rows as arguments")
    changes = changed_costs(fp_cost, fn_cost, tp_cost, tn_cost)
    content = read_model(model)
    require_two_classes(content, model, "`uneven export`")
    source = export_model(content, to, changes, table=table or "", dialect=dialect, keep=keep)
    write_whole(output, source)
    click.echo(f"{output}: {len(source.splitlines()):,} lines of {'SQL' if to == 'sql' else 'Python'}.")
