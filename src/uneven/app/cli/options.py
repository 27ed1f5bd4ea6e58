"""Options that several commands share: how a table is read, a loss and its costs, what outcomes cost, a model."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from uneven.errors import UnevenError

if TYPE_CHECKING:
    from uneven.app.files.table_formats import Reading
    from uneven.calibration.implied_costs import Prescription
    from uneven.losses import Loss
from functools import wraps

Command = Callable[..., Any]

_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
_DECIMALS = {"comma": ",", "point": ".", ".": ".", ",": ","}

_READING = (
    click.option("--sep", metavar="CHAR", help="What separates the fields of a text file: , ; | or tab."),
    click.option("--decimal", metavar="CHAR", help="The decimal sign of numbers: . or ,"),
    click.option("--encoding", metavar="NAME", help="The encoding of a text file, such as utf-8 or cp1252."),
    click.option("--sheet", metavar="NAME", help="The sheet of an Excel workbook."),
    click.option(
        "--header-row",
        type=click.IntRange(min=1),
        metavar="N",
        help="The row that names the columns, if it is not found: titles may stand above it.",
    ),
    click.option("--no-header", is_flag=True, help="No row names the columns: they are called 'column 1' and so on."),
    click.option(
        "--dates",
        type=click.Choice(["day-first", "month-first"]),
        help="How to read dates such as 03/04/2026.",
    ),
)


def _with_options(command: Command, options: tuple[Command, ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def reading_options(command: Command) -> Command:
    """Give a command the options of :func:`read_options`."""
    return _with_options(command, _READING)


def read_options(
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    dates: str | None = None,
    header_row: int | None = None,
    no_header: bool = False,
) -> Reading:
    """The options of a command as one value; an error names the option that makes no sense."""
    from uneven.app.files.table_formats import Reading
    from uneven.inputs import brief

    if sep is not None:
        sep = _SEPARATORS.get(sep, sep)
        if len(sep) != 1 or sep in '"\r\n' or ord(sep) > 127:
            raise UnevenError(f"--sep must be one character such as , ; | or the word tab, got {brief(sep)}")
    if decimal is not None:
        if decimal not in _DECIMALS:
            raise UnevenError(f"--decimal must be . or , got {brief(decimal)}")
        decimal = _DECIMALS[decimal]
    if encoding is not None:
        try:
            encoding = codecs.lookup(encoding).name
            "".encode(encoding)
        except LookupError:
            raise UnevenError(f"--encoding must be a name such as utf-8 or cp1252, got {brief(encoding)}") from None
    if no_header and header_row is not None:
        raise UnevenError("give --header-row or --no-header, not both")
    day_first = None if dates is None else dates == "day-first"
    return Reading(sep, decimal, encoding, sheet, day_first, header_row, no_header)


# -- a loss and its costs ----------------------------------------------------------------------------------------------

_ZOO_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+(\(.*\))?")

#: Parameters of a loss of the zoo.
settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of a loss of another library, such as weight=1,10; may be repeated.",
)

_LOSS = (
    click.argument("loss", required=False),
    settings_option,
    click.option(
        "--gamma",
        metavar="G",
        help="Margin asymmetry, such as 2 or 1/3: a negative example has the loss beta*phi(-gamma*t).",
    ),
    click.option(
        "--beta",
        metavar="B",
        help="Factor of the loss beta*phi(-gamma*t) of a negative example; by default exactly 1/gamma.",
    ),
    click.option(
        "--positive", metavar="EXPR", help="Instead of LOSS: the loss of a positive example, an expression in t."
    ),
    click.option(
        "--negative", metavar="EXPR", help="Instead of LOSS: the loss of a negative example, an expression in t."
    ),
    click.option(
        "--alpha", metavar="A", help="Costs as one number: a false positive costs alpha, a false negative 1 - alpha."
    ),
    click.option("--fp-cost", metavar="X", help="Cost of a false positive (with --fn-cost, instead of --alpha)."),
    click.option("--fn-cost", metavar="Y", help="Cost of a false negative."),
    click.option(
        "--weighted",
        is_flag=True,
        help="First weight the loss by the costs: positives times 1 - alpha, negatives times alpha.",
    ),
)

#: The switch of commands that can print JSON.
json_option = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")


@dataclass(frozen=True)
class Request:
    """A loss and the alpha asked for, if any; for a loss of the zoo, its name and the parameters given."""

    loss: Loss
    alpha: Fraction | None
    zoo_name: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def loss_options(command: Command) -> Command:
    """Give a command the argument LOSS and the options that describe it; see :func:`read_request`."""
    return _with_options(command, _LOSS)


def read_request(
    loss: str | None,
    settings: tuple[str, ...],
    gamma: str | None,
    beta: str | None,
    positive: str | None,
    negative: str | None,
    alpha: str | None,
    fp_cost: str | None,
    fn_cost: str | None,
    weighted: bool,
) -> Request:
    """The loss and the alpha that the options describe; an error names options that exclude each other."""
    from uneven.losses import Loss, UnevenMarginLoss

    target = _read_alpha(alpha, fp_cost, fn_cost)
    if (positive is None) != (negative is None):
        raise UnevenError("--positive and --negative belong together: give both, or a LOSS")
    if (loss is None) == (positive is None):
        raise UnevenError(
            "give a LOSS (a registered name, a loss of another library or an expression in t), or --positive "
            "and --negative"
        )
    chosen: Loss
    parameters = read_settings(settings)
    if loss is not None and _ZOO_NAME.fullmatch(loss):
        from uneven import zoo

        if gamma is not None or beta is not None:
            raise UnevenError("--gamma and --beta belong to a phi; a loss of another library takes --set")
        chosen = zoo.loss(loss, **parameters)
    elif parameters:
        raise UnevenError("--set belongs to a loss of another library, such as torch.nn.CrossEntropyLoss")
    elif loss is not None:
        chosen = UnevenMarginLoss(loss, gamma="1" if gamma is None else gamma, beta=beta)
    elif gamma is not None or beta is not None:
        raise UnevenError("--gamma and --beta belong to a LOSS, not to --positive and --negative")
    else:
        assert positive is not None
        assert negative is not None
        chosen = Loss(positive, negative)
    if weighted:
        if target is None:
            raise UnevenError("--weighted needs costs: give --alpha, or --fp-cost and --fn-cost")
        chosen = chosen.weighted(target)
    is_zoo = loss is not None and _ZOO_NAME.fullmatch(loss)
    return Request(chosen, target, loss if is_zoo else None, parameters)


def read_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """The parameters given by ``--set``: a text, None, or with commas a tuple of texts."""
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise UnevenError(f"--set takes NAME=VALUE, such as --set weight=1,10, got {setting!r}")
        if name in found:
            raise UnevenError(f"--set {name} is given twice")
        if value.lower() == "none":
            found[name] = None
        else:
            found[name] = tuple(part.strip() for part in value.split(",") if part.strip()) if "," in value else value
    return found


def remedy_options(request: Request, remedy: Prescription | None) -> str | None:
    """The options, besides those given, that ask for the prescribed loss; None if it takes another LOSS."""
    from uneven.losses import UnevenMarginLoss

    if remedy is None or request.alpha is None:
        return None
    asked, found = request.loss, remedy.loss
    if asked.exact_alpha is None and found == asked.weighted(request.alpha):
        return "`--weighted`"
    if not isinstance(asked, UnevenMarginLoss) or not isinstance(found, UnevenMarginLoss) or found.phi != asked.phi:
        return None
    beta = found.exact_beta
    return f"`--beta {beta if beta.denominator < 10**9 else found.beta}`"


def _read_alpha(alpha: str | None, fp_cost: str | None, fn_cost: str | None) -> Fraction | None:
    from uneven import inputs

    if alpha is not None and (fp_cost is not None or fn_cost is not None):
        raise UnevenError("give --alpha, or --fp-cost and --fn-cost, not both")
    if (fp_cost is None) != (fn_cost is None):
        raise UnevenError("--fp-cost and --fn-cost belong together")
    if alpha is not None:
        return inputs.between_0_and_1("alpha", alpha)
    if fp_cost is not None and fn_cost is not None:
        first, second = inputs.positive("--fp-cost", fp_cost), inputs.positive("--fn-cost", fn_cost)
        return first / (first + second)
    return None


# -- what the four outcomes cost ---------------------------------------------------------------------------------------

_OF = "a number, a column, or an arithmetic of columns"

_COSTS = (
    click.option("--fp-cost", metavar="X", help=f"Cost of a false positive (a false alarm): {_OF}."),
    click.option("--fn-cost", metavar="Y", help=f"Cost of a false negative (a miss): {_OF}."),
    click.option("--tp-cost", default="0", metavar="Z", help="Cost of a true positive; a benefit is negative."),
    click.option("--tn-cost", default="0", metavar="W", help="Cost of a true negative; a benefit is negative."),
    click.option(
        "--costs",
        metavar="FILE",
        help="In place of these, for several classes: a table (.csv, .xlsx) with a row for each true class and a "
        "column for each decision.",
    ),
    click.option("--unit", metavar="NAME", help="The unit of the costs, such as EUR: only shown."),
)

#: How many rows a year brings, for totals.
volume_option = click.option(
    "--rows-per-year", type=click.FloatRange(min=1, max=1e12), metavar="N", help="Also tell costs for N rows a year."
)

#: Whether rows whose costs are not known are left out.
skip_costs_option = click.option(
    "--skip-bad-costs", is_flag=True, help="Leave rows out whose costs are empty or no numbers."
)

_CHANGES = (
    click.option("--fp-cost", metavar="X", help="Cost of a false positive, if it is not that of the fit."),
    click.option("--fn-cost", metavar="Y", help="Cost of a false negative, if it is not that of the fit."),
    click.option("--tp-cost", metavar="Z", help="Cost of a true positive, if it is not that of the fit."),
    click.option("--tn-cost", metavar="W", help="Cost of a true negative, if it is not that of the fit."),
)


def cost_options(command: Command) -> Command:
    """Give a command the options of the four costs and their unit."""
    return _with_options(command, _COSTS)


def require_costs(costs: str | None) -> None:
    """Of the command that runs: either a table of costs, or the positive class and the two costs of mistakes."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        if costs is None and name in ("positive", "fp_cost", "fn_cost") and context.params[name] is None:
            raise click.MissingParameter(ctx=context, param=parameter)
        given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if costs is not None and given and name in _INSTEAD_OF_COSTS:
            raise UnevenError(f"--costs {costs} stands in place of {_INSTEAD_OF_COSTS[name]}; leave one of them out")


