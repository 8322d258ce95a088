"""``plausibly plugins`` and ``plausibly info`` on plugins in memory."""

from __future__ import annotations

import importlib.metadata as metadata
import platform
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import attrs
import pytest

import plausibly
from cli_world import Ran, run
from plausibly import registry
from plausibly.cli import info
from plausibly.conformal import FORMAT
from plausibly.errors import ComponentError
from plausibly.plugin import AGGREGATOR, COMBINER, SCORE, Registrar
from plausibly.protocols import Kind
from plausibly.registry import Registry
from plausibly.registry.entries import STRICT, VARIABLE
from registry_components import Frequency, HouseMin, Least, Plugins, Smoothed, offering


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
    for name in info.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    use(monkeypatch, plugins.registry(disabled="chatty"))
    return plugins


def use(monkeypatch: pytest.MonkeyPatch, made: Registry) -> None:
    monkeypatch.setattr(registry, "default", lambda: made)


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
disabled  chatty (chatty-plugin 0.2): PLAUSIBLY_DISABLE_PLUGINS names chatty
ready  empty (nothing-yet 0.2): it registers nothing
7 components of 7 plugins, 2 failed, 1 disabled:  plausibly plugins check
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
use         --aggregator thesis:pl

aggregator  tempered of thesis (thesis-pl 0.2)
state       ready
class       in_memory_more:Tempered
parameters  temperature  a number; required
              Above 1 flattens.
