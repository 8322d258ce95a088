"""Calibrators around another one: apart by group or label, weighted, or with clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from plausibly.plugin import (
    CALIBRATOR,
    CalibrationData,
    CalibrationScores,
    Calibrator,
    ComponentLike,
    Exchangeable,
    IncompatibleComponents,
    Ints,
    Keys,
    counted,
    effective_size,
    names,
    resolve,
)


def _resolved(like: ComponentLike[Calibrator]) -> Calibrator:
    return resolve(CALIBRATOR, like)


@attrs.frozen(kw_only=True)
class Wrapper(Calibrator):
    """A calibrator around another one, by a coordinate of the examples.

    Attributes
    ----------
    inner : Calibrator
        What makes the atoms.
    """

    name: ClassVar[str]

    by: str = attrs.field(validator=attrs.validators.min_len(1))
    # Any: the default is a name, which the converter makes a component of.
    inner: Calibrator = attrs.field(default=cast("Any", "expected"), converter=_resolved)

    def _calibrated(
        self, data: CalibrationData, keys: Keys, *, within: bool = False
    ) -> CalibrationScores:
        """Return the inner scores: not apart, and of examples alike unless they are a group's."""
        calibration = self.inner.calibrate(data, keys)
        clusters = calibration.examples != len(data) or calibration.claim.cluster
        unlike = clusters or calibration.weight is not None
        if calibration.claim.by or (unlike and not within):
            raise self._refused()
        return calibration

    def _refused(self) -> IncompatibleComponents:
        return IncompatibleComponents(
            "pair-incompatible",
            f"calibrator {self.name} cannot have {type(self.inner).__name__} inside",
            expected="expected, monte-carlo, majority-vote, or another that goes with it; mondrian "
            "by a coordinate goes around weighted and clustered",
            hint='inner = { name = "expected" }',
            source=f"calibrator {self.name}",
        )


