"""Calls of components: what goes wrong inside one, or is wrong with its answer, names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from plausibly.errors import ComponentError, InputError, PlausiblyWarning
from plausibly.registry.entries import reason_of


def failed(whose: str, what: str, *, expected: str, got: str) -> ComponentError:
    """Return the error that a component, such as ``"aggregator mine"``, cannot be relied on."""
    return ComponentError(
        "component-failed",
        f"{whose}: {what}",
        expected=expected,
        got=got,
        do="mend it (plausibly.testing.check tries its rules), or name another",
        whose=whose,
    )


@contextmanager
def calling(whose: str, method: str) -> Iterator[None]:
    """Name the component that is called in the block where it raises anything."""
    try:
        yield
    except (InputError, PlausiblyWarning, KeyboardInterrupt):
        raise
    except BaseException as reason:  # a component may raise anything, or exit
        raise failed(
            whose,
            f"{method}() raised an error",
            expected="an answer; an InputError where its input is at fault",
            got=reason_of(reason),
        ) from reason
