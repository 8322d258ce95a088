"""Study files before any other file is read: what is right, and every mistake with its place."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path

import attrs
import pytest
from hypothesis import given, strategies as st

from plausibly.config.document import parse
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
from study_world import SIX_MISTAKES, SMALLEST, WHOLE, error, rows, study


def test_every_table_of_a_study() -> None:
    found = study(WHOLE)
    names = [calibration.name for calibration in found.methods]
    assert names == ["everyone", "majority-vote", "monte-carlo(draws=4), maximum"]
    assert found.alphas == (Decimal("0.1"), Decimal("0.25"))
    assert found.splits == Splits(count=6)
    assert found.examples == Examples(path=Path("patients.csv"), cluster="patient")
    assert found.output == Output(folder=Path("out"))
    assert (found.plugins, found.evaluation) == (Plugins(), Evaluation())


def test_alphas_are_the_decimals_that_were_typed() -> None:
    found = study(f"alphas = [0.10, 1e-2, 0.29999999999999999]\n{SMALLEST}")
    assert [str(alpha) for alpha in found.alphas] == ["0.10", "0.01", "0.29999999999999999"]


def test_parameters_of_the_reader_stand_beside_its_name_or_in_a_table_of_its_own() -> None:
    beside = WHOLE.replace(
        'reader = "long-table"', 'reader = "long-table"\nmissing = ["?"]\ncolumns = {example = "t"}'
    )
    inside = WHOLE.replace(
        'reader = "long-table"',
        'reader = {name = "long-table", missing = ["?"]}\ncolumns = {example = "t"}',
    )
    assert study(beside).annotations == study(inside).annotations
    found = study(beside).annotations
    assert found is not None
    assert getattr(found.reader, "missing", None) == ("?",)


def test_parameters_without_a_reader_wait_for_the_one_that_recognises_the_file() -> None:
    found = study(SMALLEST.replace("[pred", 'columns = {example = "item"}\n[pred')).annotations
    assert found == Annotations(path=Path("votes.csv"), options={"columns": {"example": "item"}})


def test_six_mistakes_are_five_before_the_examples_are_read() -> None:
    assert rows(SIX_MISTAKES) == [
        "2 alphas[1]: expected a number between 0 and 1, found 5; 95% is 0.05",
        '5 annotations.raeder: no such key; did you mean "reader"?',
        '6 annotations.aggregator: no aggregator "inverse-rnk"; did you mean "inverse-rank"? '
        "All: plausibly plugins list --kind aggregator",
        '12 methods[0].calibrator.draws: expected an integer, found the text "10"; write draws = '
        "10",
        "13 methods[0].combiner.held_out: maximum has no such parameter; "
        "ecdf, held-out-rank and pac have it",
    ]


ALPHAS = {
    "0.1": "1 alphas: expected a list, each a number between 0 and 1, found 0.1; "
    "write alphas = [0.1]",
    '"0.1"': "1 alphas: expected a list, each a number between 0 and 1, found the text "
    '"0.1"; write alphas = [0.1]',
    "[]": "1 alphas: expected one number or more, found none; write alphas = [0.1]",
    '["0.1"]': '1 alphas[0]: expected a number between 0 and 1, found the text "0.1"; write 0.1',
    '["ten"]': '1 alphas[0]: expected a number between 0 and 1, found the text "ten"',
    "[true]": "1 alphas[0]: expected a number between 0 and 1, found true",
    "[5]": "1 alphas[0]: expected a number between 0 and 1, found 5; 95% is 0.05",
    "[0.1, 90]": "1 alphas[1]: expected a number between 0 and 1, found 90; 90% is 0.1",
    "[97.5]": "1 alphas[0]: expected a number between 0 and 1, found 97.5; 97.5% is 0.025",
    "[0]": "1 alphas[0]: expected a number between 0 and 1, found 0",
    "[1.0]": "1 alphas[0]: expected a number between 0 and 1, found 1.0",
    "[-0.1]": "1 alphas[0]: expected a number between 0 and 1, found -0.1",
    "[nan]": "1 alphas[0]: expected a number between 0 and 1, found NaN",
    "[inf]": "1 alphas[0]: expected a number between 0 and 1, found Infinity",
    "[0.1, 0.10]": "1 alphas[1]: 0.10 is there already; leave it out",
}


@pytest.mark.parametrize("written", ALPHAS)
def test_alphas_that_are_none(written: str) -> None:
    assert rows(f"alphas = {written}\n{SMALLEST}") == [ALPHAS[written]]


ONE = {
    ("seed = 1", 'seed = "1"'): '1 seed: expected an integer, found the text "1"; write seed = 1',
    ("seed = 1", "sede = 1"): '1 sede: no such key; did you mean "seed"?',
    ("seed = 1", "colour = 1"): "1 colour: no such key; it has seed, alphas, annotations, "
    "plausibilities, predictions, examples, labels, plugins, method, methods, splits, new, "
    "evaluation, report, output, compute, plan, agreement",
    (
        'reader = "long-table"',
        "reader = 7",
    ): "6 annotations.reader: this is no reader: 7; "
    "expected a name, a table with a name, or an object that has recognises, read; all: "
    "plausibly plugins list --kind reader",
    ('reader = "long-table"', 'reader = "long-tabel"'): "6 annotations.reader: no reader "
    '"long-tabel"; did you mean "long-table"? All: plausibly plugins list --kind reader',
    ('reader = "long-table"', 'reader = {name = "long-tabel"}'): "6 annotations.reader.name: no "
    'reader "long-tabel"; did you mean "long-table"? All: plausibly plugins list --kind reader',
    ('reader = "long-table"', 'reader = "long-table"\nmising = []'): "7 annotations.mising: "
    'long-table has no such parameter; did you mean "missing"?',
    ('reader = "long-table"', 'reader = "long-table"\nunanswerd = "drop"'): "7 "
    'annotations.unanswerd: no such key; did you mean "unanswered"?',
    ('reader = "long-table"', 'reader = "long-table"\nmissing = "?"'): "7 annotations.missing: "
    'expected a list, each text, found the text "?"; write missing = ["?"]',
    ('reader = "long-table"', 'reader = {name = "long-table", missing = "?"}'): "6 "
    'annotations.reader.missing: expected a list, each text, found the text "?"; '
    'write missing = ["?"]',
    ('reader = "long-table"', 'reader = {name = "long-table", kind = "label-set"}\nkind = "x"'): (
        "7 annotations.kind: is given twice; leave kind out of one of them"
    ),
    ('path = "votes.csv"', 'unanswered = "dorp"'): '5 annotations.unanswered: expected "error" or '
    '"drop", found the text "dorp"; write unanswered = "drop"',
    ("count = 6", "count = 0"): "25 splits.count: must be >= 1, found 0",
    ("count = 6", "count = true"): "25 splits.count: expected an integer, found true",
    ("count = 6", "test = 1"): "25 splits.test: must be < 1.0, found 1.0",
    ("count = 6", "tset = 0.5"): '25 splits.tset: no such key; did you mean "test"?',
    ('folder = "out"', "folder = 3"): "29 output.folder: expected a path, found 3",
    ('calibrator = "majority-vote"', 'calibrator = "majorty-vote"'): "18 methods[1].calibrator: no "
    'calibrator "majorty-vote"; did you mean "majority-vote"? All: plausibly plugins list --kind '
    "calibrator",
    ('calibrator = "majority-vote"', "draws = 3"): "18 methods[1].draws: no such key; it has name, "
    "calibrator, score, combiner, allow_no_guarantee",
    ("draws = 4", "draws = 0"): "21 methods[2].calibrator.draws: must be >= 1, found 0",
    ("draws = 4", "drwas = 4"): "21 methods[2].calibrator.drwas: monte-carlo has no such "
    'parameter; did you mean "draws"?',
    ('name = "monte-carlo", ', ""): "21 methods[2].calibrator: a table for a calibrator has "
    'no name; expected a key "name" with text; found the keys draws; all: '
    "plausibly plugins list --kind calibrator",
    ('combiner = "maximum"', 'name = "everyone"'): "22 methods[2].name: methods[0] is "
    'called "everyone" too; give it another name',
    (
        'calibrator = "majority-vote"\n',
        'calibrator = "majority-vote"\nname = ""\n',
    ): "19 methods[1].name: expected a name, found an empty text; leave it out",
    ('name = "everyone"', 'calibrator = "majority-vote"'): "17 methods[1]: methods[0] is called "
    '"majority-vote" too; give it another name',
    ("alphas = [0.1, 0.25]", 'predictions = "p.csv"'): "2 predictions: expected a table, found the "
    'text "p.csv"; write [predictions], and below it path = "p.csv"',
}


@pytest.mark.parametrize("change", ONE)
def test_one_mistake(change: tuple[str, str]) -> None:
    old, new = change
    assert old in WHOLE
    text = WHOLE.replace(old, new, 1)
    if new.startswith("predictions"):
        text = text.replace('[predictions]\npath = "probabilities.csv"\n', "")
    if "path" in old:
        text = text.replace(new, f"{new}\n{old}")
    found = rows(text)
    assert found == [ONE[change]]


MISSING = {
    "[predictions]\npath = 'p'\n[[methods]]\n": [
        "- annotations: is required: [annotations] with the path of a file, or [plausibilities]"
    ],
    "[annotations]\npath = 'a'\n[[methods]]\n": [
        "- predictions: is required: [predictions] with the path of a file"
    ],
    "[annotations]\npath = 'a'\n[predictions]\npath = 'p'\n": [
        "- methods: is required: one [[methods]] or more; an empty one is the default"
    ],
    "[annotations]\npath = 'a'\n[predictions]\npath = 'p'\n[methods]\n": [
        "5 methods: expected a list of tables, found a table; write [[methods]], with two brackets"
    ],
    "methods = []\n[annotations]\npath = 'a'\n[predictions]\npath = 'p'\n": [
        "1 methods: is required: one [[methods]] or more; an empty one is the default"
    ],
    "methods = [3]\n[annotations]\npath = 'a'\n[predictions]\npath = 'p'\n": [
        "1 methods[0]: expected a table, found 3"
    ],
    "[annotations]\n[predictions]\nscale = 'logit'\n[[methods]]\n": [
        "1 annotations.path: is required: a path",
        "2 predictions.path: is required: a path",
    ],
    "annotations = 3\n[predictions]\npath = 'p'\n[[methods]]\n": [
        "1 annotations: expected a table, found 3"
    ],
    "[annotations]\npath = 'a'\n[plausibilities]\npath = 'l'\n[predictions]\npath = 'p'\n"
    "[[methods]]\n": [
        "3 plausibilities: there are annotations already, and only one of them can be calibrated "
        "on; leave one of them out"
    ],
}


@pytest.mark.parametrize("text", MISSING)
def test_what_must_be_there_and_what_cannot_be_there_together(text: str) -> None:
    assert rows(text) == MISSING[text]


def below_folder(text: str) -> Settings:
    return load(parse(text, "study.toml", Path("folder/study.toml"))).check()


def test_paths_start_where_they_are_told_to_and_other_values_stay() -> None:
    found = below_folder(WHOLE)
    assert found.predictions.path == Path("folder/probabilities.csv")
    assert (found.output.folder, found.examples.path) == (
        Path("folder/out"),
        Path("folder/patients.csv"),
    )
    absolute = Path.cwd() / "votes.csv"
    text = SMALLEST.replace("votes.csv", absolute.as_posix())
    moved = below_folder(text)
    assert moved.annotations.path == absolute
    assert attrs.evolve(found, predictions=study(WHOLE).predictions) != study(WHOLE)


SEVERAL = """\
study.toml: 2 mistakes, nothing was run
 line 1   sede: no such key; did you mean "seed"?
 line 25  splits.count: must be >= 1, found 0
