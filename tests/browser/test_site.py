"""Pages of the built site in a browser: search lands where it should, nothing comes from elsewhere.

``tox -e docs`` builds the site and names its folder in ``PLAUSIBLY_SITE``.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .page import NARROW, WIDE, Scheme, overflowing, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

pytestmark = pytest.mark.browser

PAGES = ("index", "choosing", "theory/equations", "reference/plausibly", "messages")


class _Quiet(SimpleHTTPRequestHandler):
    """Gives out files and says nothing."""

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


@contextmanager
def opened(
    browser: Browser, site: str, page: str, width: int = WIDE, scheme: Scheme = "light"
) -> Iterator[Page]:
    """Open a page of the site; a fault, or a request to elsewhere, fails the block."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    faults: list[str] = []
    try:
        shown = context.new_page()

        def asked(request: Request) -> None:
            if not request.url.startswith((site, "data:")):
                faults.append(request.url)

        def heard(message: ConsoleMessage) -> None:
            if message.type == "error":
                faults.append(message.text)

        shown.on("request", asked)
        shown.on("console", heard)
        shown.on("pageerror", lambda error: faults.append(str(error)))
        shown.goto(f"{site}/{page}")
        yield shown
        assert not faults
    finally:
        context.close()


@pytest.mark.parametrize("question", ["which+method+should+I+use", "which+method"])
def test_the_question_lands_on_the_table_of_methods(
    browser: Browser, site: str, question: str
) -> None:
    with opened(browser, site, f"search.html?q={question}") as page:
        first = page.locator("#search-results li a").first
        first.wait_for()
        assert first.inner_text() == "Which method should I use?"
        assert "choosing.html" in (first.get_attribute("href") or "")


def test_a_message_is_found_by_its_name(browser: Browser, site: str) -> None:
    with opened(browser, site, "search.html?q=guarantee-vacuous") as page:
        page.locator("#search-results li a[href*='messages.html']").first.wait_for()


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible_and_fit(browser: Browser, site: str, name: str) -> None:
    with opened(browser, site, f"{name}.html") as page:
        assert violations(page) == []
    with opened(browser, site, f"{name}.html", NARROW, "dark") as page:
        assert violations(page) == []
        assert overflowing(page) == []
