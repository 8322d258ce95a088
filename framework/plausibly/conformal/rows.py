"""Rows of one chunk: checked without an index of their names, scored a few rows at a time.

Whatever is made of a few rows stays in the cache: one more array of the size of a chunk would take
longer than all that is done with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.as_given import scores_as_given
from plausibly.calibration.examples import Examples
from plausibly.conformal.asking import score_uniforms
from plausibly.conformal.chunks import Chunk
from plausibly.conformal.scoring import scores_of
from plausibly.data import names, validate
from plausibly.data.named import float_type
from plausibly.data.names import text_array
from plausibly.data.validate import predictions_sound
from plausibly.kernels.coverage import row_blocks
from plausibly.kernels.random import Keys, Names, hash_bytes
from plausibly.kernels.types import Floats, FloatType, Hashes
from plausibly.protocols import ScoreFunction


@attrs.frozen(eq=False)
class Named:
    """Names of the examples of one chunk: as few bytes as can be, since they travel.

    Attributes
    ----------
    joined : bytes
        A zero byte between them, which no name has.
    whose : str
        What messages call the chunk.
    """

    joined: bytes
    whose: str

    @classmethod
    def of(cls, examples: Names, chunk: Chunk, whose: str) -> Named:
        """Return the names of one chunk.

        Parameters
        ----------
        examples : Names
            Of all chunks.
        chunk : Chunk
        whose : str
            What messages call all of them.
        """
        joined = examples.joined(slice(chunk.start, chunk.stop))
        if chunk.stop - chunk.start < len(examples):
            ends = joined.split(b"\0", 1)[0], joined.rsplit(b"\0", 1)[-1]
            first, last = (end.decode("utf-8", "surrogatepass") for end in ends)
            whose = f"{whose}, {first} to {last}"
        return cls(joined, whose)

    @property
    def texts(self) -> list[str]:
        """The names, in their order."""
        return self.joined.decode("utf-8", "surrogatepass").split("\0")

    @property
    def hashes(self) -> Hashes:
        """Hashes of the names, (example,)."""
        return hash_bytes(self.joined.split(b"\0"))


@attrs.frozen(kw_only=True, eq=False)
class RowScores:
    """How rows become scores: small enough to go to every process.

    Attributes
    ----------
    given : tuple of str
        Labels as the rows have them.
    order : ndarray of int, (label,), or slice
        Position of each of them where they are scored.
    dtype : dtype
        In which they are scored.
    scale : {"probability", "logit", "independent", "any"}
    score : ScoreFunction
    called : str
        Its name, for messages.
    keys : Keys
    """

    given: tuple[str, ...]
    order: NDArray[np.intp] | slice
    dtype: FloatType
    scale: str
    score: ScoreFunction
    called: str
    keys: Keys

    def checked(self, values: NDArray[Any], named: Named) -> Floats:  # Any: real numbers
        """Return the predictions of one chunk, (example, label), contiguous.

        Raises
        ------
        InputError
            What `borders.check_predictions` finds.
        """
        floats: Floats = np.ascontiguousarray(values, float_type(values.dtype))
        # Names were checked when all were together: they are read where something is wrong.
        if not predictions_sound(floats, self.scale):
            coords = {names.EXAMPLE: text_array(named.texts), names.LABEL: text_array(self.given)}
            array = xr.DataArray(floats, coords, (names.EXAMPLE, names.LABEL))
            validate.check_predictions(array, whose=named.whose, scale=self.scale, whole=False)
        return floats

    def blocks(self, checked: Floats, named: Named) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of rows with their scores (example, label), in the order of scoring.

        Not to be written to, and overwritten by those of the next rows. Zeros may have a sign.

        Parameters
        ----------
        checked : ndarray, (example, label)
            From `checked`.
        named : Named
        """
        moves = not isinstance(self.order, slice) or checked.dtype != self.dtype
        if scores_as_given(self.score, self.scale) and not moves:
            yield from ((rows, checked[rows]) for rows in row_blocks(checked.shape))
            return
        hashes = named.hashes if self.score.randomised else None
        blocks = list(row_blocks(checked.shape))
        # Fresh memory for each block would take several times as long as all that is done here.
        room = np.empty((2 if moves else 1, blocks[0].stop, checked.shape[1]), self.dtype)
        for rows in blocks:
            some, size = checked[rows], rows.stop - rows.start
            if moves:
                room[1, :size][:, self.order] = some
                some = room[1, :size]
            uniform = None
            if hashes is not None:
                uniform = score_uniforms(self.score, self.keys, Examples(hashes[rows]), some)
            scores = scores_of(
                some, self.scale, self.score, self.called, uniform, room=room[0, :size]
            )
            yield rows, scores
