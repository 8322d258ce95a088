"""Files in, files out: annotations, predictions, plausibilities, prediction sets, and tables.

Everything here is imported on first use, so that a command that reads no array imports no xarray.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plausibly.io.annotation_files import write_annotations
    from plausibly.io.annotations import build_annotations, read_annotations
    from plausibly.io.label_tables import (
        read_examples,
        read_labels,
        with_coordinates,
        with_known_labels,
    )
    from plausibly.io.plausibilities import read_plausibilities, write_plausibilities
    from plausibly.io.predictions import read_predictions
    from plausibly.io.sets import read_sets, write_sets

__all__ = [
    "build_annotations",
    "read_annotations",
    "read_examples",
    "read_labels",
    "read_plausibilities",
    "read_predictions",
    "read_sets",
    "with_coordinates",
    "with_known_labels",
    "write_annotations",
    "write_plausibilities",
    "write_sets",
]

_HOME = {
    "build_annotations": "annotations",
    "read_annotations": "annotations",
    "read_examples": "label_tables",
    "read_labels": "label_tables",
    "read_plausibilities": "plausibilities",
    "read_predictions": "predictions",
    "read_sets": "sets",
    "with_coordinates": "label_tables",
    "with_known_labels": "label_tables",
    "write_annotations": "annotation_files",
    "write_plausibilities": "plausibilities",
    "write_sets": "sets",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
