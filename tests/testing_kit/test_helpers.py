"""What the rules are made of: comparisons and simulations."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from kit_aggregators import Shares
from kit_calibrators import Drawn
from kit_combiners import Mean
from kit_mutants import changed
from kit_readers import FILE, Bars
from kit_scores import Scaled
from plausibly.errors import InputError
from plausibly.kernels.types import Floats
from plausibly.testing import check
from plausibly.testing.calibrator import ALPHAS, demand_coverage
from plausibly.testing.rules import Broken, farthest, global_randomness, refused, same


def test_sameness_is_of_bits_types_and_names() -> None:
    ones = np.ones(2)
    assert same([ones, {"a": ("x", 1)}], [np.ones(2), {"a": ("x", 1)}])
    assert same(np.array([np.nan]), np.array([np.nan]))
    assert not same(ones, ones.astype(np.float32))
    assert not same(ones, np.ones(3))
    assert not same({"a": 1}, {"b": 1})
    assert not same([1], [1, 2])
    assert not same("ab", ["a", "b"])
    array = xr.DataArray(ones, dims="x")
    assert same(array, array.copy())
    assert not same(array, array.rename("y"))
    assert not same(array, array.to_dataset(name="y"))


def test_the_farthest_pair() -> None:
    assert farthest(np.array([1.0, -np.inf]), np.array([1.5, -np.inf])) == 0.5
    assert farthest(np.array([np.nan]), np.array([1.0])) == np.inf
    assert farthest(np.ones(2), np.ones(3)) == np.inf
    assert farthest(np.ones(0), np.ones(0)) == 0


def test_global_generators_are_watched_and_put_back() -> None:
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002  # looked at
    with global_randomness(3) as touched:
        random.random()
        np.random.rand()  # noqa: NPY002  # what must be noticed
    assert touched == ["numpy.random", "random"]
    with global_randomness(3) as touched:
        np.random.default_rng(1).random()
    assert touched == []
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index]  # noqa: NPY002  # looked at


def test_coverage_is_demanded_but_for_chance() -> None:
    p_values = (np.arange(1000) + 0.5) / 1000
    demand_coverage(p_values, [1 - alpha for alpha in ALPHAS], "labels")
    demand_coverage(p_values, [None] * len(ALPHAS), "labels")
    demand_coverage(np.ones(1000), [Fraction(1)] * len(ALPHAS), "labels")
    with pytest.raises(Broken) as caught:
        demand_coverage(p_values, [1 - alpha / 2 for alpha in ALPHAS], "labels")
    assert str(caught.value) == (
        "at alpha 0.10 it guarantees 0.95 of labels; 900 of 1000 simulated ones were covered, 0.90"
    )
    with pytest.raises(Broken, match=r"guarantees 1\.00 of labels"):
        demand_coverage(p_values, [Fraction(1)] * len(ALPHAS), "labels")
    assert min(ALPHAS) == Fraction(1, 20)


def _raise(error: Exception) -> Callable[[], object]:
    def call() -> object:
        raise error

    return call


def test_refusals_must_be_input_errors_that_name_what_is_wrong() -> None:
    fine = InputError("x", "case 7 is odd")
    assert refused(_raise(fine), "for an odd case", naming="case 7") is fine
    for call, text in (
        (lambda: 1, "expected an InputError for an odd case, found a result"),
        (_raise(KeyError("a")), "expected an InputError for an odd case, found KeyError: 'a'"),
        (_raise(fine), 'the InputError for an odd case does not name "case 8": case 7 is odd'),
    ):
        with pytest.raises(Broken) as caught:
            refused(call, "for an odd case", naming="case 8")
        assert str(caught.value) == text


def _none(self: object, *given: object) -> object:
    return (1, 2)


class Loose:
    """A class whose parameters can be set, and are not shown."""

    randomised = False
    reads = "probability"

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def __repr__(self) -> str:
        return "Loose()"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        """Return scores that grow with every call."""
        self.scale += 1
        return probabilities * self.scale


def _undecided(self: Bars, path: Path, head: bytes) -> object:
    return 1 if Bars.recognises(self, path, head) else 0


def _curious(self: Bars, path: Path, head: bytes) -> bool:
    return head.decode("utf-8").startswith("kit")


FAULTS: list[tuple[str, object, str, str]] = [
    ("aggregator", changed(Shares, aggregate=_none), "names-kept", "a tuple, no DataArray"),
    (
        "calibrator",
        changed(Drawn, calibrate=_none),
        "scores-valid",
        "a tuple, no CalibrationScores",
    ),
    (
        "combiner",
        changed(Mean, guarantee=lambda *given: "90%"),
        "guarantee-stated",
        "it gives a str, no Guarantee",
    ),
    ("score", changed(Scaled, score=lambda s, p, u: p * 0 + np.nan), "shape", "it gives NaN"),
    ("score", changed(Scaled, score=lambda s, p, u: p > 0), "shape", "it gives bool"),
    ("score", Loose(), "frozen", "scale, any attribute can be set: make the class frozen"),
    ("score", Loose(), "readable", "it prints as Loose(), without scale"),
    ("score", Loose(), "deterministic", "two calls with the same seed differ"),
    ("reader", changed(Bars, recognises=_undecided), "recognises-its-own", "gives 1, not True"),
    ("reader", changed(Bars, recognises=_curious), "recognises-no-other", "UnicodeDecodeError"),
]


@pytest.mark.parametrize(("kind", "component", "rule", "text"), FAULTS)
def test_other_faults_are_told_as_well(
    kind: str, component: object, rule: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "good.kit"
    path.write_text(FILE, encoding="utf-8")
    data: dict[str, Any] = {"path": path} if kind == "reader" else {}  # Any: arguments, by name
    with pytest.raises(AssertionError) as caught:
        check(kind, component, **data)
    (line,) = [part for part in _rows(str(caught.value)) if part.startswith(f"{rule} ")]
    assert text in line


def _rows(table: str) -> list[str]:
    """Return the rows of a report, each on one line."""
    joined = "\n".join(table.splitlines()[1:]).replace("\n ", " ")
    return [" ".join(line.split()) for line in joined.splitlines()]
