"""What an extra of a distribution needs, and what of it is not installed."""

from __future__ import annotations

import importlib.metadata as metadata
import re
from collections.abc import Iterator

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?[^;]*(?:;(.*))?")
_ONLY_EXTRA = re.compile(r"""\s*extra\s*==\s*["']([^"']+)["']\s*""")


def extras_of(distribution: str) -> tuple[str, ...]:
    """Return the extras that a distribution declares, none where it is not installed."""
    try:
        return tuple(metadata.metadata(distribution).get_all("Provides-Extra") or ())
    except metadata.PackageNotFoundError:
        return ()


def missing(distribution: str, extra: str) -> tuple[str, ...]:
    """Return the distributions that an extra requires and that are not installed.

    Parameters
    ----------
    distribution : str
        Whose extra it is.
    extra : str
        Its name; empty = none is needed.

    Returns
    -------
    tuple of str
        Requirements for some platforms or versions of Python only are not looked at.
    """
    if not extra or not distribution:
        return ()
    return tuple(name for name in _required(distribution, extra) if not _is_installed(name))


def declares(distribution: str, module: str) -> bool:
    """Return whether a distribution requires one that is called like a module."""
    try:
        lines = metadata.requires(distribution) or ()
    except metadata.PackageNotFoundError:
        return False
    found = (_REQUIREMENT.fullmatch(line) for line in lines)
    return module in {match[1].replace("-", "_").lower() for match in found if match}


def _required(distribution: str, extra: str) -> Iterator[str]:
    try:
        requirements = metadata.requires(distribution) or ()
    except metadata.PackageNotFoundError:
        return
    for requirement in requirements:
        found = _REQUIREMENT.fullmatch(requirement)
        marker = _ONLY_EXTRA.fullmatch(found[3] or "") if found else None
        if found is None or marker is None or marker[1] != extra:
            continue
        if found[1] == distribution:  # an extra made of other extras
            for other in (found[2] or "").split(","):
                yield from _required(distribution, other.strip())
        else:
            yield found[1]


def _is_installed(distribution: str) -> bool:
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
