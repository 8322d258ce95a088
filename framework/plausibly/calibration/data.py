"""Calibration data: scores, plausibilities and coordinates of the calibration examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from typing import TYPE_CHECKING, NamedTuple, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.errors import InputError, an, counted, listed
from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.draws import draw_labels
from plausibly.kernels.masses import DOUBLE_BITS, exact_units, float_bits, raised_units
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Dense
from plausibly.kernels.types import Floats, FloatType, Hashes, Ints, unwritable

if TYPE_CHECKING:
    import xarray as xr

    from plausibly.calibration.examples import HashedNames
    from plausibly.data.names import Names


def lacking(name: str, there: Sequence[str], of: str, *, source: str) -> InputError:
    """Return the error that examples, or labels, have no such coordinate."""
    meant = names.near(name, there)
    more = f'predictions.assign_coords(...), or {of}="{of}.csv" with such a column'
    return InputError(
        "coordinate-missing",
        f'{source} needs "{name}" of the {of}, and the predictions have none',
        expected=f"a coordinate over {of.removesuffix('s')}",
        found=listed(there) or "none",
        hint=f'did you mean "{meant}"?' if meant else more,
        source=source,
        details={"coordinates": list(there)},
    )


def coordinates_over(
    dim: str, arrays: Sequence[xr.DataArray | xr.Dataset]
) -> dict[str, NDArray[np.generic]]:
    """Return the coordinates over one dim, by name; the first array that has one decides."""
    coordinates: dict[str, NDArray[np.generic]] = {}
    for array in arrays:
        for name, values in array.coords.items():
            known = str(name)
            if values.dims == (dim,) and known not in (dim, names.DENOMINATOR, *coordinates):
                plain = as_values(values.values)
                coordinates[known] = unwritable(values.values if plain is None else plain)
    return coordinates


def emptiness(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Return which values are missing, or empty text."""
    return np.array([names.is_missing(value) or value == "" for value in values], dtype=np.bool_)


def complete(
    values: NDArray[np.generic],
    name: str,
    *,
    source: str,
    examples: Sequence[str] | NDArray[np.str_] = (),
    of: str = "examples",
) -> NDArray[np.generic]:
    """Return the values of a coordinate, as `as_values` does; raise where one is missing."""
    plain = as_values(values)
    if plain is not None:
        return plain
    empty = emptiness(values)
    without = [str(example) for example, gone in zip(examples, empty, strict=False) if gone]
    raise InputError(
        "coordinate-empty",
        f'{counted(int(empty.sum()))} of {counted(len(values))} {of} have no "{name}"',
        expected=f"a value for each: {source} reads it",
        found=f"none for {listed(without)}" if without else "",
        hint=f'fill "{name}" in, or leave these {of} out',
        source="predictions",
        details={"examples": without},
    )


def as_values(values: NDArray[np.generic]) -> NDArray[np.generic] | None:
    """Return numbers and booleans as they are, all else as text; None where one is missing."""
    if values.dtype.kind in "biu":
        return values
    if values.dtype.kind == "f":
        return None if np.isnan(values).any() else values
    return None if emptiness(values).any() else names.text_array(names.name_texts(values))


def new_values(predictions: xr.DataArray, name: str, *, source: str) -> NDArray[np.generic]:
    """Return a coordinate of new examples, (example,), which each of them must have."""
    check_coordinate(name)
    coordinate = predictions.coords.get(name)
    if coordinate is None or coordinate.dims != (names.EXAMPLE,):
        there = sorted(coordinates_over(names.EXAMPLE, [predictions]))
        raise lacking(name, there, "examples", source=source)
    examples = predictions[names.EXAMPLE].values
    return complete(coordinate.values, name, source=source, examples=examples)


def check_coordinate(name: object) -> None:
    """Raise ``values-malformed`` for values in the place of the name of a coordinate."""
    if not isinstance(name, str):
        raise InputError(
            "values-malformed",
            "examples are grouped by the name of a coordinate",
            expected="a name, such as site",
            found=an(type(name).__name__),
            hint='name the values: predictions.assign_coords(site=("example", values))',
        )


