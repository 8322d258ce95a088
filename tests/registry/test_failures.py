"""Plugins that fail, at which stage and why, or are off: and all others work."""

from __future__ import annotations

import itertools
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pluggy
import pytest

from plausibly import __version__, registry
from plausibly.errors import ComponentError
from plausibly.plugin import AGGREGATOR, COMBINER, Registrar, hookimpl
from plausibly.registry import Plugin, Registry, Source
from plausibly.registry.entries import STRICT, VARIABLE
from refusals import refused, warned
from registry_components import Frequency, Least, Plugins, Smoothed, offering

SOURCE = Source("thesis", "thesis-pl", "0.2")
HINT = "pip install --upgrade half-broken, or pip uninstall half-broken"


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


def run(monkeypatch: pytest.MonkeyPatch, attributes: dict[str, object]) -> Plugin:
    """Return the plugin whose module has these attributes, after its hook was called."""
    module = ModuleType("in_memory_thesis")
    module.__dict__.update(attributes)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    plugin = Plugin(SOURCE, module.__name__)
    plugin.run()
    return plugin


@pluggy.HookimplMarker("plausibly")
def plausibly_registr(registrar: Registrar) -> None:
    """Do nothing, under a name that is misspelt."""


def unreachable(name: str) -> object:
    raise OSError("network")


def twice(registrar: Registrar) -> None:
    for target in (Smoothed, Frequency):
        registrar.add(AGGREGATOR, "twice", target)


def raising(error: BaseException) -> object:
    def register(registrar: Registrar) -> None:
        good(registrar)
        raise error

    return hookimpl(register)


mark: Any = hookimpl  # Any: of functions that are no hooks
NO_HOOK = "in_memory_thesis has no function marked @hookimpl"


@pytest.mark.parametrize(
    ("attributes", "stage", "reason"),
    [
        ({"misspelt": plausibly_registr}, "hook", NO_HOOK),
        ({"register": good, "__getattr__": unreachable}, "API", "OSError: network"),
        ({"register": hookimpl(twice)}, "registration", "thesis (thesis-pl 0.2) cannot offer a"),
        *(
            ({"register": mark(function)}, "registration", "")
            for function in (lambda reg: None, lambda registrar, more: None)
        ),
        *(
            ({"register": raising(error)}, "registration", f"{type(error).__name__}")
            for error in (RuntimeError("no"), SystemExit(3), GeneratorExit())
        ),
        *(
            (
                {"register": good, "requires_api": v},
                "API",
                f"it requires API {v!r}; this is plausibly {__version__}, API 1",
            )
            for v in (2, 0, "1.0")
        ),
    ],
)
def test_a_hook_that_fails(
    monkeypatch: pytest.MonkeyPatch, attributes: dict[str, object], stage: str, reason: str
) -> None:
    plugin = run(monkeypatch, attributes)
    assert (plugin.entries, plugin.stage) == ((), stage)
    assert plugin.error is not None
    assert plugin.reason.startswith(reason)


def test_a_plugin_of_ours_that_fails_is_installed_again(plugins: Plugins) -> None:
    plugins.add("broken", broken)
    (failure,) = plugins.registry().failures()
    assert failure.hint == "pip install --force-reinstall plausibly"


def test_a_hook_may_have_any_name_and_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    def more(registrar: Registrar, extra: int = 1) -> None:
        good(registrar)

    for attributes in ({"tell_plausibly": good, "requires_api": 1}, {"register": hookimpl(more)}):
        plugin = run(monkeypatch, dict(attributes))
        assert (plugin.error, plugin.stage) == (None, "")
        (entry,) = plugin.entries
        assert (entry.kind, entry.name, entry.source) == ("aggregator", "pl", SOURCE)


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


@pytest.mark.parametrize("name", ["half", "broken:half", "qqq"])
def test_an_unknown_name_mentions_the_failure(plugins: Plugins, name: str) -> None:
    """Of which there is one warning."""
    plugins.add("broken", broken, distribution="half-broken")
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    failed = "broken (half-broken 0.2) failed at registration"
    reason = "RuntimeError: no licence"
    hint = f"hint plausibly plugins check broken, or {HINT}"
    made = plugins.registry()
    with warned("plugin-failed", failed, f"others work found {reason}", hint):
        for pl in ("pl", "thesis:pl", "pl"):
            assert made.create(AGGREGATOR, pl) == Smoothed()
        with refused("component-unknown", f"{failed}: {reason}", "plausibly plugins list"):
            made.create(AGGREGATOR, name)
    assert {e.name for e in made.entries(AGGREGATOR)} == {"frequency", "smoothed", "pl"}


