"""Figures for where no scripts run: those of `plausibly.plots`, of the first method and alpha."""

from __future__ import annotations

import base64
import io

from plausibly import plots
from plausibly.extras import require
from plausibly.report.facts import Still
from plausibly.report.measuring import Measured

_FONT = "none"  # text stays text
_SALT = "plausibly"  # the same identifiers in every run


def stills(found: Measured, examples: str) -> tuple[Still, ...]:
    """Return the figures of results at one alpha.

    Parameters
    ----------
    found : Measured
    examples : str
        What examples are called.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without matplotlib, which the extra ``report`` brings.
    """
    matplotlib = require("matplotlib", extra="report", whose="the report")
    drawn = (
        ("vote", "What the sets cover, with intervals", plots.coverage(found.evaluation)),
        ("weak", f"Coverage of each of the {examples}, sorted", plots.realised(found.realised)),
        ("sizes", "How many labels the sets hold", plots.sizes(found.evaluation)),
    )
    images = []
    with matplotlib.rc_context({"svg.fonttype": _FONT, "svg.hashsalt": _SALT}):
        for section, alt, axes in drawn:
            content = io.BytesIO()
            axes.figure.savefig(content, format="svg", metadata={"Date": None})
            source = base64.b64encode(content.getvalue()).decode("ascii")
            images.append(
                Still(section=section, alt=alt, source=f"data:image/svg+xml;base64,{source}")
            )
    return tuple(images)
