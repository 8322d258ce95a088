"""Tables to components, as recorded in ``tables.txt``, and components to plain data."""

from __future__ import annotations

import enum
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NewType, TypeAlias

import attrs
import numpy as np
import pytest

from plausibly.errors import ComponentError, InputError, MissingExtra
from plausibly.protocols import Aggregator, Calibrator
from plausibly.registry.mistakes import Mistakes, ParameterError
from plausibly.registry.parameters import Strict, as_table, expected, plain, signature

RECORDED = Path(__file__).with_name("tables.txt")
Name = NewType("Name", str)


class Colour(enum.Enum):
    RED = "red"


def no_components(kind: object, value: object) -> Any:  # Any: it returns nothing
    raise AssertionError(f"{kind} {value}")


STRICT = Strict(no_components)


@attrs.frozen(kw_only=True)
class Plain:
    whole: int = 1
    number: float = 1.0
    text: str = ""
    switch: bool = False
    path: Path = Path()


@attrs.frozen(kw_only=True)
class Many:
    names: tuple[str, ...] = ()
    pair: tuple[str, int] = ("a", 1)
    numbers: list[float] = attrs.field(factory=list)
    kinds: frozenset[str] = frozenset()
    sequence: Sequence[int] = ()
    unique: set[int] = attrs.field(factory=set)
    aliases: dict[str, str] = attrs.field(factory=dict)
    levels: Mapping[str, tuple[int, ...]] = attrs.field(factory=dict)
    bare: tuple = ()  # type: ignore[type-arg]  # without parameters
    anything: Any = None  # Any: what is tested
    objects: object = None


@attrs.frozen(kw_only=True)
class Choice:
    ties: Literal["first", "random"] = "first"
    by: Literal[1, "all"] = "all"
    band: float | Literal["auto"] = "auto"
    maybe: int | None = None
    where: str | Path | tuple[str, ...] = ""
    wide: float | int = 0
    deep: int | tuple[int, ...] = 0


@attrs.frozen(kw_only=True)
class Checked:
    draws: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    kind: str = attrs.field(default="a", validator=attrs.validators.in_(["a", "b"]))
    lower: float = 0.0
    upper: float = attrs.field(default=1.0)
    names: tuple[str, ...] = attrs.field(default=(), converter=tuple[str, ...])
    _hidden: int = 0
    made: int = attrs.field(default=7, init=False)

    @upper.validator
    def _above(self, _: object, value: float) -> None:
        if value <= self.lower:
            raise ValueError("must be above lower")

    def __attrs_post_init__(self) -> None:
        if self.draws == 13:
            raise InputError(
                "unlucky", "13 draws", expected="12 or 14", found="13", hint="write 12"
            )


@dataclass(frozen=True)
class Data:
    draws: int
    names: tuple[str, ...] = ()
    levels: list[int] = field(default_factory=list)


class Ordinary:
    """A class of no library."""

    def __init__(self, draws: int, *rest: object, scale: float = 1.0, **more: object) -> None:
        self.made = (draws, scale, rest, more)

    def __repr__(self) -> str:
        return f"Ordinary{self.made}"


@attrs.frozen(kw_only=True)
class Outer:
    inner: Plain = Plain()
    checked: Checked = Checked()
    data: Data | None = None


@attrs.frozen(kw_only=True)
class Nested(Outer):
    colour: Colour = Colour.RED
    name: Name = Name("")
    array: np.ndarray | None = None
    raw: bytes = b""


MANY: dict[str, object] = {
    "names": ["a", "b"],
    "pair": ["b", 2],
    "numbers": [1, 2.5],
    "kinds": ["x", "x"],
    "sequence": (1, 2),
    "unique": [10, 9, 10],
    "aliases": {"a": "b"},
    "levels": {"a": [1, 2]},
    "bare": [1, "a"],
    "anything": {"a": [1]},
    "objects": "7",
}
Table: TypeAlias = tuple[Callable[..., object], dict[Any, object]]  # Any: keys as they are typed


def each(kind: Callable[..., object], key: str, *values: object) -> list[Table]:
    return [(kind, {key: value}) for value in values]


