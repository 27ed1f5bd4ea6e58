"""``uneven explore``."""

from __future__ import annotations

import click


@click.command()
@click.option("--no-browser", is_flag=True, help="Do not open the page; only print its address.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port to listen at; by default 8765, or any other if it is taken.",
)
@click.option(
    "--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen at: this machine."
)
def explore(no_browser: bool, port: int | None, host: str) -> None:
    """Explore losses, costs and your data in the browser.

    The page comes from this machine and talks only to it. Ctrl-C ends it.
    """
    from uneven.app.explorer.server import leaves_machine, serve

    if leaves_machine(host):
        click.echo(
            f"Warning: at {host} everyone who can reach this machine can use the explorer, without a password.",
            err=True,
        )
    serve(host, port, browser=not no_browser, say=lambda words: click.echo(words, err=True))
