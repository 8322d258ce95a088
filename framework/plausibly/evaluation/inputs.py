"""Validated and aligned inputs of all coverage metrics."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.calibration.coordinates import as_values, emptiness, group_names
from plausibly.conformal.aggregate import aggregate, aggregated
from plausibly.conformal.inputs import FINGERPRINT, GUARANTEES, LABEL_ORDER, OVERLAP
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align, names, validate
from plausibly.data.left_out import read_left_out, with_left_out
from plausibly.data.named import is_lazy
from plausibly.data.names import positions
from plausibly.data.plausibilities import about_packed, slots_of
from plausibly.data.validate import as_checked
from plausibly.errors import InputError, counted, listed, warn
from plausibly.evaluation import intervals
from plausibly.evaluation.intervals import ENDS, ROUGH, SET_SIZE, Interval, IntervalMethod, Outcomes
from plausibly.guarantee import Guarantee
from plausibly.kernels import coverage
from plausibly.kernels.blocks import row_blocks
from plausibly.kernels.coverage import TIES, Ties
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Slots, packed_pairs
from plausibly.kernels.types import Bools, Floats, Hashes, Ints

Measures = dict[str, NDArray[np.float64]]


@attrs.frozen(kw_only=True, eq=False)
class Known:
    """What is known of some examples besides what experts say."""

    uniform: NDArray[np.float64] | None = None
    order: Ints | None = None
    codes: Ints | None = None

    def __getitem__(self, rows: slice) -> Known:
        """Return what is known of some of them."""
        return Known(
            uniform=None if self.uniform is None else self.uniform[rows],
            order=self.order,
            codes=None if self.codes is None else self.codes[rows],
        )


@attrs.frozen(eq=False)
class Opinions:
    """What experts say of some examples."""

    plausibilities: Floats | Slots
    known: Known = Known()

    def __getitem__(self, rows: slice) -> Opinions:
        """Return what is said of some of them."""
        lam = self.plausibilities
        some = lam.take(rows) if isinstance(lam, Slots) else lam[rows]
        return Opinions(some, self.known[rows])


@attrs.frozen(kw_only=True, eq=False)
class Measuring:
    """Measures sets against opinions."""

    ties: Ties
    shares: NDArray[np.float64] | None = None

    def __call__(self, values: Bools, opinions: Opinions) -> Measures:
        """Return what is measured of each set, (example, alpha), by name."""
        planes, lam, known = _planes(values), opinions.plausibilities, opinions.known
        found = {
            "aggregated_coverage": [coverage.aggregated(plane, lam) for plane in planes],
            "voted_coverage": [
                coverage.voted(plane, lam, self.ties, known.uniform, known.order)
                for plane in planes
            ],
        }
        if known.codes is not None:
            rows = np.arange(len(known.codes))
            held = [plane[rows, known.codes].astype(np.float64) for plane in planes]
            found["true_coverage"] = held
        found[SET_SIZE] = [coverage.sizes(plane).astype(np.float64) for plane in planes]
        measures = {name: np.stack(columns, axis=1) for name, columns in found.items()}
        if self.shares is not None:
            enough = measures["aggregated_coverage"] >= self.shares
            measures["mass_coverage"] = enough.astype(np.float64)
        return measures


def _planes(values: Bools) -> list[Bools]:
    """Return sets (example, label[, alpha]) as one array an alpha."""
    return [values] if values.ndim == 2 else list(np.moveaxis(values, 2, 0))


def measure(sets: xr.DataArray, opinions: Opinions, measuring: Measuring) -> Measures:
    """Return what is measured of each set, (example, alpha), by name."""
    if not is_lazy(sets):
        return measuring(sets.values, opinions)
    from plausibly.conformal.chunks import chunks_of, reduced, whole_rows

    cut = whole_rows(sets, "the prediction sets", "sets")
    if names.ALPHA in cut.dims:
        cut = cut.chunk({names.ALPHA: -1})
    asks = [(chunk, opinions[chunk.start : chunk.stop]) for chunk in chunks_of(cut)]
    parts = reduced(measuring, cut, asks)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


SETS = "the prediction sets"


def as_plausibilities(given: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return plausibilities (example, label), dense or packed, or aggregated from annotations."""
    if isinstance(given, xr.Dataset) and names.RESPONSE_EXAMPLE in given:
        given = aggregate(given)
    return validate.mean_over_draws(validate.check_plausibilities(given))


