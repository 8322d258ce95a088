"""The skin case of the paper, from a folder with its public files (section 4.1).

The folder holds ``dermatology_selectors.json`` (partial rankings by case), the names of the
conditions in ``dermatology_conditions.txt``, one a line, and model probabilities in
``dermatology_predictions0.txt``, a row a case and a column a condition, as ``numpy.savetxt`` writes
them. Further prediction files are other models of the same cases; the first that is there is read.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.conformal.aggregate import aggregate
from plausibly.data import names
from plausibly.errors import InputError, counted, listed
from plausibly.io import read_annotations
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats
from plausibly.paper.data import Data

ANNOTATIONS = "dermatology_selectors.json"
CONDITIONS = "dermatology_conditions.txt"
PREDICTIONS = tuple(f"dermatology_predictions{number}.txt" for number in range(4))
NAME = "derm"

_ROUNDED = 0.02
"""How far a row of four-digit probabilities may be from summing to one."""

# A made-up model that puts the voted condition among its first three in about 72 % of the cases.
_SHARP, _NOISE, _COMMON = 1.0, 2.0, 0.2


def read(folder: Path, *, simulate: bool = False, seed: int = 1) -> Data:
    """Return plausibilities by inverse rank, and predictions, of the skin case.

    Parameters
    ----------
    folder : Path
    simulate : bool
        Whether to make predictions up from the plausibilities, whatever the folder holds.
    seed : int
        Of what is made up.

    Returns
    -------
    Data
        Marked as simulated where predictions are.

    Raises
    ------
    InputError
        ``derm-file-missing``, ``derm-shape``, ``derm-numbers``, and what the reader says of the
        annotations.
    """
    for name in (ANNOTATIONS, CONDITIONS):
        _there(folder, name)
    table = read_annotations(folder / ANNOTATIONS, "selectors", folder / CONDITIONS)
    lam = aggregate(table, "inverse-rank")
    cases, conditions = lam.sizes[names.EXAMPLE], lam.sizes[names.LABEL]
    about = f"skin: {counted(cases)} cases, {conditions} conditions, inverse-rank plausibilities"
    if simulate:
        values, source = _simulated(lam, seed), "SIMULATED predictions"
    else:
        path = _first(folder)
        values, source = _numbers(path, (cases, conditions)), path.name
    return Data(
        name=NAME,
        about=f"{about}, {source}",
        predictions=lam.copy(data=values)
        .rename("predictions")
        .drop_vars(_extras(lam))
        .assign_attrs({names.SCALE: "probability"}),
        plausibilities=lam,
        simulated=simulate,
    )


def _extras(lam: xr.DataArray) -> list[str]:
    return [str(name) for name in lam.coords if name not in lam.dims]


def _there(folder: Path, name: str) -> None:
    if not (folder / name).is_file():
        raise InputError(
            "derm-file-missing",
            f"{folder} has no {name}",
            expected=f"{ANNOTATIONS}, {CONDITIONS} and {PREDICTIONS[0]}, which are public",
            got=listed(sorted(path.name for path in folder.glob("*")))
            or "no such folder, or empty",
            do="--derm with the folder that holds them",
            whose=str(folder),
        )


def _first(folder: Path) -> Path:
    """Return the first file of predictions that is there."""
    for name in PREDICTIONS:
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        "derm-file-missing",
        f"{folder} has no {PREDICTIONS[0]}",
        expected="model probabilities, a row a case and a column a condition",
        got=listed(sorted(path.name for path in folder.glob("*"))),
        do="fetch it from where the annotations are, or --simulate to make predictions up",
        whose=str(folder),
    )


def _numbers(path: Path, shape: tuple[int, int]) -> Floats:
    """Return the probabilities of a file, rows divided by their sums, which text has rounded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty file: its shape is said below
            values: NDArray[np.float64] = np.loadtxt(path, dtype=np.float64, ndmin=2)
    except ValueError as reason:
        raise InputError(
            "derm-numbers",
            f"{path.name} is no table of numbers",
            expected=f"{counted(shape[0])} rows of {shape[1]} probabilities, blanks between them",
            got=f'"{" ".join(str(reason).split())[:60]}"',
            do="copy it again",
            whose=path.name,
        ) from reason
    if values.shape != shape:
        raise InputError(
            "derm-shape",
            f"{path.name} has another shape than the annotations",
            expected=f"{counted(shape[0])} rows (cases) of {shape[1]} numbers (conditions)",
            got=f"{counted(values.shape[0])} rows of {values.shape[1]}",
            do="annotations, conditions and predictions of one release",
            whose=path.name,
        )
    sums = values.sum(axis=1)
    wrong = ~((values >= 0).all(axis=1) & (np.abs(sums - 1) <= _ROUNDED))
    if wrong.any():
        rows = [str(row + 1) for row in np.flatnonzero(wrong)]
        raise InputError(
            "derm-numbers",
            f"{path.name} row {rows[0]} holds no probabilities",
            expected="numbers from 0 on that sum to 1 but for rounding",
            got=f"rows {listed(rows)}",
            do="copy it again",
            whose=path.name,
            details={"rows": rows},
        )
    return np.asarray(values / sums[:, None])


def _simulated(lam: xr.DataArray, seed: int) -> Floats:
    """Return made-up probabilities: blurred plausibilities with noise of each case's own.

    log pi = sharp log(lambda + common f) + noise z up to a constant, f the mean plausibility of a
    condition and z standard normal (Box & Muller 1958).
    """
    values: NDArray[np.float64] = lam.values
    hashes = hash_names(lam[names.EXAMPLE].values)
    uniform = Keys(seed, "reproduce/derm").uniform(hashes, 2 * values.shape[1])
    radius, angle = uniform[:, ::2], uniform[:, 1::2]
    normal = np.sqrt(-2 * np.log1p(-radius)) * np.cos(2 * np.pi * angle)
    common = (values.mean(axis=0) + 1 / values.size) / (1 + 1 / len(values))
    logits = _SHARP * np.log(values + _COMMON * common) + _NOISE * normal
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
