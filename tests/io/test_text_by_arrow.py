"""Large text tables read by pyarrow are the tables of the strict parser, or its very error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from plausibly.data.text_table import Coded, TextTable
from plausibly.errors import InputError
from plausibly.io import text as module
from plausibly.io.text import read_table

CELLS = st.text(st.sampled_from("ab01 é€😀\t;'\x0b\x85"), max_size=12) | st.sampled_from(
    ["", "task", "NA", "None", "null", "007", "7", "1.0", "x" * 300, "\ufeff", "#N/A", "true"]
)


def read(
    path: Path, *, large: int, header: bool = True, delimiter: str | None = None
) -> TextTable | str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LARGE", large)
        try:
            return read_table(
                path, role="annotations", header=header, delimiter=delimiter, repeats=True
            )
        except InputError as error:
            return str(error)


def agree(path: Path, *, header: bool = True, delimiter: str | None = None) -> bool:
    """Compare both ways to read a file; return whether pyarrow read it."""
    quick, strict = (
        read(path, large=large, header=header, delimiter=delimiter) for large in (0, 1 << 40)
    )
    if isinstance(quick, str) or isinstance(strict, str):
        assert quick == strict
        return False
    assert quick.header == strict.header
    assert [list(column) for column in quick.columns] == [list(c) for c in strict.columns]
    assert list(quick.lines) == list(strict.lines)
    assert (quick.source, quick.unit, quick.named) == (strict.source, strict.unit, strict.named)
    return any(isinstance(column, Coded) for column in quick.columns)


@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    mark=st.booleans(),
    header=st.booleans(),
    delimiter=st.sampled_from([",", ";", "\t", None]),
    odd=st.just(b"") | st.binary(max_size=20),
)
def test_any_table(
    folder: Path,
    rows: list[list[str]],
    end: str,
    last: bool,
    mark: bool,
    header: bool,
    delimiter: str | None,
    odd: bytes,
) -> None:
    text = end.join((delimiter or ",").join(row) for row in rows) + end * last
    path = folder / "votes.csv"
    path.write_bytes(b"\xef\xbb\xbf" * mark + text.encode() + odd)
    agree(path, header=header, delimiter=delimiter)


@pytest.mark.parametrize(
    "data",
    {
        "empty": b"",
        "quote": b'a,b\n"1",2\n',
        "zero": b"a,b\n1,\x002\n",
        "return": b"a,b\r1,2\r",
        "ragged": b"a,b\n1\n2,3,4\n",
        "long": b"a,b\n1,2,3\n",
        "blank": b"a,b\n\n1,2\n",
        "one": b"a\n\n1\n",
        "nothing": b"a,b\n,\n1,2\n",
        "latin": b"a,b\n1,\xff\n",
        "twice": b"a,a\n1,2\n",
        "name-latin": b"a,\xff\n1,2\n",
        "row-long": b"a," + b"x" * 400_000 + b"\n1,2\n",
        "name-long": b"a," + b"x" * 140_000 + b"\n1,2\n",
        "field-long": b"a,b\n1," + b"x" * 140_000 + b"\n",
    }.items(),
    ids=lambda item: item[0],
)
def test_what_is_odd_is_left_to_the_strict_parser(tmp_path: Path, data: tuple[str, bytes]) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(data[1])
    assert not agree(path)


def test_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks that pyarrow encodes one by one; the annotations are the same too."""
    monkeypatch.setattr(module, "_BLOCK", 1 << 16)
    path = tmp_path / "votes.csv"
    pairs = np.unique(np.random.default_rng(4).integers(0, 3000, (20_000, 2)), axis=0)
    rows = [
        f"t{task},w{worker},{'long label ' * (worker % 3)}{task % 7}"
        for task, worker in np.random.default_rng(5).permutation(pairs)
    ]
    path.write_text("task,worker,label\n" + "\n".join(rows))
    assert agree(path)
    quick, strict = (_annotations(path, large, monkeypatch) for large in (0, 1 << 40))
    xr.testing.assert_identical(quick, strict)


def _annotations(path: Path, large: int, patch: pytest.MonkeyPatch) -> xr.Dataset:
    patch.setattr(module, "_LARGE", large)
    return plausibly.read_annotations(path, "long-table")
