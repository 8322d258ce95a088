"""A calibration for each group, or for each label: the promise then holds of each."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import (
    BY_LABEL,
    UNSEEN,
    CalibrationData,
    CalibrationScores,
    Calibrator,
    Ints,
    Keys,
    group_names,
)
from plausibly_builtins.calibrators._inner import (
    DEFAULT,
    of_examples,
    refuse_inside,
    refused,
    resolved,
)


@attrs.frozen(kw_only=True)
class Mondrian:
    """Keep p-values apart by a group that is known of new examples, or by label.

    By a coordinate of the examples: the atoms of the group of the new example, own mass one. A
    group that calibration lacks has no atoms: its examples get every label, with a warning.

    By ``"label"``: for the label k that is asked about the atoms of label k, one mass formula
    ``(sum_i lambda_ik 1[E_ik <= s] + 1) / (sum_i lambda_ik + 1)``. A new example that an expert
    would call k is then covered with 1 - alpha. What counts is the mass ``sum_i lambda_ik`` of a
    label, not the number of examples that have it.

    Attributes
    ----------
    by : str
        A coordinate of the examples, or ``"label"``.
    inner : Calibrator
        What makes the atoms.

    References
    ----------
    Vovk, Lindsay, Nouretdinov & Gammerman, Mondrian confidence machine, 2003; the masses:
    docs/guarantee.md.
    """

    by: str = attrs.field(validator=attrs.validators.min_len(1))
    inner: Calibrator = attrs.field(default=DEFAULT, converter=resolved)

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return the inner calibrator's atoms, each in the cell of its group or label."""
        if self.by == BY_LABEL:
            return self._by_label(data, keys)
        return self._by_group(data, keys)

    def _by_group(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        values = data.coordinate(self.by, whose="calibrator mondrian")
        groups, code = np.unique(group_names(values), return_inverse=True)
        rows = [np.flatnonzero(code == group) for group in range(len(groups))]
        # Without examples there is still an answer: atoms of no cell.
        parts = [self.inner.calibrate(data.take(own), keys) for own in rows or [code]]
        for part in parts:
            refuse_inside(
                part, "mondrian", weights=True, reason="name one coordinate that has both groupings"
            )
        found = _together(parts)
        claim = found.claim
        within = f'within each value of "{self.by}"'
        conditions = [one if one == UNSEEN else f"{one}, {within}" for one in claim.conditions]
        covers = claim.covers
        if claim.cluster:
            # A patient with examples in several groups is drawn by those in one.
            covers = f'{covers}, among those of one "{self.by}"'
        return attrs.evolve(
            found,
            claim=attrs.evolve(
                claim,
                covers=covers,
                by=self.by,
                conditions=tuple(conditions),
                notes=_notes(groups, parts),
            ),
            group=np.repeat(
                np.arange(len(groups)), [part.scores.shape[1] for part in parts][: len(groups)]
            ),
            groups=tuple(map(str, groups)),
        )

    def _by_label(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        found = self.inner.calibrate(data, keys)
        refuse_inside(found, "mondrian", weights=False, reason="masses of a label without weights")
        if found.label is None or found.augmentation != "none" or not of_examples(found, data):
            raise refused("mondrian", self.inner, "atoms that are not of one label of one example")
        draws = len(found.scores)
        units, denominator = found.masses()
        return attrs.evolve(
            found,
            scores=found.scores.reshape(1, -1),
            units=np.tile(units, draws),
            row=np.tile(found.rows(), draws),
            denominator=denominator * draws,
            label=found.label.reshape(1, -1),
            separate=False,
            claim=attrs.evolve(
                found.claim,
                by=BY_LABEL,
                why="given the label, the new example is each of n + 1 with the odds of its "
                "plausibilities, and counts for one at most",
            ),
            group=found.label.reshape(-1).astype(np.int64),
            groups=data.labels,
            of_atoms=True,
        )


def _notes(groups: NDArray[np.str_], parts: Sequence[CalibrationScores]) -> tuple[str, ...]:
    """Return what is noted of all groups, and what differs with the group that it is noted of."""
    of_all = [
        note for note in parts[0].claim.notes if all(note in part.claim.notes for part in parts)
    ]
    own = [
        f"{group}: {note}"
        for group, part in zip(groups, parts, strict=False)
        for note in part.claim.notes
        if note not in of_all
    ]
    return (*own, *of_all)


def _joined(parts: Sequence[Ints | None]) -> Ints | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known, axis=-1) if len(known) == len(parts) else None


def _together(parts: Sequence[CalibrationScores]) -> CalibrationScores:
    """Return the atoms of all groups side by side."""
    first = parts[0]
    if first.units is None:
        row = None
    else:
        before = np.cumsum([0, *(part.examples for part in parts)])
        row = np.concatenate([p.rows() + start for p, start in zip(parts, before, strict=False)])
    weight = None
    if first.weight is not None:
        weight = np.concatenate([part.weight for part in parts if part.weight is not None])
    return attrs.evolve(
        first,
        scores=np.concatenate([part.scores for part in parts], axis=1),
        units=_joined([part.units for part in parts]),
        row=row,
        denominator=_joined([part.denominator for part in parts]),
        label=_joined([part.label for part in parts]),
        weight=weight,
    )
