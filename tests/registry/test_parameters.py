"""Parameters of components that contain components, through the registry."""

from __future__ import annotations

import pytest

from plausibly.errors import ComponentError
from plausibly.plugin import CALIBRATOR
from plausibly.registry.mistakes import ParameterError
from registry_components import By, Drawn, Plugins, offering


def refused(plugins: Plugins, table: dict[str, object]) -> ComponentError:
    """Return the error about a table for a calibrator."""
    with pytest.raises(ComponentError) as caught:
        plugins.registry().create(CALIBRATOR, table)
    return caught.value


def test_names_tables_and_objects_inside(plugins: Plugins) -> None:
    table = {
        "name": "by",
        "by": "site",
        "inner": {"name": "by", "by": "ward", "inner": "drawn"},
        "many": ["drawn", {"name": "drawn", "draws": 3}, Drawn(draws=4)],
    }
    assert plugins.registry().create(CALIBRATOR, table) == By(
        by="site",
        inner=By(by="ward", inner=Drawn()),
        many=(Drawn(), Drawn(draws=3), Drawn(draws=4)),
    )


def test_one_mistake(plugins: Plugins) -> None:
    error = refused(plugins, {"name": "drawn", "draws": "10"})
    assert str(error) == (
        'error component-parameter: calibrator "drawn", draws: expected an integer, found\n'
        '  the text "10"\n'
        "  hint      write draws = 10"
    )


def test_every_mistake_at_every_depth(plugins: Plugins) -> None:
    error = refused(
        plugins,
        {
            "name": "by",
            "by": 7,
            "colour": 1,
            "inner": {"name": "drawn", "draws": "7", "drwas": 3},
            "many": [{"name": "drawn", "draws": 0}, "drwan", {"name": "by"}, 3],
        },
    )
    assert isinstance(error, ParameterError)
    assert [str(mistake) for mistake in error.mistakes] == [
        "colour: no such parameter; it has by, inner, many",
        "by: expected text, found 7",
        'inner.drwas: no such parameter; did you mean "draws"?',
        'inner.draws: expected an integer, found the text "7"',
        "many[0].draws: must be >= 1, found 0",
        'many[1]: no calibrator "drwan"; did you mean "drawn"?',
        "many[2].by: is required: text",
        "many[3]: this is no calibrator: 3; expected a name, a table with a name, or an object "
        "that has calibrate",
    ]
    assert str(error).splitlines()[0] == (
        'error component-parameter: calibrator "by": 8 mistakes in its parameters'
    )
    assert 'by ("text")' not in str(error)
    assert "inner.draws = 7" in error.hint
    assert "write inner.draws = 3" in error.hint
    details = error.details["mistakes"]
    assert isinstance(details, list)
    assert len(details) == 8


def test_who_has_such_a_parameter(plugins: Plugins) -> None:
    error = refused(plugins, {"name": "by", "by": "site", "draws": 3})
    assert str(error) == (
        'error component-parameter: calibrator "by", draws: no such parameter; drawn has\n'
        "  it\n"
        "  hint      leave draws out"
    )


def test_a_stranger_is_no_advice(plugins: Plugins) -> None:
    plugins.add("thesis", offering("pl"), distribution="thesis-pl")
    error = refused(plugins, {"name": "drawn", "rounds": 3})
    assert "it has draws" in error.what
