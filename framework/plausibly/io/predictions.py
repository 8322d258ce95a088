"""Predictions from files: one number per example and label."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.data import validate
from plausibly.data.names import (
    EXAMPLE,
    LABEL,
    NORMALISED,
    SCALE,
    check_names,
    name_texts,
    near,
    quoted,
    several,
    text_array,
)
from plausibly.data.states import with_left_out
from plausibly.data.validate import Predictions
from plausibly.errors import InputError, an, listed
from plausibly.io import arrays, chunked, files, frames
from plausibly.io.arrays import Wanted
from plausibly.io.files import meaningless
from plausibly.io.hints import NUMBERS, WORDS, holds
from plausibly.io.label_tables import (
    Names,
    check_known,
    named_predictions,
    names_of,
    table_from,
    with_coordinates,
)
from plausibly.io.text import first_rows, value_of
from plausibly.protocols import READER, ComponentLike, Reader
from plausibly.registry import called
from plausibly.registry.entries import calling, failed


@attrs.frozen(kw_only=True)
class NamedPrediction:
    """Prediction of a model for one example.

    Attributes
    ----------
    example : str
    model : str
        Empty where the file gives none.
    scores : tuple of (str, str, float or None)
        The labels that it names, each with its score as number or text, None without one.
    place : str
        Place in the file, for messages.
    """

    example: str
    model: str
    scores: tuple[tuple[str, str | float | None], ...]
    place: str = ""


def from_named(
    found: Iterable[NamedPrediction],
    labels: Sequence[str] | None,
    *,
    source: str,
    model: str | None = None,
    examples: Iterable[str] = (),
) -> xr.DataArray:
    """Return the predictions of one model as an array (example, label) of float64.

    A label has the score that the model gave it, 0 where the model did not name it, and 1 where it
    was named without score: the numbers order the labels, and are no probabilities (attribute
    ``scale`` is ``any``; ``model`` names the model). Examples are sorted by name.

    Parameters
    ----------
    found : iterable of NamedPrediction
        Those of all models; what names no label is no prediction.
    labels : sequence of str or None
        The declared labels; None: those that the model named, sorted.
    source : str
        Name of the file.
    model : str, optional
        Name of the model; None where there is only one.
    examples : iterable of str
        All examples of the file: those without prediction are counted in ``left_out``.

    Raises
    ------
    InputError
        ``predictions-missing``, ``model-unknown``, ``scores-unfit`` or ``label-unknown``.
    """
    named = [prediction for prediction in found if prediction.scores]
    if not named:
        raise InputError(
            "predictions-missing",
            f"{source} holds no prediction",
            expected="labels that a model named",
            found="none",
            hint="predict in the annotation tool first, or name a file of predictions",
            source=source,
        )
    name = _model(named, model, source)
    known: dict[str, NamedPrediction] = {}
    of_model = [prediction for prediction in named if prediction.model == name]
    for prediction in sorted(of_model, key=lambda p: (p.example, p.place)):
        first = known.setdefault(prediction.example, prediction)
        if set(first.scores) != set(prediction.scores):  # a copy is the same prediction
            places = listed(p for p in (first.place, prediction.place) if p) or "two that differ"
            raise _unfit(source, prediction, "has two", "one per model and example", places)
    check_names(list(known), EXAMPLE, source=source)
    used = sorted({label for p in known.values() for label, _ in p.scores})
    if labels is None:
        check_names(used, LABEL, source=source)
    else:
        check_known(used, labels, source, "predicts")
        used = list(labels)
    values = np.zeros((len(known), len(used)))
    column_of = {label: column for column, label in enumerate(used)}
    without = [p for p in known.values() for _, score in p.scores if score is None]
    if 0 < len(without) < sum(len(p.scores) for p in known.values()):
        missing = f"{several(len(without), 'label')} without score"
        expected = "a score for each label that the model names, or for none"
        raise _unfit(source, without[0], "lacks scores", expected, missing)
    for row, prediction in enumerate(known.values()):
        seen: dict[str, float] = {}
        for label, score in prediction.scores:
            number = 1.0 if score is None else value_of(str(score))
            if number is None or not math.isfinite(number):
                raise _unfit(source, prediction, f"has the score {score}", "finite numbers")
            if seen.setdefault(label, number) != number:
                what = f"gives {quoted(label)} two scores"
                raise _unfit(source, prediction, what, "one score per label")
            values[row, column_of[label]] = number
    array = named_predictions(values, list(known), used, {"model": name})
    array = validate.check_predictions(array, source=source, scale="any")
    without_prediction = len({*examples}.difference(known))
    return with_left_out(array, {"examples without prediction": without_prediction})


def _model(named: Sequence[NamedPrediction], model: str | None, source: str) -> str:
    models = sorted({prediction.model for prediction in named})
    if model in models or (model is None and len(models) == 1):
        return models[0] if model is None else model
    guess = near(model, models) if model else None
    raise InputError(
        "model-unknown",
        f"{source} holds predictions by {several(len(models), 'model')}"
        if model is None
        else f"{source} holds no prediction by {quoted(model)}",
        expected="one model of the file",
        found=listed(quoted(name) if name else "a model without name" for name in models),
        hint=f'model="{guess or models[-1]}"',
        source=source,
        details={"models": models},
    )


def _unfit(
    source: str, prediction: NamedPrediction, what: str, expected: str, found: str = ""
) -> InputError:
    return InputError(
        "scores-unfit",
        f"{f'{source} {prediction.place}'.strip()}: the prediction of example "
        f"{prediction.example} {what}",
        expected=expected,
        found=found or listed(f"{label} {score}" for label, score in prediction.scores),
        hint="fix it, or drop it",
        source=source,
        details={"example": prediction.example},
    )


def in_export(
    path: Path, reader: ComponentLike[Reader], labels: Names | None, model: str | None
) -> xr.DataArray:
    """Return the predictions of one model, (example, label), as `reader` finds them."""
    component = registry.resolve(READER, reader)
    name = called(READER, component)
    if type(component).predictions is Reader.predictions:
        raise InputError(
            "reader-no-predictions",
            f"{path.name}: reader {quoted(name)} reads annotations only",
            expected="a reader with a method predictions(path, labels, model)",
            found="no such method",
            hint="leave reader out, or name one whose exports hold predictions: "
            'reader="label-studio"',
            source=path.name,
        )
    source = f"reader {name}"
    about = None if labels is None else table_from(labels, LABEL)
    declared = None if about is None else names_of(about, LABEL)
    with calling(source, "predictions"):
        predictions: object = component.predictions(path, declared, model)
    if not isinstance(predictions, xr.DataArray):
        raise failed(
            source,
            "predictions() returned no predictions",
            expected="a DataArray (example, label)",
            found=an(type(predictions).__name__),
        )
    return predictions if about is None else with_coordinates(predictions, about)


_ROLE = "predictions"
_USUAL = ("predictions", "probs", "probabilities", "prediction", "probability")


def read_predictions(
    path: Path | str | frames.Frame,
    *,
    labels: Names | None = None,
    examples: Names | None = None,
    example: str = EXAMPLE,
    scale: str | None = None,
    normalise: bool = False,
    bad_rows: Literal["error", "drop"] = "error",
    strip: bool = False,
    rename: Mapping[str, str] | None = None,
    variable: str | None = None,
    augmentation: str | None = None,
    reader: ComponentLike[Reader] | None = None,
    model: str | None = None,
    chunks: int | None = None,
) -> xr.DataArray:
    """Read predictions from npy, npz, CSV, TSV, Parquet, netCDF or Zarr; the first bytes decide.

    With `reader` they are those that an export of an annotation tool holds.

    Parameters
    ----------
    path : Path, str, or frame
        The file; or a table in memory, of pandas, polars or pyarrow (extra ``frames``). A table has
        a column of example names, then one column per label and nothing else. An npz has one array
        ``predictions``, ``probs`` or ``probabilities`` (example, label), and may have the names as
        ``labels``, ``label_names`` or ``class_names``, and as ``examples`` or ``names``. A netCDF
        file has a variable over dims ``example`` and ``label``. Either may have several
        augmentations of each example: an array (augmentation, example, label) beside their names as
        ``augmentations`` or ``views``, or a variable with the dim ``augmentation``.
    labels : sequence of str, Path, str or Dataset, optional
        Names of the labels, in column order where the file has none (npy); else the result has
        their order. A table (see `plausibly.read_labels`) also gives its coordinates to the result.
    examples : sequence of str, Path, str or Dataset, optional
        Names of the examples where the file has none, ``"0"``, ``"1"``, … by default; a table also
        gives its coordinates to the result.
    example : str
        Column of a table that names the examples.
    scale : {"probability", "logit", "independent", "any"}, optional
        What the numbers are; see `plausibly.data.validate.check_predictions`. Default:
        ``"probability"``, and what the reader says (``"any"``) of predictions in an export.
    normalise : bool
        Divide each row by its sum (scale ``probability`` only), recorded in the attribute
        ``normalised``.
    bad_rows : {"error", "drop"}
        What to do with examples that have a number which is not finite; dropped ones are counted
        in the attribute ``left_out``.
    strip : bool
        Take blanks off both ends of the label names.
    rename : mapping of str to str, optional
        New names of labels by their old ones (after `strip`).
    variable : str, optional
        Variable of a netCDF file, where several have the dims.
    augmentation : str, optional
        Column of a table with several rows per example, each of another augmentation of it. Every
        example has every augmentation; what is checked of predictions is checked of each.
    reader : str, mapping or Reader, optional
        Name of a reader of annotations that also reads the predictions in its files, such as
        ``"label-studio"``, or ``{"name": "label-studio", "control": "dx"}``.
    model : str, optional
        Whose predictions, where an export holds those of several models.
    chunks : int, optional
        About how many examples to read at once, of Zarr, netCDF, npy and Parquet: the result is a
        Dask array that is read and checked when something is asked of it (extra ``dask``).

    Returns
    -------
    DataArray, ([augmentation,] example, label)
        float32 where the file has it, else float64; attribute ``scale``. Augmentations are in
        the order in which the file first names them. An example with bad rows is dropped with all
        its augmentations.

    Raises
    ------
    InputError
        With the name of the file and the rows, for whatever cannot be used as it is.
    """
    file = Path(path) if isinstance(path, (str, os.PathLike)) else None
    source = frames.FRAME if file is None else file.name
    options = {
        "variable": variable,
        "augmentation": augmentation,
        "examples": examples,
        "rename": rename,
        "strip": strip or None,
        "chunks": chunks,
        "example": None if example == EXAMPLE else example,
    }
    if reader is not None:
        if file is None:
            raise meaningless(source, "reader", f"{reader}", "a file")
        _refuse(options, source, "a file of predictions alone")
        array = in_export(file, reader, labels, model)
        scale = scale or "any"
    else:
        if chunks is None:
            data = _read(path, example, variable, augmentation)
        elif file is None:
            raise meaningless(source, "chunks", f"{chunks}", "a file")
        else:
            rows = None if bad_rows == "error" else bad_rows
            unfit = {"normalise": normalise or None, "bad_rows": rows, "augmentation": augmentation}
            _refuse(unfit, source, "a file that is read whole")
            data = chunked.from_chunks(
                file, _ROLE, chunks, variable=variable, usual=_USUAL, example=example
            )
        source = data.source
        if model is not None:
            raise meaningless(source, "model", model, 'an export, with reader="..."')
        array = arrays.labelled(data, labels=labels, examples=examples, name=_ROLE)
        known = name_texts(array[LABEL].values)
        known = [label.strip() for label in known] if strip else known
        if rename:
            check_known(list(rename), known, source, "has no label to rename called")
            known = [rename.get(label, label) for label in known]
        check_names(known, LABEL, source=source)
        array = array.assign_coords({LABEL: (LABEL, text_array(known))})
        if labels is not None and data.labels is not None:
            array = arrays.declared(array, labels, source)
        scale = scale or "probability"
    if bad_rows == "drop":
        # An example stays only with all its augmentations.
        others = tuple(axis for axis, dim in enumerate(array.dims) if dim != EXAMPLE)
        finite = np.isfinite(array.values).all(axis=others)
        dropped = int((~finite).sum())
        if dropped == finite.size:
            only = f"{several(dropped, 'bad row')} only"
            raise files.empty(source, "a row of finite numbers", only)
        array = with_left_out(array.isel({EXAMPLE: finite}), {"bad rows": dropped})
    elif bad_rows != "error":
        raise meaningless(source, "bad_rows", bad_rows, "error or drop")
    if normalise:
        if scale != "probability":
            raise meaningless(source, "normalise", f"scale {scale}", "scale probability")
        values = array.values
        total = values.sum(axis=-1, dtype=np.float64, keepdims=True)
        # Rows that cannot be divided are left for the check to name.
        fit = np.isfinite(total) & (total > 0) & (values >= 0).all(axis=-1, keepdims=True)
        is_float = values.dtype.itemsize > 2 and values.dtype.kind == "f"
        divided = (values / np.where(fit, total, 1.0)).astype(values.dtype if is_float else float)
        array = array.copy(data=divided).assign_attrs({NORMALISED: 1})
    if chunks is not None:
        check_names(name_texts(array[EXAMPLE].values), EXAMPLE, source=source)
        return array.assign_attrs({SCALE: validate.known_scale(array, source, scale)})
    return Predictions.from_xarray(array, source=source, scale=scale).array


def _refuse(options: Mapping[str, object], source: str, expected: str) -> None:
    """Raise ``option-unfit`` for the first of some options that is set."""
    for option, value in options.items():
        if value is not None:
            raise meaningless(source, option, f"{value}", expected)


def _read(
    path: Path | str | frames.Frame, example: str, variable: str | None, augmentation: str | None
) -> arrays.NamedArray:
    wanted = Wanted(example, augmentation)
    if not isinstance(path, (str, os.PathLike)):
        if variable is not None:
            raise meaningless(frames.FRAME, "variable", variable, "a netCDF file")
        return arrays.from_columns(*frames.columns_of(path), wanted)
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".zarr":
        return arrays.from_netcdf(path, _ROLE, variable, _USUAL)
    head = files.opening(path, _ROLE, 8)
    if head.startswith(files.NETCDF):
        data = arrays.from_netcdf(path, _ROLE, variable, _USUAL, augmented=True)
    else:
        if variable is not None:
            raise meaningless(path.name, "variable", variable, "a netCDF file")
        if head.startswith(b"\x93NUMPY") or ending == ".npy":
            data = arrays.from_npy(path, _ROLE)
        elif ending == ".npz":
            data = arrays.from_npz(path, _ROLE, _USUAL, augmented=True)
        else:
            return arrays.from_table(path, _ROLE, wanted)
    columns = {"example": None if example == EXAMPLE else example, "augmentation": augmentation}
    _refuse(columns, path.name, "a table, whose columns have names")
    return data


def files_swapped(
    annotations: Path, predictions: Path, keys: tuple[str, str] = ("-a ", "-p ")
) -> InputError | None:
    """Return what to raise where files hold what was expected of the other one, else None."""
    if _holds(annotations) != NUMBERS or _holds(predictions) != WORDS:
        return None
    first, second = keys
    return InputError(
        "files-swapped",
        f"{first.strip(' =')} and {second.strip(' =')} seem to be swapped",
        expected=f"answers after {first.strip(' =')}, probabilities after {second.strip(' =')}",
        found=f"{first}{annotations} ({NUMBERS}), {second}{predictions} ({WORDS})",
        hint=f"{first}{predictions} {second}{annotations}",
        details={"annotations": str(annotations), "predictions": str(predictions)},
    )


def _holds(path: Path) -> str | None:
    """Return what a file seems to hold, in words; None where it does not say."""
    try:
        head = files.opening(path, "input")
    except InputError:
        return None
    if head.startswith((b"\x93NUMPY", *files.NETCDF)):
        return NUMBERS
    return holds(first_rows(path, head))
