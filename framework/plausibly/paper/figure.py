"""Figures of the paper: numbers over random splits of data, pictures and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import attrs
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from plausibly.calibration.alphas import AlphaLike
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.inputs import HOLES
from plausibly.evaluation.splits import split, split_keys
from plausibly.evaluation.study import compare
from plausibly.kernels import coverage
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools, Floats
from plausibly.paper.data import Data
from plausibly.paper.page import Claim, Drawing, wanted
from plausibly.progress import Tick

TEST = 0.5
DRAWS = 10
METHOD, SPLIT, REPEAT = "method", "split", "repetition"
MEASURES = (
    "aggregated_coverage",
    "majority_vote_coverage",
    "true_coverage",
    "set_size",
    HOLES,
)


def monte_carlo(draws: int = DRAWS, **others: str) -> MethodTable:
    return {"calibrator": "monte-carlo", "draws": draws, **others}


@attrs.frozen(kw_only=True, eq=False)
class Study:
    """Random splits of a figure's data."""

    source: Callable[[], Data]
    alpha: AlphaLike
    splits: int = 100
    seed: int = 1
    progress: Tick | None = None

    @property
    def data(self) -> Data:
        return self.source()

    def tick(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)

    def rows(self, number: int, *, test: float = TEST) -> Bools:
        """Return which examples are test examples in a split, (example,)."""
        hashes = hash_names(self.data.predictions[names.EXAMPLE].values)
        keys = split_keys(self.seed, number)
        return split(hashes, keys, test=test, groups=self.data.groups)

    def over_splits(self, measure: Callable[[int, Bools], ArrayLike]) -> Floats:
        """Return numbers of every split, (..., split), from its number and its test examples."""
        results = []
        for number in range(self.splits):
            results.append(measure(number, self.rows(number)))
            self.tick(number + 1, self.splits)
        return np.stack(results, axis=-1)

    def calibrated(
        self,
        rows: Bools,
        method: MethodTable,
        *,
        seed: int,
        plausibilities: xr.DataArray | None = None,
    ) -> ConformalPredictor:
        """Return a predictor that is calibrated on all but the test examples."""
        call: Callable[..., ConformalPredictor] = calibrate  # it checks each argument by name
        known = self.data.plausibilities if plausibilities is None else plausibilities
        model = self.data.predictions[~rows]
        return call(model, known[~rows], **method, seed=seed, cluster=self.data.cluster)

    def measured(
        self, predictor: ConformalPredictor, rows: Bools, alpha: AlphaLike | None = None
    ) -> dict[str, float]:
        """Return mean coverages and mean set size of test examples."""
        alpha = self.alpha if alpha is None else alpha
        sets = predictor.predict_array(self.data.predictions.values[rows], alpha)
        shares = self.data.plausibilities.values[rows]
        measures = {
            "aggregated_coverage": coverage.aggregated(sets, shares),
            "majority_vote_coverage": coverage.majority_vote(sets, shares),
            "set_size": coverage.sizes(sets),
        }
        if self.data.true_label is not None:
            measures["true_coverage"] = coverage.aggregated(sets, self.data.certain.values[rows])
        return {name: float(values.mean()) for name, values in measures.items()}

    def compared(self, methods: Mapping[str, MethodTable]) -> xr.Dataset:
        """Return measures and levels of several methods on random halves, (method, split)."""
        study = compare(
            self.data.predictions,
            self.data.plausibilities,
            methods,
            alphas=[self.alpha],
            splits=self.splits,
            test=TEST,
            cluster=self.data.cluster,
            seed=self.seed,
            true_label=self.data.true_label,
            progress=self.progress,
        ).data.isel({names.ALPHA: 0}, drop=True)
        level = study["guaranteed_level"].variable
        kept = study[[name for name in MEASURES if name in study]].drop_attrs(deep=False)
        return kept.drop_vars(["guaranteed", "guaranteed_level"]).assign(guaranteed_level=level)

    def facts(self, **others: object) -> dict[str, object]:
        return {
            "data": self.data.name,
            "about": self.data.about,
            "simulated": int(self.data.simulated),
            "splits": self.splits,
            "alpha": float(self.alpha),
            "seed": self.seed,
            **others,
        }


@attrs.frozen
class Figure:
    """A figure of the paper: numbers, and picture and claim made from the numbers alone."""

    data: Callable[[int], Data]
    alpha: AlphaLike
    numbers: Callable[[Study], xr.Dataset]
    draw: Callable[[xr.Dataset], Drawing]
    statement: Callable[[xr.Dataset, float], Claim]

    def claim(self, numbers: xr.Dataset) -> Claim:
        return self.statement(numbers, wanted(numbers))

    def measure(
        self,
        data: Data | None = None,
        alpha: AlphaLike | None = None,
        *,
        splits: int = 100,
        seed: int = 1,
        progress: Tick | None = None,
    ) -> xr.Dataset:
        source = partial(self.data, seed) if data is None else lambda: data
        alpha = self.alpha if alpha is None else alpha
        study = Study(source=source, alpha=alpha, splits=splits, seed=seed, progress=progress)
        numbers = self.numbers(study)
        return numbers if numbers.attrs else numbers.assign_attrs(study.facts())
