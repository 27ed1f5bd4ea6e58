"""``uneven fit``."""

from __future__ import annotations

import click

from uneven.cli.decisions.cost_options import cost_options
from uneven.cli.tables.options import read_options, reading_options


@click.command()
@click.argument("data")
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@click.option("--positive", required=True, metavar="VALUE", help="The value of that column that is the positive class.")
@cost_options
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
@click.option("--tune", is_flag=True, help="Choose gamma and C by cross-validated cost, and how to use costs of rows.")
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
    tp_cost: str,
    tn_cost: str,
    unit: str | None,
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

    DATA is a table: .csv, .tsv, .txt (also .gz), .xlsx or .parquet. How it is written is detected, and shown. A cost is
    a number, a column or an arithmetic of columns, such as "amount*0.9 + 5". Unless --quick is given, the classifier is
    compared with simple alternatives by cross-validated cost.
    """
    from uneven.cli._cost_table import print_comparison
    from uneven.cli._models import model_bytes
    from uneven.cli._output import write_whole
    from uneven.cli._pipelines import MOST_CATEGORIES
    from uneven.cli._progress import end_progress, show_progress
    from uneven.cli.decisions.classifiers import Wish
    from uneven.cli.decisions.fitting import Training
    from uneven.cli.decisions.given_costs import GivenCosts
    from uneven.cli.decisions.seen_rows import row_hashes
    from uneven.cli.tables.columns import planned
    from uneven.cli.tables.files import require_output
    from uneven.cli.tables.matrix import typed
    from uneven.cli.tables.remarks import tell_about_table
    from uneven.cli.tables.size import require_memory
    from uneven.cli.tables.table import read_table
    from uneven.cli.tables.target import read_target

    wish = Wish(kind, loss, gamma, tune)
    given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost, unit)
    require_output(output, inputs=(data,))
    options = read_options(**reading)
    wish.require_loss(None if given.per_row else given.numbers())
    table = read_table(data, options)
    labels = read_target(table, target, positive, others_negative=others_negative)
    labelled = table.rows(labels.known)
    cost_columns = given.columns(labelled, target)
    costs = given.of(labelled)
    dropped = [*drop, *([id_column] if id_column else [])]
    plan = planned(labelled, target, leave_out=dropped, keep=keep)
    X = typed(labelled, plan.columns)
    width = require_memory(X, MOST_CATEGORIES)
    training = Training(wish, given, costs, plan.columns, X, labels.is_positive)
    tell_about_table(table, plan, X, labels, width)
    for sentence in training.plan_in_words(cost_columns):
        click.echo(sentence)
    rows = [] if quick else training.compared(show_progress)
    others = [] if quick else training.what_ifs(rows, show_progress)
    show_progress("fitting the model to all rows")
    pipeline = training.fitted()
    end_progress()
    about = {
        "target": target,
        "positive": labels.positive,
        "negatives": labels.negatives,
        "others_negative": others_negative,
        "id": id_column,
        "costs": given.to_dict(),
        "columns": [column.to_dict() for column in plan.columns],
        "dropped": list(drop),
        "skipped": plan.skipped,
        "decimal": table.decimal,
        "rows": int(labels.is_positive.size),
        "positives": int(labels.is_positive.sum()),
        "comparison": [row.to_dict() for row in rows],
    }
    rivals = {} if quick else training.fitted_alternatives(pipeline)
    content = {"pipeline": pipeline, "about": about, "rivals": rivals, "seen": row_hashes(X)}
    write_whole(output, model_bytes(content))
    if rows:
        print_comparison(rows, others, unit, tuned=tune)
    for sentence in training.model_in_words(pipeline):
        click.echo(sentence)
    click.echo(f"The model is in {output}.")
