"""Predictors as files: evidence arrays and one JSON attribute, no pickle, no code.

The layout is netCDF-3, so that reading and writing need scipy alone; hence no 64-bit integers: a
hash is two 32-bit columns, and a mass is a double, exact up to 2^53.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import cattrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.arrays import Hashes, Numbers
from plausibly.atomic import replacing
from plausibly.conformal import FORMAT as FORMAT
from plausibly.conformal.components import described
from plausibly.conformal.evidence import Evidence
from plausibly.conformal.examples import Examples
from plausibly.conformal.pools import Pool, Pools
from plausibly.conformal.replicates import READS, Replicates
from plausibly.errors import InputError
from plausibly.extras import require
from plausibly.guarantee import converter
from plausibly.protocols import COMBINER, SCORE

if TYPE_CHECKING:
    from plausibly.conformal.predictor import ConformalPredictor

_ATTRIBUTE = "plausibly"
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
    predictor: ConformalPredictor,
    *,
    written: int = FORMAT,
    about: Mapping[str, object] | None = None,
) -> str:
    """Return eight hexadecimal digits that change with anything a prediction depends on.

    Parameters
    ----------
    predictor : ConformalPredictor
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


def _split(hashes: Hashes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    pairs = np.sort(hashes).astype("<u8").view("<i4").reshape(-1, 2)
    return pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int32)


def _joined(low: NDArray[np.int32], high: NDArray[np.int32]) -> Hashes:
    pairs = np.stack([low, high], axis=1).astype("<i4")
    return np.ascontiguousarray(pairs).view("<u8").reshape(-1).astype(np.uint64)


def to_dataset(predictor: ConformalPredictor, *, names: bool = True) -> xr.Dataset:
    """Return everything a predictor needs as one Dataset without 64-bit integers.

    Parameters
    ----------
    predictor : ConformalPredictor
    names : bool
        Whether to keep hashes of the calibration examples' names.
    """
    replicates = predictor.pools.replicates
    atoms = replicates.scores.shape[1]
    units, denominator = replicates.masses()
    cell = np.zeros(atoms, dtype=np.int32) if replicates.cell is None else replicates.cell
    variables: dict[str, tuple[tuple[str, ...], Numbers]] = {
        "score": (("replicate", "atom"), replicates.scores),
        "mass": (("atom",), units.astype(np.float64)),
        "cell": (("atom",), cell.astype(np.int32)),
        "row": (("atom",), replicates.rows().astype(np.int32)),
        "denominator": (("calibration_example",), denominator.astype(np.float64)),
    }
    if replicates.weight is not None:
        variables["weight"] = (("calibration_example",), replicates.weight)
    if predictor.held_out_scores is not None:
        dims = ("replicate", "held_out_example")[-predictor.held_out_scores.ndim :]
        variables["held_out_score"] = (dims, predictor.held_out_scores)
    if predictor.reference is not None:
        variables["reference"] = (("reference_example",), predictor.reference)
    if names and predictor.hashes is not None:
        low, high = _split(predictor.hashes)
        variables["hash_low"] = (("named_example",), low)
        variables["hash_high"] = (("named_example",), high)
    from plausibly import __version__

    about = {
        "format": FORMAT,
        "version": __version__,
        "labels": list(predictor.labels),
        "score": dict(registry.describe(SCORE, predictor.score)),
        "combiner": dict(registry.describe(COMBINER, predictor.combiner)),
        "calibrator": None if predictor.calibrator is None else dict(predictor.calibrator),
        "facts": attrs.asdict(predictor.facts),
        "evidence": converter().unstructure(predictor.evidence),
        "truth": replicates.truth,
        "weighted": replicates.units is not None,
        "replicates": said_of(replicates),
        "fingerprint": predictor.fingerprint,
    }
    return xr.Dataset(variables, attrs={_ATTRIBUTE: json.dumps(about)})


def save(predictor: ConformalPredictor, path: Path, *, names: bool) -> None:
    """Write a predictor to netCDF-3, or to Zarr where the path ends in ``.zarr``."""
    dataset = to_dataset(predictor, names=names)
    if path.suffix == ".zarr":
        require("zarr", extra="zarr", whose=str(path))
    with replacing(path) as part:
        if path.suffix == ".zarr":
            dataset.to_zarr(part, zarr_format=2, consolidated=True)
        else:
            dataset.to_netcdf(part, engine="scipy", format="NETCDF3_64BIT")


