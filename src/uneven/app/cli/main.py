"""Entry point of the ``uneven`` command."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn

import click

from uneven.app.cli.group import CommandFolder
from uneven.app.cli.terminal import STOPPED


@click.group(cls=CommandFolder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="uneven")
def main() -> None:
    """Classification when the two kinds of mistake cost differently."""


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
