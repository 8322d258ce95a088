"""The author's kit for pytest, one test a rule; without effect unless it is imported.

For one test a rule, in a test module::

    import pytest
    from plausibly.plugin import AGGREGATOR
    from plausibly.testing.pytest import RuleTest, rules

    @pytest.mark.parametrize("rule", rules(AGGREGATOR))
    def test_rule(rule: RuleTest) -> None:
        rule(PlackettLuce(rounds=5))

For small made-up data as fixtures, in ``conftest.py``::

    pytest_plugins = ["plausibly.testing.pytest"]

It registers no entry point of pytest: test runs that do not import it are no slower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs
import pytest
import xarray as xr

from plausibly.errors import InputError
from plausibly.protocols import Kind
from plausibly.testing import checks, data
from plausibly.testing.calibrator import population
from plausibly.testing.rules import Report, Rule, shown, try_rule

MakeTable: TypeAlias = Callable[[str], xr.Dataset]
"""From the name of an annotation kind to a small table of it."""


@attrs.frozen
class RuleTest:
    """One rule of a kind as a test: called with a component, it passes, fails or skips."""

    kind: str
    rule: Rule

    def __call__(self, component: object, /, **data: object) -> None:
        """Try a component."""
        result = try_rule(self.rule, component, checks.rules_of(self.kind).fixture(component, data))
        if result.state == "not run":
            pytest.skip(result.detail)
        if result.state == "fails":
            report = Report(kind=self.kind, component=shown(component), rules=(result,))
            raise AssertionError(report.table())


def rules(
    # Any: each kind has its own Protocol
    kind: Kind[Any] | str,
    *,
    expected_failures: Mapping[str, str] | None = None,
) -> list[Any]:  # Any: what pytest.param gives, which has no public type
    """Return the rules of a kind as parameters of a test: each a `RuleTest` under its name.

    Rules that a component breaks on purpose (`expected_failures`, each with the reason) are strict
    xfails, so that one that passes fails. A name that is no rule is ``option-unknown``.
    """
    rule_set = checks.rules_of(kind)
    expected = dict(expected_failures or {})
    lost = sorted(expected.keys() - {rule.name for rule in rule_set.rules})
    if lost:
        raise InputError(
            "option-unknown",
            rule_set.unknown(lost[0]).detail.replace("this name", f'the name "{lost[0]}"'),
            expected="names of rules, as reports show them",
            hint="fix or drop it in expected_failures",
            source="expected_failures",
        )
    marks = {
        name: [pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True)]
        for name, reason in expected.items()
    }
    kind_name = rule_set.kind.name
    return [
        pytest.param(RuleTest(kind_name, rule), id=rule.name, marks=marks.get(rule.name, ()))
        for rule in rule_set.rules
    ]


@pytest.fixture
def kit_annotations() -> MakeTable:
    """Small annotation tables: a function from the name of a kind to a table of it."""

    def make(kind: str) -> xr.Dataset:
        table = data.table_of(kind)
        if table is None:
            raise InputError(
                "kit-data-missing",
                f"there are no made-up annotations of kind {kind}",
                expected=" | ".join(data.ANSWERS),
                hint="register the kind, with a method example() that gives records and labels",
                source="kit_annotations",
            )
        return table

    return make


@pytest.fixture
def kit_predictions() -> xr.DataArray:
    """Predictions (example, label) of twelve examples: probabilities without ties."""
    return data.labelled(population("fixtures", 12).scores.copy(), scale="probability")


@pytest.fixture
def kit_plausibilities() -> xr.DataArray:
    """Plausibilities (example, label) of the examples of `kit_predictions`: shares of 5 votes."""
    return data.labelled(population("fixtures", 12).plausibilities.copy())
