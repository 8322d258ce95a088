"""Imports are those of `docs/architecture.md`; each way around a check has a reason beside it."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import distribution, version
from pathlib import Path

import pytest

import plausibly
from imports import Import, Layer, imports_of, layers, loaded_by, modules
from plausibly.registry import default

PROJECT = Path(__file__).resolve().parents[2]
MODULES = modules(PROJECT)
PAGE = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
LAYERS = layers(PAGE)
FRAMEWORK = sorted(name for name in MODULES if name.split(".")[0] == "plausibly")
BUILTINS = sorted(name for name in MODULES if name.split(".")[0] == "plausibly_builtins")
FOR_PLUGINS = {"plausibly.plugin", "plausibly.plugin.readers"}
LAZY = {
    "plausibly": "__init__",
    "plausibly.plugin": "plugin",
    "plausibly.plugin.readers": "plugin",
}
# Entry points, and the modules that may import them.
ENTRIES: dict[str, set[str]] = {
    "cli": {"__main__"},
    "huggingface": set(),
    "report": {"cli"},
    "sklearn": set(),
    "torch": set(),
}


def part(module: str) -> str:
    """Return the name under which the page lists a module of the framework."""
    return LAZY.get(module) or module.split(".")[1]


def layer_of(module: str) -> Layer:
    return next(layer for layer in LAYERS if part(module) in layer.modules)


@cache
def imports_in(module: str) -> list[Import]:
    path = MODULES[module]
    text = path.read_text("utf-8")
    return list(imports_of(text, module, package=path.name == "__init__.py"))


def imports(*among: str) -> Iterator[tuple[str, Import]]:
    """Yield each import of each of these modules, but for those of type checkers alone."""
    for module in among:
        yield from ((module, imported) for imported in imports_in(module) if not imported.unseen)


def wrong(pairs: Iterable[tuple[str, Import]]) -> list[str]:
    return [
        f"{module} line {imported.line}: {imported.module} {imported.name}"
        for module, imported in pairs
    ]


def reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    ahead = list(graph[start])
    while ahead:
        if (node := ahead.pop()) not in seen:
            seen.add(node)
            ahead.extend(graph[node])
    return seen


def test_there_is_no_circle_of_files_or_folders() -> None:
    """Every import counts, inside functions and for types alone too."""
    files: dict[str, set[str]] = {}
    folders: dict[str, set[str]] = {}
    for module in MODULES:
        others = {
            loaded_by(imported, MODULES)
            for imported in imports_in(module)
            # A stub that xarray needs, since it has no entry point.
            if not (imported.unseen and imported.module == "plausibly.accessor")
        }
        files[module] = (others & {*MODULES}) - {module}
        top = ".".join(module.split(".")[:2])
        tops = {".".join(another.split(".")[:2]) for another in files[module]} - {top}
        folders[top] = folders.get(top, set()) | tops
    for graph in (files, folders):
        assert [node for node in graph if node in reached(graph, node)] == []


def test_the_page_lists_every_module_once_and_no_other() -> None:
    listed = [name for layer in LAYERS for name in layer.modules]
    assert sorted(listed) == sorted({part(module) for module in FRAMEWORK})
    assert [layer.number for layer in LAYERS] == list(range(6))


def within(package: str, *among: str) -> list[tuple[str, Import, str]]:
    """Return the imports that load a module of a package, with that module."""
    pairs = [
        (module, imported, loaded_by(imported, MODULES)) for module, imported in imports(*among)
    ]
    return [each for each in pairs if each[2].split(".")[0] == package]


def test_a_module_imports_from_its_layer_or_lower() -> None:
    assert not wrong(
        (module, imported)
        for module, imported, target in within("plausibly", *FRAMEWORK)
        if layer_of(target).number > layer_of(module).number
    )


def test_framework_and_built_ins_meet_in_the_plugin_interface() -> None:
    assert not within("plausibly_builtins", *FRAMEWORK)
    ours = within("plausibly", *BUILTINS)
    assert not wrong(
        (module, imported) for module, imported, _ in ours if imported.module not in FOR_PLUGINS
    )


def test_entry_points_are_imported_by_no_other_module() -> None:
    assert not wrong(
        (module, imported)
        for module, imported, target in within("plausibly", *FRAMEWORK)
        if part(module) not in {part(target), *ENTRIES.get(part(target), {part(module)})}
    )


def test_low_layers_need_few_libraries() -> None:
    own = sys.stdlib_module_names | {"plausibly"}
    assert not wrong(
        (module, imported)
        for module, imported in imports(*FRAMEWORK)
        if (allowed := layer_of(module).libraries) is not None
        and not imported.names() & (allowed | own)
    )


def test_slow_libraries_wait_until_they_are_used() -> None:
    slow = {"scipy.stats", "matplotlib", "sklearn", "rich", "pyarrow", "netCDF4", "zarr", "torch"}
    slow |= {"dask", "distributed", "jinja2", "transformers"}
    assert not wrong(
        (module, imported)
        for module, imported in imports(*FRAMEWORK, *BUILTINS)
        # The estimator is imported of scikit-learn's, so its entry is made of it.
        if imported.names() & slow and not imported.deferred and part(module) != "sklearn"
    )


ARRAYS = {"numpy", "xarray", "pandas", "scipy", "dask", "rich"}
SETTINGS = {"attrs", "attr", "cattrs", "pluggy"}
LOWEST = [module for module in FRAMEWORK if layer_of(module).number == 0]
PLUGIN = """
from plausibly.errors import InputError
from plausibly.plugin import AGGREGATOR, Registrar, hookimpl
import plausibly_builtins.single_label, plausibly_builtins.combiners
from plausibly import registry
registry.default().entries()
"""
KIT = "import plausibly.testing, plausibly.testing.strategies"
COMMANDS = "import plausibly.cli.app as a\nfor name in a.SUMMARIES: a.made(name)"


@pytest.mark.parametrize(
    ("code", "slow"),
    [
        ("import plausibly", {*ARRAYS, *SETTINGS, "typer"}),
        (f"import {', '.join([*LOWEST, *LAZY, 'plausibly.io'])}", ARRAYS),
        (PLUGIN, {*ARRAYS, "cattrs", "typer"}),
        # Commands import what they need when they run; their flags need the classes of settings.
        (COMMANDS, {*ARRAYS, "jinja2", "matplotlib"}),
        (KIT, {"pytest", "_pytest", "hypothesis"}),
    ],
    ids=["package", "lowest layer and lazy modules", "plugins", "commands", "kit"],
)
def test_what_is_slow_is_not_loaded_before_it_is_used(code: str, slow: set[str]) -> None:
    code += "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not slow & set(ran.stdout.split())


def test_every_lazy_name_can_be_loaded_and_no_other() -> None:
    for module in map(import_module, LAZY):
        assert all(hasattr(module, name) for name in module.__all__)
        assert sorted(module.__all__) == dir(module)
        with pytest.raises(AttributeError, match=f"'{module.__name__}' has no attribute 'nmae'"):
            _ = module.nmae
    assert plausibly.__version__ == version("plausibly")
    assert plausibly.errors.InputError is plausibly.InputError


def test_every_family_is_ready_and_nothing_is_plugged_into_pytest() -> None:
    """A plugin of pytest would be imported by every test run of every user."""
    points = distribution("plausibly").entry_points
    families = {point.name for point in points.select(group="plausibly")}
    assert {source.plugin for source in default().plugins() if source.builtin} == families
    assert {point.group for point in points} == {"console_scripts", "plausibly"}


# ---- ``noqa``, ``type: ignore``, ``Any``, a broad ``except``


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
