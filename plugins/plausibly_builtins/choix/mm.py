"""Bradley-Terry by minorization-maximization."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import attrs
import xarray as xr

from plausibly.plugin import Keys
from plausibly_builtins.choix._comparisons import ACCEPTS, aggregated, choix

_CALLED = "mm"


@attrs.frozen(kw_only=True)
class MinorizationMaximization:
    """Plausibility of a label = its utility, fitted to the comparisons of two labels.

    Each example is a problem of its own. A ranking is read as comparisons: each label with each one
    of a lower block, and, where `unlisted` of the table is ``excluded``, with each one that it does
    not name and another response does. Where it is ``unknown``, labels that are not named are not
    compared. Labels of one block are not compared with each other. With k above l n_kl times,
    weighed by `response_weight`::

        maximise  sum_kl n_kl log(u_k / (u_k + u_l))  +  regularisation sum_k (log u_k - u_k)
        lambda_k  =  u_k / sum_l u_l

    in steps ``u_k = (sum_l n_kl + r) / (sum_l (n_kl + n_lk) / (u_k + u_l) + r)``, r being the
    regularisation. Labels that no response names get nothing. A ranking of L labels counts as
    L (L - 1) / 2 comparisons, as if each had been asked for; `plackett-luce` takes it as one
    ranking, and knows ties.

    Where labels only win, utilities would be infinite: they then hang on `regularisation`, and a
    warning names the examples.

    Attributes
    ----------
    regularisation : float
        Wins, so to speak, that each label has beforehand, and pull to the mean. With 0 it is
        maximum likelihood, and examples where that is infinite are refused.
    tolerance : float
        It has converged where log utilities change by no more, added up.
    iterations : int
        The most steps; examples that need more are refused.

    References
    ----------
    Hunter, MM algorithms for generalized Bradley-Terry models, Annals of Statistics 32 (2004),
    384-406. Caron & Doucet, Efficient Bayesian inference for generalized Bradley-Terry models, JCGS
    21 (2012).
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS

    regularisation: float = attrs.field(default=0.1, validator=attrs.validators.ge(0.0))
    tolerance: float = attrs.field(default=1e-8, validator=attrs.validators.gt(0.0))
    iterations: int = attrs.field(default=10_000, validator=attrs.validators.ge(1))

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
            choix(_CALLED).mm_pairwise,
            alpha=self.regularisation,
            max_iter=self.iterations,
            tol=self.tolerance,
        )
        return aggregated(
            annotations,
            estimate,
            called=_CALLED,
            form="list",
            regularisation=self.regularisation,
            iterations=self.iterations,
        )
