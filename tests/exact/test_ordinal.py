"""Score `ordinal` keeps each guarantee, exactly: by the oracle's p-values, and by enumeration.

The guarantees hold for any scores, so that a hull which is computed of each example alone changes
none. What is new are p-values whose holes are filled: apart by label, of augmentations, and of
joint ranks. There each example of a small bag is the new one once, and calibrated on the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings

import plausibly
from exact_oracles import World, worlds
from plausibly.kernels.types import Bools, Floats
from scores_oracles import hull
from tables import labelled, shares

from .pairs import PAIRS, oracle

pytestmark = pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")

COLUMNS = {"name": "ordinal", "order": "columns"}
THOROUGH = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
BAGS, SIZE, LABELS = 8, 6, 4


def hulled(array: xr.DataArray) -> xr.DataArray:
    rows = [hull([Fraction(value) for value in row]) for row in array.values.tolist()]
    return array.copy(data=np.array(rows, dtype=np.float64).astype(array.dtype))


@THOROUGH
@given(world=worlds(most=12, draws=4, alphas=2))
def test_sets_are_the_oracle_s_for_hulled_scores(world: World) -> None:
    changed = replace(world, predictions=hulled(world.predictions), test=hulled(world.test))
    for pair in PAIRS:
        if pair.rule.splits and len(world.names) < 2:
            continue
        p = plausibly.calibrate(
            world.predictions,
            world.plausibilities,
            calibrator=pair.calibrator,
            combiner=pair.combiner,
            score=COLUMNS,
            draws=world.draws if pair.calibrator == "monte-carlo" else None,
            seed=world.seed,
        )
        calibration, held_out = oracle(pair, changed)
        for alpha in world.alphas:
            tau = pair.rule.threshold(calibration, held_out, Fraction(alpha))
            wanted = [[score >= tau for score in row] for row in changed.test_scores]
            assert p.predict(world.test, alpha).values.tolist() == wanted, (pair, alpha)


def bag(seed: int, views: int = 1) -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions in quarters, with ties, and the plausibilities of two or three votes."""
    random = np.random.default_rng(seed)
    cuts = np.sort(random.integers(0, 5, (views, SIZE, LABELS - 1)), axis=-1)
    values: Floats = np.diff(cuts, axis=-1, prepend=0, append=4) / 4
    votes = np.zeros((SIZE, LABELS), dtype=np.int64)
    for example in range(SIZE):
        np.add.at(votes[example], random.integers(LABELS, size=int(random.integers(2, 4))), 1)
    predictions = labelled(values if views > 1 else values[0])
    if views > 1:
        predictions = predictions.assign_coords(augmentation=[f"x{j}" for j in range(views)])
    return predictions, shares(votes)


def sets_of_each(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray,
    calibrator: str | Mapping[str, object],
    combiner: str = "average",
) -> Iterator[tuple[Fraction, Bools]]:
    """Yield each alpha with the set of each example, (example, label), calibrated on all others."""
    results = []
    for test in range(SIZE):
        rest = [place for place in range(SIZE) if place != test]
        known = predictions.isel(example=rest), plausibilities.isel(example=rest)
        new = predictions.isel(example=[test])
        if calibrator == "joint-rank":
            sets = plausibly.joint_rank(*known, new, ALPHAS, score=COLUMNS)
        else:
            predictor = plausibly.calibrate(
                *known, calibrator=calibrator, combiner=combiner, score=COLUMNS
            )
            sets = predictor.predict(new, ALPHAS)
        results.append(sets.transpose("alpha", "example", "label").values[:, 0])
    for alpha, plane in zip(ALPHAS, np.stack(results, axis=1), strict=True):
        yield Fraction(alpha), plane


def masses(plausibilities: xr.DataArray) -> list[list[Fraction]]:
    totals = plausibilities["denominator"].values.tolist()
    return [
        [Fraction(round(value * total), total) for value in row]
        for row, total in zip(plausibilities.values.tolist(), totals, strict=True)
    ]


ALPHAS = ["0.15", "0.17", "0.3", "0.34", "0.5", "0.51"]
"""Around the p-values of bags of six."""


def missed(plausible: list[list[Fraction]], sets: Bools) -> Fraction:
    """Return the mass outside of the sets."""
    cells = zip(plausible, sets.tolist(), strict=True)
    pairs = (pair for row, inside in cells for pair in zip(row, inside, strict=True))
    return sum((mass for mass, inside in pairs if not inside), Fraction(0))


@pytest.mark.parametrize("seed", range(BAGS))
def test_each_label_is_covered_where_labels_are_apart(seed: int) -> None:
    predictions, plausibilities = bag(seed)
    plausible = masses(plausibilities)
    for alpha, sets in sets_of_each(
        predictions, plausibilities, {"name": "mondrian", "by": "label"}
    ):
        for label in range(LABELS):
            column = [[row[label]] for row in plausible]
            mass = sum((item for (item,) in column), Fraction(0))
            assert missed(column, sets[:, label : label + 1]) <= alpha * mass


@pytest.mark.parametrize("calibrator", ["expected", {"name": "clustered", "by": "patient"}])
@pytest.mark.parametrize("seed", range(BAGS))
def test_answers_are_covered(seed: int, calibrator: str | Mapping[str, object]) -> None:
    predictions, plausibilities = bag(seed)
    predictions = predictions.assign_coords(patient=("example", [f"p{i}" for i in range(SIZE)]))
    for alpha, sets in sets_of_each(predictions, plausibilities, calibrator):
        assert missed(masses(plausibilities), sets) <= alpha * SIZE


@pytest.mark.parametrize(
    ("scores", "combiner", "times"),
    [
        ("mean", "average", 1),
        ("separate", "average", 2),
        ("separate", "maximum", 1),
        ("separate", "twice-average", 1),
    ],
)
@pytest.mark.parametrize("seed", range(BAGS))
def test_answers_are_covered_with_augmentations(
    seed: int, scores: str, combiner: str, times: int
) -> None:
    predictions, plausibilities = bag(seed, views=2)
    calibrator = {"name": "augmentation", "scores": scores}
    for alpha, sets in sets_of_each(predictions, plausibilities, calibrator, combiner):
        assert missed(masses(plausibilities), sets) <= times * alpha * SIZE


@pytest.mark.parametrize("seed", range(BAGS))
def test_certain_answers_are_covered_by_joint_ranks(seed: int) -> None:
    """One answer per example, so that nothing is drawn and the enumeration is complete."""
    predictions, plausibilities = bag(seed, views=2)
    certain = shares(np.eye(LABELS, dtype=np.int64)[plausibilities.values.argmax(axis=1)])
    for alpha, sets in sets_of_each(predictions, certain, "joint-rank"):
        assert missed(masses(certain), sets) <= alpha * SIZE
