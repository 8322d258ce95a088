"""What is known about the examples: which coordinates there are, and which of them are groups."""

from __future__ import annotations

import re

import attrs
import numpy as np
import xarray as xr

from plausibly.config.draft import Draft
from plausibly.config.study import Evaluation
from plausibly.data import names
from plausibly.data.names import name_texts, near, quoted
from plausibly.errors import InputError
from plausibly.evaluation.inputs import example_values, true_codes
from plausibly.registry.mistakes import Mistake, written
from plausibly.study.reading import Problem, Read

MOST_GROUPS = 30
"""Coordinates with more values than this are not looked through for the weakest group."""

_OWNERS = frozenset(
    {
        *("actor", "animal", "article", "author", "case", "client", "cluster", "document", "donor"),
        *("family", "group", "id", "individual", "participant", "patient", "person"),
        *("recording", "respondent", "scan", "scene", "series", "session", "slide", "speaker"),
        *("study", "subject", "user", "video"),
    }
)
"""Words in the name of a coordinate whose examples belong together."""


def coordinates(*arrays: xr.DataArray | xr.Dataset | None) -> list[str]:
    """Return the names of the coordinates that the examples have, each once."""
    found: dict[str, None] = {}
    for array in arrays:
        if array is None:
            continue
        for name, values in array.coords.items():
            if values.dims == (names.EXAMPLE,) and name not in (names.EXAMPLE, names.DENOMINATOR):
                found[str(name)] = None
    return list(found)


def check_coordinates(draft: Draft, read: Read) -> list[Mistake]:
    """Return the keys that name a coordinate which the examples do not have.

    What is wrong with the values of one that they have is added to the problems of `read`.
    """
    arrays = [array for array in (read.predictions, read.plausibilities) if array is not None]
    if read.predictions is None and read.examples is None:
        return []
    there = coordinates(*arrays, read.examples)
    found = []
    for path, name in _named(draft):
        if name not in there:
            found.append(_absent(path, name, there))
            continue
        try:
            if path == "evaluation.true" and len(arrays) > 1:
                labels = name_texts(arrays[0][names.LABEL].values)
                true_codes(name, arrays, labels)
            elif name in coordinates(*arrays):
                example_values(name, arrays)
        except InputError as error:
            read.problems.append(Problem(path, error))
    return found


def _named(draft: Draft) -> list[tuple[str, str]]:
    """Return each key that names a coordinate, with the name."""
    evaluation = draft.part("evaluation", Evaluation) or Evaluation()
    by = [(f"evaluation.by[{place}]", name) for place, name in enumerate(evaluation.by or ())]
    keys = (
        ("examples", "one_per"),
        ("splits", "group"),
        ("splits", "stratify"),
        ("evaluation", "true"),
        ("report", "text"),
        ("report", "thumbnail"),
    )
    texts = [(f"{table}.{key}", draft.text(table, key)) for table, key in keys]
    return [*((path, name) for path, name in texts if name is not None), *by]


def _absent(path: str, name: str, there: list[str]) -> Mistake:
    if not there:
        text = f"examples have no {quoted(name)}, nor any other coordinate"
        return Mistake(path, text, advice="name a table that has it: [examples] path")
    those = ", ".join(there)
    text = f"examples have no {quoted(name)}; they have {those}"
    guess = near(name, there)
    key = "" if path.endswith("]") else f"{path.rpartition('.')[2]} = "
    advice = f"write {key}{written(guess)}" if guess else "name one of those"
    # The text says what there is: in the list, that is enough.
    return Mistake(path, text, advice=advice, unknown=True, expected=f"one of {those}", got=name)


@attrs.frozen(kw_only=True)
class Groups:
    """How the examples belong together by one coordinate.

    Attributes
    ----------
    name : str
        Of the coordinate.
    examples, groups : int
    several : int
        Groups of more than one example.
    """

    name: str
    examples: int
    groups: int
    several: int

    @property
    def plural(self) -> str:
        """What several groups are called."""
        return plural(self.name)


def plural(name: str) -> str:
    """Return what several values of a coordinate are called: ``patients``."""
    if not name.isalpha():
        return f"values of {quoted(name)}"
    if name.endswith("s"):
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def groups_of(predictions: xr.DataArray, name: str) -> Groups:
    """Return how the examples belong together by a coordinate."""
    sizes = np.unique(example_values(name, [predictions]), return_counts=True)[1]
    return Groups(
        name=name,
        examples=int(sizes.sum()),
        groups=len(sizes),
        several=int((sizes > 1).sum()),
    )


def owners(predictions: xr.DataArray) -> list[Groups]:
    """Return the coordinates by whose name examples belong together, where some do.

    Those with the fewest groups come last.
    """
    found = []
    for name in coordinates(predictions):
        words = set(re.split(r"[^a-z]+", name.casefold()))
        if not words & _OWNERS or predictions[name].dtype.kind == "f":
            continue
        one = groups_of(predictions, name)
        if 1 < one.groups < one.examples:
            found.append(one)
    return sorted(found, key=lambda one: -one.groups)
