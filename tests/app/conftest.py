"""One server and one browser for all tests that ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browsing import Visit, running_browser, running_explorer


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with running_explorer() as (_, found):
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with running_browser() as made:
        yield made


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Visit]:
    made = Visit(browser, address)
    yield made
    made.close()
