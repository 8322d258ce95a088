"""Plausibilities: dense, drawn several times, or sparse for thousands of labels.

The sparse form is a Dataset with the dims ``example``, ``slot`` and ``label_name``:

============ ================ ==================================================================
variable     dims             meaning
============ ================ ==================================================================
weight       example, slot    float32 or float64: the plausibility in this slot, 0 in padding
label        example, slot    int32: the code of its label, -1 in padding
label_name   label_name       coordinate: the names of all labels, in order; a code is a place here
example      example          coordinate: the names of the examples
denominator  example          optional coordinate, as in the dense form
============ ================ ==================================================================

The filled slots of an example come first, by rising code, each label at most once, each weight
above 0; there are as many slots as the widest example needs. So every array of plausibilities has
exactly one sparse form, and `to_dense` of it gives the same bits back. Names are not a coordinate
``label``, because a Dataset cannot hold both a variable and a dim coordinate of that name.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, TypeGuard, cast

import attrs
import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.names import (
    Names,
    check_names,
    is_lazy,
    name_texts,
    named_array,
    several,
    text_array,
)
from plausibly.data.validate import are_sound, unsound
from plausibly.errors import InputError, listed
from plausibly.kernels.blocks import map_blocks
from plausibly.kernels.sparse import Dense, Sparse
from plausibly.kernels.types import Floats, Ints

Form: TypeAlias = xr.DataArray | xr.Dataset
"""Plausibilities as users have them: ([draw,] example, label), or sparse."""

FEW_LABELS = 32
"""Up to here the dense form is what is computed with."""


def is_sparse(array: object) -> TypeGuard[xr.Dataset]:
    """Return whether this is meant as sparse plausibilities."""
    return isinstance(array, xr.Dataset) and {names.WEIGHT, names.LABEL} <= set(array.variables)


def label_dim(array: Form) -> str:
    """Return the dim over which the labels have their names."""
    return names.LABEL_NAME if names.LABEL_NAME in array.dims else names.LABEL


@attrs.frozen(kw_only=True, eq=False)
class Plausibilities:
    """Checked plausibilities under the names of their examples and labels.

    Those in chunks are under checked names, and each chunk is checked when it is read.
    """

    array: Form
    examples: Names
    labels: Names

    @classmethod
    def from_xarray(
        cls,
        array: Form,
        *,
        source: str = "plausibilities",
        draws: bool = True,
        known: Sequence[Names] = (),
    ) -> Plausibilities:
        """Return plausibilities as the framework reads them; the caller's are not changed.

        Names that equal those of `known` are not checked again.
        """
        if is_sparse(array):
            return cls.of(check_sparse(array, source))
        first = names.DRAW if draws else ""
        named = named_array(array, source, "plausibilities", first=first, known=known)
        if not are_sound(named.array.values, "plausibility"):
            raise unsound(named.array, "plausibility", source)
        checked = _with_exact_denominator(named.array)
        return cls(array=checked, examples=named.examples, labels=named.labels)

    @classmethod
    def of(cls, array: Form) -> Plausibilities:
        """Return a record of plausibilities that are known to be in order."""
        return cls(
            array=array,
            examples=Names(array.get_index(names.EXAMPLE)),
            labels=Names(array.get_index(label_dim(array))),
        )

    def take_examples(self, rows: Ints) -> Plausibilities:
        """Return some of the examples."""
        if isinstance(self.array, xr.Dataset):
            part: Form = self.array.isel({names.EXAMPLE: rows})
        else:
            part = names.take(self.array, names.EXAMPLE, rows)
        return attrs.evolve(self, array=part, examples=self.examples.take(rows))

    def take_labels(self, places: Ints) -> Plausibilities:
        """Return some of the labels, in this order; the others have no plausibility."""
        if isinstance(self.array, xr.Dataset):
            about = self.about.isel({names.LABEL: places})
            slots = self.stored.ordered(places).above_zero()
            part: Form = sparse_dataset(slots, about, self.array.attrs)
        else:
            part = names.take(self.array, names.LABEL, places)
        return attrs.evolve(self, array=part, labels=self.labels.take(places))

    @property
    def about(self) -> xr.Dataset:
        """The coordinates alone, over ``example`` and ``label``, and the attributes."""
        if not isinstance(self.array, xr.Dataset):
            return self.array.coords.to_dataset().assign_attrs(self.array.attrs)
        bare = self.array.drop_vars([names.WEIGHT, names.LABEL])
        bare = bare.drop_dims(names.SLOT, errors="ignore")
        return bare.rename({names.LABEL_NAME: names.LABEL})

    @property
    def in_chunks(self) -> bool:
        """True if the numbers are not read yet."""
        return is_lazy(self.array)

    def averaged(self) -> Plausibilities:
        """Return the mean over draws, where they were drawn."""
        if names.DRAW not in self.array.dims:
            return self
        return attrs.evolve(self, array=mean_over_draws(self.array))

    @property
    def draws(self) -> Floats | None:
        """Plausibilities of each draw, (draw, example, label); None where nothing was drawn."""
        if isinstance(self.array, xr.Dataset) or names.DRAW not in self.array.dims:
            return None
        values: Floats = self.array.values
        return values

    @cached_property
    def stored(self) -> Dense:
        """The numbers in their form: sparse, or dense; the mean over draws."""
        if not isinstance(self.array, xr.Dataset):
            drawn = self.draws is not None
            return Dense(mean_over_draws(self.array).values if drawn else self.array.values)
        weight: Floats = self.array[names.WEIGHT].values
        label: Ints = self.array[names.LABEL].values
        return Sparse(weight, label, len(self.labels))

    def dense(self) -> xr.DataArray:
        """Return the dense form (example, label); the mean over draws."""
        if not isinstance(self.array, xr.Dataset):
            return mean_over_draws(self.array)
        return xr.DataArray(
            self.stored.dense(),
            dims=(names.EXAMPLE, names.LABEL),
            coords=self.about.coords,
            name=names.PLAUSIBILITIES,
            attrs=self.array.attrs,
        )


def to_sparse(plausibilities: xr.DataArray) -> xr.Dataset:
    """Return the sparse form.

    Parameters
    ----------
    plausibilities : DataArray, (example, label)
        None below 0.

    Returns
    -------
    Dataset
        As the module describes; coordinates of the examples and attributes are kept, coordinates
        of the labels move to ``label_name``.

    Raises
    ------
    InputError
        Where dims or names are not those of plausibilities, or an entry is negative or NaN.
    """
    array = named_array(plausibilities, "plausibilities", "plausibilities").array
    values: Floats = array.values
    if not (values >= 0).all():
        raise _invalid("an entry is negative or not a number", "0 or more")
    return sparse_dataset(Dense(values).above_zero(), array.coords.to_dataset(), array.attrs)


def sparse_dataset(
    slots: Sparse, about: xr.Dataset, attributes: Mapping[Hashable, object]
) -> xr.Dataset:
    """Return slots as a Dataset, with coordinates over ``example`` and ``label``."""
    dims = (names.EXAMPLE, names.SLOT)
    renamed = about.rename({names.LABEL: names.LABEL_NAME})
    variables = {names.WEIGHT: (dims, slots.weight), names.LABEL: (dims, slots.label)}
    return renamed.assign(variables).assign_attrs(attributes)


def to_dense(sparse: xr.Dataset) -> xr.DataArray:
    """Return the dense form (example, label) of sparse plausibilities.

    Raises
    ------
    InputError
        What `check_sparse_form` raises.
    """
    return Plausibilities.of(check_sparse_form(sparse)).dense()


def mean_over_draws(plausibilities: Form) -> xr.DataArray:
    """Return dense (example, label) plausibilities: where they were drawn, the mean over draws."""
    if isinstance(plausibilities, xr.Dataset):
        return to_dense(plausibilities)
    if names.DRAW not in plausibilities.dims:
        return plausibilities
    values: Floats = plausibilities.values
    mean = values.mean(axis=0, dtype=np.float64).astype(values.dtype)
    single = plausibilities.isel({names.DRAW: 0}, drop=True).copy(data=mean)
    # The mean is no whole number of the units that each draw had.
    return single.drop_vars(names.DENOMINATOR, errors="ignore")


def check_sparse_form(sparse: xr.Dataset) -> xr.Dataset:
    """Return sparse plausibilities with dims in order, if they are as the module describes."""
    shapes = {
        names.WEIGHT: {names.EXAMPLE, names.SLOT},
        names.LABEL: {names.EXAMPLE, names.SLOT},
        names.LABEL_NAME: {names.LABEL_NAME},
        names.EXAMPLE: {names.EXAMPLE},
    }
    for name, dims in shapes.items():
        if name not in sparse.variables or set(sparse[name].dims) != dims:
            raise _invalid(f"{name} is missing", f"a variable {name} over {listed(sorted(dims))}")
    sparse = sparse.transpose(names.EXAMPLE, names.SLOT, ...)
    for dim, noun in ((names.EXAMPLE, names.EXAMPLE), (names.LABEL_NAME, names.LABEL)):
        check_names(name_texts(sparse.indexes[dim]), noun, source="sparse plausibilities")
    weight: Floats = sparse[names.WEIGHT].values
    label: Ints = sparse[names.LABEL].values
    if weight.dtype.kind != "f" or label.dtype.kind not in "iu":
        raise _invalid("the types differ", "weight as floats and label as integers")
    filled = label >= 0
    outside = (label < names.NO_LABEL) | (label >= sparse.sizes[names.LABEL_NAME])
    unfit = np.where(filled, ~((weight > 0) & np.isfinite(weight)), weight != 0)
    rising = filled[:, :-1] & (label[:, 1:] > label[:, :-1])
    for bad, fault, expected in (
        (outside, "codes out of range", "places in label_name, or -1"),
        (unfit, "unfit weights", "above 0; 0 at -1"),
        (~rising & filled[:, 1:], "codes out of order", "rising codes, each once, then padding"),
    ):
        examples = name_texts(sparse.indexes[names.EXAMPLE][np.flatnonzero(bad.any(axis=1))])
        if examples:
            raise _invalid(
                f"{fault} in {several(len(examples), 'example')} ({listed(examples)})", expected
            )
    return sparse


def _invalid(what: str, expected: str) -> InputError:
    return InputError(
        "sparse-invalid",
        f"sparse plausibilities: {what}",
        expected=expected,
        hint="plausibly.to_sparse(lam) makes them",
        source="sparse plausibilities",
    )


def check_sparse(sparse: xr.Dataset, source: str) -> xr.Dataset:
    """Return sparse plausibilities as the framework reads them; the caller's are not changed."""
    sparse = check_sparse_form(sparse)
    weight = sparse[names.WEIGHT]
    # Checked as the plausibilities of labels that are called by their slots.
    beside = [name for name, item in weight.coords.items() if item.dims != (names.EXAMPLE,)]
    rows = weight.drop_vars(beside).rename({names.SLOT: names.LABEL})
    slots = [str(slot) for slot in range(weight.shape[1])]
    rows = check_plausibilities(rows.assign_coords({names.LABEL: slots}), source=source)
    for dim in (names.EXAMPLE, names.LABEL_NAME):
        if sparse[dim].dtype.kind != "U":
            texts = text_array(name_texts(sparse.indexes[dim]))
            sparse = sparse.assign_coords({dim: texts})
    if names.DENOMINATOR in sparse.coords:
        sparse = sparse.drop_vars(names.DENOMINATOR)
    if names.DENOMINATOR in rows.coords:
        sparse = sparse.assign_coords({names.DENOMINATOR: rows[names.DENOMINATOR].variable})
    return sparse.assign({names.WEIGHT: ((names.EXAMPLE, names.SLOT), rows.values)})


