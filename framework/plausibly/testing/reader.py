"""Rules of readers, tried on a file of their syntax."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs
import xarray as xr

from plausibly import registry
from plausibly.data import names
from plausibly.data.annotations import check_table
from plausibly.errors import ComponentError, InputError
from plausibly.io import files
from plausibly.protocols import ANNOTATION, READER, Reader
from plausibly.registry.entries import reason_of
from plausibly.testing.data import texts
from plausibly.testing.rules import Broken, NoData, RuleBook, demand, enter_common, refused, same

_EXTRA = "nobody names this"

OTHER_FILES: dict[str, bytes] = {
    "prose.txt": b"Dear colleague,\nplease find the file attached.\nYours\n",
    "nothing.csv": b"\n\n",
    "odd.json": b'{"made up by the kit": [1, 2, {"deeper": null}]}\n',
    "page.html": b"<!doctype html>\n<html><body><p>No file found</p></body></html>\n",
    "picture.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)),
    "noise.bin": bytes((17 * place * place + 5) % 251 for place in range(400)),
    "short.bin": b"\xff",
}
"""Files of which a reader must say, without an error, that they are not its own."""


@attrs.frozen
class ReaderWorld:
    path: Path
    kind: str | None
    labels: tuple[str, ...] | None

    def read(self, reader: Reader, path: Path | None = None) -> xr.Dataset:
        return reader.read(self.path if path is None else path, self.labels)

    @contextmanager
    def elsewhere(self, name: str = "Ordner ä/another name") -> Iterator[Path]:
        """Copy the file under another name into a folder that goes away afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / f"{name}{''.join(self.path.suffixes)}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            if self.path.is_dir():
                shutil.copytree(self.path, copy)
            else:
                shutil.copyfile(self.path, copy)
            yield copy


def world_for(
    reader: Reader,
    path: Path | str | None = None,
    kind: str | None = None,
    labels: Sequence[str] | None = None,
) -> ReaderWorld | NoData:
    if path is None:
        return NoData("there is no file to try it on", "path=..., a small file of its syntax")
    if not Path(path).exists():
        return NoData(f"there is no file {Path(path).name}", "path=..., a file that is there")
    return ReaderWorld(Path(path), kind, None if labels is None else tuple(labels))


BOOK: RuleBook[Reader, ReaderWorld] = RuleBook(READER, world_for, ("path", "kind", "labels"))


enter_common(BOOK, lambda reader, world: [world.read(reader)])


def _head(path: Path) -> bytes:
    """Return what `read_annotations` hands to `recognises`."""
    return b"" if path.is_dir() else files.opening(path, "annotations")


@BOOK.rule
def recognises_its_own(reader: Reader, world: ReaderWorld) -> None:
    """It recognises its file, whatever that is called."""
    with world.elsewhere() as copy:
        for path in (world.path, copy):
            found: object = reader.recognises(path, _head(path))
            demand(isinstance(found, bool), f"recognises gives {found!r}, not True or False")
            demand(found, f"it does not recognise {path.name}")


