"""One browser for all tests of pages; it ends before other tests begin."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """Start Chromium; it may not run beside asyncio, so not for the whole session."""
    with import_module("playwright.sync_api").sync_playwright() as playwright:
        running: Browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield running
        running.close()
