"""Strictness, looking again, identity of plugins, and components that fail at first use."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from plausibly import registry
from plausibly.errors import ComponentError, PlausiblyWarning
from plausibly.plugin import AGGREGATOR, COMBINER, SCORE, Registrar
from plausibly.registry.discovery import Declared
from plausibly.registry.entries import STRICT
from registry_components import Frequency, Least, Plugins, Smoothed, offering


def broken(registrar: Registrar) -> None:
    registrar.add(AGGREGATOR, "half", Smoothed)
    raise RuntimeError("no licence")


class TestStrict:
    def test_a_failure_is_an_error(self, plugins: Plugins) -> None:
        plugins.add("broken", broken, distribution="half-broken")
        made = plugins.registry(strict=True)
        for _ in range(2):
            with pytest.raises(ComponentError) as caught:
                made.create(AGGREGATOR, "frequency")
        assert str(caught.value) == (
            "error plugin-failed: broken (half-broken 0.2) stopped at registration\n"
            "  expected  a hook that only registers components\n"
            '  found     "RuntimeError: no licence"; plugins are strict\n'
            "  hint      plausibly plugins check broken, or pip uninstall half-broken"
        )
        assert isinstance(caught.value.__cause__, RuntimeError)
        assert caught.value.details["stage"] == "registration"

    @pytest.mark.parametrize(("value", "strict"), [("1", True), ("yes", True), ("0", False)])
    def test_by_the_environment(
        self, plugins: Plugins, monkeypatch: pytest.MonkeyPatch, value: str, strict: bool
    ) -> None:
        monkeypatch.setenv(STRICT, value)
        plugins.add("broken", broken, distribution="half-broken")
        made = plugins.registry()
        if strict:
            with pytest.raises(ComponentError, match="plugin-failed"):
                made.create(AGGREGATOR, "frequency")
        else:
            assert made.create(AGGREGATOR, "frequency") == Frequency()

    def test_what_is_off_does_not_fail(self, plugins: Plugins) -> None:
        plugins.add("broken", broken, distribution="half-broken")
        made = plugins.registry(strict=True, disabled=["broken"])
        assert made.create(AGGREGATOR, "frequency") == Frequency()


class TestRefresh:
    def test_a_new_distribution(self, plugins: Plugins) -> None:
        made = plugins.registry()
        assert len(made.entries()) == 5
        plugins.add("thesis", offering("pl"), distribution="thesis-pl")
        assert len(made.entries()) == 5
        made.refresh()
        assert made.create(AGGREGATOR, "pl") == Smoothed()
        assert plugins.imported == ["votes", "calibration", "thesis"], "each once"

    def test_what_failed_is_tried_again(self, plugins: Plugins) -> None:
        licences: list[str] = []

        def hook(registrar: Registrar) -> None:
            registrar.add(AGGREGATOR, "pl", Smoothed)
            licences[0]

        plugins.add("thesis", hook, distribution="thesis-pl")
        made = plugins.registry()
        made.register(AGGREGATOR, "mine", Smoothed)
        assert [f.reason for f in made.failures()] == ["IndexError: list index out of range"]
        licences.append("bought")
        made.refresh()
        assert made.failures() == ()
        assert made.create(AGGREGATOR, "pl") == made.create(AGGREGATOR, "mine") == Smoothed()

    def test_what_fails_again_is_told_again(self, plugins: Plugins) -> None:
        plugins.add("broken", broken, distribution="half-broken")
        made = plugins.registry()
        made.failures()
        for _ in range(2):
            with pytest.warns(PlausiblyWarning, match="plugin-failed"):
                made.create(AGGREGATOR, "frequency")
            made.create(AGGREGATOR, "frequency")
            made.refresh()
            made.failures()

    def test_of_the_process(self) -> None:
        before = registry.default().plugins()
        registry.refresh()
        assert registry.default().plugins() == before


def test_a_hook_that_asks_for_others_has_each_run_once(plugins: Plugins) -> None:
    seen: list[object] = []

    def hook(registrar: Registrar) -> None:
        seen.append(made.create(AGGREGATOR, "pl"))
        registrar.add(AGGREGATOR, "mine", Smoothed)

    plugins.add("asks", hook, distribution="asks-others")
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    made = plugins.registry()
    assert made.create(AGGREGATOR, "mine") == Smoothed()
    assert seen == [Smoothed()]
    assert plugins.imported == ["votes", "calibration", "asks", "thesis"]


class TestOrder:
    """Nothing depends on who comes first: registering is all that a hook does."""

    def seen(self, plugins: Plugins, order: tuple[int, ...]) -> list[object]:
        given, plugins.others = plugins.others, [plugins.others[i] for i in order]
        made = plugins.registry()
        found: list[object] = [
            {e.qualified for e in made.entries()},
            {f.subject: f.state for f in made.failures()},
        ]
        with warnings.catch_warnings(action="ignore"):
            for name in ("pl", "gibbs", "frequency", "half", "tools:pl", "nothing"):
                try:
                    found.append(made.create(AGGREGATOR, name))
                except ComponentError as error:
                    found.append((error.name, error.what, error.hint))
        plugins.others = given
        return found

    def test_of_plugins(self, plugins: Plugins) -> None:
        plugins.add("thesis", offering("pl"), distribution="thesis-pl")
        plugins.add("tools", offering("pl", Frequency), distribution="pl-tools")
        plugins.add("broken", broken, distribution="half-broken")
        plugins.add("gibbs", offering("gibbs"), distribution="gibbs-pl")
        first, *others = [self.seen(plugins, order) for order in itertools.permutations(range(4))]
        assert len(others) == 23
        assert all(other == first for other in others)


class TestInterrupted:
    def test_who_asks_next_has_it_run(self, plugins: Plugins) -> None:
        impatient = [True]

        def hook(registrar: Registrar) -> None:
            registrar.add(AGGREGATOR, "pl", Smoothed)
            if impatient.pop():
                impatient.append(False)
                raise KeyboardInterrupt
            impatient.append(False)

        plugins.add("thesis", hook, distribution="thesis-pl")
        made = plugins.registry()
        with pytest.raises(KeyboardInterrupt):
            made.entries()
        assert made.create(AGGREGATOR, "pl") == Smoothed()
        assert plugins.imported[-2:] == ["thesis", "thesis"]


class TestLeavesNothingBehind:
    def test_not_even_what_it_registered_for_this_run(self, plugins: Plugins) -> None:
        def hook(registrar: Registrar) -> None:
            made.register(AGGREGATOR, "smuggled", Smoothed)
            raise RuntimeError("no licence")

        plugins.add("broken", hook, distribution="half-broken")
        made = plugins.registry()
        assert {e.name for e in made.entries(AGGREGATOR)} == {"frequency", "smoothed"}


class TestIdentity:
    def test_two_distributions_may_call_a_plugin_alike(self, plugins: Plugins) -> None:
        plugins.add("rankings", offering("pl"), distribution="pl-tools", version="1.1")
        plugins.add("rankings", offering("pl", Frequency), distribution="thesis-pl")
        plugins.add("rankings", offering("borda"), distribution="voting")
        made = plugins.registry()
        assert made.failures() == ()
        assert made.create(AGGREGATOR, "rankings:borda") == Smoothed()
        for name in ("pl", "rankings:pl"):
            with pytest.raises(ComponentError) as caught:
                made.create(AGGREGATOR, name)
            assert caught.value.found == "pl-tools 1.1 (rankings) and thesis-pl 0.2 (rankings)"
            assert caught.value.hint == "say pl-tools:pl or thesis-pl:pl; or disable one"
        assert made.create(AGGREGATOR, "pl-tools:pl") == Smoothed()
        assert made.create(AGGREGATOR, "thesis_pl:pl") == Frequency()
        with made.disabling("pl-tools"):
            assert made.create(AGGREGATOR, "pl") == Frequency()

    @pytest.mark.parametrize("name", ["votes", "Votes", "plausibly"])
    def test_names_of_ours_are_reserved(self, plugins: Plugins, name: str) -> None:
        plugins.add(name, offering("pl"), distribution="impostor")
        made = plugins.registry()
        (failure,) = made.failures()
        assert (failure.stage, failure.reason) == ("name", f"{name} is a name of plausibly's own")
        assert failure.remedy == "pip uninstall impostor, or rename it in its entry points"
        assert plugins.imported == ["votes", "calibration"], "it is not even imported"

    @pytest.mark.parametrize("name", ["(this run)", "a:b", "a,b", "*"])
    def test_names_that_are_none(self, plugins: Plugins, name: str) -> None:
        plugins.add(name, offering("pl"), distribution="strange")
        (failure,) = plugins.registry().failures()
        assert failure.reason == f"{name!r} is no name: letters, digits, dots and hyphens"

    def test_one_name_for_two_modules_of_a_distribution(self, plugins: Plugins) -> None:
        plugins.add("thesis", offering("pl"), distribution="thesis-pl")
        plugins.others.append(Declared(plugins.others[0].source, "another_module"))
        made = plugins.registry()
        (failure,) = made.failures()
        assert failure.reason == "thesis (thesis-pl 0.2) has this name already"
        with pytest.warns(PlausiblyWarning, match="stopped at name"):
            assert made.create(AGGREGATOR, "pl") == Smoothed()


class Half:
    """A combiner that cannot combine."""

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[str] = "mean"

    def guarantee(self, claim: object, summary: object, alpha: object) -> object:
        return None


HALF = 'combiner "half" of thesis (thesis-pl 0.2)'


class TestComponents:
    @staticmethod
    def hook(target: Callable[..., object] | str) -> Callable[[Registrar], None]:
        def hook(registrar: Registrar) -> None:
            registrar.add(COMBINER, "half", target)  # type: ignore[arg-type]  # the mistake
            registrar.add(COMBINER, "whole", Least)

        return hook

    def test_a_class_that_is_here_is_looked_at_at_once(self, plugins: Plugins) -> None:
        plugins.add("thesis", self.hook(Half), distribution="thesis-pl")
        made = plugins.registry()
        (failure,) = made.failures()
        assert (failure.subject, failure.stage) == (HALF, "check")
        assert failure.reason == "expected combine(p, held_out), found nothing of that name"
        with pytest.warns(PlausiblyWarning) as caught:
            assert made.create(COMBINER, "whole") == Least()
        assert str(caught[0].message) == (
            'warning plugin-failed: combiner "half" of thesis (thesis-pl 0.2) stopped at\n'
            "  check\n"
            "  expected  every member of its Protocol\n"
            '  found     "expected combine(p, held_out), found nothing of that name"; all\n'
            "            others work\n"
            "  hint      plausibly plugins check thesis, or pip uninstall thesis-pl"
        )

    def test_who_asks_for_it_gets_an_error_and_no_warning(self, plugins: Plugins) -> None:
        plugins.add("thesis", self.hook(Half), distribution="thesis-pl")
        made = plugins.registry()
        with warnings.catch_warnings(action="error"):
            with pytest.raises(ComponentError, match="component-invalid"):
                made.create(COMBINER, "half")
            assert made.create(COMBINER, "whole") == Least()

    def test_a_place_is_looked_at_when_it_is_asked_for(
        self, plugins: Plugins, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "half_file_xyz.py").write_text("from registry_components import Frequency\n")
        monkeypatch.syspath_prepend(tmp_path)
        plugins.add("thesis", self.hook("half_file_xyz:Frequency"), distribution="thesis-pl")
        made = plugins.registry()
        assert made.failures() == ()
        assert "half_file_xyz" not in sys.modules
        for _ in range(2):
            with pytest.raises(ComponentError, match="component-invalid"):
                made.create(COMBINER, "half")
        (failure,) = made.failures()
        assert (failure.subject, failure.state) == (HALF, "failed at check")

    def test_a_place_that_breaks_when_it_is_asked_for(
        self, plugins: Plugins, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "breaks_xyz.py").write_text("import sys\nsys.exit(3)\n")
        monkeypatch.syspath_prepend(tmp_path)
        plugins.add("thesis", self.hook("breaks_xyz:Half"), distribution="thesis-pl")
        made = plugins.registry()
        assert made.failures() == ()
        with pytest.raises(ComponentError, match="component-unloadable"):
            made.create(COMBINER, "half")
        (failure,) = made.failures()
        assert failure.reason == "SystemExit: 3"


class TestOfThisRun:
    def test_a_mended_cell_is_whole_again(self, plugins: Plugins) -> None:
        made = plugins.registry()

        def mine() -> Least:
            return answers[0]

        answers: list[Least] = [Half()]  # type: ignore[list-item]  # the mistake
        made.register(COMBINER, "mine", mine)
        with pytest.raises(ComponentError, match="component-invalid"):
            made.create(COMBINER, "mine")
        assert [f.subject for f in made.failures()] == ['combiner "mine" of this run']
        answers[0] = Least()
        made.register(COMBINER, "mine", mine)
        assert made.failures() == ()

    def test_a_class_of_this_run_is_refused_at_once(self, plugins: Plugins) -> None:
        made = plugins.registry()
        with pytest.raises(ComponentError) as caught:
            made.register(COMBINER, "mine", Half)  # type: ignore[arg-type]  # the mistake
        assert str(caught.value) == (
            'error component-invalid: combiner "mine" of this run, member combine\n'
            "  expected  combine(p, held_out)\n"
            "  found     nothing of that name\n"
            "  hint      fix it as the Protocol PValueCombiner of plausibly.plugin says"
        )
        assert [e.name for e in made.entries(COMBINER)] == ["least"]


def test_a_missing_extra_is_said_where_a_name_is_nearly_right(
    plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(distribution: str, extra: str) -> tuple[str, ...]:
        return ("crowd-kit",) if (distribution, extra) == ("thesis-pl", "crowd") else ()

    monkeypatch.setattr("plausibly.registry.registry.missing", lacking)
    plugins.add(
        "crowd-kit",
        offering("glad", "no_such_module_xyz:Glad", SCORE, extra="crowd"),
        distribution="thesis-pl",
    )
    made = plugins.registry()
    with pytest.raises(ComponentError) as caught:
        made.create(SCORE, "glda")
    assert str(caught.value) == (
        'error component-unknown: no score "glda"\n'
        '  expected  a name from plugins list; did you mean "crowd-kit:glad"?\n'
        '  hint      pip install "thesis-pl[crowd]" (that one needs the extra)'
    )
    with pytest.raises(ImportError) as missing:
        made.create(SCORE, "glad")
    assert str(missing.value) == (
        'error extra-missing: score "glad" of crowd-kit (thesis-pl 0.2) needs\n'
        "  no_such_module_xyz, which is not installed\n"
        '  expected  the extra "crowd"\n'
        '  hint      pip install "thesis-pl[crowd]"'
    )
    assert made.failures() == ()


def test_the_interpreter_is_named_where_a_plugin_is_unknown(plugins: Plugins) -> None:
    with pytest.raises(ComponentError) as caught:
        plugins.registry().create(AGGREGATOR, "thesis:zzz")
    assert caught.value.found == f"nothing like it in the environment of {sys.executable}"
    assert caught.value.details["python"] == sys.executable
