"""``python -m uneven`` is the ``uneven`` command."""

from uneven.app.cli.main import run

run()
