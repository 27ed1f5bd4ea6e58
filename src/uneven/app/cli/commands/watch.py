"""``uneven watch``."""

from __future__ import annotations

from typing import Any

import click

from uneven.app.cli.options import applying, read_options, reading_options
from uneven.errors import UnevenError


@click.command()
@click.argument("model")
@click.argument("folder")
@click.option("-o", "--output", required=True, metavar="PAGE", help="The page to write (HTML).")
@click.option("--state", metavar="FILE", help="Where the state is kept; by default PAGE with .json at its end.")
@click.option("--reference", metavar="DATA", help="Labelled rows that the model did not learn from, to compare with.")
@click.option("--labels", multiple=True, metavar="DATA", help="A table of names and labels of rows; may be repeated.")
@click.option("--id", "id_column", metavar="COL", help="The column that names the rows; by default that of the fit.")
@click.option("--per", metavar="COL", help="A batch for each value of this column; COL:month for dates.")
@click.option("--promise", metavar="X", help="Cost per row that is promised [default: upper end of the reference].")
@reading_options
@applying
def watch(
    model: str,
    folder: str,
    output: str,
    state: str | None,
    reference: str | None,
    labels: tuple[str, ...],
    id_column: str | None,
    per: str | None,
    promise: str | None,
    **reading: Any,
) -> None:
    """What decisions cost in use, with alarms that seldom err.

    FOLDER has tables of rows, one for each period, or a log of `uneven predict --log`. Each file is counted once; run
    the command again when there is more. Labels may come late: in the file of their rows, or in a table with the names
    and labels of rows, in the folder or by --labels.

    Without labels the cost is estimated, with the share of positives that the rows seem to have. With labels an alarm
    is raised if decisions cost more than was promised. All alarms together are false in at most 5 % of whole lives.
    The state is one file, written whole after each file that was read: a command that is stopped goes on from there.

    A file that cannot be read changes nothing; it is named, and the exit code is 2.
    """
    from pathlib import Path

    from uneven.app.files.file_kinds import require_output, write_whole
    from uneven.app.models.apply_classes import require_two_classes
    from uneven.app.models.model_files import read_model
    from uneven.app.models.watch_folder import open_watch, watch_folder
    from uneven.app.report.watch_page import watch_page

    kept = Path(state if state is not None else f"{output}.json")
    given = (model, *([reference] if reference else []), *labels)
    require_output(output, inputs=given)
    require_output(str(kept), inputs=(*given, output))
    if Path(output).resolve() == kept.resolve():
        raise UnevenError(f"{output} is both the page and the state; give the state another name")
    options = read_options(**reading)
    content = read_model(model)
    require_two_classes(content, model, "`uneven watch`")
    seen = open_watch(content, kept, reference, options, promise)
    seen = watch_folder(seen, folder, kept, options, id_column=id_column, per=per, labels=labels)
    write_whole(output, watch_page(seen))
    for sentence in seen.said or ["Nothing is new."]:
        click.echo(sentence)
    for sentence in seen.monitor.sentences(content["about"]["costs"]["unit"]):
        click.echo(sentence)
    click.echo(f"The page is in {output}, the state in {kept}.")
    if seen.problems:
        raise UnevenError("; ".join(seen.problems))