def group_names(values: NDArray[np.generic]) -> NDArray[np.str_]:
    """Return values as the names of groups, text by which new examples are matched.

    A number has one name, whether it came as an integer, as a float, or as text: whether a column
    of a file is read as numbers depends on all of its cells.
    """
    if values.dtype.kind not in "biufU":
        values = names.text_array(names.name_texts(values))
    distinct, place = np.unique(values, return_inverse=True)
    return names.text_array(list(map(names.number_text, names.name_texts(distinct))))[place]


def check_weights(values: NDArray[np.generic], name: str, *, source: str) -> NDArray[np.float64]:
    """Return weights as float64; raise ``weights-range`` where one is negative or not finite."""
    numeric = values.dtype.kind in "fiu"
    weights = values.astype(np.float64) if numeric else np.full(len(values), np.nan)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        found = f"{weights[wrong][0]:g}" if numeric else f'"{values[wrong][0]}"'
        raise InputError(
            "weights-range",
            f'{counted(int(wrong.sum()))} of {counted(len(weights))} weights in "{name}" are no '
            "likelihood ratios",
            expected="finite numbers from 0 on: how much more often new examples are like this one",
            found=found,
            hint="plausibly.likelihood_ratios(...), or fix the coordinate",
            source=source,
        )
    return weights


def effective_size(weights: NDArray[np.float64]) -> float:
    """Return how many equal weights these are worth: ``(sum w)^2 / sum w^2``; 0 for none."""
    scaled = weights / (weights.max(initial=0.0) or 1.0)
    return float(scaled.sum() ** 2 / ((scaled**2).sum() or 1.0))


class Atoms(NamedTuple):
    """Every label of every example that has a mass: by rising example, then by rising label."""

    row: NDArray[np.intp]
    label: NDArray[np.intp]
    units: NDArray[np.int64]
    denominator: NDArray[np.int64]


class ScoreSource(Protocol):
    """Scores (example, label): in memory, or computed where they are read."""

    @property
    def dtype(self) -> FloatType: ...

    def at(self, row: Ints, label: Ints) -> Floats:
        """Return the scores of pairs of example and label, of any shape."""

    def take(self, rows: NDArray[np.intp]) -> ScoreSource: ...

    def largest(self) -> Floats:
        """Return the largest score of each example, (example,)."""

    def dense(self) -> Floats:
        """Return all scores, or raise `InputError` where they are larger than memory."""


_SHORT = 32  # entries of a row, up to which columns are faster


@attrs.frozen(eq=False)
class ArrayScores:
    """Scores in memory, (example, label), which may be predictions as they stand.

    Zero is added to what is read, which turns -0.0 into 0.0: they compare equal and are different
    bits.
    """

    values: Floats = attrs.field(converter=unwritable)

    @property
    def dtype(self) -> FloatType:
        return self.values.dtype

    def at(self, row: Ints, label: Ints) -> Floats:
        scores = self.values[row, label]
        return np.add(scores, scores.dtype.type(0), out=scores)

    def take(self, rows: NDArray[np.intp]) -> ArrayScores:
        return ArrayScores(self.values[rows])

    def largest(self) -> Floats:
        # Of short rows column by column: numpy takes several times as long for each row.
        short = self.values.shape[1] <= _SHORT
        scores: Floats = reduce(np.maximum, self.values.T) if short else self.values.max(axis=1)
        return scores + scores.dtype.type(0)

    def dense(self) -> Floats:
        return unwritable(np.add(self.values, self.dtype.type(0), order="C"))