def check_plausibilities(
    plausibilities: xr.DataArray | xr.Dataset, *, source: str = "plausibilities", draws: bool = True
) -> xr.DataArray:
    """Return plausibilities as the framework reads them; the caller's array is not changed."""
    if is_sparse(plausibilities):
        plausibilities = to_dense(plausibilities)
    checked = Plausibilities.from_xarray(plausibilities, source=source, draws=draws)
    return cast("xr.DataArray", checked.array)


def _with_exact_denominator(array: xr.DataArray) -> xr.DataArray:
    """Return the array without a denominator of which its rows are not whole multiples."""
    column = array.coords.get(names.DENOMINATOR)
    if column is None:
        return array
    total: Ints = column.values
    values: Floats = array.values
    if column.dims == (names.EXAMPLE,) and total.dtype.kind in "iu" and total.min() > 0:
        # As far as the rounding of shares lets counts be whole.
        rounding = np.maximum(1e-6, 4 * np.finfo(values.dtype).eps * total)
        most = np.minimum(rounding, 0.25)[:, None]

        def are_counts(rows: slice) -> bool:
            counts = np.multiply(values[..., rows, :], total[rows, None], dtype=np.float64)
            return bool((np.abs(counts - np.rint(counts)) <= most[rows]).all())

        if all(map_blocks(are_counts, (len(total), values[..., 0, :].size))):
            same = total.dtype == np.int64
            whole = column.astype(np.int64)
            return array if same else array.assign_coords({names.DENOMINATOR: whole})
    return array.drop_vars(names.DENOMINATOR)
