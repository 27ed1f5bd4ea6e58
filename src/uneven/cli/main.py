"""Entry point of the ``uneven`` command; what a subcommand needs is imported when it runs."""

from __future__ import annotations

import click

from uneven.cli import demo, learn, theory
from uneven.cli._group import Commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="uneven")
def main() -> None:
    """Classification when the two kinds of mistake cost differently."""


@main.command()
@click.option(
    "--gamma",
    "gammas",
    multiple=True,
    default=("1", "4"),
    show_default=True,
    help="A margin asymmetry to show, such as 3 or 1/3; may be repeated.",
)
def losses(gammas: tuple[str, ...]) -> None:
    """The registered losses and the costs they assume."""
    from uneven.cli.losses_table import print_losses

    print_losses(gammas)


for command in (
    theory.check,
    theory.implied_cost,
    theory.certify,
    theory.verify,
    theory.figures,
    learn.fit,
    learn.predict,
    learn.report,
    demo.demo,
):
    main.add_command(command)


if __name__ == "__main__":
    main()
