"""Coverage of each label against fractions, and what it adds up to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import xarray as xr

from plausibly import evaluate
from plausibly.evaluation import ByLabel, coverage_by, interval

from .parts import case

SETS, LAM = case()


def test_shares_are_what_fractions_say() -> None:
    found = coverage_by(SETS, LAM, by="label")
    for label in LAM["label"].values:
        inside = SETS.sel(label=label).values.tolist()
        said = [Fraction(p) for p in LAM.sel(label=label).values.tolist()]
        mass = sum(said, Fraction(0))
        covered = sum((p for p, held in zip(said, inside, strict=True) if held), Fraction(0))
        one = found.sel(label=label)
        assert float(one["mass"]) == pytest.approx(float(mass))
        assert float(one["covered_mean"]) == pytest.approx(float(covered / mass))
        assert one["examples"] == sum(p > 0 for p in said)
        assert float(one["in_sets_mean"]) == pytest.approx(sum(inside) / len(inside))
        assert one["covered_low"] < one["covered_mean"] < one["covered_high"]


def test_the_mean_of_the_shares_by_mass_is_the_aggregated_coverage() -> None:
    sets, lam = case(alphas=(0.1, 0.2))
    found = coverage_by(sets, lam, by="label")
    assert float(found["mass_share"].sum()) == pytest.approx(1)
    mean = (found["covered_mean"] * found["mass_share"]).sum("label")
    whole = evaluate(sets, lam)["aggregated_coverage_mean"]
    np.testing.assert_allclose(mean.values, whole.values, rtol=1e-12)


def test_certain_labels_have_the_interval_of_their_examples() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, 90)
    coords = {"example": [f"e{i}" for i in range(90)], "label": ["a", "b", "c"]}
    lam = xr.DataArray(np.eye(3)[codes], dims=("example", "label"), coords=coords)
    sets = xr.DataArray(rng.random((90, 3)) < 0.8, dims=lam.dims, coords=coords)
    found = coverage_by(sets, lam, by="label")
    for code, label in enumerate("abc"):
        held = sets.values[codes == code, code].astype(float)
        alone = interval(held, method="wilson")
        assert float(found["covered_mean"].sel(label=label)) == pytest.approx(alone.mean)
        assert float(found["covered_low"].sel(label=label)) == pytest.approx(alone.low, abs=0.015)
        assert found["covered_low"].sel(label=label) <= alone.low


def test_a_label_that_nobody_named_has_no_share() -> None:
    rest = LAM[:, 1:].values + 0.1
    values = np.concatenate([np.zeros((120, 1)), rest / rest.sum(axis=1, keepdims=True)], axis=1)
    found = coverage_by(SETS, LAM.copy(data=values), by=ByLabel(simultaneous=True)).sel(label="l0")
    assert (float(found["mass"]), int(found["examples"])) == (0, 0)
    assert np.isnan(found["covered_mean"])
    assert np.isnan(found["covered_low"])
    assert not np.isnan(found["in_sets_mean"])


def test_simultaneous_intervals_are_wider() -> None:
    alone, together = (
        coverage_by(SETS, LAM, by=ByLabel(simultaneous=simultaneous))
        for simultaneous in (False, True)
    )
    assert (together["covered_low"] < alone["covered_low"]).all()
    assert (together["covered_high"] > alone["covered_high"]).all()
    bonferroni = coverage_by(SETS, LAM, by="label", confidence=1 - 0.05 / 4)
    np.testing.assert_allclose(together["covered_low"], bonferroni["covered_low"])
