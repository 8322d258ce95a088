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
    "plausibly.sklearn",
    "plausibly.testing",
    "plausibly.torch",
)


def undocumented(value: type | FunctionType) -> list[str]:
    """Return what lacks a docstring: a function or class, or a public method or property of it."""
    parts = vars(value).values() if inspect.isclass(value) else ()
    methods = [getattr(part, "fget", part) for part in parts]
    own = [one for one in methods if inspect.isfunction(one) and not one.__name__.startswith("_")]
    return [one.__qualname__ for one in (value, *own) if not one.__doc__]


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
