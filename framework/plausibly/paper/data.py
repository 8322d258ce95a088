"""Data of the paper's figures: the toy, rated nodules, the skin case, or a user's own."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import softmax

from plausibly.conformal.aggregate import aggregate
from plausibly.data import names, validate
from plausibly.data.names import several
from plausibly.demo import subjects
from plausibly.errors import InputError, counted, listed
from plausibly.evaluation import inputs
from plausibly.extras import require
from plausibly.io import read_annotations
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Floats

SOURCE = "plausibly reproduce"


@attrs.frozen(kw_only=True, eq=False)
class Data(subjects.Subject):
    """Predictions and plausibilities of the same examples, in the same order."""

    name: str
    simulated: bool = False

    @property
    def certain(self) -> xr.DataArray:
        """Plausibilities of 1 for the true label, (example, label), for data that have one."""
        true = cast("xr.DataArray", self.true_label).values[:, None]
        hit = np.equal(true, self.predictions[names.LABEL].values).astype(np.float64)
        certain = self.predictions.copy(data=hit).rename("plausibilities")
        return certain.drop_attrs(deep=False)  # the scale marks predictions


TRAINING = 1000
_HIDDEN = 32
_SPREAD = 0.2


@cache
def toy_data(points: int, seed: int) -> Data:
    """Return the toy with the predictions of a perceptron fitted to `TRAINING` further points."""
    neural = require("sklearn.neural_network", extra="demo", source=SOURCE)
    hashes = hash_names(f"t{i}" for i in range(1, TRAINING + 1))
    labels, where = subjects.draw(hashes, Keys(seed, "toy"))
    network = neural.MLPClassifier(
        hidden_layer_sizes=(_HIDDEN,), solver="lbfgs", alpha=1.0, max_iter=5000, random_state=0
    )
    with one_thread():
        network.fit((where - 0.5) / _SPREAD, labels)
    toy = subjects.make_toy(points, seed=seed)
    predicted = network.predict_proba((toy.points.values - 0.5) / _SPREAD)
    return Data(
        name="toy",
        about=f"toy: {counted(points)} points of three Gaussians with their true posterior, a "
        f"perceptron fitted to {counted(TRAINING)} others",
        predictions=toy.predictions.copy(data=np.asarray(predicted, dtype=np.float64)),
        plausibilities=toy.plausibilities,
        true_label=toy.true_label,
    )


@cache
def nodules(seed: int) -> Data:
    subject = subjects.load("nodules", seed)
    return Data(
        name="nodules",
        about=f"{counted(len(subject))} lung nodules rated by 3 or 4 radiologists, logistic "
        "regression out of fold, split by patient",
        predictions=subject.predictions,
        plausibilities=subject.plausibilities,
        cluster=subject.cluster,
    )


def one_thread() -> contextlib.AbstractContextManager[object]:
    """Return a context in which linear algebra uses one thread: quicker on matrices this small."""
    threads = require("threadpoolctl", extra="demo", source=SOURCE)
    limits: contextlib.AbstractContextManager[object] = threads.threadpool_limits(limits=1)
    return limits


def own_data(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    cluster: str | None,
    name: str,
) -> Data:
    model = validate.check_predictions(predictions)
    model, matched = inputs.matched(model, inputs.as_plausibilities(plausibilities))
    if cluster is not None:
        groups = inputs.example_values(cluster, (model, matched))
        model = model.assign_coords({cluster: (names.EXAMPLE, groups)})
    examples, labels = model.shape
    return Data(
        name=name,
        about=f"{name}: {several(examples, 'example')}, {several(labels, 'label')}",
        predictions=model,
        plausibilities=matched,
        cluster=cluster,
    )


ANNOTATIONS = "dermatology_selectors.json"
CONDITIONS = "dermatology_conditions.txt"
PREDICTIONS = tuple(f"dermatology_predictions{number}.txt" for number in range(4))

_ROUNDED = 0.02  # tolerance of the sum of a row of four-digit probabilities

# A made-up model that puts the majority vote among its first three in about 72% of the cases.
_SHARP, _NOISE, _COMMON = 1.0, 2.0, 0.2


def read(folder: Path, *, simulate: bool = False, seed: int = 1) -> Data:
    annotations = _first(folder, [ANNOTATIONS])
    conditions = _first(folder, [CONDITIONS])
    plausibilities = aggregate(read_annotations(annotations, "selectors", conditions))
    if simulate:
        values, source = _simulated(plausibilities, seed), "SIMULATED predictions"
    else:
        path = _first(folder, PREDICTIONS)
        values, source = _numbers(path, plausibilities.shape), path.name
    return Data(
        name="derm",
        about=f"skin: {counted(len(plausibilities))} cases, {plausibilities.shape[1]} conditions, "
        f"inverse-rank plausibilities, {source}",
        predictions=plausibilities.copy(data=values)
        .rename("predictions")
        .reset_coords(drop=True)
        .assign_attrs({names.SCALE: "probability"}),
        plausibilities=plausibilities,
        simulated=simulate,
    )


def _first(folder: Path, wanted: Sequence[str]) -> Path:
    for name in wanted:
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        "derm-file-missing",
        f"{folder} has no {wanted[0]}",
        expected=f"{ANNOTATIONS}, {CONDITIONS} and {PREDICTIONS[0]}, which are public",
        found=listed(sorted(path.name for path in folder.glob("*"))) or "no such folder, or empty",
        hint="--derm FOLDER, with these files; --simulate where only the predictions are missing",
        source=str(folder),
    )


def _numbers(path: Path, shape: tuple[int, ...]) -> Floats:
    """Return the probabilities of a file, rows divided by their sums, which text has rounded."""
    problem = "other numbers of rows and columns"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty file has the wrong shape, too
            values: Floats = np.loadtxt(path, dtype=np.float64, ndmin=2)
        if values.shape == shape:
            sums, problem = values.sum(axis=1), "a row that is no distribution"
            if values.min() >= 0 and np.abs(sums - 1).max() <= _ROUNDED:
                return np.asarray(values / sums[:, None])
    except ValueError as reason:
        problem = str(reason)
    raise InputError(
        "derm-numbers",
        f"{path.name} is no table of probabilities",
        expected=f"{counted(shape[0])} rows (cases) of {shape[1]} numbers (conditions)",
        found=problem,
        hint="copy it again; annotations, conditions and predictions are of one release",
        source=path.name,
    )


def _simulated(plausibilities: xr.DataArray, seed: int) -> Floats:
    values: NDArray[np.float64] = plausibilities.values
    hashes = hash_names(plausibilities[names.EXAMPLE].values)
    uniform = Keys(seed, "reproduce/derm").uniform(hashes, 2 * values.shape[1])
    normal, _ = subjects.normals(uniform[:, ::2], uniform[:, 1::2])
    common = (values.mean(axis=0) + 1 / values.size) / (1 + 1 / len(values))
    logits = _SHARP * np.log(values + _COMMON * common) + _NOISE * normal
    return np.asarray(softmax(logits, axis=1))
