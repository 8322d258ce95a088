"""Rules of calibrators, tried on made-up examples and in simulated calibrations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.calibration.data import ArrayScores, CalibrationData
from plausibly.calibration.examples import HashedNames
from plausibly.calibration.pvalues import Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.conformal.calibrate import calibration_scores_of
from plausibly.guarantee import BY_LABEL, bounded, rounded
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Dense
from plausibly.kernels.types import Floats, Hashes, unwritable
from plausibly.protocols import CALIBRATOR, Calibrator
from plausibly.testing import data
from plausibly.testing.rules import RuleSet, demand, enter_common, same

ALPHAS = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 2))

# A component that keeps its guarantee fails by chance once in a million times, over all alphas.
_CHANCE = 1e-6 / len(ALPHAS)
_VOTES = 5
_LABELS = 3
# Chances of an answer to be the label that the model puts first, second and third: so far from
# unanimous that what covers votes only does not cover annotators.
_BY_RANK = np.array([0.6, 0.3, 0.1])


@attrs.frozen(eq=False)
class Population:
    """Examples with the scores of a model and the answers of annotators, which differ."""

    scores: Floats
    plausibilities: Floats
    hashes: Hashes
    label: NDArray[np.int32]

    def data(self, rows: slice | NDArray[np.intp] = slice(None)) -> CalibrationData:
        """Return some examples as a calibrator sees them, in arrays of their own."""
        scores, plausibilities = self.scores[rows].copy(), self.plausibilities[rows].copy()
        return CalibrationData(
            scores=ArrayScores(scores),
            plausibilities=Dense(plausibilities),
            denominator=np.full(len(plausibilities), _VOTES, np.int64),
            examples=HashedNames(self.hashes[rows].copy()),
            labels=data.LABELS[: plausibilities.shape[1]],
            coordinates={n: unwritable(v) for n, v in self.coordinates(rows).items()},
            label_coordinates={"risk": np.arange(1.0, plausibilities.shape[1] + 1)},
            augmented=np.stack([scores, scores]),
        )

    def coordinates(self, rows: slice | NDArray[np.intp]) -> dict[str, NDArray[np.generic]]:
        hashes = self.hashes[rows]
        group = np.array(["x", "y", "z"])[(hashes % np.uint64(3)).astype(np.int64)]
        return {"group": group, "weight": np.full(len(hashes), 2.0)}

    def own(self, rows: slice) -> Floats:
        scores: Floats = np.take_along_axis(self.scores[rows], self.label[rows, None], axis=1)
        return scores[:, 0]


@cache
def population(stream: str, size: int, labels: int = _LABELS) -> Population:
    """Return independent examples, always the same ones of a stream, without tied scores."""
    sharp = data.probabilities(f"{stream}/scores", size, labels) ** 2
    scores = sharp / sharp.sum(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(-scores, axis=1), axis=1)
    chances = _BY_RANK[:labels] / _BY_RANK[:labels].sum()
    counts = data.votes(f"{stream}/votes", chances[rank], _VOTES)
    plausibilities = counts / _VOTES
    label = draw_labels(plausibilities, data.uniforms(f"{stream}/label", size, 1))[0]
    hashes = hash_names(f"{stream} {row}" for row in range(size))
    return Population(scores, plausibilities, hashes, label)


def demand_coverage(p_values: Floats, levels: Sequence[Fraction | None], of_what: str) -> None:
    """Demand that sets made from p-values of true labels cover as often as is guaranteed."""
    from scipy.special import bdtr

    trials = len(p_values)
    for alpha, guaranteed in zip(ALPHAS, levels, strict=True):
        if guaranteed is None:
            continue
        hits = int(np.count_nonzero(p_values > float(alpha)))
        demand(
            bdtr(hits, trials, float(guaranteed)) > _CHANCE,
            f"at alpha {rounded(alpha)} it guarantees {bounded(guaranteed, typed=False)} of "
            f"{of_what}; {hits} of {trials} simulated ones were covered, {rounded(hits / trials)}",
        )


_KEYS = Keys(7, "kit")
_SIZE = 12
_SIZES, _TRIALS = (9, 29), 700
_NEVER = 1e6  # score of labels without plausibility

RULES: RuleSet[Calibrator, Population] = RuleSet(
    CALIBRATOR, lambda _: population("calibrator", _SIZE)
)


def _calibrate(calibrator: Calibrator, data: CalibrationData) -> CalibrationScores:
    return calibrator.calibrate(data, _KEYS)


def _with_scores(data: CalibrationData, scores: Floats) -> CalibrationData:
    return attrs.evolve(data, scores=ArrayScores(scores), augmented=np.stack([scores, scores]))


enter_common(
    RULES,
    lambda calibrator, fixture: attrs.asdict(_calibrate(calibrator, fixture.data()), recurse=False),
)


def _p_values(calibration: CalibrationScores) -> list[Floats]:
    """Return what the replicates amount to: the p-values of scores from least to largest."""
    grid = np.linspace(0, 1, 41).astype(calibration.scores.dtype)
    values: list[Floats] = []
    for pools in Pools(calibration).groups:
        p = p_values_at(pools, grid)
        values += [p.mean(), np.sort(p.each(), axis=0)] if calibration.separate else [p.mean()]
    return values


def _atoms(calibration: CalibrationScores, row: int) -> list[tuple[float, ...]]:
    """Return the atoms of one example: scores of all replicates, with mass."""
    rows = np.arange(calibration.scores.shape[1]) if calibration.row is None else calibration.row
    own = np.flatnonzero(rows == row)
    mass = np.ones(len(own))
    if calibration.units is not None and calibration.denominator is not None:
        mass = calibration.units[own] / calibration.denominator[row]
        own, mass = own[mass > 0], mass[mass > 0]
    return sorted((*calibration.scores[:, at].tolist(), m) for at, m in zip(own, mass, strict=True))


def p_values_at(pools: Pools, scores: Floats) -> PValues:
    """Return p-values of scores, with the weight of new examples where weights are read."""
    calibration = pools.calibration
    if calibration.augmentation == "separate":
        scores = np.stack([scores] * len(calibration.scores))
    return PValues.of(pools, scores, weight=None if calibration.weight is None else np.full(1, 2.0))


@RULES.rule
def scores_valid(calibrator: Calibrator, fixture: Population) -> None:
    """It gives scores with masses, in the float type of the data, of all examples; and a claim."""
    for dtype in (np.float32, np.float64):
        scores: Floats = fixture.data().scores.astype(dtype)
        data = _with_scores(fixture.data(), scores)
        result = calibration_scores_of(calibrator, data, _KEYS, "the calibrator")
        claim = result.claim
        fits = 0 < result.examples <= _SIZE if claim.cluster else result.examples == _SIZE
        demand(fits, f"of {_SIZE} examples it gives atoms of {result.examples}")
        stated = claim.covers.strip() and claim.assumes and all(map(str.strip, claim.assumes))
        demand(stated, "its claim does not state what is covered, or what it assumes")


@RULES.rule
def row_order(calibrator: Calibrator, fixture: Population) -> None:
    """The order of the examples does not matter: draws go by their names."""
    straight = _calibrate(calibrator, fixture.data())
    turned = _calibrate(calibrator, fixture.data(np.arange(_SIZE)[::-1]))
    equal = same(_p_values(straight), _p_values(turned))
    demand(equal, "examples turned round, the p-values change")


@RULES.rule
def example_alone(calibrator: Calibrator, fixture: Population) -> None:
    """An example gets the same atoms whatever other examples there are, but for its group's."""
    every = _calibrate(calibrator, fixture.data())
    if every.claim.cluster or every.claim.by:
        return
    rows = np.array([5, 2, 9])
    part = _calibrate(calibrator, fixture.data(rows))
    for place, row in enumerate(rows.tolist()):
        demand(_atoms(part, place) == _atoms(every, row), "with other examples, its atoms change")


