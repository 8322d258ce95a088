"""Figures of results: one function each, which takes axes of matplotlib and returns them.

Needs the extra ``plots``; without it each raises `MissingExtra` ``extra-missing``. Without axes a
figure of its own is made, which shows itself in a notebook and is written with
``axes.figure.savefig("figure.png")``; nothing global is touched.
"""

from plausibly.exports import exports

__getattr__, __all__ = exports(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
