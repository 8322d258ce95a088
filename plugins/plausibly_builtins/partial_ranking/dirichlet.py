"""Probabilistic inverse rank: plausibilities drawn around the inverse ranks."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Aggregator, Keys, hash_names, names, ragged_uniforms
from plausibly_builtins.partial_ranking._stages import (
    UNMENTIONED,
    Said,
    Unmentioned,
    by_example,
    log_gamma,
    log_normalised,
)
from plausibly_builtins.partial_ranking.inverse_rank import InverseRank


@attrs.frozen(kw_only=True)
class Dirichlet(Aggregator):
    """Plausibilities drawn around the inverse ranks, each draw from a Dirichlet distribution.

    ``lambda_i^j ~ Dirichlet(temperature mu_i + prior)`` with mu_i the plausibilities of
    `inverse-rank`. Each draw is what experts' opinion might be, if what was said were worth
    `temperature` votes: draws are close to mu where that is large. Their mean is
    ``(temperature mu_k + prior) / (temperature + K prior)`` over the K labels that take part, and
    their variance is ``m_k (1 - m_k) / (temperature + K prior + 1)`` for that mean m.

    How many rankings there were does not enter: one reader and ten that agree give the same draws.
    `plackett-luce-draws` and `bootstrap` know the difference.

    Draws are keyed by the names of the examples: they depend on no other example and on no order,
    and the first ones do not depend on how many there are.

    Attributes
    ----------
    draws : int
        How many.
    temperature : float
        More than 0.
    prior : float
        Added for each label that takes part. With 0 (default), labels of inverse rank 0 get none.
    unmentioned : {"nothing", "together", "each"}
        Labels that no response of the example names get nothing (default); or `prior` for all of
        them, shared equally; or `prior` for each, as published. The mean plausibility off the
        labels that are named is then ``K_0 prior / (temperature + K prior)``, K_0 of K labels
        being unnamed: with 415 of 419 unnamed, `prior` 0.01 and `temperature` 1 that is .80.

    References
    ----------
    Stutz et al., Evaluating AI systems under uncertain ground truth: a case study in dermatology,
    arXiv 2307.02191, probabilistic inverse rank normalisation.
    """

    accepts: ClassVar[frozenset[str]] = InverseRank.accepts

    draws: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    temperature: float = attrs.field(default=10.0, validator=attrs.validators.gt(0.0))
    prior: float = attrs.field(default=0.0, validator=attrs.validators.ge(0.0))
    unmentioned: Unmentioned = attrs.field(default="nothing", validator=UNMENTIONED)

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (draw, example, label)."""
        said = Said.of(annotations, self.accepts, self.unmentioned if self.prior else "nothing")
        around = InverseRank().aggregate(annotations, keys).values
        shape = np.concatenate(
            [
                np.append(around[i, list(example.labels)], [0.0] * bool(example.rest))
                * self.temperature
                + said.prior(example, self.prior)
                for i, example in enumerate(said.examples)
            ]
            or [np.zeros(0)]
        )
        size = np.array([example.size for example in said.examples], np.intp)
        owner = np.repeat(np.arange(said.rows.n), size)
        hashes = hash_names(said.rows.table.indexes[names.EXAMPLE])
        found = []
        for draw in range(1, self.draws + 1):
            uniform = ragged_uniforms(keys.child(f"dirichlet-{draw}"), hashes, 2 * size)
            logs = log_gamma(shape, uniform[::2], uniform[1::2])
            share = np.exp(log_normalised(logs, owner, said.rows.n))
            found.append(by_example(share, size))
        return said.drawn(found, self.prior, keys.child("dirichlet"))
