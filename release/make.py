"""Makes a release: ``make release``.

Builds the source distribution and the wheel into ``dist``, checks them with twine, installs the wheel without extras
into a clean environment, and tries it there. Nothing is uploaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import uneven

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
CLEAN = ROOT / "build" / "release"
SMOKE = ROOT / "release" / "smoke_test.py"
#: What a wheel and a source distribution must hold.
IN_WHEEL = ("uneven/py.typed", "uneven/__init__.py")
IN_SOURCES = ("README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml", "tests/test_package.py", "docs/index.md")


def run(*command: str | Path) -> None:
    """Run a command; end with a sentence if it fails."""
    clean = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    if subprocess.run([str(part) for part in command], cwd=CLEAN, env=clean, check=False).returncode:
        raise SystemExit(f"The release failed at: {' '.join(map(str, command))}")


def main() -> None:
    """Build, check, install and try."""
    _require_changelog()
    for folder in (DIST, CLEAN):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (wheel,), (sources,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sources)
    _require_contents(wheel, sources)
    venv.create(CLEAN / "venv", with_pip=True)
    python = CLEAN / "venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    run(python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel)
    run(python, "-m", "pip", "check")
    run(python, "-W", "error", SMOKE, uneven.__version__)
    size = {path.name: f"{path.stat().st_size / 1024:.0f} kB" for path in (wheel, sources)}
    print(f"dist holds {' and '.join(f'{name} ({kilobytes})' for name, kilobytes in size.items())}; both passed.")


def _require_changelog() -> None:
    heading = re.compile(rf"^## {re.escape(uneven.__version__)} \(\d{{4}}-\d\d-\d\d\)$", re.MULTILINE)
    if not heading.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")):
        raise SystemExit(f'CHANGELOG.md needs a dated heading, "## {uneven.__version__} (YYYY-MM-DD)".')


def _require_contents(wheel: Path, sources: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    with tarfile.open(sources) as tape:
        names = {name.partition("/")[2] for name in tape.getnames()}
    missing = [name for name in IN_WHEEL if name not in inside] + [name for name in IN_SOURCES if name not in names]
    strangers = sorted({name.split("/")[0] for name in inside} - {"uneven", f"uneven-{uneven.__version__}.dist-info"})
    if missing or strangers:
        raise SystemExit(f"The distributions lack {missing or 'nothing'}, and the wheel has strangers: {strangers}.")


if __name__ == "__main__":
    main()
