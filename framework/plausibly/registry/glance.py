"""What can be known of a component that is named by its place, without importing anything."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable

from plausibly.registry.entries import Entry


def glance(entry: Entry) -> Callable[..., object] | None:
    """Return the class or function if it is in memory, None if only loading it would tell.

    Raises
    ------
    ComponentError
        ``component-unloadable`` if it is certain that it cannot be loaded.
    """
    if not isinstance(entry.target, str):
        return entry.target
    place, _, attribute = entry.target.partition(":")
    module = sys.modules.get(place)
    if module is None:
        return None if entry.extra or _may_be_found(place) else entry.load()
    there = vars(module)
    # A module may make its attributes when they are asked for, out of what takes long to import.
    return entry.load() if attribute in there or "__getattr__" not in there else None


def _may_be_found(module: str) -> bool:
    parent = module.rpartition(".")[0]
    if parent and parent not in sys.modules:  # looking further would import it
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # below a module that is no package
        return False
    except (ImportError, ValueError, AttributeError):  # a finder that cannot tell
        return True
