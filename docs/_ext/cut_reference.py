"""Tables of a settings file: its keys, from the JSON schema, and parameters of components."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from plausibly.config.schema import schema

Schema = Mapping[str, Any]  # Any: what JSON holds

_MANY = 12


def study() -> str:
    """Return the tables of a settings file, the keys of each, and the parameters of components."""
    tables: Schema = _schema()["properties"]
    rows = (
        (f"[`{name}`](#{name})" if _keys(one) else f"`{name}`", _type(one), _words(one))
        for name, one in tables.items()
    )
    sections = [table(("key or table", "value", "meaning"), rows)]
    for name, one in tables.items():
        if _keys(one):
            sections.append(f"## {name}\n\n{_keys_of(one)}")
    for kind in ("reader", "aggregator", "calibrator", "score", "combiner"):
        sections.append(f"## {kind}s\n\n{_parameters(kind)}")
    return "\n".join(sections)


def _keys_of(one: Schema) -> str:
    """Return the keys of a table, as a table."""
    inside: Schema = one.get("items", one)
    keys = (
        (f"`{name}`", _type(key), _default(key, name in inside["required"]), _words(key))
        for name, key in inside["properties"].items()
    )
    return table(("key", "value", "default", "meaning"), keys)


def _parameters(kind: str) -> str:
    """Return the parameters of the components of a kind, as a table."""
    rows: list[tuple[str, ...]] = []
    for name, properties, required in _components(_schema()["$defs"][kind]):
        keys = [key for key in properties if key != "name"]
        for place, key in enumerate(keys):
            one = properties[key]
            rows.append(
                (
                    "" if place else f"`{name}`",
                    f"`{key}`",
                    _type(one),
                    _default(one, key in required),
                    _words(one),
                )
            )
        if not keys:
            rows.append((f"`{name}`", "", "", "", ""))
    return table(("name", "parameter", "value", "default", "meaning"), rows)


@functools.cache
def _schema() -> Schema:
    return schema()


def _components(kind: Schema) -> list[tuple[str, Schema, list[str]]]:
    """Return name, properties and required keys of each component that needs no heavy extra."""
    found = []
    for part in kind["anyOf"][-1]["allOf"]:
        names: list[str] = part["if"]["properties"]["name"]["enum"]
        whole, then = names[-1], part["then"]
        if "properties" in then and not whole.startswith("crowd-kit:"):
            name = whole if len(names) == 1 else names[0]
            found.append((name, then["properties"], then["required"]))
    return sorted(found)


def _keys(one: Schema) -> bool:
    return "properties" in one.get("items", one)


def _type(one: Schema) -> str:
    if "$ref" in one:
        kind = one["$ref"].rpartition("/")[2]
        return f"a name, or a table: [{kind}](#{kind}s)"
    if len(one.get("enum", ())) > _MANY:  # names of components
        return "a name"
    if "enum" in one:
        values = [json.dumps(value) for value in one["enum"] if ":" not in str(value)]
        return " or ".join(f"`{value}`" for value in values)
    if "const" in one:
        return f"`{json.dumps(one['const'])}`"
    if "anyOf" in one:
        parts = dict.fromkeys(_type(part) for part in one["anyOf"])
        return ", or ".join(part for part in parts if part != "a name" or len(parts) == 1)
    words = {
        "integer": "a whole number",
        "number": "a number",
        "string": "text",
        "boolean": "`true` or `false`",
        "object": "a table",
        "array": "a list",
        "null": "nothing",
    }
    kinds = one.get("type", "object")
    said = " or ".join(words[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))
    if "items" in one and one["items"].get("type") not in (None, "object"):
        said = f"a list: {_type(one['items'])} each"
    bounds = [
        f"{words} {one[key]:g}"
        for key, words in (
            ("minimum", "from"),
            ("exclusiveMinimum", "above"),
            ("maximum", "up to"),
            ("exclusiveMaximum", "below"),
        )
        if key in one and one[key] != float("inf")
    ]
    return " ".join([said, *bounds])


def _default(one: Schema, required: bool) -> str:
    if required:
        return "required"
    return f"`{json.dumps(one['default'])}`" if "default" in one else ""


def _words(one: Schema) -> str:
    said = str(one.get("description", one.get("items", {}).get("description", "")))
    return said.replace("|", "\\|")


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
