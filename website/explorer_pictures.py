"""Pictures of the explorer: ``python website/explorer_pictures.py`` starts it on the example table and takes them.

``explorer.png`` and ``explorer-data.png`` show the two tabs, ``explorer-classes.png`` a table of wines with three
classes; ``explorer.gif`` moves: the question in words, a table
with its costs, the threshold, the limit on flags. Server and browser are those of the tests.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browsing import expect, running_browser, running_explorer  # noqa: E402 - after the path is set

import uneven  # noqa: E402

IMAGES = ROOT / "docs" / "images"
#: A call costs 1 EUR, and the interest on the deposit of a client who would have subscribed is 10 EUR on average.
ASKED = ("--target", "subscribed", "--positive", "yes", "--fp-cost", "1", "--fn-cost", "9", "--unit", "EUR")
#: Width of still pictures, and of the moving one; colours of its frames, and its size at most.
_STILL, _MOVING, _COLOURS, MOST_BYTES = 1000, 760, 128, 1_000_000
#: A colour of fewer pixels is an edge between two others.
_FEWEST_PIXELS = 30
#: Milliseconds of a frame while something moves, and while one reads.
_STEP, _READ = 120, 1800


class Film:
    """Frames of a page, and how long each is shown."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, time: int = _STEP) -> None:
        """A frame of what the page shows now, once its pictures have followed."""
        self.page.wait_for_timeout(250)
        shot = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        height = round(_MOVING * shot.height / shot.width)
        self.frames.append(shot.resize((_MOVING, height), Image.Resampling.LANCZOS))
        self.times.append(time)

    def save(self, path: Path) -> None:
        """Write it with one palette for all frames, so that what rests does not flicker; an error if it is too big."""
        sheet = Image.new("RGB", (_MOVING, sum(frame.height for frame in self.frames)))
        top = 0
        for frame in self.frames:
            sheet.paste(frame, (0, top))
            top += frame.height
        palette = palette_of(sheet, _COLOURS)
        first, *others = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames)
        first.save(path, save_all=True, append_images=others, duration=self.times, loop=0, optimize=True)
        if path.stat().st_size >= MOST_BYTES:
            raise SystemExit(f"{path.name} has {path.stat().st_size:,} bytes; fewer frames or colours would work")


def palette_of(image: Image.Image, colours: int) -> Image.Image:
    """A palette in which a small thing keeps its colour: colours count by the root of their area.

    By area alone the orange of a handle, a thousandth of the page, would become the blue of the curve next to it.
    """
    pixels = np.asarray(image).reshape(-1, 3)
    cell = (pixels >> 3).astype(np.int64) @ [1024, 32, 1]
    _, first, counts = np.unique(cell, return_index=True, return_counts=True)
    seen = counts >= _FEWEST_PIXELS
    shown = np.repeat(pixels[first[seen]], np.ceil(np.sqrt(counts[seen])).astype(int), axis=0)
    return Image.fromarray(shown[None]).quantize(colours)


def main() -> None:
    """Take all pictures."""
    with TemporaryDirectory() as folder:
        table = Path(folder) / "bank_calls.csv"
        X, y, _ = uneven.load_example("test")  # a quarter of the rows: a fit of seconds
        X.assign(subscribed=["yes" if one else "no" for one in y]).to_csv(table, index=False)
        with running_explorer(str(table), *ASKED) as (_, address), running_browser() as browser:
            page = browser.new_page(viewport={"width": 1060, "height": 800}, color_scheme="light")
            film = Film(page)
            page.goto(address.partition("?")[0])
            film_losses(page, film)
            still(browser, address.partition("?")[0], "explorer.png", 1250, losses_shown)
            film_data(page, film)
            film.save(IMAGES / "explorer.gif")
            still(browser, address, "explorer-data.png", 1560, data_shown)
        several_classes(Path(folder))


def several_classes(folder: Path) -> None:
    """A table of three classes and its costs: scikit-learn's wines, by four columns that do not suffice."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True, as_frame=True)
    some = X[["alcohol", "malic_acid", "ash", "magnesium"]]
    some.assign(grower=[("north", "middle", "south")[k] for k in y]).to_csv(folder / "wines.csv", index=False)
    asked = (str(folder / "wines.csv"), "--target", "grower", "--unit", "EUR")
    with running_explorer(*asked) as (_, address), running_browser() as browser:
        still(browser, address, "explorer-classes.png", 1400, classes_shown)


def classes_shown(page: Any) -> None:
    """Fill the table of costs, fit, and wait until everything is shown."""
    expect(page.locator("#file-said")).to_contain_text("178 rows")
    page.get_by_label("move north up").click()  # they begin in the order of the alphabet
    page.click("#fill-distance")
    page.fill("#new-action", "taste")
    page.click("#add-action")
    page.click("#fit")
    expect(page.locator("#result-sentence")).to_have_text(re.compile("^Each row gets"))
    page.fill("#most-rows", "25")
    page.locator("#most-rows").blur()
    expect(page.locator("#said-limit")).to_contain_text("At most 25 taste")


def losses_shown(page: Any) -> None:
    """Wait until the tab of losses is complete."""
    expect(page.locator("#sentence")).to_have_text(re.compile("^Calibrated"))
    expect(page.locator("#said-bound")).to_contain_text("cost regret at most")
    for name in ("partial", "risk", "h", "psi", "bound", "alpha"):
        expect(page.locator(f"#plot-{name}")).to_have_attribute("data-drawn", "fully")


def data_shown(page: Any) -> None:
    """Wait until the table is fitted and the pictures are complete."""
    expect(page.locator("#result-sentence")).to_have_text(re.compile("^Flag"))
    expect(page.locator("#said-flags")).to_contain_text("positives are found")
    expect(page.locator("#said-review")).to_contain_text("review")
    page.wait_for_timeout(500)


def film_losses(page: Any, film: Film) -> None:
    """The question in words, and the answer."""
    losses_shown(page)
    film.take(_READ)
    page.fill("#worth", "9")
    losses_shown(page)
    film.take(_READ)


def film_data(page: Any, film: Film) -> None:
    """A table that was fitted, its threshold dragged, and the limit on flags."""
    page.get_by_role("tab", name="Your data").click()
    data_shown(page)
    film.take(_READ)
    handle = page.get_by_role("slider", name="threshold")
    for key in ("ArrowRight",) * 6 + ("ArrowLeft",) * 6:
        for _ in range(4):
            handle.press(key)
        film.take()
    film.times[-1] = _READ
    page.locator("#flags-figure").scroll_into_view_if_needed()
    page.mouse.wheel(0, 420)
    most = int(page.locator("#flags-slider").input_value())
    for share in (1, 0.8, 0.6, 0.4, 0.25):
        page.locator("#flags-slider").fill(str(round(share * most)))
        film.take(3 * _STEP)
    film.times[-1] = _READ


def still(browser: Any, address: str, name: str, height: int, shown: Any) -> None:
    """A picture of a page, with few colours."""
    page = browser.new_page(viewport={"width": 1280, "height": height}, color_scheme="light")
    page.goto(address)
    shown(page)
    shot = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    size = (_STILL, round(_STILL * shot.height / shot.width))
    small = shot.resize(size, Image.Resampling.LANCZOS)
    small.quantize(palette=palette_of(small, 128), dither=Image.Dither.NONE).save(IMAGES / name, optimize=True)
    page.close()


if __name__ == "__main__":
    main()
