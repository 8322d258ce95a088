"""Coverage of prediction sets, and studies of several methods."""

from plausibly.exports import exports

__getattr__, __all__ = exports(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
