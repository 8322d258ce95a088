"""`.plausibly` of DataArrays and Datasets: names, the worst examples, the guarantee, figures."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import plausibly
from notebook_pages import HOSTILE, Piece
from plausibly import plots
from plausibly.accessor import as_text
from plausibly.errors import InputError
from plots_world import FIGURES, LABELS, draw, made, parts, world
from refusals import refused


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


def test_figures_are_drawn() -> None:
    axes = made("evaluation").plausibly.plot.coverage(alpha=0.1)
    assert axes.get_title("left") == draw("coverage", "evaluation", alpha=0.1).get_title("left")
    with pytest.raises(InputError, match="p_value_uniformity"):
        made("evaluation").plausibly.plot.uniformity()
    assert repr(parts()[3].plausibly) == ".plausibly of a DataArray: names(), guarantee()"
