"""Predictors written to files: arrays and one JSON attribute, no pickle, no code.

The layout is netCDF-3, so that reading and writing need scipy alone; hence no 64-bit integers: a
hash is two 32-bit columns, and a mass is a double, exact up to 2^53.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.atomic import check_ours, holds, is_store, replacing
from plausibly.conformal import FORMAT
from plausibly.conformal.stored import ATTRIBUTE, CHECKSUM, checksum, said_of
from plausibly.extras import version
from plausibly.kernels.types import Hashes, Numbers
from plausibly.protocols import COMBINER, SCORE

if TYPE_CHECKING:
    from plausibly.conformal.predictor import ConformalPredictor


def _split(hashes: Hashes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    pairs = np.sort(hashes).astype("<u8").view("<i4").reshape(-1, 2)
    return pairs[:, 0].astype(np.int32), pairs[:, 1].astype(np.int32)


def to_dataset(predictor: ConformalPredictor, *, names: bool = True) -> xr.Dataset:
    """Return everything a predictor needs as one Dataset without 64-bit integers."""
    calibration = predictor.pools.calibration
    atoms = calibration.scores.shape[1]
    units, denominator = calibration.masses()
    group = np.zeros(atoms, dtype=np.int32) if calibration.group is None else calibration.group
    variables: dict[str, tuple[tuple[str, ...], Numbers]] = {
        "score": (("replicate", "atom"), calibration.scores),
        "mass": (("atom",), units.astype(np.float64)),
        "group": (("atom",), group.astype(np.int32)),
        "row": (("atom",), calibration.rows().astype(np.int32)),
        "denominator": (("calibration_example",), denominator.astype(np.float64)),
    }
    if calibration.weight is not None:
        variables["weight"] = (("calibration_example",), calibration.weight)
    if predictor.held_out_scores is not None:
        dims = ("replicate", "held_out_example")[-predictor.held_out_scores.ndim :]
        variables["held_out_score"] = (dims, predictor.held_out_scores)
    if predictor.reference is not None:
        variables["reference"] = (("reference_example",), predictor.reference)
    if names and predictor.hashes is not None:
        low, high = _split(predictor.hashes)
        variables["hash_low"] = (("named_example",), low)
        variables["hash_high"] = (("named_example",), high)

    text = json.dumps(
        {
            "format": FORMAT,
            "version": version(),
            "labels": list(predictor.labels),
            "score": dict(registry.describe(SCORE, predictor.score)),
            "combiner": dict(registry.describe(COMBINER, predictor.combiner)),
            "calibrator": None if predictor.calibrator is None else dict(predictor.calibrator),
            "metadata": attrs.asdict(predictor.metadata),
            "weighted": calibration.units is not None,
            "calibration": said_of(calibration),
            "fingerprint": predictor.fingerprint,
        }
    )
    arrays = {name: values for name, (_, values) in variables.items()}
    return xr.Dataset(variables, attrs={ATTRIBUTE: text, CHECKSUM: checksum(arrays, text)})


def is_predictor(path: Path) -> bool:
    """Return whether a file or store holds a predictor, in this format or a later one."""
    if path.is_dir():
        return is_store(path, lambda metadata: f"'{CHECKSUM}'" in str(metadata.get(".zattrs")))
    return holds(path, CHECKSUM.encode())


def save(predictor: ConformalPredictor, path: Path, *, names: bool) -> None:
    """Write a predictor to netCDF-3, or to Zarr where the path ends in ``.zarr``."""
    dataset = to_dataset(predictor, names=names)
    check_ours(path, is_predictor, "an older predictor")
    with replacing(path) as part:
        if path.suffix == ".zarr":
            _write_zarr(dataset, part)
        else:
            dataset.to_netcdf(part, engine="scipy", format="NETCDF3_64BIT")


def _write_zarr(dataset: xr.Dataset, folder: Path) -> None:
    """Write a Zarr store in which each array is one chunk of just its bytes."""
    metadata: dict[str, object] = {".zgroup": {"zarr_format": 2}, ".zattrs": dataset.attrs}
    for name, variable in dataset.variables.items():
        values = variable.values.astype(variable.dtype.newbyteorder("<"))
        metadata[f"{name}/.zarray"] = {
            "zarr_format": 2,
            "shape": values.shape,
            "chunks": [max(1, size) for size in values.shape],
            "dtype": values.dtype.str,
            "compressor": None,
            "filters": None,
            "fill_value": None,
            "order": "C",
        }
        metadata[f"{name}/.zattrs"] = {"_ARRAY_DIMENSIONS": variable.dims}
        (folder / str(name)).mkdir(parents=True)
        if values.size:
            (folder / str(name) / ".".join("0" * values.ndim)).write_bytes(values.tobytes())
    whole = {"metadata": metadata, "zarr_consolidated_format": 1}
    for key, content in {**metadata, ".zmetadata": whole}.items():
        (folder / key).write_text(json.dumps(content), encoding="utf-8")
