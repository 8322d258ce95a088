"""Plackett-Luce: utilities under which the rankings are likely, and draws of utilities.

A label of utility ``lambda_k = exp(phi_k)`` arrives at an exponential time of rate lambda_k; labels
are ranked as they arrive. A block B is above labels of total utility T where all of B arrive before
the first of those: that is the sum over every order of B, and as an integral::

    P(B above) = sum over orders s of B:
                     prod_t lambda_{s_t} / (lambda_{s_t} + ... + lambda_{s_b} + T)
               = integral over y > 0 of T exp(-T y) prod_{k in B} (1 - exp(-lambda_k y)) dy

The sum has b! terms, and its short form with signs cancels. The integral has positive terms only:
at ``y = exp(s) / T`` the trapezoidal rule in s is as good as float64 holds, for a block of any size
and utilities of any ratio, since the integrand is analytic for ``|Im s| < pi / 2`` and falls off
exponentially on both sides. Blocks of one label have a closed form.
"""

from __future__ import annotations

import json
import math
from functools import cached_property
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import Aggregator, InputError, Keys, counted, listed, names, several, warn
from plausibly_builtins.aggregation import Codes, Column, convergence, example_names, summed
from plausibly_builtins.rankings import (
    HALF,
    Ranked,
    Unmentioned,
    by_example,
    log_gamma,
    log_normalised,
)

_STEP = 0.125  # between nodes, of blocks of up to thirty
_FIRST = -42.0  # what lies before is less than exp(-42) of the whole
_LATE = 700.0  # exp of more is no float


def log_chances(log_ratio: Column) -> Column:
    """Return the log-chance of blocks of one size: (block,)."""
    if log_ratio.shape[1] == 1:
        return -np.logaddexp(0.0, -log_ratio[:, 0])
    time = _nodes(log_ratio.shape[1])
    largest, weight = _integrand(time, log_ratio)
    log_chance: Column = largest + np.log(weight.sum(axis=1) * (time[1] - time[0]))
    return log_chance


def derivatives(log_ratio: Column) -> tuple[Column, Column]:
    """Return the derivatives of log-chances by utilities in the block.

    The gradient (block, place) is by ``phi_k``, the curvature (block, place, place) is the second
    derivatives, with T fixed. The chance depends on ratios alone, so the derivative by log T is
    minus the sum of the others.
    """
    size = log_ratio.shape[1]
    if size == 1:
        lost = np.exp(-np.logaddexp(0.0, log_ratio))  # chance that another arrives first
        return lost, (-np.exp(log_chances(log_ratio))[:, None] * lost)[:, :, None]
    time = _nodes(size)
    weight = _integrand(time, log_ratio)[1]
    weight /= weight.sum(axis=1)[:, None]
    waits = _waits(time, log_ratio)
    with np.errstate(over="ignore"):
        slope = np.where(waits < 1e-300, 1.0, waits / np.expm1(np.maximum(waits, 1e-300)))
    mean = (slope * weight[:, None, :]).sum(axis=2)
    bend = slope * (1.0 - slope - waits)
    off = slope - mean[:, :, None]
    curvature = np.empty((len(log_ratio), size, size))
    for place in range(size):
        row = (off[:, place, None, :] * off * weight[:, None, :]).sum(axis=2)
        row[:, place] += (bend[:, place] * weight).sum(axis=1)
        curvature[:, place] = row
    return mean, curvature


def _nodes(size: int) -> Column:
    """Return the nodes s of the integral for blocks of a size."""
    # y^b exp(-y), the slowest fall there is, has lost 70 powers of e at 60 + 3 b; its logarithm
    # bends as a normal density with variance 1 / b.
    apart = min(_STEP, 0.7 / math.sqrt(size + 1.0))
    return np.arange(_FIRST, math.log(60.0 + 3.0 * size), apart)


def _integrand(time: Column, ratio: Column) -> tuple[Column, Column]:
    """Return the log of each block's largest term, and terms over it (block, node)."""
    waits = _waits(time, ratio)
    # 1 - exp(-x) is x where x is so small that exp(-x) is 1
    small = waits < 1e-17
    arrived = np.log(-np.expm1(-np.where(small, 1.0, waits)))
    arrived = np.where(small, ratio[:, :, None] + time, arrived)
    terms = arrived.sum(axis=1) + (time - np.exp(time))
    largest: Column = terms.max(axis=1)
    return largest, np.exp(terms - largest[:, None])


