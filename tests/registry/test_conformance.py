"""Members and signatures against a Protocol, and what is said about them."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, cast

import attrs
import pytest

from plausibly.plugin import AGGREGATOR, COMBINER, SCORE
from plausibly.protocols import Aggregator, Calibrator, PValueCombiner, ScoreFunction
from plausibly.registry import Registry
from plausibly.registry.conformance import problems
from plausibly.type_hints import fits
from refusals import refused
from registry_components import By, Drawn, Frequency, Least, Plugins, Smoothed, offering


class Scored:
    """A score whose members can be spoilt."""

    randomised: object = False
    reads: object = "probability"

    def score(self, probabilities: object, uniform: object) -> object:
        return probabilities


@pytest.mark.parametrize(
    ("component", "protocol"),
    [
        (Frequency(), Aggregator),
        (Smoothed(), Aggregator),
        (Drawn(), Calibrator),
        (By(by="x"), Calibrator),
        (Least(), PValueCombiner),
        (Scored(), ScoreFunction),
    ],
)
# Any: a Protocol cannot be written as type[P]
def test_what_conforms(component: object, protocol: type[Any]) -> None:
    assert problems(component, protocol) == ()


def spoilt(**attributes: object) -> list[str]:
    """Return the problems of a score with other attributes."""
    component = type("Spoilt", (Scored,), attributes)()
    return [f"{p.expected} / {p.found}" for p in problems(component, ScoreFunction)]


def test_data_members() -> None:
    assert spoilt(randomised=1) == ["randomised: bool / randomised = 1"]
    assert spoilt(reads="logit") == ["reads: 'probability' or 'log-probability' / reads = 'logit'"]
    assert spoilt(randomised=property(lambda self: True)) == []
    (line,) = spoilt(randomised=property(lambda self: 1 / 0))
    assert line == "randomised: bool / randomised raises ZeroDivisionError: division by zero"


@pytest.mark.parametrize("accepts", ["single-label", frozenset({1})])
def test_text_is_no_set_of_kinds(accepts: object) -> None:
    component = type("Texts", (Frequency,), {"accepts": accepts})()
    (problem,) = problems(component, Aggregator)
    assert problem.expected == "accepts: frozenset[str]"
    assert problem.found == f"accepts = {accepts!r}"


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda self, probabilities, uniform: None, None),
        (lambda self, probabilities, uniform, extra=1: None, None),
        (lambda self, *arguments, **named: None, None),
        (lambda self, probabilities: None, "score(probabilities)"),
        (lambda self, p, uniform: None, "score(p, uniform)"),
        (lambda self, probabilities, uniform, more: None, "score(probabilities, uniform, more)"),
        (lambda self, probabilities, /, uniform: None, "score(probabilities, /, uniform)"),
        (lambda self, *, probabilities, uniform: None, "score(*, probabilities, uniform)"),
        (3, "score = 3"),
        (staticmethod(lambda probabilities, uniform: None), None),
        (classmethod(lambda cls, probabilities, uniform: None), None),
        (max, None),
    ],
)
def test_methods_of_an_object_and_of_its_class(function: object, found: str | None) -> None:
    expected = [] if found is None else [f"score(probabilities, uniform) / {found}"]
    assert spoilt(score=function) == expected
    of_class = problems(type("Spoilt", (Scored,), {"score": function}), ScoreFunction)
    assert [problem.found for problem in of_class] == [found] * len(expected)


@pytest.mark.parametrize(
    ("value", "wanted", "does"),
    [
        (1, float, True),
        (True, float, False),
        (True, int, False),
        (1, int, True),
        (1.0, int, False),
        ("a", Literal["a", "b"], True),
        (None, int | None, True),
        ("x", int | None, False),
        ((1, 2), tuple[int, ...], True),
        ((1, "a"), tuple[int, str], True),
        ([1], tuple[int, ...], False),
        (object(), object, True),
        (3, "unresolved", True),
    ],
)
def test_fits(value: object, wanted: object, does: bool) -> None:
    assert fits(value, wanted) is does


class HouseMin(Least):
    """A combiner with the signature of another library."""

    def combine(self, p_values: object, alpha: object) -> object:  # type: ignore[override]  # the mistake
        return None


def test_the_component_and_its_plugin_are_named(plugins: Plugins) -> None:
    hook = offering("house-min", HouseMin, COMBINER)
    plugins.add("house", hook, distribution="house-rules", version="1.3")
    problem = {
        "member": "combine",
        "expected": "combine(p, held_out)",
        "found": "combine(p_values, alpha)",
    }
    what = 'combiner "house-min" of house (house-rules 1.3), member combine'
    with refused("component-invalid", what, "hint fix it as the Protocol PValueCombiner") as caught:
        plugins.registry().create(COMBINER, "house-min")
    assert caught.value.details == {
        "kind": "combiner",
        "plugin": "house",
        "distribution": "house-rules",
        "version": "1.3",
        "problems": [problem],
    }


@pytest.mark.parametrize(
    ("component", "what", "hint"),
    [
        (3, "this is no score: 3", "plausibly plugins list --kind score"),
        (None, "this is no score: None", "plausibly plugins list --kind score"),
        (Scored, "this is no score: the class Scored", "Scored(), with parentheses"),
        (["x" * 50], "this is no score: a list", "plausibly plugins list --kind score"),
    ],
)
# Any: no component of any kind
def test_an_object_of_another_type(plugins: Plugins, component: Any, what: str, hint: str) -> None:
    made = plugins.registry()
    members = "an object that has randomised, reads, score"
    with refused("component-invalid", what, members, f"hint {hint}"):
        made.create(SCORE, component)
    made.register(AGGREGATOR, "strange", lambda: component)
    with refused("component-invalid"):
        made.create(AGGREGATOR, "strange")


def test_data_that_no_object_of_a_class_can_have() -> None:
    class Nothing:
        def score(self, probabilities: object, uniform: object) -> None: ...

    class Annotated(Nothing):
        randomised: bool
        reads: str

    class Made(Nothing):
        def __init__(self) -> None:
            self.randomised, self.reads = False, "probability"

    class Computed(Nothing):
        def __getattr__(self, name: str) -> object: ...

    @attrs.frozen(slots=False)
    class Fields(Nothing):
        randomised: bool = False
        reads = attrs.field(default="probability", type=str)

    @dataclasses.dataclass
    class Half(Nothing):
        randomised: bool = False

    def absent(cls: type[object]) -> list[str]:
        return [problem.member for problem in problems(cls, ScoreFunction)]

    assert absent(Nothing) == ["randomised", "reads"]
    assert absent(Half) == ["reads"]
    for cls in (Annotated, Made, Computed, Fields):
        assert absent(cls) == []


def test_a_class_that_does_not_inherit_has_the_defaults_of_optional_members() -> None:
    class Alone:
        accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})

        def aggregate(self, annotations: object, keys: object) -> object:
            return None

    component: Any = Alone()  # Any: it does not inherit, as a plugin without types may not
    assert problems(component, Aggregator) == ()
    made = Registry().create(AGGREGATOR, component)
    assert made is component
    assert made.joint is False
    assert made.aggregate_sparse(component, component) is None
    assert made.reliability(component) is None


def test_an_optional_member_must_be_of_its_form_where_it_is_there() -> None:
    loose = type("Loose", (Frequency,), {"joint": "yes", "reliability": lambda self: None})()
    assert [f"{p.expected} / {p.found}" for p in problems(loose, Aggregator)] == [
        "joint: bool / joint = 'yes'",
        "reliability(annotations) / reliability()",
    ]


def test_a_class_that_takes_no_members_is_told_what_to_inherit() -> None:
    frequency = Frequency()
    loose = SimpleNamespace(accepts=frequency.accepts, aggregate=frequency.aggregate)
    with refused("component-invalid", "joint, or a class that inherits Aggregator"):
        Registry().create(AGGREGATOR, cast("Aggregator", loose))
