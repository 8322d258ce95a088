"""The further measures of an evaluation, each as a call, and a made case with coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr

from plausibly.evaluation import (
    ByRange,
    ByRisk,
    coverage_by,
    entropy,
    evaluate,
    sorted_coverage,
    worst_slab_coverage,
)
from plausibly.evaluation.intervals import IntervalMethod

from . import studies as oracle

Measure = Callable[[xr.DataArray, xr.DataArray], xr.Dataset]


def features(array: xr.DataArray) -> xr.DataArray:
    names = [str(name) for name in array["example"].values]
    rows = [np.random.default_rng(int(name[1:])).normal(size=3) for name in names]
    coords = {"example": names, "column": ["age", "height", "weight"]}
    return xr.DataArray(np.array(rows), dims=("example", "column"), coords=coords)


def case(
    examples: int = 120,
    labels: int = 4,
    *,
    seed: int = 0,
    votes: int = 4,
    alphas: tuple[float, ...] = (),
) -> tuple[xr.DataArray, xr.DataArray]:
    sets, plausibilities = oracle.case(examples, labels, seed=seed, votes=votes, alphas=alphas)
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


def evaluated(
    sets: xr.DataArray, plausibilities: xr.DataArray, method: IntervalMethod
) -> xr.Dataset:
    """An evaluation with all that it can be asked for."""
    labels = [f"l{int(name[1:]) % 4}" for name in map(str, sets["example"].values)]
    order = [5 * int(name[1:]) % len(sets["label"]) for name in map(str, sets["label"].values)]
    return evaluate(
        sets.assign_coords(diagnosis=("example", labels), order=("label", order)),
        plausibilities,
        by="site",
        cluster="patient",
        ties="random",
        interval=method,
        true_label="diagnosis",
    ).data


MEASURES: dict[str, Measure] = {
    "evaluation": lambda sets, lam: evaluated(sets, lam, "auto"),
    "evaluation, betting": lambda sets, lam: evaluated(sets, lam, "betting"),
    "strata": lambda sets, lam: coverage_by(sets, lam, by=ByRange(entropy(lam), quantiles=3)),
    "strata of logits": lambda sets, lam: coverage_by(
        sets,
        lam,
        by=ByRange(entropy(features(sets).rename(column="label").assign_attrs(scale="logit"))),
        ties="any",
    ),
    "strata of a coordinate": lambda sets, lam: coverage_by(
        sets, lam, by=ByRange("age", edges=[2, 5])
    ),
    "size": lambda sets, lam: coverage_by(sets, lam, by="set-size", cluster="patient"),
    "label": lambda sets, lam: coverage_by(sets, lam, by="label", cluster="patient"),
    "risk": lambda sets, lam: coverage_by(sets, lam, by=ByRisk("cost")),
    "subgroups": lambda sets, lam: coverage_by(sets, lam, by=["site", "sex"]),
    "slab": lambda sets, lam: worst_slab_coverage(sets, lam, features(sets), directions=50),
    "sorted": lambda sets, lam: sorted_coverage(sets, lam),
    "betting": lambda sets, lam: coverage_by(sets, lam, by="label", interval="betting"),
}
