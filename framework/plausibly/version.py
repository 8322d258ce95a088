"""The version of plausibly that is installed."""

from importlib.metadata import version

__version__ = version("plausibly")
