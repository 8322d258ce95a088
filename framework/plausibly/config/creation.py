"""Components of a study file: made by the registry, and what is wrong with them as mistakes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TypeVar

import attrs

from plausibly import registry
from plausibly.errors import ComponentError, InputError, MissingExtra
from plausibly.protocols import ComponentLike, Kind
from plausibly.registry.mistakes import Mistake, Mistakes, ParameterError, mistakes_in

P = TypeVar("P")


@contextlib.contextmanager
def without_plugins(names: tuple[str, ...]) -> Iterator[None]:
    """Run a block as if these plugins or distributions were not installed."""
    if not names:
        yield
        return
    with registry.disabling(names, by="[plugins] disable"):
        yield


def component(kind: Kind[P], like: ComponentLike[P]) -> P:
    """Return the component that was written, or raise `Mistakes` with what is wrong about it."""
    try:
        return registry.resolve(kind, like)
    except (ComponentError, MissingExtra) as error:
        raise Mistakes(_said_of(like, error)) from error


def _said_of(like: object, error: InputError) -> list[Mistake]:
    table = isinstance(like, Mapping)
    if isinstance(error, ParameterError):
        name = like.get("name") if isinstance(like, Mapping) else like
        return [_whose(mistake, str(name)) for mistake in error.mistakes]
    if isinstance(error, MissingExtra):
        return [Mistake("", error.what, advice=error.do)]
    path = "name" if table and error.name == "component-unknown" else ""
    do = f"all: {error.do}" if error.do.startswith("plausibly plugins list") else error.do
    return [attrs.evolve(one, path=path, advice=do) for one in mistakes_in(error)]


def _whose(mistake: Mistake, name: str) -> Mistake:
    """Return a mistake about a parameter with the name of the component that lacks it."""
    if mistake.unknown and "." not in mistake.path and mistake.text.startswith("no such"):
        return attrs.evolve(mistake, text=f"{name} has {mistake.text}")
    return mistake
