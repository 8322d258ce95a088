"""Rules with names, how they are run, and the report of their results."""

from __future__ import annotations

import json
import random
import reprlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, Literal, TypeVar

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.errors import InputError, PlausiblyWarning, listed
from plausibly.kernels.types import Floats
from plausibly.protocols import Kind
from plausibly.registry.conformance import complete, problems
from plausibly.registry.entries import reason_of
from plausibly.registry.parameters import Strict, as_table, parameters_of
from plausibly.text import wrapped

P = TypeVar("P")
W = TypeVar("W")

State = Literal["holds", "fails", "unexpected pass", "expected failure", "not run"]

_SHORT = reprlib.Repr()  # also of a component whose own repr fails
_SHORT.maxother = 60


class Broken(AssertionError):
    """Behaviour of a component that a rule does not allow."""


class DoesNotApply(Exception):
    """Why a rule says nothing about a component."""


def no_data(what: str, hint: str) -> InputError:
    return InputError(
        "kit-data-missing",
        what,
        expected="data on which the rules can be tried",
        hint=hint,
        source="plausibly.testing",
    )


@attrs.frozen
class Rule:
    """One duty of a component: `function` raises where a component breaks it on the data.

    Reports and `expected_failures` call it by its `name`, and its `sentence` is what it demands. A
    rule that does not need data looks at the component alone.
    """

    name: str
    sentence: str
    function: Callable[[Any, Any], None] = attrs.field(repr=False)  # Any: the set knows them
    needs_data: bool = True


@attrs.frozen
class Result:
    """Result of one rule: its name and sentence, the state, and what happened."""

    name: str
    state: State
    detail: str = ""
    sentence: str = ""


@attrs.frozen(kw_only=True)
class Report:
    """Results of all rules of a kind, in order, for one component; prints as one line."""

    kind: str
    component: str
    rules: tuple[Result, ...]

    @property
    def failed(self) -> tuple[Result, ...]:
        """The results for which the component, or what was expected of it, must be fixed."""
        return tuple(r for r in self.rules if r.state in ("fails", "unexpected pass"))

    def __str__(self) -> str:
        states = Counter(result.state for result in self.rules)
        parts = [f"{states.pop('holds', 0)} of {len(self.rules)} rules hold"]
        parts += [f"{state}: {count}" for state, count in states.items()]
        lacks = sorted({r.detail for r in self.rules if r.state == "not run"})
        return ", ".join(parts) + (f" ({'; '.join(lacks)})" if lacks else "")

    def table(self) -> str:
        """Return the line and, of every rule that does not hold, state and what happened."""
        lines = [f"{self.kind} {self.component}: {self}"]
        for result in self.rules:
            if result.state not in ("holds", "not run"):
                what = f"{result.name}  {result.state}  {result.detail}".replace("\n", " ")
                lines += wrapped(what, 100, indent=4)
                lines += wrapped(f"    wanted: {result.sentence}", 100, indent=4)
        return "\n".join(lines)


@attrs.frozen(eq=False)
class RuleSet(Generic[P, W]):
    """The rules of one kind; `fixture_for` makes data out of what an author passes, if it can."""

    kind: Kind[P]
    fixture_for: Callable[..., W | InputError]
    rules: list[Rule] = attrs.field(factory=list, init=False)

    def rule_alone(self, function: Callable[[P, W], None]) -> None:
        """Enter a rule that looks at the component without data; a decorator."""
        self.rule(function, needs_data=False)

    def rule(self, function: Callable[[P, W], None], *, needs_data: bool = True) -> None:
        """Enter a rule that tries the component on data, with its docstring; a decorator."""
        name = function.__name__.replace("_", "-")
        self.rules.append(Rule(name, str(function.__doc__), function, needs_data))

    def fixture(self, component: object, options: Mapping[str, object]) -> W | InputError:
        """Return the data on which a component is tried, or why there are none."""
        complete(component, self.kind.protocol)
        return self.fixture_for(component, **options)

    def check(
        self,
        component: P,
        expected: Mapping[str, str] | None,
        *,
        insist: bool = True,
        **options: object,
    ) -> Report:
        """Return the result of each rule; raise ``kit-data-missing`` where data are insisted on."""
        reasons = self.reasons(expected)
        fixture = self.fixture(component, options)
        results = [try_rule(r, component, fixture, reasons.get(r.name)) for r in self.rules]
        text = _SHORT.repr(component)
        called = type(component).__name__ if " at 0x" in text else text
        report = Report(kind=self.kind.name, component=called, rules=tuple(results))
        # What is wrong with the component itself comes first: it may be why there are no data.
        if report.failed:
            raise AssertionError(report.table())
        if insist and isinstance(fixture, InputError):
            raise fixture
        return report

    def reasons(self, expected: Mapping[str, str] | None) -> dict[str, str]:
        """Return the reasons of expected failures by rule, or raise where a name is no rule."""
        names = [rule.name for rule in self.rules]
        for name in expected or ():
            if name not in names:
                raise InputError(
                    "option-unknown",
                    f'{self.kind.name} has no rule "{name}"',
                    expected=f"one of {', '.join(names)}",
                    found=name,
                    hint="fix or drop it in expected_failures",
                    source="expected_failures",
                )
        return dict(expected or {})


