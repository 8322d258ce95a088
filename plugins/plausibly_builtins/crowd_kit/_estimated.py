"""What the aggregators of crowd-kit have in common that give chances of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import xarray as xr

from plausibly_builtins.crowd_kit._running import Column, Estimator, Given, crowd_kit
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
    """Return what one estimator of crowd-kit makes of a table.

    Parameters
    ----------
    annotations : Dataset
        A table of single labels.
    called, name : str
        Of the component, and of the class of crowd-kit.
    parameters : dict
        Of that class.
    read : callable, optional
        Where its chances of labels are; by default in its `probas_`.
    repeats : bool
        Whether the model takes several responses of one annotator to one example.
    absolute : bool
        Whether its loss is a change itself.
    most : int, optional
        How many labels the model takes.

    Raises
    ------
    InputError
        ``labels-too-many``, and what `Given.of` and `Given.fitted` raise.
    """
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
