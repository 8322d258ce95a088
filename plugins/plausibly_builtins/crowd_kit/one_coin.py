"""One coin as crowd-kit has it."""

from __future__ import annotations

from typing import ClassVar

import attrs
import xarray as xr

from plausibly_builtins.crowd_kit._estimated import Estimated, Skilled, estimated


@attrs.frozen(kw_only=True)
class OneCoin(Skilled):
    """Plausibility of a label = its chance of being the one true label, by OneCoinDawidSkene.

    The model of plausibly's own `one-coin`, with the priors `right` and `wrong` 0, for the labels
    that anybody says, and another test of convergence: it stops where the lower bound of the
    log-likelihood of a response rises by less than `tolerance`.

    What sets cover that are calibrated on these plausibilities is *the label that the model
    believes in*, not what an annotator would say, and an example's plausibilities depend on all
    other examples of the table (`joint`).

    Attributes
    ----------
    iterations : int
        The most iterations; it warns where that is too few.
    tolerance : float
        It stops where the bound rises by less.

    References
    ----------
    Zhang, Chen, Zhou & Jordan, Spectral methods meet EM, JMLR 17 (2016), section 2.
    """

    called: ClassVar[str] = "one-coin"

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-5, validator=attrs.validators.gt(0.0))

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        return estimated(
            annotations,
            self.called,
            "OneCoinDawidSkene",
            {"n_iter": self.iterations, "tol": self.tolerance},
        )
