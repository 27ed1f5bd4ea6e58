"""A command group whose errors are one sentence and exit code 2, never a traceback."""

from __future__ import annotations

from typing import Any

import click

from uneven.errors import UnevenError


class Failure(click.ClickException):
    """Bad input: one sentence on stderr, exit code 2."""

    exit_code = 2


class Commands(click.Group):
    """Turns what a user can cause into a :class:`Failure`."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UnevenError as error:
            raise Failure(" ".join(str(error).split())) from None
        except BrokenPipeError:  # the reader has had enough; click ends quietly
            raise
        except UnicodeDecodeError as error:
            raise Failure(f"a file is not UTF-8 text: {error.reason} at byte {error.start}") from None
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise Failure(f"{where}{error.strerror or error}") from None
