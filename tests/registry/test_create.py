"""From a name, a table or an object to a component, and back to the table that a file keeps."""

from __future__ import annotations

import inspect
import pickle
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from call_files import each_call
from plausibly import registry
from plausibly.errors import ComponentError, MissingExtra
from plausibly.plugin import AGGREGATOR, CALIBRATOR, COMBINER, READER, SCORE, resolve
from plausibly.protocols import KIND_BY_NAME, Kind
from plausibly.registry import Registry
from plausibly.registry.listing import about
from plausibly.registry.mistakes import ParameterError
from plausibly_builtins.combiners.average import Average
from plausibly_builtins.combiners.pac import Pac
from refusals import refused
from registry_components import By, Drawn, Frequency, Plugins, Smoothed, offering


@attrs.frozen(kw_only=True)
class Other(Drawn):
    """A calibrator that no plugin offers."""


class OfAnExtra(Frequency):
    """An aggregator of a family that needs an extra."""


def test_name_table_and_object_give_one_component(plugins: Plugins) -> None:
    made = plugins.registry()
    table = {"name": "drawn", "draws": 3}
    by_name = made.create(CALIBRATOR, "drawn", {"draws": 3})
    by_table = made.create(CALIBRATOR, table)
    both = made.create(CALIBRATOR, {"name": "drawn"}, {"draws": 3})
    assert by_name == by_table == both == Drawn(draws=3)
    assert made.create(CALIBRATOR, by_name) is by_name
    assert table == {"name": "drawn", "draws": 3}
    nested = {
        "name": "by",
        "by": "site",
        "inner": {"name": "by", "by": "ward", "inner": "drawn"},
        "many": ["drawn", {"name": "drawn", "draws": 3}, Drawn(draws=4)],
    }
    assert made.create(CALIBRATOR, nested) == By(
        by="site",
        inner=By(by="ward", inner=Drawn()),
        many=(Drawn(), Drawn(draws=3), Drawn(draws=4)),
    )


def test_choices_of_an_object_are_checked_as_those_of_a_table() -> None:
    yes: dict[str, Any] = {"smoothed": "yes"}  # Any: no value that the types allow
    found = 'found the text "yes"'
    with refused("component-parameter", "Average, smoothed: expected true or false", found):
        resolve(COMBINER, Average(**yes))
    other: dict[str, Any] = {"bound": "yes"}  # Any: as above
    with refused("component-parameter", 'Pac, bound: expected "betting" or "binomial"', found):
        resolve(COMBINER, Pac(**other))
    flags: dict[str, Any] = {"smoothed": np.True_}  # Any: as above
    fine = Average(**flags)
    assert resolve(COMBINER, fine) is fine


THREE = {"name": "drawn", "draws": 3}
SITE = {"name": "by", "by": "site", "draws": 3}


@pytest.fixture
def known(plugins: Plugins) -> Registry:
    plugins.add("thesis", offering("plackett-luce"), distribution="thesis-pl")
    plugins.add("more", offering("gone", "no_such_module_xyz:Name"))
    plugins.add("crowd-kit", offering("glad", OfAnExtra, AGGREGATOR, extra="crowd"))
    return plugins.registry()


def test_every_mistake_at_every_depth(plugins: Plugins) -> None:
    table = {
        "name": "by",
        "by": 7,
        "colour": 1,
        "inner": {"name": "drawn", "draws": "7", "drwas": 3},
        "many": [{"name": "drawn", "draws": 0}, "drwan", {"name": "by"}, 3],
    }
    with refused("component-parameter", "8 mistakes in its parameters") as caught:
        plugins.registry().create(CALIBRATOR, table)
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, ParameterError)
    assert str(error) == str(caught.value)
    assert [str(mistake) for mistake in error.mistakes] == [
        "colour: no such parameter; it has by, inner, many",
        "by: expected text, found 7",
        'inner.drwas: no such parameter; did you mean "draws"?',
        'inner.draws: expected an integer, found the text "7"',
        "many[0].draws: must be >= 1, found 0",
        'many[1]: no calibrator "drwan"; did you mean "drawn"?',
        "many[2].by: is required: text",
        "many[3]: this is no calibrator: 3; expected a name, a table with a name, or an object",
    ]
    assert "inner.draws = 7" in error.hint
    assert "write inner.draws = 3" in error.hint


def test_built_ins_keep_their_bare_names(plugins: Plugins) -> None:
    plugins.add("thesis", offering(), distribution="thesis-pl")
    plugins.add("adapted", offering("frequency", Smoothed, AGGREGATOR, extra="crowd"))
    plugins.own.reverse()  # it comes first
    made = plugins.registry()
    assert type(made.create(AGGREGATOR, "frequency")) is Frequency
    assert made.create(AGGREGATOR, "thesis:frequency") == Smoothed()
    assert type(made.create(AGGREGATOR, "adapted:frequency")) is Smoothed
    assert made.describe(AGGREGATOR, Frequency()) == {"name": "frequency"}


