"""From a name, a table or an object to a component, and back."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest

from plausibly.errors import ComponentError, MissingExtra, PlausiblyWarning
from plausibly.plugin import AGGREGATOR, CALIBRATOR, Registrar
from plausibly.registry import Registry
from plausibly.registry.mistakes import ParameterError
from registry_components import By, Drawn, Frequency, Plugins, Smoothed, offering


class OfAnExtra(Frequency):
    """An aggregator of a family that needs an extra."""


class TestCreate:
    def test_name_table_and_object_are_one(self, plugins: Plugins) -> None:
        made = plugins.registry()
        by_name = made.create(CALIBRATOR, "drawn", {"draws": 3})
        by_table = made.create(CALIBRATOR, {"name": "drawn", "draws": 3})
        both = made.create(CALIBRATOR, {"name": "drawn"}, {"draws": 3})
        assert by_name == by_table == both == Drawn(draws=3)
        assert made.create(CALIBRATOR, by_name) is by_name

    def test_defaults(self, plugins: Plugins) -> None:
        assert plugins.registry().create(AGGREGATOR, "smoothed") == Smoothed()

    def test_the_table_of_the_caller_is_not_changed(self, plugins: Plugins) -> None:
        table = {"name": "drawn", "draws": 3}
        plugins.registry().create(CALIBRATOR, table)
        assert table == {"name": "drawn", "draws": 3}

    def test_an_object_takes_no_parameters(self, plugins: Plugins) -> None:
        with pytest.raises(ComponentError) as caught:
            plugins.registry().create(CALIBRATOR, Drawn(), {"draws": 3})
        assert str(caught.value) == (
            "error component-parameter: calibrator Drawn is an object and takes no more\n"
            "  parameters\n"
            "  expected  parameters beside a name or a table only\n"
            "  found     draws\n"
            "  hint      Drawn(draws=...)"
        )

    def test_a_parameter_in_both_places(self, plugins: Plugins) -> None:
        with pytest.raises(ComponentError) as caught:
            plugins.registry().create(CALIBRATOR, {"name": "drawn", "draws": 3}, {"draws": 3})
        assert str(caught.value) == (
            'error component-parameter: calibrator "drawn": draws is given twice\n'
            "  expected  each parameter once\n"
            "  found     one in the table, and one beside it\n"
            "  hint      leave draws out of one of them"
        )

    @pytest.mark.parametrize(
        ("table", "found"),
        [
            ({}, "the keys none"),
            ({"nam": "x", "b": 1}, "the keys nam, b"),
            ({"name": 7}, "name = 7"),
        ],
    )
    def test_a_table_without_a_name(
        self, plugins: Plugins, table: dict[str, object], found: str
    ) -> None:
        with pytest.raises(ComponentError) as caught:
            plugins.registry().create(CALIBRATOR, table)
        assert str(caught.value) == (
            "error component-name: a table for a calibrator has no name\n"
            '  expected  a key "name" with text\n'
            f"  found     {found}\n"
            "  hint      plausibly plugins list --kind calibrator"
        )


class TestUnknown:
    def test_a_stranger_is_suggested_with_its_plugin(self, plugins: Plugins) -> None:
        plugins.add("thesis", offering("plackett-luce"), distribution="thesis-pl")
        with pytest.raises(ComponentError, match='did you mean "thesis:plackett-luce"'):
            plugins.registry().create(AGGREGATOR, "placket-luce")

    def test_a_name_of_another_kind(self, plugins: Plugins) -> None:
        with pytest.raises(ComponentError, match=r"found +a combiner of that name"):
            plugins.registry().create(CALIBRATOR, "least")

    def test_survives_a_process_border(self, plugins: Plugins) -> None:
        with pytest.raises(ComponentError) as caught:
            plugins.registry().create(CALIBRATOR, "drawn", {"draws": "3", "x": 1})
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
        assert isinstance(again, ParameterError)
        assert [m.path for m in again.mistakes] == ["x", "draws"]


class TestWhoOffersIt:
    def test_ours_keeps_its_bare_name(self, plugins: Plugins) -> None:
        plugins.add("thesis", offering(), distribution="thesis-pl")
        made = plugins.registry()
        assert made.create(AGGREGATOR, "frequency") == Frequency()
        assert made.create(AGGREGATOR, "thesis:frequency") == Smoothed()
        assert made.create(AGGREGATOR, "frequency") == Frequency()

    def test_two_strangers_clash(self, plugins: Plugins) -> None:
        plugins.add("tools", offering("pl"), distribution="pl-tools", version="1.1")
        plugins.add("thesis", offering("pl", Frequency), distribution="thesis-pl")
        made = plugins.registry()
        with pytest.raises(ComponentError) as caught:
            made.create(AGGREGATOR, "pl")
        assert str(caught.value) == (
            'error name-clash: 2 plugins offer the aggregator "pl"\n'
            "  expected  one\n"
            "  found     pl-tools 1.1 (tools) and thesis-pl 0.2 (thesis)\n"
            "  hint      say tools:pl or thesis:pl; or disable one"
        )
        assert made.create(AGGREGATOR, "tools:pl") == Smoothed()
        assert made.create(AGGREGATOR, "thesis:pl") == Frequency()

    def test_the_name_of_our_plugin_is_reserved(self, plugins: Plugins) -> None:
        plugins.add("votes", offering("mine"), distribution="evil", version="6")
        made = plugins.registry()
        with pytest.warns(PlausiblyWarning) as caught, pytest.raises(ComponentError):
            made.create(AGGREGATOR, "mine")
        assert str(caught[0].message) == (
            "warning plugin-failed: votes (evil 6) stopped at name\n"
            "  expected  a plugin name of its own\n"
            '  found     "votes is a name of plausibly\'s own"; all others work\n'
            "  hint      plausibly plugins check votes, or pip uninstall evil"
        )
        assert made.create(AGGREGATOR, "votes:frequency") == Frequency()


class TestLaziness:
    def test_nothing_is_loaded_before_it_is_asked(self, plugins: Plugins) -> None:
        plugins.registry()
        assert plugins.imported == []

    def test_ours_are_found_without_a_scan(self, plugins: Plugins) -> None:
        plugins.add("thesis", offering("pl"), distribution="thesis-pl")
        made = plugins.registry()
        made.create(AGGREGATOR, "frequency")
        made.create(AGGREGATOR, "votes:smoothed")
        made.describe(CALIBRATOR, By(by="site"))
        assert (plugins.scans, plugins.imported) == (0, ["votes", "calibration"])

    @pytest.mark.parametrize("name", ["pl", "thesis:pl"])
    def test_others_are_scanned_once(self, plugins: Plugins, name: str) -> None:
        plugins.add("thesis", offering("pl"), distribution="thesis-pl")
        made = plugins.registry()
        for _ in range(3):
            made.create(AGGREGATOR, name)
            made.entries()
        assert plugins.scans == 1
        assert plugins.imported == ["votes", "calibration", "thesis"]

    def test_a_hook_may_look_into_the_registry(self, plugins: Plugins) -> None:
        seen = []

        def hook(registrar: Registrar) -> None:
            seen.append(made.create(AGGREGATOR, "frequency"))
            registrar.add(AGGREGATOR, "pl", Smoothed)

        plugins.add("thesis", hook, distribution="thesis-pl")
        made: Registry = plugins.registry()
        assert made.create(AGGREGATOR, "pl") == Smoothed()
        assert seen == [Frequency()]


class TestIsolation:
    @staticmethod
    def half(registrar: Registrar) -> None:
        registrar.add(AGGREGATOR, "half", Smoothed)
        raise RuntimeError("no licence")

    def test_half_a_registration_is_none(self, plugins: Plugins) -> None:
        plugins.add("broken", self.half, distribution="half-broken")
        plugins.add("thesis", offering("pl"), distribution="thesis-pl")
        made = plugins.registry()
        assert {e.name for e in made.entries(AGGREGATOR)} == {"frequency", "smoothed", "pl"}
        (failure,) = made.failures()
        assert failure.stage == "registration"
        assert failure.state == "failed at registration"
        assert failure.reason == "RuntimeError: no licence"
        assert [e.name for e in failure.offered] == ["half"]
        assert isinstance(failure.error, RuntimeError)

    def test_asking_for_it_says_why_it_is_missing(self, plugins: Plugins) -> None:
        plugins.add("broken", self.half, distribution="half-broken")
        for name in ("half", "broken:half", "broken:anything"):
            made = plugins.registry()
            with pytest.warns(PlausiblyWarning), pytest.raises(ComponentError) as caught:
                made.create(AGGREGATOR, name)
            assert caught.value.what == (
                f'no aggregator "{name}": broken (half-broken 0.2) failed at registration'
            )
        assert str(caught.value) == (
            'error component-unknown: no aggregator "broken:anything": broken (half-broken\n'
            "  0.2) failed at registration\n"
            "  expected  a name from plugins list\n"
            "  found     RuntimeError: no licence\n"
            "  hint      plausibly plugins check broken, or pip uninstall half-broken"
        )

    def test_an_unknown_name_tells_of_the_failed(self, plugins: Plugins) -> None:
        plugins.add("broken", self.half, distribution="half-broken")
        with pytest.warns(PlausiblyWarning), pytest.raises(ComponentError) as caught:
            plugins.registry().create(AGGREGATOR, "qqq")
        assert caught.value.found == "it may be in a plugin that failed (broken)"

    def test_warned_of_once(self, plugins: Plugins) -> None:
        plugins.add("broken", self.half, distribution="half-broken")
        plugins.add("thesis", offering("pl"), distribution="thesis-pl")
        made = plugins.registry()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for name in ("pl", "thesis:pl", "pl"):
                assert made.create(AGGREGATOR, name) == Smoothed()
        assert [str(w.message) for w in caught] == [
            "warning plugin-failed: broken (half-broken 0.2) stopped at registration\n"
            "  expected  a hook that only registers components\n"
            '  found     "RuntimeError: no licence"; all others work\n'
            "  hint      plausibly plugins check broken, or pip uninstall half-broken"
        ]

    def test_one_of_ours_may_break_as_well(self, plugins: Plugins) -> None:
        plugins.add("scores", self.half)
        made = plugins.registry()
        with pytest.warns(PlausiblyWarning, match="reinstall plausibly"):
            assert made.create(AGGREGATOR, "frequency") == Frequency()

    def test_a_plugin_that_offers_one_name_twice(self, plugins: Plugins) -> None:
        def twice(registrar: Registrar) -> None:
            registrar.add(AGGREGATOR, "pl", Smoothed)
            registrar.add(AGGREGATOR, "pl", Frequency)

        plugins.add("thesis", twice, distribution="thesis-pl")
        (failure,) = plugins.registry().failures()
        assert failure.reason.startswith('thesis (thesis-pl 0.2) offers the aggregator "pl" twice')


class TestLoading:
    @pytest.mark.parametrize(
        ("target", "reason"),
        [
            ("no_such_module_xyz:Name", "No module named 'no_such_module_xyz'"),
            ("registry_components:Nothing", "AttributeError: module 'registry_components' has no"),
            ("registry_components:sys", "TypeError: registry_components:sys is no class"),
        ],
    )
    def test_a_target_that_is_not_there(self, plugins: Plugins, target: str, reason: str) -> None:
        plugins.add("thesis", offering("lazy", target), distribution="thesis-pl")
        with pytest.raises(ComponentError) as caught:
            plugins.registry().create(AGGREGATOR, "lazy")
        assert str(caught.value).startswith(
            'error component-unloadable: aggregator "lazy" of thesis (thesis-pl 0.2) cannot\n'
            "  be loaded\n  expected  a class or function at "
        )
        assert reason in caught.value.found
        assert caught.value.hint == (
            "fix or reinstall thesis-pl; others: plausibly plugins list --kind aggregator"
        )

    def test_a_missing_extra_is_said_as_such(
        self, plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "needs_more_xyz.py").write_text(
            "from plausibly.plugin import require\n"
            "require('not_there_xyz', extra='crowd', source='aggregator glad')\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        made = plugins.registry()
        made.register(AGGREGATOR, "glad", "needs_more_xyz:Glad")
        with pytest.raises(MissingExtra, match="aggregator glad needs not_there_xyz"):
            made.create(AGGREGATOR, "glad")

    def test_of_two_of_ours_the_bare_name_means_the_one_without_an_extra(
        self, plugins: Plugins
    ) -> None:
        plugins.add("adapted", offering("frequency", Smoothed, AGGREGATOR, extra="crowd"))
        plugins.own.reverse()  # it is asked first
        made = plugins.registry()
        assert type(made.create(AGGREGATOR, "frequency")) is Frequency
        adapted = made.create(AGGREGATOR, "adapted:frequency")
        assert type(adapted) is Smoothed
        assert made.describe(AGGREGATOR, Frequency()) == {"name": "frequency"}
        with pytest.raises(ComponentError) as caught:
            made.create(AGGREGATOR, "frequensy")
        assert caught.value.expected.endswith('did you mean "frequency"?')

    def test_what_needs_an_extra_is_described_with_its_plugin(self, plugins: Plugins) -> None:
        plugins.add("crowd-kit", offering("glad", OfAnExtra, AGGREGATOR, extra="crowd"))
        made = plugins.registry()
        assert made.describe(AGGREGATOR, made.create(AGGREGATOR, "glad")) == {
            "name": "crowd-kit:glad"
        }
        with pytest.raises(ComponentError) as caught:
            made.create(AGGREGATOR, "glda")
        assert 'did you mean "crowd-kit:glad"?' in caught.value.expected

    def test_what_cannot_be_loaded_is_no_advice(self, plugins: Plugins) -> None:
        plugins.add("more", offering("gone", "no_such_module_xyz:Name"))
        with pytest.raises(ComponentError) as caught:
            plugins.registry().create(AGGREGATOR, "frequency", {"rounds": 3})
        assert "smoothed has it" in " ".join(str(caught.value).split())

    def test_nothing_is_installed(self) -> None:
        with pytest.raises(ComponentError) as caught:
            Registry(own=tuple, others=tuple).create(AGGREGATOR, "frequency")
        assert str(caught.value) == (
            'error component-unknown: no aggregator "frequency"\n'
            "  expected  a name from plugins list\n"
            "  found     no component at all: plausibly is on the path, but not installed\n"
            "  hint      plausibly plugins list --kind aggregator"
        )

    def test_a_function_makes_components_too(self, plugins: Plugins) -> None:
        def patient(rounds: int, *, prior: float = 2.0) -> Smoothed:
            return Smoothed(rounds=rounds, prior=prior)

        made = plugins.registry()
        made.register(AGGREGATOR, "patient", patient)
        assert made.create(AGGREGATOR, "patient", {"rounds": 3}) == Smoothed(rounds=3, prior=2.0)
        with pytest.raises(ComponentError, match="rounds: is required: an integer"):
            made.create(AGGREGATOR, "patient")
