"""The data of the figures: the toy with a fitted network, rated nodules, or what a user gives."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.data import align, names, validate
from plausibly.demo import subjects, toy
from plausibly.errors import counted
from plausibly.evaluation.inputs import as_plausibilities, example_values
from plausibly.extras import require
from plausibly.kernels.random import Keys, hash_names

WHOSE = "plausibly reproduce"
TRAINING = 1000
_HIDDEN = 32
_SPREAD = 0.2


@attrs.frozen(kw_only=True, eq=False)
class Data:
    """Predictions and plausibilities of the same examples, in the same order.

    Attributes
    ----------
    name : str
        A word for them, such as ``"toy"``; a column of every table of numbers.
    about : str
        What they are, for the line below a picture.
    predictions, plausibilities : DataArray, (example, label)
    true : DataArray, (example,), or None
        Known labels; they calibrate nothing unless a figure says so.
    group : str or None
        Coordinate of the predictions by which examples are split.
    simulated : bool
        Whether the predictions come from no model; pictures and tables say so.
    """

    name: str
    about: str
    predictions: xr.DataArray
    plausibilities: xr.DataArray
    true: xr.DataArray | None = None
    group: str | None = None
    simulated: bool = False

    def __len__(self) -> int:
        return int(self.predictions.sizes[names.EXAMPLE])

    @property
    def groups(self) -> NDArray[np.str_] | None:
        """Group of each example, where they have one."""
        return None if self.group is None else self.predictions[self.group].values.astype(np.str_)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels, in the order of the predictions."""
        return tuple(map(str, self.predictions[names.LABEL].values))

    @property
    def sure(self) -> xr.DataArray:
        """Plausibilities that know the true label, (example, label), for data that have one.

        Raises
        ------
        ValueError
            Where no label is known.
        """
        if self.true is None:
            raise ValueError(f"no label of the {self.name} is known")
        hit: NDArray[np.bool_] = self.true.values[:, None] == np.array(self.labels)
        return self.predictions.copy(data=hit.astype(np.float64)).rename("plausibilities")

    def described(self) -> dict[str, str | int]:
        """Return what every table of numbers says of its data, as attributes."""
        return {"data": self.name, "about": self.about, "simulated": int(self.simulated)}


@attrs.frozen(kw_only=True, eq=False)
class ToyModel:
    """The toy of section 2.2 with a small network that was fitted to other points.

    Attributes
    ----------
    drawn : Toy
        Points, their posterior and the labels that they were drawn from.
    network : MLPClassifier
    """

    drawn: toy.Toy
    network: Any  # Any: scikit-learn may not be installed, and has no types

    def probabilities(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the network says of points in the plane, (point, label)."""
        return np.asarray(self.network.predict_proba(_standardised(points)), dtype=np.float64)


@cache
def toy_model(points: int, seed: int) -> ToyModel:
    """Return the toy, with a multilayer perceptron fitted to `TRAINING` further points.

    Parameters
    ----------
    points : int
    seed : int

    Raises
    ------
    MissingExtra
        ``extra-missing`` without scikit-learn.
    """
    neural = require("sklearn.neural_network", extra="demo", whose=WHOSE)
    labels, where = toy.draw(hash_names(f"t{i}" for i in range(1, TRAINING + 1)), Keys(seed, "toy"))
    network = neural.MLPClassifier(
        hidden_layer_sizes=(_HIDDEN,), solver="lbfgs", alpha=1.0, max_iter=5000, random_state=0
    )
    with one_thread():
        network.fit(_standardised(where), labels)
    return ToyModel(drawn=toy.make_toy(points, seed=seed), network=network)


@cache
def toy_data(points: int, seed: int) -> Data:
    """Return the toy as data: the network's probabilities, and the true posterior.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without scikit-learn.
    """
    model = toy_model(points, seed)
    drawn = model.drawn
    return Data(
        name="toy",
        about=f"toy: {counted(points)} points of three Gaussians with their true posterior, a "
        f"perceptron fitted to {counted(TRAINING)} others",
        predictions=drawn.predictions.copy(data=model.probabilities(drawn.points.values)),
        plausibilities=drawn.plausibilities,
        true=drawn.true,
    )


@cache
def nodules(seed: int) -> Data:
    """Return the rated lung nodules that come with plausibly, with out-of-fold predictions.

    Raises
    ------
    MissingExtra
        ``extra-missing`` without scikit-learn.
    """
    found = subjects.load("nodules", seed)
    return Data(
        name="nodules",
        about=f"{counted(len(found))} lung nodules rated by 3 or 4 radiologists, logistic "
        "regression out of fold, split by patient",
        predictions=found.predictions,
        plausibilities=found.plausibilities,
        group=found.group,
    )


def one_thread() -> contextlib.AbstractContextManager[object]:
    """Return a context in which linear algebra uses one thread: quicker on matrices this small."""
    limits: contextlib.AbstractContextManager[object] = require(
        "threadpoolctl", extra="demo", whose=WHOSE
    ).threadpool_limits(limits=1)
    return limits


def given(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    group: str | None = None,
    name: str = "yours",
    about: str = "",
) -> Data:
    """Return data of a user, checked and matched by name.

    Parameters
    ----------
    predictions : DataArray, (example, label)
    plausibilities : DataArray or Dataset, (example, label)
        Or an annotation table, which is aggregated by the default of its kind.
    group : str, optional
        Coordinate of the examples whose groups stay on one side of a split.
    name, about : str
        For the tables and the pictures.

    Raises
    ------
    InputError
        What the borders say of either, and of examples or labels that differ.
    """
    model = validate.check_predictions(predictions)
    lam = as_plausibilities(plausibilities)
    labels = tuple(map(str, model[names.LABEL].values))
    lam = align.match_labels(lam, labels, whose="plausibilities", other="predictions")
    model, lam = align.match_examples(model, lam)
    if group is not None:
        groups = example_values(group, (model, lam))
        model = model.assign_coords({group: (names.EXAMPLE, groups)})
    size: Mapping[str, int] = {str(dim): count for dim, count in model.sizes.items()}
    return Data(
        name=name,
        about=about
        or f"{name}: {counted(size[names.EXAMPLE])} examples, {counted(size[names.LABEL])} labels",
        predictions=model,
        plausibilities=lam,
        group=group,
    )


def _standardised(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return (points - 0.5) / _SPREAD
