"""A classifier around another, as scikit-learn wants one: fitting, tags, routing, frames out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from plausibly.data.names import quoted
from plausibly.errors import InputError
from plausibly.sklearn.rows import Coordinates, Rows, Seen, labelled, rows_of, seen
from plausibly.sklearn.said import Labels

Numbers: TypeAlias = NDArray[Any]  # Any: flags, probabilities or labels
Shown: TypeAlias = Any  # an array or, after `set_output`, a frame: who asked knows which
_OUTPUT = "transform"
_CONTAINERS = ("default", "pandas")


def _inner_has(method: str) -> Callable[[Wrapped], bool]:
    def check(self: Wrapped) -> bool:
        # What AttributeError this raises is what scikit-learn looks for.
        return callable(getattr(getattr(self, "estimator_", self.chosen()), method))

    return check


class Wrapped(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """What a classifier around `estimator` does before there is any calibration.

    Attributes
    ----------
    estimator : classifier or None
        The parameter.
    estimator_ : classifier
        The fitted clone.
    classes_ : ndarray, (label,)
        Its labels; scikit-learn's name for them.
    """

    estimator: Any  # Any: whatever follows scikit-learn's habits
    estimator_: Any  # Any: as above
    classes_: Numbers
    _seen: Seen | None = None

    def chosen(self) -> Any:  # Any: as above
        """Return the estimator that was given, or the default one."""
        return LogisticRegression() if self.estimator is None else self.estimator

    def fit(self, X: object, y: object, **fit_params: object) -> Self:
        """Fit the estimator on one label a row."""
        params: Any = fit_params  # Any: routed ones are a Bunch
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, "fit", **fit_params).estimator.fit
        self.adopt(clone(self.chosen()).fit(X, y, **params))
        # What a frozen model was fitted on is not known here.
        self._seen = None if isinstance(self.estimator_, FrozenEstimator) else seen(X)
        return self

    def adopt(self, fitted: Any) -> None:  # Any: as above
        """Take a fitted estimator, and forget what belonged to another one."""
        for name in ("n_features_in_", "feature_names_in_", "predictor_"):
            if name in vars(self):
                delattr(self, name)
        self.estimator_ = fitted
        self.classes_ = fitted.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    def predict(self, X: object) -> Numbers:
        """Return the one label that the estimator predicts for each row, (row,)."""
        check_is_fitted(self)
        found: Numbers = self.estimator_.predict(X)
        return found

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]  # scikit-learn's
    def predict_proba(self, X: object) -> Numbers:
        """Return the probabilities of the estimator, (row, label)."""
        check_is_fitted(self)
        found: Numbers = self.estimator_.predict_proba(X)
        return found

    def predictions(
        self,
        X: object,
        *,
        examples: Sequence[object] | None = None,
        coordinates: Coordinates | None = None,
    ) -> xr.DataArray:
        """Return the probabilities under names, as all of plausibly takes them.

        Parameters
        ----------
        X : array-like or frame
        examples : sequence, optional
            Names of the rows, where the index of a pandas frame does not name them.
        coordinates : mapping of str to sequence, optional
            More that is known of each row.

        Returns
        -------
        DataArray, (example, label)
        """
        return self.under_names(X, rows_of(X, examples=examples), coordinates)

    def labels(self) -> Labels:
        """Return the labels of the fitted estimator.

        Raises
        ------
        InputError
            ``outputs-several``.
        """
        if not isinstance(self.classes_, np.ndarray):
            called = type(self.estimator_).__name__
            raise InputError(
                "outputs-several",
                f"{called} predicts several outputs",
                expected="one label a row",
                got=f"{len(self.classes_)} a row",
                do="one estimator for each output",
                whose=called,
            )
        return Labels.of(self.classes_)

    def under_names(
        self, x: object, rows: Rows, coordinates: Coordinates | None, *, prefix: str = ""
    ) -> xr.DataArray:
        """Return the probabilities under names; see `plausibly.sklearn.rows.labelled`."""
        values, labels = self._probabilities(x), self.labels()
        return labelled(values, rows, labels.names, coordinates, prefix=prefix)

    def _probabilities(self, x: object) -> Numbers:
        """Return what `predict_proba` says, if sets can be made of it.

        Raises
        ------
        InputError
            ``probabilities-missing``.
        """
        check_is_fitted(self)
        called = type(self.estimator_).__name__
        if not hasattr(self, "predict_proba"):
            raise InputError(
                "probabilities-missing",
                f"{called} has no predict_proba",
                expected="a classifier that gives probabilities",
                got="labels alone",
                do=f"estimator=CalibratedClassifierCV({called}())",
                whose=called,
            )
        found: Numbers = self.predict_proba(x)
        return found

    def set_output(self, transform: str | None = None) -> Self:
        """Say in which form sets and p-values come.

        Parameters
        ----------
        transform : {"default", "pandas"}, optional
            Arrays, or frames with a column a label. None changes nothing. The name of the
            parameter, and the default of ``sklearn.set_config(transform_output=...)``, are those
            of scikit-learn.

        Returns
        -------
        self

        Raises
        ------
        InputError
            ``output-unknown``.
        """
        if transform is not None:
            _check_container(transform)
            # Under scikit-learn's own name, so that `clone` keeps it.
            self._sklearn_output_config = {_OUTPUT: transform}
        return self

    def shown(
        self, values: Numbers, x: object, examples: Sequence[object] | None, alphas: Sequence[float]
    ) -> Shown:
        """Return values (row, label[, alpha]) in the form that `set_output` asked for."""
        config = getattr(self, "_sklearn_output_config", {})
        container = config.get(_OUTPUT, get_config()["transform_output"])
        _check_container(container)
        if container == "default":
            return values
        index = x.index if isinstance(x, (pd.DataFrame, pd.Series)) else None
        if examples is not None:
            index = pd.Index(list(examples), dtype=object)
        columns = pd.Index(self.classes_)
        if values.ndim == 3:
            pairs = pd.MultiIndex.from_product([alphas, columns], names=["alpha", "label"])
            flat = values.transpose(0, 2, 1).reshape(len(values), -1)
            return pd.DataFrame(flat, index=index, columns=pairs)
        return pd.DataFrame(values, index=index, columns=columns)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where metadata go: those of `fit` to the estimator, of `score` no further."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self.chosen(), method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:  # Any: scikit-learn has no types
        tags = super().__sklearn_tags__()
        inner = get_tags(self.chosen())
        for name in ("input_tags", "target_tags", "classifier_tags", "non_deterministic"):
            setattr(tags, name, getattr(inner, name))
        return tags


def _check_container(container: str) -> None:
    if container not in _CONTAINERS:
        raise InputError(
            "output-unknown",
            f"sets cannot be given as {quoted(container)}",
            expected=" or ".join(_CONTAINERS),
            got=str(container),
            do='set_output("pandas")',
            whose="set_output",
        )
