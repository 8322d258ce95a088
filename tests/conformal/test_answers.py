"""Results of components are checked once, where they are called; errors name the component."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from operator import attrgetter
from typing import Any

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from kit_components import Mean, Scaled, changed
from plausibly import protocols
from plausibly.calibration.data import CalibrationData
from plausibly.calibration.scores import CalibrationScores
from plausibly.guarantee import Claim
from plausibly.kernels.random import Keys
from plausibly.plugin import CALIBRATOR, resolve
from refusals import refused
from tables import labelled

Change = Callable[[Any], object]  # Any: an answer of a component
FAILED = "found ZeroDivisionError: inside"


def world() -> tuple[xr.DataArray, xr.DataArray]:
    rng = np.random.default_rng(3)
    values = rng.dirichlet(np.ones(3), 40)
    return labelled(values), labelled(np.stack([rng.multinomial(3, row) for row in values]) / 3)


def table() -> xr.Dataset:
    rng = np.random.default_rng(4)
    records = [(f"e{i}", f"w{j}", "abc"[rng.integers(3)]) for i in range(12) for j in range(3)]
    return plausibly.build_annotations("single-label", records, ["a", "b", "c"])


def same(answer: object) -> object:
    return answer


def raising(answer: object) -> object:
    raise ZeroDivisionError("inside")


@attrs.frozen(kw_only=True)
class Calibrator:
    """The calibrator expected, its answer changed."""

    change: Any = same  # Any: of any answer

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        answer: CalibrationScores = self.change(
            resolve(CALIBRATOR, "expected").calibrate(data, keys)
        )
        return answer


@attrs.frozen(kw_only=True)
class Aggregator(protocols.Aggregator):
    """Label frequencies, changed."""

    change: Any = same  # Any: as above
    accepts: frozenset[str] = frozenset({"single-label"})

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        annotations.attrs["left_out"] = {"by the aggregator": 1}
        answer: xr.DataArray = self.change(plausibly.aggregate(table()))
        return answer


def combiner(change: Change) -> Any:  # Any: a class made here
    """Return mean p-values, changed."""
    return changed(Mean, combine=lambda self, p, held_out: change(p.mean()))


def stating(change: Change) -> Any:  # Any: as above
    """Return mean p-values with the guarantee of a rank, changed."""
    sound = Mean.guarantee
    return changed(
        Mean,
        guarantee=lambda self, claim, summary, alpha: change(sound(self, claim, summary, alpha)),
    )


def score(change: Change) -> Any:  # Any: as above
    """Return probabilities, changed."""
    return changed(Scaled, score=lambda self, probabilities, uniform: change(probabilities))


COMBINED: list[tuple[Change, str]] = [
    (lambda p: p - 2.0, "found -"),
    (lambda p: p + 1.0, "found 1."),
    (lambda p: p * np.nan, "nan"),
    (lambda p: 0.0 * p, "found 0"),
    (lambda p: p.astype(np.float32), "float32"),
    (lambda p: p.astype(complex), "complex128"),
    (lambda p: np.ceil(p).astype(int), "int64"),
    (lambda p: p.reshape(-1)[:1].reshape((1,) * (p.ndim + 1)), "shape"),
    (lambda p: float(p.max()), "a float"),
    (raising, FAILED),
    (lambda p: 1.0 - p / 2, "less"),
]
STATED: list[tuple[Change, str]] = [
    (lambda g: attrs.evolve(g, level=Fraction(2)), "level 2"),
    (lambda g: attrs.evolve(g, level=float("nan")), "level nan"),
    (lambda g: attrs.evolve(g, confidence=Fraction(3, 2)), "confidence 3/2"),
    (lambda g: attrs.evolve(g, alpha=Fraction(1, 7)), "alpha 1/7"),
    (lambda g: None, "NoneType"),
    (raising, "ZeroDivisionError"),
]
AGGREGATED: list[tuple[Change, str]] = [
    (lambda shares: shares[:3], "more or less: e11, e2"),
    (lambda shares: shares.assign_coords(label=["a", "b", "x"]), "more or less: c, x"),
    (lambda shares: shares.assign_coords(example=list("abcdefghijkl")), "more or less: a, b"),
    (lambda shares: shares / 2, "sum to 0.5"),
    (lambda shares: shares * np.nan, "12 of 12 rows hold NaN"),
    (lambda shares: shares.values, "an ndarray"),
    (lambda shares: None, "found a NoneType"),
    (raising, FAILED),
]
SCORED: list[tuple[Change, str]] = [
    (lambda p: np.where(p > 0.5, np.inf, p), "found inf"),
    (lambda p: p.astype(complex), "found complex128"),
    (lambda p: p > 0.5, "found bool"),
    (lambda p: p.sum(axis=1), "of shape (40,)"),
    (lambda p: p * np.nan, "found nan"),
]


def evolved(**fields: Any) -> Change:  # Any: values of fields, or functions of the sound scores
    def change(sound: CalibrationScores) -> CalibrationScores:
        values = {name: v(sound) if callable(v) else v for name, v in fields.items()}
        return attrs.evolve(sound, **values)

    return change


ODD: Any = 3  # Any: of no type that a field has
MALFORMED: dict[str, dict[str, Any]] = {  # Any: values of fields
    "zero masses": {"units": lambda s: 0 * s.units},
    "negative masses": {"units": lambda s: -s.units},
    "half the masses": {"denominator": lambda s: 2 * s.denominator},
    "too many masses": {"units": lambda s: 2 * s.units},
    "float masses": {"units": lambda s: s.units / 1.0},
    "denominators of more examples": {"denominator": lambda s: np.tile(s.denominator, 2)},
    "denominators of zero": {"denominator": lambda s: 0 * s.denominator},
    "rows out of range": {"row": lambda s: s.row + 1},
    "rows below zero": {"row": lambda s: s.row - 1},
    "masses of some atoms": {"units": lambda s: s.units[1:]},
    "rows without masses": {"units": None},
    "no mass of its own": {"test_mass": Fraction(0)},
    "scores of one dim": {"scores": lambda s: s.scores[0]},
    "scores of another type": {"scores": lambda s: s.scores.astype(np.float32)},
    "infinite scores": {"scores": lambda s: np.where(s.scores > 0.5, np.inf, s.scores)},
    "NaN": {"scores": lambda s: s.scores * np.nan},
    "an odd target": {"claim": Claim(target=ODD)},
    "an odd augmentation": {"augmentation": "odd"},
    "augmentations that are not there": {"augmentation": "separate"},
    "labels out of range": {"label": lambda s: s.label + 1},
    "a group of nothing known": {
        "claim": Claim(by="site"),
        "group": lambda s: 0 * s.row,
        "groups": ("x",),
    },
    "groups out of range": {
        "claim": Claim(by="label"),
        "group": lambda s: s.row,
        "groups": ("a", "b", "c"),
    },
    "other labels": {
        "claim": Claim(by="label"),
        "group": lambda s: s.label[0],
        "groups": ("b", "a", "c"),
    },
    "texts that are none": {"claim": Claim(covers=ODD)},
    "no atoms": {
        "scores": lambda s: s.scores[:, :0],
        "units": lambda s: s.units[:0],
        "row": lambda s: s.row[:0],
        "label": lambda s: s.label[:, :0],
    },
}


@pytest.mark.parametrize(
    ("kind", "component", "name", "result"),
    [
        *(
            ("combiner", combiner(change), "component-failed", result)
            for change, result in COMBINED
        ),
        *(("combiner", stating(change), "component-failed", result) for change, result in STATED),
        *(("score", score(change), "score-malformed", result) for change, result in SCORED),
        ("score", score(raising), "component-failed", FAILED),
        ("calibrator", Calibrator(change=raising), "component-failed", FAILED),
        ("calibrator", Calibrator(change=lambda _: None), "component-failed", "a NoneType"),
        *(
            ("calibrator", Calibrator(change=evolved(**fields)), "calibration-scores-malformed", "")
            for fields in MALFORMED.values()
        ),
        *(
            ("aggregator", Aggregator(change=change), "component-failed", result)
            for change, result in AGGREGATED
        ),
    ],
)
def test_a_wrong_answer_names_the_component(
    kind: str,
    component: Any,  # Any: of these kinds
    name: str,
    result: str,
) -> None:
    with refused(name, result) as caught:
        if kind == "aggregator":
            plausibly.aggregate(table(), component)
        else:
            plausibly.calibrate(*world(), **{kind: component})
    assert caught.value.source == f"{kind} {type(component).__name__}"
    assert caught.value.expected


def test_sound_answers_pass() -> None:
    expected = plausibly.calibrate(*world()).threshold(0.1)
    assert plausibly.calibrate(*world(), calibrator=Calibrator()).threshold(0.1) == expected
    annotations = table()
    before = annotations.copy(deep=True)
    shares = plausibly.aggregate(annotations, Aggregator(change=lambda shares: shares[::-1]))
    row = plausibly.aggregate(annotations).sel(example="e0").values
    assert shares.sel(example="e0").values == pytest.approx(row)
    xr.testing.assert_identical(annotations, before)


# ---- inputs are read-only


def writing(base: type[Any], method: str, name: str) -> Any:  # Any: a component
    """Return a component that writes into an array of what it is called with."""

    def combine(self: object, p: object, held_out: object) -> None:
        attrgetter(name)(p)[...] = 0

    def calibrate(self: object, data: object, keys: object) -> None:
        attrgetter(name)(data)[...] = 0

    def aggregate(self: object, annotations: object, keys: object) -> None:
        attrgetter(name)(annotations)[...] = 0

    methods = {"combine": combine, "calibrate": calibrate, "aggregate": aggregate}
    return changed(base, **{method: methods[method]})


WRITING = [
    ("combiner", writing(Mean, "combine", "pools.calibration.scores")),
    ("aggregator", writing(Aggregator, "aggregate", "mention_label.values")),
    *(
        ("calibrator", writing(Calibrator, "calibrate", name))
        for name in ("plausibilities", "scores", "stored.weight", "denominator", "hashes")
    ),
]


@pytest.mark.parametrize(("kind", "component"), WRITING)
def test_a_component_cannot_change_its_input(
    kind: str,
    component: Any,  # Any: of these kinds
) -> None:
    predictions, answers = world()
    counted = answers.assign_coords(denominator=("example", np.full(40, 3)))
    # Anything can be written to the arrays of the caller, as to those that xarray reads.
    annotations = table().copy(deep=True)
    inputs = (predictions, counted, annotations)
    before = [arguments.copy(deep=True) for arguments in inputs]
    with refused("component-failed", "read-only"):
        if kind == "aggregator":
            plausibly.aggregate(annotations, component)
        else:
            plausibly.calibrate(predictions, counted, **{kind: component})
    for arguments, copy in zip(inputs, before, strict=True):
        xr.testing.assert_identical(arguments, copy)
