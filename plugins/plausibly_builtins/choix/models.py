"""Bradley-Terry and Luce models of the library choix, fitted to comparisons of two labels.

Labels stand in the order of their names, and comparisons are sorted: what choix adds up does not
depend on the order of rows, labels or annotators. docs/rankings.md has what the models share.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import product
from typing import ClassVar, Literal

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Aggregator, InputError, Keys, answered_rows, listed, require, several
from plausibly_builtins.aggregation import Column, example_names, refuse_or_warn
from plausibly_builtins.rankings import Example, examples_of

Form = Literal["list", "matrix"]

_THEIRS = {"regularisation": "alpha", "tolerance": "tol", "iterations": "max_iter"}
"""What choix calls the parameters."""


def _comparisons(example: Example, form: Form) -> tuple[int, list[tuple[int, int]]] | tuple[Column]:
    """Return the comparisons of two labels as an estimate reads them: winner, then loser."""
    weights: dict[tuple[int, int], list[float]] = defaultdict(list)
    for block, below, weight in example.stages:
        for pair in product(block, below):
            weights[pair].append(weight)
    times = {pair: math.fsum(weights[pair]) for pair in sorted(weights)}
    if form == "list":
        return example.size, [pair for pair, count in times.items() for _ in range(int(count))]
    wins = np.zeros((example.size, example.size))
    for pair, count in times.items():
        wins[pair] = count
    return (wins,)


@attrs.frozen(kw_only=True)
class Choix(Aggregator):
    """A model of choix: its `estimate` gives log utilities (label,) of pairs in its `form`.

    Attributes
    ----------
    regularisation : float
        With 0, examples are refused in which some labels only win.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"partial-ranking"})
    called: ClassVar[str]
    estimate: ClassVar[str]
    form: ClassVar[Form]

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        source = f"aggregator choix:{self.called}"
        estimate = getattr(require("choix", extra="ranking", source=source), self.estimate)
        parameters = {_THEIRS[name]: value for name, value in attrs.asdict(self).items()}
        rows = answered_rows(annotations, self.accepts)
        if self.form == "list" and not rows.counts:
            raise InputError(
                "weights-broken",
                f"choix:{self.called} counts comparisons one by one",
                expected="responses that count a whole number of times",
                hint="aggregator choix:i-lsr, choix:lsr or plackett-luce",
                source=source,
            )
        examples = examples_of(rows)
        if one_sided := [at for at, example in enumerate(examples) if example.one_sided]:
            shown = example_names(rows, one_sided)
            refuse_or_warn(
                "ranking-one-sided",
                f"in the comparisons of {several(len(shown), 'example')} some labels only win: "
                f"their plausibilities depend on regularisation, here {self.regularisation:g}",
                refuse=self.regularisation == 0,
                expected="labels each of which beats every other, if by way of others",
                found=listed(shown),
                hint="regularisation = 0.1 or more, or aggregator plackett-luce, whose prior "
                "counts like votes",
                source="annotations",
            )
        shares = np.zeros((rows.n, rows.labels))
        for at, example in enumerate(examples):
            share = np.full(len(example.labels), 1.0 / max(len(example.labels), 1))
            if example.stages:
                try:
                    with np.errstate(all="ignore"):
                        logs = estimate(*_comparisons(example, self.form), **parameters)
                        if not np.isfinite(logs).all():
                            raise FloatingPointError("utilities that are no finite numbers")
                        share = np.exp(logs - np.max(logs))
                        share /= share.sum()
                except (RuntimeError, ValueError, FloatingPointError) as error:
                    raise InputError(
                        "not-converged",
                        f"choix:{self.called} finds no utilities for an example",
                        expected="an estimate that settles for each example",
                        found=" ".join(str(error).split()),
                        hint="more iterations, a larger regularisation, or aggregator "
                        "plackett-luce",
                        source=source,
                    ) from error
            shares[at, list(example.labels)] = share
        return rows.plausibilities(shares)