def try_rule(rule: Rule, component: object, fixture: object, reason: str | None = None) -> Result:
    """Return what happened to a component that may fail on purpose, for a reason."""
    if rule.needs_data and isinstance(fixture, InputError):
        return Result(rule.name, "not run", f"{fixture.what}: {fixture.hint}", rule.sentence)
    state: State = "holds"
    detail = ""
    try:
        # A component may warn its user.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlausiblyWarning)
            rule.function(component, fixture)
    except DoesNotApply as why:
        state, detail = "not run", str(why)
    except Broken as broken:
        state, detail = "fails", str(broken)
    except Exception as error:  # noqa: BLE001  # a component may raise anything
        state, detail = "fails", reason_of(error)
    if reason is not None and state == "fails":
        state, detail = "expected failure", f"{reason} ({detail})"
    elif reason is not None and state == "holds":
        state = "unexpected pass"
        detail = f'it should fail because "{reason}": take it out of expected_failures'
    return Result(rule.name, state, detail, rule.sentence)


def demand(condition: object, what: str) -> None:
    """Raise `Broken` with what is wrong, unless the condition holds."""
    if not condition:
        raise Broken(what)


def refused(call: Callable[[], object], when: str, *, naming: str = "") -> None:
    """Raise `Broken` unless a call raises an `InputError` that names something."""
    try:
        call()
    except InputError as error:
        named = naming in f"{error} {error.details}"
        demand(named, f'the InputError {when} does not name "{naming}": {error.what}')
    except Exception as error:  # whatever is raised is what the rule tells
        raise Broken(f"expected an InputError {when}, found {reason_of(error)}") from error
    else:
        raise Broken(f"expected an InputError {when}, found a result")


def enter_common(rule_set: RuleSet[P, W], behave: Callable[[P, W], object]) -> None:
    """Enter the rules that all kinds share."""

    @rule_set.rule_alone
    def protocol(component: P, fixture: W) -> None:
        """It has every member of its Protocol, with the right parameters."""
        faults = problems(component, rule_set.kind.protocol)
        texts = [f"{p.member}: expected {p.expected}, found {p.found}" for p in faults]
        demand(not faults, "; ".join(texts))

    @rule_set.rule_alone
    def frozen(component: P, fixture: W) -> None:
        """It cannot be changed after it was made."""
        names = [parameter.field for parameter in parameters_of(type(component))]
        settable = [name for name in (*names, "any attribute") if _settable(component, name)]
        demand(not settable, f"{listed(settable)} can be set: make the class frozen, as by attrs")

    @rule_set.rule_alone
    def readable(component: P, fixture: W) -> None:
        """It prints as its class with its parameters."""
        text = repr(component)
        named = type(component).__name__ in text
        demand(named and " object at 0x" not in text, f"it prints as {text}")
        absent = [p.name for p in parameters_of(type(component)) if p.name not in text]
        demand(not absent, f"it prints as {text}, without {', '.join(absent)}")

    @rule_set.rule_alone
    def configuration_round_trip(component: P, fixture: W) -> None:
        """Its parameters can be written into a file, and the file gives an equal component."""
        again = remade(component)
        demand(again == component, "what comes back differs")

    @rule_set.rule
    def deterministic(component: P, fixture: W) -> None:
        """Called twice or made again it gives the same bits, and leaves global generators alone."""
        with global_randomness(1) as touched:
            first = behave(component, fixture)
        with global_randomness(2):
            second = behave(component, fixture)
        again = behave(remade(component), fixture)
        demand(same(first, second), "two calls with the same seed differ")
        demand(same(first, again), "made again from its parameters it gives something else")
        demand(not touched, f"it draws from or seeds the global generator {', '.join(touched)}")


def _settable(component: object, name: str) -> bool:
    there = hasattr(component, name)
    try:
        setattr(component, name, getattr(component, name, None))
    except (AttributeError, TypeError):
        return False
    if not there:
        delattr(component, name)
    return True


def remade(component: P) -> P:
    """Return the component that comes out of a file into which this one was written."""
    made = registry.default()
    table: dict[str, object] = json.loads(json.dumps(as_table(component, made.describe)))
    return Strict(made.create).build(type(component), table)


def same(first: object, second: object) -> bool:
    """Return whether two results are equal to the last bit, whatever they are made of."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first.dtype != second.dtype or first.shape != second.shape:
            return False
        return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, xr.DataArray | xr.Dataset):
        return type(first) is type(second) and bool(first.identical(second))  # type: ignore[arg-type]  # of one type
    if isinstance(first, str | bytes):
        return first == second
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, Sequence) and isinstance(second, Sequence):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def farthest(first: Floats, second: Floats) -> float:
    """Return the largest difference of two arrays; infinite values are equal to themselves."""
    if first.shape != second.shape:
        return float("inf")
    with np.errstate(invalid="ignore"):
        off = np.abs(first.astype(np.float64) - second.astype(np.float64))
    off = np.where(first == second, 0.0, np.where(np.isnan(off), np.inf, off))
    return float(off.max(initial=0.0))


def read_only_table(table: xr.Dataset) -> xr.Dataset:
    copy = table.copy(deep=True)
    for name in copy.variables:
        copy[name].values.flags.writeable = False
    return copy


@contextmanager
def global_randomness(seed: int) -> Iterator[list[str]]:
    """Seed the global generators for a block, and put them back; yield those that were used."""
    touched: list[str] = []
    # The global generator of numpy is read and restored, never drawn from.
    before = np.random.get_state(), random.getstate()  # noqa: NPY002  # read only
    try:
        np.random.seed(seed)  # noqa: NPY002  # restored below
        random.seed(seed)
        start = np.random.get_state(), random.getstate()  # noqa: NPY002  # read only
        yield touched
        if not same(np.random.get_state(), start[0]):  # noqa: NPY002  # read only
            touched.append("numpy.random")
        if random.getstate() != start[1]:
            touched.append("random")
    finally:
        np.random.set_state(before[0])  # noqa: NPY002  # restored
        random.setstate(before[1])
