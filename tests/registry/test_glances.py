"""What is known of components that are named by their place, without importing anything."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from plausibly.plugin import COMBINER, Registrar
from registry_components import Least, Plugins


class Half(Least):
    """A combiner that cannot combine."""

    combine = None  # type: ignore[assignment]  # the mistake


class TestGlances:
    """Of a place in memory, and of one that is nowhere, all is known without an import."""

    def state(self, plugins: Plugins, target: str, extra: str = "") -> str:
        def hook(registrar: Registrar) -> None:
            registrar.add(COMBINER, "half", target, extra=extra)

        plugins.add("thesis", hook, distribution="thesis-pl")
        failures = plugins.registry().failures()
        return failures[0].state if failures else "ready"

    @pytest.fixture(autouse=True)
    def module(self, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
        made = ModuleType("half_xyz")
        made.__dict__.update(Half=Half, Whole=Least)
        monkeypatch.setitem(sys.modules, "half_xyz", made)
        return made

    @pytest.mark.parametrize(
        ("target", "extra", "state"),
        [
            ("half_xyz:Whole", "", "ready"),
            ("half_xyz:Half", "", "failed at check"),
            ("half_xyz:Gone", "", "failed at loading"),
            ("nowhere_xyz:Half", "", "failed at loading"),
            ("nowhere_xyz:Half", "crowd", "ready"),
            ("half_xyz.inner:Half", "", "failed at loading"),
            ("nowhere_xyz.inner:Half", "", "ready"),
            ("json.tool:Half", "", "ready"),
        ],
    )
    def test_what_is_certain(self, plugins: Plugins, target: str, extra: str, state: str) -> None:
        before = set(sys.modules)
        assert self.state(plugins, target, extra) == state
        new = {name for name in set(sys.modules) - before if not name.startswith("in_memory")}
        assert new <= {"importlib.util", "importlib._abc"}, "nothing is imported"

    def test_attributes_that_are_made_when_they_are_asked_for(
        self, plugins: Plugins, module: ModuleType
    ) -> None:
        def __getattr__(name: str) -> object:
            raise AssertionError("it may import what takes long")

        module.__dict__["__getattr__"] = __getattr__
        assert self.state(plugins, "half_xyz:Later") == "ready"

    def test_a_module_that_lies_about_itself(
        self, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "json.nothing_xyz", ModuleType("json.nothing_xyz"))
        monkeypatch.setattr("importlib.util.find_spec", _liar)
        assert self.state(plugins, "json.other_xyz:Half") == "ready"


def _liar(name: str) -> object:
    raise ValueError(f"{name}.__spec__ is None")