@pytest.mark.parametrize(
    ("plugin", "clash"),
    [
        ("thesis", "pl-tools 1.1 (tools) and thesis-pl 0.2 (thesis)"),
        ("tools", "pl-tools 1.1 (tools) and thesis-pl 0.2 (tools)"),
    ],
)
def test_plugins_of_others_clash(plugins: Plugins, plugin: str, clash: str) -> None:
    """Two distributions may call their plugins alike; the distribution's name tells them apart."""
    plugins.add("tools", offering("pl"), distribution="pl-tools", version="1.1")
    plugins.add(plugin, offering("pl", Frequency), distribution="thesis-pl")
    plugins.add(plugin, offering("borda"), distribution="voting")
    made = plugins.registry()
    assert made.failures() == ()
    for name in {"pl", "tools:pl"} if plugin == "tools" else {"pl"}:
        with refused("name-clash", f"found {clash} hint pl-tools:pl or thesis-pl:pl; or disable"):
            made.create(AGGREGATOR, name)
    assert made.create(AGGREGATOR, f"{plugin}:borda") == Smoothed()
    assert made.create(AGGREGATOR, "pl-tools:pl") == Smoothed()
    assert made.create(AGGREGATOR, "thesis_pl:pl") == Frequency()
    with made.disabling("pl-tools"):
        assert made.create(AGGREGATOR, "pl") == Frequency()
    made = plugins.registry()
    made.register(AGGREGATOR, "borda", Frequency)
    with refused("name-clash", f"registered here (this run) and voting 0.2 ({plugin})"):
        made.create(AGGREGATOR, "borda")


def test_nothing_is_loaded_before_it_is_needed(plugins: Plugins) -> None:
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    made = plugins.registry()
    assert plugins.imported == []
    made.create(AGGREGATOR, "frequency")
    assert made.create(AGGREGATOR, "votes:smoothed") == Smoothed()
    made.describe(CALIBRATOR, By(by="site"))
    assert (plugins.scans, plugins.imported) == (0, ["votes", "calibration"])
    for name in ("pl", "thesis:pl", "pl"):
        made.create(AGGREGATOR, name)
        made.entries()
    assert (plugins.scans, plugins.imported) == (1, ["votes", "calibration", "thesis"])


