"""What ``plausibly evaluate`` measures beyond the average, where it is asked to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypedDict

import xarray as xr

from plausibly.cli import asked, matching, reading
from plausibly.cli.output import Output
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
from plausibly.kernels.coverage import Ties

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
class Judged:
    """What all measures start from: sets and plausibilities that match, and what else was read."""

    sets: xr.DataArray
    plausibilities: xr.DataArray | xr.Dataset
    predictions: xr.DataArray | None
    predictor: ConformalPredictor | None
    naming: asked.Naming
    measure: asked.Measure
    confidence: float
    interval: IntervalMethod

    @property
    def ties(self) -> Ties:
        """What covers a vote that is tied."""
        return inputs.check_ties(self.measure.ties)

    @property
    def options(self) -> _Options:
        """Arguments of every measure."""
        return {
            "cluster": self.measure.cluster,
            "interval": self.interval,
            "confidence": self.confidence,
            "seed": self.measure.seed,
        }


def read_for_parts(
    measure: asked.Measure, naming: asked.Naming, output: Output
) -> tuple[xr.DataArray | None, ConformalPredictor | None]:
    """Return the predictions and the predictor of the sets, where they were named."""
    predictor = None
    if measure.predictor is not None:
        if measure.model is None:
            raise InputError(
                "option-unfit",
                "--predictor has no meaning without the predictions of the sets",
                expected="-p beside --predictor",
                got="--predictor alone",
                do="-p FILE, from which SETS were predicted",
                whose="--predictor",
            )
        predictor = load_predictor(measure.predictor)
    if measure.model is None:
        return None, predictor
    scale = None if predictor is None else predictor.metadata.scale
    model = reading.read_model(measure.model, naming, output, scale=scale)
    matching.check_renames(naming, model.unknown, labels=reading.label_names(model.predictions))
    return model.predictions, predictor


def parts(judged: Judged) -> list[Part]:
    """Return the further measures that were asked for, in the order in which they are printed."""
    measure = judged.measure
    found = []
    if len(measure.by) > 1:
        found.append(_subgroups(judged))
    for kind in dict.fromkeys(measure.strata):
        found.append(_STRATA[kind](judged))
    if measure.risk is not None:
        found.append(_risk(judged, measure.risk))
    if judged.predictions is not None:
        found += [_doubt(judged, judged.predictions), _slab(judged, judged.predictions)]
        if judged.predictor is not None:
            found.append(_uniformity(judged, judged.predictions, judged.predictor))
    return found


def _part(name: str, found: xr.Dataset, dim: str | None, *about: str) -> Part:
    known = {key: found.attrs[key] for key in about if key in found.attrs}
    text = "\n".join(describe_uniformity(found) if dim == OF else describe_coverage(found))
    return Part(name=name, text=text, rows=part_rows(found, dim), about=known)


def _grouped(judged: Judged, by: str | Grouper) -> xr.Dataset:
    return coverage_by(
        judged.sets, judged.plausibilities, by=by, ties=judged.ties, **judged.options
    )


def _subgroups(judged: Judged) -> Part:
    by = ByCoordinate(*judged.measure.by, at_least=judged.measure.at_least)
    about = ("by", "compared", "left_out_subgroups", "at_least", "note")
    return _part("subgroups", _grouped(judged, by), SUBGROUP, *about)


def _entropy(judged: Judged) -> Part:
    of = entropy(judged.plausibilities).rename(AMBIGUITY)
    return _part("by_entropy", _grouped(judged, ByRange(of, quantiles=3)), STRATUM, "of")


def _size(judged: Judged) -> Part:
    return _part("by_size", _grouped(judged, "set-size"), SIZE)


def _label(judged: Judged) -> Part:
    return _part("by_label", _grouped(judged, "label"), names.LABEL)


_STRATA = {"entropy": _entropy, "size": _size, "label": _label}


def _risk(judged: Judged, column: str) -> Part:
    if judged.naming.labels is None:
        raise InputError(
            "risk-missing",
            f"no table of labels says their {quoted(column)}",
            expected="--labels FILE with columns label and risk",
            got=f"--risk {column} alone",
            do=f"--labels labels.csv --risk {column}",
            whose="--risk",
        )
    levels = label_coordinate(column, [read_labels(judged.naming.labels)])
    found = _grouped(judged, ByRisk(levels)).assign_attrs(risk=column)
    return _part("by_risk", found, LEVEL, "risk")


def _doubt(judged: Judged, predictions: xr.DataArray) -> Part:
    of = entropy(predictions).rename(DOUBT)
    found = _grouped(judged, ByRange(of, quantiles=2))
    return _part("by_predicted_entropy", found, STRATUM, "of")


def _slab(judged: Judged, predictions: xr.DataArray) -> Part:
    found = worst_slab_coverage(judged.sets, judged.plausibilities, predictions, **judged.options)
    return _part("worst_slab", found, None, "least", "directions", "search")


def _uniformity(judged: Judged, predictions: xr.DataArray, predictor: ConformalPredictor) -> Part:
    # Known labels and clusters are coordinates of the sets: the same examples, by name.
    given = predictions.sel({names.EXAMPLE: judged.sets[names.EXAMPLE].values})
    lam = judged.plausibilities
    said = Plausibilities.of(lam).about
    for name in (judged.measure.true, judged.measure.cluster):
        if name is not None:
            values = inputs.example_values(name, (judged.sets, said))
            given = given.assign_coords({name: (names.EXAMPLE, values)})
    found = p_value_uniformity(
        predictor,
        given,
        judged.plausibilities,
        true=judged.measure.true,
        cluster=judged.measure.cluster,
        interval_method=judged.interval,
        confidence=judged.confidence,
        seed=judged.measure.seed,
    )
    about = ("n_calibration", "grid", "fingerprint")
    return _part("p_values", found, OF, *about)
