"""COCO: categories of whole images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, said, warned, written
from plausibly.data.annotations import not_counted
from plausibly.io import files
from plausibly.plugin import PlausiblyWarning
from plausibly.testing import check_reader
from plausibly_builtins.readers.coco import Coco
from readers_votes import once, voted, votes

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
UNLABELLED = "images without annotation (not annotated, or of no label)"
results = pytest.mark.filterwarnings("ignore:warning votes-consolidated")

IMAGES = [{"id": 5, "file_name": "a.png"}, {"id": 900, "file_name": "b.png"}]
CATEGORIES = [{"id": 90, "name": "dog"}, {"id": 1, "name": "cat"}, {"id": 7, "name": "fox"}]


def content(*annotations: dict[str, Json], **more: Json) -> dict[str, Json]:
    return {"images": IMAGES, "categories": CATEGORIES, "annotations": list(annotations), **more}


def of(image: object, category: object, **more: object) -> dict[str, Json]:
    return {"image_id": image, "category_id": category, **more}


def coco(folder: Path, value: object) -> Path:
    return written(folder, "c.json", json.dumps(value))


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "coco", labels, **options)


# ---- what is read


def test_report_23_that_the_votes_are_lost_is_said(tmp_path: Path) -> None:
    """Exports to this format drop whose annotation it was."""
    path = coco(tmp_path, content(of(5, 90), of(5, 1), of(900, 1)))
    assert warned(lambda: read(path)).startswith(
        "warning votes-consolidated: c.json holds results, not votes: 2 responses by the annotator "
        "consolidated expected what each annotator said; got one result an example; how much "
        "annotators disagreed is lost do export the single annotations"
    )


@results
def test_categories_of_an_image_are_a_set(tmp_path: Path) -> None:
    """Ids neither start at 0 nor have no gaps, and a category may be named twice."""
    path = coco(tmp_path, content(of(5, 90), of(900, 1), of(5, 1), of(5, 1)))
    table = plausibly.read_annotations(path)
    assert table.attrs["reader"] == "coco"
    assert table.attrs["kind"] == "label-set"
    assert table["label"].values.tolist() == ["dog", "cat", "fox"]
    assert voted(table) == [
        (("a.png", "consolidated", ("cat", "dog")), "consolidated"),
        (("b.png", "consolidated", ("cat",)), "consolidated"),
    ]


def test_annotators_where_the_file_names_them(tmp_path: Path) -> None:
    one = content(of(5, 90, annotator="ann"), of(5, 1, annotator=7), of(5, 7, annotator="ann"))
    assert votes(read(coco(tmp_path, one))) == once(
        ("a.png", "ann", ("dog", "fox")), ("a.png", "7", ("cat",))
    )
    path = coco(tmp_path, content(of(5, 90, annotator="ann"), of(5, 1)))
    with pytest.warns(PlausiblyWarning, match="annotators-unnamed"):
        table = read(path)
    assert votes(table) == once(("a.png", "ann", ("dog",)), ("a.png", None, ("cat",)))
    assert said(lambda: read(path, annotator="bob")) == (
        "error annotator-unfit: c.json names its annotators "
        'expected an annotator for a file that names none; got "bob" do leave annotator out'
    )
    path = coco(tmp_path, content(of(5, 90)))
    assert voted(read(path, annotator="bob")) == [(("a.png", "bob", ("dog",)), "answered")]
    path = coco(tmp_path, content(of(5, 90, annotator=[1])))
    assert refusal(lambda: read(path)).what == (
        "c.json: .annotations[0].annotator is not as COCO has it"
    )


@results
def test_report_19_no_annotation_is_two_states_that_coco_cannot_tell(tmp_path: Path) -> None:
    path = coco(tmp_path, content(of(5, 90)))
    table = read(path)
    assert table["example"].values.tolist() == ["a.png", "b.png"]
    assert not_counted(table) == {UNLABELLED: 1}
    assert refusal(lambda: read(path, unlabelled="empty")).name == "answer-empty"
    table = read(path, unlabelled="empty", states={"empty": "label:fox"}, annotator="ann")
    assert votes(table) == once(("a.png", "ann", ("dog",)), ("b.png", "ann", ("fox",)))


def test_one_category_an_image(tmp_path: Path) -> None:
    path = coco(tmp_path, content(of(5, 90), of(900, 1)))
    table = read(path, kind="single-label", annotator="a")
    assert table.attrs["kind"] == "single-label"
    path = coco(tmp_path, content(of(5, 90), of(5, 1)))
    error = refusal(lambda: read(path, kind="single-label", annotator="a"))
    assert error.what == "c.json .annotations[0]: example a.png, annotator a gives a list"


def test_images_by_their_ids(tmp_path: Path) -> None:
    twice = [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "a.png"}]
    path = coco(tmp_path, content(of(1, 90), of(2, 1), images=twice))
    assert said(lambda: read(path)) == (
        'error image-twice: c.json: .images[1] has the name of another image, "a.png" '
        "expected each image once; got a.png before "
        'do --reader \'{name = "coco", example = "id"}\''
    )
    assert votes(read(path, example="id", annotator="a")) == once(
        ("1", "a", ("dog",)), ("2", "a", ("cat",))
    )


def test_instances(tmp_path: Path) -> None:
    path = coco(tmp_path, content(of(5, 90, bbox=[0, 0, 1, 2]), of(900, 1), of(5, 1, bbox=[])))
    assert said(lambda: read(path)) == (
        "error instances-refused: c.json: 1 annotation of 3 says where something is "
        "(.annotations[0]) "
        "expected annotations of whole images: image_id and category_id; got bbox "
        "do --reader '{name = \"coco\", instances = true}', if an instance means that its image "
        "shows the category"
    )
    table = read(path, instances=True, annotator="a")
    assert votes(table) == once(("a.png", "a", ("cat", "dog")), ("b.png", "a", ("cat",)))


# ---- what is said


@pytest.mark.parametrize(
    ("value", "place", "expected", "got"),
    [
        ([], ".", "an object with images, categories, annotations", "[]"),
        ({"images": []}, ".categories", "a list", "keys images"),
        (content(images={}), ".images", "a list", "{}"),
        (content(images=[7]), ".images[0]", "an object", "7"),
        (content(images=[{"id": True, "file_name": "a"}]), ".images[0].id", "", "true"),
        (content(images=[{"id": 1}]), ".images[0].file_name", "", "keys id"),
        (content(categories=[{"id": 1, "name": ""}]), ".categories[0].name", "", '""'),
        (content(categories=[{}]), ".categories[0].id", "", "keys none"),
    ],
)
def test_json_of_another_shape(
    tmp_path: Path, value: object, place: str, expected: str, got: str
) -> None:
    assert said(lambda: read(coco(tmp_path, value))) == (
        f"error coco-unlike: c.json: {place} is not as COCO has it "
        f"expected {expected or 'a text or number'}; got {got} "
        "do export it again, or name the reader that it is for: --reader NAME"
    )


@pytest.mark.parametrize(
    ("entry", "name", "noun", "expected", "got"),
    [
        (of(6, 90), "image-unknown", "image", "image_id, one of 2 images", "6"),
        (of(5.0, 90), "image-unknown", "image", "image_id, one of 2 images", "5.0"),
        (of(5, 2), "category-unknown", "category", "category_id, one of 3 categories", "2"),
        (
            {"image_id": 5, "caption": "a dog"},
            "category-unknown",
            "category",
            "category_id, one of 3 categories",
            "keys image_id, caption",
        ),
    ],
)
def test_ids_that_are_not_in_the_file(
    tmp_path: Path, entry: dict[str, Json], name: str, noun: str, expected: str, got: str
) -> None:
    assert said(lambda: read(coco(tmp_path, content(of(5, 90), entry)))) == (
        f"error {name}: c.json: .annotations[1] is of no {noun} of the file "
        f"expected {expected}; got {got} do export it again"
    )


def test_ids_or_names_twice(tmp_path: Path) -> None:
    value = content(categories=[{"id": 1, "name": "cat"}, {"id": 1, "name": "dog"}])
    assert said(lambda: read(coco(tmp_path, value))) == (
        "error category-twice: c.json: .categories[1] has the id of another category, 1 "
        "expected each category once; got cat before do keep one of them"
    )
    value = content(categories=[{"id": 1, "name": "cat"}, {"id": 2, "name": "cat"}])
    error = refusal(lambda: read(coco(tmp_path, value)))
    assert error.what == 'c.json: .categories[1] has the name of another category, "cat"'
    path = written(tmp_path, "c.json", '{"images": [],\n"images": []}')
    assert refusal(lambda: read(path)).name == "json-key-twice"


# ---- recognition, and anything


LONG = "," + " " * files.HEAD


@pytest.mark.parametrize(
    ("head", "recognised"),
    [
        (json.dumps(content()), True),
        (json.dumps(content(info={}, licenses=[])), True),
        ('{"info": {}, "images": [{"id": 1}]' + LONG, True),
        ('{"images": [{"id": 1}]}', False),
        ('{"images": [{"id": 1}], "text": 1' + LONG, False),
        ('{"images": 1, "categories": [], "annotations": []}', False),
        ('[{"images": []}]', False),
        ('{"annotations": []}\n{"annotations": []}', False),
        ("task,worker,label\n", False),
        ("", False),
    ],
)
def test_recognition(head: str, recognised: bool) -> None:
    assert Coco().recognises(Path("c.json"), head.encode()[: files.HEAD]) is recognised


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from([5, 900]), st.sampled_from([90, 1, 7]), st.sampled_from("ab")),
        max_size=8,
    ),
    indent=st.sampled_from([None, 1]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_any_annotations_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[int, int, str]],
    indent: int | None,
    mark: bytes,
) -> None:
    value = content(*(of(image, category, annotator=who) for image, category, who in pairs))
    data = mark + json.dumps(value, indent=indent).encode()
    table = read(written(tmp_path_factory.mktemp("c"), "c.json", data), annotator=None)
    names = {5: "a.png", 900: "b.png", 90: "dog", 1: "cat", 7: "fox"}
    wanted: dict[tuple[str, str], set[str]] = {}
    for image, category, who in pairs:
        wanted.setdefault((names[image], who), set()).add(names[category])
    assert votes(table) == once(
        *((image, who, tuple(sorted(labels))) for (image, who), labels in wanted.items())
    )


WHOLE = json.dumps(content(of(5, 90), of(900, 1))).encode()


@given(
    data=st.one_of(
        st.integers(0, len(WHOLE)).map(lambda end: WHOLE[:end]),
        st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(max_size=2)).map(
            lambda at: WHOLE[: at[0]] + at[1] + WHOLE[at[0] + 1 :]
        ),
        st.recursive(
            st.one_of(st.none(), st.integers(), st.text(max_size=3)),
            lambda inner: (
                st.dictionaries(
                    st.sampled_from(["images", "categories", "annotations", "id", "name"]), inner
                )
                | st.lists(inner, max_size=3)
            ),
        ).map(lambda value: json.dumps(value).encode()),
    )
)
@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("any"), "v.json", data)
    Coco().recognises(path, data)
    result_or_refusal(lambda: read(path), path.name)


def test_every_rule_of_the_kit(tmp_path: Path) -> None:
    path = coco(tmp_path, content(of(5, 90), of(900, 1), of(5, 7)))
    check_reader(Coco(annotator="ann", instances=True), path=path, kind="label-set")


@pytest.mark.realdata
@results
def test_real_files(shared: Path) -> None:
    folder = shared / "cases" / "annotations" / "coco"
    table = plausibly.read_annotations(folder / "image_level_labels.json")
    assert voted(table) == [(("a.jpg", "consolidated", ("b",)), "consolidated")]
    assert table["label"].values.tolist() == ["a", "b"]
    path = folder / "instances_val.json"
    assert refusal(lambda: plausibly.read_annotations(path)).what == (
        "instances_val.json: 2 annotations of 2 say where something is "
        "(.annotations[0], .annotations[1])"
    )
    table = plausibly.read_annotations(path, "coco", instances=True)
    assert voted(table) == [(("b.jpg", "consolidated", ("a", "b")), "consolidated")]
    assert table["label"].values.tolist() == ["a", "b", "c"]
