"""One browser for all tests of pages; it ends before other tests begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from .page import started

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """Start Chromium; it may not run beside asyncio, so not for the whole session."""
    with started(chromium) as running:
        yield running
