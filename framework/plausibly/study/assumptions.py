"""What can be checked of the assumption that examples are exchangeable: who belongs to whom."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr

from plausibly.data.names import several
from plausibly.errors import counted, warn
from plausibly.evaluation.inputs import codes_of, example_values
from plausibly.kernels.types import Bools
from plausibly.study.coordinates import Groups, groups_of, owners, plural


def assumptions(predictions: xr.DataArray, group: str | None) -> list[str]:
    """Return in words what holds of the examples, and what nobody can check from their files.

    Parameters
    ----------
    predictions : DataArray, (example, label)
        With the coordinates of the examples.
    group : str or None
        By which they are split.
    """
    found = ["no example twice"]
    if group is not None:
        found += [f"no {group} on both sides", _repeats(groups_of(predictions, group))]
    else:
        found += [_repeats(one) for one in owners(predictions)]
    found.append("not checked: that examples are exchangeable, and that the model saw none of them")
    return found


def _repeats(one: Groups) -> str:
    have = "has" if one.several == 1 else "have"
    return f"{counted(one.several)} of {counted(one.groups)} {plural(one.name)} {have} several"


def grouped_by(calibrator: object, group: str) -> bool:
    """Return whether a calibrator, as a table, is for examples of new values of `group`."""
    if not isinstance(calibrator, Mapping):
        return False
    if calibrator.get("name") == "grouped" and calibrator.get("by") == group:
        return True
    return grouped_by(calibrator.get("inner"), group)


def warn_of_groups(
    predictions: xr.DataArray, test: Bools, group: str | None, *, grouped: bool = False
) -> None:
    """Warn where examples that may be alike stand on both sides of a split, or on one side.

    Parameters
    ----------
    predictions : DataArray, (example, label)
        With the coordinates of the examples.
    test : ndarray of bool, (example,)
        The test examples of a split.
    group : str or None
        By which they are split.
    grouped : bool
        Whether every calibration is for an example of a new group, whose examples may be alike.

    Warns
    -----
    PlausiblyWarning
        ``group-on-both-sides`` where no group was named, and by the name of a coordinate examples
        belong together; ``group-repeats`` where one was named, and some have several examples.
    """
    if group is not None:
        one = groups_of(predictions, group)
        if one.several and not grouped:
            _warn_of_repeats(one)
        return
    for one in owners(predictions):
        codes = codes_of(example_values(one.name, [predictions]))[1]
        both = np.intersect1d(codes[test], codes[~test])
        if both.size:
            _warn_of_both_sides(one, both.size, int(np.isin(codes, both).sum()))
            return


def _warn_of_both_sides(one: Groups, both: int, shared: int) -> None:
    warn(
        "group-on-both-sides",
        f"{counted(both)} {plural(one.name)} are in calibration and in test",
        expected=f"each {one.name} on one side",
        got=f"{counted(shared)} of {several(one.examples, 'example')} shared",
        do=f'[splits] group = "{one.name}"',
        whose=one.name,
        details={"group": one.name, "groups": both, "examples": shared},
        stacklevel=4,
    )


def _warn_of_repeats(one: Groups) -> None:
    warn(
        "group-repeats",
        f"there are {several(one.examples, 'example')} of {counted(one.groups)} {plural(one.name)}",
        expected=f"exchangeable examples; those of one {one.name} may be alike",
        got=f"{counted(one.several)} with several examples",
        do=f'calibrator = {{ name = "grouped", by = "{one.name}" }}; or compare with [examples] '
        f'one_per = "{one.name}" and another -o; report both',
        whose=one.name,
        details={"group": one.name, "groups": one.groups, "examples": one.examples},
        stacklevel=4,
    )
