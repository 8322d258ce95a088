"""Thresholds, p-values, sets and guarantees of every pair of calibrator and combiner."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import xarray as xr

import nets
import plausibly
from plausibly.errors import InputError

CALIBRATORS: dict[str, dict[str, object]] = {
    "expected": {"name": "expected"},
    "monte-carlo": {"name": "monte-carlo", "draws": 3},
    "monte-carlo systematic": {"name": "monte-carlo", "draws": 3, "systematic": True},
    "majority-vote": {"name": "majority-vote"},
    "augmentation mean": {"name": "augmentation", "scores": "mean"},
    "augmentation pooled": {"name": "augmentation", "scores": "pooled"},
    "augmentation separate": {"name": "augmentation", "scores": "separate"},
    "mondrian site": {"name": "mondrian", "by": "site"},
    "mondrian label": {"name": "mondrian", "by": "label"},
    "mondrian site grouped": {
        "name": "mondrian",
        "by": "site",
        "inner": {"name": "clustered", "by": "patient"},
    },
    "mondrian site weighted": {
        "name": "mondrian",
        "by": "site",
        "inner": {"name": "weighted", "by": "weight"},
    },
    "weighted": {"name": "weighted", "by": "weight"},
    "clustered": {"name": "clustered", "by": "patient"},
    "grouped monte-carlo": {
        "name": "clustered",
        "by": "patient",
        "inner": {"name": "monte-carlo", "draws": 2},
    },
    "risk": {"name": "risk", "by": "risk"},
    "mass-coverage": {"name": "mass-coverage", "leave_out": 0.3},
}
COMBINERS: dict[str, dict[str, object]] = {
    **{
        name: {"name": name}
        for name in (
            "average",
            "bonferroni",
            "cauchy",
            "e-value",
            "exchangeable-average",
            "exchangeable-geometric",
            "exchangeable-median",
            "fisher",
            "geometric",
            "harmonic",
            "held-out-rank",
            "maximum",
            "median",
            "stouffer",
            "twice-average",
        )
    },
    "average smoothed": {"name": "average", "smoothed": True},
    "ecdf": {"name": "ecdf", "delta": 0.3},
    "ecdf one-sided": {"name": "ecdf", "delta": 0.4, "band": "one-sided"},
    "pac": {"name": "pac", "delta": 0.4},
    "pac binomial": {"name": "pac", "delta": 0.4, "bound": "binomial"},
    "pac held-out": {"name": "pac", "delta": 0.4, "bound": "held-out"},
    "pac mean": {"name": "pac", "delta": 0.4, "bound": "hoeffding-bentkus"},
}
LOGARITHMS = {"cauchy", "exchangeable-geometric", "fisher", "geometric", "stouffer"}
"""Combiners whose last bit depends on the processor: numpy has log and tan for several."""
CHUNKED = ("average", "average smoothed", "held-out-rank", "maximum", "pac")
FRACTIONAL = {"clustered", "mondrian site grouped", "mass-coverage"}
"""Calibrators whose plausibilities here are floats without a denominator."""


def plausibilities(calibrator: str) -> xr.DataArray:
    result = plausibly.aggregate(nets.votes())
    assert isinstance(result, xr.DataArray)
    return result.drop_vars("denominator") if calibrator in FRACTIONAL else result


def calibrated(
    calibrator: str, combiner: str, seed: int, *, form: str = "dense"
) -> plausibly.ConformalPredictor | str:
    """Return the predictor, or the name of the message that refuses the pair."""
    views = 2 if calibrator.startswith("augmentation") else 0
    model: xr.DataArray = nets.predictions(views=views)
    dense = plausibilities(calibrator)
    opinions = plausibly.to_sparse(dense) if form == "sparse" else dense
    if form == "chunks":
        model = model.chunk({"example": 7})
    calibrate = partial(
        plausibly.calibrate,
        model,
        opinions,
        calibrator=CALIBRATORS[calibrator],
        combiner=COMBINERS[combiner],
        seed=seed,
    )
    try:
        return calibrate()
    except InputError as refused:
        if refused.name != "guarantee-none":
            return refused.name
    return calibrate(allow_no_guarantee=True)


def answers(
    predictor: plausibly.ConformalPredictor, new: xr.DataArray, combiner: str
) -> Iterator[str]:
    texts = nets.twelve_digits if combiner in LOGARITHMS else nets.hexadecimal
    try:
        taus = predictor.threshold(list(nets.ALPHAS))
        yield f"  threshold {nets.hexadecimal(taus.transpose('alpha', ...))}"
    except InputError as refused:
        yield f"  threshold {refused.name}"
    p = predictor.p_values(new).compute() if predictor.has_p_values else None
    sets = predictor.predict(new, list(nets.ALPHAS)).compute()
    for example in new["example"].values.tolist():
        values = "without" if p is None else texts(p.sel(example=example).transpose("label", ...))
        kept = sets.sel(example=example).transpose("alpha", "label")
        named = ["".join(np.array(nets.LABELS)[row]) or "none" for row in kept.values]
        yield f"  {example} {values} {' '.join(named)}"


def guarantee(predictor: plausibly.ConformalPredictor, alpha: str) -> str:
    """Return a guarantee as data, without its sentences of explanation."""
    result = predictor.guarantee(Fraction(alpha))
    parts = {
        "level": result.level and str(result.level),
        "confidence": result.confidence and str(result.confidence),
        "target": result.target,
        "event": result.event,
        "share": result.share and str(result.share),
        "each": result.per,
        "assumes": result.assumes,
        "on_average": result.on_average,
        "vacuous": result.vacuous,
        "has": result.has,
        "needed": result.needed,
        "counted": result.unit,
        "least_alpha": result.least_alpha,
        "reference": result.reference,
    }
    return json.dumps({key: value for key, value in parts.items() if value not in (None, "", ())})


@pytest.mark.parametrize("calibrator", CALIBRATORS)
@pytest.mark.filterwarnings("ignore::plausibly.errors.PlausiblyWarning")
def test_answers_of_every_pair(calibrator: str) -> None:
    views = 2 if calibrator.startswith("augmentation") else 0
    # One augmentation of a new example is compared with the pool of all of them.
    new = nets.predictions(4, "new", 0 if calibrator == "augmentation pooled" else views)
    lines, guarantees = [], []
    for combiner in COMBINERS:
        for seed in (0, 1):
            predictor = calibrated(calibrator, combiner, seed)
            if isinstance(predictor, str):
                lines.append(f"{combiner}, seed {seed}: {predictor}")
                continue
            known = [*answers(predictor, new, combiner)]
            lines += [f"{combiner}, seed {seed}", *known]
            # Chunks of augmentations are refused; one seed shows whether the forms agree.
            forms = ("sparse",) if views or combiner not in CHUNKED else ("sparse", "chunks")
            if seed == 0:
                stated = ((alpha, guarantee(predictor, alpha)) for alpha in nets.ALPHAS)
                guarantees += [f"{combiner} at {alpha}: {data}" for alpha, data in stated]
            for form in forms if seed == 0 else ():
                another = calibrated(calibrator, combiner, seed, form=form)
                assert not isinstance(another, str), (combiner, form, another)
                other_new = new.chunk({"example": 3}) if form == "chunks" else new
                assert [*answers(another, other_new, combiner)] == known, (combiner, form)
    name = calibrator.replace(" ", "_")
    nets.compare(f"calibrations/{name}.txt", lines)
    nets.compare(f"guarantees/{name}.txt", guarantees)
