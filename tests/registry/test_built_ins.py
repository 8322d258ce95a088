"""The components that plausibly ships, as the registry sees them."""

from __future__ import annotations

import ast
from importlib.metadata import distribution
from pathlib import Path

import pytest

import crowd_kit_standin
import plausibly_builtins
from plausibly.protocols import KINDS
from plausibly.registry import default

OURS = sorted(
    (e.kind, e.qualified if e.extra else e.name) for e in default().entries() if e.source.builtin
)
KIND = {kind.name: kind for kind in KINDS}


def test_an_entry_point_a_family() -> None:
    ours = {
        p.name: p.value for p in distribution("plausibly").entry_points.select(group="plausibly")
    }
    assert {s.plugin for s in default().plugins() if s.builtin} == set(ours)
    assert {value.partition(".")[0] for value in ours.values()} == {"plausibly_builtins"}


def test_nothing_is_plugged_into_pytest() -> None:
    """That would have every test run of every user import plausibly, and spoil coverage."""
    groups = {point.group for point in distribution("plausibly").entry_points}
    assert groups == {"console_scripts", "plausibly"}


@pytest.mark.parametrize(("kind", "name"), OURS)
def test_made_described_and_made_again(
    monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    if name.startswith("crowd-kit:"):  # whose library is no part of the extra `all`
        crowd_kit_standin.install(monkeypatch)
    needed = {"by": "site"} if name in ("mondrian", "weighted", "clustered", "risk") else {}
    made = default().create(KIND[kind], {"name": name, **needed})
    table = default().describe(KIND[kind], made)
    assert table["name"] == name
    assert default().create(KIND[kind], table) == made
    assert default().create(KIND[kind], made) is made


def test_ours_stand_on_the_public_module_alone() -> None:
    (folder,) = plausibly_builtins.__path__
    files = list(Path(folder).rglob("*.py"))
    assert len(files) > 40
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                top = name.partition(".")[0]
                assert top != "plausibly" or name.startswith("plausibly.plugin"), f"{file}: {name}"
                if top == "plausibly_builtins":
                    part = name.split(".")[1]
                    # A family imports itself, and modules of the package that are no family.
                    own = part == file.parent.name or (Path(folder) / f"{part}.py").is_file()
                    assert own, f"{file}: {name}"
