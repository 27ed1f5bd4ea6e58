"""``uneven doctor``."""

from __future__ import annotations

import platform
import re
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import click

from uneven.app.cli.options import json_option

#: Extras for people who work on this library, not with it.
_FOR_DEVELOPERS = frozenset({"bench", "dev", "docs", "release"})
_NEEDED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[(?P<extras>[^\]]*)\])?\s*(?:>=(?P<least>[0-9.]+))?")


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Tell what is installed, and what is missing.

    Versions of Python and of the packages that are needed, extras and what they lack, the folder of compiled losses,
    and how many threads are used. Exit code 0: all is well; 1: something that is needed is missing or too old, or no
    folder can be written.
    """
    from uneven import __version__

    needed, extras = _requirements()
    packages = {name: _state(name, least) for name, least in needed}
    found = {
        extra: {name: _state(name, least) for name, least in parts}
        for extra, parts in extras.items()
        if extra not in _FOR_DEVELOPERS
    }
    cache, stays = _cache()
    threads = _threads()
    bad = [f"{name}: {state}" for name, state in packages.items() if not state[:1].isdigit()]
    bad += [] if stays else ["no folder for compiled losses can be written; set UNEVEN_CACHE_DIR to one that can"]
    if as_json:
        import json

        about = {"uneven": __version__, "python": platform.python_version(), "platform": platform.platform()}
        rest = {"cache": {"folder": cache, "stays": stays}, "threads": threads, "problems": bad}
        click.echo(json.dumps({**about, "packages": packages, "extras": found, **rest}, indent=2))
    else:
        click.echo(
            f"uneven {__version__}, Python {platform.python_version()} ({sys.executable}), {platform.platform()}"
        )
        click.echo("needed:  " + ", ".join(f"{name} {state}" for name, state in packages.items()))
        for extra, parts in found.items():
            click.echo(f"extra {extra}: {_in_words(extra, parts)}")
        click.echo(f"cache:   {cache}")
        click.echo(f"threads: {threads}")
        for problem in bad:
            click.echo(f"PROBLEM  {problem}")
        click.echo("All is well." if not bad else "pip install --upgrade uneven brings what is needed.")
    if bad:
        raise click.exceptions.Exit(1)


def _requirements() -> tuple[list[tuple[str, str]], dict[str, list[tuple[str, str]]]]:
    """Names and least versions of what is needed, and of what each extra needs."""
    needed: list[tuple[str, str]] = []
    extras: dict[str, list[tuple[str, str]]] = {}
    within: dict[str, list[str]] = {}
    for line in metadata.requires("uneven") or ():
        text, _, marker = line.partition(";")
        match = _NEEDED.match(text.strip())
        assert match is not None
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", marker)
        if extra is None:
            needed.append((match["name"], match["least"] or ""))
        elif match["name"] == "uneven":
            within.setdefault(extra[1], []).extend(part.strip() for part in (match["extras"] or "").split(","))
        else:
            extras.setdefault(extra[1], []).append((match["name"], match["least"] or ""))
    for name, others in within.items():
        extras[name] = [*extras.get(name, []), *(part for other in others for part in extras.get(other, []))]
    return sorted(needed), dict(sorted(extras.items()))


def _state(name: str, least: str) -> str:
    """The version that is installed, or what is wrong with it."""
    # Builds of one library have several names, of which one is enough.
    for called in (name, name.removesuffix("-cpu")):
        try:
            version = metadata.version(called)
        except metadata.PackageNotFoundError:
            continue
        return version if not least or _parts(version) >= _parts(least) else f"too old ({version}, needs {least})"
    return "missing"


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.match(r"[0-9.]*", version)[0].split(".") if part)  # type: ignore[index]


def _in_words(extra: str, parts: dict[str, str]) -> str:
    absent = [f"{name} {state}" for name, state in parts.items() if not state[:1].isdigit()]
    if not absent:
        return ", ".join(f"{name} {state}" for name, state in parts.items())
    return f"{', '.join(absent)}; pip install 'uneven[{extra}]'"


def _cache() -> tuple[str, bool]:
    """The folder of compiled losses, and whether it stays: where no folder can be written it is a temporary one."""
    from uneven.ops.kernels import cache_folder

    folder = cache_folder()
    return str(folder), folder.parent != Path(tempfile.gettempdir())


def _threads() -> int:
    from uneven.solvers.running import thread_count

    return thread_count()
