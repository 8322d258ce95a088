"""Predictors in files: arrays and one JSON attribute, no pickle, no code.

The layout is netCDF-3, so that reading and writing need scipy alone; hence no 64-bit integers: a
hash is two 32-bit columns, and a mass is a double, exact up to 2^53. Reading needs no xarray, so
that a service can do without it.
"""

from __future__ import annotations

import io
import json
import math
import stat
from collections.abc import Mapping
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import cattrs
import numpy as np

from plausibly import registry
from plausibly.atomic import check_ours, holds, is_store, replacing
from plausibly.calibration.examples import HashedNames
from plausibly.calibration.pools import Pools
from plausibly.calibration.scores import AugmentationMode, CalibrationScores
from plausibly.conformal import FORMAT
from plausibly.conformal.array_predictor import ArrayPredictor, Metadata, Scoring
from plausibly.errors import IncompatibleComponents, InputError
from plausibly.guarantee import Claim, converter
from plausibly.kernels.types import Floats, Ints, Numbers
from plausibly.protocols import COMBINER, SCORE
from plausibly.version import __version__

if TYPE_CHECKING:
    import xarray as xr

P = TypeVar("P", bound=ArrayPredictor)

ATTRIBUTE = "plausibly"
"""Name of the attribute that says everything but the arrays."""

CHECKSUM = "checksum"
"""Name of the attribute with the digest of that one and of all arrays."""

_FLAT = "mass group row denominator weight order uniform reference hash_low hash_high"
ARRAYS = {"score": 2, "held_out_score": 2, **dict.fromkeys(_FLAT.split(), 1)}
"""All arrays that a predictor may have, and the most dims of each: no others are read."""

_MAGIC = b"CDF\x02"
_DIGEST = 16  # bytes
_TEXT = 1 << 25  # bytes, at most
_WIDEST = 1 << 30  # bits of all masses over their common denominator, at most
_GROUPED = 1 << 31  # atoms times groups, at most
_WHOLE = float(1 << 53)
_ZARR_TYPES = ("<i4", "<f4", "<f8")


def checksum(arrays: Mapping[str, Numbers], text: str) -> str:
    """Return 32 hexadecimal digits that change with any array of a file, and with what it says."""
    digest = blake2b(text.encode(), digest_size=_DIGEST)
    for name in sorted(arrays):
        values = arrays[name]
        little = values.astype(values.dtype.newbyteorder("<"))
        digest.update(f"{name} {little.dtype.str} {values.shape} ".encode() + little.tobytes())
    return digest.hexdigest()


@attrs.frozen(kw_only=True)
class _Calibration:
    """Settings by which new examples are compared with the scores."""

    claim: Claim
    groups: tuple[str, ...]
    of_atoms: bool
    separate: bool
    augmentation: AugmentationMode
    test_mass: Fraction


@attrs.frozen(kw_only=True)
class _About:
    """Contents of the JSON text of a file."""

    labels: tuple[str, ...]
    score: dict[str, Any]  # Any: parameters of a component
    combiner: dict[str, Any]  # Any: as above
    calibrator: dict[str, Any] | None  # Any: as above
    metadata: Metadata
    weighted: bool
    calibration: _Calibration
    fingerprint: str

    def __attrs_post_init__(self) -> None:
        """Raise ValueError where counts are none, or names are not distinct."""
        for kept in (self.labels, self.calibration.groups):
            if len(set(kept)) != len(kept):
                raise ValueError("names")
        if self.metadata.calibrated_on < 1 or not self.labels:
            raise ValueError("counts")
        if sorted(self.metadata.order or range(len(self.labels))) != [*range(len(self.labels))]:
            raise ValueError("order")


def _not_ours(path: Path, found: str) -> InputError:
    return InputError(
        "predictor-unreadable",
        f"{path.name} is not a predictor of plausibly",
        expected="a file that predictor.save (plausibly calibrate -o) wrote",
        found=found,
        hint="calibrate again, or name the right file",
        source=str(path),
    )


def _regular(path: Path, most: int | None = None) -> bytes:
    """Return the bytes of a regular file; ValueError for a pipe, or for more bytes than `most`."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode) or (most is not None and about.st_size > most):
        raise ValueError(path.name)
    return path.read_bytes()


def _checked(name: str, values: Numbers) -> Numbers:
    """Return an array in the machine's byte order; ValueError where it is none of ours."""
    # An entry of several dims is never missing: one of a billion rows must not have no column.
    dims = values.ndim
    if not 1 <= dims <= ARRAYS[name] or min(values.shape) < (1 if dims > 1 else 0):
        raise ValueError(name)
    return values.astype(values.dtype.newbyteorder("="))


