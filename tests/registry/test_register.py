"""A component for this process."""

from __future__ import annotations

import attrs
import pytest

from plausibly.errors import ComponentError
from plausibly.plugin import AGGREGATOR
from registry_components import Frequency, Plugins, Smoothed, offering


class TestRegister:
    def test_for_this_run(self, plugins: Plugins) -> None:
        made = plugins.registry()
        made.register(AGGREGATOR, "mine", Smoothed, summary="smoothed votes")
        assert made.create(AGGREGATOR, "mine") == Smoothed()
        assert made.create(AGGREGATOR, "(this run):mine", {"rounds": 3}) == Smoothed(rounds=3)
        (entry,) = (e for e in made.entries() if e.name == "mine")
        assert (entry.source.plugin, entry.source.where) == ("(this run)", "registered here")

    def test_a_cell_may_run_twice(self, plugins: Plugins) -> None:
        def cell() -> type[Frequency]:
            @attrs.frozen(kw_only=True)
            class Mine(Frequency):
                """The class that a notebook defines."""

            made.register(AGGREGATOR, "mine", Mine)
            return Mine

        made = plugins.registry()
        for newest in (cell(), cell()):
            assert newest.__name__ == "Mine"
        assert type(made.create(AGGREGATOR, "mine")) is newest

    def test_nothing_is_overwritten(self, plugins: Plugins) -> None:
        made = plugins.registry()
        made.register(AGGREGATOR, "mine", Smoothed)
        with pytest.raises(ComponentError) as caught:
            made.register(AGGREGATOR, "mine", Frequency)
        assert str(caught.value) == (
            'error name-clash: there is an aggregator "mine" already\n'
            "  expected  a new name: nothing is overwritten\n"
            "  found     Frequency, beside that of this run\n"
            '  hint      register it as "my-mine"'
        )
        assert made.create(AGGREGATOR, "mine") == Smoothed()

    def test_not_under_a_name_of_ours(self, plugins: Plugins) -> None:
        made = plugins.registry()
        with pytest.raises(ComponentError, match=r"beside that of\s+votes"):
            made.register(AGGREGATOR, "frequency", Smoothed)
        assert made.create(AGGREGATOR, "frequency") == Frequency()

    def test_clashes_with_a_stranger_when_asked(self, plugins: Plugins) -> None:
        plugins.add("thesis", offering("pl"), distribution="thesis-pl")
        made = plugins.registry()
        made.register(AGGREGATOR, "pl", Frequency)
        with pytest.raises(ComponentError) as caught:
            made.create(AGGREGATOR, "pl")
        assert caught.value.found == "registered here (this run) and thesis-pl 0.2 (thesis)"

    @pytest.mark.parametrize(
        ("name", "advice"),
        [
            ("Plackett Luce", 'call it "plackett-luce"'),
            ("a:b", 'call it "a-b"'),
            ("", "give it such a name"),
        ],
    )
    def test_names(self, plugins: Plugins, name: str, advice: str) -> None:
        with pytest.raises(ComponentError) as caught:
            plugins.registry().register(AGGREGATOR, name, Frequency)
        assert str(caught.value) == (
            "error component-name: this run offers an aggregator by a name that is none\n"
            "  expected  lower-case letters, digits and single hyphens\n"
            f"  found     {name!r}\n"
            f"  hint      {advice}"
        )

    @pytest.mark.parametrize("target", ["module", "module:", "a b:c", ":x"])
    def test_targets(self, plugins: Plugins, target: str) -> None:
        with pytest.raises(ComponentError) as caught:
            plugins.registry().register(AGGREGATOR, "mine", target)
        assert caught.value.name == "component-target"
        assert caught.value.hint == "write the module, a colon, and the name in it"

    def test_an_object_instead_of_its_class(self, plugins: Plugins) -> None:
        with pytest.raises(ComponentError) as caught:
            plugins.registry().register(AGGREGATOR, "mine", Frequency())  # type: ignore[arg-type]  # on purpose
        assert str(caught.value) == (
            'error component-target: this run offers no class for the aggregator "mine"\n'
            '  expected  a class, a function, or where to find it: "package.module:Name"\n'
            "  found     Frequency()\n"
            "  hint      pass the class itself, without calling it"
        )

    def test_kinds(self, plugins: Plugins) -> None:
        with pytest.raises(ComponentError) as caught:
            plugins.registry().register("aggregator", "mine", Frequency)  # type: ignore[arg-type]  # on purpose
        assert caught.value.name == "component-kind"
        assert str(caught.value) == (
            'error component-kind: this run offers "mine" as something plausibly does not\n'
            "  know\n"
            "  expected  one of the kinds annotation, reader, aggregator, score, calibrator,\n"
            "            combiner\n"
            "  found     'aggregator'\n"
            "  hint      from plausibly.plugin import AGGREGATOR, or another kind"
        )
