"""Plugins that somebody turned off: three places to say so, one meaning.

A name turns off the plugin of that name and every plugin of the distribution of that name; ``*``
turns off all that do not come with plausibly.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

import attrs

from plausibly.errors import InputError, PlausiblyWarning, counted
from plausibly.registry.entries import THIS_RUN, Source

VARIABLE = "PLAUSIBLY_DISABLE_PLUGINS"
"""Environment variable: names with commas between them."""

STRICT = "PLAUSIBLY_STRICT_PLUGINS"
"""Environment variable: unless it is empty or 0, a plugin that fails is an error."""

EVERY_OTHER = "*"


def normalised(name: str) -> str:
    """Return the name by which two spellings of one plugin or distribution are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


@attrs.frozen
class Asked:
    """One name that somebody gave.

    Attributes
    ----------
    name : str
        A plugin, a distribution, or ``*``.
    by : str
        Where it was given, as messages call it.
    """

    name: str
    by: str

    def means(self, source: Source) -> bool:
        """Return whether the plugin is turned off by it."""
        if source.plugin == THIS_RUN:
            return False
        if self.name == EVERY_OTHER:
            return not source.builtin
        return normalised(self.name) in (normalised(source.plugin), normalised(source.distribution))

    @property
    def undo(self) -> str:
        """What to do to have the plugin back."""
        return f"take {self.name} out of {self.by}"


@attrs.frozen
class Disabled:
    """A plugin that is turned off.

    Attributes
    ----------
    source : Source
        Whose it is.
    asked : Asked
        Who turned it off.
    """

    source: Source
    asked: Asked

    @property
    def reason(self) -> str:
        """Why it is off, in one line."""
        return f"{self.asked.by} names {self.asked.name}"


def asked(names: Collection[str], by: str) -> tuple[Asked, ...]:
    """Return what was asked for, each name once.

    Raises
    ------
    InputError
        ``plugin-names`` if `names` is one text: its letters would be taken for names.
    """
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError(
            "plugin-names",
            f"{by} takes names of plugins or distributions",
            expected="a list of texts",
            got=repr(names),
            do=f'write ["{names}"]' if isinstance(names, str) else "write their names",
            whose=by,
        )
    return tuple(Asked(name, by) for name in dict.fromkeys(n.strip() for n in names) if name)


def asked_by_environment() -> tuple[Asked, ...]:
    """Return what the environment variable asks for, as it is now."""
    return asked(os.environ.get(VARIABLE, "").split(","), VARIABLE)


def strict_by_environment() -> bool:
    """Return whether the environment asks for errors instead of records."""
    return os.environ.get(STRICT, "").strip() not in ("", "0")


def unknown(given: Asked, sources: Iterable[Source]) -> PlausiblyWarning:
    """Return the warning that nothing here has a name that was to be disabled."""
    names = {n: None for s in sources for n in (s.plugin, s.distribution) if n}
    close = get_close_matches(normalised(given.name), names, n=1)
    count = f"one of {counted(len(names))} plugins and distributions"
    return PlausiblyWarning(
        "plugin-unknown",
        f'{given.by} names "{given.name}", which is no plugin here',
        expected=f'{count}; did you mean "{close[0]}"?' if close else count,
        do=(f"write {close[0]}, or " if close else "") + given.undo,
        whose=given.name,
        details={"name": given.name, "by": given.by, "suggestion": close[0] if close else None},
    )
