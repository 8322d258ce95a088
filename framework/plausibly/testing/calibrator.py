"""Rules of calibrators, tried on made-up calibration examples and in simulated calibrations."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Floats, Ints
from plausibly.conformal.data import CalibrationData
from plausibly.conformal.replicates import Replicates
from plausibly.conformal.pools import Pools
from plausibly.conformal.pvalues import PValues
from plausibly.errors import InputError
from plausibly.keys import Keys
from plausibly.protocols import CALIBRATOR, Calibrator
from plausibly.testing.common import enter_common
from plausibly.testing.rules import RuleBook, demand
from plausibly.testing.same import same
from plausibly.testing.simulation import Population, blocks, demand_coverage, population

_KEYS = Keys(7, "kit")
_SIZE = 12
_SIZES, _TRIALS = (9, 29), 700
_NEVER = 1e6  # score of labels that nobody finds plausible


@attrs.frozen
class CalibratorWorld:
    """Calibration examples; data are handed out as copies.

    Attributes
    ----------
    people : Population
        `_SIZE` examples.
    """

    people: Population

    def data(self, rows: NDArray[np.intp] | slice = slice(None)) -> CalibrationData:
        """Return some of the examples as a calibrator sees them."""
        return self.people.data(rows)


def world_for(calibrator: Calibrator) -> CalibratorWorld:
    """Return calibration examples."""
    return CalibratorWorld(population("calibrator", _SIZE))


BOOK: RuleBook[Calibrator, CalibratorWorld] = RuleBook(CALIBRATOR)

_Parts = tuple[Floats, Ints | None, Ints | None, Ints | None, tuple[object, ...]]


def _parts(found: Replicates) -> _Parts:
    said = (found.of_what, found.target, found.assumptions, found.truth, found.separate)
    return found.scores, found.units, found.row, found.denominator, said


def _behaves(calibrator: Calibrator, world: CalibratorWorld) -> object:
    return _parts(calibrator.replicates(world.data(), _KEYS))


enter_common(BOOK, _behaves)


def _p_values(found: Replicates) -> list[Floats]:
    """Return what the replicates amount to: the p-values of scores from least to largest."""
    grid = np.linspace(0, 1, 41).astype(found.scores.dtype)
    p = PValues.of(Pools(found), grid)
    return [p.mean(), np.sort(p.each(), axis=0)] if found.separate else [p.mean()]


def _atoms(found: Replicates, row: int) -> list[tuple[float, ...]]:
    """Return the atoms of one example: scores of all replicates, with mass."""
    rows = np.arange(found.scores.shape[1]) if found.row is None else found.row
    own = np.flatnonzero(rows == row)
    mass = np.ones(len(own))
    if found.units is not None and found.denominator is not None:
        mass = found.units[own] / found.denominator[row]
        own, mass = own[mass > 0], mass[mass > 0]
    return sorted((*found.scores[:, at].tolist(), m) for at, m in zip(own, mass, strict=True))


@BOOK.rule
def replicates_valid(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """It gives replicates: masses not negative, of examples that are there, and what they mean."""
    found: object = calibrator.replicates(world.data(), _KEYS)
    if not isinstance(found, Replicates):
        demand(False, f"it gives a {type(found).__name__}, no Replicates")
        return
    demand(found.examples == _SIZE, f"of {_SIZE} examples it gives atoms of {found.examples}")
    if found.units is not None and found.row is not None and found.denominator is not None:
        demand((found.units >= 0).all(), "an atom has a negative mass")
        demand((found.denominator > 0).all(), "an example has no unit of mass")
        within = (found.row >= 0) & (found.row < _SIZE)
        demand(within.all(), "an atom belongs to no example")
    said = found.of_what.strip() and all(text.strip() for text in found.assumptions)
    demand(said and found.assumptions, "it does not say what is covered, and if what")


@BOOK.rule
def float32_kept(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """Atoms have the float type of the scores: test scores are compared in it."""
    for dtype in (np.float32, np.float64):
        data = attrs.evolve(world.data(), scores=world.data().scores.astype(dtype))
        found = calibrator.replicates(data, _KEYS).scores.dtype
        demand(found == dtype, f"from {np.dtype(dtype)} it gives {found}")


@BOOK.rule
def row_order(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """The order of the examples does not matter: draws go by their names."""
    straight = calibrator.replicates(world.data(), _KEYS)
    turned = calibrator.replicates(world.data(np.arange(_SIZE)[::-1]), _KEYS)
    demand(
        same(_p_values(straight), _p_values(turned)),
        "examples turned round, the p-values change",
    )


@BOOK.rule
def example_alone(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """An example gets the same atoms whatever other examples there are."""
    every = calibrator.replicates(world.data(), _KEYS)
    some = np.array([5, 2, 9])
    part = calibrator.replicates(world.data(some), _KEYS)
    for place, row in enumerate(some.tolist()):
        demand(_atoms(part, place) == _atoms(every, row), "with other examples, its atoms change")


@BOOK.rule
def seed_respected(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """Where it draws, other seeds draw otherwise."""
    data = world.data()
    first, *others = [_p_values(calibrator.replicates(data, Keys(s, "kit"))) for s in range(6)]
    # The same data under other names: what changes was drawn.
    renamed = attrs.evolve(data, hashes=data.hashes ^ np.uint64(12345))
    draws = not same(first, _p_values(calibrator.replicates(renamed, Keys(0, "kit"))))
    differ = any(not same(first, other) for other in others)
    demand(differ or not draws, "it draws by the names of the examples, and not by the seed")


@BOOK.rule
def inputs_unchanged(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """The data are afterwards what they were before."""
    data = world.data()
    calibrator.replicates(data, _KEYS)
    for field in attrs.fields(CalibrationData):
        before, after = (getattr(of, field.name) for of in (world.data(), data))
        demand(same(before, after), f"it changes the {field.name} that it was given")


@BOOK.rule
def read_only_inputs(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """Arrays that cannot be written to are enough."""
    data = world.data()
    for array in (data.scores, data.plausibilities, data.denominator, data.hashes):
        if array is not None:
            array.flags.writeable = False
    calibrator.replicates(data, _KEYS)


@BOOK.rule
def without_denominator(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """Plausibilities that are no counts over a total give the same p-values, but for rounding."""
    counted = _p_values(calibrator.replicates(world.data(), _KEYS))
    data = attrs.evolve(world.data(), denominator=None)
    plain = _p_values(calibrator.replicates(data, _KEYS))
    off = max(float(np.abs(a - b).max()) for a, b in zip(counted, plain, strict=True))
    demand(off < 1e-6, f"without the denominator, p-values change by {off:.3g}")


@BOOK.rule
def impossible_labels(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """A label of plausibility 0 is never compared with."""
    data = world.data()
    scores = np.where(data.plausibilities > 0, data.scores, _NEVER)
    found = calibrator.replicates(attrs.evolve(data, scores=scores), _KEYS)
    weighty = np.ones(found.scores.shape[1], bool) if found.units is None else found.units > 0
    demand(
        not (found.scores[:, weighty] == _NEVER).any(),
        "an atom is the score of a label that nobody finds plausible",
    )


@BOOK.rule
def one_label(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """One label is enough: every atom is its score."""
    people = population("calibrator/one label", _SIZE, 1)
    data = attrs.evolve(people.data(slice(None)), scores=world.data().scores[:, :1].copy())
    found = calibrator.replicates(data, _KEYS)
    demand(np.isin(found.scores, data.scores).all(), "an atom is no score of the label")


@BOOK.rule
def one_example(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """One calibration example is enough."""
    found = calibrator.replicates(world.data(slice(1)), _KEYS)
    demand(found.examples == 1, f"of 1 example it gives atoms of {found.examples}")


@BOOK.rule
def zero_examples(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """No examples give no atoms, or an InputError."""
    try:
        found = calibrator.replicates(world.data(slice(0)), _KEYS)
    except InputError:
        return
    demand(found.scores.shape[1] == 0, "it gives atoms of no examples")


@BOOK.rule
def coverage(calibrator: Calibrator, world: CalibratorWorld) -> None:
    """In simulated calibrations, sets of the mean p-value cover what it says at 1 - alpha."""
    for n in _SIZES:
        people = population("calibrator/coverage", (n + 1) * _TRIALS)
        p_values = np.zeros(_TRIALS)
        for trial, rows in enumerate(blocks(n + 1, _TRIALS)):
            new = rows.stop - 1
            found = calibrator.replicates(people.data(slice(rows.start, new)), _KEYS)
            if found.target == "voted":
                label = int(np.argmax(people.plausibilities[new]))
            else:
                label = int(people.label[new])
            score = people.scores[new, label : label + 1].astype(found.scores.dtype)
            p_values[trial] = PValues.of(Pools(found), score).mean()[0]
        demand_coverage(p_values, lambda alpha: Fraction(1) - alpha, found.of_what)
