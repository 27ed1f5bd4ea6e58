"""Commands about data: fit, predict, report."""

from __future__ import annotations

import sys
from typing import Any

import click

from uneven.cli._output import console, write_whole

_BAR = 24


def said(message: str, share: float = 1.0) -> None:
    """Progress, on stderr: a bar that moves on a terminal, a line each time elsewhere."""
    if sys.stderr.isatty():
        full = round(_BAR * share)
        click.echo(f"\r\x1b[2K[{'#' * full}{'.' * (_BAR - full)}] {message}", nl=False, err=True)
    else:
        click.echo(message, err=True)


def done() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[2K", nl=False, err=True)


@click.command()
@click.argument("data")
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@click.option("--positive", required=True, metavar="VALUE", help="Its value for the class to find.")
@click.option("--fp-cost", required=True, metavar="X", help="What a false alarm costs.")
@click.option("--fn-cost", required=True, metavar="Y", help="What a miss costs.")
@click.option("--learner", "kind", type=click.Choice(["linear", "svc"]), default="linear", show_default=True)
@click.option("--loss", metavar="NAME", help="A registered phi or an expression in t (linear learner).")
@click.option("--gamma", default="1", show_default=True, metavar="G", help="Margin asymmetry, unless it is tuned.")
@click.option("--tune", is_flag=True, help="Choose gamma and C by cross-validated cost.")
@click.option("--quick", is_flag=True, help="Skip the comparison with simple alternatives.")
@click.option("-o", "--output", required=True, metavar="MODEL", help="Where the model is written (skops).")
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
    """Fit a classifier that is right for your costs to a table (CSV or Parquet)."""
    from uneven import _inputs
    from uneven.cli import _tables
    from uneven.cli._models import model_bytes
    from uneven.cli._pipelines import alternatives, assembled, learner
    from uneven.costs import Cost
    from uneven.errors import UnevenError
    from uneven.metrics.comparison import compare, constant_costs

    if kind == "svc" and loss is not None:
        raise UnevenError(f"--loss belongs to the linear learner; the support vector machine uses hinge, got {loss!r}")
    if tune and gamma != "1":
        raise UnevenError("--tune chooses gamma itself: leave --gamma out")
    prices = [float(_inputs.positive(name, value)) for name, value in (("--fp-cost", fp_cost), ("--fn-cost", fn_cost))]
    frame = _tables.read_table(data)
    known, chosen = _tables.read_target(frame, target, positive)
    frame = frame[known].reset_index(drop=True)
    y = chosen.astype(int)
    columns = _tables.sorted_columns(frame, target)
    ours = assembled(columns, learner(kind, loss, fp_cost, fn_cost, tune=tune, gamma=gamma))
    X = frame[columns.used]
    rows = []
    if not quick:
        models = {"uneven": ours}
        models |= {name: assembled(columns, model) for name, model in alternatives(*prices).items()}
        rows = compare(models, X, y, fp_cost=prices[0], fn_cost=prices[1], progress=said)
        rows += constant_costs(y == 1, Cost(fp_cost=prices[0], fn_cost=prices[1]))
    said("fitting the model to all rows")
    ours.fit(X, y)
    done()
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
    _tell(frame, columns, known, y, rows, ours)
    click.echo(f"{output} holds the model.")


def _tell(frame: Any, columns: Any, known: Any, y: Any, rows: list[Any], pipeline: Any) -> None:
    click.echo(f"{len(y)} rows, {int(y.sum())} positive ({y.mean():.1%}).")
    if (~known).any():
        click.echo(f"{int((~known).sum())} rows without a label were left out.")
    for name, why in columns.left_out.items():
        click.echo(f"Column {name!r} is not used: {why}.")
    holes = {name: int(count) for name, count in frame[columns.used].isna().sum().items() if count}
    for name, count in holes.items():
        how = "filled with the median and flagged" if name in columns.numeric else "a category of their own"
        click.echo(f"Column {name!r}: {count} missing values, {how}.")
    classifier = pipeline[-1]
    tuned = getattr(classifier, "best_params_", None)
    if tuned:
        click.echo(f"Tuned: {in_words(tuned)}.")
    click.echo(about_loss(pipeline))
    if rows:
        print_costs(rows)


def chosen_learner(pipeline: Any) -> Any:
    """The last step of a pipeline, or what it chose by tuning."""
    return getattr(pipeline[-1], "best_estimator_", pipeline[-1])


def about_loss(pipeline: Any) -> str:
    fitted = chosen_learner(pipeline)
    return f"The loss is {fitted.loss_!r}: {fitted.analysis_.verdict}."


def in_words(parameters: dict[str, Any]) -> str:
    """Tuned parameters on one line."""
    shown = (f"{value:.4g}" if isinstance(value, float) else str(value) for value in parameters.values())
    return ", ".join(f"{key} = {value}" for key, value in zip(parameters, shown, strict=True))


def print_costs(rows: list[Any], how: str = "cross-validated") -> None:
    """Costs as a table, and a sentence about who is cheapest."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"cost per example, {how}")
    for name in ("cost", "95 % interval", "false alarms", "misses"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        interval = f"{row.low:.4g} to {row.high:.4g}"
        table.add_row(row.name, f"{row.cost:.4g}", interval, f"{row.false_positives:g}", f"{row.false_negatives:g}")
    console().print(table)
    click.echo(verdict_on(rows))


def verdict_on(rows: list[Any]) -> str:
    """Whether ours is the cheapest, honestly."""
    ours = rows[0]
    best = min(rows, key=lambda row: row.cost)
    if best is ours:
        others = [row for row in rows if row is not ours]
        second = min(others, key=lambda row: row.cost)
        if second.cost == ours.cost:
            return f"{ours.name} and {second.name} are the cheapest here, at the same cost."
        close = " (their intervals overlap)" if second.low < ours.high else ""
        return f"{ours.name} is the cheapest here; next is {second.name}{close}."
    close = " (their intervals overlap)" if ours.low < best.high else ""
    return f"{best.name} is the cheapest here, not {ours.name}{close}."


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="OUT", help="Where predictions go: a .csv or .parquet file.")
def predict(model: str, data: str, output: str) -> None:
    """Predict with a model of `uneven fit`: decision, score, and the probability where the loss has one."""
    from uneven.cli import _tables
    from uneven.cli._models import read_model

    content = read_model(model)
    about, pipeline = content["about"], content["pipeline"]
    frame = _tables.read_table(data)
    X = _tables.prepared(frame, about["columns"])
    import pandas as pd

    found = {"prediction": pipeline.predict(X).astype(int), "score": pipeline.decision_function(X)}
    if hasattr(pipeline, "predict_proba"):
        found["probability"] = pipeline.predict_proba(X)[:, 1]
    write_whole(output, _tables.table_bytes(pd.DataFrame(found), output))
    count = int(found["prediction"].sum())
    click.echo(f"{output}: {len(frame)} rows, {count} predicted {about['target']} = {about['positive']}.")


@click.command()
@click.argument("model")
@click.argument("data")
def report(model: str, data: str) -> None:
    """What a model costs on a table with labels, with a confidence interval, next to saying the same of everyone."""
    from uneven import _inputs
    from uneven.calibration.implied_costs import costs_in_words
    from uneven.cli import _tables
    from uneven.cli._models import read_model
    from uneven.costs import Cost
    from uneven.metrics.comparison import constant_costs, estimated_cost

    content = read_model(model)
    about, pipeline = content["about"], content["pipeline"]
    frame = _tables.read_table(data)
    known, chosen = _tables.read_target(frame, about["target"], about["positive"])
    y = chosen.astype(int)
    guess = pipeline.predict(_tables.prepared(frame[known], about["columns"])).astype(int)
    prices = [float(_inputs.positive(name, about[name])) for name in ("fp_cost", "fn_cost")]
    cost = Cost(fp_cost=prices[0], fn_cost=prices[1])
    ours = estimated_cost("this model", cost, y == 1, guess == 1)
    alpha = chosen_learner(pipeline).analysis_.exact_alpha
    click.echo(f"{len(y)} rows, {int(y.sum())} positive; {costs_in_words(alpha)}.")
    print_costs([ours, *constant_costs(y == 1, cost)], "on this table")
    click.echo("If the model was fitted to these rows, it looks better here than on new ones.")
    click.echo(about_loss(pipeline))
