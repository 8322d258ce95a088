"""Tables that several tests start from."""

from __future__ import annotations

import pytest
import xarray as xr

from plausibly.data.annotations import AnnotationTable, build_table


@pytest.fixture
def table() -> AnnotationTable:
    """Three examples, three annotators, two of them unknown once; one skip, ranks and weights."""
    return build_table(
        "mine",
        examples=["c1", "c2", "c3"],
        annotators=["p", "q", "r"],
        labels=["z", "a", "m"],
        response_example=[0, 0, 1, 1, 2, 2],
        response_annotator=[0, 1, -1, 2, 0, 2],
        response_weight=[1.0, 2.0, 1.0, 1.0, 0.5, 1.0],
        mention_response=[0, 0, 1, 2, 3, 5, 5],
        mention_label=[0, 1, 1, 2, 0, 1, 0],
        mention_block=[1, 2, 1, 1, 1, 1, 2],
        mention_weight=[1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0],
        left_out={"unfinished": 3},
        variables={
            "response_seconds": xr.Variable("response", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            "mention_start": xr.Variable("mention", [10, 11, 12, 13, 14, 15, 16]),
            "skill": xr.Variable("annotator", [0.1, 0.2, 0.3]),
            "page": xr.Variable((), 7),
        },
        coordinates={
            "patient": xr.Variable("example", ["x", "y", "x"]),
            "risk": xr.Variable("label", [2, 0, 1]),
        },
        attributes={"source": "a test"},
    )
