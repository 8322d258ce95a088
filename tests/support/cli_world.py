"""A small made world of files for the command line: everything in it can be worked out by hand."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path
from typing import Any

import attrs
from typer.testing import CliRunner

from plausibly.cli.app import app

CALIBRATE = "calibrate -a votes.csv -p probabilities.csv -o predictor.nc"
PREDICT = "predict predictor.nc -p new.csv -o sets.csv"
EVALUATE = "evaluate sets.csv -a new_votes.csv"

LABELS = ("cat", "dog", "fox")
CALIBRATION = 30
NEW = 20

# Ten kinds of example: what the model says of cat, dog and fox in hundredths, and three votes.
_PATTERNS = (
    ((80, 15, 5), "cat cat cat"),
    ((60, 30, 10), "cat cat dog"),
    ((10, 70, 20), "dog dog dog"),
    ((25, 40, 35), "dog fox fox"),
    ((5, 5, 90), "fox fox fox"),
    ((34, 33, 33), "cat dog fox"),
    ((50, 45, 5), "dog dog cat"),
    ((20, 20, 60), "fox fox dog"),
    ((70, 20, 10), "cat cat fox"),
    ((15, 65, 20), "dog dog cat"),
)


@attrs.frozen
class World:
    """A folder with the files of a user, and a way to run commands in it."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def write(self, name: str, text: str) -> Path:
        path = self.path(name)
        path.write_text(text, encoding="utf-8")
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace the first `old` in a file, which must be there."""
        self.replace(name, old, new, 1)

    def replace(self, name: str, old: str, new: str, count: int = -1) -> None:
        """Replace every `old` in a file, or the first ones; it must be there."""
        text = self.path(name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new, count))


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@attrs.frozen
class Ran:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:  # Any: whatever JSON holds
        document: dict[str, Any] = json.loads(self.out)  # Any: as above
        return document

    @property
    def text(self) -> str:
        return " ".join(self.out.split())

    @property
    def width(self) -> int:
        return max(map(len, (self.out + self.err).splitlines()))


def run(*words: str | Path) -> Ran:
    """Run a command in this process, in the current folder."""
    result = CliRunner().invoke(app, [str(word) for word in words], prog_name="plausibly")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return Ran(result.exit_code, result.stdout, result.stderr)


def typed(line: str, *words: str | Path) -> Ran:
    """Run what a shell would take apart, and more words."""
    return run(*shlex.split(line), *words)


def done(line: str, *words: str | Path) -> Ran:
    """Run what must succeed without a message."""
    ran = typed(line, *words)
    assert (ran.code, ran.err) == (0, "")
    return ran


def asked(words: str, shell: str = "bash") -> dict[str, str]:
    """Return the environment in which a shell asks for what may follow."""
    return {
        "_PLAUSIBLY_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


def refused(line: str, name: str, *pieces: str, code: int = 2) -> Ran:
    """Check that a command prints an error of that name with these pieces, and writes nothing."""
    before = {path: path.stat().st_mtime_ns for path in Path().iterdir()}
    ran = typed(line)
    text = " ".join(ran.err.split())
    assert text.startswith(f"error {name}: ")
    assert [piece for piece in pieces if piece not in text] == []
    assert (ran.code, ran.out) == (code, "")
    assert {path: path.stat().st_mtime_ns for path in Path().iterdir()} == before
    return ran


def make(folder: Path) -> World:
    """Write votes, probabilities and patients of calibration and new examples."""
    world = World(folder)
    _write(world, "votes.csv", "probabilities.csv", "patients.csv", "c", CALIBRATION)
    _write(world, "new_votes.csv", "new.csv", "new_patients.csv", "n", NEW)
    return world


VIEWS = ("original", "flipped")


def make_views(folder: Path, risks: str = "risks.csv") -> World:
    """Write what `make` does, a weight of each example, risks of labels, and views."""
    world = make(folder)
    world.write(risks, "label,risk\ncat,1\ndog,2\nfox,4\n")
    for patients, model, views in (
        ("patients.csv", "probabilities.csv", "views.csv"),
        ("new_patients.csv", "new.csv", "new_views.csv"),
    ):
        head, *rows = world.path(patients).read_text().splitlines()
        weighed = [f"{row},{1 + number % 3}" for number, row in enumerate(rows)]
        world.write(patients, "\n".join([f"{head},weight", *weighed]) + "\n")
        _, *rows = world.path(model).read_text().splitlines()
        lines = [f"example,view,{','.join(LABELS)}"]
        for row in rows:
            name, *numbers = row.split(",")
            lines.append(",".join([name, VIEWS[0], *numbers]))
            seen = [(float(number) + 1 / 3) / 2 for number in numbers]
            lines.append(",".join([name, VIEWS[1], *map(str, seen)]))
        world.write(views, "\n".join(lines) + "\n")
    return world


def _write(world: World, votes: str, model: str, patients: str, letter: str, count: int) -> None:
    records = ["task,worker,label"]
    inputs = [f"example,{','.join(LABELS)}"]
    about = ["example,patient,site,diagnosis"]
    for number in range(count):
        name = f"{letter}{number:02d}"
        numbers, answers = _PATTERNS[number % len(_PATTERNS)]
        records += [f"{name},w{w},{answer}" for w, answer in enumerate(answers.split())]
        inputs.append(",".join([name, *(f"{value / 100:.2f}" for value in numbers)]))
        site = "north" if number % 3 else "south"
        about.append(f"{name},p{number // 2},{site},{answers.split()[0]}")
    for file, lines in ((votes, records), (model, inputs), (patients, about)):
        world.write(file, "\n".join(lines) + "\n")
