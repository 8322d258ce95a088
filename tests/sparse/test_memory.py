"""20,000 labels and as many examples: no step makes an array over all of both."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from memory import at_most
from plausibly.calibration.data import ArrayScores, CalibrationData
from plausibly.calibration.examples import HashedNames
from plausibly.data.align import same_examples, with_labels
from plausibly.data.names import Named
from plausibly.data.plausibilities import Plausibilities
from plausibly.evaluation import ByRisk, coverage_by, entropy
from plausibly.kernels import coverage
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats
from plausibly.plugin import CALIBRATOR, resolve
from sparse_world import label_names, mentions
from tables import labelled

LABELS = EXAMPLES = 20_000
ROWS = 500


@pytest.fixture(scope="module")
def sparse() -> xr.Dataset:
    return plausibly.aggregate(mentions("single-label", EXAMPLES, LABELS), sparse=True)


@pytest.mark.parametrize("kind", ["partial-ranking", "soft-label"])
def test_aggregation(kind: str) -> None:
    table = mentions(kind, EXAMPLES, LABELS)
    with at_most(48):
        found = plausibly.aggregate(table, sparse=True)
    assert found.sizes["slot"] <= 5


def test_alignment_and_files(sparse: xr.Dataset) -> None:
    shell = labelled(
        np.broadcast_to(np.float32(0), (EXAMPLES, LABELS)),
        sparse.example.values[::-1],
        label_names(LABELS)[::-1],
    )
    with at_most(64):
        checked = Plausibilities.from_xarray(sparse)
        turned = with_labels(checked, label_names(LABELS)[::-1], source="a", other="b")
        _, found = same_examples(Named.of(shell), turned)
    assert len(found.examples) == EXAMPLES


def data_of(sparse: xr.Dataset) -> CalibrationData:
    """Return calibration data whose scores are one row, seen again and again."""
    row: Floats = np.random.default_rng(0).random(LABELS).astype(np.float32)
    return CalibrationData(
        scores=ArrayScores(np.broadcast_to(row, (EXAMPLES, LABELS))),
        plausibilities=Plausibilities.of(sparse).stored,
        denominator=sparse.denominator.values,
        examples=HashedNames(hash_names(sparse.example.values)),
        labels=tuple(map(str, sparse.label_name.values)),
        coordinates={"patient": np.arange(EXAMPLES) // 3},
        label_coordinates={"risk": 1.0 + np.arange(LABELS) % 3},
    )


@pytest.mark.parametrize(
    "calibrator",
    [
        {"name": "expected"},
        {"name": "monte-carlo", "draws": 10},
        {"name": "mass-coverage"},
        {"name": "risk", "by": "risk"},
    ],
    ids=lambda table: str(table["name"]),
)
def test_calibrators(sparse: xr.Dataset, calibrator: dict[str, object]) -> None:
    data, component = data_of(sparse), resolve(CALIBRATOR, calibrator)
    with at_most(64):
        found = component.calibrate(data, Keys(0))
    assert found.scores.size >= EXAMPLES


def test_coverage_by_chunks_of_rows(sparse: xr.Dataset) -> None:
    """Sets come a chunk of rows at a time, as from lazy predictions."""
    slots = Plausibilities.of(sparse).stored
    sets = np.random.default_rng(0).random(ROWS * LABELS, dtype=np.float32) < 0.5
    inside = sets.reshape(ROWS, LABELS)
    with at_most(16):
        for start in range(0, 4 * ROWS, ROWS):
            some = slots.take(slice(start, start + ROWS))
            covered = coverage.aggregated(inside, some)
            coverage.majority_vote(inside, some, "fractional")
            coverage.tie_counts(some)
    assert 0.3 < covered.mean() < 0.7


def test_evaluation_risk_and_entropy(sparse: xr.Dataset) -> None:
    """Dense plausibilities of these rows alone would be 76 MiB."""
    some = sparse.isel(example=slice(0, ROWS))
    sets = labelled(np.zeros((ROWS, LABELS), bool), some.example.values, label_names(LABELS))
    risk = {name: place % 3 for place, name in enumerate(label_names(LABELS))}
    with at_most(48):
        found = plausibly.evaluate(sets, some).data
        missed = coverage_by(sets, some, by=ByRisk(risk)).missed_mean
        entropy(some)
    assert float(found.aggregated_coverage_mean) == 0
    assert float(missed[0]) == 1


def test_a_guard_that_would_notice() -> None:
    table = mentions("single-label", ROWS, LABELS)
    with pytest.raises(AssertionError), at_most(48):
        plausibly.aggregate(table)
