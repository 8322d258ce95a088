"""Coverage of sets by packed plausibilities: the same Dataset as by dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.evaluation import coverage_by_label, coverage_by_strata, sorted_coverage
from plausibly.evaluation.judged import judge
from plausibly.kernels import coverage
from plausibly.labelled.packed import slots_of
from plausibly.plugin import pack
from sparse_world import label_names, mentions, plausibilities, shuffled

LABELS, EXAMPLES = 45, 50


def prediction_sets(examples: int = EXAMPLES, *, several: bool = True) -> xr.DataArray:
    rng = np.random.default_rng(0)
    shape = (examples, LABELS, 2) if several else (examples, LABELS)
    coords: dict[str, object] = {
        "example": [f"case {row}" for row in range(examples)],
        "label": label_names(LABELS),
        "patient": ("example", [f"p{row // 3}" for row in range(examples)]),
    }
    dims = ("example", "label", "alpha")[: len(shape)]
    if several:
        coords["alpha"] = [0.1, 0.3]
    return xr.DataArray(rng.random(shape) < 0.6, dims=dims, coords=coords)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("ties", coverage.TIES)
@pytest.mark.parametrize("several", [True, False])
def test_evaluate_gives_the_same(ties: coverage.Ties, dtype: str, several: bool) -> None:
    sets = prediction_sets(several=several)
    lam = plausibilities(EXAMPLES, LABELS, dtype=dtype)
    turned = lam.isel(label=np.random.default_rng(3).permutation(LABELS))
    dense = plausibly.evaluate(sets, lam, ties=ties, true="truth", by="patient", cluster="patient")
    for packed in (pack(lam), shuffled(pack(turned))):
        found = plausibly.evaluate(
            sets, packed, ties=ties, true="truth", by="patient", cluster="patient"
        )
        assert found.identical(dense)
    assert dense.attrs["tied_share"] > 0


def test_a_coordinate_of_the_plausibilities_alone() -> None:
    sets = prediction_sets()
    lam = plausibilities(EXAMPLES, LABELS)
    lam = lam.assign_coords(site=("example", [f"site {row % 4}" for row in range(EXAMPLES)]))
    found = plausibly.evaluate(sets, pack(lam), by="site", cluster="site")
    assert found.identical(plausibly.evaluate(sets, lam, by="site", cluster="site"))


def test_only_common_examples() -> None:
    sets = prediction_sets(30)
    lam = plausibilities(EXAMPLES, LABELS, start=10)
    found = plausibly.evaluate(sets, shuffled(pack(lam)), only_common=True)
    assert found.identical(plausibly.evaluate(sets, lam, only_common=True))
    assert found.sizes["example"] == 20


def test_annotations_are_packed_inside() -> None:
    sets = prediction_sets()
    table = mentions("single-label", EXAMPLES, LABELS)
    assert isinstance(judge(sets, table).given, xr.Dataset)
    found = plausibly.evaluate(sets, table)
    assert found.identical(plausibly.evaluate(sets, plausibly.aggregate(table)))


def test_measures_that_look_at_every_label() -> None:
    sets = prediction_sets()
    lam = plausibilities(EXAMPLES, LABELS)
    packed = shuffled(pack(lam))
    assert coverage_by_label(sets, packed).identical(coverage_by_label(sets, lam))
    assert sorted_coverage(sets, packed).identical(sorted_coverage(sets, lam))
    largest = xr.DataArray(lam.max("label"), name="of")
    found = coverage_by_strata(sets, packed, largest, quantiles=2)
    assert found.identical(coverage_by_strata(sets, lam, largest, quantiles=2))


def test_chunks_of_rows_give_the_whole() -> None:
    """What is mapped over lazy chunks: each is measured with the slots of its own rows."""
    sets = prediction_sets(several=False).values
    slots = slots_of(pack(plausibilities(EXAMPLES, LABELS)))
    parts = [slice(start, start + 7) for start in range(0, EXAMPLES, 7)]
    whole = coverage.aggregated(sets, slots)
    found = np.concatenate([coverage.aggregated(sets[one], slots.take(one)) for one in parts])
    np.testing.assert_array_equal(found, whole)
    voted = np.concatenate([coverage.voted(sets[one], slots.take(one)) for one in parts])
    np.testing.assert_array_equal(voted, coverage.voted(sets, slots))
