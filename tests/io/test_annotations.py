"""Annotation tables to a file and back, and the choice of the reader of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import cases_net
import io_files
import plausibly
from io_files import KINDS, refusal, same, tables, written
from kit_components import FILE, Bars, after, changed
from plausibly import registry
from plausibly.config.hints import as_options
from plausibly.data.annotations import AnnotationTable, build_table
from plausibly.io import files
from plausibly.io.annotation_files import read_annotation_file, write_annotations
from plausibly.io.datasets import ENDINGS, is_annotation_file
from plausibly.io.hints import columns_hint
from plausibly.plugin import READER
from refusals import warned


def votes(**more: object) -> AnnotationTable:
    """Two examples with answers, one skipped, one without any response."""
    return build_table(
        "single-label",
        examples=["007", "never asked", "b, c", "a"],
        annotators=["None", "silent"],
        labels=["x", "unused", " y"],
        response_example=[0, 0, 3, 2],
        response_annotator=[0, -1, 0, -1],
        mention_response=[0, 1, 2],
        mention_label=[2, 0, 0],
        response_state=[0, 5, 0, 2],
        coordinates={
            "risk": xr.Variable("label", [1, 2, 3]),
            "patient": xr.Variable("example", ["p", "q", "p", "r"]),
        },
        **more,  # type: ignore[arg-type]  # keywords of build_table, by name
    )


def one_answer(labels: list[str], place: int) -> AnnotationTable:
    """Return a table of one answer by an unknown annotator."""
    return plausibly.build_annotations("single-label", [("a", None, labels[place])], labels)


@pytest.mark.parametrize("ending", ENDINGS)
@given(table=st.sampled_from(KINDS).flatmap(tables))
@settings(max_examples=30)
def test_everything_comes_back(
    tmp_path_factory: pytest.TempPathFactory, ending: str, table: AnnotationTable
) -> None:
    path = tmp_path_factory.mktemp("ann") / f"votes{ending}"
    before = table.copy(deep=True)
    write_annotations(table, path)
    same(table, before)
    same(read_annotation_file(path), table)
    assert [item.name for item in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_only_our_reader_recognises_it(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"votes{ending}"
    for names in (["1", "2"], ["é", "None"]):
        records = [(example, who, who) for example in names for who in names]
        write_annotations(plausibly.build_annotations("single-label", records, names), path)
        assert cases_net.recognisers(path) == ["annotation-table"]
    table = votes(left_out={"bad rows": 2}, attributes={"source": "export.json", "reader": "tool"})
    plausibly.write_annotations(table, path)
    outcome = plausibly.read_annotations(path)
    assert (outcome.attrs["reader"], outcome.attrs["source"]) == ("annotation-table", path.name)
    same(outcome.assign_attrs(reader="tool", source="export.json"), table)
    assert read_annotation_file(path).attrs["source"] == "export.json"


def test_rows_are_in_words(tmp_path: Path) -> None:
    """Those of single labels are in ``files/votes_1.csv``."""
    ranking = build_table(
        "partial-ranking",
        examples=["a"],
        annotators=["q"],
        labels=["x", "y"],
        response_example=[0, 0],
        response_annotator=[0, -1],
        mention_response=[1, 1],
        mention_label=[1, 0],
        mention_block=[2, 1],
        mention_weight=[0.1, 1e-300],
        response_weight=[3.0, 0.5],
    )
    write_annotations(ranking, tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text(encoding="utf-8").split("\n")
    header = "response,example,annotator,label,block,weight,response_weight"
    assert [line.partition(',"1/1 {')[0] for line in lines] == [
        f"{header},about",
        "0,a,,x,1,1e-300,0.5",
        "0,a,,y,2,0.1,0.5,",
        "1,a,q,,,,3.0,",
        "",
    ]
    write_annotations(ranking, tmp_path / "r.parquet")
    frame = pd.read_parquet(tmp_path / "r.parquet")
    assert frame.columns.tolist() == header.split(",")
    assert frame.drop(columns="annotator").iloc[1].tolist() == [0, "a", "y", 2, 0.1, 0.5]
    assert frame["annotator"].isna().tolist() == [True, True, False]
    assert frame["block"].isna().tolist() == [False, False, True]


@given(
    mark=st.sampled_from([",", ";", "\t"]),
    order=st.permutations(range(4)),
    all_answered=st.booleans(),
)
@settings(max_examples=40)
def test_rows_in_any_order_of_any_spreadsheet(
    folder: Path, mark: str, order: list[int], all_answered: bool
) -> None:
    """Also where only the rows give the order of examples, since all have a response."""
    path = folder / "votes.csv"
    table = votes()
    if all_answered:
        table = plausibly.select_annotations(table, example=["007", "b, c", "a"])
    write_annotations(table, path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False).iloc[list(order)]
    frame.to_csv(path, index=False, sep=mark, encoding="utf-8-sig", lineterminator="\r\n")
    same(read_annotation_file(path), table)
    assert plausibly.read_annotations(path).attrs["reader"] == "annotation-table"


def test_many_labels_take_several_cells(tmp_path: Path) -> None:
    """No cell is longer than a spreadsheet keeps; there may be more cells than rows."""
    table = one_answer([f"label {place:06,}" for place in range(9_000)], 8_999)
    path = tmp_path / "votes.csv"
    write_annotations(table, path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert len(frame) > 2
    assert frame["about"].str.len().max() < 32_767
    frame.iloc[::-1].to_csv(path, index=False)
    same(read_annotation_file(path), table)
    frame.iloc[:-1].to_csv(path, index=False)
    assert refusal(lambda: read_annotation_file(path)).name == "table-changed"


@pytest.mark.parametrize("ending", ENDINGS)
def test_labels_that_are_declared_later(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"votes{ending}"
    write_annotations(votes(), path)
    outcome = plausibly.read_annotations(path, labels=[" y", "new", "x"])
    assert outcome["label"].values.tolist() == [" y", "new", "x"]
    np.testing.assert_array_equal(outcome["risk"], [3, np.nan, 1])
    after, before = (
        plausibly.aggregate(table, unanswered="drop").sel(label=[" y", "x"])
        for table in (outcome, votes())
    )
    assert np.array_equal(after.values, before.values)
    error = refusal(lambda: plausibly.read_annotations(path, labels=["x", "unused"]))
    assert (error.name, error.details) == ("label-unknown", {"labels": [" y"]})


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_rows_alone_need_the_kind(tmp_path: Path, ending: str) -> None:
    """A file that pandas wrote again lacks the column about, or the metadata."""
    path = tmp_path / f"votes{ending}"
    write_annotations(votes(), path)
    if ending == ".csv":
        pd.read_csv(path, dtype=str).drop(columns="about").to_csv(path, index=False)
    else:
        pd.read_parquet(path).to_parquet(path)
    assert is_annotation_file(path, files.opening(path, "annotations"))
    error = refusal(lambda: read_annotation_file(path))
    assert error.name == "table-changed"
    assert 'reader="annotation-table", kind="single-label"' in error.hint
    outcome = plausibly.read_annotations(path, {"name": "annotation-table", "kind": "single-label"})
    assert outcome["label"].values.tolist() == [" y", "x"]
    assert outcome["example"].values.tolist() == ["007", "a", "b, c"]
    assert outcome.attrs["labels_declared"] == 0
    assert outcome["response_state"].values.tolist() == [5, 0, 0, 2]
    text = "response,example,annotator,label,weight\n0,a,q,x,0.5\n0,a,q,y,0.5\n"
    outcome = read_annotation_file(written(tmp_path, "w.csv", text), kind="soft-label")
    assert outcome["mention_weight"].values.tolist() == [0.5, 0.5]


def test_a_file_of_version_1(tmp_path: Path) -> None:
    path = Path(__file__).parent / "files" / "votes_1.csv"
    wanted = build_table(
        "single-label",
        examples=["007", "b"],
        annotators=["None"],
        labels=["x", "unused"],
        response_example=[0, 1],
        response_annotator=[0, -1],
        mention_response=[0],
        mention_label=[0],
        response_state=[0, 2],
        coordinates={"risk": xr.Variable("label", [1, 2])},
    )
    same(read_annotation_file(path), wanted)
    write_annotations(wanted, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()


def with_variable(*values: object) -> AnnotationTable:
    return votes(variables={"z": xr.Variable("label", np.array(values))})


UNWRITABLE: list[tuple[Callable[[], xr.Dataset], str, str, str]] = [
    (votes, "votes.xlsx", "ending-unknown", ".xlsx"),
    (lambda: votes()[{"example": [1, 0, 2, 3]}], "votes.csv", "table-detached", "another checksum"),
    (lambda: with_variable(1j, 2j, 3j), "votes.npz", "value-unwritable", "type complex128"),
    (
        lambda: with_variable("a", None, "b"),
        "votes.nc",
        "value-unwritable",
        "objects that are no text",
    ),
    (lambda: votes(attributes={"z": {1, 2}}), "votes.parquet", "value-unwritable", "set"),
    *[
        (lambda: one_answer(["\ud800"], 0), f"votes{ending}", "value-unwritable", "")
        for ending in (".csv", ".parquet", ".nc")
    ],
]


@pytest.mark.parametrize(("make", "file", "name", "outcome"), UNWRITABLE)
def test_a_table_that_cannot_be_written_leaves_the_old_file(
    tmp_path: Path, make: Callable[[], xr.Dataset], file: str, name: str, outcome: str
) -> None:
    path = written(tmp_path, file, "mine")
    error = refusal(lambda: write_annotations(make(), path))
    assert (error.name, error.found if outcome else "") == (name, outcome)
    assert path.read_text() == "mine"
    assert [item.name for item in tmp_path.iterdir()] == [file]


@pytest.mark.parametrize(
    ("old", "new", "name", "outcome"),
    [
        ("3,a,None,x,answered,\n", "", "table-changed", None),
        ("3,a,None,x", "3,a,None,z", "table-changed", "4 responses"),
        ("1/1 {", "1/2 {", "table-changed", "rows alone"),
        ('""version"": 1', '""version"": ', "file-damaged", None),
        ('""unlisted"": ""excluded""', '""unlisted"": ""?""', "file-damaged", None),
        ('""version"": 1', '""version"": 2', "file-other", "format 2"),
        ('""annotation table""', '""plausibilities""', "file-other", "plausibilities"),
        ("3,a,None,x", "one,a,None,x", "number-unreadable", '"one"'),
        ("3,a,None,x", "3,,None,x", "example-unnamed", "an empty cell"),
        ("skipped", "guess", "number-unreadable", None),
        ("3,a,None,x", "0,a,None,x", "response-mixed", None),
        ("annotator,label", "annotator,labels", "columns-missing", None),
    ],
)
def test_a_file_that_was_edited(
    tmp_path: Path, old: str, new: str, name: str, outcome: str | None
) -> None:
    path = tmp_path / "votes.csv"
    write_annotations(votes(), path)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    error = refusal(lambda: read_annotation_file(path))
    assert error.name == name
    assert outcome in (None, error.found)
    assert name == "file-other" or "votes.csv" in error.what


@pytest.mark.parametrize("ending", [".npz", ".nc"])
def test_arrays_that_do_not_fit(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"votes{ending}"
    write_annotations(votes(), path)
    error = refusal(lambda: read_annotation_file(path, kind="label-set"))
    assert (error.name, error.found) == ("option-unfit", 'arrays, and kind "label-set"')
    if ending == ".npz":
        with np.load(path) as stored:
            arrays = dict(stored)
        arrays["mention_label"] = np.roll(arrays["mention_label"], 1)
        np.savez(path, **arrays)
    else:
        with xr.load_dataset(path, engine="scipy") as dataset:
            dataset["mention_label"] = ("mention", np.roll(dataset["mention_label"].values, 1))
            dataset.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")
    error = refusal(lambda: read_annotation_file(path))
    assert (error.name, error.found) == ("file-damaged", "its parts do not fit together")
    if ending == ".npz":
        np.savez(path, counts=np.eye(2))
    else:
        xr.Dataset({"a": ("x", [1.0])}).to_netcdf(path, engine="scipy")
    assert refusal(lambda: read_annotation_file(path)).found.endswith(
        "it does not say that it is an annotation table"
    )


def test_half_a_character_stays_in_arrays(tmp_path: Path) -> None:
    write_annotations(one_answer(["\ud800"], 0), tmp_path / "n.npz")
    assert read_annotation_file(tmp_path / "n.npz")["label"].values.tolist() == ["\ud800"]


VOTES = "task,worker,label\nt1,a,cat\nt1,b,dog\nt2,a,dog\n"


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> registry.Registry:
    """A registry of the built-in readers, and of those that a test registers."""
    fresh = registry.Registry(others=tuple)
    monkeypatch.setattr(registry, "default", lambda: fresh)
    return fresh


@pytest.mark.parametrize("name", ["votes.csv", "votes.json", "votes.soc", "votes", "votes.CSV"])
def test_content_decides_and_not_the_name(tmp_path: Path, name: str) -> None:
    table = plausibly.read_annotations(str(written(tmp_path, name, VOTES)))
    assert isinstance(table, AnnotationTable)
    assert (table.attrs["reader"], table.attrs["source"]) == ("long-table", name)


def test_a_registered_reader_is_a_name_a_table_or_an_object(
    tmp_path: Path, own: registry.Registry
) -> None:
    plain = after(Bars, "read", lambda table, *_: xr.Dataset(table.variables, attrs=table.attrs))
    path = written(tmp_path, "votes.bar", FILE)
    assert plausibly.read_annotations(path, Bars()).attrs["reader"] == "Bars"
    own.register(READER, "bars", type(plain))
    for reader in ("bars", {"name": "bars", "bar": "|"}, plain, None):
        table = plausibly.read_annotations(path, reader)
        assert isinstance(table, AnnotationTable)
        assert table.attrs["reader"] == "bars"
        assert table["label"].values.tolist() == ["benign", "malignant", "unclear"]


def test_two_readers_that_recognise_a_file_are_named(
    tmp_path: Path, own: registry.Registry
) -> None:
    own.register(READER, "any", type(changed(Bars, recognises=lambda self, path, head: True)))
    error = refusal(lambda: plausibly.read_annotations(written(tmp_path, "v.csv", VOTES)))
    assert (error.name, error.details["readers"]) == ("format-ambiguous", ["long-table", "any"])
    own.register(READER, "bars", Bars)
    error = refusal(lambda: plausibly.read_annotations(written(tmp_path, "v.bar", FILE)))
    assert (error.name, error.details["readers"]) == ("format-ambiguous", ["any", "bars"])


@pytest.mark.parametrize("error", [ZeroDivisionError("of course"), SystemExit(3)])
def test_a_reader_that_fails_to_recognise_stops_no_other(
    tmp_path: Path, own: registry.Registry, error: BaseException
) -> None:
    def fail(self: Bars, path: Path, head: bytes) -> bool:
        raise error

    own.register(READER, "broken", type(changed(Bars, recognises=fail)))
    what = "reader broken cannot tell whether it reads votes.csv"
    with warned("reader-failed", what, f"found {type(error).__name__}: {error}"):
        plausibly.read_annotations(written(tmp_path, "votes.csv", VOTES))


class Plain:
    """With no more than the two members that are needed."""

    def __init__(self, read: Callable[[], xr.Dataset]) -> None:
        self.result = read

    def recognises(self, path: Path, head: bytes) -> bool:
        return True

    def read(self, path: Path, labels: list[str] | None) -> xr.Dataset:
        return self.result()


def built(*records: object) -> Callable[[], xr.Dataset]:
    return lambda: plausibly.build_annotations("single-label", records, None)  # type: ignore[arg-type]  # also others


def twice() -> AnnotationTable:
    """Build a table from codes, in which one annotator answers twice."""
    return build_table(
        "single-label",
        examples=["e"],
        annotators=["r"],
        labels=["a", "b"],
        response_example=[0, 0],
        response_annotator=[0, 0],
        mention_response=[0, 1],
        mention_label=[0, 1],
    )


@pytest.mark.parametrize(
    ("read", "name"),
    [
        (lambda: xr.Dataset({"x": ("y", np.zeros(2))}), "table-unknown"),
        (twice, "response-twice"),
        (built(("t", "a", "cat"), ("t", "a", "dog")), "response-twice"),
        (built(("t", "a", object())), "answer-invalid"),
        (built(()), "record-invalid"),
        (lambda: 1 / 0, "component-failed"),
    ],
)
def test_what_a_reader_of_an_author_gives_is_validated(
    tmp_path: Path, read: Callable[[], xr.Dataset], name: str
) -> None:
    path = written(tmp_path, "v.bar", FILE)
    error = refusal(lambda: plausibly.read_annotations(path, Plain(read)))  # type: ignore[arg-type]  # the point
    assert (error.name, error.what[:6]) == (name, "v.bar:")


def test_declared_labels_come_from_names_files_and_tables(tmp_path: Path) -> None:
    path = written(tmp_path, "votes.csv", VOTES)
    labels = written(tmp_path, "labels.csv", "label,risk\nfox,0\ndog,2\ncat,1\n")
    for source in (["fox", "dog", "cat"], labels, str(labels), plausibly.read_labels(labels)):
        table = plausibly.read_annotations(path, labels=source)
        assert table["label"].values.tolist() == ["fox", "dog", "cat"]
    assert plausibly.aggregate(table)["risk"].values.tolist() == [0, 2, 1]


@pytest.mark.parametrize("reader", [None, "long-table", "counts", "selectors"])
def test_files_that_are_missing_empty_or_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "votes.csv", "")
    (tmp_path / "folder").mkdir()
    names = [
        refusal(lambda file=file: plausibly.read_annotations(file, reader, ["a", "b"])).name  # type: ignore[misc]  # bound now
        for file in ("votes.cvs", "votes.csv", "folder")
    ]
    assert names == ["file-missing", "file-empty", "file-is-folder"]


@pytest.mark.parametrize(("rows", "hint"), io_files.BEGINNINGS["columns"])
def test_the_hint_guesses_columns(rows: list[list[str]], hint: str) -> None:
    assert as_options(columns_hint(rows), {"--reader", "--columns"}) == f"--columns {hint}"
