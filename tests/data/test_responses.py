"""Responses with states, beside the cases of the readers: no order, and nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from plausibly import registry
from plausibly.data import names, states
from plausibly.data.annotations import (
    AnnotationTable,
    build_table,
    is_intact,
    not_counted,
    rebuilt,
)
from plausibly.data.states import read_left_out
from plausibly.io.responses import Duplicates, Response, ResponseOptions
from plausibly.protocols import ANNOTATION
from refusals import refused


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
