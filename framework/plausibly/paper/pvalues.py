"""Section 3.4 and appendix C: averaged p-values and their correction, and uniform ones by label."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data.names import name_texts, text_array
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.result import decimal
from plausibly.evaluation.uniformity import DRAWN, OF, VOTED as OF_VOTES, p_value_uniformity
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools
from plausibly.palette import GREY
from plausibly.paper import page
from plausibly.paper.cases import COMPARED, METHODS, MONTE_CARLO, VOTED
from plausibly.paper.data import toy_data
from plausibly.paper.figure import METHOD, SPLIT, Figure, Study, monte_carlo
from plausibly.paper.page import Claim, Drawing, close, framed, mean_spread
from plausibly.plots import sets, style
from plausibly.plots.style import histogram

ALPHA = "0.05"
POINTS = 20_000
COUNT = 10_000
TESTS = 10
DELTA = 1e-4
LEVELS = 201
LEVEL, TEST = "level", "test"
_LOOKS = {"averaged": style.VOTED, "corrected": style.AGGREGATED}


def averages(study: Study) -> xr.Dataset:
    """Return p-values of `COUNT` tests, and how often they are at most each level."""
    hashes = hash_names(f"p{i}" for i in range(2 * COUNT))
    uniform = Keys(study.seed, "reproduce/ecdf").uniform(hashes, TESTS)
    averaged = np.concatenate([uniform, uniform], axis=1).mean(axis=1)
    held, tested = averaged[:COUNT], averaged[COUNT:]
    levels = np.linspace(0, 1, LEVELS)
    corrected = _at_most(tested, held)
    return xr.Dataset(
        {
            "averaged": (TEST, tested),
            "corrected": (TEST, corrected),
            "averaged_level": (LEVEL, _at_most(levels, tested)),
            "corrected_level": (LEVEL, _at_most(levels, corrected)),
            "band": ((), math.sqrt(math.log(2 / DELTA) / (2 * COUNT))),
        },
        coords={TEST: np.arange(COUNT), LEVEL: levels},
        attrs={
            "data": "simulated p-values",
            "about": f"{COUNT:,} averages of {2 * TESTS} dependent p-values, empirical "
            f"distribution of {COUNT:,} others",
            "seed": study.seed,
        },
    )


def _at_most(levels: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.searchsorted(np.sort(p), levels, side="right") / len(p)


def draw_averages(numbers: xr.Dataset) -> Drawing:
    drawn = page.new_page(9, 4)
    first, second = drawn.subplots(1, 2)
    levels, band = numbers[LEVEL].values, float(numbers["band"])
    for name, look in _LOOKS.items():
        histogram(first, numbers[name].values, np.linspace(0, 1, 41), look, name)
        style.curve(second, levels, numbers[f"{name}_level"].values, look, name, marker="")
    style.dashed(first, COUNT / 40, "uniform", axis="y")
    framed(first, "p-value", "tests", "distribution")
    low, high = np.clip([levels - band, levels + band], 0, 1)
    grey = {"color": GREY, "alpha": 0.35, "linewidth": 0}
    second.fill_between(levels, low, high, label=f"band, delta {DELTA:g}", **grey)
    x, y = "level wanted (alpha)", "share of p-values at most alpha"
    framed(second, x, y, "level reached", grid="both", key="")
    second.set(xlim=(0, 1), ylim=(0, 1))
    style.legend(second, place="upper left")
    return page.finish(drawn, "Averaged p-values, and their empirical correction", numbers)


def claim_averages(numbers: xr.Dataset, level: float) -> Claim:
    band = float(numbers["band"])
    averaged, corrected = (
        float(abs(numbers[f"{name}_level"] - numbers[LEVEL]).max()) for name in _LOOKS
    )
    return Claim(
        says="averages of dependent p-values are not uniform; corrected by an empirical "
        f"distribution they are, to the band of delta {DELTA:g}",
        measured=f"largest distance from uniform: averaged {decimal(averaged)}, "
        f"corrected {decimal(corrected)}, band {decimal(band)}",
        parts={
            "averages off uniform": averaged > band,
            "corrected within the band": corrected <= band,
        },
    )


P_VALUES = Figure(partial(toy_data, POINTS), ALPHA, averages, draw_averages, claim_averages)

TRUE = "true labels"
CORRECTED: dict[str, MethodTable] = {
    "Monte Carlo": monte_carlo(),
    "ECDF, band as in Algorithm 2": monte_carlo(combiner="ecdf"),
    "held-out rank (no band)": monte_carlo(combiner="held-out-rank"),
}


def coverage(study: Study) -> xr.Dataset:
    """Return aggregated coverage and set size, (method, split)."""
    kept = ["aggregated_coverage", "set_size"]
    corrected, method = study.compared(CORRECTED)[kept], {"calibrator": "majority-vote"}

    def measure(_: int, rows: Bools) -> list[float]:
        predictor = study.calibrated(
            rows, method, seed=study.seed, plausibilities=study.data.certain
        )
        means = study.measured(predictor, rows)
        return [means[name] for name in kept]

    arrays = zip(kept, study.over_splits(measure), strict=True)
    known = xr.Dataset(
        {name: ((METHOD, SPLIT), [values]) for name, values in arrays},
        {METHOD: [TRUE], SPLIT: corrected[SPLIT]},
    )
    return xr.concat([known, corrected], dim=METHOD, join="exact")


def draw_coverage(numbers: xr.Dataset) -> Drawing:
    columns = {name: numbers.sel({METHOD: name}) for name in name_texts(numbers[METHOD].values)}
    covered = (("aggregated_coverage", "", style.AGGREGATED),)
    title = "The ECDF correction, with and without its band"
    return page.draw_columns(columns, title, numbers, covered=covered)


def claim_coverage(numbers: xr.Dataset, level: float) -> Claim:
    true, plain, band, rank = numbers["aggregated_coverage"].values
    return Claim(
        says=f"with the ECDF correction of Algorithm 2 coverage is {level:g} as without it, "
        "with more spread over splits",
        measured=f"true labels {mean_spread(true)}, Monte Carlo {mean_spread(plain)}, "
        f"with the correction and its band {mean_spread(band)}, without the band "
        f"{mean_spread(rank)}",
        parts={
            f"Monte Carlo at {level:g}": close(plain, level),
            f"Algorithm 2 at {level:g}": close(band, level),
            "more spread": float(band.std()) > float(plain.std()),
        },
    )


COVERAGE = Figure(partial(toy_data, POINTS), ALPHA, coverage, draw_coverage, claim_coverage)

BINS = 20
BIN = "bin"
_CRITICAL = 1.63
"""Kolmogorov's distance times the root of n, at the level 0.01."""