_INSTEAD_OF_COSTS = {
    "fp_cost": "--fp-cost",
    "fn_cost": "--fn-cost",
    "tp_cost": "--tp-cost",
    "tn_cost": "--tn-cost",
    "actions": "--action: further decisions are columns of the table",
    "skip_bad_costs": "--skip-bad-costs: its costs are the same for all rows",
}


def changed_cost_options(command: Command) -> Command:
    """Give a command options of costs that replace those of a model."""
    return _with_options(command, _CHANGES)


def changed_costs(fp_cost: str | None, fn_cost: str | None, tp_cost: str | None, tn_cost: str | None) -> dict[str, str]:
    """The costs that were given."""
    given = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
    return {name: cost for name, cost in given.items() if cost is not None}


# -- limits and further actions ----------------------------------------------------------------------------------------

#: An action besides the two predictions.
action_option = click.option(
    "--action",
    "actions",
    multiple=True,
    metavar="NAME=COST:COST",
    help="A further action with its costs on a positive and on a negative row, such as review=8:5; may be repeated.",
)

_LIMITS = (
    action_option,
    click.option("--at-most", metavar="N", help="Flag at most N rows; ACTION=N: give at most N rows this action."),
    click.option("--at-most-share", metavar="S", help="The same as a share of the rows, such as 0.02."),
    click.option("--flag-rate", metavar="S", help="Flag exactly this share of the rows."),
    click.option("--per", metavar="COL", help="The limit holds in each group of this column; COL:day for dates."),
    click.option("--recall-at-least", metavar="R", help="Flag at least this share of the positives, such as 0.9."),
    click.option("--precision-at-least", metavar="P", help="At least this share of the flagged rows is positive."),
    click.option("--budget", metavar="SUM", help="What may be spent on flagged rows in all, with --flag-takes."),
    click.option("--flag-takes", metavar="X", help=f"What a flagged row takes of the budget: {_OF}."),
    click.option("--held-out", metavar="DATA", help="Labelled rows, for a guarantee of the recall or precision."),
    click.option("--confidence", metavar="C", help="Of that guarantee [default: 0.95]."),
)


def limit_options(command: Command) -> Command:
    """Give a command the options of further actions and of limits."""
    return _with_options(command, _LIMITS)


# -- commands that apply a model --------------------------------------------------------------------------------------


def applying(command: Callable[..., None]) -> Callable[..., None]:
    """Make one sentence of the errors of a model that could be read but does not fit together; for commands.

    Arrays of a file may have been exchanged, or other versions of the libraries may expect others; then any method of
    the model may raise any type of error.
    """

    @wraps(command)
    def run(model: str, **options: Any) -> None:
        try:
            command(model=model, **options)
        except (UnevenError, OSError, click.exceptions.Exit, click.ClickException):
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            raise UnevenError(
                f"the model in {model} cannot be applied ({reason}); "
                "if the file was changed, or its libraries have other versions than at the fit, fit the model again"
            ) from error

    return run
