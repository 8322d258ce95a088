"""The JSON schema of study files: it takes what runs and refuses what cannot."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings

from cli_world import run
from plausibly import registry
from plausibly.config.document import toml_text
from plausibly.config.load import draft
from plausibly.config.resolved import resolved, without_unset
from plausibly.config.schema import schema
from plausibly.plugin import CALIBRATOR, READER
from plausibly.protocols import KINDS
from study_world import SMALLEST, WHOLE, tables, with_more_components

from .strategies import studies
from .test_draft import MISTAKES

# Any: no types come with jsonschema.
jsonschema: Any = import_module("jsonschema")


@pytest.fixture(scope="module", autouse=True)
def components() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        with_more_components(monkeypatch)
        yield


@cache
def validator() -> Any:  # Any: no types come with jsonschema
    """Return what validates; the same for all tests, after the components were added."""
    found = schema()
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(json.loads(json.dumps(found)))


def refused(text: str) -> list[str]:
    """Return the paths of what the schema refuses."""
    return sorted(error.json_path for error in validator().iter_errors(tomllib.loads(text)))


EXAMPLES = {
    "smallest": SMALLEST,
    "whole": WHOLE,
    "plausibilities": SMALLEST.replace("annotations", "plausibilities"),
    "options": SMALLEST.replace("[pred", 'columns = {example = "item"}\nunnamed = "drop"\n[pred'),
    "reader table": SMALLEST.replace("[pred", 'reader = {name = "counts", array = "n"}\n[pred'),
    "plugin and name": SMALLEST + 'calibrator = "calibrators:majority-vote"\n',
    "nested": SMALLEST + "calibrator = {name = 'wrapped', inner = 'majority-vote', many = [{name = "
    "'wrapped', inner = {name = 'monte-carlo', draws = 3}}], levels = {a = 1}}\n",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_studies_validate(name: str) -> None:
    assert not draft(tables(EXAMPLES[name])).mistakes
    assert not refused(EXAMPLES[name])


@settings(max_examples=30)
@given(given_tables=studies())
def test_any_study_validates(given_tables: dict[str, object]) -> None:
    text = toml_text(without_unset(resolved(draft(given_tables).settings)))
    assert not refused(toml_text(given_tables))
    assert not refused(text)


# JSON has no NaN, and no schema compares the names of methods.
DESCRIBED = [one for one in MISTAKES if not re.search("NaN|is called", one[3])]


@pytest.mark.parametrize(("old", "new", "place", "_"), DESCRIBED)
def test_what_a_study_refuses_is_refused(old: str, new: str, place: str, _: str) -> None:
    path = f"$.{place.split()[1]}"
    found = refused(WHOLE.replace(old, new, 1))
    assert any(path.startswith(one) or one.startswith(path) for one in found)


def test_every_component_that_is_installed_is_in_it() -> None:
    found = schema()["$defs"]
    for kind in KINDS:
        names = {entry.name for entry in registry.default().entries(kind)}
        if kind.name != "annotation":
            assert names <= set(found[kind.name]["anyOf"][1]["properties"]["name"]["enum"])
    assert "annotation" not in found


def test_a_component_that_cannot_be_loaded_takes_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_more_components(monkeypatch)
    registry.register(CALIBRATOR, "lost", "no_such_module:Lost")
    registry.register(READER, "lost", "no_such_module:Lost")
    found = jsonschema.Draft202012Validator(schema())
    text = SMALLEST.replace("[pred", 'reader = "lost"\nwhatever = 1\n[pred')
    text += 'calibrator = {name = "lost", whatever = 1}\n'
    assert not list(found.iter_errors(tomllib.loads(text)))


def test_the_command_prints_the_schema() -> None:
    ran = run("config", "schema")
    assert json.loads(ran.out) == json.loads(json.dumps(schema()))
    assert run("config", "schema", "--json") == ran
    assert run("config", "schema", "--quiet").out == ""
