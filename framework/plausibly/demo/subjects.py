"""Data of the demo: real ratings of lung nodules, and a toy with a known posterior."""

from __future__ import annotations

import csv
from importlib.resources import files
from types import ModuleType
from typing import Literal, TypeAlias

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import softmax

from plausibly import registry
from plausibly.conformal.aggregate import aggregate
from plausibly.data import names
from plausibly.data.names import text_array
from plausibly.data.records import Record
from plausibly.errors import counted
from plausibly.extras import require
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Hashes, Ints
from plausibly.protocols import ANNOTATION
from plausibly.text import percent

FEATURE = "feature"
PATIENT = "patient"

LIDC_LABELS = ("1", "2", "3", "4", "5")
"""Malignancy, from 1 (highly unlikely) to 5 (highly suspicious)."""


@attrs.frozen(kw_only=True, eq=False)
class Nodules:
    annotations: xr.Dataset
    features: xr.DataArray


def load_nodules() -> Nodules:
    """Return the 1,378 nodules of 689 patients that plausibly ships."""
    text = files("plausibly.demo").joinpath("data", "lidc_nodules.csv").read_text("utf-8")
    (_, _, _, *measured), *rows = csv.reader(text.splitlines())
    records: list[Record] = [
        (nodule, None, answer) for nodule, _, answers, *_ in rows for answer in answers.split(";")
    ]
    features = xr.DataArray(
        np.array([values for _, _, _, *values in rows], dtype=np.float64),
        dims=(names.EXAMPLE, FEATURE),
        coords={
            names.EXAMPLE: text_array([nodule for nodule, *_ in rows]),
            FEATURE: text_array(measured),
            PATIENT: (names.EXAMPLE, text_array([patient for _, patient, *_ in rows])),
        },
        name="features",
    )
    annotations = registry.resolve(ANNOTATION, "single-label").build(records, LIDC_LABELS)
    return Nodules(annotations=annotations, features=features)


AXIS = "axis"

TOY_LABELS = ("red", "green", "blue")
WEIGHTS = np.array([0.4, 0.35, 0.25])
MEANS = np.array([[0.38, 0.44], [0.62, 0.47], [0.49, 0.64]])
SIGMAS = np.array([[0.10, 0.10], [0.12, 0.10], [0.09, 0.11]])

TRAINING = 200

Reals = NDArray[np.float64]


def make_toy(examples: int = 2000, *, seed: int = 1) -> xr.Dataset:
    """Return `predictions`, `plausibilities`, `true_label` and `points` of so many examples.

    The first ones do not depend on how many there are.
    """
    keys = Keys(seed, "toy")
    example = text_array([f"x{i}" for i in range(1, examples + 1)])
    training = hash_names(f"t{i}" for i in range(1, TRAINING + 1))
    means, variance, shares = fit(*draw(training, keys))
    labels, points = draw(hash_names(example), keys)
    predicted = posterior(points, means, np.full_like(means, np.sqrt(variance)), shares)
    truth = posterior(points, MEANS, SIGMAS, WEIGHTS)
    known, dims = text_array(TOY_LABELS), (names.EXAMPLE, names.LABEL)
    return xr.Dataset(
        {
            "predictions": (dims, predicted, {names.SCALE: "probability"}),
            "plausibilities": (dims, truth),
            "true_label": (names.EXAMPLE, known[labels]),
            "points": ((names.EXAMPLE, AXIS), points),
        },
        {names.EXAMPLE: example, names.LABEL: known, AXIS: text_array(["first", "second"])},
    )


def draw(hashes: Hashes, keys: Keys) -> tuple[NDArray[np.intp], Reals]:
    """Return label codes (example,) and points (example, 2), from the examples' own uniforms."""
    pick, radius, angle = keys.uniform(hashes, 3).T
    labels = np.searchsorted(np.cumsum(WEIGHTS)[:-1], pick, side="right")
    return labels, MEANS[labels] + SIGMAS[labels] * np.stack(normals(radius, angle), axis=1)


def normals(radius: Reals, angle: Reals) -> tuple[Reals, Reals]:
    """Return two normal numbers for each pair of uniforms, by Box and Muller."""
    length = np.sqrt(-2 * np.log1p(-radius))
    return length * np.cos(2 * np.pi * angle), length * np.sin(2 * np.pi * angle)


def posterior(points: Reals, means: Reals, sigmas: Reals, weights: Reals) -> Reals:
    """Return P(Y = k | X = x), (example, label), by Bayes' rule for Gaussians."""
    steps = (points[:, None, :] - means) / sigmas
    logs = np.log(weights) - np.log(sigmas).sum(axis=1) - (steps**2).sum(axis=2) / 2
    return np.asarray(softmax(logs, axis=1))


def fit(labels: NDArray[np.intp], points: Reals) -> tuple[Reals, float, Reals]:
    counts = np.bincount(labels, minlength=len(TOY_LABELS))
    members = np.eye(len(TOY_LABELS))[labels]
    means = members.T @ points / counts[:, None]
    variance = float(np.mean((points - means[labels]) ** 2))
    return means, variance, counts / counts.sum()


