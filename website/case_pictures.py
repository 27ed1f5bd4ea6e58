"""Pictures of the case pages: ``python website/case_pictures.py`` runs the code of each page and saves its last figure.

The code is that of the page, so that a picture cannot show something else.
"""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import matplotlib as mpl

DOCS = Path(__file__).parent.parent / "docs"
#: Dots per inch of the files.
_RESOLUTION = 110


def draw(page: Path, folder: Path) -> Path:
    """Run a page and save the figure of its variable ``display``."""
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
        exec(compile(example.source, page.name, "exec"), names)
    path = folder / f"{page.stem.removeprefix('case-')}.png"
    names["display"].figure_.savefig(path, dpi=_RESOLUTION)
    return path


if __name__ == "__main__":
    mpl.use("agg")
    target = DOCS / "images" / "cases"
    target.mkdir(exist_ok=True)
    for one in sorted(DOCS.glob("case-*.md")):
        draw(one, target)
