"""Bradley-Terry by iterative Luce spectral ranking."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import attrs
import xarray as xr

from plausibly.plugin import Keys
from plausibly_builtins.choix._comparisons import ACCEPTS, aggregated, choix

_CALLED = "i-lsr"


@attrs.frozen(kw_only=True)
class IterativeSpectral:
    """Plausibility of a label = its utility, found as where a walk between labels settles.

    A walk goes from l to k at the rate ``regularisation + n_kl / (u_k + u_l)``, n_kl being how
    often k was above l; its stationary distribution is the next u. Without regularisation it
    settles at the maximum of the Bradley-Terry likelihood, as `choix:mm` does, mostly in far fewer
    steps.
    Comparisons are counted beforehand: thousands of responses take no longer than ten, and they may
    count a broken number of times.

    It reads rankings as comparisons of two labels, as `choix:mm` does: each label with each one of
    a lower block, and, where `unlisted` of the table is ``excluded``, with each one that the
    ranking does not name and another response of the example does. Labels of one block are not
    compared with each other, and labels that no response names get nothing.

    Attributes
    ----------
    regularisation : float
        Rate at which the walk goes anywhere. With 0, examples are refused in which some labels only
        win.
    tolerance : float
        It has converged where log utilities change by no more, added up.
    iterations : int
        The most steps; examples that need more are refused.

    References
    ----------
    Maystre & Grossglauser, Fast and accurate inference of Plackett-Luce models, NeurIPS 2015.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-8, validator=attrs.validators.gt(0.0))
    iterations: int = attrs.field(default=1000, validator=attrs.validators.ge(1))

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
            choix(_CALLED).ilsr_pairwise_dense,
            alpha=self.regularisation,
            max_iter=self.iterations,
            tol=self.tolerance,
        )
        return aggregated(
            annotations,
            estimate,
            called=_CALLED,
            form="matrix",
            regularisation=self.regularisation,
            iterations=self.iterations,
        )
