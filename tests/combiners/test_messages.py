"""Pairs without a guarantee: refused by name, or allowed and said to have none, everywhere."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

import cli_world
import plausibly
from cli_world import CALIBRATE, make, typed
from conformal_world import world
from plausibly.errors import IncompatibleComponents
from plausibly.guarantee import Guarantee
from plausibly_builtins.combiners.independent import correlation, worth
from refusals import refused

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
def test_refused_by_name(name: str) -> None:
    pieces = (f"combiner {name} ", f"expected {EXPECTED[name]} {ALLOW}")
    with refused("guarantee-none", *pieces, kind=IncompatibleComponents) as caught:
        plausibly.calibrate(*world(40), calibrator="monte-carlo", combiner=name)
    assert caught.value.source == f"combiner {name}"


@pytest.mark.parametrize("name", NONE)
def test_allowed_and_said(name: str) -> None:
    p = plausibly.calibrate(
        *world(40), calibrator="monte-carlo", combiner=name, allow_no_guarantee=True
    )
    guarantee = p.guarantee("0.1")
    assert guarantee.level is None
    assert guarantee.statement() == guarantee.short() == guarantee.shown_level() == "no guarantee"
    assert str(guarantee).splitlines()[0] == "no guarantee"
    assert [title for title, _ in guarantee.rows()] == ["reason"]
    assert guarantee.reason == f"a guarantee needs {EXPECTED[name]}"
    assert repr(p).splitlines()[1].endswith("no guarantee")
    sets = p.predict(world(20, start=100)[0], "0.1")
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


def test_in_a_study() -> None:
    predictions, lam = world(120)
    method = {"calibrator": "monte-carlo", "combiner": "fisher"}
    with pytest.raises(IncompatibleComponents):
        plausibly.compare(predictions, lam, [method], splits=2)
    study = plausibly.compare(
        predictions, lam, [{**method, "allow_no_guarantee": True}, "expected"], splits=2
    ).data
    assert study["guaranteed"].values.tolist() == [["no guarantee"], ["0.90"]]
    assert np.isnan(study["guaranteed_level"].values[0, 0])
    first, second = json.loads(study.attrs["methods"]).values()
    assert first["allow_no_guarantee"] is True
    assert "allow_no_guarantee" not in second


def test_exchangeability_of_replicates_is_stated() -> None:
    for name in MERGING:
        several = combiner(name).guarantee(*drawn(99), ALPHA)
        alone = combiner(name).guarantee(*drawn(99, 1), ALPHA)
        said = "replicates are exchangeable, as labels drawn alike are"
        assert (said in several.assumes) is name.startswith("exchangeable")
        assert alone.assumes == ("this", "that")
        assert any("combiner average already has 1 - alpha" in note for note in several.notes)


def test_e_values_want_scores_above_zero() -> None:
    found = "found calibration scores that are all below it"
    with refused("scores-not-positive", found, kind=IncompatibleComponents):
        plausibly.calibrate(
            *world(40), calibrator="monte-carlo", combiner="e-value", score="log-probability"
        )
    assert "very large" in combiner("e-value").guarantee(*drawn(99), ALPHA).notes[0]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([[0.0, 0.5]], "found 1 others"),
        ([[1.5], [0.1]], "found 1 others"),
        (np.zeros((0, 3)), "found the shape"),
        (0.5, "found the shape"),
    ],
)
def test_p_values_of_the_caller(values: ArrayLike, found: str) -> None:
    for name in (*MERGING, *NONE):
        merge = combiner(name).merge  # type: ignore[attr-defined]  # only these rules have it
        with refused("p-values-range", found):
            merge(np.array(values))
        assert merge(np.full((2, 3), 0.5, dtype=np.float32)).dtype == np.float64


def test_effective_numbers_of_tests() -> None:
    """m where nothing is shared, 1 for copies, between the two else."""
    identity = np.eye(10)
    alike = correlation(copies(50))
    assert np.allclose(alike, 1)
    between = correlation(gaussian(2000))
    for effective in ("nyholt", "galwey"):
        assert worth(identity, effective) == 10
        assert worth(alike, effective) == 1
        assert 1 < worth(between, effective) < 10
    eigenvalues = np.linalg.eigvalsh(between)
    nyholt = 1 + 9 * (1 - eigenvalues.var(ddof=1) / 10)
    assert worth(between, "nyholt") == pytest.approx(nyholt, abs=1e-8)
    galwey = np.sqrt(eigenvalues).sum() ** 2 / eigenvalues.sum()
    assert worth(between, "galwey") == pytest.approx(galwey, abs=1e-8)
    assert np.array_equal(correlation(np.ones((3, 4))), np.ones((3, 3)))