use         --aggregator '{name = "thesis:tempered", temperature = ...}'
"""


def test_the_list_shows_each_state(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain(run("plugins", "list")) == LIST
    assert "chatty" not in world.imported
    monkeypatch.setenv(STRICT, "1")
    assert plain(run("plugins", "list")) == LIST
    registry.default().register(AGGREGATOR, "mine", Tempered)
    assert "  mine       (registered here)\n" in plain(
        run("plugins", "list", "--kind", "aggregator")
    )
    assert "summary     Votes with a temperature.\n" in plain(run("plugins", "info", "mine"))


def test_components_that_need_an_extra(
    world: Plugins, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One line for all of a plugin that lack the same."""

    def kit(registrar: Registrar) -> None:
        for name in ("glad", "mace"):
            registrar.add(AGGREGATOR, name, f"no_such_module_xyz:{name}", extra="crowd")

    monkeypatch.setattr(
        "plausibly.registry.listing.missing", lambda _, extra: ("crowd-kit",) if extra else ()
    )
    odd = offering("odd", "no_such_module_xyz:Glad", AGGREGATOR, extra="crowd")
    world.add("odd", odd, distribution="odd-plugin")
    world.add("kit", kit)
    use(monkeypatch, world.registry())
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
    (tmp_path / "needy_xyz.py").write_text(
        "from plausibly.plugin import require\n"
        "require('not_there_xyz', extra='parquet', source='score needy')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry.default().register(SCORE, "needy", "needy_xyz:Needy")
    out = plain(run("plugins", "check", "needy"))
    assert out.startswith("EXTRA   registered here  score (this run):needy: score needy needs")
    assert 'hint  pip install "plausibly[parquet]"\n' in out


def test_plugins_that_are_off(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "votes, chatty")
    words = ["--disable-plugin", "thesis", "--disable-plugin", "house-rules"]
    out = run(*words, "plugins", "list").out
    for line in (
        "  frequency  share of votes (disabled)\n",
        "disabled  votes (plausibly 0.2): PLAUSIBLY_DISABLE_PLUGINS names votes\n",
        "disabled  thesis (thesis-pl 0.2): --disable-plugin names thesis\n",
        "disabled  house (house-rules 1.3): --disable-plugin names house-rules\n",
    ):
        assert line in out
    assert {str(source) for source in registry.default().disabled()} == {
        "votes (plausibly 0.2)",
        "chatty (chatty-plugin 0.2)",
    }
    for words in (["list"], ["info", "thesis"], ["check", "thesis"]):
        use(monkeypatch, world.registry(disabled="thesos"))
        ran = run("plugins", *words)
        assert ran.code == 0
        assert ran.err.startswith("warning plugin-unknown: PLAUSIBLY_DISABLE_PLUGINS names")


def test_the_check_of_all(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain(run("plugins", "check"), code=3) == CHECK
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

    def broken(registrar: Registrar) -> None:
        raise RuntimeError("no licence")

    world.add("scores", broken)
    use(monkeypatch, world.registry())
    out = plain(run("plugins", "check"), code=3)
    assert "plugin scores, at registration: RuntimeError: no licence" in " ".join(out.split())
    assert "hint  reinstall plausibly: its installation is incomplete\n" in out


@pytest.mark.parametrize(
    ("words", "name", "piece"),
    [
        ("check thesos", "plugin-unknown", 'did you mean "thesis"?'),
        ("list --kind scorer", "usage", "hint      plausibly plugins list --help\n"),
    ],
)
def test_names_that_do_not_exist(world: Plugins, words: str, name: str, piece: str) -> None:
    ran = run("plugins", *words.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error {name}: ")
    assert piece in ran.err


NOT_RESOLVED = f"the parameters of {__name__}.Nameless have types that do not exist at run time"


@pytest.mark.parametrize(
    ("kind", "target", "line"),
    [
        (SCORE, Nameless, f"score odd:odd, at making: {NOT_RESOLVED}"),
        (SCORE, Stubborn, 'score odd:odd, at making: score "odd": no such model'),
        (SCORE, "no_such_module_xyz:X", "score odd:odd, at loading: No module named 'no_such_m"),
        (AGGREGATOR, Halfway, "aggregator odd:odd, member aggregate: expected"),
    ],
)
def test_components_that_cannot_be_made(
    world: Plugins,
    kind: Kind[Any],  # Any: each kind has its own Protocol
    target: object,
    line: str,
) -> None:
    world.add("odd", offering("odd", target, kind), distribution="odd-plugin")
    ran = run("plugins", "check", "odd")
    assert (ran.code, ran.err) == (3, "")
    assert " ".join(ran.out.split()).startswith(f"FAILED odd-plugin 0.2 {line}")
    if target is Halfway:
        out = plain(run("plugins", "info", "odd"))
        assert "state   ready, but 1 component failed\n" in out
        assert "state       failed at check: expected aggregate(annotations, keys), found" in out
        assert "\nuse " not in out


def test_the_kit_checks_components_of_others_and_named_ones(
    world: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []

    def check(kind: Kind[object], component: object) -> str:
        checked.append(f"{kind.name} {type(component).__name__}")
        if isinstance(component, Smoothed):
            raise AssertionError("aggregator Smoothed: 1 of 2 rules hold, 1 fails\nrule  state")
        if isinstance(component, Least):
            raise ComponentError("odd", "what it gives is odd", found="NaN", hint="fix it")
        return "23 rules, 1 expected failure"

    kit = ModuleType("plausibly.testing")  # in its place: it has its own tests
    kit.__dict__["check"] = check
    monkeypatch.setitem(sys.modules, "plausibly.testing", kit)
    registry.default().register(AGGREGATOR, "mine", Frequency)
    ran = run("plugins", "check", "--rules")
    assert ran.code == 3
    assert sorted(checked) == ["aggregator Frequency", "aggregator Smoothed"]
    assert "aggregator Smoothed: 1 of 2 rules hold, 1 fails rule" in " ".join(ran.out.split())
    assert "\n          rule  state\n" in ran.out, "the kit's own lines stay"
    assert "ok      registered here   aggregator (this run):mine: 23 rules" in ran.out
    assert run("plugins", "check", "frequency", "--rules").out == (
        "ok      plausibly 0.2  aggregator votes:frequency: 23 rules, 1 expected failure\n"
        "1 plugin, none failed.\n"
    )
    ran = run("plugins", "check", "least", "--rules")
    assert ran.code == 3
    assert (
        "combiner calibration:least, at rules: what it gives is\n          odd, found NaN"
        in ran.out
    )


def test_the_info_of_plugins_and_components(world: Plugins) -> None:
    assert plain(run("plugins", "info", "thesis")) == INFO
    registry.default().register(SCORE, "gone", "no_such_module_xyz:Gone")
    out = plain(run("plugins", "info", "pairs", "chatty", "empty", "gone"))
    for lines in (
        "plugin  pairs (pairs-reader 0.1)\n"
        "state   failed at registration: No module named 'polars'\n"
        "offers  combiner half\n",
        "state   disabled: PLAUSIBLY_DISABLE_PLUGINS names chatty\n",
        "state   ready: it registers nothing\n",
        'unknown  score "gone" of this run cannot be loaded: expected a class or function\n',
    ):
        assert lines in out
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


def test_the_info_of_the_installation(world: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    out = run("info").out
    assert "plugins      5 ready, 2 failed, 0 disabled\n" in out
    assert "environment  nothing set\n" in out
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv(VARIABLE, "thesis,chatty")
    first, *rest = plain(run("info")).splitlines()
    document = run("info", "--json").document
    assert first == (
        f"plausibly {plausibly.__version__} · Python {platform.python_version()} · "
        f"{document['threads']} threads · predictor format {FORMAT}"
    )
    assert rest[0].startswith("core         attrs ")
    assert rest[-3:] == [
        "plugins      3 ready, 2 failed, 2 disabled",
        "environment  PLAUSIBLY_DISABLE_PLUGINS=thesis,chatty, OMP_NUM_THREADS=3",
        f"python       {sys.executable}",
    ]
    wanted = {
        "version": plausibly.__version__,
        "plugins": {"ready": 3, "failed": 2, "disabled": 2},
        "predictor_format": FORMAT,
        "interpreter": sys.executable,
        "environment": {VARIABLE: "thesis,chatty", "OMP_NUM_THREADS": "3"},
    }
    assert wanted.items() <= document.items()
    extras, core = document["extras"], document["core"]
    assert (extras["demo"], "all" in extras) == (True, False)
    assert core["numpy"] == metadata.version("numpy")
    assert {"xarray", "pluggy", "attrs"} <= set(core)
    listed = " ".join(rest).split("extras       ")[1].split("plugins")[0]
    yes, no = listed.split("; not installed: ")
    for words, installed in ((yes, True), (no, False)):
        assert words.split() == ([name for name in extras if extras[name] is installed] or ["none"])
    assert run("info", "--quiet").out == ""
    assert info.version("no-such-distribution-xyz") == "missing"
    assert info.requirements("no-such-distribution-xyz") == []
