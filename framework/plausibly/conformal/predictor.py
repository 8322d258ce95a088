"""The calibrated predictor: prediction sets and p-values at any alpha after one calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import text
from plausibly.calibration import threshold as thresholds
from plausibly.calibration.alphas import Alphas, is_several, read_alphas
from plausibly.calibration.claim import warn_of_unseen
from plausibly.calibration.coordinates import group_names, new_values
from plausibly.calibration.examples import Examples
from plausibly.calibration.pvalues import Queries, combined
from plausibly.calibration.scores import LABEL_CELLS
from plausibly.calibration.threshold import REMEMBERED, Facts as Facts
from plausibly.conformal.array_predictor import ArrayPredictor, Scoring
from plausibly.conformal.chunks import Chunk, chunks_of, mapped, named_chunks
from plausibly.conformal.inputs import (
    OVERLAP,
    NewExamples,
    check_scale,
    label_order,
    largest_scores,
    queries_of,
    read_test,
    sets_array,
    sets_attrs,
    threshold_array,
    warn_of_unseen_groups,
    warn_of_weights,
)
from plausibly.data import names, validate
from plausibly.data.named import float_type, is_lazy
from plausibly.data.names import names_of, text_array
from plausibly.data.validate import predictions_sound
from plausibly.errors import counted, listed
from plausibly.extras import require
from plausibly.kernels.blocks import row_blocks
from plausibly.kernels.random import Names
from plausibly.kernels.types import Bools, Floats, FloatType, Ints

if TYPE_CHECKING:
    import dask.array

    from plausibly.calibration.threshold import Decisions


def values_later(
    what: Callable[[Sequence[NDArray[np.float64]]], dict[str, NDArray[Any]]],  # Any: any numbers
    columns: dask.array.Array,
    like: xr.Dataset,
) -> dict[str, tuple[tuple[str, ...], dask.array.Array]]:
    """Return variables that are computed from all columns when the first is asked for."""
    dask = require("dask", extra="dask", whose="an array in chunks")
    da = require("dask.array", extra="dask", whose="an array in chunks")
    untyped: Any = columns  # Any: Dask says nothing of what this method returns
    # As they are: optimised apart from the columns themselves they would be computed twice.
    blocks = untyped.to_delayed(optimize_graph=False).ravel().tolist()
    whole = dask.delayed(what, pure=False)(blocks)
    return {
        str(name): (
            tuple(map(str, one.dims)),
            da.from_delayed(whole[name], shape=one.shape, dtype=one.dtype),
        )
        for name, one in like.data_vars.items()
    }


@attrs.frozen(eq=False)
class Named:
    """Names of the examples of one chunk."""

    texts: Sequence[str]
    whose: str

    @classmethod
    def of(cls, examples: Names, chunk: Chunk, whose: str) -> Named:
        """Return the names of one chunk."""
        texts = examples.texts[chunk.start : chunk.stop]
        part = len(texts) < len(examples)
        return cls(texts, f"{whose}, {texts[0]} to {texts[-1]}" if part else whose)


@attrs.frozen(kw_only=True, eq=False)
class RowScores:
    """How rows become scores: small enough to go to every process."""

    given: tuple[str, ...]
    order: NDArray[np.intp] | slice
    dtype: FloatType
    scoring: Scoring

    def checked(self, values: NDArray[Any], named: Named) -> Floats:  # Any: real numbers
        """Return the predictions of one chunk, (example, label), contiguous."""
        floats: Floats = np.ascontiguousarray(values, float_type(values.dtype))
        # Names were checked when all were together: they are read where something is wrong.
        if not predictions_sound(floats, self.scoring.scale):
            coords = {names.EXAMPLE: text_array(named.texts), names.LABEL: text_array(self.given)}
            array = xr.DataArray(floats, coords, (names.EXAMPLE, names.LABEL))
            validate.check_predictions(
                array, whose=named.whose, scale=self.scoring.scale, whole=False
            )
        return floats

    def blocks(self, checked: Floats, named: Named) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of rows with their scores (example, label), in the order of scoring."""
        moves = not isinstance(self.order, slice) or checked.dtype != self.dtype
        for rows in row_blocks(checked.shape):
            some = checked[rows]
            if moves:
                given, some = some, np.empty(some.shape, self.dtype)
                some[:, self.order] = given
            if not self.scoring.as_given:
                some = self.scoring.scores(some, Examples(named.texts[rows]))
            yield rows, some


_WHOSE = "predictions"


@attrs.frozen(kw_only=True, eq=False)
class _Asked:
    """What is known of the examples of one chunk."""

    named: Named
    cell: Ints | None = None
    coordinates: Mapping[str, NDArray[np.generic]] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True, eq=False)
