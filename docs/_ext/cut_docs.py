"""Blocks and tables of pages, inserted from the code when Sphinx reads them.

A mark such as ``<!-- cut: protocol aggregator -->`` names the block below it:

=====================  ================================================================
protocol KIND          source of the Protocol
file PLUGIN/PATH       a file that ``plausibly plugins new PLUGIN`` writes
rules KIND             rules that `plausibly.testing` checks
components KIND        built-in components
hook NAME              a function that plugins implement
method NAME            signature and docstring of what a plugin's hook receives
helpers MODULE         functions and types that the module offers to authors
study                  keys of a settings file, and parameters of components
commands               every command, from its ``--help``
messages               every message, with its cause
=====================  ================================================================
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import command_line
import cut_reference
import messages
from plausibly import testing
from plausibly.cli.plugins_new import rendered
from plausibly.protocols import KINDS
from plausibly.registry import Registrar, Registry, registry

if TYPE_CHECKING:
    from sphinx.application import Sphinx  # only where the site is built

PAGES = Path(__file__).resolve().parents[1] / "extend"

NEW: Mapping[str, str] = {
    "duels": "annotation",
    "answer-lines": "reader",
    "room-for-doubt": "aggregator",
    "lead": "score",
    "many-draws": "calibrator",
    "house-min": "combiner",
}
"""The new plugins that the pages show, and their kinds."""

REFERENCE = ("reference/commands", "messages")
"""Further pages with marks."""

_CUT = re.compile(r"<!-- cut: (?P<what>\w+)(?: (?P<of>\S+))? -->\n")


def protocol(kind: str) -> str:
    """Return the source of a Protocol, as a block."""
    (found,) = (one.protocol for one in KINDS if one.name == kind)
    return _code(inspect.getsource(found))


def file(path: str) -> str:
    """Return a file of a new plugin, as a block."""
    plugin, _, inside = path.partition("/")
    return _code(rendered(plugin, NEW[plugin])[inside], Path(path).suffix.removeprefix("."))


def rules(kind: str) -> str:
    """Return the rules of `plausibly.testing` for a kind, as a table."""
    found = testing.rules(kind)
    return cut_reference.table(
        ("rule", "requirement"), ((f"`{r.name}`", r.sentence) for r in found)
    )


def components(kind: str) -> str:
    """Return the built-in components of a kind, as a table."""
    found = [e for e in Registry(others=tuple).entries() if e.kind == kind]
    rows = ((f"`{e.name}`", f"`{e.source.plugin}`", e.summary) for e in found)
    return cut_reference.table(("name", "plugin", "summary"), rows)


def hook(name: str) -> str:
    """Return a function that plugins implement, as a block."""
    lines = inspect.getsource(getattr(registry, name)).splitlines()
    return _code("\n".join(line for line in lines if not line.startswith("@")))


def method(name: str) -> str:
    """Return the signature and docstring of a method of `Registrar`, as a block."""
    source = textwrap.dedent(inspect.getsource(getattr(Registrar, name)))
    first, second, third, *_ = source.split('"""')
    return _code(f'{first}"""{second}"""') if third else _code(source)


def helpers(module: str) -> str:
    """Return what a module offers beside kinds and Protocols, as a table."""
    offered = import_module(module)
    protocols = {one.protocol for one in KINDS}
    rows = []
    for name in offered.__all__:
        value: object = getattr(offered, name)
        known = inspect.isfunction(value) or inspect.isclass(value)
        if known and value not in protocols and value.__module__.startswith("plausibly"):
            first = inspect.cleandoc(inspect.getdoc(value) or "").partition("\n\n")[0]
            rows.append((f"`{name}`", " ".join(first.split()).replace("|", "\\|")))
    return cut_reference.table(("name", "summary"), rows)


_MADE: Mapping[str, Callable[..., str]] = {
    **{made.__name__: made for made in (protocol, file, rules, components, hook, method, helpers)},
    "study": cut_reference.study,
    "commands": command_line.page,
    "messages": messages.messages,
}


def _code(text: str, language: str = "py") -> str:
    named = {"py": "python", "toml": "toml", "md": "markdown"}[language]
    return f"```{named}\n{text.rstrip()}\n```\n"


def cut(page: str) -> str:
    """Return a page with a block of the code below every mark."""

    def block(mark: re.Match[str]) -> str:
        return f"{mark[0]}\n{_MADE[mark['what']](*filter(None, [mark['of']]))}"

    return _CUT.sub(block, page)


def marks(page: str) -> list[tuple[str, str]]:
    """Return what the marks of a page ask for."""
    return [(mark["what"], mark["of"]) for mark in _CUT.finditer(page)]


def page(name: str) -> str:
    """Return a page for authors as it is read: with its blocks."""
    return cut((PAGES / name).read_text(encoding="utf-8"))


def _fill(app: Sphinx, page: str, source: list[str]) -> None:
    if page.startswith("extend/") or page in REFERENCE:
        source[0] = cut(source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Fill pages as they are read."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}