def _contents(path: Path) -> tuple[dict[str, Numbers], str, str]:
    """Return the arrays of a file, what it says of them, and its checksum."""
    if path.is_dir():
        if not (path / ".zgroup").is_file():
            raise _not_ours(path, "a folder that is no Zarr store")
        arrays = {
            name: _checked(name, _zarr_array(path / name, name))
            for name in ARRAYS
            if (path / name / ".zarray").exists()
        }
        metadata = json.loads(_regular(path / ".zattrs", 2 * _TEXT))
        return arrays, str(metadata[ATTRIBUTE]), str(metadata.get(CHECKSUM))
    data = _regular(path)
    if not data.startswith(_MAGIC):
        raise _not_ours(path, "another kind of file" if data else "an empty file")
    from scipy.io import netcdf_file

    # Nothing is larger than the bytes that hold it.
    with netcdf_file(io.BytesIO(data), mmap=False) as file:
        arrays = {name: _checked(name, variable.data) for name, variable in file.variables.items()}
        text, digest = (str(getattr(file, name), "utf-8") for name in (ATTRIBUTE, CHECKSUM))
    return arrays, text, digest


def _zarr_array(folder: Path, name: str) -> Numbers:
    """Return an array that `_write_zarr` wrote: one chunk of just its bytes."""
    about = json.loads(_regular(folder / ".zarray", 4096))
    shape, dtype = about["shape"], about["dtype"]
    plain = about["compressor"] is None and about["filters"] is None and about["order"] == "C"
    sizes = [size for size in shape if type(size) is int]
    whole = sizes == shape and about["chunks"] == [max(1, size) for size in sizes]
    if not (plain and whole and dtype in _ZARR_TYPES):
        raise ValueError(name)
    count, data = math.prod(sizes), b""
    if count:
        data = _regular(folder / ".".join("0" * len(sizes)), count * np.dtype(dtype).itemsize)
    return np.frombuffer(data, dtype, count).reshape(sizes)


def read(path: Path, kind: type[P]) -> P:
    """Return the predictor in a file; score and combiner come from the registry."""
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
        if len(text) > _TEXT:
            raise ValueError("a long description")
        about = json.loads(text)
        written, writer = about["format"], str(about["version"])[:40]
        if type(written) is not int:
            raise TypeError("format")
        if written < FORMAT:
            raise _not_ours(path, f"format {written}, of an earlier version")
        if written > FORMAT:
            raise InputError(
                "file-newer",
                f"{path.name} has format {written}, this is plausibly {__version__}",
                expected=f"format {FORMAT}",
                found=f"format {written}, written by plausibly {writer}",
                hint="upgrade here: pip install -U plausibly; or calibrate again",
                source=str(path),
            )
        if checksum(arrays, text) != digest:
            raise _not_ours(path, "contents that do not fit their checksum")
        predictor = _restored(kind, arrays, converter().structure(about, _About))
        if predictor.fingerprint != about["fingerprint"]:
            raise _not_ours(path, "contents that do not fit their fingerprint")
        return predictor
    except InputError as reason:
        # A component that is not installed here is no fault of the file.
        if not isinstance(reason, IncompatibleComponents):
            raise
        raise _not_ours(path, "a damaged file") from reason
    # What parsers and constructors raise on a file that ends early, or holds something else.
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        OSError,
        RecursionError,
        cattrs.BaseValidationError,
    ) as reason:
        raise _not_ours(path, "a file that ends early or is damaged") from reason


def _floats(arrays: Mapping[str, Numbers], name: str) -> Floats | None:
    """Return an array of floats without NaN, None where there is none."""
    if name not in arrays:
        return None
    values: Floats = arrays[name]
    if values.dtype.kind != "f" or np.isnan(values).any():
        raise ValueError(name)
    return values


def _whole(arrays: Mapping[str, Numbers], name: str, most: float, least: int = 0) -> Ints:
    """Return an array of whole numbers within bounds."""
    values = arrays[name]
    if not ((values >= least) & (values < most) & (values == np.floor(values))).all():
        raise ValueError(name)
    return values.astype(np.int64)


