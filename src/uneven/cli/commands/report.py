"""``uneven report``."""

from __future__ import annotations

import click

from uneven.cli._cost_table import print_costs
from uneven.cli._fitted import fitted_learner, loss_in_words


@click.command()
@click.argument("model")
@click.argument("data")
def report(model: str, data: str) -> None:
    """What a model costs on a table with labels.

    With a confidence interval, compared with predicting everyone positive or everyone negative.
    """
    from uneven.calibration.implied_costs import costs_in_words
    from uneven.cli import _tables
    from uneven.cli._models import read_model
    from uneven.cli._pipelines import read_costs
    from uneven.metrics.comparison import constant_costs, estimated_cost

    content = read_model(model)
    about, pipeline = content["about"], content["pipeline"]
    frame = _tables.read_table(data)
    known, is_positive = _tables.read_target(frame, about["target"], about["positive"])
    predicted = pipeline.predict(_tables.required_columns(frame[known], about["columns"]))
    cost = read_costs(about["fp_cost"], about["fn_cost"])
    ours = estimated_cost("this model", cost, is_positive, predicted == 1)
    alpha = fitted_learner(pipeline).analysis_.exact_alpha
    click.echo(f"{is_positive.size} rows, {int(is_positive.sum())} positive; {costs_in_words(alpha)}.")
    print_costs([ours, *constant_costs(is_positive, cost)], "on this table")
    click.echo("If the model was fitted to these rows, expect a higher cost on new ones.")
    click.echo(loss_in_words(pipeline))
