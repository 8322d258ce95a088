"""``plausibly plugins`` and ``plausibly info`` on plugins in memory."""

from __future__ import annotations

import importlib.metadata as metadata
import sys
from types import ModuleType
from typing import Any, ClassVar

import attrs
import pytest

import nets
import plausibly
from cli_world import done, run
from plausibly import registry
from plausibly.cli import info
from plausibly.conformal import FORMAT
from plausibly.errors import ComponentError
from plausibly.plugin import AGGREGATOR, COMBINER, SCORE, Registrar
from plausibly.protocols import Kind
from plausibly.registry import Registry
from plausibly.registry.entries import STRICT, VARIABLE, requirements
from registry_components import Frequency, HouseMin, Least, Plugins, Smoothed, offering


@attrs.frozen(kw_only=True)
class Tempered(Frequency):
    """Votes with a temperature.

    Attributes
    ----------
    temperature : float
        Above 1 flattens.
    """

    temperature: float


class Nameless:
    """A score whose types exist for checkers only."""

    __module__ = "in_memory_more"
    randomised: ClassVar[bool] = False
    reads: ClassVar[str] = "probability"

    def __init__(self, power: OnlyThere = 1) -> None:  # type: ignore[name-defined]  # noqa: F821  # the mistake
        self.power = power

    def score(self, probabilities: object, uniform: object) -> object:
        return probabilities


@attrs.frozen(kw_only=True)
class Halfway:
    """An aggregator that needs a parameter, and cannot aggregate."""

    accepts: ClassVar[frozenset[str]] = frozenset()
    power: float


class Stubborn(Nameless):
    """A score that cannot be made."""

    def __init__(self) -> None:
        raise OSError("no such model")


@pytest.fixture
def world(plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """Our two plugins, one of others that works, and some that do not."""

    def thesis(registrar: Registrar) -> None:
        registrar.add(AGGREGATOR, "pl", Smoothed, summary="from ranks")
        registrar.add(AGGREGATOR, "tempered", "in_memory_more:Tempered")

    def house(registrar: Registrar) -> None:
        registrar.add(COMBINER, "house-min", "in_memory_more:HouseMin")

    def half(registrar: Registrar) -> None:
        registrar.add(COMBINER, "half", Least)
        raise ModuleNotFoundError("No module named 'polars'", name="polars")

    more = ModuleType("in_memory_more")
    more.__dict__.update(HouseMin=HouseMin, Tempered=Tempered)
    monkeypatch.setitem(sys.modules, "in_memory_more", more)
    plugins.add("thesis", thesis, distribution="thesis-pl")
    plugins.add("house", house, distribution="house-rules", version="1.3")
    plugins.add("pairs", half, distribution="pairs-reader", version="0.1")
    plugins.add("empty", lambda registrar: None, distribution="nothing-yet")
    plugins.add("chatty", offering("chat"), distribution="chatty-plugin")
    for name in info.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    use(monkeypatch, plugins.registry(disabled="chatty"))
    return plugins


def use(monkeypatch: pytest.MonkeyPatch, made: Registry) -> None:
    monkeypatch.setattr(registry, "default", lambda: made)


def shown(*lines: str) -> list[str]:
    """Return command lines with what they print."""
    result = []
    for line in lines:
        ran = run(*line.split())
        result += [f"$ plausibly {line}", f"exit code {ran.code}", *ran.out.splitlines(), ran.err]
    return result


def test_the_screens(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    """As recorded in ``nets/plugins.txt``."""
    registry.default().register(SCORE, "gone", "no_such_module_xyz:Gone")
    lines = shown(
        "plugins list",
        "plugins check",
        "plugins check house:house-min --json",
        "plugins info thesis",
        "plugins info pairs chatty empty gone",
        "plugins info pairs tempered --json",
    )
    monkeypatch.setenv(VARIABLE, "votes, chatty")
    lines += shown("--disable-plugin thesis --disable-plugin house-rules plugins list")
    known = registry.default().disabled()
    assert {str(source) for source in known} == {
        "votes (plausibly 0.2)",
        "chatty (chatty-plugin 0.2)",
    }
    world.add("odd", odd, distribution="odd-plugin")
    world.add("kit", kit)
    monkeypatch.setattr(
        "plausibly.registry.listing.missing", lambda _, extra: ("crowd-kit",) if extra else ()
    )
    use(monkeypatch, world.registry())
    lines += shown("plugins list --kind aggregator", "plugins check odd", "plugins check")
    nets.compare("plugins.txt", lines)


def odd(registrar: Registrar) -> None:
    """Offer components that need an extra, or cannot be made."""
    registrar.add(AGGREGATOR, "odd", "no_such_module_xyz:Glad", extra="crowd")
    wrong: dict[str, Any] = {  # Any: no score, or none that can be made
        "nameless": Nameless,
        "stubborn": Stubborn,
        "missing": "no_such_module_xyz:X",
        "halfway": Halfway,
    }
    for name, target in wrong.items():
        registrar.add(AGGREGATOR if target is Halfway else SCORE, name, target)


def kit(registrar: Registrar) -> None:
    for name in ("glad", "mace"):
        registrar.add(AGGREGATOR, name, f"no_such_module_xyz:{name}", extra="crowd")


def test_the_list_runs_no_plugin_that_is_off(
    world: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = done("plugins list").out
    assert "chatty" not in world.imported
    monkeypatch.setenv(STRICT, "1")
    assert done("plugins list").out == out


def test_the_kit_checks_components_of_others_and_named_ones(
    world: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    def check(kind: Kind[object], component: object) -> str:
        checked.append(f"{kind.name} {type(component).__name__}")
        if isinstance(component, Smoothed):
            raise AssertionError("aggregator Smoothed: 1 of 2 rules hold, 1 fails\nrule  state")
        if isinstance(component, Least):
            raise ComponentError("odd", "what it gives is odd", found="NaN", hint="fix it")
        return "23 rules, 1 expected failure"

    kit = ModuleType("plausibly.testing")  # in its place: it has its own tests
    kit.__dict__["check"] = check
    monkeypatch.setitem(sys.modules, "plausibly.testing", kit)
    registry.default().register(AGGREGATOR, "mine", Frequency)
    lines = shown(
        "plugins check --rules",
        "plugins check frequency --rules",
        "plugins check least --rules",
    )
    nets.compare("plugins_rules.txt", lines)
    of_others, named = checked[:-2], checked[-2:]
    assert sorted(of_others) == ["aggregator Frequency", "aggregator Smoothed"]
    assert named == ["aggregator Frequency", "combiner Least"]


def test_the_info_of_the_installation(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv(VARIABLE, "thesis,chatty")
    document = run("info", "--json").document
    wanted = {
        "version": plausibly.__version__,
        "plugins": {"ready": 4, "failed": 1, "disabled": 2},
        "predictor_format": FORMAT,
        "interpreter": sys.executable,
        "environment": {VARIABLE: "thesis,chatty", "OMP_NUM_THREADS": "3"},
    }
    assert wanted.items() <= document.items()
    extras, core = document["extras"], document["core"]
    assert (extras["demo"], "all" in extras) == (True, False)
    assert core["numpy"] == metadata.version("numpy")
    assert {"xarray", "pluggy", "attrs"} <= set(core)
    assert info.version("no-such-distribution-xyz") == "missing"
    assert requirements("no-such-distribution-xyz") == []
