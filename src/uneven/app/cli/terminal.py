"""The terminal of a command: a console that respects pipes and NO_COLOR, progress, Ctrl-C, and tables of costs."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from uneven.app.report.sentences import Choice, WhatIf
    from uneven.app.report.table_report import Report
    from uneven.decisions.cost_matrix import CostMatrix
    from uneven.metrics import CostEstimate
    from uneven.metrics.matrix_estimates import MatrixCostEstimate


def console(*, stderr: bool = False) -> Console:
    """A console: colours on a terminal unless NO_COLOR is set; plain text without line breaks through a pipe.

    Texts such as [bold] or :smile: are shown as they are: names and values of a user's table may hold them.
    """
    from rich.console import Console as NewConsole

    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return NewConsole(file=stream, highlight=False, markup=False, emoji=False)
    return NewConsole(file=stream, highlight=False, markup=False, emoji=False, width=200, soft_wrap=True)


def new_table() -> Table:
    """A table with a line below its head."""
    from rich import box
    from rich.table import Table as NewTable

    return NewTable(box=box.SIMPLE_HEAD, pad_edge=False)


# -- progress of a long command, on stderr ----------------------------------------------------------------------------

_BAR = 24
_CLEAR_LINE = "\r\x1b[2K"
#: Seconds between two lines of detail where lines cannot replace each other.
_PAUSE = 20.0

_last_line = 0.0


def show_progress(message: str, share: float = 1.0, *, detail: bool = False) -> None:
    """Move a bar on a terminal; elsewhere write a line. Details come often: of them only one in a while is written."""
    global _last_line  # noqa: PLW0603
    now = time.monotonic()
    if sys.stderr.isatty():
        full = round(_BAR * share)
        click.echo(f"{_CLEAR_LINE}[{'#' * full}{'.' * (_BAR - full)}] {message}", nl=False, err=True)
    elif not detail or now - _last_line > _PAUSE:
        click.echo(message, err=True)
        _last_line = now


def end_progress() -> None:
    """Remove the bar."""
    if sys.stderr.isatty():
        click.echo(_CLEAR_LINE, nl=False, err=True)


# -- Ctrl-C during long work ------------------------------------------------------------------------------------------

#: What a shell reports for a program that Ctrl-C ended.
STOPPED = 130


@contextmanager
def stopping_at_ctrl_c() -> Iterator[Callable[..., None]]:
    """Work that Ctrl-C ends; yields :func:`show_progress`, which then ends the command.

    An ensemble keeps what is finished at Ctrl-C, and its ``fit`` returns: so the next message has to stop the command.
    """
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        signal.default_int_handler(number, frame)

    def progress(message: str, share: float, *, detail: bool = False) -> None:
        # A learner that tells details, or works in threads, ends by itself at Ctrl-C.
        if pressed and not detail and threading.current_thread() is threading.main_thread():
            _stop()
        show_progress(message, share, detail=detail)

    if threading.current_thread() is not threading.main_thread():
        yield progress
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield progress
        if pressed:
            _stop()
    except KeyboardInterrupt:
        _stop()
    finally:
        signal.signal(signal.SIGINT, before)


def _stop() -> NoReturn:
    click.echo("Stopped by Ctrl-C: nothing was saved.", err=True)
    raise click.exceptions.Exit(STOPPED)


# -- answers in money -------------------------------------------------------------------------------------------------

#: Columns of a terminal from which the intervals of the costs fit beside those of the differences.
_WIDE = 100


def print_choice(
    choice: Choice, what_ifs: list[WhatIf], how: str, rows_per_year: float | None = None, random_folds: str = ""
) -> None:
    """Print what a comparison found: the answer first, then what random folds would have claimed."""
    from uneven.app.report.sentences import first_line, likeliest_in_words, not_saved_in_words, volume_in_words

    warning, chosen = choice.warning(), choice.in_words()
    if choice.broken:  # then nothing is called the cheapest, and nothing is promised
        click.echo(choice.broken)
    else:
        for sentence in [warning, chosen] if warning else [chosen, first_line(choice.rows, choice.unit)]:
            click.echo(sentence)
        if words := likeliest_in_words(choice.rows, choice.unit):
            click.echo(words)
        if total := volume_in_words(choice.rows, choice.unit, rows_per_year):
            click.echo(total)
    if random_folds:
        click.echo(random_folds)
    print_costs(choice.rows, how, choice.unit)
    if words := not_saved_in_words(choice.rows):
        click.echo(words)
    if what_ifs:
        print_what_ifs(what_ifs, "models refitted or thresholds moved", choice.unit)


def print_costs(rows: list[CostEstimate], how: str, unit: str | None = None) -> None:
    """Print a table with one row per classifier, ours first."""
    from uneven.app.report.sentences import (
        cost_interval_in_words,
        difference_in_words,
        mistake_cells,
        mistake_names,
        per_thousand,
        rough_in_words,
    )

    screen = console()
    wide = screen.width >= _WIDE
    click.echo(f"Cost per 1,000 rows, {how}{f' ({unit})' if unit else ''}:")
    table = new_table()
    table.add_column("", no_wrap=True)
    ours = rows[0].name
    table.add_column("cost", justify="right", no_wrap=True)
    for name in (*(["95 % interval"] if wide else []), f"more than {ours}"):
        table.add_column(name, justify="right")  # may wrap: a narrow terminal must not cut "rough" off
    for name in mistake_names(rows):
        table.add_column(name.replace(" ", "\n"), justify="right", no_wrap=True)
    for row in rows:
        interval = [cost_interval_in_words(row)] if wide else []
        table.add_row(row.name, per_thousand(row.cost), *interval, difference_in_words(row), *mistake_cells(row))
    screen.print(table)
    if words := rough_in_words(rows):
        click.echo(words)


def print_confusion(ours: MatrixCostEstimate, matrix: CostMatrix, unit: str | None) -> None:
    """Print how many rows of each class got each decision, with what that cost, and decisions that no row got."""
    from uneven.app.report.sentences import confusion_cells, never_chosen_in_words

    in_unit = f", in {unit}" if unit else ""
    click.echo(f"\nWhat {ours.name} decided: rows, and what they cost in all{in_unit} (true classes down):")
    table = new_table()
    header, cells = confusion_cells(ours.counts, matrix)
    for k, name in enumerate(header):
        table.add_column(name, justify="right" if k else "left")
    for row in cells:
        table.add_row(*row)
    console().print(table)
    if words := never_chosen_in_words(ours.counts, matrix):
        click.echo(words)


def print_members(ensemble: Any, unit: str | None) -> None:
    """Print what a fitted ensemble is made of."""
    from uneven.app.report.sentences import constant_costs_of, members_of, per_thousand

    members, constant_costs = members_of(ensemble), constant_costs_of(ensemble)
    click.echo("\nWhat the ensemble is made of (costs per 1,000 rows, out of fold):")
    table = new_table()
    table.add_column("member", no_wrap=True)
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column(f"alone it costs{f' ({unit})' if unit else ''}", justify="right", no_wrap=True)
    for member in members:
        table.add_row(member.name, f"{member.weight:.2f}", per_thousand(member.cost))
    console().print(table)
    rule, constant = min(constant_costs.items(), key=lambda item: item[1])
    if all(member.cost >= constant for member in members):
        click.echo(f"WARNING: no member alone is cheaper than {rule}, which costs {per_thousand(constant, unit)}.")


def print_what_ifs(what_ifs: list[WhatIf], how: str, unit: str | None, *, learnt: bool = False) -> None:
    """Print which classifier is the cheapest if a miss costs half or double; without a verdict on learnt rows."""
    from uneven.app.report.sentences import (
        better_constant,
        difference_in_words,
        stability_in_words,
        what_if_title,
    )

    ours = what_ifs[0].rows[0].name
    click.echo(f"\n{what_if_title(next(what for what in what_ifs if what.label == 'as given'))} ({how})")
    table = new_table()
    table.add_column("a miss costs")
    table.add_column("cheapest")
    for name in (f"cost of {ours}", "it saves against the better constant rule"):
        table.add_column(name + (f" ({unit})" if unit else ""), justify="right")
    for what in what_ifs:
        rule = better_constant(what.rows)
        saved = f"{difference_in_words(rule)}, {rule.name}"
        table.add_row(*what.cells, saved)
    console().print(table)
    if not learnt:
        click.echo(stability_in_words(what_ifs))


def print_limits(made: Report) -> None:
    """Print what a limit on flagged rows would have cost, and what further actions did."""
    if made.capacity is not None:
        unit = f" ({made.unit})" if made.unit else ""
        count = int(made.capacity.capacity[-1])
        click.echo(f"\nWhat if only so many of the {count:,} rows can be flagged?")
        table = new_table()
        table.add_column("most rows flagged")
        for name in (f"cost per 1,000 rows{unit}", "positives found", f"each further flag saves{unit}"):
            table.add_column(name, justify="right")
        for row in made.limits:
            table.add_row(*row.cells(count))
        console().print(table)
    for sentence in made.further.sentences if made.further is not None else ():
        click.echo(sentence)


def print_first_rows(made: Report) -> None:
    """Print the rows that a model would flag first."""
    if not made.first:
        click.echo("\nIt flags no row of this table.")
        return
    certain = made.first[0].saved is not None
    order = "expected savings" if certain else "score"
    click.echo(f"\nThe rows it would flag first, by {order}:")
    table = new_table()
    table.add_column(made.used.names[0] if made.used.names else "row")
    for name in (order + (f" ({made.unit})" if made.unit and certain else ""), "probability", "threshold"):
        if certain or name == order:
            table.add_column(name, justify="right")
    table.add_column(made.used.about["target"])
    for row in made.first:
        table.add_row(*row.cells, made.used.words[int(row.is_positive)])
    console().print(table)
