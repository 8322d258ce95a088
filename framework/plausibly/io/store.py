"""Prediction sets in a Zarr store: written, and read, one chunk of examples at a time."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import xarray as xr

from plausibly.atomic import check_ours, is_store, recover, replacing
from plausibly.conformal.chunks import read_coordinates
from plausibly.data.named import is_lazy
from plausibly.data.names import ALPHA, EXAMPLE
from plausibly.errors import InputError
from plausibly.extras import require
from plausibly.io.chunked import check_chunks, in_chunks, is_zarr, open_dataset

VARIABLE = "prediction_sets"


def write(sets: xr.DataArray, path: Path) -> None:
    """Write sets with their names and attributes, whole or not at all.

    Parameters
    ----------
    sets : DataArray of bool, (example, label[, alpha])
        Sets in chunks are computed and written chunk by chunk.
    path : Path
        The store.

    Raises
    ------
    InputError
        ``extra-missing``, ``output-occupied`` or ``output-unwritable``.
    """
    require("zarr", extra="zarr", whose=path.name)
    bare = sets.rename(VARIABLE).drop_encoding()
    if is_lazy(bare):
        # A store has chunks of one size.
        size = max(bare.variable.chunksizes[EXAMPLE])
        bare = bare.chunk({dim: size if dim == EXAMPLE else -1 for dim in bare.dims})
    check_ours(path, is_sets, "an older store of prediction sets")
    with replacing(path) as part:
        # An empty chunk is written too: one that is missing later was lost.
        bare.to_dataset().to_zarr(part, zarr_format=2, consolidated=True, write_empty_chunks=True)


def is_sets(path: Path) -> bool:
    """Return whether a folder is a store of prediction sets, with nothing else in it."""
    return is_store(path, lambda metadata: f"{VARIABLE}/.zarray" in metadata)


def read(path: Path, chunks: int | None) -> xr.DataArray:
    """Return the sets of a store, in memory, or in chunks of about so many examples.

    Raises
    ------
    InputError
        ``option-unfit`` for chunks of another file, ``sets-unknown`` where the store has no sets,
        and what `open_dataset` raises.
    """
    if not is_zarr(path):
        raise InputError(
            "option-unfit",
            f"{path.name}: chunks has no meaning here",
            expected="a Zarr store of prediction sets",
            got=path.suffix or "no ending",
            do="leave chunks (--chunks) out, or predict into a store: -o sets.zarr",
            whose=path.name,
        )
    if chunks is not None:
        check_chunks(chunks)
    recover(path.parent, path.name)
    dataset = open_dataset(path, "sets", lazy=chunks is not None)
    described = path / VARIABLE / ".zarray"
    known = VARIABLE in dataset and ALPHA in dataset[VARIABLE].coords
    if not known or not described.is_file():
        raise InputError(
            "sets-unknown",
            f"{path.name} holds no prediction sets of ours",
            expected=f"a variable {VARIABLE} with a coordinate alpha",
            got=", ".join(map(str, dataset)) or "no variable",
            do="plausibly predict PREDICTOR -p NEW --alpha 0.1 -o sets.zarr",
            whose=path.name,
        )
    about = json.loads(described.read_text(encoding="utf-8"))
    pieces = zip(about["shape"], about["chunks"], strict=True)
    whole = math.prod(-(-size // chunk) for size, chunk in pieces)
    there = sum(entry.name[0].isdigit() for entry in (path / VARIABLE).iterdir())
    if there != whole:
        raise InputError(
            "file-damaged",
            f"{path.name} is not a whole Zarr store",
            expected=f"{whole:,} chunks of {VARIABLE}",
            got=f"{there:,}",
            do="copy it again, or predict again",
            whose=path.name,
        )
    array = read_coordinates(dataset[VARIABLE]).astype(np.bool_, copy=False)
    return array if chunks is None else in_chunks(array, chunks)
