"""Members and signatures compared with a Protocol, and the messages about them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from plausibly.plugin import AGGREGATOR, SCORE
from plausibly.protocols import Aggregator, PValueCombiner, ScoreFunction
from plausibly.registry import Registry
from plausibly.registry.conformance import problems
from refusals import refused
from registry_components import Frequency, Least, Plugins


class Scored:
    """A score whose members are replaced."""

    randomised: object = False
    reads: object = "probability"

    def score(self, probabilities: object, uniform: object) -> object:
        return probabilities


# Any: as type[P] a Protocol cannot be written
def faults(base: type, protocol: type[Any], **members: object) -> list[str]:
    component = type("Changed", (base,), members)()
    return [f"{p.expected} / {p.found}" for p in problems(component, protocol)]


def test_data_members_have_the_declared_type() -> None:
    divides = property(lambda self: 1 / 0)
    for members, expected in (
        ({"randomised": 1}, "randomised: bool / randomised = 1"),
        ({"reads": "logit"}, "reads: 'probability' or 'log-probability' / reads = 'logit'"),
        (
            {"randomised": divides},
            "randomised: bool / randomised raises ZeroDivisionError: division by zero",
        ),
    ):
        assert faults(Scored, ScoreFunction, **members) == [expected]
    assert faults(Scored, ScoreFunction, randomised=property(lambda self: True)) == []
    assert faults(Least, PValueCombiner, held_out=1) == []
    wrong = "held_out: float / held_out = True"
    assert faults(Least, PValueCombiner, held_out=True) == [wrong]
    for accepts in ("single-label", frozenset({1})):
        wrong = f"accepts: frozenset[str] / accepts = {accepts!r}"
        assert faults(Frequency, Aggregator, accepts=accepts) == [wrong]
    optional = faults(Frequency, Aggregator, joint="yes", reliability=lambda self: None)
    assert optional == ["joint: bool / joint = 'yes'", "reliability(annotations) / reliability()"]


@pytest.mark.parametrize(
    ("function", "form"),
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
def test_methods_of_an_object_and_of_its_class(function: object, form: str | None) -> None:
    expected = [] if form is None else [f"score(probabilities, uniform) / {form}"]
    assert faults(Scored, ScoreFunction, score=function) == expected
    of_class = problems(type("Changed", (Scored,), {"score": function}), ScoreFunction)
    assert [problem.found for problem in of_class] == [form] * len(expected)


@pytest.mark.parametrize(
    ("component", "pieces"),
    [
        (3, "this is no score: 3 | a name, a table with a name, or an object"),
        (Scored, "this is no score: <class | hint plausibly plugins list --kind score; or Name()"),
    ],
)
# Any: no component of any kind
def test_an_object_of_another_type(plugins: Plugins, component: Any, pieces: str) -> None:
    made = plugins.registry()
    with refused("component-invalid", *pieces.split(" | ")):
        made.create(SCORE, component)
    made.register(AGGREGATOR, "strange", lambda: component)
    with refused("component-invalid"):
        made.create(AGGREGATOR, "strange")


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
    loose = SimpleNamespace(accepts=component.accepts, aggregate=component.aggregate)
    with refused("component-invalid", "joint, or a class that inherits Aggregator"):
        Registry().create(AGGREGATOR, cast("Aggregator", loose))
