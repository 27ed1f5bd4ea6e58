"""A real server and a real browser for tests of the explorer."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, expect

#: Debian's browser; another one by this variable.
CHROMIUM = os.environ.get("UNEVEN_CHROMIUM", "/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: Milliseconds to wait for anything. Whoever waits in vain has failed anyway, so that much time costs nothing.
PATIENCE = 1000 * int(os.environ.get("UNEVEN_PATIENCE", "600"))
expect.set_options(timeout=PATIENCE)
SIZES: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 850}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
#: Plotly adds styles for maps when it is loaded, which the policy forbids; there are no maps here.
_EXPECTED = "Applying inline style violates the following Content Security Policy directive 'style-src 'self''"


@contextmanager
def running_explorer(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command ``uneven explore`` and the address it prints; Ctrl-C at the end."""
    command = [sys.executable, "-W", "error", "-m", "uneven", "explore", "--no-browser", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        yield process, next(found.group() for line in process.stderr if (found := re.search(r"http://\S+", line)))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=PATIENCE / 1000)
        process.stderr.close()


@contextmanager
def running_browser() -> Iterator[Any]:
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page, and everything that went wrong on it."""

    def __init__(self, browser: Any, address: str, size: str = "desktop", **more: Any) -> None:
        self.address = address
        self.context = browser.new_context(**SIZES[size], accept_downloads=True, **more)
        self.context.set_default_timeout(PATIENCE)
        self.problems: list[str] = []
        self.forgiven: tuple[str, ...] = ()
        self.page = self.open()

    def open(self, search: str = "") -> Any:
        """A new tab of the same browser."""
        page = self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", self._asked)
        page.goto(self.address + search)
        return page

    def _heard(self, message: Any) -> None:
        refused = "Failed to load resource: the server responded with a status of 400"  # a mistake in a field
        forgiven = message.text.startswith((_EXPECTED, refused)) or any(text in message.text for text in self.forgiven)
        if message.type in ("error", "warning") and not forgiven:
            self.problems.append(f"{message.type}: {message.text}")

    def forgive(self, *texts: str) -> None:
        """Messages with such a text are no problem from now on, however late they come on a busy machine."""
        self.forgiven += texts

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.address, "blob:")):
            self.problems.append(f"a request to {request.url}")

    def close(self) -> None:
        """Close the page; whatever went wrong is an error."""
        self.context.close()
        assert not self.problems, self.problems


class Held:
    """Answers of the server that come when the test says so, in the order it says.

    Parameters
    ----------
    page : playwright page
    names : str
        Questions whose answers are held back.
    """

    def __init__(self, page: Any, *names: str) -> None:
        self.page = page
        self.routes: dict[str, list[Any]] = {name: [] for name in names}
        self.known: dict[tuple[str, str | None], Any] = {}
        for name in names:
            page.route(f"**/api/{name}", self._hold)

    def _hold(self, route: Any) -> None:
        self.routes[route.request.url.rsplit("/", 1)[1]].append(route)

    def wait(self, *names: str, count: int = 1) -> None:
        """Wait until the page has asked these questions so often."""
        for name in names:
            for _ in range(PATIENCE // 10):
                if len(self.routes[name]) >= count:
                    break
                self.page.wait_for_timeout(10)
            assert len(self.routes[name]) >= count, f"the page did not ask for {name}"

    def answer(self, name: str) -> None:
        """Answer the oldest question of this name, even if the page has given it up. The same question asked again gets
        the same answer, which takes no time."""
        self.wait(name)
        route = self.routes[name].pop(0)
        key = (name, route.request.post_data)
        if key not in self.known:
            self.known[key] = route.fetch()
        with suppress(Error):  # the page has given it up
            route.fulfill(response=self.known[key])

    def end(self) -> None:
        """Answer everything, from now on at once."""
        for name, routes in self.routes.items():
            self.page.unroute(f"**/api/{name}")
            while routes:
                self.answer(name)


def sentence(page: Any, words: str) -> None:
    """Wait until the sentence on top begins so, and is up to date."""
    expect(page.locator("#sentence")).to_have_text(re.compile("^" + re.escape(words)))
    expect(page.locator("#verdict")).not_to_have_class(re.compile("waiting"))


def drawn(page: Any, name: str) -> None:
    """Wait until a picture is complete, and can be seen."""
    plot = page.locator(f"#plot-{name}")
    plot.scroll_into_view_if_needed()
    expect(plot).to_have_attribute("data-drawn", "fully")
    expect(plot.locator(".main-svg").first).to_be_visible()


def fits_the_width(page: Any) -> None:
    width = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1]


def has_browser() -> bool:
    return Path(CHROMIUM).exists()
