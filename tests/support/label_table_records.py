"""Records that name labels under aliases, and what they mean, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hypothesis import strategies as st

from io_files import csv_text
from labelled_records import Records

LABELS = ["melanoma", "b c", "Ä", "0"]
ALIASES = {"MM": "melanoma", "melanoma ": "melanoma", "bc": "b c", "ä": "Ä"}
NAMES = [*LABELS, *ALIASES]

Renamed = Callable[[object], object]


def label(answer: object) -> object:
    """Return a single label under its own name."""
    return ALIASES.get(str(answer), answer)


def label_set(answer: object) -> object:
    """Return a set in which each label is named once."""
    assert isinstance(answer, list)
    return sorted({ALIASES.get(str(name), str(name)) for name in answer})


def ranking(answer: object) -> object:
    """Return a ranking in which each label has its best place, without empty blocks."""
    assert isinstance(answer, list)
    seen: set[str] = set()
    blocks = []
    for block in answer:
        kept = {ALIASES.get(name, name) for name in block} - seen
        seen |= kept
        if kept:
            blocks.append(sorted(kept))
    return blocks


def soft_label(answer: object) -> object:
    """Return weights that are added up by label."""
    assert isinstance(answer, Mapping)
    found: dict[str, float] = {}
    for name, weight in sorted(answer.items()):
        of = ALIASES.get(str(name), str(name))
        found[of] = found.get(of, 0.0) + weight
    return found


RENAMED: Mapping[str, Renamed] = {
    "single-label": label,
    "label-set": label_set,
    "partial-ranking": ranking,
    "soft-label": soft_label,
}


def renamed(kind: str, records: Records) -> Records:
    """Return the records with every label under its own name."""
    return [(example, by, RENAMED[kind](answer)) for example, by, answer in records]


@st.composite
def _rankings(draw: st.DrawFn) -> list[list[str]]:
    names = draw(st.permutations(NAMES))[: draw(st.integers(1, len(NAMES)))]
    blocks: list[list[str]] = []
    for name in names:
        tied: bool = draw(st.booleans())
        if blocks and tied:
            blocks[-1].append(name)
        else:
            blocks.append([name])
    return blocks


_names = st.sampled_from(NAMES)
ANSWERS: Mapping[str, st.SearchStrategy[object]] = {
    "single-label": _names,
    "label-set": st.lists(_names, min_size=1, max_size=5, unique=True),
    "partial-ranking": _rankings(),
    # Weights whose sums are exact in any order.
    "soft-label": st.dictionaries(_names, st.integers(1, 64).map(float), min_size=1, max_size=5),
}


def label_table(folder: Path, aliases: Mapping[str, str] = ALIASES) -> Path:
    """Write the labels with those aliases that a cell can hold, and return the path."""
    rows = [["label", "alias"]]
    for name in LABELS:
        own = [alias.replace("|", r"\|") for alias, of in aliases.items() if of == name]
        rows.append([name, " | ".join(own)])
    path = folder / "labels.csv"
    path.write_text(csv_text(rows), encoding="utf-8")
    return path
