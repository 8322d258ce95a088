"""Sets and p-values of predictions in chunks: attributes at once, numbers when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.arrays import Bools, Floats, FloatType, Ints
from plausibly.conformal import threshold as thresholds
from plausibly.conformal.asking import score_uniforms
from plausibly.conformal.coordinates import group_names, new_values
from plausibly.conformal.facts import Facts
from plausibly.conformal.labelled_sets import (
    NewExamples,
    check_scale,
    label_order,
    read_test,
)
from plausibly.conformal.replicates import LABEL_CELLS
from plausibly.conformal.scoring import scores_of
from plausibly.conformal.vacuity import warn_of_unseen
from plausibly.keys import Keys
from plausibly.labelled import borders, names, text
from plausibly.lazy.chunks import mapped, named_chunks
from plausibly.protocols import ScoreFunction

if TYPE_CHECKING:
    from plausibly.conformal.decisions import Decisions
    from plausibly.conformal.predictor import ConformalPredictor

_WHOSE = "predictions"


@attrs.frozen(kw_only=True, eq=False)
class Reading:
    """How a chunk becomes examples under names.

    Attributes
    ----------
    given : ndarray of str, (label,)
        Labels in the order of the chunk.
    labels : tuple of str
        Labels in the order of the predictor.
    scale : str
    dtype : dtype
        Of the calibration scores.
    """

    given: NDArray[np.str_]
    labels: tuple[str, ...]
    scale: str
    dtype: FloatType

    def read(
        self,
        values: Floats,
        examples: NDArray[np.str_],
        coordinates: Mapping[str, NDArray[np.generic]],
    ) -> NewExamples:
        """Return one chunk, checked; messages call it by its first example and its last."""
        array = xr.DataArray(
            values,
            dims=(names.EXAMPLE, names.LABEL),
            coords={
                names.EXAMPLE: examples,
                names.LABEL: self.given,
                **{name: (names.EXAMPLE, found) for name, found in coordinates.items()},
            },
        )
        whose = f"{_WHOSE}, {examples[0]} to {examples[-1]}"
        return read_test(array, self.labels, self.scale, self.dtype, whose=whose, whole=False)


@attrs.frozen(kw_only=True, eq=False)
class _AtLeast:
    """Sets of one chunk by thresholds alone: nothing else of the calibration travels.

    Attributes
    ----------
    reading : Reading
    score : ScoreFunction
    facts : Facts
    taus : ndarray, (alpha, cell or 1)
        Those of groups, and -inf for groups that calibration lacks, which come last.
    several : bool
    """

    reading: Reading
    score: ScoreFunction
    facts: Facts
    taus: Floats
    several: bool

    def __call__(
        self, values: Floats, examples: NDArray[np.str_], cell: Ints | None = None
    ) -> Bools:
        """Return ([alpha,] example, label)."""
        planes = len(self.taus) if self.several else 1
        kept = np.empty((planes, *values.shape), dtype=np.bool_)
        if values.shape[0]:
            test = self.reading.read(values, examples, {})
            uniform = score_uniforms(self.score, Keys(self.facts.seed), test.examples, test.values)
            scores = scores_of(
                test.values, self.reading.scale, self.score, self.facts.score, uniform
            )
            for plane, taus in zip(kept, self.taus, strict=True):
                least = taus if cell is None else taus[cell][:, None]
                plane[:] = (scores >= least)[:, test.order]
        return kept if self.several else kept[0]


@attrs.frozen(kw_only=True, eq=False)
class _ByPValue:
    """P-values of one chunk, or sets by them.

    Attributes
    ----------
    reading : Reading
    predictor : ConformalPredictor
    coordinates : tuple of str
        Names of the columns.
    alphas : tuple of Fraction, or None
        None: p-values themselves.
    several : bool
    """

    reading: Reading
    predictor: ConformalPredictor
    coordinates: tuple[str, ...]
    alphas: tuple[Fraction, ...] | None
    several: bool = False

    def __call__(
        self, values: Floats, examples: NDArray[np.str_], *columns: NDArray[np.generic]
    ) -> NDArray[Any]:  # Any: flags or numbers
        """Return ([alpha,] example, label)."""
        p: Floats = np.empty(values.shape)
        if values.shape[0]:
            known = dict(zip(self.coordinates, columns, strict=True))
            test = self.reading.read(values, examples, known)
            p = self.predictor.combined_p(test)[:, test.order]
        if self.alphas is None:
            return p
        planes = np.stack([thresholds.exceed(p, alpha) for alpha in self.alphas])
        return planes if self.several else planes[0]


def _read(
    predictor: ConformalPredictor, predictions: xr.DataArray
) -> tuple[NewExamples, Reading, NDArray[np.str_]]:
    """Return the examples without their numbers, how chunks are read, and the names."""
    checked = named_chunks(predictions, _WHOSE, _WHOSE)
    scale = predictor.facts.scale
    check_scale(predictions, scale)
    label_order(checked, predictor.labels)
    reading = Reading(
        given=checked[names.LABEL].values,
        labels=predictor.labels,
        scale=scale,
        dtype=predictor.pools.dtype,
    )
    test = NewExamples(
        # Numbers come chunk by chunk, in the order in which the labels were given.
        values=np.empty((0, len(predictor.labels)), dtype=predictor.pools.dtype),
        checked=checked.assign_attrs({names.SCALE: borders.known_scale(checked, _WHOSE, scale)}),
        order=slice(None),
        dims=tuple(map(str, predictions.dims)),
    )
    return test, reading, checked[names.EXAMPLE].values


def _light(predictor: ConformalPredictor) -> ConformalPredictor:
    """Return what answers, without what only says where it came from."""
    return attrs.evolve(predictor, examples=None, reference=None)


def _columns(
    predictor: ConformalPredictor, checked: xr.DataArray
) -> tuple[tuple[str, ...], list[NDArray[np.generic]]]:
    """Return the coordinates that are read of a new example: its group, its weight."""
    replicates = predictor.pools.replicates
    wanted = [replicates.by] if replicates.by not in ("", LABEL_CELLS) else []
    wanted += [replicates.weight_by] if replicates.weight_by else []
    whose = f"calibrator {predictor.facts.calibrator}"
    return tuple(wanted), [new_values(checked, name, whose=whose) for name in wanted]


def lazy_p_values(predictor: ConformalPredictor, predictions: xr.DataArray) -> xr.DataArray:
    """Return the p-values of predictions in chunks, as `ConformalPredictor.p_values` does.

    Parameters
    ----------
    predictor : ConformalPredictor
    predictions : DataArray, (example, label), in chunks
    """
    test, reading, examples = _read(predictor, predictions)
    known, columns = _columns(predictor, test.checked)
    what = _ByPValue(reading=reading, predictor=_light(predictor), coordinates=known, alphas=None)
    found = mapped(what, test.checked, [examples, *columns], np.float64)
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
    test, reading, examples = _read(predictor, predictions)
    known, columns = _columns(predictor, test.checked)
    cell = None
    replicates = predictor.pools.replicates
    if replicates.by not in ("", LABEL_CELLS):
        found = group_names(columns[0])
        cell = text.positions(list(replicates.cells), found.tolist())
        if (cell < 0).any():
            unseen = cell < 0
            warn_of_unseen(
                examples[unseen].tolist(), sorted(set(found[unseen].tolist())), replicates.by
            )
    what: _AtLeast | _ByPValue
    if decisions.has_threshold:
        taus = np.stack([decisions.taus(alpha) for alpha in alphas])
        if cell is not None:
            # Examples of groups that calibration lacks, -1, get every label.
            taus = np.pad(taus, ((0, 0), (0, 1)), constant_values=-np.inf)
            columns = [cell]
        elif not replicates.by:
            taus, columns = taus[:, :1], []
        what = _AtLeast(
            reading=reading,
            score=predictor.score,
            facts=predictor.facts,
            taus=taus,
            several=several,
        )
    else:
        what = _ByPValue(
            reading=reading,
            predictor=_light(predictor),
            coordinates=known,
            alphas=tuple(alphas),
            several=several,
        )
    planes = mapped(
        what,
        test.checked,
        [examples, *columns],
        np.bool_,
        alphas=len(alphas) if several else None,
    )
    # Dask arrays under the labels of arrays in memory: nothing below reads them.
    kept = [planes[place] for place in range(len(alphas))] if several else [planes]
    return test, cast("list[Bools]", kept)
