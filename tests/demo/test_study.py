"""The demo's study: what is compared, on which splits, and which sets are handed out."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import plausibly
from plausibly.demo import study, subjects

from .runs import SEED, result, subject

NAMES: tuple[subjects.Name, ...] = ("nodules", "toy")


def test_the_toy_knows_its_truth() -> None:
    found = subject("toy")
    assert found.true_label is not None
    unsure = float((found.plausibilities.max("label") < 0.8).mean())
    assert f"no label has 0.8 of it for {100 * unsure:.0f}% of the points" in found.about
    # A label that is drawn from the posterior is covered as often as the posterior.
    measured = result("toy").study
    for method in study.EVERY:
        one = measured.sel({"method": method})
        assert float(one.true_coverage.mean()) == pytest.approx(
            float(one.aggregated_coverage.mean()), abs=0.02
        )


@pytest.mark.parametrize("name", NAMES)
def test_the_sets_are_those_of_the_first_split(name: subjects.Name) -> None:
    found = result(name)
    data = found.subject
    measured = found.study.sel({"method": study.EXPECTED}).isel(split=0, alpha=0)
    lam = data.plausibilities.sel(example=found.sets.example)
    assert found.sets.sizes["example"] == int(measured.n_test)
    assert float((found.sets * lam).sum("label").mean()) == pytest.approx(
        float(measured.aggregated_coverage)
    )
    assert float(found.sets.sum("label").mean()) == pytest.approx(float(measured.set_size))
    assert found.sets.attrs["calibration_overlap"] == 0
    if data.true_label is not None:
        true = data.true_label.sel(example=found.sets.example)
        covered = plausibly.evaluate(found.sets, lam, true_label=true).data.true_coverage_mean
        assert float(covered) == pytest.approx(float(measured.true_coverage))
    if data.cluster is not None:
        tested = set(found.sets[data.cluster].values)
        calibrates = ~data.predictions.example.isin(found.sets.example)
        assert not tested & set(data.predictions[data.cluster].values[calibrates.values])


def test_a_demo_repeats_itself_and_seeds_differ() -> None:
    again = study.first_sets(subjects.load("nodules", SEED), SEED)
    assert again.identical(result("nodules").sets)
    other = study.first_sets(subject("nodules"), SEED + 1)
    assert set(other.example.values) != set(again.example.values)
    first, second = (subjects.load("nodules", seed).predictions for seed in (1, 2))
    assert float(np.abs(first - second).max()) > 0


def test_the_meaning_compares_sizes() -> None:
    found = result("toy")
    for voted, expected, words in (
        (1.32, 1.74, "0.4 more"),
        (1.74, 1.32, "0.4 fewer"),
        (1.74, 1.78, "as many"),
        (1.0, 11.5, "10.5 more"),
    ):
        size = found.study["set_size"].copy()
        size.loc[{"method": study.VOTED}] = voted
        size.loc[{"method": study.EXPECTED}] = expected
        changed = attrs.evolve(found, study=found.study.assign(set_size=size))
        assert f", with {words} labels per set. " in study.meaning(changed)
