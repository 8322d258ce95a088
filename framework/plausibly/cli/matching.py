"""What two files have in common, and what was chosen to calibrate on them."""

from __future__ import annotations

from collections.abc import Mapping

import xarray as xr

from plausibly.cli.asked import AskedOpinions, AskedPredictions, Method, Naming
from plausibly.cli.asks import check_views
from plausibly.cli.output import Output
from plausibly.cli.reading import (
    Model,
    Opinions,
    label_names,
    read_model,
    read_opinions,
    table_of,
    told_of_swaps,
)
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import align
from plausibly.data.names import near, quoted
from plausibly.data.states import read_left_out
from plausibly.errors import InputError
from plausibly.protocols import COMBINER, SCORE


def check_renames(naming: Naming, *unknown: frozenset[str], labels: list[str]) -> None:
    """Raise ``label-unknown`` where a name to be changed is in none of the files."""
    nowhere = sorted(frozenset(naming.rename).intersection(*unknown))
    if nowhere:
        guess = near(nowhere[0], labels)
        raise InputError(
            "label-unknown",
            f"no file has a label {quoted(nowhere[0])} to rename",
            expected="a label of one of the files",
            got=", ".join(map(quoted, nowhere)),
            do=f'--rename "{guess}={naming.rename[nowhere[0]]}"' if guess else "leave it out",
            whose="--rename",
            details={"unknown": nowhere, "labels": labels},
        )


def read_both(
    output: Output,
    asked_opinions: AskedOpinions,
    asked_model: AskedPredictions,
    naming: Naming,
    *,
    only_common: bool,
    predictor: ConformalPredictor | None = None,
) -> tuple[Model, Opinions, xr.DataArray, xr.DataArray | xr.Dataset, dict[str, int]]:
    """Return predictions and plausibilities as they were read, then matched, and what is left out.

    With a predictor, predictions are what it can predict from.
    """
    scale = None if predictor is None else predictor.metadata.scale
    with told_of_swaps(asked_opinions, asked_model):
        model = read_model(asked_model, naming, output, scale=scale)
        if predictor is not None:
            check_views(predictor, model.predictions, whose=model.whose)
        opinions = read_opinions(asked_opinions, naming, output)
    check_renames(naming, model.unknown, opinions.unknown, labels=label_names(model.predictions))
    predictions, lam, left_out = matched(
        model.predictions,
        opinions,
        whose=model.whose,
        only_common=only_common,
        declared=naming.labels is not None,
    )
    return model, opinions, predictions, lam, left_out


def matched(
    model: xr.DataArray,
    opinions: Opinions,
    *,
    whose: str,
    only_common: bool,
    declared: bool,
) -> tuple[xr.DataArray, xr.DataArray | xr.Dataset, dict[str, int]]:
    """Return predictions or sets, and plausibilities, of the same labels and examples."""
    lam = opinions.plausibilities
    labels = label_names(model)
    unsaid = set(label_names(lam)) < set(labels)
    hint = "--labels FILE, every label on a line of its own, if nobody happened to say the others"
    do = hint if unsaid and not declared else ""
    lam = align.match_labels(lam, labels, whose=opinions.whose, other=whose, do=do)
    model, lam = align.match_examples(
        model, lam, only_common=only_common, whose=whose, other=opinions.whose
    )
    left_out: dict[str, int] = {}
    for array in (model, lam):
        for reason, count in read_left_out(array.attrs).items():
            left_out[reason] = left_out.get(reason, 0) + count
    return model, lam, left_out


def chosen(
    predictor: ConformalPredictor, method: Method, opinions: Opinions
) -> list[tuple[str, Mapping[str, object] | int, bool]]:
    """Return title, component and whether it is our default, of all that was chosen."""
    calibrator = predictor.components["calibrator"] or {"name": predictor.metadata.calibrator}
    summary = predictor.summary
    drawn = (
        summary.m > 1 or summary.n_held_out or predictor.score.randomised or _has_draws(calibrator)
    )
    made: list[tuple[str, Mapping[str, object] | int, bool]] = [
        ("calibrator", calibrator, method.calibrator is None),
        ("score", table_of(SCORE, predictor.score), method.score is None),
        ("combiner", table_of(COMBINER, predictor.combiner), method.combiner is None),
    ]
    if opinions.aggregator is not None:
        made.insert(0, ("aggregator", opinions.aggregator, opinions.by_default))
    if method.seed or drawn:
        made.append(("seed", method.seed, method.seed == 0))
    return made


def _has_draws(table: Mapping[str, object]) -> bool:
    """Return whether a calibrator draws labels, or one inside it does."""
    return "draws" in table or any(
        _has_draws(value) for value in table.values() if isinstance(value, Mapping)
    )
