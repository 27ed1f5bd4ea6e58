"""Shows formulas as they are written, where MathJax could not be installed."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes


def inline(self: Any, node: nodes.math) -> None:
    self.body.append(f'<code class="formula">{escape(node.astext())}</code>')
    raise nodes.SkipNode


def block(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<pre class="formula">{escape(node.astext())}</pre>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name ``source``."""
    app.add_html_math_renderer("source", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
