"""Entry point of the ``uneven`` command."""

from __future__ import annotations

import click

from uneven.cli._group import CommandFolder


@click.group(cls=CommandFolder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="uneven")
def main() -> None:
    """Classification when the two kinds of mistake cost differently."""


if __name__ == "__main__":
    main()
