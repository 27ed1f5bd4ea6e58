"""``uneven demo``."""

from __future__ import annotations

from pathlib import Path

import click

REPORT = "uneven-report.html"
#: Fewer than `uneven fit` uses, to be quick.
MEMBERS = "linear,svc,extra_trees,forest"


@click.command()
@click.option("--out", "output", default=REPORT, show_default=True, help="The report to write.")
@click.option("--members", metavar="NAMES", default=MEMBERS, show_default=True, help="Members of the ensemble.")
def demo(output: str, members: str) -> None:
    """Find the cheapest classifier on real data, and report.

    Breast-cancer data of scikit-learn; a missed malignant tumour costs 20 false alarms.
    """
    import uneven
    from uneven.app.cli.terminal import end_progress, print_choice, print_members, stopping_at_ctrl_c
    from uneven.app.files.file_kinds import require_output, write_whole
    from uneven.app.models.candidates import AskedLearner
    from uneven.app.report.pages import FN_COST, FP_COST, demo_page, demo_training, result_in_words
    from uneven.app.report.sentences import Choice, is_ensemble, model_in_words

    asked = AskedLearner.read(None, None, None, False, members, None)
    require_output(output)
    training = demo_training(asked)
    click.echo("Wisconsin breast cancer: 569 patients, 212 with a malignant tumour, 30 measurements each.")
    for sentence in training.plan_in_words([]):
        click.echo(sentence)
    click.echo(f"The ensemble averages {members.replace(',', ', ')}; `uneven fit` uses more members.")
    with stopping_at_ctrl_c() as progress:
        outcome = training.compare(progress)
        name = training.cheapest(outcome)
        progress(f"fitting {name} to all patients", 1.0)
        pipeline = training.fit(name, progress)
        end_progress()
    choice = Choice(outcome.rows(name), free=True)
    result = result_in_words(choice.rows)
    click.echo(f"\n{result}")
    print_choice(choice, outcome.what_ifs(name), outcome.how)
    if is_ensemble(pipeline[-1]):
        print_members(pipeline[-1], None)
    for sentence in model_in_words(pipeline):
        click.echo(sentence)
    window = uneven.phi("beta", order=uneven.UnevenEnsembleClassifier().order)
    loss = uneven.calibrated_loss(window, alpha=uneven.Cost(fp_cost=FP_COST, fn_cost=FN_COST).exact_alpha)
    certificate = uneven.certify(loss)
    checked = "valid" if uneven.verify(certificate) else "not valid"
    click.echo(f"\nCertificate of the loss that corrects the ensemble's threshold: {certificate}")
    click.echo(f"Checked again from its text: {checked}.")
    write_whole(output, demo_page(result, choice, outcome, pipeline, certificate))
    click.echo(f"\nOpen {Path(output).name} for the figures and the certificate. Your own table:")
    click.echo("  uneven fit TABLE.csv --target COLUMN --positive VALUE --fp-cost 1 --fn-cost 20 -o model.skops")
