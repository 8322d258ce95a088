"""One calibration, any alpha: thresholds, p-values and sets, names of examples, and rounding."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, strategies as st

import plausibly
from call_files import each_call
from kit_components import Mean, Scaled, changed
from plausibly.calibration.data import ArrayScores, CalibrationData
from plausibly.calibration.examples import HashedNames
from plausibly.calibration.pvalues import Pools, PValues
from plausibly.calibration.scores import CalibrationScores
from plausibly.calibration.threshold import warn_of_vacuous
from plausibly.data.names import Names
from plausibly.io.sets import read_sets, write_sets
from plausibly.kernels import blocks, masses as kernel
from plausibly.kernels.masses import WeightedSums, storable_masses
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.sparse import Dense
from plausibly.kernels.types import Floats
from plausibly_builtins.calibrators.drawn import MonteCarlo
from plausibly_builtins.calibrators.risk import Risk
from plausibly_builtins.calibrators.wrapped import Mondrian
from plausibly_builtins.combiners.merging import Median
from refusals import refused, warned
from tables import LABELS, labelled, shares, world

ALPHAS = [0.3, 0.1, 0.05]
PREDICTOR = plausibly.calibrate(*world(100))
NEW = world(70, seed=1, start=500)[0]


def test_sets_carry_coordinates_guarantees_and_the_overlap() -> None:
    sets = PREDICTOR.predict(NEW, ALPHAS)
    assert "patient" in sets.coords
    assert sets.dtype == bool
    stated = [plausibly.Guarantee.from_json(g) for g in json.loads(sets.attrs["guarantees"])]
    assert stated == [PREDICTOR.guarantee(alpha) for alpha in ALPHAS]
    assert [g.level for g in stated] == [Fraction(7, 10), Fraction(9, 10), Fraction(19, 20)]
    assert sets.attrs["fingerprint"] == PREDICTOR.fingerprint
    assert sets.attrs["calibration_overlap"] == 0
    both = xr.concat([NEW, world(100)[0][:7]], dim="example", join="outer")
    assert PREDICTOR.predict(both, 0.1).attrs["calibration_overlap"] == 7


def test_labels_and_scale_must_be_those_of_the_calibration() -> None:
    narrow = NEW[:, :3] / NEW[:, :3].sum("label")
    with refused("predictor-labels", "predictor's 4 labels by name found 3 of them"):
        PREDICTOR.predict(narrow, 0.1)
    with refused("predictor-labels", "found 3 of them and 1 others"):
        PREDICTOR.p_values(NEW.assign_coords(label=[*LABELS[:3], "none"]))
    with refused("scale-differs"):
        PREDICTOR.predict(NEW.assign_attrs(scale="logit"), 0.1)
    assert PREDICTOR.predict(NEW.assign_attrs(scale="probability"), 0.1).dtype == bool
    predictions, answers = world(20)
    with refused("scale-unsuitable"):
        plausibly.calibrate(predictions.assign_attrs(scale="any"), answers, score="log-probability")


def test_logits_that_underflow_as_probabilities_are_told_apart_in_log_space() -> None:
    values = [[0.0, -2000.0 - i, -3000.0] for i in range(19)]
    logits = labelled(values, attrs={"scale": "logit"})
    answers = labelled(np.tile([0.0, 1.0, 0.0], (19, 1)))
    sets = plausibly.calibrate(logits, answers, score="log-probability").predict(logits, 0.1)
    assert not sets.sel(label="c").any()
    # As probabilities both are zero, and ties stay together.
    assert plausibly.calibrate(logits, answers).predict(logits, 0.1).sel(label="c").all()


def test_a_warning_says_how_many_examples_are_missing() -> None:
    predictions, answers = world(12)
    p = plausibly.calibrate(predictions, answers)
    hint = "hint alpha=0.077, or annotate 7 more"
    with warned("guarantee-vacuous", "expected at least 19 calibration examples found 12", hint):
        assert p.predict(predictions, 0.05).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not p.predict(predictions, "0.077").all()
    alone = plausibly.calibrate(*world(1), combiner="twice-average")
    with warned("guarantee-vacuous", "found 1 hint annotate 18 more"):
        alone.predict(predictions, 0.1)


@pytest.mark.parametrize(
    ("unit", "hint"),
    [
        ("held-out examples", 'hint calibrate with combiner="average", which holds none out'),
        ("calibration examples", "hint a larger alpha, or another score"),
    ],
)
def test_enough_examples_and_still_vacuous(unit: str, hint: str) -> None:
    """Examples of the lowest rank, not the number of examples, are then to blame."""
    level = Fraction(9, 10)
    guarantee = plausibly.Guarantee(
        alpha=1 - level, level=level, reason="", vacuous=True, has=500, needed=496, unit=unit
    )
    with warned("guarantee-vacuous", f"found too many of 500 {unit} {hint}"):
        warn_of_vacuous(guarantee, "ecdf")


def test_majority_vote_coverage_breaks_ties_in_the_order_of_the_calibration(tmp_path: Path) -> None:
    """Reordered test labels, and a file between, change no figure."""
    p = plausibly.calibrate(*world(60))
    new, truth = world(80, seed=7, start=400, votes=2)
    straight = plausibly.evaluate(p.predict(new, 0.4), truth).data
    turned = p.predict(new.isel(label=[3, 1, 0, 2]), 0.4)
    write_sets(turned, tmp_path / "sets.csv")
    for sets in (turned, read_sets(tmp_path / "sets.csv")):
        again = plausibly.evaluate(sets, truth.isel(label=[1, 2, 3, 0])).data
        for name in (
            "majority_vote_coverage",
            "aggregated_coverage",
            "majority_vote_coverage_mean",
        ):
            np.testing.assert_array_equal(again[name], straight[name])


def test_scores_that_tie_at_minus_infinity_are_vacuous() -> None:
    """-inf is a score like any other: nothing lies below it."""
    predictions, answers = world(60, dtype="float64")
    wrong = np.argmin(answers.values, axis=1)
    certain = predictions.copy(data=np.where(np.arange(4) == wrong[:, None], 0.0, 1 / 3))
    voted = answers.copy(data=np.eye(4)[wrong]).drop_vars("denominator")
    p = plausibly.calibrate(certain, voted, score="log-probability")
    with warned("guarantee-vacuous"):
        assert p.predict(certain, 0.2).all()


def test_an_alpha_of_many_digits_never_gets_a_smaller_set() -> None:
    """Fraction(0.3) is a hair below three tenths: the label whose p is 0.3 stays in."""
    predictions = labelled(
        np.stack([np.arange(1.0, 10.0), np.zeros(9)], axis=1), attrs={"scale": "any"}
    )
    answers = labelled(np.tile([1.0, 0.0], (9, 1)))
    p = plausibly.calibrate(predictions, answers, calibrator="majority-vote")
    assert Fraction(0.3) < Fraction(3, 10)
    assert float(p.threshold(Fraction(0.3))) == 2.0
    assert float(p.threshold("0.3")) == float(p.threshold(Fraction(3, 10))) == 3.0


@pytest.mark.parametrize(
    "combiner",
    [
        changed(Mean, combine=lambda self, p, held_out: 1e-9 * p.mean()),
        changed(Mean, combine=lambda self, p, held_out: 1e-9 * p.each().max(axis=0), needs="each"),
    ],
)
def test_a_rule_that_lets_nothing_in_has_an_infinite_threshold(combiner: Mean) -> None:
    predictions, answers = world(30)
    p = plausibly.calibrate(predictions, answers, calibrator="monte-carlo", combiner=combiner)
    assert float(p.threshold(0.1)) == np.inf
    assert not p.predict(predictions, 0.1).any()


# ---- names of examples: the same, in common, and usable


LONG = st.sampled_from(["", "example 10", "an example beyond two words "])
TEXTS = st.lists(st.builds(str.__add__, LONG, st.text("ab\0", max_size=2)), max_size=6)


def array(examples: list[str]) -> xr.DataArray:
    return labelled(np.full((len(examples), 2), 0.5), examples, attrs={"scale": "probability"})


@given(TEXTS, TEXTS)
def test_names_are_usable_hashed_and_counted_once_each(here: list[str], there: list[str]) -> None:
    first, second = Names.of(here), Names.of(there)
    assert first.usable is (len(set(here)) == len(here) and all(t and "\0" not in t for t in here))
    assert first.hashes.tolist() == hash_names(here).tolist()
    assert (len(first), first.texts, first.distinct) == (len(here), here, frozenset(here))
    rows = np.arange(len(here))[::-2]
    assert first.take(rows).hashes.tolist() == hash_names([here[row] for row in rows]).tolist()
    assert first.common(second) == len(set(here) & set(there))
    once = [sorted(set(texts)) for texts in (here, there)]
    hashed = HashedNames(hash_names(once[0]))
    assert hashed.common(Names.of(once[1])) == first.common(second)
    rows = np.arange(len(once[0]))[::-2]
    assert hashed.take(rows).hashes.tolist() == hashed.hashes[rows].tolist()
    joined = Names(first.index.append(second.index))
    assert joined.usable is Names.of([*here, *there]).usable
    assert joined.common(first) == len(set(here))


@pytest.mark.parametrize("kind", [object, None])
def test_long_names_are_the_same_however_they_are_kept(kind: type | None) -> None:
    texts = [f"case {number}" for number in range(2_000)]
    model = array(texts).assign_coords(example=pd.Index(texts, dtype=kind))
    predictor = plausibly.calibrate(model, array(texts)[::-1].drop_attrs())
    assert predictor.predict(model[5:], 0.2).attrs["calibration_overlap"] == 1_995
    new = array([f"new {number}" for number in range(1_999)])
    assert predictor.predict(new, 0.2).attrs["calibration_overlap"] == 0
    assert predictor.hashes is not None
    assert predictor.hashes.tolist() == hash_names(texts).tolist()
    for _ in range(2):
        with refused("example-twice", 'name "case 7" in rows 8 and 2,001'):
            predictor.predict(array([*texts, "case 7"]), 0.2)


@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_a_predictor_answers_for_more_alphas_than_it_remembers() -> None:
    model = labelled(np.random.default_rng(0).dirichlet([1, 1], 50))
    predictor = plausibly.calibrate(model, model.copy())
    alphas = [f"0.{number:04d}" for number in range(1, 140)]
    first = [predictor.threshold_array(alpha).tolist() for alpha in alphas]
    for alpha in alphas:
        predictor.predict(model[:2], alpha)
    assert [predictor.threshold_array(alpha).tolist() for alpha in alphas] == first


@pytest.mark.parametrize("calibrator", ["expected", "majority-vote", "monte-carlo"])
def test_predictors_of_copies_and_of_small_blocks_are_the_same(
    calibrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores that are the predictions themselves are read without a copy, and never written."""
    generator = np.random.default_rng(0)
    model = labelled(generator.dirichlet(np.ones(3), 300).astype(np.float32))
    model[3] = np.array([-0.0, 1.0, 0.0])
    answers = shares(generator.multinomial(4, [0.5, 0.3, 0.2], 300))
    before = model.copy(deep=True)
    identity = plausibly.calibrate(model, answers, calibrator=calibrator)
    others = [plausibly.calibrate(model, answers, calibrator=calibrator, score=Scaled(scale=1.0))]
    monkeypatch.setattr(blocks, "_CELLS", 5)
    monkeypatch.setattr(blocks, "_WORTH", 5)
    monkeypatch.setattr(blocks, "spare", lambda: 3)
    others.append(plausibly.calibrate(model, answers, calibrator=calibrator))
    for another in others:
        for name in ("ordered", "cumulative"):
            here, there = (getattr(p.pools.pooled, name) for p in (identity, another))
            assert here.tobytes() == there.tobytes()
        assert identity.predict(model, 0.1).equals(another.predict(model, 0.1))
        scores = identity.scores(model)
        assert scores.tobytes() == another.scores(model).tobytes()
        scores[...] = 7
        xr.testing.assert_identical(model, before)


