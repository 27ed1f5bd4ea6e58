"""Entry point of the ``uneven`` command; what a subcommand needs is imported when it runs."""

from __future__ import annotations

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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
    from uneven.errors import UnevenError

    try:
        print_losses(gammas)
    except UnevenError as error:
        raise click.UsageError(str(error)) from None


@main.command()
def demo() -> None:
    """What the library is about, in one table."""
    from uneven.cli.losses_table import print_losses

    click.echo("Which costs does a loss assume? A loss (phi(t), phi(-gamma t)/gamma) is calibrated for at most one")
    click.echo("ratio of the cost of a false negative to the cost of a false positive:\n")
    print_losses(("1", "4"))
    click.echo("\nConvex losses assume equal costs whatever gamma (the perceptron, with its kink at 0, none at all).")
    click.echo("For most others the ratio moves with gamma; uneven.calibrated_loss(phi, alpha=..., gamma=...)")
    click.echo("puts it back to the costs you have.")


if __name__ == "__main__":
    main()
