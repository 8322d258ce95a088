"""Zero-based skill: agreement with the majority that it makes."""

from __future__ import annotations

from typing import ClassVar

import attrs
import xarray as xr

from plausibly_builtins.crowd_kit._estimated import Estimated, Skilled, estimated
from plausibly_builtins.crowd_kit._running import weighed


@attrs.frozen(kw_only=True)
class ZeroBasedSkill(Skilled):
    """Plausibility of a label = the weight of those who said it / the weight of all who answered.

    All weights start just above a guess; each iteration moves them towards how often an annotator
    agrees with the majority by the weights before, at a rate that halves every 20 iterations.
    Where labels tie for the most weight, one of them is the majority, that which comes first by
    annotator, then example.

    The weights are crowd-kit's; votes are counted here, since with scikit-learn 1.7 and later
    crowd-kit 1.4.2 does not count them. An example's plausibilities depend on all other examples of
    the table (`joint`).

    Attributes
    ----------
    iterations : int
        How many; there is no test of convergence.
    rate : float
        Share of the way that weights move at first.

    References
    ----------
    Zero-based skill, as crowd-kit describes it.
    """

    called: ClassVar[str] = "zero-based-skill"

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    rate: float = attrs.field(
        default=1.0, validator=[attrs.validators.gt(0.0), attrs.validators.le(1.0)]
    )

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        return estimated(
            annotations,
            self.called,
            "ZeroBasedSkill",
            {"n_iter": self.iterations, "lr_init": self.rate},
            read=weighed,
            repeats=False,
        )