def as_given(given: xr.DataArray | xr.Dataset, *, later: bool = False) -> xr.DataArray | xr.Dataset:
    """Return plausibilities, packed where they are packed or labels are many."""
    if isinstance(given, xr.Dataset) and names.RESPONSE_EXAMPLE in given:
        given = aggregated(given)
    if later and isinstance(given, xr.DataArray) and is_lazy(given):
        from plausibly.conformal.chunked import checked_chunks

        return checked_chunks(given)
    if is_lazy(given):
        from plausibly.conformal.chunked import packed_chunks

        given = packed_chunks(given)
    checked = as_checked(given)
    return checked if isinstance(checked, xr.Dataset) else validate.mean_over_draws(checked)


def as_sets(sets: object, whose: str = SETS) -> xr.DataArray:
    """Return prediction sets as booleans (example, label[, alpha]) with names as text."""
    if not isinstance(sets, xr.DataArray):
        raise _malformed(whose, f"a {type(sets).__name__} without names")
    dims = set(map(str, sets.dims))
    wanted = {names.EXAMPLE, names.LABEL}
    if not wanted <= dims <= wanted | {names.ALPHA}:
        raise _malformed(whose, f"dims {listed(map(str, sets.dims)) or 'none'}")
    unnamed = [dim for dim in sorted(dims) if dim not in sets.coords]
    if unnamed:
        raise _malformed(whose, f"no names along {listed(unnamed)}")
    if sets.dtype != np.bool_:
        raise _malformed(whose, f"entries of type {sets.dtype}")
    order = [names.EXAMPLE, names.LABEL, *sorted(dims - wanted)]
    named: dict[str, NDArray[np.str_]] = {}
    for dim in (names.EXAMPLE, names.LABEL):
        found = names.name_texts(sets[dim].values)
        names.check_names(found, dim, whose=whose)
        named[dim] = names.text_array(found)
    return _in_calibration_order(sets.transpose(*order).assign_coords(named))


def _in_calibration_order(sets: xr.DataArray) -> xr.DataArray:
    """Return sets with labels as the predictor had them, so that ties break as they did there."""
    stated = sets.attrs.get(LABEL_ORDER)
    order = json.loads(stated) if isinstance(stated, str) else None
    if not isinstance(order, list) or sorted(order) != sorted(sets[names.LABEL].values):
        return sets
    return sets.sel({names.LABEL: order})


def _malformed(whose: str, got: str) -> InputError:
    return InputError(
        "sets-malformed",
        f"{whose}: no true or false for each example and label by name",
        expected="a boolean array over example and label, and alpha where there are several",
        got=got,
        do="pass what predict returned",
        whose=whose,
    )


def check_ties(ties: str) -> Ties:
    """Return the tie policy, or raise ``ties-unknown``."""
    for known in TIES:
        if ties == known:
            return known
    raise InputError(
        "ties-unknown",
        f'no tie policy "{ties}"',
        expected=f"one of {', '.join(TIES)}",
        do='ties="first", the first of the tied labels in label order',
    )


def example_values(
    coordinate: str, arrays: Sequence[xr.DataArray], *, what: str = "the examples"
) -> NDArray[np.generic]:
    """Return a coordinate of the examples, from the first array that has it."""
    given: object = coordinate
    if not isinstance(given, str):
        raise InputError(
            "coordinate-missing",
            "a coordinate of the examples is asked for by its name",
            expected="text",
            got=type(given).__name__,
            do='sets.assign_coords({"site": ("example", values)}), and then "site"',
        )
    for array in arrays:
        if coordinate in array.coords and array[coordinate].dims == (names.EXAMPLE,):
            return _filled(coordinate, array[coordinate])
    there = sorted({name for array in arrays for name in _coordinates(array)})
    close = difflib.get_close_matches(coordinate, there, n=1)
    raise InputError(
        "coordinate-missing",
        f'{what} have no coordinate "{coordinate}"',
        expected="a coordinate over example",
        got=listed(there) or "none",
        do=f'did you mean "{close[0]}"?' if close else "assign_coords, or an example table (-e)",
        details={"coordinates": there},
    )


