"""Aggregators that learn from all examples: said, checked, and what it does to the guarantee."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import plausibly
from crowd_models_worlds import crowd
from plausibly.plugin import AGGREGATOR, Aggregator, Keys, resolve
from plausibly.registry import default
from plausibly_builtins.crowd_models.models import DawidSkene, OneCoin, WorkerAgreement
from refusals import quiet
from tables import labelled

KEYS = Keys()
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
