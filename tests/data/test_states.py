"""States of responses: what they are called, what is done with them, how they travel."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.data import names, states
from plausibly.data.annotations import (
    AnnotationTable,
    build_table,
    describe,
    is_intact,
    not_counted,
    rebuilt,
)


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
