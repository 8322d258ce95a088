"""Study files before any other file is read: what is right, and every mistake with its place."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import attrs
import pytest
import tomli_w
from hypothesis import given, strategies as st

from call_files import each_call
from plausibly.config.document import lines_of, parse, path_text, paths_of
from plausibly.config.hints import as_keys, in_words_of_the_file
from plausibly.config.load import draft, load
from plausibly.config.settings import (
    Annotations,
    Evaluation,
    Examples,
    Output,
    Plugins,
    Settings,
    Splits,
)
from plausibly.errors import InputError
from study_world import SMALLEST, WHOLE, rows, study

READER = 'reader = "long-table"'
VOTED = 'calibrator = "majority-vote"'
OWN_READER = 'reader = {name = "long-table", '


def test_every_table_of_a_study() -> None:
    result = study(WHOLE)
    assert result.alphas == (Decimal("0.1"), Decimal("0.25"))
    assert result.splits == Splits(count=6)
    assert result.examples == Examples(path=Path("patients.csv"), cluster="patient")
    assert result.output == Output(folder=Path("out"))
    assert (result.plugins, result.evaluation) == (Plugins(), Evaluation())
    typed = study(f"alphas = [0.10, 0.29999999999999999]\n{SMALLEST}")
    assert [str(alpha) for alpha in typed.alphas] == ["0.10", "0.29999999999999999"]


def test_parameters_of_the_reader_stand_beside_its_name_or_in_a_table_of_its_own() -> None:
    columns = 'columns = {example = "t"}'
    beside = study(WHOLE.replace(READER, f'{READER}\nmissing = ["?"]\n{columns}')).annotations
    inside = WHOLE.replace(READER, f'{OWN_READER}missing = ["?"]}}\n{columns}')
    assert beside == study(inside).annotations
    assert getattr(beside.reader, "missing", None) == ("?",)
    # Without a reader they wait for the one that recognises the file.
    result = study(SMALLEST.replace("[pred", f"{columns}\n[pred")).annotations
    assert result == Annotations(path=Path("votes.csv"), options={"columns": {"example": "t"}})


MISTAKES = [  # in WHOLE: what is replaced, by what, line and path of the mistake, and a piece
    ("seed = 1", 'seed = "1"', "1 seed", "write seed = 1"),
    ("seed = 1", "sede = 1", "1 sede", 'did you mean "seed"?'),
    ("seed = 1", "colour = 1", "1 colour", "no such key; it has seed, alphas, annotations"),
    ("[0.1, 0.25]", "0.1", "2 alphas", "write alphas = [0.1]"),
    ("[0.1, 0.25]", "[]", "2 alphas", "found a list of 0; write alphas = [0.1]"),
    ("[0.1, 0.25]", '["0.1"]', "2 alphas[0]", 'found the text "0.1"; write 0.1'),
    ("[0.1, 0.25]", '["ten"]', "2 alphas[0]", 'found the text "ten"'),
    ("[0.1, 0.25]", "[true]", "2 alphas[0]", "found true"),
    ("[0.1, 0.25]", "[5]", "2 alphas[0]", "found 5; write 0.05"),
    ("[0.1, 0.25]", "[0.1, 90]", "2 alphas[1]", "found 90; write 0.1"),
    ("[0.1, 0.25]", "[97.5]", "2 alphas[0]", "found 97.5; write 0.025"),
    ("[0.1, 0.25]", "[1.0]", "2 alphas[0]", "found 1.0"),
    ("[0.1, 0.25]", "[nan]", "2 alphas[0]", "found NaN"),
    ("[0.1, 0.25]", "[0.1, 0.10]", "2 alphas[1]", "0.10 is there already; leave it out"),
    (READER, "reader = 7", "6 annotations.reader", "this is no reader: 7; expected a name"),
    (READER, 'reader = "long-tabel"', "6 annotations.reader", 'mean "long-table"? All: plausib'),
    (READER, f"{READER}\nmising = []", "7 annotations.mising", 'did you mean "missing"?'),
    (READER, f'{READER}\nunanswerd = "x"', "7 annotations.unanswerd", 'mean "unanswered"?'),
    (READER, f'{READER}\nmissing = "?"', "7 annotations.missing", 'write missing = ["?"]'),
    (READER, f'{OWN_READER}missing = "?"}}', "6 annotations.reader.missing", '= ["?"]'),
    (READER, f"{OWN_READER}missing = []}}\nmissing = []", "7 annotations.missing", "there twice"),
    (READER, 'unanswered = "dorp"', "6 annotations.unanswered", 'write unanswered = "drop"'),
    ("count = 6", "count = 0", "25 splits.count", "must be >= 1, found 0"),
    ("count = 6", "test = 1", "25 splits.test", "must be < 1.0, found 1.0"),
    ("count = 6", "draws = []", "25 splits.draws", "different numbers from 1 on, found []"),
    ("count = 6", "draws = [1, 0]", "25 splits.draws", "found [1, 0]"),
    ("count = 6", "sizes = [5, 7, 5]", "25 splits.sizes", "found [5, 7, 5]"),
    ("count = 6", "sizes = [5.5]", "25 splits.sizes[0]", "expected an integer, found 5.5"),
    ("count = 6", "repeats = 6", "25 splits.repeats", 'did you mean "count"?'),
    ("count = 6", "strata = 'site'", "25 splits.strata", 'did you mean "stratify"?'),
    ('folder = "out"', "folder = 3", "29 output.folder", "expected a path, found 3"),
    (VOTED, 'calibrator = "majorty-vote"', "18 methods[1].calibrator", '"majority-vote"? All: pl'),
    (VOTED, "draws = 3", "18 methods[1].draws", "no such key; it has name, calibrator, score"),
    ("draws = 4", "drwas = 4", "21 methods[2].calibrator.drwas", 'did you mean "draws"?'),
    ('name = "monte-carlo", ', "", "21 methods[2].calibrator", "found the keys draws; all: plaus"),
]


@pytest.mark.parametrize(("old", "new", "place", "piece"), MISTAKES)
def test_each_mistake_has_its_line_path_and_hint(
    old: str, new: str, place: str, piece: str
) -> None:
    assert old in WHOLE
    (result,) = rows(WHOLE.replace(old, new, 1))
    assert result.startswith(f"{place}: ")
    assert piece in result


PATHS = "[annotations]\npath = 'a'\n[predictions]\npath = 'p'\n"
MISSING = {
    "[predictions]\npath = 'p'\n[[methods]]\n": "- annotations.path: ",
    "[annotations]\npath = 'a'\n[[methods]]\n": "- predictions.path: ",
    PATHS: "- methods: ",
    f"methods = []\n{PATHS}": "1 methods: ",
    f"methods = [3]\n{PATHS}": "1 methods[0]: ",
    f"{PATHS}[methods]\ncalibrator = 'expected'\n": "found a table; write [[methods]]",
    "[annotations]\n[predictions]\npath = 'p'\n[[methods]]\n": "1 annotations.path: ",
    f"{PATHS}[plausibilities]\npath = 'l'\n[[methods]]\n": "5 plausibilities: ",
}


@pytest.mark.parametrize("text", MISSING)
def test_missing_and_conflicting_tables_are_mistakes(text: str) -> None:
    (row,) = rows(text)
    assert MISSING[text] in row


def test_paths_start_where_the_file_lies_and_other_values_stay() -> None:
    def below_folder(text: str) -> Settings:
        return load(parse(text, "study.toml", Path("folder/study.toml"))).check()

    result = below_folder(WHOLE)
    assert result.predictions.path == Path("folder/probabilities.csv")
    assert result.output.folder == Path("folder/out")
    assert result.examples.path == Path("folder/patients.csv")
    assert result.examples.cluster == "patient"
    absolute = Path.cwd() / "votes.csv"
    moved = below_folder(SMALLEST.replace("votes.csv", absolute.as_posix()))
    assert moved.annotations.path == absolute


DECIMALS = st.decimals(allow_nan=False) | st.just(Decimal("NaN"))
PLAIN = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | DECIMALS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "path", "draws", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
TABLES = st.fixed_dictionaries(
    {},
    optional={field.name: PLAIN for field in attrs.fields(Settings)} | {"colour": PLAIN},
)


@given(TABLES)
def test_any_tables_give_a_study_or_mistakes_below_their_keys(table: dict[str, object]) -> None:
    before = repr(table)
    result = draft(table)
    assert repr(table) == before
    wrong = {m.path.partition(".")[0].partition("[")[0] for m in result.mistakes}
    fields = {field.name for field in attrs.fields(Settings)}
    assert set(result.parts) == {key for key in table if key in fields and key in result.parts}
    assert {key for key in table if key not in result.parts} <= wrong
    assert wrong <= set(table) | {"annotations", "predictions", "methods"}


# ---- hints are keys


HINTS = {
    "fix the names, or only_common=True, which keeps 2,888": "fix the names, or "
    "[examples] only_common = true, which keeps 2,888",
    'normalise=True, or scale="any"': "[predictions] normalise = true, or "
    '[predictions] scale = "any"',
    'reader="long-table", columns={"example": "item", "annotator": "rater"}': "[annotations] "
    'reader = "long-table", [annotations] columns = { example = "item", annotator = "rater" }',
    'labels="labels.txt" (one name per line)': '[labels] path = "labels.txt" (one name per line)',
    "declare them: labels=[...]": "declare them: labels=[...]",
    'missing=["NA", "nan"], if it is': '[annotations] missing = ["NA", "nan"], if it is',
    'reader={"name": "counts", "ignore": "x"}': '[annotations] reader = { name = "counts", '
    'ignore = "x" }',
    'by="site", or ties="any"': '[evaluation] by = ["site"], or [evaluation] ties = "any"',
    "-o elsewhere; the old sets.csv is as it was": "-o elsewhere; the old sets.csv is as it was",
}


@pytest.mark.parametrize("hint", HINTS)
def test_arguments_become_keys_that_can_be_typed(hint: str) -> None:
    assert as_keys(hint) == HINTS[hint]


def test_errors_of_a_block_name_keys() -> None:
    with pytest.raises(InputError) as caught, in_words_of_the_file():
        raise InputError("example-unanswered", "37 examples", hint='unanswered="drop"')
    assert caught.value.hint == '[annotations] unanswered = "drop"'


# ---- lines of keys


DOCUMENT = '''\
"b c".d = [1,
  2, {x = "}]", 'y.z' = """
