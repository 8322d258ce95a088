"""A study with everything that was left to us filled in, and where each value comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import attrs

from plausibly import registry
from plausibly.config.document import Document, Note, path_text, paths_of
from plausibly.config.settings import Annotations, Settings, with_paths
from plausibly.errors import ComponentError
from plausibly.protocols import KIND_BY_NAME, READER, Kind

_OF_STUDIES = (
    *("seed", "alphas", "annotations", "plausibilities", "predictions", "examples", "labels"),
    *("plugins", "methods", "splits", "evaluation", "report", "output"),
)


def resolved(
    settings: Settings, path: Callable[[Path], Path] = Path, *, whole: bool = False
) -> dict[str, object]:
    """Return the tables from which an equal study is made, or those of all settings."""
    changed = cast("Settings", with_paths(settings, path))
    tables = _table(changed)
    if not whole:
        omitted = {"annotations", "plausibilities"} - {settings.answers[0]}
        tables = {name: tables[name] for name in _OF_STUDIES if name not in omitted}
        tables["output"] = {"folder": changed.output.folder.as_posix()}
    return {name: table for name, table in tables.items() if table is not None}


def without_unset(value: Any) -> Any:  # Any: plain data of any shape keeps its shape
    """Return plain data without what is None, as a TOML file holds it."""
    if isinstance(value, Mapping):
        return {key: without_unset(item) for key, item in value.items() if item is not None}
    return [without_unset(item) for item in value] if isinstance(value, list) else value


def _table(part: attrs.AttrsInstance) -> dict[str, object]:
    table: dict[str, object] = {}
    for field in attrs.fields(type(part)):
        name, value = field.name, getattr(part, field.name)
        if isinstance(value, Annotations):
            value = _annotations(value)
        elif name in KIND_BY_NAME and value is not None:
            value = component_table(KIND_BY_NAME[name], value)
        elif isinstance(value, Path):
            value = value.as_posix()
        elif attrs.has(type(value)):
            value = _table(value)
        elif isinstance(value, tuple):
            value = [_table(item) if attrs.has(type(item)) else item for item in value]
        table[name] = dict(value) if isinstance(value, Mapping) else value
    return table


def _annotations(part: Annotations) -> dict[str, object]:
    own = _table(attrs.evolve(part, reader=None))
    path, options, name = own.pop("path"), part.options, own.pop("reader")
    if part.reader is not None:
        options = component_table(READER, part.reader)
        name = options.pop("name")
        # A parameter that is called like a key of ours stands in a table of the reader's own.
        if options.keys() & attrs.fields_dict(Annotations).keys():
            name, options = {"name": name, **options}, {}
    del own["options"]
    return {"path": path, "reader": name, **options, **own}


# Any: each kind has its own Protocol
def component_table(kind: Kind[Any], component: object) -> dict[str, object]:
    table = registry.default().describe(kind, component)
    again = registry.default().describe(kind, registry.resolve(kind, without_unset(table)))
    # Compared as text, where a number that is none is equal to itself.
    if repr(again) != repr(table):
        raise ComponentError(
            "component-unwritable",
            f'{kind.name} "{table["name"]}" cannot be written to a study file',
            expected="parameters from which an equal component is made",
            found=f"{again} from {table}",
            hint="give each parameter that may be None the default None",
            source=str(table["name"]),
        )
    return table


def origins(document: Document, made: Mapping[str, str]) -> Note:
    """Return a function of a path: where its value comes from, as ``line 3`` or ``default``."""
    written = set(map(path_text, paths_of(document.tables)))

    def origin(path: str) -> str:
        places = [path]
        above, _, last = path.rpartition(".")
        if last == "name" and not above.endswith("]"):
            places.append(above)  # a component that was written as its name alone
        if above == "annotations":
            places.append(f"annotations.reader.{last}")
        for place in places:
            if place in written:
                line = document.lines.get(place)
                return f"in {document.name}" if line is None else f"line {line}"
        return made.get(path, "default")

    return origin
