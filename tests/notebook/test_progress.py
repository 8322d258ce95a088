"""``progress=True``: a bar on a terminal and in a notebook, and nothing elsewhere."""

from __future__ import annotations

import io
import sys
from types import ModuleType, SimpleNamespace

import pytest

import plausibly
from cli_world import Terminal
from notebook_pages import Piece
from plausibly.progress import PageBar, ticking
from plots_world import METHODS, answers, world


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
