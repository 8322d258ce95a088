"""What a report is given in Python: arguments that mean something, data that fit each other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import attrs
import numpy as np
import xarray as xr

from plausibly.calibration.alphas import AlphaLike, Alphas, is_several, read_alphas
from plausibly.conformal.aggregate import aggregate
from plausibly.data import align, names, validate
from plausibly.data.names import name_texts
from plausibly.data.validate import check_augmented, is_augmented
from plausibly.errors import InputError, counted
from plausibly.evaluation import inputs
from plausibly.evaluation.design import Method, Methods, read_methods
from plausibly.io import read_annotations, read_plausibilities, read_predictions
from plausibly.report.of_study import Compared

Data: TypeAlias = "xr.DataArray | xr.Dataset | Path | str"


def only(
    given: Mapping[str, object], wanted: Sequence[str], whose: str = "a predictor: it has its own"
) -> None:
    """Raise ``report-argument`` where something is said that would change nothing."""
    for name, value in given.items():
        if value is not None and name not in wanted:
            raise InputError(
                "report-argument",
                f"{name} has no meaning in a report on {whose}",
                expected=f"some of {', '.join(wanted)}" if wanted else "none of these arguments",
                got=name,
                do=f"leave {name} out",
                whose=name,
            )


def data(
    predictions: xr.DataArray | Path | str | None,
    annotations: xr.Dataset | Path | str | None,
    plausibilities: Data | None,
    needed: Sequence[str],
) -> tuple[xr.DataArray, xr.Dataset | None, xr.DataArray]:
    """Return predictions, the annotation table where there is one, and plausibilities."""
    opinions = annotations if plausibilities is None else plausibilities
    for name, value in zip(needed, (predictions, opinions), strict=True):
        if value is None:
            raise InputError(
                "report-argument",
                f"the report lacks {name}",
                expected=f"{needed[0]}, and {needed[1]}, of the same examples",
                got="none",
                do='write_report(source, "report.html", predictions=..., annotations=...)',
                whose=name,
            )
    model = read_predictions(predictions) if isinstance(predictions, Path | str) else predictions
    table = annotations
    if isinstance(table, Path | str):
        table = read_annotations(table)
    if isinstance(plausibilities, Path | str):
        plausibilities = read_plausibilities(plausibilities)
    lam = aggregate(cast("xr.Dataset", table)) if plausibilities is None else plausibilities
    checked = check_augmented if is_augmented(model) else validate.check_predictions
    return checked(cast("xr.DataArray", model)), table, inputs.as_plausibilities(lam)


def alphas_of(given: Alphas) -> list[AlphaLike]:
    """Return alphas as they were given, of which each can be read."""
    read_alphas(given)
    if not is_several(given):
        return [cast("AlphaLike", given)]
    found: list[AlphaLike] = np.asarray(given, dtype=object).ravel().tolist()
    return found


def compared(
    result: xr.Dataset,
    model: xr.DataArray,
    table: xr.Dataset | None,
    lam: xr.DataArray,
    methods: Methods | None,
    by: Sequence[str] | None,
) -> Compared:
    """Return what `plausibly.compare` gave, with its data, examples in the order of their names."""
    told: dict[str, dict[str, object]] = json.loads(str(result.attrs["methods"]))
    asked = {
        name: attrs.asdict(one, recurse=False) for name, one in _methods(methods, told).items()
    }
    labels = name_texts(model[names.LABEL].values)
    lam = align.match_labels(lam, labels, whose="plausibilities", other="predictions")
    model, lam = align.match_examples(model, lam)
    if model.sizes[names.EXAMPLE] != int(result.attrs["n"]):
        raise InputError(
            "study-changed",
            "these are not the examples that were compared",
            expected=f"{counted(int(result.attrs['n']))} of them",
            got=counted(model.sizes[names.EXAMPLE]),
            do="pass the predictions and annotations that compare was given",
            whose="predictions",
        )
    order = np.argsort(model[names.EXAMPLE].values.astype(np.str_), kind="stable")
    model, lam = (array.isel({names.EXAMPLE: order}) for array in (model, lam))
    stratify = result.attrs.get("stratify")
    return Compared(
        predictions=model,
        plausibilities=lam,
        annotations=table,
        methods=asked,
        alphas=[str(alpha) for alpha in json.loads(str(result.attrs["alphas"]))],
        group=result.attrs.get("group"),
        stratify=stratify if stratify in model.coords else None,
        true=None,
        by=by,
        ties=inputs.check_ties(str(result.attrs["ties"])),
        seed=int(result.attrs["seed"]),
        result=result,
    )


def _methods(
    methods: Methods | None, told: Mapping[str, Mapping[str, object]]
) -> dict[str, Method]:
    """Return the methods that were compared, from their names where these say all."""
    if methods is None:
        whole = not any("(" in str(value) for table in told.values() for value in table.values())
        if whole:
            return read_methods(dict(told))
        raise InputError(
            "report-argument",
            "the report lacks methods",
            expected="those that compare was given, since some have parameters",
            got="none",
            do='write_report(study, "report.html", methods=methods, ...)',
            whose="methods",
        )
    found = read_methods(methods)
    if list(found) != list(told):
        raise InputError(
            "report-argument",
            "methods are not those that were compared",
            expected=", ".join(told),
            got=", ".join(found),
            do="pass what compare was given",
            whose="methods",
        )
    return found
