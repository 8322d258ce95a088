"""Components that need an extra, in lists: one line for all of a plugin that lack the same."""

from __future__ import annotations

from functools import cache

import pytest

from cli_world import run
from plausibly import registry
from plausibly.plugin import AGGREGATOR, Registrar
from registry_components import Plugins


@pytest.fixture
def world(plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """Two components whose extra is not installed, of a plugin of ours or of others."""
    for module in ("listing",):
        monkeypatch.setattr(
            f"plausibly.registry.{module}.missing", lambda _, extra: ("crowd-kit",) if extra else ()
        )
    monkeypatch.setattr(registry, "default", cache(plugins.registry))
    return plugins


def kit(registrar: Registrar) -> None:
    for name in ("glad", "mace"):
        registrar.add(AGGREGATOR, name, f"no_such_module_xyz:{name}", extra="crowd")


def test_in_the_list(world: Plugins) -> None:
    world.add("kit", kit, distribution="kit-plugin")
    out = run("plugins", "list", "--kind", "aggregator").out
    assert 'needs extra "crowd"  2 components of kit: crowd-kit not installed\n' in out
    assert out.count("not installed") == 1


def test_of_ours_in_a_check(world: Plugins) -> None:
    world.add("kit", kit)
    out = run("plugins", "check").out
    assert 'EXTRA   2 components of kit:  pip install "plausibly[crowd]"\n' in out
    assert out.endswith("3 plugins, none failed.\n")
