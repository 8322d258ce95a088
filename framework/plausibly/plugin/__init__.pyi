from plausibly.calibration.data import (
    CalibrationData as CalibrationData,
    effective_size as effective_size,
)
from plausibly.calibration.pvalues import (
    Pools as Pools,
    PValues as PValues,
    exact as exact,
)
from plausibly.calibration.scores import (
    CalibrationScores as CalibrationScores,
)
from plausibly.conformal.aggregate import (
    DEFAULT_AGGREGATORS as DEFAULT_AGGREGATORS,
)
from plausibly.data import names as names
from plausibly.data.annotations import (
    AnnotationTable as AnnotationTable,
    Rows as Rows,
    answered_rows as answered_rows,
    build_table as build_table,
)
from plausibly.data.labels import (
    Hierarchy as Hierarchy,
)
from plausibly.data.names import (
    label_text as label_text,
    near as near,
    quoted as quoted,
    several as several,
)
from plausibly.data.records import (
    Answer as Answer,
    AnswerRefused as AnswerRefused,
    Record as Record,
    check_responses as check_responses,
    refuse_responses as refuse_responses,
    table_from_records as table_from_records,
)
from plausibly.data.select import (
    select_annotations as select_annotations,
)
from plausibly.data.states import (
    with_left_out as with_left_out,
)
from plausibly.errors import (
    IncompatibleComponents as IncompatibleComponents,
    InputError as InputError,
    an as an,
    counted as counted,
    listed as listed,
    warn as warn,
)
from plausibly.extras import (
    require as require,
)
from plausibly.guarantee import (
    DRAWN_LABELS as DRAWN_LABELS,
    CalibrationSummary as CalibrationSummary,
    Claim as Claim,
    Exchangeable as Exchangeable,
    Guarantee as Guarantee,
    bounded as bounded,
)
from plausibly.kernels.masses import (
    ordered_sum as ordered_sum,
    settle as settle,
)
from plausibly.kernels.places import (
    Places as Places,
    by_places as by_places,
)
from plausibly.kernels.random import (
    Keys as Keys,
)
from plausibly.kernels.ranks import (
    hull as hull,
)
from plausibly.kernels.types import (
    Bools as Bools,
    Floats as Floats,
    Ints as Ints,
)
from plausibly.protocols import (
    AGGREGATOR as AGGREGATOR,
    ANNOTATION as ANNOTATION,
    CALIBRATOR as CALIBRATOR,
    COMBINER as COMBINER,
    READER as READER,
    SCORE as SCORE,
    Aggregator as Aggregator,
    Annotation as Annotation,
    Calibrator as Calibrator,
    ComponentLike as ComponentLike,
    PValueCombiner as PValueCombiner,
    Reader as Reader,
    ScoreFunction as ScoreFunction,
)
from plausibly.registry import (
    Registrar as Registrar,
    hookimpl as hookimpl,
    resolve as resolve,
)
