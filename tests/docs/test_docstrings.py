"""Every public name has a docstring: ruff asks for none, since it cannot tell public names."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import FunctionType

MODULES = (
    "plausibly",
    "plausibly.annotators",
    "plausibly.evaluation",
    "plausibly.huggingface",
    "plausibly.io",
    "plausibly.planning",
    "plausibly.plots",
    "plausibly.plugin",
    "plausibly.plugin.readers",
    "plausibly.sklearn",
    "plausibly.testing",
    "plausibly.torch",
)


def undocumented(value: type | FunctionType) -> list[str]:
    """Return what lacks a docstring: a function or class, or a public method or property of it.

    A method may inherit the docstring of the one that it overrides.
    """
    parts = vars(value) if inspect.isclass(value) else {}
    own = [name for name, part in parts.items() if _is_code(part) and not name.startswith("_")]
    lacking = [name for name in own if not inspect.getdoc(getattr(value, name))]
    return [value.__qualname__] * (not value.__doc__) + [
        f"{value.__qualname__}.{name}" for name in lacking
    ]


def _is_code(part: object) -> bool:
    return inspect.isfunction(getattr(part, "fget", part))


def test_every_public_name_has_a_docstring() -> None:
    seen, missing = 0, []
    for module in map(import_module, MODULES):
        for name in (name for name in dir(module) if not name.startswith("_")):
            value = getattr(module, name)
            ours = getattr(value, "__module__", "").startswith("plausibly")
            if ours and (inspect.isfunction(value) or inspect.isclass(value)):
                seen += 1
                missing += [f"{module.__name__}: {one}" for one in undocumented(value)]
    assert seen > 200
    assert missing == []
