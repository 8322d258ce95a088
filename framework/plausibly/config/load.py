"""One table of settings from a file, flags and --set, its mistakes, and all of it filled in."""

from __future__ import annotations

import copy
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import attrs

from plausibly import registry
from plausibly.config.document import Document, Note, path_text, paths_of
from plausibly.config.settings import (
    Output,
    ReaderOptions,
    Settings,
    component,
    read_alphas,
    read_annotations,
    with_paths,
    without_plugins,
)
from plausibly.errors import InputError, counted, render, visible
from plausibly.protocols import KINDS, Kind
from plausibly.registry.listing import helps
from plausibly.registry.mistakes import Mistake, unknown_key
from plausibly.registry.parameters import Strict, below, is_union, parameters_of, plain
from plausibly.text import wrapped

NAME = "plausibly.toml"  # the settings file of a folder


@attrs.frozen(kw_only=True)
class Draft:
    """Settings before any other file is read: the tables that are right, and all mistakes."""

    parts: Mapping[str, object]
    mistakes: tuple[Mistake, ...]
    tables: Mapping[str, object]
    document: Document
    typed: Mapping[str, tuple[str, object]] = attrs.field(factory=dict)

    @property
    def settings(self) -> Settings:
        """The settings, with the default for each table that is missing or has a mistake."""
        return Settings(**cast("dict[str, Any]", dict(self.parts)))  # Any: each was checked

    def check(self) -> Settings:
        if self.mistakes:
            raise self.error(self.mistakes)
        return self.settings

    def has(self, key: str) -> bool:
        return key in map(path_text, paths_of(self.tables))

    def error(self, mistakes: Iterable[Mistake]) -> SettingsError:
        """Return one error for all mistakes, about the first one in the file."""
        places = []
        for mistake in mistakes:
            path = mistake.path
            below_it = [pair for key, pair in self.typed.items() if key.startswith(f"{path}.")]
            flag, _ = _nearest(path, self.typed) or next(iter(below_it), ("", None))
            line = None if flag else _nearest(path, self.document.lines)
            where = f"--set {path}" if flag == "--set" else flag or path
            hint = _hint(mistake, flag)
            text = f"{where}: {mistake.text}" if where else mistake.text
            if hint and hint not in text and not mistake.unknown:
                text += f" A{hint[1:]}" if text.endswith("?") else f"; {hint}"
            about = {"path": path, "line": line, "text": text, "hint": hint}
            places.append((line, where, hint, mistake, about))
        places.sort(key=lambda place: (place[0] is None, place[0] or 0))
        line, where, hint, mistake, _ = places[0]
        if line is not None:
            where = f"{self.document.name} line {counted(line)}: {where}"
        elif not where.startswith("-"):
            where = ": ".join(filter(None, (self.document.name, where)))
        more = f" (mistake 1 of {counted(len(places))}, all are listed)" if places[1:] else ""
        what, expected, found = f"{where}: {mistake.text}{more}", "", ""
        if mistake.expected and mistake.found:
            what = f"{where} is {'no key' if mistake.unknown else 'not valid'}"
            expected = mistake.expected
            found = f"{mistake.found}{more}"
        return SettingsError(
            "config-key",
            what,
            expected=expected,
            found=found,
            hint=hint,
            source=self.document.name,
            details={"file": self.document.name, "mistakes": [about for *_, about in places]},
        )


T = TypeVar("T")


def _nearest(path: str, known: Mapping[str, T]) -> T | None:
    """Return what is known of a path, or of the nearest one above it."""
    while path and path not in known:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return known.get(path)


def _hint(mistake: Mistake, flag: str) -> str:
    """Return what to write instead, where that is known."""
    if not mistake.value:
        return mistake.advice
    if flag == "--set" and mistake.unknown:
        return f"write {mistake.key} in place of {mistake.path}"
    if flag == "--set":
        return f"--set {mistake.key}={mistake.value}"
    key = mistake.key.rpartition(".")[2]
    if key == mistake.key and mistake.value.startswith(("{", "[{")):  # a table of the file
        return f"write [[{key}]]" if mistake.value.startswith("[") else f"write [{key}]"
    # An item of a list has no name to write it under.
    return f"write {mistake.value}" if key.endswith("]") else f"write {key} = {mistake.value}"


