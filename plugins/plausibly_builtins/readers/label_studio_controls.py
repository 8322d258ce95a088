"""Controls of Label Studio: which one is read, and what labels its values name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, TypeAlias

import attrs

from plausibly.plugin import InputError, listed, near, quoted, several
from plausibly.plugin.readers import JsonNumber, json_shown
from plausibly_builtins.readers.base import Entry, refused

NAMING: Final = ("choices", "taxonomy", "ranker", "pairwise")
"""Types of controls whose values name labels."""

NUMBERS: Final = ("rating", "number")
"""Types whose values are numbers: labels only where the user decides so."""

RANKER: Final = "ranker"
Taxonomy: TypeAlias = Literal["leaf", "path"]

_INDEX = "{index}"
_NUMBERED = re.compile(r"(.*?)([0-9]+)")


@attrs.frozen(kw_only=True)
class Region:
    """One value of a result."""

    control: str
    type: str
    value: Entry
    origin: object = None
    score: object = None


@attrs.frozen(kw_only=True)
class Control:
    """The control that is read, or those of a Repeater: a pattern with ``{index}`` names them.

    `type` is None where the file has no value of it; `paths` holds the path of each taxonomy label.
    """

    name: str
    type: str | None = None
    taxonomy: Taxonomy = "leaf"
    buckets: tuple[str, ...] = ()
    paths: dict[str, tuple[str, ...]] = attrs.field(factory=dict)

    @property
    def repeats(self) -> bool:
        """Whether each index of the name is an example of its own."""
        return _INDEX in self.name

    def index(self, control: str) -> str | None:
        """Return the index in the name of a control, empty without one; None = another control."""
        if not self.repeats:
            return "" if control == self.name else None
        before, _, after = self.name.partition(_INDEX)
        match = re.fullmatch(f"{re.escape(before)}([0-9]+){re.escape(after)}", control)
        return match[1] if match else None

    def by_index(self, regions: Iterable[Region]) -> dict[str, list[Region]]:
        """Return the regions of the control, by the index in its name."""
        found: dict[str, list[Region]] = {}
        for region in regions:
            index = self.index(region.control)
            if index is not None:
                found.setdefault(index, []).append(region)
        return found

    def answer(self, regions: Sequence[Region], at: str) -> list[str] | list[list[str]]:
        """Return what the regions answer: labels, each once, or blocks of ranks."""
        if not regions or self.type != RANKER:
            return list(dict.fromkeys(x for region in regions for x in self.labels(region, at)))
        if len(regions) > 1:
            what = f" {at}: {len(regions)} rankings by control {quoted(regions[0].control)}"
            expected, got = "one ranking per annotation", f"{len(regions)}"
            raise refused("rankings-several", what, expected, got, "keep one of them")
        return self._ranks(regions[0], at)

    def labels(self, region: Region, at: str) -> list[str]:
        """Return the labels that a value names, each once."""
        kind, value = region.type, region.value
        if kind == "pairwise":
            return [self._text(region, value.get("selected"), at)]
        found = value.get(kind)
        if kind in NUMBERS:
            if not isinstance(found, JsonNumber):
                raise _unfit(region, at, "a number", found)
            return [str(found)]
        if not isinstance(found, list):
            raise _unfit(region, at, "a list of labels", found)
        return list(dict.fromkeys(self._label(region, item, at) for item in found))

    def _label(self, region: Region, item: object, at: str) -> str:
        if not isinstance(item, list):
            return self._text(region, item, at)
        if not item:
            raise _unfit(region, at, "a path of one label or more", item)
        path = tuple(self._text(region, step, at) for step in item)
        leaf = self.taxonomy == "leaf"
        label = path[-1] if leaf else "/".join(path)
        known = self.paths.setdefault(label, path)
        if known != path:
            what = f" {at}: {quoted(label)} names two places of the taxonomy"
            got = f"{' > '.join(known)} and {' > '.join(path)}"
            do = 'taxonomy = "path"' if leaf else "rename one of them in the export"
            raise refused("taxonomy-ambiguous", what, "one place per label", got, do)
        return label

    def _ranks(self, region: Region, at: str) -> list[list[str]]:
        """Return the blocks of ranks that the value of a ranker holds, the best first."""
        ranker = region.value.get(RANKER)
        if not isinstance(ranker, dict):
            raise _unfit(region, at, "an object with ranks", ranker)
        lists: dict[str, list[str]] = {}
        for name, items in ranker.items():
            if not isinstance(items, list):
                raise _unfit(region, at, f"a list of items in {quoted(name)}", items)
            lists[name] = [self._text(region, item, at) for item in items]
        if len(lists) == 1 and set(lists) <= {region.control, "rank"} - set(self.buckets):
            return [[item] for items in lists.values() for item in items]
        lists.pop("_", None)  # what was not touched
        unknown = [name for name in lists if name not in self.buckets]
        if unknown:
            names = ", ".join(map(quoted, (*self.buckets, *unknown)))
            what = f" {at}: nothing says which bucket of {quoted(region.control)} is the best"
            expected, got = "the buckets in order", listed(map(quoted, lists))
            do, found = f"buckets = [{names}], the best first", list(lists)
            raise refused("buckets-unordered", what, expected, got, do, buckets=found)
        return [lists[name] for name in self.buckets if lists.get(name)]

    def _text(self, region: Region, item: object, at: str) -> str:
        if not isinstance(item, str):
            raise _unfit(region, at, "a label that is text", item)
        return str(item)


def _unfit(region: Region, at: str, expected: str, got: object) -> InputError:
    what = f" {at}: the value of control {quoted(region.control)} is not {expected}"
    do, details = "fix it, or export again", {"control": region.control, "place": at}
    return refused("value-unfit", what, expected, json_shown(got), do, **details)


def choose_control(regions: Iterable[Region], control: Control, *, numbers: bool) -> Control:
    """Return the control with its type: the one that is named, or the only one that fits."""
    seen: dict[str, set[str]] = {}
    for region in regions:
        seen.setdefault(region.control, set()).add(region.type)
    types = {name: seen[name] for name in sorted(seen)}
    fit = (*NAMING, *NUMBERS) if numbers else NAMING

    def shown(names: Iterable[str]) -> str:
        return listed(f"{quoted(n)} ({', '.join(sorted(types[n])) or 'no type'})" for n in names)

    if not control.name:
        names = [name for name in types if types[name] & set(fit)]
        if len(names) > 1:
            matches = [_NUMBERED.fullmatch(name) for name in names]
            before = {match[1] for match in matches if match}
            do = f'control = "{names[0]}", or another of them'
            if all(matches) and len(before) == 1:
                do += f'; control = "{before.pop()}{_INDEX}" makes each index an example'
            what = f" holds answers to {several(len(names), 'control')}"
            expected = "one control, whose choices are the labels"
            raise refused("controls-several", what, expected, shown(names), do, controls=names)
        if not names and types:
            raise _no_labels(list(types), types, shown)
        control = attrs.evolve(control, name=names[0] if names else "")
    meant = [name for name in types if control.index(name) is not None]
    if types and not meant:
        raise unknown_control(control.name, list(types), shown(types), controls=list(types))
    kinds = sorted({kind for name in meant for kind in types[name]})
    if len(kinds) > 1:
        what = f": control {quoted(control.name)} has values of {len(kinds)} types"
        do = "give the controls different names, or read the tasks of each type alone"
        raise refused("control-mixed", what, "one type per control", listed(kinds), do)
    if kinds and kinds[0] not in fit:
        raise _no_labels(meant, types, shown)
    return attrs.evolve(control, type=kinds[0] if kinds else None)


def _no_labels(
    names: list[str], types: dict[str, set[str]], shown: Callable[[Iterable[str]], str]
) -> InputError:
    if all(types[name] <= set(NUMBERS) for name in names):
        what = f": {shown(names)} holds numbers, not labels"
        got = "numbers, whose order and distance labels do not have"
        do = 'numbers = "label" takes each number as a label'
        return refused("control-number", what, "labels", got, do, controls=names)
    what = f": the values of {shown(names)} are no labels of a task"
    expected = f"a control of type {', '.join(NAMING[:-1])} or {NAMING[-1]}"
    got, do = (
        f"only {shown(types)}",
        "set the project up with Choices, Taxonomy, Ranker or Pairwise",
    )
    return refused("control-unfit", what, expected, got, do, controls=names)


def unknown_control(name: str, known: list[str], shown: str, **details: object) -> InputError:
    """Return the error about a control without answers."""
    meant = near(name, known)
    what = f" holds no answer to a control {quoted(name)}"
    do = f'did you mean control = "{meant}"?' if meant else "name one of those"
    return refused("control-unknown", what, "a control with answers", shown, do, **details)
