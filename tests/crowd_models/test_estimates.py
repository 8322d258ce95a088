"""Aggregators of annotators: equations in fractions, simulated crowds, and joint estimates."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import plausibly
from crowd_models_worlds import (
    ANNOTATORS,
    LABELS,
    Shares,
    Votes,
    assert_close,
    crowd,
    table_of,
    votes,
)
from plausibly.errors import PlausiblyWarning
from plausibly.plugin import AGGREGATOR, Aggregator, Keys, resolve
from plausibly.registry import default
from plausibly_builtins.crowd_models.models import (
    DawidSkene,
    OneCoin,
    WeightedVote,
    WorkerAgreement,
)
from refusals import quiet, warned
from tables import labelled

# ---- the equations with loops and products, as a person would with pen and paper
#
# Nothing of the product is used, and no logarithm: with whole response weights everything is a
# fraction, exact to the end. Their digits double in each round: from the third on floats are taken
# instead.

Chances = dict[tuple[str, str], Fraction]
"""By true label and said label, of one annotator."""


def shares(
    votes: Votes, labels: Sequence[str], worth: Mapping[str, Fraction] | None = None
) -> Shares:
    """Weight of those who say a label / weight of all."""
    found: Shares = {}
    for example, annotator, label, times in votes:
        row = found.setdefault(example, dict.fromkeys(labels, Fraction(0)))
        row[label] += times * (1 if worth is None else worth[annotator])
    return {e: {k: v / sum(row.values()) for k, v in row.items()} for e, row in found.items()}


def agreement(votes: Votes, labels: Sequence[str]) -> dict[str, Fraction]:
    """Share of an annotator's responses that say a label with the most votes, 1/L where L tie."""
    counts = shares(votes, labels)
    right: dict[str, Fraction] = {}
    total: dict[str, int] = {}
    for example, annotator, label, times in votes:
        most = max(counts[example].values())
        top = [k for k, v in counts[example].items() if v == most]
        right[annotator] = right.get(annotator, Fraction(0))
        right[annotator] += Fraction(times, len(top)) if label in top else 0
        total[annotator] = total.get(annotator, 0) + times
    return {q: right[q] / total[q] for q in total}


@attrs.frozen(kw_only=True)
class Step:
    """One round: chances of annotators, and the plausibilities that they give."""

    chance: dict[tuple[str, str, str], Fraction]  # annotator, true label, said label
    shares: Shares


_EXACT_ROUNDS = 2


def _steps(
    votes: Votes,
    labels: Sequence[str],
    rounds: int,
    label_smoothing: Fraction,
    maximise: Callable[[Votes, Shares], Chances],
) -> list[Step]:
    """Return the rounds from label frequency on; `maximise` is of the votes of one annotator."""
    lam = shares(votes, labels)
    if rounds > _EXACT_ROUNDS:  # floats count like fractions, but for rounding
        lam = {e: {k: float(v) for k, v in row.items()} for e, row in lam.items()}  # type: ignore[misc]  # mypy takes the rows for numbers
    steps: list[Step] = []
    for _ in range(rounds):
        size = len(lam) + len(labels) * label_smoothing
        p = {k: (sum(row[k] for row in lam.values()) + label_smoothing) / size for k in labels}
        joint: Shares = {}
        chance: dict[tuple[str, str, str], Fraction] = {}
        for q in sorted({annotator for _, annotator, _, _ in votes}):
            own = maximise([vote for vote in votes if vote[1] == q], lam)
            chance |= {(q, *pair): value for pair, value in own.items()}
        for example, annotator, label, times in votes:
            row = joint.setdefault(example, dict(p))
            for k in labels:
                row[k] *= chance[annotator, k, label] ** times
        lam = {e: {k: v / sum(row.values()) for k, v in row.items()} for e, row in joint.items()}
        steps.append(Step(chance=chance, shares=lam))
    return steps


def dawid_skene(
    votes: Votes,
    labels: Sequence[str],
    *,
    rounds: int,
    smoothing: Fraction = Fraction(0),
    diagonal: Fraction = Fraction(0),
    label_smoothing: Fraction = Fraction(0),
) -> list[Step]:
    """Confusion matrices, from label frequency on."""

    def maximise(own: Votes, lam: Shares) -> Chances:
        chance: Chances = {}
        for k in labels:
            counts = {answer: smoothing + (diagonal if k == answer else 0) for answer in labels}
            for example, _, label, times in own:
                counts[label] += times * lam[example][k]
            total = sum(counts.values(), Fraction(0))
            for answer in labels:
                chance[k, answer] = counts[answer] / total if total else Fraction(1, len(labels))
        return chance

    return _steps(votes, labels, rounds, label_smoothing, maximise)


