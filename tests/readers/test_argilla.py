"""Argilla's records: nested, flat, and of version 1."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, said, warned, written
from plausibly.data.responses import ResponseOptions
from plausibly.io import files
from plausibly_builtins.readers.argilla import Argilla
from readers_votes import voted, votes

Json: TypeAlias = Any  # what a document holds: of any shape, also a wrong one
Option: TypeAlias = Any  # of a reader, by its name


def flat(name: str, values: Json, users: Json, status: Json, **more: Json) -> Json:
    """Return a flat record with responses to the question q."""
    lists = {"q.responses": values, "q.responses.users": users, "q.responses.status": status}
    return {"id": name, "text": "t", **lists, **more}


def nested(name: str, suggestions: Json = None, **responses: Json) -> Json:
    """Return a nested record of version 2."""
    beside = {"fields": {"text": "t"}, "metadata": {"no": 7}, "vectors": {}}
    return {"id": name, **beside, "suggestions": suggestions or {}, "responses": responses}


def one(value: Json, user: Json = "u1", **more: Json) -> Json:
    return {"value": value, "user_id": user, "status": "submitted", **more}


def old(name: Json, *responses: Json, **more: Json) -> Json:
    """Return a record of version 1."""
    beside = {"external_id": name, "fields": {"text": "t"}, "metadata": {}, "suggestions": []}
    return {**beside, "responses": list(responses), **more}


def old_one(user: Json = "u1", status: Json = "submitted", **values: Json) -> Json:
    said_so = {question: {"value": value} for question, value in values.items()}
    return {"user_id": user, "status": status, "values": said_so or None}


def listing(folder: Path, *records: object) -> Path:
    return written(folder, "a.json", json.dumps(records, indent=1))


def lines(folder: Path, *records: object) -> Path:
    return written(folder, "a.jsonl", "".join(f"{json.dumps(record)}\n" for record in records))


def read(path: Path, **options: Option) -> xr.Dataset:
    return plausibly.read_annotations(path, {"name": "argilla", **options})


def predicted(path: Path, model: str | None = None, **options: Option) -> xr.DataArray:
    return plausibly.read_predictions(path, reader={"name": "argilla", **options}, model=model)


def test_report_31_all_responses_of_a_rating_are_there(tmp_path: Path) -> None:
    """Report 31: a view of the records showed one of the ratings of several users."""
    table = read(listing(tmp_path, nested("r", q=[one(4), one(5, "u2"), one(10, "u3")])))
    assert votes(table) == {("r", "u1", ("4",)): 1, ("r", "u2", ("5",)): 1, ("r", "u3", ("10",)): 1}
    assert table.attrs["kind"] == "single-label"


def test_report_32_label_sets_of_five_people(tmp_path: Path) -> None:
    """Report 32: the sets of several people, brought together, were empty."""
    sets = [["neutral"], ["anger", "annoyance", "optimism"], ["approval"], ["neutral"]]
    everybody = [one(labels, f"u{at}") for at, labels in enumerate([*sets, ["annoyance"]])]
    table = read(listing(tmp_path, nested("r", q=everybody)), kind="label-set")
    named = Counter(label for vote in votes(table).elements() for label in vote[2])
    assert named == {"neutral": 2, "annoyance": 2, "anger": 1, "optimism": 1, "approval": 1}
    shares = plausibly.aggregate(table).sel(example="r")
    assert shares["label"].values.tolist() == sorted(named)
    # anger, annoyance, approval, neutral, optimism: one unit a person
    assert shares.values.tolist() == pytest.approx([1 / 15, 4 / 15, 1 / 5, 2 / 5, 1 / 15])


def test_report_33_sets_of_more_than_two_labels_decide_label_by_label(tmp_path: Path) -> None:
    """Report 33: a majority over sets failed where there were more than two labels."""
    sets = [["a", "b", "c"], ["a", "b"], ["a"]]
    said_so = [one(labels, f"u{at}") for at, labels in enumerate(sets)]
    table = read(listing(tmp_path, nested("r", q=said_so)), kind="label-set")
    assert votes(table) == {("r", f"u{at}", tuple(labels)): 1 for at, labels in enumerate(sets)}
    shares = plausibly.aggregate(table).sel(example="r")
    assert shares.values.tolist() == pytest.approx([11 / 18, 5 / 18, 2 / 18])


def test_status_is_the_state(tmp_path: Path) -> None:
    status = ["submitted", "draft", "discarded", "pending", "discarded"]
    record = flat("r", ["a", "b", "a", None, None], ["u1", "u2", "u3", "u4", "u5"], status)
    table = plausibly.read_annotations(lines(tmp_path, record, flat("s", None, None, None)))
    assert Counter(voted(table)) == {
        (("r", "u1", ("a",)), "answered"): 1,
        (("r", "u2", ()), "unfinished"): 1,
        (("r", "u3", ()), "skipped"): 1,
        (("r", "u5", ()), "skipped"): 1,
    }
    assert table["example"].values.tolist() == ["r", "s"]
    drafts = read(lines(tmp_path, record), states={"unfinished": "count"})
    assert (("r", "u2", ("b",)), "unfinished") in voted(drafts)


def test_all_three_forms_say_the_same(tmp_path: Path) -> None:
    forms = [
        flat("r", ["a", "b"], ["u1", "u2"], ["submitted", "draft"]),
        nested("r", q=[one("a"), one("b", "u2", status="draft")]),
        old("r", old_one(q="a"), old_one("u2", "draft", q="b")),
    ]
    tables = [
        plausibly.read_annotations(make(tmp_path, form))
        for form in forms
        for make in (listing, lines)
    ]
    for table in tables:
        assert voted(table) == voted(tables[0])
        assert table["label"].values.tolist() == ["a"]


def test_an_optional_question_without_answer_is_skipped(tmp_path: Path) -> None:
    path = listing(tmp_path, old("r", old_one(q="a", p=[]), old_one("u2", p=["x"])))
    assert Counter(voted(read(path, question="q"))) == {
        (("r", "u1", ("a",)), "answered"): 1,
        (("r", "u2", ()), "skipped"): 1,
    }
    sets = read(path, question="p", kind="label-set", states={"empty": "label:none"})
    assert Counter(voted(sets))[("r", "u1", ("none",)), "empty"] == 1


def test_ranks_that_are_equal_share_a_block(tmp_path: Path) -> None:
    ranks = [("c", 4), ("a", 1), ("b", 1), ("d", None)]
    tied = [{"value": label, "rank": rank} for label, rank in ranks]
    order = [{"value": "b"}, {"value": "a"}]
    table = read(listing(tmp_path, old("r", old_one(q=tied), old_one("u2", q=order))))
    assert table.attrs["kind"] == "partial-ranking"
    names, labels = table["annotator"].values, table["label"].values
    who = table["response_annotator"].values[table["mention_response"].values]
    found = {
        (str(names[by]), str(labels[label])): int(block)
        for by, label, block in zip(
            who, table["mention_label"].values, table["mention_block"].values, strict=True
        )
    }
    first = {("u1", "a"): 1, ("u1", "b"): 1, ("u1", "c"): 2}
    assert found == {**first, ("u2", "b"): 1, ("u2", "a"): 2}


def test_lists_are_sets_or_rankings_as_the_user_says(tmp_path: Path) -> None:
    path = listing(tmp_path, nested("r", q=[one(["b", "a"]), one(["a"], "u2")]))
    error = refusal(lambda: read(path))
    assert error.name == "kind-unclear"
    assert 'answers to "q" are sets or rankings' in " ".join(str(error).split())
    ranking = read(path, kind="partial-ranking")
    assert ranking["mention_block"].values.tolist() == [1, 2, 1]
    assert read(path, kind="label-set").attrs["kind"] == "label-set"


def test_of_several_questions_one_is_named(tmp_path: Path) -> None:
    path = listing(tmp_path, nested("r", label=[one("a")]), nested("s", topic=[one("x")]))
    error = refusal(lambda: read(path))
    assert (error.name, error.details) == (
        "questions-several",
        {"questions": ["label", "topic"]},
    )
    assert 'a.json has 2 questions expected the question whose answers are meant; got "label"' in (
        " ".join(str(error).split())
    )
    assert votes(read(path, question="topic")) == {("s", "u1", ("x",)): 1}
    message = said(lambda: read(path, question="topics"))
    assert 'no question called "topics"' in message
    assert 'question = "topic"}' in message


def test_responses_without_status_count_with_a_warning(tmp_path: Path) -> None:
    bare = [{"value": "a", "user_id": "u1"}, {"value": "b", "user": "u2"}]
    message = warned(lambda: read(listing(tmp_path, nested("r", q=bare))))
    assert "whether 2 responses were submitted (record 1 response 1, record 1 response 2)" in (
        message
    )
    assert "records.to_list(flatten=True)" in message
    statuses = flat("r", ["a"], ["u1"], [None])
    assert "whether 1 response was submitted" in warned(lambda: read(lines(tmp_path, statuses)))


def test_a_response_without_user_is_of_an_unknown_annotator(tmp_path: Path) -> None:
    path = lines(tmp_path, flat("r", ["a", "b"], ["None", None], ["submitted", "submitted"]))
    message = warned(lambda: read(path))
    assert "who gave 2 responses (line 1 response 1, line 1 response 2)" in message


def test_what_names_the_examples(tmp_path: Path) -> None:
    record = nested("r", q=[one("a")])
    for key, name in (("no", "7"), ("text", "t"), ("id", "r")):
        table = read(listing(tmp_path, record), example=key)
        assert table["example"].values.tolist() == [name]
    nameless = listing(tmp_path, old(None, old_one(q="a")), old(None))
    assert "examples are called by their place, from 0" in warned(lambda: read(nameless))
    half = listing(tmp_path, record, {**record, "id": None})
    assert 'a.json record 2 names no example expected text or a number as "id"' in said(
        lambda: read(half)
    )
    elsewhere = listing(tmp_path, *({**record, "id": at, "_server_id": "s"} for at in (None, "r")))
    assert read(elsewhere, duplicates="all")["example"].values.tolist() == ["s"]


def test_twice_the_same_record_is_refused(tmp_path: Path) -> None:
    record = nested("r", q=[one("a")])
    assert refusal(lambda: read(listing(tmp_path, record, record))).name == "response-twice"


def test_suggestions_are_predictions(tmp_path: Path) -> None:
    scored = {"value": "a", "score": 0.75, "agent": "m1"}
    path = listing(tmp_path, nested("r", {"q": scored}), nested("s", q=[one("b")]))
    found = predicted(path)
    assert (found.sel(example="r", label="a").item(), found.attrs["model"]) == (0.75, "m1")
    assert found.attrs["left_out"] == '{"examples without prediction": 1}'
    columns = {"q.suggestion": "a", "q.suggestion.score": 0.75, "q.suggestion.agent": "m1"}
    xr.testing.assert_equal(predicted(lines(tmp_path, {"id": "r", **columns})), found)
    first = {"question_name": "q", "type": "model", **scored}
    both = [first, {**first, "agent": "m2", "score": 0.5}]
    versions = listing(tmp_path, old("r", suggestions=both))
    assert "holds predictions by 2 models" in said(lambda: predicted(versions))
    assert predicted(versions, "m2").values.tolist() == [[0.5]]
    assert 'plausibly.read_predictions(path, reader="argilla")' in said(lambda: read(versions))


def test_suggested_sets_have_a_score_each_or_one(tmp_path: Path) -> None:
    def suggested(score: Json) -> Path:
        return listing(tmp_path, nested("r", {"q": {"value": ["a", "b"], "score": score}}))

    each = predicted(suggested([0.5, 0.25]), kind="label-set")
    assert each.values.tolist() == [[0.5, 0.25]]
    assert predicted(suggested(None), kind="label-set").values.tolist() == [[1, 1]]
    assert predicted(suggested(0.5), kind="label-set").values.tolist() == [[0.5, 0.5]]
    assert "got 2 labels, 1 score" in said(lambda: predicted(suggested([0.5]), kind="label-set"))
    assert 'has the score "x"' in said(lambda: predicted(suggested("x"), kind="label-set"))
    assert "are rankings" in said(lambda: predicted(suggested(None), kind="partial-ranking"))
    assert "are sets or rankings" in said(lambda: predicted(suggested(None)))


SPAN = [{"start": 0, "end": 3, "label": "a"}]
SENT = ["submitted"]


@pytest.mark.parametrize(
    ("record", "options", "message"),
    [
        (flat("r", ["a", "b"], ["u"], SENT * 2), {}, "got 2 responses, 1 user, 2 statuses"),
        (flat("r", ["a"], ["u"], []), {}, "got 1 response, 1 user, 0 statuses"),
        (flat("r", ["a"], None, SENT), {}, 'line 1: the lists of "q" are not equally long'),
        (flat("r", "a", ["u"], SENT), {}, 'line 1 holds no list as "q.responses"'),
        (flat("r", ["a"], [[1]], SENT), {}, 'line 1 holds no name of a user as "user_id"'),
        (flat("r", ["a"], ["u"], ["sent"]), {}, "line 1 response 1 has a status that is none"),
        (flat("r", [SPAN], ["u"], SENT), {}, "line 1 response 1 names no label"),
        (flat("r", [True], ["u"], SENT), {}, "line 1 response 1 names no label"),
        (flat("r", [[None]], ["u"], SENT), {}, "line 1 response 1 names no label"),
        (nested("r", q=[one([{"value": "a", "rank": 0}])]), {}, 'got [{"value": "a", "rank"'),
        (
            nested("r", q=[one([{"value": "a", "rank": 1}, {"value": "b"}])]),
            {},
            "labels with ranks from 1",
        ),
        (
            nested("r", q=[one("a"), one(["b"], "u2")]),
            {},
            "got single labels (line 1 response 1), lists of labels (line 1 response 2)",
        ),
        (
            nested("r", q=[one("a")]),
            {"kind": "partial-ranking"},
            'answers to "q" are single labels',
        ),
        (nested("r", q=[one(["a"])]), {"kind": "single-label"}, 'kind = "label-set"'),
        (nested("r", q=["a"]), {}, "line 1 holds no list of responses or suggestions"),
        (nested("r") | {"responses": "none"}, {}, "line 1 holds no list or object of responses"),
        (old("r", {"values": ["a"]}), {}, 'a response whose "values" are no object'),
        (nested("r"), {}, "a.jsonl holds no response"),
        ({"id": "r", "text": "t"}, {}, "a.jsonl holds no responses of Argilla"),
        (nested("r", q=[one("a")]), {"example": "key"}, 'as "key"; got no such key, or null'),
        (nested("r", q=[one(["a", "a"])]), {"kind": "partial-ranking"}, 'ranks "a" twice'),
    ],
)
def test_what_is_refused(
    tmp_path: Path, record: Json, options: dict[str, Option], message: str
) -> None:
    assert message in said(lambda: read(lines(tmp_path, record), **options))


def test_a_list_of_no_records_is_refused(tmp_path: Path) -> None:
    assert "a.json record 2 is no object" in said(lambda: read(listing(tmp_path, nested("r"), 5)))
    assert "a.json holds no responses of Argilla" in said(lambda: read(listing(tmp_path)))
    assert "no prediction" in said(lambda: predicted(listing(tmp_path, nested("r", q=[one("a")]))))


def test_it_recognises_its_forms_and_no_others(tmp_path: Path) -> None:
    def recognised(path: Path) -> bool:
        return Argilla().recognises(path, files.opening(path, "annotations"))

    suggested = {"id": 1, "q.suggestion": "a", "q.suggestion.agent": None}
    for record in (flat("r", None, None, None), nested("r"), old("r"), suggested):
        assert recognised(listing(tmp_path, record))
        assert recognised(lines(tmp_path, record))
    others: list[Json] = [{"fields": {}, "responses": 3}, {"q.responses": []}, {"responses": {}}]
    for other in [*others, 5, []]:
        assert not recognised(listing(tmp_path, other))
        assert not recognised(lines(tmp_path, other))


def test_every_option_is_told_of(project: Path) -> None:
    page = (project / "docs" / "formats.md").read_text(encoding="utf-8")
    text = page.partition("## Argilla\n")[2].partition("\n## ")[0]
    own = {f.name for f in attrs.fields(Argilla)} - {f.name for f in attrs.fields(ResponseOptions)}
    assert {name for name in own if f"| `{name}` |" not in text} == set()


WHOLE = [
    json.dumps([flat("r", ["a", "b"], ["u1", "u2"], ["submitted", "draft"])]),
    json.dumps([nested("r", {"q": {"value": "a"}}, q=[one(["a", "b"]), one([], "u2")])]),
    "\n".join(json.dumps(old(name, old_one(q=[{"value": "a", "rank": 1}]))) for name in "rs"),
]


KINDS = st.sampled_from([None, "single-label", "label-set", "partial-ranking"])


@given(text=st.sampled_from(WHOLE), cut=st.integers(0, 420), junk=st.binary(max_size=3), kind=KINDS)
def test_a_broken_file_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, text: str, cut: int, junk: bytes, kind: str | None
) -> None:
    path = written(tmp_path_factory.mktemp("a"), "a.json", text.encode()[:cut] + junk)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result_or_refusal(lambda: read(path, kind=kind, states={"empty": "drop"}), "a.json")


ANY: st.SearchStrategy[Json] = st.recursive(
    st.sampled_from([None, True, 1, 0.5, "", "a", "None", "submitted", "draft"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "rank", "user_id", "status", "values", "q", "id"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
KEYS = ("id", "fields", "metadata", "responses", "suggestions", "q.responses")


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from([*KEYS, "q.responses.users", "q.responses.status", "q.suggestion"]),
            ANY,
        ),
        max_size=3,
    ),
    KINDS,
)
def test_records_of_any_shape_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, records: list[Json], kind: str | None
) -> None:
    path = listing(tmp_path_factory.mktemp("a"), *records)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result_or_refusal(lambda: read(path, kind=kind, states={"empty": "drop"}), "a.json")
        result_or_refusal(lambda: predicted(path, kind=kind), "a.json")


@given(
    st.lists(
        st.tuples(
            st.sampled_from("rst"),
            st.sampled_from(["u1", "u2", "u3"]),
            st.sampled_from("ab"),
            st.sampled_from(["submitted", "draft", "discarded", "pending"]),
        ),
        min_size=1,
        unique_by=lambda item: item[:2],
    )
)
def test_every_response_is_there_once(
    tmp_path_factory: pytest.TempPathFactory, responses: list[tuple[str, str, str, str]]
) -> None:
    by_name: dict[str, list[tuple[str, str, str]]] = {}
    for name, *rest in responses:
        by_name.setdefault(name, []).append((rest[0], rest[1], rest[2]))
    records = [
        flat(name, [r[1] for r in found], [r[0] for r in found], [r[2] for r in found])
        for name, found in by_name.items()
    ]
    path = listing(tmp_path_factory.mktemp("a"), *records)
    table = plausibly.read_annotations(path, "argilla", labels=["a", "b"])
    assert votes(table) == Counter(
        (name, user, (label,) if status == "submitted" else ())
        for name, user, label, status in responses
        if status != "pending"
    )
    assert set(table["example"].values.tolist()) == set(by_name)


@pytest.mark.realdata
def test_flat_records_of_three_annotators(shared: Path) -> None:
    path = shared / "cases/annotations/constructed/argilla_records_flat.json"
    table = plausibly.read_annotations(path)
    dims = ("example", "annotator", "response", "mention")
    assert tuple(table.sizes[dim] for dim in dims) == (2, 3, 3, 2)
    assert sorted(state for _, state in voted(table)) == ["answered", "answered", "skipped"]
    found = plausibly.read_predictions(path, reader="argilla")
    assert found.sel(example="r1", label="positive").item() == 0.83
    assert found.attrs["model"] == "model-a"


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("question", "kind", "sizes", "empty"),
    [
        ("label", None, (2, 2, 2, 2), 0),
        ("ranking", "partial-ranking", (2, 2, 2, 4), 0),
        ("topics", "label-set", (2, 2, 2, 2), 1),
    ],
)
def test_nested_records_with_three_questions(
    shared: Path, question: str, kind: str | None, sizes: tuple[int, ...], empty: int
) -> None:
    path = shared / "cases/annotations/constructed/argilla_records_nested.json"
    options = {"question": question, "kind": kind, "states": {"empty": "drop"}}
    with pytest.warns(plausibly.PlausiblyWarning, match="does not say"):
        table = read(path, **options)
    dims = ("example", "annotator", "response", "mention")
    assert tuple(table.sizes[dim] for dim in dims) == sizes
    assert sum(state == "empty" for _, state in voted(table)) == empty
