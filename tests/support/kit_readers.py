"""A small reader that keeps every rule, and one that breaks each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import attrs
import xarray as xr

from kit_mutants import Mutant, after, changed, common
from plausibly.data.annotations import checksum
from plausibly.errors import InputError
from plausibly.plugin import ANNOTATION, Reader, resolve

Labels = Sequence[str] | None

HEADER = "kit 1"
FILE = f"{HEADER}\ncase 2|r2|benign\ncase 2|r1|malignant\ncase 1|r1|unclear\ncase 1|r2|benign\n"


def refuse(path: Path, why: str) -> InputError:
    return InputError("kit-file", f"{path.name}: {why}", expected="a kit file", source=path.name)


@attrs.frozen(kw_only=True)
class Bars(Reader):
    """A header, then one response per line: example, annotator, label."""

    bar: str = "|"

    def recognises(self, path: Path, head: bytes) -> bool:
        return head.startswith(HEADER.encode())

    def read(self, path: Path, labels: Labels) -> xr.Dataset:
        header, *lines = self.text(path).splitlines() or [""]
        if header != HEADER:
            raise refuse(path, "no header")
        rows = [self.row(path, line) for line in lines]
        if not rows:
            raise refuse(path, "no rows")
        return resolve(ANNOTATION, "single-label").build(rows, labels)

    def text(self, path: Path) -> str:
        try:
            return path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise refuse(path, "unreadable") from error

    def row(self, path: Path, line: str) -> tuple[object, object, object]:
        fields = line.split(self.bar)
        if len(fields) != 3:
            raise refuse(path, f"{len(fields)} fields")
        return fields[0], fields[1], fields[2]


def _read(change: Callable[[xr.Dataset, Path], xr.Dataset]) -> object:
    return after(Bars, "read", lambda table, path, _: change(table, path))


def _by_file(table: xr.Dataset, path: Path) -> xr.Dataset:
    renamed = table.assign_coords(example=[f"{path.stem} {e}" for e in table.example.values])
    return renamed.assign_attrs(checksum=checksum(renamed))


def _takes_any_label(self: Bars, path: Path, labels: Labels) -> xr.Dataset:
    try:
        return Bars.read(self, path, labels)
    except InputError as error:
        if error.name != "label-unknown":
            raise
        return Bars.read(self, path, None)


def _fails_when_empty(self: Bars, path: Path) -> str:
    text = Bars.text(self, path)
    if not text:
        raise IndexError("list index out of range")
    return text


def _opens_bare(self: Bars, path: Path) -> str:
    if not path.exists():
        raise FileNotFoundError(path)
    return Bars.text(self, path)


def _splits_bare(self: Bars, path: Path, line: str) -> tuple[object, object, object]:
    example, annotator, label = line.split(self.bar)
    return example, annotator, label


MUTANTS = {
    **common(Bars, "read", lambda table: table.assign_attrs(note="fitted")),
    "recognises-its-own": Mutant(
        changed(
            Bars,
            recognises=lambda self, path, head: (
                Bars.recognises(self, path, head) and path.name == "good.kit"
            ),
        )
    ),
    "recognises-no-other": Mutant(changed(Bars, recognises=lambda self, path, head: True)),
    "recognises-its-own/number": Mutant(
        changed(Bars, recognises=lambda self, path, head: int(Bars.recognises(self, path, head))),
        frozenset({"recognises-no-other"}),
    ),
    "recognises-no-other/raises": Mutant(
        changed(Bars, recognises=lambda self, path, head: head.decode("utf-8").startswith("kit"))
    ),
    "reads": Mutant(_read(lambda table, path: table.assign_attrs(kind="unknown kind"))),
    "copy-is-the-same": Mutant(_read(_by_file)),
    "declared-labels": Mutant(
        changed(
            Bars, read=lambda self, path, labels: Bars.read(self, path, labels and sorted(labels))
        )
    ),
    "undeclared-refused": Mutant(changed(Bars, read=_takes_any_label)),
    "nothing-refused": Mutant(changed(Bars, text=_fails_when_empty)),
    "nothing-refused/missing": Mutant(changed(Bars, text=_opens_bare)),
    "damaged-refused": Mutant(changed(Bars, row=_splits_bare)),
    "damaged-refused/other bytes": Mutant(
        changed(
            Bars,
            text=lambda self, path: (
                path.read_bytes().decode("utf-8") if path.exists() else Bars.text(self, path)
            ),
        )
    ),
}
