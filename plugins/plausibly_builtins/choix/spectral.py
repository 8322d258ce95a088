"""Luce spectral ranking: one step."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import attrs
import xarray as xr

from plausibly.plugin import Keys
from plausibly_builtins.choix._comparisons import ACCEPTS, aggregated, choix

_CALLED = "lsr"


@attrs.frozen(kw_only=True)
class Spectral:
    """Plausibility of a label = where a walk between labels settles that follows who wins.

    The walk goes from l to k at the rate ``regularisation + n_kl / 2``, n_kl being how often k
    was above l. It is the first step of `choix:i-lsr`: consistent, and not the maximum of a
    likelihood. Nothing has to converge.

    It reads rankings as comparisons of two labels, as `choix:mm` does: each label with each one of
    a lower block, and, where `unlisted` of the table is ``excluded``, with each one that the
    ranking does not name and another response of the example does. Labels of one block are not
    compared with each other, and labels that no response names get nothing.

    Attributes
    ----------
    regularisation : float
        Rate at which the walk goes anywhere. With 0, examples are refused in which some labels only
        win.

    References
    ----------
    Maystre & Grossglauser, Fast and accurate inference of Plackett-Luce models, NeurIPS 2015.
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
            ``not-converged``; `MissingExtra` without choix.
        """
        estimate = partial(
            choix(_CALLED).lsr_pairwise_dense,
            alpha=self.regularisation,
        )
        return aggregated(
            annotations,
            estimate,
            called=_CALLED,
            form="matrix",
            regularisation=self.regularisation,
        )
