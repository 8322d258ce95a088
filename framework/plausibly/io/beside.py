"""The JSON file beside prediction sets: what they promise, and how they were made."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data.names import ALPHA, EXAMPLE, LABEL, LEFT_OUT, name_texts
from plausibly.errors import InputError, listed, warn
from plausibly.io import files
from plausibly.io.delimited import decode

GUARANTEES = "guarantees"
_AS_JSON = (GUARANTEES, LEFT_OUT)
TABLE, DIGEST, ESCAPED = "table", "table_digest", "table_escaped"
_OURS = ("about", "alphas", "dims", "examples", "labels", "versions", TABLE, DIGEST, ESCAPED)
_TITLE = "what the prediction sets in the table of the same name promise"


def described(sets: xr.DataArray) -> dict[str, object]:
    """Return what the file says: alphas, dims, names, versions, and the attributes of the sets."""
    facts: dict[str, object] = {
        "about": _TITLE,
        "alphas": [float(alpha) for alpha in np.atleast_1d(sets[ALPHA].values)],
        "dims": [str(dim) for dim in sets.dims],
        "examples": sets.sizes[EXAMPLE],
        "labels": name_texts(sets[LABEL].values),
        "versions": {
            "plausibly": version("plausibly"),
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
    for name, value in sets.attrs.items():
        if name in _AS_JSON:
            facts[str(name)] = json.loads(str(value))
        else:
            facts[str(name)] = value.item() if isinstance(value, np.generic) else value
    return facts


def is_ours(path: Path) -> bool:
    """Return whether a file is the guarantee of some sets."""
    about = json.loads(path.read_text(encoding="utf-8"))
    return isinstance(about, dict) and {"alphas", "versions"} <= about.keys()


def digest(examples: Sequence[str], labels: Sequence[str], bits: NDArray[np.bool_]) -> str:
    """Return 32 hexadecimal digits of a table: its names, and which labels its rows contain."""
    names = json.dumps([list(examples), list(labels)]).encode()
    return blake2b(names + np.packbits(bits).tobytes(), digest_size=16).hexdigest()


def write(sets: xr.DataArray, path: Path, about: Mapping[str, object]) -> None:
    """Write the facts of `described`, and those about their table."""
    facts = {**described(sets), **about}
    content = json.dumps(facts, indent=2, ensure_ascii=False, default=str)
    path.write_text(f"{content}\n", encoding="utf-8")


def read(path: Path, *, table: str) -> dict[str, object]:
    """Return the facts beside a table of prediction sets; none, with a warning, if there are none.

    Parameters
    ----------
    path : Path
        The JSON file.
    table : str
        Name of the table, for messages.

    Raises
    ------
    InputError
        ``json-broken`` with the line.

    Warns
    -----
    PlausiblyWarning
        ``guarantee-missing``.
    """
    if not path.exists():
        warn(
            "guarantee-missing",
            f"{table} has no {path.name} beside it",
            expected="the guarantee that plausibly predict writes there",
            got="sets that promise nothing",
            do=f"put {path.name} back beside it, or predict again",
            whose=table,
            stacklevel=3,
        )
        return {}
    content = decode(files.contents(path, "sets"), path.name)
    try:
        facts = json.loads(content)
    except (ValueError, RecursionError) as reason:
        line = getattr(reason, "lineno", 1)
        raise InputError(
            "json-broken",
            f"{path.name} line {line} is no JSON",
            expected=f"what plausibly predict wrote beside {table}",
            got=str(getattr(reason, "msg", reason)),
            do="predict again, or remove it: the sets then promise nothing",
            whose=path.name,
        ) from None
    if not isinstance(facts, dict):
        raise _mismatch(path.name, table, "another form", "facts by name")
    return {str(name): value for name, value in facts.items()}


def check(
    facts: Mapping[str, object],
    whose: str,
    table: str,
    *,
    alphas: Sequence[float],
    labels: Sequence[str],
    examples: int,
    digest: str,
) -> None:
    """Raise ``sets-mismatch`` unless the facts are about a table with these names and rows."""
    for name, here in (
        ("labels", list(labels)),
        ("alphas", list(alphas)),
        ("examples", examples),
    ):
        there = facts.get(name, here)
        if there != here:
            shown = [listed(x) if isinstance(x, list) else str(x) for x in (there, here)]
            raise _mismatch(whose, table, f"{name} {shown[0]}", f"{name} {shown[1]}")
    if facts and facts.get(DIGEST) != digest:
        raise _mismatch(
            whose, table, f"{DIGEST} {facts.get(DIGEST, 'missing')}", f"{DIGEST} {digest}"
        )


def _mismatch(whose: str, table: str, got: str, expected: str) -> InputError:
    return InputError(
        "sets-mismatch",
        f"{whose} is not about {table}",
        expected=expected,
        got=got,
        do="keep both files of one prediction together, or predict again",
        whose=whose,
    )


def attributes(facts: Mapping[str, object]) -> dict[str, object]:
    """Return the attributes that the sets had."""
    return {
        name: json.dumps(value) if name in _AS_JSON else value
        for name, value in facts.items()
        if name not in _OURS
    }


def dims(facts: Mapping[str, object], alphas: int) -> tuple[str, ...]:
    """Return the dims that the sets had; without facts, one alpha is no dim."""
    usual = (EXAMPLE, LABEL) if alphas == 1 else (EXAMPLE, LABEL, ALPHA)
    said = facts.get("dims")
    if isinstance(said, list) and {EXAMPLE, LABEL} <= set(said) <= {EXAMPLE, LABEL, ALPHA}:
        stored = tuple(str(dim) for dim in said)
        return stored if alphas == 1 or ALPHA in stored else usual
    return usual
