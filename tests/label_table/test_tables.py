"""Tables of labels: their columns, and what is said of those that cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from io_files import said, written
from plausibly.data.labels import Hierarchy, aliases_of
from plausibly.io.label_tables import read_labels, table_from, with_coordinates, with_known_labels


def test_columns_of_numbers_may_have_empty_cells(tmp_path: Path) -> None:
    text = "label,order,parent,risk,alias,code,shade\na,2,7,0.5,x|y,007,1\nb,1,,,,,\n7,,,1,z,3,x\n"
    table = read_labels(written(tmp_path, "l.csv", text))
    np.testing.assert_array_equal(table["order"].values, [2, 1, np.nan])
    np.testing.assert_array_equal(table["risk"].values, [0.5, np.nan, 1])
    kinds = {str(name): column.dtype.kind for name, column in table.coords.items()}
    texts = {"label", "parent", "alias", "code", "shade"}
    assert {name for name, kind in kinds.items() if kind == "U"} == texts
    assert table["code"].values.tolist() == ["007", "", "3"]
    assert table["parent"].values.tolist() == ["7", "", ""]
    assert aliases_of(table) == {"x": "a", "y": "a", "z": "7"}
    array = xr.DataArray([1.0, 2.0], dims="label", coords={"label": ["7", "a"]})
    known = with_coordinates(array, table)
    assert set(known.coords) == {"label", "order", "parent", "risk", "code", "shade"}
    assert known["risk"].values.tolist() == [1, 0.5]
    xr.testing.assert_identical(with_known_labels(array, table), known)
    other = array.assign_coords(label=["7", "q"])
    xr.testing.assert_identical(with_known_labels(other, table), other)


def test_a_column_of_whole_numbers_stays_so(tmp_path: Path) -> None:
    table = read_labels(written(tmp_path, "l.csv", "label,order,risk\na,2,1\nb,1,0\n"))
    assert [table[name].dtype.kind for name in ("order", "risk")] == ["i", "i"]


def test_the_column_may_be_called_aliases(tmp_path: Path) -> None:
    table = read_labels(written(tmp_path, "l.csv", "label,aliases\na,A\n"))
    assert aliases_of(table) == {"A": "a"}
    assert aliases_of(table_from(["a", "b"], "label")) == {}


def test_a_label_among_its_own_aliases(tmp_path: Path) -> None:
    table = read_labels(written(tmp_path, "l.csv", "label,alias\na,a|A|A\nb,\n"))
    assert aliases_of(table) == {"A": "a"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "label,alias\neczema,AD\ntinea,\nacne,x|AD\n",
            'error alias-ambiguous: l.csv gives the alias "AD" to "eczema" and to "acne" '
            "(lines 2, 4) expected aliases of one label each, which are no labels themselves; "
            'got answers "AD" that could be either do keep it at one of them',
        ),
        (
            "label,alias\neczema,tinea\ntinea,\n",
            'error alias-ambiguous: l.csv gives the label "tinea" to "eczema" as an alias '
            "(lines 2, 3) expected aliases of one label each, which are no labels themselves; "
            'got answers "tinea" that could be either '
            'do remove the row of "tinea", or take the alias away',
        ),
        (
            "label,alias\ntinea,\neczema,tinea\n",
            'error alias-ambiguous: l.csv gives the label "tinea" to "eczema" as an alias '
            "(lines 2, 3) expected aliases of one label each, which are no labels themselves; "
            'got answers "tinea" that could be either '
            'do remove the row of "tinea", or take the alias away',
        ),
        (
            "label,alias,aliases\na,x,y\n",
            'error columns-repeat: l.csv has both a column "alias" and a column "aliases" '
            "expected one column of other names, with | between several in a cell; got two "
            'do put all of them into "alias"',
        ),
        (
            "label,parent\neczema,dermatits\ntinea,dermatits\ndermatitis,\n",
            'error parent-unknown: l.csv line 2: the parent of "eczema" is "dermatits", which is '
            "no label of the table (so it is in line 3) expected a label with a row of its own, or "
            'an empty cell; got "dermatits" do did you mean "dermatitis"? mend it',
        ),
        (
            "label,parent,alias\neczema,derm,\ndermatitis,,derm\n",
            'error parent-unknown: l.csv line 2: the parent of "eczema" is "derm", which is '
            "no label of the table expected a label with a row of its own, or "
            'an empty cell; got "derm" do did you mean "dermatitis"? mend it',
        ),
        (
            "label,parent\ncat,1\ndog,1\n",
            'error parent-unknown: l.csv line 2: the parent of "cat" is "1", which is '
            "no label of the table (so it is in line 3) expected a label with a row of its own, or "
            'an empty cell; got "1" do add a row for "1", or give the column another name, if '
            "annotators cannot say it",
        ),
        (
            "label,parent\na,b\nb,c\nc,b\n",
            'error parents-circular: l.csv: "b" stands above itself (lines 3, 4) '
            'expected parents that end at a label without one; got "b" under "c" under "b" '
            "do empty the parent of the topmost of them",
        ),
        (
            "label,parent\na,a\n",
            'error parents-circular: l.csv: "a" stands above itself (line 2) '
            'expected parents that end at a label without one; got "a" under "a" '
            "do empty the parent of the topmost of them",
        ),
        (
            "label,order\na,1\nb,second\n",
            'error number-unreadable: l.csv line 3, column "order" is not a number '
            'expected the place of the label, such as 1, or an empty cell; got "second" '
            "do number the labels from one end to the other",
        ),
        (
            "label,order\na,1\nb,2\nc,1.0\n",
            'error order-twice: l.csv puts "a" and "c" at one place of the order (lines 2, 4) '
            "expected a place of its own for each label; got 1.0 twice "
            "do number them apart, or make one an alias of the other",
        ),
    ],
)
def test_messages_name_the_lines(tmp_path: Path, text: str, message: str) -> None:
    assert said(lambda: read_labels(written(tmp_path, "l.csv", text))) == message


def test_a_long_circle_is_cut_short() -> None:
    labels = [str(number) for number in range(9)]
    assert said(lambda: Hierarchy.of(labels, [*labels[1:], "0"], whose="these")) == (
        'error parents-circular: these: "0" stands above itself expected parents that end at a '
        'label without one; got "0" under "1" under "2" under "3" under "…" '
        "do empty the parent of the topmost of them"
    )


def test_labels_in_memory_are_checked_where_they_are_used() -> None:
    made = xr.Dataset(coords={"label": ["a", "b"], "alias": ("label", ["t", "t"])})
    assert said(lambda: aliases_of(made)).startswith(
        'error alias-ambiguous: the table of labels gives the alias "t" to "a" and to "b" expected'
    )
    ring = xr.Dataset(coords={"label": ["a", "b"], "parent": ("label", ["b", "a"])})
    assert said(lambda: Hierarchy.of_table(ring)).startswith("error parents-circular: the labels")
