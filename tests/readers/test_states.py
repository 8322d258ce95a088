"""Exports whose answers have states: any of them is read as the rules of its format have it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings, strategies as st

import plausibly
from cases_net import recognisers
from io_files import written
from readers_votes import Vote, voted

Json: TypeAlias = Any  # what a document holds
LABELS = ("a", "B c", "ä/ö", "1.0", '"q"\n')
pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")


# ---- Label Studio


def region(labels: list[str]) -> Json:
    return {"from_name": "dx", "type": "choices", "value": {"choices": labels}}


RATED = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
ALL = {"id": "all", "annotations": [{"completed_by": 0, "result": [region([*LABELS])]}]}


@st.composite
def answered(draw: st.DrawFn, who: int) -> tuple[Json, tuple[str, tuple[str, ...]]]:
    """Return an annotation, and its state and labels as the format's rules have them."""
    labels = draw(st.lists(st.sampled_from(LABELS), max_size=3, unique=True))
    apart = draw(st.booleans())
    regions = [region([label]) for label in labels] if apart else [region(labels)] * bool(labels)
    regions += [RATED] * draw(st.booleans())
    more: Json = draw(
        st.sampled_from(
            [
                {},
                {"was_cancelled": True},
                {"last_action": "rejected"},
                {"parent_prediction": 1, "prediction": {"result": [region(labels)]}},
                {"history": [{"result": [region([*LABELS])]}], "ground_truth": False},
            ]
        )
    )
    if "was_cancelled" in more:
        state = "skipped"
    elif "last_action" in more:
        state = "rejected"
    elif not labels:
        state = "empty"
    else:
        state = "suggestion" if "prediction" in more else "answered"
    counted = tuple(sorted(labels)) if state in ("suggestion", "answered") else ()
    person = draw(st.sampled_from([who, str(who), {"id": who, "email": f"{who}@example.com"}]))
    return {"completed_by": person, "result": draw(st.permutations(regions)), **more}, (
        state,
        counted,
    )


@st.composite
def exports(draw: st.DrawFn) -> tuple[list[Json], Counter[tuple[Vote, str]]]:
    """Return tasks, with one that names every label, and the responses that are in them."""
    wanted: Counter[tuple[Vote, str]] = Counter()
    wanted[("all", "0", tuple(sorted(LABELS))), "answered"] += 1
    tasks: list[Json] = [ALL]
    for number in range(draw(st.integers(1, 3))):
        made: list[Json] = []
        for who in range(draw(st.integers(0, 3))):
            one, (state, labels) = draw(answered(who))
            made.append(one)
            wanted[(f"{number}", f"{who}", labels), state] += 1
        made = draw(st.permutations(made))
        if draw(st.booleans()):
            made = [{**one, "id": at} for at, one in enumerate(made)]
        key = draw(st.sampled_from(["annotations", "completions"]))
        tasks.append({"id": number, "data": {"text": "t"}, key: made})
    return draw(st.permutations(tasks)), wanted


@settings(max_examples=50)
@given(made=exports(), indent=st.sampled_from([None, 1]), escaped=st.booleans())
def test_any_export_of_label_studio_is_read_to_what_is_in_it(
    folder: Path, made: Json, indent: int | None, escaped: bool
) -> None:
    tasks, wanted = made
    path = written(folder, "a.json", json.dumps(tasks, indent=indent, ensure_ascii=escaped))
    assert recognisers(path) == ["label-studio"]
    table = plausibly.read_annotations(path, control="dx", states={"empty": "drop"})
    assert Counter(voted(table)) == wanted
    assert table.attrs["kind"] == "label-set"
    assert set(table["example"].values) == {str(task["id"]) for task in tasks}


# ---- Argilla


# ---- Prodigy
