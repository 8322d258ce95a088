"""``plausibly plugins list``, ``info`` and ``check`` on plugins in memory."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import attrs
import pytest

from cli_world import Ran, run
from plausibly import registry
from plausibly.plugin import AGGREGATOR, COMBINER, SCORE, Registrar
from plausibly.protocols import Kind
from plausibly.registry.entries import STRICT, VARIABLE
from registry_components import Frequency, Least, Plugins, Smoothed, offering


class HouseMin(Least):
    """A combiner with the signature of another library."""

    def combine(self, p_values: object, alpha: object) -> object:  # type: ignore[override]  # the mistake
        return None


@attrs.frozen(kw_only=True)
class Tempered(Frequency):
    """Votes with a temperature.

    Attributes
    ----------
    temperature : float
        Above 1 flattens.
    """

    temperature: float


class Nameless:
    """A score whose types exist for checkers only."""

    randomised: ClassVar[bool] = False
    reads: ClassVar[str] = "probability"

    def __init__(self, power: OnlyThere = 1) -> None:  # type: ignore[name-defined]  # noqa: F821  # the mistake
        self.power = power

    def score(self, probabilities: object, uniform: object) -> object:
        return probabilities


@attrs.frozen(kw_only=True)
class Halfway:
    """An aggregator that needs a parameter, and cannot aggregate."""

    accepts: ClassVar[frozenset[str]] = frozenset()
    power: float


class Stubborn(Nameless):
    """A score that cannot be made."""

    def __init__(self) -> None:
        raise OSError("no such model")


@pytest.fixture
def world(plugins: Plugins, monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """Our two plugins, one of others that works, and some that do not."""

    def thesis(registrar: Registrar) -> None:
        registrar.add(AGGREGATOR, "pl", Smoothed, summary="from ranks")
        registrar.add(AGGREGATOR, "tempered", "in_memory_more:Tempered")

    def house(registrar: Registrar) -> None:
        registrar.add(COMBINER, "house-min", "in_memory_more:HouseMin")

    def half(registrar: Registrar) -> None:
        registrar.add(COMBINER, "half", Least)
        raise ModuleNotFoundError("No module named 'polars'", name="polars")

    more = ModuleType("in_memory_more")
    more.__dict__.update(HouseMin=HouseMin, Tempered=Tempered)
    monkeypatch.setitem(sys.modules, "in_memory_more", more)
    plugins.add("thesis", thesis, distribution="thesis-pl")
    plugins.add("house", house, distribution="house-rules", version="1.3")
    plugins.add("pairs", half, distribution="pairs-reader", version="0.1")
    plugins.add("empty", lambda registrar: None, distribution="nothing-yet")
    plugins.add("chatty", offering("chat"), distribution="chatty-plugin")
    made = plugins.registry(disabled=["chatty"])
    monkeypatch.setattr(registry, "default", lambda: made)
    return plugins


def plain(ran: Ran, code: int = 0) -> str:
    """Return what was printed on stdout, where nothing else was."""
    assert (ran.code, ran.err) == (code, "")
    return ran.out


LIST = """\
aggregator
  frequency  share of votes
  smoothed   no summary
  pl         from ranks (thesis-pl 0.2)
  tempered   (thesis-pl 0.2)

calibrator
  by     no summary
  drawn  no summary

combiner
  least      no summary
  house-min  (house-rules 1.3, failed at check)
  half       (pairs-reader 0.1, failed at registration)

plugins without a component
  chatty  (chatty-plugin 0.2, disabled)
  empty   (nothing-yet 0.2)

failed at check  combiner house:house-min: expected combine(p, held_out), found
  combine(p_values, alpha)
failed at registration  pairs (pairs-reader 0.1): No module named 'polars'
disabled  chatty (chatty-plugin 0.2): Registry(disabled=...) names chatty
ready  empty (nothing-yet 0.2): it registers nothing
7 components of 7 plugins, 2 failed, 1 disabled:  plausibly plugins check house pairs
"""
CHECK = """\
FAILED  house-rules 1.3   combiner house:house-min, member combine: expected
          combine(p, held_out), found combine(p_values, alpha)
        hint  fix it as the Protocol PValueCombiner of plausibly.plugin says
ok      nothing-yet 0.2   plugin empty: it registers nothing
FAILED  pairs-reader 0.1  plugin pairs, at registration: No module named
          'polars'
        hint  install what provides polars, or PLAUSIBLY_DISABLE_PLUGINS=pairs
ok      thesis-pl 0.2     aggregator thesis:pl
ok      thesis-pl 0.2     aggregator thesis:tempered: not made: temperature has
          no default
