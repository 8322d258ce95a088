"""Optional dependencies: imported on first use, and named in an error where they are missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from plausibly.errors import MissingExtra


def require(module: str, *, extra: str, source: str) -> ModuleType:
    """Import an optional dependency.

    Parameters
    ----------
    module : str
        What to import, such as ``"pyarrow.parquet"``.
    extra : str
        The extra of plausibly that installs it.
    source : str
        What needs it: a file, or a component.

    Returns
    -------
    module

    Raises
    ------
    MissingExtra
        ``extra-missing``, if it is not installed. A dependency that is installed but broken raises
        its own error.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != top:
            raise
        raise MissingExtra(
            "extra-missing",
            f"{source} needs {top}, which is not installed",
            expected=f'the extra "{extra}"',
            hint=f'pip install "plausibly[{extra}]"',
            source=source,
            details={"module": module, "extra": extra},
        ) from error
