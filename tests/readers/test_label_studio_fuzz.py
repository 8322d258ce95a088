"""Label Studio: any export that the format allows is read right, any other is refused."""

from __future__ import annotations

import copy
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

from io_files import refusal, result_or_refusal, written
from label_studio_files import annotation, read, region, task, votes
from plausibly.errors import PlausiblyWarning
from plausibly.protocols import Reader
from plausibly_builtins.readers.label_studio import LabelStudio, LabelStudioMin

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
Option: TypeAlias = Any  # of a reader, by its name
LABELS = ("a", "B c", "ä/ö", "1.0", '"q"\n')
OPTIONS: dict[str, Option] = {"states": {"empty": "drop"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("export")


@st.composite
def said(draw: st.DrawFn, who: int) -> tuple[dict[str, Json], tuple[str, str]]:
    """Return an annotation, and its state and answer as the format's rules have them."""
    labels = draw(st.lists(st.sampled_from(LABELS), max_size=3, unique=True))
    regions = [region(labels)] if labels else []
    apart = draw(st.booleans())
    if labels and apart:
        regions = [region(label) for label in labels]
    rated = draw(st.booleans())
    if rated:
        regions.append(region(4, "stars", "rating"))
    more: dict[str, Json] = draw(
        st.sampled_from(
            [
                {},
                {"was_cancelled": True},
                {"last_action": "rejected"},
                {"parent_prediction": 1, "prediction": {"result": [region(labels)]}},
                {"history": [{"result": [region(list(LABELS))]}], "ground_truth": False},
            ]
        )
    )
    answer = "=".join(sorted(labels))
    if "was_cancelled" in more:
        state = ("skipped", "")
    elif "last_action" in more:
        state = ("rejected", "")
    elif not labels:
        state = ("empty", "")
    else:
        state = ("suggestion" if "prediction" in more else "answered", answer)
    person: Json = draw(
        st.sampled_from([who, str(who), {"id": who, "email": f"{who}@example.com"}])
    )
    return annotation(person, *draw(st.permutations(regions)), **more), state


@st.composite
def exports(draw: st.DrawFn) -> tuple[list[Json], Counter[tuple[str, str, str, str]]]:
    """Return tasks, and the responses that are in them."""
    wanted: Counter[tuple[str, str, str, str]] = Counter()
    tasks: list[Json] = []
    for number in range(draw(st.integers(1, 3))):
        annotations = []
        for who in range(draw(st.integers(0, 3))):
            one, state = draw(said(who))
            annotations.append(one)
            wanted[str(number), str(who), *state] += 1
        annotations = draw(st.permutations(annotations))
        numbered = draw(st.booleans())
        if numbered:
            annotations = [{**one, "id": at} for at, one in enumerate(annotations)]
        made = task(number, *annotations)
        key = draw(st.sampled_from(["annotations", "completions"]))
        made[key] = made.pop("annotations")
        tasks.append(made)
    return draw(st.permutations(tasks)), wanted


def with_chance(tasks: list[Json]) -> list[Json]:
    """Return the tasks with one more, so that some answer names a label."""
    return [*tasks, task("more", annotation(0, *LABELS))]


@given(made=exports(), indent=st.sampled_from([None, 1]), escaped=st.booleans())
def test_any_export_is_read_to_what_is_in_it(
    folder: Path,
    made: tuple[list[Json], Counter[tuple[str, str, str, str]]],
    indent: int | None,
    escaped: bool,
) -> None:
    tasks, wanted = made
    text = json.dumps(with_chance(tasks), indent=indent, ensure_ascii=escaped)
    path = written(folder, "export.json", text)
    assert LabelStudio().recognises(path, path.read_bytes())
    assert not LabelStudioMin().recognises(path, path.read_bytes())
    table = read(path, **OPTIONS)
    more = ("more", "0", "answered", "=".join(sorted(LABELS)))
    assert votes(table) == wanted + Counter([more])
    assert table.attrs["kind"] == "label-set"
    assert set(table["example"].values) == {*(str(t["id"]) for t in tasks), "more"}


@settings(max_examples=40)
@given(made=exports(), data=st.data())
def test_copies_and_order_change_nothing(folder: Path, made: Json, data: st.DataObject) -> None:
    tasks = with_chance(made[0])
    table = read(written(folder, "export.json", json.dumps(tasks)), **OPTIONS)
    again = data.draw(st.permutations(tasks + data.draw(st.lists(st.sampled_from(tasks)))))
    assert votes(read(written(folder, "export.json", json.dumps(again)), **OPTIONS)) == votes(table)


# ---- damage


def places(value: Json, path: tuple[Json, ...] = ()) -> Iterator[tuple[Json, ...]]:
    """Yield the place of every value in a value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


def replaced(value: Json, path: tuple[Json, ...], by: Json) -> Json:
    """Return the value with another one at a place."""
    if not path:
        return by
    found = copy.deepcopy(value)
    inside = found
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = by
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """Let nothing be warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        yield


def attempt(reader: Reader, file: Path, labels: list[str] | None = None) -> xr.Dataset | None:
    """Return the table, or None where the file is refused by its name; nothing else may happen."""
    with quiet():
        return result_or_refusal(lambda: reader.read(file, labels), file.name)


ODD: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, 0, -1.5, 10**30, "", "x", "\u0000", "y" * 100_000, [], [None], [[]], {}, {"": 1}]
)

