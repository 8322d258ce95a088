"""What can be seen of the assumption that examples are exchangeable: copies, and a shift.

Neither check can show that the assumption holds; both can show that it does not.
"""

from __future__ import annotations

import math

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import align, names, validate
from plausibly.data.names import does, name_texts, several
from plausibly.errors import counted, listed, warn
from plausibly.kernels.types import Bools, Floats

SUSPECTED = 0.001
"""A shift is warned of where chance would give as large a distance less often than this."""

_FINE = 0.9  # of the different rows have a number that no other row has: numbers are not rounded
_ROUNDED = 1e-3  # of a thousandth: numbers this close to one say nothing
_COARSE = 0.01  # of the rows among many equal ones: the model has few answers
_COPIES = 3  # rows that are equal, at most: more of them are what a coarse model says


@attrs.frozen(kw_only=True)
class Shift:
    """How unlike two samples of scores are.

    Attributes
    ----------
    distance : float
        Of Kolmogorov and Smirnov, from 0 to 1.
    p_value : float
        Of the hypothesis that both are of one distribution; asymptotic, and careful with ties.
    calibration, new : int
        Numbers of examples.
    """

    distance: float
    p_value: float
    calibration: int
    new: int

    @property
    def suspected(self) -> bool:
        """Whether chance hardly explains it."""
        return self.p_value < SUSPECTED


def alike(calibration: xr.DataArray, test: xr.DataArray) -> list[tuple[str, str]]:
    """Return pairs of a calibration and a test example that have exactly the same predictions.

    Parameters
    ----------
    calibration, test : DataArray, (example, label)
        Predictions, of the same labels. Examples of the same name are no pair: they are one
        example, which `evaluate` notices by its name.

    Returns
    -------
    list of (str, str)
        In the order of the test examples. Empty where predictions are too coarse to tell: rounded,
        or of a model with few answers, such as a tree.

    Notes
    -----
    A model that gives full floats gives two different inputs the same row only by saturating. A
    pair counts where its row has a number of more than three decimals that no other row has, and no
    more than three rows are equal; and only if nine in ten of the different rows have such a number
    of their own in one and the same column, and hardly any row is equal to many others. A model of
    inputs that take few values can still give two of them the same row by chance.
    """
    first = validate.check_predictions(calibration, whose="calibration predictions")
    second = validate.check_predictions(test, whose="test predictions")
    labels = name_texts(first[names.LABEL].values)
    second = align.match_labels(
        second, labels, whose="test predictions", other="calibration predictions"
    )
    both = [name_texts(one[names.EXAMPLE].values) for one in (first, second)]
    values = np.concatenate([first.values, second.values.astype(first.dtype, copy=False)])
    row = _telling_rows(values)
    of_calibration: dict[int, list[str]] = {}
    for name, code in zip(both[0], row[: len(both[0])].tolist(), strict=True):
        if code >= 0:
            of_calibration.setdefault(code, []).append(name)
    pairs = []
    for name, code in zip(both[1], row[len(both[0]) :].tolist(), strict=True):
        others = [other for other in of_calibration.get(code, ()) if other != name]
        if others:
            pairs.append((others[0], name))
    return pairs


def warn_of_alike(calibration: xr.DataArray, test: xr.DataArray, *, stacklevel: int = 2) -> int:
    """Warn where calibration and test examples have exactly the same predictions.

    Parameters
    ----------
    calibration, test : DataArray, (example, label)
        See `alike`.
    stacklevel : int
        Of whose line the warning is.

    Returns
    -------
    int
        Number of test examples that are like a calibration example.

    Warns
    -----
    PlausiblyWarning
        ``examples-alike``.
    """
    pairs = alike(calibration, test)
    if pairs:
        _warn_of_pairs(
            pairs,
            f"{several(len({old for old, _ in pairs}), 'calibration row')} equal "
            f"{several(len(pairs), 'test row')} exactly",
            stacklevel=stacklevel + 1,
        )
    return len(pairs)