@attrs.frozen(kw_only=True)
class Mondrian(Wrapper):
    """Keep p-values apart by a group that is known of new examples, or by label.

    By a coordinate of the examples: the atoms of the group of the new example. A group that
    calibration lacks has no atoms: its examples get every label, with a warning.

    By ``"label"``: for label k the atoms of label k,
    ``(sum_i lambda_ik 1[E_ik <= s] + 1) / (sum_i lambda_ik + 1)``. A new example with the answer k
    is then covered with 1 - alpha. What counts is the mass ``sum_i lambda_ik`` of a label.

    Attributes
    ----------
    by : str
        A coordinate of the examples, or ``"label"``.

    References
    ----------
    Vovk, Lindsay, Nouretdinov & Gammerman, Mondrian confidence machine, 2003; the masses:
    docs/guarantee.md.
    """

    name: ClassVar[str] = "mondrian"

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return the inner calibrator's atoms, each in the cell of its group or label."""
        if self.by == names.LABEL:
            return self._by_label(data, keys)
        groups, code = data.groups(self.by, source=f"calibrator {self.name}")
        rows = [np.flatnonzero(code == group) for group in range(len(groups))]
        # Without examples there is still an answer: atoms of no cell.
        parts = [self._calibrated(data.take(own), keys, within=True) for own in rows or [code]]
        calibration = _together(parts)
        return attrs.evolve(
            calibration,
            claim=attrs.evolve(calibration.claim.within(self.by), notes=_notes(groups, parts)),
            group=np.repeat(
                np.arange(len(groups)), [part.scores.shape[1] for part in parts][: len(groups)]
            ),
            groups=tuple(map(str, groups)),
        )

    def _by_label(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        calibration = self._calibrated(data, keys)
        if calibration.label is None or calibration.augmentation != "none":
            raise self._refused()
        draws = len(calibration.scores)
        units, row, denominator = calibration.masses()
        return attrs.evolve(
            calibration,
            scores=calibration.scores.reshape(1, -1),
            units=np.tile(units, draws),
            row=np.tile(row, draws),
            denominator=denominator * draws,
            label=calibration.label.reshape(1, -1),
            separate=False,
            claim=attrs.evolve(
                calibration.claim,
                by=names.LABEL,
                reason="given the label, the new example is each of n + 1 with the odds of its "
                "plausibilities, and counts for one at most",
            ),
            group=calibration.label.reshape(-1).astype(np.int64),
            groups=data.labels,
            of_atoms=True,
        )


def _notes(groups: NDArray[np.str_], parts: Sequence[CalibrationScores]) -> tuple[str, ...]:
    """Return the notes of all groups, and others with their group."""
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


def _joined(parts: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:  # Any: of numbers
    known = [part for part in parts if part is not None]
    return np.concatenate(known, axis=-1) if len(known) == len(parts) else None


def _together(parts: Sequence[CalibrationScores]) -> CalibrationScores:
    before = np.cumsum([0, *(part.examples for part in parts)])
    rows = [
        None if part.row is None else part.row + start
        for part, start in zip(parts, before, strict=False)
    ]
    return attrs.evolve(
        parts[0],
        scores=np.concatenate([part.scores for part in parts], axis=1),
        units=_joined([part.units for part in parts]),
        row=_joined(rows),
        denominator=_joined([part.denominator for part in parts]),
        label=_joined([part.label for part in parts]),
        weight=_joined([part.weight for part in parts]),
    )


@attrs.frozen(kw_only=True)
class Clustered(Wrapper):
    """Let each group, such as a patient, weigh as much as any other, whatever its examples.

    ``p(s) = (sum_g (1 / n_g) sum_(i in g) mass_i(s) + 1) / (G + 1)`` over G groups with n_g
    examples each. Examples of one patient may be alike; patients are exchangeable.

    Attributes
    ----------
    by : str
        Coordinate of the examples that names the group.

    References
    ----------
    Lee, Barber & Willett, Distribution-free inference with hierarchical data, arXiv 2306.06342;
    Dunn, Wasserman & Ramdas, Distribution-free prediction sets for two-layer hierarchical models,
    2022.
    """

    name: ClassVar[str] = "clustered"

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return the inner calibrator's atoms, masses divided among the examples of a group."""
        calibration = self._calibrated(data, keys)
        groups, group = data.groups(self.by, source=f"calibrator {self.name}")
        units, row, denominator = calibration.masses()
        common, share = _shares(group, denominator, len(groups))
        return attrs.evolve(
            calibration,
            units=units * share[row],
            row=group[row],
            denominator=common,
            claim=attrs.evolve(
                calibration.claim.of_new(self.by),
                unit=f'values of "{self.by}"',
                reason=f'each "{self.by}" shares one mass among its examples',
                reference="Lee, Barber & Willett, arXiv 2306.06342",
            ),
        )


def _shares(group: Ints, denominator: Ints, count: int) -> tuple[Ints, Ints]:
    """Return units in the mass of a group, and what one unit of each example is worth in them."""
    sizes = np.bincount(group, minlength=count)
    # Python integers: many different denominators have a large common multiple.
    common = np.array(
        [
            math.lcm(*(int(unit) for unit in set(denominator[group == place].tolist()))) * int(size)
            for place, size in enumerate(sizes.tolist())
        ],
        dtype=object,
    )
    return common, common[group] // (denominator.astype(object) * sizes[group])


@attrs.frozen(kw_only=True)
class Weighted(Wrapper):
    """Weigh examples by how much more often new examples are like them.

    With ``w = dQ/dP``, new over calibration frequency of x, known up to a factor:
    ``p(s) = (sum_i w_i mass_i(s) + w(x)) / (sum_i w_i + w(x))``. The threshold depends on x.
    Sets are every label where ``w(x) > alpha sum_i w_i / (1 - alpha)``.

    Attributes
    ----------
    by : str
        Coordinate of the examples, calibration and new, with the weights: see
        `plausibly.likelihood_ratios`.

    References
    ----------
    Tibshirani, Barber, Candès & Ramdas, Conformal prediction under covariate shift, 2019.
    """

    name: ClassVar[str] = "weighted"

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return the inner calibrator's atoms, with the weight of each example."""
        calibration = self._calibrated(data, keys)
        weight = data.weights(self.by, source=f"calibrator {self.name}")
        worth = effective_size(weight)
        return attrs.evolve(
            calibration,
            weight=weight,
            claim=attrs.evolve(
                calibration.claim,
                assumption=Exchangeable(weights=self.by),
                reason="the new example is each of n + 1 with odds like the weights",
                reference="Tibshirani, Barber, Candès & Ramdas 2019",
                notes=(
                    *calibration.claim.notes,
                    f"the weights are worth {worth:,.4g} equal ones, of {counted(len(data))}",
                    "estimated weights cost up to half their mean error in coverage",
                ),
            ),
        )