def uniformity(study: Study) -> xr.Dataset:
    """Return shares of p-values by bin, (method, of, bin), and distances, (method, of)."""
    data, rows = study.data, study.rows(0)
    parts = []
    for place, name in enumerate(COMPARED):
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
        study.tick(place + 1, len(COMPARED))
    numbers = xr.concat(parts, dim=METHOD, join="exact")
    numbers = numbers.assign_coords({METHOD: text_array(COMPARED)})
    facts = study.facts(splits=1)
    del facts["alpha"]  # p-values have none
    return numbers.assign_attrs(facts)


def draw_uniformity(numbers: xr.Dataset) -> Drawing:
    kinds = [str(name) for name in numbers[OF].values]
    drawn = page.new_page(9, 2.2 * len(kinds) + 0.8)
    panels = drawn.subplots(len(kinds), len(COMPARED), sharex=True, sharey=True)
    for column, method in enumerate(COMPARED):
        for row, kind in enumerate(kinds):
            panel, part = panels[row, column], numbers.sel({METHOD: method, OF: kind})
            heights, off = part["share"].values * BINS, float(part["distance_from_uniform"])
            label = f"p-values of {kind} labels, distance {off:.3f}"
            look = sets.OF_LABELS[kind]
            style.bars(panel, numbers[BIN].values, heights, 0.95 / BINS, look, label)
            style.dashed(panel, 1, "uniform", axis="y")
            x, y = "p-value" if row == len(kinds) - 1 else "", "" if column else "density"
            framed(panel, x, y, "" if row else f"calibrated: {method}", key="")
    style.headroom(panels[0, 0], 0.35)
    for panel in panels.ravel():
        style.legend(panel, place="upper left", columns=2)
    return page.finish(drawn, "p-values are uniform for what was calibrated on", numbers)


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


UNIFORMITY = Figure(partial(toy_data, POINTS), ALPHA, uniformity, draw_uniformity, claim_uniformity)
