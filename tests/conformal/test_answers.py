"""What components answer is checked once, where they are called; errors name the component."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from kit_combiners import Mean
from kit_scores import Scaled
from plausibly import plugin, protocols
from plausibly.calibration.data import CalibrationData
from plausibly.calibration.pvalues import PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.errors import InputError
from plausibly.guarantee import CalibrationSummary, Claim, Guarantee
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Floats
from tables import labelled

LABELS = ["a", "b", "c"]


def world(n: int = 40) -> tuple[xr.DataArray, xr.DataArray]:
    rng = np.random.default_rng(3)
    values = rng.dirichlet(np.ones(3), n)
    votes = np.stack([rng.multinomial(3, row) for row in values])
    return labelled(values), labelled(votes / 3)


def table(n: int = 12) -> xr.Dataset:
    rng = np.random.default_rng(4)
    records = [(f"e{i}", f"w{j}", LABELS[rng.integers(3)]) for i in range(n) for j in range(3)]
    return plausibly.build_annotations("single-label", records, LABELS)


def refused(call: Callable[[], object], name: str = "component-failed") -> InputError:
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.name == name, str(caught.value)
    return caught.value


def same(answer: object) -> object:
    return answer


def raising(answer: object) -> object:
    raise ZeroDivisionError("inside")


@attrs.frozen(kw_only=True)
class Combiner(Mean):
    """Mean p-values and the guarantee of a rank, changed."""

    made: Any = same  # Any: a function of arrays, which answers anything
    stated: Any = same  # Any: a function of a guarantee, which answers anything

    def combine(self, p: PValues, held_out: PValues | None) -> Floats:
        found: Floats = self.made(super().combine(p, held_out))
        return found

    def guarantee(self, claim: Claim, summary: CalibrationSummary, alpha: Fraction) -> Guarantee:
        found: Guarantee = self.stated(super().guarantee(claim, summary, alpha))
        return found


@attrs.frozen(kw_only=True)
class Score(Scaled):
    """Probabilities, changed."""

    made: Any  # Any: a function of arrays, which answers anything

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        found: Floats = self.made(probabilities)
        return found


@attrs.frozen(kw_only=True)
class Calibrator:
    """The calibrator expected, with some fields of its answer changed."""

    changed: Any = same  # Any: a function of calibration scores, which answers anything

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        atoms = data.atoms()
        sound = CalibrationScores(
            scores=data.scores_of(atoms)[None, :],
            units=atoms.units,
            row=atoms.row,
            denominator=atoms.denominator,
            label=atoms.label[None, :],
            separate=False,
        )
        found: CalibrationScores = self.changed(sound)
        return found


@attrs.frozen(kw_only=True)
class Aggregator(protocols.Aggregator):
    """Label frequencies, changed."""

    changed: Any = same  # Any: a function of plausibilities, which answers anything
    accepts: frozenset[str] = frozenset({"single-label"})

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        annotations.attrs["left_out"] = {"by the aggregator": 1}
        frequency = plausibly.aggregate(table(annotations.sizes["example"]))
        found: xr.DataArray = self.changed(frequency)
        return found


FAILED = "ZeroDivisionError: inside"
COMBINED: list[tuple[Callable[[Any], object], str]] = [  # Any: an array
    (lambda p: p - 2.0, "-"),
    (lambda p: p + 1.0, "1."),
    (lambda p: p * np.nan, "nan"),
    (lambda p: 0.0 * p, "0"),
    (lambda p: p.astype(np.float32), "float32"),
    (lambda p: p.astype(complex), "complex128"),
    (lambda p: np.ceil(p).astype(int), "int64"),
    (lambda p: p.reshape(-1)[:1].reshape((1,) * (p.ndim + 1)), "shape"),
    (lambda p: float(p.max()), "a float"),
    (raising, FAILED),
    (lambda p: 1.0 - p / 2, "less"),
]
STATED: list[tuple[Callable[[Any], object], str]] = [  # Any: a guarantee
    (lambda g: attrs.evolve(g, level=Fraction(2)), "level 2"),
    (lambda g: attrs.evolve(g, level=Fraction(-2)), "level -2"),
    (lambda g: attrs.evolve(g, level=float("nan")), "level nan"),
    (lambda g: attrs.evolve(g, confidence=Fraction(3, 2)), "confidence 3/2"),
    (lambda g: attrs.evolve(g, alpha=Fraction(1, 7)), "alpha 1/7"),
    (lambda g: None, "NoneType"),
    (raising, "ZeroDivisionError"),
]
AGGREGATED: list[tuple[Callable[[Any], object], str]] = [  # Any: plausibilities
    (lambda lam: lam[:3], "9 examples less"),
    (lambda lam: lam.assign_coords(label=["a", "b", "x"]), "1 label more: x"),
    (lambda lam: lam.assign_coords(example=[f"x{i}" for i in range(12)]), "12 examples more"),
    (lambda lam: lam / 2, "sum to 0.5"),
    (lambda lam: lam * np.nan, "NaN in 12 rows"),
    (lambda lam: lam.values, "a ndarray"),
    (lambda lam: None, "a NoneType"),
    (raising, FAILED),
]


@pytest.mark.parametrize(
    ("component", "found"),
    [
        *((Combiner(made=made), found) for made, found in COMBINED),
        *((Combiner(stated=stated), found) for stated, found in STATED),
        *((Score(made=raising), FAILED), (Calibrator(changed=raising), FAILED)),
        (Calibrator(changed=lambda scores: None), "a NoneType"),
        *((Aggregator(changed=changed), found) for changed, found in AGGREGATED),
    ],
)
def test_a_wrong_answer_names_the_component(
    component: Combiner | Score | Calibrator | Aggregator, found: str
) -> None:
    called = type(component).__name__
    call: Callable[[], object] = partial(plausibly.aggregate, table(), component)
    if not isinstance(component, Aggregator):
        call = partial(plausibly.calibrate, *world(), **{called.lower(): component})  # type: ignore[arg-type]  # by name
    error = refused(call)
    assert error.source == f"{called.lower()} {called}"
    assert found == error.found if found in (FAILED, "a NoneType") else found in error.found


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (lambda p: np.where(p > 0.5, np.inf, p), "inf"),
        (lambda p: p.astype(complex), "complex128"),
        (lambda p: p > 0.5, "bool"),
        (lambda p: p.sum(axis=1), "shape (40,)"),
        (lambda p: p * np.nan, "NaN"),
    ],
)
def test_scores_that_cannot_be_compared(made: Callable[[Floats], object], found: str) -> None:
    error = refused(
        lambda: plausibly.calibrate(*world(), score=Score(made=made)), "score-malformed"
    )
    assert (error.source, error.found) == ("score Score", found)


def evolved(
    **fields: Any,  # Any: values of fields
) -> Callable[[CalibrationScores], CalibrationScores]:
    def change(sound: CalibrationScores) -> CalibrationScores:
        made = {name: value(sound) if callable(value) else value for name, value in fields.items()}
        return attrs.evolve(sound, **made)

    return change


def longer(sound: CalibrationScores) -> Any:  # Any: the array of a field
    return np.append(sound.denominator, sound.denominator)  # type: ignore[arg-type]  # is given


ODD: Any = 3  # Any: of no type that a field has
MALFORMED: dict[str, dict[str, Any]] = {  # Any: values of fields
    "zero masses": {"units": lambda r: 0 * r.units},
    "negative masses": {"units": lambda r: -r.units},
    "half the masses": {"denominator": lambda r: 2 * r.denominator},
    "too many masses": {"units": lambda r: 2 * r.units},
    "float masses": {"units": lambda r: r.units / 1.0},
    "denominators of more examples": {"denominator": longer},
    "denominators of zero": {"denominator": lambda r: 0 * r.denominator},
    "rows out of range": {"row": lambda r: r.row + 1},
    "rows below zero": {"row": lambda r: r.row - 1},
    "masses of some atoms": {"units": lambda r: r.units[1:]},
    "rows without masses": {"units": None},
    "no mass of its own": {"test_mass": Fraction(0)},
    "scores of one dim": {"scores": lambda r: r.scores[0]},
    "scores of another type": {"scores": lambda r: r.scores.astype(np.float32)},
    "infinite scores": {"scores": lambda r: np.where(r.scores > 0.5, np.inf, r.scores)},
    "NaN": {"scores": lambda r: r.scores * np.nan},
    "an odd target": {"claim": Claim(target=ODD)},
    "an odd augmentation": {"augmentation": "odd"},
    "augmentations that are not there": {"augmentation": "separate"},
    "labels out of range": {"label": lambda r: r.label + 1},
    "a group of nothing known": {
        "claim": Claim(by="site"),
        "group": lambda r: 0 * r.row,
        "groups": ("x",),
    },
    "groups out of range": {
        "claim": Claim(by="label"),
        "group": lambda r: r.row,
        "groups": ("a", "b", "c"),
    },
    "other labels": {
        "claim": Claim(by="label"),
        "group": lambda r: r.label[0],
        "groups": ("b", "a", "c"),
    },
    "texts that are none": {"claim": Claim(covers=ODD)},
    "no atoms": {
        "scores": lambda r: r.scores[:, :0],
        "units": lambda r: r.units[:0],
        "row": lambda r: r.row[:0],
        "label": lambda r: r.label[:, :0],
    },
}


@pytest.mark.parametrize("fields", MALFORMED.values(), ids=MALFORMED)
def test_what_a_calibrator_returns(fields: dict[str, Any]) -> None:  # Any: as above
    error = refused(
        lambda: plausibly.calibrate(*world(), calibrator=Calibrator(changed=evolved(**fields))),
        "calibration-scores-malformed",
    )
    assert error.source == "calibrator Calibrator"
    assert error.expected


def test_sound_scores_pass() -> None:
    same = plausibly.calibrate(*world(), calibrator=Calibrator())
    assert same.threshold(0.1) == plausibly.calibrate(*world()).threshold(0.1)


# ---- inputs are read-only


def test_a_combiner_cannot_change_the_calibration() -> None:
    class Writing(Combiner):
        def combine(self, p: PValues, held_out: PValues | None) -> Floats:
            p.pools.calibration.scores[...] = 0
            return super().combine(p, held_out)

    error = refused(lambda: plausibly.calibrate(*world(), combiner=Writing()).p_values(world()[0]))
    assert "read-only" in error.found


@pytest.mark.parametrize(
    "name", ["plausibilities", "scores", "stored.weight", "denominator", "hashes"]
)
def test_a_calibrator_cannot_change_its_data(name: str) -> None:
    class Writing(Calibrator):
        def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
            attrgetter(name)(data)[...] = 0
            return super().calibrate(data, keys)

    predictions, lam = world()
    counted = lam.assign_coords(denominator=("example", np.full(40, 3)))
    error = refused(partial(plausibly.calibrate, predictions, counted, calibrator=Writing()))
    assert "read-only" in error.found
    xr.testing.assert_identical(predictions, world()[0])
    xr.testing.assert_identical(lam, world()[1])


def test_an_aggregator_cannot_change_the_table() -> None:
    annotations = table()
    before = annotations.copy(deep=True)

    class Writing(Aggregator):
        def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
            annotations["mention_label"].values[...] = 0
            return super().aggregate(annotations, keys)

    found = plausibly.aggregate(annotations, Aggregator(changed=lambda lam: lam[::-1]))
    assert found.sel(example="e0").values == pytest.approx(
        plausibly.aggregate(annotations).sel(example="e0").values
    )
    xr.testing.assert_identical(annotations, before)
    # A table that anybody can write to, as one that was read by xarray.
    error = refused(lambda: plausibly.aggregate(before, Writing()))
    assert "read-only" in error.found
    xr.testing.assert_identical(before, annotations)


@attrs.frozen(kw_only=True)
class Reader(plugin.Reader):
    """A reader of one answer, or of none."""

    answer: Any = None  # Any: whatever a reader may return

    def recognises(self, path: Path, head: bytes) -> bool:
        return False

    def read(self, path: Path, labels: object) -> xr.Dataset:
        if self.answer is None:
            raising(path)
        found: xr.Dataset = self.answer
        return found


def test_a_reader_that_fails_is_named(tmp_path: Path) -> None:
    path = tmp_path / "votes.txt"
    path.write_text("anything")
    error = refused(lambda: plausibly.read_annotations(path, Reader()))
    assert (error.source, error.found) == ("reader Reader", FAILED)
    answers: tuple[object, ...] = ({}, xr.Dataset())
    for answer in answers:
        reader = Reader(answer=answer)
        error = refused(partial(plausibly.read_annotations, path, reader), "table-unknown")
        assert error.source == "reader Reader"
