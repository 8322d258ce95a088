"""GLAD: abilities of annotators, and how hard each example is."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import names
from plausibly_builtins.crowd_kit._estimated import CrowdKit, Estimated, estimated


@attrs.frozen(kw_only=True)
class Glad(CrowdKit):
    """Plausibility of a label = its chance of being the one true label, by crowd-kit's GLAD.

    Annotator q says the true label of example i with chance ``s(a_q exp(b_i))``, s the logistic
    function, and each of the other labels that anybody says with an equal share of the rest. The
    abilities a_q and easinesses b_i have Gaussian priors around 1; they and the chances are found
    together, by expectation maximisation with conjugate gradients inside.

    What sets cover that are calibrated on these plausibilities is *the label that the model
    believes in*, not what an annotator would say, and an example's plausibilities depend on all
    other examples of the table (`joint`).

    Attributes
    ----------
    iterations : int
        The most iterations; it warns where that is too few.
    tolerance : float
        It stops where the expected log-likelihood of a response rises by less.
    steps : int
        Steps of the conjugate gradients in each iteration.

    References
    ----------
    Whitehill, Ruvolo, Wu, Bergsma & Movellan, Whose vote should count more, NeurIPS 2009.
    """

    called: ClassVar[str] = "glad"

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-5, validator=attrs.validators.gt(0.0))
    steps: int = attrs.field(default=25, validator=attrs.validators.ge(1))

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        """Return what each annotator is worth."""
        found = self._estimated(annotations)
        given = found.given
        ability = np.full(given.everybody.size, np.nan)
        if found.estimator is not None:
            ability = given.by_annotator(found.estimator.alphas_)
        table = given.reliability(
            given.right(found.chances),
            ability=xr.Variable(names.ANNOTATOR, ability[given.of_annotator]),
        )
        return table.assign_attrs(found.attributes)

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        return estimated(
            annotations,
            self.called,
            "GLAD",
            {"n_iter": self.iterations, "tol": self.tolerance, "m_step_max_iter": self.steps},
        )
