"""Prediction sets that cover the answers of experts, with a stated guarantee.

Data flow: `read_annotations` and `read_predictions`, `aggregate` to plausibilities,
`calibrate`, `ConformalPredictor.predict`, `evaluate`. Everything is imported when it is first used.
"""

from plausibly.exports import exports

_get, __all__ = exports(__name__, __file__)
__all__ += ["__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from plausibly.extras import version

        globals()[name] = version()
        return globals()[name]
    return _get(name)


def __dir__() -> list[str]:
    return __all__
