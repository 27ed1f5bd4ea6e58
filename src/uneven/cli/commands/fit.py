"""``uneven fit``."""

from __future__ import annotations

from typing import Any

import click

from uneven.cli._cost_table import print_costs
from uneven.cli._fitted import loss_in_words, parameters_in_words
from uneven.cli._output import write_whole
from uneven.cli._progress import end_progress, show_progress
from uneven.cli.tables.options import read_options, reading_options
from uneven.cli.tables.remarks import tell_about_table

_LARGE = 20_000  # rows from which one cross-validation is precise enough


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
@click.option("--others-negative", is_flag=True, help="Every value of the target but the positive one is negative.")
@click.option("--id", "id_column", metavar="COL", help="The column that names the rows: not used for prediction.")
@click.option("--drop", multiple=True, metavar="COL", help="A column to leave out (may be repeated).")
@click.option("--keep", multiple=True, metavar="COL", help="A column to use though it looks like an ID or free text.")
@reading_options
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
    others_negative: bool,
    id_column: str | None,
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    output: str,
    **reading: str | None,
) -> None:
    """Fit a classifier that is right for your costs.

    DATA is a table: .csv, .tsv, .txt (also .gz), .xlsx or .parquet. How it is written is detected, and shown. Unless
    --quick is given, the classifier is compared with simple alternatives by cross-validated cost.
    """
    from uneven.cli._models import model_bytes
    from uneven.cli._pipelines import MOST_CATEGORIES, alternatives, assembled, learner, read_costs, require_loss
    from uneven.cli.tables.columns import planned
    from uneven.cli.tables.files import require_output
    from uneven.cli.tables.matrix import typed
    from uneven.cli.tables.size import require_memory
    from uneven.cli.tables.table import read_table
    from uneven.cli.tables.target import read_target
    from uneven.errors import UnevenError
    from uneven.metrics.comparison import compare, constant_costs

    if kind == "svc" and loss is not None:
        raise UnevenError(f"--loss is for the linear learner; the support vector machine uses hinge, got {loss!r}")
    if tune and gamma != "1":
        raise UnevenError("--tune chooses gamma itself: leave --gamma out")
    require_output(output)
    options = read_options(**reading)
    cost = read_costs(fp_cost, fn_cost)
    require_loss(kind, loss, cost, gamma)
    model = learner(kind, loss, fp_cost, fn_cost, tune=tune, gamma=gamma)
    table = read_table(data, options)
    labels = read_target(table, target, positive, others_negative=others_negative)
    labelled = table.rows(labels.known)
    is_positive = labels.is_positive
    y = is_positive.astype(int)
    plan = planned(labelled, target, leave_out=[*drop, *([id_column] if id_column else [])], keep=keep)
    X = typed(labelled, plan.columns)
    width = require_memory(X, MOST_CATEGORIES)
    tell_about_table(table, plan, X, labels, width)
    ours = assembled(plan.columns, len(y), model)
    rows = []
    if not quick:
        models = {"uneven": ours}
        models |= {name: assembled(plan.columns, len(y), other) for name, other in alternatives(cost).items()}
        repeats = 1 if len(y) > _LARGE else 2
        rows = compare(
            models, X, y, fp_cost=cost.fp_cost, fn_cost=cost.fn_cost, repeats=repeats, progress=show_progress
        )
        rows += constant_costs(is_positive, cost)
    show_progress("fitting the model to all rows")
    ours.fit(X, y)
    end_progress()
    about = {
        "target": target,
        "positive": labels.positive,
        "negatives": labels.negatives,
        "others_negative": others_negative,
        "id": id_column,
        "fp_cost": fp_cost,
        "fn_cost": fn_cost,
        "columns": [column.to_dict() for column in plan.columns],
        "decimal": table.decimal,
        "rows": len(y),
        "positives": int(y.sum()),
        "costs": [row.to_dict() for row in rows],
    }
    write_whole(output, model_bytes({"pipeline": ours, "about": about}))
    _tell_about_model(ours, rows)
    click.echo(f"The model is in {output}.")


def _tell_about_model(pipeline: Any, rows: list[Any]) -> None:
    tuned = getattr(pipeline[-1], "best_params_", None)
    if tuned:
        click.echo(f"Tuned: {parameters_in_words(tuned)}.")
    click.echo(loss_in_words(pipeline))
    if rows:
        print_costs(rows)
