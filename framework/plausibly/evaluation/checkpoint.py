"""Finished splits of a study in a folder, so that a study that was stopped goes on from there.

One file a split, written whole or not at all, beside one that says of which study they are: digests
of the data, methods with their parameters, settings, seed and version. All of them are JSON.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from plausibly.atomic import recover, replacing, unwritable
from plausibly.errors import InputError, listed
from plausibly.evaluation.design import Design, Outcome
from plausibly.evaluation.manifest import differences, manifest
from plausibly.evaluation.stored import from_json, to_json

MANIFEST = "study.json"
_SPLITS = "split-*.json"


@attrs.define(kw_only=True, eq=False)
class Checkpoint:
    """A folder for the finished splits of one study.

    Attributes
    ----------
    folder : Path
        Made when there is something to keep.
    patience : float
        Seconds of work below which nothing is kept: what is done again that soon needs no files.
    """

    folder: Path = attrs.field(converter=Path)
    patience: float = 0.0
    _about: dict[str, Any] = attrs.field(factory=dict, init=False)  # Any: what JSON holds
    _unsaved: list[Outcome] = attrs.field(factory=list, init=False)
    _since: float = attrs.field(factory=time.monotonic, init=False)

    @classmethod
    def of(cls, given: str | Path | Checkpoint | None) -> Checkpoint | None:
        """Return what a user named."""
        return given if given is None or isinstance(given, Checkpoint) else cls(folder=given)

    def finished(self, splits: int) -> int:
        """Return how many of the first `splits` splits there are, of whatever study."""
        return sum(self._file(number).is_file() for number in range(splits))

    def open(self, design: Design, splits: int) -> dict[int, Outcome]:
        """Return the finished splits of a study, by number.

        Parameters
        ----------
        design : Design
        splits : int
            How many there shall be; there may be more.

        Raises
        ------
        InputError
            ``checkpoint-other`` where the folder is of another study, with what differs;
            ``checkpoint-unknown`` where it holds something else; ``checkpoint-component`` where
            a component cannot be told from another one by names and parameters.
        """
        self._about = manifest(design)
        self._since = time.monotonic()
        self._check()
        found: dict[int, Outcome] = {}
        for number in range(splits):
            # One that cannot be read, as after the power went, is computed again.
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                outcome = from_json(json.loads(self._file(number).read_text(encoding="utf-8")))
                if outcome.number == number and outcome.vacuous.shape == design.shape:
                    found[number] = outcome
        return found

    def keep(self, outcome: Outcome) -> None:
        """Write a finished split, whole or not at all.

        Raises
        ------
        InputError
            ``output-unwritable``.
        """
        self._unsaved.append(outcome)
        if time.monotonic() - self._since < self.patience:
            return
        unsaved, self._unsaved = self._unsaved, []
        about = self.folder / MANIFEST
        if not about.is_file():
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as reason:
                raise unwritable(self.folder, reason) from reason
            _write(about, self._about)
        for one in unsaved:
            _write(self._file(one.number), to_json(one))

    def discard(self) -> None:
        """Remove what was kept, and the folder where nothing else is in it."""
        for path in [*self.folder.glob(_SPLITS), self.folder / MANIFEST]:
            path.unlink(missing_ok=True)
        recover(self.folder)
        with contextlib.suppress(OSError):  # somebody's file is in it, or it was never made
            self.folder.rmdir()

    def _file(self, number: int) -> Path:
        return self.folder / f"split-{number}.json"

    def _check(self) -> None:
        """Raise unless the folder is of this study, or is not there yet."""
        about = self.folder / MANIFEST
        if not about.is_file():
            if self.folder.is_file():
                raise self._unknown("a file")
            recover(self.folder)  # what was being written when somebody killed the study
            if self.folder.is_dir() and any(self.folder.iterdir()):
                raise self._unknown(f"no {MANIFEST} in it")
            return
        try:
            written = json.loads(about.read_text(encoding="utf-8"))
        except (OSError, ValueError) as reason:
            raise self._unknown(f"{MANIFEST} that cannot be read: {reason}") from reason
        if not isinstance(written, dict):
            raise self._unknown(f"{MANIFEST} that is no table")
        found = differences(written, self._about)
        if found:
            raise InputError(
                "checkpoint-other",
                f"{self.folder} keeps splits of another study",
                expected="the same data, methods and settings, with any number of splits",
                got=listed(found),
                do="another folder for the checkpoint, or delete this one",
                whose=str(self.folder),
                details={"differences": found},
            )

    def _unknown(self, got: str) -> InputError:
        return InputError(
            "checkpoint-unknown",
            f"{self.folder} is no folder of finished splits",
            expected="a folder that is new or empty, or one that a study made",
            got=got,
            do="another folder for the checkpoint",
            whose=str(self.folder),
        )


def _write(path: Path, content: Mapping[str, object]) -> None:
    text = json.dumps(content)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
