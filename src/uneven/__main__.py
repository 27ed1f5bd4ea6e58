"""``python -m uneven`` is the ``uneven`` command."""

from uneven.cli.main import run

run()
