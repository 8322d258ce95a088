"""Label Studio: the control whose values are the answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import attrs

from plausibly.plugin import InputError, listed, near, quoted, several
from plausibly_builtins.readers._label_studio_tasks import Entry
from plausibly_builtins.readers._label_studio_values import NAMING, NUMBERS

_INDEX = "{index}"
_NUMBERED = re.compile(r"(.*?)([0-9]+)")


@attrs.frozen(kw_only=True)
class Control:
    """The chosen control, or the controls of a Repeater that its pattern names.

    Attributes
    ----------
    name : str
        As the user wrote it, perhaps with ``{index}``.
    type : str or None
        Type of its values; None where the file has no value of it.
    """

    name: str
    type: str | None

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


def types_of(entries: Iterable[Entry]) -> dict[str, set[str]]:
    """Return the types of the values of each control, in the order of the names."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        for region in entry.regions:
            found.setdefault(region.control, set()).add(region.type)
    return dict(sorted(found.items()))


def chosen(
    types: Mapping[str, set[str]], name: str | None, *, numbers: bool, whose: str
) -> Control:
    """Return the control to read.

    Parameters
    ----------
    types : mapping of str to set of str
        What `types_of` found.
    name : str or None
        What the user chose; None takes the only one whose values are labels.
    numbers : bool
        Whether ratings and numbers are labels.
    whose : str
        Name of the file.

    Raises
    ------
    InputError
        ``control-unknown``, ``controls-several``, ``control-unfit``, ``control-number`` or
        ``control-mixed``.
    """
    fit = (*NAMING, *NUMBERS) if numbers else NAMING
    if name is None:
        names = [control for control in types if types[control] & set(fit)]
        if len(names) > 1:
            raise _several(names, types, whose)
        if not names and types:
            raise _unfit(types, types, whose)
        if not names:
            return Control(name="", type=None)
        name = names[0]
    control = Control(name=name, type=None)
    meant = [other for other in types if control.index(other) is not None]
    if types and not meant:
        raise _unknown(name, types, whose)
    kinds = sorted({kind for other in meant for kind in types[other]})
    if len(kinds) > 1:
        raise _mixed(name, kinds, whose)
    if kinds and kinds[0] not in fit:
        raise _unfit(meant, types, whose)
    return attrs.evolve(control, type=kinds[0] if kinds else None)


def _shown(names: Iterable[str], types: Mapping[str, set[str]]) -> str:
    return listed(
        f"{quoted(name)} ({', '.join(sorted(types[name])) or 'no type'})" for name in names
    )


def _pattern(names: Iterable[str]) -> str | None:
    """Return the pattern that all the names have, such as ``"choice_{index}"``."""
    matches = [_NUMBERED.fullmatch(name) for name in names]
    before = {match[1] for match in matches if match}
    return f"{before.pop()}{_INDEX}" if all(matches) and len(before) == 1 else None


def _several(names: list[str], types: Mapping[str, set[str]], whose: str) -> InputError:
    pattern = _pattern(names)
    each = f'; control = "{pattern}" makes each index an example' if pattern else ""
    return InputError(
        "controls-several",
        f"{whose} holds answers to {several(len(names), 'control')}",
        expected="one control, whose choices are the labels",
        got=_shown(names, types),
        do=f'control = "{names[0]}", or another of them{each}',
        whose=whose,
        details={"controls": names},
    )


def _unknown(name: str, types: Mapping[str, set[str]], whose: str) -> InputError:
    guess = near(name, types)
    return InputError(
        "control-unknown",
        f"{whose} holds no answer to a control {quoted(name)}",
        expected="a control of the export",
        got=_shown(types, types),
        do=f'did you mean control = "{guess}"?' if guess else "name one of those",
        whose=whose,
        details={"controls": list(types)},
    )


def _mixed(name: str, kinds: list[str], whose: str) -> InputError:
    return InputError(
        "control-mixed",
        f"{whose}: control {quoted(name)} has values of {len(kinds)} types",
        expected="one type a control",
        got=listed(kinds),
        do="give the controls different names, or read the tasks of each type alone",
        whose=whose,
    )


def _unfit(names: Iterable[str], types: Mapping[str, set[str]], whose: str) -> InputError:
    shown = list(names)
    if all(types[name] <= set(NUMBERS) for name in shown):
        return InputError(
            "control-number",
            f"{whose}: {_shown(shown, types)} holds numbers, not labels",
            expected="labels",
            got="numbers, whose order and distance labels do not have",
            do='numbers = "label" takes each number as a label',
            whose=whose,
            details={"controls": shown},
        )
    return InputError(
        "control-unfit",
        f"{whose}: the values of {_shown(shown, types)} are no labels of a task",
        expected=f"a control of type {', '.join(NAMING[:-1])} or {NAMING[-1]}",
        got=f"only {_shown(types, types)}",
        do="set the project up with Choices, Taxonomy, Ranker or Pairwise; marks in a text or "
        "picture are not labels of all of it",
        whose=whose,
        details={"controls": shown},
    )
