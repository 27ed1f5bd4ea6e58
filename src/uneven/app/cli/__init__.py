"""The ``uneven`` command."""
