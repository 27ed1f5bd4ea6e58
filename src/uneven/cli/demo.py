"""The main job on real data: find malignant tumours where a miss costs twenty false alarms."""

from __future__ import annotations

import base64
import html
import io
import json
from pathlib import Path
from typing import Any

import click

from uneven.cli._output import write_whole
from uneven.cli.learn import chosen_learner, done, in_words, print_costs, said, verdict_on

FP_COST, FN_COST = 1.0, 20.0
REPORT = "uneven-report.html"


@click.command()
@click.option("--out", "output", default=REPORT, show_default=True, help="The report to write.")
def demo(output: str) -> None:
    """Breast-cancer data, a missed malignancy costing 20 false alarms: fit, tune, compare, certify, report."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from uneven.calibration import certify, verify
    from uneven.cli._pipelines import alternatives
    from uneven.costs import Cost
    from uneven.learners import UnevenClassifierCV, UnevenLinearClassifier
    from uneven.metrics.comparison import compare, constant_costs

    X, benign = load_breast_cancer(return_X_y=True)
    y = 1 - benign
    cost = Cost(fp_cost=FP_COST, fn_cost=FN_COST)
    click.echo("Wisconsin breast cancer: 569 patients, 212 with a malignant tumour, 30 measurements each.")
    click.echo(f"A missed malignancy costs 20 false alarms: predict malignant when P(malignant) > {cost.alpha:.4f}.\n")

    def scaled(classifier: Any) -> Any:
        return make_pipeline(StandardScaler(), classifier)

    tuned = UnevenClassifierCV(
        "linear", loss="logistic", fp_cost=FP_COST, fn_cost=FN_COST, Cs=(0.003, 0.01, 0.03, 0.1, 1.0)
    )
    models = {
        "uneven (tuned)": scaled(tuned),
        "uneven (gamma = 1)": scaled(UnevenLinearClassifier("logistic", fp_cost=FP_COST, fn_cost=FN_COST)),
    }
    models |= {name: scaled(model) for name, model in alternatives(FP_COST, FN_COST).items()}
    rows = compare(models, X, y, fp_cost=FP_COST, fn_cost=FN_COST, progress=said)
    rows += constant_costs(y == 1, cost)
    said("fitting to all patients")
    model = scaled(tuned).fit(X, y)
    classifier = model[-1]
    done()
    print_costs(rows)
    fitted = chosen_learner(model)
    analysis = fitted.analysis_
    best = in_words(classifier.best_params_)
    click.echo(f"\nTuned on all patients: {best}.")
    click.echo(f"Verdict: {analysis.verdict}.")
    click.echo(analysis.implied_alpha.in_words())
    bound = float(analysis.regret_bound(0.01))
    click.echo(
        f"If its surrogate risk were within 0.01 of the best of all classifiers, its expected cost would be within "
        f"{bound * (FP_COST + FN_COST):.3g} of the best cost; a linear classifier need not come that close, and the "
        "table above is what was measured."
    )
    certificate = certify(fitted.loss_, psi=["0.01", "0.1"])
    verify(certificate)
    click.echo(f"Certificate: {certificate}")
    write_whole(output, page(rows, model, certificate, best, bound))
    click.echo(f"\nOpen {Path(output).resolve().name} for the figures, the gamma path and the certificate.")


def picture(figure: Any) -> str:
    """A figure as an image inside the page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<img src="data:image/png;base64,{data}" alt="{html.escape(str(figure.get_label()))}">'


def page(rows: list[Any], model: Any, certificate: Any, best: str, bound: float) -> str:
    """The report: one file, nothing loaded from elsewhere."""
    from uneven import figures

    fitted = chosen_learner(model)
    analysis, loss = fitted.analysis_, fitted.loss_
    near = 4 * rows[0].cost  # a rule far off would squeeze the others together; the table has it
    order = [(row.name, row.cost, row.low, row.high) for row in rows if row.cost <= near]
    cells = "".join(
        f"<tr><td>{html.escape(row.name)}</td><td>{row.cost:.4g}</td><td>{row.low:.4g} to {row.high:.4g}</td>"
        f"<td>{row.false_positives:g}</td><td>{row.false_negatives:g}</td></tr>"
        for row in rows
    )
    return _PAGE.format(
        verdict_on_costs=html.escape(verdict_on(rows)),
        costs=picture(figures.costs_compared(order, highlight=rows[0].name)),
        cells=cells,
        best=html.escape(best),
        path=picture(model[-1].plot().figure),
        loss=html.escape(repr(loss)),
        verdict=html.escape(str(analysis.verdict)),
        implied=html.escape(analysis.implied_alpha.in_words()),
        bound=f"{bound * (FP_COST + FN_COST):.3g}",
        psi=picture(figures.psi_enclosed(loss)),
        partial=picture(figures.partial_losses((loss.phi,), gammas=tuple(dict.fromkeys((1.0, loss.gamma))))),
        statement=html.escape(certificate.statement),
        certificate=html.escape(json.dumps(certificate.document, indent=1)),
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>uneven: report</title>
<style>
body {{ font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
h1 {{ font-size: 1.6rem; }} h2 {{ font-size: 1.2rem; margin-top: 2.2rem; }}
img {{ max-width: 100%; height: auto; display: block; margin: 1rem 0; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .92rem; min-width: 34rem; }}
td, th {{ padding: .3rem .8rem .3rem 0; text-align: right; border-bottom: 1px solid #ddd; }}
td:first-child, th:first-child {{ text-align: left; }}
pre {{ background: #f6f6f6; padding: .8rem; overflow-x: auto; font-size: .78rem; max-height: 24rem; }}
code {{ overflow-wrap: anywhere; }} .lead {{ font-size: 1.1rem; }}
</style></head><body>
<h1>A missed malignancy costs twenty false alarms</h1>
<p class="lead">{verdict_on_costs}</p>
<p>Wisconsin breast cancer data, 569 patients, 212 of them with a malignant tumour. Every classifier is fitted and
judged on the same ten folds; the cost is 20 for a missed malignancy and 1 for a false alarm, per patient.</p>
{costs}
<div class="scroll"><table><tr><th>classifier</th><th>cost per patient</th><th>95 % interval</th><th>false alarms</th>
<th>misses</th></tr>{cells}</table></div>
<h2>Tuning the margin</h2>
<p>Fitted to all patients, the choice was {best}. Every point of this path is calibrated for the same costs; gamma
changes only how the finite sample and the linear model are used.</p>
{path}
<h2>The loss</h2>
<p><code>{loss}</code></p><p>Verdict: {verdict}.</p><p>{implied}</p>
{partial}
<h2>What a small training loss guarantees</h2>
<p>If the surrogate risk were within 0.01 of the best of all classifiers, the expected cost per patient would be within
{bound} of the best. A linear classifier need not come that close to the best of all; the table above is what was
measured.</p>
{psi}
<h2>The certificate</h2>
<p>{statement} <code>uneven.verify</code> re-checks the proof from this text alone:</p>
<details><summary>show it</summary><pre>{certificate}</pre></details>
</body></html>
"""
