"""Files are written whole or not at all, and replace only what was written here."""

from __future__ import annotations

import contextlib
import errno
import filecmp
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path

from plausibly.errors import InputError

try:
    import fcntl
except ImportError:  # pragma: no cover  # Windows, where what a killed process left is kept
    fcntl = None  # type: ignore[assignment]  # a module elsewhere

_HIDDEN = ".plausibly-part-"
_NEW, _GOING, _OLD = "new", "going", "old"
_NOTED: ContextVar[tuple[list[Path], set[Path]] | None] = ContextVar("noted", default=None)
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
    target = Path(path)
    folder = _target(target).parent
    while below and not folder.exists() and folder != folder.parent:
        folder = folder.parent
    for code, fine in (
        (errno.ENOENT, folder.exists()),
        (errno.ENOTDIR, folder.is_dir()),
        (errno.EACCES, os.access(folder, os.W_OK | os.X_OK)),
    ):
        if not fine:
            raise unwritable(target, OSError(code, os.strerror(code)))


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


def _target(path: Path) -> Path:
    """Return where a path leads: a link is kept, and what it points to is written."""
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when the block ends well."""
    target = _target(Path(path))
    try:
        with together(target.parent) as part:
            yield part / target.name
    except OSError as reason:
        raise unwritable(Path(path), reason) from reason


@contextlib.contextmanager
def together(folder: Path) -> Iterator[Path]:
    """Yield a folder whose files go to `folder` when the block ends well: all of them or none."""
    recover(folder)
    with _claimed(folder) as hidden:
        try:
            (hidden / _NEW).mkdir()
            yield hidden / _NEW
            targets = [_target(folder / part.name) for part in (hidden / _NEW).iterdir()]
            new = [target for target in targets if not target.exists()]
            replaced = _move(hidden, folder)
            if (noted := _NOTED.get()) is not None:
                of_before, written = noted
                of_before += [target for target in replaced if target not in written]
                written.update(new, replaced)
        finally:
            with contextlib.suppress(OSError):
                _settle(hidden, folder)


@contextlib.contextmanager
def _claimed(folder: Path) -> Iterator[Path]:
    """Yield a new hidden folder, locked for as long as this process lives and writes."""
    while True:
        hidden = Path(tempfile.mkdtemp(prefix=_HIDDEN, dir=folder))
        with contextlib.ExitStack() as stack:
            # Where folders cannot be locked, no process takes it for one that was left.
            with contextlib.suppress(FileNotFoundError):
                stack.enter_context(_locked(hidden, wait=True))
            # Another process may have removed it before it was locked.
            if hidden.exists():
                yield hidden
                return


@contextlib.contextmanager
def _locked(folder: Path, *, wait: bool) -> Iterator[bool]:
    if fcntl is None:  # pragma: no cover  # Windows
        yield False
        return
    handle, locked = os.open(folder, os.O_RDONLY), False
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            locked = True
        yield locked
    finally:
        os.close(handle)


def recover(folder: Path, *needed: str) -> None:
    """Finish or undo what processes that were killed have left in a folder."""
    if needed and all((folder / name).exists() for name in needed):
        return
    with contextlib.suppress(OSError):
        for hidden in folder.glob(f"{_HIDDEN}*"):
            with contextlib.suppress(OSError), _locked(hidden, wait=False) as free:
                if free:
                    _settle(hidden, folder)


def _settle(hidden: Path, folder: Path) -> None:
    """Bring the new files where all old ones are aside already, else the old ones; clean up."""
    if {path.name for path in hidden.iterdir()} - {_NEW, _GOING, _OLD}:
        return
    going, old = hidden / _GOING, hidden / _OLD
    kept = going if going.exists() else old
    for part in kept.iterdir() if kept.exists() else ():
        target = _target(folder / part.name)
        if not target.exists():
            part.replace(target)
    # The old ones first: they must not come back once the folder of new ones is gone.
    shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(hidden)


def _move(hidden: Path, folder: Path) -> list[Path]:
    """Move all new files into place; return those that replaced different ones."""
    new, going, old = hidden / _NEW, hidden / _GOING, hidden / _OLD
    moves = [(part.name, _target(folder / part.name)) for part in sorted(new.iterdir())]
    old_ones = [target for _, target in moves if target.exists()]
    replaced = []
    for name, target in moves:
        part = new / name
        if target.is_dir() and not part.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        if part.is_file():
            with part.open("rb+") as file:
                os.fsync(file.fileno())
        if target in old_ones:
            part.chmod(stat.S_IMODE(target.stat().st_mode))
            if part.is_dir() or not filecmp.cmp(part, target, shallow=False):
                replaced.append(target)
    if len(moves) == 1 and not moves[0][1].is_dir():
        (new / moves[0][0]).replace(moves[0][1])
        return replaced
    old.mkdir()
    for name, target in moves:
        if target in old_ones:
            target.replace(old / name)
    new.replace(going)
    placed: list[tuple[str, Path]] = []
    try:
        for name, target in reversed(moves):
            (going / name).replace(target)
            placed.append((name, target))
    except OSError:
        for name, target in placed:
            target.replace(going / name)
        going.replace(new)
        raise
    return replaced