def _waits(time: Column, ratio: Column) -> Column:
    return np.exp(np.minimum(ratio[:, :, None] + time, _LATE))


_LONGEST = 4.0  # of a step, in log utilities
_HALVINGS = 60
_RIDGE = 1e-14  # of the mean bend: no matrix is singular by rounding
_ROUNDING = 1e-13  # what an objective loses in the last digits
_NUMBERS_AT_ONCE = 1 << 23  # numbers in memory at a time


@attrs.frozen(kw_only=True, eq=False)
class _Alike:
    """Examples of one size: priors of their places, and stages of all of them."""

    prior: Column
    example: Codes
    block: NDArray[np.bool_]
    below: NDArray[np.bool_]
    weight: Column

    @classmethod
    def of(cls, ranked: Ranked, prior: float, which: Codes) -> _Alike:
        examples = [ranked.examples[i] for i in which]
        flat = [(at, *stage) for at, example in enumerate(examples) for stage in example.stages]
        block = np.zeros((len(flat), examples[0].size), bool)
        below = np.zeros_like(block)
        for stage, (_, above, under, _) in enumerate(flat):
            block[stage, list(above)] = True
            below[stage, list(under)] = True
        return cls(
            prior=np.stack([ranked.prior(example, prior) for example in examples]),
            example=np.array([at for at, *_ in flat], np.intp),
            block=block,
            below=below,
            weight=np.array([weight for *_, weight in flat], np.float64),
        )

    def part(self, kept: Codes) -> _Alike:
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
        total: Column = (self.prior * log_share).sum(axis=1)
        for stages, places in self._by_size():
            log_ratio, _ = self._ratios(log_share, stages, places)
            terms = self.weight[stages] * log_chances(log_ratio)
            total += np.bincount(self.example[stages], terms, len(total))
        return total

    def step(self, log_share: Column) -> tuple[Column, Column]:
        """Return Newton's step (example, place), and how much it guarantees (example,)."""
        share = np.exp(log_share)
        total = self.prior.sum(axis=1, keepdims=True)
        slope = self.prior - total * share
        bend = total[:, :, None] * (_diagonal(share) - share[:, :, None] * share[:, None, :])
        size = share.shape[1]
        for stages, places in self._by_size():
            log_ratio, under = self._ratios(log_share, stages, places)
            gradient, curvature = derivatives(log_ratio)
            weight = self.weight[stages]
            gained = gradient * weight[:, None]
            lost = gained.sum(axis=1)
            curved = -curvature * weight[:, None, None]
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
        guarantee: Column = (way * slope).sum(axis=1)
        return way, guarantee

    def _by_size(self) -> list[tuple[Codes, Codes]]:
        """Return stages whose blocks have one size, and the places of their labels."""
        sizes = self.block.sum(axis=1)
        groups = []
        for size in np.unique(sizes):
            stages = np.flatnonzero(sizes == size)
            places = np.nonzero(self.block[stages])[1].reshape(stages.size, size)
            groups.append((stages, places))
        return groups

    def _ratios(self, log_share: Column, stages: Codes, places: Codes) -> tuple[Column, Column]:
        """Return log utilities of blocks over what is below (stage, place in the block)."""
        of = log_share[self.example[stages]]
        under = np.where(self.below[stages], of, -np.inf)
        largest = under.max(axis=1, keepdims=True)
        share = np.exp(under - largest)
        total = share.sum(axis=1, keepdims=True)
        log_ratio = np.take_along_axis(of, places, axis=1) - (largest + np.log(total))
        return log_ratio, share / total


