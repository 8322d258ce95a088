"""PrefLib files that are damaged, those of the kit, and those that are there."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from io_files import refusal, result_or_refusal, written
from plausibly.testing import check_reader
from plausibly_builtins.readers.preflib import PrefLib

TEXT = """\
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
CATEGORIES = """\
# DATA TYPE: cat
# NUMBER ALTERNATIVES: 2
# NUMBER VOTERS: 3
# NUMBER UNIQUE PREFERENCES: 2
# NUMBER CATEGORIES: 2
# CATEGORY NAME 1: Yes
# CATEGORY NAME 2: No
# ALTERNATIVE NAME 1: ann
# ALTERNATIVE NAME 2: bo
2: {1,2},{}
1: 2,1
"""


def read(path: Path, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "preflib", None, **options)


def test_every_rule_of_the_kit_holds(tmp_path: Path) -> None:
    path = written(tmp_path, "x.toi", TEXT)
    check_reader(PrefLib(unlisted="unknown", example="e"), path=path, kind="partial-ranking")
    path = written(tmp_path, "x.cat", CATEGORIES)
    check_reader(
        PrefLib(category="Yes", unlisted="excluded", example="e"), path=path, kind="label-set"
    )
    path = written(tmp_path, "old.toi", "2\n1,ann\n2,bo\n3,3,2\n2,2,1\n1,{1,2}\n")
    check_reader(PrefLib(unlisted="excluded", example="e"), path=path)


def test_every_rule_of_the_kit_holds_for_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "votes"
    folder.mkdir()
    for name in ("a.toi", "b.toi"):
        written(folder, name, TEXT)
    check_reader(PrefLib(unlisted="unknown"), path=folder, kind="partial-ranking")


@given(
    place=st.integers(0, len(TEXT)),
    length=st.integers(0, 12),
    other=st.text("0123456789{},:# \n\r\t-x\x00é", max_size=6),
)
def test_a_file_with_other_text_in_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: int, length: int, other: str
) -> None:
    content = TEXT[:place] + other + TEXT[place + length :]
    path = written(tmp_path_factory.mktemp("any"), "x.toi", content)
    PrefLib().recognises(path, path.read_bytes())
    table = result_or_refusal(lambda: read(path, unlisted="unknown"), "x.toi")
    if table is not None:  # then every count of the header is right
        said = [line for line in content.replace("\r", "\n").split("\n") if "NUMBER VOTERS" in line]
        weights = table["response_weight"] if "response_weight" in table else np.ones(1)
        assert int(said[0].split(":")[1]) == (weights.sum() if table.sizes["response"] else 0)


@given(
    content=st.binary(max_size=150), start=st.sampled_from([b"", TEXT.encode(), b"2\n1,a\n2,b\n"])
)
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, start: bytes
) -> None:
    path = written(tmp_path_factory.mktemp("any"), "x.soi", start + content)
    PrefLib().recognises(path, start + content)
    result_or_refusal(lambda: read(path, unlisted="unknown"), "x.soi")


