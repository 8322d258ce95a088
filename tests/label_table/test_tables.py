"""Tables of labels: what they hold, what is wrong with them, and what users of other tools met."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings, strategies as st

import plausibly
from io_files import csv_text, written
from plausibly.data.labels import Hierarchy, aliases_of
from plausibly.data.names import name_texts
from plausibly.errors import InputError
from plausibly.io.label_tables import read_labels, table_from, with_coordinates
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


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_other_ways_to_write_the_table(tmp_path: Path, end: str) -> None:
    text = end.join(["\ufefflabel;alias;parent;order", 'a;"a|x | y";top;2', "top;;;1", ""])
    table = plausibly.read_labels(written(tmp_path, "l.csv", text))
    assert aliases_of(table) == {"x": "a", "y": "a"}
    assert Hierarchy.of_table(table).above == (1,)
    assert table["order"].dtype.kind == "i"
    plural = read_labels(written(tmp_path, "l.csv", "label,aliases\na,A\n"))
    assert aliases_of(plural) == {"A": "a"}
    assert aliases_of(table_from(["a", "b"], "label")) == {}


def test_labels_in_memory(tmp_path: Path) -> None:
    made = xr.Dataset(coords={"label": ["a", "b"], "alias": ("label", ["t", None])})
    assert aliases_of(made) == {"t": "a"}
    twice = made.assign_coords(alias=("label", ["t", "t"]))
    with refused("alias-ambiguous", 'the table of labels gives the alias "t" to "a" and to "b"'):
        aliases_of(twice)
    ring = xr.Dataset(coords={"label": ["a", "b"], "parent": ("label", ["b", "a"])})
    with refused("parents-circular", "the labels"):
        Hierarchy.of_table(ring)
    labels = [str(number) for number in range(9)]
    with refused("parents-circular", "these", 'found "0" under "1" under "2" under "3" under "…"'):
        Hierarchy.of(labels, [*labels[1:], "0"], source="these")


_cells = st.sampled_from(["", "a", "b", "c", "a|b", "d | e", r"f\|g", "1", "2", "-1", "x", "|"])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", "d"]), _cells, _cells, _cells),
        min_size=1,
        max_size=4,
    ),
    cut=st.integers(0, 200),
)
def test_any_table_is_read_right_or_refused_by_name(
    tmp_path: Path, rows: list[tuple[str, str, str, str]], cut: int
) -> None:
    text = csv_text([["label", "alias", "parent", "order"], *rows])
    for content in (text, text.encode()[:cut], b"\xff" + text.encode()):
        path = written(tmp_path, "labels.csv", content)
        refused = ""
        try:
            table = plausibly.read_labels(path)
        except InputError as error:
            refused = str(error)
        assert not refused or "labels.csv" in refused
        if refused or content != text:
            continue
        labels = [row[0] for row in rows]
        assert name_texts(table["label"].values) == labels
        aliases = aliases_of(table)
        assert not set(aliases) & set(labels)
        assert set(aliases.values()) <= set(labels)
        assert all(row[2] in ("", *labels) for row in rows)
        numbers = [float(row[3]) for row in rows if row[3]]
        assert len(set(numbers)) == len(numbers)
        tree = Hierarchy.of_table(table)
        assert {labels[code] for code in tree.above} == {row[2] for row in rows} - {""}
