"""Time of ``import uneven`` compared with ``import numpy``: the median over new interpreters."""

from __future__ import annotations

import statistics
import subprocess
import sys

RUNS = 11


def seconds(code: str) -> float:
    """Median time of a statement in a new interpreter."""
    program = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
    times = [
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
        for _ in range(RUNS)
    ]
    return statistics.median(times)


def main() -> None:
    numpy = seconds("import numpy")
    rows = {
        "import numpy": numpy,
        "import uneven": seconds("import uneven"),
        "first loss": seconds("import uneven; uneven.UnevenMarginLoss('logistic', gamma=2)(1, 0.5)"),
        "first calibrated loss": seconds("import uneven; uneven.calibrated_loss('logistic', alpha=0.1)"),
        "uneven --help": seconds(
            "import contextlib, io; from uneven.cli.main import main\n"
            "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main(['--help'])\n"
            "None"
        ),
    }
    for name, value in rows.items():
        print(f"{name:24s} {value:7.3f} s   {value - numpy:+7.3f} s beside numpy   ratio {value / numpy:5.2f}")


if __name__ == "__main__":
    main()
