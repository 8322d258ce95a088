"""Responses in their order, and names in theirs with the codes that follow them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plausibly.arrays import Ints

_BLOCK = 1 << 15  # numbers that stay in the cache


def in_order(example: Ints, annotator: Ints, answer: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the codes of responses by example, annotator and answer.

    Where all three fit into one number, numbers are sorted instead of places by numbers: that is
    several times faster.
    """
    bits = [int(codes.max(initial=0) + 1).bit_length() for codes in (example, annotator, answer)]
    if sum(bits) > 63 or max(bits) > 31:
        order = np.lexsort((answer, annotator, example))
        return example[order], annotator[order], answer[order]
    joint = example.astype(np.int64)
    joint <<= bits[1]
    joint += annotator
    joint += 1
    joint <<= bits[2]
    joint |= answer
    joint.sort()
    first, second, third = (np.empty(joint.size, np.int32) for _ in range(3))
    for start in range(0, joint.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        part = joint[block]
        np.bitwise_and(part, (1 << bits[2]) - 1, out=third[block], casting="unsafe")
        part >>= bits[2]
        np.bitwise_and(part, (1 << bits[1]) - 1, out=second[block], casting="unsafe")
        part >>= bits[1]
        first[block] = part
    second -= 1
    return first, second, third


def sorted_names(texts: Sequence[str], codes: Ints) -> tuple[list[str], Ints]:
    """Return names sorted, and the codes that follow them; code -1 stays."""
    if list(texts) == sorted(texts):
        return list(texts), codes
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.full(len(texts) + 1, -1, np.int64)
    rank[order] = np.arange(len(texts))
    return [texts[place] for place in order], rank[codes]
