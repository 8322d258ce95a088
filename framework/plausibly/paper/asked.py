"""What a figure is asked for, and what it answers with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import attrs
import xarray as xr

from plausibly.calibration.alphas import AlphaLike
from plausibly.paper.claim import Claim
from plausibly.paper.data import Data

Drawing: TypeAlias = Any  # Any: a Figure of matplotlib, which may not be installed

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the number of finished steps, and of all."""


@attrs.frozen(kw_only=True)
class Asked:
    """How much of a figure is wanted, and on which data.

    Attributes
    ----------
    splits : int
        Random splits, or repetitions of whatever is drawn.
    seed : int
        Of everything that is drawn.
    data : Data or None
        Data in place of the figure's own.
    alpha : number or text, or None
        Miscoverage rate in place of the figure's own.
    progress : callable or None
    """

    splits: int = 100
    seed: int = 1
    data: Data | None = None
    alpha: AlphaLike | None = None
    progress: Progress | None = None

    def tick(self, done: int, total: int) -> None:
        """Take note of a finished step."""
        if self.progress is not None:
            self.progress(done, total)


class Reproduction(Protocol):
    """A figure of the paper: numbers first, and picture and verdict from the numbers alone."""

    def measure(self, asked: Asked) -> xr.Dataset:
        """Return the numbers, labelled."""
        ...

    def draw(self, numbers: xr.Dataset) -> Drawing:
        """Return the picture of the numbers."""
        ...

    def claim(self, numbers: xr.Dataset) -> Claim:
        """Return what the paper says, and whether the numbers agree."""
        ...
