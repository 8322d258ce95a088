"""Votes in lists, with annotators and without."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, said, written
from plausibly.testing import check_reader
from plausibly_builtins.readers.vote_lists import VoteLists
from readers_votes import once, votes

Entry = dict[str, object]
SNLI: list[Entry] = [
    {"pairID": "p1", "gold_label": "neutral", "annotator_labels": ["n", "n", "e", "n", "c"]},
    {"pairID": "p2", "gold_label": "-", "annotator_labels": ["n", "e", "n", "e", ""]},
    {"pairID": "p3", "gold_label": "e", "annotator_labels": ["e", "", "", "", ""]},
]
DYNA: list[Entry] = [
    {"text_id": "r1", "label_distribution": {"pos": ["w1", "w2"], "neg": [], "mixed": ["w3"]}},
    {"text_id": "r2", "label_distribution": {"pos": ["w3"], "neg": ["w1"], "mixed": []}},
]


def lines(folder: Path, *entries: object) -> Path:
    return written(folder, "v.jsonl", "".join(f"{json.dumps(entry)}\n" for entry in entries))


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "vote-lists", labels, **options)


def test_report_54_no_majority_and_places_without_a_vote_are_no_class(tmp_path: Path) -> None:
    table = plausibly.read_annotations(lines(tmp_path, *SNLI))
    assert table.attrs["reader"] == "vote-lists"
    assert table["label"].values.tolist() == ["c", "e", "n"]
    assert table.sizes["annotator"] == 0
    assert table["response_weight"].sum() == 10
    assert "not counted: 5 places without a vote" in repr(table)
    shares = plausibly.aggregate(table)
    assert shares.values.tolist() == [[0.2, 0.2, 0.6], [0, 0.5, 0.5], [0, 1, 0]]
    hub = [{"id": 7, "label": -1, "annotator_labels": [0, 1, 0, 1, -1]}]
    numbered = read(lines(tmp_path, *hub), ["0", "1", "2"])
    assert plausibly.aggregate(numbered).values.tolist() == [[0.5, 0.5, 0]]
    assert numbered["example"].values.tolist() == ["7"]
    kept = read(lines(tmp_path, *hub), no_vote=[])
    assert kept["label"].values.tolist() == ["-1", "0", "1"]


def test_report_58_the_distribution_is_kept_where_annotators_disagree(tmp_path: Path) -> None:
    entry = {"id": "comment", "annotator_labels": ["yes", "no", "unsure"], "majority": None}
    shares = plausibly.aggregate(read(lines(tmp_path, entry)))
    assert shares.values.tolist() == [[pytest.approx(1 / 3)] * 3]


def test_annotators_by_label_keep_their_names(tmp_path: Path) -> None:
    table = plausibly.read_annotations(lines(tmp_path, *DYNA))
    assert table.attrs["reader"] == "vote-lists"
    assert votes(table) == once(
        ("r1", "w1", ("pos",)),
        ("r1", "w2", ("pos",)),
        ("r1", "w3", ("mixed",)),
        ("r2", "w3", ("pos",)),
        ("r2", "w1", ("neg",)),
    )
    assert table["label"].values.tolist() == ["mixed", "neg", "pos"]
    assert bool(table.attrs["labels_declared"])
    declared = read(lines(tmp_path, *DYNA), ["pos", "neg", "neu", "mixed"])
    assert plausibly.aggregate(declared).sel(example="r2").values.tolist() == [0.5, 0.5, 0, 0]
    error = refusal(lambda: read(lines(tmp_path, *DYNA), ["pos", "mixed"]))
    assert error.name == "label-unknown"
    assert "v.jsonl line 2" in error.what


def test_an_annotator_under_two_labels_answered_twice(tmp_path: Path) -> None:
    path = lines(tmp_path, {"id": 1, "label_distribution": {"a": ["w1", "w2"], "b": ["w1"]}})
    error = refusal(lambda: read(path))
    assert error.name == "response-twice"
    assert error.what == (
        'v.jsonl: w1 answered 1 example again (1), first in line 1, "a", line 1, "b"'
    )
    shares = plausibly.aggregate(read(path, duplicates="fractional"))
    assert shares.values.tolist() == [[0.75, 0.25]]
    error = refusal(
        lambda: read(lines(tmp_path, {"id": 1, "label_distribution": {"a": ["w"] * 2}}))
    )
    assert (error.name, error.what) == (
        "votes-unlike",
        'v.jsonl line 1 lists "w" twice under one label',
    )


def test_an_example_without_votes_stays(tmp_path: Path) -> None:
    path = lines(tmp_path, SNLI[0], {"pairID": "p9", "annotator_labels": []})
    table = read(path)
    assert table["example"].values.tolist() == ["p1", "p9"]
    assert plausibly.aggregate(table, unanswered="drop").sizes["example"] == 1


def test_lines_that_hold_no_votes(tmp_path: Path) -> None:
    assert said(lambda: read(lines(tmp_path, SNLI[0], {"pairID": "x", "votes": ["e"]}))) == (
        "error key-missing: v.jsonl line 2 holds no votes "
        'expected one key among "annotator_labels", "label_distribution"; got "pairID", "votes" '
        """do --reader '{name = "vote-lists", field = "KEY"}'"""
    )
    both = lines(tmp_path, SNLI[0] | {"label_distribution": {}})
    assert refusal(lambda: read(both)).what == "v.jsonl line 1 holds votes twice"
    assert read(both, field="annotator_labels").sizes["example"] == 1
    assert said(lambda: read(lines(tmp_path, {"id": 1, "annotator_labels": "e"}))) == (
        'error votes-unlike: v.jsonl line 1 holds no votes as "annotator_labels" expected a list '
        'of labels, or annotators by label: {"cat": ["ann", "bo"], "dog": []}; got "e" '
        "do mend that line"
    )
    error = refusal(lambda: read(lines(tmp_path, {"annotator_labels": ["e"]})))
    assert (error.name, error.do) == (
        "key-missing",
        """--reader '{name = "vote-lists", example = "KEY"}'""",
    )
    error = refusal(lambda: read(lines(tmp_path, SNLI[0], {"annotator_labels": ["e"]})))
    assert (error.what, error.do) == (
        "v.jsonl names no example in line 2",
        "name it, or remove that line",
    )
    error = refusal(lambda: read(lines(tmp_path, SNLI[0], SNLI[0])))
    assert error.what == 'v.jsonl names "p1" in lines 1 and 2'


@pytest.mark.parametrize("wrong", [[["e"]], [None], {"a": "w"}, {"a": [1, None]}, {"": ["w"]}, 3])
def test_what_is_no_list_of_votes(tmp_path: Path, wrong: object) -> None:
    path = lines(tmp_path, {"id": 1, "annotator_labels": wrong})
    assert refusal(lambda: read(path)).name == "votes-unlike"
    assert not VoteLists().recognises(path, path.read_bytes())


def test_every_rule_of_the_kit_holds(tmp_path: Path) -> None:
    check_reader(VoteLists(), path=lines(tmp_path, *SNLI), kind="single-label")
    check_reader(VoteLists(), path=lines(tmp_path, *DYNA), kind="single-label")


@given(
    cast=st.lists(st.lists(st.sampled_from(["e", "n", "c", "", "-"]), max_size=6), min_size=1),
)
def test_votes_are_neither_lost_nor_invented(
    tmp_path_factory: pytest.TempPathFactory, cast: list[list[str]]
) -> None:
    entries = [{"uid": f"e{place}", "annotator_labels": said} for place, said in enumerate(cast)]
    path = lines(tmp_path_factory.mktemp("any"), *entries)
    table = read(path, ["e", "n", "c"])
    counts = Counter[tuple[str, str]]()
    for mention, response in enumerate(table["mention_response"].values):
        name = str(table["example"].values[table["response_example"].values[response]])
        label = str(table["label"].values[table["mention_label"].values[mention]])
        weight = table["response_weight"].values[response] if "response_weight" in table else 1
        counts[name, label] += int(weight)
    expected = Counter(
        (f"e{place}", vote)
        for place, said in enumerate(cast)
        for vote in said
        if vote in {"e", "n", "c"}
    )
    assert counts == expected


@given(content=st.binary(max_size=80), place=st.integers(0, 200))
def test_damaged_lines_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, place: int
) -> None:
    whole = json.dumps(DYNA[0]).encode() + b"\n"
    path = written(tmp_path_factory.mktemp("any"), "v.jsonl", whole[:place] + content)
    VoteLists().recognises(path, path.read_bytes())
    result_or_refusal(lambda: read(path), path.name)


@pytest.mark.realdata
def test_dynasent(shared: Path) -> None:
    folder = shared / "cases" / "annotations" / "distributions"
    table = plausibly.read_annotations(folder / "dynasent_readme_workers_per_label.jsonl")
    assert table.attrs["reader"] == "vote-lists"
    assert (table.sizes["example"], table.sizes["response"], table.sizes["annotator"]) == (
        2,
        10,
        10,
    )
    assert table["label"].values.tolist() == ["mixed", "negative", "neutral", "positive"]
    assert plausibly.aggregate(table).values.tolist() == [[0, 0, 0, 1], [0.2, 0, 0, 0.8]]
