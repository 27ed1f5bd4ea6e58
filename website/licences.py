"""Lists the licences of all packages that the library or an extra needs, from the metadata of what is installed.

``python website/licences.py docs/licences.md`` writes the page. All extras must be installed, which ``make licences``
does; a package of ``pyproject.toml`` that is not there is an error.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, files, metadata, requires
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: Extras of other packages' requirements are conditions that do not hold here.
CONDITIONAL = re.compile(
    r"extra\s*==|sys_platform\s*==\s*.(win32|darwin|cygwin)|platform_system\s*==\s*.(Windows|Darwin)"
)
TOO_NEW = re.compile(r"python_version\s*<\s*.3\.(\d+)|python_full_version\s*<")

HEAD = """# Licences of the dependencies

`uneven` itself has the BSD licence of three clauses. It contains no code of other projects. These are the packages
that it asks pip for, with what they need in turn, and the licence that each states in its metadata. Made by `make
licences`; do not edit.

The built site holds MathJax (Apache-2.0), Furo (MIT), and parts of Sphinx (BSD-2-Clause) and Sphinx-Gallery
(BSD-3-Clause).

The package holds one table of others, `tables/data/bank_calls.csv.gz`: bank marketing data of S. Moro, P. Rita and P.
Cortez, licence CC BY 4.0 ([source and changes](example-table.md#source-and-licence)).

"""


def direct() -> dict[str, list[str]]:
    """What is needed for what: the packages of ``pyproject.toml``, with "uneven" or the names of extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"uneven": project["dependencies"], **project["optional-dependencies"]}
    found: dict[str, list[str]] = {}
    for group, needed in groups.items():
        for requirement in needed:
            name = normal(requirement)
            if name != "uneven":
                found.setdefault(name, []).append(group)
    return found


def normal(requirement: str) -> str:
    """The name of a package as the index writes it."""
    match = NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", match[0] if match else requirement).lower()


def indirect(names: dict[str, list[str]]) -> dict[str, str]:
    """Packages that the others need, with one that needs them."""
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        one = waiting.pop(0)
        try:
            needed = requires(one) or []
        except PackageNotFoundError:
            continue
        for requirement in needed:
            condition = requirement.partition(";")[2]
            name = normal(requirement)
            if not (CONDITIONAL.search(condition) or TOO_NEW.search(condition) or name in names or name in found):
                found[name] = one
                waiting.append(name)
    return found


def licence(name: str) -> str:
    """The licence that a package states, in a few words."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return ""
    if about.get("License-Expression"):
        return str(about["License-Expression"])
    lines = [line.split(" :: ") for line in about.get_all("Classifier", [])]
    stated = [line[-1] for line in lines if line[0] == "License" and line[-1] != "OSI Approved"]
    short = (about.get("License") or "").strip().split("\n")[0]
    return ", ".join(stated) or (short if 0 < len(short) < 60 else first_line_of_licence(name))


def first_line_of_licence(name: str) -> str:
    """The first line of the licence that a package brings along, which is mostly its title."""
    for file in files(name) or ():
        if file.name.upper().startswith("LICEN"):
            lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
            return lines[0] if lines and len(lines[0]) < 60 else "see the package"
    return "see the package"


def page() -> str:
    """The page as Markdown."""
    needed = direct()
    absent = sorted(name for name in needed if not licence(name))
    if absent:
        raise SystemExit(f"These packages are not installed: {', '.join(absent)}. `make licences` installs all extras.")
    further = indirect(needed)
    rows = ["| package | for | licence |", "|---|---|---|"]
    rows += [f"| {name} | {', '.join(needed[name])} | {licence(name)} |" for name in sorted(needed)]
    more = ["| package | needed by | licence |", "|---|---|---|"]
    more += [
        f"| {name} | {further[name]} | {licence(name)} |" for name in sorted(further) if licence(name)
    ]  # else: not for here
    return HEAD + "\n".join(rows) + "\n\n## What these need\n\n" + "\n".join(more) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
