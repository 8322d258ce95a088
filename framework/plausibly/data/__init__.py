"""The labelled layer: annotation tables, plausibilities and predictions under their names."""

from plausibly.data.accessors import register
from plausibly.data.align import match_examples, match_labels
from plausibly.data.borders import check_plausibilities, check_predictions
from plausibly.data.build import AnswerRefused, table_from_records
from plausibly.data.frame import to_frame
from plausibly.data.joined import concat
from plausibly.data.packed import check_packed, pack, unpack
from plausibly.data.rows import Rows, answered_rows, check_answered
from plausibly.data.seal import check_table
from plausibly.data.sums import ordered_sum
from plausibly.data.table import AnnotationTable, build_table
from plausibly.data.verbs import answered, select

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
