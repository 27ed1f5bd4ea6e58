"""``uneven figures``."""

from __future__ import annotations

import click


@click.command()
@click.argument("names", nargs=-1)
@click.option("--out", "directory", default="figures", show_default=True, help="Folder for the files and index.html.")
@click.option("--format", "kind", default="png", show_default=True, metavar="png|svg|pdf", help="File format.")
@click.option("--list", "only_list", is_flag=True, help="List the names and stop.")
def figures(names: tuple[str, ...], directory: str, kind: str, only_list: bool) -> None:
    """Draw the figures of the paper and a few more.

    NAMES choose among them; without NAMES all are drawn.
    """
    from uneven.figures import FIGURES, write_gallery

    if only_list:
        for name, record in FIGURES.items():
            click.echo(f"{name:16s} {record.heading}")
        return
    page = write_gallery(directory, names, format=kind, progress=lambda name: click.echo(f"drawing {name}", err=True))
    click.echo(f"{page} shows them.")