def _coordinates(array: xr.DataArray) -> list[str]:
    """Return the names of the coordinates that the examples have, but for their own names."""
    known = {names.EXAMPLE, names.DENOMINATOR}
    found = (str(name) for name, values in array.coords.items() if values.dims == (names.EXAMPLE,))
    return [name for name in found if name not in known]


def _filled(coordinate: str, values: xr.DataArray) -> NDArray[np.generic]:
    """Return the values of a coordinate, each of which must be there."""
    found: NDArray[np.generic] = values.values
    complete = as_values(found)
    if complete is None:
        missing = emptiness(found)
        without = values[names.EXAMPLE].values[missing]
        raise InputError(
            "coordinate-empty",
            f'{counted(len(without))} of {counted(len(missing))} examples have no "{coordinate}"',
            expected="a value for each example",
            got=f"none for {listed(without)}",
            do=f'fill "{coordinate}" in, or leave these examples out with sel(example=...)',
            details={"examples": [str(name) for name in without]},
        )
    return complete


def known_values(name: str, arrays: Sequence[xr.DataArray]) -> NDArray[np.generic] | None:
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
    true: str | xr.DataArray, arrays: Sequence[xr.DataArray], labels: Sequence[str]
) -> Ints:
    """Return the code of the true label of each example."""
    name = true if isinstance(true, str) else "true label"
    if isinstance(true, str):
        values = example_values(true, arrays)
    else:
        values = _filled(name, _looked_up(true, arrays[0][names.EXAMPLE].values))
    written = names.name_texts(values)
    # A column of numbers has lost whether it wrote 1 or 1.0; where both are labels, that matters.
    known = list(map(names.number_text, labels))
    if len(set(known)) == len(known):
        codes = names.positions(known, list(map(names.number_text, written)))
    else:
        codes = names.positions(labels, written)
    if (codes < 0).any():
        unknown = sorted({label for label, code in zip(written, codes, strict=True) if code < 0})
        close = difflib.get_close_matches(unknown[0], labels, n=1)
        hint = f'did you mean "{close[0]}"? ' if close else ""
        raise InputError(
            "label-unknown",
            f'{counted(int((codes < 0).sum()))} examples have a "{name}" that the sets do not know',
            expected=f"one of {len(labels)} labels: {listed(labels)}",
            got=listed(names.quoted(label) for label in unknown),
            do=f"{hint}mend it, or leave these examples out with sel(example=...)",
            details={"labels": unknown},
        )
    return codes


def _looked_up(true: xr.DataArray, examples: NDArray[np.str_]) -> xr.DataArray:
    """Return the true labels of these examples, by name."""
    if true.dims != (names.EXAMPLE,) or names.EXAMPLE not in true.coords:
        raise InputError(
            "true-malformed",
            "the true labels are not named by example",
            expected="a DataArray over example, with names, or the name of a coordinate",
            got=f"dims {listed(map(str, true.dims)) or 'none'}",
            do='true="COLUMN" of an example table, or name the examples',
        )
    places = names.positions(names.name_texts(true[names.EXAMPLE].values), list(map(str, examples)))
    if (places < 0).any():
        lacking = [str(name) for name in examples[places < 0]]
        raise InputError(
            "true-missing",
            f"{counted(len(lacking))} of {counted(len(examples))} examples have no true label",
            expected="one for each example of the sets",
            got=f"none for {listed(lacking)}",
            do="add them, or leave these examples out with sel(example=...)",
            details={"examples": lacking},
        )
    return true.isel({names.EXAMPLE: places}).assign_coords({names.EXAMPLE: examples})


_CARRIED = (GUARANTEES, FINGERPRINT, OVERLAP)


