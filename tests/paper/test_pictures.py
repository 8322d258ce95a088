"""Every picture: axes with names, nothing on top of anything, and the same file each time."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from plausibly.errors import InputError, MissingExtra
from plausibly.paper import page
from plausibly.paper.run import reproduce
from plausibly.plots import style
from plots_world import laid_out, outside, overlapping, panels

from .runs import PLAIN, made


@pytest.mark.parametrize("name", PLAIN)
def test_a_picture_has_names_of_axes_a_foot_and_no_text_on_another(name: str) -> None:
    figure = laid_out(made(name).draw())
    shown = [panel for panel in panels(figure) if panel.axison and not panel.images]
    assert shown
    # Panels that share an axis name it once, at the edge.
    for panel in shown:
        column = [p for p in shown if p is panel or p.get_shared_x_axes().joined(p, panel)]
        row = [p for p in shown if p is panel or p.get_shared_y_axes().joined(p, panel)]
        assert any(p.get_xlabel() for p in column)
        assert any(p.get_ylabel() for p in row) or not list(panel.get_yticks())
    assert not overlapping(figure)
    assert not outside(figure)
    foot = figure._supxlabel.get_text()
    assert str(made(name).numbers.attrs["about"]) in foot
    assert "seed 1" in foot
    assert "SIMULATED" not in figure._suptitle.get_text()


@pytest.mark.parametrize("form", ["png", "svg"])
def test_the_same_numbers_give_the_same_file(form: page.Form) -> None:
    first, second = (style.picture(made("ecdf").draw(), form) for _ in range(2))
    assert first == second
    assert first.startswith(b"\x89PNG" if form == "png" else b"<?xml")
    assert not re.search(rb"matplotlib v|dc:date", first.lower())


def test_without_matplotlib_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    with pytest.raises(MissingExtra) as caught:
        reproduce("ecdf", tmp_path / "out")
    assert (caught.value.name, caught.value.hint) == (
        "extra-missing",
        'pip install "plausibly[demo]"',
    )
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        reproduce("ecdf", tmp_path / "file" / "out")
    assert caught.value.name == "output-unwritable"
