"""Output in notebooks: the accessor `.plausibly`, tables of HTML, and the bar of progress."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from html.parser import HTMLParser
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import plausibly
from cli_world import Terminal
from plausibly import Guarantee, plots, text
from plausibly.accessor import as_text
from plausibly.annotators import Agreement
from plausibly.errors import InputError
from plausibly.evaluation import Evaluation, Sensitivity, Study
from plausibly.evaluation.result import Result
from plausibly.planning import Plan
from plausibly.progress import PageBar, ticking
from plots_world import FIGURES, LABELS, METHODS, answers, made, parts, world
from refusals import refused

# ---- pieces of HTML, taken apart: what they say, and whether they are whole


VOID = {"br", "hr", "img", "input", "meta", "link", "path", "use", "circle"}
HOSTILE = "<script>alert(1)</script>"


class Piece(HTMLParser):
    """A piece of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.cells: list[list[str]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._open and self._open[-1] in ("td", "th"):
            self.cells[-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


# ---- `.plausibly` of DataArrays and Datasets


def test_the_accessor_is_registered_with_the_first_result() -> None:
    code = (
        "import sys, plausibly; print('xarray' in sys.modules);"
        "plausibly.plan; import xarray as xr;"
        "heavy = {'matplotlib', 'plausibly.plots', 'plausibly.accessor'};"
        "print(hasattr(xr.DataArray, 'plausibly'), *heavy & set(sys.modules));"
        "print(xr.Dataset().plausibly); print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "False\nTrue\n"
        ".plausibly of a Dataset: worst(), guarantee(), plot (no figures: no result of plausibly)\n"
        "False\n"
    )


def test_names_of_sets() -> None:
    sets = parts()[3]
    listing = sets.plausibly.names()
    frame = listing.to_frame()
    assert list(frame.columns) == ["example", "alpha", "labels", "set"]
    assert len(frame) == len(listing) == 120
    inside = sets.transpose("example", "alpha", "label").values.reshape(120, 4).tolist()
    wanted = [tuple(np.array(LABELS, dtype=object)[row]) for row in inside]
    assert frame["set"].tolist() == wanted
    assert frame["labels"].tolist() == [len(row) for row in wanted]
    assert frame["example"].tolist() == np.repeat(sets["example"].values, 2).tolist()
    assert frame["alpha"].tolist()[:4] == [0.2, 0.1, 0.2, 0.1]
    single = sets.sel(alpha=0.2)
    names = single.plausibly.names().to_frame()
    turned = single.transpose("label", "example").plausibly.names().to_frame()
    pd.testing.assert_frame_equal(names, turned)
    without = single.drop_vars("alpha").plausibly.names().to_frame()
    assert list(without.columns) == ["example", "labels", "set"]
    with pytest.raises(InputError, match="no true or false for each example and"):
        parts()[2].plausibly.names()
    assert repr(sets.plausibly) == ".plausibly of a DataArray: names(), guarantee()"


@pytest.mark.parametrize("most", [2, 500])
def test_the_first_rows_are_printed(most: int) -> None:
    listing = parts()[3].plausibly.names(most)
    lines, shown = repr(listing).splitlines(), min(most, 120)
    assert lines[0] == "prediction sets of 60 examples, of 4 labels"
    assert lines[1].split() == ["example", "alpha", "labels", "set"]
    assert lines[2].split()[:3] == ["case", "60", "0.2"]
    assert lines[2 + shown :] == ([f"… {120 - most} more, in to_frame()"] if most < 120 else [])
    assert len(Piece(listing._repr_html_()).cells) == 1 + shown


def test_names_are_escaped_and_long_sets_cut() -> None:
    predictions, _ = world(3, (HOSTILE, "b"))
    piece = Piece((predictions > 2).plausibly.names()._repr_html_())
    assert "script" not in piece.tags
    assert piece.cells[1][-1] == "{}"
    full = Piece((predictions < 2).plausibly.names()._repr_html_())
    assert full.cells[1][-1] == f"{{{HOSTILE}, b}}"
    assert as_text(("x" * 100,)) == "{" + "x" * 39 + "…" + "x" * 20 + "}"
    assert len(as_text("x" * 300)) == 240
    assert as_text(tuple("abcdefg")) == "{a, b, c, d, e, f, … 7 labels}"


def test_the_worst_examples_with_their_sets_and_plausibilities() -> None:
    _, _, plausibilities, sets = parts()
    evaluation = made("evaluation")
    worst = evaluation.plausibly.worst(5, sets=sets, plausibilities=plausibilities)
    missed = 1 - evaluation["aggregated_coverage"].sel(alpha=0.2)
    left, frame = int((missed > 1e-9).sum()), worst.to_frame()
    wanted = np.sort(missed.values)[::-1][: min(5, left)]
    assert [float(missed.sel(example=name)) for name in frame["example"]] == wanted.tolist()
    assert worst.title == f"{left} of 60 sets leave out plausibility, alpha 0.2"
    for row in frame.itertuples():
        inside = sets.sel(example=row.example, alpha=0.2)
        assert row.set == tuple(name for name in LABELS if bool(inside.sel(label=name)))
        shares = plausibilities.sel(example=row.example)
        top = str(shares["label"].values[int(np.argmax(shares.values))])
        first, share = row.plausibilities.split(", ")[0].rsplit(" ", 1)
        assert first[:9] == top[:9]
        assert float(share) == float(shares.max())
    assert evaluation.plausibly.worst(3, alpha=0.1).title.endswith("alpha 0.1")
    turned = evaluation.isel(example=slice(None, None, -1))
    assert repr(turned.plausibly.worst(9)) == repr(evaluation.plausibly.worst(9))
    every = xr.ones_like(sets.sel(alpha=0.1))
    nothing = plausibly.evaluate(every, plausibilities).data.plausibly.worst()
    assert repr(nothing).startswith("0 of 60 sets leave out plausibility")
    with refused("examples-unmeasured", "found variables aggregated_coverage, majority_vote"):
        made("study").plausibly.worst()


def test_guarantees_are_those_of_the_predictor() -> None:
    predictor, new, _, sets = parts()
    for result in (sets, made("evaluation"), made("labels")):
        assert result.plausibly.guarantee("0.1") == predictor.guarantee("0.1")
        assert result.plausibly.guarantee(0.2) == predictor.guarantee("0.2")
    single = predictor.predict(new, 0.1)
    assert single.plausibly.guarantee() == predictor.guarantee(0.1)
    for result, alphas, name, piece in (
        (sets, (), "guarantee-alpha", "found None hint guarantee(0.2)"),
        (sets, (0.3,), "guarantee-alpha", "found 0.3 hint guarantee(0.2)"),
        (new, (), "guarantee-unstated", "without one of its own hint predictor.guarantee(0.1)"),
        (made("study"), (), "guarantee-unstated", "found a Dataset without one"),
    ):
        with refused(name, piece):
            result.plausibly.guarantee(*alphas)


@pytest.mark.parametrize(("figure", "kind"), FIGURES)
def test_each_figure_is_that_of_plots(
    figure: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, figure, lambda result, **options: (result, options))
    result, options = getattr(made(kind).plausibly.plot, figure)(axes="mine")
    assert result is made(kind)
    assert options["axes"] == "mine"
    assert figure in repr(made(kind).plausibly.plot)


# ---- small tables, whole and escaped, with the numbers of the objects


RESULTS: dict[str, Callable[[xr.Dataset], Result]] = {
    "evaluation": Evaluation,
    "study": Study,
    "plan": Plan,
    "agreement": Agreement,
    "sensitivity": Sensitivity,
}


def shown(thing: object) -> Piece:
    return Piece(thing._repr_html_())  # type: ignore[attr-defined]  # notebooks ask the same way


def test_pieces_are_escaped() -> None:
    page = text.framed(
        HOSTILE,
        text.table([[HOSTILE, 3]], head=[HOSTILE, "n"], titled=True),
        text.paragraph(HOSTILE),
        text.preformatted(HOSTILE),
        text.unfolded(HOSTILE, text.escaped(HOSTILE)),
    )
    piece = Piece(page)
    assert "script" not in piece.tags
    assert piece.text.count(HOSTILE) == 7
    assert piece.cells == [[HOSTILE, "n"], [HOSTILE, "3"]]
    assert piece.tags.count("th") == 3


def test_a_guarantee() -> None:
    guarantee = parts()[0].guarantee(0.1)
    piece = shown(guarantee)
    assert piece.text.startswith("P(Y in C(X)) >= 0.90")
    assert piece.cells == [list(row) for row in guarantee.rows()]
    assert str(guarantee).startswith("P(Y in C(X)) >= 0.90\n  covers       ")
    printed: list[str] = []
    guarantee._repr_pretty_(SimpleNamespace(text=printed.append), False)
    assert printed == [str(guarantee)]
    wild = Guarantee(alpha=Fraction(1, 10), level=None, reason=HOSTILE)
    assert HOSTILE in shown(wild).text
    assert "script" not in shown(wild).tags


def test_a_predictor() -> None:
    predictor = parts()[0]
    piece = shown(predictor)
    facts = {row[0]: row[1:] for row in piece.cells}
    assert facts["calibrated on"] == ["60 examples, seed 0"]
    assert facts["fingerprint"] == [predictor.fingerprint]
    assert facts["labels"][0].startswith("4: nodule, ")
    threshold = float(predictor.threshold(0.1))
    assert facts["0.1"] == [f"{threshold:.4f}", "P(Y in C(X)) >= 0.90"]
    assert "the guarantee at alpha 0.1 in full" in piece.text
    assert repr(predictor).startswith("ConformalPredictor  expected + average")
    hostile = shown(plausibly.calibrate(*world(30, (HOSTILE, "b"))))
    assert "script" not in hostile.tags
    assert HOSTILE in hostile.text


def test_an_annotation_table() -> None:
    answers = [("e1", "r1", "a"), ("e1", HOSTILE, HOSTILE), ("e2", HOSTILE, HOSTILE)]
    table = plausibly.build_annotations("single-label", answers, ["a", HOSTILE])
    table = table.assign_attrs(left_out=json.dumps({HOSTILE: 2}))
    piece = shown(table)
    assert "script" not in piece.tags
    assert "annotations 2 examples, 2 annotators, 3 answers" in piece.text
    assert "response_example" in piece.text
    assert repr(table).startswith("annotations  2 examples")
    detached = table.isel(response=[0])
    assert "detached" in shown(detached).text


@pytest.mark.parametrize("kind", list(RESULTS))
def test_a_result_with_its_text_and_its_variables(kind: str) -> None:
    outcome = RESULTS[kind](made(kind))
    piece = shown(outcome)
    assert " ".join(repr(outcome).split()) in " ".join(piece.text.split())
    for name in list(outcome.data.data_vars)[:3]:
        assert str(name) in piece.text, "xarray's own table is there to unfold"


# ---- ``progress=True``: a bar on a terminal and in a notebook, and nothing elsewhere


class Page:
    """A notebook that shows what is displayed, as it changes."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.pages: list[str] = []

    def display(self, thing: PageBar, *, display_id: bool = True) -> SimpleNamespace:
        assert display_id
        self.shown.append(repr(thing).rpartition(",")[0])
        self.pages.append(thing._repr_html_())
        return SimpleNamespace(update=self.display)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    notebook = Page()
    module = ModuleType("IPython.display")
    monkeypatch.setattr(module, "display", notebook.display, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    return notebook


@pytest.mark.parametrize("wanted", [None, False, True])
def test_nothing_is_written_without_a_terminal_or_a_wish(
    monkeypatch: pytest.MonkeyPatch, wanted: bool | None
) -> None:
    stream = io.StringIO() if wanted else Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))  # its console is no notebook
    with ticking(wanted, "working") as tick:
        tick(1, 2)
    assert stream.getvalue() == ""


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with ticking(True, "comparing methods") as tick:
        for step in range(3):
            tick(step + 1, 3)
    assert "comparing methods" in stream.getvalue()
    assert not [line for line in stream.getvalue().splitlines() if line.startswith("comparing")]


def test_the_bar_is_taken_away_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(ZeroDivisionError), ticking(True, "working"):
        raise ZeroDivisionError
    hidden_cursor, cursor = (stream.getvalue().count(f"\x1b[?25{code}") for code in "lh")
    assert hidden_cursor == cursor == 1


def test_a_notebook_shows_how_far_it_is(page: Page) -> None:
    with ticking(True, "working") as tick:
        for step in range(500):
            tick(step + 1, 500)
    assert page.shown[:2] == ["working: 0", "working: 1 of 500"]
    assert page.shown[-1] == "working: 500 of 500", "the last state stays"
    assert len(page.shown) < 100, "it is not drawn at each step"
    piece = Piece(page.pages[-1])
    assert 'max="500" value="500"' in page.pages[-1]
    assert piece.tags == ["progress", "span"]
    assert piece.text.startswith("working: 500 of 500, ")


def test_studies_take_it(page: Page) -> None:
    study = plausibly.compare(*world(), METHODS, splits=2, progress=True).data
    assert page.shown[0] == "comparing methods: 0"
    assert page.shown[-1] == "comparing methods: 2 of 2"
    assert study.identical(plausibly.compare(*world(), METHODS, splits=2).data)
    predictions = world(40)[0].assign_coords(example=answers()["example"].values)
    names = ["label-frequency", "majority-vote"]
    plausibly.sensitivity(predictions, answers(), names, splits=1, progress=True)
    assert page.shown[-1] == "comparing aggregators: 1 of 1"
