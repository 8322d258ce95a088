"""M-MSR: accuracies of annotators that withstand some who mislead."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly_builtins.crowd_kit._estimated import CrowdKit, Estimated, estimated
from plausibly_builtins.crowd_kit._running import (
    Column,
    Estimator,
    Given,
    weighed,
)


@attrs.frozen(kw_only=True)
class Mmsr(CrowdKit):
    """Plausibility of a label = its chance, given the accuracies that crowd-kit's MMSR estimates.

    The accuracy ``c_q`` of each annotator is read off how often pairs of annotators agree, as a
    matrix of rank one, of which the most extreme entries are left out: some annotators may mislead.
    crowd-kit then adds up the weights ``g_q = log((L - 1) c_q / (1 - c_q))`` of those who say a
    label, L being the number of labels that anybody says. These scores are no plausibilities:
    divided by their sum they may be negative. With equal chances beforehand they are logarithms::

        lambda_ik  =  exp(sum of g_q over those who say k)  /  the same, summed over labels

    which is the one-coin model with these accuracies; its most plausible label is crowd-kit's.

    What sets cover that are calibrated on these plausibilities is *the label that the model
    believes in*, not what an annotator would say, and an example's plausibilities depend on all
    other examples of the table (`joint`).

    Attributes
    ----------
    iterations : int
        The most iterations; it warns where that is too few.
    tolerance : float
        It stops where the matrix changes by less.
    random_state : int
        Of the random start; `seed` has no part in it.

    References
    ----------
    Ma & Olshevsky, Adversarial crowdsourcing through robust rank-one matrix completion, NeurIPS
    2020.
    """

    called: ClassVar[str] = "mmsr"

    iterations: int = attrs.field(default=10_000, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-10, validator=attrs.validators.gt(0.0))
    random_state: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        """Return what each annotator is worth."""
        found = self._estimated(annotations)
        given = found.given
        if found.estimator is None:
            return given.reliability(given.right(found.chances))
        odds = np.exp(given.by_annotator(found.estimator.skills_))
        weight = odds / (odds + given.said.size - 1)
        return given.reliability(weight).assign_attrs(found.attributes)

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        return estimated(
            annotations,
            self.called,
            "MMSR",
            {
                "n_iter": self.iterations,
                "tol": self.tolerance,
                "random_state": self.random_state,
            },
            read=_chances,
            repeats=False,
            absolute=True,
        )


def _chances(given: Given, estimator: Estimator) -> Column:
    """Return the softmax of the summed weights: (example, label that somebody says)."""
    logs = weighed(given, estimator)
    chances: Column = np.exp(logs - logs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return chances
