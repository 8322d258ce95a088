"""Whatever leaves a check (``noqa``, ``type: ignore``, ``Any``, a broad ``except``) says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from arch_hatches import Hatch, without_reason

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
        ("import os  # noqa", "# noqa"),
        ("import os  # noqa: F401", "# noqa: F401"),
        ("import os  # noqa: F401, E402", "# noqa: F401, E402"),
        ("x: int = ''  # type: ignore", "# type: ignore"),
        ("x: int = ''  # type: ignore[assignment, misc]", "# type: ignore[assignment, misc]"),
        ("x = y()  # type: ignore[misc]  # noqa: F821", "# type: ignore[misc]  # noqa: F821"),
        ("x: Any = 1", "Any"),
        ("x: typing.Any = 1", "Any"),
        ("x: Any = 1  # noqa: F821", "Any"),
        ("x: dict[str, Any] = {}", "dict[str, Any]"),
        ("x: 'dict[str, Any]' = {}", "dict[str, Any]"),
        ("x: list['Any'] = []", "Any"),
        ("def f(x: 'Any') -> None: ...", "Any"),
        ("def f() -> 'Any': ...", "Any"),
        ("Json = Any", "Any"),
        ("x = cast('Any', 1)", "Any"),
        ("x = cast('list[Any]', 1)", "list[Any]"),
        ("x = cast(Any, 1)", "Any"),
    ],
)
def test_a_hatch_alone_is_found_and_a_reason_suffices(line: str, what: str) -> None:
    found = without_reason(line)
    assert [hatch.line for hatch in found] == [1] * len(found)
    assert what in [hatch.what for hatch in found]
    assert without_reason(f"{line}  # it has a reason") == []


@pytest.mark.parametrize(
    "caught", ["", " Exception", " BaseException as error", " (ValueError, Exception)"]
)
def test_a_broad_except(caught: str) -> None:
    lines = ["try:", "    x()", f"except{caught}:", "    raise"]
    assert without_reason("\n".join(lines)) == [Hatch(3, "a broad except")]
    beside = [*lines[:2], f"{lines[2]}  # why", lines[3]]
    below = [*lines[:3], "    # why", lines[3]]
    ignored = [*lines[:2], f"{lines[2]}  # noqa: BLE001", "    # why", lines[3]]
    assert without_reason("\n".join(beside)) == without_reason("\n".join(below)) == []
    assert without_reason("\n".join(ignored)) == [Hatch(3, "# noqa: BLE001")]


def test_what_any_is_a_part_of_is_explained_once_a_file() -> None:
    text = "# why\ndef f(x: Kind[Any]) -> None: ...\ndef g(x: Kind[Any]) -> list[Any]: ...\n"
    assert without_reason(text) == [Hatch(3, "list[Any]")]
    assert without_reason("x: Any = 1  # why\n\ny: Any = 2\n") == [Hatch(3, "Any")]
    assert without_reason("Json = Any  # why\nx: Json = 1\ny: dict[str, Json] = {}\n") == []


def test_a_comment_above_stands_alone() -> None:
    assert without_reason("x = 1  # of this line\ny: Any = 2") == [Hatch(2, "Any")]


def test_what_is_no_hatch() -> None:
    text = "from typing import Any\nx = y is Any\nz = '# noqa'\ntry: x()\nexcept OSError: pass\n"
    assert without_reason(text) == []
    assert without_reason('def f() -> None:\n    """Any number, # type: ignore."""\n') == []
