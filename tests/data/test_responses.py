"""Cutting and joining tables, and responses with states: no order, and nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import labelled_records as lr
import plausibly
from call_files import each_call
from plausibly import registry
from plausibly.data import names, states
from plausibly.data.annotations import (
    AnnotationTable,
    answered_rows,
    build_table,
    check_table,
    is_intact,
    not_counted,
    rebuilt,
)
from plausibly.data.select import answered, concat_annotations, select_annotations, to_frame
from plausibly.data.states import read_left_out, with_left_out
from plausibly.io.responses import Duplicates, Response, ResponseOptions
from plausibly.plugin import ANNOTATION, resolve
from refusals import refused

built = partial(plausibly.build_annotations, "single-label")


def rows(table: xr.Dataset) -> list[tuple[str, ...]]:
    """All of a table's content as text, sorted: what must not change by going through verbs."""
    frame = to_frame(table).astype(object)
    return sorted(tuple(map(str, row)) for row in frame.itertuples(index=False))


@given(lr.records(lr.rankings()), st.data())
@settings(max_examples=40)
def test_joining_what_was_cut_gives_it_back(records: lr.Records, data: st.DataObject) -> None:
    kind = resolve(ANNOTATION, "partial-ranking")
    whole = select_annotations(kind.build(records, lr.LABELS))  # the same table again
    examples = whole["example"].values.tolist()
    side = data.draw(st.lists(st.integers(0, 2), min_size=len(examples), max_size=len(examples)))
    chosen = [[e for e, s in zip(examples, side, strict=True) if s == part] for part in (2, 0, 1)]
    parts = [select_annotations(whole, example=names) for names in chosen]
    xr.testing.assert_identical(concat_annotations(parts), whole)
    known = [record for record in records if record[1] is not None]
    if known:
        whole = select_annotations(kind.build(known, lr.LABELS))
        annotators = whole["annotator"].values.tolist()
        first = data.draw(st.lists(st.sampled_from(annotators), unique=True))
        rest = [name for name in annotators if name not in first]
        parts = [select_annotations(whole, annotator=names) for names in (first, rest)]
        xr.testing.assert_identical(concat_annotations(parts), whole)


@given(lr.records(lr.single_labels), lr.records(lr.single_labels, unknown=False))
@settings(max_examples=40)
def test_responses_to_the_same_example_add(first: lr.Records, second: lr.Records) -> None:
    second = [(e, f"{q}'", answer) for e, q, answer in second]
    kind = resolve(ANNOTATION, "single-label")
    joined = concat_annotations([kind.build(part, lr.LABELS) for part in (first, second)])
    xr.testing.assert_identical(joined, kind.build(first + second, lr.LABELS))


def test_select_carries_every_variable(table: AnnotationTable) -> None:
    part = select_annotations(table, example=["c3", "c1"])
    for name, values in {
        "example": ["c3", "c1"],
        "patient": ["x", "x"],
        "annotator": ["p", "q", "r"],
        "response_seconds": [5.0, 6.0, 1.0, 2.0],
        "response_weight": [0.5, 1.0, 1.0, 2.0],
        "mention_start": [15, 16, 10, 11, 12],
        "skill": [0.1, 0.2, 0.3],
    }.items():
        assert part[name].values.tolist() == values, name
    assert int(part["page"]) == 7
    assert part.attrs["source"] == "a test"
    assert part.attrs["left_out"] == table.attrs["left_out"]
    assert {"patient", "risk"} <= set(part.coords)
    assert set(rows(part)) < set(rows(table))
    # By annotator examples stay, and responses of unknown annotators go.
    part = select_annotations(table, annotator=["r", "q"])
    for name, values in {
        "example": ["c1", "c2", "c3"],
        "annotator": ["r", "q"],
        "skill": [0.3, 0.2],
        "response_seconds": [2.0, 4.0, 6.0],
        "response_annotator": [1, 0, 0],
    }.items():
        assert part[name].values.tolist() == values, name


