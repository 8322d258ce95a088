"""Prediction sets that cover what experts say, with a guarantee you can read.

The way of the data: `read_annotations` and `read_predictions`, `aggregate` to plausibilities,
`calibrate`, `ConformalPredictor.predict`, `evaluate`. Everything is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plausibly import errors, plots
    from plausibly.annotators.agreement import agreement
    from plausibly.annotators.reliability import reliability
    from plausibly.conformal.aggregate import aggregate
    from plausibly.conformal.calibrate import calibrate
    from plausibly.conformal.joint_rank import joint_rank
    from plausibly.conformal.predictor import ConformalPredictor
    from plausibly.conformal.regions import PlausibilityRegion, calibrate_region
    from plausibly.conformal.score_threshold import score_threshold
    from plausibly.conformal.stored import load_predictor
    from plausibly.data.plausibilities import pack, unpack
    from plausibly.data.select import concat, select, to_frame
    from plausibly.errors import InputError, PlausiblyWarning
    from plausibly.evaluation.evaluate import evaluate
    from plausibly.evaluation.results import load_study, save_study
    from plausibly.evaluation.sensitivity import sensitivity
    from plausibly.evaluation.shift import effective_sample_size, likelihood_ratios
    from plausibly.evaluation.study import compare
    from plausibly.evaluation.tuning import tune_raps
    from plausibly.guarantee import Guarantee
    from plausibly.io import (
        build_annotations,
        read_annotations,
        read_examples,
        read_labels,
        read_plausibilities,
        read_predictions,
        write_annotations,
        write_plausibilities,
    )
    from plausibly.paper.run import reproduce
    from plausibly.planning.plan import plan
    from plausibly.registry import register
    from plausibly.report.write import write_report

    __version__: str

__all__ = [
    "ConformalPredictor",
    "Guarantee",
    "InputError",
    "PlausibilityRegion",
    "PlausiblyWarning",
    "__version__",
    "aggregate",
    "agreement",
    "build_annotations",
    "calibrate",
    "calibrate_region",
    "compare",
    "concat",
    "effective_sample_size",
    "errors",
    "evaluate",
    "joint_rank",
    "likelihood_ratios",
    "load_predictor",
    "load_study",
    "pack",
    "plan",
    "plots",
    "read_annotations",
    "read_examples",
    "read_labels",
    "read_plausibilities",
    "read_predictions",
    "register",
    "reliability",
    "reproduce",
    "save_study",
    "score_threshold",
    "select",
    "sensitivity",
    "to_frame",
    "tune_raps",
    "unpack",
    "write_annotations",
    "write_plausibilities",
    "write_report",
]

_MODULES = ("errors", "plots")

_HOME = {
    "ConformalPredictor": "plausibly.conformal.predictor",
    "Guarantee": "plausibly.guarantee",
    "InputError": "plausibly.errors",
    "PlausibilityRegion": "plausibly.conformal.regions",
    "PlausiblyWarning": "plausibly.errors",
    "aggregate": "plausibly.conformal.aggregate",
    "agreement": "plausibly.annotators.agreement",
    "build_annotations": "plausibly.io",
    "calibrate": "plausibly.conformal.calibrate",
    "calibrate_region": "plausibly.conformal.regions",
    "compare": "plausibly.evaluation.study",
    "concat": "plausibly.data.select",
    "effective_sample_size": "plausibly.evaluation.shift",
    "evaluate": "plausibly.evaluation.evaluate",
    "joint_rank": "plausibly.conformal.joint_rank",
    "likelihood_ratios": "plausibly.evaluation.shift",
    "load_predictor": "plausibly.conformal.stored",
    "load_study": "plausibly.evaluation.results",
    "pack": "plausibly.data.plausibilities",
    "plan": "plausibly.planning.plan",
    "read_annotations": "plausibly.io",
    "read_examples": "plausibly.io",
    "read_labels": "plausibly.io",
    "read_plausibilities": "plausibly.io",
    "read_predictions": "plausibly.io",
    "register": "plausibly.registry",
    "reliability": "plausibly.annotators.reliability",
    "reproduce": "plausibly.paper.run",
    "save_study": "plausibly.evaluation.results",
    "score_threshold": "plausibly.conformal.score_threshold",
    "select": "plausibly.data.select",
    "sensitivity": "plausibly.evaluation.sensitivity",
    "to_frame": "plausibly.data.select",
    "tune_raps": "plausibly.evaluation.tuning",
    "unpack": "plausibly.data.plausibilities",
    "write_annotations": "plausibly.io",
    "write_plausibilities": "plausibly.io",
    "write_report": "plausibly.report.write",
}


if not TYPE_CHECKING:  # pragma: no branch  # so that a checker knows a name that is not there

    def __getattr__(name: str) -> object:
        if name == "__version__":
            value: object = import_module("plausibly.extras").version()
        elif name in _MODULES:
            value = import_module(f"plausibly.{name}")
        elif name in _HOME:
            value = getattr(import_module(_HOME[name]), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
