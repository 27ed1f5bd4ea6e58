"""Folders of the checkout, wherever the test that needs them lies."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REFERENCE = ROOT / "tests" / "reference"
SUPPORT = ROOT / "tests" / "support"
