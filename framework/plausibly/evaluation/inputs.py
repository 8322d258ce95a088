"""Validated and aligned inputs of all coverage metrics."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.alphas import AlphaLike, Alphas
from plausibly.calibration.data import (
    check_coordinate,
    complete,
    coordinates_over,
    group_names,
)
from plausibly.conformal.aggregate import aggregated
from plausibly.conformal.inputs import (
    FINGERPRINT,
    GUARANTEES,
    LABEL_ORDER,
    OVERLAP,
    labels_along_order,
)
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names, validate
from plausibly.data.annotations import is_annotations
from plausibly.data.names import Named, is_lazy, positions
from plausibly.data.plausibilities import Form, Plausibilities
from plausibly.data.states import read_left_out, with_left_out
from plausibly.errors import InputError, an, counted, listed, warn
from plausibly.evaluation import intervals
from plausibly.evaluation.intervals import Averaging, Doubles, IntervalMethod, Measures
from plausibly.evaluation.result import AGGREGATED, SET_SIZE
from plausibly.guarantee import Guarantee
from plausibly.kernels import coverage
from plausibly.kernels.blocks import row_blocks
from plausibly.kernels.coverage import Ties
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Dense, as_stored
from plausibly.kernels.types import Bools, Floats, Hashes, Ints


@attrs.frozen(eq=False)
class Targets:
    """Targets of the sets: plausibilities, true labels, shares by alpha, ties, ordered labels."""

    plausibilities: Dense = attrs.field(converter=as_stored)
    true_label: Ints | None = None
    shares: Doubles | None = None
    ties: Ties = "first"
    uniform: Doubles | None = None
    order: Ints | None = None
    along: Ints | None = None

    def __getitem__(self, rows: slice) -> Targets:
        return attrs.evolve(
            self,
            plausibilities=self.plausibilities.take(rows),
            uniform=None if self.uniform is None else self.uniform[rows],
            true_label=None if self.true_label is None else self.true_label[rows],
        )


class Measured(NamedTuple):
    """Outcomes of sets, largest plausibilities, and whether several labels have these."""

    outcomes: Measures
    largest: Doubles
    tied: Bools


def measure(values: Bools, targets: Targets) -> Measured:
    """Return coverage and size of each set (example, label[, alpha]): (example, alpha), by name."""
    plausibilities, by_plane = targets.plausibilities, []
    for plane in np.moveaxis(np.atleast_3d(values), 2, 0):
        votes = coverage.majority_vote(
            plane, plausibilities, targets.ties, targets.uniform, targets.order
        )
        one: dict[str, NDArray[np.generic]] = {
            AGGREGATED: coverage.aggregated(plane, plausibilities),
            "majority_vote_coverage": votes,
        }
        if targets.true_label is not None:
            one["true_coverage"] = plane[np.arange(len(plane)), targets.true_label]
        one[SET_SIZE] = coverage.sizes(plane)
        if targets.along is not None:
            along = coverage.along_order(plane, plausibilities, targets.along)
            one |= dict(zip(_ALONG, along, strict=True))
        by_plane.append(one)
    measures = {
        name: np.stack([one[name] for one in by_plane], axis=1).astype(np.float64)
        for name in by_plane[0]
    }
    if targets.shares is not None:
        measures["mass_coverage"] = (measures[AGGREGATED] >= targets.shares).astype(np.float64)
    largest = np.asarray(plausibilities.weight.max(axis=1), dtype=np.float64)
    return Measured(measures, largest, coverage.tie_counts(plausibilities) > 1)


ORDINAL_GAP, HOLES, EMPTY_MISSES = "ordinal_gap", "share_with_holes", "share_missed_by_empty"
_ALONG = ("missed", "missed_steps", "hole")


def steps_of_misses(outcomes: Measures) -> tuple[Doubles, Doubles]:
    """Return the mean steps from missed answers to each set that is not empty, and their share."""
    missed, steps, _ = (outcomes[name] for name in _ALONG)
    weights = missed * (outcomes[SET_SIZE] > 0)
    return np.divide(steps, missed, out=np.zeros_like(steps), where=weights > 0), weights


def figures_along_order(outcomes: Measures) -> dict[str, Doubles]:
    """Take what was measured along the order of the labels out of outcomes; return its means.

    By name, (alpha,): how many steps a missed answer is from the set, where it is not empty; the
    share of the missed answers whose set is empty; the share of sets with holes.
    """
    if not outcomes.keys() >= set(_ALONG):
        return {}
    missed, steps, holes = (outcomes.pop(name) for name in _ALONG)
    empty = outcomes[SET_SIZE] == 0

    def total(values: Doubles) -> Doubles:
        # Exact, so that rows in any order give the same.
        return np.array([math.fsum(column) for column in values.T])

    with np.errstate(invalid="ignore"):  # 0 / 0, where nothing is missed
        return {
            ORDINAL_GAP: total(steps) / total(missed * ~empty),
            EMPTY_MISSES: total(missed * empty) / total(missed),
            HOLES: holes.mean(axis=0),
        }


def planes_of(sets: xr.DataArray) -> list[Bools]:
    """Return sets as arrays (example, label), one per alpha."""
    return list(sets.transpose(names.ALPHA, names.EXAMPLE, names.LABEL).values)


SETS = "the prediction sets"


def as_plausibilities(plausibilities: Form) -> xr.DataArray:
    """Return dense plausibilities (example, label), aggregated where these are annotations."""
    return read_plausibilities(plausibilities).dense()


def read_plausibilities(plausibilities: Form, *, in_chunks: bool = False) -> Plausibilities:
    """Return checked plausibilities, aggregated where these are annotations."""
    if is_annotations(plausibilities):
        return aggregated(plausibilities).averaged()
    if is_lazy(plausibilities):
        from plausibly.conformal.chunks import checked_chunks, gathered

        if in_chunks and isinstance(plausibilities, xr.DataArray):
            return Plausibilities.of(checked_chunks(plausibilities))
        plausibilities = gathered(plausibilities)
    return Plausibilities.from_xarray(plausibilities).averaged()


def as_sets(sets: object) -> xr.DataArray:
    """Return prediction sets as booleans (example, label[, alpha]) with names as text."""
    wanted, problem = (names.EXAMPLE, names.LABEL), f"{an(type(sets).__name__)} without names"
    if isinstance(sets, xr.DataArray):
        other = "" if sets.dtype == np.bool_ else f"entries of type {sets.dtype}"
        problem = unnamed(sets, set(wanted), {names.ALPHA}) or other
    if problem or not isinstance(sets, xr.DataArray):
        raise InputError(
            "sets-malformed",
            f"{SETS}: no true or false for each example and label by name",
            expected="a boolean array over example and label, and alpha where there are several",
            found=problem,
            hint="pass what predict returned",
            source=SETS,
        )
    named = {dim: names.name_texts(sets[dim].values) for dim in wanted}
    for dim, texts in named.items():
        names.check_names(texts, dim, source=SETS)
    ordered = sets.transpose(*wanted, ...).assign_coords(
        {dim: names.text_array(texts) for dim, texts in named.items()}
    )
    # Labels in the order of the calibration, so that ties break as they did there.
    labels = json.loads(str(sets.attrs.get(LABEL_ORDER, "[]")))
    same = isinstance(labels, list) and sorted(labels) == sorted(ordered[names.LABEL].values)
    return ordered.sel({names.LABEL: labels}) if same else ordered


def unnamed(array: xr.DataArray, wanted: set[str], more: Collection[str] = ()) -> str:
    """Return which dims an array should not have, or which have no names, or nothing."""
    dims = set(map(str, array.dims))
    if not wanted <= dims <= wanted.union(more):
        return f"dims {listed(map(str, array.dims)) or 'none'}"
    lacking = [dim for dim in sorted(dims) if dim not in array.coords]
    return f"no names along {listed(lacking)}" if lacking else ""


def example_values(
    coordinate: str, arrays: Sequence[xr.DataArray | xr.Dataset]
) -> NDArray[np.generic]:
    """Return a coordinate of the examples, from the first array that has it."""
    check_coordinate(coordinate)
    for array in arrays:
        if coordinate in array.coords and array[coordinate].dims == (names.EXAMPLE,):
            return _filled(array[coordinate], coordinate)
    there = sorted(coordinates_over(names.EXAMPLE, arrays))
    raise InputError(
        "coordinate-missing",
        f'the examples have no coordinate "{coordinate}"',
        expected="the name of a coordinate over example",
        found=listed(there) or "none",
        hint=meant(coordinate, there) or "assign_coords, or a table of examples",
    )


def meant(name: str, known: Collection[str]) -> str:
    """Return a question for the name that was probably meant, or nothing."""
    close = names.near(name, known)
    return "" if close is None else f'did you mean "{close}"?'


def _filled(array: xr.DataArray, title: str) -> NDArray[np.generic]:
    """Return the values of the examples, each of which must be there."""
    examples = array[names.EXAMPLE].values
    return complete(array.values, title, source="the evaluation", examples=examples)


def check_there(lacking: Bools, title: str, examples: NDArray[np.str_]) -> None:
    """Raise ``values-missing`` where examples lack a value."""
    if lacking.any():
        raise InputError(
            "values-missing",
            f'{counted(int(lacking.sum()))} of {counted(len(lacking))} examples have no "{title}"',
            expected="a value for each example",
            found=f"none for {listed(examples[lacking])}",
            hint="add them, or leave these examples out with sel(example=...)",
        )


def values_by_name(
    values: object, arrays: Sequence[xr.DataArray | xr.Dataset], title: str
) -> NDArray[np.generic]:
    """Return a coordinate of the examples, or values by name, in the order of the first array."""
    if isinstance(values, str):
        return example_values(values, arrays)
    problem = an(type(values).__name__)
    if isinstance(values, xr.DataArray):
        problem = unnamed(values, {names.EXAMPLE})
    if problem or not isinstance(values, xr.DataArray):
        raise InputError(
            "values-malformed",
            f'"{title}" is not named by example',
            expected="a DataArray over example, with names, or the name of a coordinate",
            found=problem,
            hint="name the examples: assign_coords(example=...)",
        )
    examples = arrays[0][names.EXAMPLE].values
    places = positions(names.name_texts(values[names.EXAMPLE].values), list(map(str, examples)))
    check_there(places < 0, title, examples)
    ordered = values.isel({names.EXAMPLE: places}).assign_coords({names.EXAMPLE: examples})
    return _filled(ordered, title)


def known_values(
    name: str, arrays: Sequence[xr.DataArray | xr.Dataset]
) -> NDArray[np.generic] | None:
    """Return a coordinate that every example has, (example,), or None."""
    try:
        return example_values(name, arrays)
    except InputError:
        return None


def codes_of(values: NDArray[np.generic]) -> tuple[NDArray[np.generic], Ints]:
    """Return the distinct values in order, and the code of each value."""
    if values.dtype.kind == "U":
        values = group_names(values)
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes


def true_codes(
    true_label: str | xr.DataArray | None,
    arrays: Sequence[xr.DataArray | xr.Dataset],
    labels: Sequence[str],
) -> Ints | None:
    """Return the code of the true label of each example, where it is known."""
    if true_label is None:
        return None
    name = true_label if isinstance(true_label, str) else "true label"
    written = names.name_texts(values_by_name(true_label, arrays, name))
    # A column of numbers has lost whether it wrote 1 or 1.0; where both are labels, that matters.
    known = list(map(names.number_text, labels))
    if len(set(known)) == len(known):
        codes = positions(known, list(map(names.number_text, written)))
    else:
        codes = positions(labels, written)
    if (codes < 0).any():
        unknown = sorted({label for label, code in zip(written, codes, strict=True) if code < 0})
        raise InputError(
            "label-unknown",
            f'{counted(int((codes < 0).sum()))} examples have a "{name}" that is no label',
            expected=f"one of {len(labels)} labels: {listed(labels)}",
            found=listed(map(names.quoted, unknown)),
            hint=meant(unknown[0], labels) or "fix these names, or leave true_label out",
        )
    return codes


def guarantees_of(attributes: Mapping[str, object]) -> list[Guarantee]:
    """Return the guarantees that sets carry, one per alpha."""
    stated = json.loads(str(attributes.get(GUARANTEES, "[]")))
    return [Guarantee.from_json(plain) for plain in stated]


@attrs.frozen(eq=False)
class EvaluationInputs:
    """Sets and plausibilities of the same examples and labels, ready to be measured."""

    sets: xr.DataArray
    several: bool  # whether the sets came with the dim alpha, which they have here
    plausibilities: Plausibilities
    hashes: Hashes
    order: NDArray[np.intp]
    averaging: Averaging
    seed: int
    attrs: Mapping[str, object]

    @property
    def arrays(self) -> tuple[xr.DataArray, xr.DataArray | xr.Dataset]:
        """Arrays with coordinates of the examples and labels."""
        return self.sets, self.plausibilities.about

    @property
    def labels(self) -> list[str]:
        return list(map(str, self.sets[names.LABEL].values))

    @property
    def label_order(self) -> Ints | None:
        """Places of the labels along the order that the sets, or a coordinate, have."""
        order = labels_along_order(self.arrays)
        return None if order is None else positions(self.labels, order)

    def columns(self) -> Iterator[tuple[Doubles, list[Doubles]]]:
        """Yield the plausibilities of each label in `order`, and which sets hold it."""
        inside = self.sets.values
        for label, column in enumerate(self.plausibilities.stored.by_label(self.order)):
            held = inside[self.order, label].T.astype(np.float64, order="C")
            yield column.astype(np.float64), list(held)

    def measured(
        self, ties: Ties = "first", true_label: Ints | None = None, shares: Doubles | None = None
    ) -> Measured:
        """Return coverage and size of each set; arrays in chunks are read in one pass."""
        in_chunks = self.plausibilities.in_chunks
        plausibilities = np.empty((len(self.order), 0)) if in_chunks else self.plausibilities.stored
        uniform, order = None, np.argsort(self.sets[names.LABEL].values)
        if ties == "random":
            uniform = Keys(self.seed).child("evaluate/ties").uniform(self.hashes)[:, 0]
        along = self.label_order
        targets = Targets(plausibilities, true_label, shares, ties, uniform, order, along)
        if not is_lazy(self.sets) and not in_chunks:
            return measure(self.sets.values, targets)
        return _in_chunks(self.sets, self.plausibilities.array, targets)

    def outcomes(self, measured: Measured) -> Measures:
        """Return outcomes in `order`, ready to be averaged."""
        return {name: values[self.order] for name, values in measured.outcomes.items()}

    def result(self, **attributes: object) -> xr.Dataset:
        """Return a Dataset without variables, with alpha, and the attributes of every result."""
        result = xr.Dataset()
        if names.ALPHA in self.sets.coords:
            result = result.assign_coords({names.ALPHA: self.sets[names.ALPHA].variable})
        result.attrs = {**self.attrs, "n": len(self.order), **attributes}
        for array in (self.sets, self.plausibilities.array):
            result = with_left_out(result, read_left_out(array.attrs))
        return result

    def squeezed(self, result: xr.Dataset) -> xr.Dataset:
        """Return a result without the dim alpha where the sets came without it."""
        return result if self.several else result.isel({names.ALPHA: 0})


def _in_chunks(sets: xr.DataArray, plausibilities: Form, targets: Targets) -> Measured:
    from plausibly.conformal.chunks import chunks_of, reduced, whole_rows

    if is_lazy(sets):
        sets = whole_rows(sets, SETS, "sets")
    else:
        sets = sets.chunk({names.EXAMPLE: plausibilities.chunksizes[names.EXAMPLE]})
    sets = sets.chunk({names.ALPHA: -1})
    arrays = [sets]
    if isinstance(plausibilities, xr.DataArray) and is_lazy(plausibilities):
        cut = sets.variable.chunksizes[names.EXAMPLE]
        arrays.append(plausibilities.chunk({names.EXAMPLE: cut, names.LABEL: -1}))

    def of_chunk(values: Bools, *read: Any) -> Measured:  # Any: plausibilities, then targets
        *blocks, chunk_targets = read
        if blocks:
            chunk_targets = attrs.evolve(chunk_targets, plausibilities=blocks[0])
        return measure(values, chunk_targets)

    asks = [(chunk, targets[chunk.start : chunk.stop]) for chunk in chunks_of(sets)]
    outcomes, largest, tied = zip(*reduced(of_chunk, arrays, asks), strict=True)
    together = {name: np.concatenate([part[name] for part in outcomes]) for name in outcomes[0]}
    return Measured(together, np.concatenate(largest), np.concatenate(tied))


def prepare(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    *,
    in_chunks: bool = False,
) -> EvaluationInputs:
    """Return sets and plausibilities, checked and matched by name."""
    intervals.check_method(interval, confidence)
    inside = as_sets(sets)
    several = names.ALPHA in inside.dims
    inside = inside if several else inside.expand_dims(names.ALPHA, axis=-1)
    examples = inside.sizes[names.EXAMPLE]
    overlap = min(int(sets.attrs.get(OVERLAP, 0)), examples)
    if overlap:
        warn_of_overlap(overlap, examples, source=SETS)
    record = read_plausibilities(plausibilities, in_chunks=in_chunks)
    inside, record = matched_with(inside, record, only_common, SETS)
    hashes = hash_names(inside[names.EXAMPLE].values)
    order = drawn_order(hashes, seed)
    clusters = None
    if cluster is not None:
        clusters = codes_of(example_values(cluster, (inside, record.about)))[1]
    known = (GUARANTEES, FINGERPRINT, OVERLAP)
    carried = {name: sets.attrs[name] for name in known if name in sets.attrs}
    labels = inside.sizes[names.LABEL]
    carried |= {"interval": interval, "confidence": confidence, "seed": seed, "labels": labels}
    if clusters is not None:
        carried |= {"cluster": cluster, "clusters": int(clusters.max()) + 1}
        clusters = clusters[order]
    averaging = Averaging(clusters, labels, interval, confidence)
    return EvaluationInputs(inside, several, record, hashes, order, averaging, seed, carried)


def drawn_order(hashes: Hashes, seed: int) -> NDArray[np.intp]:
    """Return the examples in an order that belongs to their names, and not to their outcomes."""
    return np.lexsort((hashes, Keys(seed).child("evaluate/order").uniform(hashes)[:, 0]))


def matched(
    first: xr.DataArray,
    second: xr.DataArray,
    only_common: bool = False,
    other: str = "plausibilities",
) -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions and a dense array of the same labels and examples, in their order."""
    record = Plausibilities.of(second)
    first, record = matched_with(first, record, only_common, other=other)
    return first, cast("xr.DataArray", record.array)


