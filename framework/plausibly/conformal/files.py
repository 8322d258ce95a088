"""Predictors in files: arrays and one JSON attribute, no pickle, no code.

The layout is netCDF-3, so that reading and writing need scipy alone; hence no 64-bit integers: a
hash is two 32-bit columns, and a mass is a double, exact up to 2^53. Reading needs no xarray, so
that a service can do without it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np

from plausibly import registry
from plausibly.atomic import check_ours, holds, is_store, recover, replacing
from plausibly.calibration.examples import HashedNames
from plausibly.calibration.pvalues import Pools
from plausibly.calibration.scores import CalibrationScores
from plausibly.conformal import FORMAT
from plausibly.conformal.array_predictor import ArrayPredictor, Metadata, Scoring
from plausibly.errors import InputError, MissingExtra
from plausibly.extras import require
from plausibly.guarantee import Claim, converter, read_ratio
from plausibly.kernels.types import Numbers
from plausibly.protocols import COMBINER, SCORE
from plausibly.version import __version__

P = TypeVar("P", bound=ArrayPredictor)

ATTRIBUTE = "plausibly"
"""Name of the attribute that says everything but the arrays."""

CHECKSUM = "checksum"
"""Name of the attribute with the digest of that one and of all arrays."""


def checksum(arrays: Mapping[str, Numbers], text: str) -> str:
    """Return 32 hexadecimal digits that change with any array of a file, and with what it says."""
    digest = blake2b(text.encode(), digest_size=16)
    for name in sorted(arrays):
        values = arrays[name]
        little = values.astype(values.dtype.newbyteorder("<"))
        digest.update(f"{name} {little.dtype.str} {values.shape} ".encode() + little.tobytes())
    return digest.hexdigest()


def _contents(path: Path) -> tuple[dict[str, Numbers], str, str]:
    """Return the arrays of a file, what it says of them, and its checksum."""
    if path.is_dir():
        group = require("zarr", extra="zarr", source=str(path)).open_group(path, mode="r")
        stored = dict(group.arrays())
        # One of our arrays is on the disk as it is in memory.
        if any(array.nbytes > array.nbytes_stored() for array in stored.values()):
            raise ValueError("arrays that are larger than what is stored of them")
        arrays = {name: array[...] for name, array in stored.items()}
        return arrays, str(group.attrs[ATTRIBUTE]), str(group.attrs[CHECKSUM])
    if not path.is_file():
        raise ValueError("neither a file nor a folder")
    from scipy.io import netcdf_file

    # Of bytes in memory nothing larger than them can be read.
    with netcdf_file(io.BytesIO(path.read_bytes()), mmap=False) as file:
        arrays = {
            name: variable.data.astype(variable.data.dtype.newbyteorder("="))
            for name, variable in file.variables.items()
        }
        text, digest = (str(getattr(file, name), "utf-8") for name in (ATTRIBUTE, CHECKSUM))
    return arrays, text, digest


def _unreadable(path: Path, found: str) -> InputError:
    return InputError(
        "predictor-unreadable",
        f"{path.name} is not a predictor of plausibly",
        expected="a file that predictor.save (plausibly calibrate -o) wrote",
        found=found,
        hint="calibrate again, or name the right file",
        source=str(path),
    )


def read(path: Path, kind: type[P]) -> P:
    """Return the predictor in a file; score and combiner come from the registry."""
    if not path.exists():
        recover(path.parent)
    if not path.exists():
        raise InputError(
            "file-missing",
            f"predictor {path} does not exist",
            expected="a file",
            found="none",
            hint="plausibly calibrate ... -o PREDICTOR.nc",
            source=str(path),
        )
    try:
        arrays, text, digest = _contents(path)
        about = json.loads(text)
        written, writer = int(about["format"]), str(about["version"])
    except MissingExtra:
        raise
    except Exception as reason:  # parsers raise anything on damaged files
        raise _unreadable(path, "another kind of file, or a damaged one") from reason
    if written > FORMAT:
        raise InputError(
            "file-newer",
            f"{path.name} has format {written}, this is plausibly {__version__}",
            expected=f"format {FORMAT}",
            found=f"format {written}, written by plausibly {writer}",
            hint="upgrade here: pip install -U plausibly; or calibrate again",
            source=str(path),
        )
    if written < FORMAT:
        raise _unreadable(path, f"format {written}, of an earlier version")
    if checksum(arrays, text) != digest:
        raise _unreadable(path, "contents that do not fit their checksum")
    try:
        predictor = kind(**_fields(arrays, about))
        sound = predictor.fingerprint == about["fingerprint"]
    except InputError:  # of a component that is not installed, or takes other parameters, here
        raise
    except Exception as reason:  # constructors raise anything on values that no predictor has
        raise _unreadable(path, "contents that no predictor has") from reason
    if not sound:
        raise _unreadable(path, "contents that do not fit their fingerprint")
    return predictor


# Any: what JSON holds, and fields of a predictor
def _fields(arrays: Mapping[str, Numbers], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a predictor of which a sound file holds these arrays."""
    calibration = about["calibration"]
    claim = converter().structure(calibration["claim"], Claim)
    metadata = converter().structure(about["metadata"], Metadata)
    combiner = registry.resolve(COMBINER, about["combiner"])
    whole = {
        name: arrays[name].astype(np.int64)
        for name in ("mass", "row", "denominator", "group", "order")
        if name in arrays
    }
    if not about["weighted"]:
        del whole["mass"], whole["row"], whole["denominator"]
    examples = None
    if "hash_low" in arrays:
        halves = np.stack([arrays["hash_low"], arrays["hash_high"]], axis=1).astype("<i4")
        examples = HashedNames(halves.view("<u8").reshape(-1).astype(np.uint64))
    scores = CalibrationScores(
        scores=arrays["score"],
        claim=claim,
        units=whole.get("mass"),
        row=whole.get("row"),
        denominator=whole.get("denominator"),
        group=whole["group"] if claim.by else None,
        groups=tuple(calibration["groups"]),
        of_atoms=calibration["of_atoms"],
        separate=calibration["separate"],
        augmentation=calibration["augmentation"],
        test_mass=read_ratio(calibration["test_mass"]),
        weight=arrays.get("weight"),
        order=whole.get("order"),
        uniform=arrays.get("uniform"),
    )
    return {
        "labels": tuple(about["labels"]),
        "scoring": Scoring(
            component=registry.resolve(SCORE, about["score"]),
            called=metadata.score,
            scale=metadata.scale,
            seed=metadata.seed,
            order=metadata.order,
        ),
        "combiner": combiner,
        "components": {kind: about[kind] for kind in ("score", "combiner", "calibrator")},
        "pools": Pools(scores),
        "held_out_scores": arrays.get("held_out_score"),
        "examples": examples,
        "metadata": metadata,
        "reference": arrays.get("reference"),
    }


