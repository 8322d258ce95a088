"""Figures that were made once for all tests of a process, in a small form; a small skin case."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from plausibly.paper.run import ENTRIES, Reproduced, reproduce

SPLITS = 3
PLAIN = tuple(entry.name for entry in ENTRIES if not entry.derm)
DERM = tuple(entry.name for entry in ENTRIES if entry.derm)

CASES, CONDITIONS = 60, 6


@cache
def made(name: str) -> Reproduced:
    """Return a figure on its own data, over few splits."""
    (one,) = reproduce(name, splits=SPLITS)
    return one


def skin_folder(folder: Path, *, model: bool = True) -> Path:
    """Write a skin case of few conditions, with every file that the real one has."""
    generator = np.random.default_rng(7)
    names = [f"condition {letter}" for letter in "abcdef"]
    (folder / "dermatology_conditions.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    cases = []
    for case in range(CASES):
        likely = [case % CONDITIONS, (case + 1 + case // 7) % CONDITIONS, (case + 3) % CONDITIONS]
        first = [[likely[0]], [likely[1]]] if likely[1] != likely[0] else [[likely[0]]]
        cases.append([first, [[likely[0]]], [sorted({likely[0], likely[2]})]])
    (folder / "dermatology_selectors.json").write_text(json.dumps(cases), encoding="utf-8")
    if model:
        logits = generator.normal(size=(CASES, CONDITIONS))
        logits[np.arange(CASES), np.arange(CASES) % CONDITIONS] += 1.5
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        np.savetxt(folder / "dermatology_predictions0.txt", shares, fmt="%.3e")
    return folder