FOLDS = 10
_TOLERANCE = 1e-6  # tolerance of the fit, so small that every platform prints the same figures


def fitting() -> ModuleType:
    return require("sklearn.linear_model", extra="demo", source="plausibly demo")


def out_of_fold(
    features: xr.DataArray,
    plausibilities: xr.DataArray,
    *,
    cluster: str,
    folds: int = FOLDS,
    keys: Keys,
) -> xr.DataArray:
    linear = fitting()
    fold = group_folds(features[cluster].values.astype(np.str_), folds, keys)
    shares: NDArray[np.float64] = plausibilities.values
    x: NDArray[np.float64] = features.values
    predicted = np.zeros(shares.shape)
    for number in range(folds):
        seen, unseen = np.flatnonzero(fold != number), fold == number
        centre, spread = x[seen].mean(axis=0), x[seen].std(axis=0)
        spread[spread == 0] = 1.0
        row, label = np.nonzero(shares[seen])
        model = linear.LogisticRegression(solver="newton-cg", tol=_TOLERANCE, max_iter=1000)
        model.fit(((x[seen] - centre) / spread)[row], label, sample_weight=shares[seen][row, label])
        # Labels that no example of these folds has keep the probability 0.
        predicted[np.ix_(unseen, model.classes_)] = model.predict_proba(
            (x[unseen] - centre) / spread
        )
    coords = {
        names.EXAMPLE: features[names.EXAMPLE].values,
        names.LABEL: plausibilities[names.LABEL].values,
        cluster: (names.EXAMPLE, features[cluster].values),
    }
    dims, attributes = (names.EXAMPLE, names.LABEL), {names.SCALE: "probability"}
    return xr.DataArray(predicted, coords, dims, name="predictions", attrs=attributes)


def group_folds(groups: NDArray[np.str_], folds: int, keys: Keys) -> Ints:
    """Return the fold of each example: whole groups in the order of their keys, cut evenly."""
    distinct, member, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.argsort(keys.uniform(hash_names(distinct))[:, 0], kind="stable")
    before = np.cumsum(sizes[order]) - sizes[order]
    fold = np.empty(len(distinct), dtype=np.int64)
    fold[order] = before * folds // len(groups)
    return fold[member]


Name: TypeAlias = Literal["nodules", "toy"]

_POINTS = 3000  # enough for every method that is compared to be not vacuous
_SURE = 0.8
_TIE = 1e-9  # rounding of shares of votes


@attrs.frozen(kw_only=True, eq=False)
class Subject:
    predictions: xr.DataArray
    plausibilities: xr.DataArray
    cluster: str | None = None
    true_label: xr.DataArray | None = None
    about: str
    fitted: str = ""
    examples: str = "examples"
    answers: str = "the answers"

    def __len__(self) -> int:
        return int(self.predictions.sizes[names.EXAMPLE])

    @property
    def groups(self) -> NDArray[np.str_] | None:
        name = self.cluster
        return None if name is None else self.predictions[name].values.astype(np.str_)


def _nodules(seed: int) -> Subject:
    dataset = load_nodules()
    plausibilities = aggregate(dataset.annotations)
    patients = dataset.features[PATIENT].values
    ratings = plausibilities[names.DENOMINATOR].values
    most = plausibilities.values.max(axis=1, keepdims=True)
    agreed = float((most > 1 - _TIE).mean())
    return Subject(
        predictions=out_of_fold(
            dataset.features, plausibilities, cluster=PATIENT, keys=Keys(seed, "demo/folds")
        ),
        plausibilities=plausibilities,
        cluster=PATIENT,
        about=f"{counted(len(patients))} lung nodules of {counted(len(set(patients)))} patients; "
        f"{counted(int(ratings.sum()))} malignancy grades ({LIDC_LABELS[0]} to {LIDC_LABELS[-1]}) "
        f"by {ratings.min()} or {ratings.max()} radiologists per nodule, who all agree on "
        f"{percent(agreed)} of the nodules",
        fitted="logistic regression",
        examples="nodules",
        answers="the radiologists' answers",
    )


def _toy(seed: int) -> Subject:
    toy = make_toy(_POINTS, seed=seed)
    plausibilities = toy.plausibilities
    sure = float((plausibilities.max(names.LABEL) >= _SURE).mean())
    return Subject(
        predictions=toy.predictions,
        plausibilities=plausibilities,
        true_label=toy.true_label,
        about=f"{counted(plausibilities.sizes[names.EXAMPLE])} points drawn from "
        f"{plausibilities.sizes[names.LABEL]} overlapping Gaussians, the toy of the paper, with a "
        f"known posterior: no label has {_SURE:g} of it for {percent(1 - sure)} of the points",
        fitted=f"linear discriminant fitted to {TRAINING} other points",
        examples="points",
    )


def load(name: Name, seed: int) -> Subject:
    return {"nodules": _nodules, "toy": _toy}[name](seed)
