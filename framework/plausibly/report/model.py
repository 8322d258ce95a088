"""The data that the page of a report shows, and their JSON."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import cast

import attrs

HELD, BROKEN, UNCHECKED = "held", "broken", "cannot be checked"
FORMAT = 1

_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


class Section(SimpleNamespace):
    """A part of the page: its fields are the keys that the scripts read."""

    def to_text(self) -> str:
        return _text(self)


@attrs.frozen(kw_only=True)
class Words:
    example: str = "example"
    examples: str = "examples"
    annotator: str = "annotator"
    annotators: str = "annotators"

    @property
    def of_annotators(self) -> str:
        return self.annotators + ("'" if self.annotators.endswith("s") else "'s")


@attrs.frozen
class Interval:
    """A mean with its interval; None where there is none."""

    mean: float | None
    low: float | None
    high: float | None


@attrs.frozen
class Check:
    name: str
    title: str
    state: str
    words: str


@attrs.frozen
class Finding:
    severity: str
    name: str
    sentence: str
    action: str = ""
    part: int | None = None


@attrs.frozen(kw_only=True)
class Part:
    """A stratum or group, with the columns and values of groups that choose its examples."""

    kind: str
    title: str
    n: int
    covered: Interval
    size: Interval
    clear: bool
    where: tuple[tuple[int, int], ...] = ()
    stratum: int | None = None


@attrs.frozen(kw_only=True)
class ReportData:
    """All that the page shows; a view for each method and alpha."""

    title: str
    subtitle: str
    words: Words
    labels: tuple[Section, ...]
    methods: tuple[Section, ...]
    alphas: tuple[str, ...]
    groups: tuple[Section, ...]
    strata: tuple[str, ...]
    views: tuple[Section, ...]
    disagreement: Section
    cases: Section
    assumptions: Section
    provenance: Section
    static_figures: tuple[Section, ...] = ()

    def view(self, method: int, alpha: int) -> Section:
        return self.views[method * len(self.alphas) + alpha]

    def to_text(self) -> str:
        """Return the JSON text, the same for the same data; nothing in it ends a script."""
        parts = _fields(self)
        del parts["static_figures"]
        # Cases have no floats but weights, and a hundred thousand times as much.
        whole = {name: part if name == "cases" else _plain(part) for name, part in parts.items()}
        return _text({"format": FORMAT, **whole}).translate(_ESCAPES)


def _fields(record: object) -> dict[str, object]:
    if isinstance(record, Section):
        return vars(record)
    return attrs.asdict(cast("attrs.AttrsInstance", record), recurse=False)


def _text(data: object) -> str:
    return json.dumps(
        data, default=_fields, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def _plain(value: object) -> object:
    """Return data whose numbers keep five decimals."""
    if isinstance(value, float):
        return round(value, 5) if math.isfinite(value) else None
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Section) or attrs.has(type(value)):
        return {name: _plain(part) for name, part in _fields(value).items()}
    return value
