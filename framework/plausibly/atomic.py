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
    """Yield a folder whose files go to `folder` when the block ends well: all of them or none."""
    recover(folder)
    with (
        tempfile.TemporaryDirectory(prefix=_PART, dir=folder, ignore_cleanup_errors=True) as hidden,
        Path(hidden, "unlocked").open("w") as lock,
    ):
        if _hold(lock):  # others see it once it is locked
            Path(hidden, "unlocked").rename(Path(hidden, _LOCK))
        new = Path(hidden, "new")
        new.mkdir()
        yield new
        replaced, written = _NOTED.get() or ([], set())
        moves: list[tuple[Path, Path, bool]] = []
        try:
            for part in sorted(new.iterdir()):
                target = Path(os.path.realpath(folder / part.name))
                aside, was_there = Path(hidden, f"old-{part.name}"), target.exists()
                moves.append((target, aside, was_there))
                if was_there:
                    part.chmod(stat.S_IMODE(target.stat().st_mode))
                    differs = part.is_dir() or not filecmp.cmp(part, target, shallow=False)
                    if differs and target not in written:
                        replaced.append(target)
                    _keep(target, aside)
                if not was_there or target in replaced:
                    written.add(target)
                part.replace(target)
        except BaseException:  # also where the user stops it
            for target, aside, was_there in reversed(moves):
                if target.exists() and aside.exists() == was_there:
                    target.replace(Path(hidden, f"undone-{target.name}"))
                if aside.exists():
                    aside.replace(target)
            raise


def _keep(target: Path, aside: Path) -> None:
    """Keep what is at a target aside; a file stays there too, so that others always find one."""
    if target.is_dir():  # of which another cannot take the place
        target.replace(aside)
        return
    try:
        aside.hardlink_to(target)
    except OSError:  # a file system without links
        shutil.copy2(target, copy := aside.with_name("copy"))
        copy.replace(aside)


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
