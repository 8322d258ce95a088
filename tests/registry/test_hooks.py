"""Plugins that fail before they offer anything: at which stage, why, and what to do."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pluggy
import pytest

from plausibly import __version__
from plausibly.plugin import AGGREGATOR, Registrar, hookimpl
from plausibly.registry import Entry, Failure, Source
from plausibly.registry.discovery import Declared, run_hook
from registry_components import Smoothed

SOURCE = Source("thesis", "thesis-pl", "0.2")


def ran(monkeypatch: pytest.MonkeyPatch, **attributes: object) -> tuple[Entry, ...] | Failure:
    """Return what became of a plugin whose module has these attributes."""
    module = ModuleType("in_memory_thesis")
    module.__dict__.update(attributes)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return run_hook(Declared(SOURCE, module.__name__))


def failure(monkeypatch: pytest.MonkeyPatch, **attributes: object) -> tuple[str, str, str]:
    """Return stage, reason and remedy of a plugin that fails."""
    outcome = ran(monkeypatch, **attributes)
    assert isinstance(outcome, Failure)
    assert outcome.source == SOURCE
    return outcome.stage, outcome.reason, outcome.remedy


@hookimpl
def good(registrar: Registrar) -> None:
    registrar.add(AGGREGATOR, "pl", Smoothed)


class TestHook:
    def test_a_good_one_by_any_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        outcome = ran(monkeypatch, tell_plausibly=good, requires_api=1)
        assert isinstance(outcome, tuple)
        assert [(e.kind, e.name, e.source) for e in outcome] == [("aggregator", "pl", SOURCE)]

    def test_none_that_is_marked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def register(registrar: Registrar) -> None:
            """Do nothing."""

        @pluggy.HookimplMarker("plausibly")
        def plausibly_registr(registrar: Registrar) -> None:
            """Do nothing."""

        assert failure(monkeypatch, register=register, misspelt=plausibly_registr) == (
            "hook",
            "in_memory_thesis has no function marked @hookimpl",
            "mark it with @hookimpl of plausibly.plugin",
        )

    @pytest.mark.parametrize(
        "function", [lambda reg: None, lambda: None, lambda registrar, more: None]
    )
    def test_a_wrong_signature(self, monkeypatch: pytest.MonkeyPatch, function: object) -> None:
        marked = hookimpl(function)  # type: ignore[arg-type]  # the mistake
        stage, reason, _ = failure(monkeypatch, register=marked)
        assert stage == "registration"
        assert reason.startswith("TypeError: ")
        assert "argument" in reason

    def test_more_parameters_with_defaults_are_fine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def register(registrar: Registrar, more: int = 1) -> None:
            registrar.add(AGGREGATOR, "pl", Smoothed)

        assert isinstance(ran(monkeypatch, register=hookimpl(register)), tuple)

    def test_one_that_returns_its_components(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def register(registrar: Registrar) -> list[object]:
            return [Smoothed]

        marked = hookimpl(register)  # type: ignore[arg-type]  # the mistake
        assert failure(monkeypatch, register=marked) == (
            "registration",
            "its hook returned a list; what is not added to the registrar is lost",
            "registrar.add(KIND, name, target), and return nothing",
        )

    def test_one_that_is_asynchronous(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def register(registrar: Registrar) -> None:
            registrar.add(AGGREGATOR, "pl", Smoothed)

        marked = hookimpl(register)  # type: ignore[arg-type]  # the mistake
        stage, reason, _ = failure(monkeypatch, register=marked)
        assert (stage, reason.partition(";")[0]) == (
            "registration",
            "its hook returned a coroutine",
        )

    @pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(3), GeneratorExit()])
    def test_whatever_it_raises(
        self, monkeypatch: pytest.MonkeyPatch, error: BaseException
    ) -> None:
        def register(registrar: Registrar) -> None:
            registrar.add(AGGREGATOR, "pl", Smoothed)
            raise error

        outcome = ran(monkeypatch, register=hookimpl(register))
        assert isinstance(outcome, Failure)
        assert (outcome.stage, outcome.error) == ("registration", error)
        assert [e.name for e in outcome.offered] == ["pl"]

    def test_but_the_user_may_interrupt(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def register(registrar: Registrar) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ran(monkeypatch, register=hookimpl(register))

    def test_a_module_that_fails_when_it_is_looked_at(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def __getattr__(name: str) -> object:
            raise OSError("network")

        stage, reason, _ = failure(monkeypatch, register=good, __getattr__=__getattr__)
        assert (stage, reason) == ("API", "OSError: network")


class TestApi:
    HERE = f"this is plausibly {__version__}, API 1"

    @pytest.mark.parametrize("wanted", [2, 0, "1.0", True])
    def test_both_numbers_are_in_the_message(
        self, monkeypatch: pytest.MonkeyPatch, wanted: object
    ) -> None:
        assert failure(monkeypatch, register=good, requires_api=wanted) == (
            "API",
            f"it requires API {wanted!r}; {self.HERE}",
            "pip install --upgrade plausibly thesis-pl",
        )

    def test_the_warning(self, monkeypatch: pytest.MonkeyPatch) -> None:
        outcome = ran(monkeypatch, register=good, requires_api=7)
        assert isinstance(outcome, Failure)
        said = outcome.warning()
        assert (said.what, said.expected) == (
            "thesis (thesis-pl 0.2) stopped at API",
            "an API that is here",
        )
        assert said.found == f'"it requires API 7; {self.HERE}"; all others work'
        assert said.hint == "plausibly plugins check thesis, or pip uninstall thesis-pl"

    def test_a_name_that_a_newer_plausibly_has(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "newer_xyz.py").write_text("from plausibly.plugin import Reliability\n")
        monkeypatch.syspath_prepend(tmp_path)
        outcome = run_hook(Declared(SOURCE, "newer_xyz"))
        assert isinstance(outcome, Failure)
        assert outcome.reason.startswith("cannot import name 'Reliability' from 'plausibly.plugin'")
        assert outcome.reason.endswith(self.HERE)
        assert outcome.remedy == "pip install --upgrade plausibly thesis-pl"


class TestRemedies:
    @pytest.mark.parametrize(
        ("source", "error", "remedy"),
        [
            (
                SOURCE,
                ModuleNotFoundError("No module", name="polars.io"),
                "install what provides polars",
            ),
            (SOURCE, ValueError("x"), "fix thesis-pl"),
            (Source("(this run)"), ValueError("x"), "fix its class, and register it again"),
            (
                Source("scores", "plausibly", "1", builtin=True),
                ValueError("x"),
                "reinstall plausibly: its installation is incomplete",
            ),
        ],
    )
    def test_what_to_do(self, source: Source, error: Exception, remedy: str) -> None:
        assert Failure(source, "import", error).remedy == remedy

    def test_an_entry_point_that_names_a_class(self) -> None:
        outcome = run_hook(Declared(SOURCE, "thesis_pl.ranks:PlackettLuce"))
        assert isinstance(outcome, Failure)
        assert outcome.reason == (
            "the entry point names thesis_pl.ranks:PlackettLuce; it must name a module"
        )
        assert outcome.remedy == (
            'write thesis = "thesis_pl.ranks", and add PlackettLuce in its hook'
        )
