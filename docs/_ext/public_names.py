"""``public-names:: MODULE``: an entry for every name in the ``__all__`` of a module.

Names after ``:only:`` are the only ones, in that order; those after ``:except:`` stand elsewhere.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from types import GenericAlias, ModuleType
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata, OptionSpec

_ROUTING = re.compile(r"set_\w+_request")
_STAR = re.compile(r"(?<=[( ])\*([a-z]\w*\))")


def _kind(value: object) -> str:
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    if inspect.isroutine(value):
        return "autofunction"
    return "autodata"


def _offered(module: ModuleType) -> list[str]:
    """Return the names that a module offers: those it lists, else those that it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


class PublicNames(Directive):
    """An entry for every public name of a module."""

    required_arguments = 1
    option_spec: ClassVar[OptionSpec] = {
        "only": directives.unchanged,
        "except": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Return the entries, as autodoc makes them."""
        (module,) = self.arguments
        offered = import_module(module)
        left_out = self.options.get("except", "").split()
        names = self.options.get("only", "").split() or sorted(_offered(offered), key=str.lower)
        lines: list[str] = []
        for name in names:
            if name in left_out:
                continue
            value: object = getattr(offered, name)
            if isinstance(value, GenericAlias):
                lines += [f".. py:data:: {module}.{name}", f"   :value: {value}", ""]
                continue
            kind = _kind(value)
            lines += [f".. {kind}:: {module}.{name}", ""]
            if kind == "autodata":
                lines[-1:] = ["   :no-value:", ""]
            if kind in ("autoclass", "autoexception"):
                lines[-1:] = ["   :members:", ""]
        found = nodes.Element()
        source = self.state_machine.document.current_source or module
        self.state.nested_parse(StringList(lines, source), self.content_offset, found)
        return list(found.children)


def _escape(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Escape the star of ``(*query)``: a shape, which reStructuredText takes for emphasis."""
    lines[:] = [_STAR.sub(r"\\*\1", line) for line in lines]


def _skip(
    app: Sphinx, what: str, name: str, value: object, skip: bool, options: object
) -> bool | None:
    """Leave out what scikit-learn adds to every estimator for the routing of metadata."""
    return True if _ROUTING.fullmatch(name) else None


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("public-names", PublicNames)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _escape, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
