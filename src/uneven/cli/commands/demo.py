"""``uneven demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from uneven.cli._cost_table import print_costs
from uneven.cli._fitted import fitted_learner, parameters_in_words
from uneven.cli._output import write_whole
from uneven.cli._progress import end_progress, show_progress

FP_COST, FN_COST = 1.0, 20.0
REPORT = "uneven-report.html"


@click.command()
@click.option("--out", "output", default=REPORT, show_default=True, help="The report to write.")
def demo(output: str) -> None:
    """Fit, tune, compare, certify and report on real data.

    Breast-cancer data of scikit-learn; a missed malignant tumour costs 20 false alarms.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from uneven.calibration import certify, verify
    from uneven.cli.decisions.answers import first_line
    from uneven.cli.decisions.classifiers import contest
    from uneven.cli.pages.demo import demo_page
    from uneven.costs import Cost, RowCosts
    from uneven.learners import UnevenClassifierCV, UnevenLinearClassifier
    from uneven.metrics import compare

    X, benign = load_breast_cancer(return_X_y=True)
    y = 1 - benign
    cost = Cost(fp_cost=FP_COST, fn_cost=FN_COST)
    costs: dict[str, Any] = {"fp_cost": FP_COST, "fn_cost": FN_COST}
    click.echo("Wisconsin breast cancer: 569 patients, 212 with a malignant tumour, 30 measurements each.")
    click.echo(f"A missed malignancy costs 20 false alarms: predict malignant when P(malignant) > {cost.alpha:.4f}.\n")

    def scaled(classifier: Any) -> Any:
        return make_pipeline(StandardScaler(), classifier)

    tuned = UnevenClassifierCV("linear", loss="logistic", Cs=(0.003, 0.01, 0.03, 0.1, 1.0), **costs)
    known = contest("uneven (tuned)", tuned, RowCosts.of(cost, y.size), per_row=False, assemble=scaled)
    models = {"uneven (tuned)": known.pop("uneven (tuned)")}
    models |= {"uneven (gamma = 1)": scaled(UnevenLinearClassifier("logistic", **costs)), **known}
    rows = compare(models, X, y, progress=show_progress, **costs)
    show_progress("fitting to all patients")
    model = scaled(tuned).fit(X, y)
    end_progress()
    click.echo(first_line(rows, None))
    print_costs(rows)
    fitted = fitted_learner(model)
    analysis = fitted.analysis_
    best = parameters_in_words(model[-1].best_params_)
    click.echo(f"\nTuned on all patients: {best}.")
    click.echo(f"Verdict: {analysis.verdict}.")
    click.echo(analysis.implied_alpha.in_words())
    bound = float(analysis.regret_bound(0.01)) * (FP_COST + FN_COST)
    click.echo(
        f"Guarantee: a classifier whose surrogate risk is within 0.01 of the best possible has an expected cost within "
        f"{bound:.3g} of the best possible. A linear classifier may not get that close; the table above shows what "
        "was measured."
    )
    certificate = certify(fitted.loss_, psi=["0.01", "0.1"])
    click.echo(f"Certificate: {certificate}")
    click.echo(f"Checked again from its text: {'valid' if verify(certificate) else 'not valid'}.")
    write_whole(output, demo_page(rows, model, certificate, best, bound))
    click.echo(f"\nOpen {Path(output).resolve().name} for the figures, the gamma path and the certificate.")
