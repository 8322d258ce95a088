"""Calibrators for tests: draws that are given instead of drawn."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np

from plausibly.conformal.data import CalibrationData
from plausibly.conformal.evidence import Replicates
from plausibly.keys import Keys


@attrs.frozen(kw_only=True)
class GivenDraws:
    """Monte Carlo calibration whose labels somebody else drew.

    Attributes
    ----------
    labels : mapping of str to tuple of int
        For each example's name the codes of its m labels.
    """

    labels: Mapping[str, tuple[int, ...]]

    def replicates(self, data: CalibrationData, keys: Keys) -> Replicates:
        codes = np.array([self.labels[name] for name in data.names], dtype=np.int32).T
        return Replicates(scores=data.scores_at(codes))
