"""`plausibly.plan`: what it gives, refuses and warns of, and that names alone decide."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import xarray as xr

import plausibly
from eval_said import check, said
from plausibly.data.annotations import rebuilt
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.kernels.random import Keys
from plausibly.planning.law import Law
from plausibly.planning.pilot import Responses
from plausibly.planning.plan import ladder
from plausibly.plugin import ANNOTATION, resolve
from refusals import refused

from .pilots import LAM, PREDICTIONS, VOTES, Argument, pilot, planned


@pytest.mark.parametrize(
    ("alpha", "two_sided", "one_sided"),
    [("0.01", 313, 313), (0.05, 1806, 1380), ("0.1", 3450, 2520), ("0.2", 6142, 4395)],
)
def test_without_a_pilot_the_law_of_one_draw(
    alpha: float | str, two_sided: int, one_sided: int
) -> None:
    found = plausibly.plan(alpha=alpha, within=0.01, confidence=0.95).data
    assert found["draws"].values.tolist() == [1]
    assert found["n_within"].values.tolist() == [two_sided]
    assert two_sided in found["n"].values
    more = plausibly.plan(alpha=alpha, within=0.01, confidence=0.95, one_sided=True).data
    assert more["n_within"].values.tolist() == [one_sided]
    assert "bootstrap_spread" not in found
    assert "between" not in found


def test_the_bounds_are_those_of_the_law() -> None:
    found = plausibly.plan(n=[5, 9, 100], confidence=0.8).data
    assert found["n"].values.tolist() == [5, 9, 100]
    assert found["vacuous"].values.tolist() == [True, False, False]
    law = Law.of(Fraction(1, 10), np.array([5, 9, 100]), 1)
    bounds = found["coverage"].transpose("bound", "draws", "n").values[:, 0]
    np.testing.assert_allclose(bounds, [law.quantile(0.1), law.quantile(0.9)], rtol=1e-12)
    np.testing.assert_array_equal(found["spread"].values[:, 0], law.spread())
    assert found["coverage"].sel(n=5).values.tolist() == [[1.0, 1.0]]
    assert plausibly.plan(n=7)["n"].values.tolist() == [7]


def test_the_combiners_say_themselves_from_where_on() -> None:
    found = plausibly.plan(alpha=[0.1, 0.05]).data
    assert found["combiner"].values.tolist() == ["average", "held-out-rank", "pac", "ecdf"]
    assert found["needed"].sel(alpha=0.1).values.tolist() == [9, 9, 97, 496]
    assert found["needed"].sel(alpha=0.05).values.tolist() == [19, 19, 189, 1981]
    assert found["needed_counts"].values.tolist() == [
        *["calibration examples", "held-out examples"] * 2,
    ]
    more = plausibly.plan(
        delta=0.01, combiners=[{"name": "ecdf", "delta": 0.01}, "twice-average"]
    ).data
    assert more["needed"].values.tolist() == [265, 19]
    assert plausibly.plan(delta=0.01)["needed"].values.tolist() == [9, 9, 49, 265]


def test_a_combiner_without_a_guarantee_is_refused() -> None:
    with pytest.raises(InputError, match="guarantee-none"):
        plausibly.plan(combiners=["fisher"])


@pytest.mark.parametrize(
    ("size", "needed", "expected"),
    [
        (689, [], [100, 200, 400, 689]),
        (60, [], [60]),
        (400, [], [100, 200, 400]),
        (300, [410], [100, 200, 300, 400, 800]),
        (0, [602], [100, 200, 400, 602, 800]),
        (0, [], [100, 200, 400, 800, 1600, 3200]),
        (0, [300_000], [100, 400, 1600, 6400, 25_600, 102_400, 300_000, 409_600]),
    ],
)
def test_numbers_of_examples_to_look_at(size: int, needed: list[int], expected: list[int]) -> None:
    assert ladder(size, needed) == expected


def test_what_a_pilot_gives() -> None:
    found = planned(within=0.02, cluster="patient")
    assert dict(found.sizes) == {
        "n": 2,
        "draws": 3,
        "bound": 2,
        "combiner": 4,
        "responses": 4,
    }
    assert found["draws"].values.tolist() == [1, 10, math.inf]
    assert found["responses"].values.tolist() == [1, 2, 3, 5]
    assert float(found["alpha"]) == 0.1
    assert found.attrs == {
        "confidence": 0.9,
        "one_sided": 0,
        "delta": 1e-4,
        "seed": 0,
        "resamples": 10,
        "within": 0.02,
        "pilot_examples": 300,
        "score": "probability",
        "aggregator": "label-frequency",
        "cluster": "patient",
        "clusters": 40,
    }
    spread = found["spread"]
    assert (spread.diff("draws") < 0).all()
    assert (spread.diff("n") < 0).all()
    needed = found["n_within"].values
    assert needed.tolist() == sorted(needed, reverse=True)
    assert (found["coverage"].sel(bound="low") < found["coverage"].sel(bound="high")).all()
    between, within = float(found["between"]), float(found["within_examples"])
    effect = float(found["design_effect"])
    for m in (1, 10, math.inf):
        sd = math.sqrt((effect * between + within / m) / 300)
        assert float(spread.sel(n=300, draws=m)) == pytest.approx(sd, rel=0.02)


def test_plausibilities_alone_have_no_single_responses() -> None:
    found = planned(said=LAM)
    assert "responses" not in found.dims
    assert found.attrs["aggregator"] == ""
    whole = planned()
    for name in ("coverage", "between", "bootstrap_spread"):
        np.testing.assert_array_equal(found[name].values, whole[name].values)


def test_the_caller_s_order_and_seed() -> None:
    other = planned(
        PREDICTIONS.isel(example=slice(None, None, -1), label=[2, 0, 3, 1]),
        plausibly.select_annotations(VOTES, example=VOTES["example"].values[::-1]),
        within=0.03,
        cluster="patient",
    )
    mine = planned(within=0.03, cluster="patient")
    xr.testing.assert_allclose(other, mine, rtol=1e-12)
    assert not planned(seed=1)["bootstrap_spread"].equals(planned()["bootstrap_spread"])


def test_resamples_beyond_the_pilot_are_not_made() -> None:
    found = planned(n=[100, 301], resamples=3)
    assert np.isnan(found["bootstrap_spread"].sel(n=301)).all()
    assert not np.isnan(found["bootstrap_spread"].sel(n=100)).any()
    assert found["bootstrap_coverage"].dims == ("n", "draws", "bound")
    assert "bootstrap_spread" not in planned(resamples=0)


def test_fewer_responses_spread_more() -> None:
    found = planned(within=0.02, responses=[1, 2, 5], resamples=0)
    assert found["responses_spread"].dims == ("responses", "n", "draws")
    assert (found["responses_spread"].sel(draws=math.inf).diff("responses") < 0).all()
    assert (found["responses_n_within"].sel(draws=math.inf).diff("responses") < 0).all()
    # one draw is one draw, from however many responses
    assert (found["responses_n_within"].sel(draws=1) == found["n_within"].sel(draws=1)).all()
    assert (found["responses_distance"].diff("responses") < 0).all()
    last = found.sel(responses=5)
    assert float(last["responses_distance"]) == 0
    np.testing.assert_allclose(last["responses_spread"], found["spread"], rtol=1e-12)
    # one response per example: every draw is that one
    single = found["responses_spread"].sel(responses=1)
    assert float(single.max("draws").sel(n=300) - single.min("draws").sel(n=300)) < 1e-12


def test_the_distance_of_one_vote_from_five() -> None:
    """Mean total variation of one vote drawn from all: 1 - sum_k lambda_k^2."""
    found = planned(responses=[1], resamples=0)
    exact = float((1 - (LAM**2).sum("label")).mean())
    assert found["responses_distance"].item() == pytest.approx(exact, abs=0.04)


@pytest.mark.parametrize("most", [1, 2, 4, 5])
def test_thinned_responses(most: int) -> None:
    said = Responses.of(VOTES, Keys(0))
    assert said is not None
    kept = said.thinned(most)
    assert np.bincount(kept["response_example"].values).tolist() == [most] * 300
    fewer, more = (
        set(zip(t["response_example"].values, t["response_annotator"].values, strict=True))
        for t in (kept, said.thinned(most + 1))
    )
    assert fewer <= more
    # by the name of the example, with the label that was said
    turned = plausibly.select_annotations(VOTES, example=VOTES["example"].values[::-3])
    other = Responses.of(turned, Keys(0))
    assert other is not None
    part = plausibly.select_annotations(kept, example=turned["example"].values)
    xr.testing.assert_identical(plausibly.aggregate(other.thinned(most)), plausibly.aggregate(part))


def test_votes_that_count_several_times_are_thinned_as_so_many() -> None:
    rows = VOTES["response_example"].values
    three = rebuilt(VOTES.assign(response_weight=("response", np.full(rows.size, 3.0))))
    said = Responses.of(three, Keys(0))
    assert said is not None
    assert said.counts.tolist() == [15] * 300
    kept = said.thinned(7)
    total = np.bincount(kept["response_example"].values, weights=kept["response_weight"].values)
    assert total.tolist() == [7.0] * 300
    assert said.steps(None) == [1, 2, 3, 5, 10, 15]


def test_weights_that_are_not_whole_cannot_be_thinned() -> None:
    rows = VOTES["response_example"].values
    broken = rebuilt(VOTES.assign(response_weight=("response", np.full(rows.size, 0.5))))
    assert "responses" not in planned(said=broken).dims
    with pytest.raises(InputError) as caught:
        planned(said=broken, responses=[1])
    assert caught.value.found == "weights that are not whole"


@pytest.mark.slow
@pytest.mark.parametrize("draws", [1, 10, math.inf])
def test_so_many_calibrations_are_within(draws: float) -> None:
    population, votes = pilot(20_000, 5, seed=9)
    lam = plausibly.aggregate(votes)
    first = {"example": slice(0, 2000)}
    found = plausibly.plan(
        population.isel(first), lam.isel(first), within=0.03, draws=[_draws(draws)], resamples=0
    ).data
    n = int(found["n_within"][0])
    rest = np.arange(2000, 20_000)
    rng = np.random.default_rng(2)
    hits = []
    how: dict[str, Argument] = {"calibrator": "expected"}
    if not math.isinf(draws):
        how = {"calibrator": "monte-carlo", "draws": int(draws)}
    for number in range(150):
        rows = rng.choice(rest, n, replace=False)
        predictor = plausibly.calibrate(
            population.isel(example=rows), lam.isel(example=rows), seed=number, **how
        )
        tau = float(predictor.threshold(0.1))
        missed = float((lam.values[rest] * (population.values[rest] < tau)).sum() / rest.size)
        hits.append(abs(missed - 0.1) <= 0.03)
    assert 0.9 - 3 * math.sqrt(0.09 / 150) - 0.01 <= np.mean(hits) <= 0.9 + 0.06


def _draws(draws: float) -> int | str:
    return "expected" if math.isinf(draws) else int(draws)


FLAT = PREDICTIONS.copy(data=np.full(PREDICTIONS.shape, 0.25))
NORTH = PREDICTIONS.assign_coords(site=("example", ["north"] * 300))
FEW, SAID = (
    PREDICTIONS[:12],
    plausibly.select_annotations(VOTES, example=PREDICTIONS["example"].values[:12]),
)
OTHER = PREDICTIONS.assign_coords(label=["a", "b", "c", "e"])


def text(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


def test_a_pilot_that_is_too_small() -> None:
    assert planned(FEW, SAID, alpha="0.084", resamples=0)


def test_responses_that_would_leave_no_variation_are_left_out() -> None:
    """Below a tie there is one label, which one of five annotators named."""
    kind = resolve(ANNOTATION, "single-label")
    votes = [
        (f"e{e}", f"q{q}", "b" if q < (1 if e == 0 else 2) else "a")
        for e, q in itertools.product(range(10), range(5))
    ]
    said = kind.build(votes, ["a", "b"])
    scores = np.where(np.arange(10) == 0, 0.01, 0.3)
    predictions = xr.DataArray(
        np.stack([1 - scores, scores], axis=1),
        dims=("example", "label"),
        coords={"example": [f"e{e}" for e in range(10)], "label": ["a", "b"]},
    )
    found = planned(predictions, said)
    assert float(found["between"]) == pytest.approx(0.2**2 / 10)
    assert "responses" not in found.dims
    assert "pilot-flat" in text(lambda: planned(predictions, said, responses=[1]))


def test_a_pilot_without_disagreement() -> None:
    one = plausibly.select_annotations(VOTES, annotator="q0")
    with pytest.warns(PlausiblyWarning):
        found = planned(said=one)
    assert "responses" not in found.dims
    for m in (10, math.inf):
        np.testing.assert_allclose(found["spread"].sel(draws=m), found["spread"].sel(draws=1))


def test_draws_need_a_pilot() -> None:
    assert plausibly.plan(draws=[1])["draws"].values.tolist() == [1]


def test_responses_that_nobody_has() -> None:
    one = plausibly.select_annotations(VOTES, annotator="q0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlausiblyWarning)
        said = text(lambda: planned(said=one, responses=[2]))
    assert "leave responses out: a single response cannot be thinned" in said


def test_other_examples_and_labels_are_refused_by_name() -> None:
    found = planned(PREDICTIONS.isel(example=slice(250)), only_common=True)
    assert found.attrs["pilot_examples"] == 250


def test_the_alpha_of_a_small_pilot_can_be_typed() -> None:
    with refused("pilot-too-small", "alpha 0.084, or plan without a pilot"):
        plausibly.plan(FEW, SAID, alpha=0.05)
    plausibly.plan(FEW, SAID, alpha=0.084, resamples=2, n=[20])


@said(__file__)
def test_what_is_said(call: str, text: str) -> None:
    check(call, text, globals())
