"""A scikit-learn classifier with prediction sets that cover annotators' answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from plausibly.calibration.alphas import AlphaLike, Alphas, read_alpha, read_alphas
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.names import quoted
from plausibly.errors import InputError
from plausibly.evaluation.evaluation import evaluate
from plausibly.guarantee import Guarantee
from plausibly.protocols import (
    Aggregator,
    Calibrator,
    ComponentLike,
    PValueCombiner,
    ScoreFunction,
)
from plausibly.sklearn.annotations import (
    Coordinates,
    Labels,
    Reading,
    Rows,
    Seen,
    majority_vote,
    named,
    plausibilities,
)


class NotConformalized(InputError, NotFittedError):  # type: ignore[misc]  # both name `name`; untyped
    """Error of prediction sets before `conformalize`, a `NotFittedError` of scikit-learn."""


Numbers: TypeAlias = NDArray[Any]  # Any: flags, probabilities or labels
Shown: TypeAlias = Any  # an array or, after `set_output`, a frame
_OUTPUT = "transform"
_NEW = "new "  # before the positions of new rows, which are not those of the calibration


def _has_probabilities(model: AmbiguousConformalClassifier) -> bool:
    # scikit-learn looks for the AttributeError that this raises.
    return callable(getattr(model, "estimator_", model._chosen()).predict_proba)


class AmbiguousConformalClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Prediction sets for a scikit-learn classifier, calibrated on all answers of annotators.

    `fit` fits the estimator on single labels, as usual. `conformalize` calibrates it on examples
    that it has not seen, with all their annotations. `predict_set` then returns sets that contain
    an annotator's answer with probability 1 - alpha on average: see ``guarantee(alpha)``.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        Cloned by `fit`; default ``LogisticRegression()``. A fitted model in a
        ``sklearn.frozen.FrozenEstimator`` is used as it is, and needs no `fit`. Preprocessing
        belongs inside, as a pipeline.
    alpha : number, text, or a sequence of them
        Default miscoverage rates of the sets. Read when sets are predicted.
    aggregator, calibrator, score_function, combiner : str, mapping or object
        Components by name, as a table ``{"name": ..., parameters}``, or as objects.
        ``score_function=`` is ``score=`` elsewhere: `score` is a method of scikit-learn.
    draws, seed : int
        Number of draws of the calibrator, and random seed; draws are keyed by names of examples.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator.
    classes_ : ndarray, (label,)
        The labels, in the order of the columns; scikit-learn's name for them.
    predictor_ : ConformalPredictor
        The calibration, after `conformalize`; ``predictor_.save(path)`` keeps it without pickle.

    References
    ----------
    Stutz et al., Conformal prediction under ambiguous ground truth, TMLR 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from plausibly.sklearn import AmbiguousConformalClassifier
    >>> x = np.linspace(-1, 1, 400)[:, None]
    >>> votes = [["low", "high"] if abs(v) < 0.5 else ["low" if v < 0 else "high"] for v in x[:, 0]]
    >>> y = np.where(x[:, 0] < 0, "low", "high")
    >>> model = AmbiguousConformalClassifier(alpha=0.1).fit(x[::2], y[::2])
    >>> model.conformalize(x[1::2], votes[1::2]).predict_set([[-0.9], [0.0]]).tolist()
    [[False, True], [True, True]]
    """

    estimator: Any  # Any: what follows scikit-learn's conventions
    estimator_: Any  # Any: as above
    classes_: Numbers
    _seen: Seen | None = None

    def __init__(
        self,
        estimator: object = None,
        *,
        alpha: Alphas = 0.1,
        aggregator: ComponentLike[Aggregator] | None = None,
        calibrator: ComponentLike[Calibrator] = "expected",
        score_function: ComponentLike[ScoreFunction] = "probability",
        combiner: ComponentLike[PValueCombiner] = "average",
        draws: int | None = None,
        seed: int = 0,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.aggregator = aggregator
        self.calibrator = calibrator
        self.score_function = score_function
        self.combiner = combiner
        self.draws = draws
        self.seed = seed

    def fit(self, X: object, y: object, **fit_params: object) -> Self:
        """Fit the estimator; a calibration that there was is dropped.

        Parameters
        ----------
        X : array-like or frame
            What the estimator takes; the index of a pandas frame names its rows.
        y : array-like, (row,), or Dataset or DataArray
            One label per row. Of an annotation table or of plausibilities, matched with X by name,
            the label with the largest plausibility is taken, the first of equal ones.
        **fit_params
            For the estimator's `fit`, such as ``sample_weight``; routed where scikit-learn's
            metadata routing is enabled.

        """
        if isinstance(y, (xr.DataArray, xr.Dataset)):
            rows = Rows.of(X)
            y = majority_vote(named(y, rows), rows, self.aggregator, self.seed)
        params: Any = fit_params  # Any: routed ones are a Bunch
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, "fit", **fit_params).estimator.fit
        self._adopt(clone(self._chosen()).fit(X, y, **params))
        # The training rows of a frozen model are unknown.
        self._seen = None if isinstance(self.estimator_, FrozenEstimator) else Seen.of(X)
        return self

    def conformalize(
        self,
        X: object,  # scikit-learn's name
        annotations: object,
        *,
        kind: str | None = None,
        examples: Sequence[object] | None = None,
        coordinates: Coordinates | None = None,
        cluster: str | None = None,
        only_common: bool = False,
    ) -> Self:
        """Calibrate on examples that the model has not seen, with all answers of annotators.

        Parameters
        ----------
        X : array-like or frame
            As for `fit`.
        annotations : object
            One of:

            - an annotation table or plausibilities (xarray), matched with X by name;
            - a frame with columns ``example``, ``annotator``, ``label``: one answer per row;
            - a frame with a column per label, of numbers, or with a column per annotator, of
              labels; a pandas frame is matched with a pandas X by the index, others by position;
            - an array (row, label), also a sparse one, in the order of ``classes_``: floats are
              plausibilities, flags are votes, and whole numbers need a `kind`;
            - a sequence with one entry per row of X: a label, a set of labels, a mapping of labels
              to weights, or the list of the answers of several annotators.
        kind : str, optional
            Kind of the answers in lists: needed for ``"partial-ranking"``; and of whole numbers
            that could be labels: ``"counts"``, a column per label, or ``"single-label"``, a column
            per annotator.
        examples : sequence, optional
            Names of the rows of X, where it is no pandas frame with an index of names.
        coordinates : mapping of str to sequence, optional
            Further columns of the rows, such as a group, for calibrators that read it.
        cluster : str, optional
            The coordinate whose groups are held out whole, for combiners that hold out.
        only_common : bool
            Leave out the rows that only one side has, instead of refusing.

        Warns
        -----
        PlausiblyWarning
            ``model-saw-examples`` where the estimator was fitted on these rows.

        Raises
        ------
        InputError
            Errors of `plausibly.calibrate`, and of the form of the annotations.
        """
        if not hasattr(self, "estimator_"):
            if not isinstance(self.estimator, FrozenEstimator):
                check_is_fitted(self)
            self._adopt(self.estimator.fit(X, None))
        rows = Rows.of(X, examples)
        named_annotations = Reading(rows, self._labels(), kind).read(annotations)
        if self._seen is not None:
            self._seen.warn_if_again(X, rows)
        self.predictor_ = calibrate(
            self._under_names(X, rows, coordinates),
            named_annotations,
            calibrator=self.calibrator,
            score=self.score_function,
            combiner=self.combiner,
            aggregator=self.aggregator,
            draws=self.draws,
            seed=self.seed,
            cluster=cluster,
            only_common=only_common,
        )
        return self

    def predict_set(
        self,
        X: object,  # scikit-learn's name
        alpha: Alphas | None = None,
        *,
        examples: Sequence[object] | None = None,
        coordinates: Coordinates | None = None,
    ) -> Shown:
        """Return prediction sets.

        Parameters
        ----------
        X, examples, coordinates
            As for `conformalize`.
        alpha : number, text, or a sequence of them, optional
            Default: the parameter of the estimator.

        Returns
        -------
        ndarray of bool, (row, label) or (row, label, alpha)
            Columns in the order of ``classes_``. After ``set_output("pandas")`` a frame with a
            column per label; several alphas are the outer level of its columns.
        """
        wanted = self.alpha if alpha is None else alpha
        sets = self._sets(X, wanted, Rows.of(X, examples), coordinates)
        alphas = [float(exact) for exact in read_alphas(wanted)]
        return self._shown(sets.values, X, examples, alphas)

    def predict_p(
        self,
        X: object,  # scikit-learn's name
        *,
        examples: Sequence[object] | None = None,
        coordinates: Coordinates | None = None,
    ) -> Shown:
        """Return the p-value of each label; sets are ``p > alpha``.

        Parameters
        ----------
        X, examples, coordinates
            As for `conformalize`.

        Returns
        -------
        ndarray of float64, (row, label), or a frame as of `predict_set`
        """
        predictor, rows = self._calibrated(), Rows.of(X, examples)
        p_values = predictor.p_values(self._under_names(X, rows, coordinates, prefix=_NEW))
        return self._shown(p_values.values, X, examples, [])

    def predict_labels(
        self,
        X: object,
        alpha: AlphaLike | None = None,
        *,
        examples: Sequence[object] | None = None,
        coordinates: Coordinates | None = None,
    ) -> list[tuple[object, ...]]:
        """Return prediction sets as tuples of labels.

        Parameters
        ----------
        X, alpha, examples, coordinates
            As for `predict_set`; one alpha.

        Returns
        -------
        list of tuple
            One per row; labels as scikit-learn has them, in the order of ``classes_``.
        """
        wanted = self._one_alpha(alpha)
        sets = self._sets(X, wanted, Rows.of(X, examples), coordinates)
        return [tuple(self.classes_[row].tolist()) for row in sets.values]

    def coverage_score(
        self,
        X: object,
        annotations: object,
        alpha: AlphaLike | None = None,
        *,
        kind: str | None = None,
        examples: Sequence[object] | None = None,
        coordinates: Coordinates | None = None,
    ) -> float:
        """Return the mean coverage of all answers: the share of the plausibilities in the sets.

        Of single labels this is the share of rows whose set contains the label. `score` is the
        accuracy of `predict`, as in scikit-learn.

        Parameters
        ----------
        X, annotations, kind, examples, coordinates
            As for `conformalize`, of other rows.
        alpha : number or text, optional
            Default: the parameter of the estimator.

        Returns
        -------
        float
            The mean over rows of ``sum_k lambda_k 1[k in C(x)]``; `plausibly.evaluate` gives its
            interval, and more.
        """
        wanted, rows = self._one_alpha(alpha), Rows.of(X, examples)
        self._calibrated()
        answers = Reading(rows, self._labels(), kind).read(annotations)
        aggregated = plausibilities(answers, self.aggregator, self.seed)
        sets = self._sets(X, wanted, rows, coordinates).assign_coords({names.EXAMPLE: rows.names})
        return float(evaluate(sets, aggregated).coverage)

    def guarantee(self, alpha: AlphaLike | None = None) -> Guarantee:
        """Return the guarantee of sets at `alpha`."""
        return self._calibrated().guarantee(self._one_alpha(alpha))

    def _chosen(self) -> Any:  # Any: as above
        return LogisticRegression() if self.estimator is None else self.estimator

    def _labels(self) -> Labels:
        if isinstance(self.classes_, list):
            raise InputError(
                "outputs-several",
                "the estimator predicts several outputs",
                expected="one label per row of X",
                found=f"{len(self.classes_)} per row",
                hint="one classifier for each column of y",
                source="estimator",
            )
        return Labels(self.classes_)

    def _adopt(self, fitted: Any) -> None:  # Any: as above
        """Take a fitted estimator, and forget the calibration of another one."""
        self.__dict__.pop("predictor_", None)
        self.estimator_ = fitted
        self.classes_ = fitted.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    def predict(self, X: object) -> Numbers:
        """Return the one label that the estimator predicts for each row, (row,)."""
        check_is_fitted(self)
        labels: Numbers = self.estimator_.predict(X)
        return labels

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn's
    def predict_proba(self, X: object) -> Numbers:
        """Return the probabilities of the estimator, (row, label)."""
        check_is_fitted(self)
        probabilities: Numbers = self.estimator_.predict_proba(X)
        return probabilities

    def predictions(
        self,
        X: object,
        *,
        examples: Sequence[object] | None = None,
        coordinates: Coordinates | None = None,
    ) -> xr.DataArray:
        """Return the probabilities under names, as the functions of plausibly take them."""
        return self._under_names(X, Rows.of(X, examples), coordinates)

    def _under_names(
        self, x: object, rows: Rows, coordinates: Coordinates | None, *, prefix: str = ""
    ) -> xr.DataArray:
        check_is_fitted(self)
        called = type(self.estimator_).__name__
        if not hasattr(self, "predict_proba"):
            raise InputError(
                "probabilities-missing",
                f"{called} has no predict_proba",
                expected="a classifier with probabilities",
                found="labels alone",
                hint=f"estimator=CalibratedClassifierCV({called}())",
                source=called,
            )
        labels = self._labels().names
        return rows.labelled(self.predict_proba(x), labels, coordinates, prefix=prefix)

    def set_output(self, transform: str | None = None) -> Self:
        """Choose the form of sets and p-values: ``"default"`` (arrays) or ``"pandas"``."""
        if transform is not None:
            # Under scikit-learn's own name, so that `clone` keeps it.
            self._sklearn_output_config = {_OUTPUT: transform}
        return self

    def _shown(
        self, values: Numbers, x: object, examples: Sequence[object] | None, alphas: Sequence[float]
    ) -> Shown:
        """Return values (row, label[, alpha]) in the form that `set_output` chose."""
        config = getattr(self, "_sklearn_output_config", {})
        container = config.get(_OUTPUT, get_config()["transform_output"])
        if container == "default":
            return values
        if container != "pandas":
            raise InputError(
                "output-unknown",
                f"sets cannot be returned as {quoted(container)}",
                expected="default or pandas",
                found=str(container),
                hint='set_output("pandas")',
                source="set_output",
            )
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
        return router.add(estimator=self._chosen(), method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:  # Any: scikit-learn has no types
        tags = super().__sklearn_tags__()
        inner = get_tags(self._chosen())
        for name in ("input_tags", "target_tags", "classifier_tags", "non_deterministic"):
            setattr(tags, name, getattr(inner, name))
        return tags

    def _calibrated(self) -> ConformalPredictor:
        if not hasattr(self, "predictor_"):
            raise NotConformalized(
                "not-conformalized",
                "the estimator is not calibrated yet",
                expected="conformalize before sets, p-values and guarantees",
                hint="conformalize(X_calibration, annotations)",
                source=type(self).__name__,
            )
        return self.predictor_

    def _sets(
        self, x: object, alpha: Alphas, rows: Rows, coordinates: Coordinates | None
    ) -> xr.DataArray:
        predictor = self._calibrated()
        sets = predictor.predict(self._under_names(x, rows, coordinates, prefix=_NEW), alpha)
        return sets.transpose(names.EXAMPLE, names.LABEL, ...)

    def _one_alpha(self, alpha: AlphaLike | None) -> AlphaLike:
        return read_alpha(self.alpha if alpha is None else alpha)
