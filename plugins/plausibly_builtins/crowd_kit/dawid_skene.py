"""Dawid-Skene as crowd-kit has it."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import names
from plausibly_builtins.crowd_kit._estimated import CrowdKit, Estimated, estimated
from plausibly_builtins.crowd_kit._running import Column


@attrs.frozen(kw_only=True)
class DawidSkene(CrowdKit):
    """Plausibility of a label = its chance of being the one true label, by crowd-kit's DawidSkene.

    The model of plausibly's own `dawid-skene`, with `smoothing` 0 (chances below 1e-10 are raised
    to that) and another test of convergence: it stops where the lower bound of the log-likelihood
    of a response rises by less than `tolerance`, often after three iterations. After the same
    number of iterations both agree within 1e-9, unless there are annotators none of whose examples
    can have some label: nothing is known then of what they would say of it. crowd-kit takes what
    they did say as certain, and plausibly every label as equally likely.

    What sets cover that are calibrated on these plausibilities is *the label that the model
    believes in*, not what an annotator would say, and an example's plausibilities depend on all
    other examples of the table (`joint`).

    Attributes
    ----------
    iterations : int
        The most iterations; it warns where that is too few.
    tolerance : float
        It stops where the bound rises by less.

    References
    ----------
    Dawid & Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm,
    Applied Statistics 28 (1979), 20-28.
    """

    called: ClassVar[str] = "dawid-skene"

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-5, validator=attrs.validators.gt(0.0))

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        """Return what each annotator is worth."""
        found = self._estimated(annotations)
        given = found.given
        table = given.reliability(
            given.right(found.chances),
            confusion=xr.Variable((names.ANNOTATOR, names.LABEL, "said"), _confusion(found)),
        )
        named = given.rows.table[names.LABEL].values
        return table.assign_coords(said=named).assign_attrs(found.attributes)

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        return estimated(
            annotations,
            self.called,
            "DawidSkene",
            {"n_iter": self.iterations, "tol": self.tolerance},
        )


def _confusion(found: Estimated) -> Column:
    """Return the chances (annotator, label, said) in the order of the table."""
    given = found.given
    labels = given.rows.labels
    chance = np.full((given.everybody.size, labels, labels), np.nan)
    if found.estimator is None:
        return chance
    answered = np.unique(given.annotator)
    chance[np.ix_(answered, given.said)] = 0.0
    for (worker, text), row in found.estimator.errors_.iterrows():
        said = given.said[given.texts.index(text)]
        chance[worker, given.said, said] = row.reindex(given.texts).to_numpy(np.float64)
    return chance[given.of_annotator]