def matched_with(
    first: xr.DataArray,
    second: Plausibilities,
    only_common: bool = False,
    source: str = "predictions",
    other: str = "plausibilities",
) -> tuple[xr.DataArray, Plausibilities]:
    """Return an array and plausibilities of the same labels and examples, in its order."""
    here = Named.of(first)
    second = align.with_labels(second, here.labels.texts, source=other, other=source)
    here, second = align.same_examples(
        here, second, only_common=only_common, source=source, other=other
    )
    return here.array, second


def with_clusters(
    model: xr.DataArray, cluster: str | None, plausibilities: xr.DataArray
) -> tuple[xr.DataArray, NDArray[np.generic] | None]:
    """Return predictions with the coordinate by which they are split, and its values."""
    if cluster is None:
        return model, None
    groups = example_values(cluster, (model, plausibilities))
    return model.assign_coords({cluster: (names.EXAMPLE, groups)}), groups


def as_typed(alphas: Alphas) -> list[AlphaLike]:
    """Return alphas as they were typed, so that messages name them in the same way."""
    typed: list[AlphaLike] = np.asarray(alphas, dtype=object).ravel().tolist()
    return typed


def warn_of_overlap(overlap: int, examples: int, *, source: str) -> None:
    """Warn that examples calibrated the predictor that is measured on them."""
    share = "all" if overlap == examples else f"{counted(overlap)} of"
    warn(
        "evaluated-on-calibration",
        f"{share} {counted(examples)} examples of {source} calibrated their predictor",
        expected="new examples; what is measured on these is no evidence",
        hint="evaluate on others, or plausibly.compare for repeated splits",
        source=source,
    )


def as_predictions(predictions: xr.DataArray) -> xr.DataArray:
    """Return predictions (example, label), checked; arrays in chunks only when they are read."""
    if not is_lazy(predictions):
        return validate.check_predictions(predictions)
    from plausibly.conformal.chunks import predictions_in_chunks

    return predictions_in_chunks(predictions).array


def p_value_rows(
    predictor: ConformalPredictor, predictions: xr.DataArray
) -> Iterator[tuple[slice, Floats]]:
    """Yield slices of examples with their p-values (example, label), labels as in the predictor."""
    code = positions(list(map(str, predictions[names.LABEL].values)), predictor.labels)
    end, whole = 0, (predictions.sizes[names.EXAMPLE],)
    for size in predictions.variable.chunksizes.get(names.EXAMPLE, whole):
        start, end = end, end + size
        chunk = predictions.isel({names.EXAMPLE: slice(start, end)})
        chunk.load()  # while the one before is no longer held
        for rows in row_blocks(chunk.shape):
            p_values = predictor.p_values(chunk.isel({names.EXAMPLE: rows}))
            values: Floats = p_values.transpose(names.EXAMPLE, names.LABEL).values
            yield slice(start + rows.start, start + rows.stop), values[:, code]
