"""Small studies; coverage and intervals by loops over fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import xarray as xr

import refusals
from plausibly import compare
from tables import labelled


def aggregated(inside: Sequence[bool], plausibilities: Sequence[float]) -> Fraction:
    return sum(
        (Fraction(p) for p, held in zip(plausibilities, inside, strict=True) if held), Fraction(0)
    )


def tied_labels(plausibilities: Sequence[float]) -> list[int]:
    largest = max(plausibilities)
    return [label for label, p in enumerate(plausibilities) if p == largest]


def majority_vote(
    inside: Sequence[bool], plausibilities: Sequence[float], ties: str, uniform: float = 0.0
) -> Fraction:
    tied = tied_labels(plausibilities)
    held = [bool(inside[label]) for label in tied]
    if ties == "any":
        return Fraction(any(held))
    if ties == "all":
        return Fraction(all(held))
    if ties == "fractional":
        return Fraction(sum(held), len(held))
    if ties == "random":
        return Fraction(held[math.floor(Fraction(uniform) * len(tied))])
    return Fraction(held[0])


def cluster_t(
    values: Sequence[float], clusters: Sequence[object], weights: Sequence[float] | None = None
) -> tuple[float, float, float]:
    """Mean, its standard error by leaving out each cluster, and Kish's degrees of freedom."""
    rows = list(zip(values, weights or [1.0] * len(values), clusters, strict=True))

    def ratio(without: object = None) -> tuple[float, float]:
        kept = [(y, w) for y, w, cluster in rows if cluster != without or without is None]
        mass = math.fsum(w for _, w in kept)
        return math.fsum(y * w for y, w in kept) / mass, mass

    mean, total = ratio()
    left = [ratio(cluster) for cluster in set(clusters)]
    error = math.sqrt(math.fsum((item - mean) ** 2 for item, _ in left))
    kish = total**2 / math.fsum((total - mass) ** 2 for _, mass in left)
    return mean, error, kish - 1


def case(
    examples: int, labels: int, *, seed: int = 0, votes: int = 4, alphas: Sequence[float] = ()
) -> tuple[xr.DataArray, xr.DataArray]:
    """Random sets and plausibilities of a few votes per example, with many ties."""
    rng = np.random.default_rng(seed)
    names = [f"e{i:04d}" for i in range(examples)]
    counts = rng.multinomial(votes, [1 / labels] * labels, size=examples)
    plausibilities = labelled(counts / votes, names, [f"l{k}" for k in range(labels)])
    if not alphas:
        return plausibilities.copy(data=rng.random((examples, labels)) < 0.6), plausibilities
    inside = rng.random((examples, labels, len(alphas))) < 0.6
    coords = {**plausibilities.coords, "alpha": list(alphas)}
    return xr.DataArray(inside, coords, ("example", "label", "alpha")), plausibilities


def tagged(
    examples: int = 120,
    labels: int = 4,
    *,
    seed: int = 0,
    votes: int = 4,
    alphas: tuple[float, ...] = (),
) -> tuple[xr.DataArray, xr.DataArray]:
    """Such a case whose examples and labels have coordinates."""
    sets, plausibilities = case(examples, labels, seed=seed, votes=votes, alphas=alphas)
    places = np.arange(examples)
    sets = sets.assign_coords(
        site=("example", np.where(places % 3 == 0, "north", "south")),
        sex=("example", np.where(places % 5 < 2, "f", "m")),
        patient=("example", places // 2),
        age=("example", (places * 37) % 90 / 10),
        risk=("label", np.resize(["low", "high", "medium"], labels)),
        cost=("label", np.arange(labels) % 3),
    )
    return sets, plausibilities


def features(array: xr.DataArray) -> xr.DataArray:
    names = [str(name) for name in array["example"].values]
    rows = [np.random.default_rng(int(name[1:])).normal(size=3) for name in names]
    coords = {"example": names, "column": ["age", "height", "weight"]}
    return xr.DataArray(np.array(rows), dims=("example", "column"), coords=coords)


def world(
    examples: int, *, labels: int = 4, votes: int = 5, seed: int = 0
) -> tuple[xr.DataArray, xr.DataArray]:
    """Predictions and plausibilities in which experts disagree, two examples a patient."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(labels, 0.6), size=examples)
    counts = np.stack([rng.multinomial(votes, row) for row in probabilities])
    plausibilities = labelled(counts / votes, "case ", [f"l{k}" for k in range(labels)])
    predictions = plausibilities.copy(data=probabilities)
    patient = [f"p{i // 2}" for i in range(examples)]
    return predictions.assign_coords(patient=("example", patient)), plausibilities


def sites(examples: int = 60) -> tuple[xr.DataArray, xr.DataArray]:
    """Return predictions, with patients of two examples and sites of many, and plausibilities."""
    predictions, plausibilities = world(examples)
    site = ["north" if i // 2 % 3 else "south" for i in range(examples)]
    return predictions.assign_coords(site=("example", site)), plausibilities


def quiet(*arguments: object, **options: object) -> xr.Dataset:
    with refusals.quiet():
        return compare(*arguments, **options).data  # type: ignore[arg-type]  # whatever a test asks for
