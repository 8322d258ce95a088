"""Annotation tables, plausibilities and predictions under their names."""

from plausibly.data.accessors import register
from plausibly.data.align import match_examples, match_labels
from plausibly.data.annotations import (
    AnnotationTable,
    AnswerRefused,
    build_table,
    table_from_records,
)
from plausibly.data.plausibilities import check_packed, check_plausibilities, pack, unpack
from plausibly.data.rows import Rows, answered_rows, check_answered, ordered_sum
from plausibly.data.seal import check_table
from plausibly.data.select import answered, concat, select, to_frame
from plausibly.data.validate import check_predictions

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
