"""From the tables of a study file to a study, with every mistake at once."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar, cast

import attrs

from plausibly.config.study import (
    Calibration,
    Output,
    Study,
    component,
    read_alphas,
    read_annotations,
    with_paths,
    without_plugins,
)
from plausibly.errors import InputError, counted, render, visible
from plausibly.registry.mistakes import Mistake, Mistakes, said, unknown_key, written
from plausibly.registry.parameters import Parameter, Strict, below, parameters_of

T = TypeVar("T")

_WITH_PATH = ("annotations", "plausibilities", "predictions", "examples", "labels")
_NO_CALIBRATION = "is required: one [[calibrations]] or more; an empty one is the default"


@attrs.frozen(kw_only=True)
class Draft:
    """What can be said of a study file before any other file is read."""

    parts: Mapping[str, object]
    mistakes: tuple[Mistake, ...]
    tables: Mapping[str, object]
    folder: Path = Path()

    def study(self) -> Study:
        """Return the study; there must be no mistakes."""
        return Study(**cast("dict[str, Any]", dict(self.parts)))  # Any: each was checked

    def rooted(self, folder: Path) -> Draft:
        """Return the draft with relative paths below `folder`, that of the results too."""
        whole = {"output": Output(), **self.parts}
        parts = {name: with_paths(part, lambda path: folder / path) for name, part in whole.items()}
        return attrs.evolve(self, parts=parts, folder=folder)

    def text(self, table: str, key: str) -> str | None:
        """Return the text that was written for a key, also where its table is not right."""
        found = self.tables.get(table)
        value = found.get(key) if isinstance(found, Mapping) else None
        return value if isinstance(value, str) else None

    def having(self, **parts: object) -> Draft:
        """Return the draft with these parts in the place of what was written."""
        return attrs.evolve(self, parts={**self.parts, **parts})

    def part(self, name: str, kind: type[T]) -> T | None:
        """Return a part where it was written and is right."""
        found = self.parts.get(name)
        return found if isinstance(found, kind) else None


def draft(tables: Mapping[str, object]) -> Draft:
    """Return the parts of a study, and what is wrong with its tables."""
    parameters = {p.name: p for p in parameters_of(Study, typed=True)}
    found = [
        unknown_key(key, value, parameters, noun="key")
        for key, value in tables.items()
        if key not in parameters
    ]
    parts: dict[str, object] = {}
    strict = Strict(component, noun="key")
    own: dict[str, Callable[[Any], object]] = {  # Any: each checks what it gets
        "alphas": read_alphas,
        "annotations": lambda value: read_annotations(strict, value),
        "calibrations": lambda value: _calibrations(strict, parameters["calibrations"], value),
    }
    disabled: tuple[str, ...] = ()
    # Plugins first: the others may ask for their components.
    for name in sorted(parameters, key=lambda name: name != "plugins"):
        if name not in tables:
            continue
        value = tables[name] if name == "alphas" else _floats(tables[name])
        with below(name, found), without_plugins(disabled):
            if name in _WITH_PATH and isinstance(value, str):
                advice = f"write [{name}], and below it path = {written(value)}"
                text = f"expected a table, got {said(value)}"
                raise Mistakes([Mistake("", text, advice=advice)])
            made = own[name](value) if name in own else strict.value(parameters[name], value)
            parts[name] = made
            disabled = getattr(made, "disable", disabled)
    found += _missing(tables)
    return Draft(parts=parts, mistakes=tuple(found), tables=tables)


def _floats(value: object) -> object:
    """Return plain data with decimals as floats: only alphas are read as they were typed."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {key: _floats(item) for key, item in value.items()}
    return [_floats(item) for item in value] if isinstance(value, list | tuple) else value


def _calibrations(strict: Strict, parameter: Parameter, value: object) -> object:
    if isinstance(value, Mapping):
        advice = "write [[calibrations]], with two brackets"
        raise Mistakes([Mistake("", "expected a list of tables, got a table", advice=advice)])
    made = cast("tuple[Calibration, ...]", strict.value(parameter, value))
    if not made:
        raise Mistakes([Mistake("", _NO_CALIBRATION)])
    named: list[Calibration] = []
    places: dict[str, int] = {}
    found: list[Mistake] = []
    for number, (calibration, table) in enumerate(
        zip(made, cast("Iterable[object]", value), strict=True)
    ):
        name = calibration.name
        if not name and isinstance(table, Mapping):
            if "name" in table:
                text = "expected a name, got an empty text"
                found.append(Mistake("name", text, advice="leave it out").below(number))
                continue
            name = made_name(table)
        if name in places:
            where = "name" if calibration.name else ""
            text = f'calibrations[{places[name]}] is called "{name}" too'
            found.append(Mistake(where, text, advice="give it another name").below(number))
        places.setdefault(name, number)
        named.append(attrs.evolve(calibration, name=name))
    if found:
        raise Mistakes(found)
    return tuple(named)


