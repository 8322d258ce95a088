"""Rank centrality: a walk to labels that win."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import attrs
import xarray as xr

from plausibly.plugin import Keys
from plausibly_builtins.choix._comparisons import ACCEPTS, aggregated, choix

_CALLED = "rank-centrality"


@attrs.frozen(kw_only=True)
class RankCentrality:
    """Plausibility of a label = where a walk settles that goes from losers to winners.

    The walk goes from l to k at the rate ``(n_kl + r) / (n_kl + n_lk + 2 r)``, n_kl being how often
    k was above l, and r the regularisation: shares of wins count, however often labels met. Between
    labels that never met, the rate is 1/2 both ways for any r above 0, and 0 for r = 0.

    It reads rankings as comparisons of two labels, as `choix:mm` does: each label with each one of
    a lower block, and, where `unlisted` of the table is ``excluded``, with each one that the
    ranking does not name and another response of the example does. Labels of one block are not
    compared with each other, and labels that no response names get nothing.

    Attributes
    ----------
    regularisation : float
        With 0, examples are refused in which some labels only win.

    References
    ----------
    Negahban, Oh & Shah, Iterative ranking from pair-wise comparisons, NeurIPS 2012.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label).

        Parameters
        ----------
        annotations : Dataset
            A table of partial rankings.
        keys : Keys
            Not used: nothing is drawn.

        Raises
        ------
        InputError
            ``example-unanswered`` where nobody ranked a label, ``ranking-one-sided``,
            ``weights-broken``, ``not-converged``; `MissingExtra` without choix.
        """
        estimate = partial(
            choix(_CALLED).rank_centrality,
            alpha=self.regularisation,
        )
        return aggregated(
            annotations,
            estimate,
            called=_CALLED,
            form="list",
            regularisation=self.regularisation,
        )
