"""The figures by name, files of them, and a page that shows them."""

from __future__ import annotations

import html
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uneven.errors import UnevenError
from uneven.figures.style import GalleryFigure, without_caption
from uneven.inputs import brief

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The kinds of files that figures can be written as.
FORMATS = ("png", "svg", "pdf")


def _find_figures() -> dict[str, GalleryFigure]:
    """Every record in the tuple ``GALLERY`` of a file of this folder."""
    files = [file.name for file in pkgutil.iter_modules([str(Path(__file__).parent)]) if not file.name.startswith("_")]
    modules = [importlib.import_module(f"uneven.figures.{name}") for name in files]
    records: list[GalleryFigure] = [record for module in modules for record in getattr(module, "GALLERY", ())]
    return {record.name: record for record in sorted(records, key=lambda record: record.place)}


#: The figures of the gallery by name: those of the paper in its order, then the others.
FIGURES: dict[str, GalleryFigure] = _find_figures()


def draw(name: str, **parameters: Any) -> Figure:
    """A figure by its name; parameters go to the function that draws it.

    Examples
    --------
    >>> from uneven import figures
    >>> figures.draw("hinge").get_label()[:12]
    'Uneven hinge'
    >>> len(figures.draw("regret-bound", losses=("hinge",), alpha="1/3").axes)
    1
    """
    _require_figure(name)
    return FIGURES[name].draw(**parameters)


def _require_figure(name: str) -> None:
    if name not in FIGURES:
        raise UnevenError(f"there is no figure {brief(name)}; there are {', '.join(FIGURES)}")


def write_gallery(
    directory: str | Path,
    names: Sequence[str] = (),
    *,
    format: str = "png",  # noqa: A002 - the word users expect, as in savefig
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write figures as files, and ``index.html`` that shows them with their captions; no network is needed.

    The captions are on the page only, not in the files.

    Parameters
    ----------
    directory : path
        Created if it does not exist.
    names : sequence of str
        Keys of :data:`FIGURES`; all of them if empty.
    format : {"png", "svg", "pdf"}
    progress : callable, optional
        Called with each name before it is drawn.
    """
    if format not in FORMATS:
        raise UnevenError(f"the format must be one of {', '.join(FORMATS)}, got {brief(format)}")
    chosen = list(dict.fromkeys(names)) or list(FIGURES)
    for name in chosen:
        _require_figure(name)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for name in chosen:
        if progress is not None:
            progress(name)
        figure = without_caption(draw(name))
        file = folder / f"{name}.{format}"
        partial = file.with_suffix(f".partial.{format}")
        figure.savefig(partial, dpi=160)
        partial.replace(file)
        entries.append(_entry(FIGURES[name].heading, str(figure.get_label()), file.name, format))
    page = folder / "index.html"
    page.write_text(_PAGE.format(entries="\n".join(entries)), encoding="utf-8")
    return page


def _entry(title: str, caption: str, file: str, kind: str) -> str:
    shown = f'<a href="{file}">{file}</a>' if kind == "pdf" else f'<img src="{file}" alt="{html.escape(title)}">'
    return f"<figure><h2>{html.escape(title)}</h2>{shown}<figcaption>{html.escape(caption)}</figcaption></figure>"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>uneven: figures</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.1rem; margin: 0 0 .5rem; }}
figure {{ margin: 2.5rem 0; }} img {{ max-width: 100%; height: auto; }}
figcaption {{ color: #555; font-size: .9rem; }}
</style></head><body>
<h1>Figures</h1>
<p>Drawn by uneven: the figures of C. Scott, <em>Calibrated Surrogate Losses for Classification with Label-Dependent
Costs</em>, and a few more.</p>
{entries}
</body></html>
"""
