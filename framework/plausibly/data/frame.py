"""The annotation table as a table of pandas: one row a mention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.rows import Rows
from plausibly.data.seal import check_table
from plausibly.data.states import STATES

if TYPE_CHECKING:
    import pandas as pd

_CODES = (
    names.RESPONSE_EXAMPLE,
    names.RESPONSE_ANNOTATOR,
    names.MENTION_RESPONSE,
    names.MENTION_LABEL,
)


def to_frame(table: xr.Dataset) -> pd.DataFrame:
    """Return the responses as a data frame, one row a mention.

    Parameters
    ----------
    table : Dataset
        An annotation table.

    Returns
    -------
    DataFrame
        Index ``response`` (mentions of one response share it); columns ``example``, ``annotator``
        and ``label`` (categorical, with all names of the table as categories), then every further
        variable over responses or mentions under its own name (``response_state`` as words). An
        empty answer is a row without label; an unknown annotator is missing; an example that was
        not annotated has no row.

    Raises
    ------
    InputError
        What `check_table` raises.
    """
    import pandas as pd

    rows = Rows.of(check_table(table))
    empty = np.flatnonzero(rows.mentions == 0)
    response = np.concatenate((rows.response, empty))
    mention = np.concatenate((np.arange(rows.response.size), np.full(empty.size, -1)))
    order = np.argsort(response, kind="stable")
    response, mention = response[order], mention[order]
    label = np.where(mention >= 0, np.append(rows.label, names.NO_LABEL)[mention], names.NO_LABEL)
    columns: dict[str, object] = {
        dim: pd.Categorical.from_codes(codes, categories=table.indexes[dim])
        for dim, codes in (
            (names.EXAMPLE, rows.example[response]),
            (names.ANNOTATOR, rows.annotator[response]),
            (names.LABEL, label),
        )
    }
    frame = pd.DataFrame(columns, index=pd.Index(response, name=names.RESPONSE))
    for name, variable in table.variables.items():
        if name in _CODES:
            continue
        if name == names.RESPONSE_STATE:
            codes = variable.values[response]
            frame[str(name)] = pd.Categorical.from_codes(codes, categories=pd.Index(STATES))
        elif variable.dims == (names.RESPONSE,):
            frame[str(name)] = variable.values[response]
        elif variable.dims == (names.MENTION,):
            values = pd.Series(variable.values).reindex(mention)
            frame[str(name)] = values.set_axis(frame.index)
    return frame
