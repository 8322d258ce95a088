"""Plackett-Luce, drawn: one set of plausibilities per Gibbs draw of the utilities."""

from __future__ import annotations

import json
from functools import cached_property
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.plugin import Aggregator, InputError, Keys, counted, listed, names, several, warn
from plausibly_builtins.aggregation import example_names, summed
from plausibly_builtins.rankings import (
    HALF,
    Column,
    Ranked,
    Unmentioned,
    by_example,
    log_gamma,
    log_normalised,
)

Codes = NDArray[np.intp]

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
