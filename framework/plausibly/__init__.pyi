from plausibly import (
    errors as errors,
    plots as plots,
)
from plausibly.annotators.agreement import agreement as agreement
from plausibly.annotators.reliability import reliability as reliability
from plausibly.calibration.threshold import score_threshold as score_threshold
from plausibly.conformal.aggregate import aggregate as aggregate
from plausibly.conformal.calibrate import calibrate as calibrate
from plausibly.conformal.joint_rank import joint_rank as joint_rank
from plausibly.conformal.load import load_predictor as load_predictor
from plausibly.conformal.predictor import ConformalPredictor as ConformalPredictor
from plausibly.conformal.regions import (
    PlausibilityRegion as PlausibilityRegion,
    calibrate_region as calibrate_region,
)
from plausibly.data.plausibilities import (
    to_dense as to_dense,
    to_sparse as to_sparse,
)
from plausibly.data.select import (
    concat_annotations as concat_annotations,
    select_annotations as select_annotations,
    to_frame as to_frame,
)
from plausibly.errors import (
    InputError as InputError,
    PlausiblyWarning as PlausiblyWarning,
)
from plausibly.evaluation.aggregators import sensitivity as sensitivity
from plausibly.evaluation.evaluation import evaluate as evaluate
from plausibly.evaluation.shift import (
    effective_sample_size as effective_sample_size,
    likelihood_ratios as likelihood_ratios,
)
from plausibly.evaluation.study import (
    compare as compare,
    load_study as load_study,
)
from plausibly.evaluation.tuning import tune_raps as tune_raps
from plausibly.guarantee import Guarantee as Guarantee
from plausibly.io import (
    build_annotations as build_annotations,
    read_annotations as read_annotations,
    read_examples as read_examples,
    read_labels as read_labels,
    read_plausibilities as read_plausibilities,
    read_predictions as read_predictions,
    write_annotations as write_annotations,
    write_plausibilities as write_plausibilities,
)
from plausibly.paper.run import reproduce as reproduce
from plausibly.planning.plan import plan as plan
from plausibly.registry import register as register
from plausibly.report.write import write_report as write_report
from plausibly.version import __version__ as __version__