class SettingsError(InputError):
    """Mistakes in settings; ``details`` has the place of each."""

    def listing(self) -> str:
        """Return one line per mistake under the name of the file, in 80 columns."""
        mistakes = cast("list[dict[str, object]]", self.details["mistakes"])
        count = len(mistakes)
        rows = [f"{self.source}: {counted(count)} mistake{'s' * (count > 1)}, nothing was run"]
        for mistake in mistakes:
            line = "" if mistake["line"] is None else f" line {mistake['line']}"
            text = visible(str(mistake["text"]).replace("\n", " "))
            rows += wrapped(line.ljust(10) + text, indent=10)
        return "\n".join(rows)

    def __str__(self) -> str:
        alone = len(cast("list[object]", self.details["mistakes"])) == 1
        return render(self) if alone else f"{self.listing()}\n{render(self)}"


def draft(
    tables: Mapping[str, object],
    document: Document | None = None,
    typed: Mapping[str, tuple[str, object]] | None = None,
) -> Draft:
    document = document or Document(name="the settings", tables=tables)
    parameters = {p.name: p for p in parameters_of(Settings, typed=True)}
    unknown = [key for key in tables if key not in parameters]
    mistakes = [unknown_key(key, tables[key], parameters, noun="key") for key in unknown]
    parts: dict[str, object] = {}
    strict = Strict(component, noun="key")
    disabled: tuple[str, ...] = ()
    # Plugins first: the others may ask for their components.
    for name in sorted(parameters, key=lambda name: name != "plugins"):
        if name not in tables:
            continue
        value = tables[name]
        with below(name, mistakes), without_plugins(disabled):
            if name == "alphas":
                parts[name] = read_alphas(value)
            elif name == "annotations":
                parts[name] = read_annotations(strict, _floats(value))
            else:
                parts[name] = strict.value(parameters[name], _floats(value))
            disabled = getattr(parts[name], "disable", disabled)
    if document.path is not None and (folder := document.path.parent) != Path():
        # Also the defaults of what is written lie beside the file.
        parts = {
            name: with_paths(part, lambda path: folder / path)
            for name, part in {"output": Output(), **parts}.items()
        }
    return Draft(
        parts=parts,
        mistakes=tuple(mistakes),
        tables=tables,
        document=document,
        typed=typed or {},
    )


