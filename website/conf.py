"""Settings of Sphinx. The pages are put together by build.py; nothing is loaded from outside."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = Path(os.environ["UNEVEN_CHECKOUT"])
sys.path.insert(0, str(ROOT / "website"))

import warnings  # noqa: E402 - after the path is set

from gallery import SETTINGS  # noqa: E402

import uneven  # noqa: E402

project = "uneven"
author = "the authors of uneven"
copyright = "2026, the authors of uneven"  # noqa: A001 - Sphinx's name
version = release = uneven.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
    "formulas_as_text",
]
exclude_patterns = ["gallery/*.py", "gallery/*.md5", "gallery/*.ipynb", "gallery/*.json"]
nitpicky = False  # types in docstrings are words

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4
myst_dmath_allow_digits = False  # $5 and $6 are money
myst_links_external_new_tab = False
suppress_warnings = ["myst.header", "config.cache"]

autodoc_typehints = "none"  # the docstrings say what a parameter is
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
math_number_all = False
toc_object_entries_show_parents = "hide"

mathjax_path = "mathjax/tex-chtml-full.js"
mathjax3_config = {
    "tex": {"macros": {"E": r"\mathbb{E}", "P": r"\mathbb{P}"}},
    "options": {"enableMenu": False},  # its parts would be loaded on demand
    "chtml": {"matchFontHeight": False},
}
html_math_renderer = "mathjax" if (HERE / "static" / "mathjax").exists() else "source"

html_theme = "furo"
html_title = "uneven"
html_static_path = ["static"]
html_search_scorer = str(HERE / "static" / "search_score.js")
html_css_files = ["uneven.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_favicon = "static/favicon.svg"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5c92", "color-brand-content": "#0b5c92"},
    "dark_css_variables": {"color-brand-primary": "#6cb6e8", "color-brand-content": "#6cb6e8"},
    "navigation_with_keys": True,
}
pygments_style = "default"
pygments_dark_style = "github-dark"

sphinx_gallery_conf = SETTINGS

warnings.filterwarnings("ignore", message=".*non-interactive.*")
