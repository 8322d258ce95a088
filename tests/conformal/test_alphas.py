"""Alpha is the decimal that was typed; the threshold of scores alone is at its exact rank."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import plausibly
from call_files import each_call
from plausibly.calibration.alphas import exact, is_several, read_alpha, read_alphas
from plausibly.kernels.types import Floats
from refusals import refused, warned
from tables import world


@given(st.integers(1, 6), st.data())
def test_every_spelling_of_a_decimal_is_the_same_alpha(digits: int, data: st.DataObject) -> None:
    """A float, its text, a Decimal and a numpy float are the decimal they show."""
    units = data.draw(st.integers(1, 10**digits // 2 - 1) if digits > 1 else st.integers(1, 4))
    decimal = Fraction(units, 10**digits)
    text = f"{units / 10**digits:.{digits}f}"
    number = float(text)
    spellings = [text, f" {text} ", number, Decimal(text), decimal, np.float64(text)]
    assert {read_alpha(value) for value in spellings} == {decimal}


@pytest.mark.parametrize("places", range(1, 10))
def test_a_float_next_to_a_decimal_is_that_decimal(places: int) -> None:
    """So that 1 - 0.9 is a tenth; text, Decimal and Fraction are what they say."""
    for units in (1, 2, 3, 7, 9):
        decimal = Fraction(units, 10**places)
        for value in (1 - float(1 - decimal), 3 * (float(decimal) / 3), float(decimal)):
            assert exact(value) == exact(np.float64(value)) == exact(np.array(value)) == decimal
    assert exact(0.1 + 1e-12) == Fraction("0.100000000001")
    assert exact(0.1 + 2e-15) != Fraction(1, 10)
    assert exact(1e-15) == Fraction(1, 10**15)
    for text in ("0.30000000000000004", Decimal("0.30000000000000004")):
        assert exact(text) == Fraction(30000000000000004, 10**17)


def test_one_reader_for_all_parameters() -> None:
    """A rank is neither lost nor won by 1 - 0.8, wherever it is typed."""
    predictor = plausibly.calibrate(*world(9))
    assert float(predictor.threshold(1 - 0.9)) == float(predictor.threshold("0.1")) > -np.inf
    assert float(predictor.threshold(np.array(0.3))) == float(predictor.threshold("0.3"))
    combiner = {"name": "pac", "bound": "held-out", "held_out": 1 - 0.7, "delta": 1 - 0.8}
    predictor = plausibly.calibrate(*world(50), combiner=combiner)
    assert predictor.summary.n_held_out == 15
    assert predictor.guarantee(1 - 0.7).confidence == Fraction(4, 5)
    mass = {"name": "mass-coverage", "leave_out": 1 - 0.9}
    predictor = plausibly.calibrate(*world(50), calibrator=mass)
    assert predictor.guarantee(0.2).share == Fraction(9, 10)


def test_large_alphas_are_warned_of() -> None:
    with warned("alpha-large", "cover 10%", "hint alpha=0.1 for 90% sets"):
        assert read_alpha(0.9) == Fraction(9, 10)
    with warned("alpha-large"):
        read_alpha("0.5")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_alpha("0.499999")


def test_several_alphas() -> None:
    """A sequence is several alphas, a text never is; repeats and none are refused."""
    assert read_alphas([1 - 0.9, "0.05"]) == [Fraction(1, 10), Fraction(1, 20)]
    assert read_alphas(np.array([0.1, 0.2])) == [Fraction(1, 10), Fraction(1, 5)]
    assert read_alphas("0.1") == [Fraction(1, 10)]
    assert is_several((0.1,))
    assert not any(is_several(value) for value in ("0.1", 0.1, np.array(0.1)))
    unfit: list[list[float | str]] = [[0.1, "0.10"], []]
    for alphas in unfit:
        with refused("alpha-range", "alphas are empty or repeat"):
            read_alphas(alphas)


# Most ranks are those of large alphas.
pytestmark = pytest.mark.filterwarnings("ignore:warning alpha-large")

EDGES = [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 1e-45, -1e-45, 2**-126, -(2**-126)]
NUMBERS = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: arrays(
        dtype,
        st.integers(1, 60),
        elements=st.sampled_from([float(np.float32(edge)) for edge in EDGES])
        | st.floats(allow_nan=False, width=32),
    )
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("draws", [1, 2, 5])
def test_it_is_the_least_score_with_a_larger_p_value(draws: int, dtype: type[np.float32]) -> None:
    pool = np.random.default_rng(draws).random((draws, 97)).astype(dtype)
    pool = np.round(pool, 2) if draws == 2 else pool
    for alpha in ("0.05", "0.1", "0.29"):  # as doubles, 0.29 * 100 is less than 29
        total = draws * 98
        least = min(s for s in pool.ravel() if (np.sum(pool <= s) + draws) / total > float(alpha))
        threshold = plausibly.score_threshold(pool, alpha)
        assert (threshold, threshold.dtype) == (least, pool.dtype)


@given(NUMBERS, st.integers(1, 60))
@settings(max_examples=80, deadline=None)
def test_it_is_what_a_sort_finds(scores: Floats, rank: int) -> None:
    rank = min(rank, len(scores))
    kept = scores.copy()
    threshold = plausibly.score_threshold(scores, Fraction(rank, len(scores) + 1))
    assert threshold.tobytes() == (np.sort(scores)[rank - 1] + scores.dtype.type(0)).tobytes()
    assert threshold.dtype == scores.dtype
    assert scores.tobytes() == kept.tobytes()


def test_too_few_examples_are_warned_of() -> None:
    pieces = ("every set contains all labels at alpha 0.1", "annotate 1 more")
    with warned("guarantee-vacuous", *pieces):
        threshold = plausibly.score_threshold(np.ones(8, dtype=np.float32), 0.1)
    assert threshold == -np.inf
    assert threshold.dtype == np.float32


CHUNKS = xr.DataArray(np.ones(20)).chunk(5)


test_each_call_gives_its_text = each_call(__file__, globals())