@attrs.frozen(kw_only=True, eq=False)
class Judged:
    """Prediction sets and plausibilities of the same examples and labels, ready to be measured."""

    sets: xr.DataArray
    given: xr.DataArray | xr.Dataset
    hashes: Hashes
    order: NDArray[np.intp]
    clusters: Ints | None
    method: IntervalMethod
    confidence: float
    seed: int
    carried: Mapping[str, object]

    @cached_property
    def about(self) -> xr.DataArray:
        """What has the coordinates of the plausibilities; packed ones have no values here."""
        if isinstance(self.given, xr.DataArray):
            return self.given
        nothing = np.broadcast_to(0.0, slots_of(self.given).shape)
        coords = about_packed(self.given).coords
        return xr.DataArray(nothing, dims=(names.EXAMPLE, names.LABEL), coords=coords)

    @property
    def opinions(self) -> Floats | Slots:
        """Plausibilities in the caller's order, in the form that was given."""
        if isinstance(self.given, xr.Dataset):
            return slots_of(self.given)
        values: Floats = self.given.values
        return values

    @property
    def largest(self) -> NDArray[np.float64]:
        """The largest plausibility of each example in the caller's order, (example,)."""
        lam = self.opinions
        values: Floats = lam.weight if isinstance(lam, Slots) else lam
        largest: NDArray[np.float64] = values.max(axis=1).astype(np.float64)
        return largest

    @property
    def labels(self) -> list[str]:
        """Names of the labels, in order."""
        return list(map(str, self.sets[names.LABEL].values))

    @property
    def alpha_dims(self) -> list[str]:
        """``["alpha"]``, or nothing where the sets have one alpha."""
        return [names.ALPHA] if names.ALPHA in self.sets.dims else []

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float64], list[Bools]]]:
        """Yield places in `order` with plausibilities and sets, dense, few at a time."""
        lam, inside = self.opinions, self.sets.values
        for rows in row_blocks(inside.shape):
            some = self.order[rows]
            dense: Floats = lam.take(some).dense() if isinstance(lam, Slots) else lam[some]
            yield rows, dense.astype(np.float64), _planes(inside[some])

    def columns(self) -> Iterator[tuple[NDArray[np.float64], list[NDArray[np.float64]]]]:
        """Yield the plausibilities of each label in `order`, and which sets hold it."""
        lam, inside = self.opinions, self.sets.values
        dense = (
            lam.by_label(self.order)
            if isinstance(lam, Slots)
            else (lam[self.order, label] for label in range(len(self.labels)))
        )
        for label, column in enumerate(dense):
            held = inside[self.order, label].astype(np.float64)
            yield column.astype(np.float64), [held] if held.ndim == 1 else list(held.T.copy())

    def coordinate(self, name: str) -> NDArray[np.generic]:
        """Return a coordinate of the examples in `order`, (example,)."""
        values = example_values(name, (self.sets, self.about))
        return values[self.order]

    @cached_property
    def promises(self) -> list[Guarantee]:
        """Guarantees that the sets carry, one an alpha."""
        stated = json.loads(str(self.carried.get(GUARANTEES, "[]")))
        return [Guarantee.from_json(one) for one in stated]

    def where_known(self, name: str) -> NDArray[np.generic] | None:
        """Return a coordinate of the examples in `order`, (example,), None where one has none."""
        values = known_values(name, (self.sets, self.about))
        return None if values is None else values[self.order]

    def measured(self, ties: Ties = "first") -> dict[str, NDArray[np.float64]]:
        """Return coverage and size of each set, (example, alpha), in the caller's order."""
        policy = check_ties(ties)
        opinions = Opinions(self.opinions, self.known(policy))
        return measure(self.sets, opinions, Measuring(ties=policy))

    def known(self, ties: Ties, codes: Ints | None = None) -> Known:
        """Return what measuring needs to know of the examples, in the caller's order."""
        if ties != "random":
            return Known(codes=codes)
        uniform = Keys(self.seed).child("evaluate/ties").uniform(self.hashes)[:, 0]
        order = np.argsort(self.sets[names.LABEL].values)
        return Known(uniform=uniform, order=order, codes=codes)

    def outcomes(self, measured: Mapping[str, NDArray[np.float64]]) -> Outcomes:
        """Return what `measured` gave in `order`, ready to be averaged."""
        clusters = None if self.clusters is None else self.clusters[self.order]
        return Outcomes(
            values={name: values[self.order] for name, values in measured.items()},
            clusters=clusters,
            labels=len(self.labels),
            method=self.method,
            confidence=self.confidence,
        )

    def interval(
        self,
        values: NDArray[np.float64],
        weights: NDArray[np.float64] | None = None,
        *,
        rows: NDArray[np.intp] | None = None,
        top: float = 1.0,
        among: int = 1,
    ) -> Interval:
        """Return the interval of outcomes (example,) in `order`."""
        clusters = None if self.clusters is None else self.clusters[self.order]
        if rows is not None:
            values = values[rows]
            weights = None if weights is None else weights[rows]
            clusters = None if clusters is None else clusters[rows]
        return intervals.interval(
            np.ascontiguousarray(values),
            weights=weights,
            clusters=clusters,
            method=self.method,
            confidence=self.confidence,
            top=top,
            among=among,
        )

    def found(
        self, parts: Mapping[str, Sequence[Sequence[Interval]]], dim: str | None
    ) -> dict[str, tuple[list[str], NDArray[np.float64]]]:
        """Return variables NAME_mean, NAME_low and NAME_high of intervals."""
        dims = [*([] if dim is None else [dim]), *self.alpha_dims]
        variables = {}
        for name, rows in parts.items():
            for end in ENDS if self.clusters is None else (*ENDS, ROUGH):
                values = np.array([[getattr(one, end) for one in row] for row in rows])
                values = values if self.alpha_dims else values[:, 0]
                variables[f"{name}_{end}"] = (dims, values if dim is not None else values[0])
        return variables

    def result(self, **about: object) -> xr.Dataset:
        """Return a Dataset without variables, with alpha, and the attributes of every result."""
        found = xr.Dataset()
        if names.ALPHA in self.sets.coords:
            found = found.assign_coords({names.ALPHA: self.sets[names.ALPHA].variable})
        found.attrs = {**self.carried, "n": len(self.order), **about}
        for array in (self.sets, self.given):
            found = with_left_out(found, read_left_out(array.attrs))
        return found


