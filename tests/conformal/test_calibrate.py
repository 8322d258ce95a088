"""What `calibrate` accepts, refuses and keeps apart."""

from __future__ import annotations

import numpy as np
import pytest

import plausibly
from conformal_world import LABELS, world
from kit_combiners import Mean
from kit_mutants import changed
from plausibly.errors import IncompatibleComponents, InputError
from refusals import refused


def test_draws_is_a_parameter_of_the_calibrator() -> None:
    predictions, lam = world(40)
    p = plausibly.calibrate(predictions, lam, calibrator="monte-carlo", draws=3)
    assert p.summary.m == 3
    assert plausibly.calibrate(predictions, lam, calibrator="monte-carlo").summary.m == 10
    with pytest.raises(InputError, match="draws"):
        plausibly.calibrate(predictions, lam, calibrator="majority-vote", draws=3)
    with pytest.raises(InputError, match="draws"):
        plausibly.calibrate(predictions, lam, calibrator="monte-carlo", draws=0)
    records = [(f"case {row}", f"r{rater}", LABELS[rater]) for row in range(40) for rater in (0, 1)]
    table = plausibly.build_annotations("single-label", records, LABELS)
    resampled = plausibly.aggregate(table, {"name": "bootstrap", "draws": 2})
    plausibly.calibrate(predictions, resampled, calibrator="monte-carlo", draws=2)
    with refused("draws-too-many", "3 draws from 2 resampled"):
        plausibly.calibrate(predictions, resampled, calibrator="monte-carlo", draws=3)


def test_the_seed_decides_the_draws_and_nothing_else_does() -> None:
    """Same seed, same predictor; another seed, another one; expected needs no seed."""
    predictions, lam = world(60)

    def made(calibrator: str, seed: int) -> float:
        p = plausibly.calibrate(predictions, lam, calibrator=calibrator, seed=seed)
        return float(p.threshold(0.2))

    assert made("monte-carlo", 1) == made("monte-carlo", 1)
    assert len({made("monte-carlo", seed) for seed in range(8)}) > 1
    assert len({made("expected", seed) for seed in range(8)}) == 1


def test_examples_and_labels_must_match_by_name() -> None:
    predictions, lam = world(40)
    with refused("examples-differ"):
        plausibly.calibrate(predictions[:30], lam)
    assert plausibly.calibrate(predictions[:30], lam, only_common=True).n == 30
    renamed = lam.assign_coords(label=["benign ", "unsure", "malign", "other"])
    with refused("labels-differ"):
        plausibly.calibrate(predictions, renamed)


def test_an_aggregator_needs_annotations() -> None:
    predictions, lam = world(40)
    with refused("aggregator-unused"):
        plausibly.calibrate(predictions, lam, aggregator="label-frequency")


def test_the_group_is_a_coordinate_of_the_predictions() -> None:
    predictions, lam = world(60)
    p = plausibly.calibrate(predictions, lam, combiner="held-out-rank", cluster="patient")
    # Ten of twenty patients, with one example of each.
    assert (p.summary.n, p.summary.n_held_out) == (30, 10)
    assert p.pools.calibration.denominator is not None
    assert len(p.pools.calibration.denominator) == 30
    with refused("coordinate-missing", '"site"', "found patient"):
        plausibly.calibrate(predictions, lam, combiner="held-out-rank", cluster="site")
    with refused("calibration-empty"):
        plausibly.calibrate(*world(1), combiner="held-out-rank")


def test_a_share_outside_its_range_is_refused() -> None:
    predictions, lam = world(20)
    with pytest.raises(InputError, match="held_out"):
        plausibly.calibrate(predictions, lam, combiner={"name": "pac", "held_out": 1.0})
    with pytest.raises(InputError, match="delta"):
        plausibly.calibrate(predictions, lam, combiner={"name": "ecdf", "delta": 0.0})
    one_sided = {"name": "ecdf", "band": "one-sided", "delta": 0.6}
    with pytest.raises(InputError, match="one-sided"):
        plausibly.calibrate(predictions, lam, combiner=one_sided)


def test_a_combiner_that_does_not_declare_its_needs_is_caught_at_calibration() -> None:
    forgetful = changed(Mean, combine=lambda self, p, held_out: p.each().min(axis=0))
    with pytest.raises(IncompatibleComponents, match="one p-value per replicate"):
        plausibly.calibrate(*world(20), combiner=forgetful)


def test_annotations_are_aggregated_on_the_way() -> None:
    predictions, lam = world(30)
    counts = np.rint(lam.values * 5).astype(int)
    records = [
        (str(example), f"r{number}", label)
        for example, row in zip(lam.example.values, counts, strict=True)
        for number, label in enumerate(np.repeat(LABELS, row))
    ]
    table = plausibly.build_annotations("single-label", records, LABELS)
    p = plausibly.calibrate(predictions, table)
    assert p.metadata.aggregator == "label-frequency"
    assert p.fingerprint == plausibly.calibrate(predictions, lam).fingerprint
    voted = plausibly.calibrate(predictions, table, aggregator="majority-vote")
    assert voted.fingerprint != p.fingerprint


@pytest.mark.parametrize("gap", [np.nan, None, ""])
def test_a_coordinate_with_gaps_is_not_called_missing(gap: object) -> None:
    predictions, lam = world(20)
    sites = np.array(["north", "south"] * 10, dtype=object)
    sites[3] = gap
    predictions = predictions.assign_coords(site=("example", sites))
    with refused(
        "coordinate-empty",
        "1 of 20 examples",
        'hint fill "site" in, or leave these examples out with sel(example=...)',
    ):
        plausibly.calibrate(predictions, lam, calibrator={"name": "mondrian", "by": "site"})


def test_a_label_without_a_risk_is_named_as_such() -> None:
    predictions, lam = world(20)
    risks = np.arange(predictions.sizes["label"], dtype=np.float64)
    risks[0] = np.nan
    predictions = predictions.assign_coords(risk=("label", risks))
    with pytest.raises(InputError, match='1 of 4 labels have no "risk"'):
        plausibly.calibrate(predictions, lam, calibrator={"name": "risk", "by": "risk"})
