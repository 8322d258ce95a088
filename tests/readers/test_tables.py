"""Tables of votes, counts and weights: any of them, in any order, by every way of reading."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import cases_net
import plausibly
from io_files import csv_text, refusal, written

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")


def weights(table: xr.Dataset, column: str) -> dict[tuple[str, str, str], float]:
    """Return a column of the long table by example, annotator and label; of labels only."""
    place = cases_net.COLUMNS.index(column)
    rows = cases_net.long_table(table)
    return {(row[0], row[1], row[2]): float(row[place] or 1) for row in rows if row[2]}


@pytest.mark.parametrize("blank", [" ", "\u200b"])
def test_a_cell_of_blanks_is_an_empty_cell_of_a_large_file(tmp_path: Path, blank: str) -> None:
    """A large file is read by arrays, a small one row by row."""
    more = "".join(f"e{row},a,dog\n" for row in range(20_000))
    text = "task,worker,label\nt1,a,cat\nt1,b,{}\n" + more
    one, other = (
        plausibly.read_annotations(written(tmp_path, "v.csv", text.format(cell)), "long-table")
        for cell in (blank, "")
    )
    xr.testing.assert_equal(one, other)
    assert "1 skipped" in " ".join(repr(one).split())
    path = written(tmp_path, "v.csv", f"task,worker,label\nt1,a,cat\n{blank},b,cat\n{more}")
    error = refusal(lambda: plausibly.read_annotations(path, "long-table"))
    assert (error.name, error.details["lines"]) == ("example-unnamed", [3])


# ---- counts and weights


@settings(max_examples=40)
@given(data=st.data())
def test_the_order_of_counts_changes_nothing(folder: Path, data: st.DataObject) -> None:
    names = st.text('ab,"é', min_size=1, max_size=3).filter(str.strip)
    labels = data.draw(st.lists(names, min_size=1, max_size=3, unique=True))
    row = st.lists(st.integers(0, 10**9), min_size=len(labels), max_size=len(labels))
    counts = data.draw(st.dictionaries(names, row, min_size=1, max_size=4))
    rows = [[name, *votes] for name, votes in counts.items()]
    tables = [
        plausibly.read_annotations(
            written(folder, "a.csv", csv_text([["example", *labels], *order])),
            "counts",
            example="example",
        )
        for order in (rows, data.draw(st.permutations(rows)))
    ]
    xr.testing.assert_equal(*tables)
    assert tables[0]["example"].values.tolist() == sorted(counts)
    assert tables[0]["label"].values.tolist() == labels
    assert weights(tables[0], "weight") == {
        (name, "", label): vote
        for name, votes in counts.items()
        for label, vote in zip(labels, votes, strict=True)
        if vote
    }


@settings(max_examples=40)
@given(rows=st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=4))
def test_counts_that_are_settled_are_those_that_are_not(
    folder: Path, rows: list[list[int]]
) -> None:
    named = [[f"e{place}", *row] for place, row in enumerate(rows)]
    path = written(folder, "c.csv", csv_text([["example", "b", "a", "c"], *named]))
    fast = plausibly.read_annotations(path, "counts")
    slow = plausibly.read_annotations(path, "counts", states={"rejected": "drop"})
    assert weights(fast, "weight") == weights(slow, "weight")
    assert repr(fast) == repr(slow)
    assert {**fast.attrs, "checksum": 0} == {**slow.attrs, "checksum": 0}
    xr.testing.assert_equal(fast["label"], slow["label"])


@settings(max_examples=40)
@given(cast=st.lists(st.lists(st.sampled_from(["e", "n", "c", "", "-"]), max_size=6), min_size=1))
def test_votes_in_lists_are_neither_lost_nor_invented(folder: Path, cast: list[list[str]]) -> None:
    entries = [{"uid": f"e{place}", "annotator_labels": said} for place, said in enumerate(cast)]
    path = written(folder, "v.jsonl", "".join(f"{json.dumps(entry)}\n" for entry in entries))
    table = plausibly.read_annotations(path, "vote-lists", ["e", "n", "c"])
    said = [(f"e{place}", "", vote) for place, each in enumerate(cast) for vote in each]
    assert weights(table, "weight") == Counter(one for one in said if one[2] in {"e", "n", "c"})


@settings(max_examples=40)
@given(
    given_weights=st.dictionaries(
        st.tuples(st.sampled_from("xyz"), st.sampled_from("pq")),
        st.lists(st.floats(0, 1e6), min_size=3, max_size=3).filter(any),
        min_size=1,
    )
)
def test_weights_keep_every_bit(
    folder: Path, given_weights: dict[tuple[str, str], list[float]]
) -> None:
    rows: list[list[object]] = [["example", "annotator", "a", "b", "c"]]
    rows += [[*key, *map(repr, row)] for key, row in given_weights.items()]
    table = plausibly.read_annotations(written(folder, "s.csv", csv_text(rows)), "soft-labels")
    assert weights(table, "share") == {
        (*key, label): weight
        for key, row in given_weights.items()
        for label, weight in zip("abc", row, strict=True)
        if weight
    }
