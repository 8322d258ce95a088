"""Worker agreement as crowd-kit has it."""

from __future__ import annotations

from typing import ClassVar

import attrs
import xarray as xr

from plausibly.plugin import Keys
from plausibly_builtins.crowd_kit._estimated import Estimated, estimated
from plausibly_builtins.crowd_kit._running import ACCEPTS, present, weighed

_CALLED = "wawa"


@attrs.frozen(kw_only=True)
class Wawa:
    """Plausibility of a label = the weight of those who said it / the weight of all who answered.

    The weight of an annotator is how often they agree with the majority. plausibly's own
    `worker-agreement` shares the credit where labels tie for the most votes; here one of them is
    the majority, that which comes first by annotator, then example.

    The weights are crowd-kit's; votes are counted here, since with scikit-learn 1.7 and later
    crowd-kit 1.4.2 does not count them. An example's plausibilities depend on all other examples of
    the table (`joint`).

    References
    ----------
    "Worker agreement with aggregate" (Wawa), as crowdsourcing platforms use it.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS
    joint: ClassVar[bool] = True

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
            "Wawa",
            {},
            read=weighed,
            repeats=False,
        )