ok      5 components of 2 plugins of plausibly
2 of 6 plugins failed.
"""
INFO = """\
plugin  thesis (thesis-pl 0.2)
state   ready
offers  aggregator pl, aggregator tempered

aggregator  pl of thesis (thesis-pl 0.2)
summary     from ranks
state       ready
class       registry_components:Smoothed
parameters  prior  a number; default 1.0
            rounds  an integer; default 10
            ties  "first" or "random"; default "first"
            names  a list, each text; default []
use         --aggregator '{name = "thesis:pl", prior = 1.0, rounds = 10}'

aggregator  tempered of thesis (thesis-pl 0.2)
state       ready
class       in_memory_more:Tempered
parameters  temperature  a number; required
              Above 1 flattens.
use         --aggregator '{name = "thesis:tempered", temperature = ...}'
"""


def add_odd(
    world: Plugins,
    kind: Kind[Any],  # Any: each kind has its own Protocol
    target: Any,  # Any: a mistake, of any type
    extra: str = "",
) -> None:
    """Add a plugin with one component that has a mistake."""

    def odd(registrar: Registrar) -> None:
        registrar.add(kind, "odd", target, extra=extra)

    world.add("odd", odd, distribution="odd-plugin")


def test_the_list_shows_each_state(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain(run("plugins", "list")) == LIST
    assert "chatty" not in world.imported
    monkeypatch.setenv(STRICT, "1")
    assert plain(run("plugins", "list")) == LIST


def test_components_of_this_run_are_listed(world: Plugins) -> None:
    registry.default().register(AGGREGATOR, "mine", Tempered)
    out = plain(run("plugins", "list", "--kind", "aggregator"))
    assert "  mine       (registered here)\n" in out
    assert "summary     Votes with a temperature.\n" in plain(run("plugins", "info", "mine"))


def test_components_that_need_an_extra(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line for all of a plugin that lack the same."""

    def kit(registrar: Registrar) -> None:
        for name in ("glad", "mace"):
            registrar.add(AGGREGATOR, name, f"no_such_module_xyz:{name}", extra="crowd")

    monkeypatch.setattr(
        "plausibly.registry.listing.missing", lambda _, extra: ("crowd-kit",) if extra else ()
    )
    add_odd(world, AGGREGATOR, "no_such_module_xyz:Glad", extra="crowd")
    world.add("kit", kit)
    made = world.registry()
    monkeypatch.setattr(registry, "default", lambda: made)
    out = run("plugins", "list", "--kind", "aggregator").out
    assert '  odd        (odd-plugin 0.2, needs extra "crowd")\n' in out
    assert 'needs extra "crowd"  aggregator odd:odd: crowd-kit not installed\n' in out
    assert 'needs extra "crowd"  2 components of kit: crowd-kit not installed\n' in out
    assert out.count("not installed") == 2
    out = plain(run("plugins", "check", "odd"))
    assert out.startswith('EXTRA   odd-plugin 0.2  aggregator odd:odd: needs the extra "crowd":')
    assert out.endswith('hint  pip install "odd-plugin[crowd]"\n1 plugin, none failed.\n')
    out = run("plugins", "check").out
    assert 'EXTRA   2 components of kit:  pip install "plausibly[crowd]"\n' in out