def one_coin(
    votes: Votes,
    labels: Sequence[str],
    *,
    rounds: int,
    right: Fraction = Fraction(0),
    wrong: Fraction = Fraction(0),
    label_smoothing: Fraction = Fraction(0),
) -> list[Step]:
    """One chance to be right an annotator, from label frequency on."""

    def maximise(own: Votes, lam: Shares) -> Chances:
        good = sum((times * lam[e][label] for e, _, label, times in own), Fraction(0)) + right
        coin = good / (sum(times for *_, times in own) + right + wrong)
        missed = (1 - coin) / max(1, len(labels) - 1)
        return {(k, other): coin if k == other else missed for k in labels for other in labels}

    return _steps(votes, labels, rounds, label_smoothing, maximise)


# ---- the aggregators

KEYS = Keys()
pseudo = st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 2), Fraction(3)])


@pytest.mark.parametrize(
    ("make", "oracle_of", "priors"),
    [
        (DawidSkene, dawid_skene, ("smoothing", "diagonal", "label_smoothing")),
        (OneCoin, one_coin, ("right", "wrong", "label_smoothing")),
    ],
)
@settings(max_examples=50)
@given(votes(), st.tuples(pseudo, pseudo, pseudo), st.integers(1, 6))
def test_estimates_after_some_rounds(
    make: Callable[..., DawidSkene | OneCoin],
    oracle_of: Callable[..., list[Step]],
    priors: tuple[str, ...],
    given_votes: Votes,
    counts: tuple[Fraction, ...],
    rounds: int,
) -> None:
    exact = dict(zip(priors, counts, strict=True))
    steps = oracle_of(given_votes, LABELS, rounds=rounds, **exact)
    floats = {name: float(count) for name, count in exact.items()}
    with quiet():
        model = make(**floats, tolerance=0.0, iterations=rounds)
        plausibilities = model.aggregate(table_of(given_votes), KEYS)
    facts = json.loads(plausibilities.attrs["convergence"])
    step = steps[facts["iterations"] - 1]  # fewer where nothing changes any more
    assert_close(plausibilities, step.shares, within=1e-10)


@settings(max_examples=30)
@given(votes())
def test_dawid_skene_confuses_as_the_equations_say(given_votes: Votes) -> None:
    """The confusion that is told is the M-step of the plausibilities that are told."""
    model = DawidSkene(smoothing=0.5, tolerance=0.0, iterations=2)
    with quiet():
        report = model.reliability(table_of(given_votes))
    rounds = json.loads(report.attrs["convergence"])["iterations"]
    steps = dawid_skene(given_votes, LABELS, rounds=rounds + 1, smoothing=Fraction(1, 2))
    for (who, true, answers), chance in steps[-1].chance.items():
        value = float(report["confusion"].sel(annotator=who, label=true, said=answers))
        assert value == pytest.approx(float(chance), abs=1e-10)
    assert report["confusion"].sum("said").values == pytest.approx(
        np.ones((len(report.annotator), 3))
    )
    last = steps[rounds - 1].shares
    for who in report["annotator"].values:
        own = [(e, k, w) for e, q, k, w in given_votes if q == who]
        right = sum(w * last[e][k] for e, k, w in own) / sum(w for _, _, w in own)
        assert float(report["weight"].sel(annotator=who)) == pytest.approx(float(right), abs=1e-10)


@settings(max_examples=40)
@given(votes())
def test_worker_agreement(given_votes: Votes) -> None:
    worth = agreement(given_votes, LABELS)
    table = table_of(given_votes)
    plausibilities = WorkerAgreement().aggregate(table, KEYS)
    assert_close(plausibilities, shares(given_votes, LABELS, worth))
    report = WorkerAgreement().reliability(table)
    for who, weight in worth.items():
        assert float(report["weight"].sel(annotator=who)) == pytest.approx(float(weight), abs=1e-14)


@settings(max_examples=30)
@given(votes(), st.lists(st.integers(0, 4), min_size=4, max_size=4), st.integers(1, 3))
def test_weighted_vote(given_votes: Votes, weights: list[int], others: int) -> None:
    known = list(dict.fromkeys(vote[1] for vote in given_votes))
    own = {who: float(weight) for who, weight in zip(known[1:], weights, strict=False) if weight}
    worth = {who: Fraction(own.get(who, others)) for who in ANNOTATORS}
    plausibilities = WeightedVote(weights=own, others=float(others)).aggregate(
        table_of(given_votes), KEYS
    )
    assert_close(plausibilities, shares(given_votes, LABELS, worth))


