"""Predictors read from files, and their checksum and fingerprint.

Nothing here needs xarray, so that a service can do without it.
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
from typing import TYPE_CHECKING, Any, Literal, overload

import attrs
import cattrs
import numpy as np

from plausibly import registry
from plausibly.atomic import recover
from plausibly.calibration.examples import Examples
from plausibly.calibration.pools import Pool, Pools
from plausibly.calibration.scores import AugmentationMode, CalibrationScores
from plausibly.calibration.threshold import Metadata
from plausibly.conformal import FORMAT
from plausibly.conformal.array_predictor import ArrayPredictor
from plausibly.errors import IncompatibleComponents, InputError
from plausibly.extras import version
from plausibly.guarantee import Claim, converter
from plausibly.kernels.types import Floats, Hashes, Ints, Numbers
from plausibly.protocols import COMBINER, SCORE
from plausibly.registry.components import described

if TYPE_CHECKING:
    from plausibly.conformal.predictor import ConformalPredictor

ATTRIBUTE = "plausibly"
"""Name of the attribute that says everything but the arrays."""

CHECKSUM = "checksum"
"""Name of the attribute with the digest of that one and of all arrays."""

_FLAT = "mass group row denominator weight reference hash_low hash_high"
ARRAYS = {"score": 2, "held_out_score": 2, **dict.fromkeys(_FLAT.split(), 1)}
"""All arrays that a predictor may have, and the most dims of each: no others are read."""

_MAGIC = b"CDF\x02"
_DIGEST = 16  # bytes
_TEXT = 1 << 25  # bytes of what is said, at most
_WIDEST = 1 << 30  # bits of all masses over their common denominator, at most
_GROUPED = 1 << 31  # atoms times groups, at most
_WHOLE = float(1 << 53)
_ZARR_TYPES = ("<i4", "<f4", "<f8")


def _canonical(pool: Pool, *, counting: bool) -> bytes:
    """Return the bytes of a pool with ties merged, which no row order can change."""
    # Cut to the atoms, of which a label that was never voted has none.
    differs = np.append(pool.ordered[1:] != pool.ordered[:-1], True)[: len(pool.ordered)]
    last = np.flatnonzero(differs)
    masses = pool.cumulative[last + 1]
    wide = masses.dtype == object
    text = ",".join(map(str, masses)).encode() if wide else masses.astype("<i8").tobytes()
    if not counting:
        text += f"{pool.test_mass}/{pool.base}/{pool.total}/{pool.bits}".encode()
    return pool.ordered[last].tobytes() + text


def fingerprint(predictor: ArrayPredictor, *, about: Mapping[str, object] | None = None) -> str:
    """Return 32 hexadecimal digits that change with all that is predicted, promised or shown."""
    digest = blake2b(digest_size=_DIGEST)
    said = {} if about is None else about
    score = said.get("score") or described(SCORE, predictor.score)
    combiner = said.get("combiner") or described(COMBINER, predictor.combiner)
    metadata = {
        "labels": predictor.labels,
        # Whichever aggregator made equal plausibilities: the predictor is the same.
        "metadata": attrs.asdict(attrs.evolve(predictor.metadata, aggregator="")),
        "score": score or {"name": repr(predictor.score)},
        "combiner": combiner or {"name": repr(predictor.combiner)},
        "calibrator": predictor.calibrator,
        "calibration": said_of(predictor.pools.calibration),
    }
    digest.update(json.dumps(metadata, sort_keys=True, default=str).encode())
    calibration = predictor.pools.calibration
    for group in predictor.pools.groups:
        for pool in group.each if calibration.separate else (group.pooled,):
            digest.update(_canonical(pool, counting=calibration.counting))
    held_out = predictor.held_out_scores
    if held_out is not None:
        # Scores of one example stay together, where there are several.
        ordered = np.lexsort(np.atleast_2d(held_out)[::-1])
        digest.update(held_out[..., ordered].tobytes())
    if predictor.reference is not None:
        digest.update(np.sort(predictor.reference).tobytes())
    return digest.hexdigest()


def checksum(arrays: Mapping[str, Numbers], text: str) -> str:
    """Return 32 hexadecimal digits that change with any array of a file, and with what it says."""
    digest = blake2b(text.encode(), digest_size=_DIGEST)
    for name in sorted(arrays):
        values = arrays[name]
        little = values.astype(values.dtype.newbyteorder("<"))
        digest.update(f"{name} {little.dtype.str} {values.shape} ".encode() + little.tobytes())
    return digest.hexdigest()


@attrs.frozen(kw_only=True)
class _Said:
    """What decides, beside the atoms, how new examples are compared with them."""

    claim: Claim
    groups: tuple[str, ...]
    of_atoms: bool
    separate: bool
    augmentation: AugmentationMode
    test_mass: Fraction


def said_of(calibration: CalibrationScores) -> dict[str, object]:
    """Return what is said of calibration scores, as plain data."""
    found = _Said(**{one.name: getattr(calibration, one.name) for one in attrs.fields(_Said)})
    said: dict[str, object] = converter().unstructure(found)
    return said


@attrs.frozen(kw_only=True)
class _About:
    """What the JSON text of a file says."""

    labels: tuple[str, ...]
    score: dict[str, Any]  # Any: parameters of a component
    combiner: dict[str, Any]  # Any: as above
    calibrator: dict[str, Any] | None  # Any: as above
    metadata: Metadata
    weighted: bool
    calibration: _Said
    fingerprint: str

    def __attrs_post_init__(self) -> None:
        """Raise ValueError where counts are none, or names are not distinct."""
        for kept in (self.labels, self.calibration.groups):
            if len(set(kept)) != len(kept):
                raise ValueError("names")
        if self.metadata.calibrated_on < 1 or not self.labels:
            raise ValueError("counts")


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
    text: str
    checksum: str

    def scores(self, name: str) -> Floats | None:
        """Return an array of floats without NaN, None where there is none."""
        if name not in self.arrays:
            return None
        values: Floats = self.arrays[name]
        if values.dtype.kind != "f" or np.isnan(values).any():
            raise ValueError(name)
        return values

    def whole(self, name: str, most: float, least: int = 0) -> Ints:
        """Return an array of whole numbers within bounds."""
        values = self.arrays[name]
        if not ((values >= least) & (values < most) & (values == np.floor(values))).all():
            raise ValueError(name)
        return values.astype(np.int64)

    def hashes(self) -> Hashes | None:
        """Return the hashes of the names of examples, None where there are none."""
        if "hash_low" not in self.arrays:
            return None
        pairs = np.stack([self.arrays["hash_low"], self.arrays["hash_high"]], axis=1).astype("<i4")
        return np.ascontiguousarray(pairs).view("<u8").reshape(-1).astype(np.uint64)


def _read(path: Path) -> _Stored:
    recover(path.parent, path.name)
    if not path.exists():
        raise InputError(
            "file-missing",
            f"predictor {path} does not exist",
            expected="a file",
            got="none",
            do="plausibly calibrate ... -o PREDICTOR.nc",
            whose=str(path),
        )
    try:
        if path.is_dir():
            if not (path / ".zgroup").is_file():
                raise _not_ours(path, "a folder that is no Zarr store")
            return _read_zarr(path)
        data = _regular(path)
        if not data.startswith(_MAGIC):
            raise _not_ours(path, "another kind of file" if data else "an empty file")
        return _read_classic(data)
    except InputError:
        raise
    # What parsers raise on a file that ends early.
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        OSError,
        RecursionError,
    ) as reason:
        raise _not_ours(path, "a file that ends early or is damaged") from reason


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


def _read_zarr(path: Path) -> _Stored:
    """Return what `plausibly.conformal.files` wrote: each array is one chunk, as it is."""
    arrays: dict[str, Numbers] = {}
    for name in ARRAYS:
        if not (path / name / ".zarray").exists():
            continue
        about = json.loads(_regular(path / name / ".zarray", 4096))
        shape, dtype = about["shape"], about["dtype"]
        plain = about["compressor"] is None and about["filters"] is None and about["order"] == "C"
        sizes = [size for size in shape if type(size) is int]
        whole = sizes == shape and about["chunks"] == [max(1, size) for size in sizes]
        if not (plain and whole and dtype in _ZARR_TYPES):
            raise ValueError(name)
        count, data = math.prod(sizes), b""
        if count:
            chunk = path / name / ".".join("0" * len(sizes))
            data = _regular(chunk, count * np.dtype(dtype).itemsize)
        arrays[name] = _checked(name, np.frombuffer(data, dtype, count).reshape(sizes))
    said = json.loads(_regular(path / ".zattrs", 2 * _TEXT))
    return _Stored(arrays, str(said[ATTRIBUTE]), str(said.get(CHECKSUM)))


def _read_classic(data: bytes) -> _Stored:
    """Return the arrays in a netCDF-3 file; nothing is larger than the bytes that hold it."""
    from scipy.io import netcdf_file

    with netcdf_file(io.BytesIO(data), mmap=False) as file:
        arrays = {name: _checked(name, one.data) for name, one in file.variables.items()}
        text, digest = (getattr(file, name) for name in (ATTRIBUTE, CHECKSUM))
    return _Stored(arrays, str(text, "utf-8"), str(digest, "utf-8"))


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
    try:
        if len(stored.text) > _TEXT:
            raise ValueError("a long description")
        about = json.loads(stored.text)
        written, writer = about["format"], str(about["version"])[:40]
        if type(written) is not int:
            raise TypeError("format")
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise _not_ours(place, "a damaged description") from reason

    if written < FORMAT:
        raise _not_ours(place, f"format {written}, of an earlier version")
    if written > FORMAT:
        raise InputError(
            "predictor-newer",
            f"{place.name} has format {written}, this is plausibly {version()}",
            expected=f"format {FORMAT}",
            got=f"format {written}, written by plausibly {writer}",
            do="upgrade here: pip install -U plausibly; or calibrate again",
            whose=str(place),
        )
    if checksum(stored.arrays, stored.text) != stored.checksum:
        raise _not_ours(place, "contents that do not fit their checksum")
    try:
        made: type[ArrayPredictor] = ArrayPredictor
        if not array_only:
            from plausibly.conformal.predictor import ConformalPredictor as made
        predictor = _restored(made, stored, converter().structure(about, _About))
        same = fingerprint(predictor, about=about) == about["fingerprint"]
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        IncompatibleComponents,
        cattrs.BaseValidationError,
    ) as reason:
        # A component that is not installed here is no fault of the file.
        if isinstance(reason, InputError) and not isinstance(reason, IncompatibleComponents):
            raise
        raise _not_ours(place, "a damaged file") from reason
    if not same:
        raise _not_ours(place, "contents that do not fit their fingerprint")
    return predictor


def _restored(kind: type[ArrayPredictor], stored: _Stored, about: _About) -> ArrayPredictor:
    said = about.calibration
    scores = stored.scores("score")
    if scores is None:
        raise KeyError("score")
    units = row = denominator = group = None
    if about.weighted:
        units = stored.whole("mass", _WHOLE)
        denominator = stored.whole("denominator", _WHOLE, 1)
        row = stored.whole("row", len(denominator))
        _check_common(denominator, scores.size)
    if said.claim.by:
        group = stored.whole("group", len(said.groups))
        if group.size * len(said.groups) > _GROUPED:
            raise ValueError("cells")
    weight = stored.scores("weight")
    if weight is not None and not ((weight >= 0) & (weight < np.inf)).all():
        raise ValueError("weight")
    hashes = stored.hashes()
    return kind(
        labels=about.labels,
        score=registry.resolve(SCORE, about.score),
        combiner=registry.resolve(COMBINER, about.combiner),
        calibrator=about.calibrator,
        pools=Pools(
            CalibrationScores(
                scores=scores,
                units=units,
                row=row,
                denominator=denominator,
                group=group,
                weight=weight,
                **attrs.asdict(said, recurse=False),
            )
        ),
        held_out_scores=stored.scores("held_out_score"),
        examples=None if hashes is None else Examples(hashes),
        metadata=about.metadata,
        reference=stored.scores("reference"),
    )


def _check_common(denominator: Ints, atoms: int) -> None:
    """Raise ValueError where masses over one denominator would take too much memory."""
    common = 1
    for one in np.unique(denominator).tolist():
        common = math.lcm(common, one)
        if common.bit_length() * atoms > _WIDEST:
            raise ValueError("denominator")
