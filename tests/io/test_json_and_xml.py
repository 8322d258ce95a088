"""Strict JSON, JSON Lines and XML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import example, given, strategies as st

import io_files
from io_files import refusal, result_or_refusal, written
from plausibly.io.json import DEEPEST, JsonNumber, json_head, read_json, read_json_lines
from plausibly.io.xml import Element, read_xml

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def numbers_as_text(value: Value) -> object:
    """Return what is to be read: every number the text in which it is written."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, list):
        return [numbers_as_text(item) for item in value]
    if isinstance(value, dict):
        return {key: numbers_as_text(item) for key, item in value.items()}
    return value


@given(
    value=VALUES,
    indent=st.sampled_from([None, 1]),
    escaped=st.booleans(),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_json_comes_back(
    folder: Path, value: Value, indent: int | None, escaped: bool, mark: bytes, end: str
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped).replace("\n", end) + end
    data = mark + text.encode()
    assert read_json(written(folder, "a.json", data)) == numbers_as_text(value)


@given(values=st.lists(VALUES, min_size=1, max_size=5), end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_lines_come_back(folder: Path, values: list[Value], end: str) -> None:
    # A separator that is no line end of JSON Lines (U+2028, U+0085) stays in its text.
    text = end + f"{end} {end}".join(json.dumps(v, ensure_ascii=False) for v in values)
    result = read_json_lines(written(folder, "a.jsonl", text.encode()))
    assert result == [(2 + 2 * n, numbers_as_text(value)) for n, value in enumerate(values)]


@given(value=VALUES, cut=st.integers(0, 400), indent=st.sampled_from([None, 2]))
@example(value={"a": [1, {"b": "\u00fc"}]}, cut=14, indent=None)
def test_a_cut_file_is_an_error_with_a_line_or_whole(
    folder: Path, value: Value, cut: int, indent: int | None
) -> None:
    whole = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    part = whole[: cut % (len(whole) + 1)]
    path = written(folder, "cut.json", part)
    result = result_or_refusal(lambda: [read_json(path)], "cut.json")
    if result is None:
        assert refusal(lambda: read_json(path)).name in {
            "file-empty",
            "text-encoding",
            "json-broken",
        }
    else:
        assert result == [json.loads(part, parse_int=str, parse_float=str)]
    json_head(part)


@pytest.mark.parametrize("text", ["12345678901234567890", "1.0", "1e2", "-0", "1e999", "9" * 5000])
def test_a_number_is_the_text_in_which_it_is_written(folder: Path, text: str) -> None:
    result = read_json(written(folder, "n.json", text))
    assert isinstance(result, JsonNumber)
    assert str(result) == result == text
    assert {text: "a"}[result] == "a"


def test_a_json_number_has_an_integer_and_a_float() -> None:
    whole = [JsonNumber(text).whole for text in ("-12", "1.0", "1e2", "9" * 19)]
    assert whole == [-12, None, None, None]
    assert [JsonNumber(text).value for text in ("1e2", "1e999")] == [100.0, float("inf")]


@pytest.mark.parametrize("deep", [DEEPEST + 1, 5_000, 200_000])
def test_deep_json_is_refused(folder: Path, deep: int) -> None:
    for text in ("[" * deep, "[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep):
        path = written(folder, "deep.json", text)
        assert refusal(lambda path=path: read_json(path)).name == "json-broken"  # type: ignore[misc]  # bound in the loop
        json_head(text.encode())


@pytest.mark.parametrize(("head", "result"), io_files.BEGINNINGS["heads"])
def test_values_in_the_first_bytes(head: str, result: str) -> None:
    assert json_head(head.encode()) == json.loads(result)


@given(records=st.lists(st.dictionaries(TEXTS, SCALARS, min_size=1, max_size=3), min_size=2))
def test_the_head_of_any_list_has_its_first_record(records: list[dict[str, Value]]) -> None:
    text = json.dumps(records, ensure_ascii=False).encode()
    first = len(json.dumps(records[:1], ensure_ascii=False).encode())
    (result,) = json_head(text[: first + 1])
    assert isinstance(result, list)
    assert result[0] == numbers_as_text(dict(records[0]))


def read(folder: Path, content: str | bytes) -> Element:
    return read_xml(written(folder, "a.xml", content), "annotations")


def test_elements_with_their_lines(tmp_path: Path) -> None:
    root = read(tmp_path, "<a>one\n<b x='1'/>two<c>\n<b x='&lt;'>t&amp;</b></c></a>\n")
    assert (root.tag, root.line, root.text) == ("a", 1, "one\ntwo")
    assert [(b.line, b.attributes) for b in root.all("b")] == [(2, {"x": "1"})]
    assert [(b.line, b.text) for b in root.all("*", "b")] == [(3, "t&")]
    assert list(root.all()) == [root]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le"])
def test_the_encoding_that_it_declares(tmp_path: Path, encoding: str) -> None:
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    declared = encoding.removesuffix("-le")
    data = mark + f"<?xml version='1.0' encoding='{declared}'?><a>ä</a>".encode(encoding)
    assert read(tmp_path, data).text == "ä"
