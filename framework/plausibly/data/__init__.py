"""Annotation tables, plausibilities and predictions under their names.

The accessor `.plausibly` of DataArrays and Datasets is there as soon as this package is.
"""

from importlib import import_module

import xarray as xr

from plausibly.data.align import match_examples, match_labels
from plausibly.data.annotations import (
    AnnotationTable,
    Rows,
    answered_rows,
    build_table,
    check_answered,
    check_table,
)
from plausibly.data.plausibilities import check_packed, check_plausibilities, pack, unpack
from plausibly.data.records import AnswerRefused, table_from_records
from plausibly.data.select import answered, concat, select, to_frame
from plausibly.data.validate import check_predictions
from plausibly.kernels.sums import ordered_sum

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


def _open(array: xr.DataArray | xr.Dataset) -> object:
    """Return what `.plausibly` is: looked up by name, since figures stand on a higher floor."""
    opened: object = import_module("plausibly.accessor").of(array)
    return opened


def register() -> None:
    """Let DataArrays and Datasets have the accessor; what already has the name keeps it."""
    if not hasattr(xr.DataArray, "plausibly"):
        xr.register_dataarray_accessor("plausibly")(_open)  # type: ignore[no-untyped-call]  # xarray lacks the hint
    if not hasattr(xr.Dataset, "plausibly"):
        xr.register_dataset_accessor("plausibly")(_open)  # type: ignore[no-untyped-call]  # xarray lacks the hint


register()
