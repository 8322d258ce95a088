"""Files in, files out: annotations, predictions, plausibilities, prediction sets, and tables.

Everything here is imported on first use, so that a command that reads no array imports no xarray.
"""

from plausibly.exports import exports

__getattr__, __all__ = exports(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
