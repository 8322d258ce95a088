"""Rules of every kind: what makes an object a component that files and messages can name."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import TypeVar

from plausibly import registry
from plausibly.errors import ComponentError
from plausibly.protocols import Kind
from plausibly.registry.conformance import problems
from plausibly.registry.parameters import Parameter, Strict, described, parameters_of
from plausibly.testing.rules import Broken, RuleBook, demand, shown
from plausibly.testing.same import global_randomness, same

P = TypeVar("P")
W = TypeVar("W")


def enter_common(book: RuleBook[P, W], behave: Callable[[P, W], object]) -> None:
    """Enter the rules that all kinds share.

    Parameters
    ----------
    book : RuleBook
        Where to enter them.
    behave : callable
        Everything that a component gives on the data of the kit, to be compared.
    """

    @book.rule_alone
    def protocol(component: P, world: W) -> None:
        """It has every member of its Protocol, with the right parameters."""
        found = problems(component, book.kind.protocol)
        told = [f"{p.member}: expected {p.expected}, got {p.got}" for p in found]
        demand(not found, "; ".join(told))

    @book.rule_alone
    def frozen(component: P, world: W) -> None:
        """It cannot be changed after it was made."""
        fields = [parameter.field for parameter in _parameters(component)]
        for name in [*fields, "kit_was_here"]:
            if not _settable(component, name):
                continue
            demand(name not in fields, f"its parameter {name} can be set: make the class frozen")
            raise Broken("attributes can be added to it: make the class frozen, such as attrs does")

    @book.rule_alone
    def readable(component: P, world: W) -> None:
        """It prints as its class with its parameters."""
        text = repr(component)
        cls = type(component).__name__
        demand(cls in text and " object at 0x" not in text, f"it prints as {text}")
        absent = [p.name for p in _parameters(component) if p.name not in text]
        demand(not absent, f"it prints as {text}, without {', '.join(absent)}")

    @book.rule_alone
    def configuration_round_trip(component: P, world: W) -> None:
        """Its parameters can be written into a file, and the file gives an equal component."""
        again = remade(book.kind, component)
        if again != component:
            raise Broken(f"{shown(component)} was written, and {shown(again)} read, which differs")

    @book.rule
    def state_round_trip(component: P, world: W) -> None:
        """Made again from its parameters it gives the same bits: it has no other state."""
        before = behave(component, world)
        demand(
            same(before, behave(remade(book.kind, component), world)),
            "made again from its parameters it gives something else",
        )
        demand(same(before, behave(component, world)), "used before, it gives something else")

    @book.rule
    def deterministic(component: P, world: W) -> None:
        """Asked twice with one seed it gives the same bits, and leaves global generators alone."""
        with global_randomness(1) as touched:
            first = behave(component, world)
        with global_randomness(2):
            second = behave(component, world)
        demand(same(first, second), "two calls with the same seed differ")
        demand(not touched, f"it draws from or seeds the global generator {', '.join(touched)}")


def _parameters(component: object) -> tuple[Parameter, ...]:
    # A class whose constructor has no signature has no parameters that could be read.
    with contextlib.suppress(ValueError, TypeError):
        return parameters_of(type(component))
    return ()


def _settable(component: object, name: str) -> bool:
    value = getattr(component, name, None)
    there = hasattr(component, name)
    try:
        setattr(component, name, value)
    except (AttributeError, TypeError):
        return False
    if not there:
        delattr(component, name)
    return True


def remade(kind: Kind[P], component: P) -> P:
    """Return the component that comes out of a file into which this one was written.

    By its name where its class is registered, else by its class.
    """
    try:
        table = registry.describe(kind, component)
    except ComponentError as error:
        if error.name != "component-unregistered":
            raise
    else:
        again: dict[str, object] = json.loads(json.dumps(table))
        return registry.resolve(kind, again)
    cls = type(component)
    parameters = described(component, registry.describe, f"{kind.name} {cls.__name__}")
    made: P = Strict(registry.default().create).build(cls, json.loads(json.dumps(parameters)))
    return made
