"""Bradley-Terry by Newton's method."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import attrs
import xarray as xr

from plausibly.plugin import Keys
from plausibly_builtins.choix._comparisons import ACCEPTS, aggregated, choix

_CALLED = "opt"


@attrs.frozen(kw_only=True)
class Optimised:
    """Plausibility of a label = its utility, fitted with a Gaussian prior of log utilities.

    With k above l n_kl times::

        maximise  sum_kl n_kl log(u_k / (u_k + u_l))  -  regularisation sum_k (log u_k)^2
        lambda_k  =  u_k / sum_l u_l

    so that the prior has the variance ``1 / (2 regularisation)``.

    It reads rankings as comparisons of two labels, as `choix:mm` does: each label with each one of
    a lower block, and, where `unlisted` of the table is ``excluded``, with each one that the
    ranking does not name and another response of the example does. Labels of one block are not
    compared with each other, and labels that no response names get nothing.

    Attributes
    ----------
    regularisation : float
        Of the prior. With 0 it is maximum likelihood, and examples where that is infinite are
        refused.
    tolerance : float
        Relative error of the log utilities.

    References
    ----------
    Bradley & Terry, Rank analysis of incomplete block designs, Biometrika 39 (1952), 324-345.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-8, validator=attrs.validators.gt(0.0))

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
            choix(_CALLED).opt_pairwise,
            alpha=self.regularisation,
            tol=self.tolerance,
        )
        return aggregated(
            annotations,
            estimate,
            called=_CALLED,
            form="list",
            regularisation=self.regularisation,
        )
