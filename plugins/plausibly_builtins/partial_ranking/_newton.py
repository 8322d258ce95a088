"""The most likely utilities of each example, by Newton's method with steps that never go down.

Log-likelihood and log-prior are concave in log utilities (the chance that some of several Gumbel
variables exceed the others is log-concave in their locations, by Prekopa's theorem), so there is
one maximum, and every climb ends there. Examples with the same number of labels climb together,
each at its own pace: no example sees another.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly_builtins.partial_ranking._likelihood import Column, log_chances, moments
from plausibly_builtins.partial_ranking._stages import Said

Codes = NDArray[np.intp]

_LONGEST = 4.0  # of a step, in log utilities
_HALVINGS = 60
_RIDGE = 1e-14  # of the mean bend: no matrix is singular by rounding
_ROUNDING = 1e-13  # what an objective loses in the last digits
_AT_ONCE = 1 << 21  # numbers in memory at a time


@attrs.frozen(kw_only=True, eq=False)
class Fit:
    """Where each example stopped.

    Attributes
    ----------
    log_share : list of ndarray of float64, (place,)
        Log plausibilities of the places of each example.
    steps, change, objective : ndarray, (example,)
        Steps taken, largest change of a plausibility in the last, and what was reached.
    """

    log_share: list[Column]
    steps: Codes
    change: Column
    objective: Column


@attrs.frozen(kw_only=True, eq=False)
class _Alike:
    """Examples of one size.

    Attributes
    ----------
    prior : ndarray of float64, (example, place)
    example : ndarray of int, (stage,)
    block, below : ndarray of bool, (stage, place)
    weight : ndarray of float64, (stage,)
    """

    prior: Column
    example: Codes
    block: NDArray[np.bool_]
    below: NDArray[np.bool_]
    weight: Column

    @classmethod
    def of(cls, said: Said, prior: float, which: Codes) -> _Alike:
        """Return some examples of the table, all of one size."""
        some = [said.examples[i] for i in which]
        flat = [(at, *stage) for at, example in enumerate(some) for stage in example.stages]
        block = np.zeros((len(flat), some[0].size), bool)
        below = np.zeros_like(block)
        for stage, (_, above, under, _) in enumerate(flat):
            block[stage, list(above)] = True
            below[stage, list(under)] = True
        return cls(
            prior=np.stack([said.prior(example, prior) for example in some]),
            example=np.array([at for at, *_ in flat], np.intp),
            block=block,
            below=below,
            weight=np.array([weight for *_, weight in flat], np.float64),
        )

    def part(self, kept: Codes) -> _Alike:
        """Return some of the examples."""
        new = np.full(len(self.prior), -1, np.intp)
        new[kept] = np.arange(kept.size)
        stages = new[self.example] >= 0
        return _Alike(
            prior=self.prior[kept],
            example=new[self.example[stages]],
            block=self.block[stages],
            below=self.below[stages],
            weight=self.weight[stages],
        )

    def objective(self, log_share: Column) -> Column:
        """Return log-likelihood plus log-prior of each example: (example,)."""
        found: Column = (self.prior * log_share).sum(axis=1)
        for stages, places in self._by_size():
            log_ratio, _ = self._ratios(log_share, stages, places)
            terms = self.weight[stages] * log_chances(log_ratio)
            found += np.bincount(self.example[stages], terms, len(found))
        return found

    def step(self, log_share: Column) -> tuple[Column, Column]:
        """Return Newton's step (example, place), and how much it promises (example,)."""
        share = np.exp(log_share)
        total = self.prior.sum(axis=1, keepdims=True)
        slope = self.prior - total * share
        bend = total[:, :, None] * (_diagonal(share) - share[:, :, None] * share[:, None, :])
        size = share.shape[1]
        for stages, places in self._by_size():
            log_ratio, under = self._ratios(log_share, stages, places)
            found, weight = moments(log_ratio), self.weight[stages]
            gained = found.gradient * weight[:, None]
            lost = gained.sum(axis=1)
            curved = -found.curvature * weight[:, None, None]
            rows, of = np.arange(len(stages))[:, None], self.example[stages]
            first = -lost[:, None] * under
            first[rows, places] += gained
            inner = np.zeros((len(stages), size, size))
            inner[rows[:, :, None], places[:, :, None], places[:, None, :]] = curved
            across = inner.sum(axis=2)
            inner -= across[:, :, None] * under[:, None, :] + under[:, :, None] * across[:, None, :]
            inner += (across.sum(axis=1) - lost)[:, None, None] * (
                under[:, :, None] * under[:, None, :]
            )
            inner += _diagonal(lost[:, None] * under)
            np.add.at(slope, of, first)
            np.add.at(bend, of, inner)
        # Utilities are only known up to a factor: along it, any bend will do.
        mean = np.trace(bend, axis1=1, axis2=2)[:, None] / size
        bend += mean[:, :, None] / size + _diagonal(np.repeat(_RIDGE * mean, size, axis=1))
        way: Column = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        way *= np.minimum(1.0, _LONGEST / np.abs(way).max(axis=1, initial=1e-300))[:, None]
        promise: Column = (way * slope).sum(axis=1)
        return way, promise

    def _by_size(self) -> list[tuple[Codes, Codes]]:
        """Return stages whose blocks have one size, and the places of their labels."""
        sizes = self.block.sum(axis=1)
        found = []
        step = max(1, _AT_ONCE // self.block.shape[1] ** 2)
        for size in np.unique(sizes):
            every = np.flatnonzero(sizes == size)
            for at in range(0, every.size, step):
                stages = every[at : at + step]
                places = np.nonzero(self.block[stages])[1].reshape(stages.size, size)
                found.append((stages, places))
        return found

    def _ratios(self, log_share: Column, stages: Codes, places: Codes) -> tuple[Column, Column]:
        """Return log utilities of blocks over what is below (stage, place in the block).

        And what share of all that is below each label has: (stage, place).
        """
        of = log_share[self.example[stages]]
        under = np.where(self.below[stages], of, -np.inf)
        largest = under.max(axis=1, keepdims=True)
        share = np.exp(under - largest)
        total = share.sum(axis=1, keepdims=True)
        log_ratio = np.take_along_axis(of, places, axis=1) - (largest + np.log(total))
        return log_ratio, share / total


def fit(said: Said, prior: float, *, tolerance: float, iterations: int) -> Fit:
    """Return the plausibilities of places at which each example is most likely.

    Parameters
    ----------
    said : Said
    prior : float
        Shape of the gamma prior of every label.
    tolerance : float
        An example stops where a full step changes no plausibility by more.
    iterations : int
        It stops after so many steps.
    """
    sizes = np.array([example.size for example in said.examples], np.intp)
    log_share: list[Column] = [np.zeros(size) for size in sizes]
    steps, change = np.zeros(sizes.size, np.intp), np.zeros(sizes.size)
    objective = np.zeros(sizes.size)
    for size in np.unique(sizes[sizes > 1]):
        which = np.flatnonzero(sizes == size)
        found, steps[which], change[which], objective[which] = _climb(
            _Alike.of(said, prior, which), tolerance, iterations
        )
        for i, row in zip(which, found, strict=True):
            log_share[i] = row
    return Fit(log_share=log_share, steps=steps, change=change, objective=objective)


def _climb(
    alike: _Alike, tolerance: float, iterations: int
) -> tuple[Column, Codes, Column, Column]:
    count, size = alike.prior.shape
    log_share = np.full((count, size), -np.log(size))
    objective = alike.objective(log_share)
    change, steps = np.full(count, np.inf), np.zeros(count, np.intp)
    going = np.arange(count)
    while going.size and steps.max() < iterations:
        part = alike.part(going)
        here, before = log_share[going], objective[going]
        way, promise = part.step(here)
        there, reached, full = _higher(part, here, before, way, promise)
        moved = np.abs(np.exp(there) - np.exp(here)).max(axis=1)
        log_share[going], objective[going] = there, reached
        steps[going] += 1
        change[going] = moved
        going = going[~(full & (moved <= tolerance))]
    return log_share, steps, change, objective


def _higher(
    alike: _Alike, here: Column, before: Column, way: Column, promise: Column
) -> tuple[Column, Column, NDArray[np.bool_]]:
    """Return a place on the way that is no lower, what is reached, and whether at its end."""
    there, reached = here.copy(), before.copy()
    full = np.zeros(len(here), bool)
    left = np.arange(len(here))
    slack = _ROUNDING * (1.0 + np.abs(before))
    scale = 1.0
    for _ in range(_HALVINGS):
        part = alike.part(left)
        tried = _normalised(here[left] + scale * way[left])
        value = part.objective(tried)
        good = value >= before[left] + 1e-4 * scale * promise[left] - slack[left]
        there[left[good]], reached[left[good]] = tried[good], value[good]
        full[left[good]] = scale == 1.0
        left = left[~good]
        if not left.size:
            break
        scale /= 2.0
    return there, reached, full


def _normalised(logs: Column) -> Column:
    largest = logs.max(axis=1, keepdims=True)
    found: Column = logs - (largest + np.log(np.exp(logs - largest).sum(axis=1, keepdims=True)))
    return found


def _diagonal(rows: Column) -> Column:
    """Return matrices with these diagonals: (row, place, place)."""
    found: Column = rows[:, :, None] * np.eye(rows.shape[1])
    return found
