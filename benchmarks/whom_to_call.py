"""The numbers and the picture of the README: what ``uneven demo`` finds on the example table.

    python benchmarks/whom_to_call.py

writes ``benchmarks/whom_to_call.json`` and ``docs/images/whom-to-call.png``. The README is tested against the former.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from uneven.app.report.bank_demo import MEMBERS, bank_report, fit_ensemble, fit_others

ROOT = Path(__file__).parent.parent
RESULTS, PICTURE = ROOT / "benchmarks" / "whom_to_call.json", ROOT / "docs" / "images" / "whom-to-call.png"
OURS = "uneven.UnevenEnsembleClassifier"


def draw(found: dict[str, Any], capacity: Any) -> None:
    """Costs with intervals on the left, cost against the number of calls on the right."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained", width_ratios=[1.25, 1])
    rows = sorted(found["costs"], key=lambda row: -row["cost"])
    for k, row in enumerate(rows):
        cost, low, high = (1000 * row[name] for name in ("cost", "low", "high"))
        ours = row["name"] == "this model"
        left.errorbar(cost, k, xerr=[[cost - low], [high - cost]], fmt="o", color="#D55E00" if ours else "#0072B2")
        left.text(cost, k + 0.2, f"{cost:,.0f}", ha="center", fontsize=9)
    names = [OURS if row["name"] == "this model" else row["name"] for row in rows]
    names = [{"flag everyone": "call everyone", "flag no one": "call no one"}.get(name, name) for name in names]
    left.set(yticks=range(len(rows)), yticklabels=names, xlim=(0, None), ylim=(-0.5, len(rows) - 0.3))
    left.set_xlabel("cost per 1,000 clients in EUR, with 95 % intervals")
    count = int(capacity.capacity[-1])
    calls = [1000 * limit / count for limit in capacity.capacity]
    right.plot(calls, [1000 * float(capacity.at(int(limit))) for limit in capacity.capacity], color="#D55E00")
    right.axhline(1000, color="#888888", lw=1)
    right.text(1000, 1010, "call everyone", ha="right", va="bottom", fontsize=9, color="#555555")
    right.set(xlabel="calls that can be made per 1,000 clients", ylabel="cost per 1,000 clients in EUR", ylim=(0, None))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    started = time.process_time()
    report = bank_report(fit_ensemble(MEMBERS.split(",")), fit_others())
    found = report.to_dict()
    found["processor_seconds"] = round(time.process_time() - started, 1)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw(found, report.capacity)
    report.to_html(ROOT / "uneven-report.html")
    print(report, f"\n{found['processor_seconds']} s of processor time")
