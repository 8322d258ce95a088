"""Responses with states, settled into a table: policies, duplicates, places, and no order."""

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
    describe,
    is_intact,
    not_counted,
    rebuilt,
)
from plausibly.data.states import read_left_out
from plausibly.io.responses import Duplicates, Response, ResponseOptions
from plausibly.protocols import ANNOTATION
from refusals import warned


class Answers(ResponseOptions):
    """The options alone: no file is read."""

    def recognises(self, path: Path, head: bytes) -> bool:
        return False

    def read(self, path: Path, labels: Sequence[str] | None) -> AnnotationTable:
        raise AssertionError("no file is read")


# Any: fields by name
def said(example: str, annotator: str | None, answer: object, **more: Any) -> Response:
    return Response(example=example, annotator=annotator, answer=answer, **more)


def gathered(
    responses: Sequence[Response],
    kind: str = "single-label",
    labels: Sequence[str] | None = None,
    *,
    offered: Sequence[str] | None = None,
    anonymous: bool = True,
    **options: Any,  # Any: options of the reader
) -> AnnotationTable:
    return Answers(**options).gathered(
        kind, responses, labels, source="f.json", offered=offered, anonymous=anonymous
    )


def refused(responses: Sequence[Response], **more: Any) -> plausibly.InputError:  # Any: as above
    with pytest.raises(plausibly.InputError) as caught:
        gathered(responses, **more)
    return caught.value


class TestTable:
    def test_as_the_kind_builds_it(self) -> None:
        records = [("2", "b", [["u", "v"], "w"]), ("1", "a", ["w"]), ("1", None, ["v", "u"])]
        found = gathered([said(*record) for record in records], "partial-ranking")
        plain = registry.resolve(ANNOTATION, "partial-ranking").build(records, None)
        xr.testing.assert_identical(found, plain)

    def test_names_without_a_response(self) -> None:
        found = Answers().gathered(
            "single-label",
            [said("1", "a", "cat")],
            None,
            source="f",
            examples=["0", "1"],
            annotators=["z"],
            unlisted="unknown",
        )
        assert found.attrs[names.UNLISTED] == "unknown"
        assert found["example"].values.tolist() == ["0", "1"]
        assert found["annotator"].values.tolist() == ["a", "z"]

    def test_labels_that_the_file_offers_are_declared_unless_the_user_declares(self) -> None:
        responses = [said("1", "a", "cat")]
        for labels, offered, names_, declared in (
            (None, None, ["cat"], 0),
            (None, ["dog", "cat"], ["dog", "cat"], 1),
            (["cat", "newt"], ["dog", "cat"], ["cat", "newt"], 1),
        ):
            found = gathered(responses, labels=labels, offered=offered)
            assert found["label"].values.tolist() == names_
            assert found.attrs[names.LABELS_DECLARED] == declared

    def test_no_answer(self) -> None:
        found = gathered([said("1", "a", None)], labels=["cat", "dog"])
        assert (found.sizes[names.RESPONSE], found.sizes[names.MENTION]) == (1, 0)
        assert not_counted(found) == {"skipped": 1}
        error = refused([said("1", "a", None)])
        assert (error.name, error.found) == ("annotations-empty", "1 response without one")


