"""Names of examples and labels that cannot be ones: the file is always said."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import plausibly
from io_files import refusal, said, written

LONG = "x" * 100_000


@pytest.mark.parametrize("reader", ["counts", "soft-labels"])
@pytest.mark.parametrize(
    ("labels", "names", "name", "what"),
    [
        (["a", "a"], ["x", "y"], "label-twice", 'a.npz names the label "a" twice'),
        (["a", ""], ["x", "y"], "label-unnamed", "a.npz has 1 label without a usable name"),
        (["a", "b"], ["x", "x"], "example-twice", 'a.npz names the example "x" twice'),
        (["a", "b"], ["x", ""], "example-unnamed", "a.npz has 1 example without a usable name"),
    ],
)
def test_names_in_arrays(
    tmp_path: Path, reader: str, labels: list[str], names: list[str], name: str, what: str
) -> None:
    values = [[1, 2], [3, 4]]
    np.savez(tmp_path / "a.npz", counts=values, soft_labels=values, labels=labels, names=names)
    error = refusal(lambda: plausibly.read_annotations(tmp_path / "a.npz", reader))
    assert (error.name, error.what) == (name, what)
    if reader == "counts":  # also where some columns are none of these
        marked = {"none_of_these": ["b"]}
        error = refusal(lambda: plausibly.read_annotations(tmp_path / "a.npz", reader, **marked))
        assert error.name == name


def test_the_message_says_where(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", counts=np.ones((1, 5), int), labels=["a", "b", "c", "b", "a"])
    assert said(lambda: plausibly.read_annotations(tmp_path / "a.npz")) == (
        'error label-twice: a.npz names the label "a" twice expected each name once; '
        "got at places 1 and 5, and 1 other name again do keep one, or give them names of their own"
    )
    path = written(tmp_path, "a.csv", "example,,cat\na,1,2\n")
    assert said(lambda: plausibly.read_annotations(path, "counts")) == (
        "error label-unnamed: a.csv has 1 label without a usable name expected text with at least "
        "one character, and no NUL; got none at place 1 do name each label"
    )


@pytest.mark.parametrize(
    ("reader", "entry"),
    [
        ("counts", {"uid": "a\0", "label_counter": {"x": 1}}),
        ("counts", {"uid": "a", "label_counter": {"x\0": 1}}),
        ("counts", {"uid": "a", "label_counter": {LONG: -1}}),
        ("counts", {LONG: "a"}),
        ("vote-lists", {"uid": "a", "annotator_labels": ["x\0"]}),
        ("vote-lists", {"uid": "a", "label_distribution": {LONG: ["w", "w"]}}),
        ("vote-lists", {"uid": "a", "label_distribution": {"x": [LONG, LONG]}}),
        ("vote-lists", {"uid": "a", LONG: 1}),
        ("soft-labels", {"uid": "a", "label_dist": {LONG: -1}}),
        ("soft-labels", {"uid": "a", "label_dist": {"": 1}}),
        ("soft-labels", {"uid": "a", LONG: 1}),
    ],
)
def test_names_in_lines(tmp_path: Path, reader: str, entry: dict[str, object]) -> None:
    path = written(tmp_path, "a.jsonl", json.dumps(entry))
    error = refusal(lambda: plausibly.read_annotations(path, reader))
    assert error.what.startswith("a.jsonl")
    assert len(f"{error}") < 700


def test_names_in_ballots(tmp_path: Path) -> None:
    head = "# DATA TYPE: soi\n# NUMBER ALTERNATIVES: {n}\n# NUMBER VOTERS: 1\n"
    head += "# NUMBER UNIQUE ORDERS: 1\n"
    twice = f"# ALTERNATIVE NAME 1: {LONG}\n# ALTERNATIVE NAME 2: {LONG}\n1: 1\n"
    path = written(tmp_path, "a.soi", head.format(n=2) + twice)
    error = refusal(lambda: plausibly.read_annotations(path))
    assert error.what.startswith('a.soi line 6 names the alternative "xxx')
    assert len(f"{error}") < 700
    # 01 and 1 would be one number: the second name may not take the place of the first.
    for number in ("01", "x", ""):
        one = f"# ALTERNATIVE NAME {number}: ann\n# ALTERNATIVE NAME 1: bo\n1: 1\n"
        path = written(tmp_path, "b.soi", head.format(n=1) + one)
        error = refusal(partial(plausibly.read_annotations, path))
        assert error.what == "b.soi line 5 names nothing that has a number"
