"""Tables of examples and labels: what they hold, what is wrong with them, and aliases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from linecache import getline
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import labelled_records as lr
import plausibly
from io_files import csv_text, refusal, written
from plausibly.data.annotations import build_table
from plausibly.data.labels import Hierarchy, aliases_of, merge_aliases, split_aliases
from plausibly.data.names import name_texts
from plausibly.data.select import to_frame
from plausibly.data.states import read_merged
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.io.label_tables import (
    read_examples,
    read_labels,
    table_from,
    with_coordinates,
)
from plausibly.io.text import plain
from plausibly.plugin import ANNOTATION, Reader, resolve, warn
from refusals import refused
from tables import labelled


def test_examples_have_text_and_numbers(tmp_path: Path) -> None:
    rows = [
        ["site", "example", "patient", "weight", "year", "code", "gap", "sign"],
        ["north", "a", "7", "0.50", "2020", "007", "1", "+1"],
        ["south", "b", "-3", "1e-3", "1999", "10", "", "2"],
    ]
    table = read_examples(written(tmp_path, "patients.csv", csv_text(rows)))
    assert table.attrs == {"source": "patients.csv"}
    assert list(table.data_vars) == []
    assert table["example"].values.tolist() == ["a", "b"]
    assert all(coordinate.dims == ("example",) for coordinate in table.coords.values())
    kinds = {str(name): coordinate.dtype.kind for name, coordinate in table.coords.items()}
    integers, floats = {"patient", "year"}, {"weight"}
    assert {name for name, kind in kinds.items() if kind == "i"} == integers
    assert {name for name, kind in kinds.items() if kind == "f"} == floats
    assert {name for name, kind in kinds.items() if kind == "U"} == {*rows[0]} - integers - floats
    assert table["patient"].values.tolist() == [7, -3]
    assert table["weight"].values.tolist() == [0.5, 0.001]
    assert table["gap"].values.tolist() == ["1", ""]


NO_NUMBERS = ["007", "+1", " 1", "1 ", "", "nan", "inf", "1_000", "1,5", "-0", "0x1", "1.", ".5"]
NO_NUMBERS += ["1e999", "99999999999999999999", "9223372036854775808", "1" * 5_000, "\u0661", "1\n"]


@pytest.mark.parametrize("text", NO_NUMBERS, ids=lambda text: ascii(text[:20]))
def test_doubtful_numbers_stay_text(text: str) -> None:
    assert plain([text]) is None
    assert plain(["1", text]) is None
    assert plain([]) is None


@given(
    st.lists(st.integers(-(2**62), 2**62), min_size=1)
    | st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1)
)
def test_numbers_are_read_to_the_last_bit(numbers: list[int] | list[float]) -> None:
    values = plain([repr(number) for number in numbers])
    assert values is not None
    assert values.dtype == (np.int64 if isinstance(numbers[0], int) else np.float64)
    assert values.tolist() == numbers


def test_labels_from_a_table_or_from_lines(tmp_path: Path) -> None:
    table = read_labels(written(tmp_path, "l.csv", "label,risk\nb,2\n a,0\n"))
    assert table["label"].values.tolist() == ["b", " a"]
    assert table["risk"].values.tolist() == [2, 0]
    for end in ("\n", "\r\n", "\r"):
        text = f"\ufeffb, c{end} a{end}007{end}{end}"
        path = written(tmp_path, "l.txt", text)
        assert read_labels(path)["label"].values.tolist() == ["b, c", " a", "007"]
    assert read_labels(written(tmp_path, "l.tsv", "label\nx\n"))["label"].values.tolist() == ["x"]


def test_coordinates_are_attached_by_name(tmp_path: Path) -> None:
    table = read_examples(written(tmp_path, "p.csv", "example,site,year\nz,s,1\nb,n,2\na,m,3\n"))
    array = labelled([[1.0, 2.0], [3.0, 4.0]], ["a", "b"], "xy")
    before = array.copy(deep=True)
    result = with_coordinates(array, table)
    assert result["site"].values.tolist() == ["m", "n"]
    assert result["year"].values.tolist() == [3, 2]
    np.testing.assert_array_equal(result.values, array.values)
    xr.testing.assert_identical(array, before)
    labels = read_labels(written(tmp_path, "l.csv", "label,risk\ny,2\nx,0\n"))
    assert with_coordinates(result.to_dataset(name="p"), labels)["risk"].values.tolist() == [0, 2]


def test_examples_that_the_table_lacks(tmp_path: Path) -> None:
    table = read_examples(written(tmp_path, "patients.csv", "example,site\nscan_7,n\n"))
    array = xr.DataArray([1.0, 2.0], dims="example", coords={"example": ["scan_0007", "c2"]})
    error = refusal(lambda: with_coordinates(array, table))
    assert (error.name, error.found) == (
        "examples-incomplete",
        '"scan_7" there and "scan_0007" here',
    )


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
    with refused("alias-ambiguous", 'the table of labels calls "a" and "b" "t"'):
        aliases_of(twice)
    ring = xr.Dataset(coords={"label": ["a", "b"], "parent": ("label", ["b", "a"])})
    with refused("parents-circular", "the labels"):
        Hierarchy.of_table(ring)
    labels = [str(number) for number in range(9)]
    with refused("parents-circular", "these", 'found "0" under "1" under "2" under "3" under "…"'):
        Hierarchy.of(labels, [*labels[1:], "0"], source="these")


LABELS = ["melanoma", "b c", "Ä", "0"]
ALIASES = {"MM": "melanoma", "melanoma ": "melanoma", "bc": "b c", "ä": "Ä"}
NAMES = [*LABELS, *ALIASES]


def own(name: object) -> str:
    """Return the label that a name stands for."""
    return ALIASES.get(str(name), str(name))


def ranking(answer: Any) -> list[list[str]]:  # Any: as it is drawn
    """Return a ranking in which each label has its best place, without empty blocks."""
    seen: set[str] = set()
    blocks = []
    for block in answer:
        blocks.append(sorted({own(name) for name in block} - seen))
        seen.update(blocks[-1])
    return [block for block in blocks if block]


def soft_label(answer: Any) -> dict[str, float]:  # Any: as it is drawn
    """Return weights that are added up by label."""
    result = dict.fromkeys(map(own, answer), 0.0)
    for name, weight in answer.items():
        result[own(name)] += weight
    return result


_names = st.sampled_from(NAMES)
# How answers of a kind are drawn, and what each is with every label under its own name.
ANSWERS: dict[str, tuple[st.SearchStrategy[Any], Callable[[Any], object]]] = {  # Any: any answer
    "single-label": (_names, own),
    "label-set": (
        st.lists(_names, min_size=1, max_size=5, unique=True),
        lambda answer: sorted({own(name) for name in answer}),
    ),
    "partial-ranking": (lr.rankings(NAMES), ranking),
    # Weights whose sums are exact in any order.
    "soft-label": (
        st.dictionaries(_names, st.integers(1, 64).map(float), min_size=1, max_size=5),
        soft_label,
    ),
}
TABLE = """\
label,alias
eczema,Eczema | atopic eczema
psoriasis,
tinea,ringworm|Tinea
"""


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return written(tmp_path, "labels.csv", TABLE)


@pytest.mark.parametrize("kind", ANSWERS)
@settings(max_examples=20)
@given(data=st.data())
def test_merging_then_counting_is_counting_renamed_records(kind: str, data: st.DataObject) -> None:
    answers, renamed = ANSWERS[kind]
    records = data.draw(lr.records(answers))
    annotation = resolve(ANNOTATION, kind)
    result = merge_aliases(annotation.build(records, NAMES), ALIASES, LABELS)
    annotation.validate(result)
    own_names = [(example, by, renamed(answer)) for example, by, answer in records]
    expected = annotation.build(own_names, LABELS)
    xr.testing.assert_identical(plausibly.aggregate(result), plausibly.aggregate(expected))
    named = [str(name) for _, _, answer in records for name in _named(answer)]
    counts = {alias: float(named.count(alias)) for alias in ALIASES if alias in named}
    assert read_merged(result.attrs) == counts
    # Responses of unknown annotators that became the same may stand in another order.
    rows = [sorted(map(str, to_frame(table).values.tolist())) for table in (result, expected)]
    assert rows[0] == rows[1]


def _named(answer: object) -> list[object]:
    if isinstance(answer, dict):
        return list(answer)
    if isinstance(answer, list):
        return [name for part in answer for name in _named(part)]
    return [answer]


def test_a_gap_that_was_there_is_still_refused() -> None:
    table = build_table(
        "partial-ranking",
        examples=["e"],
        annotators=["q"],
        labels=["a", "A", "b"],
        response_example=[0],
        response_annotator=[0],
        mention_response=[0, 0, 0],
        mention_label=[0, 1, 2],
        mention_block=[1, 2, 4],
    )
    result = merge_aliases(table, {"A": "a"}, ["a", "b"])
    assert result["mention_block"].values.tolist() == [1, 3]
    assert refusal(lambda: resolve(ANNOTATION, "partial-ranking").validate(result)).name == (
        "ranking-gap"
    )


def test_a_kind_with_its_own_columns_keeps_every_mention() -> None:
    spans = xr.Variable("mention", [3, 9])
    table = build_table(
        "label-set",
        examples=["e"],
        annotators=["q"],
        labels=["A", "a"],
        response_example=[0],
        response_annotator=[0],
        mention_response=[0, 0],
        mention_label=[1, 0],
        variables={"mention_start": spans},
        coordinates={"shade": xr.Variable("label", ["light", "dark"])},
    )
    result = merge_aliases(table, {"A": "a"}, ["a"])
    assert result["mention_label"].values.tolist() == [0, 0]
    assert sorted(result["mention_start"].values.tolist()) == [3, 9]
    assert result["shade"].values.tolist() == ["dark"]


@given(st.lists(st.text(min_size=1).map(str.strip).filter(bool), unique=True, max_size=5))
def test_any_alias_can_be_written(aliases: list[str]) -> None:
    plain = [alias for alias in aliases if "\\" not in alias]
    cell = " | ".join(alias.replace("|", r"\|") for alias in plain)
    assert split_aliases(cell) == split_aliases(f"{cell}||{cell}") == plain


@attrs.frozen
class Own(Reader):
    """A reader of an author, who writes the function that reads."""

    build: Callable[[Path, Sequence[str] | None], xr.Dataset]

    def recognises(self, path: Path, head: bytes) -> bool:
        return False

    def read(self, path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        return self.build(path, labels)


def strict(path: Path, labels: Sequence[str] | None) -> xr.Dataset:
    """Read names, strict about labels in words of its own."""
    warn("read-twice", f"{path.name} is read", hint="look")
    names = path.read_text(encoding="utf-8").split()
    for name in names:
        if labels is not None and name not in labels:
            raise InputError("label-unknown", f'{path.name} holds "{name}"', hint="fix it")
    records = [(f"e{place}", None, name) for place, name in enumerate(names)]
    return resolve(ANNOTATION, "single-label").build(records, labels)


@pytest.mark.parametrize("text", ["eczema psoriasis", "eczema Eczema"])
def test_a_reader_of_an_author_warns_once(tmp_path: Path, labels: Path, text: str) -> None:
    path = written(tmp_path, "votes.x", text)
    with pytest.warns(PlausiblyWarning) as caught:
        table = plausibly.read_annotations(path, Own(strict), labels)
    assert len(caught) == 1
    line = getline(caught[0].filename, caught[0].lineno)
    assert "read_annotations(" in line, "it is of the call, not of the reader"
    assert name_texts(table["label"].values) == ["eczema", "psoriasis", "tinea"]
    wrong = written(tmp_path, "wrong.x", "eczema typo")
    alias = "write it into the column alias of labels.csv, beside its label"
    with (
        pytest.warns(PlausiblyWarning, match="wrong.x is read"),
        refused("label-unknown", 'wrong.x holds "typo"', alias),
    ):
        plausibly.read_annotations(wrong, Own(strict), labels)


def test_a_reader_that_counts_labels_has_as_many_as_were_declared(
    tmp_path: Path, labels: Path
) -> None:
    counts: list[int] = []

    def complete(path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        rankings = [line.split(" > ") for line in path.read_text(encoding="utf-8").splitlines()]
        counts.append(len(labels or ()))
        records = [(f"e{place}", None, ranking) for place, ranking in enumerate(rankings)]
        table = resolve(ANNOTATION, "partial-ranking").build(records, labels)
        if any(len(ranking) < table.sizes["label"] for ranking in rankings):
            raise InputError("ranking-short", f"{path.name} does not rank every label", hint="fix")
        return table

    reader = Own(complete)
    path = written(
        tmp_path, "r.x", "ringworm > Eczema > psoriasis\nEczema > psoriasis > ringworm\n"
    )
    table = plausibly.read_annotations(path, reader, labels)
    assert counts == [3, 3]
    assert name_texts(table["label"].values) == ["eczema", "psoriasis", "tinea"]
    plausibilities = plausibly.aggregate(table)
    np.testing.assert_array_equal(plausibilities.values * 11, [[3, 2, 6], [6, 3, 2]])
    mixed = written(tmp_path, "m.x", "ringworm > Eczema > psoriasis\ntinea > eczema > psoriasis\n")
    error = refusal(lambda: plausibly.read_annotations(mixed, reader, labels))
    assert error.name == "ranking-short"
    assert counts == [3, 3, 3, 3, 7]


def test_only_a_label_that_is_not_declared_is_looked_up(tmp_path: Path, labels: Path) -> None:
    declared: list[list[str]] = []

    def placed(path: Path, labels: Sequence[str] | None) -> xr.Dataset:
        declared.append(list(labels or ()))
        raise InputError("column-missing", f'{path.name} has no column "Eczema"', hint="add it")

    path = written(tmp_path, "votes.x", "eczema")
    error = refusal(lambda: plausibly.read_annotations(path, Own(placed), labels))
    assert (error.name, error.hint) == ("column-missing", "add it")
    assert declared == [["eczema", "psoriasis", "tinea"]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [("t1,w1,eczma\n", "one of 3 declared labels"), ("t1,w1,Eczema\nt2,w1,eczma\n", "3")],
)
def test_a_label_that_is_neither(tmp_path: Path, labels: Path, rows: str, expected: str) -> None:
    votes = written(tmp_path, "votes.csv", f"task,worker,label\n{rows}")
    error = refusal(lambda: plausibly.read_annotations(votes, labels=labels))
    alias = ", or an alias" if expected == "3" else ""
    assert error.expected == f"one of 3 declared labels{alias}"
    assert error.hint.startswith('did you mean "eczema"? fix it, or declare it')
    assert "write it into the column alias of labels.csv" in error.hint
    # A list of names has no column: nothing is said of one.
    error = refusal(lambda: plausibly.read_annotations(votes, labels=["eczema"]))
    assert "alias" not in error.hint


def test_joined_tables_add_up_merged_answers(tmp_path: Path, labels: Path) -> None:
    parts = []
    for number, name in enumerate(["Eczema", "Eczema", "eczema", "Tinea"]):
        text = f"task,worker,label\nt{number},w1,{name}\n"
        votes = written(tmp_path, f"v{number}.csv", text)
        parts.append(plausibly.read_annotations(votes, labels=labels))
    whole = plausibly.concat_annotations([parts[2], parts[0], parts[1], parts[3]])
    assert read_merged(whole.attrs) == {"Eczema": 2, "Tinea": 1}
    assert "merged" not in plausibly.concat_annotations([parts[2]]).attrs
    assert read_merged(plausibly.select_annotations(whole, example="t2").attrs) == {
        "Eczema": 2,
        "Tinea": 1,
    }


def test_columns_of_predictions_under_an_alias(tmp_path: Path, labels: Path) -> None:
    path = written(tmp_path, "p.csv", "example,ringworm,Eczema,psoriasis\nx,.2,.5,.3\n")
    model = plausibly.read_predictions(path, labels=labels)
    assert name_texts(model["label"].values) == ["eczema", "psoriasis", "tinea"]
    assert model.values.tolist() == [[0.5, 0.3, 0.2]]
    both = written(tmp_path, "both.csv", "example,tinea,Eczema,eczema,psoriasis\nx,.2,.2,.3,.3\n")
    with refused(
        "label-twice", 'both.csv has 2 columns of the label "eczema"', 'found "Eczema", "eczema"'
    ):
        plausibly.read_predictions(both, labels=labels)