# ---- rounding goes one way, so that sets only get larger


def data(plausibilities: Floats, **labels: list[float]) -> CalibrationData:
    n, count = plausibilities.shape
    return CalibrationData(
        scores=ArrayScores(np.random.default_rng(0).random((n, count))),
        plausibilities=Dense(plausibilities),
        denominator=None,
        examples=HashedNames(hash_names([f"e{i}" for i in range(n)])),
        labels=tuple("abcdefgh"[:count]),
        label_coordinates={name: np.array(values) for name, values in labels.items()},
    )


def uneven(n: int = 20) -> Floats:
    return np.random.default_rng(1).dirichlet(np.ones(3), n)


@pytest.mark.parametrize("at_once", [1, 2, 1 << 16])
def test_sums_of_weights_enclose_the_exact_ones(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numerators are rounded up, and the mass of all examples down; the smallest counts."""
    far = WeightedSums.of(np.array([1e-300, 1e300]), 1, 1, whole=True)
    assert far.cumulative(np.ones(2, np.int64), np.arange(2))[1] >= 1
    monkeypatch.setattr(kernel, "_AT_ONCE", at_once)
    weight, masses = np.array([1.0, 2.0**-70, 1 / 3]), np.array([5, 7, 3])
    sums = WeightedSums.of(weight, 7, 1, whole=True)
    unit = Fraction(1, 2**sums.bits)
    exact = [Fraction(float(w)) for w in weight]
    assert sums.up.tolist()[1:2] == [1] > sums.down.tolist()[1:2]
    assert sums.base * unit <= sum(exact) < (sums.base + 2) * unit
    cumulative = sums.cumulative(masses, np.arange(3)).tolist()
    for place in range(4):
        whole = sum(e * int(m) / 7 for e, m in zip(exact[:place], masses[:place], strict=True))
        assert whole <= cumulative[place] * unit <= whole + 2 * unit


@pytest.mark.parametrize("own", [Fraction(1, 3), Fraction(5, 2), Fraction(7, 3)])
def test_the_mass_of_a_new_example_is_rounded_up(own: Fraction) -> None:
    pool = Pools(CalibrationScores(scores=np.arange(6.0)[None], test_mass=own)).pooled
    assert own <= pool.test_mass < own + 1


def test_the_total_of_a_label_is_rounded_down() -> None:
    """Its atoms are rounded up to 2^-40 each; their sum stands in the denominator."""
    shares = uneven()
    calibration = Mondrian(by="label").calibrate(data(shares), Keys(0))
    for label, group in enumerate(Pools(calibration).groups):
        exact = sum(Fraction(float(share)) for share in shares[:, label]) * 2**40
        assert group.pooled.base <= exact < group.pooled.base + len(shares) + 1


def test_masses_that_doubles_cannot_hold_are_rounded_up() -> None:
    units, whole = np.array([2**55 + 1, 3, 2**54 - 7]), np.full(3, 2**56)
    stored, unit = storable_masses(units, np.arange(3), whole)
    for before, after, size in zip(units.tolist(), stored.tolist(), unit.tolist(), strict=True):
        assert 0 <= Fraction(after, size) - Fraction(before, 2**56) < Fraction(1, size)
    assert stored.tolist()[1] == 1


def test_fine_risks_are_rounded_up() -> None:
    risks = [0.12345678901, 1.0, 1 / 3]
    shares = np.full((4, 3), [0.5, 0.25, 0.25])
    calibration = Risk(by="risk").calibrate(data(shares, risk=risks), Keys(0))
    assert calibration.units is not None
    assert calibration.denominator is not None
    unit = int(calibration.denominator[0])
    for share, risk, mass in zip(shares[0].tolist(), risks, calibration.units, strict=False):
        exact = Fraction(share) * Fraction(str(risk))
        assert exact <= Fraction(int(mass), unit) < exact + Fraction(1, 10**6)
    small = Risk(by="risk").calibrate(data(uneven(), risk=[0.0123456789, 0.001, 0.0]), Keys(0))
    assert calibration.contents() == small.contents() == ""


def test_risks_and_alpha_may_be_divided_by_the_largest() -> None:
    scores, p_values = np.linspace(0, 1, 50), []
    for largest in (4.0, 1.0):
        risks = data(uneven(), risk=[0.0, largest / 4, largest])
        pool = Pools(Risk(by="risk").calibrate(risks, Keys(0))).pooled
        p_values.append(np.minimum(pool.numerators(scores) / pool.total * 4 / largest, 1))
    np.testing.assert_allclose(np.minimum(p_values[0], 1), p_values[1], rtol=1e-9)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_p_values_are_ranks_again_in_rules_that_merge_them(m: int) -> None:
    """n + 1 times a p-value is a whole number, whichever side its double is on."""
    for n in (48, 97, 102, 1000):
        pooled = Pools(CalibrationScores(scores=np.tile(np.arange(float(n)), (m, 1))))
        p_values = Median().combine(PValues.of(pooled, np.arange(-0.5, n)), None)
        factor = Fraction(m, -(-m // 2))
        exact = [min(Fraction(1), factor * rank / (n + 1)) for rank in range(1, n + 2)]
        assert p_values.tolist() == [float(p) for p in exact]


def test_each_systematic_draw_follows_the_plausibilities() -> None:
    """In order of their places the first would always be the first label."""
    shares = data(np.full((600, 3), 1 / 3))
    labels = MonteCarlo(draws=3, systematic=True).calibrate(shares, Keys(2)).label
    assert labels is not None
    for draw in labels:
        counts = np.bincount(draw, minlength=3)
        # Four standard deviations of a binomial count.
        assert np.abs(counts - 200).max() <= 4 * np.sqrt(600 * 2 / 9)
    assert (np.sort(labels, axis=0) == np.arange(3)[:, None]).mean() > 0.6


def test_the_mass_of_all_examples_is_rounded_down_next_to_a_whole_number() -> None:
    bits = WeightedSums.of(np.array([1.0, 2.0**-70]), 1, 1, whole=True).bits
    weight = np.array([1.0, np.nextafter(2.0**-bits, 0.0)])
    sums = WeightedSums.of(weight, 1, 1, whole=True)
    exact = sum(map(Fraction, weight.tolist()))
    assert (sums.bits, sums.exact) == (bits, False)
    assert sums.base * Fraction(1, 2**bits) <= exact


def same(first: pd.Index, second: pd.Index) -> set[bool]:
    """Return whether names are the same, asked of either."""
    return {Names(first).same(Names(second)), Names(second).same(Names(first))}


test_each_call_gives_its_text = each_call(__file__, globals())
