"""Figures of results: one function each, which takes axes of matplotlib and returns them.

Needs the extra ``plots``; without it each raises `MissingExtra` ``extra-missing``. A figure raises
`InputError` ``figure-unsuitable`` for a result of another kind, and ``figure-alpha`` for an alpha
that the result does not have. Without axes a new figure is made, which shows itself in a
notebook and is written with ``axes.figure.savefig("figure.png")``; nothing global is touched.

In the examples a ``predictor`` is calibrated already; ``predictions``, ``annotations``,
``plausibilities`` and ``sets`` belong to the same new examples, and ``risk`` maps labels to levels.
"""

from plausibly.exports import exports

__getattr__, __all__ = exports(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
