"""``uneven fit``."""

from __future__ import annotations

from typing import Any

import click

from uneven.cli._cost_table import print_costs
from uneven.cli._fitted import loss_in_words, parameters_in_words
from uneven.cli._output import write_whole
from uneven.cli._progress import end_progress, show_progress


@click.command()
@click.argument("data")
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@click.option("--positive", required=True, metavar="VALUE", help="The value of that column that is the positive class.")
@click.option("--fp-cost", required=True, metavar="X", help="Cost of a false positive (a false alarm).")
@click.option("--fn-cost", required=True, metavar="Y", help="Cost of a false negative (a miss).")
@click.option(
    "--learner",
    "kind",
    type=click.Choice(["linear", "svc"]),
    default="linear",
    show_default=True,
    help="A linear classifier or a kernel support vector machine.",
)
@click.option("--loss", metavar="NAME", help="A registered phi or an expression in t (linear learner only).")
@click.option("--gamma", default="1", show_default=True, metavar="G", help="Margin asymmetry, if it is not tuned.")
@click.option("--tune", is_flag=True, help="Choose gamma and C by cross-validated cost.")
@click.option("--quick", is_flag=True, help="Skip the comparison with simple alternatives.")
@click.option("-o", "--output", required=True, metavar="MODEL", help="The model file (skops) to write.")
def fit(
    data: str,
    target: str,
    positive: str,
    fp_cost: str,
    fn_cost: str,
    kind: str,
    loss: str | None,
    gamma: str,
    tune: bool,
    quick: bool,
    output: str,
) -> None:
    """Fit a classifier that is right for your costs.

    DATA is a table, CSV or Parquet. Unless --quick is given, the classifier is compared with simple alternatives by
    cross-validated cost.
    """
    from uneven.cli import _tables
    from uneven.cli._models import model_bytes
    from uneven.cli._pipelines import alternatives, assembled, learner, read_costs
    from uneven.errors import UnevenError
    from uneven.metrics.comparison import compare, constant_costs

    if kind == "svc" and loss is not None:
        raise UnevenError(f"--loss is for the linear learner; the support vector machine uses hinge, got {loss!r}")
    if tune and gamma != "1":
        raise UnevenError("--tune chooses gamma itself: leave --gamma out")
    cost = read_costs(fp_cost, fn_cost)
    frame = _tables.read_table(data)
    known, is_positive = _tables.read_target(frame, target, positive)
    frame, y = frame[known].reset_index(drop=True), is_positive.astype(int)
    columns = _tables.sorted_columns(frame, target)
    ours = assembled(columns, learner(kind, loss, fp_cost, fn_cost, tune=tune, gamma=gamma))
    X = frame[columns.used]
    rows = []
    if not quick:
        models = {"uneven": ours}
        models |= {name: assembled(columns, model) for name, model in alternatives(cost).items()}
        rows = compare(models, X, y, fp_cost=cost.fp_cost, fn_cost=cost.fn_cost, progress=show_progress)
        rows += constant_costs(is_positive, cost)
    show_progress("fitting the model to all rows")
    ours.fit(X, y)
    end_progress()
    about = {
        "target": target,
        "positive": positive,
        "fp_cost": fp_cost,
        "fn_cost": fn_cost,
        "columns": columns.used,
        "rows": len(y),
        "positives": int(y.sum()),
        "costs": [row.to_dict() for row in rows],
    }
    write_whole(output, model_bytes({"pipeline": ours, "about": about}))
    _tell_about_data(frame, columns, y, unlabelled=int((~known).sum()))
    _tell_about_model(ours, rows)
    click.echo(f"The model is in {output}.")


def _tell_about_data(frame: Any, columns: Any, y: Any, *, unlabelled: int) -> None:
    click.echo(f"{len(y)} rows, {int(y.sum())} positive ({y.mean():.1%}).")
    if unlabelled:
        click.echo(f"{unlabelled} {'row' if unlabelled == 1 else 'rows'} without a label skipped.")
    for name, why in columns.skipped.items():
        click.echo(f"Column {name!r} skipped: {why}.")
    for name, count in frame[columns.used].isna().sum().items():
        if count:
            how = "filled with the median and flagged" if name in columns.numeric else "treated as a category"
            click.echo(f"Column {name!r}: {count} missing values, {how}.")


def _tell_about_model(pipeline: Any, rows: list[Any]) -> None:
    tuned = getattr(pipeline[-1], "best_params_", None)
    if tuned:
        click.echo(f"Tuned: {parameters_in_words(tuned)}.")
    click.echo(loss_in_words(pipeline))
    if rows:
        print_costs(rows)
