"""Inputs that `calibrate` and `aggregate` accept, refuse and keep apart."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import xarray as xr

import plausibly
from kit_components import Mean, changed
from plausibly.data.annotations import rebuilt
from plausibly.data.states import read_left_out
from plausibly.errors import IncompatibleComponents
from plausibly.plugin import ANNOTATION, COMBINER, PValues, Record, resolve
from refusals import refused
from tables import LABELS, world

PREDICTIONS, ANSWERS = world(40)
CALIBRATE = partial(plausibly.calibrate, PREDICTIONS, ANSWERS)


def votes(count: int = 40) -> xr.Dataset:
    """Return the votes behind the plausibilities."""
    records = [
        (str(example), f"r{number}", label)
        for example, row in zip(ANSWERS.example.values, ANSWERS.values[:count], strict=False)
        for number, label in enumerate(np.repeat(LABELS, np.rint(row * 5).astype(int)))
    ]
    return plausibly.build_annotations("single-label", records, LABELS)


RESAMPLED = {"name": "bootstrap", "draws": 2}


def test_draws_are_a_parameter_and_another_seed_draws_others() -> None:
    assert CALIBRATE(calibrator="monte-carlo", draws=3).summary.m == 3
    assert CALIBRATE(calibrator="monte-carlo").summary.m == 10
    resampled = plausibly.aggregate(votes(), RESAMPLED)
    drawn = plausibly.calibrate(PREDICTIONS, resampled, calibrator="monte-carlo", draws=2)
    assert drawn.summary.m == 2
    thresholds = {
        float(CALIBRATE(calibrator="monte-carlo", seed=seed).threshold(0.2)) for seed in range(8)
    }
    assert len(thresholds) > 1


def test_annotations_are_aggregated_on_the_way() -> None:
    p = plausibly.calibrate(PREDICTIONS, votes())
    assert p.metadata.aggregator == "label-frequency"
    assert p.fingerprint == CALIBRATE().fingerprint
    voted = plausibly.calibrate(PREDICTIONS, votes(), aggregator="majority-vote")
    assert voted.fingerprint != p.fingerprint
    assert plausibly.calibrate(PREDICTIONS[:30], votes(20), only_common=True).n == 20


def test_the_group_is_a_coordinate_of_the_predictions() -> None:
    p = plausibly.calibrate(*world(60), combiner="held-out-rank", cluster="patient")
    # Ten of twenty patients, with one example of each.
    assert (p.summary.n, p.summary.n_held_out) == (30, 10)
    assert p.pools.calibration.denominator is not None
    assert len(p.pools.calibration.denominator) == 30


def with_site(gap: object) -> xr.DataArray:
    sites = np.array(["north", "south"] * 20, dtype=object)
    sites[3] = gap
    return PREDICTIONS.assign_coords(site=("example", sites))


MONDRIAN = {"name": "mondrian", "by": "site"}
FORGETFUL = changed(Mean, combine=lambda self, p, held_out: p.each().min(axis=0))
NO_RISK = PREDICTIONS.assign_coords(risk=("label", [np.nan, 1.0, 2.0, 3.0]))
DRAWN = {"calibrator": "monte-carlo", "draws": 3}
OTHER_LABELS = ANSWERS.assign_coords(label=["a", *LABELS[1:]])
GAP = ("coordinate-empty", "1 of 40 examples", 'hint fill "site" in, or leave these examples out')
REFUSED: list[tuple[dict[str, Any], tuple[str, ...]]] = [  # Any: arguments of `calibrate`
    ({"calibrator": "majority-vote", "draws": 3}, ("component-parameter", "draws")),
    ({"calibrator": "monte-carlo", "draws": 0}, ("component-parameter", "draws")),
    (
        {"plausibilities": plausibly.aggregate(votes(), RESAMPLED), **DRAWN},
        ("draws-too-many", "3 draws from 2 resampled"),
    ),
    ({"predictions": PREDICTIONS[:30]}, ("examples-differ",)),
    ({"plausibilities": OTHER_LABELS}, ("labels-differ",)),
    ({"aggregator": "label-frequency"}, ("aggregator-unused",)),
    (
        {"combiner": "held-out-rank", "cluster": "site"},
        ("coordinate-missing", '"site"', "found patient"),
    ),
    (
        {"predictions": PREDICTIONS[:1], "only_common": True, "combiner": "held-out-rank"},
        ("calibration-empty",),
    ),
    ({"combiner": {"name": "ecdf", "delta": 0.0}}, ("component-parameter", "delta")),
    (
        {"combiner": {"name": "ecdf", "band": "one-sided", "delta": 0.6}},
        ("component-parameter", "one-sided"),
    ),
    *(({"predictions": with_site(gap), "calibrator": MONDRIAN}, GAP) for gap in (np.nan, None, "")),
    (
        {"predictions": NO_RISK, "calibrator": {"name": "risk", "by": "risk"}},
        ("coordinate-empty", '1 of 4 labels have no "risk"'),
    ),
]


@pytest.mark.parametrize(("arguments", "pieces"), REFUSED)
def test_what_cannot_be_calibrated_is_refused(
    arguments: dict[str, Any],  # Any: as above
    pieces: tuple[str, ...],
) -> None:
    inputs = {"predictions": PREDICTIONS, "plausibilities": ANSWERS, **arguments}
    with refused(*pieces):
        plausibly.calibrate(inputs.pop("predictions"), inputs.pop("plausibilities"), **inputs)


def test_combiners_that_do_not_get_what_they_need_say_so() -> None:
    with pytest.raises(IncompatibleComponents, match="one p-value per replicate"):
        CALIBRATE(combiner=FORGETFUL)
    p = PValues.of(CALIBRATE().pools, np.array([0.5], dtype=np.float32))
    with refused("held-out-missing", kind=IncompatibleComponents):
        resolve(COMBINER, "held-out-rank").combine(p, None)


# ---- aggregation


ONE_ANSWER: dict[str, Any] = {  # Any: answers of each kind
    "single-label": "b",
    "partial-ranking": [["b"], ["a", "c"]],
    "label-set": ["b"],
    "soft-label": {"b": 2.0, "a": 1.0},
}


def table(kind: str, more: list[Record] | None = None) -> xr.Dataset:
    records: list[Record] = [("e1", "r1", ONE_ANSWER[kind]), ("e2", "r1", ONE_ANSWER[kind])]
    return resolve(ANNOTATION, kind).build([*records, *(more or [])], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("single-label", "label-frequency"),
        ("partial-ranking", "inverse-rank"),
        ("label-set", "label-set"),
        ("soft-label", "soft-label"),
    ],
)
def test_every_kind_has_its_default_aggregator(kind: str, default: str) -> None:
    result = plausibly.aggregate(table(kind))
    assert result.identical(plausibly.aggregate(table(kind), default))
    assert result.dims == ("example", "label")
    assert list(result.label.values) == ["a", "b", "c"]
    assert (result.sel(label="b") > 0.5).all()


def test_aggregators_have_kinds_and_parameters() -> None:
    another = table("single-label").assign_attrs(kind="pairwise")
    with refused("aggregator-missing", 'hint aggregator="NAME"; all: plausibly plugins list'):
        plausibly.aggregate(rebuilt(another))
    with refused("kind-unsuitable", "aggregator label-frequency does not read soft-label"):
        plausibly.aggregate(table("soft-label"), "label-frequency")
    disputed = table("single-label", [("e1", "r2", "a")])
    for ties, expected in (("first", [1, 0, 0]), ("fractional", [0.5, 0.5, 0])):
        shares = plausibly.aggregate(disputed, "majority-vote", ties=ties)
        np.testing.assert_array_equal(shares.sel(example="e1"), expected)
    with refused("component-parameter", "tie"):
        plausibly.aggregate(disputed, "majority-vote", tie="first")
    unanswered = table("single-label", [("e3", "r1", None), ("e4", "r2", "")])
    with refused("example-unanswered"):
        plausibly.aggregate(unanswered)
    shares = plausibly.aggregate(unanswered, unanswered="drop")
    assert list(shares.example.values) == ["e1", "e2"]
    assert read_left_out(shares.attrs)["without a response"] == 2