def _floats(value: object) -> object:
    """Return plain data with decimals as floats: only alphas are read as they were typed."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {key: _floats(item) for key, item in value.items()}
    return [_floats(item) for item in value] if isinstance(value, list | tuple) else value


@attrs.frozen(kw_only=True)
class Key:
    type: object = object
    default: object = None
    help: str = ""

    @property
    def arms(self) -> tuple[object, ...]:
        arms = typing.get_args(self.type) if is_union(self.type) else (self.type,)
        return tuple(arm for arm in arms if arm is not types.NoneType)

    @property
    def kind(self) -> Kind[Any] | None:  # Any: each kind has its own Protocol
        return next((kind for kind in KINDS if kind.protocol in self.arms), None)

    @property
    def many(self) -> bool:
        return any(typing.get_origin(arm) is tuple for arm in self.arms)

    @property
    def pairs(self) -> bool:
        return any(typing.get_origin(arm) is Mapping for arm in self.arms)


def key(path: str) -> Key:
    """Return what is known of a key; one that only its component knows takes any value."""
    target: object = Settings
    current = Key(type=Settings)
    for part in path.split("."):
        if not isinstance(target, type) or not attrs.has(target):
            return Key()
        owners = (target, ReaderOptions) if path.startswith("annotations.") else (target,)
        for owner in owners:
            known = {p.name: p for p in parameters_of(owner, typed=True)}.get(part)
            if known is not None:
                break
        else:
            return Key()
        about = helps(owner).get(part, "")
        current = Key(type=known.type, default=known.default, help=about)
        target = next(iter(current.arms))
    return current


def load(
    document: Document | None = None,
    flags: Mapping[str, tuple[str, object]] | None = None,
    sets: Sequence[str] = (),
) -> Draft:
    """Return the settings of a file, of flags by key and of ``--set KEY=VALUE`` as one table."""
    document = document or Document(name="the options", tables={})
    typed: dict[str, tuple[str, object]] = dict(flags or {})
    for text in sets:
        path, equals, value = text.partition("=")
        path = path.strip()
        if not (path and equals):
            raise malformed("--set ", text, "KEY=VALUE", "predictions.scale=logit")
        if path in typed:
            raise InputError(
                "option-unfit",
                f"{typed[path][0]} and --set {path} set the same key",
                expected="each key once",
                found=f"{typed[path][0]} and --set {text}",
                hint="leave one out",
                source="--set",
            )
        typed[path] = ("--set", value)
    tables = copy.deepcopy(dict(document.tables))
    # Answers of one form that were typed take the place of the file's answers of the other.
    for answers, replaced in (*_ANSWERS, *(pair[::-1] for pair in _ANSWERS)):
        name, _, last = replaced.partition(".")
        if answers in typed and isinstance(table := tables.get(name), dict):
            table.pop(last, None)
    if any(path.startswith("method.") for path in typed):
        first = next(iter(cast("list[object]", tables.get("methods") or [])), None)
        tables.setdefault("method", copy.deepcopy(first) if isinstance(first, dict) else {})
    away = document.path is not None and document.path.parent != Path()
    for path, (source, raw) in typed.items():
        _put(tables, path, typed_value(path, raw, source, absolute=away))
    return draft(tables, document, typed)


_ANSWERS = (
    ("annotations.path", "plausibilities.path"),
    ("new.annotations", "new.plausibilities"),
)


def _put(tables: dict[str, object], path: str, value: object) -> None:
    """Set a key; a component that is written as its name becomes a table."""
    *above, last = path.split(".")
    table: dict[str, Any] = tables  # Any: plain data of any shape
    for number, part in enumerate(above, 1):
        inner = table.get(part)
        if not isinstance(inner, dict):
            known = key(".".join(above[:number]))
            default = known.default if isinstance(known.default, str) else None
            name = inner if isinstance(inner, str) else default
            inner = {"name": name} if known.kind is not None and name else {}
            table[part] = inner
        table = inner
    table[last] = value


_EXAMPLES = {
    "annotations.columns": "example=item,annotator=rater,label=answer",
    "labels.rename": "old=new",
}


def typed_value(path: str, value: object, source: str, *, absolute: bool = False) -> object:
    """Return the value of a key from what was typed after a flag, or after ``--set KEY=``."""
    known = key(path)
    typed = f"--set {path}=" if source == "--set" else f"{source} "
    if path == "alphas":
        return [_decimal(text) for text in split(value)]
    if known.kind is not None:
        component = component_value(str(value), typed)
        if path.count(".") == 1:
            registry.resolve(known.kind, component)  # its own message states the mistake
        return component
    if known.pairs:
        return _mapping(value, typed, _EXAMPLES.get(path, "example=nodule"))
    if known.many:
        if isinstance(value, str) and value.lstrip().startswith("["):
            return _toml_value(value)
        tuple_type = next(arm for arm in known.arms if typing.get_origin(arm) is tuple)
        texts = typing.get_args(tuple_type)[0] is str
        return [text if texts else _toml_value(text) for text in split(value)]
    if Path in known.arms:
        path_ = Path(str(value))
        return str(path_.absolute() if absolute else path_)
    if not isinstance(value, str) or str in known.arms or typing.get_origin(known.type) is Literal:
        return value
    return _toml_value(value)


def _decimal(text: str) -> object:
    try:
        return Decimal(text)
    except ArithmeticError:
        return text


def _toml_value(text: str) -> object:
    """Return a TOML value; anything else is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def split(value: object) -> list[str]:
    """Return the texts of a repeatable option, each of which may hold several, with commas."""
    texts = value if isinstance(value, list | tuple) else [value]
    return [part for text in texts for part in str(text).strip("[] ").split(",")]


def component_value(text: str, typed: str) -> str | dict[str, Any]:  # Any: as TOML holds it
    """Return a component as its name, or as the table that an inline TOML table stands for."""
    if not text.lstrip().startswith("{"):
        return text
    table = _toml_value(text)
    if not isinstance(table, dict):
        example = """'{name = "NAME", parameter = 0.5}'"""
        raise malformed(typed, text, "an inline TOML table", example)
    return table


def _mapping(value: object, typed: str, example: str) -> dict[str, str]:
    """Return pairs that were typed as ``NAME=NAME,...``, or as an inline TOML table."""
    pairs: dict[str, str] = {}
    for text in map(str, value if isinstance(value, list | tuple) else [value]):
        table = _toml_value(text)
        if not isinstance(table, dict):
            table = {name: item for name, _, item in (p.partition("=") for p in text.split(","))}
        if not (all(table) and all(table.values())):
            raise malformed(typed, text, "NAME=NAME, several with commas", example)
        pairs |= {name: str(item) for name, item in table.items()}
    return pairs


def malformed(typed: str, text: str, expected: str, example: str) -> InputError:
    return InputError(
        "option-malformed",
        f"{typed}{text} cannot be read",
        expected=expected,
        hint=f"{typed}{example}",
        source=typed.rstrip(" ="),
    )


_OF_STUDIES = (
    "seed",
    "alphas",
    "annotations",
    "plausibilities",
    "predictions",
    "examples",
    "labels",
    "plugins",
    "methods",
    "splits",
    "evaluation",
    "report",
    "output",
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
