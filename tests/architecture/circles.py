"""Circles of imports: every import counts, inside functions and for types alone too."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from imports import modules

Graph = Mapping[str, set[str]]
BY_TEXT = {"plausibly.accessor"}  # the stub that xarray needs, since it has no entry point


def imported(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Yield what a module imports."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield whole if whole in known else base
        elif isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            text = getattr(node.args[0], "value", None)
            if called == "import_module" and isinstance(text, str) and text not in BY_TEXT:
                yield text


def files(project: Path) -> Graph:
    """Return the modules that each module imports."""
    known = modules(project)
    return {
        name: {one for one in imported(name, path, known) if one in known} - {name}
        for name, path in known.items()
    }


def folders(graph: Graph) -> Graph:
    """Return the same between the folders, or files, at the top of the packages."""
    found: dict[str, set[str]] = {}
    for name, others in graph.items():
        top = ".".join(name.split(".")[:2])
        tops = {".".join(other.split(".")[:2]) for other in others}
        found.setdefault(top, set()).update(tops - {top})
    return found


def circles(graph: Graph) -> list[list[str]]:
    """Return the sets of nodes that reach each other."""
    reached = {}
    for start in graph:
        seen: set[str] = set()
        ahead = list(graph[start])
        while ahead:
            if (node := ahead.pop()) not in seen:
                seen.add(node)
                ahead.extend(graph[node])
        reached[start] = seen
    parts = {
        tuple(sorted(other for other in seen if node in reached[other]))
        for node, seen in reached.items()
        if node in seen
    }
    return [list(part) for part in sorted(parts)]
