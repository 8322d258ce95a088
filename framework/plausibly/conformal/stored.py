"""Predictors read from files, and what their contents are told by.

Nothing here needs xarray, so that a service can do without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

import attrs
import cattrs
import numpy as np
from numpy.typing import NDArray

from plausibly import registry
from plausibly.arrays import Hashes, Numbers
from plausibly.conformal import FORMAT
from plausibly.conformal.array_predictor import ArrayPredictor
from plausibly.conformal.components import described
from plausibly.conformal.evidence import Evidence
from plausibly.conformal.examples import Examples
from plausibly.conformal.facts import Facts
from plausibly.conformal.pools import Pool, Pools
from plausibly.conformal.replicates import READS, Replicates
from plausibly.errors import InputError
from plausibly.extras import require
from plausibly.guarantee import converter
from plausibly.protocols import COMBINER, SCORE

if TYPE_CHECKING:
    from plausibly.conformal.predictor import ConformalPredictor

ATTRIBUTE = "plausibly"
"""Name of the attribute that says everything but the arrays."""

_MAGIC = b"CDF"


def _canonical(pool: Pool, *, counting: bool) -> bytes:
    """Return the bytes of a pool with ties merged, which no row order can change.

    Of atoms that are counted their number says all; else totals do not follow from the masses.
    """
    # Cut to the atoms, of which a label that was never voted has none.
    differs = np.append(pool.ordered[1:] != pool.ordered[:-1], True)[: len(pool.ordered)]
    last = np.flatnonzero(differs)
    masses = pool.cumulative[last + 1]
    wide = masses.dtype == object
    text = ",".join(map(str, masses)).encode() if wide else masses.astype("<i8").tobytes()
    if not counting:
        text += f"{pool.own}/{pool.base}/{pool.total}/{pool.bits}".encode()
    return pool.ordered[last].tobytes() + text


def fingerprint(
    predictor: ArrayPredictor,
    *,
    written: int = FORMAT,
    about: Mapping[str, object] | None = None,
) -> str:
    """Return eight hexadecimal digits that change with anything a prediction depends on.

    Parameters
    ----------
    predictor : ArrayPredictor
    written : int
        As files of this format have it; those of format 1 leave totals out.
    about : mapping, optional
        With the tables of score and combiner as a file has them: components may have got
        parameters since.
    """
    digest = blake2b(digest_size=4)
    said = {} if about is None else about
    score = said.get("score") or described(SCORE, predictor.score)
    combiner = said.get("combiner") or described(COMBINER, predictor.combiner)
    score = score or {"name": repr(predictor.score)}
    combiner = combiner or {"name": repr(predictor.combiner)}
    facts = [predictor.labels, predictor.facts.scale, predictor.facts.seed, score, combiner]
    digest.update(json.dumps(facts, sort_keys=True, default=str).encode())
    replicates = predictor.pools.replicates
    if not replicates.alone:
        digest.update(json.dumps(said_of(replicates), sort_keys=True).encode())
    for cell in predictor.pools.cells:
        for pool in cell.each if replicates.separate else (cell.pooled,):
            digest.update(_canonical(pool, counting=replicates.counting or written == 1))
    held_out = predictor.held_out_scores
    if held_out is not None:
        # Scores of one example stay together, where there are several.
        ordered = np.lexsort(np.atleast_2d(held_out)[::-1])
        digest.update(held_out[..., ordered].tobytes())
    return digest.hexdigest()


_SAID = ("by", "cells", "of_atoms", "weight_by", "reads")


def said_of(replicates: Replicates) -> dict[str, object]:
    """Return what decides, beside the atoms, how new examples are compared with them."""
    said = {name: getattr(replicates, name) for name in _SAID}
    return {**said, "cells": list(replicates.cells), "own": str(replicates.own)}


def _joined(low: NDArray[np.int32], high: NDArray[np.int32]) -> Hashes:
    pairs = np.stack([low, high], axis=1).astype("<i4")
    return np.ascontiguousarray(pairs).view("<u8").reshape(-1).astype(np.uint64)


def _not_ours(path: Path, got: str) -> InputError:
    return InputError(
        "predictor-unreadable",
        f"{path.name} is not a predictor of plausibly",
        expected="a file that predictor.save (plausibly calibrate -o) wrote",
        got=got,
        do="calibrate again, or name the right file",
        whose=str(path),
    )


@attrs.frozen(eq=False)
class _Stored:
    """Arrays by name, and what is said of them."""

    arrays: Mapping[str, Numbers]
    text: object

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def native(self, name: str) -> Numbers:
        """Return an array in the machine's byte order; netCDF-3 is big-endian."""
        values = self.arrays[name]
        return values.astype(values.dtype.newbyteorder("="))


