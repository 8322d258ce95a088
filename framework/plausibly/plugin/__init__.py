"""All that a plugin needs, in one import: ``from plausibly.plugin import ...``.

A plugin is a module with one function that `hookimpl` marks; its distribution declares the module
in the entry-point group ``plausibly``. The components that it registers satisfy the Protocols here
and are frozen, keyword-only attrs classes whose fields are their parameters.

What needs numpy or xarray is imported when it is first used, so that registering stays cheap.
"""

from plausibly.exports import exports

__getattr__, __all__ = exports(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
