"""Comparisons and simulations of the kit, and faults beside those of the mutants."""

from __future__ import annotations

import random
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
from plausibly.testing.rules import Broken, farthest, global_randomness, same


def test_sameness_is_of_bits_types_and_names() -> None:
    ones = np.ones(2)
    array = xr.DataArray(ones, dims="x")
    for first, second in (
        ([ones, {"a": ("x", 1)}], [np.ones(2), {"a": ("x", 1)}]),
        (np.array([np.nan]), np.array([np.nan])),
        (array, array.copy()),
    ):
        assert same(first, second)
    for one, other in (
        (ones, ones.astype(np.float32)),
        (ones, np.ones(3)),
        ({"a": 1}, {"b": 1}),
        ([1], [1, 2]),
        ("ab", ["a", "b"]),
        (array, array.rename("y")),
        (array, array.to_dataset(name="y")),
    ):
        assert not same(one, other)
    assert farthest(np.array([1.0, -np.inf]), np.array([1.5, -np.inf])) == 0.5
    assert farthest(np.array([np.nan]), np.array([1.0])) == np.inf
    assert farthest(np.ones(2), np.ones(3)) == np.inf
    assert farthest(np.ones(0), np.ones(0)) == 0


def test_global_generators_are_watched_and_restored() -> None:
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
    with pytest.raises(Broken, match=r"at alpha 0\.10 it guarantees 0\.95 of labels; 900 of 1000 "):
        demand_coverage(p_values, [1 - alpha / 2 for alpha in ALPHAS], "labels")
    with pytest.raises(Broken, match=r"guarantees 1\.00 of labels"):
        demand_coverage(p_values, [Fraction(1)] * len(ALPHAS), "labels")


class Loose:
    """A class whose parameters can be set, and are not shown."""

    randomised = False
    reads = "probability"

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def __repr__(self) -> str:
        return "Loose()"

    def score(self, probabilities: Floats, uniform: Floats | None) -> Floats:
        self.scale += 1
        return probabilities * self.scale


def _undecided(self: Bars, path: Path, head: bytes) -> object:
    return 1 if Bars.recognises(self, path, head) else 0


def _undecodable(self: Bars, path: Path, head: bytes) -> bool:
    return head.decode("utf-8").startswith("kit")


def _silent(self: Bars, path: Path) -> str:
    raise InputError("kit-file", "a file cannot be read")


PAIR = {"simplex": "found tuple", "scores-valid": "returned no CalibrationScores"}
FAULTS: list[tuple[str, object, str, str]] = [
    *(
        (kind, changed(base, **{method: lambda self, *arguments: (1, 2)}), rule, PAIR[rule])
        for kind, base, method, rule in (
            ("aggregator", Shares, "aggregate", "simplex"),
            ("calibrator", Drawn, "calibrate", "scores-valid"),
        )
    ),
    ("combiner", changed(Mean, guarantee=lambda *_: "90%"), "guarantee-stated", "a str, no Guar"),
    ("score", changed(Scaled, score=lambda s, p, u: p * 0 + np.nan), "shape", "it gives NaN"),
    ("score", changed(Scaled, score=lambda s, p, u: p > 0), "shape", "it gives bool"),
    ("score", Loose(), "frozen", "scale, any attribute can be set: make the class frozen"),
    ("score", Loose(), "readable", "it prints as Loose(), without scale"),
    ("score", Loose(), "deterministic", "two calls with the same seed differ"),
    ("reader", changed(Bars, recognises=_undecided), "recognises-its-own", "gives 1, not True"),
    ("reader", changed(Bars, recognises=_undecodable), "recognises-no-other", "UnicodeDecodeError"),
    ("reader", changed(Bars, text=_silent), "nothing-refused", "does not name"),
]


@pytest.mark.parametrize(("kind", "component", "rule", "text"), FAULTS)
def test_further_faults_break_their_rule(
    kind: str, component: object, rule: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "good.kit"
    path.write_text(FILE, encoding="utf-8")
    data: dict[str, Any] = {"path": path} if kind == "reader" else {}  # Any: arguments, by name
    with pytest.raises(AssertionError) as caught:
        check(kind, component, **data)
    rows = str(caught.value).replace("\n ", " ").splitlines()
    (line,) = [" ".join(row.split()) for row in rows if row.startswith(f"{rule} ")]
    assert text in line
