"""Results of a study as one Dataset, as a file, and as a table."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import text
from plausibly.atomic import check_ours, holds, replacing
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation.describe import decimal
from plausibly.evaluation.design import BY_GROUP, Design, Outcome, Stated, per
from plausibly.evaluation.intervals import AGGREGATED, SET_SIZE, Doubles, as_dataset, planes
from plausibly.io import arrays
from plausibly.kernels.types import Bools

METHOD = "method"
SPLIT = "split"
DRAWS = "draws"
SIZE = "size"


def assembled(design: Design, found: Sequence[Outcome], alphas: Sequence[float]) -> Study:
    """Return the result of a study: see `plausibly.compare`."""
    asked = {DRAWS: design.draws, SIZE: design.sizes}
    several = {dim: np.array(values) for dim, values in asked.items() if values is not None}
    cells = (METHOD, names.ALPHA, *several)
    dims = (METHOD, SPLIT, names.ALPHA, *several)
    shape = tuple(
        length
        for length, values in zip(design.shape, (0, 0, *asked.values()), strict=True)
        if values is not None
    )

    def over(arrays: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
        return np.stack([one.reshape(shape) for one in arrays], axis=1)

    study = xr.Dataset(
        {name: (dims, over([one.measures[name] for one in found])) for name in design.measured},
        coords={
            METHOD: np.array(list(design.methods)),
            SPLIT: np.arange(len(found)),
            names.ALPHA: list(alphas),
            **several,
        },
    )
    vacuous = np.stack([one.vacuous for one in found], axis=1)
    if BY_GROUP in study:
        study[BY_GROUP].attrs["group"] = design.group
    levels, texts = _guaranteed(found, vacuous)
    study = study.assign_coords(
        guaranteed_level=(cells, levels.reshape(shape)), guaranteed=(cells, texts.reshape(shape))
    )
    study["vacuous"] = (dims, over([one.vacuous for one in found]))
    study["n_test"] = (SPLIT, np.array([one.n_test for one in found]))
    calibrated = np.stack([one.n_calibration for one in found])
    if design.sizes is None:
        study["n_calibration"] = (SPLIT, calibrated[:, 0])
    else:
        study["n_calibration"] = ((SPLIT, SIZE), calibrated)
    if design.draws is not None:
        uses = [design.uses_draws(name) for name in design.methods]
        study = study.assign_coords(uses_draws=(METHOD, uses))
    return Study(study.data_vars, coords=study.coords)


def _guaranteed(found: Sequence[Outcome], vacuous: Bools) -> tuple[Doubles, NDArray[np.str_]]:
    """Return level and text of what is guaranteed of the aggregated coverage, in each cell."""
    least = [min(cell, key=_order) for cell in zip(*(one.stated for one in found), strict=True)]
    often = vacuous.sum(axis=1).ravel().tolist()
    texts = [_text(one, count, len(found)) for one, count in zip(least, often, strict=True)]
    return np.array([one.value for one in least]), np.array(texts)


def _order(stated: Stated) -> float:
    """Return by what the weakest of the guarantees that the splits gave is found."""
    return -1 if stated.level is None else float(stated.level)


def _text(stated: Stated, often: int, splits: int) -> str:
    """Return the level as tables print it, and in how many splits it is kept by saying nothing."""
    if stated.level is None or stated.short == "nothing" or not often:
        return stated.short
    kept = "vacuous" if often == splits else f"vacuous in {often} of {splits}"
    return f"{stated.short}, {kept}"


_INT32 = range(-(2**31), 2**31)
_SEED = "seed"
_DIMS = (METHOD, SPLIT, names.ALPHA)


def is_study(path: Path) -> bool:
    return holds(path, AGGREGATED.encode())


def save_study(study: xr.Dataset, path: str | Path) -> None:
    """Write what `plausibly.compare` gave as netCDF-3, whole or not at all.

    Parameters
    ----------
    study : Dataset
    path : str or Path
        netCDF-3 has no 64-bit integers: counts are stored in 32 bits, a longer seed as text.

    Raises
    ------
    InputError
        ``study-unknown`` where it is no such result; ``output-occupied`` or ``output-unwritable``.
    """
    _check(study, "this Dataset")
    attributes = {
        name: str(value) if isinstance(value, int) and value not in _INT32 else value
        for name, value in study.attrs.items()
    }
    check_ours(path, is_study, "an older result of a study")
    with replacing(path) as part:
        whole = study.assign_attrs(attributes)
        whole.to_netcdf(part, engine="scipy", format="NETCDF3_64BIT")


def load_study(path: str | Path) -> Study:
    """Read what `save_study` wrote, or ``results.nc`` of ``plausibly run``.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Study
        The Dataset as `plausibly.compare` gave it, with the same types.

    Raises
    ------
    InputError
        ``file-missing``, ``file-damaged``, or ``study-unknown`` where the file holds no study.
    """
    path = Path(path)
    stored = arrays.load(path, "study")
    _check(stored, path.name)
    found = stored.copy()
    for name, values in stored.variables.items():
        if values.dtype.kind in "OS":
            texts = np.array(values.values.tolist(), dtype=np.str_).reshape(values.shape)
            found[name] = (values.dims, texts)
        elif values.dtype.kind == "i":
            found[name] = (values.dims, values.values.astype(np.int64))
    # Coordinates stay coordinates, in their order; how the file stored them is its own affair.
    study = Study(
        {name: found[name].variable for name in stored.data_vars},
        coords={name: found[name].variable for name in stored.coords},
        attrs={str(name): _plain(value) for name, value in stored.attrs.items()},
    ).drop_encoding()
    seed = study.attrs.get(_SEED)
    if isinstance(seed, str) and re.fullmatch(r"-?\d+", seed):
        study.attrs[_SEED] = int(seed)
    return study


def _plain(value: object) -> object:
    """Return an attribute as it was before netCDF made a number of numpy of it."""
    return value.item() if isinstance(value, np.generic) else value


def _check(study: xr.Dataset, whose: str) -> None:
    """Raise ``study-unknown`` unless it has the dims and the first measure of a study."""
    if not set(_DIMS) <= set(study.dims) or AGGREGATED not in study:
        raise InputError(
            "study-unknown",
            f"{whose} is no result of a study",
            expected=f"{AGGREGATED} over method, split and alpha",
            got=f"{listed(study.data_vars) or 'no variable'} over {listed(study.dims) or 'no dim'}",
            do="pass what plausibly.compare returns, or results.nc of plausibly run",
            whose=whose,
        )


TOLERATED = 0.01
CROSS = "✗"
_NAME_WIDTH = 28
_LEVEL_WIDTH = 14  # what is left of 80 columns
_LETTERS = {SIZE: "n", DRAWS: "m"}


def falls_short(study: xr.Dataset) -> xr.DataArray:
    """Return whose sets cover less than 1 - alpha of the plausibilities, unguaranteed."""
    return _short(study).rename("falls_short").transpose(METHOD, names.ALPHA, ...)


def _short(study: xr.Dataset) -> xr.DataArray:
    mean = study[AGGREGATED].mean(SPLIT)
    return (mean < 1.0 - study[names.ALPHA] - TOLERATED) & np.isnan(study["guaranteed_level"])


def study_table(study: xr.Dataset) -> str:
    """Return mean and spread over splits of every method as plain text, one table an alpha.

    A study of several sizes or numbers of draws has a row for each of them: ``n`` and ``m``.

    Parameters
    ----------
    study : Dataset
        From `compare`.

    Notes
    -----
    The spread is the standard deviation over splits; it is no standard error.
    """
    several = study.sizes[names.ALPHA] > 1
    blocks = []
    for plane in planes(study):
        head = f"alpha {float(plane[names.ALPHA]):g}\n" if several else ""
        blocks.append(head + _table(cells(plane)))
    return "\n\n".join(blocks)


def cells(study: xr.Dataset) -> list[tuple[str, xr.Dataset]]:
    """Return what a study has at one alpha, cell by cell, each with its name."""
    rows = []
    for place, name in enumerate(map(str, study[METHOD].values)):
        one = study.isel({METHOD: place})
        if DRAWS in one.dims and not one["uses_draws"]:
            one = one.isel({DRAWS: 0})
        dims = [dim for dim in _LETTERS if dim in one.dims]
        for cell in product(*(range(one.sizes[dim]) for dim in dims)):
            here = one.isel(dict(zip(dims, cell, strict=True)))
            numbers = [f"{_LETTERS[dim]} {counted(int(here[dim]))}" for dim in dims]
            rows.append((", ".join([name, *numbers]), here))
    return rows


def guaranteed(one: xr.Dataset) -> str:
    """Return what is guaranteed in a cell, with the mean that it is about where it has its own."""
    said, of, mean = _guaranteed_cells(one)
    return f"{said} {of}: {mean}" if of else said


def _guaranteed_cells(one: xr.Dataset) -> tuple[str, str, str]:
    """Return what is guaranteed in a cell; of which mean, where it has its own; and that mean."""
    said = str(one["guaranteed"].item())
    of = f" {per(str(one[BY_GROUP].attrs['group']))}" if BY_GROUP in one else ""
    if not of or of not in said:
        return said, "", ""
    return said.replace(of, ""), of.strip(), decimal(float(one[BY_GROUP].mean()))


def averages(one: xr.Dataset) -> tuple[str, str, str, str]:
    """Return mean and spread of aggregated coverage in a cell, voted coverage and set size."""
    covered = one[AGGREGATED].values
    spread = float(covered.std(ddof=1)) if covered.size > 1 else math.nan
    voted, size = (float(one[name].mean()) for name in ("voted_coverage", SET_SIZE))
    return decimal(float(covered.mean())), decimal(spread), decimal(voted), f"{size:.2f}"


def _table(rows: list[tuple[str, xr.Dataset]]) -> str:
    """Return the table of one alpha."""
    width = max(_NAME_WIDTH, *(len(name) + 2 for name, _ in rows))
    lines = [
        f"{'':<{width}} aggregated coverage   voted    set   guaranteed",
        f"{'calibrated':<{width}}    mean    spread  coverage   size  (aggregated)",
    ]
    for name, one in rows:
        mean, spread, voted, size = averages(one)
        mark = CROSS if bool(_short(one)) else " "
        said, of, own = _guaranteed_cells(one)
        first, *more = textwrap.wrap(said, _LEVEL_WIDTH, break_long_words=False)
        lines.append(
            f"{name:<{width}}{mean:>8} {mark}{spread:>8}{voted:>10}{size:>7}   "
            f"{'nothing' if of else first}"
        )
        if of:  # a mean of its own has a line of its own
            lines.append(f"{f'  {of}':<{width}}{own:>8}{'':>30}{first}")
        lines += [f"{'':<{width + 38}}{line}" for line in more]
    return "\n".join(lines)


class Study(xr.Dataset):  # type: ignore[no-untyped-call]  # xarray lacks the hint
    """What `plausibly.compare` measured: in a notebook with its table on top."""

    __slots__ = ()

    def __repr__(self) -> str:
        return as_dataset(super().__repr__(), self)

    def _repr_html_(self) -> str:
        variables = text.Html(super()._repr_html_())
        if not _is_study(self):
            return variables
        return text.framed("study", *_compared(self), text.unfolded("variables", variables))


def _is_study(study: xr.Dataset) -> bool:
    measures = (AGGREGATED, "voted_coverage", "set_size", "vacuous", "guaranteed_level")
    dims = {"method", SPLIT, names.ALPHA}
    whole = dims <= set(study.dims) and all(study.sizes[dim] for dim in dims)
    return whole and all(name in study for name in (*measures, "guaranteed"))


def _compared(study: xr.Dataset) -> list[text.Html]:
    rows = [
        (f"{float(plane[names.ALPHA]):g}", name, *averages(one), guaranteed(one))
        for plane in planes(study)
        for name, one in cells(plane)
    ]
    head = (
        "alpha",
        "calibrated",
        "aggregated coverage",
        "spread",
        "voted coverage",
        "set size",
        "guaranteed (aggregated)",
    )
    splits = several(study.sizes[SPLIT], "random split")
    return [text.paragraph(f"means over {splits}"), text.table(rows, head=head)]
