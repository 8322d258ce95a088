"""The annotation table: order, types, files, sums, its text, and changes behind its back."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import labelled_records as lr
import plausibly
from call_files import each_call
from plausibly.data.annotations import AnnotationTable, Rows, build_table, check_table, order_of
from plausibly.data.records import Answer, table_from_records
from plausibly.data.select import answered, concat_annotations, select_annotations, to_frame
from plausibly.errors import InputError
from plausibly.kernels.masses import ordered_sum, whole
from plausibly.plugin import ANNOTATION, resolve
from refusals import refused

Engine = Literal["scipy", "netcdf4"]


built = partial(plausibly.build_annotations, "single-label")


def small(**changes: object) -> AnnotationTable:
    columns: dict[str, object] = {
        "examples": ["c1", "c2"],
        "annotators": ["r"],
        "labels": ["a", "b"],
        "response_example": [0, 1],
        "response_annotator": [0, -1],
        "mention_response": [0, 1],
        "mention_label": [1, 0],
        **changes,
    }
    return build_table("single-label", **columns)  # type: ignore[arg-type]  # columns by name


TYPES = {
    "response_example": "int32",
    "response_annotator": "int32",
    "response_weight": "float64",
    "mention_response": "int32",
    "mention_label": "int32",
    "mention_block": "int16",
    "mention_weight": "float64",
    "response_seconds": "float64",
    "mention_start": "int64",
    "skill": "float64",
    "page": "int64",
}


def test_types_and_attributes(table: AnnotationTable) -> None:
    assert {str(name): str(table[name].dtype) for name in table.data_vars} == TYPES
    assert {table[dim].dtype.kind for dim in ("example", "label", "annotator")} == {"U"}
    checksum = table.attrs.pop("checksum")
    assert isinstance(checksum, str)
    assert table.attrs == {
        "source": "a test",
        "kind": "mine",
        "unlisted": "excluded",
        "labels_declared": 1,
        "left_out": '{"unfinished": 3}',
    }


def test_the_arrays_of_the_caller_stay_theirs() -> None:
    columns: dict[str, NDArray[np.generic]] = {
        "response_example": np.array([1, 0]),
        "response_annotator": np.array([-1, 0], np.int32),
        "mention_response": np.array([1, 0], np.int32),
        "mention_label": np.array([0, 1], np.int32),
        "mention_block": np.array([1, 1], np.int16),
        "response_weight": np.array([2.0, 3.0]),
    }
    before = {name: values.copy() for name, values in columns.items()}
    for values in columns.values():
        values.flags.writeable = False
    table = small(**columns)
    for name, values in columns.items():
        np.testing.assert_array_equal(values, before[name])
        assert not np.shares_memory(values, table[name].values)
    assert table["response_weight"].values.tolist() == [3.0, 2.0]


@pytest.mark.parametrize("engine", ["scipy", "netcdf4"])
def test_a_table_survives_a_file(table: AnnotationTable, tmp_path: Path, engine: Engine) -> None:
    def again(given: xr.Dataset) -> xr.Dataset:
        given.to_netcdf(tmp_path / "table.nc", engine=engine)
        with xr.open_dataset(tmp_path / "table.nc", engine=engine) as opened:
            return opened.load()

    read = again(table.drop_vars("mention_start"))
    assert check_table(read) is read
    for name in ("response_example", "mention_label", "mention_block", "response_seconds"):
        assert read[name].dtype == table[name].dtype
        np.testing.assert_array_equal(read[name].values, table[name].values)
    assert read["patient"].values.tolist() == ["x", "y", "x"]
    empty = small(annotators=[], response_annotator=[-1, -1], mention_response=[], mention_label=[])
    assert check_table(again(empty)).sizes["annotator"] == 0


def test_a_table_survives_pickling_and_copies(table: AnnotationTable) -> None:
    for another in (pickle.loads(pickle.dumps(table)), table.copy(deep=True)):
        assert type(another) is AnnotationTable
        check_table(another)
        xr.testing.assert_identical(another, table)


@given(lr.records(lr.single_labels))
def test_records_come_back_as_they_were(records: lr.Records) -> None:
    table = resolve(ANNOTATION, "single-label").build(records, None)
    example, annotator, label = (
        table[dim].values.tolist() for dim in ("example", "annotator", "label")
    )
    names = [*annotator, None]  # code -1 looks at the end
    columns = (table["response_example"], table["response_annotator"], table["mention_label"])
    codes = zip(*(column.values for column in columns), strict=True)
    back = [(example[e], names[q], label[k]) for e, q, k in codes]
    assert sorted(map(repr, back)) == sorted(map(repr, records))
    for listed in (example, annotator, label):
        assert listed == sorted(listed)


# ---- the summary


FULL: lr.Records = [
    *((f"e{i}", f"r{q}", "a") for i in range(1000) for q in range(3)),
    *((f"e{i}", "r9", "b") for i in range(410)),
    *(("e0", f"s{q}", None) for q in range(214)),
]
MIXED: lr.Records = [("e", None, "a"), ("e", "r", "a"), ("f", "r", None)]
EMPTY: dict[str, list[int]] = {"mention_response": [], "mention_label": []}


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (
            built(FULL),
            "1,000 examples, 218 annotators, 3,410 answers (3 to 4 per example), 2 labels",
        ),
        (built(FULL), "single-label; annotators disagree on 41% of the examples; not counted: 214"),
        (built(FULL[:1]), "1 example, 1 annotator, 1 answer (1 per example), 1 label"),
        (built(MIXED[:1]), "1 example, annotators unknown, 1 answer (1 per example), 1 label"),
        (built(MIXED), "1 annotator and unknown ones, 2 answers (0 to 2 per example), 1 label"),
        (small(response_weight=[0.5, 0.75]), "1.2 answers (0.5 to 0.8 per example)"),
        (
            small(**EMPTY),
            "0 answers (0 per example), 2 labels single-label; not counted: 2 skipped",
        ),
    ],
)
def test_summary_of_a_table(table: AnnotationTable, text: str) -> None:
    summary = repr(table)
    assert text in " ".join(summary.split())
    assert summary.startswith("annotations  ")
    assert max(map(len, summary.splitlines())) <= 80


@pytest.mark.parametrize(
    ("first", "second", "disputed"),
    [
        ([("a", 1, 1.0), ("b", 2, 1.0)], [("a", 1, 1.0), ("b", 2, 1.0)], "0%"),
        ([("a", 1, 1.0), ("b", 2, 1.0)], [("a", 2, 1.0), ("b", 1, 1.0)], "100%"),
        ([("a", 1, 1.0)], [("a", 1, 1.0), ("b", 2, 1.0)], "100%"),
        ([("a", 1, 0.5), ("b", 1, 0.5)], [("a", 1, 0.5), ("b", 1, 0.25)], "100%"),
        ([("a", 1, 1.0)], [], "0%"),
    ],
)
def test_disputed_means_two_responses_that_differ(
    first: list[tuple[str, int, float]], second: list[tuple[str, int, float]], disputed: str
) -> None:
    records: lr.Records = [("e", "p", tuple(first)), ("e", "q", tuple(second))]

    def parse(answer: object) -> Answer:
        assert isinstance(answer, tuple)
        return answer

    table = table_from_records("mine", records, None, parse, blocks=True, weights=True)
    assert f"annotators disagree on {disputed} of the examples" in repr(table)


@pytest.mark.parametrize(
    ("disputed", "share"), [(0, "0%"), (1, "under 1%"), (2, "1%"), (199, "over 99%")]
)
def test_only_none_is_no_per_cent(disputed: int, share: str) -> None:
    records: lr.Records = [(f"e{i}", "r", "a") for i in range(200)]
    records += [*((f"e{i}", "q", "b") for i in range(disputed)), ("e199", "s", "a")]
    assert f"; annotators disagree on {share} of the examples" in repr(built(records))


# ---- columns and sums of aggregators


def test_columns_and_sums_over_mentions(table: AnnotationTable) -> None:
    plain = Rows.of(table.drop_vars(["response_weight", "mention_block", "mention_weight"]))
    assert plain.counts
    assert (plain.weight.tolist(), plain.block.tolist()) == ([1.0] * 6, [1] * 7)
    assert (plain.share.tolist(), plain.votes.tolist()) == ([1.0] * 7, [2, 2, 1])
    assert plain.mentions.tolist() == [2, 1, 1, 1, 0, 2]
    rows = Rows.of(table)
    assert not rows.counts
    assert rows.votes.tolist() == [3, 2, 1]
    assert rows.by_example(rows.share).tolist() == [2.5, 2, 2]
    assert rows.by_label(rows.share).tolist() == [[1, 1.5, 0], [1, 0, 1], [1, 1, 0]]
    shared = rows.by_label(rows.share, np.array([2.0, 1.0, 4.0]))
    assert shared.tolist() == [[0.5, 0.75, 0], [1, 0, 1], [0.25, 0.25, 0]]
    named = rows.plausibilities(np.zeros((3, 3)), denominator=np.array([1, 2, 3]))
    assert set(named.coords) == {"example", "label", "patient", "risk", "denominator"}
    assert named.attrs == {"left_out": '{"unfinished": 3}'}


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1e9)), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_a_sum_is_the_same_in_every_order(terms: list[tuple[int, float]], random: Random) -> None:
    def total(pairs: list[tuple[int, float]]) -> list[float]:
        groups, values = zip(*pairs, strict=True)
        sums: list[float] = ordered_sum(np.array(groups), np.array(values), 4).tolist()
        return sums

    assert total(random.sample(terms, len(terms))) == total(terms)
    for group, result in enumerate(total(terms)):
        exact = math.fsum(value for where, value in terms if where == group)
        assert result == pytest.approx(exact, rel=1e-14)


@given(st.lists(st.integers(0, 2**40), max_size=20))
def test_whole_numbers_add_exactly(terms: list[int]) -> None:
    values = np.array(terms, float)
    assert whole(values)
    assert not whole(np.append(values, 0.5))
    assert not whole(np.append(values, [2.0**52, 2.0**52]))  # their sums could round
    assert Fraction(ordered_sum(np.zeros(len(terms), int), values, 1)[0]) == sum(terms)


CODES = st.integers(0, 30) | st.integers(2**40, 2**40 + 30)  # three of these do not fit in 63 bits


@given(st.lists(st.tuples(*[CODES] * 3), max_size=60), st.randoms(use_true_random=False))
def test_codes_in_order(rows: list[tuple[int, int, int]], random: Random) -> None:
    random.shuffle(rows)
    order = order_of(*(np.array([row[k] for row in rows], np.int64) for k in range(3)))
    assert [rows[place] for place in order] == sorted(rows)


# ---- changes by xarray are detected when the table is used next


Change = Callable[[xr.Dataset], xr.Dataset]


def one_higher(name: str) -> Change:
    def change(table: xr.Dataset) -> xr.Dataset:
        changed = table.copy(deep=True)
        changed[name][0] += 1
        return changed

    return change


def written_to(table: xr.Dataset) -> xr.Dataset:
    column = table["response_weight"].values
    column[0] += 1
    return table


CHANGES: dict[str, Change] = {
    "isel": lambda t: t.isel(example=[0, 2]),
    "isel that keeps the size": lambda t: t.isel(example=[1, 0, 2]),
    "isel of labels": lambda t: t.isel(label=[1, 0, 2]),
    "assign_coords of labels": lambda t: t.assign_coords(label=["z", "a", "n"]),
    "reordered responses": lambda t: t.isel(response=[1, 0, 2, 3, 4, 5]),
    "reordered mentions": lambda t: t.isel(mention=[1, 0, 2, 3, 4, 5, 6]),
    "other weights": lambda t: t.assign(response_weight=t["response_weight"] * 2),
    "other ranks": lambda t: t.assign(mention_block=t["mention_block"] + 1),
    **{
        f"another {name}": one_higher(name)
        for name in ("mention_response", "mention_label", "response_example", "response_annotator")
    },
    "without weights": lambda t: t.drop_vars("mention_weight"),
    "where": lambda t: t.where(t["response_weight"] > 1),
    "a column that was written to": written_to,
    "some variables": lambda t: t[["skill"]],
    "checksum of another": lambda t: t.assign_attrs(checksum="00" * 16),
    "no checksum": lambda t: t.drop_attrs(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_found(table: AnnotationTable, change: Change) -> None:
    changed = change(table)
    with pytest.raises(InputError) as caught:
        check_table(changed)
    assert caught.value.name in {"table-detached", "table-unknown"}
    if isinstance(changed, AnnotationTable):
        assert repr(changed).startswith("annotations  detached: ")
        assert "use plausibly.select_annotations(ann, " in repr(changed)


@pytest.mark.parametrize(
    "entry",
    [
        check_table,
        lambda table: select_annotations(table, example="c1"),
        lambda table: concat_annotations([table]),
        to_frame,
        answered,
    ],
)
def test_every_entry_compares_the_checksum(
    table: AnnotationTable, entry: Callable[[xr.Dataset], object]
) -> None:
    with refused("table-detached", "found another checksum"):
        entry(table.isel(example=[0, 2]))
    del table.attrs["checksum"]
    with refused("table-detached", "found no checksum"):
        entry(table)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.assign_coords(site=("example", ["n", "s", "n"])),
        lambda t: t.assign(response_note=("response", list("abcdef"))),
        lambda t: t.assign_attrs(note="mine"),
        lambda t: t.assign_coords(example=t["example"].astype(object)),
        lambda t: t.assign(mention_label=t["mention_label"].astype(">i4")),
        lambda t: t.drop_vars(["skill", "patient"]),
    ],
)
def test_what_does_not_move_names_keeps_the_checksum(
    table: AnnotationTable, change: Change
) -> None:
    check_table(change(table), frozenset({"mine", "yours"}))


def test_the_digest_is_of_names_and_the_same_on_every_machine() -> None:
    def checksum(*examples: str) -> object:
        return build_table(
            "single-label",
            examples=examples,
            annotators=["r"],
            labels=["a"],
            response_example=[0],
            response_annotator=[0],
            mention_response=[0],
            mention_label=[0],
        ).attrs["checksum"]

    assert checksum("é", "7") == "940e458308e0fc4def24f867739f1498"
    assert len({checksum(*names) for names in (("ab", "c"), ("a", "bc"), ("ab",), ("a", "b"))}) == 4


test_each_call_gives_its_text = each_call(__file__, globals(), "table")
