"""Settings with every default: written, read again, where values come from, and their schema."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings, strategies as st

import plausibly
from cli_world import run
from plausibly import registry
from plausibly.config.document import toml_text
from plausibly.config.load import draft, origins, resolved
from plausibly.config.schema import schema
from plausibly.config.settings import Evaluation, Predictions, Splits
from plausibly.plugin import CALIBRATOR, COMBINER, SCORE
from plausibly.protocols import KINDS
from study_world import (
    SMALLEST,
    WHOLE,
    document,
    study,
    tables,
    with_more_components,
)

from .test_draft import MISTAKES

TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
)
NAMES = st.sampled_from(["a.csv", "b/c.nc", "../d e.npz", 'quo"te.csv', "ü.toml"])
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
BETWEEN = st.floats(0.01, 0.99)
RATES = st.decimals("0.001", "0.999", places=5)


def some(**keys: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=keys)


def component(name: str, **keys: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return some(**keys).map(lambda more: {"name": name, **more}) | st.just(name)


PLAIN = component("expected") | component("monte-carlo", draws=st.integers(1, 10**20))
CALIBRATORS = PLAIN | st.recursive(
    PLAIN,
    lambda inner: component(
        "wrapped",
        inner=inner,
        many=st.lists(inner, max_size=2),
        file=NAMES,
        levels=st.dictionaries(TEXT, FLOATS, max_size=2),
        text=TEXT,
        switch=st.booleans(),
    ),
    max_leaves=3,
)
COMBINERS = component("held-out-rank", held_out=BETWEEN) | component(
    "ecdf", delta=st.floats(1e-300, 0.5), band=st.just("one-sided")
)
METHODS = st.lists(
    some(calibrator=CALIBRATORS, score=component("log-probability"), combiner=COMBINERS),
    min_size=1,
    max_size=3,
)
COUNTS = st.lists(st.integers(1, 10**9), min_size=1, max_size=3, unique=True)
STUDIES = st.fixed_dictionaries(
    {
        "annotations": st.fixed_dictionaries(
            {"path": NAMES},
            optional={
                "reader": component("long-table", header=st.booleans()),
                "missing": st.lists(TEXT, max_size=2),
                "columns": st.dictionaries(st.sampled_from(["task", "label"]), TEXT),
                "unanswered": st.sampled_from(["error", "drop"]),
                "aggregator": component("majority-vote", ties=st.sampled_from(["first", "random"])),
            },
        ),
        "predictions": st.fixed_dictionaries(
            {"path": NAMES}, optional={"example": TEXT, "normalise": st.booleans()}
        ),
        "methods": METHODS,
    },
    optional={
        "seed": st.integers(),
        "alphas": st.lists(RATES, min_size=1, max_size=3, unique=True),
        "examples": some(path=NAMES, one_per=TEXT),
        "labels": some(path=NAMES, rename=st.dictionaries(TEXT, TEXT, max_size=2)),
        "splits": some(count=st.integers(1, 10**6), test=BETWEEN, draws=COUNTS),
        "evaluation": some(ties=st.sampled_from(["first", "any"]), by=st.lists(TEXT, max_size=2)),
        "output": some(folder=NAMES),
    },
)


@pytest.fixture(scope="module", autouse=True)
def components() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        with_more_components(monkeypatch)
        yield


# ---- any valid study


@settings(max_examples=40)
@given(STUDIES)
def test_a_resolved_study_is_the_same_study(given_tables: dict[str, object]) -> None:
    result = draft(given_tables)
    assert not result.mistakes
    one = result.settings
    text = toml_text(resolved(one))
    again = draft(tables(text))
    assert not again.mistakes
    assert again.settings == one
    assert toml_text(resolved(again.settings)) == text
    # What is shown has the same values, each with a note.
    shown = toml_text(resolved(one), lambda path: "noted")
    assert tables(shown) == tables(text)
    assert not refused(toml_text(given_tables))
    assert not refused(text)


# ---- where values come from


def test_origins_of_what_stands_in_tables_or_has_no_line() -> None:
    """The others are in the screen of ``plausibly config show``."""

    def origin(text: str, path: str) -> str:
        return origins(document(text), {})(path)

    reader = 'reader = "long-table"'
    table = WHOLE.replace(reader, "reader = {name = 'long-table'}")
    assert origin(table, "annotations.reader") == "line 6"
    counts = WHOLE.replace(reader, "reader = {name = 'counts', array='x'}")
    assert origin(counts, "annotations.array") == "line 6"
    # A key whose line is not known is still not a default.
    assert origins(attrs.evolve(document(WHOLE), text=""), {})("seed") == "in study.toml"


# ---- defaults


def defaults(call: Callable[..., object]) -> dict[str, object]:
    result = inspect.signature(call).parameters.values()
    return {p.name: p.default for p in result if p.default is not inspect.Parameter.empty}


def test_defaults_of_a_study_are_those_of_the_functions() -> None:
    predictions = attrs.asdict(Predictions(path=Path()))
    reading = defaults(plausibly.read_predictions)
    # A study reads what a model wrote, not what an annotation tool kept of it.
    assert reading.pop("reader") is None
    assert reading.pop("model") is None
    # And reads it into memory.
    assert reading.pop("chunks") is None
    # Names of labels are changed in all files, by keys of their own.
    del predictions["path"]
    for name in ("labels", "examples", "strip", "rename"):
        assert not reading.pop(name)
    assert predictions.pop("augmentation") is reading.pop("augmentation") is None
    # What a predictor remembers of its predictions stands between a setting and the default.
    assert (predictions.pop("example"), reading.pop("example")) == (None, "example")
    assert predictions == reading
    comparing = defaults(plausibly.compare)
    splits, evaluation = Splits(), Evaluation()
    keys = attrs.asdict(splits)
    assert keys.pop("count") == comparing["splits"]
    assert keys == {name: comparing[name] for name in keys}
    assert (evaluation.ties, evaluation.true_label) == (comparing["ties"], comparing["true_label"])
    result = study(SMALLEST)
    assert [float(alpha) for alpha in result.alphas] == list(comparing["alphas"])  # type: ignore[call-overload]  # a tuple
    assert result.seed == comparing["seed"]
    calibrating, one = defaults(plausibly.calibrate), result.methods[0]
    assert registry.called(CALIBRATOR, one.calibrator) == calibrating["calibrator"]
    assert registry.called(SCORE, one.score) == calibrating["score"]
    assert registry.called(COMBINER, one.combiner) == calibrating["combiner"]
    assert result.annotations.unanswered == defaults(plausibly.aggregate)["unanswered"]


# ---- the schema


# Any: no types come with jsonschema.
jsonschema: Any = import_module("jsonschema")


@cache
def validator() -> Any:  # Any: no types come with jsonschema
    """Return what validates; the same for all tests, after the components were added."""
    result = schema()
    jsonschema.Draft202012Validator.check_schema(result)
    return jsonschema.Draft202012Validator(json.loads(json.dumps(result)))


def refused(text: str) -> list[str]:
    return sorted(error.json_path for error in validator().iter_errors(tomllib.loads(text)))


EXAMPLES = (
    SMALLEST.replace("annotations", "plausibilities"),
    SMALLEST.replace("[pred", 'columns = {example = "item"}\nunnamed = "drop"\n[pred'),
    SMALLEST.replace("[pred", 'reader = {name = "counts", array = "n"}\n[pred'),
    SMALLEST + 'calibrator = "calibrators:majority-vote"\n',
)


def test_example_studies_validate() -> None:
    for text in EXAMPLES:
        assert not draft(tables(text)).mistakes
        assert not refused(text)


# JSON has no NaN; the schema takes any list of numbers.
DESCRIBED = [one for one in MISTAKES if not re.search(r"NaN|twice|from 1 on|found \[", one[3])]


@pytest.mark.parametrize(("old", "new", "place", "_"), DESCRIBED)
def test_the_schema_refuses_the_mistakes_of_a_study(old: str, new: str, place: str, _: str) -> None:
    path = f"$.{place.split()[1]}"
    result = refused(WHOLE.replace(old, new, 1))
    assert any(path.startswith(one) or one.startswith(path) for one in result)


def test_every_component_that_is_installed_is_in_it() -> None:
    result = schema()["$defs"]
    for kind in KINDS:
        names = {entry.name for entry in registry.default().entries(kind)}
        if kind.name != "annotation":
            assert names <= set(result[kind.name]["anyOf"][1]["properties"]["name"]["enum"])
    assert "annotation" not in result


def test_a_component_that_cannot_be_loaded_takes_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_more_components(monkeypatch)
    registry.register(CALIBRATOR, "lost", "no_such_module:Lost")
    result = jsonschema.Draft202012Validator(schema())
    text = SMALLEST + 'calibrator = {name = "lost", whatever = 1}\n'
    assert not list(result.iter_errors(tomllib.loads(text)))


def test_the_command_prints_the_schema() -> None:
    ran = run("config", "schema")
    assert json.loads(ran.out) == json.loads(json.dumps(schema()))
    assert run("config", "schema", "--json") == ran
    assert run("config", "schema", "--quiet").out == ""
