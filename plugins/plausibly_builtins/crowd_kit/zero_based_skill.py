"""Zero-based skill: agreement with the majority that it makes."""

from __future__ import annotations

from typing import ClassVar

import attrs
import xarray as xr

from plausibly.plugin import Keys
from plausibly_builtins.crowd_kit._estimated import Estimated, estimated
from plausibly_builtins.crowd_kit._running import ACCEPTS, present, weighed

_CALLED = "zero-based-skill"


@attrs.frozen(kw_only=True)
class ZeroBasedSkill:
    """Plausibility of a label = the weight of those who said it / the weight of all who answered.

    All weights start just above a guess; each iteration moves them towards how often an annotator
    agrees with the majority by the weights before, at a rate that halves every 20 iterations.
    Where labels tie for the most weight, one of them is the majority, that which comes first by
    annotator, then example.

    The weights are crowd-kit's; votes are counted here, since with scikit-learn 1.7 and later
    crowd-kit 1.4.2 does not count them. An example's plausibilities depend on all other examples of
    the table (`joint`).

    Attributes
    ----------
    iterations : int
        How many; there is no test of convergence.
    rate : float
        Share of the way that weights move at first.

    References
    ----------
    Zero-based skill, as crowd-kit describes it.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS
    joint: ClassVar[bool] = True

    iterations: int = attrs.field(default=100, validator=attrs.validators.ge(1))
    rate: float = attrs.field(
        default=1.0, validator=[attrs.validators.gt(0.0), attrs.validators.le(1.0)]
    )

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
            Declared labels that nobody says have 0.

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
            `weight`, how often they agree. Annotators without response have NaN.
        """
        found = self._estimated(annotations)
        given = found.given
        if found.estimator is None:
            return given.reliability(given.right(found.chances))
        return given.reliability(given.by_annotator(found.estimator.skills_))

    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        return estimated(
            annotations,
            _CALLED,
            "ZeroBasedSkill",
            {"n_iter": self.iterations, "lr_init": self.rate},
            read=weighed,
            repeats=False,
        )
