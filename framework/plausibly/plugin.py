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
from plausibly.protocols import (
    AGGREGATOR,
    ANNOTATION,
    CALIBRATOR,
    COMBINER,
    READER,
    SCORE,
    Aggregator,
    Annotation,
    AnnotatorModel,
    Calibrator,
    ComponentLike,
    Kind,
    PackedAggregator,
    PredictionsReader,
    PValueCombiner,
    Reader,
    Record,
    ScoreFunction,
    ScoreInput,
    TableReader,
    is_joint,
)
from plausibly.registry import API_VERSION, Registrar, hookimpl, resolve

if TYPE_CHECKING:
    from plausibly.calibration.claim import Evidence
    from plausibly.calibration.coordinates import group_names
    from plausibly.calibration.data import CalibrationData, check_weights, effective_size
    from plausibly.calibration.pvalues import (
        PValues,
        delta_field,
        exact,
        held_out_field,
        require_held_out,
    )
    from plausibly.calibration.scores import EXCHANGEABLE, LABEL_CELLS, UNSEEN, Replicates
    from plausibly.conformal.aggregate import default_aggregator, default_kinds
    from plausibly.conformal.components import called
    from plausibly.data import names, states
    from plausibly.data.annotations import (
        AnnotationTable,
        Answer,
        AnswerRefused,
        build_table,
        check_labels_once,
        check_responses,
        refuse_responses,
        responses_of,
        table_from_codes,
        table_from_records,
    )
    from plausibly.data.labels import Hierarchy
    from plausibly.data.left_out import with_left_out
    from plausibly.data.names import is_missing, is_name, name_text, near, quoted, several
    from plausibly.data.plausibilities import pack, unpack
    from plausibly.data.responses import Duplicates, Response, ResponseOptions, take_responses
    from plausibly.data.responses import by_name as responses_by_name
    from plausibly.data.rows import Rows, answered_rows, ordered_sum, whole
    from plausibly.data.seal import check_table
    from plausibly.data.select import select
    from plausibly.guarantee import Guarantee, bounded
    from plausibly.io.annotation_files import is_annotation_file, read_annotation_file
    from plausibly.io.arrays import NamedArray, from_npy, from_npz
    from plausibly.io.delimited import decode as decode_text
    from plausibly.io.files import contents as file_contents
    from plausibly.io.files import opening as file_opening
    from plausibly.io.hints import columns_hint, names_examples
    from plausibly.io.json import (
        JsonNumber,
        json_head,
        json_shown,
        parse_json,
        read_json,
        read_json_lines,
    )
    from plausibly.io.predictions import NamedPrediction, from_named
    from plausibly.io.text import TextTable, first_row, first_rows, read_table
    from plausibly.io.xml import Element as XmlElement
    from plausibly.io.xml import read_xml
    from plausibly.kernels.draws import drawn_times, ragged_uniforms
    from plausibly.kernels.masses import settle
    from plausibly.kernels.random import Keys, hash_names
    from plausibly.kernels.ranks import Places, by_places
    from plausibly.kernels.types import Bools, Floats, Hashes, Ints, Masses

__all__ = [
    "AGGREGATOR",
    "ANNOTATION",
    "API_VERSION",
    "CALIBRATOR",
    "COMBINER",
    "EXCHANGEABLE",
    "LABEL_CELLS",
    "READER",
    "SCORE",
    "UNSEEN",
    "Aggregator",
    "Annotation",
    "AnnotationTable",
    "AnnotatorModel",
    "Answer",
    "AnswerRefused",
    "Bools",
    "CalibrationData",
    "Calibrator",
    "ComponentError",
    "ComponentLike",
    "Duplicates",
    "Evidence",
    "Floats",
    "Guarantee",
    "Hashes",
    "Hierarchy",
    "IncompatibleComponents",
    "InputError",
    "Ints",
    "JsonNumber",
    "Keys",
    "Kind",
    "Masses",
    "MissingExtra",
    "NamedArray",
    "NamedPrediction",
    "PValueCombiner",
    "PValues",
    "PackedAggregator",
    "Places",
    "PlausiblyWarning",
    "PredictionsReader",
    "Reader",
    "Record",
    "Registrar",
    "Replicates",
    "Response",
    "ResponseOptions",
    "Rows",
    "ScoreFunction",
    "ScoreInput",
    "TableReader",
    "TextTable",
    "XmlElement",
    "answered_rows",
    "bounded",
    "build_table",
    "by_places",
    "called",
    "check_labels_once",
    "check_responses",
    "check_table",
    "check_weights",
    "columns_hint",
    "counted",
    "decode_text",
    "default_aggregator",
    "default_kinds",
    "delta_field",
    "drawn_times",
    "effective_size",
    "exact",
    "file_contents",
    "file_opening",
    "first_row",
    "first_rows",
    "from_named",
    "from_npy",
    "from_npz",
    "group_names",
    "hash_names",
    "held_out_field",
    "hookimpl",
    "is_annotation_file",
    "is_joint",
    "is_missing",
    "is_name",
    "json_head",
    "json_shown",
    "listed",
    "name_text",
    "names",
    "names_examples",
    "near",
    "ordered_sum",
    "pack",
    "parse_json",
    "quoted",
    "ragged_uniforms",
    "read_annotation_file",
    "read_json",
    "read_json_lines",
    "read_table",
    "read_xml",
    "refuse_responses",
    "require",
    "require_held_out",
    "resolve",
    "responses_by_name",
    "responses_of",
    "select",
    "settle",
    "several",
    "states",
    "table_from_codes",
    "table_from_records",
    "take_responses",
    "unpack",
    "warn",
    "whole",
    "with_left_out",
]

