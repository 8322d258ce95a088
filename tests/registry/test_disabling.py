"""Plugins that are off: by argument, by a block, by the environment, with one meaning."""

from __future__ import annotations

import warnings

import pytest

from plausibly import registry
from plausibly.errors import ComponentError, InputError, PlausiblyWarning
from plausibly.plugin import AGGREGATOR, COMBINER
from plausibly.registry import Registry
from plausibly.registry.entries import VARIABLE
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


class TestOneMeaning:
    @pytest.mark.parametrize("name", ["thesis", "thesis-pl", "Thesis_PL", " thesis "])
    @pytest.mark.parametrize("way", ["argument", "block", "environment"])
    def test_plugin_or_distribution(
        self, thesis: Plugins, monkeypatch: pytest.MonkeyPatch, way: str, name: str
    ) -> None:
        if way == "environment":
            monkeypatch.setenv(VARIABLE, f"{name},")
        made = thesis.registry(disabled=[name] if way == "argument" else [])
        with made.disabling(*([name] if way == "block" else [])):
            assert names(made) == OURS | {"tools:pl"}
            assert made.create(AGGREGATOR, "pl") == Frequency(), "no clash is left"
            (off,) = made.disabled()
            assert str(off) == "thesis (thesis-pl 0.2)"
            with pytest.raises(ComponentError) as caught:
                made.create(AGGREGATOR, "thesis:pl")
        by = {"argument": "Registry(disabled=...)", "block": "disabling(...)"}.get(way, VARIABLE)
        assert caught.value.what == (
            'no aggregator "thesis:pl": thesis (thesis-pl 0.2) is disabled'
        )
        assert caught.value.found == f"{by} names {name.strip()}"
        assert caught.value.hint == f"take {name.strip()} out of {by}"
        assert thesis.imported == ["votes", "calibration", "tools"], "it is not even imported"

    def test_all_that_a_distribution_offers(self, thesis: Plugins) -> None:
        thesis.add("more", offering("other"), distribution="thesis-pl")
        made = thesis.registry(disabled=["thesis-pl"])
        assert names(made) == OURS | {"tools:pl"}

    def test_a_name_that_may_be_there(self, thesis: Plugins) -> None:
        made = thesis.registry(disabled=["thesis"])
        with pytest.raises(ComponentError) as caught:
            made.create(AGGREGATOR, "gibbs")
        assert caught.value.found == "it may be in a plugin that is disabled (thesis)"
        assert caught.value.details["disabled"] == ["thesis (thesis-pl 0.2)"]

    def test_a_text_is_no_list_of_names(self, thesis: Plugins) -> None:
        with pytest.raises(InputError) as caught:
            thesis.registry(disabled="thesis")
        assert str(caught.value) == (
            "error plugin-names: Registry(disabled=...) takes names of plugins or\n"
            "  distributions\n"
            "  expected  a list of texts\n"
            "  found     'thesis'\n"
            '  hint      write ["thesis"]'
        )


class TestOurs:
    def test_a_family_of_ours(self, plugins: Plugins) -> None:
        made = plugins.registry(disabled=["votes"])
        assert names(made) == set()
        assert [e.name for e in made.entries(AGGREGATOR, off=True)] == ["frequency", "smoothed"]
        with pytest.raises(ComponentError) as caught:
            made.create(AGGREGATOR, "frequency")
        assert str(caught.value) == (
            'error component-disabled: aggregator "frequency": its plugin votes (plausibly\n'
            "  0.2) is disabled\n"
            "  expected  a component of a plugin that is on\n"
            "  found     Registry(disabled=...) names votes\n"
            "  hint      take votes out of Registry(disabled=...); or another: plausibly\n"
            "            plugins list --kind aggregator"
        )
        assert made.create(COMBINER, "least") == Least()

    def test_its_names_stay_ours(self, plugins: Plugins) -> None:
        """Else a default would become somebody else's."""
        plugins.add("thesis", offering(), distribution="thesis-pl")
        made = plugins.registry(disabled=["votes"])
        with pytest.raises(ComponentError, match="component-disabled") as caught:
            made.create(AGGREGATOR, "frequency")
        assert "or another: say thesis:frequency" in " ".join(caught.value.hint.split())
        assert made.create(AGGREGATOR, "thesis:frequency") == Smoothed()
        with pytest.raises(ComponentError, match="name-clash"):
            made.register(AGGREGATOR, "frequency", Smoothed)

    def test_what_failed_and_is_off_is_not_told(self, plugins: Plugins) -> None:
        def broken(registrar: object) -> None:
            raise RuntimeError("no licence")

        plugins.add("broken", broken, distribution="half-broken")
        made = plugins.registry()
        assert len(made.failures()) == 1
        with made.disabling("half-broken"):
            assert made.failures() == ()
            assert made.create(AGGREGATOR, "frequency") == Frequency()
        with pytest.warns(PlausiblyWarning, match="plugin-failed"):
            made.create(AGGREGATOR, "frequency")


class TestBlocks:
    def test_afterwards_it_is_back(self, thesis: Plugins) -> None:
        made = thesis.registry()
        with made.disabling("thesis"):
            with made.disabling("tools"):
                assert names(made) == OURS
            assert names(made) == OURS | {"tools:pl"}
        assert names(made) == OURS | {"tools:pl", "thesis:pl"}
        assert made.create(AGGREGATOR, "thesis:pl") == Smoothed()

    def test_what_was_used_before(self, thesis: Plugins) -> None:
        made = thesis.registry()
        assert made.create(AGGREGATOR, "thesis:pl") == Smoothed()
        with made.disabling("thesis", by="[plugins] disable of study.toml"):
            with pytest.raises(ComponentError) as caught:
                made.create(AGGREGATOR, "thesis:pl")
            assert names(made) == OURS | {"tools:pl"}
        assert caught.value.name == "component-disabled"
        assert caught.value.hint.startswith(
            "take thesis out of [plugins] disable of study.toml; or another: "
        )

    def test_of_the_process(self) -> None:
        with (
            registry.disabling(["combiners"], by="a test"),
            pytest.raises(ComponentError, match="component-disabled"),
        ):
            registry.resolve(COMBINER, "average")
        assert registry.resolve(COMBINER, "average") is not None


class TestUnknownNames:
    def test_warned_of_once(self, thesis: Plugins) -> None:
        made = thesis.registry(disabled=["thesos"])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                made.create(AGGREGATOR, "frequency")
        assert [str(w.message) for w in caught] == [
            'warning plugin-unknown: Registry(disabled=...) names "thesos", which is no\n'
            "  plugin here\n"
            '  expected  one of 7 plugins and distributions; did you mean "thesis"?\n'
            "  hint      write thesis, or take thesos out of Registry(disabled=...)"
        ]

    def test_nothing_alike(self, thesis: Plugins) -> None:
        made = thesis.registry(disabled=["qqq"])
        with pytest.warns(PlausiblyWarning) as caught:
            made.create(AGGREGATOR, "frequency")
        said = caught[0].message
        assert isinstance(said, PlausiblyWarning)
        assert said.hint == "take qqq out of Registry(disabled=...)"
        assert said.details == {
            "name": "qqq",
            "by": "Registry(disabled=...)",
            "suggestion": None,
        }

    def test_one_that_failed_is_known(self, plugins: Plugins) -> None:
        plugins.add("votes", offering(), distribution="impostor")
        made = plugins.registry(disabled=["impostor"])
        assert made.create(AGGREGATOR, "frequency") == Frequency()
        assert made.failures() == ()
