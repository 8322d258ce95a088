"""Which name was meant: hints for messages, at a cost that long lists do not raise."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from difflib import get_close_matches

_MOST_NAMES = 20_000  # compared after tidying
_MOST_CLOSE = 2_000  # compared letter by letter
_MOST_TRIED = 5


def near(name: str, names: Collection[str]) -> str | None:
    """Return the name that `name` was probably meant to be, None where nothing comes close."""
    pair = near_pair([name], names)
    return None if pair is None else pair[1]


def near_pair(here: Sequence[str], there: Collection[str]) -> tuple[str, str] | None:
    """Return the first likely pair of a name `here` and one `there`.

    Names that are equal once spaces, case, leading zeros, folders and file endings are ignored
    come first; then those with few letters changed.
    """
    tidied: dict[str, str] = {}
    for name in list(there)[:_MOST_NAMES]:
        tidied.setdefault(_tidy(name), name)
    for name in here[:_MOST_NAMES]:
        other = tidied.get(_tidy(name))
        if other is not None and other != name:
            return name, other
    for name in here[:_MOST_TRIED]:
        close = get_close_matches(name, list(there)[:_MOST_CLOSE], n=1, cutoff=0.75)
        if close:
            return name, close[0]
    return None


def difference(name: str, other: str) -> str:
    """Return in words how `name` differs from `other`, empty where it can be seen."""
    if name.strip() == other.strip():
        longer = name if len(name) > len(other) else other
        return "a space at the end" if longer != longer.rstrip() else "a space at the start"
    if unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", other):
        return "the same letters, other Unicode"
    if name.casefold() == other.casefold():
        return "capital letters"
    return ""


def _tidy(name: str) -> str:
    text = unicodedata.normalize("NFKC", name).casefold().strip()
    text = re.sub(r"\.[a-z]{1,5}$", "", re.split(r"[/\\]", text)[-1])
    text = re.sub(r"0*(\d+)(\.0+$)?", r"\1", text)
    return re.sub(r"[\s_-]+", " ", text)
