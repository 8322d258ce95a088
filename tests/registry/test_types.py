"""What the type checker knows: this file is a test because mypy reads it."""

from __future__ import annotations

from typing import assert_type

import pytest

import plausibly
from plausibly import registry
from plausibly.plugin import (
    AGGREGATOR,
    ANNOTATION,
    CALIBRATOR,
    COMBINER,
    READER,
    SCORE,
    Aggregator,
    Annotation,
    Calibrator,
    PValueCombiner,
    Reader,
    Registrar,
    ScoreFunction,
    hookimpl,
)
from plausibly.registry import Registry
from registry_components import Drawn, Frequency, Least, Plugins


def test_a_kind_gives_the_type_of_what_is_created(plugins: Plugins) -> None:
    made = plugins.registry()
    assert_type(made.create(AGGREGATOR, "frequency"), Aggregator)
    assert_type(made.create(CALIBRATOR, {"name": "drawn", "draws": 3}), Calibrator)
    assert_type(made.create(COMBINER, Least()), PValueCombiner)


def only_typed(made: Registry) -> None:
    """Not run: these names are not in the registry of the test."""
    assert_type(made.create(ANNOTATION, "single-label"), Annotation)
    assert_type(made.create(READER, "counts"), Reader)
    assert_type(made.create(SCORE, "probability"), ScoreFunction)
    assert_type(registry.resolve(AGGREGATOR, "frequency"), Aggregator)


def test_what_does_not_fit_is_refused_before_it_runs(plugins: Plugins) -> None:
    """Each ignore is needed, else mypy says so: `warn_unused_ignores` is part of strict."""
    made = plugins.registry()
    with pytest.raises(plausibly.InputError):
        made.create(AGGREGATOR, Drawn())  # type: ignore[misc]  # a calibrator

    @hookimpl
    def register(registrar: Registrar) -> None:
        registrar.add(AGGREGATOR, "frequency", Frequency)
        registrar.add(AGGREGATOR, "drawn", Drawn)  # type: ignore[arg-type]  # a calibrator

    @hookimpl  # type: ignore[arg-type]  # pluggy matches the argument by its name
    def renamed(somewhere: Registrar) -> None:
        """Do nothing."""

    @hookimpl  # type: ignore[arg-type]  # a hook returns nothing
    def returning(registrar: Registrar) -> int:
        return 1
