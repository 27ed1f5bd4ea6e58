"""``uneven card``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from uneven.app.cli.options import applying
from uneven.errors import UnevenError

_PAGE, _DATA, _TEXT = (".html", ".htm"), ".json", ".txt"


@click.command()
@click.argument("model")
@click.option("--decided-by", metavar="WHO", help="Who decided the costs, and when, if the model file does not say.")
@click.option(
    "-o", "--output", metavar="OUT", help="The file to write: .html, .json or .txt. By default text is printed."
)
@applying
def card(model: str, decided_by: str | None, output: str | None) -> None:
    """Write the card of a model, for those who answer for it.

    It says what the model learnt from, what mistakes cost and who decided that, what it costs on rows that it has not
    seen, what is guaranteed and what is proved, what it cannot do, with which versions it was made, and the hashes of
    model file and training table. What is not known is called so. The page holds the certificate of the loss: `uneven
    verify card.html` checks it again.
    """
    from uneven.app.files.file_kinds import require_output, write_whole
    from uneven.app.models.apply_classes import has_several_classes
    from uneven.app.models.model_files import read_model
    from uneven.app.report.class_card import class_file_card
    from uneven.app.report.file_card import file_card

    name = "" if output is None else output.lower()
    if output is not None:
        if not name.endswith((*_PAGE, _DATA, _TEXT)):
            raise UnevenError(f"a card is written to a file that ends in .html, .json or .txt, got {output!r}")
        require_output(output, inputs=(model,))
    content = read_model(model)
    kept = content["about"].get("decided_by")
    if kept and decided_by and kept != decided_by:
        raise UnevenError(f"{model} says who decided the costs: {kept}; got {decided_by!r}; leave --decided-by out")
    make = class_file_card if has_several_classes(content) else file_card
    made = make(content, Path(model).name, decided_by)
    if output is None:
        click.echo(made.summary())
        return
    if name.endswith(_PAGE):
        written = made.to_html()
    else:
        written = (
            made.summary() + "\n" if name.endswith(_TEXT) else json.dumps(made.to_dict(), indent=1, allow_nan=False)
        )
    write_whole(output, written)
    click.echo(f"{output}: the card of {model}, {'with' if made.certificate else 'without'} a certificate.")