def is_predictor(path: Path) -> bool:
    """Return whether a file or store holds a predictor, in this format or a later one."""
    if path.is_dir():
        return is_store(path, lambda metadata: f"'{CHECKSUM}'" in str(metadata.get(".zattrs")))
    return holds(path, CHECKSUM.encode())


def save(predictor: ArrayPredictor, path: Path, *, names: bool) -> None:
    """Write a predictor to netCDF-3, or to Zarr where the path ends in ``.zarr``."""
    import xarray as xr

    calibration = predictor.pools.calibration
    units, row, denominator = calibration.masses()
    group = calibration.group
    variables: dict[str, tuple[tuple[str, ...], Numbers | None]] = {
        "score": (("replicate", "atom"), calibration.scores),
        "mass": (("atom",), units.astype(np.float64)),
        "group": (("atom",), np.zeros(len(row)) if group is None else group),
        "row": (("atom",), row),
        "denominator": (("calibration_example",), denominator.astype(np.float64)),
        "weight": (("calibration_example",), calibration.weight),
        "order": (("calibration_example",), calibration.order),
        "uniform": (("calibration_example",), calibration.uniform),
        "reference": (("reference_example",), predictor.reference),
    }
    if predictor.held_out_scores is not None:
        dims = ("replicate", "held_out_example")[-predictor.held_out_scores.ndim :]
        variables["held_out_score"] = (dims, predictor.held_out_scores)
    if names and predictor.hashes is not None:
        halves = np.sort(predictor.hashes).astype("<u8").view("<i4").reshape(-1, 2)
        for place, name in enumerate(("hash_low", "hash_high")):
            variables[name] = (("named_example",), halves[:, place])
    dataset = xr.Dataset({name: held for name, held in variables.items() if held[1] is not None})
    for name in {"group", "row", "order"} & set(dataset):
        dataset[name] = dataset[name].astype(np.int32)
    text = json.dumps(
        {
            "format": FORMAT,
            "version": __version__,
            "labels": list(predictor.labels),
            "score": dict(registry.default().describe(SCORE, predictor.score)),
            "combiner": dict(registry.default().describe(COMBINER, predictor.combiner)),
            "calibrator": predictor.components["calibrator"],
            "metadata": attrs.asdict(predictor.metadata),
            "weighted": calibration.units is not None,
            "calibration": calibration.plain(),
            "fingerprint": predictor.fingerprint,
        }
    )
    arrays = {str(name): variable.values for name, variable in dataset.items()}
    dataset.attrs = {ATTRIBUTE: text, CHECKSUM: checksum(arrays, text)}
    check_ours(path, is_predictor, "an older predictor")
    in_store = path.suffix == ".zarr"
    if in_store:
        require("zarr", extra="zarr", source=str(path))
    with replacing(path) as part:
        if in_store:
            plain = {name: {"compressors": None} for name in arrays}
            dataset.to_zarr(part, zarr_format=2, encoding=plain, write_empty_chunks=True)
        else:
            dataset.to_netcdf(part, engine="scipy", format="NETCDF3_64BIT")
