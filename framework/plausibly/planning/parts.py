"""The parts of a plan: the law of coverage, the bootstrap beside it, and fewer responses."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.aggregate import aggregated
from plausibly.data import names
from plausibly.errors import InputError
from plausibly.evaluation import inputs
from plausibly.evaluation.some_rows import above_zero, few_rows, opinions_of
from plausibly.kernels.coverage import row_sums
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Floats
from plausibly.planning.law import Law, Shares, examples_needed
from plausibly.planning.pilot import Pilot
from plausibly.planning.read import ReadPilot, matched
from plausibly.planning.responses import Responses

N, DRAWS, BOUND, RESPONSES = "n", "draws", "bound", "responses"
_THINNINGS = 3

Variables = dict[str, tuple[tuple[str, ...], Floats]]


@attrs.frozen(kw_only=True, eq=False)
class Goal:
    """What is asked of every part of a plan.

    Attributes
    ----------
    alphas : list of Fraction
    draws : list of float
        Infinite for expected.
    n : ndarray of int64, (n,)
    within : float or None
    confidence : float
    one_sided : bool
    """

    alphas: list[Fraction]
    draws: list[float]
    n: NDArray[np.int64]
    within: float | None
    confidence: float
    one_sided: bool

    def tails(self) -> tuple[float, float]:
        """Return the shares of calibrations below the bounds."""
        return (1 - self.confidence) / 2, (1 + self.confidence) / 2

    def laws(self, shares: Sequence[Shares]) -> list[list[Law]]:
        """Return the law of coverage by alpha, of which these are the shares, and draws."""
        return [
            [Law.of(alpha, self.n, m, one) for m in self.draws]
            for alpha, one in zip(self.alphas, shares, strict=True)
        ]

    def expected(self, shares: Sequence[Shares], enough: NDArray[np.int64] | None) -> xr.Dataset:
        """Return what the law of coverage says."""
        laws = self.laws(shares)
        dims = (names.ALPHA, DRAWS, N)
        bounds = [[[law.quantile(t) for t in self.tails()] for law in row] for row in laws]
        found = xr.Dataset(
            {
                "coverage": ((names.ALPHA, DRAWS, BOUND, N), np.array(bounds)),
                "coverage_mean": (dims, np.array([[law.mean() for law in row] for row in laws])),
                "spread": (dims, np.array([[law.spread() for law in row] for row in laws])),
                "vacuous": ((names.ALPHA, N), np.array([row[0].vacuous for row in laws])),
            },
            coords={
                names.ALPHA: [float(one) for one in self.alphas],
                N: self.n,
                DRAWS: np.array(self.draws, dtype=np.float64),
                BOUND: ["low", "high"],
            },
        )
        if enough is not None:
            found["n_within"] = ((names.ALPHA, DRAWS), enough)
        return found.transpose(names.ALPHA, N, DRAWS, BOUND)

    def enough(self, shares: Sequence[Shares]) -> NDArray[np.int64]:
        """Return the n from which on it is enough, (alpha, draws); needs `within`."""
        found = np.zeros((len(self.alphas), len(self.draws)), dtype=np.int64)
        for row, (alpha, one) in enumerate(zip(self.alphas, shares, strict=True)):
            for column, m in enumerate(self.draws):
                found[row, column] = examples_needed(
                    alpha,
                    m,
                    within=self.within or 0.0,
                    confidence=self.confidence,
                    shares=one,
                    one_sided=self.one_sided,
                )
        return found


def variances(shares: list[Shares]) -> dict[str, tuple[str, list[float]]]:
    """Return where the variance comes from, by alpha."""
    return {
        "between": (names.ALPHA, [one.between for one in shares]),
        "within_examples": (names.ALPHA, [one.within for one in shares]),
        "design_effect": (names.ALPHA, [one.design_effect for one in shares]),
    }


def bootstrapped(pilot: Pilot, goal: Goal, resamples: int, seed: int) -> Variables:
    """Return how coverage spreads over resamples of the pilot; NaN where n exceeds it.

    Parameters
    ----------
    pilot : Pilot
    goal : Goal
    resamples, seed : int
    """
    shape = (len(goal.alphas), len(goal.n), len(goal.draws))
    mean, spread, bounds = (np.full((*shape, *more), np.nan) for more in ((), (), (2,)))
    for column, n in enumerate(goal.n.tolist()):
        if n > len(pilot):
            continue
        keys = Keys(seed).child(f"plan/{n}")
        found = pilot.resampled(goal.alphas, n, goal.draws, resamples, keys)
        mean[:, column] = found.mean(axis=-1)
        spread[:, column] = found.std(axis=-1, ddof=1)
        bounds[:, column] = np.moveaxis(np.quantile(found, goal.tails(), axis=-1), 0, -1)
    dims = (names.ALPHA, N, DRAWS)
    return {
        "bootstrap_mean": (dims, mean),
        "bootstrap_spread": (dims, spread),
        "bootstrap_coverage": ((*dims, BOUND), bounds),
    }


def thinned(pilot: ReadPilot, goal: Goal, responses: Sequence[int] | None, seed: int) -> xr.Dataset:
    """Return the spread with fewer responses an example; nothing where there are none to take out.

    Parameters
    ----------
    pilot : ReadPilot
    goal : Goal
    responses : sequence of int, or None for a ladder
    seed : int

    Raises
    ------
    InputError
        ``responses-unknown`` and ``responses-range``.
    """
    if responses is not None and not len(responses):
        return xr.Dataset()
    said = _responses(pilot, seed, 0)
    if said is None:
        if responses is None:
            return xr.Dataset()
        raise InputError(
            "responses-unknown",
            "the pilot has no single responses to take out",
            expected="an annotation table whose responses count whole numbers of times",
            got="plausibilities" if pilot.table is None else "weights that are not whole",
            do="pass every response (-a), or leave responses out",
            whose="responses",
        )
    steps = said.steps() if responses is None else said.check(responses)
    if responses is None and int(said.counts.max()) < 2:
        return xr.Dataset()
    try:
        shares, distance = _averaged(pilot, goal, said, steps, seed)
    except InputError as error:
        # Fewer responses are more alike than all are; nobody asked for them.
        if responses is None and error.name == "pilot-flat":
            return xr.Dataset()
        raise
    spread = [[[law.spread() for law in row] for row in goal.laws(one)] for one in shares]
    found = xr.Dataset(
        {
            "responses_spread": ((RESPONSES, names.ALPHA, DRAWS, N), np.array(spread)),
            "responses_distance": (RESPONSES, distance),
        },
        coords={RESPONSES: np.array(steps, dtype=np.int64)},
    ).transpose(names.ALPHA, RESPONSES, N, DRAWS)
    if goal.within is not None:
        enough = [goal.enough(one) for one in shares]
        found["responses_n_within"] = ((names.ALPHA, RESPONSES, DRAWS), np.stack(enough, axis=1))
    return found


def _averaged(
    pilot: ReadPilot, goal: Goal, said: Responses, steps: Sequence[int], seed: int
) -> tuple[list[list[Shares]], NDArray[np.float64]]:
    """Return shares by responses and alpha, and distances by responses, over several thinnings."""
    each: list[list[list[Shares]]] = [[[] for _ in goal.alphas] for _ in steps]
    distance = np.zeros(len(steps))
    for number in range(_THINNINGS):
        said = said if number == 0 else _responses(pilot, seed, number) or said
        for place, most in enumerate(steps):
            atoms, far = _with(pilot, said.thinned(most), seed)
            distance[place] += far / _THINNINGS
            for row, alpha in enumerate(goal.alphas):
                each[place][row].append(atoms.shares(alpha))
    return [[_mean(thinnings) for thinnings in by_alpha] for by_alpha in each], distance


def _mean(shares: Sequence[Shares]) -> Shares:
    """Return the mean of the shares over thinnings."""
    fields = [field.name for field in attrs.fields(Shares)]
    return Shares(**{name: float(np.mean([getattr(s, name) for s in shares])) for name in fields})


def _responses(pilot: ReadPilot, seed: int, number: int) -> Responses | None:
    if pilot.table is None:
        return None
    return Responses.of(pilot.table, Keys(seed).child(f"plan/thinning-{number}"))


def _with(pilot: ReadPilot, table: xr.Dataset, seed: int) -> tuple[Pilot, float]:
    """Return the pilot with other annotations, and how far its plausibilities are from all."""
    found = inputs.as_given(aggregated(table, pilot.aggregator, seed=seed))
    _, lam = matched(pilot.predictions, found, only_common=True)
    some, all_said = above_zero(opinions_of(lam)), above_zero(opinions_of(pilot.plausibilities))
    apart = np.empty(len(all_said.weight))
    for rows in few_rows(all_said.shape):
        less, whole = some.take(rows).dense(), all_said.take(rows).dense()
        apart[rows] = row_sums(np.abs(less.astype(np.float64) - whole), most=2.0)
    atoms = Pilot.of(pilot.predictions, lam, pilot.score, seed, pilot.clusters)
    return atoms, float(apart.mean()) / 2