TABLES: tuple[Table, ...] = (
    (Plain, {"whole": np.int64(3), "number": np.float32(0.5)}),
    *each(Plain, "whole", "7", "ten", True, [7]),
    *each(Plain, "number", "0.1"),
    *each(Plain, "text", 7, {}),
    *each(Plain, "path", b"x"),
    *each(Plain, "switch", 1, "True"),
    (Plain, {"whole": "7", "nmber": 0.5, "text": 3, "colour": 1}),
    (Many, MANY),
    *each(Many, "names", "ab", ["a", 1], {"a": 1}),
    *each(Many, "pair", ["a"], ["a", "b"]),
    *each(Many, "aliases", ["a"], {"a": 1}, {1: "a"}),
    (Many, {"bare": 1, "levels": {"a": [1, "2"]}}),
    (Choice, {"ties": "random", "by": 1, "band": 0.5, "maybe": 3, "where": "x", "wide": 3.5}),
    (Choice, {"maybe": None, "wide": 3, "deep": [1, 2], "band": "auto", "by": "all"}),
    (Choice, {"ties": "fist", "by": True, "band": "0.1", "maybe": "3", "where": 7}),
    (Choice, {"ties": 1, "by": "al", "deep": [1, "2"]}),
    (Checked, {"upper": 1.5, "hidden": 3, "names": ["a"]}),
    (Checked, {"draws": 0, "kind": "c"}),
    (Checked, {"lower": 2.0, "upper": 1.5}),
    (Checked, {"draws": 13}),
    (Checked, {"made": 8}),
    (Data, {"draws": 2, "names": ["a"]}),
    (Data, {"draw": 2}),
    (Ordinary, {"draws": 2}),
    (Ordinary, {"draws": "2", "scael": 2}),
    (Outer, {"inner": {"whole": 2}, "data": {"draws": 1}}),
    (Nested, {"inner": {"whole": 2}, "data": {"draws": 1}, "colour": "red", "name": "x"}),
    (Nested, {"inner": {"whole": "2", "txt": "a"}, "data": 3, "colour": "blue"}),
    (Nested, {"array": 3, "raw": 3}),
)


def told(error: Mistakes | ParameterError) -> list[str]:
    return [f"  {m}{f' | {m.hint}' if m.hint else ''}" for m in error.mistakes]


def recorded(target: Callable[..., object], table: dict[Any, object]) -> Iterator[str]:
    """Yield a table, the component that is made of it, and what is written down of that."""
    yield f"{target.__name__} " + ", ".join(f"{k}={v}" for k, v in table.items())
    try:
        made = STRICT.build(target, table)
        yield f"  {made!r}"
        yield f"  {json.dumps(as_table(made, no_components))}"
    except (Mistakes, ParameterError) as error:
        yield from told(error)
    yield ""


def test_tables_become_what_is_recorded() -> None:
    lines = [line for target, table in TABLES for line in recorded(target, table)]
    if os.environ.get("PLAUSIBLY_WRITE_NETS"):
        RECORDED.write_text("\n".join(lines), encoding="utf-8")
    assert lines == RECORDED.read_text(encoding="utf-8").split("\n")


def test_objects_stay_themselves() -> None:
    inner, array = Plain(whole=5), np.ones(3)
    made = STRICT.build(Nested, {"inner": inner, "array": array, "colour": Colour.RED, "raw": b"x"})
    assert made.inner is inner
    assert made.array is array
    with pytest.raises(ParameterError) as caught:
        as_table(made, no_components)
    line = "cannot be written down: it is no number, text, list, table or component"
    hint = "make the component a frozen attrs class with plain parameters"
    names = ("colour", "array", "raw")
    assert told(caught.value) == [f"  {name}: {line} | {hint}" for name in names]
    assert caught.value.source == "Nested"


def test_a_missing_extra_is_no_mistake() -> None:
    def needs() -> None:
        raise MissingExtra("extra-missing", "needs more")

    with pytest.raises(MissingExtra):
        STRICT.build(needs, {})


def test_types_that_do_not_exist_at_run_time() -> None:
    def strange(x: "Nowhere" = 1) -> None:  # type: ignore[name-defined]  # noqa: F821, UP037  # the mistake
        """Do nothing."""

    assert STRICT.build(strange, {}) is None
    with pytest.raises(ComponentError) as caught:
        STRICT.build(strange, {"x": 1})
    assert (caught.value.name, caught.value.found) == (
        "component-types",
        "name 'Nowhere' is not defined",
    )


def test_signatures_in_words() -> None:
    assert (
        signature(Data)
        == "draws (an integer), names (a list, each text), levels (a list, each an integer)"
    )
    assert signature(lambda: None) == "no parameters"
    assert expected(Aggregator) == "the name, table or object of an aggregator"
    assert expected(Plain) == expected(dict) == "a table"
    assert expected(Any) == "anything"
    assert expected(Calibrator | None) == "the name, table or object of a calibrator"


def test_numbers_become_those_of_python() -> None:
    for number, kind in ((np.int64(3), int), (np.float64(0.5), float), (np.float32(0.5), float)):
        assert type(plain(number, no_components)) is kind
