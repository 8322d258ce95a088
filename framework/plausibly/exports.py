"""Names that a module offers, imported when they are first used: its stub is the one list."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module


def exports(module: str, file: str) -> tuple[Callable[[str], object], list[str]]:
    """Return `__getattr__` and `__all__` of a module, from the imports in the stub beside it."""
    homes = {name: (home, original) for home, original, name in _imports(f"{file}i")}

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, original = homes[name]
        source = None if home == module else import_module(home)
        if hasattr(source, original):
            value: object = getattr(source, original)
        else:  # a module
            value = import_module(f"{home}.{original}")
        setattr(sys.modules[module], name, value)
        return value

    return get, sorted(homes)


def _imports(stub: str) -> Iterator[tuple[str, str, str]]:
    """Yield module, name there and name here of each import of a stub, as ruff formats it."""
    known: dict[str, str] = {}
    home = ""
    with open(stub, encoding="utf-8") as lines:  # noqa: PTH123  # pathlib takes longer than all this
        for line in lines:
            words = line.replace(",", " ").split()
            if line.startswith("from "):
                home, words = words[1], words[3:]
            if len(words) == 3 and words[1] == "as":
                yield home, words[0], words[2]
            elif len(words) == 3 and words[1] == "=":
                yield known[words[2]], words[2], words[0]
            elif words and words[0].isidentifier():
                known[words[0]] = home
