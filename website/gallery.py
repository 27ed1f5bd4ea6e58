"""Settings of the gallery: which examples are shown, and which of them run.

Every ``examples/*.py`` whose docstring starts with an underlined title is in the gallery. It runs if its name starts
with ``plot_`` and all packages that it imports are installed; otherwise it is shown without its results. The quick
site of the tests leaves out the results of the slowest; ``tests/test_examples.py`` runs all of them.
"""

from __future__ import annotations

import ast
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ORDER = (
    "plot_bank_calls",
    "plot_churn_calls",
    "plot_fraud_alerts",
    "plot_what_it_saves",
    "plot_threshold",
    "plot_row_costs",
    "plot_three_outcomes",
    "plot_trees",
    "plot_network",
    "plot_gamma_path",
    "plot_displays",
    "plot_your_own_loss",
    "plot_consistency",
    "plot_consistent_learners",
    "plot_paper_figures",
)

#: Examples that take more than six seconds of processor time.
SLOW = ("plot_consistent_learners", "plot_network", "plot_trees")
#: Set to anything for the quick site.
QUICK = "UNEVEN_QUICK_SITE"


def examples(folder: Path) -> list[Path]:
    """The examples that have a title, in order; those that are not in :data:`ORDER` come after the others."""
    found = [path for path in sorted(folder.glob("*.py")) if has_title(path)]
    return sorted(found, key=lambda path: ORDER.index(path.stem) if path.stem in ORDER else len(ORDER))


def has_title(path: Path) -> bool:
    """Whether the docstring starts with a title that is underlined."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.match(r"[^\n]+\n(=+|-+)\n", text) is not None


def runs(path: Path) -> bool:
    """Whether the example is one that runs, and all that it imports is installed."""
    return path.name.startswith("plot_") and not missing(path)


def missing(path: Path) -> list[str]:
    """Packages that an example imports and that are not installed."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    return sorted(name for name in imported if name and find_spec(name) is None)


def in_order(file: str) -> tuple[int, str]:
    """The key by which the gallery sorts."""
    stem = Path(file).stem
    return (ORDER.index(stem) if stem in ORDER else len(ORDER), stem)


def unmanaged_figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Figures that a block assigned to a name; pyplot does not know those of ``uneven.figures``."""
    from matplotlib.figure import Figure
    from sphinx_gallery.scrapers import figure_rst

    files = []
    for thing in block_vars["example_globals"].values():
        # Figures of pyplot have a number, also when they are closed; they were shown already.
        shown = hasattr(thing, "_in_the_gallery") or getattr(thing, "number", None) is not None
        if isinstance(thing, Figure) and not shown:
            thing._in_the_gallery = True
            files.append(next(block_vars["image_path_iterator"]))
            thing.savefig(files[-1], dpi=110)
    return figure_rst(files, gallery_conf["src_dir"])


_FOLDER = Path(os.environ.get("UNEVEN_CHECKOUT", Path(__file__).parent.parent)) / "examples"
_shown = examples(_FOLDER)
_left_out = SLOW if os.environ.get(QUICK) else ()
_running = [path.name for path in _shown if runs(path) and path.stem not in _left_out]
_hidden = [path.name for path in sorted(_FOLDER.glob("*.py")) if path not in _shown]

SETTINGS = {
    "examples_dirs": [str(_FOLDER)],
    "gallery_dirs": ["gallery"],
    "filename_pattern": rf"/({'|'.join(map(re.escape, _running)) or '^$'})$",
    "ignore_pattern": rf"/({'|'.join(map(re.escape, _hidden)) or '^$'})$",
    "within_subsection_order": "gallery.in_order",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # that page would load scripts from outside
    "show_signature": False,
    "min_reported_time": 5,
    "remove_config_comments": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "image_scrapers": ("matplotlib", unmanaged_figures),
}