@settings(max_examples=20)
@given(votes())
def test_unknown_annotators_are_one(given_votes: Votes) -> None:
    """As if one person had given all their responses, whatever that person is called."""
    part = ANNOTATORS[:2]
    as_one = [(e, "zz" if q in part else q, k, w) for e, q, k, w in given_votes]
    table = table_of(given_votes, anonymous=part)
    with quiet():
        result = DawidSkene(iterations=5, tolerance=0.0).aggregate(table, KEYS)
        agreed = WorkerAgreement().aggregate(table, KEYS)
    assert_close(agreed, shares(as_one, LABELS, agreement(as_one, LABELS)))
    steps = dawid_skene(as_one, LABELS, rounds=5, smoothing=Fraction(1, 100))
    assert_close(result, steps[-1].shares, within=1e-9)


def test_thousands_of_responses_an_example_do_not_underflow() -> None:
    """Two hundred responses per example, each with chances far from 1: 1e-2^200 is no float."""
    result = crowd(
        np.random.default_rng(0), examples=30, annotators=200, labels=5, each=200, skill=(0.2, 0.4)
    )
    plausibilities = plausibly.aggregate(result.table, "dawid-skene")
    assert np.isfinite(plausibilities.values).all()
    assert np.abs(plausibilities.values.sum(axis=1) - 1).max() < 1e-12
    assert (plausibilities.values.argmax(axis=1) == result.truth).mean() > 0.9


SMALL = crowd(np.random.default_rng(1), examples=100, annotators=8, labels=3, each=4).table


def test_convergence_is_stated() -> None:
    plausibilities = plausibly.aggregate(SMALL, "dawid-skene", tolerance=1e-4)
    facts = json.loads(plausibilities.attrs["convergence"])
    assert facts["tolerance"] == 1e-4
    assert 0 < facts["change"] <= 1e-4
    assert 3 < facts["iterations"] < 500
    report = plausibly.reliability(SMALL, "dawid-skene", tolerance=1e-4)
    assert report.attrs["convergence"] == plausibilities.attrs["convergence"]
    closer = plausibly.aggregate(SMALL, "dawid-skene", tolerance=1e-10)
    assert np.abs(closer - plausibilities).max() < 1e-2


def test_stopped_early_it_warns_with_numbers() -> None:
    with warned("not-converged", "in iteration 2", "hint iterations = 20") as caught:
        plausibly.aggregate(SMALL, "one-coin", iterations=2)
    message = caught[0].message
    assert isinstance(message, PlausiblyWarning)
    change = float(str(message.details["change"]))
    assert f"still changes by {change:.2g}" in " ".join(message.what.split())


# ---- aggregators that learn from all examples


JOINT = ("dawid-skene", "one-coin", "worker-agreement")
ALONE = ("label-frequency", "majority-vote", "weighted-vote", "bootstrap")
IF = "plausibilities are those that {} would estimate from calibration and new examples together"

Array = NDArray[np.float64]


@pytest.mark.parametrize("name", [*JOINT, *ALONE])
def test_who_is_joint(name: str) -> None:
    """A bootstrap, or an exclusion of no more than is named, is what its inner aggregator is."""
    assert resolve(AGGREGATOR, name).joint == (name in JOINT)
    for around, options in (("bootstrap", {}), ("exclude", {"fewer_than": 1})):
        assert resolve(AGGREGATOR, around, {"inner": name, **options}).joint == (name in JOINT)


def test_a_bootstrap_of_a_model() -> None:
    """One estimate a resample; each of them is told of no convergence of its own."""
    result = crowd(np.random.default_rng(0), examples=30, annotators=5, labels=3, each=4)
    with quiet():
        plausibilities = plausibly.aggregate(
            result.table, {"name": "bootstrap", "inner": "one-coin"}, draws=3
        )
    assert plausibilities.dims == ("draw", "example", "label")
    assert np.abs(plausibilities.sum("label") - 1).max() < 1e-12
    assert plausibilities.attrs["joint"] == "bootstrap"
    assert "convergence" not in plausibilities.attrs
    assert float(np.abs(plausibilities.diff("draw")).max()) > 0.01


def predictions(rng: np.random.Generator, truth: NDArray[np.intp], labels: int) -> Array:
    logits = rng.normal(size=(truth.size, labels))
    logits[np.arange(truth.size), truth] += 1.5
    weights = np.exp(logits)
    shares: Array = weights / weights.sum(axis=1, keepdims=True)
    return shares


