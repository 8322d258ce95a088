"""docs/crowd.md lists every aggregator of its families."""

from __future__ import annotations

from pathlib import Path

import pytest

from plausibly.plugin import AGGREGATOR
from plausibly.registry import default


@pytest.mark.parametrize(("plugin", "count"), [("crowd-models", 5), ("crowd-kit", 8)])
def test_every_aggregator_is_on_the_page(project: Path, plugin: str, count: int) -> None:
    page = (project / "docs" / "crowd.md").read_text(encoding="utf-8")
    entries = [e for e in default().entries() if e.source.plugin == plugin]
    assert len(entries) == count
    for entry in entries:
        name = entry.qualified if entry.extra else entry.name
        rows = page.count(f"| `{name}` |")
        joint = plugin == "crowd-models" and default().create(AGGREGATOR, name).joint
        assert rows == 3 if joint else rows >= 1
