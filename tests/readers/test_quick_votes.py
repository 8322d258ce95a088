"""Votes read by arrays make the table that the strict parser makes, or its very error."""

from __future__ import annotations

from warnings import catch_warnings, simplefilter

import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import plausibly
from plausibly.data import annotations as order
from plausibly.errors import InputError
from plausibly.io import quick_text

NAMES = st.sampled_from(["t1", "t2", "t10", "ä", "b", "a", "12345678", "123456789", "", "x y"])
LABELS = st.sampled_from(["l", "k", "NA", "", "long label"])
VOTES = st.lists(st.tuples(NAMES, NAMES, LABELS), min_size=1, max_size=12)
ONCE = VOTES.map(lambda rows: [*{row[:2]: row for row in rows}.values()])


@pytest.mark.parametrize("most", [63, 20, 3])
@settings(max_examples=40)
@given(rows=VOTES | ONCE, declared=st.booleans())
def test_any_votes(
    tmp_path_factory: pytest.TempPathFactory,
    most: int,
    rows: list[tuple[str, str, str]],
    declared: bool,
) -> None:
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    text = "task,worker,label\n" + "".join(",".join(row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    labels = ["NA", "k", "l", "long label"] if declared else None

    def read(least: int) -> xr.Dataset | str:
        with pytest.MonkeyPatch.context() as patch, catch_warnings(record=True) as warned:
            simplefilter("always")
            patch.setattr(quick_text, "LEAST", least)
            patch.setattr(order, "_MOST", most)  # what one number holds
            try:
                found = plausibly.read_annotations(path, "crowd-table", labels=labels)
            except InputError as error:
                return str(error)
        return found.assign_attrs(warned=sorted(str(one.message) for one in warned))

    quick, strict = read(1), read(1 << 40)
    if isinstance(quick, str) or isinstance(strict, str):
        assert quick == strict
    else:
        assert quick.identical(strict)
