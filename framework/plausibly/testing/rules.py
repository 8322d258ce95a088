"""Rules with names, the book in which a kind keeps them in order, and how they are run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

import attrs

from plausibly.errors import InputError, PlausiblyWarning
from plausibly.protocols import Kind
from plausibly.registry.entries import reason_of
from plausibly.testing.report import Report, Result

P = TypeVar("P")
W = TypeVar("W")


class Broken(AssertionError):
    """What a component does instead of what a rule wants."""


class DoesNotApply(Exception):
    """Why a rule says nothing about a component."""


@attrs.frozen
class NoData:
    """Why there is no data to try a component on.

    Attributes
    ----------
    lacks : str
        What is missing, in words.
    do : str
        What to pass.
    """

    lacks: str
    do: str


@attrs.frozen
class Rule:
    """One duty of a component.

    Attributes
    ----------
    name : str
        Its name in reports and in `expected_failures`.
    sentence : str
        What it wants: the first line of its docstring.
    function : callable
        Raises where a component breaks it: ``function(component, world)``.
    needs_data : bool
        Whether it tries the component on data; else `world` is not looked at.
    """

    name: str
    sentence: str
    function: Callable[[Any, Any], None] = attrs.field(repr=False)  # Any: the book knows the types
    needs_data: bool = True


class RuleBook(Generic[P, W]):
    """The rules of one kind, in the order in which they were written down.

    Parameters
    ----------
    kind : Kind
        What the rules are about.
    """

    def __init__(self, kind: Kind[P]) -> None:
        self.kind = kind
        self._rules: dict[str, Rule] = {}

    def rule(self, function: Callable[[P, W], None]) -> Callable[[P, W], None]:
        """Enter a rule that tries the component on data; a decorator."""
        return self._enter(function, needs_data=True)

    def rule_alone(self, function: Callable[[P, W], None]) -> Callable[[P, W], None]:
        """Enter a rule that looks at the component alone; a decorator."""
        return self._enter(function, needs_data=False)

    def _enter(
        self, function: Callable[[P, W], None], *, needs_data: bool
    ) -> Callable[[P, W], None]:
        name = function.__name__.strip("_").replace("_", "-")
        if name in self._rules:
            msg = f"the rule {name} of {self.kind.name} is there already"
            raise ValueError(msg)
        sentence = (function.__doc__ or "").strip().partition("\n")[0]
        self._rules[name] = Rule(name, sentence, function, needs_data)
        return function

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule, in order."""
        return tuple(self._rules.values())

    def run(
        self,
        component: P,
        world: W | NoData,
        expected_failures: Mapping[str, str] | None = None,
    ) -> Report:
        """Return what each rule finds.

        Parameters
        ----------
        component : object
            What to try.
        world : object
            The data to try it on; with `NoData`, rules that need data are not run.
        expected_failures : mapping of str to str, optional
            Rules that the component breaks on purpose, each with the reason.

        Raises
        ------
        AssertionError
            One for all rules that fail, with a table; also where an expected failure passes, or
            names no rule.
        """
        expected = dict(expected_failures or {})
        results = [
            _judged(found(rule, component, world), expected.get(rule.name)) for rule in self.rules
        ]
        results += [self.unknown(name) for name in expected if name not in self._rules]
        report = Report(kind=self.kind.name, component=shown(component), rules=tuple(results))
        if report.failed:
            raise AssertionError(report.table())
        return report

    def unknown(self, name: str) -> Result:
        """Return the result of an expected failure that names no rule."""
        close = get_close_matches(name, self._rules, n=1)
        meant = f'; did you mean "{close[0]}"?' if close else ""
        detail = f"{self.kind.name} has no rule of this name{meant}"
        return Result(name, "unknown rule", detail, "expected_failures names rules of this kind.")


def found(rule: Rule, component: object, world: object) -> Result:
    """Return whether a component keeps a rule, and what it does otherwise."""
    if rule.needs_data and isinstance(world, NoData):
        return Result(rule.name, "not run", f"{world.lacks}: {world.do}", rule.sentence)
    try:
        # What a component tells its user is no fault of the component.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlausiblyWarning)
            rule.function(component, world)
    except DoesNotApply as reason:
        return Result(rule.name, "not run", str(reason), rule.sentence)
    except Broken as broken:
        return Result(rule.name, "fails", str(broken), rule.sentence)
    except Exception as error:  # noqa: BLE001  # somebody's component may raise anything
        return Result(rule.name, "fails", reason_of(error), rule.sentence)
    return Result(rule.name, "holds", "", rule.sentence)


def _judged(result: Result, reason: str | None) -> Result:
    """Return the result in the light of a failure that was expected for a reason."""
    if reason is None:
        return result
    if result.state == "fails":
        return attrs.evolve(result, state="expected failure", detail=f"{reason} ({result.detail})")
    what = "holds" if result.state == "holds" else f"was not run ({result.detail})"
    return attrs.evolve(
        result,
        state="unexpected pass",
        detail=f'it {what}, and should fail because "{reason}": take it out of expected_failures',
    )


def shown(component: object) -> str:
    """Return a component as reports call it, also where its own repr fails."""
    try:
        text = " ".join(repr(component).split())
    except Exception:  # noqa: BLE001  # a broken repr is for a rule to say
        return type(component).__name__
    if " object at 0x" in text:
        return type(component).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"


def demand(condition: object, what: str) -> None:
    """Raise `Broken` with what is wrong, unless the condition holds."""
    if not condition:
        raise Broken(what)


def refused(call: Callable[[], object], when: str, *, naming: str = "") -> InputError:
    """Return the `InputError` that a call raises.

    Parameters
    ----------
    call : callable
        What must be refused.
    when : str
        What was wrong with the input, as it follows "an InputError".
    naming : str
        Text that the message must hold, so that its reader finds what is wrong.

    Raises
    ------
    Broken
        Where it raises nothing, something else, or does not name what is wrong.
    """
    try:
        call()
    except InputError as error:
        if naming and naming not in f"{error} {error.details}":
            raise Broken(f'the InputError {when} does not name "{naming}": {error.what}') from error
        return error
    except Exception as error:  # whatever is raised is what the rule tells
        raise Broken(f"expected an InputError {when}, got {reason_of(error)}") from error
    raise Broken(f"expected an InputError {when}, got a result")
