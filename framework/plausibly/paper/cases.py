"""Section 4.1 and appendix C: the case study, by what the calibration is done on.

The paper's case study is of skin; without its folder the nodules that come with plausibly are used.
The last figure compares the standard quantile on pooled drawn labels with the rank of Algorithm 1:
the ``m floor(alpha (n + 1))``-th smallest score with the ``floor(alpha m (n + 1)) - m + 1``-th.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import read_alpha
from plausibly.data import names
from plausibly.data.names import name_texts, several, text_array
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.result import decimal, each
from plausibly.evaluation.uniformity import DRAWN, OF, VOTED as OF_VOTES, p_value_uniformity
from plausibly.kernels import coverage
from plausibly.kernels.types import Bools, Floats
from plausibly.palette import INK, VERMILION
from plausibly.paper import figure
from plausibly.paper.data import nodules, toy_data
from plausibly.paper.figure import (
    CLOSE,
    DRAWS,
    METHOD,
    SPLIT,
    Claim,
    Drawing,
    Figure,
    Study,
    close,
    framed,
    mean_spread,
    monte_carlo,
)
from plausibly.plots import examples, sets, style
from plausibly.plots.style import Look

ALPHA, STRICTER = "0.27", "0.1"
VOTED, MONTE_CARLO, ECDF = "majority-vote", "Monte Carlo", "ECDF Monte Carlo"
METHODS: dict[str, MethodTable] = {
    VOTED: {"calibrator": "majority-vote"},
    MONTE_CARLO: monte_carlo(),
    ECDF: monte_carlo(combiner="ecdf"),
    "expected": {"calibrator": "expected"},
}
COMPARED = (VOTED, MONTE_CARLO)


def claim_by_method(numbers: xr.Dataset, level: float) -> Claim:
    rows = {name: numbers.sel({METHOD: name}) for name in METHODS}
    covered = {name: row["aggregated_coverage"].values for name, row in rows.items()}
    size = {name: float(row["set_size"].mean()) for name, row in rows.items()}
    short = level - float(covered[VOTED].mean())
    measured = ", ".join(
        f"{name} {mean_spread(covered[name])} with {size[name]:.2f} labels" for name in METHODS
    )
    return Claim(
        says=f"calibration on the majority vote misses {level:g} aggregated coverage, Monte Carlo "
        "and ECDF Monte Carlo reach it with larger sets, the latter with more spread",
        measured=f"{measured}; the majority vote falls short by {decimal(short)}",
        parts={
            "voted short": short > CLOSE,
            f"{MONTE_CARLO} at {level:g}": close(covered[MONTE_CARLO], level),
            f"{ECDF} at {level:g}": close(covered[ECDF], level),
            "larger sets": size[MONTE_CARLO] > size[VOTED],
            "more spread of ECDF": bool(covered[ECDF].std() > covered[MONTE_CARLO].std()),
        },
    )


COVERAGE = Figure(
    nodules,
    ALPHA,
    lambda study: study.compared(METHODS),
    partial(figure.draw_methods, "Coverage and set size by what the sets are calibrated on"),
    claim_by_method,
)
COVERAGE_STRICT = attrs.evolve(COVERAGE, alpha=STRICTER)


def _sets_of_one_split(study: Study, methods: tuple[str, ...]) -> tuple[Bools, Bools]:
    """Return the test examples of the first split, and their sets, (method, example, label)."""
    rows, sets = study.rows(0), []
    for name in methods:
        predictor = study.calibrated(rows, METHODS[name], seed=study.seed)
        sets.append(predictor.predict_array(study.data.predictions.values[rows], study.alpha))
    return rows, np.stack(sets)


def by_example(study: Study) -> xr.Dataset:
    rows, sets = _sets_of_one_split(study, tuple(METHODS))
    plausibilities = study.data.plausibilities.values[rows]
    covered = [coverage.aggregated(method_sets, plausibilities) for method_sets in sets]
    return xr.Dataset(
        {
            "majority-vote": (names.EXAMPLE, coverage.majority_vote(sets[0], plausibilities)),
            "tied": (names.EXAMPLE, coverage.majority_vote(sets[0], plausibilities, "fractional")),
            "labels_tied": (names.EXAMPLE, coverage.tie_counts(plausibilities)),
            "largest_plausibility": (names.EXAMPLE, plausibilities.max(axis=1)),
            "aggregated": ((METHOD, names.EXAMPLE), np.stack(covered)),
        },
        coords={
            names.EXAMPLE: study.data.predictions[names.EXAMPLE].values[rows],
            METHOD: text_array(list(METHODS)),
        },
        attrs=study.facts(splits=1),
    )


def draw_by_example(numbers: xr.Dataset) -> Drawing:
    drawn = figure.new_page(9, 6.4)
    above, below = drawn.subplots(2, 1, sharex=True)
    aggregated, dotted = numbers["aggregated"], Look(colour=INK, line=":")
    places = np.arange(1, numbers.sizes[names.EXAMPLE] + 1)
    curves = [
        (above, numbers["majority-vote"], style.VOTED, "majority vote"),
        (above, numbers["tied"], style.TRUE, "majority vote, credit 1/L for L tied"),
        (above, aggregated[0], style.AGGREGATED, "plausibilities (aggregated)"),
        (above, numbers["largest_plausibility"], dotted, "largest plausibility"),
    ]
    looks = (style.VOTED, style.AGGREGATED, style.MASS, style.TRUE)
    for covered, look in zip(aggregated, looks, strict=True):
        curves.append((below, covered, look, str(covered[METHOD].values)))
    for panel, array, look, name in curves:
        label = f"{name}, mean {array.values.mean():.3f}"
        steps = {"marker": "", "drawstyle": "steps-mid"}
        style.curve(panel, places, np.sort(array.values), look, label, **steps)
    titles = {above: "calibrated on votes", below: "aggregated coverage by calibration"}
    for panel, title in titles.items():
        framed(panel, "", "realised coverage (share)", title, key="lower right")
        panel.set(xlim=(0, len(places)), ylim=(-0.03, 1.03))
    below.set_xlabel("test examples, sorted for each curve alone")
    return figure.finish(drawn, "What sets cover of each test example, one split", numbers)


def claim_by_example(numbers: xr.Dataset, level: float) -> Claim:
    aggregated = numbers["aggregated"].sel({METHOD: VOTED}).values
    voted, tied, mean = (
        float(each.mean()) for each in (numbers["majority-vote"], numbers["tied"], aggregated)
    )
    partly = float(((aggregated > 0) & (aggregated < 1)).mean())
    ties = float((numbers["labels_tied"] > 1).mean())
    return Claim(
        says=f"calibrated on votes, sets cover the vote at about {level:g} and expert opinion "
        "far less; of many examples they cover a part",
        measured=f"{several(numbers.sizes[names.EXAMPLE], 'test example')}: majority vote "
        f"{decimal(voted)}, with credit for ties {decimal(tied)}, aggregated {decimal(mean)}; "
        f"covered in part {decimal(partly)}, tied {decimal(ties)}",
        parts={
            "plausibilities short": mean < level - CLOSE,
            "less than the vote": mean < voted - CLOSE,
            "covered in part": partly > 0,
        },
    )


REALISED = Figure(nodules, ALPHA, by_example, draw_by_example, claim_by_example)

SHOWN = 4
MOST_LABELS = 8
AMBIGUOUS = 0.5 + 1e-9  # plausibilities are rounded
CLEARLY = 0.05
_WIDTH = 24
_LOOKS = (Look(colour=VERMILION, marker="x"), style.TRUE)


def ambiguous(study: Study) -> xr.Dataset:
    """Return coverage of every test example by both, and all about the few that are shown."""
    rows, sets = _sets_of_one_split(study, COMPARED)
    predictions = study.data.predictions[rows]
    plausibilities = study.data.plausibilities.values[rows]
    covered = np.stack([coverage.aggregated(method_sets, plausibilities) for method_sets in sets])
    most = plausibilities.max(axis=1)
    few = np.lexsort((most, covered[0] - covered[1], most > AMBIGUOUS))[:SHOWN]
    shown = ("shown", names.LABEL)
    # Of very many labels a few are drawn, which were named or are in a set.
    used = (plausibilities[few] > 0) | sets[:, few].any(axis=0)
    used |= plausibilities.shape[1] <= MOST_LABELS
    order = np.argsort(np.argsort(-(plausibilities[few] + used), axis=1, kind="stable"), axis=1)
    examples = predictions[names.EXAMPLE].values
    return xr.Dataset(
        {
            "aggregated": ((METHOD, names.EXAMPLE), covered),
            "largest_plausibility": (names.EXAMPLE, most),
            "plausibility": (shown, plausibilities[few]),
            "prediction": (shown, predictions.values[few]),
            "in_set": ((METHOD, *shown), sets[:, few]),
            "drawn": (shown, used & (order < MOST_LABELS)),
        },
        coords={
            METHOD: text_array(COMPARED),
            names.EXAMPLE: examples,
            "shown": examples[few],
            names.LABEL: predictions[names.LABEL].values,
        },
        attrs=study.facts(splits=1),
    )


def draw_ambiguous(numbers: xr.Dataset) -> Drawing:
    drawn = figure.new_page(11, 7)
    panels = drawn.subplots(2, SHOWN // 2)
    for panel, whole in zip(panels.flat, each(numbers, "shown"), strict=False):
        example = whole.isel({names.LABEL: whole["drawn"].values})
        plausibilities, inside = example["plausibility"].values, example["in_set"].values
        before, after = (float(plausibilities[there].sum()) for there in inside)
        marks = [
            examples.Marked(name=f"in the {method} set", inside=there, look=look)
            for method, there, look in zip(COMPARED, inside, _LOOKS, strict=True)
        ]
        name = str(example["shown"].values)[-_WIDTH:]
        title = f"{name}: majority vote {before:.2f}, Monte Carlo {after:.2f}"
        labels, model = name_texts(example[names.LABEL].values), example["prediction"].values
        examples.draw_bars(panel, labels, plausibilities, model, marks, width=_WIDTH, title=title)
    figure.key_above(drawn, panels[0, 0], 4)
    return figure.finish(drawn, "Ambiguous examples, and what two sets hold of them", numbers)


def claim_ambiguous(numbers: xr.Dataset, level: float) -> Claim:
    unclear = numbers["largest_plausibility"] <= AMBIGUOUS
    voted, drawn = (numbers["aggregated"].sel({METHOD: name}) for name in COMPARED)
    before, after = float(voted.where(unclear).mean()), float(drawn.where(unclear).mean())
    more, less = float((drawn > voted).mean()), float((drawn < voted).mean())
    return Claim(
        says="on ambiguous examples Monte Carlo sets cover clearly more plausibility mass than "
        "sets calibrated on votes",
        measured=f"{int(unclear.sum())} test examples without a label above one half: majority "
        f"vote {decimal(before)}, Monte Carlo {decimal(after)}; of all test examples "
        f"{decimal(more)} gain and {decimal(less)} lose",
        parts={"clearly more": after > before + CLEARLY},
    )


BARS = Figure(nodules, ALPHA, ambiguous, draw_ambiguous, claim_ambiguous)
BARS_STRICT = attrs.evolve(BARS, alpha=STRICTER)

COUNTS = (1, DRAWS)
RULE = "rule"
RULES = ("standard quantile", "Algorithm 1")
_MEASURES = ("majority_vote_coverage", "aggregated_coverage", "set_size")


def standard(alpha: Fraction, n: int, draws: int) -> Fraction:
    """Return the alpha at which Algorithm 1 has the rank of the standard quantile."""
    rank = draws * math.floor(alpha * (n + 1))
    return Fraction(rank + draws - 1, draws * (n + 1))


def by_rank(study: Study) -> xr.Dataset:
    alpha = read_alpha(study.alpha)

    def measure(number: int, rows: Bools) -> Floats:
        values = np.zeros((len(_MEASURES), len(RULES), len(COUNTS)))
        for place, count in enumerate(COUNTS):
            predictor = study.calibrated(rows, monte_carlo(count), seed=number)
            for rule, level in enumerate((standard(alpha, predictor.n, count), alpha)):
                means = study.measured(predictor, rows, level)
                values[:, rule, place] = [means[name] for name in _MEASURES]
        return values

    dims, arrays = (RULE, names.DRAW, SPLIT), study.over_splits(measure)
    return xr.Dataset(
        {name: (dims, values) for name, values in zip(_MEASURES, arrays, strict=True)},
        {RULE: np.array(RULES), names.DRAW: list(COUNTS), SPLIT: np.arange(study.splits)},
    )


def draw_by_rank(numbers: xr.Dataset) -> Drawing:
    columns = {
        f"{rule}, m = {count}": numbers.sel({RULE: rule, names.DRAW: count})
        for count in COUNTS
        for rule in RULES
    }
    return figure.draw_columns(columns, "The standard quantile on drawn labels", numbers)


def claim_by_rank(numbers: xr.Dataset, level: float) -> Claim:
    there = numbers["aggregated_coverage"].values
    pairs = zip(product(RULES, COUNTS), there.reshape(-1, there.shape[-1]), strict=True)
    measured = ", ".join(
        f"{rule} m = {count} {mean_spread(covered)}" for (rule, count), covered in pairs
    )
    return Claim(
        says=f"the standard quantile on m drawn labels covers {level:g} on average too, "
        "without a guarantee for m > 1; for m = 1 it is Algorithm 1",
        measured=measured,
        parts={
            f"at {level:g}": all(close(covered, level) for covered in there[0]),
            "one rule for m = 1": bool((there[0, 0] == there[1, 0]).all()),
        },
    )


NAIVE = Figure(nodules, ALPHA, by_rank, draw_by_rank, claim_by_rank)

BINS = 20
BIN = "bin"
_CRITICAL = 1.63  # Kolmogorov's distance times the root of n, at the level 0.01


def uniformity(study: Study) -> xr.Dataset:
    """Return shares of p-values by bin, (method, of, bin), and distances, (method, of)."""
    data, rows = study.data, study.rows(0)
    parts = []
    for name in COMPARED:
        result = p_value_uniformity(
            study.calibrated(rows, METHODS[name], seed=study.seed),
            data.predictions[rows],
            data.plausibilities[rows],
            true_label=None if data.true_label is None else data.true_label[rows],
            seed=study.seed,
        )
        counts = [np.histogram(p, bins=BINS, range=(0, 1))[0] for p in result["p_value"].values]
        parts.append(
            xr.Dataset(
                {
                    "share": ((OF, BIN), np.array(counts) / result["p_value"].shape[1]),
                    "distance_from_uniform": (OF, result["ks"].values),
                    "critical_distance": (OF, _CRITICAL / np.sqrt(result["effective"].values)),
                },
                coords={OF: result[OF].values, BIN: (np.arange(BINS) + 0.5) / BINS},
            )
        )
    numbers = xr.concat(parts, dim=METHOD, join="exact")
    numbers = numbers.assign_coords({METHOD: text_array(COMPARED)})
    facts = study.facts(splits=1)
    del facts["alpha"]  # p-values have none
    return numbers.assign_attrs(facts)


def draw_uniformity(numbers: xr.Dataset) -> Drawing:
    kinds = [str(name) for name in numbers[OF].values]
    drawn = figure.new_page(9, 2.2 * len(kinds) + 0.8)
    panels = drawn.subplots(len(kinds), len(COMPARED), sharex=True, sharey=True)
    for panel, (kind, method) in zip(panels.flat, product(kinds, COMPARED), strict=True):
        part = numbers.sel({METHOD: method, OF: kind})
        heights, off = part["share"].values * BINS, float(part["distance_from_uniform"])
        label = f"p-values of {kind} labels, distance {off:.3f}"
        style.bars(panel, numbers[BIN].values, heights, 0.95 / BINS, sets.OF_LABELS[kind], label)
        style.dashed(panel, 1, "uniform", axis="y")
        framed(panel, "p-value", "density", f"calibrated: {method}", key="")
        panel.label_outer()
    style.headroom(panels[0, 0], 0.35)
    for panel in panels.flat:
        style.legend(panel, place="upper left", columns=2)
    return figure.finish(drawn, "p-values are uniform for what was calibrated on", numbers)


def claim_uniformity(numbers: xr.Dataset, level: float) -> Claim:
    limit = float(numbers["critical_distance"].max())
    distances = numbers["distance_from_uniform"]
    off = {name: distances.sel({METHOD: name}).to_series().to_dict() for name in COMPARED}
    texts = []
    for method, by_kind in off.items():
        each = ", ".join(f"{kind} labels {decimal(far)}" for kind, far in by_kind.items())
        texts.append(f"calibrated {method}: {each}")
    return Claim(
        says="p-values of majority votes are uniform when votes calibrate and skewed with Monte "
        "Carlo, those of drawn labels the other way round",
        measured=f"distances from uniform, {'; '.join(texts)}; 0.01 level {decimal(limit)}",
        parts={
            "uniform of votes": off[VOTED][OF_VOTES] <= limit,
            "skewed of drawn labels": off[VOTED][DRAWN] > limit,
            "uniform of drawn labels": off[MONTE_CARLO][DRAWN] <= limit,
            "skewed of votes": off[MONTE_CARLO][OF_VOTES] > limit,
        },
    )


UNIFORMITY = Figure(
    partial(toy_data, 20_000), "0.05", uniformity, draw_uniformity, claim_uniformity
)
