"""Settings files as a JSON schema for editors, with every component that is installed."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import attrs

from plausibly import registry
from plausibly.config.settings import Settings
from plausibly.errors import ComponentError, InputError
from plausibly.protocols import ANNOTATION, KINDS, READER, Kind
from plausibly.registry.listing import helps
from plausibly.registry.parameters import Parameter, has_fields, is_union, parameters_of, plain

Schema = dict[str, Any]  # Any: what JSON holds

_PLAIN: Mapping[object, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    Path: {"type": "string"},
}
_BOUNDS = {
    ">=": "minimum",
    ">": "exclusiveMinimum",
    "<=": "maximum",
    "<": "exclusiveMaximum",
}


def schema() -> Schema:
    study = _object(Settings)
    study["properties"]["alphas"] |= {
        "minItems": 1,
        "uniqueItems": True,
        "items": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "default": [0.1],
    }
    _add_readers(study["properties"]["annotations"])
    study["properties"]["methods"] |= {"minItems": 1}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of plausibly",
        **study,
        "$defs": {kind.name: _component(kind) for kind in KINDS if kind is not ANNOTATION},
    }


def _object(target: Callable[..., object]) -> Schema:
    parameters = parameters_of(target, typed=True)
    meanings = helps(target)
    return {
        "type": "object",
        "properties": {p.name: _parameter(p, meanings.get(p.field, "")) for p in parameters},
        "required": [p.name for p in parameters if p.required],
        "additionalProperties": False,
    }


def _parameter(parameter: Parameter, meaning: str) -> Schema:
    result = _type(parameter.type) | _bounds(parameter)
    if meaning:
        result["description"] = meaning
    if not parameter.required and parameter.default is not attrs.NOTHING:
        with suppress(ComponentError):
            default = plain(parameter.default, registry.default().describe)
            if default is not None and not attrs.has(type(parameter.default)):
                result["default"] = default
    return result


def _type(wanted: object) -> Schema:
    """Return what a declared type takes; what no table can write is left to the component."""
    arguments = typing.get_args(wanted)
    origin = typing.get_origin(wanted) or wanted
    kind = next((kind for kind in KINDS if kind.protocol is wanted), None)
    if isinstance(wanted, type) and wanted in _PLAIN:
        return dict(_PLAIN[wanted])
    if kind is not None:
        return {"$ref": f"#/$defs/{kind.name}"}
    if origin is Literal:
        return {"enum": list(arguments)}
    if is_union(wanted):
        # A study file has no word for nothing.
        arms = [_type(arm) for arm in arguments if arm is not types.NoneType]
        return arms[0] if len(arms) == 1 else {"anyOf": arms}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _type(arguments[1]) if arguments else {}}
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        items = [_type(argument) for argument in arguments]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if origin in (tuple, list, set, frozenset, Sequence, Set):
        return {"type": "array", "items": _type(arguments[0]) if arguments else {}}
    if isinstance(wanted, type) and has_fields(wanted):
        return {**_object(wanted), "description": (inspect.getdoc(wanted) or "").partition("\n")[0]}
    return {}


def _bounds(parameter: Parameter) -> Schema:
    limits: Schema = {}
    rule: object = getattr(parameter.attribute, "validator", None)
    for validator in getattr(rule, "_validators", (rule,)):
        name = _BOUNDS.get(str(getattr(validator, "compare_op", "")))
        if name:
            limits[name] = getattr(validator, "bound", None)
    return limits


def _component(kind: Kind[Any]) -> Schema:  # Any: each kind has its own Protocol
    """Return the schema of a component: its name, or a table with name and parameters."""
    alone: list[str] = []
    names: list[str] = []
    tables: list[Schema] = []
    for called, table in _offered(kind):
        names += called
        if table is None or not table["required"]:
            alone += called
        if table is not None:
            whole = {**table, "properties": {"name": True, **table["properties"]}}
            tables.append({"if": {"properties": {"name": {"enum": called}}}, "then": whole})
    return {
        "anyOf": [
            {"enum": alone},
            {
                "type": "object",
                "properties": {"name": {"enum": names}},
                "required": ["name"],
                "allOf": tables,
            },
        ]
    }


def _offered(kind: Kind[Any]) -> Iterator[tuple[list[str], Schema | None]]:  # Any: as above
    """Yield the names of each component and the table of its parameters, None if it is broken."""
    components = registry.default()
    entries = components.entries(kind)
    for entry in entries:
        alike = [candidate for candidate in entries if candidate.name == entry.name]
        bare = entry.source.builtin or len(alike) == 1
        names = [entry.name, entry.qualified] if bare else [entry.qualified]
        try:
            yield names, _object(entry.load())
        except InputError:
            yield names, None


def _add_readers(annotations: Schema) -> None:
    """Add the parameters of all readers, which stand beside the reader's name."""
    properties = annotations["properties"]
    del properties["options"]
    names: list[str] = []
    options: dict[str, list[Schema]] = {}
    for called, table in _offered(READER):
        names += called
        for name, parameter in ({} if table is None else table["properties"]).items():
            if parameter not in options.setdefault(name, []):
                options[name].append(parameter)
    reader = {"anyOf": [{"enum": names}, {"$ref": "#/$defs/reader"}]}
    properties["reader"] = {"description": properties["reader"]["description"], **reader}
    beside = {
        name: forms[0] if len(forms) == 1 else {"anyOf": forms}
        for name, forms in options.items()
        if name not in properties
    }
    del annotations["additionalProperties"]
    annotations |= {"allOf": [{"properties": beside}], "unevaluatedProperties": False}
