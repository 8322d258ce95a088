"""Prediction sets that cover the answers of experts, with a stated guarantee.

Data flow: `read_annotations` and `read_predictions`, `aggregate` to plausibilities,
`calibrate`, `ConformalPredictor.predict`, `evaluate`. Everything is imported when it is first used.
"""

from plausibly.exports import exports

__getattr__, __all__ = exports(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
