"""A study with everything that was left to us filled in, and where each value comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import attrs

from plausibly import registry
from plausibly.config.document import Document, Note, path_text, paths_of
from plausibly.config.settings import Settings, with_paths
from plausibly.registry.parameters import plain

_OF_STUDIES = (
    *("seed", "alphas", "annotations", "plausibilities", "predictions", "examples", "labels"),
    *("plugins", "methods", "splits", "evaluation", "report", "output"),
)


def resolved(
    settings: Settings, path: Callable[[Path], Path] = Path, *, whole: bool = False
) -> dict[str, object]:
    """Return the tables from which an equal study is made, or those of all settings."""
    texts = with_paths(attrs.evolve(settings, alphas=()), lambda named: path(named).as_posix())
    described = plain(texts, registry.default().describe)
    tables = cast("dict[str, dict[str, object] | None]", described)
    annotations = tables["annotations"] or {}
    reader = cast("dict[str, object]", annotations.pop("reader") or {"name": None})
    options = cast("dict[str, object]", annotations.pop("options")) | reader
    # A parameter that is called like a key of ours stands in a table of the reader's own.
    if options.keys() & annotations.keys():
        options = {"name": reader}
    path_and_reader = {"path": annotations.pop("path"), "reader": options.pop("name")}
    tables["annotations"] = {**path_and_reader, **options, **annotations}
    if not whole:
        omitted = {"annotations", "plausibilities"} - {settings.answers[0]}
        tables = {name: tables[name] for name in _OF_STUDIES if name not in omitted}
        tables["output"] = {"folder": path(settings.output.folder).as_posix()}
    every = {name: table for name, table in tables.items() if table is not None}
    return {**every, "alphas": list(settings.alphas)}


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
