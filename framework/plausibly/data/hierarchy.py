"""Labels that stand above others: ``dermatitis`` above ``eczema``, by the coordinate ``parent``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import names
from plausibly.data.left_out import Labelled
from plausibly.data.packed import label_dim, slots_of, taken
from plausibly.data.text import does, is_missing, name_text, name_texts, quoted, several
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.types import Bools, Floats, Ints

Places = Callable[[Sequence[int]], str]


@attrs.frozen(kw_only=True, eq=False)
class Hierarchy:
    """Which label stands above which.

    Attributes
    ----------
    labels : tuple of str
    parent : ndarray of int, (label,)
        Code of the label directly above, -1 where there is none.
    """

    labels: tuple[str, ...]
    parent: Ints

    @classmethod
    def of(
        cls,
        labels: Sequence[str],
        parents: Sequence[str],
        *,
        whose: str = "the labels",
        places: Places | None = None,
    ) -> Hierarchy:
        """Return the hierarchy of labels, each with the name of its parent or the empty text.

        Parents that are no label among these are left out: nobody stands above, then.

        Parameters
        ----------
        labels, parents : sequence of str
        whose : str
            What the messages call them.
        places : callable, optional
            Where rows stand, as messages say it.

        Raises
        ------
        InputError
            ``parents-circular`` where a label stands above itself.
        """
        code = {label: place for place, label in enumerate(labels)}
        parent = np.array([code.get(name, -1) for name in parents], dtype=np.int64)
        found = cls(labels=tuple(labels), parent=parent)
        circle = found._circle()
        if circle:
            where = f" ({places(sorted(circle))})" if places else ""
            chain = [labels[at] for at in (*circle, circle[0])]
            raise InputError(
                "parents-circular",
                f"{whose}: {quoted(labels[circle[0]])} stands above itself{where}",
                expected="parents that end at a label without one",
                got=" under ".join(map(quoted, chain if len(chain) < 6 else [*chain[:4], "…"])),
                do="empty the parent of the topmost of them",
                whose=whose,
                details={"labels": [labels[at] for at in circle]},
            )
        return found

    @classmethod
    def of_table(cls, table: xr.Dataset | xr.DataArray) -> Hierarchy:
        """Return the hierarchy in the coordinate ``parent`` over the labels of a table or array.

        Raises
        ------
        InputError
            ``parents-circular``.
        """
        labels = name_texts(table.indexes[label_dim(table)])
        above = parents_by_name(table)
        return cls.of(labels, [above.get(label, "") for label in labels])

    def _circle(self) -> list[int]:
        """Return the codes of a circle, from the first of them up; none where there is none."""
        done: set[int] = set()
        for start in range(len(self.labels)):
            walk: dict[int, None] = {}
            at = start
            while at >= 0 and at not in done and at not in walk:
                walk[at] = None
                at = int(self.parent[at])
            if at in walk:
                steps = list(walk)
                circle = steps[steps.index(at) :]
                lowest = circle.index(min(circle))
                return [*circle[lowest:], *circle[:lowest]]
            done.update(walk)
        return []

    @cached_property
    def above(self) -> tuple[int, ...]:
        """Codes of the labels that stand above others, each before those that stand above it."""
        codes = np.unique(self.parent[self.parent >= 0]).tolist()
        return tuple(sorted(codes, key=lambda code: (-self._depth(code), code)))

    def _depth(self, code: int) -> int:
        depth = 0
        while (code := int(self.parent[code])) >= 0:
            depth += 1
        return depth

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """Codes of the labels that stand above none, (leaf,)."""
        return np.setdiff1d(np.arange(len(self.labels)), self.above)

    @cached_property
    def below(self) -> Mapping[int, NDArray[np.int64]]:
        """For each label that stands above others: the codes of its leaves, at any level below."""
        found: dict[int, list[int]] = {code: [] for code in self.above}
        for leaf in self.leaves.tolist():
            code = leaf
            while (code := int(self.parent[code])) >= 0:
                found[code].append(leaf)
        return {code: np.array(leaves, np.int64) for code, leaves in found.items()}


def parents_by_name(table: xr.Dataset | xr.DataArray) -> Mapping[str, str]:
    """Return the name in the coordinate ``parent`` of each label that has one."""
    dim = label_dim(table)
    if names.PARENT not in table.coords or table[names.PARENT].dims != (dim,):
        return {}
    labels = name_texts(table.indexes[dim])
    found = zip(labels, table[names.PARENT].values.tolist(), strict=True)
    return {label: name_text(name) for label, name in found if not is_missing(name) and name != ""}


def without_parents(array: Labelled) -> Labelled:
    """Return plausibilities, dense or packed, of the leaves alone."""
    tree = Hierarchy.of_table(array)
    return taken(array, names.LABEL, tree.leaves) if tree.above else array


def without_unsaid_parents(
    array: Labelled, wanted: Sequence[str], *, whose: str, other: str
) -> Labelled:
    """Return plausibilities without those parents of other labels that `wanted` lacks.

    Parameters
    ----------
    array : DataArray, (..., label), or packed Dataset
    wanted : sequence of str
        Labels of the model.
    whose, other : str
        What the messages call the owner of the array, and of `wanted`.

    Raises
    ------
    InputError
        ``parents-named`` where such a parent has plausibility.
    """
    tree = Hierarchy.of_table(array)
    known = set(wanted)
    lost = [code for code in tree.above if tree.labels[code] not in known]
    if not lost:
        return array
    said, rows = _said(array, lost)
    if not said.any():
        return taken(array, names.LABEL, np.setdiff1d(np.arange(len(tree.labels)), lost))
    named = [tree.labels[code] for place, code in enumerate(lost) if said[place]]
    examples = name_texts(array.indexes[names.EXAMPLE][rows])
    raise InputError(
        "parents-named",
        f"{does(whose, 'name')} {listed(map(quoted, named))}, which "
        f"{'stands' if len(named) == 1 else 'stand'} above labels that {does(other, 'have')}",
        expected=f"the {several(len(known), 'label')} of {other}, or how to get there",
        got=f"{several(len(named), 'such label')} in {counted(len(examples))} of "
        f"{several(rows.size, 'example')} ({listed(examples)})",
        do='aggregate with --aggregator spread (aggregator="spread"): it gives that to the labels '
        "below, in equal shares or by another policy",
        whose=whose,
        details={"labels": named, "examples": examples},
    )


def _said(array: xr.DataArray | xr.Dataset, codes: Sequence[int]) -> tuple[Bools, Bools]:
    """Return which of these labels, (code,), and which examples with one have plausibility."""
    if isinstance(array, xr.Dataset):
        label: Ints = slots_of(array).label
        rows: Bools = np.logical_or.reduce(np.isin(label, codes), axis=1)
        return np.isin(codes, label), rows
    values: Floats = array.values
    above = values.reshape(-1, *values.shape[-2:])[..., codes] != 0
    return above.any(axis=(0, 1)), above.any(axis=(0, 2))
