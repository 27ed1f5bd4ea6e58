"""Certify every registered phi for several gammas: status, method, number of cells, and times.

``python benchmarks/certificates.py`` prints the table. With a file name it writes docs/certificate-table.md.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import uneven
from uneven.calibration import Certificate

GAMMAS = ("0.001", "0.1", "1", "2", "3", "20", "1000")
HEAD = """# The registry, certified

Made by `python benchmarks/certificates.py docs/certificate-table.md`; do not edit. A positive example with decision
value t has the loss phi(t), a negative one phi(-gamma t)/gamma. alpha is the only number for which this is calibrated:
a false positive costs alpha, a false negative 1 - alpha. [Certificates](certificates.md) explains methods and cells.
Times are milliseconds of the processor: the median of three.

| phi | gamma | status | method | alpha | cells | bytes | prove | verify |
|---|---|---|---|---|---|---|---|---|
"""


def timed(function: Callable[[], object], runs: int = 3) -> tuple[float, object]:
    times, result = [], None
    for _ in range(runs):
        start = time.process_time()
        result = function()
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times), result


def alpha_of(certificate: Certificate) -> str:
    if certificate.interval is None:
        return "none"
    low, high = certificate.interval
    return str(low) if low == high else f"{float((low + high) / 2):.12g} ± {float(high - low) / 2:.1g}"


def row(name: str, gamma: str) -> tuple[str, float, float]:
    loss = uneven.UnevenMarginLoss(name, gamma=gamma)
    # With other limits than the usual ones every call searches anew; else the second would return what the first found.
    prove, certificate = timed(lambda: uneven.certify(loss, seconds=11))
    assert isinstance(certificate, Certificate)
    text = certificate.to_json()
    check, _ = timed(lambda: uneven.verify(text))
    cells = (name, gamma, certificate.status, certificate.method, alpha_of(certificate), certificate.cells, len(text))
    return "| " + " | ".join(map(str, (*cells, f"{prove:.0f}", f"{check:.0f}"))) + " |\n", prove, check


def main() -> None:
    table, slowest = HEAD, (0.0, 0.0)
    for name in uneven.losses.names():
        for gamma in GAMMAS:
            line, prove, check = row(name, gamma)
            table += line
            slowest = (max(slowest[0], prove), max(slowest[1], check))
            print(line, end="", file=sys.stderr)
    table += f"\nSlowest: {slowest[0]:.0f} ms to prove, {slowest[1]:.0f} ms to verify.\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(table, encoding="utf-8")
    else:
        print(table)


if __name__ == "__main__":
    main()
