"""Parameters in words, and extras that are or are not installed."""

from __future__ import annotations

import importlib.metadata as metadata
from typing import TYPE_CHECKING, Literal

import attrs
import pytest

from plausibly.plugin import Calibrator
from plausibly.registry.entries import extras_of, missing
from plausibly.registry.listing import about, helps
from registry_components import Drawn

if TYPE_CHECKING:
    from collections.abc import Sequence as OnlyForCheckers


@attrs.frozen(kw_only=True)
class Documented:
    """Smooth votes.

    More text, with a colon: it is no parameter.

    Attributes
    ----------
    prior : float
        Votes that every label has,
        before anybody votes.
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
        (
            "inner",
            "the name, table or object of a calibrator",
            '{name = "drawn", draws = 10}',
            "",
        ),
        ("strict", "true or false", "", ""),
        ("own", "an integer", "", ""),
    ]
    assert [p.name for p in about(Documented, plain) if p.required] == ["strict"]


def test_what_a_class_inherits() -> None:
    @attrs.frozen(kw_only=True)
    class Narrow(Documented):
        """Another.

        Attributes
        ----------
        prior : float
            Less.
        """

    assert helps(Narrow)["prior"] == "Less."
    assert helps(Narrow)["rounds"] == "How often EM runs; at most."


def test_types_that_exist_for_checkers_only() -> None:
    @attrs.frozen
    class Unresolved:
        names: OnlyForCheckers[str] = ()

    (found,) = about(Unresolved, plain)
    assert (found.name, found.type, found.default) == ("names", "OnlyForCheckers[str]", "[]")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distributions in memory: only ``here`` is installed."""
    requires = {
        "thesis": [
            "Attrs>=24",
            "here>=1; extra == 'fine'",
            'gone[more]>=2 ; extra == "crowd"',
            "far-away ; extra == 'crowd'",
            "only-there; sys_platform == 'nowhere' and extra == 'crowd'",
            "thesis[crowd,fine]; extra == 'all'",
        ]
    }

    def distribution(name: str) -> object:
        if name != "here":
            raise metadata.PackageNotFoundError(name)
        return object()

    def required(name: str) -> list[str]:
        if name not in requires:
            raise metadata.PackageNotFoundError(name)
        return requires[name]

    monkeypatch.setattr(metadata, "distribution", distribution)
    monkeypatch.setattr(metadata, "requires", required)


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    ("distribution", "extra", "lacking"),
    [
        ("thesis", "crowd", ("gone", "far-away")),
        ("thesis", "fine", ()),
        ("thesis", "all", ("gone", "far-away")),
        ("thesis", "", ()),
        ("", "crowd", ()),
        ("thesis", "unheard-of", ()),
        ("unheard-of", "crowd", ()),
    ],
)
def test_what_an_extra_lacks(distribution: str, extra: str, lacking: tuple[str, ...]) -> None:
    assert missing(distribution, extra) == lacking


def test_extras_of_ours() -> None:
    assert {"demo", "parquet", "all"} <= set(extras_of("plausibly"))
    assert extras_of("no-such-distribution-xyz") == ()
    assert missing("plausibly", "demo") == ()