def _read(path: Path) -> _Stored:
    if not path.exists():
        raise InputError(
            "file-missing",
            f"predictor {path} does not exist",
            expected="a file",
            got="none",
            do="plausibly calibrate ... -o PREDICTOR.nc",
            whose=str(path),
        )
    if path.is_dir():
        zarr = require("zarr", extra="zarr", whose=str(path))
        try:
            group = zarr.open_group(path, mode="r")
            found = {name: np.asarray(array[...]) for name, array in group.arrays()}
            return _Stored(found, group.attrs.get(ATTRIBUTE))
        except (OSError, KeyError, ValueError) as reason:
            raise _not_ours(path, "a folder that is no Zarr store") from reason
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
    if head != _MAGIC:
        raise _not_ours(path, "an empty file" if not head else "another kind of file")
    # Reading arrays alone needs no library of labelled ones.
    from scipy.io import netcdf_file

    try:
        with netcdf_file(path, "r", mmap=False) as read:
            found = {name: np.array(held.data) for name, held in read.variables.items()}
            text = getattr(read, ATTRIBUTE, None)
            return _Stored(found, text.decode("utf-8") if isinstance(text, bytes) else text)
    # What scipy's parser raises on a file that ends early.
    except (ValueError, TypeError, KeyError, IndexError, EOFError, OSError) as reason:
        raise _not_ours(path, "a file that ends early or is damaged") from reason


@overload
def load_predictor(
    path: str | Path, *, array_only: Literal[False] = False
) -> ConformalPredictor: ...
@overload
def load_predictor(path: str | Path, *, array_only: Literal[True]) -> ArrayPredictor: ...
def load_predictor(path: str | Path, *, array_only: bool = False) -> ArrayPredictor:
    """Read a predictor that `ConformalPredictor.save` wrote.

    Parameters
    ----------
    path : str or Path
    array_only : bool
        Whether rows of numbers are all that it will be asked about: it has `predict_array`,
        `p_values_array`, `threshold_array` and `guarantee`, and xarray is not imported.

    Returns
    -------
    ConformalPredictor, or ArrayPredictor with `array_only`
        Equal in every prediction to the saved one. Score and combiner come from the registry.

    Raises
    ------
    InputError
        ``predictor-unreadable`` or ``predictor-newer``.
    """
    place = Path(path)
    stored = _read(place)
    text = stored.text
    if not isinstance(text, str):
        raise _not_ours(place, "a netCDF file of something else")
    try:
        about = json.loads(text)
        written = int(about["format"])
        version = str(about["version"])
    except (ValueError, KeyError, TypeError) as reason:
        raise _not_ours(place, "a damaged description") from reason
    from plausibly import __version__

    if written > FORMAT:
        raise InputError(
            "predictor-newer",
            f"{place.name} has format {written}, this is plausibly {__version__}",
            expected=f"format {FORMAT}",
            got=f"format {written}, written by plausibly {version}",
            do="upgrade here: pip install -U plausibly; or calibrate again",
            whose=str(place),
        )
    try:
        made: type[ArrayPredictor] = ArrayPredictor
        if not array_only:
            from plausibly.conformal.predictor import ConformalPredictor as made
        predictor = _restored(made, stored, about)
    except (KeyError, TypeError, IndexError, cattrs.BaseValidationError) as reason:
        raise _not_ours(place, "a damaged file") from reason
    if fingerprint(predictor, written=written, about=about) != about["fingerprint"]:
        raise _not_ours(place, "contents that do not fit their fingerprint")
    return predictor


def _restored(
    kind: type[ArrayPredictor], stored: _Stored, about: Mapping[str, object]
) -> ArrayPredictor:
    evidence = converter().structure(about["evidence"], Evidence)
    weighted = bool(about["weighted"])
    # Files of format 1 have atoms of one cell, compared with one score.
    said = _table(about, "replicates") if "replicates" in about else {}
    by = str(said.get("by", ""))
    cells = said.get("cells", [])
    replicates = Replicates(
        scores=stored.native("score"),
        of_what=evidence.of_what,
        target=evidence.target,
        assumptions=evidence.assumptions,
        truth="voted" if about["truth"] == "voted" else "drawn",
        units=stored.native("mass").astype(np.int64) if weighted else None,
        row=stored.native("row").astype(np.int64) if weighted else None,
        denominator=stored.native("denominator").astype(np.int64) if weighted else None,
        separate=evidence.separate,
        event=evidence.event,
        share=evidence.share,
        own=Fraction(str(said.get("own", 1))),
        by=by,
        cell=stored.native("cell").astype(np.int64) if by else None,
        cells=tuple(map(str, cells)) if isinstance(cells, list) else (),
        of_atoms=bool(said.get("of_atoms", False)),
        weight=stored.native("weight") if "weight" in stored else None,
        weight_by=str(said.get("weight_by", "")),
        reads=READS[str(said.get("reads", "plain"))],
        counted=evidence.counted,
        each=evidence.each,
        cluster=evidence.cluster,
        why=evidence.why,
        reference=evidence.reference,
        notes=evidence.notes,
    )
    examples = None
    if "hash_low" in stored:
        examples = Examples(_joined(stored.native("hash_low"), stored.native("hash_high")))
    held_out = stored.native("held_out_score") if "held_out_score" in stored else None
    labels = about["labels"]
    calibrator = about["calibrator"]
    return kind(
        labels=tuple(str(label) for label in labels) if isinstance(labels, list) else (),
        score=registry.resolve(SCORE, _table(about, "score")),
        combiner=registry.resolve(COMBINER, _table(about, "combiner")),
        calibrator=calibrator if isinstance(calibrator, dict) else None,
        pools=Pools(replicates),
        held_out_scores=held_out,
        examples=examples,
        evidence=evidence,
        facts=cattrs.structure(about["facts"], Facts),
        reference=stored.native("reference") if "reference" in stored else None,
    )


def _table(about: Mapping[str, object], name: str) -> dict[str, object]:
    table = about[name]
    if not isinstance(table, dict):
        raise TypeError(name)
    return table
