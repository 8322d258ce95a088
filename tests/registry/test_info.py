"""``plausibly info``, and the author's kit on the command line."""

from __future__ import annotations

import importlib.metadata as metadata
import platform
import re
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

import plausibly
from cli_world import run
from plausibly import registry
from plausibly.cli import info
from plausibly.conformal import FORMAT
from plausibly.errors import ComponentError
from plausibly.plugin import AGGREGATOR, Registrar
from plausibly.protocols import Kind
from plausibly.registry.entries import VARIABLE
from registry_components import Frequency, Plugins, offering


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in info.VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def broken(plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """Our two plugins, a broken one, one that is off, and one that works."""

    def fails(registrar: Registrar) -> None:
        raise RuntimeError("no licence")

    plugins.add("broken", fails, distribution="half-broken")
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    plugins.add("tools", offering("tool"), distribution="pl-tools")
    made = plugins.registry()
    monkeypatch.setattr(registry, "default", lambda: made)
    return plugins


def test_for_people(broken: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "plugins      4 ready, 1 failed, 0 disabled\n" in run("info").out
    assert "environment  nothing set\n" in run("info").out
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv(VARIABLE, "tools")
    ran = run("info")
    assert (ran.code, ran.err) == (0, "")
    first, *rest = ran.out.splitlines()
    assert first == (
        f"plausibly {plausibly.__version__} · Python {platform.python_version()} · "
        f"{info.threads()} threads · predictor format {FORMAT}"
    )
    assert rest[0].startswith("core         attrs ")
    assert f"numpy {metadata.version('numpy')}" in ran.out
    there = run("info", "--json").document["extras"]
    lines = re.search(
        r"^extras       yes: (.*?)^ {13}no:  (.*?)^plugins", ran.out, re.DOTALL | re.MULTILINE
    )
    assert lines
    for place, installed in ((1, True), (2, False)):
        wanted = [name for name in there if there[name] is installed]
        assert lines[place].split() == (wanted or ["none"])
    assert rest[-3:] == [
        "plugins      3 ready, 1 failed, 1 disabled",
        "environment  PLAUSIBLY_DISABLE_PLUGINS=tools, OMP_NUM_THREADS=3",
        f"python       {sys.executable}",
    ]
    assert run("info", "--quiet").out == ""


def test_for_programs(broken: Plugins) -> None:
    document = run("info", "--json").document
    wanted = {
        "version": plausibly.__version__,
        "plugins": {"ready": 4, "failed": 1, "disabled": 0},
        "predictor_format": FORMAT,
        "interpreter": sys.executable,
        "environment": {},
    }
    assert wanted.items() <= document.items()
    assert document["extras"]["demo"] is True
    assert "all" not in document["extras"]
    assert set(document["core"]) >= {"numpy", "xarray", "pluggy", "attrs"}
    assert document["threads"] >= 1


def test_missing_distributions() -> None:
    assert info.version("no-such-distribution-xyz") == "missing"
    assert info.requirements("no-such-distribution-xyz") == []


def install_kit(monkeypatch: pytest.MonkeyPatch, check: Callable[..., str]) -> None:
    """Put a stand-in in the place of the author's kit, which has its own tests."""
    module = ModuleType("plausibly.testing")
    module.__dict__["check"] = check
    monkeypatch.setitem(sys.modules, "plausibly.testing", module)


def test_the_rules_of_the_kit(broken: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of components of others, and of those that are named."""
    checked: list[str] = []

    def check(kind: Kind[object], component: object) -> str:
        checked.append(f"{kind.name} {type(component).__name__}")
        if isinstance(component, Frequency) and type(component) is not Frequency:
            raise AssertionError("aggregator Smoothed: 1 of 2 rules hold, 1 fails\nrule  state")
        return "23 rules, 1 expected failure"

    install_kit(monkeypatch, check)
    registry.default().register(AGGREGATOR, "mine", Frequency)
    ran = run("plugins", "check", "--rules")
    assert ran.code == 3
    assert sorted(checked) == ["aggregator Frequency", *["aggregator Smoothed"] * 2]
    assert (
        "FAILED  pl-tools 0.2     aggregator tools:tool, at rules: aggregator Smoothed: 1\n"
        "          of 2 rules hold, 1 fails\n"
        "          rule  state\n"
    ) in ran.out
    assert "ok      registered here  aggregator (this run):mine: 23 rules, 1 expected\n" in ran.out
    assert run("plugins", "check", "frequency", "--rules").out == (
        "ok      plausibly 0.2  aggregator votes:frequency: 23 rules, 1 expected failure\n"
        "1 plugin, none failed.\n"
    )


def test_a_component_error_in_the_kit_is_the_components(
    broken: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(kind: Kind[object], component: object) -> str:
        raise ComponentError("odd", "what it gives is odd", found="NaN", hint="fix it")

    install_kit(monkeypatch, check)
    ran = run("plugins", "check", "pl", "--rules")
    assert ran.code == 3
    assert ran.out.startswith(
        "FAILED  thesis-pl 0.2  aggregator thesis:pl, at rules: what it gives is odd,"
    )
