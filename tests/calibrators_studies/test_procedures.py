"""The rows of the paper's table of procedures, measured: figures of the design's own table."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

import plausibly
from measured import real
from measured.data import load
from measured.real import PROCEDURES
from studies_claims import IN_CI, MARGIN

pytestmark = [
    pytest.mark.realdata,
    pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning"),
]

# Aggregated coverage over 100 random halves at alpha 0.1: m = 10, delta = 1e-4.
DESIGN: Mapping[str, Mapping[str, float]] = {
    "crema_d": {
        "majority-vote": 0.756,
        "average": 0.900,
        "expected": 0.900,
        "maximum": 0.906,
        "held-out-rank": 0.899,
        "ecdf": 0.950,
    },
    "imagenet16h": {
        "majority-vote": 0.816,
        "average": 0.902,
        "expected": 0.902,
        "maximum": 0.915,
        "held-out-rank": 0.901,
        "ecdf": 1.000,
    },
}
PROVED: Mapping[str, Fraction] = {
    "one draw": Fraction(9, 10),
    "average": Fraction(9, 10),
    "expected": Fraction(9, 10),
    "maximum": Fraction(9, 10),
    "held-out-rank": Fraction(9, 10),
    # The paper's column: (1 - alpha)(1 - delta).
    "ecdf": Fraction(9, 10) * (1 - Fraction(1, 10**4)),
    "pac": Fraction(9, 10),
}
NEAR = 0.003
SPREAD = 0.01
"""Standard deviation over splits that a few of them may miss: see the design's own spreads."""


@pytest.mark.parametrize(
    ("name", "splits"),
    [
        ("imagenet16h", 3),
        *(pytest.param(name, 4 if IN_CI else 100, marks=pytest.mark.slow) for name in DESIGN),
    ],
)
def test_covered_is_what_the_design_says(shared: Path, name: str, splits: int) -> None:
    found = real.procedures(load(shared / "data", name), splits, list(DESIGN[name]))
    for procedure, coverage in DESIGN[name].items():
        one = found[procedure]
        # The design's hundred splits were others: their means differ by chance, too.
        error = max(one.error, SPREAD / splits**0.5)
        slack = MARGIN * error if splits < 100 else one.error
        assert abs(one.mean - coverage) <= NEAR + slack, procedure


@pytest.mark.parametrize("name", PROVED)
def test_proved_is_what_the_guarantee_says(shared: Path, name: str) -> None:
    data = load(shared / "data", "imagenet16h")
    method = PROCEDURES[name]
    predictor = plausibly.calibrate(
        data.predictions,
        data.plausibilities,
        calibrator=method["calibrator"],  # type: ignore[arg-type]  # a name or a table
        combiner=method.get("combiner", "average"),  # type: ignore[arg-type]  # as above
    )
    guarantee = predictor.guarantee("0.1")
    assert (guarantee.level, guarantee.target) == (PROVED[name], "aggregated")
    assert (predictor.summary.n_held_out > 0) == (name in ("held-out-rank", "ecdf", "pac"))
    assert predictor.n == 1200


@pytest.mark.slow
def test_spread_over_labels(shared: Path) -> None:
    """The paper's column "variability": high for one draw, low for ten; none without drawing."""
    crema = load(shared / "data", "crema_d")
    sets, seeds = (3, 8) if IN_CI else (10, 30)
    one, ten, none = (
        real.spreads_of_draws(crema, PROCEDURES[name], examples=3721, seeds=seeds, sets=sets)
        for name in ("one draw", "average", "expected")
    )
    assert none == pytest.approx(0, abs=1e-12)
    assert 0.002 < one.mean() < 0.006
    # Its variance over labels alone falls as 1 / m.
    assert ten.mean() == pytest.approx(one.mean() / 10**0.5, rel=0.6 if IN_CI else 0.25)
