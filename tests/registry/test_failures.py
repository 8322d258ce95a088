"""Plugins that fail: at which stage, why, what to do, and that all others work."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pluggy
import pytest

from plausibly import __version__
from plausibly.errors import ComponentError
from plausibly.plugin import AGGREGATOR, COMBINER, Registrar, hookimpl
from plausibly.registry import Entry, Failure, Source
from plausibly.registry.discovery import Declared, run_hook
from plausibly.registry.entries import STRICT
from refusals import refused, warned
from registry_components import Frequency, Least, Plugins, Smoothed, offering

SOURCE = Source("thesis", "thesis-pl", "0.2")
HERE = f"this is plausibly {__version__}, API 1"
UPGRADE = "pip install --upgrade plausibly thesis-pl"


class Half:
    """A combiner that cannot combine."""

    held_out: ClassVar[float] = 0.0
    needs: ClassVar[str] = "mean"

    def guarantee(self, claim: object, summary: object, alpha: object) -> object:
        return None


@hookimpl
def good(registrar: Registrar) -> None:
    registrar.add(AGGREGATOR, "pl", Smoothed)


def broken(registrar: Registrar) -> None:
    registrar.add(AGGREGATOR, "half", Smoothed)
    raise RuntimeError("no licence")


def outcome_of(
    monkeypatch: pytest.MonkeyPatch, attributes: Mapping[str, object], place: str = ""
) -> tuple[Entry, ...] | Failure:
    """Return the result of a plugin whose module has these attributes."""
    module = ModuleType("in_memory_thesis")
    module.__dict__.update(attributes)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return run_hook(Declared(SOURCE, module.__name__ + place))


async def asynchronous(registrar: Registrar) -> None:
    registrar.add(AGGREGATOR, "pl", Smoothed)


@pluggy.HookimplMarker("plausibly")
def plausibly_registr(registrar: Registrar) -> None:
    """Do nothing, under a name that is misspelt."""


def raising(name: str) -> object:
    raise OSError("network")


mark: Any = hookimpl  # Any: of functions that are no hooks
NO_HOOK = "in_memory_thesis has no function marked @hookimpl"
LOST = "its hook returned a list; what is not added to the registrar is lost"


@pytest.mark.parametrize(
    ("attributes", "stage", "reason", "remedy"),
    [
        ({"misspelt": plausibly_registr}, "hook", NO_HOOK, "mark it with @hookimpl of plausibly."),
        ({"register": mark(lambda registrar: [Smoothed])}, "registration", LOST, "registrar.a"),
        ({"register": mark(asynchronous)}, "registration", "its hook returned a coroutine", ""),
        ({"register": good, "__getattr__": raising}, "API", "OSError: network", ""),
        *(
            ({"register": mark(function)}, "registration", "TypeError: ", "fix thesis-pl")
            for function in (lambda reg: None, lambda: None, lambda registrar, more: None)
        ),
        *(
            (
                {"register": good, "requires_api": v},
                "API",
                f"it requires API {v!r}; {HERE}",
                UPGRADE,
            )
            for v in (2, 0, "1.0", True)
        ),
    ],
)
def test_a_hook_that_fails(
    monkeypatch: pytest.MonkeyPatch,
    attributes: dict[str, object],
    stage: str,
    reason: str,
    remedy: str,
) -> None:
    outcome = outcome_of(monkeypatch, attributes)
    assert isinstance(outcome, Failure)
    assert (outcome.source, outcome.stage) == (SOURCE, stage)
    assert outcome.reason.startswith(reason)
    assert outcome.remedy.startswith(remedy)


def test_a_hook_may_have_any_name_and_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    def more(registrar: Registrar, extra: int = 1) -> None:
        good(registrar)

    for attributes in ({"tell_plausibly": good, "requires_api": 1}, {"register": hookimpl(more)}):
        outcome = outcome_of(monkeypatch, attributes)
        assert isinstance(outcome, tuple)
        assert [(e.kind, e.name, e.source) for e in outcome] == [("aggregator", "pl", SOURCE)]


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(3), GeneratorExit()])
def test_any_exception_of_a_hook_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def register(registrar: Registrar) -> None:
        good(registrar)
        raise error

    outcome = outcome_of(monkeypatch, {"register": hookimpl(register)})
    assert isinstance(outcome, Failure)
    assert (outcome.stage, outcome.error) == ("registration", error)
    assert [e.name for e in outcome.offered] == ["pl"]


def test_an_interrupt_by_the_user_is_no_failure(plugins: Plugins) -> None:
    interrupts = [KeyboardInterrupt()]

    def hook(registrar: Registrar) -> None:
        registrar.add(AGGREGATOR, "pl", Smoothed)
        if interrupts:
            raise interrupts.pop()

    plugins.add("thesis", hook, distribution="thesis-pl")
    made = plugins.registry()
    with pytest.raises(KeyboardInterrupt):
        made.entries()
    assert made.create(AGGREGATOR, "pl") == Smoothed()
    assert plugins.imported[-2:] == ["thesis", "thesis"]


def test_entry_points_that_fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "newer_xyz.py").write_text("from plausibly.plugin import Reliability\n")
    monkeypatch.syspath_prepend(tmp_path)
    newer = run_hook(Declared(SOURCE, "newer_xyz"))
    assert isinstance(newer, Failure)
    assert newer.reason.startswith("cannot import name 'Reliability' from 'plausibly.plugin'")
    assert (newer.reason[-len(HERE) :], newer.remedy) == (HERE, UPGRADE)
    attribute = outcome_of(monkeypatch, {"register": good}, ":PlackettLuce")
    assert isinstance(attribute, Failure)
    assert attribute.reason.startswith("the entry point names in_memory_thesis:PlackettLuce")
    hint = 'write thesis = "in_memory_thesis", and add PlackettLuce in its hook'
    assert attribute.remedy == hint


def test_half_a_registration_is_none(plugins: Plugins) -> None:
    def smuggling(registrar: Registrar) -> None:
        made.register(AGGREGATOR, "smuggled", Smoothed)
        broken(registrar)

    def twice(registrar: Registrar) -> None:
        registrar.add(AGGREGATOR, "twice", Smoothed)
        registrar.add(AGGREGATOR, "twice", Frequency)

    plugins.add("broken", smuggling, distribution="half-broken")
    plugins.add("doubled", twice, distribution="doubled-pl")
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    made = plugins.registry()
    assert {e.name for e in made.entries(AGGREGATOR)} == {"frequency", "smoothed", "pl"}
    failure, second = made.failures()
    assert (failure.state, failure.reason) == ("failed at registration", "RuntimeError: no licence")
    assert [e.name for e in failure.offered] == ["half"]
    assert second.reason.startswith('doubled (doubled-pl 0.2) offers the aggregator "twice" twice')


@pytest.mark.parametrize("name", ["half", "broken:half", "broken:anything"])
def test_an_unknown_name_mentions_the_failure(plugins: Plugins, name: str) -> None:
    plugins.add("broken", broken, distribution="half-broken")
    what = f'no aggregator "{name}": broken (half-broken 0.2) failed at registration'
    hint = "hint plausibly plugins check broken, or pip uninstall half-broken"
    with warned("plugin-failed"), refused("component-unknown", what, "no licence", hint):
        plugins.registry().create(AGGREGATOR, name)
    elsewhere = "found it may be in a plugin that failed (broken)"
    with warned("plugin-failed"), refused("component-unknown", elsewhere):
        plugins.registry().create(AGGREGATOR, "qqq")


def test_a_failure_causes_one_warning(plugins: Plugins) -> None:
    plugins.add("broken", broken, distribution="half-broken")
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    made = plugins.registry()
    pieces = (
        "broken (half-broken 0.2) stopped at registration",
        '"RuntimeError: no licence"; all others work',
        "hint plausibly plugins check broken, or pip uninstall half-broken",
    )
    with warned("plugin-failed", *pieces):
        for name in ("pl", "thesis:pl", "pl"):
            assert made.create(AGGREGATOR, name) == Smoothed()
    plugins.add("scores", broken)
    with warned("plugin-failed", "reinstall plausibly"):
        ours = plugins.registry(disabled="half-broken")
        assert ours.create(AGGREGATOR, "frequency") == Frequency()


@pytest.mark.parametrize(
    ("value", "strict"), [("1", True), ("yes", True), ("0", False), ("", False)]
)
def test_strict_plugins_raise(
    plugins: Plugins, monkeypatch: pytest.MonkeyPatch, value: str, strict: bool
) -> None:
    monkeypatch.setenv(STRICT, value)
    plugins.add("broken", broken, distribution="half-broken")
    made = plugins.registry()
    for _ in range(2 * strict):
        with refused("plugin-failed", "plugins are strict", kind=ComponentError) as caught:
            made.create(AGGREGATOR, "frequency")
        assert isinstance(caught.value.__cause__, RuntimeError)
        assert caught.value.details["stage"] == "registration"
    with made.disabling("broken"):
        assert made.create(AGGREGATOR, "frequency") == Frequency()
    if not strict:
        assert made.create(AGGREGATOR, "frequency") == Frequency()


def test_a_hook_may_use_the_registry(plugins: Plugins) -> None:
    seen: list[object] = []

    def hook(registrar: Registrar) -> None:
        seen.extend(made.create(AGGREGATOR, name) for name in ("frequency", "pl"))
        registrar.add(AGGREGATOR, "mine", Smoothed)

    plugins.add("asks", hook, distribution="asks-others")
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    made = plugins.registry()
    assert made.create(AGGREGATOR, "mine") == Smoothed()
    assert seen == [Frequency(), Smoothed()]
    assert plugins.imported == ["votes", "calibration", "asks", "thesis"]


def test_the_order_of_plugins_changes_nothing(plugins: Plugins) -> None:
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    plugins.add("tools", offering("pl", Frequency), distribution="pl-tools")
    plugins.add("broken", broken, distribution="half-broken")
    plugins.add("gibbs", offering("gibbs"), distribution="gibbs-pl")
    results = []
    for order in itertools.permutations(plugins.others):
        plugins.others = list(order)
        made = plugins.registry()
        result: list[object] = [
            {e.qualified for e in made.entries()},
            {f.subject: f.state for f in made.failures()},
        ]
        with warnings.catch_warnings(action="ignore"):
            for name in ("pl", "gibbs", "frequency", "half", "tools:pl", "nothing"):
                try:
                    result.append(made.create(AGGREGATOR, name))
                except ComponentError as error:
                    result.append((error.name, error.what, error.hint))
        results.append(result)
    assert len(results) == 24
    assert all(result == results[0] for result in results)


OWN, NONE = "{} is a name of plausibly's own", "{!r} is no name: letters, digits, dots and hyphens"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *((name, OWN) for name in ("votes", "Votes", "plausibly")),
        *((name, NONE) for name in ("(this run)", "a:b", "a,b", "*")),
    ],
)
def test_names_that_a_plugin_cannot_have(plugins: Plugins, name: str, reason: str) -> None:
    plugins.add(name, offering("pl"), distribution="impostor")
    made = plugins.registry()
    (failure,) = made.failures()
    assert (failure.stage, failure.reason) == ("name", reason.format(name))
    assert plugins.imported == ["votes", "calibration"], "it is not even imported"
    with warned("plugin-failed", "stopped at name", "pip uninstall impostor"):
        assert made.create(AGGREGATOR, "votes:frequency") == Frequency()


def test_one_name_for_two_modules_of_a_distribution(plugins: Plugins) -> None:
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    plugins.others.append(Declared(plugins.others[0].source, "another_module"))
    made = plugins.registry()
    (failure,) = made.failures()
    assert failure.reason == "thesis (thesis-pl 0.2) has this name already"
    with warned("plugin-failed", "stopped at name"):
        assert made.create(AGGREGATOR, "pl") == Smoothed()


@pytest.mark.parametrize(
    ("target", "module", "error", "state"),
    [
        (Half, "", "component-invalid", "failed at check"),
        ("half_xyz:Frequency", "from registry_components import Frequency\n", "component-invalid",
         "failed at check"),
        ("half_xyz:Half", "import sys\nsys.exit(3)\n", "component-unloadable", "failed at loading"),
    ],
)  # fmt: skip
def test_a_component_that_fails(
    plugins: Plugins,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    target: Any,  # Any: a class or a place
    module: str,
    error: str,
    state: str,
) -> None:
    """A class is checked at once, a place when its name is used; other components work."""

    def hook(registrar: Registrar) -> None:
        registrar.add(COMBINER, "half", target)
        registrar.add(COMBINER, "whole", Least)

    (tmp_path / "half_xyz.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "half_xyz", raising=False)
    plugins.add("thesis", hook, distribution="thesis-pl")
    made = plugins.registry()
    assert len(made.failures()) == (target is Half)
    with warnings.catch_warnings(action="error"):
        for _ in range(2):
            with refused(error):
                made.create(COMBINER, "half")
        assert made.create(COMBINER, "whole") == Least()
    (failure,) = made.failures()
    subject = 'combiner "half" of thesis (thesis-pl 0.2)'
    assert (failure.subject, failure.state) == (subject, state)
    if target is Half:
        with warned("plugin-failed", f"{subject} stopped at check", "found nothing of that name"):
            assert plugins.registry().create(COMBINER, "whole") == Least()


def test_a_component_of_this_run_can_be_fixed(plugins: Plugins) -> None:
    made = plugins.registry()
    answers: list[Least] = [Half()]  # type: ignore[list-item]  # the mistake

    def mine() -> Least:
        return answers[0]

    made.register(COMBINER, "mine", mine)
    with refused("component-invalid"):
        made.create(COMBINER, "mine")
    (failure,) = made.failures()
    assert failure.subject == 'combiner "mine" of this run'
    assert failure.remedy == "fix its class, and register it again"
    answers[0] = Least()
    made.register(COMBINER, "mine", mine)
    assert made.failures() == ()
    with refused("component-invalid", "member combine expected combine(p, held_out)"):
        made.register(COMBINER, "other", Half)  # type: ignore[arg-type]  # the mistake
    assert {e.name for e in made.entries(COMBINER)} == {"least", "mine"}