class _AtLeast:
    """Sets of one chunk by thresholds alone: nothing else of the calibration travels."""

    rows: RowScores
    taus: Floats
    several: bool

    def __call__(self, values: Floats, asked: _Asked) -> Bools:
        """Return ([alpha,] example, label)."""
        planes = len(self.taus) if self.several else 1
        kept = np.empty((planes, *values.shape), dtype=np.bool_)
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
    """P-values of one chunk, or sets by them."""

    given: tuple[str, ...]
    predictor: ConformalPredictor
    alphas: tuple[Fraction, ...] | None
    several: bool = False

    def __call__(self, values: Floats, asked: _Asked) -> NDArray[Any]:  # Any: flags or numbers
        """Return ([alpha,] example, label)."""
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


def _read_chunks(predictor: ConformalPredictor, predictions: xr.DataArray) -> NewExamples:
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
        scoring=predictor.scoring,
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
    """Return the p-values of predictions in chunks, as `ConformalPredictor.p_values` does."""
    test = _read_chunks(predictor, predictions)
    rows = _rows(predictor, test.checked)
    columns = _columns(predictor, test.checked)
    _cells(predictor, test.checked, columns)
    asks = _asks(test.checked, columns)
    what = _ByPValue(given=rows.given, predictor=_light(predictor), alphas=None)
    found = mapped(what, [test.checked], asks, np.float64, (len(predictor.labels),))
    return test.like_input(cast("Floats", found), "p_values")


def lazy_sets(
    predictor: ConformalPredictor,
    decisions: Decisions,
    predictions: xr.DataArray,
    alphas: Sequence[Fraction],
    *,
    several: bool,
) -> tuple[NewExamples, list[Bools]]:
    """Return examples in chunks, and their sets at each alpha, not computed yet."""
    test = _read_chunks(predictor, predictions)
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
    shape = (len(alphas), len(predictor.labels)) if several else (len(predictor.labels),)
    asks = _asks(test.checked, columns, cell)
    planes = mapped(what, [test.checked], asks, np.bool_, shape, axis=int(several))
    # Dask arrays under the labels of arrays in memory: nothing below reads them.
    kept = [planes[place] for place in range(len(alphas))] if several else [planes]
    return test, cast("list[Bools]", kept)


ALPHAS = ("0.1", "0.05")
_MOST_LABELS = 30


