"""Any answers that a format can hold come back from a file of it, once each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given, settings, strategies as st

import plausibly
from io_files import csv_text, written
from readers_votes import votes

Answers: TypeAlias = dict[tuple[str, str], list[str]]  # example, annotator: labels
Json: TypeAlias = Any  # Any: what JSON holds
# Any: a name, a text, and options of the reader
File: TypeAlias = tuple[str, str, dict[str, Any]]

EXAMPLES = ("x", "y z", "ä.png", "007")
WHO = ("ann", "bob", "cyd")
WORDS = st.sampled_from(["cat", "a, b", 'say "x"', "NA", "1.0", "ä/ö", "<b> & 'c'"])
LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Z"])
LABELS = WORDS | st.text(LETTERS, min_size=1, max_size=4)


def by_example(answers: Answers) -> dict[str, dict[str, list[str]]]:
    """Return the answers about each of the examples, also about those without."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in EXAMPLES}
    for (example, who), labels in answers.items():
        found[example][who] = labels
    return found


def lines(entries: list[Json], name: str, **options: Json) -> File:
    return name, "".join(f"{json.dumps(entry)}\n" for entry in entries), options


def listing(entries: Json, name: str, **options: Json) -> File:
    return name, json.dumps(entries, indent=1, ensure_ascii=False), options


def long_table(answers: Answers) -> File:
    rows = [[e, who, label] for (e, who), labels in answers.items() for label in labels]
    return "a.csv", csv_text([["task", "worker", "label"], *rows]), {"kind": "label-set"}


def wide_table(answers: Answers) -> File:
    rows = [
        [example, *("".join(said.get(who, [])[:1]) for who in WHO)]
        for example, said in by_example(answers).items()
    ]
    return "a.csv", csv_text([["task", *WHO], *rows]), {"annotators": WHO, "example": "task"}


def coco(answers: Answers) -> File:
    labels = sorted({label for said in answers.values() for label in said})
    entries = [
        {"image_id": EXAMPLES.index(e), "category_id": labels.index(label), "annotator": who}
        for (e, who), said in answers.items()
        for label in said
    ]
    images = [{"id": at, "file_name": name} for at, name in enumerate(EXAMPLES)]
    categories = [{"id": at, "name": name} for at, name in enumerate(labels)]
    return listing({"images": images, "categories": categories, "annotations": entries}, "a.json")


def cvat(answers: Answers) -> File:
    text = "<annotations><version>1.1</version>\n"
    for example, said in by_example(answers).items():
        tags = "".join(f"<tag label={quoteattr(label)}/>" for label in said.get(WHO[0], []))
        text += f"<image name={quoteattr(example)}>{tags}</image>\n"
    return "a.xml", text + "</annotations>", {"annotator": WHO[0]}


def doccano(answers: Answers) -> File:
    entries = [
        {"id": example, "text": "t", "label": said.get(WHO[0], [])}
        for example, said in by_example(answers).items()
    ]
    return listing(entries, "a.json", annotator=WHO[0])


def sagemaker(answers: Answers) -> File:
    entries = []
    for example, said in by_example(answers).items():
        each = [
            {"workerId": who, "annotationData": {"content": json.dumps({"q": {"labels": labels}})}}
            for who, labels in said.items()
        ]
        about = {"type": "groundtruth/custom"}
        entry = {"source": example, "dx": {"annotationsFromAllWorkers": each}, "dx-metadata": about}
        entries.append(entry if each else {"source": example})
    return lines(entries, "a.manifest")


def argilla(answers: Answers) -> File:
    entries = []
    for example, said in by_example(answers).items():
        each = {
            "q.responses": list(said.values()),
            "q.responses.users": list(said),
            "q.responses.status": ["submitted"] * len(said),
        }
        entries.append({"id": example, "text": "t", **(each if said else dict.fromkeys(each))})
    return listing(entries, "a.json", kind="label-set")


def prodigy(answers: Answers) -> File:
    offered = sorted({label for said in answers.values() for label in said})
    options = [{"id": label, "text": label} for label in offered]
    entries = [
        {"id": e, "options": options, "accept": said, "answer": "accept", "_annotator_id": who}
        for (e, who), said in answers.items()
    ]
    return lines(entries, "a.jsonl", example="id", kind="label-set")


def label_studio(answers: Answers) -> File:
    entries = [
        {
            "id": example,
            "data": {"text": "t"},
            "annotations": [
                {
                    "completed_by": who,
                    "result": [
                        {"from_name": "dx", "type": "choices", "value": {"choices": labels}}
                    ],
                }
                for who, labels in said.items()
            ],
        }
        for example, said in by_example(answers).items()
    ]
    return listing(entries, "a.json", kind="label-set")


def label_studio_min(answers: Answers) -> File:
    entries: list[Json] = [{"id": example} for example in EXAMPLES]
    entries += [
        {"id": e, "annotator": who, "annotation_id": at, "dx": {"choices": labels}}
        for at, ((e, who), labels) in enumerate(answers.items())
    ]
    return listing(entries, "a.json", control="dx", kind="label-set")


def vote_lists(answers: Answers) -> File:
    entries = []
    for example, said in by_example(answers).items():
        votes: dict[str, list[str]] = {}
        for who, labels in said.items():
            votes.setdefault(labels[0], []).append(who)
        entries.append({"id": example, "label_distribution": votes})
    return lines(entries, "a.jsonl")


FORMATS: dict[str, Callable[[Answers], File]] = {
    "long-table": long_table,
    "wide-table": wide_table,
    "coco": coco,
    "cvat": cvat,
    "doccano": doccano,
    "sagemaker": sagemaker,
    "argilla": argilla,
    "prodigy": prodigy,
    "label-studio": label_studio,
    "label-studio-min": label_studio_min,
    "vote-lists": vote_lists,
}
OF_ONE_LABEL = ("wide-table", "vote-lists")
OF_ONE_ANNOTATOR = ("cvat", "doccano")
WITHOUT_UNANSWERED = ("long-table", "prodigy")


@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
@pytest.mark.parametrize("reader", FORMATS)
@settings(max_examples=40)
@given(
    answers=st.dictionaries(
        st.tuples(st.sampled_from(EXAMPLES), st.sampled_from(WHO)),
        st.lists(LABELS, min_size=1, max_size=3, unique=True),
        min_size=1,
    )
)
def test_any_answers_come_back(
    reader: str, answers: Answers, tmp_path_factory: pytest.TempPathFactory
) -> None:
    name, text, options = FORMATS[reader](answers)
    path = written(tmp_path_factory.mktemp("any"), name, text)
    labels = sorted({label for said in answers.values() for label in said})
    table = plausibly.read_annotations(path, reader, labels, **options)
    wanted = {
        (example, who, tuple(sorted(said[:1] if reader in OF_ONE_LABEL else said)))
        for (example, who), said in answers.items()
        if who == WHO[0] or reader not in OF_ONE_ANNOTATOR
    }
    assert votes(table) == Counter(wanted)
    answered = {example for example, _ in answers}
    found = answered if reader in WITHOUT_UNANSWERED else EXAMPLES
    assert table["example"].values.tolist() == sorted(found)
    assert table["label"].values.tolist() == labels
