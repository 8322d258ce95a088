"""Label Studio: what the values of each type of control say, and which control is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import pytest

import plausibly
from io_files import refusal, said
from label_studio_files import annotation, answers, export, read, region, task, votes

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one


def taxonomy(*paths: list[Json], control: str = "tax") -> dict[str, Json]:
    return region({"taxonomy": list(paths)}, control, "taxonomy")


def ranker(value: object, control: str = "rank") -> dict[str, Json]:
    return region({"ranker": value}, control, "ranker")


# ---- choices


def test_choices_decide_the_kind(tmp_path: Path) -> None:
    single = export(tmp_path, task(1, annotation(1, "a"), annotation(2, "b")))
    assert read(single).attrs["kind"] == "single-label"
    sets = read(single, kind="label-set")
    assert sets.attrs["kind"] == "label-set"
    assert answers(sets) == answers(read(single))
    several = export(tmp_path, task(1, annotation(1, "a", "b"), annotation(2, "b")))
    assert read(several).attrs["kind"] == "label-set"
    assert answers(read(several)) == {("1", "1"): "a=b", ("1", "2"): "b"}
    error = refusal(lambda: read(several, kind="single-label"))
    assert error.what.startswith("export.json task 1, annotation no. 1: ")


def test_regions_of_one_annotation_are_one_answer(tmp_path: Path) -> None:
    two = annotation(1, region("a"), region(["b", "a"]))
    table = read(export(tmp_path, task(1, two, annotation(2, region("b"), region("b")))))
    assert answers(table) == {("1", "1"): "a=b", ("1", "2"): "b"}


def test_labels_are_text_exactly_as_written(tmp_path: Path) -> None:
    odd = [' a"\n', "0", "1.0", "nan", "None", "Ä", "x" * 100_000]
    path = export(tmp_path, *(task(n, annotation(1, label)) for n, label in enumerate(odd)))
    assert answers(read(path)) == {(str(n), "1"): label for n, label in enumerate(odd)}
    number = export(tmp_path, task(1, annotation(1, region([1.0]))))
    assert answers(read(number)) == {("1", "1"): "1.0"}


def test_a_type_that_is_not_written_is_that_of_the_value(tmp_path: Path) -> None:
    bare = {"from_name": "dx", "value": {"choices": ["a"]}}
    relation = {"type": "relation", "from_id": "x", "to_id": "y"}
    path = export(
        tmp_path, task(1, annotation(1, bare, relation), annotation(2, {**bare, "type": "Choices"}))
    )
    assert answers(read(path)) == {("1", "1"): "a", ("1", "2"): "a"}


@pytest.mark.parametrize(
    ("value", "kind", "expected", "got"),
    [
        ({"choices": "a"}, "choices", "a list of labels", '"a"'),
        ({}, "choices", "a list of labels", "null"),
        ({"choices": [None]}, "choices", "a label that is text", "null"),
        ({"choices": [{"a": 1}]}, "choices", "a label that is text", '{"a": 1}'),
        ({"taxonomy": [[]]}, "taxonomy", "a path of one label or more", "[]"),
        ({"selected": True}, "pairwise", "a label that is text", "true"),
        ({"ranker": ["a"]}, "ranker", "an object with ranks", '["a"]'),
        ({"items": {}, "selected": []}, "ranker", "an object with ranks", "null"),
        ({"ranker": {"dx": "a"}}, "ranker", 'a list of items in "dx"', '"a"'),
    ],
)
def test_values_of_another_shape(
    tmp_path: Path, value: dict[str, Json], kind: str, expected: str, got: str
) -> None:
    path = export(tmp_path, task(4, annotation(1, region(value, kind=kind))))
    assert said(lambda: read(path)) == (
        "error value-unfit: export.json task 4, annotation no. 1: the value of control "
        f'"dx" is not {expected} expected {expected}; got {got} do mend it, or export again'
    )


# ---- taxonomies


def test_a_taxonomy_names_leaves_or_paths(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(1, annotation(1, taxonomy(["Skin", "Eczema"], ["Skin", "Psoriasis"]))),
        task(2, annotation(1, taxonomy(["Skin"])), annotation(2, taxonomy(["Skin", "Eczema"]))),
    )
    assert answers(read(path)) == {
        ("1", "1"): "Eczema=Psoriasis",
        ("2", "1"): "Skin",  # a parent may be chosen alone
        ("2", "2"): "Eczema",
    }
    assert answers(read(path, taxonomy="path")) == {
        ("1", "1"): "Skin/Eczema=Skin/Psoriasis",
        ("2", "1"): "Skin",
        ("2", "2"): "Skin/Eczema",
    }
    nested = export(tmp_path, task(1, annotation(1, region([["Skin", "Eczema"]]))))
    assert answers(read(nested)) == {("1", "1"): "Eczema"}


def test_two_leaves_of_one_name_are_not_merged(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(
            1,
            annotation(1, taxonomy(["Skin", "Other"])),
            annotation(2, taxonomy(["Lung", "Other"])),
        ),
    )
    assert said(lambda: read(path)) == (
        'error taxonomy-ambiguous: export.json task 1, annotation no. 2: "Other" names two places '
        "of the taxonomy expected one place a label; got Skin > Other and Lung > Other "
        'do taxonomy = "path"'
    )
    assert answers(read(path, taxonomy="path")) == {
        ("1", "1"): "Skin/Other",
        ("1", "2"): "Lung/Other",
    }
    slash = export(tmp_path, task(1, annotation(1, taxonomy(["a", "b"], ["a/b"]))))
    error = refusal(lambda: read(slash, taxonomy="path"))
    assert (error.got, error.do) == ("a > b and a/b", "rename one of them in the export")


# ---- rankers


def test_a_ranker_orders_its_items(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        task(
            1, annotation(1, ranker({"rank": ["b", "a", "c"]})), annotation(2, ranker({"rank": []}))
        ),
    )
    table = read(path)
    assert table.attrs["kind"] == "partial-ranking"
    assert sorted(votes(table)) == [("1", "1", "answered", "b>a>c"), ("1", "2", "empty", "")]
    own = export(tmp_path, task(1, annotation(1, ranker({"mine": ["b", "a"]}, "mine"))))
    assert answers(read(own)) == {("1", "1"): "b>a"}
    assert said(lambda: read(own, kind="label-set")) == (
        'error kind-unfit: export.json: control "mine" ranks labels expected answers of kind '
        "label-set; got answers of kind partial-ranking do leave kind out"
    )
    twice = export(tmp_path, task(1, annotation(1, ranker({"rank": ["b", "a", "b"]}))))
    assert refusal(lambda: read(twice)).name == "ranking-repeats"


def test_buckets_are_ranks_in_the_order_that_the_user_gives(tmp_path: Path) -> None:
    said_in = {"_": ["a", "b", "c", "d"], "ok": ["a", "c"], "best": ["b"], "no": []}
    path = export(tmp_path, task(1, annotation(1, ranker(said_in))))
    assert said(lambda: read(path)) == (
        "error buckets-unordered: export.json task 1, annotation no. 1: nothing says which bucket "
        'of "rank" is the best expected the buckets in order, which the file does not hold; '
        'got "ok", "best", "no" do buckets = ["ok", "best", "no"], the best first'
    )
    error = refusal(lambda: read(path, buckets=("best", "ok")))
    assert error.do == 'buckets = ["best", "ok", "no"], the best first'
    # What stays in the untouched list, "_", is ranked nowhere.
    assert answers(read(path, buckets=("best", "ok", "no"))) == {("1", "1"): "b>a=c"}
    assert answers(read(path, buckets=("no", "ok", "best"))) == {("1", "1"): "a=c>b"}
    one = export(tmp_path, task(1, annotation(1, ranker({"rank": ["b", "a"]}))))
    assert answers(read(one, buckets=("rank", "other"))) == {("1", "1"): "a=b"}


def test_two_rankings_in_one_annotation_are_refused(tmp_path: Path) -> None:
    path = export(
        tmp_path, task(1, annotation(1, ranker({"rank": ["a"]}), ranker({"rank": ["b"]})))
    )
    assert said(lambda: read(path)) == (
        "error rankings-several: export.json task 1, annotation no. 1: 2 rankings by control "
        '"rank" expected one ranking an annotation; got 2 do keep one of them'
    )


# ---- pairs, ratings, numbers


def test_a_pairwise_choice_is_left_or_right(tmp_path: Path) -> None:
    pair = [region({"selected": side}, "pw", "pairwise") for side in ("left", "right")]
    path = export(tmp_path, task(1, annotation(1, pair[0]), annotation(2, pair[1])))
    assert answers(read(path)) == {("1", "1"): "left", ("1", "2"): "right"}


@pytest.mark.parametrize("kind", ["rating", "number"])
def test_numbers_are_labels_only_where_somebody_says_so(tmp_path: Path, kind: str) -> None:
    path = export(
        tmp_path,
        task(1, annotation(1, region(4, "stars", kind)), annotation(2, region(1.0, "stars", kind))),
    )
    assert said(lambda: read(path)) == (
        f'error control-number: export.json: "stars" ({kind}) holds numbers, not labels '
        "expected labels; got numbers, whose order and distance labels do not have "
        'do numbers = "label" takes each number as a label'
    )
    assert refusal(lambda: read(path, control="stars")).name == "control-number"
    assert answers(read(path, numbers="label")) == {("1", "1"): "4", ("1", "2"): "1.0"}
    text = export(tmp_path, task(1, annotation(1, region("4", "stars", kind))))
    assert refusal(lambda: read(text, numbers="label")).got == '"4"'


# ---- which control


def test_the_only_control_with_labels_is_read(tmp_path: Path) -> None:
    others = [region(4, "stars", "rating"), region(["words"], "note", "textarea")]
    path = export(tmp_path, task(1, annotation(1, *others, region("a"))))
    assert answers(read(path)) == {("1", "1"): "a"}
    error = refusal(lambda: read(path, numbers="label"))
    assert error.got == '"dx" (choices), "stars" (rating)'
    assert error.do == 'control = "dx", or another of them'
    assert answers(read(path, control="stars", numbers="label")) == {("1", "1"): "4"}


def test_controls_that_are_not_there_or_of_two_types(tmp_path: Path) -> None:
    path = export(tmp_path, task(1, annotation(1, region("a", "diagnosis"))))
    assert said(lambda: read(path, control="diagnosi")) == (
        'error control-unknown: export.json holds no answer to a control "diagnosi" '
        'expected a control of the export; got "diagnosis" (choices) '
        'do did you mean control = "diagnosis"?'
    )
    assert refusal(lambda: read(path, control="x_{index}")).do == "name one of those"
    mixed = export(
        tmp_path,
        task(1, annotation(1, "a"), annotation(2, region(4, "dx", "rating"))),
    )
    assert said(lambda: read(mixed)) == (
        'error control-mixed: export.json: control "dx" has values of 2 types '
        "expected one type a control; got choices, rating "
        "do give the controls different names, or read the tasks of each type alone"
    )


def test_a_control_that_nobody_used(tmp_path: Path) -> None:
    path = export(tmp_path, task(1, annotation(1), annotation(2, was_cancelled=True)))
    table = read(path, ["a", "b"], control="dx")
    assert sorted(votes(table)) == [("1", "1", "empty", ""), ("1", "2", "skipped", "")]
    assert read(path, ["a"], control="dx_{index}").sizes["response"] == 0
    assert refusal(lambda: read(path)).name == "annotations-empty"
    nowhere = export(
        tmp_path,
        task(1, annotation(1, region("a", "dx_0"))),
        task(2, annotation(1), annotation(2, was_cancelled=True)),
    )
    table = read(nowhere, control="dx_{index}")
    assert list(votes(table)) == [("1#0", "1", "answered", "a")]
    assert "not counted: 2 responses to none of the repeated controls" in repr(table)


def test_declared_labels_and_aliases(tmp_path: Path) -> None:
    path = export(tmp_path, task(1, annotation(1, "ekzema"), annotation(2, "eczema")))
    error = refusal(lambda: read(path, ["eczema", "acne"]))
    assert error.name == "label-unknown"
    assert error.what.startswith("export.json task 1, annotation no. 1: ")
    labels = tmp_path / "labels.csv"
    labels.write_text("label,aliases\neczema,ekzema\nacne,\n")
    table = plausibly.read_annotations(path, labels=labels)
    assert answers(table) == {("1", "1"): "eczema", ("1", "2"): "eczema"}


def test_names_that_cannot_be_stored_are_refused_by_file(tmp_path: Path) -> None:
    for odd in (task("a\0", annotation(1, "a")), task(1, annotation("\0", "a"))):
        error = refusal(lambda odd=odd: read(export(tmp_path, odd)))  # type: ignore[misc]  # bound in the loop
        assert error.what.startswith("export.json has 1 ")
        assert error.what.endswith(" without a usable name")