def judge(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    cluster: str | None = None,
    interval: IntervalMethod = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    only_common: bool = False,
    whose: str = SETS,
    later: bool = False,
) -> Judged:
    """Return sets and plausibilities, checked and matched by name."""
    intervals.check_method(interval, confidence)
    inside = as_sets(sets, whose)
    overlap = min(int(sets.attrs.get(OVERLAP, 0)), inside.sizes[names.EXAMPLE])
    if overlap:
        _warn_of_overlap(overlap, inside.sizes[names.EXAMPLE], whose)
    inside, lam = _matched(inside, as_given(plausibilities, later=later), only_common, whose)
    hashes = hash_names(inside[names.EXAMPLE].values)
    carried = {name: sets.attrs[name] for name in _CARRIED if name in sets.attrs}
    carried |= {
        "interval": interval,
        "confidence": confidence,
        "seed": seed,
        "labels": inside.sizes[names.LABEL],
    }
    judged = Judged(
        sets=inside,
        given=lam,
        hashes=hashes,
        order=np.lexsort((hashes, Keys(seed).child("evaluate/order").uniform(hashes)[:, 0])),
        clusters=None,
        method=interval,
        confidence=confidence,
        seed=seed,
        carried=carried,
    )
    if cluster is None:
        return judged
    clusters = codes_of(example_values(cluster, (inside, judged.about)))[1]
    carried |= {"cluster": cluster, "clusters": int(clusters.max()) + 1}
    return attrs.evolve(judged, clusters=clusters)


def _matched(
    sets: xr.DataArray, given: xr.DataArray | xr.Dataset, only_common: bool, whose: str
) -> tuple[xr.DataArray, xr.DataArray | xr.Dataset]:
    """Return sets and plausibilities of the same labels and examples, in the order of the sets."""
    labels = tuple(map(str, sets[names.LABEL].values))
    if isinstance(given, xr.Dataset):
        given = align.match_labels(given, labels, whose="plausibilities", other=whose)
        return align.match_examples(
            sets, given, only_common=only_common, whose=whose, other="plausibilities"
        )
    given = align.match_labels(given, labels, whose="plausibilities", other=whose)
    return align.match_examples(
        sets, given, only_common=only_common, whose=whose, other="plausibilities"
    )


