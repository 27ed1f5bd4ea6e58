"""The figures by name, files of them, and a page that lists them."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from uneven._inputs import brief
from uneven.errors import UnevenError
from uneven.figures.guarantees import all_losses, implied_costs, psi_enclosed, regret_bound
from uneven.figures.partial_losses import partial_losses
from uneven.figures.regret import h_and_nu
from uneven.figures.sigmoid import alpha_of_gamma, conditional_risk, sides

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")


@dataclass(frozen=True)
class Entry:
    """A figure of the gallery: its title, and how it is drawn."""

    title: str
    draw: Callable[[], Figure]


#: The seven figures of the paper in its order, then ours.
FIGURES: dict[str, Entry] = {
    "partial-losses": Entry("Partial losses (the paper's figure 1)", partial_losses),
    "hinge": Entry("Uneven hinge loss (figure 2)", lambda: h_and_nu("hinge")),
    "squared": Entry("Uneven squared error loss (figure 3)", lambda: h_and_nu("squared")),
    "exponential": Entry("Uneven exponential loss (figure 4)", lambda: h_and_nu("exponential")),
    "sigmoid-risk": Entry("Conditional risk of the uneven sigmoid (figure 5)", conditional_risk),
    "sigmoid-sides": Entry("The two sides of the uneven sigmoid (figure 6)", sides),
    "alpha-of-gamma": Entry("The alpha of the uneven sigmoid (figure 7)", alpha_of_gamma),
    "psi": Entry("psi, enclosed", psi_enclosed),
    "regret-bound": Entry("Surrogate regret in, cost regret out", regret_bound),
    "implied-costs": Entry("The costs a loss assumes", implied_costs),
    "all-losses": Entry("Every registered phi", all_losses),
}


def draw(name: str) -> Figure:
    """A figure by its name.

    Examples
    --------
    >>> from uneven import figures
    >>> figures.draw("hinge").get_label()[:12]
    'Uneven hinge'
    """
    if name not in FIGURES:
        raise UnevenError(f"there is no figure {brief(name)}; there are {', '.join(FIGURES)}")
    return FIGURES[name].draw()


def write_gallery(
    directory: str | Path,
    names: Sequence[str] = (),
    *,
    format: str = "png",  # noqa: A002 - the word users expect, as in savefig
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write figures as files, and ``index.html`` that shows them with their captions; no network is needed.

    Parameters
    ----------
    directory : path
        Made if it is not there.
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
        if name not in FIGURES:
            raise UnevenError(f"there is no figure {brief(name)}; there are {', '.join(FIGURES)}")
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for name in chosen:
        if progress is not None:
            progress(name)
        figure = draw(name)
        file = folder / f"{name}.{format}"
        partial = file.with_suffix(f".partial.{format}")
        figure.savefig(partial, dpi=160)
        partial.replace(file)
        entries.append(_entry(FIGURES[name].title, str(figure.get_label()), file.name, format))
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
<p>Drawn by uneven from its own engine: the seven figures of C. Scott, <em>Calibrated Surrogate Losses for
Classification with Label-Dependent Costs</em>, and a few more.</p>
{entries}
</body></html>
"""
