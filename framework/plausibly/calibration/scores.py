"""Calibration scores, with masses, that a test score is compared with."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.guarantee import BY_LABEL, Claim, converter
from plausibly.kernels.masses import ordered_sum
from plausibly.kernels.types import Floats, Ints, unwritable
from plausibly.type_hints import fits, spelled

_SUM_WITHIN = 1e-5

AugmentationMode: TypeAlias = Literal["none", "separate", "mean", "pooled"]


@attrs.frozen(kw_only=True, eq=False)
class CalibrationScores:
    """Atoms: the scores, with masses, that a test score is compared with, and what they claim.

    Attributes
    ----------
    scores : ndarray, (replicate, atom)
        Scores of labels of the calibration examples.
    claim : Claim
        What the sets will cover, and under which assumptions.
    units : ndarray of int, (atom,), or None
        Mass of each atom in 1/`denominator` of its example, the same in every replicate; None
        where an atom is an example.
    row : ndarray of int, (atom,), or None
        Example of each atom; None where atom i is example i. Where the claim has a cluster: the
        place of the cluster among their sorted names.
    denominator : ndarray of int, (example,), or None
        Units in the mass of one example; None where an atom is an example.
    separate : bool
        False where only the mean over replicates exists, as for expected draws.
    label : ndarray of int, (replicate, atom), or None
        Label code of each atom, where a calibrator can say: what `mondrian` by label needs.
    test_mass : Fraction
        Mass that the new example counts for in a p-value's numerator, in masses of one example.
    group : ndarray of int, (atom,), or None
        Group of each atom, a position in `groups`, where the claim is `by` groups or labels.
    groups : tuple of str
        Names of the groups.
    of_atoms : bool
        Whether a group weighs as much as its atoms; else as much as the examples in it.
    weight : ndarray, (example,), or None
        Weight of each calibration example, where the claim assumes `weights`.
    augmentation : {"none", "separate", "mean", "pooled"}
        Which score of a new example is compared: its only one, one in each replicate (the
        augmentation of that number), the mean over augmentations, or that of any single
        augmentation.
    order : ndarray of int, (example,), or None
        Place of each example, or cluster, in a random order that is keyed by the names; for
        combiners that need "losses".
    uniform : ndarray, (example,), or None
        A uniform of each, where `order` is.
    """

    scores: Floats
    claim: Claim = attrs.field(factory=Claim)
    units: Ints | None = None
    row: Ints | None = None
    denominator: Ints | None = None
    separate: bool = True
    label: Ints | None = None
    test_mass: Fraction = Fraction(1)
    group: Ints | None = None
    groups: tuple[str, ...] = ()
    of_atoms: bool = False
    weight: Floats | None = None
    augmentation: AugmentationMode = "none"
    order: Ints | None = None
    uniform: Floats | None = None

    def __attrs_post_init__(self) -> None:
        arrays = "scores units row denominator label group weight order uniform"
        for name in arrays.split():
            if isinstance(array := getattr(self, name), np.ndarray):
                object.__setattr__(self, name, unwritable(array))  # combiners see these

    def contents(self) -> str:
        """Return what contents are expected instead, or nothing: asked once, by calibration."""
        for record in (self, self.claim):
            for field in attrs.fields(attrs.resolve_types(type(record))):
                if not fits(getattr(record, field.name), field.type):
                    return f"{field.name}: {spelled(field.type)}"
        if self.scores.ndim != 2 or not self.scores.size:
            return "scores of shape (replicate, atom), one or more of each"
        if np.isnan(self.scores.max()) or self.scores.max() == np.inf:
            return "scores without NaN, finite or -inf"
        if len({part is None for part in (self.units, self.row, self.denominator)}) > 1:
            return "units, row and denominator together, or none of them"
        if (self.group is None) == bool(self.claim.by):
            return "claim.by and group together, or none of them"
        if (self.weight is None) == bool(self.claim.weights):
            return "weight and claim.assumption.weights together, or none of them"
        atoms, examples = self.scores.shape[1], self.examples
        shapes = {
            **dict.fromkeys(("units", "row", "group"), (atoms,)),
            **dict.fromkeys(("denominator", "weight", "order", "uniform"), (examples,)),
            "label": self.scores.shape,
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                return f"{name} of shape {shape}"
        if self.test_mass <= 0 or not (self.claim.share is None or 0 <= self.claim.share <= 1):
            return "test_mass above 0, and share from 0 to 1"
        bounds = {"row": examples, "group": len(self.groups), "label": np.inf}
        for name, most in bounds.items():
            codes = getattr(self, name)
            whole = codes is None or codes.dtype.kind in "iu"
            if codes is not None and not (whole and 0 <= codes.min() <= codes.max() < most):
                return f"{name}: whole numbers from 0 to below {most}"
        if len(set(self.groups)) < len(self.groups):
            return "groups with names of their own"
        if self.weight is not None and not 0 <= self.weight.min() <= self.weight.max() < np.inf:
            return "finite weights from 0 on"
        units, row, denominator = self.units, self.row, self.denominator
        if units is None or row is None or denominator is None:
            return ""
        for name, masses in {"units": units, "denominator": denominator}.items():
            whole = masses.dtype.kind in "iu" or all(type(mass) is int for mass in masses.tolist())
            if not whole or masses.min(initial=1) < (name == "denominator"):
                return f"{name}: whole numbers from {int(name == 'denominator')} on"
        sums = np.bincount(row, units.astype(np.float64), minlength=examples)
        mass = denominator.astype(np.float64)
        # Plausibilities sum to 1 within 1e-6, and masses may be rounded up by one unit each.
        own = float(self.test_mass)
        spare = _SUM_WITHIN * mass + np.bincount(row, minlength=examples)
        if (sums > own * mass + max(1.0, own) * spare).any():
            return "units that sum to no more than test_mass times the denominator of each example"
        if self.claim.target != "risk" and (sums < mass - spare).any():
            return "units that sum to the denominator of each example"
        return ""

    @property
    def examples(self) -> int:
        """Number of calibration examples behind the atoms."""
        return self.scores.shape[1] if self.denominator is None else len(self.denominator)

    @property
    def counting(self) -> bool:
        """True if every atom is an example and weighs as much as any other."""
        return self.units is None and self.weight is None

    @property
    def by_examples(self) -> str:
        """Coordinate by which groups of examples are kept apart; empty where none is."""
        return "" if self.claim.by == BY_LABEL else self.claim.by

    def plain(self) -> dict[str, object]:
        """Return all but the arrays as plain data."""
        named = ["claim", "groups", "of_atoms", "separate", "augmentation", "test_mass"]
        data: dict[str, object] = converter().unstructure(
            {name: getattr(self, name) for name in named}
        )
        return data

    def masses(self) -> tuple[Ints, NDArray[np.intp], Ints]:
        """Return mass and example of each atom, and the mass of each example, in its units."""
        if self.units is None or self.row is None or self.denominator is None:
            ones = np.ones(self.scores.shape[1], dtype=np.int64)
            return ones, np.arange(len(ones)), ones
        return self.units, self.row.astype(np.intp), self.denominator

    def group_sizes(self) -> list[float]:
        """Return how many calibration examples are in each group, or which mass, (group,)."""
        if self.group is None:
            return []
        size = len(self.groups)
        units, row, denominator = self.masses()
        if not self.of_atoms:
            rows = np.unique(np.stack([self.group, row]), axis=1)
            return [float(count) for count in np.bincount(rows[0], minlength=size)]
        each = (units / denominator[row]).astype(np.float64)
        return [float(mass) for mass in ordered_sum(self.group, each, size)]

    def of_group(self, code: int) -> CalibrationScores:
        """Return the atoms of one group, with the examples that have any there."""
        if self.group is None:
            return self
        inside = self.group == code
        _, row, _ = self.masses()
        kept, row = np.unique(row[inside], return_inverse=True)
        counting = self.units is None or self.denominator is None
        return attrs.evolve(
            self,
            scores=self.scores[:, inside],
            units=None if self.units is None else self.units[inside],
            row=None if counting else row,
            denominator=None if self.denominator is None else self.denominator[kept],
            label=None,  # they only form groups
            weight=None if self.weight is None else self.weight[kept],
            order=None,  # of combiners that read losses, which go with no groups
            uniform=None,
            claim=attrs.evolve(self.claim, by=""),
            group=None,
            groups=(),
        )
