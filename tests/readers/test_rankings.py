"""PrefLib and selectors: any rankings come back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import cases_net
import plausibly
from io_files import refusal, result_or_refusal, written

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


@st.composite
def orders(draw: st.DrawFn, names: list[str]) -> Groups:
    """Draw an order of some names, with ties."""
    chosen = draw(st.permutations(names))[: draw(st.integers(1, len(names)))]
    groups: list[list[str]] = []
    for name in chosen:
        if draw(st.booleans()) and groups:
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(tuple(sorted(group)) for group in groups)


# ---- selectors


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


@pytest.mark.filterwarnings("ignore::plausibly.PlausiblyWarning")
@given(profile=profiles())
@settings(max_examples=50)
def test_any_file_of_the_grammar_is_read(
    folder: Path, profile: tuple[list[str], dict[Groups, int], str]
) -> None:
    names, wanted, content = profile
    path = written(folder, "x.toi", content)
    table = plausibly.read_annotations(path, unlisted="unknown")
    assert table["label"].values.tolist() == names
    assert {order: count for _, order, count in rankings(table)} == wanted


@given(
    place=st.integers(0, len(TOI)),
    length=st.integers(0, 12),
    other=st.text("0123456789{},:# \n\r\t-x\x00é", max_size=6),
)
def test_what_is_read_of_other_text_has_the_voters_of_its_header(
    folder: Path, place: int, length: int, other: str
) -> None:
    content = TOI[:place] + other + TOI[place + length :]
    path = written(folder, "x.toi", content)
    table = result_or_refusal(
        lambda: plausibly.read_annotations(path, "preflib", unlisted="unknown"), "x.toi"
    )
    if table is not None:
        answers = [
            line for line in content.replace("\r", "\n").split("\n") if "NUMBER VOTERS" in line
        ]
        assert int(answers[0].split(":")[1]) == sum(count for *_, count in rankings(table))


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = TOI.encode()
    for end in range(len(whole) - 2):  # the last line may lose its end, no other
        cut = written(tmp_path, "c.toi", whole[:end])
        error = refusal(
            lambda cut=cut: plausibly.read_annotations(cut, "preflib", unlisted="unknown")  # type: ignore[misc]  # bound now
        )
        assert error.what.startswith("c.toi")


@pytest.mark.realdata
def test_approval_ballots(shared: Path) -> None:
    path = shared / "cases" / "annotations" / "preflib" / "00033-00000002.cat"
    table = plausibly.read_annotations(path, category="Yes")
    assert table["response_weight"].sum() == 65
    weights = table["response_weight"].values[table["mention_response"].values]
    named = np.bincount(table["mention_label"].values, weights)
    approved: Counter[int] = Counter()
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            count, _, sets = line.partition(": ")
            yes = sets[1 : sets.index("}")] if sets.startswith("{") else sets.partition(",")[0]
            for place in filter(None, yes.split(",")):
                approved[int(place) - 1] += int(count)
    assert named.tolist() == [approved[place] for place in range(17)]
