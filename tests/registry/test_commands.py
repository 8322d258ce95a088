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
from cli_world import Ran, run
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


def plain(ran: Ran) -> str:
    """Return what was printed on stdout, where nothing else was."""
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def test_the_screens(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    """As recorded in ``nets/plugins.txt``."""
    lines = []
    off = "--disable-plugin thesis --disable-plugin house-rules plugins list"
    for words in ("plugins list", "plugins check", "plugins info thesis", off):
        if words == off:
            monkeypatch.setenv(VARIABLE, "votes, chatty")
        ran = run(*words.split())
        lines += [f"$ plausibly {words}", f"exit code {ran.code}", *ran.out.splitlines(), ran.err]
    nets.compare("plugins.txt", lines)
    known = registry.default().disabled()
    assert {str(source) for source in known} == {
        "votes (plausibly 0.2)",
        "chatty (chatty-plugin 0.2)",
    }


def test_the_list_runs_no_plugin_that_is_off(
    world: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = plain(run("plugins", "list"))
    assert "chatty" not in world.imported
    monkeypatch.setenv(STRICT, "1")
    assert plain(run("plugins", "list")) == out
    registry.default().register(AGGREGATOR, "mine", Tempered)
    out = plain(run("plugins", "list", "--kind", "aggregator"))
    assert "  mine       (registered here)\n" in out


def test_components_that_need_an_extra(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    def kit(registrar: Registrar) -> None:
        for name in ("glad", "mace"):
            registrar.add(AGGREGATOR, name, f"no_such_module_xyz:{name}", extra="crowd")

    monkeypatch.setattr(
        "plausibly.registry.listing.missing", lambda _, extra: ("crowd-kit",) if extra else ()
    )
    odd = offering("odd", "no_such_module_xyz:Glad", AGGREGATOR, extra="crowd")
    world.add("odd", odd, distribution="odd-plugin")
    world.add("kit", kit)
    use(monkeypatch, world.registry())
    out = run("plugins", "list", "--kind", "aggregator").out
    assert '  odd        (odd-plugin 0.2, needs extra "crowd")\n' in out
    assert 'needs extra "crowd"  odd (odd-plugin 0.2): crowd-kit not installed\n' in out
    assert 'needs extra "crowd"  kit (plausibly 0.2): crowd-kit not installed\n' in out
    assert out.count("not installed") == 2
    out = plain(run("plugins", "check", "odd"))
    assert out.startswith('EXTRA   odd-plugin 0.2  aggregator odd:odd: needs the extra "crowd":')
    assert out.endswith('hint  pip install "odd-plugin[crowd]"\nplugins 1, 0 failed\n')
    out = run("plugins", "check").out
    assert """EXTRA   2 of plausibly's components  pip install "plausibly[crowd]"\n""" in out


def test_the_check_of_one_component(world: Plugins) -> None:
    ran = run("plugins", "check", "house:house-min", "--json")
    assert ran.code == 3
    document = ran.document
    (checked,) = document.pop("checked")
    assert document == {"command": "plugins check", "failed": 1, "warnings": []}
    source = {"plugin": "house", "distribution": "house-rules", "version": "1.3"}
    component = {**source, "kind": "combiner", "name": "house-min"}
    assert checked.pop("reason").endswith("found combine(p_values, alpha)")
    assert checked.pop("hint").startswith("fix it as the Protocol PValueCombiner")
    assert checked == {**component, "state": "failed", "stage": "making"}


NOT_RESOLVED = f"the parameters of {__name__}.Nameless have types that do not exist at run time"


@pytest.mark.parametrize(
    ("kind", "target", "line"),
    [
        (SCORE, Nameless, f"score odd:odd, at making: {NOT_RESOLVED}"),
        (SCORE, Stubborn, 'score odd:odd, at making: score "odd": no such model'),
        (SCORE, "no_such_module_xyz:X", 'score odd:odd, at loading: score "odd" of odd'),
        (AGGREGATOR, Halfway, 'aggregator odd:odd, at making: aggregator "odd" of odd'),
    ],
)
def test_components_that_cannot_be_made(
    world: Plugins,
    kind: Kind[Any],  # Any: each kind has its own Protocol
    target: object,
    line: str,
) -> None:
    world.add("odd", offering("odd", target, kind), distribution="odd-plugin")
    ran = run("plugins", "check", "odd")
    assert (ran.code, ran.err) == (3, "")
    assert " ".join(ran.out.split()).startswith(f"FAILED odd-plugin 0.2 {line}")


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
    ran = run("plugins", "check", "--rules")
    assert ran.code == 3
    assert sorted(checked) == ["aggregator Frequency", "aggregator Smoothed"]
    assert "aggregator Smoothed: 1 of 2 rules hold, 1 fails rule" in " ".join(ran.out.split())
    assert "\n          rule  state\n" in ran.out, "the kit's own lines stay"
    assert "ok      registered here  aggregator (this run):mine: 23 rules" in ran.out
    assert run("plugins", "check", "frequency", "--rules").out == (
        "ok      plausibly 0.2  aggregator votes:frequency: 23 rules, 1 expected failure\n"
        "plugins 1, 0 failed\n"
    )
    ran = run("plugins", "check", "least", "--rules")
    assert ran.code == 3
    assert (
        "combiner calibration:least, at rules: what it gives is\n          odd, found NaN"
        in ran.out
    )


def test_the_info_of_plugins_and_components(world: Plugins) -> None:
    registry.default().register(SCORE, "gone", "no_such_module_xyz:Gone")
    out = plain(run("plugins", "info", "pairs", "chatty", "empty", "gone"))
    for line in (
        "state   failed at registration: No module named 'polars'\n",
        "state   disabled: PLAUSIBLY_DISABLE_PLUGINS names chatty\n",
        "state   ready: it registers nothing\n",
        'unknown  score "gone" of this run cannot be loaded: expected a class or function\n',
    ):
        assert line in out
    document = run("plugins", "info", "tempered", "--json").document
    assert document["plugins"] == []
    (component,) = document["components"]
    words = {"type": "a number", "default": "", "help": "Above 1 flattens."}
    assert component["parameters"] == [{"name": "temperature", "required": True, **words}]
    wanted = {"name": "tempered", "state": "ready", "target": "in_memory_more:Tempered"}
    assert wanted.items() <= component.items()
    (plugin,) = run("plugins", "info", "pairs", "--json").document["plugins"]
    assert (plugin["state"], plugin["stage"]) == ("failed", "registration")
    assert plugin["offers"] == []


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