def test_a_target_that_needs_an_extra(
    plugins: Plugins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_more_xyz.py").write_text(
        "from plausibly.plugin import require\n"
        "require('not_there_xyz', extra='crowd', source='aggregator glad')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    hook = offering("mace", "no_such_module_xyz:Mace", AGGREGATOR, extra="crowd")
    plugins.add("crowd-kit", hook, distribution="thesis-pl")
    made = plugins.registry()
    made.register(AGGREGATOR, "glad", "needs_more_xyz:Glad")
    with refused("extra-missing", "aggregator glad needs not_there_xyz", kind=MissingExtra):
        made.create(AGGREGATOR, "glad")
    hint = 'hint pip install "thesis-pl[crowd]"'
    with refused("component-unknown", 'did you mean "crowd-kit:mace"?'):
        made.create(AGGREGATOR, "maec")
    with refused("extra-missing", "named 'no_such_module_xyz'", hint, kind=MissingExtra):
        made.create(AGGREGATOR, "mace")
    assert made.failures() == ()


def test_a_class_may_be_registered_again_for_this_run(plugins: Plugins) -> None:
    def cell() -> type[Smoothed]:
        @attrs.frozen(kw_only=True)
        class Mine(Smoothed):
            """The class that a cell of a notebook defines."""

        made.register(AGGREGATOR, "mine", Mine, summary="smoothed votes")
        return Mine

    made = plugins.registry()
    cell()
    newest = cell()
    assert made.create(AGGREGATOR, "mine") == newest()
    assert made.create(AGGREGATOR, "(this run):mine", {"rounds": 3}) == newest(rounds=3)
    (entry,) = (e for e in made.entries() if e.name == "mine")
    assert (entry.source.plugin, entry.source.where) == ("(this run)", "registered here")


@pytest.mark.parametrize(
    ("kind", "name", "target", "error", "piece"),
    [
        (AGGREGATOR, "taken", Frequency, "name-clash", 'hint register it as "my-taken"'),
        (AGGREGATOR, "frequency", Smoothed, "name-clash", "beside that of votes"),
        *(
            (AGGREGATOR, name, Frequency, "component-name", "lower-case letters, digits and")
            for name in ("Plackett Luce", "a:b", "", None)
        ),
        *(
            (AGGREGATOR, "mine", t, "component-target", 'where to find it: "package.module:Name"')
            for t in ("module", "m:", "a b:c", ":x", Frequency())
        ),
        ("aggregator", "mine", Frequency, "component-kind", "such as AGGREGATOR found"),
        ([], "mine", Frequency, "component-kind", "such as AGGREGATOR found"),
    ],
)
def test_a_registration_is_refused(
    plugins: Plugins,
    kind: Kind[Any],  # Any: of every kind
    name: str,
    target: Any,  # Any: wrong on purpose
    error: str,
    piece: str,
) -> None:
    made = plugins.registry()
    made.register(AGGREGATOR, "taken", Smoothed)
    with refused(error, piece, kind=ComponentError):
        made.register(kind, name, target)
    assert made.create(AGGREGATOR, "taken") == Smoothed()
    assert made.create(AGGREGATOR, "frequency") == Frequency()


def test_a_target_may_be_a_function_or_an_object(plugins: Plugins) -> None:
    def patient(rounds: int, *, prior: float = 2.0) -> Smoothed:
        return Smoothed(rounds=rounds, prior=prior)

    class Making:
        """Make an aggregator."""

        def __call__(self, rounds: int = 7) -> Smoothed:
            return Smoothed(rounds=rounds)

    made = plugins.registry()
    targets: dict[str, Callable[..., Smoothed]] = {
        "eager": partial(partial(Smoothed), rounds=3),
        "made": Making(),
        "patient": patient,
    }
    for name, target in targets.items():
        made.register(AGGREGATOR, name, target)
        made.register(AGGREGATOR, name, target)
    assert made.create(AGGREGATOR, "eager", {"prior": 2.0}) == Smoothed(rounds=3, prior=2.0)
    assert made.create(AGGREGATOR, "made") == Smoothed(rounds=7)
    assert made.create(AGGREGATOR, "patient", {"rounds": 3}) == Smoothed(rounds=3, prior=2.0)
    with refused("component-parameter", "rounds: is required: an integer"):
        made.create(AGGREGATOR, "patient")
    with refused("component-parameter", "rounds: expected an integer, found the text"):
        made.create(AGGREGATOR, "made", {"rounds": "3"})
    eager, other = (e for e in made.entries(AGGREGATOR) if e.name in ("eager", "made"))
    assert eager.place == "registry_components:Smoothed"
    assert other.place.endswith("Making.__call__")
    parameters = {p.name: p.default for p in about(eager.load(), lambda value: value)}
    assert (parameters["rounds"], parameters["ties"]) == ("3", '"first"')


def test_a_component_is_described_as_plain_data(plugins: Plugins) -> None:
    made = plugins.registry()
    ward = {"name": "by", "by": "ward", "inner": {"name": "drawn", "draws": 2}, "many": []}
    table = {"name": "by", "by": "site", "inner": ward, "many": [{"name": "drawn", "draws": 3}]}
    component = By(by="site", inner=By(by="ward", inner=Drawn(draws=2)), many=(Drawn(draws=3),))
    assert made.describe(CALIBRATOR, component) == table
    assert made.create(CALIBRATOR, table) == component
    hint = 'hint plausibly.register(CALIBRATOR, "other", Other) before this, and again before'
    for unknown in (Other(), By(by="site", inner=Other())):
        with refused("component-unregistered", f"found {__name__}:Other", hint):
            made.describe(CALIBRATOR, unknown)


def test_the_described_name_means_that_component(
    plugins: Plugins, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = ModuleType("tests_front")
    front.__dict__["Other"] = Other
    monkeypatch.setitem(sys.modules, "tests_front", front)
    made = plugins.registry()
    made.register(CALIBRATOR, "gone", "tests_gone_xyz:Other")
    made.register(CALIBRATOR, "mine", "tests_front:Other")  # a place that only imports it
    assert made.describe(CALIBRATOR, Other(draws=2)) == {"name": "mine", "draws": 2}
    plugins.add("thesis", offering("mine", Drawn, CALIBRATOR), distribution="thesis-pl")
    plugins.add("crowd-kit", offering("glad", OfAnExtra, AGGREGATOR, extra="crowd"))
    made = plugins.registry()
    made.register(CALIBRATOR, "mine", Other)
    made.entries()
    table = made.describe(CALIBRATOR, Other(draws=2))
    assert table == {"name": "(this run):mine", "draws": 2}
    assert made.create(CALIBRATOR, table) == Other(draws=2)
    assert made.describe(AGGREGATOR, OfAnExtra()) == {"name": "crowd-kit:glad"}
    plugins.add("tools", offering("other", Other, CALIBRATOR), distribution="pl-tools")
    made = plugins.registry()
    made.create(AGGREGATOR, "frequency")  # others were not scanned so far
    assert made.describe(CALIBRATOR, Other()) == {"name": "tools:other", "draws": 10}


# ---- objects, of a class that has a name here, or that has none


VOTES = "task,worker,label\n" + "".join(
    f"e{number},w{worker},{'abc'[(number * worker) % 3]}\n"
    for number in range(30)
    for worker in range(4)
)
FIRST = {"name": "majority-vote", "ties": "first"}


def own_class(kind: Kind[Any], name: str) -> Any:  # Any: a component of each kind
    """Return a class without a name here, whose objects do what a built-in does."""
    base = type(registry.resolve(kind, name))
    return type(f"My{kind.name.title()}", (base,), {"__module__": __name__})


MyReader = own_class(READER, "long-table")
MyAggregator = own_class(AGGREGATOR, "majority-vote")
MyScore = own_class(SCORE, "probability")
MyCalibrator = own_class(CALIBRATOR, "expected")
MyCombiner = own_class(COMBINER, "average")


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry of this test alone, so that what it registers goes away."""
    made = Registry()
    monkeypatch.setattr(registry, "default", lambda: made)
    return made


def test_objects_give_the_results_of_names(own_registry: Registry, votes: Path) -> None:
    values = np.random.default_rng(3).dirichlet((2.0, 1.0, 1.0), 30)
    coordinates = {"example": [f"e{number}" for number in range(30)], "label": list("abc")}
    predictions = xr.DataArray(values, coordinates, ("example", "label"))
    by_name = plausibly.read_annotations(votes, "long-table")
    xr.testing.assert_identical(by_name, plausibly.read_annotations(votes, {"name": "long-table"}))
    mine = plausibly.read_annotations(votes, MyReader())
    assert mine.attrs["reader"] == "MyReader"
    xr.testing.assert_equal(by_name, mine)
    expected = plausibly.calibrate(predictions, by_name, aggregator=FIRST)
    ours = plausibly.calibrate(
        predictions,
        by_name,
        aggregator=MyAggregator(ties="first"),
        calibrator=MyCalibrator(),
        score=MyScore(),
        combiner=MyCombiner(),
    )
    for alpha in (0.1, 0.4):
        sets = expected.predict(predictions, alpha).values
        np.testing.assert_array_equal(ours.predict(predictions, alpha).values, sets)
    assert ours.guarantee(0.1).level == expected.guarantee(0.1).level
    path = votes.with_name("predictor.nc")
    with refused("component-unregistered", 'register(SCORE, "my-score", MyScore) before this'):
        ours.save(path)
    assert not path.exists()
    for kind, cls in {
        "score": MyScore,
        "combiner": MyCombiner,
        "aggregator": MyAggregator,
        "calibrator": MyCalibrator,
        "reader": MyReader,
    }.items():
        plausibly.register(KIND_BY_NAME[kind], f"my-{kind}", cls)
    table = plausibly.read_annotations(votes, "my-reader")
    assert table.attrs["reader"] == "my-reader"
    named = plausibly.calibrate(
        predictions,
        table,
        aggregator={"name": "my-aggregator", "ties": "first"},
        calibrator="my-calibrator",
        score="my-score",
        combiner=MyCombiner(),
    )
    named.save(path)
    loaded = plausibly.load_predictor(path)
    assert [type(loaded.score), type(loaded.combiner)] == [MyScore, MyCombiner]
    xr.testing.assert_identical(loaded.predict(predictions, 0.1), named.predict(predictions, 0.1))


def test_no_api_takes_a_component_by_name_only() -> None:
    """A parameter that is called like a kind is typed as a name, a table or an object."""
    count = 0
    for name in dir(plausibly):
        function = getattr(plausibly, name)
        for parameter in (
            inspect.signature(function).parameters.values() if inspect.isfunction(function) else ()
        ):
            if parameter.name in KIND_BY_NAME:
                count += 1
                assert str(parameter.annotation).startswith("ComponentLike["), (name, parameter)
    assert count >= 6


def test_readers_that_cannot_be_loaded_are_named(
    own_registry: Registry, tmp_path: Path, votes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "extra_xyz.py").write_text(
        "from plausibly.plugin import require\n"
        "require('not_there_xyz', extra='crowd', source='reader needy')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    plausibly.register(READER, "needy", "extra_xyz:Reader")
    assert plausibly.read_annotations(votes).sizes["example"] == 30
    (tmp_path / "odd.txt").write_text("who knows\n")
    with refused("format-unknown", "not asked: reader needy needs not_there_xyz"):
        plausibly.read_annotations(tmp_path / "odd.txt")


test_each_call_gives_its_text = each_call(__file__, globals(), "known")