def fit(
    ranked: Ranked, prior: float, *, tolerance: float, iterations: int
) -> tuple[list[Column], int, float]:
    """Return log plausibilities of places at which each example is most likely, and what it took.

    That is the most steps of an example, and the largest change of a plausibility in the last.
    """
    sizes = np.array([example.size for example in ranked.examples], np.intp)
    log_share: list[Column] = [np.zeros(size) for size in sizes]
    steps, largest = 0, 0.0
    for size in np.unique(sizes[sizes > 1]):
        every = np.flatnonzero(sizes == size)
        stages = max(len(ranked.examples[at].stages) for at in every)
        at_once = max(1, _NUMBERS_AT_ONCE // (max(stages, 1) * size * (size + _nodes(size).size)))
        for start in range(0, every.size, at_once):
            which = every[start : start + at_once]
            alike = _Alike.of(ranked, prior, which)
            logs = np.full((which.size, size), -np.log(size))
            objective, change = alike.objective(logs), np.full(which.size, np.inf)
            going, count = np.arange(which.size), 0
            while going.size and count < iterations:
                part, here = alike.part(going), logs[going]
                way, guarantee = part.step(here)
                logs[going], objective[going], full = _higher(
                    part, here, objective[going], way, guarantee
                )
                change[going] = np.abs(np.exp(logs[going]) - np.exp(here)).max(axis=1)
                count += 1
                going = going[~(full & (change[going] <= tolerance))]
            steps, largest = max(steps, count), max(largest, float(change.max()))
            for at, row in zip(which, logs, strict=True):
                log_share[at] = row
    return log_share, steps, largest


def _higher(
    alike: _Alike, here: Column, before: Column, way: Column, guarantee: Column
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
        good = value >= before[left] + 1e-4 * scale * guarantee[left] - slack[left]
        there[left[good]], reached[left[good]] = tried[good], value[good]
        full[left[good]] = scale == 1.0
        left = left[~good]
        if not left.size:
            break
        scale /= 2.0
    return there, reached, full


def _normalised(logs: Column) -> Column:
    largest = logs.max(axis=1, keepdims=True)
    result: Column = logs - (largest + np.log(np.exp(logs - largest).sum(axis=1, keepdims=True)))
    return result


def _diagonal(rows: Column) -> Column:
    return rows[:, :, None] * np.eye(rows.shape[1])


@attrs.frozen(kw_only=True)
class PlackettLuce(Aggregator):
    """Plausibility of a label = its chance of being ranked first, fitted to the rankings.

    A ranking is made from the top: the next label is k with chance ``lambda_k`` over the sum of
    what is left. The plausibilities of an example are those at which its rankings and the prior
    together are most likely::

        maximise  sum_b w_b log P(b | lambda)  +  prior sum_k log lambda_k,   sum_k lambda_k = 1
        P(b | lambda) = prod over blocks B of b:
                        sum over orders s of B: prod_t lambda_{s_t} / (lambda_{s_t} + ... + T_B)

    w_b is the `response_weight`, T_B the utility of all labels below the block: of those that the
    ranking names later, and, where `unlisted` of the table is ``excluded``, of those that it does
    not name. All orders inside a tied block are summed. Of single labels the result is
    ``(v_k + prior) / (v + K prior)`` with v_k of v votes and K labels in the model.

    Attributes
    ----------
    prior : float
        Shape of the gamma prior of every utility: votes, so to speak, that each label in the model
        has before any ranking. With 0, examples with a group of labels that no label outside it
        ever beats are refused.
    unmentioned : {"nothing", "together", "each"}
        Labels that no response of the example names are not in the model (default); or are in it as
        one label, whose plausibility they share equally; or each with a prior of its own.
    tolerance : float
        It has converged where a full step changes no plausibility by more.
    iterations : int
        The most steps; it warns where that is too few.

    References
    ----------
    Plackett, The analysis of permutations, Applied Statistics 24 (1975), 193-202. Hunter, MM
    algorithms for generalized Bradley-Terry models, Annals of Statistics 32 (2004), 384-406. Caron
    & Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, JCGS 21 (2012).
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking", "single-label"})

    prior: float = attrs.field(default=0.5, validator=attrs.validators.ge(0.0))
    unmentioned: Unmentioned = "nothing"
    tolerance: float = attrs.field(default=1e-10, validator=attrs.validators.ge(0.0))
    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        ranked = Ranked.of(annotations, self.accepts, self.unmentioned)
        one_sided = [i for i, e in enumerate(ranked.examples) if self.prior == 0 and e.one_sided]
        if one_sided:
            shown = example_names(ranked.rows, one_sided)
            raise InputError(
                "ranking-one-sided",
                f"annotations: without a prior, the rankings of {several(len(shown), 'example')} "
                "fit infinite utilities best",
                expected="every group of labels beaten once by a label outside it",
                found=listed(shown),
                hint="prior = 0.5, or another above 0",
                source="annotations",
            )
        log_share, steps, change = fit(
            ranked, self.prior, tolerance=self.tolerance, iterations=self.iterations
        )
        values = ranked.spread([np.exp(log) for log in log_share])
        settled = change <= self.tolerance
        attributes = convergence("plackett-luce", steps, change, self.tolerance, settled=settled)
        return ranked.rows.plausibilities(values).assign_attrs(attributes)


_LEAST, _LATEST = 1e-250, 1e260  # of a utility and a time: beyond, products are no floats
_BELOW_ONE = 1.0 - 2.0**-53
_BLOCK = 10  # sweeps whose uniforms are made at once


@attrs.frozen(kw_only=True, eq=False)
class Chains:
    """Constants of a sweep: items (places of an example) in or below a stage."""

    size: Codes  # items of each example
    shape: Column  # of the gamma variable that an item is, given arrival times
    prior: Column  # (example,): shape of the gamma prior of the sum of all utilities
    stage_example: Codes
    below_stage: Codes
    below_item: Codes
    single_stage: Codes  # with one label in the block: one arrival time, the sum over all
    single_item: Codes
    weight: Column  # how often a single was answered
    copy_stage: Codes  # with ties: a copy for each answer
    copy_item: Codes  # (copy, place of the block); -1 where the block has no more

    @classmethod
    def of(cls, ranked: Ranked, prior: float) -> Chains:
        size = np.array([example.size for example in ranked.examples], np.intp)
        priors = [ranked.prior(example, prior) for example in ranked.examples]
        shape = np.concatenate(priors) if priors else np.zeros(0)
        stages: list[int] = []
        below: list[tuple[int, int]] = []
        singles: list[tuple[int, int, float]] = []
        copies: list[tuple[int, tuple[int, ...]]] = []
        start = 0
        for at, example in enumerate(ranked.examples):
            for block, under, weight in example.stages:
                stage = len(stages)
                stages.append(at)
                below += [(stage, start + place) for place in under]
                items = tuple(start + place for place in block)
                shape[list(items)] += weight
                if len(items) == 1:
                    singles.append((stage, items[0], weight))
                else:
                    copies += [(stage, items)] * round(weight)
            start += example.size
        widest = max((len(items) for _, items in copies), default=1)
        copy_item = np.full((len(copies), widest), -1, np.intp)
        for row, (_, items) in zip(copy_item, copies, strict=True):
            row[: len(items)] = items
        return cls(
            size=size,
            shape=shape,
            prior=np.array([float(shapes.sum()) for shapes in priors]),
            stage_example=np.array(stages, np.intp),
            below_stage=np.array([stage for stage, _ in below], np.intp),
            below_item=np.array([item for _, item in below], np.intp),
            single_stage=np.array([stage for stage, *_ in singles], np.intp),
            single_item=np.array([item for _, item, _ in singles], np.intp),
            weight=np.array([weight for *_, weight in singles], np.float64),
            copy_stage=np.array([stage for stage, _ in copies], np.intp),
            copy_item=copy_item,
        )

    @cached_property
    def owner(self) -> Codes:
        return np.repeat(np.arange(self.size.size), self.size)

    @cached_property
    def uniforms(self) -> tuple[Codes, ...]:
        """Number of uniforms of a sweep per example, and the places of each use among them.

        The uses are two for each single, item and example, and one for each place of a copy.
        """
        examples = np.arange(self.size.size)
        owners = (
            np.repeat(self.stage_example[self.single_stage], 2),
            np.repeat(self.owner, 2),
            np.repeat(examples, 2),
            np.repeat(self.stage_example[self.copy_stage], self.copy_item.shape[1]),
        )
        owner = np.concatenate(owners)
        used = np.ones(owner.size, bool)
        # a place that a narrower block does not have takes no uniform
        used[owner.size - owners[3].size :] = self.copy_item.ravel() >= 0
        order = np.argsort(owner[used], kind="stable")
        places = np.zeros(owner.size, np.intp)
        places[np.flatnonzero(used)[order]] = np.arange(order.size)
        single, item, total, copy = np.split(places, np.cumsum([use.size for use in owners])[:-1])
        pairs = (use.reshape(-1, 2).T for use in (single, item, total))
        counts = np.bincount(owner[used], minlength=examples.size)
        return counts, *pairs, copy.reshape(self.copy_item.shape)

    def run(
        self, keys: Keys, hashes: NDArray[np.uint64], sweeps: int, sums: Column
    ) -> list[Column]:
        """Return the shares of places where a chain ends, by example; add to the `sums`."""
        counts = self.uniforms[0]
        start = np.cumsum(counts) - counts
        # Of the uniforms of an example come those of one sweep after those of another.
        at = np.arange(int(counts.sum())) + np.repeat(start, counts) * (_BLOCK - 1)
        share = 1.0 / self.size[self.owner]
        waits = np.zeros(self.copy_item.shape)
        for sweep in range(sweeps):
            block, within = divmod(sweep, _BLOCK)
            if within == 0:
                made = keys.child(str(block)).ragged(hashes, counts * _BLOCK)
            now, waits = self._sweep(share, waits, made[at + within * np.repeat(counts, counts)])
            if sweep > sweeps // 2:  # both, their squares and their product: (5, item)
                sums += np.stack([share, now, share * share, now * now, share * now])
            share = now
        return by_example(share, self.size)

    def _sweep(self, share: Column, waits: Column, uniform: Column) -> tuple[Column, Column]:
        """Return shares, and arrival times in ties, after one sweep."""
        _, single, item, total, copy = self.uniforms
        stages, items, owner = self.stage_example.size, share.size, self.owner
        utility = np.maximum(share, _LEAST)
        under = summed(self.below_stage, utility[self.below_item], stages)
        rate = utility[self.single_item] + under[self.single_stage]
        alone = np.exp(log_gamma(self.weight, *uniform[single])) / rate
        waits = self._arrivals(utility, under, waits, uniform[copy])
        last = summed(self.single_stage, alone, stages)
        last += summed(self.copy_stage, waits.max(axis=1, initial=0.0), stages)
        inside = self.copy_item >= 0
        exposed = np.maximum(np.exp(log_gamma(self.prior, *uniform[total])), _LEAST)[owner]
        exposed += summed(self.single_item, alone, items)
        exposed += summed(self.copy_item[inside], waits[inside], items)
        exposed += summed(self.below_item, last[self.below_stage], items)
        logs = log_gamma(self.shape, *uniform[item]) - np.log(exposed)
        scale = np.bincount(owner, np.exp(logs), self.size.size)
        waits = waits * scale[self.stage_example[self.copy_stage], None]
        new_share = np.exp(log_normalised(logs, owner, self.size.size))
        return new_share, np.minimum(waits, _LATEST)

    def _arrivals(self, utility: Column, under: Column, waits: Column, uniform: Column) -> Column:
        """Return new arrival times in ties, one place after the other: (copy, place)."""
        waits = waits.copy()
        below = under[self.copy_stage]
        for place, item in enumerate(self.copy_item.T):
            rows = np.flatnonzero(item >= 0)
            waits[rows, place] = 0.0
            last = waits[rows].max(axis=1)
            rate, rest = utility[item[rows]], below[rows]
            early = -np.expm1(-rate * last)
            late = np.exp(-rate * last) * (rate / (rate + rest))
            at = np.minimum(uniform[rows, place] + HALF, _BELOW_ONE)
            reached = at * (early + late)
            is_early = (reached < early) | (late == 0.0)
            soon = -np.log1p(-np.where(is_early, np.minimum(reached, _BELOW_ONE), 0.0)) / rate
            # What is left of `late`, not as a difference: it may be too small for that.
            left = (1.0 - at) * (early + late) / np.where(is_early, 1.0, late)
            after = last - np.log(np.where(is_early, 1.0, left)) / (rate + rest)
            waits[rows, place] = np.where(is_early, soon, after)
        return waits

    def correlation(self, sums: Column, pairs: int) -> Column:
        """Return the correlation of two sweeps in a row, from 0 to 1, of each example."""
        first, second, squares, later, products = sums / max(pairs, 1)
        n = self.size.size
        together = np.bincount(self.owner, products - first * second, n)
        spread = np.bincount(self.owner, squares - first**2 + later - second**2, n) / 2.0
        seen = spread > 1e-12
        correlation: Column = np.where(seen, together, 0.0) / np.where(seen, spread, 1.0)
        return np.clip(correlation, 0.0, 1.0)


_FELT = 0.01  # what may be left of the start after the warm-up


@attrs.frozen(kw_only=True)
class PlackettLuceDraws(Aggregator):
    """Plausibilities drawn from the posterior of the model of Plackett and Luce.

    The model is that of `plackett-luce`; of single labels the posterior is
    ``Dirichlet(v_1 + prior, ..., v_K + prior)`` for v_k votes.

    Draws come from Gibbs sampling: each label of a block gets the time at which it arrives, with
    density in proportion to ``prod_k lambda_k exp(-lambda_k x_k) exp(-T max_k x_k)``, T the utility
    of all labels below the block; given the times, utilities are gamma variables. Summed over
    times this is exactly the chance of the block, ties included. Every draw is the end of a chain
    of its own, keyed by the name of the example.

    Attributes
    ----------
    draws : int
        How many.
    prior : float
        Shape of the gamma prior of the utility of each label in the model, more than 0.
    unmentioned : {"nothing", "together", "each"}
        Labels that no response of the example names: as for `plackett-luce`.
    warm_up : int
        Sweeps of a chain. It warns where the start may still be felt at the end.

    References
    ----------
    Caron & Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, JCGS 21
    (2012). Stutz et al., Evaluating AI systems under uncertain ground truth, arXiv 2307.02191.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking", "single-label"})

    draws: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    prior: float = attrs.field(default=0.5, validator=attrs.validators.gt(0.0))
    unmentioned: Unmentioned = "nothing"
    warm_up: int = attrs.field(default=50, validator=attrs.validators.ge(2))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        ranked = Ranked.of(annotations, self.accepts, self.unmentioned)
        broken = [
            (i, weight)
            for i, example in enumerate(ranked.examples)
            for block, _, weight in example.stages
            if len(block) > 1 and weight != round(weight)
        ]
        if broken:
            shown = example_names(ranked.rows, np.unique([i for i, _ in broken]))
            raise InputError(
                "weights-broken",
                f"annotations: rankings with ties of {several(len(shown), 'example')} "
                "count a broken number of times",
                expected="whole response weights where labels are tied",
                found=f"{broken[0][1]:g}, about {listed(shown)}",
                hint="aggregator plackett-luce, which takes any weight, or round the weights",
                source="annotations",
            )
        chains = Chains.of(ranked, self.prior)
        hashes = ranked.rows.hashes
        sums = np.zeros((5, chains.shape.size))
        draws = [
            chains.run(keys.child(f"plackett-luce-{draw}"), hashes, self.warm_up, sums)
            for draw in range(1, self.draws + 1)
        ]
        pairs = self.draws * (self.warm_up - 1 - self.warm_up // 2)
        correlation = chains.correlation(sums, pairs)
        slowest = float(correlation.max(initial=0.0))
        left, slow = slowest**self.warm_up, np.flatnonzero(correlation**self.warm_up > _FELT)
        if slow.size:
            shown = example_names(ranked.rows, slow)
            warn(
                "not-converged",
                f"plackett-luce-draws: after {counted(self.warm_up)} sweeps, draws of "
                f"{several(slow.size, 'example')} ({listed(shown)}) may still depend on where "
                "they began",
                expected=f"{_FELT:.0%} of the start or less",
                found=f"up to {left:.0%}",
                hint=f"warm_up = {10 * self.warm_up}, or a larger prior",
                source="aggregator plackett-luce-draws",
            )
        facts = {"sweeps": self.warm_up, "correlation": slowest, "left": left}
        plausibilities = ranked.drawn(draws, self.prior, keys.child("plackett-luce"))
        return plausibilities.assign_attrs({names.CONVERGENCE: json.dumps(facts)})
