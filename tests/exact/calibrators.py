"""Calibrators for tests: draws that are given instead of drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from plausibly.calibration.data import CalibrationData
from plausibly.calibration.scores import CalibrationScores
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Ints


@attrs.frozen(kw_only=True)
class GivenDraws:
    """Monte Carlo calibration whose labels were drawn elsewhere.

    Attributes
    ----------
    labels : mapping of int to tuple of int
        For the hash of each example's name the codes of its m labels.
    """

    labels: Mapping[int, tuple[int, ...]]

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        codes = np.array([self.labels[int(name)] for name in data.hashes], dtype=np.int32).T
        return CalibrationScores(scores=data.scores_at(codes))


def given_draws(names: Sequence[str], labels: Ints) -> GivenDraws:
    """Return the calibrator that gives label ``labels[j, i]`` to draw j of the i-th name."""
    hashes = hash_names(names).tolist()
    return GivenDraws(labels={item: tuple(labels[:, i]) for i, item in enumerate(hashes)})