@BOOK.rule_alone
def recognises_no_other(reader: Reader, world: ReaderWorld) -> None:
    """It says of files that are not its own that they are not, and raises nothing."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in OTHER_FILES.items():
            path = Path(folder) / name
            path.write_bytes(data)
            with _breaking(f"asked about {name}"):
                found: object = reader.recognises(path, data)
            demand(found is False, f"asked whether it recognises {name} it says {found!r}")


@BOOK.rule
def reads(reader: Reader, world: ReaderWorld) -> None:
    """It reads a table of the kind, with responses in it."""
    table = check_table(world.read(reader))
    kind = str(table.attrs[names.KIND])
    demand(world.kind in (None, kind), f"the table is of kind {kind}, not {world.kind}")
    demand(table.sizes[names.RESPONSE] > 0, "the table holds no response")
    try:
        annotation = registry.resolve(ANNOTATION, kind)
    except ComponentError as error:
        raise Broken(f"no annotation kind is called {kind}") from error
    annotation.validate(table)


@BOOK.rule
def copy_is_the_same(reader: Reader, world: ReaderWorld) -> None:
    """A copy in another folder, under another name, gives the same table."""
    with world.elsewhere() as copy:
        demand(same(world.read(reader, copy), world.read(reader)), "the copy gives another table")


@BOOK.rule
def file_unchanged(reader: Reader, world: ReaderWorld) -> None:
    """The file is afterwards what it was before, and nothing lies beside it."""
    with world.elsewhere("alone/file") as copy:
        before = _contents(copy.parent)
        reader.recognises(copy, _head(copy))
        world.read(reader, copy)
        demand(_contents(copy.parent) == before, "it changes the file or its folder")


@BOOK.rule
def declared_labels(reader: Reader, world: ReaderWorld) -> None:
    """Declared labels are all there, in their order, also those that nobody names."""
    declared = list(world.labels or [*reversed(texts(world.read(reader), names.LABEL)), _EXTRA])
    table = reader.read(world.path, declared)
    demand(texts(table, names.LABEL) == declared, "the labels are not as declared")


@BOOK.rule
def undeclared_refused(reader: Reader, world: ReaderWorld) -> None:
    """A label in the file that was not declared is an InputError."""
    table = world.read(reader)
    used = table[names.MENTION_LABEL].values
    every = texts(table, names.LABEL)
    # The last one that is used: where a file holds places instead of names, it has none any more.
    others = [label for label in every if label != every[int(used.max())]]
    refused(lambda: reader.read(world.path, others), "for an undeclared label")


@BOOK.rule
def empty_refused(reader: Reader, world: ReaderWorld) -> None:
    """An empty file is an InputError that names the file."""
    with world.elsewhere("empty") as copy:
        _fill(copy)
        _refused_naming(lambda: world.read(reader, copy), "for an empty file", copy)


@BOOK.rule
def missing_refused(reader: Reader, world: ReaderWorld) -> None:
    """A file that is not there is an InputError that names the file."""
    with world.elsewhere("gone") as copy:
        lost = copy.with_name(f"lost{copy.suffix}")
        _refused_naming(lambda: world.read(reader, lost), "for a missing file", lost)


@BOOK.rule
def truncated_told(reader: Reader, world: ReaderWorld) -> None:
    """A file that was cut gives a table of what is left, or an InputError that names the file."""
    with world.elsewhere("cut") as copy:
        for part in _files(copy):
            whole = part.read_bytes()
            for end in sorted({1, 7, *(len(whole) * k // 8 for k in range(1, 8)), len(whole) - 1}):
                part.write_bytes(whole[:end])
                with _breaking(f"cut to {end} bytes"):
                    try:
                        check_table(world.read(reader, copy))
                    except InputError as error:
                        named = copy.name in f"{error}" or part.name in f"{error}"
                        text = f"cut to {end} bytes, the error does not name it: {error.what}"
                        demand(named, text)
            part.write_bytes(whole)


@BOOK.rule
def damaged_told(reader: Reader, world: ReaderWorld) -> None:
    """A file of other bytes under its name is an InputError that names the file, or is read."""
    for name, data in OTHER_FILES.items():
        with world.elsewhere(f"other-{Path(name).stem}") as copy:
            _fill(copy, data)
            with _breaking(f"given {name}"):
                try:
                    check_table(world.read(reader, copy))
                except InputError as error:
                    text = f"given {name}, the error does not name the file"
                    demand(copy.name in f"{error}", text)


@contextmanager
def _breaking(when: str) -> Iterator[None]:
    """Break the rule where the block raises anything else than the rule does."""
    try:
        yield
    except Broken:
        raise
    except Exception as error:  # whatever a reader raises is what the rule tells
        raise Broken(f"{when} it raises {reason_of(error)}") from error


def _refused_naming(call: Callable[[], object], when: str, path: Path) -> None:
    error = refused(call, when)
    demand(path.name in f"{error}", f"the InputError {when} does not name the file: {error.what}")


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())


def _fill(path: Path, data: bytes = b"") -> None:
    for part in _files(path):
        part.write_bytes(data)


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in _files(folder)}
