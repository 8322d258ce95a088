"""Components to plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from plausibly.protocols import AGGREGATOR, Kind
from plausibly.registry import Registry
from plausibly.registry.entries import Entry, Source
from plausibly.registry.mistakes import ParameterError
from plausibly.registry.parameters import plain


def no_components(kind: Kind[Any], value: object) -> dict[str, object]:  # Any: none is asked for
    raise AssertionError(f"{kind} {value}")


@attrs.frozen(kw_only=True)
class Everything:
    whole: int = 1
    number: float = 0.5
    text: str = "a"
    switch: bool = True
    nothing: None = None
    path: Path = Path("a") / "b"
    pair: tuple[str, int] = ("a", 1)
    kinds: frozenset[str] = frozenset({"b", "a"})
    levels: Mapping[str, tuple[int, ...]] = attrs.field(factory=lambda: {"a": (1, 2)})
    _hidden: int = 3
    made: int = attrs.field(default=7, init=False)


@dataclass(frozen=True)
class Data:
    inner: Everything
    draws: int = 2


def test_plain_data() -> None:
    table = plain(Everything(), no_components)
    assert table == {
        "whole": 1,
        "number": 0.5,
        "text": "a",
        "switch": True,
        "nothing": None,
        "path": str(Path("a") / "b"),
        "pair": ["a", 1],
        "kinds": ["a", "b"],
        "levels": {"a": [1, 2]},
        "hidden": 3,
    }
    assert json.loads(json.dumps(table)) == table
    assert plain(Data(Everything()), no_components) == {"inner": table, "draws": 2}
    for number, kind in ((np.int64(3), int), (np.float64(0.5), float), (np.float32(0.5), float)):
        assert type(plain(number, no_components)) is kind


def test_what_cannot_be_written_down() -> None:
    class Ordinary:
        def __init__(self, array: object, name: str, kept: int = 1) -> None:
            self.array = array
            self.kept = kept

    with pytest.raises(ParameterError) as caught:
        Registry().describe(AGGREGATOR, Ordinary(np.ones(3), "x"), unregistered="mine")
    line = "cannot be written down: it is no number, text, list, table or component"
    assert [str(mistake) for mistake in caught.value.mistakes] == [
        f"array: {line}",
        f"name: {line}",
    ]
    assert caught.value.hint == "make the component a frozen attrs class with plain parameters"
    assert caught.value.source == "aggregator Ordinary"


def test_an_entry_as_text() -> None:
    entry = Entry("score", "margin", "a:b", Source("extra", "more-scores", "1.0"))
    assert str(entry) == 'score "margin" of extra (more-scores 1.0)'
    assert entry.qualified == "extra:margin"
