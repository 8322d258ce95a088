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
    """Return what lacks a docstring; a method may inherit that of the one that it overrides."""
    lacking = [] if value.__doc__ else [value.__qualname__]
    for name, part in vars(value).items() if inspect.isclass(value) else ():
        code = inspect.isfunction(getattr(part, "fget", part))
        if code and not name.startswith("_") and not inspect.getdoc(getattr(value, name)):
            lacking.append(f"{value.__qualname__}.{name}")
    return lacking


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
