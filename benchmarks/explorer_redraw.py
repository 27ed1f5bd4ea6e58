"""How long after a move of a slider the pictures of the explorer have followed, in a real browser.

Run it with ``python benchmarks/explorer_redraw.py``; ``--all`` takes every registered phi. It starts its own server and
Debian's chromium (or the one that UNEVEN_CHROMIUM names). The page measures two times from the move on: until all
pictures that can be seen are drawn, and until the browser has shown them, which waits for its next frame. Beside them
stands the processor time of the server's part. The slow moves are those that change an axis.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import time
from pathlib import Path

from explorer_load import start_server
from playwright.sync_api import sync_playwright

from uneven import losses
from uneven.app.explorer.answers import curves

PHIS = ("hinge", "logistic", "sigmoid", "savage")
MOVES = 40
#: Windows: four of the six pictures can be seen in the first, all in the second.
SIZES = ((1360, 900), (1920, 1080))
CHROMIUM = os.environ.get("UNEVEN_CHROMIUM", "/usr/bin/chromium")
_MOVE = """async ([id, value]) => {
  const slider = document.getElementById(id);
  slider.value = value;
  const drawn = new Promise((done) => {
    new PerformanceObserver((list, observer) => {
      observer.disconnect();
      done(list.getEntriesByName("redraw").at(-1).duration);
    }).observe({ type: "measure" });
  });
  const start = performance.now();
  slider.dispatchEvent(new Event("input"));
  const time = await drawn;
  await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
  return [time, performance.now() - start];
}"""


def of_the_server(phi: str) -> float:
    """Milliseconds of processor time for the curves, once the phi is known."""
    question = {"kind": "phi", "phi": phi, "gamma": "1", "beta": None, "fp": "1", "fn": "20", "weighted": True}
    curves(question)
    start = time.process_time()
    for k in range(MOVES):
        curves({**question, "gamma": str(1 + k / MOVES)})
    return 1000 * (time.process_time() - start) / MOVES


def most(times: list[float]) -> float:
    """The 95th percentile."""
    return sorted(times)[int(0.95 * (len(times) - 1))]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--all", action="store_true", help="every registered phi")
    phis = losses.names() if options.parse_args().all else PHIS
    if not Path(CHROMIUM).exists():
        sys.exit(f"there is no {CHROMIUM}; UNEVEN_CHROMIUM names another")
    server, address = start_server()
    seen: list[tuple[float, float]] = []
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            print("milliseconds: median, 95th percentile")
            print("window     phi                  slider      drawn     on screen   server, processor time")
            for width, height in SIZES:
                page = browser.new_page(viewport={"width": width, "height": height})
                page.set_default_timeout(300_000)
                for phi in phis:
                    page.goto(f"{address}?phi={phi}&costs=alpha&alpha=1/21")
                    page.locator("#verdict[data-status$=calibrated]").wait_for()
                    for name, step in (("gamma", 0.05), ("alpha", 0.04)):
                        found = [page.evaluate(_MOVE, [f"{name}-slider", str(step * k)]) for k in range(1, MOVES + 1)]
                        seen += found
                        columns = "".join(
                            f"{statistics.median(times):7.0f} {most(times):4.0f}"
                            for times in map(list, zip(*found, strict=True))
                        )
                        own = of_the_server(phi)
                        print(f"{width}x{height:<5} {phi:20} {name:6} {columns} {own:12.0f}", flush=True)
                page.close()
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)
    for k, what in enumerate(("drawn", "on screen")):
        times = [one[k] for one in seen]
        late = sum(time > 100 for time in times)
        print(f"all {len(times)} moves, {what}: median {statistics.median(times):.0f} ms, 95th percentile", end=" ")
        print(f"{most(times):.0f} ms, {late} above 100 ms")


if __name__ == "__main__":
    main()
