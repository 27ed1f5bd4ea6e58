"""The group of commands: each is a file in the folder ``commands``, imported when it is asked for."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

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


def applying(command: Callable[..., None]) -> Callable[..., None]:
    """Make one sentence of the errors of a model that could be read but does not fit together; for commands.

    Arrays of a file may have been exchanged, or other versions of the libraries may expect others; then any method of
    the model may raise any type of error.
    """

    @wraps(command)
    def run(model: str, **options: Any) -> None:
        try:
            command(model=model, **options)
        except (UnevenError, OSError, click.exceptions.Exit, click.ClickException):
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            raise UnevenError(
                f"the model in {model} cannot be applied ({reason}); "
                "if the file was changed, or its libraries have other versions than at the fit, fit the model again"
            ) from error

    return run
