"""``plausibly plugins list``, ``info`` and ``check`` on plugins in memory, as people see them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import attrs
import pytest

from cli_world import Ran, run
from plausibly import registry
from plausibly.plugin import AGGREGATOR, COMBINER, SCORE, Registrar
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
kind        name       plugin       distribution       state
aggregator  frequency  votes        plausibly 0.2      ready
aggregator  smoothed   votes        plausibly 0.2      ready
aggregator  pl         thesis       thesis-pl 0.2      ready
aggregator  tempered   thesis       thesis-pl 0.2      ready
calibrator  by         calibration  plausibly 0.2      ready
calibrator  drawn      calibration  plausibly 0.2      ready
combiner    least      calibration  plausibly 0.2      ready
combiner    house-min  house        house-rules 1.3    failed at check
combiner    half       pairs        pairs-reader 0.1   failed at registration
-           -          chatty       chatty-plugin 0.2  disabled
-           -          empty        nothing-yet 0.2    ready
failed at check  combiner house:house-min: expected combine(p, held_out), found
  combine(p_values, alpha)
failed at registration  pairs (pairs-reader 0.1): No module named 'polars'
disabled  chatty (chatty-plugin 0.2): Registry(disabled=...) names chatty
ready  empty (nothing-yet 0.2): it registers nothing
7 components of 7 plugins, 2 failed, 1 disabled:  plausibly plugins check house pairs
"""
INSTALLED = """\
plugin       module                          distribution       state
votes        in_memory_votes_                plausibly 0.2      installed
calibration  in_memory_calibration_          plausibly 0.2      installed
thesis       in_memory_thesis_thesis_pl      thesis-pl 0.2      installed
house        in_memory_house_house_rules     house-rules 1.3    installed
pairs        in_memory_pairs_pairs_reader    pairs-reader 0.1   installed
empty        in_memory_empty_nothing_yet     nothing-yet 0.2    installed
chatty       in_memory_chatty_chatty_plugin  chatty-plugin 0.2  disabled
disabled  chatty (chatty-plugin 0.2): Registry(disabled=...) names chatty
7 plugins of 6 distributions, none imported:  plausibly plugins list
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


class TestList:
    def test_everything_with_its_state(self, world: Plugins) -> None:
        assert plain(run("plugins", "list")) == LIST
        assert "chatty" not in world.imported

    def test_metadata_alone(self, world: Plugins) -> None:
        assert plain(run("plugins", "list", "--installed")) == INSTALLED
        assert world.imported == []

    def test_what_needs_an_extra(self, world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
        def glad(registrar: Registrar) -> None:
            registrar.add(AGGREGATOR, "glad", "no_such_module_xyz:Glad", extra="crowd")

        def lacking(distribution: str, extra: str) -> tuple[str, ...]:
            return ("crowd-kit",) if extra == "crowd" else ()

        for module in ("listing",):
            monkeypatch.setattr(f"plausibly.registry.{module}.missing", lacking)
        world.add("glad", glad, distribution="glad-plugin")
        out = plain(run("plugins", "list", "--kind", "aggregator"))
        assert 'aggregator  glad       glad    glad-plugin 0.2    needs extra "crowd"\n' in out
        assert 'needs extra "crowd"  aggregator glad:glad: crowd-kit not installed\n' in out
        assert plain(run("plugins", "check", "glad")) == (
            'EXTRA   glad-plugin 0.2  aggregator glad:glad: needs the extra "crowd":\n'
            "          crowd-kit\n"
            '        hint  pip install "glad-plugin[crowd]"\n'
            "1 plugin, none failed.\n"
        )

    def test_registered_in_this_run(self, world: Plugins) -> None:
        registry.default().register(AGGREGATOR, "mine", Tempered)
        out = plain(run("plugins", "list", "--kind", "aggregator"))
        assert "aggregator  mine       (this run)  registered here    ready\n" in out
        assert "summary     Votes with a temperature.\n" in plain(run("plugins", "info", "mine"))

    def test_names_that_turn_nothing_off(
        self, world: Plugins, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(VARIABLE, "thesos")
        for words in (["list"], ["list", "--installed"], ["info", "thesis"], ["check", "thesis"]):
            made = world.registry()
            monkeypatch.setattr(registry, "default", lambda made=made: made)
            ran = run("plugins", *words)
            assert ran.code == 0
            assert ran.err.startswith("warning plugin-unknown: PLAUSIBLY_DISABLE_PLUGINS names")

    def test_ours_where_they_are_off(self, world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(VARIABLE, "votes")
        out = plain(run("plugins", "list", "--kind", "aggregator"))
        assert "aggregator  frequency  votes   plausibly 0.2      disabled\n" in out
        assert "disabled  votes (plausibly 0.2): PLAUSIBLY_DISABLE_PLUGINS names votes\n" in out
        assert "none failed, 2 disabled" in out

    def test_strict_plugins_are_listed_as_well(
        self, world: Plugins, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(STRICT, "1")
        assert plain(run("plugins", "list")) == LIST


class TestCheck:
    def test_all(self, world: Plugins) -> None:
        assert plain(run("plugins", "check"), code=3) == CHECK

    def test_for_programs(self, world: Plugins) -> None:
        ran = run("plugins", "check", "house:house-min", "--json")
        assert ran.code == 3
        source = {"plugin": "house", "distribution": "house-rules", "version": "1.3"}
        component = {"kind": "combiner", "component": "house-min"}
        assert ran.document == {
            "command": "plugins check",
            "checked": [
                {
                    **source,
                    **component,
                    "state": "failed",
                    "stage": "check",
                    "reason": "",
                    "problems": [
                        {
                            **source,
                            **component,
                            "member": "combine",
                            "expected": "combine(p, held_out)",
                            "found": "combine(p_values, alpha)",
                        }
                    ],
                    "hint": "fix it as the Protocol PValueCombiner of plausibly.plugin says",
                }
            ],
            "failed": 1,
            "warnings": [],
        }

    def test_a_name_that_is_none(self, world: Plugins) -> None:
        ran = run("plugins", "check", "thesos")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == (
            'error plugin-unknown: nothing here is called "thesos"\n'
            '  expected  a plugin, a distribution or a component; did you mean "thesis"?\n'
            "  hint      plausibly plugins list\n"
        )

    @pytest.mark.parametrize(
        ("score", "line"),
        [
            (
                Nameless,
                "score odd:odd, at making: the parameters of tests.registry.test_commands.Nameless"
                " have types that do not exist at run time: expected annotations that can be"
                " resolved, to check a table against, found name 'OnlyThere' is not defined",
            ),
            (Stubborn, 'score odd:odd, at making: score "odd": no such model'),
            ("no_such_module_xyz:X", "score odd:odd, at loading: No module named 'no_such_modu"),
        ],
    )
    def test_what_cannot_be_made(
        self, world: Plugins, score: type[Nameless] | str, line: str
    ) -> None:
        def odd(registrar: Registrar) -> None:
            registrar.add(SCORE, "odd", score)  # type: ignore[arg-type]  # the mistake

        world.add("odd", odd, distribution="odd-plugin")
        ran = run("plugins", "check", "odd")
        assert ran.code == 3
        assert " ".join(ran.out.split()).startswith(f"FAILED odd-plugin 0.2 {line}")

    def test_a_class_that_cannot_be_made_without_more(self, world: Plugins) -> None:
        def odd(registrar: Registrar) -> None:
            registrar.add(AGGREGATOR, "odd", Halfway)  # type: ignore[arg-type]  # the mistake

        world.add("odd", odd, distribution="odd-plugin")
        ran = run("plugins", "check", "odd")
        assert (ran.code, ran.err) == (3, "")
        assert "aggregator odd:odd, member aggregate: expected" in " ".join(ran.out.split())
        out = plain(run("plugins", "info", "odd"))
        assert "state   ready, but 1 component failed\n" in out
        assert "state       failed at check: expected aggregate(annotations, keys), found" in out
        assert "\nuse " not in out

    def test_an_extra_that_only_loading_shows(
        self, world: Plugins, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "needy_xyz.py").write_text(
            "from plausibly.plugin import require\n"
            "require('not_there_xyz', extra='parquet', source='score needy')\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        registry.default().register(SCORE, "needy", "needy_xyz:Needy")
        assert plain(run("plugins", "check", "needy")) == (
            "EXTRA   registered here  score (this run):needy: score needy needs\n"
            "          not_there_xyz, which is not installed\n"
            '        hint  pip install "plausibly[parquet]"\n'
            "1 plugin, none failed.\n"
        )

    def test_our_own_may_fail_as_well(
        self, plugins: Plugins, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(registrar: Registrar) -> None:
            raise RuntimeError("no licence")

        plugins.add("scores", broken)
        made = plugins.registry()
        monkeypatch.setattr(registry, "default", lambda: made)
        assert plain(run("plugins", "check"), code=3) == (
            "FAILED  plausibly 0.2  plugin scores, at registration: RuntimeError: no licence\n"
            "        hint  reinstall plausibly: its installation is incomplete\n"
            "ok      5 components of 2 plugins of plausibly\n"
            "1 of 3 plugins failed.\n"
        )


class TestInfo:
    def test_a_plugin_and_its_components(self, world: Plugins) -> None:
        assert plain(run("plugins", "info", "thesis")) == INFO

    def test_one_that_failed_and_one_that_is_off(self, world: Plugins) -> None:
        assert plain(run("plugins", "info", "pairs", "chatty", "empty")) == (
            "plugin  pairs (pairs-reader 0.1)\n"
            "state   failed at registration: No module named 'polars'\n"
            "offers  combiner half\n"
            "\n"
            "plugin  chatty (chatty-plugin 0.2)\n"
            "state   disabled: Registry(disabled=...) names chatty\n"
            "\n"
            "plugin  empty (nothing-yet 0.2)\n"
            "state   ready: it registers nothing\n"
        )

    def test_a_component_that_cannot_be_loaded(self, world: Plugins) -> None:
        registry.default().register(SCORE, "gone", "no_such_module_xyz:Gone")
        assert plain(run("plugins", "info", "gone")) == (
            "score    gone of this run\n"
            "state    ready\n"
            "class    no_such_module_xyz:Gone\n"
            'unknown  score "gone" of this run cannot be loaded: expected a class or function\n'
            "         at no_such_module_xyz:Gone, found No module named 'no_such_module_xyz'\n"
            "use      --score '(this run):gone'\n"
        )

    def test_for_programs(self, world: Plugins) -> None:
        document = run("plugins", "info", "tempered", "--json").document
        assert document["plugins"] == []
        assert document["components"] == [
            {
                "kind": "aggregator",
                "name": "tempered",
                "plugin": "thesis",
                "distribution": "thesis-pl",
                "version": "0.2",
                "summary": "",
                "state": "ready",
                "stage": "",
                "reason": "",
                "target": "in_memory_more:Tempered",
                "parameters": [
                    {
                        "name": "temperature",
                        "type": "a number",
                        "required": True,
                        "default": "",
                        "help": "Above 1 flattens.",
                    }
                ],
                "unknown": "",
            }
        ]
        (plugin,) = run("plugins", "info", "pairs", "--json").document["plugins"]
        assert (plugin["state"], plugin["stage"]) == ("failed", "registration")
        assert plugin["offers"] == [{"kind": "combiner", "name": "half"}]
