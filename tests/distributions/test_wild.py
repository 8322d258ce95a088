"""One of every kind of broken plugin, all installed at once: nothing stops, nothing is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_world import World, make
from dist_world import Environment, Ran

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make(tmp_path)


ROWS = {
    "aggregator dowdall dowdall-one clash-one 1.1 ready",
    "aggregator dowdall dowdall-two clash-two 0.2 ready",
    "aggregator bradley-terry pairs pairs-reader 0.1 ready",
    "aggregator half-class half half-component 0.1 failed at check",
    "aggregator half-gone half half-component 0.1 failed at loading",
    "aggregator half-place half half-component 0.1 failed at check",
    "aggregator ranked-choice thesis thesis-pl 0.2 ready",
    "annotation pairwise pairs pairs-reader 0.1 ready",
    "combiner house-min house house-rules 1.3 failed at check",
    "reader pairwise pairs pairs-reader 0.1 ready",
    "- - scores impostor 6.0 failed at name",
    "- - broken broken-import 0.1 failed at import",
    "score half-score half-way half-registration 0.1 failed at registration",
    "combiner half-combiner half-way half-registration 0.1 failed at registration",
    "- - newer newer-api 2.0 failed at API",
    "- - typo typo-hook 0.1 failed at hook",
    "- - unmarked unmarked-hook 0.1 failed at hook",
    "- - wrong wrong-signature 0.1 failed at registration",
}
FAILED = {
    "broken (broken-import 0.1)": ("import", "No module named 'no_such_module_xyz'"),
    "half-way (half-registration 0.1)": ("registration", "KeyError: 'licence'"),
    "newer (newer-api 2.0)": ("API", "it requires API 99; this is plausibly VERSION, API 1"),
    "scores (impostor 6.0)": ("name", "scores is a name of plausibly's own"),
    "typo (typo-hook 0.1)": ("hook", "typo_hook has no function marked @hookimpl"),
    "unmarked (unmarked-hook 0.1)": ("hook", "unmarked_hook has no function marked @hookimpl"),
    "wrong (wrong-signature 0.1)": (
        "registration",
        "TypeError: register() got an unexpected keyword argument 'registrar'",
    ),
}
CHECK = """\
FAILED  broken-import 0.1      plugin broken, at import: No module named
          'no_such_module_xyz'
        do  install what provides no_such_module_xyz, or
            PLAUSIBLY_DISABLE_PLUGINS=broken
ok      clash-one 1.1          aggregator dowdall-one:dowdall
ok      clash-two 0.2          aggregator dowdall-two:dowdall
FAILED  half-component 0.1     aggregator half:half-class, member aggregate:
          expected aggregate(annotations, keys), got nothing of that name; it
          has "aggregat"
        do  mend it as the Protocol Aggregator of plausibly.plugin says
FAILED  half-component 0.1     aggregator half:half-gone, at loading:
          AttributeError: module 'half_component' has no attribute 'Gone'
        do  mend or reinstall half-component; others: plausibly plugins list
            --kind aggregator
FAILED  half-component 0.1     aggregator half:half-place, member aggregate:
          expected aggregate(annotations, keys), got nothing of that name; it
          has "aggregat"
        do  mend it as the Protocol Aggregator of plausibly.plugin says
FAILED  half-registration 0.1  plugin half-way, at registration: KeyError:
          'licence'
        do  mend half-registration, or PLAUSIBLY_DISABLE_PLUGINS=half-way
FAILED  house-rules 1.3        combiner house:house-min, member combine:
          expected combine(p, held_out), got combine(p_values, alpha)
        do  mend it as the Protocol PValueCombiner of plausibly.plugin says
FAILED  impostor 6.0           plugin scores, at name: scores is a name of
          plausibly's own
        do  pip uninstall impostor, or rename it in its entry points, or
            PLAUSIBLY_DISABLE_PLUGINS=impostor
