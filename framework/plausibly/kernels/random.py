"""Randomness that belongs to an example's name, not to its place in an array.

A uniform is a function of (seed, stream, name of the example, position in the sequence). Draws,
splits and resamples therefore do not depend on row order, chunking or batch size, and the first
`m` uniforms of an example are the same whether `m` or more are asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from hashlib import blake2b
from numbers import Integral, Real

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.kernels.types import Hashes, Ints

_BLOCK = 1 << 15  # of uniforms, so that what is in hand stays in the cache
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def name_text(value: object) -> str:
    """Return a name as text, which depends on the value alone, not on the array that holds it.

    Text stays as written, bytes are read as UTF-8; ``1.0`` is ``1``, and midnight is its day.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, (Real, Decimal)) and not isinstance(value, Integral):
        # Beyond 64 bits there are no arrays of integers that could hold the same number.
        if abs(float(value)) < 2.0**63 and value == math.floor(value):
            return str(math.floor(value))
        return str(value.normalize() if isinstance(value, Decimal) else value)
    if isinstance(value, (date, np.datetime64)):
        # The same moment has as many zeros behind the seconds as its type has digits.
        moment = re.sub(r"(\.\d*?)0+$", r"\1", str(value).replace("T", " ")).removesuffix(".")
        return moment.removesuffix(" 00:00:00")
    return str(value)


def hash_names(names: Iterable[object]) -> Hashes:
    """Return the 64-bit blake2b hash of each name, as text.

    Parameters
    ----------
    names : iterable
        Names of examples; ``7``, ``7.0`` and ``"7"`` are the same name.
    """
    texts = (name if type(name) is str else name_text(name) for name in names)
    fresh = blake2b(digest_size=8).copy
    digests = bytearray()
    for text in texts:
        state = fresh()
        state.update(text.encode(errors="surrogatepass"))
        digests += state.digest()
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def quick_hashes(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> Hashes:
    """Return a 64-bit number per text: equal texts have equal ones, unequal texts nearly never.

    `data` holds the bytes of all texts; `ends` where the first begins, then where each ends.
    """
    start, size = ends[:-1], np.diff(ends)
    padded = np.concatenate([np.zeros(8, np.uint8), data])
    before = np.ndarray((len(data) + 1,), "<u8", padded, 0, (1,))  # the 8 bytes before each place
    hashes: Hashes = size.astype(np.uint64)
    foreign = np.minimum(8 * np.maximum(8 - size, 0), 63).astype(np.uint64)
    short = bool(foreign.any())
    for place in range(8, int(size.max(initial=0)) + 8, 8):
        word = before[start + np.minimum(size, place)]  # the last one overlaps the one before it
        if short:
            word = word >> foreign
        # Words that a text does not have must not change its hash: other lists have longer texts.
        hashes = np.where(size > place - 8, _mix(hashes ^ word), hashes)
    return hashes


def _mix(values: Hashes) -> Hashes:
    """Scramble 64-bit integers (the finaliser of splitmix64: Steele, Lea & Flood 2014)."""
    shifted = values >> np.uint64(30)
    mixed: Hashes = np.bitwise_xor(values, shifted, out=shifted)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _whole(seed: object) -> int:
    if not isinstance(seed, int | np.integer):  # the text of an object may be another each time
        raise TypeError(f"seed is a whole number, not {type(seed).__name__}")
    return int(seed)


@attrs.frozen
class Keys:
    """A seed and the name of a stream: the only source of randomness that components get.

    Attributes
    ----------
    seed : int
        The user's seed.
    stream : str
        What the numbers are for; two streams of one seed are unrelated.
    """

    seed: int = attrs.field(default=0, converter=_whole)
    stream: str = ""

    def child(self, name: str) -> Keys:
        """Return the stream `name` below this one."""
        return Keys(self.seed, f"{self.stream}/{name}")

    def uniform(self, hashes: Hashes, count: int = 1) -> NDArray[np.float64]:
        """Return `count` uniforms in [0, 1) for each example.

        Parameters
        ----------
        hashes : ndarray of uint64, (example,)
            From `hash_names`.
        count : int
            How many for each example; the first ones do not depend on it.

        Returns
        -------
        ndarray of float64, (example, count)
        """
        digest = blake2b(f"{self.seed}:{self.stream}".encode(), digest_size=8).digest()
        start = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
        uniforms = np.empty((len(hashes), count), dtype=np.float64)
        rows = max(1, _BLOCK // max(1, count))
        with np.errstate(over="ignore"):
            steps = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN
            for first in range(0, len(hashes), rows):
                block = slice(first, first + rows)
                state = _mix(hashes[block] ^ start)[:, None]
                bits = _mix(state + steps)
                bits ^= state
                bits = _mix(bits)
                bits >>= np.uint64(11)
                np.multiply(bits, 2.0**-53, out=uniforms[block])
        return uniforms

    def ragged(self, hashes: Hashes, counts: Ints) -> NDArray[np.float64]:
        """Return `counts` uniforms in [0, 1) of each example, one example after the other.

        Those of an example depend on its hash alone, and the first ones do not depend on its count.

        Parameters
        ----------
        hashes : ndarray of uint64, (example,)
        counts : ndarray of int, (example,)
        """
        starts = np.cumsum(counts) - counts
        uniforms = np.empty(int(counts.sum()), dtype=np.float64)
        # Examples of similar counts together: one rectangle for all would be mostly empty.
        bits = np.frexp(counts.astype(np.float64))[1]
        for size in np.unique(bits[counts > 0]):
            rows = np.flatnonzero((bits == size) & (counts > 0))
            place = np.arange(int(counts[rows].max()))
            inside = place < counts[rows, None]
            block = self.uniform(hashes[rows], len(place))
            uniforms[(starts[rows, None] + place)[inside]] = block[inside]
        return uniforms