def test_damage_that_has_a_name(tmp_path: Path) -> None:
    whole = TEXT.encode()
    latin = written(tmp_path, "l.toi", TEXT.encode("latin-1"))
    error = refusal(lambda: read(latin))
    assert (error.name, error.what) == ("text-encoding", "l.toi line 8 is not UTF-8")
    wide = written(tmp_path, "w.toi", TEXT.encode("utf-16"))
    assert refusal(lambda: read(wide)).name == "text-binary"
    marked = written(tmp_path, "x.toi", b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"))
    plain = written(tmp_path / "..", "x.toi", whole)
    xr.testing.assert_identical(read(marked, unlisted="unknown"), read(plain, unlisted="unknown"))
    for end in range(len(whole) - 2):  # the last line may lose its end, no other
        cut = written(tmp_path, "c.toi", whole[:end])
        assert refusal(partial(read, cut, unlisted="unknown")).what.startswith("c.toi")
    long = written(tmp_path, "n.toi", TEXT.replace("ann", "a" * 100_000))
    assert read(long, unlisted="unknown")["label"].values[0] == "a" * 100_000
    error = refusal(lambda: read(written(tmp_path, "b.toi", TEXT.replace("2,1", "2" * 100_000))))
    assert len(f"{error}") < 500


def test_report_32_inclusion_and_one_vote_a_person(tmp_path: Path) -> None:
    names = ["neutral", "anger", "annoyance", "optimism", "approval"]
    sets = [(2, "1"), (1, "{2,3,4}"), (1, "5"), (1, "3")]
    head = "# DATA TYPE: cat\n# NUMBER ALTERNATIVES: 5\n# NUMBER VOTERS: 5\n"
    head += "# NUMBER UNIQUE PREFERENCES: 4\n# NUMBER CATEGORIES: 1\n# CATEGORY NAME 1: said\n"
    head += "".join(f"# ALTERNATIVE NAME {at}: {name}\n" for at, name in enumerate(names, 1))
    body = "".join(f"{count}: {labels}\n" for count, labels in sets)
    table = read(written(tmp_path, "x.cat", head + body), unlisted="excluded")
    assert table.attrs["kind"] == "label-set"
    weight = table["response_weight"].values[table["mention_response"].values]
    named = np.bincount(table["mention_label"].values, weight, minlength=5)
    inclusion = dict(zip(names, (named / 5).tolist(), strict=True))
    assert inclusion == {
        "neutral": 0.4,
        "anger": 0.2,
        "annoyance": 0.4,
        "optimism": 0.2,
        "approval": 0.2,
    }
    shares = plausibly.aggregate(table, "label-set").values[0]
    assert shares.tolist() == pytest.approx([0.4, 1 / 15, 4 / 15, 1 / 15, 0.2])


# ---- files that are there; the numbers are those of their headers


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "voters", "unique", "labels", "mentions", "tied"),
    [
        ("00002-00000001.soi", 475, 41, 4, 126, 0),
        ("00003-00000001.toc", 10, 10, 32, 320, 8),
        ("00022-00000002.toi", 25_355, 43, 4, 108, 4),
        ("00023-00000001.toi", 204, 25, 4, 70, 2),
        ("00032-00000004.toi", 15, 15, 12, 71, 7),
        ("00032-00000007.toi", 15, 15, 20, 40, 2),
    ],
)
def test_rankings(
    shared: Path, name: str, voters: int, unique: int, labels: int, mentions: int, tied: int
) -> None:
    path = shared / "cases" / "annotations" / "preflib" / name
    table = plausibly.read_annotations(path, unlisted="unknown")
    assert table.attrs["reader"] == "preflib"
    assert table.attrs["kind"] == "partial-ranking"
    weights = table["response_weight"].values if "response_weight" in table else np.ones(unique)
    assert weights.sum() == voters
    assert (table.sizes["response"], table.sizes["label"]) == (unique, labels)
    assert table.sizes["mention"] == mentions
    blocks = Counter(
        zip(table["mention_response"].values, table["mention_block"].values, strict=True)
    )
    assert len({response for (response, _), size in blocks.items() if size > 1}) == tied
    if not name.endswith("toc"):
        assert refusal(lambda: plausibly.read_annotations(path)).name == "unlisted-unsaid"


@pytest.mark.realdata
def test_approval_ballots(shared: Path) -> None:
    path = shared / "cases" / "annotations" / "preflib" / "00033-00000002.cat"
    table = plausibly.read_annotations(path, category="Yes")
    assert table.attrs["kind"] == "label-set"
    assert table["response_weight"].sum() == 65
    assert (table.sizes["response"], table.sizes["label"]) == (64, 17)
    assert table.sizes["mention"] == 340
    named = np.bincount(
        table["mention_label"].values,
        table["response_weight"].values[table["mention_response"].values],
    )
    approved = [0] * 17
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            count, _, sets = line.partition(": ")
            yes = sets[1 : sets.index("}")] if sets.startswith("{") else sets.partition(",")[0]
            for place in filter(None, yes.split(",")):
                approved[int(place) - 1] += int(count)
    assert named.tolist() == approved


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("unlisted", "known"),
    [
        ("unknown", [0.26876, 0.21007, 0.47103, 0.05015]),
        ("excluded", [0.2551, 0.21754, 0.48656, 0.0408]),
    ],
)
def test_report_42_debian_means_two_things(shared: Path, unlisted: str, known: list[float]) -> None:
    path = shared / "cases" / "annotations" / "preflib" / "00002-00000001.soi"
    table = plausibly.read_annotations(path, unlisted=unlisted)
    found = plausibly.aggregate(table, "plackett-luce", prior=1e-6).values[0]
    assert found == pytest.approx(known, abs=6e-6)
