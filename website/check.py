"""Checks a built site: every link leads somewhere, and no page loads anything from outside."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that make a browser load something; a link that a reader may follow is none of them.
LOADED = {"src", "srcset", "data", "poster", "action"}
EXTERNAL = re.compile(r"(?:^|[\s,'\"(])(?:https?:)?//\w", re.IGNORECASE)
IN_STYLES = re.compile(r"(?:url\(|@import\s*)\s*['\"]?\s*(?:https?:)?//", re.IGNORECASE)
LOADING_RELATIONS = {
    "stylesheet",
    "preload",
    "prefetch",
    "preconnect",
    "icon",
    "manifest",
    "modulepreload",
    "dns-prefetch",
}


@dataclass
class Page(HTMLParser):
    """What a page loads from outside, the links in it, and its anchors."""

    outside: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what matters of one tag."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "link" and LOADING_RELATIONS & set(values.get("rel", "").split()):
            self._load(tag, values.get("href", ""))
        for name in LOADED & set(values):
            self._load(tag, values[name])
            if name == "src":
                self.links.append(values[name])
        if IN_STYLES.search(values.get("style", "")):
            self.outside.append(f"<{tag} style>")
        if tag == "a" and "href" in values:
            self.links.append(values["href"])

    def handle_data(self, data: str) -> None:
        """Styles within the page."""
        if IN_STYLES.search(data) and "{" in data:
            self.outside.append("<style>")

    def _load(self, tag: str, address: str) -> None:
        if EXTERNAL.search(address):
            self.outside.append(f"<{tag}> {address}")


def problems(site: Path) -> list[str]:
    """One sentence for each thing that is wrong."""
    pages: dict[Path, Page] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path.resolve()] = page = Page()
        page.feed(path.read_text(encoding="utf-8"))
    found = [
        f"{_short(path, site)} loads {what} from outside." for path, page in pages.items() for what in page.outside
    ]
    for path in sorted(site.rglob("*.css")):
        if IN_STYLES.search(path.read_text(encoding="utf-8")):
            found.append(f"{_short(path, site)} loads something from outside.")
    for path, page in pages.items():
        found += [f"{_short(path, site)} links to {link}, which is not there." for link in _dead(path, page, pages)]
    return sorted(set(found))


def _dead(path: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    dead = []
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or link.startswith("#!"):
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target = target / "index.html"
        there = target.exists()
        if there and parts.fragment and target in pages:
            there = unquote(parts.fragment) in pages[target].anchors
        if not there:
            dead.append(link)
    return dead


def _short(path: Path, site: Path) -> str:
    return path.resolve().relative_to(site.resolve()).as_posix()


if __name__ == "__main__":
    sys.exit("\n".join(problems(Path(sys.argv[1]))) or None)
