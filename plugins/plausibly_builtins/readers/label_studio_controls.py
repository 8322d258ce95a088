"""Controls of Label Studio: which one is read, and what labels its values name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import attrs

from plausibly.plugin import InputError, listed, near, quoted, several
from plausibly.plugin.readers import JsonNumber
from plausibly_builtins.readers.base import (
    Entry,
    as_argument,
    needed,
    refused,
    unfit,
    unlike,
)

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

    def unfit(self, place: str, expected: str, value: object) -> InputError:
        return unlike(place, f"{expected}, as the value of {quoted(self.control)}", value)


@attrs.frozen(kw_only=True)
class Control:
    """The control that is read, or those of a Repeater: a pattern with ``{index}`` names them.

    `type` is None where the file has no value of it; `paths` holds the path of each taxonomy label.
    """

    reader: str
    name: str
    type: str | None = None
    taxonomy: Taxonomy = "leaf"
    buckets: tuple[str, ...] = ()
    paths: dict[str, tuple[str, ...]] = attrs.field(factory=dict)

    @property
    def repeats(self) -> bool:
        return _INDEX in self.name

    def index(self, control: str) -> str | None:
        """Return the index in the name of a control, empty without one; None = another control."""
        if not self.repeats:
            return "" if control == self.name else None
        before, _, after = self.name.partition(_INDEX)
        match = re.fullmatch(f"{re.escape(before)}([0-9]+){re.escape(after)}", control)
        return match[1] if match else None

    def by_index(self, regions: Iterable[Region]) -> dict[str, list[Region]]:
        indexed: dict[str, list[Region]] = {}
        for region in regions:
            index = self.index(region.control)
            if index is not None:
                indexed.setdefault(index, []).append(region)
        return indexed

    def answer(self, regions: Sequence[Region], at: str) -> list[str] | list[list[str]]:
        """Return what the regions answer: labels, each once, or blocks of ranks."""
        if not regions or self.type != RANKER:
            return list(dict.fromkeys(x for region in regions for x in self.labels(region, at)))
        if len(regions) > 1:
            expected = f"one ranking by {quoted(regions[0].control)} per annotation"
            raise unlike(at, expected, None, f"{len(regions)}", "keep one")
        return self._ranks(regions[0], at)

    def labels(self, region: Region, at: str) -> list[str]:
        if region.type == "pairwise":
            return [self._label(region, region.value.get("selected"), at)]
        value = region.value.get(region.type)
        if region.type in NUMBERS:
            if not isinstance(value, JsonNumber):
                raise region.unfit(at, "a number", value)
            return [str(value)]
        if not isinstance(value, list):
            raise region.unfit(at, "a list of labels", value)
        return list(dict.fromkeys(self._label(region, item, at) for item in value))

    def _label(self, region: Region, item: object, at: str) -> str:
        """Return the label of a text, or of its path in a taxonomy."""
        steps = item if isinstance(item, list) else [item]
        wrong = [step for step in steps if not isinstance(step, str)]
        if wrong or not steps:
            raise region.unfit(at, "a label that is text, or a path", wrong[0] if wrong else item)
        path = tuple(map(str, steps))
        if not isinstance(item, list):
            return path[0]
        leaf = self.taxonomy == "leaf"
        label = path[-1] if leaf else "/".join(path)
        known = self.paths.setdefault(label, path)
        if known != path:
            found = f"{' > '.join(known)} and {' > '.join(path)}"
            expected = f"one place of the taxonomy for {quoted(label)}"
            if leaf:
                raise needed(self.reader, f" {at}", expected, found, taxonomy="path")
            raise unlike(at, expected, None, found, "rename one of them")
        return label

    def _ranks(self, region: Region, at: str) -> list[list[str]]:
        ranker = region.value.get(RANKER)
        if not isinstance(ranker, dict):
            raise region.unfit(at, "an object with ranks", ranker)
        lists: dict[str, list[str]] = {}
        for name, items in ranker.items():
            if not isinstance(items, list):
                raise region.unfit(at, f"a list of items in {quoted(name)}", items)
            wrong = [item for item in items if not isinstance(item, str)]
            if wrong:
                raise region.unfit(at, "a label that is text", wrong[0])
            lists[name] = list(map(str, items))
        if len(lists) == 1 and set(lists) <= {region.control, "rank"} - set(self.buckets):
            return [[item] for items in lists.values() for item in items]
        lists.pop("_", None)  # what was not touched
        unknown = [name for name in lists if name not in self.buckets]
        if unknown:
            what = f" {at}: nothing says which bucket of {quoted(region.control)} is the best"
            parts = (
                self.reader,
                what,
                "their order",
                listed(map(quoted, lists)),
                ", the best first",
            )
            order = [*self.buckets, *unknown]
            raise needed(*parts, details={"buckets": list(lists)}, buckets=order)
        return [lists[name] for name in self.buckets if lists.get(name)]


def choose_control(regions: Iterable[Region], control: Control, *, numbers: bool) -> Control:
    """Return the control with its type: the one that is named, or the only one that fits."""
    seen: dict[str, set[str]] = {}
    for region in regions:
        seen.setdefault(region.control, set()).add(region.type)
    types = {name: seen[name] for name in sorted(seen)}
    fit = (*NAMING, *NUMBERS) if numbers else NAMING
    names = [name for name in types if types[name] & set(fit)]
    if not control.name and len(names) > 1:
        matches = [_NUMBERED.fullmatch(name) for name in names]
        before = {match[1] for match in matches if match}
        more = ", or another of them"
        if all(matches) and len(before) == 1:
            pattern = as_argument(control.reader, control=f"{before.pop()}{_INDEX}")
            more += f"; {pattern} makes each index an example"
        what = f" holds answers to {several(len(names), 'control')}"
        expected = "one control, whose choices are the labels"
        parts = (control.reader, what, expected, _typed(types, names), more)
        raise needed(*parts, details={"controls": names}, control=names[0])
    if control.name:
        names = [name for name in types if control.index(name) is not None]
        if types and not names:
            raise unknown_control(control, list(types), _typed(types), controls=list(types))
    elif names:
        control = attrs.evolve(control, name=names[0])
    kinds = sorted({kind for name in names for kind in types[name]})
    if len(kinds) > 1:
        expected = f"one type for control {quoted(control.name)}"
        hint = "give the controls different names, or read the tasks of each type alone"
        raise unlike("as a whole", expected, None, listed(kinds), hint)
    if types and not set(kinds) & set(fit):
        names = names or list(types)
        if all(types[name] <= set(NUMBERS) for name in names):
            what = f": {_typed(types, names)} holds numbers, not labels"
            found = "numbers, whose order and distance labels do not have"
            parts = (control.reader, what, "labels", found, " takes each number as a label")
            raise needed(*parts, details={"controls": names}, numbers="label")
        what = f": the values of {_typed(types, names)} are no labels of a task"
        expected = f"a control of type {', '.join(NAMING[:-1])} or {NAMING[-1]}"
        hint = "set the project up with Choices, Taxonomy, Ranker or Pairwise"
        found = f"only {_typed(types)}"
        raise refused("control-unfit", what, expected, found, hint, controls=names)
    return attrs.evolve(control, type=kinds[0] if kinds else None)


def _typed(types: Mapping[str, set[str]], names: Iterable[str] | None = None) -> str:
    shown = types if names is None else names
    return listed(f"{quoted(n)} ({', '.join(sorted(types[n])) or 'no type'})" for n in shown)


def unknown_control(
    control: Control, known: Sequence[str], found: str, **details: object
) -> InputError:
    meant = near(control.name, known)
    hint = (
        f"did you mean {as_argument(control.reader, control=meant)}?" if meant else "name another"
    )
    what = f" holds no answer to a control {quoted(control.name)}"
    return unfit(what, "a control with answers", found, hint, **details)
