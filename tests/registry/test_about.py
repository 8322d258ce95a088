"""Parameters in words; extras and libraries that are, are not, or are broken."""

from __future__ import annotations

import importlib.metadata as metadata
import json
from pathlib import Path
from typing import Literal

import attrs
import pytest

from plausibly.errors import InputError, MissingExtra
from plausibly.plugin import Calibrator, require
from plausibly.registry.entries import extras_of, missing
from plausibly.registry.listing import about
from refusals import refused
from registry_components import Drawn


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
