"""What was said of the rows of X, as plausibilities and as the label of most of them."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.conformal.aggregate import aggregated
from plausibly.data import align, names, validate
from plausibly.data.plausibilities import is_packed
from plausibly.protocols import Aggregator, ComponentLike
from plausibly.sklearn.rows import Rows, labelled
from plausibly.sklearn.said import Said


def plausibilities(
    said: Said, aggregator: ComponentLike[Aggregator] | None, seed: int
) -> xr.DataArray | xr.Dataset:
    """Return plausibilities, aggregated where these are annotations.

    Parameters
    ----------
    said : DataArray or Dataset
    aggregator : str, mapping or Aggregator, optional
        For annotations alone.
    seed : int
        For aggregators that draw.
    """
    if isinstance(said, xr.Dataset) and not is_packed(said):
        return aggregated(said, aggregator, seed=seed)
    return said


def voted(
    said: Said, rows: Rows, aggregator: ComponentLike[Aggregator] | None, seed: int
) -> list[str]:
    """Return the label with the largest plausibility of each row, the first of equal ones.

    Parameters
    ----------
    said : DataArray or Dataset
        Under names, which are matched with those of the rows.
    rows : Rows
    aggregator, seed
        As for `plausibilities`.

    Raises
    ------
    InputError
        ``examples-differ``, and what plausibilities are refused for.
    """
    found = plausibilities(said, aggregator, seed)
    mean = validate.mean_over_draws(validate.check_plausibilities(found, whose="y"))
    nothing = labelled(np.empty((len(rows), 0)), rows, [], None)
    _, matched = align.match_examples(nothing, mean, whose="X", other="y")
    largest = np.argmax(matched.values, axis=1)
    return [str(label) for label in matched[names.LABEL].values[largest]]
