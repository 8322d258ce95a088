"""Tables with several rows an example, one a view of it, such as an augmented image."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausibly.data.names import EXAMPLE, check_names, quoted, several
from plausibly.errors import InputError, counted, listed

Places = Callable[[Iterable[int]], str]
"""Returns where rows stand in a file, as messages say it: ``lines 4, 8``."""


def check_one_row(examples: Sequence[str], whose: str) -> None:
    """Raise ``example-twice`` where a table has several rows an example, and no column of views.

    Parameters
    ----------
    examples : sequence of str
        The name in each row.
    whose : str
        Name of the file.
    """
    try:
        check_names(examples, EXAMPLE, whose=whose)
    except InputError as error:
        if error.name == "example-twice":
            error.expected = "one row an example; several views belong in augmentations"
            error.do = (
                "keep one, or calibrator augmentation with --view VIEW_COLUMN (view=VIEW_COLUMN)"
            )
        raise


def stacked(
    values: NDArray[Any],  # Any: the type is the file's
    examples: Sequence[str],
    views: Sequence[str],
    *,
    column: str,
    whose: str,
    places: Places,
) -> tuple[NDArray[Any], list[str], list[str]]:  # Any: as above
    """Return rows as one plane a view; examples and views as they are first seen.

    Parameters
    ----------
    values : ndarray, (row, label)
    examples, views : sequence of str
        Of each row.
    column : str
        That names the views.
    whose : str
        Name of the file.
    places : callable

    Returns
    -------
    values : ndarray, (view, example, label)
    examples, views : list of str

    Raises
    ------
    InputError
        ``view-unnamed``, ``view-twice``, or ``views-incomplete`` with the examples that lack one.
    """
    unnamed = [row for row, view in enumerate(views) if not view]
    if unnamed:
        raise InputError(
            "view-unnamed",
            f"{whose} names no view in {places(unnamed)}",
            expected=f"a view in column {quoted(column)}",
            got="an empty cell",
            do="name it, or remove the row",
            whose=whose,
        )
    example_codes = {name: code for code, name in enumerate(dict.fromkeys(examples))}
    view_codes = {name: code for code, name in enumerate(dict.fromkeys(views))}
    row_of = np.full((len(view_codes), len(example_codes)), -1, dtype=np.intp)
    again: list[tuple[int, int]] = []
    for row, (example, view) in enumerate(zip(examples, views, strict=True)):
        place = view_codes[view], example_codes[example]
        if row_of[place] >= 0:
            again.append((int(row_of[place]), row))
        else:
            row_of[place] = row
    if again:
        raise _twice(again, examples, views, whose, places)
    if (row_of < 0).any():
        raise _incomplete(row_of < 0, list(example_codes), list(view_codes), whose)
    return values[row_of], list(example_codes), list(view_codes)


def _twice(
    again: Sequence[tuple[int, int]],
    examples: Sequence[str],
    views: Sequence[str],
    whose: str,
    places: Places,
) -> InputError:
    first, second = again[0]
    others = f", and {several(len(again) - 1, 'other')} again" if len(again) > 1 else ""
    return InputError(
        "view-twice",
        f"{whose} has view {quoted(views[first])} of {examples[first]} in "
        f"{places([first, second])}{others}",
        expected="one row a view of an example",
        got=f"{several(len(again), 'row')} too many",
        do="keep one, or give the other view a name of its own",
        whose=whose,
        details={"examples": list(dict.fromkeys(examples[row] for _, row in again))},
    )


def _incomplete(
    missing: NDArray[np.bool_], examples: Sequence[str], views: Sequence[str], whose: str
) -> InputError:
    """Return the error that some examples lack some views, (view, example)."""
    lacking = [examples[place] for place in np.flatnonzero(missing.any(axis=0)).tolist()]
    without = {
        view: [examples[place] for place in np.flatnonzero(row).tolist()]
        for view, row in zip(views, missing, strict=True)
        if row.any()
    }
    shown = "; ".join(f"no {quoted(view)} of {listed(those)}" for view, those in without.items())
    many = len(lacking) != 1
    return InputError(
        "views-incomplete",
        f"{whose}: {counted(len(lacking))} of {several(len(examples), 'example')} "
        f"{'lack' if many else 'lacks'} a view ({listed(lacking)})",
        expected=f"every view of every example: {listed(map(quoted, views))}",
        got=shown if len(without) <= 3 else f"{counted(int(missing.sum()))} rows too few",
        do="predict the views that are missing, or remove these examples from the file",
        whose=whose,
        details={"examples": lacking, "missing": without},
    )
