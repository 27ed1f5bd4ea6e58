"""How long after a move of a slider the pictures of the explorer are drawn, in a real browser.

Run it with ``python benchmarks/explorer_redraw.py``. It starts its own server and Debian's chromium (or the one that
UNEVEN_CHROMIUM names). The time is measured by the page itself, from the move to the end of the drawing of all pictures
that can be seen; beside it the processor time of the server's part, which does not depend on what else runs here.
"""

from __future__ import annotations

import os
import signal
import statistics
import sys
import time
from pathlib import Path

from explorer_load import start_server
from playwright.sync_api import sync_playwright

from uneven.explorer.answers.curves import curves

PHIS = ("hinge", "logistic", "sigmoid", "savage")
MOVES = 20
CHROMIUM = os.environ.get("UNEVEN_CHROMIUM", "/usr/bin/chromium")
_MOVE = """async (value) => {
  performance.clearMeasures("redraw");
  const slider = document.getElementById("gamma-slider");
  slider.value = value;
  slider.dispatchEvent(new Event("input"));
  while (!performance.getEntriesByName("redraw").length) await new Promise((done) => setTimeout(done, 5));
  return performance.getEntriesByName("redraw")[0].duration;
}"""


def of_the_server(phi: str) -> float:
    """Milliseconds of processor time for the curves, once the phi is known."""
    question = {"kind": "phi", "phi": phi, "gamma": "1", "beta": None, "fp": "1", "fn": "20", "weighted": True}
    curves(question)
    start = time.process_time()
    for k in range(MOVES):
        curves({**question, "gamma": str(1 + k / MOVES)})
    return 1000 * (time.process_time() - start) / MOVES


def main() -> None:
    if not Path(CHROMIUM).exists():
        sys.exit(f"there is no {CHROMIUM}; UNEVEN_CHROMIUM names another")
    server, address = start_server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1360, "height": 900})
            page.set_default_timeout(300_000)
            print("phi            move to drawing, median   95th percentile   server, processor time")
            for phi in PHIS:
                page.goto(f"{address}?phi={phi}")
                page.locator("#verdict[data-status$=calibrated]").wait_for()
                times = sorted(page.evaluate(_MOVE, str(k / 10)) for k in range(MOVES))
                most = times[int(0.95 * (MOVES - 1))]
                own = of_the_server(phi)
                print(f"{phi:12} {statistics.median(times):20.0f} ms {most:15.0f} ms {own:19.0f} ms", flush=True)
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)


if __name__ == "__main__":
    main()