"""


def rows(text: str) -> set[str]:
    """Return the lines of a table, blanks made one."""
    return {" ".join(line.split()) for line in text.splitlines()}


class TestTheListTellsTheTruth:
    def test_for_people(self, wild: Environment) -> None:
        ran = wild.plausibly("plugins", "list")
        assert (ran.code, ran.err) == (0, "")
        assert rows(ran.out) >= ROWS
        others = {row for row in rows(ran.out) if row.endswith((" ready", " failed"))}
        assert not [row for row in others - ROWS if " plausibly 0." not in row]
        assert ran.out.endswith(" components of 25 plugins, 9 failed:  plausibly plugins check\n")

    def test_for_programs(self, wild: Environment) -> None:
        document = wild.plausibly("plugins", "list", "--json").document
        version = wild.plausibly("info", "--json").document["version"]
        failed = {
            f"{p['plugin']} ({p['distribution']} {p['version']})": (p["stage"], p["reason"])
            for p in document["plugins"]
            if p["state"] == "failed"
        }
        assert failed == {
            name: (stage, reason.replace("VERSION", version))
            for name, (stage, reason) in FAILED.items()
        }

    def test_every_command_about_plugins_works(self, wild: Environment) -> None:
        for words in (["info"], ["plugins", "info", "half", "dowdall", "scores"], ["--help"]):
            ran = wild.plausibly(*words)
            assert (ran.code, ran.err) == (0, ""), words
        assert "plugins      16 ready, 9 failed, 0 disabled\n" in wild.plausibly("info").out

    def test_check(self, wild: Environment) -> None:
        ran = wild.plausibly("plugins", "check")
        assert (ran.code, ran.err) == (3, "")
        assert ran.out.startswith(CHECK)
        assert ran.out.endswith("\n9 of 25 plugins failed.\n")


class TestWorkGoesOn:
    def test_a_calibration_with_what_ships(self, wild: Environment, world: World) -> None:
        """The readers of all plugins are asked, so those that failed are told of: once."""
        words = ["calibrate", "-a", "votes.csv", "-p", "probabilities.csv", "-o", "p.nc"]
        ran = wild.plausibly(*words, folder=world.folder)
        assert ran.code == 0
        assert "saved        p.nc" in ran.out
        told = [line for line in ran.err.splitlines() if line.startswith("warning ")]
        assert len(told) == len(set(told)) == 11
        for name, (stage, _) in FAILED.items():
            assert f"warning plugin-failed: {name} stopped at {stage}" in told

    def test_nothing_is_told_where_nobody_needs_others(
        self, wild: Environment, world: World
    ) -> None:
        words = ["aggregate", "-a", "votes.csv", "--reader", "crowd-table", "-o", "lam.csv"]
        ran = wild.plausibly(*words, folder=world.folder)
        assert (ran.code, ran.err) == (0, "")

    def test_a_good_plugin_beside_the_broken(self, wild: Environment, world: World) -> None:
        table = world.write(
            "study.toml",
            'alphas = [0.2]\n[annotations]\npath = "votes.csv"\nreader = "crowd-table"\n'
            'aggregator = "ranked-choice"\n'
            '[predictions]\npath = "probabilities.csv"\n'
            '[[methods]]\ncalibrator = { name = "expected" }\n[splits]\ncount = 2\n',
        )
        assert wild.plausibly("run", table, folder=world.folder).code == 0


def asked(wild: Environment, kind: str, name: str, **variables: str) -> Ran:
    """Return what is said when a component is asked for."""
    code = f"""
import warnings
from plausibly import registry
from plausibly.plugin import {kind}
warnings.simplefilter("ignore")
try:
    print(registry.resolve({kind}, {name!r}))
except ValueError as error:
    print(error)
"""
    return wild.run("-c", code, variables=variables)


class TestAsking:
    @pytest.mark.parametrize("name", ["half-score", "half-way:half-score", "half-way:x"])
    def test_for_what_failed(self, wild: Environment, name: str) -> None:
        said = " ".join(asked(wild, "SCORE", name).out.split())
        assert said.startswith(
            f'error component-unknown: no score "{name}": half-way (half-registration 0.1) '
            "failed at registration expected "
        )
        assert said.endswith("plugins check half-way, or pip uninstall half-registration")

    def test_for_what_some_plugin_might_have(self, wild: Environment) -> None:
        said = " ".join(asked(wild, "SCORE", "zzz", PLAUSIBLY_DISABLE_PLUGINS="thesis").out.split())
        assert (
            "got it may be in a plugin that failed (scores, broken, half-way, … (7 in all)) or in "
            "a plugin that is disabled (thesis)"
        ) in said

    def test_for_a_name_that_two_offer(self, wild: Environment) -> None:
        assert asked(wild, "AGGREGATOR", "dowdall").out == (
            'error name-clash: 2 plugins offer the aggregator "dowdall"\n'
            "  expected  one; got clash-one 1.1 (dowdall-one) and clash-two 0.2 (dowdall-two)\n"
            "  do        say dowdall-one:dowdall or dowdall-two:dowdall; or disable one\n"
        )
        for name, power in (("dowdall-one:dowdall", 1.0), ("dowdall-two:dowdall", 2.0)):
            assert asked(wild, "AGGREGATOR", name).out == f"Dowdall(power={power})\n"
        alone = asked(wild, "AGGREGATOR", "dowdall", PLAUSIBLY_DISABLE_PLUGINS="clash-one")
        assert alone.out == "Dowdall(power=2.0)\n"

    def test_names_of_ours_stay_ours(self, wild: Environment) -> None:
        for name in ("probability", "scores:probability"):
            assert asked(wild, "SCORE", name).out == "Probability()\n"
        assert "impostor" in asked(wild, "SCORE", "impostor:probability").out


def test_strict(wild: Environment, world: World) -> None:
    words = ["aggregate", "-a", "votes.csv", "--reader", "crowd-table", "-o", "lam.csv"]
    strict = {"PLAUSIBLY_STRICT_PLUGINS": "1"}
    ran = wild.plausibly(*words, folder=world.folder, variables=strict)
    assert ran.code == 2
    assert ran.err.startswith("error plugin-failed: ")
    assert "plugins are strict" in " ".join(ran.err.split())
    assert not world.path("lam.csv").exists()
    off = {**strict, "PLAUSIBLY_DISABLE_PLUGINS": "*"}
    assert wild.plausibly(*words, folder=world.folder, variables=off).code == 0
    assert wild.plausibly("plugins", "list", variables=strict).code == 0
