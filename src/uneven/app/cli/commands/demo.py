"""``uneven demo``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

REPORT = "uneven-report.html"
_COMMAND = (
    "  uneven fit {table} --target subscribed --positive yes --fp-cost 1 --tp-cost 1 \\\n"
    '    --fn-cost "max(1, 0.25 * 0.02463333 * balance)" --unit EUR -o model.skops'
)


@click.command()
@click.option("--out", "output", default=REPORT, show_default=True, help="The report to write.")
@click.option("--members", metavar="NAMES", help="Members of the ensemble; by default a few quick ones.")
@click.option("--table", metavar="FILE", help="Only write the table as a CSV file, to try the command on it.")
@click.option("--open/--no-open", "opened", default=None, help="Open the report; by default if there is a display.")
def demo(output: str, members: str | None, table: str | None, opened: bool | None) -> None:
    """Whom should a bank call? A real decision, and its report.

    12,644 clients who were called to sell a deposit. A call costs 1 euro; not to call a client who would have
    subscribed costs the interest on a quarter of the balance. The ensemble is compared with what people would use, on
    clients that none of the models has seen.
    """
    from uneven.app.cli.terminal import end_progress, print_costs, stopping_at_ctrl_c
    from uneven.app.files.file_kinds import require_output, write_whole
    from uneven.app.models.candidates import AskedLearner
    from uneven.app.report.bank_demo import MEMBERS, bank_report, fit_ensemble, fit_others
    from uneven.app.report.sentences import capitalise, cheapest_in_words
    from uneven.tables.example_table import load_example

    if table is not None:
        require_output(table)
        X, y, _ = load_example()
        write_whole(table, X.assign(subscribed=y.map({True: "yes", False: "no"})).to_csv(index=False))
        click.echo(f"{len(X):,} clients are in {table}. Try:\n{_COMMAND.format(table=table)}")
        return
    names = AskedLearner.read(None, None, None, False, members or MEMBERS, None).members
    require_output(output)
    click.echo(
        "Whom should the bank call? A call costs 1 EUR; a subscriber who is not called costs the interest lost, 1 to "
        f"500 EUR.\nThe ensemble averages {', '.join(names)}; `uneven fit` uses more members."
    )
    with stopping_at_ctrl_c() as progress:
        progress("fitting the ensemble to three quarters of the clients", 0.0)
        model = fit_ensemble(list(names))
        progress("fitting what people would use", 0.6)
        others = fit_others()
        progress("deciding about the other clients, and looking which columns matter", 0.8)
        found = bank_report(model, others)
        end_progress()
    click.echo(f"\n{found.answer}\n{found.volume}")
    click.echo(f"{capitalise(cheapest_in_words(found.rows))}\n")
    print_costs(found.rows, found.how, found.unit)
    place = Path(found.to_html(output)).resolve()
    click.echo(f"\nThe report: {place}")
    click.echo(f"Your own table, or this one (uneven demo --table bank.csv):\n{_COMMAND.format(table='bank.csv')}")
    if has_display() if opened is None else opened:
        click.launch(place.as_uri())


def has_display() -> bool:
    """Whether somebody sits before a screen on which a browser could open."""
    if not sys.stdout.isatty():
        return False
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
