"""From a component to the table that a file keeps, and back."""

from __future__ import annotations

import sys
from types import ModuleType

import attrs
import pytest

from plausibly.errors import ComponentError
from plausibly.plugin import AGGREGATOR, CALIBRATOR
from registry_components import By, Drawn, Plugins, offering


class TestDescribe:
    @pytest.mark.parametrize(
        "component",
        [
            Drawn(draws=7),
            By(by="site"),
            By(
                by="site", inner=By(by="ward", inner=Drawn(draws=2)), many=(Drawn(), Drawn(draws=3))
            ),
        ],
    )
    def test_round_trip(self, plugins: Plugins, component: Drawn | By) -> None:
        made = plugins.registry()
        table = made.describe(CALIBRATOR, component)
        assert made.create(CALIBRATOR, table) == component

    def test_plain_data(self, plugins: Plugins) -> None:
        component = By(by="site", many=(Drawn(draws=3),))
        assert plugins.registry().describe(CALIBRATOR, component) == {
            "name": "by",
            "by": "site",
            "inner": {"name": "drawn", "draws": 10},
            "many": [{"name": "drawn", "draws": 3}],
        }

    def test_a_stranger_is_named_with_its_plugin(self, plugins: Plugins) -> None:
        plugins.add("thesis", offering("pl"), distribution="thesis-pl")
        made = plugins.registry()
        made.create(AGGREGATOR, "frequency")

        plugins.add("tools", offering("other", Other, CALIBRATOR), distribution="pl-tools")
        assert made.describe(CALIBRATOR, Other()) == {"name": "tools:other", "draws": 10}

    def test_of_this_run(self, plugins: Plugins) -> None:
        made = plugins.registry()
        made.register(CALIBRATOR, "mine", Other)
        assert made.describe(CALIBRATOR, Other(draws=2)) == {"name": "mine", "draws": 2}

    def test_of_this_run_beside_a_stranger(self, plugins: Plugins) -> None:
        plugins.add("thesis", offering("mine", Drawn, CALIBRATOR), distribution="thesis-pl")
        made = plugins.registry()
        made.register(CALIBRATOR, "mine", Other)
        made.entries()
        table = made.describe(CALIBRATOR, Other(draws=2))
        assert table == {"name": "(this run):mine", "draws": 2}
        assert made.create(CALIBRATOR, table) == Other(draws=2)

    def test_a_target_may_be_another_module_of_the_package(
        self, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        front = ModuleType("tests_front")
        front.__dict__["Other"] = Other
        monkeypatch.setitem(sys.modules, "tests_front", front)
        made = plugins.registry()
        made.register(CALIBRATOR, "gone", "tests_gone_xyz:Other")
        made.register(CALIBRATOR, "mine", "tests_front:Other")
        assert made.describe(CALIBRATOR, Other(draws=2)) == {"name": "mine", "draws": 2}

    def test_a_class_without_a_name(self, plugins: Plugins) -> None:
        with pytest.raises(ComponentError) as caught:
            plugins.registry().describe(CALIBRATOR, Other())
        assert str(caught.value) == (
            "error component-unregistered: calibrator Other has no name here\n"
            "  expected  a component of a registered class: a file holds names, never code\n"
            "  found     tests.registry.test_describe:Other\n"
            '  hint      plausibly.register(CALIBRATOR, "other", Other) before this, and\n'
            "            again before loading"
        )

    def test_inside_another_one_as_well(self, plugins: Plugins) -> None:
        with pytest.raises(ComponentError, match="calibrator Other has no name here"):
            plugins.registry().describe(CALIBRATOR, By(by="site", inner=Other()))


@attrs.frozen(kw_only=True)
class Other(Drawn):
    """A calibrator that nobody registered."""
