"""Every figure: axes in and out, nothing global, legible, its example; and the numbers it holds."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from matplotlib.figure import Figure

import plausibly
from plausibly import plots
from plausibly.errors import MissingExtra, PlausiblyWarning
from plausibly.evaluation import ByLabel, coverage_by
from plausibly.plots import reading, style
from plausibly.plots.style import shown_name, shown_names
from plots_world import (
    FIGURES,
    draw,
    laid_out,
    made,
    named_rows,
    outside,
    overlapping,
    parts,
    points,
    spans,
    texts,
    world,
)
from refusals import quiet, refused

# ---- properties of every figure


ALL = pytest.mark.parametrize(("figure", "kind"), FIGURES)


@ALL
def test_a_figure_of_its_own_is_legible(figure: str, kind: str) -> None:
    before = made(kind).copy(deep=True)
    axes = laid_out(draw(figure, kind))
    assert isinstance(axes.figure, Figure)
    assert axes.has_data()
    assert not outside(axes)
    assert not overlapping(axes)
    assert made(kind).identical(before)
    title, *notes = axes.get_title("left").split("\n")
    assert title
    assert any(character.isdigit() for line in notes for character in line), "n or interval"
    assert axes.get_xlabel()


@ALL
def test_axes_of_a_user_are_drawn_into_and_returned(figure: str, kind: str) -> None:
    page = Figure()
    grid = page.add_gridspec(1, 2)
    left, right = (page.add_subfigure(grid[place]).subplots() for place in (0, 1))
    assert draw(figure, kind, axes=right) is right
    assert right.has_data()
    assert not left.has_data()
    assert len(right.figure.axes) == 1


def test_axes_show_themselves_in_a_notebook() -> None:
    assert draw("coverage", "evaluation")._repr_png_().startswith(b"\x89PNG")


def test_nothing_global_is_touched_and_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, plausibly; from plausibly import plots;"
        "print(*{'numpy', 'xarray', 'matplotlib'} & set(sys.modules));"
        "import matplotlib, numpy as np, xarray as xr; known = matplotlib.rcParams;"
        "before = {key: known[key] for key in known if key != 'backend'};"
        "taus = xr.DataArray([0.1, 0.2], dims='alpha', coords={'alpha': [0.1, 0.2]});"
        "plots.threshold(taus).figure.draw_without_rendering();"
        "print('matplotlib.pyplot' in sys.modules, all(known[k] == before[k] for k in before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\nFalse True\n"


def test_marks_differ_without_colour_and_colours_to_any_eye() -> None:
    # Okabe and Ito, 2008.
    palette = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"}
    assert {look.colour for look in style.OTHERS} == palette
    looks = list(style.MEASURES.values())
    assert len({look.marker for look in looks}) == len(looks)
    assert len({(look.line, look.hatch) for look in looks}) == len(looks)
    assert len({look.marker for look in style.OTHERS}) == len(style.OTHERS)


def test_the_chosen_alpha_is_drawn() -> None:
    assert "alpha 0.2\n" in draw("coverage", "evaluation").get_title("left")
    assert "alpha 0.1\n" in draw("coverage", "evaluation", alpha=0.1).get_title("left")
    single = made("evaluation").isel(alpha=1)
    assert "alpha 0.1\n" in plots.coverage(single).get_title("left")
    with refused("figure-alpha", "alpha=0.2, or predict and evaluate at 0.3"):
        draw("coverage", "evaluation", alpha=0.3)


@pytest.mark.parametrize("figure", reading.FIGURES)
def test_other_results_are_refused(figure: str) -> None:
    for wrong in (xr.Dataset(), parts()[1]):
        with refused("figure-unsuitable", "expected the result of plausibly."):
            getattr(plots, figure)(wrong)


def test_a_refusal_names_the_call_and_the_figures_of_the_result() -> None:
    with refused(
        "figure-unsuitable",
        "by=ByRange(...)",
        "which has the figure uniformity, p_values",
        "hint plausibly.plots.strata(plausibly.evaluate(sets, plausibilities))",
    ):
        plots.strata(made("uniformity"))


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    with refused("extra-missing", 'pip install "plausibly[plots]"', kind=MissingExtra):
        draw("sizes", "evaluation")


def test_names_are_no_markup() -> None:
    axes = laid_out(draw("coverage", "study"))
    assert any("$a$" in text for text, _ in texts(axes))
    legend = laid_out(draw("alphas", "study")).get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["_votes $a$", "expected <b>", "as wanted"]
    assert np.array([not text.get_parse_math() for text in legend]).all()


@given(st.text(max_size=400))
def test_every_name_fits(name: str) -> None:
    shown = shown_name(name, width=20, lines=2)
    assert shown
    lines = shown.split("\n")
    assert len(lines) <= 2
    assert all(len(line) <= 20 for line in lines)


def test_a_shortened_name_shows_its_ends() -> None:
    shown = shown_name("a finding of the left lower lobe that takes very many words to say")
    assert "…" in shown
    assert shown.startswith("a finding of the")
    assert shown.endswith("to say")
    assert "…" not in shown_name("a name of two lines, nothing of which is cut")
    assert shown_name("line\nbreak\ttab") == "line break tab"
    assert shown_name("\u202etxt.exe\x00") == "�txt.exe�"
    assert shown_name(" ") == '""'
    assert shown_name(7) == "7"


def test_names_that_look_alike_once_cut_are_numbered() -> None:
    long = ["a" * 100 + middle + "b" * 100 for middle in "xyz"]
    shown = shown_names([*long, "c"])
    assert len(set(shown)) == 4
    assert shown[0].endswith("#1")
    assert shown[3] == "c"


def test_the_table_lists_every_figure_with_what_it_is_of(project: Path) -> None:
    page = (project / "docs" / "figures.md").read_text(encoding="utf-8")
    rows = [row.split(" | ") for row in page.splitlines() if row.startswith("| `")]
    listed = {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert sorted(listed) == sorted(dir(plots))
    for figure, kinds in reading.FIGURES.items():
        for kind in kinds:
            maker = reading.KINDS[kind][0].partition("(")[0].rpartition(".")[2]
            assert maker in listed[figure], figure


# ---- examples


LABELS = ("benign", "unsure", "malignant")


@pytest.fixture(scope="module")
def known() -> dict[str, object]:
    predictions, plausibilities = world(120, LABELS)
    predictions = (predictions + 0.001) / 1.003
    predictor = plausibly.calibrate(predictions[:60], plausibilities[:60])
    names, drawn = predictions.example.values[60:].tolist(), np.random.default_rng(0)
    votes = [(name, who, str(drawn.choice(LABELS))) for name in names for who in ("ana", "ben")]
    annotations = plausibly.build_annotations("single-label", votes, LABELS)
    return {
        "plausibly": plausibly,
        "plots": plots,
        "predictor": predictor,
        "predictions": predictions[60:],
        "plausibilities": plausibilities[60:],
        "annotations": annotations,
        "sets": predictor.predict(predictions[60:], [0.2, 0.1]),
        "risk": dict(zip(LABELS, ("low", "low", "high"), strict=True)),
    }


@pytest.mark.parametrize("figure", dir(plots))
def test_the_example_runs(
    figure: str, known: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder(recurse=False).find(
        getattr(plots, figure), figure, globs=dict(known)
    )
    assert example.examples
    with quiet():
        assert doctest.DocTestRunner().run(example).failed == 0


# ---- what is read off the axes is what was measured


def at(kind: str, alpha: float = 0.2) -> xr.Dataset:
    return made(kind).sel(alpha=alpha)


def dashed(axes: object) -> list[float]:
    lines = axes.lines  # type: ignore[attr-defined]  # axes of matplotlib, which types do not see
    return [float(line.get_xdata()[0]) for line in lines if line.get_linestyle() == "--"]


def test_coverage_of_an_evaluation() -> None:
    data, axes = at("evaluation"), draw("coverage", "evaluation")
    names = ("aggregated_coverage", "majority_vote_coverage")
    assert points(axes) == [(float(data[f"{name}_mean"]), row) for row, name in enumerate(names)]
    assert spans(axes) == [(float(data[f"{n}_low"]), float(data[f"{n}_high"])) for n in names]
    assert dashed(axes) == [0.8]
    title = axes.get_title("left").replace("\n", " ")
    assert "60 examples; lines: 95% intervals; dashed: 0.80, as wanted; guaranteed: P(Y" in title


def test_coverage_and_sizes_of_a_study_are_its_splits() -> None:
    data = at("study")
    for figure, measure in (("coverage", "aggregated_coverage"), ("sizes", "set_size")):
        axes = draw(figure, "study")
        for row, dots in enumerate(axes.collections):
            assert dots.get_offsets()[:, 0].tolist() == data[measure][row].values.tolist()
        means = data[measure].mean("split").values
        assert [x for x, _ in points(axes)] == pytest.approx(means.tolist())
        assert named_rows(axes) == ["_votes $a$", "expected <b>"]
        legend = [text.get_text() for text in axes.get_legend().get_texts()]
        assert legend[:2] == ["mean, no guarantee", "mean, guaranteed"]
        assert "3 random splits, 60 test examples each" in axes.get_title("left")


def test_sizes_are_counted() -> None:
    data, axes = at("evaluation"), draw("sizes", "evaluation")
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == np.bincount(data["set_size"].values, minlength=5).tolist()
    assert [label.get_text() for label in axes.get_xticklabels()] == list("01234")
    by_size = draw("sizes", "sizes")
    assert [bar.get_height() for bar in by_size.patches] == heights
    assert f"mean {float(data['set_size_mean']):.2f}" in axes.get_title("left")


@pytest.mark.parametrize(
    ("figure", "kind", "prefix", "count"),
    [
        ("strata", "evaluation", "stratum_", "stratum_n"),
        ("strata", "strata", "", "count"),
        ("strata", "sizes", "", "count"),
    ],
)
def test_strata_stand_in_their_order(figure: str, kind: str, prefix: str, count: str) -> None:
    data, axes = at(kind), draw(figure, kind)
    means = data[f"{prefix}aggregated_coverage_mean"].values
    there = np.flatnonzero(~np.isnan(means))
    assert points(axes) == [(float(means[row]), float(row)) for row in there]
    lows = data[f"{prefix}aggregated_coverage_low"].values[there]
    assert [low for low, _ in spans(axes)] == lows.tolist()
    for name, n in zip(named_rows(axes), data[count].values, strict=True):
        assert name.endswith(f"n = {n}")
    empty = [text.get_text() for text in axes.texts].count("no example")
    assert empty == len(means) - len(there)


@pytest.mark.parametrize(
    ("kind", "dim", "prefix"), [("evaluation", "site", "group_"), ("subgroups", "subgroup", "")]
)
def test_the_weakest_group_comes_first(kind: str, dim: str, prefix: str) -> None:
    data = at(kind)
    high = data[f"{prefix}aggregated_coverage_high"].values
    axes = draw("groups", kind)
    drawn = [b for _, b in spans(axes)]
    assert drawn == sorted(high)
    weakest = str(data[dim].values[int(np.argmin(high))])
    assert named_rows(axes)[0].split("\n")[0] == weakest
    few = draw("groups", kind, most=2)
    assert len(points(few)) == 2
    assert "2 of 3 groups: the weakest" in few.get_title("left").replace("\n", " ")
    together = "lines, for all 3 together: 95% intervals" in axes.get_title("left")
    assert together == (kind == "subgroups")


def test_labels_in_order_or_the_most_plausible() -> None:
    data, axes = at("labels"), draw("labels", "labels")
    assert points(axes) == [(v, row) for row, v in enumerate(data["covered_mean"].values)]
    few = draw("labels", "labels", most=2)
    mass = data["mass"].values
    first = np.argsort(-mass, kind="stable")[:2]
    assert [x for x, _ in points(few)] == data["covered_mean"].values[first].tolist()
    rest = 100 * (1 - mass[first].sum() / mass.sum())
    title = few.get_title("left").replace("\n", " ")
    assert f"2 of 4 labels: those with most plausibility; the others hold {rest:.1f}%" in title
    _, _, shares, sets = parts()
    together = plots.labels(coverage_by(sets, shares, by=ByLabel(simultaneous=True)))
    assert "for all together" in together.get_title("left")


def test_the_highest_risk_is_on_top() -> None:
    data, axes = at("risk"), draw("risk", "risk")
    assert [x for x, _ in points(axes)] == data["missed_mean"].values[::-1].tolist()
    assert named_rows(axes)[0].startswith("2\n1 label, ")
    assert named_rows(axes)[1].startswith("1\n2 labels, ")


def test_realised_coverage_rises() -> None:
    data, axes = at("realised"), draw("realised", "realised")
    coverage = [f"{of}_coverage" for of in ("majority_vote", "tied", "aggregated")]
    for name, line in zip([*coverage, "largest_plausibility"], axes.lines, strict=True):
        assert line.get_ydata()[1:].tolist() == data[name].values.tolist()
        assert line.get_xdata().tolist() == (np.arange(61) / 60).tolist()
        assert line.get_drawstyle() == "steps-pre"
    same = draw("realised", "evaluation").lines[1]
    assert same.get_ydata().tolist() == axes.lines[2].get_ydata().tolist()


def test_p_values() -> None:
    result = made("uniformity")
    axes = draw("p_values", "uniformity", bins=10)
    for row, stairs in enumerate(axes.patches):
        counts = np.histogram(result["p_value"].values[row], 10, (0, 1))[0]
        np.testing.assert_allclose(stairs.get_data().values, counts / 60 * 10)
    steps = draw("uniformity", "uniformity").lines[1:]
    for row, line in enumerate(steps):
        assert line.get_xdata()[1:-1].tolist() == np.sort(result["p_value"].values[row]).tolist()
        assert line.get_ydata()[-2:].tolist() == [1.0, 1.0]


def test_coverage_by_alpha() -> None:
    result, axes = made("evaluation"), draw("alphas", "evaluation")
    lines = axes.lines[:2]
    for name, line in zip(("aggregated_coverage", "majority_vote_coverage"), lines, strict=True):
        np.testing.assert_allclose(line.get_xdata(), [0.8, 0.9])
        np.testing.assert_allclose(line.get_ydata(), result[f"{name}_mean"].sel(alpha=[0.2, 0.1]))
    means = made("study")["aggregated_coverage"].mean("split")
    for row, line in enumerate(draw("alphas", "study").lines[:2]):
        np.testing.assert_allclose(line.get_ydata(), means[row].sel(alpha=[0.2, 0.1]))


def test_thresholds() -> None:
    predictor = parts()[0]
    with pytest.warns(PlausiblyWarning, match="every set contains all labels at alpha 0.01"):
        taus = predictor.threshold([0.3, 0.01, 0.1])
    axes = plots.threshold(taus)
    assert axes.lines[0].get_xdata().tolist() == [0.01, 0.1, 0.3]
    wanted = taus.sel(alpha=[0.01, 0.1, 0.3]).values
    np.testing.assert_array_equal(
        axes.lines[0].get_ydata(), np.where(wanted > -np.inf, wanted, np.nan)
    )
    assert "grey: up to alpha 0.01 every label is" in axes.get_title("left").replace("\n", " ")
    several = xr.concat([taus + k for k in range(8)], "label").assign_coords(label=list("abcdefgh"))
    drawn = plots.threshold(several)
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == list("abcdef")
    assert "6 of 8 labels: the first" in drawn.get_title("left").replace("\n", " ")
    with refused(
        "figure-unsuitable", "plausibly.plots.threshold(predictor.threshold([0.05, 0.1, 0.2]))"
    ):
        plots.threshold(predictor.threshold(0.1))


def test_agreement_and_annotators() -> None:
    result = made("agreement")
    axes = draw("agreement", "agreement")
    shown = result.sel(
        measure=[m for m in result["measure"].values if m not in ("tied", "entropy")]
    )
    assert [x for x, _ in points(axes)] == shown["value"].values.tolist()
    assert [low for low, _ in spans(axes)] == shown["low"].values.tolist()
    order = np.argsort((result["annotator_agreement"] - result["annotator_others"]).values)
    rows = draw("annotators", "agreement")
    assert [x for x, _ in points(rows)] == result["annotator_agreement"].values[order].tolist()
    assert "low" in named_rows(rows)[0]
    assert "diamonds" in rows.get_title("left")
    worth = made("reliability")["weight"].values
    drawn = draw("annotators", "reliability", most=3)
    assert [x for x, _ in points(drawn)] == sorted(worth)[:3]
    assert "3 of 4 annotators: the least reliable" in drawn.get_title("left").replace("\n", " ")


def test_squares_hold_hundredths() -> None:
    result = made("disagreement")
    rows = result["together"].values / result["share"].values[:, None]
    axes = draw("disagreement", "disagreement")
    np.testing.assert_allclose(axes.images[0].get_array(), rows)
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["" if v == 0 else "·" if v < 0.005 else f"{100 * v:.0f}" for v in rows.ravel()]
    assert len(axes.patches) == 4  # the diagonal is framed
    few = draw("disagreement", "disagreement", most=2)
    parted = (result["together"].sum("other") - np.diag(result["together"].values)).values
    kept = np.sort(np.argsort(-parted, kind="stable")[:2])
    np.testing.assert_allclose(few.images[0].get_array(), rows[np.ix_(kept, kept)])


def test_confusion_is_of_the_least_reliable_or_a_named_annotator() -> None:
    result = made("reliability")
    worst = int(np.argmin(result["weight"].values))
    for options, place in (({}, worst), ({"annotator": "_r2"}, 1)):
        axes = draw("confusion", "reliability", **options)
        table = result["confusion"][place].transpose("label", "said").values
        np.testing.assert_allclose(axes.images[0].get_array(), table)
    with refused("annotator-unknown", 'annotator="r1"'):
        draw("confusion", "reliability", annotator="unknown")


def test_sensitivity_marks_what_falls_short() -> None:
    data, axes = at("sensitivity"), draw("sensitivity", "sensitivity")
    means = data["aggregated_coverage"].mean("split").transpose("calibrated_with", "judged_by")
    texts = [text.get_text() for text in axes.texts]
    for text, mean in zip(texts, means.values.ravel(), strict=True):
        assert text.endswith("✗") == (mean < 0.79)
        assert text.startswith(f"{mean:.3f}")


def test_planning_draws_both_bounds() -> None:
    data, axes = at("plan"), draw("planning", "plan")
    lines = [line for line in axes.lines if len(line.get_xdata()) == data.sizes["n"]]
    bounds = data["coverage"].transpose("draws", "bound", "n").values.reshape(-1, data.sizes["n"])
    assert [line.get_ydata().tolist() for line in lines] == bounds.tolist()
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["1 draw", "10 draws", "expected", "as wanted"]
    assert "grey: within 0.050" in axes.get_title("left").replace("\n", " ")


def test_one_example() -> None:
    _, new, shares, sets = parts()
    axes = plots.example(shares, new, sets, name="case 61")
    bars = [bar.get_width() for bar in axes.patches]
    assert bars[:4] == shares.sel(example="case 61").values.tolist()
    assert bars[4:] == new.sel(example="case 61").values.tolist()
    marks = [line for line in axes.lines if line.get_label().startswith("in the set")]
    for alpha, line in zip((0.2, 0.1), marks, strict=True):
        inside = sets.sel(example="case 61", alpha=alpha).values
        assert line.get_ydata().tolist() == np.flatnonzero(inside).tolist()
        assert line.get_label() == f"in the set at alpha {alpha}"
    moved = plots.example(shares[:, ::-1], new, name="case 61")
    assert [b.get_width() for b in moved.patches[4:]] == bars[:3:-1]


def test_many_labels_are_cut_and_counted() -> None:
    predictions, shares = world(4, tuple(f"l{k}" for k in range(30)))
    axes = plots.example(shares, predictions, shares > 2, most=3)
    order = np.argsort(-shares.values[0], kind="stable")[:3]
    assert [bar.get_width() for bar in axes.patches[:3]] == shares.values[0][order].tolist()
    rest = 100 * (1 - shares.values[0][order].sum())
    title = axes.get_title("left").replace("\n", " ")
    assert f"3 of 30 labels: in a set, or the most plausible; the others hold {rest:.1f}%" in title
    assert "in the set" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_an_example_that_is_not_there() -> None:
    _, _, shares, _ = parts()
    with refused("example-unknown", 'name="case 60"'):
        plots.example(shares, name="unknown")
    call = 'plausibly.plots.example(plausibilities, predictions, sets, name="...")'
    for wrong in (None, shares[0]):
        with refused("figure-unsuitable", call):
            plots.example(wrong)


GRADES = ("severe", "mild", "none", "moderate")
ALONG = ["none", "mild", "moderate", "severe"]


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_an_example_and_coverage_have_their_labels_in_order() -> None:
    predictions, shares = world(80, GRADES)
    order = ("label", [ALONG.index(label) for label in GRADES])
    predictions = (predictions + 0.001).assign_coords(order=order)
    predictions = predictions / predictions.sum("label")
    predictor = plausibly.calibrate(predictions[:40], shares[:40], score="ordinal")
    new, answers = predictions[40:], shares[40:]
    sets = predictor.predict(new, "0.2")
    axes = plots.example(answers, new, sets, name="case 41")
    assert [text.get_text() for text in axes.get_yticklabels()] == ALONG
    widths = [bar.get_width() for bar in axes.patches[:4]]
    assert widths == answers.sel(example="case 41", label=ALONG).values.tolist()
    (mark,) = (line for line in axes.lines if line.get_label().startswith("in the set"))
    inside = np.flatnonzero(sets.sel(example="case 41", label=ALONG))
    assert mark.get_ydata().tolist() == inside.tolist()
    axes = plots.labels(coverage_by(sets, answers, by="label"))
    assert [text.get_text().split("\n")[0] for text in axes.get_yticklabels()] == ALONG
