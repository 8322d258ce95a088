"""What ``plausibly evaluate`` measures beyond the average, where it is asked to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypedDict

import xarray as xr

from plausibly.cli.output import Output
from plausibly.config.load import Draft
from plausibly.config.settings import Settings
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.conformal.stored import load_predictor
from plausibly.data import names
from plausibly.data.names import quoted
from plausibly.errors import InputError
from plausibly.evaluation import inputs
from plausibly.evaluation.describe import (
    describe_labels,
    describe_risk,
    describe_sizes,
    describe_slab,
    describe_strata,
    describe_subgroups,
    describe_uniformity,
    part_rows,
)
from plausibly.evaluation.groups import (
    LEVEL,
    SIZE,
    STRATUM,
    SUBGROUP,
    coverage_by_label,
    coverage_by_risk,
    coverage_by_size,
    coverage_by_strata,
    coverage_by_subgroup,
    entropy,
    label_coordinate,
)
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.evaluation.slab import worst_slab_coverage
from plausibly.evaluation.uniformity import OF, p_value_uniformity
from plausibly.io import read_labels
from plausibly.kernels.coverage import Ties
from plausibly.study.reading import check_renames, label_names, read_model

AMBIGUITY = "entropy of the plausibilities"
DOUBT = "entropy of the predictions"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Part:
    """One further measure: for people, and as data."""

    name: str
    text: str
    rows: list[dict[str, object]]
    about: Mapping[str, object]


class _Options(TypedDict):
    """Arguments that all measures have."""

    cluster: str | None
    interval: IntervalMethod
    confidence: float
    seed: int
    whose: str


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Inputs:
    """Inputs of all measures: sets and plausibilities that match, and what else was read."""

    sets: xr.DataArray
    plausibilities: xr.DataArray | xr.Dataset
    predictions: xr.DataArray | None
    predictor: ConformalPredictor | None
    settings: Settings
    confidence: float
    source: str

    @property
    def ties(self) -> Ties:
        """How a tied majority vote is covered."""
        return self.settings.evaluation.ties

    @property
    def options(self) -> _Options:
        """Arguments of every measure."""
        return {
            "cluster": self.settings.examples.cluster,
            "interval": self.settings.evaluation.interval,
            "confidence": self.confidence,
            "seed": self.settings.seed,
            "whose": self.source,
        }


def read_for_parts(
    loaded: Draft, output: Output
) -> tuple[xr.DataArray | None, ConformalPredictor | None]:
    """Return the predictions and the predictor of the sets, where flags name them."""
    settings = loaded.settings.on_new_examples()
    typed = "new.predictions" in loaded.typed
    predictor = None
    if "output.predictor" in loaded.typed:
        if not typed:
            raise InputError(
                "option-unfit",
                "--predictor has no meaning without the predictions of the sets",
                expected="-p beside --predictor",
                got="--predictor alone",
                do="-p FILE, from which SETS were predicted",
                whose="--predictor",
            )
        predictor = load_predictor(settings.output.predictor)
    if not typed:
        return None, predictor
    scale = None if predictor is None else predictor.metadata.scale
    # Coordinates of the examples are known of the sets.
    model = read_model(settings, labels=settings.labels.path, scale=scale, working=output.working)
    check_renames(settings.labels, model.unknown, labels=label_names(model.predictions))
    return model.predictions, predictor


def parts(given: Inputs) -> list[Part]:
    """Return the further measures, in the order in which they are printed."""
    measure = given.settings.evaluation
    found = []
    by = tuple(dict.fromkeys(measure.by or ()))
    more = (measure.columns or ())[1:]
    for name in by:
        if ":" in name:
            found.append(_subgroups(given, name.split(":")))
        elif name in _STRATA:
            found.append(_STRATA[name](given))
        elif name in more:
            part = _subgroups(given, [name], at_least=1)
            found.append(dataclasses.replace(part, name=f"by_{name}"))
    if measure.risk is not None:
        found.append(_risk(given, measure.risk))
    if given.predictions is not None:
        found += [_doubt(given, given.predictions), _slab(given, given.predictions)]
        if given.predictor is not None:
            found.append(_uniformity(given, given.predictions, given.predictor))
    return found


def _part(name: str, found: xr.Dataset, text: str, dim: str | None, *about: str) -> Part:
    known = {key: found.attrs[key] for key in about if key in found.attrs}
    return Part(name=name, text=text, rows=part_rows(found, dim), about=known)


def _subgroups(given: Inputs, by: list[str], *, at_least: int = 0) -> Part:
    found = coverage_by_subgroup(
        given.sets,
        given.plausibilities,
        by,
        crossed=len(by),
        at_least=at_least or given.settings.evaluation.at_least,
        **given.options,
    )
    about = ("by", "compared", "left_out_subgroups", "at_least", "note")
    return _part("subgroups", found, describe_subgroups(found), SUBGROUP, *about)


def _entropy(given: Inputs) -> Part:
    of = entropy(given.plausibilities).rename(AMBIGUITY)
    found = coverage_by_strata(
        given.sets, given.plausibilities, of, quantiles=3, ties=given.ties, **given.options
    )
    return _part("by_entropy", found, describe_strata(found), STRATUM, "of")


def _size(given: Inputs) -> Part:
    found = coverage_by_size(given.sets, given.plausibilities, ties=given.ties, **given.options)
    return _part("by_size", found, describe_sizes(found), SIZE)


def _label(given: Inputs) -> Part:
    found = coverage_by_label(given.sets, given.plausibilities, **given.options)
    return _part("by_label", found, describe_labels(found), names.LABEL)


_STRATA = {"ambiguity": _entropy, "set-size": _size, "label": _label}


def _risk(given: Inputs, column: str) -> Part:
    if given.settings.labels.path is None:
        raise InputError(
            "risk-missing",
            f"no table of labels says their {quoted(column)}",
            expected="--labels FILE with columns label and risk",
            got=f"evaluation.risk = {column} alone",
            do=f"--labels labels.csv --set evaluation.risk={column}",
            whose="evaluation.risk",
        )
    levels = label_coordinate(column, [read_labels(given.settings.labels.path)])
    found = coverage_by_risk(given.sets, given.plausibilities, levels, **given.options)
    found = found.assign_attrs(risk=column)
    return _part("by_risk", found, describe_risk(found), LEVEL, "risk")


def _doubt(given: Inputs, predictions: xr.DataArray) -> Part:
    of = entropy(predictions).rename(DOUBT)
    found = coverage_by_strata(
        given.sets, given.plausibilities, of, quantiles=2, ties=given.ties, **given.options
    )
    return _part("by_predicted_entropy", found, describe_strata(found), STRATUM, "of")


def _slab(given: Inputs, predictions: xr.DataArray) -> Part:
    found = worst_slab_coverage(given.sets, given.plausibilities, predictions, **given.options)
    about = ("least", "directions", "search")
    return _part("worst_slab", found, describe_slab(found), None, *about)


def _uniformity(given: Inputs, predictions: xr.DataArray, predictor: ConformalPredictor) -> Part:
    # Known labels and clusters are coordinates of the sets: the same examples, by name.
    aligned = predictions.sel({names.EXAMPLE: given.sets[names.EXAMPLE].values})
    lam = given.plausibilities
    said = lam[names.WEIGHT] if isinstance(lam, xr.Dataset) else lam
    for name in (given.settings.evaluation.true_label, given.settings.examples.cluster):
        if name is not None:
            values = inputs.example_values(name, (given.sets, said))
            aligned = aligned.assign_coords({name: (names.EXAMPLE, values)})
    found = p_value_uniformity(
        predictor,
        aligned,
        given.plausibilities,
        true=given.settings.evaluation.true_label,
        cluster=given.settings.examples.cluster,
        interval_method=given.settings.evaluation.interval,
        confidence=given.confidence,
        seed=given.settings.seed,
    )
    about = ("n_calibration", "grid", "fingerprint")
    return _part("p_values", found, describe_uniformity(found), OF, *about)
