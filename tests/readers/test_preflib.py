"""PrefLib files: ballots, what they mean, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st

import plausibly
from io_files import refusal, said, written
from plausibly_builtins.readers.preflib import PrefLib

NAMES = ("ann", "bo", "cy", "di")
Groups = tuple[tuple[str, ...], ...]

HEAD = """\
# FILE NAME: 00001-00000001.{kind}
# DATA TYPE: {kind}
# NUMBER ALTERNATIVES: 4
# NUMBER VOTERS: {voters}
# NUMBER UNIQUE {what}: {unique}
"""
NAMED = "".join(f"# ALTERNATIVE NAME {place}: {name}\n" for place, name in enumerate(NAMES, 1))
SORTED = "# NUMBER CATEGORIES: 2\n# CATEGORY NAME 1: Yes\n# CATEGORY NAME 2: No\n"


def text(kind: str, *ballots: str, voters: int | None = None, unique: int | None = None) -> str:
    """Return a file of the 2022 specification."""
    if voters is None:
        voters = sum(int(ballot.partition(":")[0]) for ballot in ballots)
    head = HEAD.format(
        kind=kind,
        voters=voters,
        unique=len(ballots) if unique is None else unique,
        what="ORDERS" if kind != "cat" else "PREFERENCES",
    )
    body = "".join(f"{ballot}\n" for ballot in ballots)
    return head + (SORTED if kind == "cat" else "") + NAMED + body


def read(path: Path, labels: list[str] | None = None, **options: object) -> xr.Dataset:
    return plausibly.read_annotations(path, "preflib", labels, **options)


def ballots_of(table: xr.Dataset, example: str | None = None) -> Counter[Groups]:
    """Return how many voters gave each order, from the codes alone."""
    labels = table["label"].values.tolist()
    ranked = "mention_block" in table
    blocks: list[dict[int, set[str]]] = [{} for _ in range(table.sizes["response"])]
    for mention, response in enumerate(table["mention_response"].values):
        block = int(table["mention_block"].values[mention]) if ranked else 1
        label = labels[int(table["mention_label"].values[mention])]
        blocks[int(response)].setdefault(block, set()).add(label)
    found: Counter[Groups] = Counter()
    for place, said_so in enumerate(blocks):
        about = table["example"].values[table["response_example"].values[place]]
        if example in (None, about):
            weight = (
                int(table["response_weight"].values[place]) if "response_weight" in table else 1
            )
            found[tuple(tuple(sorted(said_so[block])) for block in sorted(said_so))] += weight
    return found


def test_orders_are_read_with_ties_and_the_number_of_voters(tmp_path: Path) -> None:
    path = written(tmp_path, "x.toi", text("toi", "3: 2,1", "2: {1,4},3", "1: {2,3,4}", "1: 4"))
    table = read(path, unlisted="unknown")
    assert ballots_of(table) == {
        (("bo",), ("ann",)): 3,
        (("ann", "di"), ("cy",)): 2,
        (("bo", "cy", "di"),): 1,
        (("di",),): 1,
    }
    assert table.attrs["kind"] == "partial-ranking"
    assert table.attrs["unlisted"] == "unknown"
    assert table["example"].values.tolist() == ["x"]
    assert table["label"].values.tolist() == list(NAMES)
    assert table.sizes["annotator"] == 0
    assert bool(table.attrs["labels_declared"])
    assert "7 responses" in repr(table)


def test_complete_orders_need_no_word_on_what_is_unlisted(tmp_path: Path) -> None:
    strict = read(written(tmp_path, "x.soc", text("soc", "2: 4,3,2,1", "1: 1,2,3,4")))
    assert ballots_of(strict)[(("di",), ("cy",), ("bo",), ("ann",))] == 2
    ties = read(written(tmp_path, "x.toc", text("toc", "2: {4,3},{2,1}")))
    assert ballots_of(ties) == {(("cy", "di"), ("ann", "bo")): 2}
    assert ties.attrs["unlisted"] == "excluded"
    # Nobody could compare a label that was on no ballot.
    more = read(tmp_path / "x.toc", ["eve", *NAMES])
    assert more.attrs["unlisted"] == "unknown"
    assert ballots_of(more) == ballots_of(ties)


def test_report_42_incomplete_orders_need_a_word_and_both_meanings_differ(tmp_path: Path) -> None:
    path = written(tmp_path, "x.soi", text("soi", "1: 1,2,3,4", "1: 1,2,4", "1: 2,3"))
    assert said(lambda: read(path)) == (
        "error unlisted-unsaid: x.soi holds 2 lines that name fewer than all 4 alternatives, first "
        "line 11 expected a word on what that means, since the format has none: excluded = the "
        "others come after all that are named; unknown = nobody compared them; got no word do "
        """--reader '{name = "preflib", unlisted = "excluded"}' where voters could name every """
        'label, "unknown" where they could not'
    )
    below = read(path, unlisted="excluded")
    apart = read(path, unlisted="unknown")
    assert ballots_of(below) == ballots_of(apart)
    scores = [plausibly.aggregate(table, "plackett-luce").values[0] for table in (below, apart)]
    assert scores[0][1] > scores[1][1]  # bo is before ann, whom the last ballot does not name
    error = refusal(lambda: plausibly.read_annotations(path, "preflib", unlisted="below"))
    assert "unlisted" in f"{error}"


def test_report_40_the_type_is_the_headers_whatever_the_file_is_called(tmp_path: Path) -> None:
    content = text("toi", "1: {1,2}", "4: 3")
    tables = [
        plausibly.read_annotations(written(tmp_path, f"x{end}", content), unlisted="excluded")
        for end in (".toi", ".soi", ".txt", "")
    ]
    assert {table.attrs["reader"] for table in tables} == {"preflib"}
    assert all(ballots_of(table) == ballots_of(tables[0]) for table in tables)
    untyped = content.replace("# DATA TYPE: toi\n", "")
    assert (
        ballots_of(read(written(tmp_path, "y.toi", untyped), unlisted="unknown"))[(("cy",),)] == 4
    )
    error = refusal(lambda: read(written(tmp_path, "y.txt", untyped)))
    assert (error.name, error.do) == ("type-unfit", "add a line such as # DATA TYPE: toi")
    error = refusal(lambda: read(written(tmp_path, "z.wmd", text("wmd", "1: 1,2"))))
    assert (error.name, error.what) == ("type-unfit", 'z.wmd is of type "wmd"')
    assert error.expected == "one of soc, soi, toc, toi, cat"


def test_report_41_non_finishers_are_a_block_at_the_end(tmp_path: Path) -> None:
    table = read(written(tmp_path, "race.toc", text("toc", "1: 1,2,{3,4}")))
    shares = plausibly.aggregate(table, "plackett-luce").values[0]
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] == pytest.approx(shares[3])


def test_report_43_a_chain_of_ballots_is_finite(tmp_path: Path) -> None:
    path = written(tmp_path, "chain.soi", text("soi", "1: 1,2", "1: 2,3", "1: 3,4"))
    table = read(path, unlisted="unknown")
    shares = plausibly.aggregate(table, "plackett-luce").values[0]
    assert (shares[:-1] > shares[1:]).all()
    assert (shares > 0).all()


def test_report_44_ties_of_two_and_three_count_as_one_block(tmp_path: Path) -> None:
    table = read(written(tmp_path, "t.toc", text("toc", "1: {1,2},{3,4}", "1: {1,2,3},4")))
    shares = plausibly.aggregate(table, "plackett-luce").values[0]
    assert shares[0] == pytest.approx(shares[1])
    assert shares[0] > shares[2] > shares[3]


def test_categories_become_label_sets(tmp_path: Path) -> None:
    path = written(
        tmp_path, "p.cat", text("cat", "2: {1,2,3,4},{}", "1: 3,{1,2,4}", "1: {1,4},{2,3}")
    )
    table = read(path, category="Yes")
    assert table.attrs["kind"] == "label-set"
    assert ballots_of(table) == {(NAMES,): 2, (("cy",),): 1, (("ann", "di"),): 1}
    shares = plausibly.aggregate(table).values[0]
    assert shares.tolist() == [0.25, 0.125, 0.375, 0.25]
    assert said(lambda: read(path)) == (
        "error category-unsaid: p.cat has 2 categories "
        'expected the one whose alternatives are the answer; got "Yes", "No" '
        """do --reader '{name = "preflib", category = "Yes"}'"""
    )
    error = refusal(lambda: read(path, category="yes"))
    assert (error.name, error.what) == ("category-missing", 'p.cat has no category "yes"')
    # A voter who puts nothing into a category says so: what that means is for the user to say.
    error = refusal(lambda: read(path, category="No"))
    assert error.name == "answer-empty"
    assert "p.cat line 13" in error.what
    table = read(path, category="No", states={"empty": "drop"})
    assert ballots_of(table) == {(): 2, (("ann", "bo", "di"),): 1, (("bo", "cy"),): 1}


def test_alternatives_in_no_category_need_a_word(tmp_path: Path) -> None:
    path = written(tmp_path, "p.cat", text("cat", "1: 1,{2,3}"))
    assert refusal(lambda: read(path, category="Yes")).name == "unlisted-unsaid"
    assert ballots_of(read(path, category="Yes", unlisted="excluded")) == {(("ann",),): 1}
    one = written(tmp_path, "o.cat", text("cat", "1: {1,2}").replace(SORTED, SORTED[:-22]))
    one.write_text(one.read_text().replace("CATEGORIES: 2", "CATEGORIES: 1"))
    assert ballots_of(read(one, unlisted="excluded")) == {(("ann", "bo"),): 1}


def test_older_files_have_no_header(tmp_path: Path) -> None:
    older = "4\n1,ann\n2,bo, the second\n3,cy\n4,di\n5,5,2\n3,2,1\n2,{1,4},3\n"
    path = written(tmp_path, "old.toi", older)
    table = plausibly.read_annotations(path, unlisted="excluded")
    assert table["label"].values.tolist() == ["ann", "bo, the second", "cy", "di"]
    assert ballots_of(table) == {(("bo, the second",), ("ann",)): 3, (("ann", "di"), ("cy",)): 2}
    error = refusal(lambda: read(written(tmp_path, "old.soi", older)))
    assert (error.name, error.what) == ("type-unfit", "old.soi line 8 holds a tie")
    error = refusal(lambda: read(written(tmp_path, "old.cat", older)))
    assert error.do == "download the file again, as PrefLib has had it since 2022"


@pytest.mark.parametrize(
    ("before", "after"),
    [("5,5,2", "5,6,2"), ("5,5,2", "6,6,2"), ("2,bo", "1,bo"), ("4\n", "3\n"), ("5,5,2\n", "")],
)
def test_older_files_are_read_strictly(tmp_path: Path, before: str, after: str) -> None:
    older = "4\n1,ann\n2,bo\n3,cy\n4,di\n5,5,2\n3,2,1\n2,{1,4},3\n"
    path = written(tmp_path, "w.toi", older.replace(before, after, 1))
    error = refusal(lambda: read(path, unlisted="unknown"))
    assert error.name in ("preflib-broken", "preflib-counts")
    assert "w.toi line" in error.what


def test_a_folder_holds_an_example_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "votes"
    folder.mkdir()
    written(folder, "b.toc", text("toc", "1: 1,2,{3,4}"))
    swapped = (
        text("toc", "2: {4,3},2,1").replace("1: ann", "1: bo", 1).replace("2: bo", "2: ann", 1)
    )
    written(folder, "a.toc", swapped)
    written(folder, "info.txt", "about these files\n")
    table = plausibly.read_annotations(folder)
    assert table.attrs["reader"] == "preflib"
    assert table["example"].values.tolist() == ["a", "b"]
    assert ballots_of(table, "a") == {(("cy", "di"), ("ann",), ("bo",)): 2}
    assert ballots_of(table, "b") == {(("ann",), ("bo",), ("cy", "di")): 1}
    broken = written(folder, "c.toc", text("toc", "1: 1,2,3"))
    assert refusal(lambda: read(folder)).what == "votes/c.toc line 10 leaves alternatives out"
    broken.write_text(text("toi", "1: 1,2,3"))
    error = refusal(lambda: read(folder))
    assert error.what == (
        "votes holds 1 line that name fewer than all 4 alternatives, first c.toc line 10"
    )
    broken.write_text(text("toc", "1: 1,2,3,4").replace("di", "eve"))
    error = refusal(lambda: read(folder))
    assert (error.name, error.got) == (
        "alternatives-differ",
        'only one of the two has "di", "eve"',
    )
    broken.write_text(text("cat", "1: {1,2},{3,4}"))
    assert refusal(lambda: read(folder)).name == "types-mixed"
    broken.unlink()
    written(folder, "a.soi", text("soi", "1: 1,2,3,4"))
    assert refusal(lambda: read(folder)).what == "votes/a.toc is of example a, as votes/a.soi is"


def test_the_example_is_called_as_the_file_or_as_the_user_says(tmp_path: Path) -> None:
    path = written(tmp_path, "x.y.toc", text("toc", "1: 1,2,{3,4}"))
    assert read(path)["example"].values.tolist() == ["x.y"]
    assert read(path, example="leader")["example"].values.tolist() == ["leader"]
    error = refusal(lambda: read(tmp_path, example="leader"))
    assert (error.name, error.do) == ("example-unfit", "leave example out")


def test_a_folder_without_ballots(tmp_path: Path) -> None:
    assert not PrefLib().recognises(tmp_path, b"")
    assert refusal(lambda: read(tmp_path)).name == "file-empty"


# ---- what is refused: line 10 is the first ballot of order files, 13 of categories


@pytest.mark.parametrize(
    ("kind", "ballots", "name", "what"),
    [
        ("soi", ["1: 1,2,1"], "alternative-twice", 'line 10 names "ann" twice'),
        ("toi", ["1: 1,{2,1}"], "alternative-twice", 'line 10 names "ann" twice'),
        ("soi", ["1: 1,9"], "alternative-unknown", "line 10 names alternative 9"),
        ("soi", ["1: 1,0"], "alternative-unknown", "line 10 names alternative 0"),
        ("toi", ["1: {1,2,3"], "preflib-broken", "line 10 has a brace that is not closed"),
        ("toi", ["1: 1,2}"], "preflib-broken", "line 10 holds what is no order"),
        ("toi", ["1: {1,{2}}"], "preflib-broken", "line 10 holds what is no order"),
        ("toi", ["1: {1},,2"], "preflib-broken", "line 10 names no alternative where one"),
        ("toi", ["1: 1,2,"], "preflib-broken", "line 10 names no alternative where one"),
        ("toi", ["1: {1,}"], "preflib-broken", "line 10 names no alternative where one"),
        ("toi", ["1: 1;2"], "preflib-broken", "line 10 names no alternative where one"),
        ("toi", ["1: ann"], "preflib-broken", "line 10 names no alternative where one"),
        ("toi", ["1: "], "preflib-broken", "line 10 names no alternative where one"),
        ("toi", ["1: {}"], "ballot-empty", "line 10 ranks no alternative"),
        ("toi", ["1: 1,{}"], "ballot-empty", "line 10 ranks no alternative in one of its"),
        ("soi", ["1: 1,2", "2: 1,2"], "order-twice", "lists one order in lines 10 and 11"),
        ("toi", ["1: {1,2}", "2: {2,1}"], "order-twice", "lists one order in lines 10 and 11"),
        ("soi", ["1: {1,2}"], "type-unfit", "line 10 holds a tie"),
        ("soc", ["1: {1,2},3,4"], "type-unfit", "line 10 holds a tie"),
        ("soc", ["1: 1,2,3"], "type-unfit", "line 10 leaves alternatives out"),
        ("toc", ["1: {1,2}"], "type-unfit", "line 10 leaves alternatives out"),
        ("cat", ["1: {1,2,3,4}"], "preflib-broken", "line 13 has 1 group"),
        ("cat", ["1: {1,2},{3},4"], "preflib-broken", "line 13 has 3 groups"),
        ("cat", ["1: 1,{}", "1: 1,{}"], "order-twice", "lists one division in lines 13 and 14"),
    ],
)
def test_ballots_that_are_refused(
    tmp_path: Path, kind: str, ballots: list[str], name: str, what: str
) -> None:
    path = written(tmp_path, f"x.{kind}", text(kind, *ballots))
    error = refusal(
        lambda: read(path, category="Yes" if kind == "cat" else None, unlisted="unknown")
    )
    assert error.name == name
    assert f"x.{kind}" in error.what
    assert what in error.what


@pytest.mark.parametrize("count", ["0", "-1", "1.5", "", "x", "1" * 16])
def test_counts_that_are_none(tmp_path: Path, count: str) -> None:
    path = written(tmp_path, "x.soi", text("soi", f"{count}: 1,2", voters=1))
    assert said(lambda: read(path)) == (
        "error preflib-broken: x.soi line 10 does not begin with how many voters say so "
        f'expected count: order, such as 3: 1,{{2,4}}; got "{count}" do mend that line'
    )


def test_counts_of_the_header_are_those_of_the_ballots(tmp_path: Path) -> None:
    path = written(tmp_path, "x.soi", text("soi", "3: 1,2", "1: 2", voters=5))
    assert said(lambda: read(path)) == (
        "error preflib-counts: x.soi line 4 says that there are 5 voters "
        "expected as many in the ballots; got 4 do download the file again, or mend that number"
    )
    path = written(tmp_path, "x.soi", text("soi", "3: 1,2", "1: 2", unique=3))
    assert refusal(lambda: read(path)).what == (
        "x.soi line 5 says that there are 3 different ballots"
    )


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("# NUMBER ALTERNATIVES: 4\n", "", "line 8 ends a header without NUMBER ALTERNATIVES"),
        ("# NUMBER VOTERS: 1\n", "", "line 8 ends a header without NUMBER VOTERS"),
        ("ALTERNATIVES: 4", "ALTERNATIVES: 5", "line 3 says that there are 5 alternatives"),
        ("ALTERNATIVES: 4", "ALTERNATIVES: 0", "line 3 says that there are 0 alternatives"),
        ("ALTERNATIVES: 4", "ALTERNATIVES: four", "line 3 gives no number as NUMBER ALTERNATIVES"),
        ("NAME 4: di", "NAME 5: di", "line 3 says that there are 4 alternatives"),
        ("NAME 4: di", "NAME 4: ann", 'line 9 names the alternative "ann" again'),
        ("NAME 4: di", "NAME 4:", "line 9 names no alternative"),
        ("NAME 4: di", "NAME 3: di", "line 9 says ALTERNATIVE NAME 3 again"),
        ("# DATA TYPE: soi", "# DATA TYPE soi", "line 2 is no line of a header"),
        ("1: 1,2\n", "1: 1,2\n# TITLE: late\n", "line 11 is of the header, after ballots"),
    ],
)
def test_headers_that_are_refused(tmp_path: Path, before: str, after: str, what: str) -> None:
    content = text("soi", "1: 1,2")
    assert before in content
    path = written(tmp_path, "x.soi", content.replace(before, after))
    error = refusal(lambda: read(path, unlisted="unknown"))
    assert (error.name, error.what) == ("preflib-broken", f"x.soi {what}")


def test_a_file_that_nobody_voted_in(tmp_path: Path) -> None:
    table = read(written(tmp_path, "x.soi", text("soi")))
    assert (table.sizes["example"], table.sizes["response"], table.sizes["label"]) == (1, 0, 4)


# ---- the grammar


@st.composite
def profiles(draw: st.DrawFn) -> tuple[list[str], dict[Groups, int], str]:
    """Draw names, ballots with their voters, and a file of them."""
    letters = st.text(
        st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), max_size=4
    )
    names = draw(st.lists(letters.filter(str.strip), min_size=1, max_size=5, unique_by=str.strip))
    names = [name.strip() for name in names]
    orders: dict[tuple[frozenset[int], ...], tuple[int, str]] = {}
    for _ in range(draw(st.integers(0, 4))):
        chosen = draw(st.permutations(range(1, len(names) + 1)))
        chosen = chosen[: draw(st.integers(1, len(names)))]
        groups: list[list[int]] = []
        for place in chosen:
            if draw(st.booleans()) and groups:
                groups[-1].append(place)
            else:
                groups.append([place])
        gap = draw(st.sampled_from(["", " "]))
        shown = [
            f"{{{f',{gap}'.join(map(str, group))}}}"
            if len(group) > 1 or draw(st.booleans())
            else str(group[0])
            for group in groups
        ]
        key = tuple(map(frozenset, groups))
        orders[key] = (draw(st.integers(1, 10**6)), f",{gap}".join(shown))
    voters = sum(count for count, _ in orders.values())
    lines = [
        "# FILE NAME: x",
        "# DATA TYPE: toi",
        f"# NUMBER ALTERNATIVES: {len(names)}",
        f"# NUMBER VOTERS: {voters}",
        f"# NUMBER UNIQUE ORDERS: {len(orders)}",
        *draw(st.permutations([f"# ALTERNATIVE NAME {i}: {n}" for i, n in enumerate(names, 1)])),
        *draw(st.permutations([f"{count}: {order}" for count, order in orders.values()])),
    ]
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    found = {
        tuple(tuple(sorted(names[i - 1] for i in group)) for group in key): count
        for key, (count, _) in orders.items()
    }
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return names, found, mark + end.join(lines) + draw(st.sampled_from(["", end, end * 2]))


@given(profile=profiles())
@settings(max_examples=50)
def test_any_file_of_the_grammar_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    profile: tuple[list[str], dict[Groups, int], str],
) -> None:
    names, orders, content = profile
    path = written(tmp_path_factory.mktemp("any"), "x.toi", content)
    table = plausibly.read_annotations(path, unlisted="unknown")
    assert table["label"].values.tolist() == names
    assert ballots_of(table) == orders
