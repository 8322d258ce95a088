"""One table of settings from a file, flags and --set, and its mistakes all at once."""

from __future__ import annotations

import copy
import textwrap
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import attrs

from plausibly import registry
from plausibly.config.document import Document, path_text, paths_of
from plausibly.config.settings import (
    Method,
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
from plausibly.registry.mistakes import Mistake, Mistakes, unknown_key
from plausibly.registry.parameters import Parameter, Strict, below, is_union, parameters_of

_NONE = "none"
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
    def folder(self) -> Path:
        return Path() if self.document.path is None else self.document.path.parent

    @property
    def settings(self) -> Settings:
        """The settings, with the default for each table that is missing or has a mistake."""
        return Settings(**cast("dict[str, Any]", dict(self.parts)))  # Any: each was checked

    def check(self) -> Settings:
        if self.mistakes:
            raise self.error(self.mistakes)
        return self.settings

    def error(self, mistakes: Iterable[Mistake]) -> SettingsError:
        source, places = self.document.name, located(mistakes, self.document.lines, self.typed)
        first, mistake, count = places[0], places[0].mistake, len(places)
        line = "" if first.line is None else f" line {counted(first.line)}"
        where = first.where if first.flag else f"{source}{line}: {mistake.path}"
        more = f" (mistake 1 of {counted(count)}, all are listed)" if count > 1 else ""
        wrong = {_NONE: "is required", mistake.path.rpartition(".")[2]: "is no key"}
        what = f"{where} {wrong.get(mistake.found, 'is not valid')}"
        expected, found = mistake.expected, f"{mistake.found}{more}"
        if not (mistake.expected and mistake.found):
            separator = ": " if first.flag or mistake.path else ""
            what, expected, found = f"{where}{separator}{mistake.text}{more}", "", ""
        listed = [
            {"path": place.mistake.path, "line": place.line, "text": place.text, "hint": place.hint}
            for place in places
        ]
        return SettingsError(
            "config-key",
            what,
            expected=expected,
            found=found,
            hint=first.hint,
            source=source,
            details={"file": source, "mistakes": listed},
        )

    def has(self, key: str) -> bool:
        return key in map(path_text, paths_of(self.tables))

    def text(self, table: str, key: str) -> str | None:
        """Return the text that was written for a key, also where its table is not right."""
        section = self.tables.get(table)
        value = section.get(key) if isinstance(section, Mapping) else None
        return value if isinstance(value, str) else None


def draft(
    tables: Mapping[str, object],
    document: Document | None = None,
    typed: Mapping[str, tuple[str, object]] | None = None,
) -> Draft:
    document = document or Document(name="the settings", tables=tables)
    parameters = {p.name: p for p in parameters_of(Settings, typed=True)}
    mistakes = [_unknown(key, tables[key], parameters) for key in tables if key not in parameters]
    parts: dict[str, object] = {}
    strict = Strict(component, noun="key")
    own: dict[str, Callable[[Any], object]] = {  # Any: each checks what it gets
        "alphas": read_alphas,
        "annotations": lambda value: read_annotations(strict, value),
        "methods": lambda value: _methods(strict, parameters["methods"], value),
    }
    disabled: tuple[str, ...] = ()
    # Plugins first: the others may ask for their components.
    for name in sorted(parameters, key=lambda name: name != "plugins"):
        if name not in tables:
            continue
        value = tables[name] if name == "alphas" else _floats(tables[name])
        with below(name, mistakes), without_plugins(disabled):
            part = own[name](value) if name in own else strict.value(parameters[name], value)
            parts[name] = part
            disabled = getattr(part, "disable", disabled)
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


def _unknown(key: str, value: object, known: Iterable[str]) -> Mistake:
    mistake = unknown_key(key, value, known, noun="key")
    if mistake.key:
        return mistake
    return attrs.evolve(mistake, expected=f"one of {', '.join(known)}", found=key)


def _floats(value: object) -> object:
    """Return plain data with decimals as floats: only alphas are read as they were typed."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {key: _floats(item) for key, item in value.items()}
    return [_floats(item) for item in value] if isinstance(value, list | tuple) else value


def _methods(strict: Strict, parameter: Parameter, value: object) -> object:
    if isinstance(value, Mapping):
        advice = "write [[methods]], with two brackets"
        raise Mistakes([Mistake("", "expected a list of tables, found a table", advice=advice)])
    methods = cast("tuple[Method, ...]", strict.value(parameter, value))
    if not methods:
        raise Mistakes([_no_methods("")])
    places: dict[str, int] = {}
    named: list[Method] = []
    mistakes: list[Mistake] = []
    for number, (method, table) in enumerate(
        zip(methods, cast("Iterable[object]", value), strict=True)
    ):
        name = method.name
        with below(number, mistakes):
            if not name and isinstance(table, Mapping):
                if "name" in table:
                    text = "expected a name, found an empty text"
                    raise Mistakes([Mistake("name", text, advice="leave it out")])
                name = made_name(table)
            if name in places:
                where = "name" if method.name else ""
                text = f'methods[{places[name]}] is called "{name}" too'
                raise Mistakes([Mistake(where, text, advice="give it another name")])
            places[name] = number
            named.append(attrs.evolve(method, name=name))
    if mistakes:
        raise Mistakes(mistakes)
    return tuple(named)


def _required(path: str, expected: str, advice: str = "") -> Mistake:
    text = f"is required: {expected}"
    return Mistake(path, text, advice=advice, expected=expected, found=_NONE)


def _no_methods(path: str) -> Mistake:
    return _required(
        path, "one [[methods]] or more", "add [[methods]]; an empty one is the default"
    )


def made_name(table: Mapping[str, object]) -> str:
    """Return the name of a method without one: its components, as they were written."""
    parts = [_as_written(table.get("calibrator", "expected"))]
    if "combiner" in table:
        parts.append(_as_written(table["combiner"]))
    score = _as_written(table.get("score", "probability"))
    return ", ".join(parts if score == "probability" else [*parts, score])


def _as_written(like: object) -> str:
    if not isinstance(like, Mapping):
        return like if isinstance(like, str) else type(like).__name__
    parameters = [
        f"{key}={_as_written(item) if isinstance(item, Mapping) and 'name' in item else item}"
        for key, item in like.items()
        if key != "name"
    ]
    name = str(like.get("name", ""))
    return f"{name}({', '.join(parameters)})" if parameters else name


def study_mistakes(draft: Draft) -> list[Mistake]:
    """Return what a study must have and does not, and what cannot be there together."""
    mistakes: list[Mistake] = []
    answers = [name for name in ("annotations", "plausibilities") if name in draft.tables]
    if not answers:
        expected = "[annotations] with the path of a file, or [plausibilities]"
        mistakes.append(_required("annotations", expected))
    elif not any(draft.has(f"{name}.path") or name not in draft.parts for name in answers):
        mistakes.append(_required(f"{answers[0]}.path", "a path"))
    if all(draft.has(f"{name}.path") for name in ("annotations", "plausibilities")):
        text = "there are annotations already, and only one of them can be calibrated on"
        mistakes.append(Mistake("plausibilities", text, advice="leave one of them out"))
    if "predictions" in draft.parts and not draft.has("predictions.path"):
        mistakes.append(_required("predictions.path", "a path"))
    if "predictions" not in draft.tables:
        mistakes.append(_required("predictions", "[predictions] with the path of a file"))
    if "methods" not in draft.tables:
        mistakes.append(_no_methods("methods"))
    return mistakes


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
        known = {p.name: p for p in parameters_of(target, typed=True)}
        if part not in known and path.startswith("annotations."):
            target = ReaderOptions
            known = {p.name: p for p in parameters_of(target, typed=True)}
        if part not in known:
            return Key()
        current = Key(
            type=known[part].type, default=known[part].default, help=helps(target).get(part, "")
        )
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
            raise malformed("--set ", text, "KEY=VALUE", f'"{text}"', "predictions.scale=logit")
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
        return mapping(value, typed, _EXAMPLES.get(path, "example=nodule"))
    if known.many:
        if isinstance(value, str) and value.lstrip().startswith("["):
            return toml_value(value)
        tuple_type = next(arm for arm in known.arms if typing.get_origin(arm) is tuple)
        texts = typing.get_args(tuple_type)[0] is str
        return [text if texts else toml_value(text) for text in split(value)]
    if Path in known.arms:
        path_ = Path(str(value))
        return str(path_.absolute() if absolute else path_)
    if not isinstance(value, str) or str in known.arms or typing.get_origin(known.type) is Literal:
        return value
    return toml_value(value)


def _decimal(text: str) -> object:
    try:
        return Decimal(text)
    except ArithmeticError:
        return text


def toml_value(text: str) -> object:
    try:
        tables = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return tables["value"] if len(tables) == 1 else text


def split(value: object) -> list[str]:
    """Return the texts of a repeatable option, each of which may hold several, with commas."""
    texts = value if isinstance(value, list | tuple) else [value]
    return [part for text in texts for part in str(text).strip("[] ").split(",")]


def component_value(text: str, typed: str) -> str | dict[str, Any]:  # Any: as TOML holds it
    """Return a component as its name, or as the table that an inline TOML table stands for."""
    inline = text.lstrip().startswith("{")
    return _inline(text, typed, """'{name = "NAME", parameter = 0.5}'""") if inline else text


def mapping(value: object, typed: str, example: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in map(str, value if isinstance(value, list | tuple) else [value]):
        if text.lstrip().startswith("{"):
            table = _inline(text, typed, example)
            pairs |= {name: str(item) for name, item in table.items()}
            continue
        for part in text.split(","):
            name, equals, item = part.partition("=")
            if not (name and equals and item):
                raise malformed(typed, text, example, f'no NAME=NAME in "{part}"', example)
            pairs[name] = item
    return pairs


def _inline(text: str, typed: str, example: str) -> dict[str, Any]:  # Any: whatever TOML holds
    reason = f'"{text}"'
    try:
        tables = tomllib.loads(f"value = {text}")
        if len(tables) == 1:
            return cast("dict[str, Any]", tables["value"])  # Any: as above
    except tomllib.TOMLDecodeError as error:
        # The position in the line counts the text that stands before what was typed.
        reason = str(error).partition(" (at")[0].lower()
    raise malformed(typed, text, "an inline TOML table", reason, example)


def malformed(typed: str, text: str, expected: str, found: str, example: str) -> InputError:
    return InputError(
        "option-malformed",
        f"{typed}{text} cannot be read",
        expected=expected,
        found=found,
        hint=f"{typed}{example}",
        source=typed.rstrip(" ="),
    )


T = TypeVar("T")


@attrs.frozen
class Located:
    """A mistake with the flag that was typed, or the line of the file on which it stands."""

    mistake: Mistake
    line: int | None
    flag: str = ""

    @property
    def text(self) -> str:
        """Path, what is wrong, and what to do about it, in one line."""
        text = f"{self.where}: {self.mistake.text}" if self.where else self.mistake.text
        hint = "" if self.mistake.unknown else self.hint
        if not hint or hint in text:
            return text
        if text.endswith("?") and hint.startswith("all: "):
            return f"{text} A{hint[1:]}"
        return f"{text}; {hint}"

    @property
    def where(self) -> str:
        path = self.mistake.path
        return f"--set {path}" if self.flag == "--set" else self.flag or path

    @property
    def hint(self) -> str:
        mistake = self.mistake
        if not mistake.value:
            return mistake.advice
        if self.flag == "--set" and mistake.unknown:
            return f"write {mistake.key} in place of {mistake.path}"
        key = mistake.key.rpartition(".")[2]
        if key == mistake.key and mistake.value.startswith(("{", "[{")):  # a table of the file
            return f"write [[{key}]]" if mistake.value.startswith("[") else f"write [{key}]"
        # An item of a list has no name to write it under.
        shown = f"{key} = " if key and not key.endswith("]") else ""
        return f"write {shown}{mistake.value}"


def located(
    mistakes: Iterable[Mistake],
    lines: Mapping[str, int],
    typed: Mapping[str, tuple[str, object]] | None = None,
) -> list[Located]:
    places = []
    for mistake in mistakes:
        under = (
            pair for path, pair in (typed or {}).items() if path.startswith(f"{mistake.path}.")
        )
        flag, _ = _nearest(mistake.path, typed or {}) or next(under, ("", None))
        places.append(Located(mistake, None if flag else _nearest(mistake.path, lines), flag))
    return sorted(places, key=lambda place: (place.line is None, place.line or 0))


def _nearest(path: str, known: Mapping[str, T]) -> T | None:
    """Return what is known of a path, or of the nearest one above it."""
    while path and path not in known:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return known.get(path)


class SettingsError(InputError):
    def listing(self) -> str:
        """Return one line per mistake under the name of the file, in 80 columns."""
        mistakes = cast("list[dict[str, object]]", self.details["mistakes"])
        lines = [
            "" if mistake["line"] is None else f" line {mistake['line']}" for mistake in mistakes
        ]
        width = max(2, *(len(line) + 2 for line in lines))
        count = len(mistakes)
        rows = [f"{self.source}: {counted(count)} mistake{'s' * (count > 1)}, nothing was run"]
        for line, mistake in zip(lines, mistakes, strict=True):
            rows += textwrap.wrap(
                visible(str(mistake["text"])),
                80,
                initial_indent=line.ljust(width),
                subsequent_indent=" " * width,
                break_on_hyphens=False,
                break_long_words=False,
            )
        return "\n".join(rows)

    def __str__(self) -> str:
        alone = len(cast("list[object]", self.details["mistakes"])) == 1
        return render(self) if alone else f"{self.listing()}\n{render(self)}"
