"""Modules that a file imports, read from its syntax tree and not from its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

ROOTS = {"plausibly": "framework", "plausibly_builtins": "plugins"}


@attrs.frozen
class Import:
    """One imported name: its module, where, and whether for types alone or by a text."""

    module: str
    name: str
    line: int
    deferred: bool
    unseen: bool = False

    def names(self) -> set[str]:
        """Return the package, the module and the name with its module, to compare with a list."""
        return {self.module.split(".")[0], self.module, f"{self.module}.{self.name}"}


@attrs.frozen
class Layer:
    """One row of the table in ``docs/architecture.md``; libraries None = any."""

    number: int
    modules: frozenset[str]
    libraries: frozenset[str] | None


def imports_of(source: str, module: str, *, package: bool = False) -> Iterator[Import]:
    """Yield the imports in `source`, the text of `module`; `unseen` are types and texts."""
    parents = module.split(".") if package else module.split(".")[:-1]

    def walk(node: ast.AST, deferred: bool, types: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, "", node.lineno, deferred, types)
        elif isinstance(node, ast.ImportFrom):
            above = parents[: len(parents) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(origin, alias.name, node.lineno, deferred, types)
        elif isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            text = getattr(node.args[0], "value", None)
            if called == "import_module" and isinstance(text, str):
                yield Import(text, "", node.lineno, deferred, True)
        deferred |= isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for inner in node.body:
                yield from walk(inner, deferred, True)
            children: Iterable[ast.AST] = node.orelse
        else:
            children = ast.iter_child_nodes(node)
        for child in children:
            yield from walk(child, deferred, types)

    return walk(ast.parse(source), False, False)


def modules(project: Path) -> dict[str, Path]:
    """Return the modules of both import packages by dotted name."""
    paths = {}
    for package, root in ROOTS.items():
        for path in sorted((project / root / package).rglob("*.py")):
            parts = path.relative_to(project / root).with_suffix("").parts
            paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


def loaded_by(imported: Import, known: dict[str, Path]) -> str:
    """Return the module that an import loads: ``from a import b`` may mean the module ``a.b``."""
    inner = f"{imported.module}.{imported.name}"
    return inner if inner in known else imported.module


def layers(page: str) -> list[Layer]:
    """Return the rows of the table of layers in the text of the architecture page."""
    rows = re.findall(r"^\| *(\d+) *\|([^|]*)\|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    return [
        Layer(
            int(number),
            frozenset(re.findall(r"`([\w.]+)`", inside)),
            None if "any" in libraries else frozenset(re.findall(r"`([\w.]+)`", libraries)),
        )
        for number, inside, libraries in rows
    ]
