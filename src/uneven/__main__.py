"""``python -m uneven`` is the ``uneven`` command."""

from uneven.cli.main import main

main(prog_name="uneven")