@pytest.mark.parametrize("combiner", ["average", "pac"])
def test_the_guarantee_states_a_joint_aggregator(combiner: str) -> None:
    result = crowd(np.random.default_rng(0), examples=120, annotators=5, labels=3, each=3)
    shares = predictions(np.random.default_rng(1), result.truth, 3)
    pred = labelled(shares, result.table.example.values, ["l0", "l1", "l2"])

    def answers(aggregator: str) -> plausibly.Guarantee:
        return plausibly.calibrate(
            pred, result.table, aggregator=aggregator, combiner=combiner, calibrator="monte-carlo"
        ).guarantee(0.2)

    joint, plain = answers("dawid-skene"), answers("label-frequency")
    added = [item for item in joint.assumes if item not in plain.assumes]
    assert added == [IF.format("dawid-skene")]
    assert len(joint.assumes) == len(plain.assumes) + 1
    assert joint.level == plain.level
    assert "dawid-skene would estimate" in " ".join(str(joint).split())
    more = [note for note in joint.notes if note not in plain.notes]
    assert [note.partition(":")[0] for note in more] == (
        ["calibration examples share that estimate and are not independent"]
        if combiner == "pac"
        else []
    )


# ---- exchangeability, simulated


def covered(
    scores: Array, plausibilities: Array, score: Array, wanted: Array, alpha: float = 0.1
) -> float:
    """Plausibility `wanted` of the labels that a calibration on the others lets in."""
    flat, mass = scores.ravel(), plausibilities.ravel()
    order = np.argsort(flat)
    below = np.append(0.0, np.cumsum(mass[order]))
    p = (below[np.searchsorted(flat[order], score, side="right")] + 1) / (len(scores) + 1)
    return float(wanted @ (p > alpha + 1e-12))


def measured(model: Aggregator, examples: int, bags: int) -> tuple[list[float], list[float], float]:
    """Leave each example of each bag out: coverage of bags that are aggregated with and without.

    And how far plausibilities move where one example is left out.
    """
    together, alone, moved = [], [], []
    for bag in range(bags):
        rng = np.random.default_rng([examples, bag])
        result = crowd(rng, examples=examples, annotators=6, labels=3, each=3, skill=(0.4, 0.9))
        scores = predictions(rng, result.truth, 3)
        names = result.table["example"].values
        plausibilities = model.aggregate(result.table, KEYS).values
        with_it, without = [], []
        for out in range(examples):
            kept = np.arange(examples) != out
            own = model.aggregate(
                plausibly.select_annotations(result.table, example=names[kept]), KEYS
            ).values
            with_it.append(
                covered(scores[kept], plausibilities[kept], scores[out], plausibilities[out])
            )
            without.append(covered(scores[kept], own, scores[out], plausibilities[out]))
            moved.append(np.abs(own - plausibilities[kept]).sum(axis=1).mean() / 2)
        together.append(float(np.mean(with_it)))
        alone.append(float(np.mean(without)))
    return together, alone, float(np.mean(moved))


MODELS: dict[str, Aggregator] = {
    "dawid-skene": DawidSkene(),
    "one-coin": OneCoin(),
    "worker-agreement": WorkerAgreement(),
}


@pytest.mark.parametrize("name", MODELS)
def test_estimated_together_every_bag_keeps_its_guarantee(name: str) -> None:
    """A symmetric function of exchangeable examples is exchangeable: no bag falls below."""
    with quiet():
        together, alone, moved = measured(MODELS[name], 13, 3)
    assert min(together) >= 0.9 - 1e-12
    # Without the new example, it is close to that; the page has larger bags, and more.
    assert np.mean(alone) == pytest.approx(np.mean(together), abs=0.03)
    assert moved > 0


@pytest.mark.slow
def test_the_table_of_the_page(project: Path) -> None:
    page = (project / "docs" / "crowd.md").read_text(encoding="utf-8")
    for name, model in MODELS.items():
        for size, bags in ((13, 12), (61, 3)):
            with quiet():
                *coverages, moved = measured(model, size, bags)
            together, alone = (np.mean(coverage) for coverage in coverages)
            row = f"| `{name}` | {size - 1} | {together:.3f} | {alone:.3f} | {moved:.3f} |"
            assert row in page, row


# ---- docs/crowd.md


@pytest.mark.parametrize(("plugin", "count"), [("crowd-models", 5), ("crowd-kit", 8)])
def test_every_aggregator_is_on_the_page(project: Path, plugin: str, count: int) -> None:
    page = (project / "docs" / "crowd.md").read_text(encoding="utf-8")
    entries = [e for e in default().entries() if e.source.plugin == plugin]
    assert len(entries) == count
    for entry in entries:
        name = entry.qualified if entry.extra else entry.name
        rows = page.count(f"| `{name}` |")
        joint = plugin == "crowd-models" and default().create(AGGREGATOR, name).joint
        assert rows == 3 if joint else rows >= 1