_HOME = {
    "file_opening": "plausibly.io.files:opening",
    "from_named": "plausibly.io.predictions",
    "NamedPrediction": "plausibly.io.predictions",
    "Duplicates": "plausibly.data.responses",
    "AnnotationTable": "plausibly.data.annotations",
    "Answer": "plausibly.data.annotations",
    "AnswerRefused": "plausibly.data.annotations",
    "Bools": "plausibly.kernels.types",
    "CalibrationData": "plausibly.calibration.data",
    "EXCHANGEABLE": "plausibly.calibration.scores",
    "Evidence": "plausibly.calibration.claim",
    "Floats": "plausibly.kernels.types",
    "Guarantee": "plausibly.guarantee",
    "Hashes": "plausibly.kernels.types",
    "Ints": "plausibly.kernels.types",
    "JsonNumber": "plausibly.io.json",
    "Keys": "plausibly.kernels.random",
    "Hierarchy": "plausibly.data.labels",
    "LABEL_CELLS": "plausibly.calibration.scores",
    "Masses": "plausibly.kernels.types",
    "NamedArray": "plausibly.io.arrays",
    "PValues": "plausibly.calibration.pvalues",
    "Places": "plausibly.kernels.ranks",
    "Replicates": "plausibly.calibration.scores",
    "Response": "plausibly.data.responses",
    "ResponseOptions": "plausibly.data.responses",
    "Rows": "plausibly.data.rows",
    "TextTable": "plausibly.io.text",
    "UNSEEN": "plausibly.calibration.scores",
    "XmlElement": "plausibly.io.xml:Element",
    "answered_rows": "plausibly.data.rows",
    "bounded": "plausibly.guarantee",
    "build_table": "plausibly.data.annotations",
    "by_places": "plausibly.kernels.ranks",
    "called": "plausibly.conformal.components",
    "check_labels_once": "plausibly.data.annotations",
    "check_responses": "plausibly.data.annotations",
    "check_table": "plausibly.data.seal",
    "check_weights": "plausibly.calibration.data",
    "columns_hint": "plausibly.io.hints",
    "decode_text": "plausibly.io.delimited:decode",
    "default_aggregator": "plausibly.conformal.aggregate",
    "default_kinds": "plausibly.conformal.aggregate",
    "delta_field": "plausibly.calibration.pvalues",
    "drawn_times": "plausibly.kernels.draws",
    "effective_size": "plausibly.calibration.data",
    "exact": "plausibly.calibration.pvalues",
    "file_contents": "plausibly.io.files:contents",
    "first_row": "plausibly.io.text",
    "first_rows": "plausibly.io.text",
    "names_examples": "plausibly.io.hints",
    "from_npy": "plausibly.io.arrays",
    "from_npz": "plausibly.io.arrays",
    "group_names": "plausibly.calibration.coordinates",
    "hash_names": "plausibly.kernels.random",
    "held_out_field": "plausibly.calibration.pvalues",
    "is_annotation_file": "plausibly.io.annotation_files",
    "is_missing": "plausibly.data.names",
    "is_name": "plausibly.data.names",
    "json_head": "plausibly.io.json",
    "json_shown": "plausibly.io.json",
    "name_text": "plausibly.data.names",
    "names": "plausibly.data.names",
    "near": "plausibly.data.names:near",
    "ordered_sum": "plausibly.data.rows",
    "pack": "plausibly.data.plausibilities",
    "parse_json": "plausibly.io.json",
    "quoted": "plausibly.data.names",
    "ragged_uniforms": "plausibly.kernels.draws",
    "read_annotation_file": "plausibly.io.annotation_files",
    "read_json": "plausibly.io.json",
    "read_json_lines": "plausibly.io.json",
    "read_table": "plausibly.io.text",
    "read_xml": "plausibly.io.xml",
    "refuse_responses": "plausibly.data.annotations",
    "require_held_out": "plausibly.calibration.pvalues",
    "responses_by_name": "plausibly.data.responses:by_name",
    "responses_of": "plausibly.data.annotations",
    "select": "plausibly.data.select:select",
    "settle": "plausibly.kernels.masses",
    "several": "plausibly.data.names",
    "states": "plausibly.data.states",
    "table_from_codes": "plausibly.data.annotations",
    "table_from_records": "plausibly.data.annotations",
    "take_responses": "plausibly.data.responses",
    "unpack": "plausibly.data.plausibilities",
    "whole": "plausibly.data.rows",
    "with_left_out": "plausibly.data.left_out",
}


if not TYPE_CHECKING:  # pragma: no branch  # so that a checker knows a name that is not there

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