class TestStates:
    @pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
    def test_defaults(self) -> None:
        found = gathered(
            [
                said("1", "a", "cat", state="suggestion"),
                said("1", "b", "cat", state="rejected"),
                said("1", "c", "dog", state="unfinished"),
                said("1", "d", "dog", state="consolidated"),
                said("1", "e", "", place="line 2"),
            ]
        )
        assert not_counted(found) == {"unfinished": 1, "skipped": 1, "rejected": 1}
        assert plausibly.aggregate(found).values.tolist() == [[0.5, 0.5]]

    def test_policies(self) -> None:
        responses = [
            said("1", "a", "cat"),
            said("1", "b", "dog", state="rejected"),
            said("1", "c", None),
        ]
        found = gathered(responses, states={"rejected": "count", "skipped": "label:none"})
        assert found["label"].values.tolist() == ["cat", "dog", "none"]
        assert np.allclose(plausibly.aggregate(found).values, 1 / 3)
        assert "of these: 1 skipped, 1 rejected" in " ".join(repr(found).split())

    def test_error(self) -> None:
        error = refused(
            [
                said("1", "a", "cat"),
                said("2", "b", "dog", state="rejected", place="task 2"),
                said("3", None, "dog", state="rejected", place="task 3"),
            ],
            states={"rejected": "error"},
        )
        assert (error.name, error.found) == ("state-refused", "2 such responses, about 2, 3")
        assert error.what.startswith("f.json task 2: b on example 2")
        assert error.hint == 'states={"rejected": "drop"} (count, drop or label:NAME)'

    def test_an_empty_set_is_an_error_until_a_word_is_said(self) -> None:
        responses = [said("1", "a", ["cat"]), said("1", "b", [], place="line 3")]
        error = refused(responses, kind="label-set")
        assert error.name == "answer-empty"
        assert error.what == "f.json line 3: b on example 1: names no label"
        found = gathered(responses, "label-set", states={"empty": "drop"})
        assert not_counted(found) == {"empty": 1}
        found = gathered(responses, "label-set", states={"empty": "label:none"})
        assert found.sizes[names.MENTION] == 2

    @pytest.mark.parametrize(
        ("kind", "none", "mixed"),
        [
            ("single-label", "none", "cat"),
            ("label-set", ["none"], ["none", "cat"]),
            ("partial-ranking", [["none"]], ["cat", "none"]),
            ("soft-label", {"none": 1.0}, {"none": 0.5, "cat": 0.5}),
        ],
    )
    def test_none_of_these(self, kind: str, none: object, mixed: object) -> None:
        responses = [said("1", "a", none), said("1", "b", mixed)]
        counted = gathered(responses, kind, none_of_these=("none",))
        assert "of these: 1 none-of-these" in " ".join(repr(counted).split())
        dropped = gathered(
            responses, kind, none_of_these=("none",), states={"none-of-these": "drop"}
        )
        assert not_counted(dropped) == {"none-of-these": 1}

    def test_unknown_annotators_are_told_and_can_be_left_out(self) -> None:
        responses = [
            said("1", None, "cat", place="line 2"),
            said("1", None, "cat", place="line 3"),
            said("1", "a", "dog"),
        ]
        lines = "f.json does not say who gave 2 responses (line 2, line 3)"
        with warned("annotators-unnamed", lines, 'states={"unknown-annotator": "drop"}'):
            found = gathered(responses, anonymous=False)
        assert np.allclose(plausibly.aggregate(found).values, [[2 / 3, 1 / 3]])
        found = gathered(responses, states={"unknown-annotator": "drop"})
        assert plausibly.aggregate(found).values.tolist() == [[1.0]]
        assert not_counted(found) == {"unknown-annotator": 2}

    def test_consolidated_is_warned_of(self) -> None:
        with warned("votes-consolidated", "f.json holds results, not votes: 1 response by the"):
            gathered([said("1", "consolidated", "cat", state="consolidated")])


TWICE = [
    said("1", "a", "cat", time=2.0, place="line 2"),
    said("1", "a", "dog", time=1.0, place="line 3"),
    said("1", "b", "dog", time=1.0, place="line 4"),
]


class TestDuplicates:
    def test_error(self) -> None:
        error = refused(TWICE)
        assert (error.name, error.found) == ("response-twice", "up to 2")
        assert "a answered 1 example again (1), first in line 2, line 3" in error.what
        assert error.hint == 'duplicates="all" (or latest, fractional, first, last)'

    @pytest.mark.parametrize(
        ("duplicates", "expected"),
        [("latest", [1 / 2, 1 / 2]), ("all", [1 / 3, 2 / 3]), ("fractional", [1 / 4, 3 / 4])],
    )
    def test_policies(self, duplicates: Duplicates, expected: list[float]) -> None:
        found = gathered(TWICE, duplicates=duplicates)
        assert np.allclose(plausibly.aggregate(found).values, expected)
        assert not_counted(found) == ({"earlier answers": 1} if duplicates == "latest" else {})
        assert found.attrs.get(names.REPEATED) == (None if duplicates == "latest" else duplicates)
        registry.resolve(ANNOTATION, "single-label").validate(found)

    def test_latest_without_times_or_at_one_time(self) -> None:
        responses = [
            said("1", "a", "cat", place="line 2"),
            said("1", "a", "dog", time=1.0, place="line 9"),
        ]
        error = refused(responses, duplicates="latest")
        assert error.name == "times-unclear"
        assert "response by a to example 1 is the latest (line 2, line 9)" in error.what
        cat, dog = (said("1", "a", label, time=1.0) for label in ("cat", "dog"))
        assert refused([cat, dog], duplicates="latest").name == "times-unclear"
        assert gathered([cat, cat], duplicates="latest").sizes[names.RESPONSE] == 1

    def test_the_latest_may_be_a_skip(self) -> None:
        responses = [said("1", "a", "cat", time=1.0), said("1", "a", None, time=2.0)]
        found = gathered(responses, labels=["cat"], duplicates="latest")
        assert not_counted(found) == {"skipped": 1, "earlier answers": 1}

    def test_an_answer_beside_one_that_does_not_count(self) -> None:
        responses = [
            said("1", "a", "cat", state="rejected"),
            said("1", "a", "dog"),
            said("2", "a", None),
            said("2", "a", None),
        ]
        found = gathered([*responses, said("3", None, "cat"), said("3", None, "cat")])
        assert found.sizes[names.RESPONSE] == 4
        assert not_counted(found) == {
            "skipped": 1,
            "no answer beside an answer by the same annotator": 1,
            "the same again": 1,
        }


