"""Find the hatches of a source, by which a check is left, that have no reason in a comment."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from contextlib import suppress

from attrs import frozen

_IGNORE = re.compile(r"#\s*(?:noqa\b(?::\s*\w+(?:,\s*\w+)*)?|type:\s*ignore\b(?:\[[^\]]*\])?)")
# Most files have none of these words, and need not be taken apart.
_WORDS = re.compile(r"\bAny\b|noqa|type:\s*ignore|except\s*:|Exception\b")
_BROAD = frozenset({"Exception", "BaseException"})


@frozen
class Hatch:
    """A hatch without a reason: its line, and what stands there."""

    line: int
    what: str


def without_reason(source: str) -> list[Hatch]:
    """Return the hatches of a source that have no reason, by line."""
    if not _WORDS.search(source):
        return []
    tree = ast.parse(source)
    comments = _comments(source)
    told = {line: text for line, (text, _) in comments.items() if _says(text)}
    alone = {line for line, (_, lonely) in comments.items() if lonely and line in told}
    found = [
        Hatch(line, text)
        for line, (text, _) in comments.items()
        if _IGNORE.search(text) and line not in told
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type):
            line = node.lineno if node.type is None else node.type.end_lineno or node.lineno
            if line not in told and line + 1 not in alone:
                found.append(Hatch(line, "a broad except"))
    uses = [*_uses(tree), *_in_texts(tree)]
    explained = {form for line, form in uses if line in told or line - 1 in alone} - {"Any"}
    for line, form in uses:
        if line not in told and line - 1 not in alone and form not in explained:
            found.append(Hatch(line, form))
    return sorted(set(found), key=lambda hatch: (hatch.line, hatch.what))


def _comments(source: str) -> dict[int, tuple[str, bool]]:
    """Return the comment of each line that has one, and whether it stands there alone."""
    return {
        token.start[0]: (token.string, token.line.lstrip().startswith("#"))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }


def _says(comment: str) -> bool:
    """Return whether a comment says something besides what it switches off."""
    return re.search(r"\w", _IGNORE.sub("", comment)) is not None


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(each) for each in caught.elts)
    return caught is None or _name(caught) in _BROAD


def _name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def _uses(node: ast.AST, whole: ast.AST | None = None) -> Iterator[tuple[int, str]]:
    """Yield the line of each ``Any``, and the type that it is a part of."""
    if isinstance(node, ast.Compare):
        return
    if isinstance(node, ast.Name | ast.Attribute) and _name(node) == "Any":
        yield node.lineno, ast.unparse(whole) if whole else "Any"
        return
    if isinstance(node, ast.Subscript):
        whole = node
    elif not isinstance(node, ast.Tuple | ast.List):
        whole = None
    for child in ast.iter_child_nodes(node):
        yield from _uses(child, whole)


def _in_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the same of types that are written as texts."""
    for node in ast.walk(tree):
        types = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Call) and _name(node.func) == "cast":
            types += node.args[:1]
        for type_ in types:
            for part in ast.walk(type_) if type_ is not None else ():
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    with suppress(SyntaxError):  # the words of a Literal
                        for _, form in _uses(ast.parse(part.value, mode="eval")):
                            yield part.lineno, form
