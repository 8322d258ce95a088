"""Rules of readers, tried on a file of their syntax."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
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
from plausibly.testing.data import UNNAMED, texts
from plausibly.testing.rules import (
    Broken,
    RuleSet,
    demand,
    enter_common,
    no_data,
    refused,
    same,
)

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
class ReaderFixture:
    path: Path
    kind: str | None
    labels: tuple[str, ...] | None

    def read(self, reader: Reader, path: Path | None = None) -> xr.Dataset:
        return reader.read(self.path if path is None else path, self.labels)

    @contextmanager
    def elsewhere(self, name: str = "Ordner ä/another name") -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / f"{name}{''.join(self.path.suffixes)}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            if self.path.is_dir():
                shutil.copytree(self.path, copy)
            else:
                shutil.copyfile(self.path, copy)
            yield copy


def fixture_for(
    reader: Reader,
    path: Path | str | None = None,
    kind: str | None = None,
    labels: Sequence[str] | None = None,
) -> ReaderFixture | InputError:
    if not isinstance(path, str | Path) or not Path(path).exists():
        hint = "path=..., a small file of its syntax"
        return no_data(f"there is no file {path or 'to try it on'}", hint)
    return ReaderFixture(Path(path), kind, None if labels is None else tuple(labels))


RULES: RuleSet[Reader, ReaderFixture] = RuleSet(READER, fixture_for)
enter_common(RULES, lambda reader, fixture: [fixture.read(reader)])


def _recognises(reader: Reader, path: Path) -> bool:
    """Return the answer of a reader, which gets as much of the file as when files are read."""
    head = b"" if path.is_dir() else files.opening(path, "annotations")
    result: object = reader.recognises(path, head)
    if not isinstance(result, bool):
        raise Broken(f"recognises gives {result!r}, not True or False")
    return result


@RULES.rule
def recognises_its_own(reader: Reader, fixture: ReaderFixture) -> None:
    """It recognises its file, whatever that is called."""
    with fixture.elsewhere() as copy:
        for path in (fixture.path, copy):
            demand(_recognises(reader, path), f"it does not recognise {path.name}")


@RULES.rule_alone
def recognises_no_other(reader: Reader, fixture: ReaderFixture) -> None:
    """It says of files that are not its own that they are not, and raises nothing."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in OTHER_FILES.items():
            path = Path(folder) / name
            path.write_bytes(data)
            with _breaking(f"asked about {name}"):
                demand(not _recognises(reader, path), f"it recognises {name}")


@RULES.rule
def reads(reader: Reader, fixture: ReaderFixture) -> None:
    """It reads a table of the kind, with responses in it."""
    table = check_table(fixture.read(reader))
    kind = str(table.attrs[names.KIND])
    demand(fixture.kind in (None, kind), f"the table is of kind {kind}, not {fixture.kind}")
    demand(table.sizes[names.RESPONSE] > 0, "the table holds no response")
    try:
        annotation = registry.resolve(ANNOTATION, kind)
    except ComponentError as error:
        raise Broken(f"no annotation kind is called {kind}") from error
    annotation.validate(table)


@RULES.rule
def copy_is_the_same(reader: Reader, fixture: ReaderFixture) -> None:
    """A copy in another folder, under another name, gives the same table."""
    with fixture.elsewhere() as copy:
        equal = same(fixture.read(reader, copy), fixture.read(reader))
        demand(equal, "the copy gives another table")


@RULES.rule
def declared_labels(reader: Reader, fixture: ReaderFixture) -> None:
    """Declared labels are all there, in their order, also those that no annotator names."""
    seen = texts(fixture.read(reader), names.LABEL)
    declared = list(fixture.labels or [*reversed(seen), UNNAMED])
    table = reader.read(fixture.path, declared)
    demand(texts(table, names.LABEL) == declared, "the labels are not as declared")


@RULES.rule
def undeclared_refused(reader: Reader, fixture: ReaderFixture) -> None:
    """A label in the file that was not declared is an InputError."""
    table = fixture.read(reader)
    every = texts(table, names.LABEL)
    # The last one that is used: where a file holds places instead of names, it has none any more.
    last = every[int(table[names.MENTION_LABEL].values.max())]
    others = [label for label in every if label != last]
    refused(lambda: reader.read(fixture.path, others), "for an undeclared label")


@RULES.rule
def nothing_refused(reader: Reader, fixture: ReaderFixture) -> None:
    """A file that is empty, or not there, is an InputError that names the file."""
    with fixture.elsewhere("empty") as copy:
        for part in _files(copy):
            part.write_bytes(b"")
        refused(lambda: fixture.read(reader, copy), "for an empty file", naming=copy.name)
        lost = copy.with_name(f"lost{copy.suffix}")
        refused(lambda: fixture.read(reader, lost), "for a missing file", naming=lost.name)


@RULES.rule
def damaged_refused(reader: Reader, fixture: ReaderFixture) -> None:
    """A file that was cut, or holds other bytes, is read, or an InputError that names it."""

    def try_damaged(path: Path, when: str, part: Path) -> None:
        with _breaking(when):
            try:
                check_table(fixture.read(reader, path))
            except InputError as error:
                named = path.name in f"{error}" or part.name in f"{error}"
                demand(named, f"{when}, the error does not name the file: {error.what}")

    with fixture.elsewhere("cut") as copy:
        for part in _files(copy):
            whole = part.read_bytes()
            for end in sorted({1, 7, *(len(whole) * k // 8 for k in range(1, 8)), len(whole) - 1}):
                part.write_bytes(whole[:end])
                try_damaged(copy, f"cut to {end} bytes", part)
            part.write_bytes(whole)
    for name, data in OTHER_FILES.items():
        with fixture.elsewhere(f"other-{Path(name).stem}") as copy:
            for part in _files(copy):
                part.write_bytes(data)
            try_damaged(copy, f"with {name} in it", copy)


@contextmanager
def _breaking(when: str) -> Iterator[None]:
    """Break the rule where the block raises anything else than the rule does."""
    try:
        yield
    except Broken:
        raise
    except Exception as error:  # whatever a reader raises is what the rule tells
        raise Broken(f"{when} it raises {reason_of(error)}") from error


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
