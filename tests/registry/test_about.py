"""Parameters in words, extras that are missing or broken, members compared with a Protocol."""

from __future__ import annotations

import importlib.metadata as metadata
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, cast

import attrs
import pytest

from plausibly.errors import InputError, MissingExtra
from plausibly.plugin import AGGREGATOR, SCORE, Calibrator, require
from plausibly.protocols import Aggregator, PValueCombiner, ScoreFunction
from plausibly.registry import Registry
from plausibly.registry.conformance import problems
from plausibly.registry.entries import extras_of, missing
from plausibly.registry.listing import about
from refusals import refused
from registry_components import Drawn, Frequency, Least, Plugins


@attrs.frozen(kw_only=True)
class Votes:
    """Count votes.

    Attributes
    ----------
    prior : float
        The text of the class that inherits stands in its place.
    rounds, most : int or None
        How often ``EM`` runs;
        at most.

    References
    ----------
    ties : this is no parameter
        But a title.
    """

    prior: float = 1.0
    rounds: int = 10
    most: int | None = None


@attrs.frozen(kw_only=True)
class Documented(Votes):
    """Smooth votes.

    More text, with a colon: it is no parameter.

    Attributes
    ----------
    prior : float
        Votes that every label has,
        before anybody votes.
    """

    ties: Literal["first", "random"] = attrs.field(default="first", metadata={"help": "Who wins."})
    names: tuple[str, ...] = ("a", "b")
    inner: Calibrator = attrs.field(factory=Drawn)
    strict: bool
    own: int = attrs.field(default=attrs.Factory(lambda self: self.rounds, takes_self=True))


def plain(value: object) -> object:
    """Stand in for a registry that knows one calibrator."""
    if isinstance(value, Drawn):
        return {"name": "drawn", "draws": value.draws}
    return list(value) if isinstance(value, tuple) else value


def test_every_parameter_in_words() -> None:
    assert [(p.name, p.type, p.default, p.help) for p in about(Documented, plain)] == [
        ("prior", "a number", "1.0", "Votes that every label has, before anybody votes."),
        ("rounds", "an integer", "10", "How often EM runs; at most."),
        ("most", "an integer", "none", "How often EM runs; at most."),
        ("ties", '"first" or "random"', '"first"', "Who wins."),
        ("names", "a list, each text", '["a", "b"]', ""),
        ("inner", "the name, table or object of a calibrator", '{name = "drawn", draws = 10}', ""),
        ("strict", "true or false", "", ""),
        ("own", "an integer", "", ""),
    ]
    assert [p.name for p in about(Documented, plain) if p.required] == ["strict"]


REQUIRES = {
    "thesis": [
        "Attrs>=24",
        "here>=1; extra == 'fine'",
        'gone[more]>=2 ; extra == "crowd"',
        "far-away ; extra == 'crowd'",
        "only-there; sys_platform == 'nowhere' and extra == 'crowd'",
    ]
}


def test_missing_requirements_of_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"demo", "parquet", "all"} <= set(extras_of("plausibly"))
    assert extras_of("no-such-distribution-xyz") == ()
    assert missing("plausibly", "demo") == ()

    def find(name: str, installed: dict[str, list[str]]) -> list[str]:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(metadata, "distribution", lambda name: find(name, {"here": ["it"]}))
    monkeypatch.setattr(metadata, "requires", lambda name: find(name, REQUIRES))
    for distribution, extra, lacking in (
        ("thesis", "crowd", ("gone", "far-away")),
        ("thesis", "fine", ()),
        ("thesis", "", ()),
        ("", "crowd", ()),
        ("thesis", "unheard-of", ()),
        ("unheard-of", "crowd", ()),
    ):
        assert missing(distribution, extra) == lacking


def test_a_library_that_is_missing_or_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert require("json", extra="none", source="a test") is json
    what = "cnn.parquet needs no_such_module_xyz, which is not installed"
    hint = 'the extra "parquet" hint pip install "plausibly[parquet]"'
    with refused("extra-missing", what, hint, kind=MissingExtra) as caught:
        require("no_such_module_xyz.parquet", extra="parquet", source="cnn.parquet")
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, ImportError)
    (tmp_path / "half_installed_xyz.py").write_text("import its_own_dependency_xyz\n")
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("half_installed_xyz", "half_installed_xyz.inner"):
        with pytest.raises(ModuleNotFoundError, match="its_own_dependency_xyz") as broken:
            require(module, extra="parquet", source="cnn.parquet")
        assert not isinstance(broken.value, MissingExtra)


# ---- members and signatures compared with a Protocol


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