q = 1
""", k = 4}, # [t]
]
[ t . u ]
k = 'a]'
[[l]]
[l.m]
n.o = 2
[[l.z]]
lit = \'\'\'
it's
\'\'\'
"la\\u0073t" = 3
'''


PATHS_BY_LINE = {
    1: ["b c", "b c.d", "b c.d[0]"],
    # A string that goes on hides where the next key, k, begins.
    2: ["b c.d[1]", "b c.d[2]", "b c.d[2].x", "b c.d[2].y.z", "b c.d[2].k"],
    6: ["t", "t.u"],
    7: ["t.u.k"],
    8: ["l", "l[0]"],
    9: ["l[0].m"],
    10: ["l[0].m.n", "l[0].m.n.o"],
    11: ["l[0].z", "l[0].z[0]"],
    12: ["l[0].z[0].lit"],
    15: ["l[0].z[0].last"],
}


def test_every_form_of_key() -> None:
    expected = {path: line for line, paths in PATHS_BY_LINE.items() for path in paths}
    assert lines_of(DOCUMENT) == expected
    assert lines_of("a = 1\r\nb = 2\r\n") == {"a": 1, "b": 2}


KEYS = st.text(st.sampled_from("ab-_ é\"'#{}=,\\\n"), min_size=1, max_size=4)
SCALARS = st.booleans() | st.text(st.sampled_from("ab\"'#[]{}=,.\\\n"), max_size=6)
VALUES = st.recursive(
    SCALARS | st.just(0),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def numbered(value: object, count: list[int]) -> object:
    """Return the same with another whole number for each scalar: a mark to look for."""
    if isinstance(value, dict):
        return {key: numbered(item, count) for key, item in value.items()}
    if isinstance(value, list):
        return [numbered(item, count) for item in value]
    count[0] += 1
    return 900_000 + count[0]


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_a_key_stands_where_its_value_stands(table: dict[str, object]) -> None:
    marked = numbered(table, [0])
    assert isinstance(marked, dict)
    text = tomli_w.dumps(marked)
    result = lines_of(text)
    for path in paths_of(marked):
        value: object = marked
        for part in path:
            value = value[part]  # type: ignore[index]  # a path leads through tables and lists
        if isinstance(value, dict | list):
            continue
        lines = [number for number, row in enumerate(text.split("\n"), 1) if str(value) in row]
        assert [result[path_text(path)]] == lines


test_each_call_gives_its_text = each_call(__file__, globals())
