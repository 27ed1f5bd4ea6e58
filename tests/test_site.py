"""The site itself, built as `make docs` builds it but for the slowest examples: search, widths, dark mode."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import build
import gallery
import pytest
from browsing import PATIENCE, has_browser, running_browser
from places import DOCS, ROOT
from test_search import FIRST, PHRASES

pytestmark = pytest.mark.slow
WIDTHS = (390, 1280, 1920)
EXAMPLES = ROOT / "examples"
#: Phrases whose page the search of the site shows later than the model in test_search.py says, and where.
LATE = {"costs of each row": 6}


class Quiet(SimpleHTTPRequestHandler):
    """Files of the site, without a line for each."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base
        """Nothing."""


@pytest.fixture(scope="module")
def site() -> Path:
    """The built site; a warning of Sphinx, a dead link or something from outside is an error of the build."""
    command = [sys.executable, str(build.ROOT / "website" / "build.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return build.QUICK_SITE


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Any]:
    with running_browser() as browser:
        made = browser.new_page(color_scheme="dark")
        made.set_default_timeout(PATIENCE)
        yield made


def test_every_page_is_built(site: Path) -> None:
    assert {path.stem for path in DOCS.glob("*.md")} <= {path.stem for path in site.glob("*.html")}
    assert not list(site.rglob("mathjax"))  # it would need a network


def test_the_examples_ran_and_their_pictures_are_shown(site: Path) -> None:
    """An example that fails ends the build; those that ran show a picture or what they print."""
    for path in gallery.examples(EXAMPLES):
        page = (site / "gallery" / f"{path.stem}.html").read_text(encoding="utf-8")
        ran = gallery.runs(path) and path.stem not in gallery.SLOW
        assert ("sphx-glr-script-out" in page or "sphx-glr-single-img" in page) == ran, path.stem


@pytest.mark.skipif(not has_browser(), reason="needs Debian's chromium, which `make test` installs")
def test_the_search_of_the_site_finds_what_people_type(page: Any, address: str) -> None:
    missed = {}
    for phrase, wanted in PHRASES.items():
        page.goto(f"{address}/search.html?q={quote_plus(phrase)}")
        page.wait_for_selector("#search-results .search-summary:has-text('found'), #search-results p:has-text('match')")
        links = page.locator("#search-results li a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        names = list(dict.fromkeys(link.partition("?")[0].partition("#")[0].removesuffix(".html") for link in links))
        if wanted not in names[: LATE.get(phrase, FIRST)]:
            missed[phrase] = names[: FIRST + 2]
    assert not missed


@pytest.mark.skipif(not has_browser(), reason="needs Debian's chromium, which `make test` installs")
def test_nothing_is_cut_off_and_pictures_are_readable_in_dark_mode(page: Any, address: str, site: Path) -> None:
    wrong = []
    for path in sorted([*site.glob("*.html"), *site.glob("gallery/*.html")]):
        page.goto(f"{address}/{path.relative_to(site).as_posix()}", wait_until="load")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            cut = page.evaluate(
                "[...document.querySelectorAll('article pre')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
            )
            beyond = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
            if cut or beyond:
                wrong.append((path.name, width, cut, beyond))
        backs = page.locator("article img").evaluate_all("all => all.map(e => getComputedStyle(e).backgroundColor)")
        if any(back != "rgb(255, 255, 255)" for back in backs):
            wrong.append((path.name, "a picture without a light card", backs))
    assert not wrong