@RULES.rule
def seed_respected(calibrator: Calibrator, fixture: Population) -> None:
    """Other seeds give other draws, if it draws."""
    data = fixture.data()
    first, *others = [_p_values(calibrator.calibrate(data, Keys(s, "kit"))) for s in range(6)]
    # The same data under other names: what changes was drawn.
    renamed = attrs.evolve(data, examples=HashedNames(data.hashes ^ np.uint64(12345)))
    draws = not same(first, _p_values(calibrator.calibrate(renamed, Keys(0, "kit"))))
    differ = any(not same(first, p_values) for p_values in others)
    demand(differ or not draws, "it draws by the names of the examples, and not by the seed")


@RULES.rule
def without_denominator(calibrator: Calibrator, fixture: Population) -> None:
    """Plausibilities that are no counts over a total give the same p-values, but for rounding."""
    counted = _p_values(_calibrate(calibrator, fixture.data()))
    data = attrs.evolve(fixture.data(), denominator=None)
    plain = _p_values(_calibrate(calibrator, data))
    off = max(float(np.abs(a - b).max()) for a, b in zip(counted, plain, strict=True))
    demand(off < 1e-6, f"without the denominator, p-values change by {off:.3g}")


@RULES.rule
def impossible_labels(calibrator: Calibrator, fixture: Population) -> None:
    """A label of plausibility 0 is never compared with."""
    data = fixture.data()
    scores = np.where(data.plausibilities > 0, data.scores, _NEVER)
    calibration = _calibrate(calibrator, _with_scores(data, scores))
    weighty = slice(None) if calibration.units is None else calibration.units > 0
    never = not (calibration.scores[:, weighty] == _NEVER).any()
    demand(never, "an atom is the score of a label without plausibility")