@attrs.frozen(kw_only=True, eq=False)
class CalibrationData:
    """Scores and plausibilities of the calibration examples, aligned by name.

    Attributes
    ----------
    source : ScoreSource
        Conformity scores in the dtype of the predictions; larger = fits better; passed as
        ``scores=``. What is read through `scores_at` and `scores_of` never makes an array of all.
    stored : Dense or Sparse
        Plausibilities, passed as ``plausibilities=``. What is read through `draw`,
        `majority_vote` and `atoms` never makes a dense array of sparse ones.
    denominator : ndarray of int64, (example,), or None
        Totals of which the plausibilities are counts.
    examples : Names or HashedNames
        The examples by name, or by the hashes of their names.
    labels : tuple of str
        In the order of the calibration predictions, in which draws cumulate and ties break.
    coordinates : mapping of str to ndarray, (example,)
        What is known about the examples: numbers and booleans as they are, all else as text.
    label_coordinates : mapping of str to ndarray, (label,)
        What is known about the labels, such as their risk.
    augmented : ndarray, (augmentation, example, label), or None
        Scores of each augmentation, of which `scores` are the means.
    resampled : ndarray, (draw, example, label), or None
        Plausibilities of each draw, such as bootstrap ones, of which `plausibilities` are the
        means.
    """

    source: ScoreSource = attrs.field(alias="scores")
    stored: Dense = attrs.field(alias="plausibilities")
    denominator: Ints | None = attrs.field(converter=attrs.converters.optional(unwritable))
    examples: Names | HashedNames
    labels: tuple[str, ...]
    coordinates: Mapping[str, NDArray[np.generic]] = attrs.field(factory=dict)
    label_coordinates: Mapping[str, NDArray[np.generic]] = attrs.field(factory=dict)
    augmented: Floats | None = attrs.field(
        default=None, converter=attrs.converters.optional(unwritable)
    )
    resampled: Floats | None = attrs.field(
        default=None, converter=attrs.converters.optional(unwritable)
    )

    @classmethod
    def of(
        cls,
        scores: Floats,
        plausibilities: Floats,
        *,
        examples: Iterable[object],
        labels: Sequence[str],
        denominator: Ints | None = None,
    ) -> CalibrationData:
        """Return the data of plain arrays, as tests of a calibrator make them.

        Parameters
        ----------
        scores, plausibilities : ndarray, (example, label)
        examples : iterable
            Names of the examples.
        labels : sequence of str
        denominator : ndarray of int64, (example,), optional
        """
        from plausibly.calibration.examples import HashedNames

        return cls(
            scores=ArrayScores(scores),
            plausibilities=Dense(plausibilities),
            denominator=denominator,
            examples=HashedNames(hash_names(examples)),
            labels=tuple(labels),
        )

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def hashes(self) -> Hashes:
        """Hashes of the names of the examples, (example,): what randomness is keyed by."""
        return self.examples.hashes

    @cached_property
    def scores(self) -> Floats:
        """All scores, (example, label)."""
        return self.source.dense()

    @cached_property
    def plausibilities(self) -> Floats:
        """Dense plausibilities, (example, label); rows sum to 1."""
        return unwritable(self.stored.dense())

    def draw(self, draws: int, keys: Keys) -> NDArray[np.int32]:
        """Return label codes (draw, example), each drawn from the plausibilities of its example.

        The first draws of an example do not depend on how many are asked for, nor on the other
        examples. They depend on the order of the labels, in which plausibilities are cumulated.
        Draw j is from the j-th resampled plausibilities, where there are any.

        Raises
        ------
        InputError
            ``draws-too-many`` where more are asked for than there are resampled plausibilities.
        """
        return self.labels_at(keys.uniform(self.hashes, draws))

    def labels_at(self, uniform: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return label codes (draw, example) where cumulated plausibilities pass uniforms.

        Parameters
        ----------
        uniform : ndarray, (example, draw)
        """
        if self.resampled is None:
            return draw_labels(self.stored, uniform)
        draws = uniform.shape[1]
        if draws > len(self.resampled):
            raise InputError(
                "draws-too-many",
                f"{counted(draws)} draws from {counted(len(self.resampled))} resampled "
                "plausibilities",
                expected="plausibilities of its own for each draw",
                found=f"{counted(len(self.resampled))} along the dim draw",
                hint=f"draws={len(self.resampled)}, or resample more often: aggregator bootstrap "
                f"with draws={draws}",
                source="plausibilities",
            )
        columns = [
            draw_labels(plausibilities, uniform[:, place : place + 1])[0]
            for place, plausibilities in enumerate(self.resampled[:draws])
        ]
        return np.stack(columns)

    def coordinate(self, name: str, *, source: str) -> NDArray[np.generic]:
        """Return what is known about each example under a name, (example,).

        Parameters
        ----------
        name : str
        source : str
            Who asks, such as ``"calibrator mondrian"``.

        Raises
        ------
        InputError
            ``coordinate-missing``, with the coordinates there are; ``coordinate-empty``.
        """
        if name not in self.coordinates:
            raise lacking(name, sorted(self.coordinates), "examples", source=source)
        return complete(self.coordinates[name], name, source=source)

    def groups(self, name: str, *, source: str) -> tuple[NDArray[np.str_], NDArray[np.intp]]:
        """Return the names of the groups under a name, sorted, and the group of each example.

        Raises what `coordinate` does.
        """
        values = group_names(self.coordinate(name, source=source))
        groups, group = np.unique(values, return_inverse=True)
        return groups, group

    def weights(self, name: str, *, source: str) -> NDArray[np.float64]:
        """Return likelihood ratios under a name, (example,): finite numbers from 0 on.

        Raises what `coordinate` does, and ``weights-range``.
        """
        return check_weights(self.coordinate(name, source=source), name, source="predictions")

    def label_coordinate(self, name: str, *, source: str) -> NDArray[np.generic]:
        """Return what is known about each label under a name, (label,).

        Raises
        ------
        InputError
            ``coordinate-missing``, with the coordinates there are.
        """
        if name not in self.label_coordinates:
            raise lacking(name, sorted(self.label_coordinates), "labels", source=source)
        return complete(self.label_coordinates[name], name, source=source, of="labels")

    def majority_vote(self) -> NDArray[np.int32]:
        """Return the label code (example,) of the largest plausibility, the first where tied."""
        return self.stored.argmax()

    def scores_at(self, codes: Ints) -> Floats:
        """Return the scores (draw, example) at label codes of that shape."""
        rows = np.broadcast_to(np.arange(len(self)), codes.shape)
        return self.source.at(rows, codes)

    def scores_of(self, atoms: Atoms) -> Floats:
        """Return the score of each atom, (atom,)."""
        return self.source.at(atoms.row, atoms.label)

    def atoms(self) -> Atoms:
        """Return the masses of all labels of the examples, from dense or sparse plausibilities.

        Exact counts where the plausibilities are counts over their `denominator`, else rounded up
        to 2^-40, which can only enlarge sets.
        """
        values, bits = self.stored.weight, float_bits(len(self))

        def places(rows: slice) -> list[Ints] | None:
            part = values[rows]
            units = exact_units(part, total[rows]) if exact else raised_units(part, bits)
            if units is None:
                return None
            place = np.flatnonzero(units)
            row, slot = np.divmod(place, max(1, values.shape[1]))
            return [row + rows.start, slot, units.ravel()[place]]

        exact, blocks = False, None
        # Files keep masses as doubles, which are exact up to here.
        if self.denominator is not None and self.denominator.max(initial=0) < 2**DOUBLE_BITS:
            exact, total = True, self.denominator.astype(np.int64)
            blocks = map_blocks(places, values.shape)
        if blocks is None or None in blocks:
            exact, total = False, np.full(len(values), 2**bits, dtype=np.int64)
            blocks = map_blocks(places, values.shape)
        none = [np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, np.int64)]
        row, slot, units = map(np.concatenate, zip(none, *filter(None, blocks), strict=True))
        label = self.stored.label_at(row, slot).astype(np.intp, copy=False)
        return Atoms(row, label, units, total)

    def take(self, rows: NDArray[np.intp]) -> CalibrationData:
        """Return the data of some examples."""
        return attrs.evolve(
            self,
            scores=self.source.take(rows),
            plausibilities=self.stored.take(rows),
            denominator=None if self.denominator is None else self.denominator[rows],
            examples=self.examples.take(rows),
            coordinates={name: values[rows] for name, values in self.coordinates.items()},
            augmented=None if self.augmented is None else self.augmented[:, rows],
            resampled=None if self.resampled is None else self.resampled[:, rows],
        )
