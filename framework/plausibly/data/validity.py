"""What a table of any kind must satisfy, and how a kind names the responses that break its own."""

from __future__ import annotations

import numpy as np
import xarray as xr

from plausibly.data import names
from plausibly.data.rows import Rows
from plausibly.data.seal import check_table
from plausibly.data.text import quoted, several
from plausibly.errors import InputError, listed
from plausibly.kernels.types import Bools


def check_responses(table: xr.Dataset, kind: str) -> Rows:
    """Return the columns of a table of a kind, where each annotator answers an example once.

    A table whose attribute ``repeated`` says that all answers of an annotator count is not asked.

    Parameters
    ----------
    table : Dataset
        An annotation table.
    kind : str
        The kind that it must have.

    Raises
    ------
    InputError
        What `check_table` raises, or ``response-twice``.
    """
    rows = Rows.of(check_table(table, frozenset({kind})))
    if names.REPEATED in table.attrs:
        return rows
    # responses stand in the order of examples, then annotators
    alike = rows.example[1:] == rows.example[:-1]
    alike &= rows.annotator[1:] == rows.annotator[:-1]
    if not alike.any():
        return rows
    again = np.zeros(rows.example.size, bool)
    again[1:] = alike & (rows.annotator[1:] >= 0)
    refuse_responses(
        rows,
        again,
        "response-twice",
        "answers again",
        expected="one response an annotator and example",
        do="keep one response an annotator and example",
    )
    return rows


def check_labels_once(rows: Rows) -> None:
    """Raise `InputError` ``label-repeats`` where a response names a label twice."""
    pair = rows.response.astype(np.int64) * rows.labels + rows.label
    order = np.argsort(pair, kind="stable")
    repeats = np.zeros(pair.size, bool)
    repeats[order[1:]] = pair[order[1:]] == pair[order[:-1]]
    if repeats.any():
        label = quoted(rows.table.indexes[names.LABEL][rows.label[repeats][0]])
        refuse_responses(
            rows,
            responses_of(rows, repeats),
            "label-repeats",
            f"names {label} twice",
            expected="each label once in a response",
            do="mend these responses, or drop them",
        )


def responses_of(rows: Rows, mentions: Bools) -> Bools:
    """Return which responses (response,) have one of these mentions (mention,)."""
    return np.bincount(rows.response[mentions], minlength=rows.example.size) > 0


def refuse_responses(
    rows: Rows, bad: Bools, name: str, says: str, *, expected: str, got: str = "", do: str
) -> None:
    """Raise `InputError` about the responses in `bad`, if there are any.

    Parameters
    ----------
    rows : Rows
        The columns of the table.
    bad : ndarray of bool, (response,)
        The responses at fault.
    name : str
        Name of the message.
    says : str
        What the first of them does, as it follows the name of an annotator.
    expected, got, do : str
        As in `plausibly.errors.InputError`.
    """
    places = np.flatnonzero(bad)
    if not places.size:
        return
    examples = rows.table.indexes[names.EXAMPLE][rows.example[places]]
    code = int(rows.annotator[places[0]])
    by = f"annotator {rows.table.indexes[names.ANNOTATOR][code]}" if code >= 0 else ""
    if places.size > 1:
        many = f"{several(places.size, 'such response')}, about {listed(dict.fromkeys(examples))}"
        got = f"{got}; {many}" if got else many
    raise InputError(
        name,
        f"example {examples[0]}, {by or 'an unknown annotator'} {says}",
        expected=expected,
        got=got,
        do=do,
        whose="annotations",
        details={"examples": [str(example) for example in examples]},
    )