def _restored(kind: type[P], arrays: Mapping[str, Numbers], about: _About) -> P:
    """Return a predictor of the arrays of a file, whatever they hold; ValueError and the like."""
    calibration = about.calibration
    scores = _floats(arrays, "score")
    if scores is None:
        raise KeyError("score")
    units = row = denominator = group = examples = None
    if about.weighted:
        units = _whole(arrays, "mass", _WHOLE)
        denominator = _whole(arrays, "denominator", _WHOLE, 1)
        row = _whole(arrays, "row", len(denominator))
        common = 1
        for mass in np.unique(denominator).tolist():
            common = math.lcm(common, mass)
            # Masses over one denominator would take too much memory.
            if common.bit_length() * scores.size > _WIDEST:
                raise ValueError("denominator")
    if calibration.claim.by:
        group = _whole(arrays, "group", len(calibration.groups))
        if group.size * len(calibration.groups) > _GROUPED:
            raise ValueError("cells")
    weight = _floats(arrays, "weight")
    if weight is not None and not ((weight >= 0) & (weight < np.inf)).all():
        raise ValueError("weight")
    combiner = registry.resolve(COMBINER, about.combiner)
    order = uniform = None
    if combiner.needs == "losses":
        order, uniform = _whole(arrays, "order", scores.size), _floats(arrays, "uniform")
        if not np.array_equal(np.sort(order), np.arange(len(order))):
            raise ValueError("order")
        if uniform is None or not ((uniform >= 0) & (uniform < 1)).all():
            raise ValueError("uniform")
    if "hash_low" in arrays:
        halves = np.stack([arrays["hash_low"], arrays["hash_high"]], axis=1).astype("<i4")
        hashes = np.ascontiguousarray(halves).view("<u8").reshape(-1)
        examples = HashedNames(hashes.astype(np.uint64))
    return kind(
        labels=about.labels,
        scoring=Scoring(
            component=registry.resolve(SCORE, about.score),
            called=about.metadata.score,
            scale=about.metadata.scale,
            seed=about.metadata.seed,
            order=about.metadata.order,
        ),
        combiner=combiner,
        components={
            "score": about.score,
            "combiner": about.combiner,
            "calibrator": about.calibrator,
        },
        pools=Pools(
            CalibrationScores(
                scores=scores,
                units=units,
                row=row,
                denominator=denominator,
                group=group,
                weight=weight,
                order=order,
                uniform=uniform,
                **attrs.asdict(calibration, recurse=False),
            )
        ),
        held_out_scores=_floats(arrays, "held_out_score"),
        examples=examples,
        metadata=about.metadata,
        reference=_floats(arrays, "reference"),
    )


def to_dataset(predictor: ArrayPredictor, *, names: bool = True) -> xr.Dataset:
    """Return everything a predictor needs as one Dataset without 64-bit integers."""
    import xarray as xr

    calibration = predictor.pools.calibration
    atoms = calibration.scores.shape[1]
    units, row, denominator = calibration.masses()
    group = np.zeros(atoms, dtype=np.int32) if calibration.group is None else calibration.group
    variables: dict[str, tuple[tuple[str, ...], Numbers]] = {
        "score": (("replicate", "atom"), calibration.scores),
        "mass": (("atom",), units.astype(np.float64)),
        "group": (("atom",), group.astype(np.int32)),
        "row": (("atom",), row.astype(np.int32)),
        "denominator": (("calibration_example",), denominator.astype(np.float64)),
    }
    if calibration.weight is not None:
        variables["weight"] = (("calibration_example",), calibration.weight)
    if calibration.order is not None and calibration.uniform is not None:
        variables["order"] = (("calibration_example",), calibration.order.astype(np.int32))
        variables["uniform"] = (("calibration_example",), calibration.uniform)
    if predictor.held_out_scores is not None:
        dims = ("replicate", "held_out_example")[-predictor.held_out_scores.ndim :]
        variables["held_out_score"] = (dims, predictor.held_out_scores)
    if predictor.reference is not None:
        variables["reference"] = (("reference_example",), predictor.reference)
    if names and predictor.hashes is not None:
        halves = np.sort(predictor.hashes).astype("<u8").view("<i4").reshape(-1, 2)
        for place, name in enumerate(("hash_low", "hash_high")):
            variables[name] = (("named_example",), halves[:, place].astype(np.int32))

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
    arrays = {name: values for name, (_, values) in variables.items()}
    return xr.Dataset(variables, attrs={ATTRIBUTE: text, CHECKSUM: checksum(arrays, text)})


def is_predictor(path: Path) -> bool:
    """Return whether a file or store holds a predictor, in this format or a later one."""
    if path.is_dir():
        return is_store(path, lambda metadata: f"'{CHECKSUM}'" in str(metadata.get(".zattrs")))
    return holds(path, CHECKSUM.encode())


def save(predictor: ArrayPredictor, path: Path, *, names: bool) -> None:
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
