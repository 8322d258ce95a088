"""Components that break one rule each: what the author's kit must catch, by that rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import attrs
import numpy as np


@attrs.frozen
class Mutant:
    """A component that breaks a rule."""

    component: object
    also: frozenset[str] = frozenset()


# Any: classes are made from classes, and the kit is what looks at them.
def changed(base: type[Any], **members: object) -> Any:
    """Return an object of a class that differs from `base` in these members."""
    return type(base.__name__, (base,), {"__module__": base.__module__, **members})()


# Any: as above
def after(base: type[Any], method: str, change: Callable[..., Any]) -> Any:
    """Return an object whose method changes its result; `change` gets the arguments as well."""
    sound = getattr(base, method)

    @wraps(sound)
    def unsound(self: object, *arguments: object) -> object:
        return change(sound(self, *arguments), *arguments)

    return changed(base, **{method: unsound})


# Any: as above
def before(base: type[Any], method: str, change: Callable[..., Any]) -> Any:
    """Return an object whose method gets other arguments."""
    sound = getattr(base, method)

    @wraps(sound)
    def unsound(self: object, *arguments: object) -> object:
        return sound(self, *change(*arguments))

    return changed(base, **{method: unsound})


# Any: as above
def common(base: type[Any], method: str, note: Callable[[Any], Any]) -> dict[str, Mutant]:
    """Return mutants for the rules that all kinds share."""
    sound = getattr(base, method)

    def by_place(self: object, *arguments: object) -> object:
        return sound(self, *arguments)

    @wraps(sound)
    def with_hidden_state(self: object, *arguments: object) -> object:
        result = sound(self, *arguments)
        return note(result) if "hidden" in vars(self) else result

    def with_global_seed(*arguments: object) -> tuple[object, ...]:
        np.random.seed(0)  # noqa: NPY002  # the fault itself
        return arguments

    fitted = changed(base, **{method: with_hidden_state})
    object.__setattr__(fitted, "hidden", True)
    return {
        "protocol": Mutant(changed(base, **{method: by_place})),
        "frozen": Mutant(changed(base, __setattr__=object.__setattr__)),
        "readable": Mutant(changed(base, __repr__=object.__repr__)),
        "configuration-round-trip": Mutant(
            changed(base, __eq__=object.__eq__, __hash__=object.__hash__)
        ),
        "deterministic/state": Mutant(fitted),
        "deterministic": Mutant(before(base, method, with_global_seed)),
    }
