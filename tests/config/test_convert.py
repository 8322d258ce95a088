"""Tables to components: nothing coerced, every mistake told, each with its path."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NewType

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from plausibly.errors import ComponentError, InputError, MissingExtra
from plausibly.protocols import Aggregator, Calibrator
from plausibly.registry.mistakes import Mistakes
from plausibly.registry.parameters import Strict, expected, signature

Name = NewType("Name", str)


class Colour(enum.Enum):
    RED = "red"


def no_components(kind: object, value: object) -> object:
    raise AssertionError(f"{kind} {value}")


STRICT = Strict(no_components)


def mistakes(target: Callable[..., object], table: Mapping[str, object]) -> list[str]:
    """Return what is wrong with a table, as lines."""
    with pytest.raises(Mistakes) as caught:
        STRICT.build(target, table)
    return [str(m) + (f" | {m.hint}" if m.hint else "") for m in caught.value.mistakes]


@attrs.frozen(kw_only=True)
class Plain:
    whole: int = 1
    number: float = 1.0
    text: str = ""
    switch: bool = False
    path: Path = Path()


def test_numpy_scalars_are_numbers() -> None:
    made = STRICT.build(Plain, {"whole": np.int64(3), "number": np.float32(0.5)})
    assert (type(made.whole), type(made.number)) == (int, float)
    assert made == Plain(whole=3, number=0.5)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("whole", "7", 'expected an integer, found the text "7" | write whole = 7'),
        ("whole", "ten", 'expected an integer, found the text "ten"'),
        ("whole", True, "expected an integer, found true"),
        ("whole", [7], "expected an integer, found a list of 1"),
        ("number", "0.1", 'expected a number, found the text "0.1" | write number = 0.1'),
        ("text", 7, 'expected text, found 7 | write text = "7"'),
        ("text", {}, "expected text, found a table"),
        ("switch", 1, "expected true or false, found 1"),
        ("switch", "True", 'expected true or false, found the text "True" | write switch = true'),
        ("path", object(), "expected a path, found an object of type object"),
    ],
)
def test_nothing_is_coerced(key: str, value: object, line: str) -> None:
    """Which values are refused is the property below; here is how."""
    assert mistakes(Plain, {key: value}) == [f"{key}: {line}"]


def test_all_at_once() -> None:
    table = {"whole": "7", "nmber": 0.5, "text": 3, "colour": 1}
    assert mistakes(Plain, table) == [
        'nmber: no such parameter; did you mean "number"? | write number = 0.5',
        "colour: no such parameter; it has whole, number, text, switch, path | leave colour out",
        'whole: expected an integer, found the text "7" | write whole = 7',
        'text: expected text, found 3 | write text = "3"',
    ]


@given(
    st.dictionaries(
        st.sampled_from(["whole", "number", "text", "switch", "path", "x"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.lists(st.integers()),
    )
)
def test_a_table_is_taken_as_it_is_or_refused(table: dict[str, object]) -> None:
    refused: set[str] = set()
    made = Plain()
    try:
        made = STRICT.build(Plain, table)
    except Mistakes as error:
        refused = {mistake.path for mistake in error.mistakes}
    right: dict[str, tuple[type, ...]] = {
        "whole": (int,),
        "number": (int, float),
        "text": (str,),
        "switch": (bool,),
        "path": (str,),
    }
    assert refused == {
        key
        for key, value in table.items()
        if not isinstance(value, right.get(key, ()))
        or (isinstance(value, bool) and key != "switch")
    }
    if refused:
        return
    for key, value in table.items():
        got = getattr(made, key)
        assert str(got) == str(Path(str(value))) if key == "path" else got == value or got != got
        assert isinstance(got, bool) is isinstance(value, bool)


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
    bare: tuple = ()  # type: ignore[type-arg]  # somebody may write it so
    anything: Any = None  # Any: what is tested
    objects: object = None


def test_containers() -> None:
    made = STRICT.build(
        Many,
        {
            "names": ["a", "b"],
            "pair": ["b", 2],
            "numbers": [1, 2.5],
            "kinds": ["x", "x"],
            "sequence": (1, 2),
            "unique": [1, 1],
            "aliases": {"a": "b"},
            "levels": {"a": [1, 2]},
            "bare": [1, "a"],
            "anything": {"a": [1]},
            "objects": "7",
        },
    )
    assert made == Many(
        names=("a", "b"),
        pair=("b", 2),
        numbers=[1.0, 2.5],
        kinds=frozenset("x"),
        sequence=(1, 2),
        unique={1},
        aliases={"a": "b"},
        levels={"a": (1, 2)},
        bare=(1, "a"),
        anything={"a": [1]},
        objects="7",
    )


@pytest.mark.parametrize(
    ("key", "value", "lines"),
    [
        ("names", "ab", ['names: expected a list, each text, found the text "ab"', '["ab"]']),
        ("names", ["a", 1], ["names[1]: expected text, found 1", '"1"']),
        ("names", {"a": 1}, ["names: expected a list, each text, found a table"]),
        ("pair", ["a"], ["pair: expected a list of 2: text, an integer, found a list of 1"]),
        ("pair", ["a", "b"], ['pair[1]: expected an integer, found the text "b"']),
        ("bare", 1, ["bare: expected a list, found 1"]),
        ("aliases", ["a"], ["aliases: expected a table, found a list of 1"]),
        ("aliases", {"a": 1}, ["aliases.a: expected text, found 1", '"1"']),
        ("aliases", {1: "a"}, ["aliases.1: the key: expected text, found 1"]),
        ("levels", {"a": [1, "2"]}, ['levels.a[1]: expected an integer, found the text "2"', "2"]),
    ],
)
def test_containers_of_the_wrong_type(key: str, value: object, lines: list[str]) -> None:
    line, *instead = lines
    written = [f" | write {line.partition(':')[0]} = {one}" for one in instead]
    assert mistakes(Many, {key: value}) == ["".join([line, *written])]


@attrs.frozen(kw_only=True)
class Choice:
    ties: Literal["first", "random"] = "first"
    by: Literal[1, "all"] = "all"
    band: float | Literal["auto"] = "auto"
    maybe: int | None = None
    where: str | Path | tuple[str, ...] = ""
    wide: float | int = 0
    deep: int | tuple[int, ...] = 0


def test_choices() -> None:
    for key, values in {
        "ties": ("random",),
        "by": (1, "all"),
        "band": (0.5, "auto"),
        "maybe": (None, 3),
        "where": ("x",),
        "wide": (3, 3.5),
        "deep": ((1, 2),),
    }.items():
        for value in values:
            made = getattr(STRICT.build(Choice, {key: value}), key)
            assert (type(made), made) == (type(value), value)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("ties", "fist", 'found the text "fist" | write ties = "first"'),
        ("ties", 1, 'expected "first" or "random", found 1'),
        ("by", True, 'expected 1 or "all", found true'),
        ("by", "al", 'expected 1 or "all", found the text "al" | write by = "all"'),
        ("band", "0.1", 'expected a number or "auto", found the text "0.1" | write band = 0.1'),
        ("maybe", "3", 'expected an integer, found the text "3" | write maybe = 3'),
        ("where", 7, 'expected text or a path or a list, each text, found 7 | write where = "7"'),
        ("deep", [1, "2"], 'expected an integer, found the text "2" | write deep[1] = 2'),
    ],
)
def test_choices_that_are_none(key: str, value: object, line: str) -> None:
    (found,) = mistakes(Choice, {key: value})
    assert found.startswith(f"{key}[1]: " if key == "deep" else f"{key}: ")
    assert found.endswith(line)


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


def test_validators_speak_with_the_path_of_their_field() -> None:
    lines = mistakes(Checked, {"draws": 0, "kind": "c"})
    assert lines[0] == "draws: must be >= 1, found 0"
    assert lines[1].startswith("kind: 'kind' must be in ['a', 'b']")


def test_rules_between_fields_speak_for_the_table() -> None:
    assert mistakes(Checked, {"lower": 2.0, "upper": 1.5}) == ["must be above lower"]
    assert STRICT.build(Checked, {"upper": 1.5}) == Checked(upper=1.5)
    assert mistakes(Checked, {"draws": 13}) == ["13 draws; expected 12 or 14; found 13 | write 12"]


def test_names_of_fields() -> None:
    made = STRICT.build(Checked, {"hidden": 3, "names": ["a"]})
    assert made == Checked(hidden=3, names=("a",))
    assert mistakes(Checked, {"made": 8})[0].startswith("made: no such parameter")


@dataclass(frozen=True)
class Data:
    draws: int
    names: tuple[str, ...] = ()
    levels: list[int] = field(default_factory=list)


def test_dataclasses() -> None:
    assert STRICT.build(Data, {"draws": 2, "names": ["a"]}) == Data(2, ("a",))
    assert mistakes(Data, {"draw": 2}) == [
        'draw: no such parameter; did you mean "draws"? | write draws = 2',
        "draws: is required: an integer",
    ]


class Ordinary:
    """A class of no library."""

    def __init__(self, draws: int, *rest: object, scale: float = 1.0, **more: object) -> None:
        self.made = (draws, scale, rest, more)


def test_ordinary_classes() -> None:
    assert STRICT.build(Ordinary, {"draws": 2}).made == (2, 1.0, (), {})
    assert mistakes(Ordinary, {"draws": "2", "scael": 2}) == [
        'scael: no such parameter; did you mean "scale"? | write scale = 2',
        'draws: expected an integer, found the text "2" | write draws = 2',
    ]


@attrs.frozen(kw_only=True)
class Nested:
    inner: Plain = Plain()
    data: Data | None = None
    colour: Colour = Colour.RED
    name: Name = Name("")
    array: np.ndarray | None = None
    raw: bytes = b""


def test_nested_values() -> None:
    made = STRICT.build(
        Nested, {"inner": {"whole": 2}, "data": {"draws": 1}, "colour": "red", "name": "x"}
    )
    assert made == Nested(inner=Plain(whole=2), data=Data(1), name=Name("x"))
    same = Plain(whole=5)
    assert STRICT.build(Nested, {"inner": same, "colour": Colour.RED}).inner is same
    array = np.ones(3)
    assert STRICT.build(Nested, {"array": array, "raw": b"x"}).array is array


def test_nested_mistakes() -> None:
    table = {"inner": {"whole": "2", "txt": "a"}, "data": 3, "colour": "blue", "array": 3, "raw": 3}
    assert mistakes(Nested, table) == [
        'inner.txt: no such parameter; did you mean "text"? | write inner.text = "a"',
        'inner.whole: expected an integer, found the text "2" | write inner.whole = 2',
        "data: expected a table, found 3",
        "colour: 'blue' is not a valid Colour",
        "array: expected ndarray, found 3",
        "raw: expected bytes, found 3",
    ]


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
    assert caught.value.name == "component-types"
    assert caught.value.found == "name 'Nowhere' is not defined"
    assert caught.value.hint.startswith("import those types outside of TYPE_CHECKING")


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
