"""All that a plugin needs, in one import: ``from plausibly.plugin import ...``.

A plugin is a module with one function that `hookimpl` marks; its distribution declares the module
in the entry-point group ``plausibly``. The components that it registers satisfy the Protocols here
and are frozen, keyword-only attrs classes whose fields are their parameters.

What needs numpy or xarray is imported when it is first used, so that registering stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from plausibly.errors import (
    ComponentError,
    IncompatibleComponents,
    InputError,
    MissingExtra,
    PlausiblyWarning,
    counted,
    listed,
    warn,
)
from plausibly.extras import require
from plausibly.guarantee import Guarantee
from plausibly.protocols import (
    AGGREGATOR,
    ANNOTATION,
    CALIBRATOR,
    COMBINER,
    READER,
    SCORE,
    Aggregator,
    Annotation,
    Calibrator,
    ComponentLike,
    Kind,
    PValueCombiner,
    Reader,
    Record,
    ScoreFunction,
    ScoreInput,
)
from plausibly.registry import API_VERSION, Registrar, hookimpl, resolve

if TYPE_CHECKING:
    from plausibly.arrays import Bools, Floats, Hashes, Ints, Masses
    from plausibly.conformal.data import CalibrationData
    from plausibly.conformal.evidence import Evidence, Replicates
    from plausibly.conformal.held_out import delta_field, exact, held_out_field, require_held_out
    from plausibly.conformal.pvalues import PValues
    from plausibly.io.files import contents as file_contents
    from plausibly.io.hints import columns_hint
    from plausibly.io.numpy_files import read_npy, read_npz
    from plausibly.io.text import TextTable, read_table
    from plausibly.kernels.masses import settle
    from plausibly.keys import Keys, hash_names
    from plausibly.labelled import names
    from plausibly.labelled.build import table_from_records
    from plausibly.labelled.near import near
    from plausibly.labelled.seal import check_table
    from plausibly.labelled.table import AnnotationTable, build_table
    from plausibly.labelled.text import quoted, several

__all__ = [
    "AGGREGATOR",
    "ANNOTATION",
    "API_VERSION",
    "CALIBRATOR",
    "COMBINER",
    "READER",
    "SCORE",
    "Aggregator",
    "Annotation",
    "AnnotationTable",
    "Bools",
    "CalibrationData",
    "Calibrator",
    "ComponentError",
    "ComponentLike",
    "Evidence",
    "Floats",
    "Guarantee",
    "Hashes",
    "IncompatibleComponents",
    "InputError",
    "Ints",
    "Keys",
    "Kind",
    "Masses",
    "MissingExtra",
    "PValueCombiner",
    "PValues",
    "PlausiblyWarning",
    "Reader",
    "Record",
    "Registrar",
    "Replicates",
    "ScoreFunction",
    "ScoreInput",
    "TextTable",
    "build_table",
    "check_table",
    "columns_hint",
    "counted",
    "delta_field",
    "exact",
    "file_contents",
    "hash_names",
    "held_out_field",
    "hookimpl",
    "listed",
    "names",
    "near",
    "quoted",
    "read_npy",
    "read_npz",
    "read_table",
    "require",
    "require_held_out",
    "resolve",
    "settle",
    "several",
    "table_from_records",
    "warn",
]

_HOME = {
    "AnnotationTable": "plausibly.labelled.table",
    "Bools": "plausibly.arrays",
    "CalibrationData": "plausibly.conformal.data",
    "Evidence": "plausibly.conformal.evidence",
    "Floats": "plausibly.arrays",
    "Hashes": "plausibly.arrays",
    "Ints": "plausibly.arrays",
    "Keys": "plausibly.keys",
    "Masses": "plausibly.arrays",
    "PValues": "plausibly.conformal.pvalues",
    "Replicates": "plausibly.conformal.evidence",
    "TextTable": "plausibly.io.text",
    "build_table": "plausibly.labelled.table",
    "check_table": "plausibly.labelled.seal",
    "columns_hint": "plausibly.io.hints",
    "delta_field": "plausibly.conformal.held_out",
    "exact": "plausibly.conformal.held_out",
    "file_contents": "plausibly.io.files:contents",
    "hash_names": "plausibly.keys",
    "held_out_field": "plausibly.conformal.held_out",
    "names": "plausibly.labelled.names",
    "near": "plausibly.labelled.near:near",
    "quoted": "plausibly.labelled.text",
    "read_npy": "plausibly.io.numpy_files",
    "read_npz": "plausibly.io.numpy_files",
    "read_table": "plausibly.io.text",
    "require_held_out": "plausibly.conformal.held_out",
    "settle": "plausibly.kernels.masses",
    "several": "plausibly.labelled.text",
    "table_from_records": "plausibly.labelled.build",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, _, attribute = _HOME[name].partition(":")
    module = import_module(home)
    is_module = not attribute and home.endswith(f".{name}")
    value = module if is_module else getattr(module, attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
