"""Pages of the built site in a browser: search lands where it should, nothing comes from elsewhere.

``tox -e docs`` builds the site and names its folder in ``PLAUSIBLY_SITE``.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .page import NARROW, opened, overflowing, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

PAGES = ("index", "choosing", "equations", "reference/plausibly", "messages")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # the name that the base class has
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """Address of the built site."""
    folder = os.environ.get("PLAUSIBLY_SITE")
    if folder is None or not (Path(folder) / "index.html").is_file():
        pytest.skip("no site is built: tox -e docs")
    handler = functools.partial(_Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("question", ["which+method+should+I+use", "which+method"])
def test_the_question_lands_on_the_table_of_methods(
    browser: Browser, site: str, question: str
) -> None:
    with opened(browser, f"{site}/search.html?q={question}", site=site) as page:
        first = page.locator("#search-results li a").first
        first.wait_for()
        assert first.inner_text() == "Which method should I use?"
        assert "choosing.html" in (first.get_attribute("href") or "")


def test_a_message_is_found_by_its_name(browser: Browser, site: str) -> None:
    with opened(browser, f"{site}/search.html?q=guarantee-vacuous", site=site) as page:
        page.locator("#search-results li a[href*='messages.html']").first.wait_for()


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible_and_fit(browser: Browser, site: str, name: str) -> None:
    address = f"{site}/{name}.html"
    with opened(browser, address, site=site) as page:
        assert violations(page) == []
    with opened(browser, address, site=site, width=NARROW, scheme="dark") as page:
        assert violations(page) == []
        assert overflowing(page) == []
