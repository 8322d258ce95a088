"""Large tables read by arrays are the tables of the strict parser, and odd ones are left to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausibly.data.coded import Coded, Keyed
from plausibly.errors import InputError
from plausibly.io import quick_text
from plausibly.io.quick_columns import LongColumn, ShortColumn
from plausibly.io.quick_text import QuickTable, quick_table
from plausibly.io.text import TextTable, read_text
from plausibly.kernels import words

CELLS = st.text(st.sampled_from("ab01 é€😀\t;'\x0b\x85"), max_size=12) | st.sampled_from(
    ["", "task", "NA", "None", "007", "7", "x" * 300, "12345678", "123456789", "\ufeff"]
)


def same(quick: TextTable, strict: TextTable) -> bool:
    return (
        quick.header == strict.header
        and [list(column) for column in quick.columns] == [list(c) for c in strict.columns]
        and list(quick.lines) == list(strict.lines)
        and (quick.whose, quick.unit, quick.named) == (strict.whose, strict.unit, strict.named)
        and all(list(quick.coded(n)) == strict.column(n) for n in dict.fromkeys(quick.header))
        and all(
            keyed(quick.votes(n, n, n)[0], strict.column(n)) for n in dict.fromkeys(quick.header)
        )
    )


def keyed(column: Keyed | Coded, texts: list[str]) -> bool:
    """Tell whether a column holds these texts, and keys have their order."""
    if isinstance(column, Keyed):
        numbers = column.key_of(column.words).tolist()
        pairs = sorted(zip(numbers, texts, strict=True))
        assert [text for _, text in pairs] == sorted(texts)
        assert len(set(numbers)) == len(set(texts))
        assert max(numbers).bit_length() <= column.bits
        assert column[0:2] == texts[0:2]
        assert column[-1] == texts[-1]
    return list(column) == texts and column.has_empty == ("" in texts)


def quick(data: bytes, *, header: bool = False) -> QuickTable | None:
    return quick_table(data, ",", lambda _: header)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch, bits: int, size: int) -> None:
    monkeypatch.setattr(quick_text, "LEAST", 1)
    monkeypatch.setattr(quick_text, "_BYTES", size)
    monkeypatch.setattr(words, "_TABLE_BITS", bits)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("bits", "size"), [(20, 1 << 17), (0, 40), (20, 1)])
@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    mark=st.booleans(),
    header=st.booleans(),
    delimiter=st.sampled_from([",", ";", "\t", None]),
)
def test_any_table(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    end: str,
    last: bool,
    mark: bool,
    header: bool,
    delimiter: str | None,
) -> None:
    text = end.join((delimiter or ",").join(row) for row in rows) + end * last
    data = b"\xef\xbb\xbf" * mark + text.encode()
    path = tmp_path_factory.mktemp("quick") / "votes.csv"
    path.write_bytes(data)

    def read(*, repeats: bool) -> TextTable | str:
        try:
            return read_text(
                path, role="annotations", header=header, delimiter=delimiter, repeats=repeats
            )
        except InputError as error:
            return str(error)

    quick, strict = read(repeats=True), read(repeats=False)
    if isinstance(quick, str) or isinstance(strict, str):
        assert quick == strict
    else:
        assert same(quick, strict)


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    found = quick(data)
    if found is not None:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n")
        assert [",".join(row) for row in zip(*found.columns, strict=True)] == text.split("\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'a,b\n"1",2\n',
        b"a,b\n1,\x002\n",
        b"a,b\r1,2\r",
        b"a,b\r\n1,2\n",
        b"a,b\n1\n2,3,4\n",
        b"a,b\n1,2,3\n",
        b"a,b\n\n1,2\n",
        b"a,b\n,\n1,2\n",
        b"a,b\n1,\xff\n",
    ],
    ids=["empty", "quote", "zero", "returns", "mixed ends", "ragged", "long", "blank", "", "latin"],
)
def test_what_is_odd_is_left_to_the_strict_parser(data: bytes) -> None:
    assert quick(data) is None
    assert quick(data, header=True) is None


def test_many_rows(tmp_path: Path) -> None:
    generator = np.random.default_rng(4)
    path = tmp_path / "votes.csv"
    rows = [
        f"t{task},w{worker},{'long label ' * (worker % 3)}{task % 7}"
        for task, worker in generator.integers(0, 3000, (20_000, 2))
    ]
    path.write_text("task,worker,label\n" + "\n".join(rows))
    assert path.stat().st_size > quick_text.LEAST
    quick = read_text(path, role="annotations", repeats=True)
    strict = read_text(path, role="annotations")
    assert [type(column) for column in quick.columns] == [ShortColumn, ShortColumn, LongColumn]
    assert isinstance(strict.columns[0], list)
    assert same(quick, strict)
    assert quick.coded("task").names == sorted(set(strict.column("task")))
