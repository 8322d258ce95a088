"""The README cut into what it claims, and files of a user on which its commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LABELS = ("benign", "unsure", "malignant")
READERS = ("reader_a", "reader_b", "reader_c", "reader_d")
CALIBRATION, NEW = 240, 120

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language, in order."""
    return [body for found, body in _FENCE.findall(text) if found == language]


def indented(text: str) -> list[str]:
    """Return the indented blocks outside of fences, in order, without their indent."""
    found: list[list[str]] = [[]]
    for line in _FENCE.sub("", text).splitlines():
        if line.startswith("    "):
            found[-1].append(line[4:])
        elif found[-1]:
            found.append([])
    return ["\n".join(lines) for lines in found if lines]


def commands(text: str) -> list[list[str]]:
    """Return the words of every ``plausibly`` command that acts on files of the user."""
    lines = [line for block in indented(text) for line in block.splitlines()]
    for block in blocks(text, "console"):
        joined = block.replace("\\\n", " ")
        lines += [line.removeprefix("$ ") for line in joined.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("plausibly ")]


def links(text: str) -> list[str]:
    """Return where the links of a page lead."""
    return re.findall(r"\]\(([^)\s]+)\)", text)


def rows(text: str, first: str) -> list[list[str]]:
    """Return the cells of the table whose first heading is `first`, without the heading."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def write_files(folder: Path) -> None:
    """Write every file that the README's commands read."""
    random = np.random.default_rng(7)
    votes, crowd = ["task,worker,label"], ["item,rater,answer,seconds"]
    new_votes = list(votes)
    model = [f"example,{','.join(LABELS)}"]
    new = list(model)
    patients = ["example,patient,site"]
    for number in range(CALIBRATION + NEW):
        name = f"scan_{number}"
        lam = random.dirichlet((1.0, 0.7, 0.7))
        given = _row(0.7 * lam + 0.3 * random.dirichlet((1.0, 1.0, 1.0)))
        calibrates = number < CALIBRATION
        (model if calibrates else new).append(f"{name},{given}")
        for reader in READERS[: 3 + number % 2]:
            said = LABELS[int(random.choice(len(LABELS), p=lam))]
            (votes if calibrates else new_votes).append(f"{name},{reader},{said}")
            if calibrates:
                crowd.append(f"{name},{reader},{said},{number % 60}")
        patients.append(f"{name},patient_{number // 2},{'north' if number % 3 else 'south'}")
    for file, lines in (
        ("votes.csv", votes),
        ("crowd.csv", crowd),
        ("new_votes.csv", new_votes),
        ("probabilities.csv", model),
        ("new.csv", new),
        ("patients.csv", patients),
        ("labels.txt", list(LABELS)),
    ):
        (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(values: NDArray[np.float64]) -> str:
    return ",".join(f"{value:.4f}" for value in values)
