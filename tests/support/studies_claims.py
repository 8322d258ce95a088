"""Every new calibrator with every combiner: what is claimed, and what simulated sets keep of it.

Groups are worlds of their own: calibrated apart by world, a few hundred independent calibrations
are one call. Pairs that cannot be calibrated apart are calibrated one by one.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

import plausibly
from measured import worlds
from measured.worlds import Examples
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.errors import IncompatibleComponents, PlausiblyWarning
from plausibly.guarantee import Guarantee
from plausibly.protocols import COMBINER
from plausibly.registry import Registry

IN_CI = bool(os.environ.get("CI"))
"""Long studies take a small form there."""

ALPHAS = ("0.1", "0.3")
MARGIN = 4.0
"""Standard errors of the mean over independent calibrations."""

Numbers = NDArray[np.float64]
# Any: tables of components hold names, numbers and other tables.
Component = Mapping[str, Any]

EXPECTED: Component = {"name": "expected"}
DRAWN: Component = {"name": "monte-carlo", "draws": 4}
EVEN: Component = {**DRAWN, "systematic": True}
VOTED: Component = {"name": "majority-vote"}
RISK: Component = {"name": "risk", "by": "risk"}
MASS: Component = {"name": "mass-coverage", "leave_out": 0.1}


@attrs.frozen(eq=False)
class Population:
    """Makers of calibration and of new examples."""

    known: Callable[..., Examples]
    new: Callable[..., Examples]


def _patients(count: int, random: np.random.Generator, *, ties: bool) -> Examples:
    return worlds.patients(count, random, ties=ties, large=6)


def _one_each(count: int, random: np.random.Generator, *, ties: bool) -> Examples:
    return worlds.one_each(_patients(count, random, ties=ties), random)


def _old(count: int, random: np.random.Generator, *, ties: bool) -> Examples:
    return worlds.shifted(count, random, new=False, ties=ties)


def _new(count: int, random: np.random.Generator, *, ties: bool) -> Examples:
    return worlds.shifted(count, random, new=True, ties=ties)


def _single(count: int, random: np.random.Generator, *, ties: bool) -> Examples:
    """Return examples of which one augmentation is seen."""
    made = worlds.augmented(count, random, ties=ties)
    return attrs.evolve(made, scores=made.scores[0])


PLAIN = Population(worlds.plain, worlds.plain)
SITES = Population(worlds.sites, worlds.sites)
SHIFT = Population(_old, _new)
PATIENTS = Population(_patients, _one_each)
COPIES = Population(worlds.augmented, worlds.augmented)
ONE_OF_COPIES = Population(worlds.augmented, _single)
UNLIKE = Population(_new, _new)
"""Labels that are not as frequent, nor as sure, as each other."""


@attrs.frozen(eq=False)
class Study:
    """A calibrator, and the examples that it is for.

    Attributes
    ----------
    calibrator : mapping
        Inside a calibration apart by world, unless `alone`.
    population : Population
    alone : bool
        Whether it is calibrated by itself.
    """

    calibrator: Component
    population: Population = PLAIN
    alone: bool = False


def _wrapped(name: str, by: str, inner: Component) -> Component:
    return {"name": name, "by": by, "inner": inner}


def _augmentation(scores: str) -> Component:
    return {"name": "augmentation", "scores": scores}


STUDIES: Mapping[str, Study] = {
    "mondrian": Study(EXPECTED, SITES),
    "mondrian, drawn": Study(DRAWN, SITES),
    "mondrian, risk": Study(RISK, SITES),
    "mondrian, mass": Study(MASS, SITES),
    "systematic": Study(EVEN),
    "weighted": Study(_wrapped("weighted", "weight", EXPECTED), SHIFT),
    "weighted, drawn": Study(_wrapped("weighted", "weight", DRAWN), SHIFT),
    "weighted, risk": Study(_wrapped("weighted", "weight", RISK), SHIFT),
    "weighted, mass": Study(_wrapped("weighted", "weight", MASS), SHIFT),
    "clustered": Study(_wrapped("clustered", "patient", EXPECTED), PATIENTS),
    "grouped, drawn": Study(_wrapped("clustered", "patient", DRAWN), PATIENTS),
    "grouped, risk": Study(_wrapped("clustered", "patient", RISK), PATIENTS),
    "grouped, mass": Study(_wrapped("clustered", "patient", MASS), PATIENTS),
    "augmentation, mean": Study(_augmentation("mean"), COPIES),
    "augmentation, separate": Study(_augmentation("separate"), COPIES),
    "augmentation, pooled": Study(_augmentation("pooled"), ONE_OF_COPIES),
}
ALONE: Mapping[str, Study] = {
    "label": Study(_wrapped("mondrian", "label", EXPECTED), UNLIKE, alone=True),
    "label, drawn": Study(_wrapped("mondrian", "label", DRAWN), UNLIKE, alone=True),
    "systematic": attrs.evolve(STUDIES["systematic"], alone=True),
    "augmentation, mean": attrs.evolve(STUDIES["augmentation, mean"], alone=True),
    "augmentation, separate": attrs.evolve(STUDIES["augmentation, separate"], alone=True),
    "augmentation, pooled": attrs.evolve(STUDIES["augmentation, pooled"], alone=True),
}
VOTES: Mapping[str, Study] = {
    "mondrian, voted": Study(VOTED, SITES),
    "weighted, voted": Study(_wrapped("weighted", "weight", VOTED), SHIFT),
    "grouped, voted": Study(_wrapped("clustered", "patient", VOTED), PATIENTS),
    "label, voted": Study(_wrapped("mondrian", "label", VOTED), UNLIKE, alone=True),
}
"""With one replicate every rule is one of the same p-value: only in the long form."""


@attrs.frozen
class Effort:
    """Numbers of independent calibrations, and of new examples of each.

    Attributes
    ----------
    direct, rules, alone : int
        Worlds for p-values that are averaged, for rules that merge them, and for calibrations that
        are made one by one.
    test : int
    """

    direct: int
    rules: int
    alone: int
    test: int = 30

    def worlds(self, study: Study, combiner: Component) -> int:
        """Return how many calibrations to simulate."""
        if study.alone:
            return self.alone
        return self.direct if combiner["name"] in _BY_THRESHOLD else self.rules


QUICK = Effort(direct=30, rules=8, alone=8)
LONG = Effort(direct=8, rules=4, alone=4) if IN_CI else Effort(direct=100, rules=16, alone=30)


@cache
def combiners() -> Mapping[str, Component]:
    """Return every built-in combiner, and the average that splits ties."""
    built_in = Registry(others=tuple).entries()
    found = {one.name: {"name": one.name} for one in built_in if one.kind == COMBINER.name}
    found["ecdf"]["delta"] = 0.1  # type: ignore[assignment]  # a table of any values
    found["pac"]["delta"] = 0.1  # type: ignore[assignment]  # as above
    return {**found, "smoothed": {"name": "average", "smoothed": True}}


@attrs.frozen(eq=False)
class Simulated:
    """Calibration and new examples of several worlds.

    Attributes
    ----------
    known, plausibilities, new : DataArray
    lam : ndarray, (example, label)
        Plausibilities of the new examples.
    world : ndarray of int, (example,)
        Of the new examples.
    """

    known: xr.DataArray
    plausibilities: xr.DataArray
    new: xr.DataArray
    lam: Numbers
    world: NDArray[np.int64]


@lru_cache(maxsize=4)
def simulated(
    study: Study, count: int, *, n: int, test: int, ties: bool, first: int = 0
) -> Simulated:
    """Return worlds with n examples (or patients) to calibrate, and `test` new ones."""
    sides = []
    for side, (make, size) in enumerate(
        ((study.population.known, n), (study.population.new, test))
    ):
        random = np.random.default_rng([first, n, ties, side])
        found = make(count * size, random, ties=ties)
        unit = np.arange(len(found.votes))
        if "patient" in found.coordinates:
            unit = np.unique(found.coordinates["patient"], return_inverse=True)[1]
        world = (unit % count).astype(np.int64)
        name = world.astype(np.str_)
        if "site" in found.coordinates:
            name = np.char.add(name, found.coordinates["site"].astype(np.str_))
        found = found.known("world", name)
        sides.append((*found.tables(f"{'new' if side else 'case'} {first}"), world))
    (known, plausibilities, _), (new, lam, world) = sides
    return Simulated(known, plausibilities, new, lam.values, world)


def calibrated(study: Study, data: Simulated, combiner: Component, seed: int) -> ConformalPredictor:
    """Return the predictor of a study: worlds apart, unless it is alone."""
    apart = _wrapped("mondrian", "world", study.calibrator)
    return plausibly.calibrate(
        data.known,
        data.plausibilities,
        calibrator=study.calibrator if study.alone else apart,
        combiner=combiner,
        seed=seed,
    )


def claimed(study: Study) -> list[str]:
    """Return the combiners with which a study guarantees something."""
    data = simulated(study, 1, n=12, test=1, ties=False)
    found = []
    for name, combiner in combiners().items():
        try:
            guarantee = calibrated(study, data, combiner, 0).guarantee("0.1")
        except IncompatibleComponents:
            continue
        if guarantee.level is not None:
            found.append(name)
    return found


def left_out(data: Simulated, sets: NDArray[np.bool_], guarantee: Guarantee) -> Numbers:
    """Return what a guarantee bounds, less its bound: (example,) or, by label, (example, label)."""
    level = guarantee.level
    assert level is not None
    # A guarantee for this calibration holds with its confidence.
    bound = float(1 - level * (guarantee.confidence or 1))
    said: Numbers = data.lam
    if guarantee.target == "majority-vote":
        said = np.eye(said.shape[1])[said.argmax(axis=1)]
    missing: Numbers = said * ~sets
    if "label" in guarantee.per:
        return missing - bound * said
    if guarantee.target == "risk":
        missing = missing * np.asarray(data.new["risk"].values)
    left: Numbers = missing.sum(axis=1)
    if guarantee.target == "mass":
        left = np.where(left > 0.1 + 1e-9, 1.0, 0.0)
    return left - bound


def _of(values: Numbers, world: NDArray[np.int64], count: int) -> Numbers:
    """Return means by world, (world, 1 or label)."""
    columns = values.reshape(len(values), -1)
    sums = np.stack([np.bincount(world, one, minlength=count) for one in columns.T], axis=1)
    means: Numbers = sums / np.bincount(world, minlength=count)[:, None]
    return means


def excesses(
    study: Study, name: str, effort: Effort, *, n: int, ties: bool, by: str | None = None
) -> Numbers:
    """Return by how much each world leaves out more than guaranteed: (alpha, world, 1 or label).

    Parameters
    ----------
    study : Study
    name : str
        Combiner.
    effort : Effort
    n : int
        Calibration examples, or patients, of a world.
    ties : bool
        Whether scores are tenths.
    by : str, optional
        Of what each to ask for the guarantee, where that is not what is guaranteed.
    """
    combiner = combiners()[name]
    count = effort.worlds(study, combiner)
    together, apart = (1, count) if study.alone else (count, 1)
    found = []
    for first in range(apart):
        size = effort.test * (10 if study.alone else 1)
        data = simulated(study, together, n=n, test=size, ties=ties, first=first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlausiblyWarning)
            predictor = calibrated(study, data, combiner, first)
            sets = _sets(predictor, data.new, direct=combiner["name"] in _BY_THRESHOLD)
        one = []
        for alpha, kept in zip(ALPHAS, sets, strict=True):
            guarantee = predictor.guarantee(alpha)
            asked = guarantee if by is None else attrs.evolve(guarantee, by=by)
            one.append(_of(left_out(data, kept, asked), data.world, together))
        found.append(np.stack(one))
    return np.concatenate(found, axis=1)


_BY_THRESHOLD = ("average", "twice-average", "held-out-rank", "ecdf", "pac")


def _sets(
    predictor: ConformalPredictor, new: xr.DataArray, *, direct: bool
) -> Sequence[NDArray[np.bool_]]:
    """Return the sets at each alpha; rules without a formula by their p-values, which is faster."""
    if direct:
        sets = predictor.predict(new, ALPHAS).transpose("alpha", "example", "label").values
        return list(sets)
    p = predictor.p_values(new).transpose("example", "label").values
    return [p > float(alpha) for alpha in ALPHAS]


def kept(excess: Numbers) -> bool:
    """Return whether no mean is above zero by more than the margin."""
    error = excess.std(axis=1, ddof=1) / np.sqrt(excess.shape[1])
    return bool((excess.mean(axis=1) <= MARGIN * error + 1e-12).all())