def made_name(table: Mapping[str, object]) -> str:
    """Return what a calibration without a name is called: its components, as they were written."""
    parts = [_as_written(table.get("calibrator", "expected"))]
    if "combiner" in table:
        parts.append(_as_written(table["combiner"]))
    score = _as_written(table.get("score", "probability"))
    return ", ".join(parts if score == "probability" else [*parts, score])


def _as_written(like: object) -> str:
    if isinstance(like, Mapping):
        given = [
            f"{key}={_as_written(value) if _is_component(value) else value}"
            for key, value in like.items()
            if key != "name"
        ]
        name = str(like.get("name", ""))
        return f"{name}({', '.join(given)})" if given else name
    return like if isinstance(like, str) else type(like).__name__


def _is_component(value: object) -> bool:
    return isinstance(value, Mapping) and "name" in value


def _missing(tables: Mapping[str, object]) -> list[Mistake]:
    """Return what must be there and is not, and what cannot be there together."""
    found: list[Mistake] = []
    if "annotations" not in tables and "plausibilities" not in tables:
        text = "is required: [annotations] with the path of a file, or [plausibilities]"
        found.append(Mistake("annotations", text))
    if "annotations" in tables and "plausibilities" in tables:
        text = "there are annotations already, and only one of them can be calibrated on"
        found.append(Mistake("plausibilities", text, advice="leave one of them out"))
    if "aggregator" in tables and "annotations" not in tables and "plausibilities" in tables:
        text = "plausibilities are aggregated already"
        found.append(Mistake("aggregator", text, advice="leave it out"))
    if "predictions" not in tables:
        found.append(Mistake("predictions", "is required: [predictions] with the path of a file"))
    if "calibrations" not in tables:
        found.append(Mistake("calibrations", _NO_CALIBRATION))
    return found


_WIDTH = 80


@attrs.frozen
class Located:
    """A mistake and the line of the file on which it stands."""

    mistake: Mistake
    line: int | None

    @property
    def text(self) -> str:
        """Path, what is wrong, and what to do about it, in one line."""
        text = str(self.mistake)
        do = "" if self.mistake.unknown else self.do
        if not do or do in text:
            return text
        if text.endswith("?") and do.startswith("all: "):
            return f"{text} A{do[1:]}"
        return f"{text}; {do}"

    @property
    def do(self) -> str:
        """What can be typed instead."""
        if not self.mistake.value:
            return self.mistake.advice
        key = self.mistake.key.rpartition(".")[2]
        # An item of a list has no name to write it under.
        shown = f"{key} = " if key and not key.endswith("]") else ""
        return f"write {shown}{self.mistake.value}"

    def fields(self) -> dict[str, object]:
        """Return the same as plain data."""
        return {"path": self.mistake.path, "line": self.line, "text": self.text, "do": self.do}


def located(mistakes: Iterable[Mistake], lines: Mapping[str, int]) -> list[Located]:
    """Return mistakes with their lines, in file order; those without a line last."""
    found = [Located(mistake, _line(mistake.path, lines)) for mistake in mistakes]
    return sorted(found, key=lambda one: (one.line is None, one.line or 0))


def _line(path: str, lines: Mapping[str, int]) -> int | None:
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path)


class StudyError(InputError):
    """A study file with mistakes: ``config-key``."""

    @classmethod
    def about(cls, whose: str, mistakes: Iterable[Located]) -> StudyError:
        """Return the error about all mistakes of a file."""
        those = list(mistakes)
        first, count = those[0], len(those)
        mistake = first.mistake
        where = whose if first.line is None else f"{whose} line {counted(first.line)}"
        parts = mistake.expected and mistake.got
        more = f"(mistake 1 of {counted(count)}, all are listed)" if count > 1 else ""
        what = f"{where}: {mistake.path}" if parts else f"{where}: {mistake}"
        got = mistake.got if parts else ""
        return cls(
            "config-key",
            what if parts or not more else f"{what} {more}",
            expected=mistake.expected if parts else "",
            got=f"{got} {more}".strip() if parts else "",
            do=first.do,
            whose=whose,
            details={"file": whose, "mistakes": [one.fields() for one in those]},
        )

    def listing(self) -> str:
        """Return a line a mistake under the name of the file, in 80 columns."""
        found = cast("list[dict[str, object]]", self.details["mistakes"])
        lines = ["" if one["line"] is None else f" line {one['line']}" for one in found]
        width = max(2, *(len(line) + 2 for line in lines))
        count = len(found)
        rows = [f"{self.whose}: {counted(count)} mistake{'s' * (count > 1)}, nothing was run"]
        for line, one in zip(lines, found, strict=True):
            rows += textwrap.wrap(
                visible(str(one["text"])),
                _WIDTH,
                initial_indent=line.ljust(width),
                subsequent_indent=" " * width,
                break_on_hyphens=False,
                break_long_words=False,
            )
        return "\n".join(rows)

    def __str__(self) -> str:
        alone = len(cast("list[object]", self.details["mistakes"])) == 1
        return render(self) if alone else f"{self.listing()}\n{render(self)}"
