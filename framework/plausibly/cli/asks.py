"""What a predictor asks of new examples, and its thresholds, as commands show them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import xarray as xr

from plausibly.calibration.vacuous import warn_if_vacuous
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data.names import AUGMENTATION, name_texts, quoted, several
from plausibly.errors import IncompatibleComponents, InputError, listed


def thresholds(predictor: ConformalPredictor, alphas: Sequence[str]) -> list[dict[str, float]]:
    """Return the smallest score in a set at each alpha, by group; empty where there is none."""
    by = predictor.pools.calibration.claim.by
    try:
        array = predictor.threshold(list(alphas))
    except IncompatibleComponents as error:
        if error.name != "threshold-none":
            raise
        for alpha in alphas:
            warn_if_vacuous(predictor.guarantee(alpha), predictor.metadata.combiner)
        return [{} for _ in alphas]
    cells = [str(name) for name in array[by].values] if by else [""]
    columns = array.values.T if by else array.values[:, None]
    return [dict(zip(cells, column.tolist(), strict=True)) for column in columns]


def threshold_facts(predictor: ConformalPredictor, values: dict[str, float]) -> dict[str, object]:
    """Return a threshold as data: one number, numbers by group, or None."""
    by = predictor.pools.calibration.claim.by
    return {"threshold": (values or None) if by else values.get(""), "threshold_by": by or None}


def of_new(predictor: ConformalPredictor) -> tuple[str, ...]:
    """Return the coordinates that every new example must have: a group, a weight, or none."""
    calibration = predictor.pools.calibration
    by = calibration.by_examples
    return tuple(dict.fromkeys(name for name in (by, calibration.claim.weights) if name))


def asked_of_new(predictor: ConformalPredictor) -> str:
    """Return in words what is read of a new example beside one row of predictions."""
    parts = []
    if coordinates := of_new(predictor):
        parts.append(f"{' and '.join(map(quoted, coordinates))} of every new example (-e)")
    if views := predictor.metadata.augmentations:
        parts.append(f"every new example in the views {listed(views)}")
    elif predictor.pools.calibration.augmentation == "pooled":
        parts.append("every new example in one view")
    return "; ".join(parts)


def next_command(
    predictor: ConformalPredictor, path: Path, alpha: object, out: str
) -> list[object]:
    """Return the words of the command that predicts for new examples."""
    words: list[object] = ["plausibly", "predict", path, "-p", "NEW"]
    if of_new(predictor):
        words += ["-e", "NEW_EXAMPLES"]
    return [*words, "--alpha", alpha, "-o", out]


def check_views(predictor: ConformalPredictor, predictions: xr.DataArray, *, whose: str) -> None:
    """Raise ``views-unread`` where examples have several views, and the predictor reads one."""
    if AUGMENTATION not in predictions.dims or predictor.metadata.augmentations:
        return
    views = name_texts(predictions[AUGMENTATION].values)
    raise InputError(
        "views-unread",
        f"{whose} has several views of each example, and the predictor reads one",
        expected="one row an example",
        got=f"{several(len(views), 'view')} ({listed(views)})",
        do="keep the rows of one view, chosen without looking at any result, and leave --view out",
        whose=whose,
        details={"views": views},
    )


_VIEWS = {
    "augmentations-missing": "-p with a row for each view of an example, and --view COLUMN",
    "augmentations-unread": "--calibrator augmentation, or -p with one row an example",
}


@contextlib.contextmanager
def views_as_options() -> Iterator[None]:
    """Say what to do about views with options of the command line."""
    try:
        yield
    except InputError as error:
        error.do = _VIEWS.get(error.name, error.do)
        raise
