"""The ``uneven`` command: each of its commands is a file in the folder ``commands``, imported when asked for."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from uneven.app.cli.terminal import STOPPED
from uneven.errors import UnevenError


class InputFailure(click.ClickException):
    """Bad input: one sentence on stderr, exit code 2."""

    exit_code = 2


class CommandFolder(click.Group):
    """Finds its commands in the folder, and turns errors a user can cause into one sentence and exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        files = pkgutil.iter_modules([str(Path(__file__).parent / "commands")])
        return sorted(file.name.replace("_", "-") for file in files)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(importlib.import_module(f"{__package__}.commands.{name}"), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except UnevenError as error:
            raise InputFailure(" ".join(str(error).split())) from None
        except BrokenPipeError:  # the reader of a pipe stopped early; click ends quietly
            raise
        except UnicodeDecodeError as error:
            raise InputFailure(f"a file is not UTF-8 text: {error.reason} at byte {error.start}") from None
        except MemoryError:
            raise InputFailure("there is not enough memory for this; use fewer rows or columns") from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise InputFailure(f"{where}{error.strerror or error}") from None


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as one sentence on stderr, without the line of code that gave it."""
    click.echo(f"Warning: {' '.join(str(message).split())}", err=True)


@click.group(cls=CommandFolder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="uneven")
def main() -> None:
    """Classification when the two kinds of mistake cost differently.

    Begin with `uneven demo`, a decision on a table that comes with the package, or with a table of your own: `uneven
    fit table.csv --target COLUMN --positive VALUE --fp-cost 1 --fn-cost 20 -o model.skops`, then `uneven predict` and
    `uneven report`. `uneven COMMAND --help` explains a command.
    """


def run() -> NoReturn:
    """The command of the shell: :func:`main`, and then the end of the process.

    After Ctrl-C or a time limit, threads may still be in compiled code of a learner. The ordinary end of Python waits
    for them, or aborts; all files are written by then, so the process ends at once with the command's exit code.
    """
    try:
        main(prog_name="uneven")
    except SystemExit as ending:
        if ending.code == STOPPED or _still_at_work():
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):  # the reader of a pipe may be gone
                    stream.flush()
            os._exit(ending.code if isinstance(ending.code, int) else int(ending.code is not None))
        raise
    raise AssertionError("a command of click ends by SystemExit")


def _still_at_work() -> bool:
    background = sys.modules.get("uneven.learners.background")  # most commands never import it
    return background is not None and bool(background.left_behind())


if __name__ == "__main__":
    run()
