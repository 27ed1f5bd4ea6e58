"""The documentation: links lead somewhere, public names are described, and the checks of the site can fail."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import build
import check
import contents
import gallery
import licences
import public_names
import pytest
import reference
from places import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / ".github").rglob("*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(page: Path) -> set[str]:
    """The anchors of the headings, as readers of Markdown make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.*?) *$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"\w+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{page.name} links to {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name} links to {link}"


def test_every_public_name_is_described() -> None:
    """The build of the site fails for the same reason."""
    assert list(public_names.undescribed()) == []


def test_no_description_is_misread() -> None:
    """Sphinx would take a star of a pattern of files for an emphasis, and the site would not be built."""
    assert list(public_names.misread()) == []


def test_every_table_of_the_reference_has_rows(tmp_path: Path) -> None:
    """Sphinx refuses an empty one, and the site would not be built."""
    names = reference.write_reference(tmp_path)
    assert len(names) > 50
    pages = sorted(tmp_path.glob("*.rst"))
    links = {page.stem for page in pages}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for table in re.findall(r"^\.\. list-table::\n(?:   :.*\n)*\n(.*)$", text, flags=re.MULTILINE):
            assert table.startswith("   * - "), page.name
        for link in re.findall(r":doc:`[^`<]* <([^>]*)>`", text):
            assert link in links, f"{page.name} links to {link}"


def test_what_the_build_reads_is_in_the_checkout() -> None:
    """A file that is only in somebody's folder is missing from a clone."""
    folders = ("docs", "website", "examples")
    command = ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "--", *folders, *build.ROOT_PAGES]
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    ignored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [name for name in ignored if "__pycache__" not in name] == []


def test_an_undescribed_name_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import uneven

    class Nameless:
        def method(self) -> None: ...

    Nameless.__module__ = Nameless.method.__module__ = "uneven.losses"
    monkeypatch.setattr(uneven.losses, "Nameless", Nameless, raising=False)
    monkeypatch.setattr(uneven.losses, "__all__", [*uneven.losses.__all__, "Nameless"])
    assert {"uneven.losses.Nameless", "uneven.losses.Nameless.method"} <= set(public_names.undescribed())


def test_every_page_is_in_the_contents_once() -> None:
    listed = [page for pages in contents.sections(ROOT / "docs").values() for page in pages if "/" not in page]
    assert sorted(listed) == sorted(page.stem for page in (ROOT / "docs").glob("*.md") if page.stem != "index")


def test_every_example_has_a_title_and_the_order_names_examples() -> None:
    shown = gallery.examples(ROOT / "examples")
    running = [path for path in (ROOT / "examples").glob("plot_*.py") if path not in shown]
    assert running == [], "an example starts with a title that is underlined"
    assert set(gallery.ORDER) <= {path.stem for path in shown}


def test_an_example_says_what_it_misses(tmp_path: Path) -> None:
    example = tmp_path / "plot_nothing.py"
    example.write_text("import numpy\nfrom a_package_that_nobody_has.part import x\n", encoding="utf-8")
    assert gallery.missing(example) == ["a_package_that_nobody_has"]
    assert not gallery.runs(example)


def test_every_dependency_has_its_licence_on_the_page() -> None:
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    missing = [name for name in licences.direct() if not re.search(rf"\| {re.escape(name)} \| [^|]+ \| [^|]+ \|", page)]
    assert missing == [], "run `make licences`"
    assert "not installed" not in page


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<script src="https://cdn.test/x.js"></script>', "loads <script> https://cdn.test/x.js from outside"),
        ('<link rel="stylesheet" href="//cdn.test/x.css">', "loads <link> //cdn.test/x.css from outside"),
        ('<img srcset="a.png 1x, https://cdn.test/b.png 2x">', "from outside"),
        ("<style>@import 'http://cdn.test/x.css'; a {}</style>", "from outside"),
        ('<p style="background: url(https://cdn.test/x.png)">', "from outside"),
        ('<a href="nowhere.html">', "links to nowhere.html, which is not there"),
        ('<a href="#nowhere">', "links to #nowhere, which is not there"),
        ('<img src="nowhere.png">', "links to nowhere.png, which is not there"),
    ],
)
def test_the_check_of_the_site_finds(html: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(html, encoding="utf-8")
    found = check.problems(tmp_path)
    assert len(found) == 1
    assert said in found[0]


def test_the_check_of_the_site_allows_links_to_follow(tmp_path: Path) -> None:
    page = (
        '<a href="https://example.org/">x</a><a href="#here" id="here">y</a><img src="data:image/png;base64,iVBO//w0">'
    )
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    assert check.problems(tmp_path) == []