def warn_of_copies(
    predictions: xr.DataArray,
    groups: NDArray[np.generic] | None = None,
    *,
    stacklevel: int = 2,
) -> int:
    """Warn where examples that random splits may part have exactly the same predictions.

    Parameters
    ----------
    predictions : DataArray, (example, label)
        Of all examples.
    groups : ndarray, (example,), optional
        By which they are split: examples of one group are never on two sides.
    stacklevel : int
        Of whose line the warning is.

    Returns
    -------
    int
        Number of examples that are like another one.

    Warns
    -----
    PlausiblyWarning
        ``examples-alike``.
    """
    model = validate.check_predictions(predictions)
    row = _telling_rows(model.values)
    called = name_texts(model[names.EXAMPLE].values)
    pairs: list[tuple[str, str]] = []
    copies = 0
    order = np.argsort(row, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(row[order])) + 1):
        if row[places[0]] < 0 or len(places) < 2:
            continue
        if groups is not None and len(set(groups[places].tolist())) < 2:
            continue
        copies += len(places)
        pairs.append((called[places[0]], called[places[1]]))
    if pairs:
        _warn_of_pairs(
            sorted(pairs),
            f"{counted(copies)} of {several(len(called), 'example')} have exactly the predictions "
            "of another, and splits part them",
            stacklevel=stacklevel + 1,
        )
    return copies


def _warn_of_pairs(pairs: list[tuple[str, str]], what: str, *, stacklevel: int) -> None:
    shown = listed([f"{old} = {new}" for old, new in pairs])
    warn(
        "examples-alike",
        what,
        expected="different examples; one input, two names?",
        got=shown,
        do="drop one of each pair: shared examples flatter coverage",
        whose="predictions",
        details={"pairs": [list(pair) for pair in pairs]},
        stacklevel=stacklevel,
    )


def _telling_rows(values: Floats) -> NDArray[np.int64]:
    """Return a code for each row that a copy would share, -1 for rows that say nothing."""
    codes = np.unique(values + values.dtype.type(0), axis=0, return_inverse=True)[1].ravel()
    members = np.bincount(codes)
    private = np.zeros((len(members), values.shape[1]), dtype=np.bool_)
    for column in range(values.shape[1]):
        private[:, column] = _own_number(values[:, column], codes, members)
    crowded = members[members > _COPIES].sum() > _COARSE * len(values)
    if crowded or private.mean(axis=0).max() < _FINE:
        return np.full(len(values), -1, dtype=np.int64)
    telling = private.any(axis=1) & (members <= _COPIES)
    return np.where(telling[codes], codes, -1).astype(np.int64)


def _own_number(column: Floats, codes: NDArray[np.intp], members: NDArray[np.intp]) -> Bools:
    """Return which different rows have a full number in this column that no other row has."""
    number = np.unique(column, return_inverse=True)[1].ravel()
    holders = np.bincount(number)
    thousandths = column.astype(np.float64) * 1000
    fine = np.abs(thousandths - np.rint(thousandths)) > _ROUNDED
    found = np.zeros(len(members), dtype=np.bool_)
    found[codes] = (holders[number] == members[codes]) & fine
    return found


def shift(calibration: Floats, new: Floats) -> Shift:
    """Return how unlike two samples of scores are.

    Parameters
    ----------
    calibration, new : ndarray, (example,)
        One number an example, made in the same way on both sides and without labels, such as the
        largest score: scores of drawn labels are unlike those of all labels for that reason alone.

    Notes
    -----
    The two-sample test of Kolmogorov and Smirnov, ``sup_t |F(t) - G(t)|``, with its asymptotic
    distribution. Examples of one patient make it call chance a shift.
    """
    from scipy.special import kolmogorov

    old, later = np.sort(calibration), np.sort(new)
    every = np.concatenate([old, later])
    gap = np.searchsorted(old, every, side="right") / len(old) - np.searchsorted(
        later, every, side="right"
    ) / len(later)
    distance = float(np.abs(gap).max())
    effective = len(old) * len(later) / (len(old) + len(later))
    return Shift(
        distance=distance,
        p_value=float(kolmogorov(math.sqrt(effective) * distance)),
        calibration=len(old),
        new=len(later),
    )


def warn_of_shift(
    calibration: Floats, new: Floats, *, whose: str = "predictions", stacklevel: int = 2
) -> Shift:
    """Warn where new examples score unlike those that calibrated.

    Parameters
    ----------
    calibration, new : ndarray, (example,)
        See `shift`.
    whose : str
        What the message calls the new ones, such as the file.
    stacklevel : int
        Of whose line the warning is.

    Returns
    -------
    Shift

    Warns
    -----
    PlausiblyWarning
        ``shift-suspected``, where p < .001.
    """
    found = shift(calibration, new)
    if found.suspected:
        verb, decimals = does(whose, "score"), f"{found.distance:.2f}"
        warn(
            "shift-suspected",
            f"{verb} unlike calibration (KS {decimals.removeprefix('0')})",
            expected="exchangeable examples",
            got=f"p < .001 ({found.p_value:.1g}): no guarantee under shift",
            do="recalibrate on recent data, or calibrator weighted",
            whose=whose,
            details=attrs.asdict(found),
            stacklevel=stacklevel,
        )
    return found
