"""Each rule is broken by a component made for it, and by that rule it is caught."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kit_components import FILE, Bars, Drawn, Mean, Scaled, Shares, Words
from plausibly.protocols import KINDS
from plausibly.testing import check, rules, rules_of
from plausibly.testing.rules import try_rule

from .mutants import ALSO, MUTANTS

SOUND: dict[str, object] = {
    "annotation": Words(),
    "reader": Bars(),
    "aggregator": Shares(),
    "score": Scaled(),
    "calibrator": Drawn(),
    "combiner": Mean(),
}
SIMULATIONS = {"coverage", "super-uniform"}
"""Rules that take a second: tried only on components that are made to break them."""


@pytest.fixture
def data(tmp_path: Path) -> dict[str, dict[str, Any]]:  # Any: arguments, by name
    """Arguments of the check of each kind."""
    path = tmp_path / "good.kit"
    path.write_text(FILE, encoding="utf-8")
    return {"reader": {"path": path}}


def test_every_rule_has_a_component_that_breaks_it() -> None:
    assert MUTANTS.keys() == {kind.name for kind in KINDS}
    for kind, mutants in MUTANTS.items():
        broken = {name.partition("/")[0] for name in mutants}
        assert {rule.name for rule in rules(kind)} == broken, kind


@pytest.mark.parametrize("kind", SOUND)
def test_what_they_are_made_from_keeps_every_rule(
    kind: str, data: dict[str, dict[str, Any]]
) -> None:
    report = check(kind, SOUND[kind], **data.get(kind, {}))
    assert {result.state for result in report.rules} == {"holds"}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, mutants in MUTANTS.items() for name in mutants]
)
def test_it_is_caught_by_its_rule_and_by_no_other(
    kind: str, name: str, data: dict[str, dict[str, Any]]
) -> None:
    component, rule = MUTANTS[kind][name], name.partition("/")[0]
    fixture = rules_of(kind).fixture(component, data.get(kind, {}))
    broken = {rule, ALSO.get((kind, name), rule)}
    tried = [rule for rule in rules(kind) if rule.name in broken or rule.name not in SIMULATIONS]
    results = [try_rule(rule, component, fixture) for rule in tried]
    fails = {result.name: result.detail for result in results if result.state == "fails"}
    assert fails.keys() == broken, fails
    assert fails[rule].strip()
