"""What the aggregators of crowd-kit have in common that give chances of labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
import xarray as xr

from plausibly.plugin import Keys
from plausibly_builtins.crowd_kit._running import (
    ACCEPTS,
    Column,
    Estimator,
    Given,
    crowd_kit,
    present,
)
from plausibly_builtins.crowd_kit._saying import check_labels, convergence

Read = Callable[[Given, Estimator], Column]
"""From a fitted estimator to what it says of labels, or of annotators."""


@attrs.frozen(kw_only=True, eq=False)
class Estimated:
    """Responses, and what an estimator made of them; None where there was nothing to estimate.

    Attributes
    ----------
    given : Given
    estimator : object or None
    chances : ndarray of float64, (example, label that somebody says)
    attributes : dict of str
        How it converged.
    """

    given: Given
    estimator: Estimator | None
    chances: Column
    attributes: dict[str, str]

    @property
    def plausibilities(self) -> xr.DataArray:
        """Plausibilities (example, label) of the table."""
        return self.given.plausibilities(self.chances).assign_attrs(self.attributes)


@attrs.frozen(kw_only=True)
class CrowdKit(ABC):
    """An aggregator of crowd-kit: components differ in what they ask it for.

    Attributes
    ----------
    called : str
        Name of the component.
    """

    accepts: ClassVar[frozenset[str]] = ACCEPTS
    joint: ClassVar[bool] = True
    called: ClassVar[str]

    def __attrs_post_init__(self) -> None:
        """Refuse where crowd-kit is not installed: before any file is read."""
        present(self.called)

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return plausibilities (example, label)."""
        return self._estimated(annotations).plausibilities

    @abstractmethod
    def _estimated(self, annotations: xr.Dataset) -> Estimated:
        """Return what crowd-kit makes of a table."""


@attrs.frozen(kw_only=True)
class Skilled(CrowdKit):
    """An aggregator of crowd-kit that gives each annotator a skill."""

    def reliability(self, annotations: xr.Dataset) -> xr.Dataset:
        """Return what each annotator is worth."""
        found = self._estimated(annotations)
        given = found.given
        if found.estimator is None:
            return given.reliability(given.right(found.chances))
        weight = given.by_annotator(found.estimator.skills_)
        return given.reliability(weight).assign_attrs(found.attributes)


def estimated(
    annotations: xr.Dataset,
    called: str,
    name: str,
    parameters: dict[str, Any],  # Any: whatever a constructor of crowd-kit takes
    *,
    read: Read | None = None,
    repeats: bool = True,
    absolute: bool = False,
    most: int | None = None,
) -> Estimated:
    """Return what one estimator of crowd-kit makes of a table."""
    library = crowd_kit(called)
    given = Given.of(annotations, called, repeats=repeats)
    if given.settled:
        chances = np.ones((given.rows.n, given.said.size))
        return Estimated(given=given, estimator=None, chances=chances, attributes={})
    if most is not None:
        check_labels(given.said.size, most, called)
    estimator = given.fitted(getattr(library, name)(**parameters))
    chances = _probas(given, estimator) if read is None else read(given, estimator)
    attributes = {}
    if "tol" in parameters:
        attributes = convergence(
            estimator,
            called,
            iterations=int(parameters["n_iter"]),
            tolerance=float(parameters["tol"]),
            absolute=absolute,
        )
    return Estimated(given=given, estimator=estimator, chances=chances, attributes=attributes)


def _probas(given: Given, estimator: Estimator) -> Column:
    return given.by_label(estimator.probas_)
