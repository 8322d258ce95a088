"""The components that plausibly ships, as the registry sees them."""

from __future__ import annotations

from importlib.metadata import distribution

import pytest

import crowd_kit_standin
from plausibly.protocols import KIND_BY_NAME
from plausibly.registry import default

OURS = sorted(
    (e.kind, e.qualified if e.extra else e.name) for e in default().entries() if e.source.builtin
)


def test_every_family_is_ready_and_nothing_is_plugged_into_pytest() -> None:
    """A plugin of pytest would be imported by every test run of every user."""
    points = distribution("plausibly").entry_points
    families = {point.name for point in points.select(group="plausibly")}
    assert {s.plugin for s in default().plugins() if s.builtin} == families
    assert {point.group for point in points} == {"console_scripts", "plausibly"}


@pytest.mark.parametrize(("kind", "name"), OURS)
def test_made_described_and_made_again(
    monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    if name.startswith("crowd-kit:"):  # whose library is no part of the extra `all`
        crowd_kit_standin.install(monkeypatch)
    needed = {"by": "site"} if name in ("mondrian", "weighted", "clustered", "risk") else {}
    made = default().create(KIND_BY_NAME[kind], {"name": name, **needed})
    table = default().describe(KIND_BY_NAME[kind], made)
    assert table["name"] == name
    assert default().create(KIND_BY_NAME[kind], table) == made
    assert default().create(KIND_BY_NAME[kind], made) is made
