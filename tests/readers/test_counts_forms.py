"""Counts as JSON Lines, columns that mean "none of these", the kit, and files that are there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, said, written
from plausibly.testing import check_reader
from plausibly_builtins.readers.counts import Counts

Entry = dict[str, object]
FER = "example,cat,dog,unknown,NF\na,6,0,3,1\nb,0,0,2,8\nc,0,0,0,0\n"
CHAOS: Entry = {
    "uid": "46359n",
    "label_counter": {"e": 76, "n": 20, "c": 4},
    "majority_label": "e",
    "label_dist": [0.76, 0.2, 0.04],
    "label_count": [76, 20, 4],
}


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "counts", labels, **options)


def lines(folder: Path, *entries: object, name: str = "c.jsonl") -> Path:
    return written(folder, name, "".join(f"{json.dumps(entry)}\n" for entry in entries))


def counts_of(table: xr.Dataset) -> dict[str, dict[str, int]]:
    """Return the votes of each example that count, from the codes alone."""
    found: dict[str, dict[str, int]] = {name: {} for name in table["example"].values.tolist()}
    for mention, response in enumerate(table["mention_response"].values):
        about = table["example"].values[table["response_example"].values[response]]
        label = str(table["label"].values[table["mention_label"].values[mention]])
        weight = table["response_weight"].values[response] if "response_weight" in table else 1
        found[str(about)][label] = int(weight)
    return found


# ---- none of these


def test_columns_that_mean_none_of_these_count_unless_said(tmp_path: Path) -> None:
    path = written(tmp_path, "f.csv", FER)
    plain = read(path)
    marked = read(path, none_of_these=["unknown", "NF"])
    assert counts_of(marked) == counts_of(plain)
    assert counts_of(marked) == {
        "a": {"cat": 6, "unknown": 3, "NF": 1},
        "b": {"unknown": 2, "NF": 8},
        "c": {},
    }
    assert "of these: 14 none-of-these" in repr(marked)
    assert marked["label"].values.tolist() == ["cat", "dog", "unknown", "NF"]


def test_columns_that_mean_none_of_these_are_dropped_and_told(tmp_path: Path) -> None:
    path = written(tmp_path, "f.csv", FER)
    drop = {"none_of_these": ["unknown", "NF"], "states": {"none-of-these": "drop"}}
    for labels in (None, ["cat", "dog"]):
        table = read(path, labels, **drop)
        assert table["label"].values.tolist() == ["cat", "dog"]
        assert counts_of(table) == {"a": {"cat": 6}, "b": {}, "c": {}}
        assert "not counted: 14 none-of-these" in repr(table)
    other = read(path, none_of_these=["unknown", "NF"], states={"none-of-these": "label:cat"})
    votes = plausibly.aggregate(other, unanswered="drop").sel(label="cat")
    assert votes.to_series().to_dict() == {"a": 1.0, "b": 1.0}
    error = refusal(
        lambda: read(path, none_of_these=["unknown"], states={"none-of-these": "error"})
    )
    assert error.what.startswith("f.csv line 2, column unknown")


@pytest.mark.filterwarnings("ignore:.*is the sum of the others")
@given(
    rows=st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=4),
)
def test_both_ways_of_building_the_table_agree(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]]
) -> None:
    content = "".join(f"e{place},{','.join(map(str, row))}\n" for place, row in enumerate(rows))
    path = written(tmp_path_factory.mktemp("both"), "c.csv", f"example,b,a,c\n{content}")
    fast, slow = read(path), read(path, states={"rejected": "drop"})
    assert counts_of(fast) == counts_of(slow)
    assert repr(fast) == repr(slow)
    assert {**fast.attrs, "seal": 0} == {**slow.attrs, "seal": 0}
    xr.testing.assert_equal(fast["label"], slow["label"])


def test_frames_of_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "f.csv", FER)
    frame = pd.read_csv(path)
    table = plausibly.read_annotations(frame, "counts")
    assert counts_of(table) == counts_of(read(path))


# ---- JSON Lines


def test_counters_are_read_and_absent_labels_have_no_votes(tmp_path: Path) -> None:
    other = {"uid": "2", "label_counter": {"n": 99, "e": 1.0}}
    path = lines(tmp_path, CHAOS, other, {"uid": "3", "label_counter": {}})
    table = plausibly.read_annotations(path)
    assert table.attrs["reader"] == "counts"
    assert table["label"].values.tolist() == ["c", "e", "n"]
    assert not table.attrs["labels_declared"]
    assert counts_of(table) == {"2": {"e": 1, "n": 99}, "3": {}, "46359n": CHAOS["label_counter"]}
    declared = read(path, ["e", "n", "c"])
    assert declared["label"].values.tolist() == ["e", "n", "c"]
    shares = plausibly.aggregate(declared, unanswered="drop").sel(example="46359n")
    assert shares.values.tolist() == [0.76, 0.2, 0.04]
    assert read(path, ["e", "n", "c", "x"]).sizes["label"] == 4
    error = refusal(lambda: read(path, ["e", "n"]))
    assert (error.name, error.what) == ("label-unknown", 'c.jsonl counts votes for "c"')


def test_labels_that_are_numbers_are_the_text_of_their_keys(tmp_path: Path) -> None:
    entry = {"uid": "a-1", "label_counter": {"2": 9, "1": 91}, "majority_label": 1}
    entry |= {"label_dist": [0.91, 0.09], "label_count": [91, 9], "old_label": 1}
    table = plausibly.read_annotations(lines(tmp_path, entry))
    assert counts_of(table) == {"a-1": {"1": 91, "2": 9}}
    assert table["label"].values.tolist() == ["1", "2"]


def test_keys_may_have_other_names(tmp_path: Path) -> None:
    path = lines(tmp_path, {"item": 7, "votes": {"a": 1}}, {"item": 8, "votes": {"a": 0, "b": 2}})
    table = read(path, example="item", field="votes")
    assert counts_of(table) == {"7": {"a": 1}, "8": {"b": 2}}
    assert said(lambda: read(path, field="votes")) == (
        "error key-missing: c.jsonl names no example "
        'expected the key "example", "uid", "id", "text_id", "pairID" in every object; '
        """got "item", "votes" do --reader '{name = "counts", example = "KEY"}'"""
    )
    assert said(lambda: read(path, example="item")) == (
        'error key-missing: c.jsonl line 1 holds no counts as "label_counter" '
        'expected an object of label and votes, such as {"cat": 3, "dog": 1}; got "item", "votes" '
        """do --reader '{name = "counts", field = "KEY"}', if another key has them"""
    )


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"label_count": [76, 20, 5]}, "label_count"),
        ({"label_count": [76, 20]}, "label_count"),
        ({"label_count": [76, 20, "4"]}, "label_count"),
        ({"label_dist": [0.76, 0.19, 0.05]}, "label_dist"),
        ({"label_dist": [0.76, 0.24]}, "label_dist"),
    ],
)
def test_what_stands_beside_the_counts_has_to_agree(
    tmp_path: Path, change: Entry, key: str
) -> None:
    shown = json.dumps(change[key])
    assert said(lambda: read(lines(tmp_path, CHAOS | change))) == (
        f"error counts-differ: c.jsonl line 1: {key} is not what label_counter says "
        f"expected the same numbers, of 100 votes; got {shown} "
        "do mend that line, or remove the wrong one of the two"
    )


def test_what_stands_beside_the_counts_may_have_any_order_and_zeros(tmp_path: Path) -> None:
    change = {"label_count": [4, 0, 20, 76], "label_dist": [0.2, 0.76, 0.04, 0]}
    table = read(lines(tmp_path, CHAOS | change))
    assert counts_of(table) == {"46359n": CHAOS["label_counter"]}


@pytest.mark.parametrize("number", [-1, 1.5, "3", True, None, [1], 10**16])
def test_numbers_that_are_no_counts(tmp_path: Path, number: object) -> None:
    path = lines(tmp_path, {"uid": "a", "label_counter": {"x": number}})
    error = refusal(lambda: read(path))
    assert (error.name, error.what) == (
        "count-unreadable",
        'c.jsonl line 1, label_counter: "x" has no number of votes',
    )
    assert not Counts().recognises(path, path.read_bytes())


def test_lines_that_are_unlike(tmp_path: Path) -> None:
    error = refusal(lambda: read(lines(tmp_path, CHAOS, [1])))
    assert (error.name, error.what) == ("line-unlike", "c.jsonl line 2 holds no object")
    error = refusal(lambda: read(lines(tmp_path, CHAOS, CHAOS)))
    assert (error.name, error.what) == ("example-twice", 'c.jsonl names "46359n" in lines 1 and 2')
    bare = {"uid": None, "label_counter": {"e": 1}}
    error = refusal(lambda: read(lines(tmp_path, CHAOS, bare)))
    assert (error.name, error.what) == ("example-unnamed", "c.jsonl names no example in line 2")
    table = read(lines(tmp_path, CHAOS, bare), unnamed="drop")
    assert "1 line without a name" in repr(table)
    error = refusal(lambda: read(lines(tmp_path, CHAOS, CHAOS | {"uid": ["x"]})))
    assert error.what == 'c.jsonl line 2 holds no name as "uid"'
    error = refusal(lambda: read(lines(tmp_path, {"uid": "a", "label_counter": {}})))
    assert error.name == "annotations-empty"
    twice = written(tmp_path, "t.jsonl", '{"uid": "a", "label_counter": {"e": 1, "e": 2}}\n')
    error = refusal(lambda: read(twice))
    assert (error.name, error.details["line"]) == ("json-key-twice", 1)


# ---- the kit, and any bytes


def test_every_rule_of_the_kit_holds(tmp_path: Path) -> None:
    check_reader(Counts(), path=lines(tmp_path, CHAOS, {"uid": "2", "label_counter": {"n": 1}}))
    np.savez(tmp_path / "c.npz", counts=np.array([[1, 2], [0, 3]]), labels=["cat", "dog"])
    check_reader(Counts(), path=tmp_path / "c.npz", kind="single-label")
    check_reader(Counts(none_of_these=("dog",)), path=tmp_path / "c.npz", labels=["cat", "dog"])


@given(
    content=st.binary(max_size=80),
    place=st.integers(0, 200),
)
def test_damaged_lines_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, place: int
) -> None:
    whole = json.dumps(CHAOS).encode()
    path = written(tmp_path_factory.mktemp("any"), "c.jsonl", whole[:place] + content)
    Counts().recognises(path, path.read_bytes())
    result_or_refusal(lambda: read(path), path.name)


# ---- files that are there


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("chaosnli_readme_mnli", ["e", "n", "c"], [76, 20, 4]),
        ("chaosnli_readme_alphanli", ["1", "2"], [91, 9]),
    ],
)
def test_chaos_nli(shared: Path, name: str, labels: list[str], expected: list[int]) -> None:
    path = shared / "cases" / "annotations" / "distributions" / f"{name}.jsonl"
    table = plausibly.read_annotations(path, labels=labels)
    assert table.attrs["reader"] == "counts"
    (votes,) = counts_of(table).values()
    assert [votes[label] for label in labels] == expected


@pytest.mark.realdata
def test_ferplus_with_its_columns_of_no_emotion(shared: Path) -> None:
    path = shared / "cases" / "annotations" / "counts" / "ferplus_votes_subset.csv"
    rows = [row.split(",") for row in path.read_text("utf-8").splitlines()[1:]]
    named = [[int(cell) for cell in row[2:]] for row in rows if row[1]]
    assert (len(rows), len(named)) == (206, 187)
    table = plausibly.read_annotations(
        path,
        "counts",
        ignore=["Usage"],
        unnamed="drop",
        none_of_these=["unknown", "NF"],
        states={"none-of-these": "drop"},
    )
    aside = sum(sum(row[8:]) for row in named)
    assert f"not counted: {aside} none-of-these, 19 rows without a name" in repr(table)
    assert table.sizes["label"] == 8
    assert sum(sum(votes.values()) for votes in counts_of(table).values()) == sum(
        sum(row[:8]) for row in named
    )


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "examples", "labels"),
    [
        ("cifar10h", 10_000, 10),
        ("chaosnli_mnli", 1_569, 3),
        ("chaosnli_snli", 1_514, 3),
        ("lidc_malignancy", 1_378, 5),
        ("sleep_dodh", 24_665, 5),
    ],
)
def test_data_sets_of_counts(shared: Path, name: str, examples: int, labels: int) -> None:
    path = shared / "data" / name / "data.npz"
    table = plausibly.read_annotations(path)
    assert table.attrs["reader"] == "counts"
    assert (table.sizes["example"], table.sizes["label"]) == (examples, labels)
    with np.load(path) as stored:
        counts = stored["counts"]
        assert table["label"].values.tolist() == stored["class_names"].tolist()
    np.testing.assert_array_equal(
        plausibly.aggregate(table).values, counts / counts.sum(axis=1, keepdims=True)
    )
    if name == "cifar10h":
        votes = counts.sum(axis=1)
        assert (votes.min(), votes.max()) == (47, 63)
        assert ((counts > 0).sum(axis=1) == 1).sum() == 4_393
        tied = np.flatnonzero((counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1)
        assert tied.tolist() == [7_493, 9_246, 9_386]