@pytest.mark.parametrize(
    "chosen",
    [
        ["c1", "c3"],
        ("c1", "c3"),
        np.array(["c1", "c3"]),
        np.array([True, False, True]),
        [True, False, True],
        pd.Index(["c1", "c3"]),
        pd.Series(["c1", "c3"], index=[5, 6]),
        xr.DataArray(["c1", "c3"], dims="example"),
        xr.DataArray([True, False, True], dims="example"),
        # by name: another order, and an example that the mask does not know
        xr.DataArray([True, True], coords={"example": ["c3", "c1"]}),
        xr.DataArray([True, False, True], coords={"example": ["c3", "c2", "c1"]}),
        (name for name in ("c1", "c3")),
    ],
)
def test_ways_to_name_what_is_selected(table: AnnotationTable, chosen: object) -> None:
    before = table.copy(deep=True)
    part = select_annotations(table, example=chosen)
    assert part["example"].values.tolist() == ["c1", "c3"]
    check_table(part)
    xr.testing.assert_identical(table, before)
    numbers = built([(1, 7, "a"), (2, 8, "b")])
    for number, known in ((2, ["2"]), ([2, 1], ["2", "1"]), ([], [])):
        assert select_annotations(numbers, example=number)["example"].values.tolist() == known
    assert select_annotations(numbers, annotator=np.int64(7)).sizes["response"] == 1


def test_arrays_become_frames_of_a_row_per_example() -> None:
    coords = {"alpha": [0.1, 0.2], "example": ["x", "y"], "label": ["cat", "dog"]}
    sets = xr.DataArray(np.arange(8).reshape(2, 2, 2) % 3 == 0, coords=coords)
    frame = to_frame(sets.transpose("example", "label", "alpha"))
    assert frame.index.names == ["alpha", "example"]
    assert list(frame.columns) == ["cat", "dog"]
    assert (frame.to_numpy().reshape(sets.shape) == sets.values).all()
    shares = xr.DataArray([[0.25, 0.75], [1.0, 0.0]], coords=sets[0].drop_vars("alpha").coords)
    expected = to_frame(shares)
    assert expected.loc["x"].to_dict() == {"cat": 0.25, "dog": 0.75}
    assert to_frame(plausibly.to_sparse(shares)).equals(expected)
    unnamed = to_frame(shares.expand_dims(augmentation=2))  # rows of augmentations are numbered
    assert unnamed.index.tolist() == [(0, "x"), (0, "y"), (1, "x"), (1, "y")]
    with refused("dims-differ", "found example"):
        to_frame(shares.isel(label=0))


OTHER = xr.DataArray([True], coords={"example": ["other"]})


def test_answered_names_those_with_an_answer_that_counts() -> None:
    table = built([("e", "r", "a"), ("f", "r", None), ("g", "r", "a"), ("g", "q", None)])
    assert answered(table) == ["e", "g"]
    assert answered(select_annotations(table, annotator="q")) == []
    part = select_annotations(table, example=answered(table))
    assert part["example"].values.tolist() == ["e", "g"]
    answered_rows(part, frozenset({"single-label"}))
    pieces = ("votes.csv: 1 of 3 examples", "found 0 (1 skipped by all, 0 never assigned)")
    with refused("example-unanswered", *pieces) as caught:
        answered_rows(table, frozenset({"single-label"}), source="votes.csv")
    assert caught.value.details == {"examples": ["f"], "skipped": 1, "never": 0}


def test_labels_are_united_in_order_and_names_sorted() -> None:
    first = built([("e9", "r", "b")], ["z", "b"])
    second = built([("e10", "q", "a")], ["a", "z"])
    joined = concat_annotations([first, second])
    assert joined["label"].values.tolist() == ["z", "b", "a"]
    assert joined["example"].values.tolist() == ["e10", "e9"]
    assert joined["annotator"].values.tolist() == ["q", "r"]
    assert rows(joined) == sorted(rows(first) + rows(second))
    counted = [with_left_out(part, {"drafts": 2}) for part in (first, second)]
    assert concat_annotations(counted).attrs["left_out"] == '{"drafts": 4}'
    assert concat_annotations([first, built([("x", "r", "b")])]).attrs["labels_declared"] == 0


def test_a_table_without_weights_joins_one_with_weights(table: AnnotationTable) -> None:
    plain = select_annotations(table, example="c2").drop_vars(
        ["response_weight", "mention_block", "mention_weight"]
    )
    joined = concat_annotations([rebuilt(plain), select_annotations(table, example=["c1", "c3"])])
    twice = table.attrs | {"left_out": '{"unfinished": 6}'}  # each part counts the whole
    xr.testing.assert_identical(joined, table.assign_attrs(twice))


def joined(table: xr.Dataset, change: Callable[[xr.Dataset], xr.Dataset]) -> xr.Dataset:
    part = select_annotations(table, example=["c1", "c2"])
    return concat_annotations([part, change(select_annotations(table, example="c3"))])


