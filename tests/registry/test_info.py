"""``plausibly info``, the author's kit on the command line, plugins off for one command."""

from __future__ import annotations

import importlib.metadata as metadata
import platform
import re
import sys
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


class TestInfo:
    def test_for_people(self, broken: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
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
        wanted = {one: [name for name in there if there[name] is one] for one in (True, False)}
        lines = re.search(
            r"^extras       yes: (.*?)^ {13}no:  (.*?)^plugins", ran.out, re.DOTALL | re.MULTILINE
        )
        assert lines
        assert lines[1].split() == (wanted[True] or ["none"])
        assert lines[2].split() == (wanted[False] or ["none"])
        assert rest[-3:] == [
            "plugins      3 ready, 1 failed, 1 disabled",
            "environment  PLAUSIBLY_DISABLE_PLUGINS=tools, OMP_NUM_THREADS=3",
            f"python       {sys.executable}",
        ]

    def test_nothing_is_set(self, broken: Plugins) -> None:
        out = run("info").out
        assert "plugins      4 ready, 1 failed, 0 disabled\n" in out
        assert "environment  nothing set\n" in out

    def test_for_programs(self, broken: Plugins) -> None:
        document = run("info", "--json").document
        assert document["version"] == plausibly.__version__
        assert document["plugins"] == {"ready": 4, "failed": 1, "disabled": 0}
        assert document["predictor_format"] == FORMAT
        assert document["extras"]["demo"] is True
        assert "all" not in document["extras"]
        assert set(document["core"]) >= {"numpy", "xarray", "pluggy", "attrs"}
        assert document["interpreter"] == sys.executable
        assert document["environment"] == {}
        assert document["threads"] >= 1

    def test_quiet_is_silent(self, broken: Plugins) -> None:
        assert run("info", "--quiet").out == ""

    def test_what_is_missing_is_said(self) -> None:
        assert info.version("no-such-distribution-xyz") == "missing"
        assert info.requirements("no-such-distribution-xyz") == []


class TestDisableForACommand:
    def test_until_it_ends(self, broken: Plugins) -> None:
        words = ["--disable-plugin", "thesis", "--disable-plugin", "pl-tools"]
        out = run(*words, "plugins", "list", "--kind", "aggregator").out
        assert "disabled  thesis (thesis-pl 0.2): --disable-plugin names thesis\n" in out
        assert "disabled  tools (pl-tools 0.2): --disable-plugin names pl-tools\n" in out
        assert registry.default().disabled() == {}

    def test_it_gets_help(self) -> None:
        assert "--disable-plugin NAME  Do without a plugin." in run("--help").out


class TestRules:
    """The kit itself has its own tests; here it is a stand-in."""

    @pytest.fixture
    def kit(self, broken: Plugins, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        asked: list[str] = []

        def check(kind: Kind[object], component: object) -> str:
            asked.append(f"{kind.name} {type(component).__name__}")
            if isinstance(component, Frequency) and type(component) is not Frequency:
                raise AssertionError("aggregator Smoothed: 1 of 2 rules hold, 1 fails\nrule  state")
            return "23 rules, 1 expected failure"

        module = ModuleType("plausibly.testing")
        module.__dict__["check"] = check
        monkeypatch.setitem(sys.modules, "plausibly.testing", module)
        return asked

    def test_those_of_others(self, kit: list[str]) -> None:
        registry.default().register(AGGREGATOR, "mine", Frequency)
        ran = run("plugins", "check", "--rules")
        assert ran.code == 3
        assert sorted(kit) == ["aggregator Frequency", *["aggregator Smoothed"] * 2]
        assert (
            "FAILED  pl-tools 0.2     aggregator tools:tool, at rules: aggregator Smoothed: 1\n"
            "          of 2 rules hold, 1 fails\n"
            "          rule  state\n"
        ) in ran.out
        assert (
            "ok      registered here  aggregator (this run):mine: 23 rules, 1 expected\n"
            "          failure\n"
        ) in ran.out

    def test_ours_where_they_are_named(self, kit: list[str]) -> None:
        assert run("plugins", "check", "frequency", "--rules").out == (
            "ok      plausibly 0.2  aggregator votes:frequency: 23 rules, 1 expected failure\n"
            "1 plugin, none failed.\n"
        )


def test_a_component_error_in_the_kit_is_the_components(
    broken: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(kind: Kind[object], component: object) -> str:
        raise ComponentError("odd", "what it gives is odd", found="NaN", hint="fix it")

    module = ModuleType("plausibly.testing")
    module.__dict__["check"] = check
    monkeypatch.setitem(sys.modules, "plausibly.testing", module)
    ran = run("plugins", "check", "pl", "--rules")
    assert ran.code == 3
    assert ran.out.startswith(
        "FAILED  thesis-pl 0.2  aggregator thesis:pl, at rules: what it gives is odd,"
    )