@RULES.rule
def few(calibrator: Calibrator, fixture: Population) -> None:
    """One label and one example are enough."""
    people = population("calibrator/one label", _SIZE, 1)
    data = _with_scores(people.data(), fixture.data().scores[:, :1].copy())
    calibration = _calibrate(calibrator, data)
    demand(np.isin(calibration.scores, data.scores).all(), "an atom is no score of the label")
    calibration = _calibrate(calibrator, fixture.data(slice(1)))
    demand(calibration.examples == 1, f"of 1 example it gives atoms of {calibration.examples}")


@RULES.rule
def coverage(calibrator: Calibrator, fixture: Population) -> None:
    """In simulated calibrations, sets of the mean p-value cover what it says at 1 - alpha."""
    for n in _SIZES:
        people = population("calibrator/coverage", (n + 1) * _TRIALS)
        p_values = np.zeros(_TRIALS)
        for trial in range(_TRIALS):
            new = trial * (n + 1) + n
            calibration = calibrator.calibrate(people.data(slice(new - n, new)), _KEYS)
            if calibration.claim.target not in ("aggregated", "majority-vote"):
                return  # it says nothing of a label
            p_values[trial] = _p_of_new(calibration, people, new)
        # CalibrationScores that have test scores of their own guarantee less.
        missed = 2 if calibration.augmentation == "separate" and len(calibration.scores) > 1 else 1
        levels = [1 - missed * alpha for alpha in ALPHAS]
        demand_coverage(p_values, levels, calibration.claim.covers)


def _p_of_new(calibration: CalibrationScores, people: Population, new: int) -> float:
    """Return the mean p-value of the label that is to be covered, of one new example."""
    label = int(people.label[new])
    if calibration.claim.target == "majority-vote":
        label = int(np.argmax(people.plausibilities[new]))
    pools = Pools(calibration)
    if calibration.claim.by == BY_LABEL:
        pools = pools.groups[label]
    elif calibration.claim.by:
        (group,) = map(str, people.coordinates(slice(new, new + 1))[calibration.claim.by])
        if group not in calibration.groups:
            return 1.0
        pools = pools.groups[calibration.groups.index(group)]
    score = people.scores[new, label : label + 1].astype(calibration.scores.dtype)
    return float(p_values_at(pools, score).mean()[0])
