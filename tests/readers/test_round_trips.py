"""Any answers, counts, weights and rankings that a format can hold come back from a file of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias
from xml.sax.saxutils import quoteattr

import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import cases_net
import labelled_records as lr
import plausibly
from io_files import csv_text, refusal, result_or_refusal, written

Answers: TypeAlias = dict[tuple[str, str], list[str]]  # example, annotator: labels
Json: TypeAlias = Any  # Any: what JSON holds
# Any: a name, a text, and options of the reader
File: TypeAlias = tuple[str, str, dict[str, Any]]

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
EXAMPLES = ("x", "y z", "ä.png", "007")
WHO = ("ann", "bob", "cyd")
WORDS = st.sampled_from(["cat", "a, b", 'say "x"', "NA", "1.0", "ä/ö", "<b> & 'c'"])
LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Z"])
LABELS = WORDS | st.text(LETTERS, min_size=1, max_size=4)


def by_example(answers: Answers) -> dict[str, dict[str, list[str]]]:
    """Return the answers about each of the examples, also about those without."""
    outcome: dict[str, dict[str, list[str]]] = {name: {} for name in EXAMPLES}
    for (example, who), labels in answers.items():
        outcome[example][who] = labels
    return outcome


def lines(entries: list[Json], name: str, **options: Json) -> File:
    return name, "".join(f"{json.dumps(entry)}\n" for entry in entries), options


def listing(entries: Json, name: str, **options: Json) -> File:
    return name, json.dumps(entries, indent=1, ensure_ascii=False), options


def long_table(answers: Answers) -> File:
    rows = [[e, who, label] for (e, who), labels in answers.items() for label in labels]
    return "a.csv", csv_text([["task", "worker", "label"], *rows]), {"kind": "label-set"}


def wide_table(answers: Answers) -> File:
    rows = [
        [example, *("".join(stated.get(who, [])[:1]) for who in WHO)]
        for example, stated in by_example(answers).items()
    ]
    return "a.csv", csv_text([["task", *WHO], *rows]), {"annotators": WHO, "example": "task"}


def coco(answers: Answers) -> File:
    labels = sorted({label for stated in answers.values() for label in stated})
    entries = [
        {"image_id": EXAMPLES.index(e), "category_id": labels.index(label), "annotator": who}
        for (e, who), stated in answers.items()
        for label in stated
    ]
    images = [{"id": at, "file_name": name} for at, name in enumerate(EXAMPLES)]
    categories = [{"id": at, "name": name} for at, name in enumerate(labels)]
    return listing({"images": images, "categories": categories, "annotations": entries}, "a.json")


def cvat(answers: Answers) -> File:
    text = "<annotations><version>1.1</version>\n"
    for example, stated in by_example(answers).items():
        tags = "".join(f"<tag label={quoteattr(label)}/>" for label in stated.get(WHO[0], []))
        text += f"<image name={quoteattr(example)}>{tags}</image>\n"
    return "a.xml", text + "</annotations>", {"annotator": WHO[0]}


def doccano(answers: Answers) -> File:
    entries = [
        {"id": example, "text": "t", "label": stated.get(WHO[0], [])}
        for example, stated in by_example(answers).items()
    ]
    return listing(entries, "a.json", annotator=WHO[0])


def sagemaker(answers: Answers) -> File:
    entries = []
    for example, stated in by_example(answers).items():
        each = [
            {"workerId": who, "annotationData": {"content": json.dumps({"q": {"labels": labels}})}}
            for who, labels in stated.items()
        ]
        about = {"type": "groundtruth/custom"}
        entry = {"source": example, "dx": {"annotationsFromAllWorkers": each}, "dx-metadata": about}
        entries.append(entry if each else {"source": example})
    return lines(entries, "a.manifest")


FORMATS: dict[str, Callable[[Answers], File]] = {
    "long-table": long_table,
    "wide-table": wide_table,
    "coco": coco,
    "cvat": cvat,
    "doccano": doccano,
    "sagemaker": sagemaker,
}
OF_ONE_ANNOTATOR = ("cvat", "doccano")


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
    labels = sorted({label for stated in answers.values() for label in stated})
    table = plausibly.read_annotations(path, reader, labels, **options)
    wanted = [
        [example, who, label]
        for (example, who), stated in answers.items()
        for label in (stated[:1] if reader == "wide-table" else stated)
        if who == WHO[0] or reader not in OF_ONE_ANNOTATOR
    ]
    assert sorted(row[:3] for row in cases_net.long_table(table)) == sorted(wanted)
    answered = {example for example, _ in answers}
    outcome = answered if reader == "long-table" else EXAMPLES
    assert table["example"].values.tolist() == sorted(outcome)
    assert table["label"].values.tolist() == labels


def weights(table: xr.Dataset, column: str) -> dict[tuple[str, str, str], float]:
    """Return a column of the long table by example, annotator and label; of labels only."""
    place = cases_net.COLUMNS.index(column)
    rows = cases_net.long_table(table)
    return {(row[0], row[1], row[2]): float(row[place] or 1) for row in rows if row[2]}


@pytest.mark.parametrize("blank", [" ", "\u200b"])
def test_a_cell_of_blanks_is_an_empty_cell_of_a_large_file(tmp_path: Path, blank: str) -> None:
    """A large file is read by arrays, a small one row by row."""
    more = "".join(f"e{row},a,dog\n" for row in range(20_000))
    text = "task,worker,label\nt1,a,cat\nt1,b,{}\n" + more
    first, second = (
        plausibly.read_annotations(written(tmp_path, "v.csv", text.format(cell)), "long-table")
        for cell in (blank, "")
    )
    xr.testing.assert_equal(first, second)
    assert "1 skipped" in " ".join(repr(first).split())
    path = written(tmp_path, "v.csv", f"task,worker,label\nt1,a,cat\n{blank},b,cat\n{more}")
    error = refusal(lambda: plausibly.read_annotations(path, "long-table"))
    assert (error.name, error.details["lines"]) == ("example-unnamed", [3])


# ---- counts and weights


@settings(max_examples=30)
@given(data=st.data())
def test_counts_come_back_whatever_their_order(folder: Path, data: st.DataObject) -> None:
    """By arrays, and by responses where states are told."""
    names = st.text('ab,"é', min_size=1, max_size=3).filter(str.strip)
    labels = data.draw(st.lists(names, min_size=1, max_size=3, unique=True))
    row = st.lists(st.integers(0, 10**9), min_size=len(labels), max_size=len(labels))
    counts = data.draw(st.dictionaries(names, row, min_size=1, max_size=4))
    rows = [[name, *votes] for name, votes in counts.items()]

    def read(order: list[list[Any]], **options: Any) -> xr.Dataset:  # Any: cells, and by name
        path = written(folder, "a.csv", csv_text([["example", *labels], *order]))
        return plausibly.read_annotations(path, "counts", example="example", **options)

    table = read(rows)
    assert table["example"].values.tolist() == sorted(counts)
    assert table["label"].values.tolist() == labels
    assert weights(table, "weight") == {
        (name, "", label): vote
        for name, votes in counts.items()
        for label, vote in zip(labels, votes, strict=True)
        if vote
    }
    xr.testing.assert_equal(table, read(data.draw(st.permutations(rows))))
    by_responses = read(rows, states={"rejected": "drop"})
    assert weights(by_responses, "weight") == weights(table, "weight")
    assert repr(by_responses) == repr(table)
    assert {**by_responses.attrs, "checksum": 0} == {**table.attrs, "checksum": 0}
    xr.testing.assert_equal(by_responses["label"], table["label"])


@settings(max_examples=40)
@given(cast=st.lists(st.lists(st.sampled_from(["e", "n", "c", "", "-"]), max_size=6), min_size=1))
def test_votes_in_lists_are_neither_lost_nor_invented(folder: Path, cast: list[list[str]]) -> None:
    entries = [
        {"uid": f"e{place}", "annotator_labels": stated} for place, stated in enumerate(cast)
    ]
    path = written(folder, "v.jsonl", "".join(f"{json.dumps(entry)}\n" for entry in entries))
    table = plausibly.read_annotations(path, "vote-lists", ["e", "n", "c"])
    stated = [(f"e{place}", "", vote) for place, each in enumerate(cast) for vote in each]
    assert weights(table, "weight") == Counter(
        item for item in stated if item[2] in {"e", "n", "c"}
    )


@settings(max_examples=40)
@given(
    given_weights=st.dictionaries(
        st.tuples(st.sampled_from("xyz"), st.sampled_from("pq")),
        st.lists(st.floats(0, 1e6), min_size=3, max_size=3).filter(any),
        min_size=1,
    )
)
def test_weights_keep_every_bit(
    folder: Path, given_weights: dict[tuple[str, str], list[float]]
) -> None:
    rows: list[list[object]] = [["example", "annotator", "a", "b", "c"]]
    rows += [[*key, *map(repr, row)] for key, row in given_weights.items()]
    table = plausibly.read_annotations(written(folder, "s.csv", csv_text(rows)), "soft-labels")
    assert weights(table, "share") == {
        (*key, label): weight
        for key, row in given_weights.items()
        for label, weight in zip("abc", row, strict=True)
        if weight
    }


Groups: TypeAlias = tuple[tuple[str, ...], ...]

TOI = """\
# FILE NAME: x.toi
# DATA TYPE: toi
# NUMBER ALTERNATIVES: 3
# NUMBER VOTERS: 6
# NUMBER UNIQUE ORDERS: 3
# ALTERNATIVE NAME 1: ann
# ALTERNATIVE NAME 2: bo
# ALTERNATIVE NAME 3: Müller, c: d
3: 2,1
2: {1,3},2
1: 3
"""


def rankings(table: xr.Dataset) -> list[tuple[str, Groups, int]]:
    """Return example, order and number of voters of each response that ranks something."""
    blocks: dict[int, dict[int, set[str]]] = {}
    for mention, response in enumerate(table["mention_response"].values.tolist()):
        label = str(table["label"].values[table["mention_label"].values[mention]])
        block = int(table["mention_block"].values[mention])
        blocks.setdefault(response, {}).setdefault(block, set()).add(label)
    weight = table["response_weight"].values if "response_weight" in table else None
    return [
        (
            str(table["example"].values[table["response_example"].values[response]]),
            tuple(tuple(sorted(answers[block])) for block in sorted(answers)),
            1 if weight is None else int(weight[response]),
        )
        for response, answers in blocks.items()
    ]


def orders(names: list[str]) -> st.SearchStrategy[Groups]:
    """Orders of some names, with ties."""
    return lr.rankings(names).map(lambda blocks: tuple(tuple(sorted(block)) for block in blocks))


# ---- selectors


@settings(max_examples=30)
@given(data=st.data())
def test_any_selectors_come_back(folder: Path, data: st.DataObject) -> None:
    labels = ["acne", "eczema", "lupus", "psoriasis"]
    each = st.lists(orders(labels), min_size=1, max_size=3)
    content: list[list[Groups]] = data.draw(st.lists(each, min_size=1, max_size=4))
    places = [
        [[[labels.index(label) for label in group] for group in order] for order in answers]
        for answers in content
    ]
    path = written(folder, "r.json", json.dumps(places, indent=1))
    assert cases_net.recognisers(path) == ["selectors"]
    table = plausibly.read_annotations(path, "selectors", labels)
    assert sorted(rankings(table)) == sorted(
        (f"{at}", order, 1) for at, answers in enumerate(content) for order in answers
    )
    assert table.attrs["unlisted"] == "excluded"
    assert table["label"].values.tolist() == labels


# ---- PrefLib


@st.composite
def profiles(draw: st.DrawFn) -> tuple[list[str], dict[Groups, int], str]:
    """Draw names, ballots with their voters, and a file of them."""
    letters = st.text(
        st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), max_size=4
    )
    names = draw(st.lists(letters.filter(str.strip), min_size=1, max_size=5, unique_by=str.strip))
    names = [name.strip() for name in names]
    votes = draw(st.dictionaries(orders(names), st.integers(1, 10**6), max_size=4))
    gap = draw(st.sampled_from(["", " "]))
    ballots = []
    for groups, count in votes.items():
        places = [[str(names.index(name) + 1) for name in group] for group in groups]
        shown = [
            f"{{{f',{gap}'.join(group)}}}" if len(group) > 1 or draw(st.booleans()) else group[0]
            for group in places
        ]
        ballots.append(f"{count}: {f',{gap}'.join(shown)}")
    lines = [
        "# FILE NAME: x",
        "# DATA TYPE: toi",
        f"# NUMBER ALTERNATIVES: {len(names)}",
        f"# NUMBER VOTERS: {sum(votes.values())}",
        f"# NUMBER UNIQUE ORDERS: {len(votes)}",
        *draw(st.permutations([f"# ALTERNATIVE NAME {i}: {n}" for i, n in enumerate(names, 1)])),
        *draw(st.permutations(ballots)),
    ]
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return names, votes, mark + end.join(lines) + draw(st.sampled_from(["", end, end * 2]))


@settings(max_examples=30)
@given(profile=profiles())
def test_any_file_of_the_grammar_is_read(
    folder: Path, profile: tuple[list[str], dict[Groups, int], str]
) -> None:
    names, wanted, content = profile
    path = written(folder, "x.toi", content)
    table = plausibly.read_annotations(path, unlisted="unknown")
    assert table["label"].values.tolist() == names
    assert {order: count for _, order, count in rankings(table)} == wanted


@settings(max_examples=50)
@given(
    place=st.integers(0, len(TOI)),
    length=st.integers(0, 12),
    other=st.text("0123456789{},:# \n\r\t-x\x00é", max_size=6),
)
def test_changed_ballots_keep_the_voters_of_their_header(
    folder: Path, place: int, length: int, other: str
) -> None:
    content = TOI[:place] + other + TOI[place + length :]
    path = written(folder, "x.toi", content)
    table = result_or_refusal(
        lambda: plausibly.read_annotations(path, "preflib", unlisted="unknown"), "x.toi"
    )
    if table is not None:
        stated = content.replace("\r", "\n").partition("NUMBER VOTERS")[2].partition("\n")[0]
        assert int(stated.strip(" :\t")) == sum(count for *_, count in rankings(table))


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = TOI.encode()
    for end in range(len(whole) - 2):  # the last line may lose its end, no other
        cut = written(tmp_path, "c.toi", whole[:end])
        error = refusal(
            lambda cut=cut: plausibly.read_annotations(cut, "preflib", unlisted="unknown")  # type: ignore[misc]  # bound now
        )
        assert error.what.startswith("c.toi")
