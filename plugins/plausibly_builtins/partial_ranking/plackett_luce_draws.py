"""Plackett-Luce, drawn: what the rankings leave open, as one set of plausibilities a draw."""

from __future__ import annotations

import json
import math
from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import InputError, Keys, counted, hash_names, listed, names, several, warn
from plausibly_builtins.partial_ranking._felt import Felt
from plausibly_builtins.partial_ranking._gamma import Column
from plausibly_builtins.partial_ranking._gibbs import Chains
from plausibly_builtins.partial_ranking._stages import UNMENTIONED, Said, Unmentioned
from plausibly_builtins.partial_ranking.plackett_luce import CONVERGENCE

_FELT = 0.01  # what may be left of the start after the warm-up
_AT_ONCE = 1 << 18  # numbers in the state of the chains at a time


@attrs.frozen(kw_only=True)
class PlackettLuceDraws:
    """Plausibilities drawn from the posterior of the model of Plackett and Luce.

    The model is that of `plackett-luce`: what a ranking, a tie and a label that is not named mean
    is said there. Utilities have independent gamma priors of shape `prior`, so that plausibilities
    without any ranking are ``Dirichlet(prior, ..., prior)``. Few rankings, or such that contradict
    one another, give draws that differ; of single labels the posterior is
    ``Dirichlet(v_1 + prior, ..., v_K + prior)`` for v_k votes.

    Draws come from Gibbs sampling: each label of a block gets the time at which it arrives, with
    density in proportion to ``prod_k lambda_k exp(-lambda_k x_k) exp(-T max_k x_k)``, T the utility
    of all labels below the block; given the times, utilities are gamma variables. Summed over
    times this is exactly the chance of the block, ties included. Every draw is the end of a chain
    of its own, so draws are independent of each other.

    With the calibrator ``monte-carlo``, label j is drawn from ``lambda^j``; what is then covered is
    a label drawn from the posterior mean of the plausibilities.

    Draws are keyed by the names of the examples: they depend on no other example and on no order,
    and the first ones do not depend on how many there are.

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
    Caron & Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, Journal of
    Computational and Graphical Statistics 21 (2012), 174-196. Stutz et al., Evaluating AI systems
    under uncertain ground truth, arXiv 2307.02191.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking", "single-label"})

    draws: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    prior: float = attrs.field(default=0.5, validator=attrs.validators.gt(0.0))
    unmentioned: Unmentioned = attrs.field(default="nothing", validator=UNMENTIONED)
    warm_up: int = attrs.field(default=50, validator=attrs.validators.ge(2))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (draw, example, label).

        Parameters
        ----------
        annotations : Dataset
            A table of partial rankings or single labels.
        keys : Keys
            Draw j has a stream of its own.

        Returns
        -------
        DataArray, (draw, example, label)
            Draws count from 1. The attribute ``convergence`` says, as JSON, how many sweeps a chain
            has, the correlation of two sweeps that follow each other in the slowest example, and
            how much of its start is left at the end, the correlation to the power of the sweeps.

        Raises
        ------
        InputError
            ``example-unanswered`` where nobody ranked a label; ``weights-broken`` where a ranking
            with a tie counts a number of times that is not whole.
        """
        said = Said.of(annotations, self.accepts, self.unmentioned)
        _check_whole(said)
        chains = Chains.of(said, self.prior)
        hashes = hash_names(said.rows.table.indexes[names.EXAMPLE])
        together = max(1, _AT_ONCE // max(chains.numbers, 1))
        draws: list[list[Column]] = []
        felt = Felt.none(said.rows.n)
        for start in range(1, self.draws + 1, together):
            some = range(start, min(start + together, self.draws + 1))
            streams = [keys.child(f"plackett-luce-{draw}") for draw in some]
            shares, more = chains.run(streams, hashes, self.warm_up)
            draws += shares
            felt = felt.plus(more)
        correlation = felt.correlation()
        self._tell(said, correlation)
        slowest = float(correlation.max(initial=0.0))
        facts = {
            "sweeps": self.warm_up,
            "correlation": slowest,
            "left": slowest**self.warm_up,
        }
        found = said.drawn(draws, self.prior, keys.child("plackett-luce"))
        return found.assign_attrs({CONVERGENCE: json.dumps(facts)})

    def _tell(self, said: Said, correlation: Column) -> None:
        left = correlation**self.warm_up
        slow = np.flatnonzero(left > _FELT)
        if not slow.size:
            return
        shown, slowest = said.named(slow), min(float(correlation.max()), 0.999)
        enough = max(math.ceil(2 * math.log(_FELT) / math.log(slowest)), 2 * self.warm_up)
        warn(
            "not-converged",
            f"plackett-luce-draws: after {counted(self.warm_up)} sweeps, draws of "
            f"{several(slow.size, 'example')} ({listed(shown)}) may still depend on where they "
            "began",
            expected=f"{_FELT:.0%} of the start or less",
            got=f"up to {left.max():.0%}",
            do=f"warm_up = {enough}, or a larger prior, such as {self.prior * 2:g}",
            whose="aggregator plackett-luce-draws",
            details={"examples": shown},
            stacklevel=3,
        )


def _check_whole(said: Said) -> None:
    broken = [
        (i, weight)
        for i, example in enumerate(said.examples)
        for block, _, weight in example.stages
        if len(block) > 1 and weight != round(weight)
    ]
    if not broken:
        return
    shown = said.named(np.unique([i for i, _ in broken]))
    raise InputError(
        "weights-broken",
        f"annotations: rankings with ties of {several(len(shown), 'example')} ({listed(shown)}) "
        "count a broken number of times",
        expected="whole response weights where labels are tied: each time has a chain of its own",
        got=f"{broken[0][1]:g}",
        do="aggregator plackett-luce, which takes any weight, or round the weights",
        whose="annotations",
        details={"examples": shown},
    )
