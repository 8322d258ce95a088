"""Several examples of one patient: the promise is for an example of a new patient."""

from __future__ import annotations

import math

import attrs
import numpy as np

from plausibly.plugin import (
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
class Grouped:
    """Let each group, such as a patient, weigh as much as any other, whatever its examples.

    ``p(s) = (sum_g (1 / n_g) sum_(i in g) mass_i(s) + 1) / (G + 1)`` over G groups with n_g
    examples each. Examples of one patient may be alike; patients are exchangeable.

    Attributes
    ----------
    by : str
        Coordinate of the examples that names the group.
    inner : Calibrator
        What makes the atoms.

    References
    ----------
    Lee, Barber & Willett, Distribution-free inference with hierarchical data, arXiv 2306.06342;
    Dunn, Wasserman & Ramdas, Distribution-free prediction sets for two-layer hierarchical models,
    2022.
    """

    by: str = attrs.field(validator=attrs.validators.min_len(1))
    inner: Calibrator = attrs.field(default=DEFAULT, converter=resolved)

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return the inner calibrator's atoms, masses divided among the examples of a group."""
        found = self.inner.calibrate(data, keys)
        refuse_inside(
            found, "grouped", weights=False, reason="put mondrian outside; weights are per example"
        )
        if not of_examples(found, data):
            raise refused("grouped", self.inner, "groups inside groups")
        values = data.coordinate(self.by, whose="calibrator grouped")
        groups, group = np.unique(group_names(values), return_inverse=True)
        units, denominator = found.masses()
        common, share = _shares(group, denominator, len(groups))
        row = found.rows()
        return attrs.evolve(
            found,
            units=units * share[row],
            row=group[row],
            denominator=common,
            claim=attrs.evolve(
                found.claim.of_new(self.by),
                unit=f'values of "{self.by}"',
                why=f'each "{self.by}" shares one mass among its examples',
                reference="Lee, Barber & Willett, arXiv 2306.06342",
            ),
        )


def _shares(group: Ints, denominator: Ints, count: int) -> tuple[Ints, Ints]:
    """Return units in the mass of a group, and what one unit of each example is worth in them."""
    sizes = np.bincount(group, minlength=count)
    # Python integers: many different denominators have a large common multiple.
    common = np.array(
        [
            math.lcm(*(int(one) for one in set(denominator[group == place].tolist()))) * int(size)
            for place, size in enumerate(sizes.tolist())
        ],
        dtype=object,
    )
    return common, common[group] // (denominator.astype(object) * sizes[group])
