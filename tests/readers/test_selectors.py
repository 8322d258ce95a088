"""Selectors: partial rankings as nested lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, said, written
from plausibly_builtins.readers.selectors import Selectors

LABELS = ["acne", "eczema", "lupus", "psoriasis"]


def read(path: Path, labels: list[str] | None = LABELS) -> xr.Dataset:
    return plausibly.read_annotations(path, "selectors", labels)


def nested(table: xr.Dataset) -> list[list[list[set[int]]]]:
    """Return the nested lists again, from the codes alone."""
    cases: list[list[list[set[int]]]] = [[] for _ in range(table.sizes["example"])]
    for response, example in enumerate(table["response_example"].values):
        mine = table["mention_response"].values == response
        pairs = zip(
            table["mention_block"].values[mine], table["mention_label"].values[mine], strict=True
        )
        blocks: dict[int, set[int]] = {}
        for block, label in pairs:
            blocks.setdefault(int(block), set()).add(int(label))
        cases[int(example)].append([blocks[rank] for rank in sorted(blocks)])
    return cases


def test_rankings_are_read(tmp_path: Path) -> None:
    content = [[[[1]], [[3, 0], [2]]], [[[2], [0, 1]]]]
    table = read(written(tmp_path, "r.json", json.dumps(content)))
    assert nested(table) == [[[{1}], [{0, 3}, {2}]], [[{2}, {0, 1}]]]
    assert table.attrs["kind"] == "partial-ranking"
    assert table.attrs["unlisted"] == "excluded"
    assert table["example"].values.tolist() == ["0", "1"]
    assert table["label"].values.tolist() == LABELS
    assert (table["response_annotator"].values == -1).all()


@st.composite
def rankings(draw: st.DrawFn) -> list[list[list[list[int]]]]:
    def ranking() -> list[list[int]]:
        order = draw(st.permutations(range(4)))[: draw(st.integers(1, 4))]
        blocks: list[list[int]] = [[order[0]]]
        for label in order[1:]:
            if draw(st.booleans()):
                blocks.append([])
            blocks[-1].append(label)
        return blocks

    return [
        [ranking() for _ in range(draw(st.integers(1, 3)))] for _ in range(draw(st.integers(1, 4)))
    ]


@given(content=rankings())
def test_any_rankings_come_back(
    tmp_path_factory: pytest.TempPathFactory, content: list[list[list[list[int]]]]
) -> None:
    path = written(tmp_path_factory.mktemp("r"), "r.json", json.dumps(content, indent=1))
    assert Selectors().recognises(path, path.read_bytes())
    found = nested(read(path))
    wanted = [[[set(block) for block in blocks] for blocks in case] for case in content]
    key = lambda blocks: [sorted(block) for block in blocks]  # noqa: E731  # the order of a sort
    assert [sorted(case, key=key) for case in found] == [sorted(case, key=key) for case in wanted]


# ---- what is said


def test_labels_must_be_named(tmp_path: Path) -> None:
    assert said(lambda: read(written(tmp_path, "r.json", "[[[[0]]]]"), None)) == (
        "error labels-unnamed: r.json holds indices and no label names "
        "expected names in the order of the indices; an order is never guessed "
        "do --labels labels.txt (one name a line)"
    )


@pytest.mark.parametrize(
    ("text", "what", "expected", "got"),
    [
        ("{}", "r.json", "a list of examples", "{}"),
        ("[]", "r.json", "a list of examples", "an empty list"),
        ("[[]]", "r.json: example 0", "a list of rankings", "an empty list"),
        ("[[[[0]]], 7]", "r.json: example 1", "a list of rankings", "7"),
        ("[[[[0]], []]]", "r.json: example 0, ranking 2", "a list of blocks", "an empty list"),
        ("[[[[0]], 3]]", "r.json: example 0, ranking 2", "a list of blocks", "3"),
        (
            "[[[[0], []]]]",
            "r.json: example 0, ranking 1, block 2",
            "a list of indices",
            "an empty list",
        ),
        ('[[["acne"]]]', "r.json: example 0, ranking 1, block 1", "a list of indices", '"acne"'),
    ],
)
def test_places_of_another_shape(
    tmp_path: Path, text: str, what: str, expected: str, got: str
) -> None:
    assert said(lambda: read(written(tmp_path, "r.json", text))) == (
        f"error selectors-shape: {what} is not {expected} "
        f"expected {expected}, with one entry or more; got {got} do mend or remove it"
    )


@pytest.mark.parametrize("index", ["4", "-1", "true", "1.0", "null", '"acne"', "[0]"])
def test_what_is_no_index(tmp_path: Path, index: str) -> None:
    error = refusal(lambda: read(written(tmp_path, "r.json", f"[[[[0], [{index}]]]]")))
    assert error.name == "label-index"
    assert error.what.startswith("r.json: example 0, ranking 1, block 2 names label ")
    assert error.expected == "an index from 0 to 3: 4 labels are declared"


def test_an_index_out_of_range(tmp_path: Path) -> None:
    assert said(lambda: read(written(tmp_path, "r.json", "[[[[9]]]]"))) == (
        "error label-index: r.json: example 0, ranking 1, block 1 names label 9 "
        "expected an index from 0 to 3: 4 labels are declared; got 9 "
        "do declare all labels, in order: --labels labels.txt"
    )


def test_a_label_that_is_ranked_twice(tmp_path: Path) -> None:
    path = written(tmp_path, "r.json", "[[[[0]]], [[[0]], [[1], [0, 2], [1]]]]")
    assert said(lambda: read(path)) == (
        'error ranking-repeats: r.json: example 1, ranking 2 ranks "eczema" twice '
        "expected each label once; got ranks 1 and 3 do mend or drop it"
    )
    path = written(tmp_path, "r.json", "[[[[0, 0]]]]")
    assert refusal(lambda: read(path)).got == "rank 1 twice"


@pytest.mark.parametrize(
    ("content", "name", "what", "got"),
    [
        (
            b"[[[[0]]]",
            "json-broken",
            "line 1, column 8: the file ends early",
            "[[[[0]]] at the end",
        ),
        (b"[[[[0]]],\n oops]", "json-broken", "line 2 is no JSON", "Expecting value"),
        (b"", "file-empty", "is empty", "nothing"),
        (b"[" * 100_000, "json-too-deep", "line 1 is nested too deep", "more"),
        (b"[[[[0]]],\n \xff]", "text-encoding", "line 2 is not UTF-8", "byte 0xFF at position 2"),
    ],
)
def test_files_that_are_no_json(
    tmp_path: Path, content: bytes, name: str, what: str, got: str
) -> None:
    error = refusal(lambda: read(written(tmp_path, "r.json", content)))
    assert (error.name, error.what) == (name, f"r.json {what}")
    assert error.got.startswith(got)
    if name in ("json-broken", "file-empty"):
        assert error.expected == "nested lists of indices"


@pytest.mark.parametrize(
    ("name", "head", "recognised"),
    [
        ("r.json", b"[[[[0]]]]", True),
        ("r.json", b"\n[ [\t[ [", True),
        ("r.json", b"[[[0]]]", False),
        ("r.json", b'[{"id": 1}]', False),
        ("r.txt", b"[[[[0]]]]", False),
    ],
)
def test_recognition(name: str, head: bytes, recognised: bool) -> None:
    assert Selectors().recognises(Path(name), head) is recognised


@given(content=st.one_of(st.binary(max_size=60), st.text('[]0123," ', max_size=40).map(str.encode)))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("any"), "v.json", content)
    result_or_refusal(lambda: read(path), path.name)