@attrs.frozen(kw_only=True)
class Iterative(Choix):
    """A model of choix that takes steps until it settles.

    Attributes
    ----------
    tolerance : float
        It has converged where log utilities change by no more, added up.
    iterations : int
        The most steps; examples that need more are refused.
    """

    tolerance: float = attrs.field(default=1e-8, validator=attrs.validators.gt(0.0))
    iterations: int = attrs.field(default=1000, validator=attrs.validators.ge(1))


@attrs.frozen(kw_only=True)
class IterativeSpectral(Iterative):
    """Plausibility of a label = its utility, found as where a walk between labels settles.

    A walk goes from l to k at the rate ``regularisation + n_kl / (u_k + u_l)``, n_kl being how
    often k was above l; its stationary distribution is the next u. Without regularisation it
    settles at the maximum of the Bradley-Terry likelihood, as `choix:mm` does, in fewer steps.

    References
    ----------
    Maystre & Grossglauser, Fast and accurate inference of Plackett-Luce models, NeurIPS 2015.
    """

    called: ClassVar[str] = "i-lsr"
    estimate: ClassVar[str] = "ilsr_pairwise_dense"
    form: ClassVar[Form] = "matrix"


@attrs.frozen(kw_only=True)
class MinorizationMaximization(Iterative):
    """Plausibility of a label = its utility, fitted to the comparisons of two labels.

    A ranking is read as comparisons: each label with each one of a lower block, and, where
    `unlisted` of the table is ``excluded``, with each one that it does not name and another
    response does. With k above l n_kl times, weighed by `response_weight`::

        maximise  sum_kl n_kl log(u_k / (u_k + u_l))  +  regularisation sum_k (log u_k - u_k)
        lambda_k  =  u_k / sum_l u_l

    References
    ----------
    Hunter, MM algorithms for generalized Bradley-Terry models, Annals of Statistics 32 (2004),
    384-406. Caron & Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, JCGS
    21 (2012).
    """

    called: ClassVar[str] = "mm"
    estimate: ClassVar[str] = "mm_pairwise"
    form: ClassVar[Form] = "list"

    iterations: int = attrs.field(default=10_000, validator=attrs.validators.ge(1))


@attrs.frozen(kw_only=True)
class Optimised(Choix):
    """Plausibility of a label = its utility, fitted with a Gaussian prior of log utilities.

    With k above l n_kl times::

        maximise  sum_kl n_kl log(u_k / (u_k + u_l))  -  regularisation sum_k (log u_k)^2
        lambda_k  =  u_k / sum_l u_l

    Attributes
    ----------
    tolerance : float
        Relative error of the log utilities.

    References
    ----------
    Bradley & Terry, Rank analysis of incomplete block designs, Biometrika 39 (1952), 324-345.
    """

    called: ClassVar[str] = "opt"
    estimate: ClassVar[str] = "opt_pairwise"
    form: ClassVar[Form] = "list"

    tolerance: float = attrs.field(default=1e-8, validator=attrs.validators.gt(0.0))


@attrs.frozen(kw_only=True)
class RankCentrality(Choix):
    """Plausibility of a label = where a walk settles that goes from losers to winners.

    The walk goes from l to k at the rate ``(n_kl + r) / (n_kl + n_lk + 2 r)``, n_kl being how often
    k was above l, and r the regularisation: shares of wins count, however often labels met.

    References
    ----------
    Negahban, Oh & Shah, Iterative ranking from pair-wise comparisons, NeurIPS 2012.
    """

    called: ClassVar[str] = "rank-centrality"
    estimate: ClassVar[str] = "rank_centrality"
    form: ClassVar[Form] = "list"


@attrs.frozen(kw_only=True)
class Spectral(Choix):
    """Plausibility of a label = where a walk between labels settles that follows who wins.

    The walk goes from l to k at the rate ``regularisation + n_kl / 2``, n_kl being how often k
    was above l. It is the first step of `choix:i-lsr`, and not the maximum of a likelihood.

    References
    ----------
    Maystre & Grossglauser, Fast and accurate inference of Plackett-Luce models, NeurIPS 2015.
    """

    called: ClassVar[str] = "lsr"
    estimate: ClassVar[str] = "lsr_pairwise_dense"
    form: ClassVar[Form] = "matrix"
