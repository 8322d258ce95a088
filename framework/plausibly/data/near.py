"""Which name was meant: hints for messages, at a cost that long lists do not raise."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from itertools import islice

import xarray as xr

from plausibly.data.names import LABEL
from plausibly.data.text import name_texts, several
from plausibly.errors import counted, warn

_MOST_NAMES = 20_000  # compared after tidying
_MOST_CLOSE = 2_000  # compared letter by letter
_MOST_TRIED = 5
_MOST_PAIRS = 3
_UNSEEN = dict.fromkeys(map(ord, "\xad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
_BLANKS = re.compile(r"\s{2,}|[^\S ]")
# Whole names that are numbers: 01, 1, 1.0 and 1. are one.
_NUMBER = re.compile(r"\0(?:0+(?=\d)(\d+)|0*(\d+\.\d*[1-9])0*|0*(\d+)\.0*)(?=\0)")


def alike(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of names that look alike: the first of its look, and each other one.

    Alike are names but for blanks, capital letters, characters that cannot be seen, the Unicode
    of a letter, and the zeros of a number.
    """
    text = "\0".join(("", *names, "")).lower()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_UNSEEN)
    text = _BLANKS.sub(" ", text).replace(" \0", "\0").replace("\0 ", "\0")
    looks = _NUMBER.sub(r"\0\1\2\3", text)[1:-1].split("\0")
    if len({*looks}) == len(looks) or len(looks) != len(names):
        return []
    first: dict[str, str] = {}
    # The first is the name that others are merged into: preferably one without spaces at its ends.
    tidy_first = sorted(zip(looks, names, strict=True), key=lambda pair: pair[1] != pair[1].strip())
    pairs = ((first.setdefault(look, name), name) for look, name in tidy_first)
    return [pair for pair in pairs if pair[0] != pair[1]]


def warn_alike(table: xr.Dataset, whose: str, dims: Sequence[str]) -> None:
    """Warn of names of an annotation table that look alike: one ``names-alike`` for each dim."""
    for dim in dims:
        pairs = alike(name_texts(table.indexes[dim]))
        if not pairs:
            continue
        turned = merged_by([(other, one) for one, other in pairs])
        warn(
            "names-alike",
            f"{whose} has {dim}s whose names look alike: {several(len(pairs), 'pair')}",
            expected=f"one name for each {dim}; text stays as written, and these count apart",
            got=told(pairs),
            do=f"{turned}, if they are the same; a column alias in the table of --labels "
            "(labels=...) merges them too"
            if dim == LABEL
            else f"write them alike in {whose}, if they are the same {dim}",
            whose=whose,
            details={"dim": dim, "pairs": pairs},
            stacklevel=3,
        )


def near(name: str, names: Collection[str]) -> str | None:
    """Return the name that `name` was probably meant to be, None where nothing comes close."""
    pair = near_pair([name], names)
    return None if pair is None else pair[1]


def near_pair(here: Sequence[str], there: Collection[str]) -> tuple[str, str] | None:
    """Return the first likely pair of a name `here` and one `there`; see `near_pairs`."""
    return next(iter(near_pairs(here, there)), None)


def near_pairs(here: Sequence[str], there: Collection[str]) -> list[tuple[str, str]]:
    """Return up to three likely pairs of a name `here` and one `there`.

    Names that are equal once spaces, case, leading zeros, folders and file endings are ignored
    come first; failing them, one with few letters changed.
    """
    pairs = equal_pairs(here, there)
    for name in () if pairs else here[:_MOST_TRIED]:
        close = get_close_matches(name, list(there)[:_MOST_CLOSE], n=1, cutoff=0.75)
        if close:
            return [(name, close[0])]
    return pairs


def equal_pairs(here: Sequence[str], there: Collection[str]) -> list[tuple[str, str]]:
    """Return up to three pairs of names that are equal but for the above."""
    tidied: dict[str, str] = {}
    for name in list(there)[:_MOST_NAMES]:
        tidied.setdefault(_tidy(name), name)
    tried = ((name, tidied.get(_tidy(name), name)) for name in here[:_MOST_NAMES])
    return list(islice((pair for pair in tried if pair[0] != pair[1]), _MOST_PAIRS))


def told(pairs: Sequence[tuple[str, str]]) -> str:
    """Return up to three pairs in words: ``"cat" and "cat " (a space at the end)``."""
    whys = [difference(*pair) for pair in pairs[:_MOST_PAIRS]]
    shown = [
        f'"{one}" and "{other}"' + (f" ({why})" if why else "")
        for (one, other), why in zip(pairs, whys, strict=False)
    ]
    more = f", … ({counted(len(pairs))} in all)" if len(pairs) > _MOST_PAIRS else ""
    return ", ".join(shown) + more


def merged_by(pairs: Sequence[tuple[str, str]]) -> str:
    """Return what to type so that the first name of each pair is called as the second."""
    pairs = pairs[:_MOST_PAIRS]
    strip = "--strip, or " if all(one.strip() == other.strip() for one, other in pairs) else ""
    return strip + " ".join(f'--rename "{one}={other}"' for one, other in pairs)


def difference(name: str, other: str) -> str:
    """Return in words how `name` differs from `other`, empty where it can be seen."""
    if name.strip() == other.strip():
        longer = name if len(name) > len(other) else other
        return "a space at the end" if longer != longer.rstrip() else "a space at the start"
    if unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", other):
        return "the same letters, other Unicode"
    if name.casefold() == other.casefold():
        return "capital letters"
    bare, same = ("".join(text.translate(_UNSEEN).split()) for text in (name, other))
    return "a character that cannot be seen" if bare == same else ""


def _tidy(name: str) -> str:
    text = unicodedata.normalize("NFKC", name).translate(_UNSEEN).casefold().strip()
    text = re.sub(r"\.[a-z]{1,5}$", "", re.split(r"[/\\]", text)[-1])
    text = re.sub(r"0*(\d+)(\.0+$)?", r"\1", text)
    return re.sub(r"[\s_-]+", " ", text)
