"""Tables of labels: their columns, and what is said of those that cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from io_files import written
from plausibly.data.labels import Hierarchy, aliases_of
from plausibly.io.label_tables import read_labels, table_from, with_coordinates, with_known_labels
from refusals import refused


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


UNREAD = [
    (
        "label,alias\neczema,AD\ntinea,\nacne,x|AD\n",
        "alias-ambiguous",
        '"AD" to "eczema" and to "acne" (lines 2, 4)',
    ),
    (
        "label,alias\neczema,tinea\ntinea,\n",
        "alias-ambiguous",
        'the label "tinea" to "eczema" as an alias (lines 2, 3)',
    ),
    (
        "label,alias\ntinea,\neczema,tinea\n",
        "alias-ambiguous",
        'got answers "tinea" that could be either do remove the row of "tinea"',
    ),
    ("label,alias,aliases\na,x,y\n", "columns-repeat", 'do put all of them into "alias"'),
    (
        "label,parent\neczema,dermatits\ntinea,dermatits\ndermatitis,\n",
        "parent-unknown",
        "line 2",
        "(so it is in line 3)",
        'got "dermatits" do did you mean "dermatitis"? mend it',
    ),
    (
        "label,parent,alias\neczema,derm,\ndermatitis,,derm\n",
        "parent-unknown",
        'got "derm" do did you mean "dermatitis"? mend it',
    ),
    ("label,parent\ncat,1\ndog,1\n", "parent-unknown", 'do add a row for "1", or give the column'),
    (
        "label,parent\na,b\nb,c\nc,b\n",
        "parents-circular",
        "(lines 3, 4)",
        '"b" under "c" under "b"',
    ),
    ("label,parent\na,a\n", "parents-circular", "(line 2)", 'got "a" under "a"'),
    ("label,order\na,1\nb,second\n", "number-unreadable", 'line 3, column "order"', '"second"'),
    ("label,order\na,1\nb,2\nc,1.0\n", "order-twice", '"a" and "c"', "(lines 2, 4)", "1.0 twice"),
]


@pytest.mark.parametrize("case", UNREAD, ids=lambda case: f"{case[1]} {case[2]}")
def test_messages_name_the_lines(tmp_path: Path, case: tuple[str, ...]) -> None:
    text, name, *pieces = case
    with refused(name, "l.csv", *pieces):
        read_labels(written(tmp_path, "l.csv", text))


def test_a_long_circle_is_cut_short() -> None:
    labels = [str(number) for number in range(9)]
    with refused("parents-circular", "these", 'got "0" under "1" under "2" under "3" under "…"'):
        Hierarchy.of(labels, [*labels[1:], "0"], whose="these")


def test_labels_in_memory_are_checked_where_they_are_used() -> None:
    made = xr.Dataset(coords={"label": ["a", "b"], "alias": ("label", ["t", "t"])})
    with refused("alias-ambiguous", 'the table of labels gives the alias "t" to "a" and to "b"'):
        aliases_of(made)
    ring = xr.Dataset(coords={"label": ["a", "b"], "parent": ("label", ["b", "a"])})
    with refused("parents-circular", "the labels"):
        Hierarchy.of_table(ring)
