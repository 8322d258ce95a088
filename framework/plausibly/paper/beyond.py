"""Beyond the paper, on simulated ordered labels: one certified predictor, sets without holes."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from functools import cache, partial

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import read_alpha
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.data.names import name_texts, text_array
from plausibly.errors import PlausiblyWarning, counted
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.inputs import HOLES
from plausibly.evaluation.result import decimal
from plausibly.kernels.types import Floats, Ints
from plausibly.paper import figure
from plausibly.paper.data import Data
from plausibly.paper.figure import (
    CLOSE,
    METHOD,
    REPEAT,
    Claim,
    Drawing,
    Figure,
    Study,
    framed,
    mean_spread,
)
from plausibly.plots import style

ALPHA = "0.1"


@attrs.frozen(eq=False)
class World:
    """A finite population: scores and answers in parts of an equal total, (example, label)."""

    scores: Floats
    counts: Ints

    def missed(self, threshold: float) -> float:
        return float(self.counts[self.scores < threshold].sum() / self.counts.sum())

    def sample(self, n: int, random: np.random.Generator) -> World:
        """Return `n` independent examples, drawn with replacement."""
        chosen = random.integers(len(self.scores), size=n)
        return World(self.scores[chosen], self.counts[chosen])

    def arrays(self) -> tuple[xr.DataArray, xr.DataArray]:
        examples, labels = self.scores.shape
        total = self.counts.sum(axis=1)
        coords = {
            names.EXAMPLE: text_array([f"example {place + 1}" for place in range(examples)]),
            names.LABEL: text_array([str(place + 1) for place in range(labels)]),
            names.ORDER: (names.LABEL, np.arange(1, labels + 1)),
        }
        model = xr.DataArray(self.scores, coords, (names.EXAMPLE, names.LABEL), "predictions")
        answers = model.copy(data=self.counts / total[:, None]).rename("plausibilities")
        return (
            model.assign_attrs({names.SCALE: "any"}),
            answers.assign_coords({names.DENOMINATOR: (names.EXAMPLE, total)}),
        )

    def threshold(self, bound: str, *, alpha: Fraction, delta: float, seed: int) -> float:
        combiner = {"name": "pac", "bound": bound, "delta": delta}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlausiblyWarning)  # few examples may give every label
            predictor = calibrate(*self.arrays(), combiner=combiner, seed=seed)
            return float(predictor.threshold(alpha))


def ordered(
    random: np.random.Generator,
    *,
    size: int = 20_000,
    labels: int = 5,
    votes: int = 3,
    noise: float = 0.5,
) -> World:
    centre, place = random.uniform(0, labels - 1, (size, 1)), np.arange(labels)
    answers = np.exp(-1.1 * abs(place - centre))
    model = np.exp(-1.3 * abs(place - centre) + random.normal(0, noise, (size, labels)))
    answers, model = (weights / weights.sum(axis=1, keepdims=True) for weights in (answers, model))
    return World(model, random.multinomial(votes, answers))


@cache
def ordered_data(seed: int) -> Data:
    """Return a population of five ordered labels with three votes for each example."""
    predictions, plausibilities = ordered(np.random.default_rng(seed)).arrays()
    examples, labels = predictions.shape
    return Data(
        name="ordered labels",
        about=f"simulated: {counted(examples)} examples of {labels} ordered labels, 3 votes each",
        predictions=predictions.assign_attrs({names.SCALE: "probability"}),
        plausibilities=plausibilities,
    )


DELTA = 0.1
SIZES = (100, 300, 1000)
BETTING, HELD_OUT = "betting", "held-out"
BOUNDS = (BETTING, "binomial", "hoeffding-bentkus", HELD_OUT)
BOUND, COUNT = "bound", "calibration_examples"


def certified(study: Study) -> xr.Dataset:
    world, alpha = ordered(np.random.default_rng(study.seed)), read_alpha(study.alpha)
    measured = np.zeros((2, len(BOUNDS), len(SIZES), study.splits))
    for repeat in range(study.splits):
        for place, n in enumerate(SIZES):
            sample = world.sample(n, np.random.default_rng([study.seed, n, repeat]))
            for row, bound in enumerate(BOUNDS):
                tau = sample.threshold(bound, alpha=alpha, delta=DELTA, seed=repeat)
                size = (world.scores >= tau).sum(axis=1).mean()
                measured[:, row, place, repeat] = world.missed(tau), size
        study.tick(repeat + 1, study.splits)
    dims = (BOUND, COUNT, REPEAT)
    facts = study.facts(delta=DELTA, about=f"{study.data.about}; {study.splits} calibrations each")
    del facts["splits"]
    return xr.Dataset(
        {"missed_mass": (dims, measured[0]), "set_size": (dims, measured[1])},
        {BOUND: text_array(BOUNDS), COUNT: list(SIZES), REPEAT: np.arange(study.splits)},
        facts,
    )


def _failures(numbers: xr.Dataset) -> xr.DataArray:
    failed: xr.DataArray = numbers["missed_mass"] > numbers.attrs[names.ALPHA]
    return failed.mean(REPEAT)


def draw_certified(numbers: xr.Dataset) -> Drawing:
    drawn = figure.new_page(9, 4)
    panels = drawn.subplots(1, 2)
    curves = (_failures(numbers), numbers["set_size"].mean(REPEAT))
    for panel, array in zip(panels, curves, strict=True):
        for by_count, look in zip(array, style.OTHERS, strict=False):
            style.curve(panel, np.array(SIZES), by_count.values, look, str(by_count[BOUND].values))
        panel.set_xscale("log")
        panel.set_xticks(SIZES, [counted(n) for n in SIZES], minor=False)
        panel.set_xticks([], minor=True)
    delta = numbers.attrs["delta"]
    style.dashed(panels[0], delta, f"delta {delta:g}", axis="y")
    x = "calibration examples"
    framed(panels[0], x, "share of calibrations", "missed mass above alpha", room=0.4, columns=2)
    framed(panels[1], x, "mean set size (labels)", "labels per set", key="upper right")
    title = "A guarantee for this predictor, by bound (pac)"
    return figure.finish(drawn, title, numbers)


def claim_certified(numbers: xr.Dataset, level: float) -> Claim:
    delta, repeats = numbers.attrs["delta"], numbers.sizes[REPEAT]
    allowed = delta + 4 * math.sqrt(delta * (1 - delta) / repeats)
    failures, sizes = _failures(numbers), numbers["set_size"].mean(REPEAT)
    each = ", ".join(
        f"{bound} {decimal(float(failures.sel({BOUND: bound}).max()))} with "
        + " ".join(f"{size:.2f}" for size in sizes.sel({BOUND: bound}).values)
        for bound in name_texts(numbers[BOUND].values)
    )
    betting, held_out = (sizes.sel({BOUND: bound}) for bound in (BETTING, HELD_OUT))
    return Claim(
        says=f"a predictor calibrated with pac misses more than {1 - level:g} of the answers with "
        f"probability {delta:g} at most, for each bound; betting on all examples gives sets that "
        "are not larger than those of a held-out half",
        measured=f"largest share of failures, with labels per set at n = "
        f"{', '.join(map(str, SIZES))}: {each}; allowed {decimal(allowed)} "
        "(delta and four standard errors)",
        parts={
            **{
                f"failures of {bound}": bool((failures.sel({BOUND: bound}) <= allowed).all())
                for bound in name_texts(numbers[BOUND].values)
            },
            "betting not larger": bool((betting <= held_out).all()),
        },
    )


PAC = Figure(ordered_data, ALPHA, certified, draw_certified, claim_certified)

PLAIN, HULL, GREEDY = "probability", "hull", "greedy"
SCORES: dict[str, MethodTable] = {
    PLAIN: {"score": "probability"},
    HULL: {"score": "ordinal"},
    GREEDY: {"score": {"name": "ordinal", "greedy": True}},
}


def claim_whole(numbers: xr.Dataset, level: float) -> Claim:
    holes, parts, texts = {}, {}, []
    for name in SCORES:
        row = numbers.sel({METHOD: name})
        covered, holes[name] = row["aggregated_coverage"].values, float(row[HOLES].mean())
        parts[f"{name} at least {level:g}"] = float(covered.mean()) >= level - CLOSE
        texts.append(
            f"{name} {mean_spread(covered)} with {float(row['set_size'].mean()):.2f} labels, "
            f"{holes[name]:.1%} with holes"
        )
    return Claim(
        says=f"sets of the scores ordinal and probability cover {level:g}; those of ordinal have "
        "no holes, those of probability have some",
        measured=", ".join(texts),
        parts={
            **parts,
            "no holes": holes[HULL] == holes[GREEDY] == 0,
            "holes of probability": holes[PLAIN] > 0,
        },
    )


ORDINAL = Figure(
    ordered_data,
    ALPHA,
    lambda study: study.compared(SCORES),
    partial(
        figure.draw_methods, "Ordered labels: sets without holes (ordinal)", covered=figure.ANSWERS
    ),
    claim_whole,
)
