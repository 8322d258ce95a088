"""Whatever leaves a check (``noqa``, ``type: ignore``, ``Any``, a broad ``except``) says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from .hatches import without_reason

PROJECT = Path(__file__).resolve().parents[2]
FOLDERS = ("framework", "plugins", "tests", "scripts", "benchmarks")


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_hatch_has_its_reason_beside_it(folder: str) -> None:
    sources = sorted((PROJECT / folder).rglob("*.py"))
    assert sources
    wrong = [
        f"{path.relative_to(PROJECT)}:{hatch.line}: {hatch.what} without a reason"
        for path in sources
        for hatch in without_reason(path.read_text("utf-8"))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("import os  # noqa: F401, E402", "# noqa: F401, E402"),
        ("x: int = ''  # type: ignore[assignment, misc]", "# type: ignore[assignment, misc]"),
        ("x: typing.Any = 1", "Any"),
        ("x: 'dict[str, Any]' = {}", "dict[str, Any]"),
        ("def f() -> 'Any': ...", "Any"),
        ("x = cast('list[Any]', 1)", "list[Any]"),
        ("try: x()\nexcept (ValueError, Exception): raise", "a broad except"),
    ],
)
def test_a_hatch_alone_is_found_and_a_reason_suffices(line: str, what: str) -> None:
    assert what in [hatch.what for hatch in without_reason(line)]
    assert without_reason(f"{line}  # it has a reason") == []


def test_what_is_no_hatch() -> None:
    text = "from typing import Any\nx = y is Any\nz = '# noqa'\ntry: x()\nexcept OSError: pass\n"
    assert without_reason(text) == []
    assert without_reason('def f() -> None:\n    """Any number, # type: ignore."""\n') == []
