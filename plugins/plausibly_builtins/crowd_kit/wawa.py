"""Worker agreement as crowd-kit has it."""

from __future__ import annotations

from typing import ClassVar

import attrs
import xarray as xr

from plausibly_builtins.crowd_kit._estimated import Estimated, Skilled, estimated
from plausibly_builtins.crowd_kit._running import weighed


@attrs.frozen(kw_only=True)
class Wawa(Skilled):
    """Plausibility of a label = the weight of those who said it / the weight of all who answered.

    The weight of an annotator is how often they agree with the majority. plausibly's own
    `worker-agreement` shares the credit where labels tie for the most votes; here one of them is
    the majority, that which comes first by annotator, then example.

    The weights are crowd-kit's; votes are counted here, since with scikit-learn 1.7 and later
    crowd-kit 1.4.2 does not count them. An example's plausibilities depend on all other examples of
    the table (`joint`).

    References
    ----------
    "Worker agreement with aggregate" (Wawa), as crowdsourcing platforms use it.
    """

    called: ClassVar[str] = "wawa"

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        return estimated(
            annotations,
            self.called,
            "Wawa",
            {},
            read=weighed,
            repeats=False,
        )
