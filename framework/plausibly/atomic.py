"""Files are written whole or not at all, and replace only what was written here."""

from __future__ import annotations

import contextlib
import errno
import filecmp
import json
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from plausibly.errors import InputError

if sys.platform != "win32":
    import fcntl

_NOTED: ContextVar[tuple[list[Path], set[Path]] | None] = ContextVar("noted", default=None)
_PART = f".plausibly-part-{platform.node()}-"  # of this machine, whose locks are seen here
_LOCK = "lock"  # held while the process that writes there runs
_CHUNK = re.compile(r"(.+)/\d+(\.\d+)*")


def unwritable(path: Path, reason: OSError | ValueError) -> InputError:
    why = (getattr(reason, "strerror", None) or str(reason)).lower()
    kept = f"; the old {path.name} is as it was" if os.path.exists(path) else ""  # noqa: PTH110  # never raises
    return InputError(
        "output-unwritable",
        f"cannot write {path}",
        expected="a writable folder",
        found=f'"{why}"',
        hint=f'path="elsewhere"{kept}',
        source=str(path),
    )


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; raise ``output-unwritable`` where this is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise unwritable(folder, reason) from reason


def check_writable(path: Path | str, *, below: bool = False) -> None:
    """Raise what `replacing` would raise, as far as can be known without writing anything."""
    folder = Path(os.path.realpath(path)).parent
    while below and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        next(folder.iterdir(), None)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as reason:
        raise unwritable(Path(path), reason) from reason


def check_ours(
    path: Path | str, ours: Callable[[Path], bool], expected: str, *, hint: str = ""
) -> None:
    """Raise ``output-occupied`` where `path` holds something else than would be written there."""
    place = Path(path)
    try:
        if not place.exists() or (place.is_file() and not place.stat().st_size) or ours(place):
            return
    except (OSError, ValueError, LookupError, TypeError, InputError):
        pass
    raise InputError(
        "output-occupied",
        f"{place} is in the way",
        expected=f"nothing there, or {expected}",
        found="a folder with something else" if place.is_dir() else "something else",
        hint=hint or f'path="{place.with_stem(place.stem + "-2")}"',
        source=str(place),
    )


def holds(path: Path, sign: bytes) -> bool:
    """Return whether the first megabyte of a file contains some bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return sign in file.read(1 << 20)


def is_store(path: Path, matches: Callable[[Mapping[str, object]], bool]) -> bool:
    """Return whether a folder is a Zarr store as it was written, with nothing else in it."""
    metadata = json.loads((path / ".zmetadata").read_text(encoding="utf-8"))["metadata"]
    for entry in path.rglob("*"):
        name = entry.relative_to(path).as_posix()
        chunk = _CHUNK.fullmatch(name)
        array = chunk[1] if chunk else name
        if f"{array}/.zarray" not in metadata and name not in {*metadata, ".zmetadata"}:
            return False
    return matches(metadata)


@contextlib.contextmanager
def noting_replaced() -> Iterator[list[Path]]:
    """Yield a list that gets every file and folder of before that the block replaces."""
    replaced: list[Path] = []
    token = _NOTED.set((replaced, set()))
    try:
        yield replaced
    finally:
        _NOTED.reset(token)


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when the block ends well.

    A link is kept, and what it points to is written.
    """
    target = Path(os.path.realpath(path))
    try:
        with together(target.parent) as part:
            yield part / target.name
    except OSError as reason:
        raise unwritable(Path(path), reason) from reason


@contextlib.contextmanager
def together(folder: Path) -> Iterator[Path]:
    """Yield a folder whose files go to `folder`, one after another, when the block ends well."""
    recover(folder)
    with (
        tempfile.TemporaryDirectory(prefix=_PART, dir=folder, ignore_cleanup_errors=True) as hidden,
        Path(hidden, _LOCK).open("w") as lock,
    ):
        _hold(lock)
        new = Path(hidden, "new")
        new.mkdir()
        yield new
        replaced, written = _NOTED.get() or ([], set())
        for part in sorted(new.iterdir()):
            target = Path(os.path.realpath(folder / part.name))
            if not target.exists():
                written.add(target)
            else:
                part.chmod(stat.S_IMODE(target.stat().st_mode))
                differs = part.is_dir() or not filecmp.cmp(part, target, shallow=False)
                if differs and target not in written:
                    replaced.append(target)
                    written.add(target)
            if not (part.is_dir() and target.exists()):
                part.replace(target)
                continue
            # A folder cannot take the place of another: that goes aside, and comes back on failure.
            aside = Path(hidden, f"old-{part.name}")
            try:
                target.replace(aside)
                part.replace(target)
            except BaseException:  # also where the user stops it
                if aside.exists() and not target.exists():
                    aside.replace(target)
                raise


def recover(folder: Path) -> None:
    """Put back what a process that was killed here moved aside, and remove what it left."""
    with contextlib.suppress(OSError):
        for hidden in folder.glob(f"{_PART}*"):
            # Numbers of processes tell nothing: each container counts its own from 1.
            with contextlib.suppress(OSError), (hidden / _LOCK).open("r+") as lock:
                if not _hold(lock):
                    continue
                for aside in hidden.glob("old-*"):
                    target = folder / aside.name.removeprefix("old-")
                    if not target.exists():
                        aside.replace(target)
                shutil.rmtree(hidden, ignore_errors=True)


def _hold(lock: IO[str]) -> bool:
    """Lock a file until it is closed; return whether no other process holds it."""
    with contextlib.suppress(OSError):  # also where files cannot be locked
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False
