"""One coin as crowd-kit has it."""

from __future__ import annotations

from typing import ClassVar

import attrs
import xarray as xr

from plausibly.plugin import Keys
from plausibly_builtins.crowd_kit._estimated import Estimated, estimated
from plausibly_builtins.crowd_kit._running import ACCEPTS, present

_CALLED = "one-coin"


@attrs.frozen(kw_only=True)
class OneCoin:
    """Plausibility of a label = its chance of being the one true label, by OneCoinDawidSkene.

    The model of plausibly's own `one-coin`, with the priors `right` and `wrong` 0, for the labels
    that anybody says, and another test of convergence: it stops where the lower bound of the
    log-likelihood of a response rises by less than `tolerance`.

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
    Zhang, Chen, Zhou & Jordan, Spectral methods meet EM, JMLR 17 (2016), section 2.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS
    joint: ClassVar[bool] = True

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    tolerance: float = attrs.field(default=1e-5, validator=attrs.validators.gt(0.0))

    def __attrs_post_init__(self) -> None:
        """Refuse where crowd-kit is not installed: before any file is read."""
        present(_CALLED)

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label).

        Parameters
        ----------
        annotations : Dataset
            A table of single labels, of annotators by name.
        keys : Keys
            Not used: nothing is drawn.

        Returns
        -------
        DataArray, (example, label)
            Declared labels that nobody says have 0. The attribute
            ``convergence`` says, as JSON, how many iterations it took, and the last change.

        Raises
        ------
        InputError
            ``example-unanswered``, ``annotators-anonymous``, ``weights-broken``,
            ``crowd-kit-failed``; `MissingExtra` without crowd-kit.
        """
        return self._estimated(annotations).plausibilities

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        """Return what each annotator is worth.

        Parameters
        ----------
        annotations : Dataset
            A table of single labels, of annotators by name.

        Returns
        -------
        Dataset, (annotator)
            `weight`, the chance that a response is right. Annotators without response have NaN.
        """
        found = self._estimated(annotations)
        given = found.given
        if found.estimator is None:
            return given.reliability(given.right(found.chances))
        weight = given.by_annotator(found.estimator.skills_)
        return given.reliability(weight).assign_attrs(found.attributes)

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        return estimated(
            annotations,
            _CALLED,
            "OneCoinDawidSkene",
            {"n_iter": self.iterations, "tol": self.tolerance},
        )
