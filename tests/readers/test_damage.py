"""A file that is damaged, or written another way, is read right or refused by its name."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import cases_net
from cases_net import Spec
from io_files import result_or_refusal, written
from plausibly.errors import ComponentError

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
Read: TypeAlias = tuple[list[str], xr.Dataset | xr.DataArray]
Place: TypeAlias = tuple[str | int, ...]
CASES = Path(__file__).parent / "cases"
KINDS = sorted(path.name for path in CASES.iterdir())
ODD: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, 0, -1.5, 10**30, "", "x", "\u0000", "y" * 100_000, [], [None], [[]], {}, {"": 1}]
)
OF_OPTIONS = ("component-parameter", "option-unfit", "reader-no-predictions")
"""Messages about options, which come before anything of the file."""
BINARY = (".gz", ".npy", ".npz", ".xlsx", ".zip")
pytestmark = [
    pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning"),
    pytest.mark.filterwarnings("ignore:Reading `.npy` or `.npz` file required:UserWarning"),
]


@cache
def reads(kind: str) -> list[tuple[str, bytes, Spec]]:
    """Return the name and content of every file of a kind, and how it is read."""
    result = []
    for path in sorted((CASES / kind).iterdir()):
        for file in cases_net.load(path):
            is_folder = "files" in file and "." not in file["name"]
            for case in file["read"] if "columns" not in file and not is_folder else []:
                wanted = {key: case[key] for key in cases_net.ASKED if key in case}
                wanted.setdefault("reader", case.get("recognised", kind))
                of_file = case.get("refused", {}).get("name") not in OF_OPTIONS
                if of_file and wanted["reader"] not in ("names", "unnamed"):
                    content = cases_net.content(cases_net.changed(file, case))
                    result.append((file["name"], content, wanted))
    return result


def of_part(kind: str, part: str) -> list[tuple[str, bytes, Spec]]:
    """Return the files of a kind that are text, or those that are binary."""
    is_binary = part == "binary"
    return [read for read in reads(kind) if (Path(read[0]).suffix in BINARY) is is_binary]


def attempt(folder: Path, name: str, content: bytes, case: Spec) -> Read | None:
    """Return who recognises a file and what it gives; None where its reader refuses it by name."""
    path = written(folder, name, content)

    def read() -> Read:
        try:
            return cases_net.recognisers(path), cases_net.read(path, case)
        except ComponentError as error:
            if error.name == "component-failed":
                raise AssertionError(error.found) from error
            raise

    return result_or_refusal(read, name)


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Return content that is cut, has other bytes in it, is in other letters, or is any bytes."""
    at = draw(st.integers(0, len(content)))
    junk = draw(st.binary(max_size=3))
    letters = content.decode("utf-8", "replace")
    return draw(
        st.sampled_from(
            [
                content[:at],
                content[:at] + junk,
                content[:at] + junk + content[at:],
                content[:at] + junk + content[at + 1 :],
                content[:at].replace(b"\n", b"\r\n"),
                letters.encode("utf-16")[:at],
                letters.encode("cp500", "replace"),
                letters.encode("latin-1", "replace")[:at],
            ]
        )
        | st.binary(max_size=60)
    )


PARTS = [(kind, part) for kind in KINDS for part in ("text", "binary")]


@pytest.mark.parametrize(("kind", "part"), [pair for pair in PARTS if of_part(*pair)])
@settings(max_examples=50)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(
    kind: str, part: str, folder: Path, data: st.DataObject
) -> None:
    name, content, case = data.draw(st.sampled_from(of_part(kind, part)))
    attempt(folder, name, data.draw(damaged(content)), case)


@cache
def of_json(kind: str) -> list[tuple[str, list[Json], Spec]]:
    """Return the documents of the files of a kind that are JSON, one or one per line."""
    result = []
    for name, content, case in reads(kind):
        for parts in ([content], content.splitlines()):
            with suppress(ValueError):
                result.append((name, [json.loads(part) for part in parts], case))
                break
    return [read for read in result if read[1]]


def places(value: Json, path: Place = ()) -> Iterator[Place]:
    """Yield the place of every value in a value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if of_json(kind)])
@settings(max_examples=50)
@given(data=st.data())
def test_wrong_values_inside_are_read_or_refused(
    kind: str, folder: Path, data: st.DataObject
) -> None:
    """Also where another part of the document stands in the place of one."""
    name, parts, case = data.draw(st.sampled_from(of_json(kind)))
    every = list(places(parts))[1:]
    *path, last = data.draw(st.sampled_from(every))
    value: Json = parts
    for key in data.draw(st.sampled_from(every)):
        value = value[key]
    inside: Json = (another := copy.deepcopy(parts))
    for key in path:
        inside = inside[key]
    inside[last] = data.draw(ODD | st.just(value))
    attempt(folder, name, "\n".join(map(json.dumps, another)).encode(), case)


@pytest.mark.parametrize("kind", KINDS)
def test_a_byte_order_mark_and_other_line_ends_change_nothing(kind: str, folder: Path) -> None:
    for name, content, case in reads(kind)[::5]:
        plain = attempt(folder, name, content, case)
        # Line ends inside a cell belong to its text, and what is binary has none.
        inside = any(line.count(b'"') % 2 for line in content.split(b"\n"))
        if plain and not inside and b"\r" not in content and b"\0" not in content:
            for another in (b"\xef\xbb\xbf" + content, content.replace(b"\n", b"\r\n")):
                result = attempt(folder, name, another, case)
                assert result
                xr.testing.assert_identical(result[1], plain[1])
                # Selectors are recognised by their first brackets only.
                assert result[0] == plain[0] or kind == "selectors"
