"""Responses in their order, and names in theirs with the codes that follow them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.data.coded import Coded, Keyed
from plausibly.data.records import Records
from plausibly.kernels.random import Names
from plausibly.kernels.threads import at_once, cores, parts
from plausibly.kernels.types import Ints

_BLOCK = 1 << 15  # numbers that stay in the cache
_PART = 1 << 17  # numbers that are worth a thread
_MOST, _NARROW = 63, 31  # bits of a number, and of a code


def in_order(example: Ints, annotator: Ints, answer: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the codes of responses by example, annotator and answer.

    Where all three fit into one number, numbers are sorted instead of places by numbers: that is
    several times faster.
    """
    bits = [_bits(codes) for codes in (example, annotator, answer)]
    if sum(bits) > _MOST or max(bits) > _NARROW:
        order = np.lexsort((answer, annotator, example))
        return example[order], annotator[order], answer[order]
    first, second, third = _sorted(lambda rows: example[rows], annotator, answer, bits[1], bits[2])
    return first.astype(np.int32), second, third


def in_order_of(
    example: Keyed, annotator: Ints, answer: Ints
) -> tuple[NDArray[np.uint64], Ints, Ints, Ints] | None:
    """Return the keys of the examples in their order, and what `in_order` returns of their codes.

    None where example, annotator and answer do not fit into one number.
    """
    bits = _bits(annotator), _bits(answer)
    if example.bits + sum(bits) > _MOST or max(bits) > _NARROW:
        return None
    keys, second, third = _sorted(example.keys_of, annotator, answer, *bits)
    new = np.ones(keys.size, bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    codes = np.cumsum(new, dtype=np.int32)
    codes -= 1
    return keys[new].astype(np.uint64), codes, second, third


def _bits(codes: Ints) -> int:
    return int(codes.max(initial=0) + 1).bit_length()


def _sorted(
    first: Callable[[slice], Ints | NDArray[np.uint64]],
    annotator: Ints,
    answer: Ints,
    by: int,
    said: int,
) -> tuple[NDArray[np.int64], Ints, Ints]:
    """Return numbers, of rows, annotators and answers in their order."""
    joint = np.empty(annotator.size, np.int64)

    def joined(within: slice) -> None:
        for block in _blocks(within):
            part = joint[block]
            part[:] = first(block)
            part <<= by
            part += annotator[block]
            part += 1
            part <<= said
            part |= answer[block]

    at_once(joined, parts(joint.size, _PART))
    _sort(joint)
    second, third = (np.empty(joint.size, np.int32) for _ in range(2))

    def taken_apart(within: slice) -> None:
        for block in _blocks(within):
            part = joint[block]
            np.bitwise_and(part, (1 << said) - 1, out=third[block], casting="unsafe")
            part >>= said
            np.bitwise_and(part, (1 << by) - 1, out=second[block], casting="unsafe")
            second[block] -= 1
            part >>= by

    at_once(taken_apart, parts(joint.size, _PART))
    return joint, second, third


def _blocks(within: slice) -> Iterator[slice]:
    for start in range(within.start, within.stop, _BLOCK):
        yield slice(start, min(start + _BLOCK, within.stop))


def _sort(numbers: NDArray[np.int64]) -> None:
    """Sort numbers where they stand, halved until there is a part for each core."""
    lots = [numbers]
    while len(lots) < cores() and lots[0].size >= 2 * _PART:
        at_once(lambda lot: lot.partition(lot.size // 2), lots)
        lots = [half for lot in lots for half in (lot[: lot.size // 2], lot[lot.size // 2 :])]
    at_once(lambda lot: lot.sort(), lots)


def sorted_names(texts: Sequence[str], codes: Ints) -> tuple[list[str], Ints]:
    """Return names sorted, and the codes that follow them; code -1 stays."""
    if list(texts) == sorted(texts):
        return list(texts), codes
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.full(len(texts) + 1, -1, np.int64)
    rank[order] = np.arange(len(texts))
    return [texts[place] for place in order], rank[codes]


@attrs.frozen(eq=False)
class Ordered:
    """Names in their order, and the responses by example, annotator and answer.

    Attributes
    ----------
    examples, annotators : Names
    example, annotator, answer : ndarray of int, (response,)
        Codes.
    """

    examples: Names
    annotators: Names
    example: Ints
    annotator: Ints
    answer: Ints


def by_names(columns: Records, answer: Ints) -> Ordered:
    """Return records in their order.

    Parameters
    ----------
    columns : Records
    answer : ndarray of int, (record,)
        Codes of the answers.
    """
    examples, example = sorted_names(columns.examples, columns.example)
    annotators, annotator = sorted_names(columns.annotators, columns.annotator)
    ordered = in_order(example, annotator, answer)
    return Ordered(Names(examples), Names(annotators), *ordered)


def by_keys(example: Keyed, annotator: Coded, answer: Ints) -> Ordered | None:
    """Return the same of examples by keys; None where one number does not hold all three.

    Parameters
    ----------
    example : Keyed
    annotator : Coded
        All of them known.
    answer : ndarray of int, (record,)
        Codes of the answers.
    """
    annotators, codes = sorted_names(annotator.names, annotator.codes)
    found = in_order_of(example, codes, answer)
    if found is None:
        return None
    keys, *ordered = found
    # Keys that rise are of texts that differ, and what comes before any other is empty.
    usable = not keys.size or example.texts_of(keys[:1]).data.size > 0
    examples = Names(example.texts_of(keys), known_usable=usable)
    return Ordered(examples, Names(annotators), *ordered)