def test_joins_without_a_table_or_with_a_response_in_two() -> None:
    with refused("annotations-empty", "there is no annotation table to join"):
        concat_annotations([])
    first: lr.Records = [(e, "w", "a") for e in ("t1", "t2", "t3", "t4")]
    second: lr.Records = [(e, "w", "b") for e in ("t2", "t3", "t4", "t5")]
    with refused("response-twice", "found 3 responses in more than one table"):
        concat_annotations([built([*first, ("t1", None, "a")]), built([*second, ("t2", "v", "a")])])


def test_variables_over_other_dims_are_joined_where_they_are_equal(table: AnnotationTable) -> None:
    parts = [select_annotations(table, example=example) for example in ("c1", ["c2", "c3"])]
    skill = ("annotator", [np.nan, 0.2, 0.3])
    joined = concat_annotations([part.assign(skill=skill) for part in parts])
    assert np.isnan(joined["skill"].values[0])
    seconds = (xr.Variable("interval", np.zeros(size)) for size in (2, 3))
    with refused("variable-differs"):
        concat_annotations([part.assign(seconds=next(seconds)) for part in parts])
    wide = table.assign(bias=(("annotator", "label"), np.arange(9.0).reshape(3, 3)))
    with refused("variable-differs", "bias"):
        concat_annotations([select_annotations(wide, example=e) for e in ("c1", "c2")])


def test_frame_of_a_table(table: AnnotationTable) -> None:
    frame = to_frame(table)
    assert frame.index.name == "response"
    assert frame.index.tolist() == [0, 0, 1, 2, 3, 4, 5, 5]
    assert frame["label"].cat.categories.tolist() == ["z", "a", "m"]
    columns = {
        "example": ["c1", "c1", "c1", "c2", "c2", "c3", "c3", "c3"],
        "annotator": ["p", "p", "q", None, "r", "p", "r", "r"],
        "label": ["z", "a", "a", "m", "z", None, "a", "z"],
        "response_weight": [1, 1, 2, 1, 1, 0.5, 1, 1],
        "mention_block": [1, 2, 1, 1, 1, None, 1, 2],
        "mention_weight": [1, 0.5, 1, 1, 1, None, 1, 1],
        "response_seconds": [1, 1, 2, 3, 4, 5, 6, 6],
        "mention_start": [10, 11, 12, 13, 14, None, 15, 16],
    }
    assert list(frame.columns) == list(columns)
    for name, values in columns.items():
        cells = frame[name].astype(object)
        assert cells.where(cells.notna(), None).tolist() == values, name
    complete = to_frame(select_annotations(table, example=["c1", "c2"]))
    assert [complete[name].dtype for name in ("mention_block", "mention_start")] == ["i2", "i8"]


test_each_call_gives_its_text = each_call(__file__, globals(), "table")


# ---- responses with states


class Options(ResponseOptions):
    """The options alone: no file is read."""

    def recognises(self, path: Path, head: bytes) -> bool:
        return False

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        raise AssertionError("no file is read")


# Any: fields by name
def response(example: str, annotator: str | None, answer: object, **fields: Any) -> Response:
    return Response(example=example, annotator=annotator, answer=answer, **fields)


def gathered(
    responses: Sequence[Response],
    kind: str = "single-label",
    labels: Sequence[str] | None = None,
    **options: Any,  # Any: options of the reader
) -> AnnotationTable:
    return Options(**options).gathered(kind, responses, labels, source="f.json", anonymous=True)


def test_a_table_is_as_its_kind_builds_it() -> None:
    records = [("2", "b", [["u", "v"], "w"]), ("1", "a", ["w"]), ("1", None, ["v", "u"])]
    table = gathered([response(*record) for record in records], "partial-ranking")
    plain = registry.resolve(ANNOTATION, "partial-ranking").build(records, None)
    xr.testing.assert_identical(table, plain)
    table = Options().gathered(
        "single-label",
        [response("1", "a", "cat")],
        None,
        source="f",
        examples=["0", "1"],
        annotators=["z"],
        unlisted="unknown",
    )
    assert table.attrs[names.UNLISTED] == "unknown"
    assert table["example"].values.tolist() == ["0", "1"]
    assert table["annotator"].values.tolist() == ["a", "z"]


BESIDE = [
    response("1", "a", "cat", state="rejected"),
    response("1", "a", "dog"),
    response("2", "a", None),
    response("2", "a", None),
    response("2", "b", "cat"),
    response("3", None, "cat"),
    response("3", None, "cat"),
]


