"""Predictions as annotation tools keep them: the labels that a model named, perhaps with scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import attrs
import numpy as np
import xarray as xr

from plausibly.data import validate
from plausibly.data.left_out import with_left_out
from plausibly.data.names import (
    EXAMPLE,
    LABEL,
    check_names,
    near,
    not_among,
    quoted,
    several,
    text_array,
)
from plausibly.errors import InputError, listed

_WITHOUT = "examples without prediction"
_UNNAMED = "a model without name"


@attrs.frozen(kw_only=True)
class NamedPrediction:
    """What a model said of one example.

    Attributes
    ----------
    example : str
        Name of the example.
    model : str
        Name of the model; empty where the file gives none.
    scores : tuple of (str, str, float or None)
        The labels that it named, each with its score, as number or as its text; None = none given.
    place : str
        Where in the file, as messages say it.
    """

    example: str
    model: str
    scores: tuple[tuple[str, str | float | None], ...]
    place: str = ""


def from_named(
    found: Iterable[NamedPrediction],
    labels: Sequence[str] | None,
    *,
    whose: str,
    model: str | None = None,
    examples: Iterable[str] = (),
) -> xr.DataArray:
    """Return the predictions of one model as an array.

    A label has the score that the model gave it, 0 where the model did not name it, and 1 where it
    was named without score. So the numbers order the labels, and are no probabilities.

    Parameters
    ----------
    found : iterable of NamedPrediction
        Those of all models; what names no label is no prediction.
    labels : sequence of str or None
        The declared labels; None: those that the model named, sorted.
    whose : str
        Name of the file.
    model : str, optional
        Whose predictions; None where there is only one model.
    examples : iterable of str
        All examples of the file: those without prediction are counted in ``left_out``.

    Returns
    -------
    DataArray, (example, label)
        float64; examples sorted by name; attributes ``scale``, which is ``any``, and ``model``.

    Raises
    ------
    InputError
        ``predictions-missing``, ``models-several``, ``model-unknown``, ``prediction-twice``,
        ``scores-mixed``, ``label-unknown`` or ``score-unfit``.
    """
    said = [prediction for prediction in found if prediction.scores]
    if not said:
        raise InputError(
            "predictions-missing",
            f"{whose} holds no prediction",
            expected="labels that a model named",
            got="none",
            do="predict in the annotation tool first, or name a file of predictions",
            whose=whose,
        )
    name = _model(said, model, whose)
    mine = _by_example([p for p in said if p.model == name], whose)
    _check_scores(mine, whose)
    used = _labels(mine, labels, whose)
    column = {label: place for place, label in enumerate(used)}
    values = np.zeros((len(mine), len(used)))
    for row, prediction in enumerate(mine):
        for label, score in prediction.scores:
            values[row, column[label]] = _number(score, prediction, whose)
    array = xr.DataArray(
        values,
        dims=(EXAMPLE, LABEL),
        coords={
            EXAMPLE: (EXAMPLE, text_array([prediction.example for prediction in mine])),
            LABEL: (LABEL, text_array(used)),
        },
        attrs={"model": name},
        name="predictions",
    )
    without = len({*examples} - {prediction.example for prediction in mine})
    return with_left_out(
        validate.check_predictions(array, whose=whose, scale="any"), {_WITHOUT: without}
    )


def _model(said: Sequence[NamedPrediction], model: str | None, whose: str) -> str:
    models = sorted({prediction.model for prediction in said})
    shown = listed(quoted(name) if name else _UNNAMED for name in models)
    if model is None:
        if len(models) == 1:
            return models[0]
        raise InputError(
            "models-several",
            f"{whose} holds predictions by {len(models)} models",
            expected="one model",
            got=shown,
            do=f'model="{models[-1]}", or another of them',
            whose=whose,
            details={"models": models},
        )
    if model not in models:
        guess = near(model, models)
        raise InputError(
            "model-unknown",
            f"{whose} holds no prediction by {quoted(model)}",
            expected="a model of the file",
            got=shown,
            do=f'did you mean model="{guess}"?' if guess else "name one of those",
            whose=whose,
            details={"models": models},
        )
    return model


def _by_example(mine: Sequence[NamedPrediction], whose: str) -> list[NamedPrediction]:
    """Return one prediction an example, sorted; a copy of one is the same prediction."""
    known: dict[str, NamedPrediction] = {}
    for prediction in sorted(mine, key=lambda p: (p.example, p.place)):
        first = known.setdefault(prediction.example, prediction)
        if set(first.scores) != set(prediction.scores):
            places = listed(p for p in (first.place, prediction.place) if p)
            raise InputError(
                "prediction-twice",
                f"{whose}: the model says two things of example {prediction.example}",
                expected="one prediction a model and example",
                got=places or "two that differ",
                do="keep one, or give the versions of the model names of their own",
                whose=whose,
                details={"example": prediction.example},
            )
    check_names(list(known), EXAMPLE, whose=whose)
    for prediction in known.values():
        _check_once(prediction, whose)
    return list(known.values())


def _check_once(prediction: NamedPrediction, whose: str) -> None:
    scores = dict(prediction.scores)
    unlike = [label for label, score in prediction.scores if scores[label] != score]
    if unlike:
        raise _unfit(
            prediction, f"gives {quoted(unlike[0])} two scores", "one score a label", whose
        )


def _unfit(prediction: NamedPrediction, says: str, expected: str, whose: str) -> InputError:
    where = f"{whose} {prediction.place}" if prediction.place else whose
    return InputError(
        "score-unfit",
        f"{where}: the prediction of example {prediction.example} {says}",
        expected=expected,
        got=listed(f"{label} {score}" for label, score in prediction.scores),
        do="mend it, or drop it",
        whose=whose,
    )


def _check_scores(mine: Sequence[NamedPrediction], whose: str) -> None:
    without = [p for p in mine if any(score is None for _, score in p.scores)]
    scored = [p for p in mine if any(score is not None for _, score in p.scores)]
    if without and scored:
        raise InputError(
            "scores-mixed",
            f"{whose}: the model gives scores for some labels and none for others",
            expected="a score for each label that it names, or for none",
            got=f"{several(len(without), 'prediction')} with labels without score "
            f"({listed(p.example for p in without)}), {len(scored)} with scores",
            do="give each a score, or remove all scores",
            whose=whose,
        )


def _labels(mine: Sequence[NamedPrediction], labels: Sequence[str] | None, whose: str) -> list[str]:
    named = sorted({label for prediction in mine for label, _ in prediction.scores})
    if labels is None:
        check_names(named, LABEL, whose=whose)
        return named
    unknown = not_among(named, labels)
    if unknown:
        guess = near(unknown[0], labels)
        raise InputError(
            "label-unknown",
            f"{whose} predicts {quoted(unknown[0])}",
            expected=f"one of {several(len(labels), 'declared label')}",
            got=f"{several(len(unknown), 'label')} outside ({listed(unknown)})",
            do=f"did you mean {quoted(guess)}? mend it" if guess else "declare it, or mend it",
            whose=whose,
            details={"labels": unknown},
        )
    return list(labels)


def _number(score: str | float | None, prediction: NamedPrediction, whose: str) -> float:
    if score is None:
        return 1.0
    try:
        number = float(score)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise _unfit(prediction, f"has the score {score}", "finite numbers", whose)
    return number
