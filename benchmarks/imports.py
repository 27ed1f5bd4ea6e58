"""Start-up: time of ``import uneven``, and of the first fit in a new interpreter, part by part. Medians.

    python benchmarks/imports.py [--runs 9] [--case imports first-fit]

The first fit is measured with the compiled code of earlier processes (warm), and with an empty folder for it (empty).
Its parts: imports of NumPy and scikit-learn, which are the floor; where the fit needs Numba, its import and what it
does before it can run anything (it compiles x + 1); imports of uneven; the fit itself, which loads or compiles what it
needs. Python may write bytecode, as it does by default, and has written it before. The interpreter's own start (0.02 s)
is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

IMPORTS = {
    "import numpy": "import numpy",
    "import uneven": "import uneven",
    "first loss": "import uneven; uneven.UnevenMarginLoss('logistic', gamma=2)(1, 0.5)",
    "first calibrated loss": "import uneven; uneven.calibrated_loss('logistic', alpha=0.1)",
    "uneven --help": (
        "import contextlib, io; from uneven.app.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main(['--help'])\n"
        "None"
    ),
}
#: Loss, rows, and whether the fit needs compiled code: with few rows it does not. All have 20 columns.
FITS = (("logistic", 1000, False), ("hinge", 1000, False), ("logistic", 10_000, True), ("hinge", 20_000, True))
FIRST_FIT = """
import json, sys, time
times, last = {{}}, time.perf_counter()

def part(name):
    global last
    now = time.perf_counter()
    times[name], last = now - last, now

import numpy
part("import numpy")
import sklearn.base
part("import scikit-learn")
if {compiled}:
    import numba
    part("import numba")
    numba.njit("f8(f8)")(lambda x: x + 1)
    part("numba starts")
import uneven
from uneven.learners.linear import UnevenLinearClassifier
part("import uneven")
random = numpy.random.default_rng(0)
X = random.normal(size=({rows}, 20))
y = (X[:, 0] + random.normal(size={rows}) > 0).astype(int)
model = UnevenLinearClassifier({loss!r}, tol=1e-4)
last = time.perf_counter()
model.fit(X, y)
part("first fit")
model.fit(X, y)
part("second fit")
assert ("numba" in sys.modules) == {compiled}
print(json.dumps(times))
"""


def run(program: str, cache: str | None = None) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if cache is not None:
        environment |= {"UNEVEN_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    return result.stdout


def imports(runs: int) -> None:
    numpy = 0.0
    for name, code in IMPORTS.items():
        program = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
        value = statistics.median(float(run(program)) for _ in range(runs))
        numpy = numpy or value
        print(f"{name:24s} {value:7.3f} s   {value - numpy:+7.3f} s beside numpy   ratio {value / numpy:5.2f}")


def first_fit(runs: int) -> None:
    for loss, rows, compiled in FITS:
        program = FIRST_FIT.format(loss=loss, rows=rows, compiled=compiled)
        with tempfile.TemporaryDirectory() as folder:
            run(program, folder)
            warm = [json.loads(run(program, folder)) for _ in range(runs)]
        empty = []
        for _ in range(max(1, runs // 2)):
            with tempfile.TemporaryDirectory() as folder:
                empty.append(json.loads(run(program, folder)))
        for title, found in (("warm", warm), ("empty", empty)):
            parts = {name: statistics.median(times[name] for times in found) for name in found[0]}
            second = parts.pop("second fit")
            shown = ", ".join(f"{name} {value:.3f}" for name, value in parts.items())
            print(
                f"first fit, {loss} {rows} x 20, {title} cache: {sum(parts.values()):6.2f} s = {shown}; second fit "
                f"{second:.4f}",
                flush=True,
            )


CASES = {"imports": imports, "first-fit": first_fit}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES))
    arguments = parser.parse_args()
    for case in arguments.case:
        CASES[case](arguments.runs)


if __name__ == "__main__":
    main()