@pytest.mark.parametrize(("value", "strict"), [("1", True), ("yes", True), ("0", False)])
def test_strict_plugins_raise(
    plugins: Plugins, monkeypatch: pytest.MonkeyPatch, value: str, strict: bool
) -> None:
    monkeypatch.setenv(STRICT, value)
    plugins.add("broken", broken, distribution="half-broken")
    made = plugins.registry()
    for _ in range(2 * strict):
        with refused("plugin-failed", "failed at registration", kind=ComponentError) as caught:
            made.create(AGGREGATOR, "frequency")
        assert isinstance(caught.value.__cause__, RuntimeError)
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
    results = []
    for order in itertools.permutations(plugins.others):
        plugins.others = list(order)
        made = plugins.registry()
        result: list[object] = [{e.qualified for e in made.entries()}]
        with warnings.catch_warnings(action="ignore"):
            for name in ("pl", "frequency", "half", "tools:pl", "nothing"):
                try:
                    result.append(made.create(AGGREGATOR, name))
                except ComponentError as error:
                    result.append((error.name, error.what, error.found, error.hint))
        results.append(result)
    assert len(results) == 6
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("name", ["votes", "Votes", "plausibly"])
def test_names_that_a_plugin_cannot_have(plugins: Plugins, name: str) -> None:
    plugins.add(name, offering("pl"), distribution="impostor")
    made = plugins.registry()
    (failure,) = made.failures()
    assert (failure.stage, failure.reason) == ("name", f"{name} is a name of plausibly's own")
    assert plugins.imported == ["votes", "calibration"], "it is not even imported"
    with warned("plugin-failed", "failed at name", "pip uninstall impostor"):
        assert made.create(AGGREGATOR, "votes:frequency") == Frequency()


INVALID, UNLOADABLE = "component-invalid", "component-unloadable"


@pytest.mark.parametrize(
    ("target", "module", "error", "reason"),
    [
        (Half, "", INVALID, "combine"),
        ("half_xyz:Frequency", "from registry_components import Frequency\n", INVALID, "combine"),
        ("half_xyz:Half", "import sys\nsys.exit(3)\n", UNLOADABLE, "SystemExit: 3"),
        ("no_such_module_xyz:A", "", UNLOADABLE, "No module named 'no_such_module_xyz'"),
        ("half_xyz:Nothing", "", UNLOADABLE, "AttributeError: module 'half_xyz' has no"),
        ("half_xyz:sys", "import sys\n", UNLOADABLE, "TypeError: half_xyz:sys is no class"),
    ],
)
def test_a_component_that_fails(
    plugins: Plugins,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    target: Any,  # Any: a class or a place
    module: str,
    error: str,
    reason: str,
) -> None:
    """Other components of its plugin work."""

    def hook(registrar: Registrar) -> None:
        registrar.add(COMBINER, "half", target)
        registrar.add(COMBINER, "whole", Least)

    (tmp_path / "half_xyz.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "half_xyz", raising=False)
    plugins.add("thesis", hook, distribution="thesis-pl")
    made = plugins.registry()
    with warnings.catch_warnings(action="error"):
        with refused(error, 'combiner "half" of thesis (thesis-pl 0.2)', reason) as caught:
            made.create(COMBINER, "half")
        assert error == INVALID or caught.value.hint == "fix or reinstall thesis-pl"
        assert made.create(COMBINER, "whole") == Least()
    assert made.failures() == ()


def test_a_component_of_this_run_can_be_fixed(plugins: Plugins) -> None:
    made = plugins.registry()
    answers: list[Least] = [Half()]  # type: ignore[list-item]  # the mistake

    def mine() -> Least:
        return answers[0]

    made.register(COMBINER, "mine", mine)
    with refused("component-invalid", 'combiner "mine" of this run'):
        made.create(COMBINER, "mine")
    answers[0] = Least()
    assert made.create(COMBINER, "mine") == Least()
    with refused("component-invalid", "member combine expected combine(p, held_out)") as caught:
        made.register(COMBINER, "other", Half)  # type: ignore[arg-type]  # the mistake
    problem = {"member": "combine", "expected": "combine(p, held_out)", "found": "no combine"}
    assert caught.value.details == {"problems": [problem]}
    assert {e.name for e in made.entries(COMBINER)} == {"least", "mine"}


# ---- plugins that are off, by a block or by the environment, with one meaning


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
