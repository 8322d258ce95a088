"""The report: one HTML file that shows whether prediction sets can be trusted, and where not."""

from __future__ import annotations

from importlib.util import find_spec

REPORT = "report.html"  # default name of the file


def can_report() -> bool:
    """Return whether there is what makes the page, the extra ``report``."""
    return find_spec("jinja2") is not None
