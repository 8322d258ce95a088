"""Names for readers of files: ``from plausibly.plugin.readers import ...``.

Files as tables of text, JSON, XML and arrays; answers with states and repeats; errors that name the
file and the line.
"""

from plausibly.exports import exports

__getattr__, __all__ = exports(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
