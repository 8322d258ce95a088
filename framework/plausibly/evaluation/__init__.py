"""Coverage of prediction sets, and studies of several methods."""

from plausibly.evaluation.ambiguity import entropy, largest
from plausibly.evaluation.diagnostics import leave_one_annotator_out, monte_carlo_error
from plausibly.evaluation.evaluate import Evaluation, evaluate
from plausibly.evaluation.groups import (
    ByCoordinate,
    ByLabel,
    ByRange,
    ByRisk,
    BySetSize,
    coverage_by,
    describe_coverage,
    sorted_coverage,
)
from plausibly.evaluation.intervals import Interval, interval
from plausibly.evaluation.sensitivity import Sensitivity, sensitivity
from plausibly.evaluation.shift import find_duplicates, shift_test
from plausibly.evaluation.slab import worst_slab_coverage
from plausibly.evaluation.study import Study, compare, load_study
from plausibly.evaluation.uniformity import p_value_uniformity

__all__ = [
    "ByCoordinate",
    "ByLabel",
    "ByRange",
    "ByRisk",
    "BySetSize",
    "Evaluation",
    "Interval",
    "Sensitivity",
    "Study",
    "compare",
    "coverage_by",
    "describe_coverage",
    "entropy",
    "evaluate",
    "find_duplicates",
    "interval",
    "largest",
    "leave_one_annotator_out",
    "load_study",
    "monte_carlo_error",
    "p_value_uniformity",
    "sensitivity",
    "shift_test",
    "sorted_coverage",
    "worst_slab_coverage",
]
