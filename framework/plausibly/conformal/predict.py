"""Sets and p-values of predictions in chunks: attributes at once, numbers when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration import threshold as thresholds
from plausibly.calibration.coordinates import group_names, new_values
from plausibly.calibration.replicates import LABEL_CELLS
from plausibly.calibration.vacuity import warn_of_unseen
from plausibly.conformal.chunks import Chunk, chunks_of, mapped, named_chunks
from plausibly.conformal.labelled_sets import (
    NewExamples,
    check_scale,
    label_order,
    read_test,
)
from plausibly.conformal.rows import Named, RowScores
from plausibly.data import names, validate
from plausibly.data.known import names_of
from plausibly.kernels.random import Keys
from plausibly.kernels.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from plausibly.calibration.decisions import Decisions
    from plausibly.conformal.predictor import ConformalPredictor

_WHOSE = "predictions"


@attrs.frozen(kw_only=True, eq=False)
class _Asked:
    """What is known of the examples of one chunk.

    Attributes
    ----------
    named : Named
    cell : ndarray of int, (example,), or None
        Their groups, where thresholds differ between groups.
    coordinates : mapping of str to ndarray, (example,)
        What p-values depend on besides.
    """

    named: Named
    cell: Ints | None = None
    coordinates: Mapping[str, NDArray[np.generic]] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True, eq=False)
class _AtLeast:
    """Sets of one chunk by thresholds alone: nothing else of the calibration travels.

    Attributes
    ----------
    rows : RowScores
    taus : ndarray, (alpha, cell or 1)
        Those of groups, and -inf for groups that calibration lacks, which come last.
    several : bool
    """

    rows: RowScores
    taus: Floats
    several: bool

    def __call__(self, values: Floats, asked: _Asked | None) -> Bools:
        """Return ([alpha,] example, label)."""
        planes = len(self.taus) if self.several else 1
        kept = np.empty((planes, *values.shape), dtype=np.bool_)
        if asked is not None:
            checked = self.rows.checked(values, asked.named)
            for block, scores in self.rows.blocks(checked, asked.named):
                for plane, taus in zip(kept, self.taus, strict=True):
                    least = taus if asked.cell is None else taus[asked.cell[block]][:, None]
                    if isinstance(self.rows.order, slice):
                        np.greater_equal(scores, least, out=plane[block])
                    else:
                        plane[block] = (scores >= least)[:, self.rows.order]
        return kept if self.several else kept[0]


@attrs.frozen(kw_only=True, eq=False)
class _ByPValue:
    """P-values of one chunk, or sets by them.

    Attributes
    ----------
    given : tuple of str
        Labels in the order of the chunk.
    predictor : ConformalPredictor
    alphas : tuple of Fraction, or None
        None: p-values themselves.
    several : bool
    """

    given: tuple[str, ...]
    predictor: ConformalPredictor
    alphas: tuple[Fraction, ...] | None
    several: bool = False

    def __call__(
        self, values: Floats, asked: _Asked | None
    ) -> NDArray[Any]:  # Any: flags or numbers
        """Return ([alpha,] example, label)."""
        p: Floats = np.empty(values.shape)
        if asked is not None:
            test = self._read(values, asked)
            p = self.predictor.combined_p(test)[:, test.order]
        if self.alphas is None:
            return p
        planes = np.stack([thresholds.exceed(p, alpha) for alpha in self.alphas])
        return planes if self.several else planes[0]

    def _read(self, values: Floats, asked: _Asked) -> NewExamples:
        array = xr.DataArray(
            values,
            dims=(names.EXAMPLE, names.LABEL),
            coords={
                names.EXAMPLE: names.text_array(asked.named.texts),
                names.LABEL: names.text_array(self.given),
                **{name: (names.EXAMPLE, column) for name, column in asked.coordinates.items()},
            },
        )
        predictor, whose = self.predictor, asked.named.whose
        scale, dtype = predictor.facts.scale, predictor.pools.dtype
        return read_test(array, predictor.labels, scale, dtype, whose=whose, whole=False)


def _read(predictor: ConformalPredictor, predictions: xr.DataArray) -> NewExamples:
    """Return the examples without their numbers."""
    checked = named_chunks(predictions, _WHOSE, _WHOSE)
    scale = predictor.facts.scale
    check_scale(predictions, scale)
    return NewExamples(
        # Numbers come chunk by chunk, in the order in which the labels were given.
        values=np.empty((0, len(predictor.labels)), dtype=predictor.pools.dtype),
        checked=checked.assign_attrs({names.SCALE: validate.known_scale(checked, _WHOSE, scale)}),
        order=slice(None),
        dims=tuple(map(str, predictions.dims)),
    )


def _asks(
    checked: xr.DataArray,
    coordinates: Mapping[str, NDArray[np.generic]],
    cell: Ints | None = None,
) -> list[tuple[Chunk, _Asked]]:
    """Return what is asked of each chunk."""
    examples = names_of(checked, names.EXAMPLE)
    return [
        (
            chunk,
            _Asked(
                named=Named.of(examples, chunk, _WHOSE),
                cell=None if cell is None else cell[chunk.start : chunk.stop],
                coordinates={
                    name: column[chunk.start : chunk.stop] for name, column in coordinates.items()
                },
            ),
        )
        for chunk in chunks_of(checked)
    ]


def _rows(predictor: ConformalPredictor, checked: xr.DataArray) -> RowScores:
    """Return how rows of new examples become scores."""
    return RowScores(
        given=names_of(checked, names.LABEL).row,
        order=label_order(checked, predictor.labels),
        dtype=predictor.pools.dtype,
        scale=predictor.facts.scale,
        score=predictor.score,
        called=predictor.facts.score,
        keys=Keys(predictor.facts.seed),
    )


def _light(predictor: ConformalPredictor) -> ConformalPredictor:
    """Return what answers, without what only says where it came from."""
    return attrs.evolve(predictor, examples=None, reference=None)


def _columns(
    predictor: ConformalPredictor, checked: xr.DataArray
) -> dict[str, NDArray[np.generic]]:
    """Return the coordinates that are read of a new example: its group, its weight."""
    replicates = predictor.pools.replicates
    wanted = [replicates.by] if replicates.by not in ("", LABEL_CELLS) else []
    wanted += [replicates.weight_by] if replicates.weight_by else []
    whose = f"calibrator {predictor.facts.calibrator}"
    return {name: new_values(checked, name, whose=whose) for name in wanted}


def _cells(
    predictor: ConformalPredictor,
    checked: xr.DataArray,
    columns: Mapping[str, NDArray[np.generic]],
) -> Ints | None:
    """Return the group of each example, -1 with a warning where calibration lacks it."""
    replicates = predictor.pools.replicates
    if replicates.by in ("", LABEL_CELLS):
        return None
    found = group_names(columns[replicates.by])
    cell = names.positions(list(replicates.cells), found.tolist())
    if (cell < 0).any():
        unseen = np.flatnonzero(cell < 0)
        texts = names_of(checked, names.EXAMPLE).texts
        warn_of_unseen(
            [texts[place] for place in unseen.tolist()],
            sorted(set(found[unseen].tolist())),
            replicates.by,
            stacklevel=5,
        )
    return cell


def lazy_p_values(predictor: ConformalPredictor, predictions: xr.DataArray) -> xr.DataArray:
    """Return the p-values of predictions in chunks, as `ConformalPredictor.p_values` does.

    Parameters
    ----------
    predictor : ConformalPredictor
    predictions : DataArray, (example, label), in chunks
    """
    test = _read(predictor, predictions)
    rows = _rows(predictor, test.checked)
    columns = _columns(predictor, test.checked)
    _cells(predictor, test.checked, columns)
    asks = _asks(test.checked, columns)
    what = _ByPValue(given=rows.given, predictor=_light(predictor), alphas=None)
    found = mapped(what, test.checked, asks, np.float64)
    return test.like_input(cast("Floats", found), "p_values")


def lazy_sets(
    predictor: ConformalPredictor,
    decisions: Decisions,
    predictions: xr.DataArray,
    alphas: Sequence[Fraction],
    *,
    several: bool,
) -> tuple[NewExamples, list[Bools]]:
    """Return examples in chunks, and their sets (example, label) at each alpha, not computed yet.

    Parameters
    ----------
    predictor : ConformalPredictor
    decisions : Decisions
        Its own.
    predictions : DataArray, (example, label), in chunks
    alphas : sequence of Fraction
    several : bool
        Whether the sets have the dim ``alpha``.

    Warns
    -----
    PlausiblyWarning
        ``groups-unseen``: groups are known without the numbers.
    """
    test = _read(predictor, predictions)
    rows = _rows(predictor, test.checked)
    columns = _columns(predictor, test.checked)
    cell = _cells(predictor, test.checked, columns)
    what: _AtLeast | _ByPValue
    if decisions.has_threshold:
        taus = np.stack([decisions.taus(alpha) for alpha in alphas])
        if cell is not None:
            # Examples of groups that calibration lacks, -1, get every label.
            taus = np.pad(taus, ((0, 0), (0, 1)), constant_values=-np.inf)
        elif not predictor.pools.replicates.by:
            taus = taus[:, :1]
        what, columns = _AtLeast(rows=rows, taus=taus, several=several), {}
    else:
        what = _ByPValue(
            given=rows.given,
            predictor=_light(predictor),
            alphas=tuple(alphas),
            several=several,
        )
        cell = None
    planes = mapped(
        what,
        test.checked,
        _asks(test.checked, columns, cell),
        np.bool_,
        alphas=len(alphas) if several else None,
    )
    # Dask arrays under the labels of arrays in memory: nothing below reads them.
    kept = [planes[place] for place in range(len(alphas))] if several else [planes]
    return test, cast("list[Bools]", kept)
