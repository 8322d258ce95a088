"""What a predictor remembers of how it was made."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Facts:
    """What a predictor remembers of how it was made.

    Attributes
    ----------
    scale : str
        Scale of the calibration predictions.
    seed : int
    calibrator, score, combiner, aggregator : str
        Names.
    augmentations : tuple of str
        Names of the augmentations of the calibration examples; none where they had none.
    """

    scale: str
    seed: int
    calibrator: str
    score: str
    combiner: str
    aggregator: str
    augmentations: tuple[str, ...] = ()
