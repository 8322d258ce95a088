from plausibly.evaluation.aggregators import (
    Sensitivity as Sensitivity,
    sensitivity as sensitivity,
)
from plausibly.evaluation.diagnostics import (
    leave_one_annotator_out as leave_one_annotator_out,
    monte_carlo_error as monte_carlo_error,
)
from plausibly.evaluation.evaluation import (
    Evaluation as Evaluation,
    evaluate as evaluate,
)
from plausibly.evaluation.groups import (
    ByCoordinate as ByCoordinate,
    ByLabel as ByLabel,
    ByRange as ByRange,
    ByRisk as ByRisk,
    BySetSize as BySetSize,
    coverage_by as coverage_by,
    describe_coverage as describe_coverage,
    entropy as entropy,
    largest as largest,
    sorted_coverage as sorted_coverage,
)
from plausibly.evaluation.intervals import (
    Interval as Interval,
    interval as interval,
)
from plausibly.evaluation.shift import (
    find_duplicates as find_duplicates,
    shift_test as shift_test,
)
from plausibly.evaluation.slab import worst_slab_coverage as worst_slab_coverage
from plausibly.evaluation.study import (
    Study as Study,
    compare as compare,
    load_study as load_study,
)
from plausibly.evaluation.uniformity import p_value_uniformity as p_value_uniformity
