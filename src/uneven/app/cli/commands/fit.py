"""``uneven fit``."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from uneven.app.cli.options import (
    action_option,
    cost_options,
    read_options,
    reading_options,
    require_costs,
    skip_costs_option,
    volume_option,
)
from uneven.errors import UnevenError

if TYPE_CHECKING:
    from uneven.app.models.candidates import AskedLearner
    from uneven.app.models.fit_table import Question, Training
    from uneven.app.models.written_costs import WrittenCosts
    from uneven.app.models.written_matrix import WrittenMatrix


@click.command()
@click.argument("data")
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@click.option("--positive", metavar="VALUE", help="The value of that column that is the positive class.")
@cost_options
@skip_costs_option
@volume_option
@action_option
@click.option(
    "--learner",
    "kind",
    type=click.Choice(["auto", "ensemble", "linear", "svc"]),
    help="auto (default): the cheapest of the ensemble and simple models. Or the ensemble, a linear classifier or a "
    "kernel support vector machine, whatever the comparison says.",
)
@click.option("--members", metavar="NAMES", help="Members of the ensemble, such as linear,forest; by default all.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop fitting members of the ensemble in time.")
@click.option(
    "--monotone",
    multiple=True,
    metavar="COL=SIGN",
    help="A column with which the probability of the ensemble may only rise (age=+) or fall (income=-); repeatable.",
)
@click.option("--loss", metavar="NAME", help="Of the linear learner: a registered phi or an expression in t.")
@click.option("--gamma", metavar="G", help="Margin asymmetry of the linear learner or the SVM [default: 1].")
@click.option("--tune", is_flag=True, help="Also try (auto) or fit our linear classifier, gamma and C chosen by cost.")
@click.option(
    "--quick", is_flag=True, help="Compare with nothing but constant rules: fit the ensemble, or the learner named."
)
@click.option("--save-anyway", is_flag=True, help="Save the model even if flagging everyone or no one is as cheap.")
@click.option("--others-negative", is_flag=True, help="Every value of the target but the positive one is negative.")
@click.option("--decided-by", metavar="WHO", help="Who decided the costs, and when; kept in the model file.")
@click.option("--id", "id_column", metavar="COL", help="The column that names the rows: not used for prediction.")
@click.option("--drop", multiple=True, metavar="COL", help="A column to leave out (may be repeated).")
@click.option("--keep", multiple=True, metavar="COL", help="A column to use though it looks like an ID.")
@click.option("--time", "time_column", metavar="COL", help="When each row happened: models are tested on later rows.")
@click.option("--group", "group_column", metavar="COL", help="Such as a customer: models are tested on other groups.")
@click.option("--memory-limit", metavar="SIZE", help="Read Parquet files in parts, within this memory, such as 1.5GB.")
@reading_options
@click.option("-o", "--output", required=True, metavar="MODEL", help="The model file (skops) to write.")
def fit(
    data: str,
    target: str,
    positive: str | None,
    fp_cost: str | None,
    fn_cost: str | None,
    tp_cost: str,
    tn_cost: str,
    costs: str | None,
    unit: str | None,
    skip_bad_costs: bool,
    rows_per_year: float | None,
    actions: tuple[str, ...],
    kind: str | None,
    members: str | None,
    time_limit: float | None,
    monotone: tuple[str, ...],
    loss: str | None,
    gamma: str | None,
    tune: bool,
    quick: bool,
    save_anyway: bool,
    others_negative: bool,
    decided_by: str | None,
    id_column: str | None,
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    time_column: str | None,
    group_column: str | None,
    memory_limit: str | None,
    output: str,
    **reading: Any,
) -> None:
    """Compare classifiers by your costs; save the cheapest.

    DATA is a table: .csv, .tsv, .txt (also .gz), .xlsx or .parquet. How it is written is detected, and shown. A cost is
    a number, a column or an arithmetic of columns, such as "amount*0.9 + 5". An ensemble of several learners, logistic
    regression in the usual three ways, "flag everyone" and "flag no one" are compared on the same folds; the cheapest
    model is saved. A folder or a pattern of Parquet files, such as "data/*.parquet", or a file that does not fit into
    memory, is read in parts, and a linear classifier is fitted. A further action, such as --action review=8:5, is kept
    in the model file for `predict` and `report`; the comparison is that of the two predictions.

    With several classes, --costs names a table of costs in place of --positive and the four costs: its rows are the
    true classes, its columns the decisions. There may be further decisions than the classes, such as "refer".
    """
    from uneven.app.cli.terminal import print_members
    from uneven.app.files.file_kinds import require_output, write_whole
    from uneven.app.files.remarks import about_table
    from uneven.app.models.apply_model import row_hashes
    from uneven.app.models.candidates import AskedLearner
    from uneven.app.models.files_in_parts import is_in_parts
    from uneven.app.models.fit_table import Question, prepare
    from uneven.app.models.model_files import model_bytes
    from uneven.app.models.written_costs import WrittenCosts
    from uneven.app.models.written_limits import fitted_actions
    from uneven.app.report.sentences import is_ensemble, model_in_words

    require_costs(costs)
    asked = AskedLearner.read(kind, loss, gamma, tune, members, time_limit, monotone)
    given, actions = _read_costs(costs, (fp_cost, fn_cost, tp_cost, tn_cost), unit, positive, actions)
    require_output(output, inputs=(data, *([costs] if costs else [])))
    options = read_options(**reading)
    question = Question(target, positive, others_negative, id_column, drop, keep, time_column, group_column)
    told = {"decided_by": decided_by, "fitted": f"{datetime.now(UTC):%Y-%m-%d}"}
    if is_in_parts(data, memory_limit):
        if not isinstance(given, WrittenCosts):
            raise UnevenError(
                "--costs of several classes is for a table that fits into memory, and this one is read in parts; a "
                "sample of its rows would work"
            )
        if actions:
            raise UnevenError("--action is for a table that fits into memory; files in parts are decided row by row")
        if time_column is not None or group_column is not None:
            raise UnevenError(
                "--time and --group make folds of a table that fits into memory, and this one is read in parts, "
                "without folds; fewer files, or a sample of their rows, would work"
            )
        _fit_in_parts(data, question, asked, given, memory_limit, output, rows_per_year, told, quick=quick)
        return
    if isinstance(given, WrittenCosts):
        asked.require_loss(None if given.per_row else given.numbers())
    ready = prepare(data, options, question, given, asked, skip_bad_costs=skip_bad_costs)
    training = ready.training
    for sentence in about_table(ready.table, ready.plan, training.X, ready.labels, ready.width, ready.leaks):
        click.echo(sentence)
    for sentence in [*ready.notes, *training.plan_in_words(ready.cost_columns)]:
        click.echo(sentence)
    if training.dates_in_words:
        click.echo(training.dates_in_words)
    for sentence in fitted_actions(actions, ready):
        click.echo(sentence)
    name, pipeline, about, behind = _compare_and_fit(
        training, asked, unit, rows_per_year, quick=quick, save_anyway=save_anyway
    )
    preprocessing, rivals = behind
    content = {
        "pipeline": pipeline,
        "preprocessing": preprocessing,
        "about": {
            **ready.about(),
            **about,
            "model": name,
            "learner": asked.kind,
            "actions": list(actions),
            **told,
        },
        "rivals": rivals,
        "seen": row_hashes(training.X),
    }
    write_whole(output, model_bytes(content))
    if is_ensemble(pipeline[-1]):
        print_members(pipeline[-1], unit)
    for sentence in model_in_words(pipeline):
        click.echo(sentence)
    click.echo(f"The model ({name}) is in {output}.")
    if output.lower().endswith((".pkl", ".pickle", ".joblib")):
        click.echo("It is written with skops, not with pickle or joblib; a name that ends in .skops would say so.")


def _read_costs(
    costs: str | None,
    four: tuple[str | None, ...],
    unit: str | None,
    positive: str | None,
    actions: tuple[str, ...],
) -> tuple[WrittenCosts | WrittenMatrix, tuple[str, ...]]:
    """The four costs or the table of costs, and further actions; a table of two classes gives four costs."""
    from uneven.app.models.written_costs import WrittenCosts
    from uneven.app.models.written_matrix import WrittenMatrix

    if costs is None:
        fp, fn, tp, tn = (str(cost) for cost in four)
        return WrittenCosts(fp, fn, tp, tn, unit), actions
    matrix = WrittenMatrix.read(costs, unit)
    if len(matrix.matrix.classes) == 2:
        return matrix.as_four_costs(positive)
    given = click.get_current_context().params
    for name, option in (("positive", "--positive"), ("others_negative", "--others-negative")):
        if given[name]:
            raise UnevenError(
                f"{option} is for two classes, and {matrix.name} has {len(matrix.matrix.classes)}; leave it out"
            )
    return matrix, ()


def _compare_and_fit(
    training: Training,
    asked: AskedLearner,
    unit: str | None,
    rows_per_year: float | None,
    *,
    quick: bool,
    save_anyway: bool,
) -> tuple[str, Any, dict[str, Any], tuple[Any, dict[str, Any]]]:
    """Compare, fit the cheapest to all rows, and print what was found: only now it is known whether it holds.

    Returns the name of the model, its pipeline, what the comparison says for the model file, and the preprocessing with
    the fitted alternatives.
    """
    from uneven.app.cli.terminal import end_progress, print_choice, print_confusion, stopping_at_ctrl_c
    from uneven.app.models.candidates import AUTO
    from uneven.app.models.compare_candidates import out_of_fold_rows
    from uneven.app.models.written_matrix import WrittenMatrix
    from uneven.app.report.sentences import Choice, first_line, volume_in_words

    if not quick and training.work_in_words:
        click.echo(training.work_in_words, err=True)
    with stopping_at_ctrl_c() as progress:
        name = training.first_choice
        about: dict[str, Any] = {"comparison": [], "compared": "", "broken_promise": "", "order": ""}
        outcome = None if quick else training.compare(progress)
        if outcome is not None:
            name = training.cheapest(outcome)
            compared = outcome.rows(name)
            choice = Choice(compared, asked.kind == AUTO, unit)
            about |= {"comparison": [row.to_dict() for row in choice.rows], "compared": outcome.how}
            claim = training.random_claim(outcome, name, progress)
            about["random_folds"] = "" if claim is None else claim.in_words(unit)
            if choice.useless and not save_anyway:
                end_progress()
                print_choice(choice, outcome.what_ifs(name), outcome.how, rows_per_year, about["random_folds"])
                _ask_before_saving(name)
        progress(f"fitting {name} to all rows", 1.0)
        pipeline = training.fit(name, progress)
        if outcome is not None:
            choice = replace(choice, broken=training.broken_promise(choice.rows[0], pipeline))
            about["broken_promise"] = choice.broken
        order = training.order_in_words(quick=quick)
        about["order"] = order or training.dates_in_words
        behind = training.fit_alternatives(name, pipeline, quick=quick)
        end_progress()
    if outcome is not None and (save_anyway or choice.broken or not choice.useless):
        print_choice(choice, outcome.what_ifs(name), outcome.how, rows_per_year, about["random_folds"])
        if isinstance(training.given, WrittenMatrix):
            print_confusion(compared[0], training.given.matrix, unit)
    if quick and (rows := out_of_fold_rows(pipeline)):
        if not isinstance(training.given, WrittenMatrix):
            how = "out of fold, each row decided by models that had not learnt from it"
            about |= {"comparison": [row.to_dict() for row in rows], "compared": how}
        click.echo(f"{first_line(rows, unit)} Each row was decided by models that had not learnt from it.")
        if total := volume_in_words(rows, unit, rows_per_year):
            click.echo(total)
        if isinstance(training.given, WrittenMatrix):
            print_confusion(rows[0], training.given.matrix, unit)
    if order:
        click.echo(order)
    return name, pipeline, about, behind


def _fit_in_parts(
    data: str,
    question: Question,
    asked: AskedLearner,
    given: WrittenCosts,
    memory_limit: str | None,
    output: str,
    rows_per_year: float | None,
    told: dict[str, Any],
    *,
    quick: bool,
) -> None:
    """Fit to files that nobody holds at once; save the model, and say what it is.

    A sample of the rows in memory tells what the columns are like, which of them may know the target, and what such a
    model costs.
    """
    from uneven.app.files.file_kinds import write_whole
    from uneven.app.models.files_in_parts import fit_in_parts, fit_in_words
    from uneven.app.models.model_files import model_bytes

    if not quick:
        _tell_of_sample(data, question, asked, given, rows_per_year)
    learner, about = fit_in_parts(data, question, asked, given, memory_limit)
    content = {"pipeline": learner, "preprocessing": None, "about": {**about, **told}, "rivals": {}, "seen": None}
    write_whole(output, model_bytes(content))
    for sentence in fit_in_words(data, learner, about):
        click.echo(sentence)
    click.echo(f"The model (linear, fitted in parts) is in {output}.")


def _tell_of_sample(
    data: str, question: Question, asked: AskedLearner, given: WrittenCosts, rows_per_year: float | None
) -> None:
    """What a fit in memory would say, of a sample of the rows; one sentence if the sample is too small for it."""
    from uneven.app.cli.terminal import end_progress, print_choice, stopping_at_ctrl_c
    from uneven.app.files.remarks import about_table
    from uneven.app.models.candidates import LINEAR
    from uneven.app.models.files_in_parts import require_in_parts, sample_table
    from uneven.app.models.fit_table import prepare_table
    from uneven.app.report.sentences import Choice

    require_in_parts(data, question, asked, given)
    linear = replace(asked, kind=LINEAR)
    try:
        ready = prepare_table(sample_table(data), question, given, linear)
        with stopping_at_ctrl_c() as progress:
            outcome = ready.training.compare(progress)
            end_progress()
    except UnevenError as error:
        click.echo(f"A sample of the rows cannot tell what the model costs: {error}")
        return
    for sentence in about_table(ready.table, ready.plan, ready.training.X, ready.labels, ready.width, ready.leaks):
        click.echo(sentence)
    for sentence in [*ready.notes, *ready.training.plan_in_words(ready.cost_columns)]:
        click.echo(sentence)
    name = ready.training.cheapest(outcome)
    how = f"{outcome.how}, on a sample of {len(ready.table):,} rows"
    print_choice(Choice(outcome.rows(name), free=False, unit=given.unit), outcome.what_ifs(name), how, rows_per_year)


def can_ask() -> bool:
    """Whether a user can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask_before_saving(name: str) -> None:
    """End the command unless the user wants a model that saves nothing; without a terminal, say how to get it."""
    if can_ask():
        if click.confirm(f"Save {name} anyway?"):
            return
        click.echo("Nothing was saved.")
    else:
        click.echo("Nothing was saved; --save-anyway saves it in spite of this.")
    raise click.exceptions.Exit(1)
