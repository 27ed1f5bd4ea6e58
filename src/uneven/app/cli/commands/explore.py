"""``uneven explore``."""

from __future__ import annotations

import click

from uneven.errors import UnevenError


@click.command()
@click.argument("data", required=False)
@click.option("--target", metavar="COL", help="The column to predict.")
@click.option("--positive", metavar="VALUE", help="The value of that column to find.")
@click.option(
    "--fp-cost", metavar="COST", help="What a false alarm costs: a number, a column or an arithmetic of columns."
)
@click.option("--fn-cost", metavar="COST", help="What a miss costs.")
@click.option(
    "--costs",
    metavar="FILE",
    help="In place of these, for several classes: a table (.csv, .xlsx) with a row for each true class and a column "
    "for each decision.",
)
@click.option("--unit", metavar="UNIT", help="Of the costs, such as EUR.")
@click.option("--sheet", metavar="NAME", help="The sheet of an Excel workbook.")
@click.option("--no-browser", is_flag=True, help="Do not open the page; only print its address.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port to listen at; by default 8765, or any other if it is taken.",
)
@click.option(
    "--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen at: this machine."
)
def explore(
    data: str | None,
    target: str | None,
    positive: str | None,
    fp_cost: str | None,
    fn_cost: str | None,
    costs: str | None,
    unit: str | None,
    sheet: str | None,
    no_browser: bool,
    port: int | None,
    host: str,
) -> None:
    """Explore losses, costs and your data in the browser.

    With DATA, a table (.csv, .tsv, .txt, also .gz, or .xlsx), the page opens at "Your data" with the table in it. With
    --target, --positive and both costs, or with --target and --costs, it is fitted at once. The page comes from this
    machine and talks only to it. Ctrl-C ends it.
    """
    from uneven.app.explorer.server import leaves_machine, serve

    question = {"target": target, "positive": positive, "fp": fp_cost, "fn": fn_cost, "unit": unit, "sheet": sheet}
    question["costs"] = costs
    given = None
    if data is None:
        named = next((f"--{field}" for field, value in question.items() if value is not None), None)
        if named is not None:
            named = {"--fp": "--fp-cost", "--fn": "--fn-cost"}.get(named, named)
            raise UnevenError(f"{named} is about a table; give its file too: uneven explore table.csv {named} ...")
    elif leaves_machine(host):
        raise UnevenError(
            f"at {host} others could read the table {data}, without a password; leave --host out, or drop the file "
            "into the page, which keeps it to the browser that you use"
        )
    else:
        from uneven.app.explorer.given_table import read_given_table

        given = read_given_table(data, question)
    if leaves_machine(host):
        click.echo(
            f"Warning: at {host} everyone who can reach this machine can use the explorer, without a password.",
            err=True,
        )
    serve(host, port, browser=not no_browser, say=lambda words: click.echo(words, err=True), given=given)
