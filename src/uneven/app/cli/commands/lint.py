"""``uneven lint``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from uneven.app.checks.coded_checks import Finding


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--fp-cost", metavar="X", help="What a false positive (a false alarm) costs.")
@click.option("--fn-cost", metavar="Y", help="What a false negative (a miss) costs.")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    help="text for people, json for programs, github for annotations of a pull request.",
)
def lint(files: tuple[str, ...], fp_cost: str | None, fn_cost: str | None, shape: str) -> None:
    """Find what programs and models get wrong about costs.

    FILES are programs (.py; only their syntax tree is read, nothing is run), model files (.skops) or folders of
    programs. Every finding has a code, a proof and a remedy; `# noqa: UNV001` turns a code off in a line. Exit code 0:
    nothing was found; 1: something was; 2: a file cannot be read.
    """
    from uneven.app.checks.fitted_models import lint as find

    paths = _programs(files)
    found = [(path, one) for path in paths for one in find(path, fp_cost=fp_cost, fn_cost=fn_cost)]
    if shape == "json":
        click.echo(json.dumps([{"file": path, **one.to_dict()} for path, one in found], indent=2))
    for path, one in found if shape != "json" else ():
        click.echo(_as_text(path, one) if shape == "text" else _as_annotation(path, one))
    if shape == "text":
        click.echo(f"{len(found)} found." if found else "Nothing was found.")
        if fp_cost is None and fn_cost is None and any(path.endswith(".py") for path in paths):
            click.echo("Without --fp-cost and --fn-cost, thresholds and weights are not compared with your costs.")
    if found:
        raise click.exceptions.Exit(1)


def _programs(given: tuple[str, ...]) -> list[str]:
    """The files, with those of a folder in place of the folder; hidden folders are left out."""
    from pathlib import Path

    found: list[str] = []
    for path in given:
        if not Path(path).is_dir():
            found.append(path)
            continue
        inside = (one for one in sorted(Path(path).rglob("*.py")))
        found += [str(one) for one in inside if not any(part.startswith(".") for part in one.relative_to(path).parts)]
    return found


def _as_text(path: str, one: Finding) -> str:
    where = f"{path}:{one.line}:{one.column}" if one.line else path
    proof = f"\n    proof:  {one.proof}" if one.proof else ""
    return f"{where}: {one.code} {one.message}{proof}\n    remedy: {one.remedy}"


def _as_annotation(path: str, one: Finding) -> str:
    """A command of GitHub's runner; what would end it early is escaped, as its documentation asks."""

    def escaped(text: str, more: dict[str, str]) -> str:
        for sign, code in {"%": "%25", "\r": "%0D", "\n": "%0A", **more}.items():
            text = text.replace(sign, code)
        return text

    file = escaped(path, {":": "%3A", ",": "%2C"})
    text = escaped(f"{one.message}. {one.proof} Remedy: {one.remedy}", {})
    return f"::warning file={file},line={max(one.line, 1)},col={max(one.column, 1)},title={one.code}::{text}"
