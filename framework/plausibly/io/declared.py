"""What a reader reads where labels are declared, under whatever name they were written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TypeAlias

import xarray as xr

from plausibly.errors import InputError
from plausibly.io.tables import is_table, names_of, with_coordinates
from plausibly.labelled.aliases import aliases_of, merge_aliases
from plausibly.labelled.names import LABEL
from plausibly.labelled.text import quoted, several

Read: TypeAlias = Callable[[list[str]], xr.Dataset]
"""Reads an annotation table; takes the declared labels."""


def read_declared(read: Read, about: xr.Dataset) -> xr.Dataset:
    """Return the annotation table that `read` gives, with answers under an alias merged.

    The labels alone are declared first: what is said by place, such as the third column, is then
    never taken for an alias. Where that fails, since an alias is named, everything is read again
    with labels and aliases declared.

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
        if error.name == "label-unknown" and is_table(source):
            error.do += f", or write it into the column alias of {source}, beside its label"
        raise
    return with_coordinates(merge_aliases(table, aliases, labels), about)


def _read(read: Read, labels: list[str], aliases: Mapping[str, str]) -> xr.Dataset:
    told = True
    heard: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            return read(labels)
    except InputError as error:
        told = not _is_about(error, aliases)
        if told:
            raise
    finally:
        if told:
            for one in heard:
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    try:
        return read([*labels, *aliases])
    except InputError as error:
        both = several(len(labels) + len(aliases), "declared label")
        mine = f"{several(len(labels), 'declared label')}, or an alias"
        error.expected = error.expected.replace(both, mine)
        raise


def _is_about(error: InputError, aliases: Mapping[str, str]) -> bool:
    """Return whether an error says that a label is not declared which is an alias."""
    if error.name != "label-unknown":
        return False
    named = error.details.get("labels")
    if isinstance(named, (list, tuple, Mapping)):
        return any(str(name) in aliases for name in named)
    return any(quoted(alias) in error.what for alias in aliases)
