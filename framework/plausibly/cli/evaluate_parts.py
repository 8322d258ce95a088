"""Coverage beyond the average: by groups, and of predictions, where the settings name them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

import xarray as xr

from plausibly.cli.output import Output
from plausibly.cli.promise import of_new
from plausibly.config.load import Draft
from plausibly.config.settings import Settings
from plausibly.conformal.load import load_predictor
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data.names import EXAMPLE, LABEL, quoted
from plausibly.data.plausibilities import Plausibilities
from plausibly.errors import InputError
from plausibly.evaluation.ambiguity import entropy
from plausibly.evaluation.groups import (
    SIZE,
    STRATUM,
    SUBGROUP,
    ByCoordinate,
    ByRange,
    ByRisk,
    coverage_by,
)
from plausibly.evaluation.inputs import example_values
from plausibly.evaluation.risk import LEVEL, label_coordinate
from plausibly.evaluation.slab import worst_slab_coverage
from plausibly.evaluation.uniformity import OF, p_value_uniformity
from plausibly.io import read_labels
from plausibly.study.reading import check_renames, label_names, read_model

Part: TypeAlias = tuple[str, xr.Dataset, str | None, tuple[str, ...]]
"""Name of a measure, its results, their dimension, and the attributes that JSON shows."""

_SUBGROUPS = ("by", "compared", "left_out_subgroups", "at_least", "note")


def read_for_parts(
    loaded: Draft, output: Output
) -> tuple[xr.DataArray | None, ConformalPredictor | None]:
    """Return the predictions and the predictor of the sets, where the settings name them."""
    settings = loaded.settings.on_new_examples()
    if settings.predictions.path is None:
        if "output.predictor" in loaded.typed:
            raise InputError(
                "option-unfit",
                "--predictor has no meaning without the predictions of the sets",
                expected="-p beside --predictor",
                got="--predictor alone",
                do="-p FILE, from which SETS were predicted",
                whose="--predictor",
            )
        return None, None
    named = loaded.has("output.predictor")
    predictor = load_predictor(settings.output.predictor) if named else None
    # Coordinates of the examples are known of the sets.
    model = read_model(
        settings, labels=settings.labels.path, predictor=predictor, working=output.working
    )
    check_renames(settings.labels, model.unknown, labels=label_names(model.predictions))
    return model.predictions, predictor


def parts(
    sets: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    predictions: xr.DataArray | None,
    predictor: ConformalPredictor | None,
    settings: Settings,
    confidence: float,
) -> Iterator[Part]:
    """Yield the further measures of sets, in the order in which they are printed."""
    measure, cluster, seed = settings.evaluation, settings.examples.cluster, settings.seed
    grouped = partial(
        coverage_by,
        sets,
        plausibilities,
        ties=measure.ties,
        cluster=cluster,
        interval=measure.interval,
        confidence=confidence,
        seed=seed,
    )
    more = (measure.columns or ())[1:]
    for name in dict.fromkeys(measure.by or ()):
        if ":" in name:
            columns = name.split(":")
            crossed = ByCoordinate(*columns, crossed=len(columns), at_least=measure.at_least)
            yield "subgroups", grouped(by=crossed), SUBGROUP, _SUBGROUPS
        elif name == "ambiguity":
            of = entropy(plausibilities).rename("entropy of the plausibilities")
            yield "by_entropy", grouped(by=ByRange(of, quantiles=3)), STRATUM, ("of",)
        elif name == "set-size":
            yield "by_size", grouped(by=name), SIZE, ()
        elif name == "label":
            yield "by_label", grouped(by=name), LABEL, ()
        elif name in more:
            groups = ByCoordinate(name, crossed=1, at_least=1)
            yield f"by_{name}", grouped(by=groups), SUBGROUP, _SUBGROUPS
    if measure.risk is not None:
        if settings.labels.path is None:
            raise InputError(
                "risk-missing",
                f"no table of labels says their {quoted(measure.risk)}",
                expected="--labels FILE with columns label and risk",
                got=f"evaluation.risk = {measure.risk} alone",
                do=f"--labels labels.csv --set evaluation.risk={measure.risk}",
                whose="evaluation.risk",
            )
        levels = label_coordinate(measure.risk, [read_labels(settings.labels.path)])
        found = grouped(by=ByRisk(levels)).assign_attrs(risk=measure.risk)
        yield "by_risk", found, LEVEL, ("risk",)
    if predictions is None:
        return
    of = entropy(predictions).rename("entropy of the predictions")
    yield "by_predicted_entropy", grouped(by=ByRange(of, quantiles=2)), STRATUM, ("of",)
    slab = worst_slab_coverage(
        sets,
        plausibilities,
        predictions,
        cluster=cluster,
        interval=measure.interval,
        confidence=confidence,
        seed=seed,
    )
    yield "worst_slab", slab, None, ("least", "directions", "search")
    if predictor is None:
        return
    # Columns about the examples are coordinates of the sets: the same examples, by name.
    aligned = predictions.sel({EXAMPLE: sets[EXAMPLE].values})
    about = Plausibilities.of(plausibilities).about
    for column in (measure.true_label, cluster, *of_new(predictor)):
        if column is not None:
            values = example_values(column, (sets, about))
            aligned = aligned.assign_coords({column: (EXAMPLE, values)})
    p_values = p_value_uniformity(
        predictor,
        aligned,
        plausibilities,
        true=measure.true_label,
        cluster=cluster,
        interval_method=measure.interval,
        confidence=confidence,
        seed=seed,
    )
    yield "p_values", p_values, OF, ("n_calibration", "grid", "fingerprint")
