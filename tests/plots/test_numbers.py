"""Figures hold the numbers of the result: what is read off the axes is what was measured."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import plots
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.evaluation import ByLabel, coverage_by
from plots_world import LABELS, draw, laid_out, made, named_rows, parts, points, spans, world


def at(kind: str, alpha: float = 0.2) -> xr.Dataset:
    return made(kind).sel(alpha=alpha)


def dashed(axes: object) -> list[float]:
    lines = axes.lines  # type: ignore[attr-defined]  # axes of matplotlib, which types do not see
    return [float(line.get_xdata()[0]) for line in lines if line.get_linestyle() == "--"]


def test_coverage_of_an_evaluation() -> None:
    one, axes = at("evaluation"), draw("coverage", "evaluation")
    names = ("aggregated_coverage", "majority_vote_coverage")
    assert points(axes) == [(float(one[f"{name}_mean"]), row) for row, name in enumerate(names)]
    assert spans(axes) == [(float(one[f"{n}_low"]), float(one[f"{n}_high"])) for n in names]
    assert dashed(axes) == [0.8]
    title = axes.get_title("left").replace("\n", " ")
    assert "60 examples; lines: 95% intervals; dashed: 0.80, as wanted; guaranteed: P(Y" in title


def test_coverage_and_sizes_of_a_study_are_its_splits() -> None:
    one = at("study")
    for figure, measure in (("coverage", "aggregated_coverage"), ("sizes", "set_size")):
        axes = draw(figure, "study")
        for row, dots in enumerate(axes.collections):
            assert dots.get_offsets()[:, 0].tolist() == one[measure][row].values.tolist()
        means = one[measure].mean("split").values
        assert [x for x, _ in points(axes)] == pytest.approx(means.tolist())
        assert named_rows(axes) == ["_votes $a$", "expected <b>"]
        legend = [text.get_text() for text in axes.get_legend().get_texts()]
        assert legend[:2] == ["mean, no guarantee", "mean, guaranteed"]
        assert "3 random splits, 60 test examples each" in axes.get_title("left")


def test_sizes_are_counted() -> None:
    one, axes = at("evaluation"), draw("sizes", "evaluation")
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == np.bincount(one["set_size"].values, minlength=5).tolist()
    assert [label.get_text() for label in axes.get_xticklabels()] == list("01234")
    by_size = draw("sizes", "sizes")
    assert [bar.get_height() for bar in by_size.patches] == heights
    assert f"mean {float(one['set_size_mean']):.2f}" in axes.get_title("left")


@pytest.mark.parametrize(
    ("figure", "kind", "prefix", "count"),
    [
        ("strata", "evaluation", "stratum_", "stratum_n"),
        ("strata", "strata", "", "count"),
        ("strata", "sizes", "", "count"),
    ],
)
def test_strata_stand_in_their_order(figure: str, kind: str, prefix: str, count: str) -> None:
    one, axes = at(kind), draw(figure, kind)
    means = one[f"{prefix}aggregated_coverage_mean"].values
    there = np.flatnonzero(~np.isnan(means))
    assert points(axes) == [(float(means[row]), float(row)) for row in there]
    lows = one[f"{prefix}aggregated_coverage_low"].values[there]
    assert [low for low, _ in spans(axes)] == lows.tolist()
    for name, n in zip(named_rows(axes), one[count].values, strict=True):
        assert name.endswith(f"n = {n}")
    empty = [text.get_text() for text in axes.texts].count("no example")
    assert empty == len(means) - len(there)


@pytest.mark.parametrize(
    ("kind", "dim", "prefix"), [("evaluation", "site", "group_"), ("subgroups", "subgroup", "")]
)
def test_the_weakest_group_comes_first(kind: str, dim: str, prefix: str) -> None:
    one = at(kind)
    high = one[f"{prefix}aggregated_coverage_high"].values
    axes = draw("groups", kind)
    drawn = [b for _, b in spans(axes)]
    assert drawn == sorted(high)
    weakest = str(one[dim].values[int(np.argmin(high))])
    assert named_rows(axes)[0].split("\n")[0] == weakest
    few = draw("groups", kind, most=2)
    assert len(points(few)) == 2
    assert "2 of 3 groups: the weakest" in few.get_title("left").replace("\n", " ")
    together = "lines, for all 3 together: 95% intervals" in axes.get_title("left")
    assert together == (kind == "subgroups")


def test_labels_in_order_or_the_most_plausible() -> None:
    one, axes = at("labels"), draw("labels", "labels")
    assert points(axes) == [(v, row) for row, v in enumerate(one["covered_mean"].values)]
    few = draw("labels", "labels", most=2)
    mass = one["mass"].values
    first = np.argsort(-mass, kind="stable")[:2]
    assert [x for x, _ in points(few)] == one["covered_mean"].values[first].tolist()
    rest = 100 * (1 - mass[first].sum() / mass.sum())
    said = few.get_title("left").replace("\n", " ")
    assert f"2 of 4 labels: those with most plausibility; the others hold {rest:.1f}%" in said
    _, _, lam, sets = parts()
    together = plots.labels(coverage_by(sets, lam, by=ByLabel(simultaneous=True)))
    assert "for all together" in together.get_title("left")


def test_the_highest_risk_is_on_top() -> None:
    one, axes = at("risk"), draw("risk", "risk")
    assert [x for x, _ in points(axes)] == one["missed_mean"].values[::-1].tolist()
    assert named_rows(axes)[0].startswith("2\n1 label, ")
    assert named_rows(axes)[1].startswith("1\n2 labels, ")


def test_realised_coverage_rises() -> None:
    one, axes = at("realised"), draw("realised", "realised")
    coverage = [f"{of}_coverage" for of in ("majority_vote", "tied", "aggregated")]
    for name, line in zip([*coverage, "largest_plausibility"], axes.lines, strict=True):
        assert line.get_ydata()[1:].tolist() == one[name].values.tolist()
        assert line.get_xdata().tolist() == (np.arange(61) / 60).tolist()
        assert line.get_drawstyle() == "steps-pre"
    same = draw("realised", "evaluation").lines[1]
    assert same.get_ydata().tolist() == axes.lines[2].get_ydata().tolist()


def test_p_values() -> None:
    found = made("uniformity")
    axes = draw("p_values", "uniformity", bins=10)
    for row, stairs in enumerate(axes.patches):
        counts = np.histogram(found["p_value"].values[row], 10, (0, 1))[0]
        np.testing.assert_allclose(stairs.get_data().values, counts / 60 * 10)
    steps = draw("uniformity", "uniformity").lines[1:]
    for row, line in enumerate(steps):
        assert line.get_xdata()[1:-1].tolist() == np.sort(found["p_value"].values[row]).tolist()
        assert line.get_ydata()[-2:].tolist() == [1.0, 1.0]


def test_coverage_by_alpha() -> None:
    found, axes = made("evaluation"), draw("alphas", "evaluation")
    lines = axes.lines[:2]
    for name, line in zip(("aggregated_coverage", "majority_vote_coverage"), lines, strict=True):
        np.testing.assert_allclose(line.get_xdata(), [0.8, 0.9])
        np.testing.assert_allclose(line.get_ydata(), found[f"{name}_mean"].sel(alpha=[0.2, 0.1]))
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
    with pytest.raises(InputError) as caught:
        plots.threshold(predictor.threshold(0.1))
    assert (caught.value.name, caught.value.hint) == (
        "figure-unsuitable",
        "plausibly.plots.threshold(predictor.threshold([0.05, 0.1, 0.2]))",
    )


def test_agreement_and_annotators() -> None:
    found = made("agreement")
    axes = draw("agreement", "agreement")
    shown = found.sel(measure=[m for m in found["measure"].values if m not in ("tied", "entropy")])
    assert [x for x, _ in points(axes)] == shown["value"].values.tolist()
    assert [low for low, _ in spans(axes)] == shown["low"].values.tolist()
    order = np.argsort((found["annotator_agreement"] - found["annotator_others"]).values)
    rows = draw("annotators", "agreement")
    assert [x for x, _ in points(rows)] == found["annotator_agreement"].values[order].tolist()
    assert "low" in named_rows(rows)[0]
    assert "diamonds" in rows.get_title("left")
    worth = made("reliability")["weight"].values
    drawn = draw("annotators", "reliability", most=3)
    assert [x for x, _ in points(drawn)] == sorted(worth)[:3]
    assert "3 of 4 annotators: the least reliable" in drawn.get_title("left").replace("\n", " ")


def test_squares_hold_hundredths() -> None:
    found = made("disagreement")
    rows = found["together"].values / found["share"].values[:, None]
    axes = draw("disagreement", "disagreement")
    np.testing.assert_allclose(axes.images[0].get_array(), rows)
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["" if v == 0 else "·" if v < 0.005 else f"{100 * v:.0f}" for v in rows.ravel()]
    assert len(axes.patches) == 4  # the diagonal is framed
    few = draw("disagreement", "disagreement", most=2)
    parted = (found["together"].sum("other") - np.diag(found["together"].values)).values
    kept = np.sort(np.argsort(-parted, kind="stable")[:2])
    np.testing.assert_allclose(few.images[0].get_array(), rows[np.ix_(kept, kept)])


def test_confusion_is_of_the_least_reliable_or_whom_one_asks_for() -> None:
    found = made("reliability")
    worst = int(np.argmin(found["weight"].values))
    for options, place in (({}, worst), ({"annotator": "_r2"}, 1)):
        axes = draw("confusion", "reliability", **options)
        table = found["confusion"][place].transpose("label", "said").values
        np.testing.assert_allclose(axes.images[0].get_array(), table)
    with pytest.raises(InputError) as caught:
        draw("confusion", "reliability", annotator="nobody")
    assert (caught.value.name, caught.value.hint) == ("annotator-unknown", 'annotator="r1"')


def test_sensitivity_marks_what_falls_short() -> None:
    one, axes = at("sensitivity"), draw("sensitivity", "sensitivity")
    means = one["aggregated_coverage"].mean("split").transpose("calibrated_with", "judged_by")
    texts = [text.get_text() for text in axes.texts]
    for text, mean in zip(texts, means.values.ravel(), strict=True):
        assert text.endswith("✗") == (mean < 0.79)
        assert text.startswith(f"{mean:.3f}")


def test_planning_draws_both_bounds() -> None:
    one, axes = at("plan"), draw("planning", "plan")
    lines = [line for line in axes.lines if len(line.get_xdata()) == one.sizes["n"]]
    bounds = one["coverage"].transpose("draws", "bound", "n").values.reshape(-1, one.sizes["n"])
    assert [line.get_ydata().tolist() for line in lines] == bounds.tolist()
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["1 draw", "10 draws", "expected", "as wanted"]
    assert "grey: within 0.050" in axes.get_title("left").replace("\n", " ")


# ---- one example


def test_one_example() -> None:
    _, new, lam, sets = parts()
    axes = plots.example(lam, new, sets, name="case 61")
    bars = [bar.get_width() for bar in axes.patches]
    assert bars[:4] == lam.sel(example="case 61").values.tolist()
    assert bars[4:] == new.sel(example="case 61").values.tolist()
    marks = [line for line in axes.lines if line.get_label().startswith("in the set")]
    for alpha, line in zip((0.2, 0.1), marks, strict=True):
        inside = sets.sel(example="case 61", alpha=alpha).values
        assert line.get_ydata().tolist() == np.flatnonzero(inside).tolist()
        assert line.get_label() == f"in the set at alpha {alpha}"
    moved = plots.example(lam[:, ::-1], new, name="case 61")
    assert [b.get_width() for b in moved.patches[4:]] == bars[:3:-1]


def test_many_labels_are_cut_and_counted() -> None:
    predictions, lam = world(4, tuple(f"l{k}" for k in range(30)))
    sets = {"mine": lam > 2, "yours": lam > 0}
    axes = plots.example(lam, predictions, sets, most=3)
    order = np.argsort(-lam.values[0], kind="stable")[:3]
    assert [bar.get_width() for bar in axes.patches[:3]] == lam.values[0][order].tolist()
    rest = 100 * (1 - lam.values[0][order].sum())
    said = axes.get_title("left").replace("\n", " ")
    assert f"3 of 30 labels: in a set, or the most plausible; the others hold {rest:.1f}%" in said
    assert "in the yours set" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_an_example_that_is_not_there() -> None:
    _, _, lam, _ = parts()
    with pytest.raises(InputError) as caught:
        plots.example(lam, name="nobody")
    assert (caught.value.name, caught.value.hint) == ("example-unknown", 'name="case 60"')
    with pytest.raises(InputError) as caught:
        plots.example()
    assert caught.value.name == "figure-unsuitable"
    with pytest.raises(InputError) as caught:
        plots.example(lam[0].drop_vars("example"))
    assert (caught.value.name, caught.value.hint) == (
        "figure-unsuitable",
        'plausibly.plots.example(plausibilities, predictions, sets, name="...")',
    )


def test_a_region_is_drawn() -> None:
    predictions, lam = world(40, LABELS[:3])
    region = plausibly.calibrate_region(predictions + 1e-3, lam)
    one = (predictions + 1e-3).isel(example=[4])
    axes = plots.region(region, one / one.sum("label"), 0.2, plausibilities=lam.isel(example=[4]))
    assert axes.get_title("left") == "plausibilities of case 4"
    laid_out(axes)  # names of labels are no markup


GRADES = ("severe", "mild", "none", "moderate")
ALONG = ["none", "mild", "moderate", "severe"]


def graded() -> tuple[xr.DataArray, xr.DataArray]:
    predictions, lam = world(80, GRADES)
    named = (predictions + 0.001) / predictions.sum("label")
    order = ("label", [ALONG.index(label) for label in GRADES])
    return (named / named.sum("label")).assign_coords(order=order), lam


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_an_example_has_its_labels_in_their_order() -> None:
    predictions, lam = graded()
    p = plausibly.calibrate(predictions[:40], lam[:40], score="ordinal")
    new, answers = predictions[40:], lam[40:]
    sets = p.predict(new, "0.2")
    name = str(sets["example"].values[int(sets.sum("label").values.argmax())])
    axes = plots.example(answers, new, sets, name=name)
    assert [text.get_text() for text in axes.get_yticklabels()] == ALONG
    widths = [bar.get_width() for bar in axes.patches[:4]]
    assert widths == answers.sel(example=name, label=ALONG).values.tolist()
    (mark,) = (line for line in axes.lines if line.get_label().startswith("in the set"))
    rows = mark.get_ydata().tolist()
    assert rows == np.flatnonzero(sets.sel(example=name, label=ALONG)).tolist()
    assert rows == list(range(rows[0], rows[-1] + 1))
    assert mark.get_linestyle() == "-"


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_sets_with_holes_are_no_bars_and_coverage_is_in_order() -> None:
    predictions, lam = graded()
    sets = plausibly.calibrate(predictions[:40], lam[:40]).predict(predictions[40:], "0.2")
    axes = plots.example(lam[40:], predictions[40:], sets)
    assert [text.get_text() for text in axes.get_yticklabels()] == ALONG
    (mark,) = (line for line in axes.lines if line.get_label().startswith("in the set"))
    assert mark.get_linestyle() == "None"
    axes = plots.labels(coverage_by(sets, lam[40:], by="label"))
    assert [text.get_text().split("\n")[0] for text in axes.get_yticklabels()] == ALONG