def predictor_html(predictor: ArrayPredictor, threshold: Callable[[Fraction], str]) -> str:
    """Return what a predictor is, what it guarantees, and its labels, as HTML."""
    facts, evidence = predictor.facts, predictor.evidence
    held = f" and {counted(evidence.n_held_out)} held out" if evidence.n_held_out else ""
    rows = [
        ("calibrator", facts.calibrator),
        ("combiner", facts.combiner),
        ("score", facts.score),
        ("aggregator", facts.aggregator),
        ("calibrated on", f"{counted(evidence.n)} examples{held}, seed {facts.seed}"),
        ("labels", f"{len(predictor.labels)}: {listed(predictor.labels, most=_MOST_LABELS)}"),
        ("fingerprint", predictor.fingerprint),
    ]
    promises = [predictor.guarantee(alpha) for alpha in ALPHAS]
    levels = [
        (alpha, threshold(Fraction(alpha)), promise.statement())
        for alpha, promise in zip(ALPHAS, promises, strict=True)
    ]
    return text.framed(
        type(predictor).__name__,
        text.table(rows, titled=True),
        text.table(levels, head=("alpha", "threshold", "guaranteed"), titled=True),
        text.unfolded(
            f"the guarantee at alpha {ALPHAS[0]} in full",
            text.table(promises[0].rows(), titled=True),
        ),
    )


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConformalPredictor(ArrayPredictor):
    """Prediction sets with a stated guarantee, from `plausibly.calibrate`.

    What it holds, and what it answers to plain arrays, is in `ArrayPredictor`.
    """

    @cached_property
    def _about(self) -> Callable[[tuple[Fraction, ...]], dict[str, object]]:
        return lru_cache(REMEMBERED)(self._said_of)

    def _said_of(self, alphas: tuple[Fraction, ...]) -> dict[str, object]:
        """Return what sets at these alphas say about themselves."""
        promises = [self._promise(alpha) for alpha in alphas]
        return sets_attrs(promises, self.fingerprint, self.labels)

    def threshold(self, alpha: Alphas) -> xr.DataArray:
        """Return the least score that stays in a set.

        Parameters
        ----------
        alpha : number, text, or a sequence of them
            Miscoverage rates, 0 < alpha < 1, read as the decimals that were typed.

        Returns
        -------
        DataArray, ([group or label][, alpha])
            On the scale of the scores; -inf: every label is in every set, +inf: none is. One for
            each group or label where the calibrator keeps these apart.

        Raises
        ------
        IncompatibleComponents
            ``threshold-none`` where sets depend on more than the score of one label.

        Warns
        -----
        PlausiblyWarning
            Where every set is every label, with the number that would change it.
        """
        alphas = read_alphas(alpha)
        values = np.stack([self._decisions.taus(one) for one in alphas], axis=-1)
        for one in alphas:
            self._warn(one)
        several = is_several(alpha)
        return threshold_array(values, alphas, self.pools.replicates, several=several)

    def _queries(self, test: NewExamples, *, compared: bool = False) -> Queries:
        return queries_of(
            test,
            self.pools.replicates,
            scoring=self.scoring,
            calibrator=self.facts.calibrator,
            splits_ties=self._decisions.splits_ties,
            compared=compared,
        )

    def p_values(self, predictions: xr.DataArray) -> xr.DataArray:
        """Return the combined p-value of every label of every example.

        Parameters
        ----------
        predictions : DataArray, (example, label)
            Of the model that calibrated; labels are matched by name.

        Returns
        -------
        DataArray of float64, dims and labels as in `predictions`
            Sets are ``p > alpha``; `predict` makes the same sets by threshold, without p-values.

        Warns
        -----
        PlausiblyWarning
            ``group-unseen`` where calibration lacks the group of an example.
        """
        if is_lazy(predictions):
            return lazy_p_values(self, predictions)
        test = self._read(predictions)
        queries = self._queries(test)
        warn_of_unseen_groups(test, queries, self.pools.replicates)
        return test.like_input(combined(self.pools, queries, self.combine), "p_values")

    def combined_p(self, test: NewExamples) -> Floats:
        """Return the combined p-values (example, label), labels in the order of `labels`."""
        return combined(self.pools, self._queries(test), self.combine)

    def _read(self, predictions: xr.DataArray) -> NewExamples:
        return read_test(
            predictions,
            self.labels,
            self.facts.scale,
            self.pools.dtype,
            augmentations=self.facts.augmentations,
        )

    def scores(self, predictions: xr.DataArray) -> Floats:
        """Return the score of every label of every example.

        Parameters
        ----------
        predictions : DataArray, ([augmentation,] example, label)

        Returns
        -------
        ndarray, ([augmentation,] example, label)
            Labels in the order of `labels`.
        """
        return self._queries(self._read(predictions)).scores

    def largest_scores(self, predictions: xr.DataArray) -> Floats:
        """Return the largest score of each example, as `reference` has them of calibration.

        Parameters
        ----------
        predictions : DataArray, ([augmentation,] example, label)

        Returns
        -------
        ndarray, (example,)
            Of the mean score where an example has augmentations.
        """
        return largest_scores(self._queries(self._read(predictions)).scores)

    def predict(self, predictions: xr.DataArray, alpha: Alphas) -> xr.DataArray:
        """Return prediction sets.

        Parameters
        ----------
        predictions : DataArray, (example, label)
            Of the model that calibrated; labels are matched by name.
        alpha : number, text, or a sequence of them
            Several alphas add the dim ``alpha``.

        Returns
        -------
        DataArray of bool, dims of `predictions` [and alpha]
            ``attrs`` hold the guarantees (JSON), the predictor's fingerprint, and the number of
            examples that also calibrated it.
        """
        alphas = read_alphas(alpha)
        if is_lazy(predictions):
            test, sets = lazy_sets(
                self, self._decisions, predictions, alphas, several=is_several(alpha)
            )
        else:
            test = self._read(predictions)
            queries = self._queries(test, compared=self._decisions.has_threshold)
            sets = self._decisions.sets(queries, alphas)
            warn_of_unseen_groups(test, queries, self.pools.replicates)
            warn_of_weights(queries, self.pools.replicates, sets, alphas)
        for one in alphas:
            self._warn(one)
        about = self._about(tuple(alphas))
        overlap = 0 if self.examples is None else self.examples.common(test.examples)
        return sets_array(test, sets, alphas, {**about, OVERLAP: overlap}, is_several(alpha))

    def save(self, path: str | Path, *, names: bool = True) -> None:
        """Write the predictor to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            A netCDF-3 file, or a Zarr store where it ends in ``.zarr``.
        names : bool
            Whether to keep hashes of the calibration examples' names, by which later evaluation on
            the same examples is noticed.

        Raises
        ------
        ComponentError
            Where a component's class is not registered: files hold names, never code.
        """
        from plausibly.conformal.files import save

        save(self, Path(path), names=names)
