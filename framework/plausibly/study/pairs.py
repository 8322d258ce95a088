"""Which calibrations can work: asked of a handful of examples, made ones and some of the study."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
import xarray as xr

from plausibly.config.study import Calibration
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.errors import IncompatibleComponents, InputError
from plausibly.registry.mistakes import Mistake, mistakes_in

_EXAMPLES = 20

_OF_DATA = frozenset(
    {
        *("augmentations-missing", "augmentations-unread"),
        *("coordinate-missing", "risks-range", "weights-range"),
    }
)
"""Names of what is wrong with a calibration because of what is known of examples or labels."""

_ADVICE = {
    "examples": "[examples] path, a table with such a column",
    "labels": "[labels] path, a table with such a column",
    "augmentations-missing": '[predictions] view = "COLUMN", where a table has a row for each view',
    "augmentations-unread": 'calibrator = "augmentation", or a file with one row an example',
}


def check_pairs(calibrations: Iterable[Calibration]) -> list[Mistake]:
    """Return the calibrations whose components work alone but not together.

    A pair of calibrator and combiner has a guarantee, or is refused, whatever the data are: so it
    can be found before any file is read.
    """
    predictions, plausibilities = _made()
    found: list[Mistake] = []
    for number, calibration in enumerate(calibrations):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                calibrate(
                    predictions,
                    plausibilities,
                    calibrator=calibration.calibrator,
                    score=calibration.score,
                    combiner=calibration.combiner,
                    allow_no_guarantee=calibration.allow_no_guarantee,
                )
        except IncompatibleComponents as error:
            # A key of the calibration, where the command line has a flag.
            error.do = error.do.replace(
                "allow_no_guarantee=True (--allow-no-guarantee)", "allow_no_guarantee = true"
            )
            found += [m.below(number).below("calibrations") for m in mistakes_in(error)]
        except Exception:  # noqa: BLE001  # these examples are too few, or lack a coordinate
            continue
    return found


def check_data(
    calibrations: Iterable[Calibration], predictions: xr.DataArray, plausibilities: xr.DataArray
) -> list[Mistake]:
    """Return the calibrations that ask for what these examples or labels do not have.

    Parameters
    ----------
    calibrations : iterable of Calibration
    predictions, plausibilities : DataArray, ([augmentation,] example, label)
        Of the same examples, with all that is known of them and of the labels.
    """
    few = slice(_EXAMPLES)
    found: list[Mistake] = []
    for number, calibration in enumerate(calibrations):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                calibrate(
                    predictions.isel({names.EXAMPLE: few}),
                    plausibilities.isel({names.EXAMPLE: few}),
                    calibrator=calibration.calibrator,
                    allow_no_guarantee=True,
                )
        except InputError as error:
            if error.name in _OF_DATA:
                error.do = _advice(error)
                below = [mistake.below("calibrator") for mistake in mistakes_in(error)]
                found += [one.below(number).below("calibrations") for one in below]
        except Exception:  # noqa: BLE001  # these examples are too few: the study itself will tell
            continue
    return found


def _advice(error: InputError) -> str:
    """Return what to change in a study file."""
    if error.name == "coordinate-missing" and "did you mean" not in error.do:
        return _ADVICE["labels" if "over label" in error.expected else "examples"]
    return _ADVICE.get(error.name, error.do)


def _made() -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions and plausibilities of examples on which three labels tie nowhere."""
    rows = np.arange(_EXAMPLES)
    first = (rows + 1.0) / (2 * _EXAMPLES)
    values = np.stack([first, 0.75 * (1 - first), 0.25 * (1 - first)], axis=1)
    coords = {names.EXAMPLE: rows.astype(np.str_), names.LABEL: ["a", "b", "c"]}
    predictions = xr.DataArray(
        values, dims=(names.EXAMPLE, names.LABEL), coords=coords, attrs={names.SCALE: "probability"}
    )
    half = np.full(values.shape, 0.25)
    half[:, 0] = 0.5
    return predictions, predictions.copy(data=half)