def test_what_a_kind_refuses_has_its_place_and_its_annotator() -> None:
    error = refused(
        [said("1", "a", "cat"), said("1", "b", ["dog", "cat"], place="task 1, annotation 2")]
    )
    assert error.what == "f.json task 1, annotation 2: example 1, annotator b gives a list"
    assert error.details["places"] == ["task 1, annotation 2"]
    error = refused([said("1", None, "dgo", place="line 7")], labels=["dog"])
    assert error.what == 'f.json line 7: example 1, an unknown annotator says "dgo"'
    assert "\x1f" not in str(error)


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
def test_nothing_depends_on_the_order(
    found: list[Response], duplicates: Duplicates, chance: random.Random
) -> None:
    labels = ["none", "dog", "cat"]
    shuffled = list(found)
    chance.shuffle(shuffled)
    try:
        table = gathered(found, labels=labels, duplicates=duplicates)
    except plausibly.InputError as error:
        other = refused(shuffled, labels=labels, duplicates=duplicates)
        same = (other.name, other.what) == (error.name, error.what)
        if not same or error.name != "times-unclear":
            raise
    else:
        xr.testing.assert_identical(gathered(shuffled, labels=labels, duplicates=duplicates), table)


@given(responses, st.sampled_from(["all", "fractional"]))
def test_every_response_is_in_the_table_or_counted_as_left_out(
    found: list[Response], duplicates: Duplicates
) -> None:
    table = gathered(found, labels=["none", "dog", "cat"], duplicates=duplicates)
    left_out = sum(read_left_out(table.attrs).values())
    assert table.sizes[names.RESPONSE] + left_out == len(found)


def table(kind: str = "single-label") -> AnnotationTable:
    """Four responses: plain, a suggestion, a rejected one without mention, a plain empty one."""
    return build_table(
        kind,
        examples=["x", "y"],
        annotators=["a", "b"],
        labels=["cat", "dog"],
        response_example=[0, 0, 1, 1],
        response_annotator=[0, 1, 0, 1],
        mention_response=[0, 1],
        mention_label=[0, 1],
        response_state=[0, states.STATES.index("suggestion"), states.STATES.index("rejected"), 0],
    )


class TestPolicy:
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
    def test_refused(self, policies: dict[str, str], text: str) -> None:
        with pytest.raises(ValueError, match=text):
            states.check_policies(policies)


class TestCounts:
    def test_those_that_count_and_those_that_do_not(self) -> None:
        assert states.count_states(table(), answered=True) == {"suggestion": 1}
        assert states.count_states(table(), answered=False) == {"rejected": 1, "skipped": 1}
        assert states.count_states(table("label-set"), answered=False) == {
            "rejected": 1,
            "empty": 1,
        }

    def test_without_the_variable(self) -> None:
        plain = rebuilt(table().drop_vars(names.RESPONSE_STATE))
        assert states.count_states(plain, answered=True) == {}
        assert states.count_states(plain, answered=False) == {"skipped": 2}

    def test_in_the_summary(self) -> None:
        text = " ".join(describe(table()).split())
        assert text.endswith("of these: 1 suggestion; not counted: 1 skipped, 1 rejected")
        assert not_counted(table()) == {"skipped": 1, "rejected": 1}


class TestTravel:
    def test_selected_and_joined(self) -> None:
        found = table()
        assert found[names.RESPONSE_STATE].dtype == np.int8
        assert not is_intact(found.assign({names.RESPONSE_STATE: found["response_state"] + 1}))
        x, y = (plausibly.select_annotations(found, example=name) for name in "xy")
        xr.testing.assert_identical(plausibly.concat_annotations([y, x]), found)
        stateless = rebuilt(x.drop_vars(names.RESPONSE_STATE))
        joined = plausibly.concat_annotations([stateless, y])
        assert joined[names.RESPONSE_STATE].values.tolist() == [0, 0, 6, 0]
        repeated = rebuilt(found.assign_attrs({names.REPEATED: "all"}))
        with pytest.raises(plausibly.InputError, match="tables of repeated no and all"):
            plausibly.concat_annotations([x, repeated])

    def test_in_a_frame_as_words(self) -> None:
        frame = plausibly.to_frame(table())
        assert frame[names.RESPONSE_STATE].tolist() == [
            "answered",
            "suggestion",
            "rejected",
            "answered",
        ]
