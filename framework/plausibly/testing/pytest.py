"""The author's kit for pytest, one test per rule; without effect unless it is imported.

In a test module::

    import pytest
    from plausibly.plugin import AGGREGATOR
    from plausibly.testing.pytest import RuleTest, rules

    @pytest.mark.parametrize("rule", rules(AGGREGATOR))
    def test_rule(rule: RuleTest) -> None:
        rule(PlackettLuce(rounds=5))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from plausibly.protocols import Kind
from plausibly.testing import rules_of
from plausibly.testing.rules import Rule, try_rule


@attrs.frozen
class RuleTest:
    """One rule of a kind as a test: called with a component, it passes, fails or skips."""

    kind: str
    rule: Rule

    def __call__(self, component: object, /, **data: object) -> None:
        """Try a component."""
        result = try_rule(self.rule, component, rules_of(self.kind).fixture(component, data))
        if result.state == "not run":
            pytest.skip(result.detail)
        if result.state == "fails":
            raise AssertionError(f"{result.name}: {result.detail}\n  wanted: {result.sentence}")


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
    rule_set = rules_of(kind)
    expected = rule_set.reasons(expected_failures)
    parameters = []
    for rule in rule_set.rules:
        reason = expected.get(rule.name, "")
        mark = pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True)
        marks = [mark] if rule.name in expected else []
        test = RuleTest(rule_set.kind.name, rule)
        parameters.append(pytest.param(test, id=rule.name, marks=marks))
    return parameters
