"""``uneven completion``."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete commands and options.

    Bash: eval "$(uneven completion bash)" in ~/.bashrc. Zsh: eval "$(uneven completion zsh)" in ~/.zshrc. Fish: uneven
    completion fish > ~/.config/fish/completions/uneven.fish.
    """
    from click.shell_completion import BashComplete, get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    program = found(context.find_root().command, {}, "uneven", "_UNEVEN_COMPLETE")
    # The source of bash first runs bash to learn its version, which fails where bash is not installed.
    text = BashComplete.source_template % program.source_vars() if shell == "bash" else program.source()
    click.echo(text)
