"""From what a report shows to the page: Jinja templates in which every text is escaped."""

from __future__ import annotations

from pathlib import Path

from plausibly.extras import require
from plausibly.report.model import ReportData

PAGE = Path(__file__).with_name("page")
TEMPLATE = "page.html.j2"


def render(data: ReportData) -> str:
    """Return the page: one HTML document that asks for no other file.

    Parameters
    ----------
    data : ReportData
        The template calls it ``report``.

    Returns
    -------
    str
        The same for the same data.

    Raises
    ------
    MissingExtra
        ``extra-missing`` where Jinja is not installed.
    """
    jinja = require("jinja2", extra="report", whose="the report")
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(PAGE),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        keep_trailing_newline=True,
    )
    page = environment.get_template(TEMPLATE).render(report=data)
    return str(page)
