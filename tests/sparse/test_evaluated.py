"""Coverage of sets by sparse plausibilities: the same Dataset as by dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly import to_sparse
from plausibly.evaluation import (
    ByLabel,
    ByRisk,
    coverage_by,
    entropy,
    largest,
    sorted_coverage,
)
from plausibly.evaluation.inputs import prepare
from plausibly.kernels import coverage
from plausibly.kernels.sparse import Sparse
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
    dense = plausibly.evaluate(
        sets, lam, ties=ties, true_label="truth", by="patient", cluster="patient"
    ).data
    for sparse in (to_sparse(lam), shuffled(to_sparse(turned))):
        found = plausibly.evaluate(
            sets, sparse, ties=ties, true_label="truth", by="patient", cluster="patient"
        ).data
        assert found.identical(dense)
    assert dense.attrs["tied_share"] > 0


def test_a_coordinate_of_the_plausibilities_alone() -> None:
    sets = prediction_sets()
    lam = plausibilities(EXAMPLES, LABELS)
    lam = lam.assign_coords(site=("example", [f"site {row % 4}" for row in range(EXAMPLES)]))
    found = plausibly.evaluate(sets, to_sparse(lam), by="site", cluster="site").data
    assert found.identical(plausibly.evaluate(sets, lam, by="site", cluster="site").data)


def test_other_measures_only_common_examples_and_annotations() -> None:
    sets = prediction_sets()
    lam = plausibilities(EXAMPLES, LABELS)
    sparse = shuffled(to_sparse(lam))
    assert sorted_coverage(sets, sparse).identical(sorted_coverage(sets, lam))
    some = plausibly.evaluate(sets[:30], shuffled(to_sparse(lam[10:])), only_common=True).data
    assert some.identical(plausibly.evaluate(sets[:30], lam[10:], only_common=True).data)
    table = mentions("single-label", EXAMPLES, LABELS)
    assert isinstance(prepare(sets, table).plausibilities.stored, Sparse)
    found = plausibly.evaluate(sets, table).data
    assert found.identical(plausibly.evaluate(sets, plausibly.aggregate(table)).data)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("several", [True, False])
def test_labels_and_risk_have_the_same_bits(dtype: str, several: bool) -> None:
    sets = prediction_sets(several=several)
    lam = plausibilities(EXAMPLES, LABELS, dtype=dtype, counts=False)
    sparse = shuffled(to_sparse(lam.isel(label=np.random.default_rng(5).permutation(LABELS))))
    found = coverage_by(sets, sparse, by=ByLabel(simultaneous=True), cluster="patient")
    dense = coverage_by(sets, lam, by=ByLabel(simultaneous=True), cluster="patient")
    assert found.identical(dense)
    assert coverage_by(sets, sparse, by=ByRisk()).identical(coverage_by(sets, lam, by=ByRisk()))
    words = {name: ("low", "high")[place % 2] for place, name in enumerate(label_names(LABELS))}
    found = coverage_by(sets, sparse, by=ByRisk(words), cluster="patient")
    assert found.identical(coverage_by(sets, lam, by=ByRisk(words), cluster="patient"))


def test_numbers_of_the_examples() -> None:
    lam = plausibilities(EXAMPLES, LABELS, counts=False)
    sparse = to_sparse(lam)
    for number in (entropy, largest):
        found, dense = number(sparse), number(lam)
        np.testing.assert_array_equal(found.values, dense.values)
        assert (found.name, set(found.coords)) == (dense.name, {"example", "truth"})
    table = mentions("single-label", EXAMPLES, LABELS)
    assert entropy(table).identical(entropy(plausibly.aggregate(table)))
