"""Ways around a check (``noqa``, ``type: ignore``, ``Any``, a broad ``except``) have a reason."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
FOLDERS = ("framework", "plugins", "tests", "scripts", "benchmarks")
IGNORE = re.compile(r"#\s*(?:noqa\b(?::\s*\w+(?:,\s*\w+)*)?|type:\s*ignore\b(?:\[[^\]]*\])?)")
# Most files have none of these words, and need not be taken apart.
WORDS = re.compile(r"\bAny\b|noqa|type:\s*ignore|except\s*:|Exception\b")


def without_reason(source: str) -> list[tuple[int, str]]:
    """Return line and text of each way around a check that has no reason in a comment."""
    if not WORDS.search(source):
        return []
    tree = ast.parse(source)
    comments = {
        token.start[0]: (token.string, token.line.lstrip().startswith("#"))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    reasons = {n for n, (text, _) in comments.items() if re.search(r"\w", IGNORE.sub("", text))}
    alone = {line for line in reasons if comments[line][1]}
    ways = [
        (line, text)
        for line, (text, _) in comments.items()
        if IGNORE.search(text) and line not in reasons
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and is_broad(node.type):
            line = node.lineno if node.type is None else node.type.end_lineno or node.lineno
            if line not in reasons and line + 1 not in alone:
                ways.append((line, "a broad except"))
    uses = [*uses_of_any(tree)]
    explained = {form for line, form in uses if line in reasons or line - 1 in alone} - {"Any"}
    for line, form in uses:
        if line not in reasons and line - 1 not in alone and form not in explained:
            ways.append((line, form))
    return sorted(set(ways))


def is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(map(is_broad, caught.elts))
    return caught is None or name_of(caught) in ("Exception", "BaseException")


def name_of(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def uses_of_any(node: ast.AST, whole: ast.AST | None = None) -> Iterator[tuple[int, str]]:
    """Yield the line of each ``Any``, and the type that it is a part of.

    A type is written as a text where it is cast to, and nowhere else: ruff sees to that.
    """
    if isinstance(node, ast.Compare):
        return
    if isinstance(node, ast.Name | ast.Attribute) and name_of(node) == "Any":
        yield node.lineno, ast.unparse(whole) if whole else "Any"
        return
    if isinstance(node, ast.Call) and name_of(node.func) == "cast":
        text = getattr(node.args[0], "value", "0")
        for _, form in uses_of_any(ast.parse(text, mode="eval")):
            yield node.lineno, form
    if isinstance(node, ast.Subscript):
        whole = node
    elif not isinstance(node, ast.Tuple | ast.List):
        whole = None
    for child in ast.iter_child_nodes(node):
        yield from uses_of_any(child, whole)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_way_around_a_check_has_its_reason_beside_it(folder: str) -> None:
    sources = sorted((PROJECT / folder).rglob("*.py"))
    assert sources
    wrong = [
        f"{path.relative_to(PROJECT)}:{line}: {what} without a reason"
        for path in sources
        for line, what in without_reason(path.read_text("utf-8"))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("import os  # noqa: F401, E402", "# noqa: F401, E402"),
        ("x: int = ''  # type: ignore[assignment, misc]", "# type: ignore[assignment, misc]"),
        ("x: typing.Any = 1", "Any"),
        ("x: dict[str, Any] = {}", "dict[str, Any]"),
        ("x = cast('list[Any]', 1)", "list[Any]"),
        ("try: x()\nexcept (ValueError, Exception): raise", "a broad except"),
    ],
)
def test_a_way_around_a_check_needs_a_reason(line: str, what: str) -> None:
    assert what in [text for _, text in without_reason(line)]
    assert without_reason(f"{line}  # it has a reason") == []


def test_comparisons_texts_and_narrow_excepts_need_no_reason() -> None:
    text = "from typing import Any\nx = y is Any\nz = '# noqa'\ntry: x()\nexcept OSError: pass\n"
    assert without_reason(text) == []
    assert without_reason('def f() -> None:\n    """Any number, # type: ignore."""\n') == []
