"""The data that the page of a report shows, and their JSON."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import attrs

HELD, BROKEN, UNCHECKED = "held", "broken", "cannot be checked"
FORMAT = 1

_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


class Section(SimpleNamespace):
    """A part of the page: its fields are the keys that the scripts read."""

    def to_text(self) -> str:
        return json.dumps(
            self, default=vars, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )


@attrs.frozen(kw_only=True, slots=False)
class Words:
    example: str = "example"
    examples: str = "examples"
    annotator: str = "annotator"
    annotators: str = "annotators"

    @property
    def of_annotators(self) -> str:
        return self.annotators + ("'" if self.annotators.endswith("s") else "'s")


@attrs.frozen(slots=False)
class Interval:
    """A mean with its interval; None where there is none."""

    mean: float | None
    low: float | None
    high: float | None


@attrs.frozen(slots=False)
class Check:
    name: str
    title: str
    state: str
    words: str


@attrs.frozen(slots=False)
class Finding:
    severity: str
    name: str
    sentence: str
    action: str = ""
    part: int | None = None


class ReportData(Section):
    """All that the page shows; a view for each method and alpha."""

    def view(self, method: int, alpha: int) -> Section:
        view: Section = self.views[method * len(self.alphas) + alpha]
        return view

    def to_text(self) -> str:
        """Return the JSON text, the same for the same data; nothing in it ends a script."""
        # Cases have no floats but weights, and a hundred thousand times as much.
        rounded = {
            name: part if name == "cases" else _rounded(part) for name, part in vars(self).items()
        }
        return Section(format=FORMAT, **rounded).to_text().translate(_ESCAPES)


def _rounded(value: object) -> object:
    """Return data whose numbers keep five decimals."""
    if isinstance(value, float):
        return round(value, 5) if math.isfinite(value) else None
    if isinstance(value, tuple):
        return [_rounded(item) for item in value]
    if hasattr(value, "__dict__"):
        return {name: _rounded(part) for name, part in vars(value).items()}
    return value