def _not_ours(path: Path, got: str) -> InputError:
    return InputError(
        "predictor-unreadable",
        f"{path.name} is not a predictor of plausibly",
        expected="a file that predictor.save (plausibly calibrate -o) wrote",
        got=got,
        do="calibrate again, or name the right file",
        whose=str(path),
    )


def _read(path: Path) -> xr.Dataset:
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
        require("zarr", extra="zarr", whose=str(path))
        try:
            return xr.load_dataset(path, engine="zarr")
        except (OSError, KeyError, ValueError) as reason:
            raise _not_ours(path, "a folder that is no Zarr store") from reason
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
    if head != _MAGIC:
        raise _not_ours(path, "an empty file" if not head else "another kind of file")
    try:
        return xr.load_dataset(path, engine="scipy")
    # What scipy's parser raises on a file that ends early.
    except (ValueError, TypeError, KeyError, IndexError, EOFError, OSError) as reason:
        raise _not_ours(path, "a file that ends early or is damaged") from reason


def load_predictor(path: str | Path) -> ConformalPredictor:
    """Read a predictor that `ConformalPredictor.save` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    ConformalPredictor
        Equal in every prediction to the saved one. Score and combiner come from the registry.

    Raises
    ------
    InputError
        ``predictor-unreadable`` or ``predictor-newer``.
    """
    place = Path(path)
    dataset = _read(place)
    text = dataset.attrs.get(_ATTRIBUTE)
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
        predictor = _restored(dataset, about)
    except (KeyError, TypeError, IndexError, cattrs.BaseValidationError) as reason:
        raise _not_ours(place, "a damaged file") from reason
    if fingerprint(predictor, written=written, about=about) != about["fingerprint"]:
        raise _not_ours(place, "contents that do not fit their fingerprint")
    return predictor


def _native(dataset: xr.Dataset, name: str) -> Numbers:
    """Return an array in the machine's byte order; netCDF-3 is big-endian."""
    values = dataset[name].values
    return values.astype(values.dtype.newbyteorder("="))


def _restored(dataset: xr.Dataset, about: Mapping[str, object]) -> ConformalPredictor:
    from plausibly.conformal.predictor import ConformalPredictor, Facts

    evidence = converter().structure(about["evidence"], Evidence)
    weighted = bool(about["weighted"])
    # Files of format 1 have atoms of one cell, compared with one score.
    said = _table(about, "replicates") if "replicates" in about else {}
    by = str(said.get("by", ""))
    cells = said.get("cells", [])
    replicates = Replicates(
        scores=_native(dataset, "score"),
        of_what=evidence.of_what,
        target=evidence.target,
        assumptions=evidence.assumptions,
        truth="voted" if about["truth"] == "voted" else "drawn",
        units=_native(dataset, "mass").astype(np.int64) if weighted else None,
        row=_native(dataset, "row").astype(np.int64) if weighted else None,
        denominator=_native(dataset, "denominator").astype(np.int64) if weighted else None,
        separate=evidence.separate,
        event=evidence.event,
        share=evidence.share,
        own=Fraction(str(said.get("own", 1))),
        by=by,
        cell=_native(dataset, "cell").astype(np.int64) if by else None,
        cells=tuple(map(str, cells)) if isinstance(cells, list) else (),
        of_atoms=bool(said.get("of_atoms", False)),
        weight=_native(dataset, "weight") if "weight" in dataset else None,
        weight_by=str(said.get("weight_by", "")),
        reads=READS[str(said.get("reads", "plain"))],
        counted=evidence.counted,
        each=evidence.each,
        why=evidence.why,
        reference=evidence.reference,
        notes=evidence.notes,
    )
    examples = None
    if "hash_low" in dataset:
        examples = Examples(_joined(_native(dataset, "hash_low"), _native(dataset, "hash_high")))
    held_out = _native(dataset, "held_out_score") if "held_out_score" in dataset else None
    labels = about["labels"]
    calibrator = about["calibrator"]
    return ConformalPredictor(
        labels=tuple(str(label) for label in labels) if isinstance(labels, list) else (),
        score=registry.resolve(SCORE, _table(about, "score")),
        combiner=registry.resolve(COMBINER, _table(about, "combiner")),
        calibrator=calibrator if isinstance(calibrator, dict) else None,
        pools=Pools(replicates),
        held_out_scores=held_out,
        examples=examples,
        evidence=evidence,
        facts=cattrs.structure(about["facts"], Facts),
        reference=_native(dataset, "reference") if "reference" in dataset else None,
    )


def _table(about: Mapping[str, object], name: str) -> dict[str, object]:
    table = about[name]
    if not isinstance(table, dict):
        raise TypeError(name)
    return table
