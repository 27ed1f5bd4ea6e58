"""Builds the site: ``make docs``, or ``python website/build.py``.

``--quick``, for the tests, builds and checks all pages in ``build/quick/site``, from nothing: it runs all examples of
the gallery but the slowest three, and leaves MathJax out, so that it needs no network.

Pages of ``docs``, a few files of the checkout, the reference and the gallery are put together in
``build/website/source``; Sphinx makes ``build/site`` of them, with warnings as errors; then every page is checked
(links, nothing from outside).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import contents
import gallery
import public_names
import reference
from check import problems

ROOT = Path(__file__).parent.parent
SOURCE, SITE = ROOT / "build" / "website" / "source", ROOT / "build" / "site"
QUICK_SOURCE, QUICK_SITE = ROOT / "build" / "quick" / "source", ROOT / "build" / "quick" / "site"
MATHJAX = "3.2.2"
#: Files of the checkout that are pages too.
ROOT_PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
}
#: What MathJax needs to show formulas; its menu and its voices stay out.
MATHJAX_PARTS = ("tex-chtml-full.js", "output/chtml/fonts")


def main(*, quick: bool) -> None:
    """Build and check the site; quick: without the results of the slowest examples, and without MathJax."""
    missing = list(public_names.undescribed())
    if missing:
        raise SystemExit(f"These public names have no description: {', '.join(missing)}.")
    misread = list(public_names.misread())
    if misread:
        raise SystemExit(f"These descriptions have a star that begins an emphasis: {', '.join(misread)}.")
    source, site = (QUICK_SOURCE, QUICK_SITE) if quick else (SOURCE, SITE)
    if quick:
        shutil.rmtree(source.parent, ignore_errors=True)  # what is left of a build before must not make this one pass
    gather(source)
    if not quick:
        install_mathjax(source / "static" / "mathjax")
    environment = {**os.environ, "UNEVEN_CHECKOUT": str(ROOT), "MPLBACKEND": "Agg", gallery.QUICK: "1" if quick else ""}
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--keep-going", "--quiet"]
    command += ["--doctree-dir", str(source.parent / "doctrees"), str(source), str(site)]
    if subprocess.run(command, env=environment, check=False).returncode:
        raise SystemExit("The site was not built: Sphinx named the reasons above.")
    for path in gallery.examples(ROOT / "examples"):
        for name in gallery.missing(path):
            print(f"examples/{path.name} did not run, because {name} is not installed; the site shows only its code.")
    found = problems(site)
    if found:
        raise SystemExit("\n".join(["The site was built, but:", *found]))
    print(f"{site.relative_to(ROOT)}/index.html is the first page; no page loads anything from outside.")


def gather(source: Path) -> None:
    """Put the sources together in a folder; the gallery's folder is kept, so that only changed examples run again."""
    for old in source.glob("*") if source.exists() else ():
        if old.name != "gallery":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(ROOT / "docs", source, dirs_exist_ok=True)
    shutil.copytree(ROOT / "website" / "static", source / "static")
    shutil.copy(ROOT / "website" / "conf.py", source)
    for name, page in ROOT_PAGES.items():
        (source / page).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    names = reference.write_reference(source / "reference")
    for path in source.glob("*.md"):
        path.write_text(linked(path.read_text(encoding="utf-8"), names), encoding="utf-8")
    first = source / "index.md"
    text = f"{first.read_text(encoding='utf-8')}\n{contents.tables_of_contents(source)}\n"
    first.write_text(text, encoding="utf-8")


def linked(text: str, names: list[str]) -> str:
    """A page with links of the site: to pages, to examples, and to the reference (where a name first appears)."""
    for name, page in ROOT_PAGES.items():
        text = re.sub(rf"\]\((?:\.\./)?{re.escape(name)}([#)])", rf"]({page}\1", text)
    text = re.sub(r"\]\((?:\.\./)?README\.md\)", "](index.md)", text)
    text = re.sub(r"\]\(docs/", "](", text)
    text = re.sub(
        r"\[([^\]]*)\]\(\.\./(?:src|tests|benchmarks|examples)/[^)]*\)", r"\1", text
    )  # files that are no pages
    prose = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    home = {path.rpartition(".")[2]: path for path in reversed(names)}
    seen: set[str] = set()

    def page_or_file(match: re.Match[str]) -> str:
        return f"[{match[1]}]({match[1]}.md)" if (ROOT / "docs" / f"{match[1]}.md").exists() else match[0]

    def example(match: re.Match[str]) -> str:
        return f"[{match[0]}](gallery/{match[1]}.rst)" if (ROOT / "examples" / f"{match[1]}.py").exists() else match[0]

    def public_name(match: re.Match[str]) -> str:
        path = home.get(match[1], "")
        if match[1] in seen or not path.endswith(match[0].strip("`")):
            return match[0]
        seen.add(match[1])
        return f"[{match[0]}](reference/{path}.rst)"

    for k in range(0, len(prose), 2):
        lines = prose[k].split("\n")
        for j, line in enumerate(lines):
            if not line.startswith(("#", "    ")):
                new = re.sub(r"(?<![`\w/(])docs/([\w-]+)\.md(?![`\w])", page_or_file, line)
                new = re.sub(r"(?<!\[)`examples/(plot_\w+)\.py`", example, new)
                lines[j] = re.sub(r"(?<!\[)`(?:uneven\.)?(?:\w+\.)*(\w+)`(?!\])", public_name, new)
        prose[k] = "\n".join(lines)
    return re.sub(r"\n\n```$", "\n```", "".join(prose), flags=re.MULTILINE)  # examples for doctest end in an empty line


def install_mathjax(folder: Path) -> None:
    """Put MathJax into a folder with npm; without npm, say what that means."""
    npm = shutil.which("npm")
    if npm is None:
        print("npm (a part of Node.js) is not installed, so MathJax is missing: formulas are shown as LaTeX source.")
        return
    home = ROOT / "build" / "website" / "npm"
    parts = home / "node_modules" / "mathjax" / "es5"
    if not parts.exists():
        home.mkdir(parents=True, exist_ok=True)
        options = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
        done = subprocess.run([npm, "install", *options, "--prefix", str(home), f"mathjax@{MATHJAX}"], check=False)
        if done.returncode:
            print("npm could not install MathJax: formulas are shown as LaTeX source.")
            return
    for part in MATHJAX_PARTS:
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(parts / part, target) if (parts / part).is_dir() else shutil.copy(parts / part, target)


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
