"""Label Studio: what a region says, as labels or ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

import attrs

from plausibly.plugin import InputError, JsonNumber, json_shown, listed, quoted

Taxonomy: TypeAlias = Literal["leaf", "path"]

NAMING: Final = ("choices", "taxonomy", "ranker", "pairwise")
"""Types of controls whose values name labels."""

NUMBERS: Final = ("rating", "number")
"""Types whose values are numbers: labels only where the user says so."""

RANKING: Final = "ranker"

_UNTOUCHED = "_"
_RANK = "rank"


@attrs.frozen(kw_only=True)
class Reading:
    """How values become labels: the options of the reader that matter here.

    Attributes
    ----------
    whose : str
        Name of the file.
    taxonomy : {"leaf", "path"}
        What a choice in a taxonomy is called.
    buckets : tuple of str
        Buckets of a ranker, the best first.
    paths : dict
        Which path each leaf stands for, as it was first seen.
    """

    whose: str
    taxonomy: Taxonomy = "leaf"
    buckets: tuple[str, ...] = ()
    paths: dict[str, tuple[str, ...]] = attrs.field(factory=dict)

    def labels(self, kind: str, control: str, value: Mapping[str, object], at: str) -> list[str]:
        """Return the labels that a value names, each once.

        Parameters
        ----------
        kind : str
            Type of the control: one of `NAMING` but the ranker, or of `NUMBERS`.
        control : str
            Name of the control, for messages.
        value : mapping
            The value of a region.
        at : str
            Where it stands, for messages.
        """
        if kind == "pairwise":
            return [self._text(value.get("selected"), control, at)]
        if kind in NUMBERS:
            number = value.get(kind)
            if not isinstance(number, JsonNumber):
                raise self.unfit(control, at, "a number", number)
            return [str(number)]
        chosen = value.get(kind)
        if not isinstance(chosen, list):
            raise self.unfit(control, at, "a list of labels", chosen)
        return list(dict.fromkeys(self._label(item, control, at) for item in chosen))

    def ranks(self, control: str, value: Mapping[str, object], at: str) -> list[list[str]]:
        """Return the rank blocks that the value of a ranker holds, the best first."""
        ranker = value.get(RANKING)
        if not isinstance(ranker, dict):
            raise self.unfit(control, at, "an object with ranks", ranker)
        lists = {name: self._items(name, ranker[name], control, at) for name in ranker}
        if len(lists) == 1 and set(lists) <= {control, _RANK} - set(self.buckets):
            return [[item] for items in lists.values() for item in items]
        lists.pop(_UNTOUCHED, None)
        unknown = [name for name in lists if name not in self.buckets]
        if unknown:
            raise self._no_order(control, at, list(lists), unknown)
        return [lists[name] for name in self.buckets if lists.get(name)]

    def _items(self, name: str, items: object, control: str, at: str) -> list[str]:
        if not isinstance(items, list):
            raise self.unfit(control, at, f"a list of items in {quoted(name)}", items)
        return [self._text(item, control, at) for item in items]

    def _text(self, item: object, control: str, at: str) -> str:
        if not isinstance(item, str):
            raise self.unfit(control, at, "a label that is text", item)
        return str(item)

    def _label(self, item: object, control: str, at: str) -> str:
        if not isinstance(item, list):
            return self._text(item, control, at)
        if not item:
            raise self.unfit(control, at, "a path of one label or more", item)
        path = tuple(self._text(step, control, at) for step in item)
        label = path[-1] if self.taxonomy == "leaf" else "/".join(path)
        known = self.paths.setdefault(label, path)
        if known != path:
            raise self._two_paths(label, known, path, at)
        return label

    def _two_paths(
        self, label: str, known: Sequence[str], path: Sequence[str], at: str
    ) -> InputError:
        leaf = self.taxonomy == "leaf"
        return InputError(
            "taxonomy-ambiguous",
            f"{self.whose} {at}: {quoted(label)} names two places of the taxonomy",
            expected="one place a label",
            got=f"{' > '.join(known)} and {' > '.join(path)}",
            do='taxonomy = "path"' if leaf else "rename one of them in the export",
            whose=self.whose,
        )

    def _no_order(
        self, control: str, at: str, found: Sequence[str], unknown: Sequence[str]
    ) -> InputError:
        order = ", ".join(quoted(name) for name in (*self.buckets, *unknown))
        return InputError(
            "buckets-unordered",
            f"{self.whose} {at}: nothing says which bucket of {quoted(control)} is the best",
            expected="the buckets in order, which the file does not hold",
            got=listed(quoted(name) for name in found),
            do=f"buckets = [{order}], the best first",
            whose=self.whose,
            details={"buckets": list(found)},
        )

    def unfit(self, control: str, at: str, expected: str, got: object) -> InputError:
        """Return the error for a value of another shape."""
        return InputError(
            "value-unfit",
            f"{self.whose} {at}: the value of control {quoted(control)} is not {expected}",
            expected=expected,
            got=json_shown(got),
            do="mend it, or export again",
            whose=self.whose,
            details={"control": control, "place": at},
        )
