"""docs/crowd.md lists every aggregator of its families."""

from __future__ import annotations

from pathlib import Path

from plausibly.plugin import AGGREGATOR
from plausibly.registry import default


def test_every_aggregator_of_the_family_is_on_the_page(project: Path) -> None:
    page = (project / "docs" / "crowd.md").read_text(encoding="utf-8")
    ours = [e for e in default().entries() if e.source.plugin == "crowd-models"]
    assert len(ours) == 5
    for entry in ours:
        assert f"| `{entry.name}` |" in page
        if default().create(AGGREGATOR, entry.name).joint:
            assert page.count(f"| `{entry.name}` |") == 3


def test_every_component_of_crowd_kit_is_on_the_page(project: Path) -> None:
    page = (project / "docs" / "crowd.md").read_text(encoding="utf-8")
    theirs = [e for e in default().entries() if e.source.plugin == "crowd-kit"]
    assert len(theirs) == 8
    for entry in theirs:
        assert f"| `{entry.qualified}` |" in page
