"""Covariate shift: calibration examples weigh as much as new ones like them are more frequent."""

from __future__ import annotations

import attrs

from plausibly.plugin import (
    CalibrationData,
    CalibrationScores,
    Calibrator,
    Exchangeable,
    Keys,
    check_weights,
    counted,
    effective_size,
)
from plausibly_builtins.calibrators._inner import (
    DEFAULT,
    of_examples,
    refuse_inside,
    refused,
    resolved,
)


@attrs.frozen(kw_only=True)
class Weighted:
    """Weigh examples by how much more often new examples are like them.

    With ``w = dQ/dP``, new over calibration frequency of x, known up to a factor:
    ``p(s) = (sum_i w_i mass_i(s) + w(x)) / (sum_i w_i + w(x))``. The threshold depends on x.
    Sets are every label where ``w(x) > alpha sum_i w_i / (1 - alpha)``.

    Attributes
    ----------
    by : str
        Coordinate of the examples, calibration and new, with the weights: see
        `plausibly.likelihood_ratios`.
    inner : Calibrator
        What makes the atoms.

    References
    ----------
    Tibshirani, Barber, Candès & Ramdas, Conformal prediction under covariate shift, 2019.
    """

    by: str = attrs.field(validator=attrs.validators.min_len(1))
    inner: Calibrator = attrs.field(default=DEFAULT, converter=resolved)

    def calibrate(self, data: CalibrationData, keys: Keys) -> CalibrationScores:
        """Return the inner calibrator's atoms, with the weight of each example."""
        found = self.inner.calibrate(data, keys)
        refuse_inside(
            found, "weighted", weights=False, reason="put mondrian outside, weighted inside"
        )
        if not of_examples(found, data):
            raise refused("weighted", self.inner, "weights are one an example")
        values = data.coordinate(self.by, whose="calibrator weighted")
        weight = check_weights(values, self.by, whose="predictions")
        worth = effective_size(weight)
        return attrs.evolve(
            found,
            weight=weight,
            claim=attrs.evolve(
                found.claim,
                assumption=Exchangeable(weights=self.by),
                why="the new example is each of n + 1 with odds like the weights",
                reference="Tibshirani, Barber, Candès & Ramdas 2019",
                notes=(
                    *found.claim.notes,
                    f"the weights are worth {worth:,.4g} equal ones, of {counted(len(data))}",
                    "estimated weights cost up to half their mean error in coverage",
                ),
            ),
        )
