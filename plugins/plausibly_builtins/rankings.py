"""Rankings of a table as lists of blocks, for the aggregators that read them one by one."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from plausibly.plugin import Bools, Ints, Rows

Blocks: TypeAlias = list[tuple[float, list[list[int]]]]
"""Weight and blocks of each response to an example: labels by their rank among the names."""


def rankings(rows: Rows, rank: Ints) -> list[Blocks]:
    """Return weight and blocks, of ranks of label names, of each response, by example."""
    found: list[Blocks] = [[] for _ in range(rows.n)]
    ends = np.cumsum(rows.mentions).tolist()
    label, block = rank[rows.label].tolist(), rows.block.tolist()
    start = 0
    for example, weight, end in zip(rows.example.tolist(), rows.weight.tolist(), ends, strict=True):
        blocks: dict[int, list[int]] = {}
        for place in range(start, end):
            blocks.setdefault(block[place], []).append(label[place])
        if blocks and weight > 0:
            found[example].append((weight, list(blocks.values())))
        start = end
    return found


def strongly_connected(above: Bools) -> bool:
    """Return whether a chain of labels, each `above` the next, joins every two labels."""
    above = above | np.eye(len(above), dtype=bool)
    for through in range(len(above)):
        above |= above[:, through, None] & above[through]
    return bool(above.all())
