"""`plausibly.plan`, and its command: what it gives, refuses and warns of; names alone decide."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import plausibly
from call_files import each_call
from cli_world import run
from plausibly.data.annotations import rebuilt
from plausibly.errors import InputError, PlausiblyWarning
from plausibly.kernels.random import Keys
from plausibly.planning.pilot import Law, Responses
from refusals import refused
from tables import labelled

from .pilots import LAM, PREDICTIONS, VOTES, Argument, pilot, planned


def test_the_bounds_are_those_of_the_law() -> None:
    result = plausibly.plan(n=[5, 9, 100], confidence=0.8).data
    assert result["n"].values.tolist() == [5, 9, 100]
    assert result["vacuous"].values.tolist() == [True, False, False]
    law = Law.of(Fraction(1, 10), np.array([5, 9, 100]), 1)
    bounds = result["coverage"].transpose("bound", "draws", "n").values[:, 0]
    np.testing.assert_allclose(bounds, [law.quantile(0.1), law.quantile(0.9)], rtol=1e-12)
    np.testing.assert_array_equal(result["spread"].values[:, 0], law.spread())
    assert result["coverage"].sel(n=5).values.tolist() == [[1.0, 1.0]]


def test_a_plan_with_a_pilot_has_every_part() -> None:
    result = planned(within=0.02, cluster="patient")
    assert dict(result.sizes) == {"n": 2, "draws": 3, "bound": 2, "combiner": 4, "responses": 4}
    assert result["draws"].values.tolist() == [1, 10, math.inf]
    assert result["responses"].values.tolist() == [1, 2, 3, 5]
    assert float(result["alpha"]) == 0.1
    options = {"confidence": 0.9, "one_sided": 0, "delta": 1e-4, "seed": 0, "resamples": 10}
    of_pilot = {"pilot_examples": 300, "score": "probability", "aggregator": "label-frequency"}
    clusters = {"cluster": "patient", "clusters": 40}
    assert result.attrs == {**options, "within": 0.02, **of_pilot, **clusters}
    spread = result["spread"]
    assert (spread.diff("draws") < 0).all()
    assert (spread.diff("n") < 0).all()
    needed = result["n_within"].values
    assert needed.tolist() == sorted(needed, reverse=True)
    assert (result["coverage"].sel(bound="low") < result["coverage"].sel(bound="high")).all()
    between, within = float(result["between"]), float(result["within_examples"])
    effect = float(result["design_effect"])
    for m in (1, 10, math.inf):
        sd = math.sqrt((effect * between + within / m) / 300)
        assert float(spread.sel(n=300, draws=m)) == pytest.approx(sd, rel=0.02)


def test_one_number_is_a_list_of_one() -> None:
    result = planned(draws=3, responses=2)
    xr.testing.assert_identical(result, planned(draws=[3], responses=[2]))


def test_plausibilities_alone_have_no_single_responses() -> None:
    result = planned(said=LAM)
    assert "responses" not in result.dims
    assert result.attrs["aggregator"] == ""
    whole = planned()
    for name in ("coverage", "between", "bootstrap_spread"):
        np.testing.assert_array_equal(result[name].values, whole[name].values)


def test_the_caller_s_order_and_seed() -> None:
    some: dict[str, Argument] = {"within": 0.03, "cluster": "patient", "n": [100], "draws": [1]}
    another = planned(
        PREDICTIONS.isel(example=slice(None, None, -1), label=[2, 0, 3, 1]),
        plausibly.select_annotations(VOTES, example=VOTES["example"].values[::-1]),
        **some,
    )
    mine = planned(**some)
    xr.testing.assert_allclose(another, mine, rtol=1e-12)
    assert not planned(seed=1, **some)["bootstrap_spread"].equals(mine["bootstrap_spread"])


def test_fewer_responses_spread_more() -> None:
    result = planned(within=0.02, responses=[1, 2, 5], resamples=0)
    assert result["responses_spread"].dims == ("responses", "n", "draws")
    assert (result["responses_spread"].sel(draws=math.inf).diff("responses") < 0).all()
    assert (result["responses_n_within"].sel(draws=math.inf).diff("responses") < 0).all()
    # one draw is one draw, from however many responses
    assert (result["responses_n_within"].sel(draws=1) == result["n_within"].sel(draws=1)).all()
    assert (result["responses_distance"].diff("responses") < 0).all()
    # One vote drawn from all differs from them by 1 - sum_k lambda_k^2 on average.
    exact = float((1 - (LAM**2).sum("label")).mean())
    assert float(result["responses_distance"].sel(responses=1)) == pytest.approx(exact, abs=0.04)
    last = result.sel(responses=5)
    assert float(last["responses_distance"]) == 0
    np.testing.assert_allclose(last["responses_spread"], result["spread"], rtol=1e-12)
    # one response per example: every draw is that one
    single = result["responses_spread"].sel(responses=1)
    assert float(single.max("draws").sel(n=300) - single.min("draws").sel(n=300)) < 1e-12


@pytest.mark.parametrize("most", [1, 2, 4, 5])
def test_thinned_responses(most: int) -> None:
    said = Responses.of(VOTES, Keys(0))
    kept = said.thinned(most)
    assert np.bincount(kept["response_example"].values).tolist() == [most] * 300
    fewer, more = (
        set(zip(t["response_example"].values, t["response_annotator"].values, strict=True))
        for t in (kept, said.thinned(most + 1))
    )
    assert fewer <= more
    # by the name of the example, with the label that was said
    turned = plausibly.select_annotations(VOTES, example=VOTES["example"].values[::-3])
    another = Responses.of(turned, Keys(0))
    part = plausibly.select_annotations(kept, example=turned["example"].values)
    xr.testing.assert_identical(
        plausibly.aggregate(another.thinned(most)), plausibly.aggregate(part)
    )


def test_votes_that_count_several_times_are_thinned_as_so_many() -> None:
    rows = VOTES["response_example"].values
    three = rebuilt(VOTES.assign(response_weight=("response", np.full(rows.size, 3.0))))
    said = Responses.of(three, Keys(0))
    assert said.counts.tolist() == [15] * 300
    kept = said.thinned(7)
    total = np.bincount(kept["response_example"].values, weights=kept["response_weight"].values)
    assert total.tolist() == [7.0] * 300
    assert said.steps(None) == [1, 2, 3, 5, 10, 15]


@pytest.mark.slow
@pytest.mark.parametrize("draws", [1, 10, "expected"])
def test_the_planned_share_of_calibrations_is_within(draws: int | str) -> None:
    population, votes = pilot(20_000, 5, seed=9)
    plausibilities = plausibly.aggregate(votes)
    first = {"example": slice(0, 2000)}
    result = plausibly.plan(
        population.isel(first),
        plausibilities.isel(first),
        within=0.03,
        draws=[draws],
        resamples=0,
    ).data
    n = int(result["n_within"][0])
    rest = np.arange(2000, 20_000)
    rng = np.random.default_rng(2)
    hits = []
    how: dict[str, Argument] = {"calibrator": "monte-carlo", "draws": draws}
    if draws == "expected":
        how = {"calibrator": "expected"}
    for number in range(150):
        rows = rng.choice(rest, n, replace=False)
        predictor = plausibly.calibrate(
            population.isel(example=rows), plausibilities.isel(example=rows), seed=number, **how
        )
        tau = float(predictor.threshold(0.1))
        missed = float(
            (plausibilities.values[rest] * (population.values[rest] < tau)).sum() / rest.size
        )
        hits.append(abs(missed - 0.1) <= 0.03)
    assert 0.9 - 3 * math.sqrt(0.09 / 150) - 0.01 <= np.mean(hits) <= 0.9 + 0.06


ONE_EACH = plausibly.select_annotations(VOTES, annotator="q0")
HALVES = ("response", np.full(VOTES.sizes["response"], 0.5))
HALF_VOTES = rebuilt(VOTES.assign(response_weight=HALVES))
FLAT = PREDICTIONS.copy(data=np.full(PREDICTIONS.shape, 0.25))
NORTH = PREDICTIONS.assign_coords(site=("example", ["north"] * 300))
FEW, SAID = (
    PREDICTIONS[:12],
    plausibly.select_annotations(VOTES, example=PREDICTIONS["example"].values[:12]),
)
OTHER = PREDICTIONS.assign_coords(label=["a", "b", "c", "e"])


def test_responses_that_would_leave_no_variation_are_left_out() -> None:
    """Below a tie there is one label, which one of five annotators named."""
    votes = [
        (f"e{e}", f"q{q}", "b" if q < min(e + 1, 2) else "a")
        for e, q in itertools.product(range(10), range(5))
    ]
    said = plausibly.build_annotations("single-label", votes, ["a", "b"])
    scores = np.where(np.arange(10) == 0, 0.01, 0.3)
    predictions = labelled(np.stack([1 - scores, scores], axis=1))
    result = planned(predictions, said)
    assert float(result["between"]) == pytest.approx(0.2**2 / 10)
    assert "responses" not in result.dims
    with pytest.raises(InputError, match="pilot-flat"):
        planned(predictions, said, responses=[1])


def test_a_pilot_without_disagreement() -> None:
    with pytest.warns(PlausiblyWarning):
        result = planned(said=ONE_EACH)
    assert "responses" not in result.dims
    for m in (10, math.inf):
        np.testing.assert_allclose(result["spread"].sel(draws=m), result["spread"].sel(draws=1))


def test_the_alpha_of_a_small_pilot_can_be_typed() -> None:
    with refused("pilot-too-small", "alpha 0.084, or plan without a pilot"):
        plausibly.plan(FEW, SAID, alpha=0.05)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with the files of a pilot, in which commands run."""
    folder = tmp_path_factory.mktemp("pilot")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        model = PREDICTIONS.drop_vars("patient").to_pandas().rename_axis("example")
        model.to_csv("pilot.csv")
        votes = plausibly.to_frame(VOTES)[["example", "annotator", "label"]]
        votes.to_csv("votes.csv", index=False)
        PREDICTIONS["patient"].to_series().to_csv("patients.csv")
        plausibly.write_plausibilities(LAM, "lam.csv")
        yield folder


test_each_call_gives_its_text = each_call(__file__, globals(), "folder")


@pytest.mark.usefixtures("folder")
def test_the_document_of_the_command() -> None:
    """Its fields are recorded in ``nets/commands.txt``."""
    words = "plan -a votes.csv -p pilot.csv --within 0.03 --n 100,400 --set plan.resamples=4 --json"
    document = run(*words.split()).document
    measured = plausibly.plan(
        PREDICTIONS, VOTES, alpha=["0.1"], within=0.03, n=[100, 400], resamples=4
    )
    same = json.loads(json.dumps(measured.to_json()).replace("NaN", "null"))
    assert {key: document[key] for key in same} == same
    (result,) = document["results"]
    assert result["by_n"][3]["bootstrap_spread"] is None  # the pilot has fewer examples
    assert [item["draws"] for item in result["n_within"]] == [1, 10, "expected"]
