"""What ``plausibly evaluate`` measures beyond the average, where it is asked to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TypedDict

import xarray as xr

from plausibly.cli.asks import of_new
from plausibly.cli.output import Output
from plausibly.config.load import Draft
from plausibly.config.settings import Settings
from plausibly.conformal.load import load_predictor
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.names import quoted
from plausibly.data.plausibilities import Plausibilities
from plausibly.errors import InputError
from plausibly.evaluation import inputs
from plausibly.evaluation.ambiguity import entropy
from plausibly.evaluation.groups import (
    SIZE,
    STRATUM,
    SUBGROUP,
    ByCoordinate,
    ByRange,
    ByRisk,
    Grouper,
    coverage_by,
    describe_coverage,
)
from plausibly.evaluation.intervals import IntervalMethod
from plausibly.evaluation.result import part_rows
from plausibly.evaluation.risk import LEVEL, label_coordinate
from plausibly.evaluation.slab import worst_slab_coverage
from plausibly.evaluation.uniformity import OF, describe_uniformity, p_value_uniformity
from plausibly.io import read_labels
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


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Inputs:
    """Inputs of all measures: sets and plausibilities that match, and what else was read."""

    sets: xr.DataArray
    plausibilities: xr.DataArray | xr.Dataset
    predictions: xr.DataArray | None
    predictor: ConformalPredictor | None
    settings: Settings
    confidence: float

    @property
    def options(self) -> _Options:
        """Arguments of every measure."""
        return {
            "cluster": self.settings.examples.cluster,
            "interval": self.settings.evaluation.interval,
            "confidence": self.confidence,
            "seed": self.settings.seed,
        }


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


def parts(given: Inputs) -> list[Part]:
    """Return the further measures, in the order in which they are printed."""
    measure = given.settings.evaluation
    found = []
    more = (measure.columns or ())[1:]
    for name in dict.fromkeys(measure.by or ()):
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


def _part(name: str, found: xr.Dataset, dim: str | None, *about: str) -> Part:
    known = {key: found.attrs[key] for key in about if key in found.attrs}
    text = "\n".join(describe_uniformity(found) if dim == OF else describe_coverage(found))
    return Part(name=name, text=text, rows=part_rows(found, dim), about=known)


def _grouped(given: Inputs, by: str | Grouper) -> xr.Dataset:
    return coverage_by(
        given.sets,
        given.plausibilities,
        by=by,
        ties=given.settings.evaluation.ties,
        **given.options,
    )


def _subgroups(given: Inputs, by: Sequence[str], *, at_least: int = 0) -> Part:
    wanted = at_least or given.settings.evaluation.at_least
    coordinates = ByCoordinate(*by, crossed=len(by), at_least=wanted)
    about = ("by", "compared", "left_out_subgroups", "at_least", "note")
    return _part("subgroups", _grouped(given, coordinates), SUBGROUP, *about)


def _entropy(given: Inputs) -> Part:
    of = entropy(given.plausibilities).rename(AMBIGUITY)
    return _part("by_entropy", _grouped(given, ByRange(of, quantiles=3)), STRATUM, "of")


def _size(given: Inputs) -> Part:
    return _part("by_size", _grouped(given, "set-size"), SIZE)


def _label(given: Inputs) -> Part:
    return _part("by_label", _grouped(given, "label"), names.LABEL)


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
    found = _grouped(given, ByRisk(levels)).assign_attrs(risk=column)
    return _part("by_risk", found, LEVEL, "risk")


def _doubt(given: Inputs, predictions: xr.DataArray) -> Part:
    of = entropy(predictions).rename(DOUBT)
    found = _grouped(given, ByRange(of, quantiles=2))
    return _part("by_predicted_entropy", found, STRATUM, "of")


def _slab(given: Inputs, predictions: xr.DataArray) -> Part:
    found = worst_slab_coverage(given.sets, given.plausibilities, predictions, **given.options)
    return _part("worst_slab", found, None, "least", "directions", "search")


def _uniformity(given: Inputs, predictions: xr.DataArray, predictor: ConformalPredictor) -> Part:
    # Columns about the examples are coordinates of the sets: the same examples, by name.
    aligned = predictions.sel({names.EXAMPLE: given.sets[names.EXAMPLE].values})
    lam = given.plausibilities
    said = Plausibilities.of(lam).about
    known = (given.settings.evaluation.true_label, given.settings.examples.cluster)
    for name in (*known, *of_new(predictor)):
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
    return _part("p_values", found, OF, *about)
