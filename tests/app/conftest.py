"""A server and a browser for each file of tests that asks for them.

Playwright keeps a running event loop in its thread, which other tests must not find: it ends with the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browsing import Visit, running_browser, running_explorer


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_explorer() as (_, found):
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with running_browser() as made:
        yield made


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Visit]:
    made = Visit(browser, address)
    yield made
    made.close()
