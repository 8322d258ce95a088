"""Pairs without a guarantee: refused by name, or allowed and said to have none, everywhere."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from numpy.typing import ArrayLike

import cli_world
import plausibly
from cli_world import CALIBRATE, make, typed
from plausibly.calibration.pvalues import Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.errors import IncompatibleComponents
from plausibly.guarantee import Guarantee
from plausibly_builtins.combiners.merging import Effective, correlation, worth
from refusals import refused
from tables import world

from .designs import MERGING, NONE, combiner, copies, drawn, gaussian

ALPHA = Fraction(1, 10)
INDEPENDENT = "independent p-values; replicates share the test score"
ALLOW = "hint combiner average (1 - alpha), or allow_no_guarantee=True"
EXPECTED = {
    "cauchy": "a bound at this alpha; cauchy's holds only as alpha goes to 0",
    "fisher": INDEPENDENT,
    "stouffer": INDEPENDENT,
}


@pytest.mark.parametrize("name", NONE)
def test_a_rule_without_a_guarantee_is_refused_or_allowed_by_name(name: str) -> None:
    pieces = (f"combiner {name} ", f"expected {EXPECTED[name]} {ALLOW}")
    calibrate = partial(plausibly.calibrate, *world(40), calibrator="monte-carlo", combiner=name)
    with refused("guarantee-none", *pieces, kind=IncompatibleComponents) as caught:
        calibrate()
    assert caught.value.source == f"combiner {name}"
    predictor = calibrate(allow_no_guarantee=True)
    guarantee = predictor.guarantee("0.1")
    assert guarantee.level is None
    assert guarantee.statement() == guarantee.short() == guarantee.shown_level() == "no guarantee"
    assert str(guarantee).splitlines()[0] == "no guarantee"
    assert [title for title, _ in guarantee.rows()] == ["reason"]
    assert guarantee.reason == f"a guarantee needs {EXPECTED[name]}"
    assert repr(predictor).splitlines()[1].endswith("no guarantee")
    sets = predictor.predict(world(20, start=100)[0], "0.1")
    (stated,) = json.loads(sets.attrs["guarantees"])
    assert (stated["level"], stated["statement"]) == (None, "no guarantee")
    assert Guarantee.from_json(stated) == guarantee


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path)
    monkeypatch.chdir(tmp_path)
    key = "method.allow_no_guarantee=true"
    fisher = f"{CALIBRATE} --calibrator monte-carlo --combiner fisher"
    hint = f"hint combiner average (1 - alpha), or --set {key}"
    cli_world.refused(fisher, "guarantee-none", f"expected {INDEPENDENT} {hint}")
    document = typed(fisher, "--set", key, "--json").document
    assert document["guarantees"][0]["statement"] == "no guarantee"


@pytest.mark.parametrize("name", MERGING)
def test_exchangeability_of_replicates_is_stated(name: str) -> None:
    several = combiner(name).guarantee(*drawn(99), ALPHA)
    condition = "replicates are exchangeable, as labels drawn alike are"
    assert (condition in several.assumes) is name.startswith("exchangeable")
    assert any("combiner average already has 1 - alpha" in note for note in several.notes)
    assert combiner(name).guarantee(*drawn(99, 1), ALPHA).assumes == ("this", "that")


def test_e_values_want_scores_above_zero() -> None:
    with refused("scores-not-positive", kind=IncompatibleComponents):
        plausibly.calibrate(
            *world(40), calibrator="monte-carlo", combiner="e-value", score="log-probability"
        )
    assert "very large" in combiner("e-value").guarantee(*drawn(99), ALPHA).notes[0]


def test_e_values_say_nothing_at_one_over_n_plus_one() -> None:
    vacuous = [combiner("e-value").guarantee(*drawn(n), Fraction(1, 10)).vacuous for n in (9, 10)]
    assert vacuous == [True, False]


@pytest.mark.parametrize(
    "values", [[[0.0, 0.5]], [[1.5], [0.1]], [[np.nan]], np.zeros((0, 3)), 0.5], ids=str
)
@pytest.mark.parametrize("name", ["median", "fisher"])
def test_p_values_of_the_caller(name: str, values: ArrayLike) -> None:
    merge = combiner(name).merge  # type: ignore[attr-defined]  # only these rules have it
    with refused("p-values-range"):
        merge(np.array(values))
    assert merge(np.full((2, 3), 0.5, dtype=np.float32)).dtype == np.float64


def test_effective_numbers_of_tests() -> None:
    """m where nothing is shared, 1 for copies, between the two else."""
    alike, between = correlation(copies(50)), correlation(gaussian(2000))
    assert np.allclose(alike, 1)
    eigenvalues = np.linalg.eigvalsh(between)
    expected: dict[Effective, float] = {
        "nyholt": 1 + 9 * (1 - eigenvalues.var(ddof=1) / 10),
        "galwey": np.sqrt(eigenvalues).sum() ** 2 / eigenvalues.sum(),
    }
    for effective, number in expected.items():
        assert worth(np.eye(10), effective) == 10
        assert worth(alike, effective) == 1
        assert worth(between, effective) == pytest.approx(number, abs=1e-8)
        assert 1 < number < 10
    assert np.array_equal(correlation(np.ones((3, 4))), np.ones((3, 3)))
    rows = np.random.default_rng(0).random((3, 40)) + np.array([[0], [5], [9]])
    np.testing.assert_allclose(correlation(rows), np.corrcoef(rows), rtol=1e-12)


@pytest.mark.parametrize("effective", ["nyholt", "galwey"])
def test_two_copies_of_an_augmentation_are_one_test(effective: Effective) -> None:
    predictions, plausibilities = world(40)
    twice = xr.concat([predictions, predictions], xr.Variable("augmentation", ["a", "b"]))
    copies = plausibly.calibrate(
        twice,
        plausibilities,
        calibrator={"name": "augmentation", "scores": "separate"},
        combiner={"name": "fisher", "effective": effective},
        allow_no_guarantee=True,
    )
    alone = plausibly.calibrate(predictions, plausibilities, calibrator="expected")
    xr.testing.assert_allclose(copies.p_values(twice), alone.p_values(predictions))


def test_a_combiner_that_asks_for_more_than_the_mean_reads_what_to_declare() -> None:
    pools = Pools(CalibrationScores(scores=np.array([[0.2, 0.5]]), separate=False))
    p = PValues.of(pools, np.array([0.3]))
    with refused("pair-incompatible", 'needs = "each"'):
        p.each()
    with refused("pair-incompatible", 'needs = "smoothed"'):
        p.smoothed_mean()
