"""Agreement with the majority as the weight of an annotator's votes."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Aggregator, Keys
from plausibly_builtins.crowd_models._em import UNKNOWN, Cells, Column, Unknown

_TIE_WITHIN = 1e-12


@attrs.frozen(kw_only=True)
class WorkerAgreement(Aggregator):
    """Plausibility of a label = the weight of those who said it / the weight of all who answered.

    The weight of an annotator is how often they agree with the majority of everybody, themselves
    included; where L labels tie for the most votes, to say one of them is 1/L of an agreement::

        a_q        =  sum_r w_r 1[l_r in top_i] / |top_i|  /  sum_r w_r,   over responses r of q
        lambda_ik  =  sum_r w_r a_{q_r} 1[l_r = k]  /  sum_r w_r a_{q_r},  over responses r of i

    top_i are the labels with the most votes for example i (compared exactly where all response
    weights are whole numbers, else to 12 digits), and w_r is the `response_weight`. There is no
    model and nothing to converge; it is as linear in the votes as label frequency, once the weights
    are known. They come from the whole table, so that an example's plausibilities depend on all
    other examples (`joint`). With few responses an example, one's own vote decides often.

    Attributes
    ----------
    unknown : {"together", "error"}
        Take all responses of unknown annotators as those of one annotator, with a warning, or
        refuse them.

    References
    ----------
    "Worker agreement with aggregate" (Wawa), as crowdsourcing platforms use it.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    joint: ClassVar[bool] = True

    unknown: Unknown = attrs.field(default="together", validator=UNKNOWN)

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        cells = self._cells(annotations)
        shares = cells.weighted(_agreement(cells))
        return cells.rows.plausibilities(cells.as_table(shares / shares.sum(axis=0)))

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        """Return what each annotator is worth."""
        cells = self._cells(annotations)
        return cells.reliability(_agreement(cells))

    def _cells(self, annotations: xr.Dataset) -> Cells:
        return Cells.of(annotations, self.accepts, self.unknown, "worker-agreement")


def _agreement(cells: Cells) -> Column:
    """Return how often each annotator agrees with the majority: (annotator,)."""
    votes = cells.votes
    most = votes.max(axis=0, initial=0.0)
    top = votes >= (most if cells.rows.counts else most * (1 - _TIE_WITHIN))
    with np.errstate(invalid="ignore"):
        found: Column = cells.right(top / top.sum(axis=0)) / cells.responses
    return found
