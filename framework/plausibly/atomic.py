"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from plausibly.errors import InputError


def unwritable(path: Path, reason: OSError | ValueError) -> InputError:
    """Return the error that says why `path` cannot be written."""
    why = (getattr(reason, "strerror", None) or str(reason)).lower()
    kept = f"; the old {path.name} is as it was" if os.path.exists(path) else ""  # noqa: PTH110  # never raises
    return InputError(
        "output-unwritable",
        f"cannot write {path}",
        expected="a writable folder",
        got=f'"{why}"',
        do=f"-o elsewhere{kept}",
        whose=str(path),
    )


def check_writable(path: Path | str, *, below: bool = False) -> None:
    """Raise what `replacing` would raise, as far as can be known without writing anything.

    Parameters
    ----------
    path : Path or str
        File or folder to be written.
    below : bool
        Whether missing folders above it would be made.

    Raises
    ------
    InputError
        ``output-unwritable``.
    """
    target = Path(path)
    folder = target.parent
    while below and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    code = 0
    if not folder.exists():
        code = errno.ENOENT
    elif not folder.is_dir():
        code = errno.ENOTDIR
    elif not os.access(folder, os.W_OK | os.X_OK):
        code = errno.EACCES
    if code:
        raise unwritable(target, OSError(code, os.strerror(code)))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when the block ends well.

    Parameters
    ----------
    path : Path or str
        File or folder (a Zarr store) to write.

    Raises
    ------
    InputError
        ``output-unwritable``; what stood at `path` is untouched.
    """
    target = Path(path)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as reason:
        raise unwritable(target, reason) from reason
    part = folder / target.name
    try:
        yield part
        if part.is_file():
            with part.open("rb+") as file:
                os.fsync(file.fileno())
        if part.is_dir() and target.exists():
            _remove(target)
        part.replace(target)
    except OSError as reason:
        raise unwritable(target, reason) from reason
    finally:
        shutil.rmtree(folder, ignore_errors=True)
