"""Plugins that are off, by a block or by the environment, with one meaning."""

from __future__ import annotations

import pytest

from plausibly import registry
from plausibly.plugin import AGGREGATOR, COMBINER
from plausibly.registry import Registry
from plausibly.registry.entries import VARIABLE
from refusals import refused, warned
from registry_components import Frequency, Least, Plugins, Smoothed, offering


@pytest.fixture
def thesis(plugins: Plugins) -> Plugins:
    """Our two plugins and two of others."""
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    plugins.add("tools", offering("pl", Frequency), distribution="pl-tools")
    return plugins


def names(made: Registry) -> set[str]:
    return {entry.qualified for entry in made.entries(AGGREGATOR)}


OURS = {"votes:frequency", "votes:smoothed"}


@pytest.mark.parametrize("name", ["thesis", "thesis-pl", "Thesis_PL", " thesis "])
@pytest.mark.parametrize("by", ["disabling(...)", VARIABLE])
def test_a_plugin_or_its_distribution_is_off(thesis: Plugins, by: str, name: str) -> None:
    made = thesis.registry(disabled=f"{name}," if by == VARIABLE else "")
    with made.disabling(*([] if by == VARIABLE else [name])):
        assert names(made) == OURS | {"tools:pl"}
        assert made.create(AGGREGATOR, "pl") == Frequency(), "no clash is left"
        assert [str(off) for off in made.disabled()] == ["thesis (thesis-pl 0.2)"]
        bare = name.strip()
        off = f"found thesis (thesis-pl 0.2) is off: {by} names {bare}"
        for unknown in ("thesis:pl", "gibbs"):
            with refused("component-unknown", f'no aggregator "{unknown}"', off):
                made.create(AGGREGATOR, unknown)
    assert thesis.imported == ["votes", "calibration", "tools"], "it is not even imported"


def test_the_name_of_a_distribution_means_all_its_plugins(thesis: Plugins) -> None:
    thesis.add("more", offering("other"), distribution="thesis-pl")
    assert names(thesis.registry(disabled="thesis-pl")) == OURS | {"tools:pl"}
    assert names(thesis.registry(disabled="*")) == OURS


def test_names_of_built_ins_that_are_off_stay_their_own(plugins: Plugins) -> None:
    """Else a default would become a component of others."""
    plugins.add("thesis", offering(), distribution="thesis-pl")
    made = plugins.registry(disabled="votes")
    assert names(made) == {"thesis:frequency"}
    off = [e.name for e in made.entries(AGGREGATOR, off=True) if e.source.builtin]
    assert off == ["frequency", "smoothed"]
    with refused("component-unknown", 'mean "thesis:frequency"', f"{VARIABLE} names votes"):
        made.create(AGGREGATOR, "frequency")
    assert made.create(COMBINER, "least") == Least()
    assert made.create(AGGREGATOR, "thesis:frequency") == Smoothed()
    with refused("name-clash"):
        made.register(AGGREGATOR, "frequency", Smoothed)


def test_failures_of_plugins_that_are_off_cause_no_warning(plugins: Plugins) -> None:
    def broken(registrar: object) -> None:
        raise RuntimeError("no licence")

    plugins.add("broken", broken, distribution="half-broken")
    plugins.add("votes", offering(), distribution="impostor")
    made = plugins.registry(disabled="impostor")
    assert len(made.failures()) == 1
    with made.disabling("half-broken"):
        assert made.failures() == ()
        assert made.create(AGGREGATOR, "frequency") == Frequency()
    with warned("plugin-failed"):
        made.create(AGGREGATOR, "frequency")


@pytest.mark.parametrize("by", ["[plugins] disable", VARIABLE])
def test_a_name_to_disable_that_nothing_has_causes_one_warning(thesis: Plugins, by: str) -> None:
    names = ["thesiss", "*", "tools"]
    made = thesis.registry(disabled=",".join(names) if by == VARIABLE else "")
    with (
        warned("plugin-unknown", f'{by} names "thesiss"', "hint write thesis"),
        made.disabling(*([] if by == VARIABLE else names), by=by),
    ):
        for _ in range(2):
            assert made.create(AGGREGATOR, "frequency") == Frequency()
        assert len(made.disabled()) == 2
    assert thesis.imported == ["votes", "calibration"]


def test_blocks_nest_and_end(thesis: Plugins) -> None:
    made = thesis.registry()
    assert made.create(AGGREGATOR, "thesis:pl") == Smoothed()
    with made.disabling("thesis", by="[plugins] disable of study.toml"):
        with made.disabling("tools"):
            assert names(made) == OURS
        assert names(made) == OURS | {"tools:pl"}
        with refused("component-unknown", "is off: [plugins] disable of study.toml names thesis"):
            made.create(AGGREGATOR, "thesis:pl")
    assert names(made) == OURS | {"tools:pl", "thesis:pl"}
    assert made.create(AGGREGATOR, "thesis:pl") == Smoothed()
    with registry.disabling(["combiners"], by="a test"), refused("component-unknown"):
        registry.resolve(COMBINER, "average")
    assert registry.resolve(COMBINER, "average") is not None