def check_dim(found: xr.Dataset, name: str) -> None:
    """Raise ``coordinate-reserved`` where a coordinate is called like a part of the result."""
    if name in found.variables or name in found.dims:
        raise InputError(
            "coordinate-reserved",
            f'the result has a variable of its own called "{name}"',
            expected="a coordinate with another name",
            got=name,
            do=f'rename it: assign_coords({{"example_{name}": ...}})',
        )


def _warn_of_overlap(overlap: int, examples: int, whose: str) -> None:
    """Say that the sets were measured on what calibrated them."""
    share = "all" if overlap == examples else f"{counted(overlap)} of"
    warn(
        "evaluated-on-calibration",
        f"{share} {counted(examples)} examples of {whose} calibrated their predictor",
        expected="new examples; this coverage is no evidence",
        do="evaluate on others, or plausibly.compare for repeated splits",
        whose=whose,
        details={"overlap": overlap, "examples": examples},
        stacklevel=4,
    )


_CELLS = 1 << 18  # of what is in hand at once


def as_predictions(predictions: xr.DataArray) -> xr.DataArray:
    """Return predictions (example, label), checked; those in chunks when they are read."""
    if not is_lazy(predictions):
        return validate.check_predictions(predictions)
    from plausibly.conformal.chunks import named_chunks

    model = named_chunks(predictions, "predictions", "predictions")
    return model.assign_attrs({names.SCALE: validate.known_scale(model, "predictions")})


def p_value_rows(
    predictor: ConformalPredictor, predictions: xr.DataArray
) -> Iterator[tuple[slice, Floats]]:
    """Yield slices of examples with their p-values (some, label), labels as in the predictor."""
    labels = list(map(str, predictions[names.LABEL].values))
    wanted = list(predictor.labels)
    code = slice(None) if labels == wanted else positions(labels, wanted)
    lazy = is_lazy(predictions)
    sizes = predictions.variable.chunksizes.get(names.EXAMPLE, (predictions.sizes[names.EXAMPLE],))
    end = 0
    for size in sizes:
        start, end = end, end + size
        part = predictions.isel({names.EXAMPLE: slice(start, end)})
        part = part.load() if lazy else part
        for rows in few_rows((size, len(labels))):
            found = predictor.p_values(part.isel({names.EXAMPLE: rows}))
            values: Floats = found.transpose(names.EXAMPLE, names.LABEL).values
            yield slice(start + rows.start, start + rows.stop), values[:, code]


def few_rows(shape: tuple[int, int]) -> Iterator[slice]:
    """Yield slices of the rows of an array of this shape that hold about `_CELLS` cells each."""
    step = max(1, _CELLS // max(1, shape[1]))
    for start in range(0, shape[0], step):
        yield slice(start, min(start + step, shape[0]))


def opinions_of(plausibilities: xr.DataArray | xr.Dataset) -> Floats | Slots:
    """Return plausibilities in the form in which they were given, (example, label)."""
    if isinstance(plausibilities, xr.Dataset):
        return slots_of(plausibilities)
    values: Floats = plausibilities.values
    return values


def about_examples(plausibilities: xr.DataArray | xr.Dataset) -> xr.DataArray:
    """Return an array that has the coordinates of the examples."""
    if isinstance(plausibilities, xr.Dataset):
        return plausibilities[names.WEIGHT]
    return plausibilities


def above_zero(opinions: Floats | Slots) -> Slots:
    """Return what is above zero of plausibilities in either form."""
    if isinstance(opinions, Slots):
        return opinions
    row, label = np.nonzero(opinions)
    return packed_pairs(row, label, opinions[row, label], opinions.shape)


def voted(opinions: Floats | Slots) -> Ints:
    """Return the code of the first most plausible label of each example, (example,)."""
    found: Ints
    if isinstance(opinions, Slots):
        place = np.argmax(opinions.weight, axis=1)
        found = opinions.label[np.arange(len(place)), place].astype(np.intp)
        return found
    found = np.argmax(opinions, axis=1)
    return found
