"""CVAT for images 1.1: tags."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, said, warned, written
from plausibly.data.annotations import not_counted
from plausibly.plugin import PlausiblyWarning
from plausibly.testing import check_reader
from plausibly_builtins.readers.cvat import Cvat
from readers_votes import once, voted, votes

LABELS = "<labels>{}</labels>"
UNTAGGED = "images without a tag (not annotated, or of no label)"
results = pytest.mark.filterwarnings("ignore:warning votes-consolidated")


def label(name: str, kind: str = "tag") -> str:
    return f"<label><name>{name}</name><type>{kind}</type></label>"


def file(*images: str, labels: str = label("cat") + label("dog")) -> str:
    """Return a file; each image on a line of its own, from line 2 on."""
    meta = f"<meta><task><name>t</name>{LABELS.format(labels)}</task></meta>" if labels else ""
    body = "\n".join(images)
    return f"<annotations><version>1.1</version>{meta}\n{body}\n</annotations>\n"


def image(name: str, *tags: str, source: str = "manual") -> str:
    inside = "".join(f'<tag label="{tag}" source="{source}"></tag>' for tag in tags)
    return f'<image id="0" name="{name}" width="8" height="8">{inside}</image>'


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "cvat", labels, **options)


# ---- what is read


@results
def test_tags_of_an_image_are_a_set(tmp_path: Path) -> None:
    path = written(tmp_path, "a.xml", file(image("x", "dog", "cat", "cat"), image("y", "dog")))
    table = read(path)
    assert table.attrs["kind"] == "label-set"
    assert voted(table) == [
        (("x", "consolidated", ("cat", "dog")), "consolidated"),
        (("y", "consolidated", ("dog",)), "consolidated"),
    ]
    assert table["label"].values.tolist() == ["cat", "dog"]
    assert plausibly.read_annotations(path).attrs["reader"] == "cvat"


def test_results_are_said_to_be_none_of_one_annotator(tmp_path: Path) -> None:
    path = written(tmp_path, "a.xml", file(image("x", "dog"), image("y", "dog")))
    assert warned(lambda: read(path)).startswith(
        "warning votes-consolidated: a.xml holds results, not votes: 2 responses by the annotator "
        "consolidated"
    )
    table = read(path, annotator="ann")
    assert voted(table) == [
        (("x", "ann", ("dog",)), "answered"),
        (("y", "ann", ("dog",)), "answered"),
    ]


def test_report_57_replicas_of_a_job_are_annotators(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    (folder / "job_12").mkdir(parents=True)
    written(folder, "alice.xml", file(image("x", "dog"), image("y", "cat")))
    written(folder / "job_12", "annotations.xml", file(image("x", "cat"), image("y")))
    written(folder, "notes.txt", "nothing")
    table = plausibly.read_annotations(folder)
    assert table.attrs["reader"] == "cvat"
    assert voted(table) == [
        (("x", "alice", ("dog",)), "answered"),
        (("x", "job_12", ("cat",)), "answered"),
        (("y", "alice", ("cat",)), "answered"),
    ]
    assert not_counted(table) == {UNTAGGED: 1}
    lam = plausibly.aggregate(table)
    assert lam.sel(example="x").values.tolist() == [0.5, 0.5]


@results
def test_report_19_an_image_without_a_tag_is_counted_as_such(tmp_path: Path) -> None:
    """The file does not say whether nobody looked or nothing fits: the user may."""
    path = written(tmp_path, "a.xml", file(image("x", "dog"), image("y")))
    table = read(path)
    assert table["example"].values.tolist() == ["x", "y"]
    assert table.sizes["response"] == 1
    assert not_counted(table) == {UNTAGGED: 1}
    error = refusal(lambda: read(path, untagged="empty"))
    assert (error.name, error.what) == (
        "answer-empty",
        "a.xml line 3: consolidated on example y: names no label",
    )
    table = read(path, untagged="empty", states={"empty": "drop"})
    assert not_counted(table) == {"empty": 1}


@results
def test_tags_of_a_model_are_suggestions(tmp_path: Path) -> None:
    mixed = '<image name="z"><tag label="cat" source="auto"/><tag label="dog"/></image>'
    path = written(tmp_path, "a.xml", file(image("x", "dog", source="auto"), mixed))
    table = read(path)
    assert [state for _, state in voted(table)] == ["suggestion", "consolidated"]
    table = read(path, annotator="ann", states={"suggestion": "drop"})
    assert votes(table) == once(("x", "ann", ()), ("z", "ann", ("cat", "dog")))


def test_one_tag_an_image(tmp_path: Path) -> None:
    path = written(tmp_path, "a.xml", file(image("x", "dog"), image("y", "cat")))
    table = read(path, kind="single-label", annotator="ann")
    assert table.attrs["kind"] == "single-label"
    path = written(tmp_path, "a.xml", file(image("x", "dog", "cat")))
    error = refusal(lambda: read(path, kind="single-label", annotator="ann"))
    assert error.what == "a.xml line 2: example x, annotator ann gives a list"


def test_labels_are_those_for_tags(tmp_path: Path) -> None:
    part = "<label><name>arm</name><type>tag</type><parent>body</parent></label>"
    listed = label("box", "rectangle") + label("any", "any") + part
    listed += "<label><name>old</name></label>" + label("cat")
    path = written(tmp_path, "a.xml", file(image("x", "cat"), labels=listed))
    assert read(path, annotator="a")["label"].values.tolist() == ["any", "old", "cat"]
    path = written(tmp_path, "a.xml", file(image("x", "cat"), labels=""))
    assert read(path, annotator="a").attrs["labels_declared"] == 0
    path = written(tmp_path, "a.xml", file(image("x", "fox")))
    error = refusal(lambda: read(path, annotator="a"))
    assert error.what == 'a.xml line 2: example x, annotator a says "fox"'


def test_an_attribute_of_the_tags_can_be_the_label(tmp_path: Path) -> None:
    graded = '<image name="{}"><tag label="lesion"><attribute name="grade">{}</attribute></tag>'
    images = [f"{graded.format(n, g)}</image>" for n, g in (("x", "benign"), ("y", "malign"))]
    path = written(tmp_path, "a.xml", file(*images, image("z", "cat")))
    table = read(path, attribute="grade", kind="single-label", annotator="a")
    assert votes(table) == once(("x", "a", ("benign",)), ("y", "a", ("malign",)))
    assert not_counted(table) == {"tags without the attribute grade": 1}
    assert said(lambda: read(path, attribute="garde")) == (
        'error attribute-missing: a.xml: no tag has the attribute "garde" '
        'expected an attribute of the tags; got "grade" '
        'do --reader \'{name = "cvat", attribute = "grade"}\''
    )


# ---- what is said


def test_shapes_alone_are_refused(tmp_path: Path) -> None:
    shapes = '<image name="x"><box label="cat"/><polygon label="cat"/><box label="dog"/></image>'
    assert said(lambda: read(written(tmp_path, "a.xml", file(shapes)))) == (
        "error tags-missing: a.xml holds 3 shapes and no tag "
        "expected tags, which say what an image shows; shapes say where something is; "
        "got 2 box, 1 polygon do export a task in which images are tagged"
    )
    video = "<annotations><version>1.1</version><track id='0' label='cat'/></annotations>"
    error = refusal(lambda: read(written(tmp_path, "v.xml", video)))
    assert (error.name, error.got) == ("tags-missing", "1 track")


def test_files_of_another_kind(tmp_path: Path) -> None:
    assert said(lambda: read(written(tmp_path, "a.xml", "<html><p/></html>"))) == (
        "error cvat-unlike: a.xml holds no annotations of CVAT "
        "expected <annotations> around everything; got <html> do export as CVAT for images 1.1"
    )
    path = written(tmp_path, "b.xml", file('<image id="3"><tag label="cat"/></image>'))
    assert said(lambda: read(path)) == (
        "error image-unnamed: b.xml line 2 names no image expected an attribute name; got id "
        "do export it again"
    )
    path = written(tmp_path, "c.xml", "<annotations><version>1.1</version></annotations>")
    assert refusal(lambda: read(path)).what == "c.xml names no label"


def test_folders(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    (folder / "a").mkdir(parents=True)
    error = refusal(lambda: read(folder))
    assert (error.name, error.what) == ("file-missing", "jobs holds no XML file")
    written(folder, "a.xml", file(image("x", "cat")))
    assert said(lambda: read(folder, annotator="ann")) == (
        "error annotator-unfit: jobs is a folder, in which every file is an annotator "
        'expected an annotator for one file; got "ann" '
        "do leave annotator out, or name one of its files"
    )
    written(folder / "a", "annotations.xml", file(image("x", "cat")))
    assert said(lambda: read(folder)) == (
        "error annotator-twice: jobs has two files of the annotator a "
        "expected one file an annotator; got a/annotations.xml, a.xml do rename one of them"
    )
    (folder / "a.xml").unlink()
    written(folder / "a", "annotations.xml", "<annotations>")
    error = refusal(lambda: read(folder))
    assert error.what == "jobs/a/annotations.xml line 1 is no XML"


@results
def test_the_same_image_twice(tmp_path: Path) -> None:
    path = written(tmp_path, "a.xml", file(image("x", "cat"), image("x", "dog")))
    assert refusal(lambda: read(path)).name == "response-twice"
    assert refusal(lambda: read(path, duplicates="latest")).name == "times-missing"
    assert read(path, duplicates="all").sizes["response"] == 2


# ---- recognition, and anything


@pytest.mark.parametrize(
    ("head", "recognised"),
    [
        (file().encode(), True),
        (b'<?xml version="1.0" encoding="utf-8"?>\n<!-- c -->' + file().encode(), True),
        (b"\xef\xbb\xbf" + file().encode(), True),
        (file().encode("utf-16"), True),
        (b"<annotations><version>1.0</version></annotations>", False),
        (b"<annotation><folder>VOC</folder></annotation>", False),
        (b"<annotations>", False),
        (b"<!DOCTYPE html><annotations><version>1.1</version>", False),
        (b"task,worker,label\n", False),
    ],
)
def test_recognition(tmp_path: Path, head: bytes, recognised: bool) -> None:
    assert Cvat().recognises(tmp_path / "x.xml", head) is recognised
    folder = tmp_path / "f"
    folder.mkdir()
    assert not Cvat().recognises(folder, b"")
    written(folder, "b.xml", head)
    assert Cvat().recognises(folder, b"") is recognised


@st.composite
def tagged(draw: st.DrawFn) -> dict[str, list[str]]:
    names = draw(st.lists(st.sampled_from(["x", "y z", "ä.png"]), unique=True, min_size=1))
    return {name: draw(st.lists(st.sampled_from(["cat", "dog"]), max_size=3)) for name in names}


@given(
    said_of=tagged(), encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), cr=st.booleans()
)
def test_any_tags_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    said_of: dict[str, list[str]],
    encoding: str,
    cr: bool,
) -> None:
    text = file(*(image(name, *tags) for name, tags in said_of.items()))
    data = (text.replace("\n", "\r\n") if cr else text).encode(encoding)
    table = read(written(tmp_path_factory.mktemp("c"), "a.xml", data), annotator="ann")
    wanted = once(*((n, "ann", tuple(sorted(set(tags)))) for n, tags in said_of.items() if tags))
    assert votes(table) == wanted
    assert table["example"].values.tolist() == sorted(said_of)


WHOLE = file(image("x", "cat"), image("y"), '<image name="z"><box label="cat"/></image>').encode()


@given(
    content=st.one_of(
        st.integers(0, len(WHOLE)).map(lambda end: WHOLE[:end]),
        st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(max_size=3)).map(
            lambda at: WHOLE[: at[0]] + at[1] + WHOLE[at[0] + 1 :]
        ),
        st.binary(max_size=40),
    )
)
@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("any"), "v.xml", content)
    result_or_refusal(lambda: read(path), path.name)


def test_long_labels(tmp_path: Path) -> None:
    long = "x" * 100_000
    path = written(tmp_path, "a.xml", file(image("i", long), labels=label(long)))
    assert read(path, annotator="a")["label"].values.tolist() == [long]


def test_every_rule_of_the_kit(tmp_path: Path) -> None:
    path = written(tmp_path, "one.xml", file(image("x", "cat"), image("y", "dog")))
    check_reader(Cvat(annotator="ann", kind="single-label"), path=path)
    folder = tmp_path / "jobs"
    folder.mkdir()
    shutil.copy(path, folder / "ann.xml")
    shutil.copy(path, folder / "bob.xml")
    check_reader(Cvat(), path=folder)


@pytest.mark.realdata
def test_real_files(shared: Path) -> None:
    folder = shared / "cases" / "annotations"
    with pytest.warns(PlausiblyWarning, match="votes-consolidated"):
        table = plausibly.read_annotations(folder / "constructed" / "cvat_tags.xml")
    assert voted(table) == [(("img0.jpg", "consolidated", ("cat", "dog")), "consolidated")]
    assert table["example"].values.tolist() == ["img0.jpg", "img1.jpg"]
    assert table["label"].values.tolist() == ["cat", "dog"]
    assert not_counted(table) == {UNTAGGED: 1}
    path = folder / "cvat" / "cvat_for_images_1_1.xml"
    error = refusal(lambda: plausibly.read_annotations(path))
    assert (error.name, error.what) == (
        "tags-missing",
        "cvat_for_images_1_1.xml holds 4 shapes and no tag",
    )
    assert error.details["shapes"] == {"box": 1, "points": 1, "polygon": 1, "polyline": 1}
