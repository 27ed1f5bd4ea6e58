"""The command: what it prints, its exit codes, its files; in process, through a pipe and in a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click import unstyle
from click.testing import CliRunner, Result
from terminal import in_terminal

import uneven
import uneven.app.cli.commands
from uneven.app.cli.main import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_check() -> None:
    result = run("check", "logistic", "--gamma", "2", "--fp-cost", "1", "--fn-cost", "11", "--weighted")
    assert result.exit_code == 0
    assert "CALIBRATED for these costs: phi is convex" in result.output
    assert "This loss treats a false negative as 11 times a false positive." in result.output
    assert "surrogate regret" in result.output
    data = json.loads(run("check", "hinge", "--alpha", "0.1", "--json").output)
    assert data["verdict"]["status"] == "not calibrated"
    assert data["implied"]["exact"] == "1/2"
    pair = run("check", "--positive", "10*softplus(-t)", "--negative", "softplus(t)")
    assert "alpha = 0.0909091" in pair.output
    assert "Verdict   CALIBRATED" in pair.output


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_check_draws(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"psi.{kind}"
    assert run("check", "hinge", "--plot", str(file)).exit_code == 0
    assert file.stat().st_size > 2000
    assert list(tmp_path.iterdir()) == [file]


def test_implied_cost() -> None:
    result = run("implied-cost", "hinge", "--gamma", "2", "--beta", "3")
    assert result.output.splitlines()[0] == "This loss treats a false positive as 6 times a false negative."
    assert json.loads(run("implied-cost", "perceptron", "--json").output)["alpha"] is None


@pytest.mark.slow
def test_check_prescribes() -> None:
    costs = ("--fp-cost", "1", "--fn-cost", "11")
    result = run("check", "logistic", *costs)
    assert "Remedy    weight the positives by 11 (`--weighted`), which is calibrated for these costs" in result.output
    assert "Verdict   CALIBRATED" in run("check", "logistic", *costs, "--weighted").output
    beta = run("check", "hinge", "--gamma", "2", "--beta", "3", "--alpha", "0.1").output
    assert "weight the positives by 54 (`--beta 1/18`), which is calibrated" in beta
    assert "CALIBRATED for these" in run("check", "hinge", "--gamma", "2", "--beta", "1/18", "--alpha", "0.1").output
    rounded = run("check", "sigmoid", "--gamma", "2", "--alpha", "0.1", "--weighted").output
    (option,) = [part for part in rounded.split("`") if part.startswith("--beta ")]
    assert "which is calibrated up to rounding for these costs" in rounded
    again = run("check", "sigmoid", "--gamma", "2", "--alpha", "0.1", "--weighted", *option.split()).output
    assert "Verdict   CALIBRATED UP TO ROUNDING" in again
    assert "Remedy" not in again
    pair = run("check", "--positive", "10*softplus(-t)", "--negative", "softplus(t)", "--alpha", "1/2").output
    assert "weight the negatives by 10 (uneven.Loss('softplus(-t)', 'softplus(t)'))" in pair


def test_implied_cost_compares_with_given_costs() -> None:
    other = run("implied-cost", "hinge", "--fp-cost", "1", "--fn-cost", "5")
    assert other.exit_code == 1
    assert other.output.splitlines()[-1] == (
        "Your costs (alpha = 1/6: a false negative costs 5 times a false positive) are not the same: "
        "weight the positives by 5 (`--weighted`)."
    )
    same = run("implied-cost", "hinge", "--fp-cost", "1", "--fn-cost", "5", "--weighted")
    assert same.exit_code == 0
    assert same.output.splitlines()[-1].endswith("are the same.")
    data = json.loads(run("implied-cost", "hinge", "--alpha", "0.1", "--json").output)
    assert (data["your_alpha"], data["agrees"], data["exact"]) == ("1/10", False, "1/2")
    none = run("implied-cost", "perceptron", "--alpha", "0.1")
    assert none.exit_code == 1
    assert "no weights repair this loss" in none.output
    assert "your_alpha" not in json.loads(run("implied-cost", "hinge", "--json").output)


@pytest.mark.parametrize(
    ("costs", "alpha"),
    [(("--alpha", "0.1"), "0.1"), (("--alpha", "1/11"), "1/11"), (("--fp-cost", "1", "--fn-cost", "20"), "1/21")],
)
def test_certify_prints_alpha_as_written(tmp_path: Path, costs: tuple[str, ...], alpha: str) -> None:
    file = str(tmp_path / "c.json")
    made = run("certify", "logistic", "--weighted", *costs, "-o", file)
    sentence = f"The loss is calibrated for alpha = {alpha} and for no other alpha."
    assert made.output == f"proved: {sentence}\n"
    assert run("verify", file).output == f"valid: {sentence}\n"


def test_certify_and_verify(tmp_path: Path) -> None:
    file = tmp_path / "sigmoid.json"
    made = run("certify", "sigmoid", "--gamma", "3", "--psi", "0.1", "-o", str(file))
    assert (made.exit_code, made.output[:7]) == (0, "proved:")
    assert uneven.verify(file.read_text())
    good = run("verify", str(file))
    assert (good.exit_code, good.output[:6]) == (0, "valid:")
    file.write_text(file.read_text().replace('"scale": "-3"', '"scale": "-4"'))
    bad = run("verify", str(file))
    assert bad.exit_code == 1
    assert "step" in bad.stderr
    file.write_text("nothing")
    assert run("verify", str(file)).exit_code == 2
    file.write_bytes(b"\xff\xfe")
    assert run("verify", str(file)).exit_code == 2
    assert run("verify", str(tmp_path / "absent")).exit_code == 2
    undecided = run("certify", "sigmoid", "--gamma", "2", "--budget", "2", "-o", str(tmp_path / "u.json"))
    assert undecided.exit_code == 1
    assert run("verify", str(tmp_path / "u.json")).exit_code == 1


@pytest.mark.slow
def test_figures(tmp_path: Path) -> None:
    result = run("figures", "hinge", "--out", str(tmp_path), "--format", "svg")
    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hinge.svg", "index.html"]
    assert "drawing hinge" in result.stderr
    assert [line.split()[0] for line in run("figures", "--list").output.splitlines()] == list(uneven.figures.FIGURES)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["check"], "give a LOSS"),
        (["check", "hinge", "--positive", "exp(t)", "--negative", "exp(-t)"], "give a LOSS"),
        (["check", "--positive", "exp(-t)"], "--positive and --negative belong together"),
        (
            ["check", "--positive", "exp(-t)", "--negative", "exp(t)", "--gamma", "2"],
            "--gamma and --beta belong to a LOSS",
        ),
        (["check", "hinge", "--alpha", "2"], "alpha must lie strictly between 0 and 1, got '2'"),
        (["check", "hinge", "--alpha", "0.1", "--fp-cost", "1"], "not both"),
        (["check", "hinge", "--fp-cost", "1"], "belong together"),
        (["check", "hinge", "--fp-cost", "1", "--fn-cost", "-2"], "--fn-cost must be positive, got '-2'"),
        (["check", "hinge", "--weighted"], "--weighted needs costs"),
        (["check", "hinge", "--gamma", "x"], "gamma must be a finite number, got 'x'"),
        (["check", "hing"], "hinge"),
        (["check", "log_loss"], "there is no phi named 'log_loss'; did you mean 'logistic'?"),
        (["check", "ln(1 + exp(-t))"], "there is no function 'ln' (did you mean 'log'?), at column 1"),
        (["check", "exp(-t"], "expected ')'"),
        (["check", "hinge", "--plot", "x.gif"], "ends in one of png, svg, pdf"),
        (["check", "hinge", "--plot", "/absent/x.png"], "there is no folder '/absent'"),
        (["certify", "hinge", "-o", "/absent/x.json"], "there is no folder '/absent'"),
        (["certify", "hinge"], "Missing option '-o'"),
        (["figures", "nothing"], "there is no figure 'nothing'"),
        (["figures", "--format", "gif"], "format must be one of"),
        (["losses", "--gamma", "0"], "gamma must be positive, got '0'"),
        (["nothing"], "No such command 'nothing'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments: list[str], sentence: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.output
    assert len([line for line in result.stderr.splitlines() if line.startswith("Error:")]) == 1


def test_nothing_is_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from uneven.app.files.file_kinds import write_whole

    target = tmp_path / "file"
    target.write_text("before")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_whole(target, "after")
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


COMMAND = [sys.executable, "-m", "uneven"]


@pytest.mark.slow
def test_through_a_pipe() -> None:
    done = subprocess.run([*COMMAND, "check", "sigmoid", "--gamma", "2"], capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) > 120  # a sentence stays on its line
    again = subprocess.run([*COMMAND, "check", "sigmoid", "--gamma", "2"], capture_output=True, text=True, check=True)
    assert again.stdout == done.stdout


@pytest.mark.slow
def test_a_reader_that_stops_early() -> None:
    command = f"{sys.executable} -m uneven figures --list | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("partial-losses")
    assert "Error" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("colour", [True, False])
def test_in_a_terminal(colour: bool) -> None:
    """A pseudo-terminal gets the same words; NO_COLOR means no control codes."""
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    environment.pop("NO_COLOR", None)
    if not colour:
        environment["NO_COLOR"] = "1"
    status, shown = in_terminal([*COMMAND, "losses"], environment)
    assert status == 0
    assert "hinge" in shown
    if not colour:
        assert "\x1b[3" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("columns", [50, 60, 79, 80, 120])
def test_formulas_stay_whole_in_terminals_of_any_width(columns: int) -> None:
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), "NO_COLOR": "1"}
    status, shown = in_terminal([*COMMAND, "losses"], environment)
    assert status == 0
    for name in uneven.losses.names():
        assert name in shown
        assert uneven.phi(name).text in shown
    assert "2.816 : 1" in shown if columns >= 100 else "FN : FP = 2.816 : 1 at gamma = 4" in shown
    assert max(map(len, unstyle(shown).splitlines())) <= columns


@pytest.mark.slow
def test_a_bar_moves_in_a_terminal(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "".join(f"{k % 7},{'a' if k % 3 else 'b'}\n" for k in range(60)))
    costs = [
        "--target",
        "y",
        "--positive",
        "b",
        "--fp-cost",
        "1",
        "--fn-cost",
        "2",
        "--learner",
        "linear",
        "--save-anyway",
    ]
    command = [*COMMAND, "fit", str(table), *costs, "-o", str(tmp_path / "m.skops")]
    status, shown = in_terminal(command, {**os.environ, "TERM": "xterm", "COLUMNS": "120"})
    assert status == 0
    assert "[........................] repeat 1 of 2, fold 1 of 5" in shown
    assert "[###########.............] repeat 2 of 2, fold 1 of 5" in shown


def test_the_help_names_every_command_and_what_it_does() -> None:
    shown = run("--help").output
    files = Path(uneven.app.cli.commands.__file__).parent.glob("[a-z]*.py")
    names = sorted(file.stem.replace("_", "-") for file in files)
    assert [line.split()[0] for line in shown.split("Commands:")[1].strip().splitlines()] == names
    assert "..." not in shown.split("Commands:")[1]  # each fits on its line
    assert run("implied_cost", "hinge").exit_code == 2  # commands are written with hyphens


def test_help_is_light() -> None:
    """--help imports neither NumPy nor scikit-learn."""
    code = "import sys; from click.testing import CliRunner; from uneven.app.cli.main import main; "
    code += "print([CliRunner().invoke(main, [*words, '--help']).exit_code for words in ([], ['check'])]);"
    code += "print([name for name in ('numpy', 'rich', 'sklearn') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[0, 0]", "[]"]


def test_one_command_does_not_import_another() -> None:
    code = "import sys; from click.testing import CliRunner; from uneven.app.cli.main import main; "
    code += "CliRunner().invoke(main, ['verify', '--help']);"
    code += "print([name for name in sys.modules if name.startswith('uneven.app.cli.commands.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['uneven.app.cli.commands.verify']"
