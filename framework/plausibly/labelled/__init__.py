"""The labelled layer: annotation tables, plausibilities and predictions under their names."""

from plausibly.labelled.accessors import register
from plausibly.labelled.align import match_examples, match_labels
from plausibly.labelled.borders import check_plausibilities, check_predictions
from plausibly.labelled.build import AnswerRefused, table_from_records
from plausibly.labelled.frame import to_frame
from plausibly.labelled.joined import concat
from plausibly.labelled.packed import check_packed, pack, unpack
from plausibly.labelled.rows import Rows, answered_rows, check_answered
from plausibly.labelled.seal import check_table
from plausibly.labelled.sums import ordered_sum
from plausibly.labelled.table import AnnotationTable, build_table
from plausibly.labelled.verbs import answered, select

__all__ = [
    "AnnotationTable",
    "AnswerRefused",
    "Rows",
    "answered",
    "answered_rows",
    "build_table",
    "check_answered",
    "check_packed",
    "check_plausibilities",
    "check_predictions",
    "check_table",
    "concat",
    "match_examples",
    "match_labels",
    "ordered_sum",
    "pack",
    "select",
    "table_from_records",
    "to_frame",
    "unpack",
]

register()