error config-key: study.toml line 1: sede
  expected  seed
  found     sede (mistake 1 of 2, all are listed)
  hint      write seed = 1"""


def test_several_mistakes_are_listed_and_the_first_is_said_in_the_house_form() -> None:
    found = error(WHOLE.replace("count = 6", "count = 0").replace("seed", "sede"))
    assert str(found) == SEVERAL
    assert found.details["mistakes"] == [
        {
            "path": "sede",
            "line": 1,
            "text": 'sede: no such key; did you mean "seed"?',
            "hint": "write seed = 1",
        },
        {
            "path": "splits.count",
            "line": 25,
            "text": "splits.count: must be >= 1, found 0",
            "hint": "",
        },
    ]
    assert str(pickle.loads(pickle.dumps(found))) == SEVERAL


def test_text_that_is_no_toml() -> None:
    with pytest.raises(InputError) as caught:
        parse("seed = 1\n[annotations]\npath = votes.csv\n", "study.toml")
    assert str(caught.value) == (
        "error toml-broken: study.toml line 3 is no TOML\n"
        '  expected  key = value, [table] or [[list of tables]], and text in "quotation\n'
        '            marks"\n'
        "  found     invalid value\n"
        "  hint      fix that line"
    )
    with pytest.raises(InputError) as caught:
        parse("seed = [1,\n", "study.toml")
    assert caught.value.what.startswith("study.toml line 2 ")


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
    found = draft(table)
    assert repr(table) == before
    wrong = {m.path.partition(".")[0].partition("[")[0] for m in found.mistakes}
    fields = {field.name for field in attrs.fields(Settings)}
    assert set(found.parts) == {key for key in table if key in fields and key in found.parts}
    assert {key for key in table if key not in found.parts} <= wrong
    assert wrong <= set(table) | {"annotations", "predictions", "methods"}
