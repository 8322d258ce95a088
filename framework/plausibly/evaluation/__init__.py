"""Coverage of prediction sets, and studies of several methods."""

from plausibly.evaluation.describe import as_json, describe, verdict
from plausibly.evaluation.diagnostics import leave_one_annotator_out, monte_carlo_error
from plausibly.evaluation.evaluate import evaluate
from plausibly.evaluation.groups import (
    coverage_by_label,
    coverage_by_risk,
    coverage_by_size,
    coverage_by_strata,
    coverage_by_subgroup,
    entropy,
    largest,
    sorted_coverage,
)
from plausibly.evaluation.intervals import Interval, interval
from plausibly.evaluation.results import load_study, save_study, study_table
from plausibly.evaluation.shift import alike, shift, warn_of_alike, warn_of_copies, warn_of_shift
from plausibly.evaluation.slab import worst_slab_coverage
from plausibly.evaluation.study import compare
from plausibly.evaluation.uniformity import p_value_uniformity

__all__ = [
    "Interval",
    "alike",
    "as_json",
    "compare",
    "coverage_by_label",
    "coverage_by_risk",
    "coverage_by_size",
    "coverage_by_strata",
    "coverage_by_subgroup",
    "describe",
    "entropy",
    "evaluate",
    "interval",
    "largest",
    "leave_one_annotator_out",
    "load_study",
    "monte_carlo_error",
    "p_value_uniformity",
    "save_study",
    "shift",
    "sorted_coverage",
    "study_table",
    "verdict",
    "warn_of_alike",
    "warn_of_copies",
    "warn_of_shift",
    "worst_slab_coverage",
]