WHOLE = [
    {
        **task(
            7,
            annotation(
                {"id": 1, "email": "w@example.com"},
                region("a", origin="prediction", id="r"),
                region([["s", "t"]], "tax", "taxonomy"),
                region({"ranker": {"_": [], "best": ["a"]}}, "rank", "ranker"),
                id=3,
                updated_at="2024-05-15T12:01:00Z",
                reviews=[{"accepted": True, "created_at": "2024-05-15T12:02:00Z"}],
                parent_prediction=4,
                was_cancelled=False,
                ground_truth=True,
            ),
            predictions=[{"id": 4, "model_version": "m", "score": 0.5, "result": [region("a")]}],
            drafts=[{"user": "v@example.com", "annotation": None, "result": [region("b")]}],
        )
    },
    task(8, annotation(2, "b")),
]
MIN = [
    {"id": 1, "text": "t", "dx": "a", "annotator": 1, "annotation_id": 3, "lead_time": 1.5},
    {"id": 1, "text": "t", "dx": {"choices": ["a", "b"]}, "annotator": 2, "annotation_id": 4},
    {"id": 2, "text": "t"},
]
CONTROLS = st.sampled_from(["dx", "tax", "rank", "d{index}", None])


@given(
    whole=st.sampled_from([WHOLE, MIN]),
    data=st.data(),
    odd=ODD,
    control=CONTROLS,
    by_text=st.booleans(),
)
def test_whatever_is_wrong_inside_is_refused_or_harmless(
    folder: Path, whole: Json, data: st.DataObject, odd: Json, control: str | None, by_text: bool
) -> None:
    path = data.draw(st.sampled_from(list(places(whole))))
    file = written(folder, "odd.json", json.dumps(replaced(whole, path, odd)))
    options: dict[str, Option] = {"control": control, "buckets": ("best",)} | OPTIONS
    if by_text:
        options["example"] = "text"
    for reader in (LabelStudio(**options), LabelStudioMin(**options)):
        reader.recognises(file, file.read_bytes())
        table = attempt(reader, file)
        assert table is None or table.sizes["response"] <= 5
    model = LabelStudio(**options)
    with quiet():
        result_or_refusal(lambda: model.predictions(file, None, None), "odd.json")


@given(whole=st.sampled_from([WHOLE, MIN]), share=st.floats(0, 1), extra=st.binary(max_size=3))
def test_a_cut_or_spoilt_file_is_refused(
    folder: Path, whole: Json, share: float, extra: bytes
) -> None:
    data = json.dumps(whole, indent=1).encode()
    at = int(share * (len(data) - 1))
    for spoilt in (data[:at], data[:at] + extra + data[at:], data.replace(b"\n", b"\r\n")[:at]):
        file = written(folder, "spoilt.json", spoilt)
        for reader in (LabelStudio(control="dx"), LabelStudioMin(control="dx")):
            attempt(reader, file, ["a", "b"])
    cut = written(folder, "cut.json", data[:at])
    assert attempt(LabelStudio(), cut) is None


@pytest.mark.parametrize("whole", [WHOLE, MIN], ids=["json", "min"])
def test_encodings_line_ends_keys_and_depth(tmp_path: Path, whole: Json) -> None:
    reader = (LabelStudio if whole is WHOLE else LabelStudioMin)(control="dx")
    text = json.dumps(whole, indent=1)
    plain = attempt(reader, written(tmp_path, "a.json", text))
    assert plain is not None
    for data in (b"\xef\xbb\xbf" + text.encode(), text.replace("\n", "\r\n").encode()):
        path = written(tmp_path, "a.json", data)
        assert reader.recognises(path, data)
        found = attempt(reader, path)
        assert found is not None
        assert found.identical(plain)
    deep = text.replace('"a"', "[" * 120 + "]" * 120, 1)
    twice = text.replace('"id":', '"id": 0, "id":', 1)
    odd = {
        "text-binary": text.encode("utf-16"),
        "text-encoding": text.replace('"a"', '"Gr\u00fc\u00dfe"').encode("latin-1"),
        "json-too-deep": deep.encode(),
        "json-key-twice": twice.encode(),
        "json-constant": text.replace('"a"', "NaN", 1).encode(),
        "json-surrogate": text.replace('"a"', '"\\ud800"', 1).encode(),
    }
    for name, data in odd.items():
        path = written(tmp_path, "odd.json", data)
        error = refusal(lambda path=path: reader.read(path, None))  # type: ignore[misc]  # bound in the loop
        assert error.name == name
        assert error.what.startswith("odd.json")
        reader.recognises(path, data)