def test_answers_beside_others_that_do_not_count() -> None:
    table = gathered(BESIDE, labels=["cat", "dog"])
    assert plausibly.aggregate(table).values.tolist() == [[0, 1], [1, 0], [1, 0]]
    assert not_counted(table) == {
        "skipped": 1,
        "no answer beside an answer by the same annotator": 1,
        "the same again": 1,
    }
    registry.resolve(ANNOTATION, "single-label").validate(table)


responses = st.lists(
    st.builds(
        Response,
        example=st.sampled_from("xyz"),
        annotator=st.sampled_from(["a", "b", None]),
        answer=st.sampled_from(["cat", "dog", "none", None, ""]),
        state=st.sampled_from(["answered", "rejected", "suggestion", "unfinished", "skipped"]),
        weight=st.sampled_from([1.0, 2.0]),
        time=st.integers(0, 99).map(float),
    ),
    min_size=1,
    max_size=9,
)


@given(responses, st.sampled_from(["all", "fractional", "latest"]), st.randoms())
def test_no_answer_depends_on_the_order_and_none_is_lost(
    listed: list[Response], duplicates: Duplicates, chance: random.Random
) -> None:
    labels = ["none", "dog", "cat"]
    shuffled = list(listed)
    chance.shuffle(shuffled)
    try:
        table = gathered(listed, labels=labels, duplicates=duplicates)
    except plausibly.InputError as error:
        with refused("times-unclear", " ".join(error.what.split())):
            gathered(shuffled, labels=labels, duplicates=duplicates)
    else:
        xr.testing.assert_identical(gathered(shuffled, labels=labels, duplicates=duplicates), table)
        left_out = sum(read_left_out(table.attrs).values())
        assert table.sizes[names.RESPONSE] + left_out == len(listed)


# ---- states in a table


@pytest.mark.parametrize(
    ("policies", "text"),
    [
        ({"rejectd": "drop"}, '"rejectd" is no state of a response; did you mean rejected?'),
        ({"answered": "drop"}, '"answered" is no state'),
        ({"rejected": "ignore"}, 'rejected: "ignore" is neither count, drop, error nor'),
        ({"rejected": "label:"}, 'rejected: "label:" is neither'),
        ({"skipped": "count"}, r"skipped: there is no answer to count \(drop, error, or"),
    ],
)
def test_policies_that_do_not_exist(policies: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        states.check_policies(policies)


def table_of_states(kind: str = "single-label") -> AnnotationTable:
    """Four responses: plain, a suggestion, a rejected one without mention, a plain empty one."""
    codes = [0, states.STATES.index("suggestion"), states.STATES.index("rejected"), 0]
    return build_table(
        kind,
        examples=["x", "y"],
        annotators=["a", "b"],
        labels=["cat", "dog"],
        response_example=[0, 0, 1, 1],
        response_annotator=[0, 1, 0, 1],
        mention_response=[0, 1],
        mention_label=[0, 1],
        response_state=codes,
    )


def test_states_are_counted_selected_joined_and_shown_as_words() -> None:
    table = table_of_states()
    text = " ".join(repr(table).split())
    assert text.endswith("of these: 1 suggestion; not counted: 1 skipped, 1 rejected")
    assert not_counted(table) == {"skipped": 1, "rejected": 1}
    assert not_counted(table_of_states("label-set")) == {"rejected": 1, "empty": 1}
    assert not_counted(rebuilt(table.drop_vars(names.RESPONSE_STATE))) == {"skipped": 2}
    assert table[names.RESPONSE_STATE].dtype == np.int8
    assert not is_intact(table.assign({names.RESPONSE_STATE: table[names.RESPONSE_STATE] + 1}))
    x, y = (plausibly.select_annotations(table, example=name) for name in "xy")
    xr.testing.assert_identical(plausibly.concat_annotations([y, x]), table)
    stateless = rebuilt(x.drop_vars(names.RESPONSE_STATE))
    joined = plausibly.concat_annotations([stateless, y])
    assert joined[names.RESPONSE_STATE].values.tolist() == [0, 0, 6, 0]
    repeated = rebuilt(table.assign_attrs({names.REPEATED: "all"}))
    with refused("kinds-differ", "tables of repeated no and all"):
        plausibly.concat_annotations([x, repeated])
    words = ["answered", "suggestion", "rejected", "answered"]
    assert plausibly.to_frame(table)[names.RESPONSE_STATE].tolist() == words