def test_an_extra_that_only_loading_shows(
    world: Plugins, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "needy_xyz.py").write_text(
        "from plausibly.plugin import require\n"
        "require('not_there_xyz', extra='parquet', source='score needy')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry.default().register(SCORE, "needy", "needy_xyz:Needy")
    out = plain(run("plugins", "check", "needy"))
    assert out.startswith("EXTRA   registered here  score (this run):needy: score needy needs")
    assert 'hint  pip install "plausibly[parquet]"\n' in out


def test_names_that_turn_nothing_off(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "thesos")
    for words in (["list"], ["info", "thesis"], ["check", "thesis"]):
        made = world.registry()
        monkeypatch.setattr(registry, "default", lambda made=made: made)
        ran = run("plugins", *words)
        assert ran.code == 0
        assert ran.err.startswith("warning plugin-unknown: PLAUSIBLY_DISABLE_PLUGINS names")


def test_plugins_that_are_off(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "votes")
    words = ["--disable-plugin", "thesis", "--disable-plugin", "house-rules"]
    out = run(*words, "plugins", "list").out
    assert "  frequency  share of votes (disabled)\n" in out
    assert "disabled  votes (plausibly 0.2): PLAUSIBLY_DISABLE_PLUGINS names votes\n" in out
    assert "disabled  thesis (thesis-pl 0.2): --disable-plugin names thesis\n" in out
    assert "disabled  house (house-rules 1.3): --disable-plugin names house-rules\n" in out
    assert {str(source) for source in registry.default().disabled()} == {
        "votes (plausibly 0.2)",
        "chatty (chatty-plugin 0.2)",
    }


def test_the_check_of_all(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain(run("plugins", "check"), code=3) == CHECK

    def broken(registrar: Registrar) -> None:
        raise RuntimeError("no licence")

    world.add("scores", broken)
    made = world.registry()
    monkeypatch.setattr(registry, "default", lambda: made)
    out = plain(run("plugins", "check"), code=3)
    assert "plugin scores, at registration: RuntimeError: no licence" in " ".join(out.split())
    assert "hint  reinstall plausibly: its installation is incomplete\n" in out


def test_the_check_for_programs(world: Plugins) -> None:
    ran = run("plugins", "check", "house:house-min", "--json")
    assert ran.code == 3
    document = ran.document
    (checked,) = document.pop("checked")
    assert document == {"command": "plugins check", "failed": 1, "warnings": []}
    source = {"plugin": "house", "distribution": "house-rules", "version": "1.3"}
    component = {**source, "kind": "combiner", "component": "house-min"}
    problem = {
        "member": "combine",
        "expected": "combine(p, held_out)",
        "found": "combine(p_values, alpha)",
    }
    hint = "fix it as the Protocol PValueCombiner of plausibly.plugin says"
    state = {"state": "failed", "stage": "check", "reason": ""}
    problems = [component | problem]
    assert checked == {**component, **state, "problems": problems, "hint": hint}


@pytest.mark.parametrize(
    ("words", "name", "piece"),
    [
        (["check", "thesos"], "plugin-unknown", 'did you mean "thesis"?'),
        (["list", "--kind", "scorer"], "kind-unknown", "hint      --kind score\n"),
    ],
)
def test_what_does_not_exist(world: Plugins, words: list[str], name: str, piece: str) -> None:
    ran = run("plugins", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error {name}: ")
    assert piece in ran.err


@pytest.mark.parametrize(
    ("kind", "target", "line"),
    [
        (
            SCORE,
            Nameless,
            "score odd:odd, at making: the parameters of tests.registry.test_commands.Nameless"
            " have types that do not exist at run time",
        ),
        (SCORE, Stubborn, 'score odd:odd, at making: score "odd": no such model'),
        (SCORE, "no_such_module_xyz:X", "score odd:odd, at loading: No module named 'no_such_m"),
        (AGGREGATOR, Halfway, "aggregator odd:odd, member aggregate: expected"),
    ],
)
def test_components_that_cannot_be_made(
    world: Plugins,
    kind: Kind[Any],  # Any: as above
    target: object,
    line: str,
) -> None:
    add_odd(world, kind, target)
    ran = run("plugins", "check", "odd")
    assert (ran.code, ran.err) == (3, "")
    assert " ".join(ran.out.split()).startswith(f"FAILED odd-plugin 0.2 {line}")
    if target is Halfway:
        out = plain(run("plugins", "info", "odd"))
        assert "state   ready, but 1 component failed\n" in out
        assert "state       failed at check: expected aggregate(annotations, keys), found" in out
        assert "\nuse " not in out


def test_the_info_of_plugins_and_components(world: Plugins) -> None:
    assert plain(run("plugins", "info", "thesis")) == INFO
    registry.default().register(SCORE, "gone", "no_such_module_xyz:Gone")
    out = plain(run("plugins", "info", "pairs", "chatty", "empty", "gone"))
    for lines in (
        "plugin  pairs (pairs-reader 0.1)\n"
        "state   failed at registration: No module named 'polars'\n"
        "offers  combiner half\n",
        "state   disabled: Registry(disabled=...) names chatty\n",
        "state   ready: it registers nothing\n",
        'unknown  score "gone" of this run cannot be loaded: expected a class or function\n',
    ):
        assert lines in out


def test_the_info_for_programs(world: Plugins) -> None:
    document = run("plugins", "info", "tempered", "--json").document
    assert document["plugins"] == []
    (component,) = document["components"]
    words = {"type": "a number", "default": "", "help": "Above 1 flattens."}
    assert component["parameters"] == [{"name": "temperature", "required": True, **words}]
    wanted = {"name": "tempered", "state": "ready", "target": "in_memory_more:Tempered"}
    assert wanted.items() <= component.items()
    (plugin,) = run("plugins", "info", "pairs", "--json").document["plugins"]
    assert (plugin["state"], plugin["stage"]) == ("failed", "registration")
    assert plugin["offers"] == [{"kind": "combiner", "name": "half"}]
