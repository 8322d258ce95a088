"""What a reader reads where labels are declared, under whatever name they were written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs
import xarray as xr

from plausibly.data.labels import aliases_of, merge_aliases
from plausibly.data.names import LABEL, quoted, several
from plausibly.errors import InputError
from plausibly.io.tables import is_table, names_of, with_coordinates

_UNDECLARED = "label-unknown"

Read: TypeAlias = Callable[[list[str]], xr.Dataset]
"""Reads an annotation table; takes the declared labels."""


def read_declared(read: Read, about: xr.Dataset) -> xr.Dataset:
    """Return the annotation table that `read` gives, with answers under an alias merged.

    The labels alone are declared first: what is said by place, such as the third column, is then
    never taken for an alias. Where that fails, since an alias is named, everything is read again
    with the alias instead of its label, so that there are as many as were declared; and where that
    fails, since both names are there, with labels and aliases declared.

    Parameters
    ----------
    read : callable
        Reads a sealed table where certain labels are declared.
    about : Dataset
        The table of labels: see `plausibly.read_labels`.

    Returns
    -------
    Dataset
        With the coordinates of the labels.

    Raises
    ------
    InputError
        What `read` raises; ``alias-ambiguous``.
    """
    labels = names_of(about, LABEL)
    aliases = aliases_of(about)
    try:
        table = _read(read, labels, aliases) if aliases else read(labels)
    except InputError as error:
        source = str(about.attrs.get("source", ""))
        if error.name == _UNDECLARED and is_table(source):
            error.do += f", or write it into the column alias of {source}, beside its label"
        raise
    return with_coordinates(merge_aliases(table, aliases, labels), about)


def _read(read: Read, labels: list[str], aliases: Mapping[str, str]) -> xr.Dataset:
    first = _Try.of(read, labels)
    named = first.undeclared(aliases)
    if not named:
        return first.told()
    swapped = _swapped(labels, aliases, named)
    if swapped is not None:
        second = _Try.of(read, swapped)
        if not second.is_refused():
            return second.told()
    last = _Try.of(read, [*labels, *aliases])
    if isinstance(last.found, InputError):
        both = several(len(labels) + len(aliases), "declared label")
        mine = f"{several(len(labels), 'declared label')}, or an alias"
        last.found.expected = last.found.expected.replace(both, mine)
    return last.told()


def _swapped(labels: list[str], aliases: Mapping[str, str], named: list[str]) -> list[str] | None:
    """Return as many labels, some under the alias that is named; None where a label has two."""
    alias_of = {aliases[alias]: alias for alias in named}
    if len(alias_of) < len(named):
        return None
    return [alias_of.get(label, label) for label in labels]


@attrs.frozen(kw_only=True, eq=False)
class _Try:
    """What came of reading, with what it warned of: nobody heard that yet.

    Attributes
    ----------
    found : Dataset or InputError
    heard : list of WarningMessage
    """

    found: xr.Dataset | InputError
    heard: list[warnings.WarningMessage]

    @classmethod
    def of(cls, read: Read, labels: list[str]) -> _Try:
        """Read with these labels declared."""
        found: xr.Dataset | InputError
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                found = read(labels)
            except InputError as error:
                found = error
        return cls(found=found, heard=heard)

    def is_refused(self) -> bool:
        """Return whether a label was not declared."""
        return isinstance(self.found, InputError) and self.found.name == _UNDECLARED

    def undeclared(self, aliases: Mapping[str, str]) -> list[str]:
        """Return the aliases that the error says are not declared; none without such an error."""
        if not isinstance(self.found, InputError) or self.found.name != _UNDECLARED:
            return []
        named = self.found.details.get("labels")
        if isinstance(named, (list, tuple, Mapping)):
            said = {str(name) for name in named}
            return [alias for alias in aliases if alias in said]
        return [alias for alias in aliases if quoted(alias) in self.found.what]

    def told(self) -> xr.Dataset:
        """Warn of what was heard, and return the table or raise the error."""
        for one in self.heard:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        if isinstance(self.found, InputError):
            raise self.found
        return self.found
