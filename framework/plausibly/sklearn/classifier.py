"""A scikit-learn classifier with prediction sets that cover what experts say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import xarray as xr
from sklearn.frozen import FrozenEstimator

from plausibly.calibration.alphas import AlphaLike, Alphas, read_alphas
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.evaluation.evaluate import evaluate
from plausibly.guarantee import Guarantee
from plausibly.protocols import (
    Aggregator,
    Calibrator,
    ComponentLike,
    PValueCombiner,
    ScoreFunction,
)
from plausibly.sklearn.asked import not_conformalized, one_alpha
from plausibly.sklearn.opinions import plausibilities, voted
from plausibly.sklearn.rows import Coordinates, Rows, rows_of, warn_if_seen
from plausibly.sklearn.said import named, read_said
from plausibly.sklearn.wrapped import Shown, Wrapped

_NEW = "new "


class AmbiguousConformalClassifier(Wrapped):
    """Prediction sets for a scikit-learn classifier, calibrated on everything experts said.

    `fit` fits the estimator on single labels, as ever. `conformalize` calibrates it on examples
    that it has not seen, with all their annotations. `predict_set` then gives sets that hold a
    label drawn from what experts say with probability 1 - alpha: ``guarantee(alpha)`` says it in
    full.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        Cloned by `fit`; default ``LogisticRegression()``. A fitted model in a
        ``sklearn.frozen.FrozenEstimator`` is used as it is, and needs no `fit`. Preprocessing
        belongs inside, as a pipeline.
    alpha : number, text, or a sequence of them
        Miscoverage rates of the sets, where none is asked for. Read when sets are predicted.
    aggregator : str, mapping or Aggregator, optional
        How annotations become plausibilities; by default the one for their kind.
    calibrator, score_function, combiner : str, mapping or object
        Components by name, as a table ``{"name": ..., parameters}``, or themselves. What is
        ``score=`` elsewhere is ``score_function=`` here: `score` is scikit-learn's method.
    draws : int, optional
        Shorthand for the calibrator's parameter, with its name.
    seed : int
        Seed of draws, which are keyed by the names of examples.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one.
    classes_ : ndarray, (label,)
        The labels, in the order of the columns; scikit-learn's name for them.
    predictor_ : ConformalPredictor
        The calibration, after `conformalize`; ``predictor_.save(path)`` keeps it without pickle.
    n_features_in_, feature_names_in_
        Of the fitted estimator, where it has them.

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
            One label a row. Of an annotation table or of plausibilities, matched with X by name,
            the label with the largest plausibility is taken, the first of equal ones.
        **fit_params
            For the estimator's `fit`, such as ``sample_weight``; routed where scikit-learn's
            metadata routing is enabled.

        Returns
        -------
        self
        """
        if isinstance(y, (xr.DataArray, xr.Dataset)):
            rows = rows_of(X)
            y = voted(named(y, rows), rows, self.aggregator, self.seed)
        return super().fit(X, y, **fit_params)

    def conformalize(
        self,
        X: object,  # scikit-learn's name
        annotations: object,
        *,
        kind: str | None = None,
        examples: Sequence[object] | None = None,
        coordinates: Coordinates | None = None,
        group: str | None = None,
        only_common: bool = False,
    ) -> Self:
        """Calibrate on examples that the model has not seen, and all that experts said of them.

        Parameters
        ----------
        X : array-like or frame
            As for `fit`.
        annotations : object
            One of:

            - an annotation table or plausibilities (xarray, dense or packed), matched with X by
              the names of examples;
            - a frame with columns ``task``, ``worker``, ``label``: one answer a row;
            - a frame with a column a label, of numbers, or with a column an annotator, of labels;
              a pandas frame is matched with a pandas X by the index, others by position;
            - an array, also a sparse one, (row, label) of numbers in the order of ``classes_``:
              floats are plausibilities, flags are votes, and of whole numbers `kind` says what they
              are;
            - a sequence with one entry a row of X: a label, a set of labels, a mapping of labels
              to weights, or the list of the answers that several experts gave.
        kind : str, optional
            What the answers in such lists are: ``"single-label"``, ``"label-set"``,
            ``"partial-ranking"``, ``"soft-label"``. Needed for rankings, and for whole numbers in
            arrays, and in frames where they could be labels: ``"counts"`` of votes, a column a
            label, or ``"single-label"``, a column an annotator.
        examples : sequence, optional
            Names of the rows of X, where it is no pandas frame with an index of names.
        coordinates : mapping of str to sequence, optional
            More that is known of each row, such as its group, for calibrators that read it.
        group : str, optional
            The coordinate whose groups are held out whole, for combiners that hold out.
        only_common : bool
            Leave out the rows that only one side has, instead of refusing.

        Returns
        -------
        self

        Raises
        ------
        InputError
            What `plausibly.calibrate` says, and what is wrong with the form of the annotations.

        Warns
        -----
        PlausiblyWarning
            ``model-saw-examples`` where the estimator was fitted on these rows.
        """
        if not hasattr(self, "estimator_") and isinstance(self.estimator, FrozenEstimator):
            self.adopt(self.estimator.fit(X, None))
        if not hasattr(self, "estimator_"):
            raise not_conformalized(type(self).__name__, fitted=False)
        rows = rows_of(X, examples=examples)
        said = read_said(annotations, rows, self.labels(), kind)
        warn_if_seen(self._seen, X, rows)
        self.predictor_ = calibrate(
            self.under_names(X, rows, coordinates),
            said,
            calibrator=self.calibrator,
            score=self.score_function,
            combiner=self.combiner,
            aggregator=self.aggregator,
            draws=self.draws,
            seed=self.seed,
            group=group,
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
            column a label; several alphas are the outer level of its columns.
        """
        wanted = self._alpha(alpha)
        sets = self._sets(X, wanted, rows_of(X, examples=examples), coordinates)
        alphas = [float(one) for one in read_alphas(wanted)]
        return self.shown(sets.values, X, examples, alphas)

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
        predictor, rows = self._calibrated(), rows_of(X, examples=examples)
        found = predictor.p_values(self.under_names(X, rows, coordinates, prefix=_NEW))
        return self.shown(found.values, X, examples, [])

    def predict_labels(
        self,
        X: object,
        alpha: AlphaLike | None = None,
        *,
        examples: Sequence[object] | None = None,
        coordinates: Coordinates | None = None,
    ) -> list[tuple[object, ...]]:
        """Return prediction sets as the labels that they hold.

        Parameters
        ----------
        X, alpha, examples, coordinates
            As for `predict_set`; one alpha.

        Returns
        -------
        list of tuple
            One a row; labels as scikit-learn has them, in the order of ``classes_``.
        """
        wanted = self._one_alpha(alpha)
        sets = self._sets(X, wanted, rows_of(X, examples=examples), coordinates)
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
        """Return the aggregated coverage: what share of the plausibilities the sets hold.

        Of single labels this is the share of rows whose set holds the label. `score` stays the
        accuracy of `predict`, as scikit-learn's users expect.

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
        wanted, rows = self._one_alpha(alpha), rows_of(X, examples=examples)
        self._calibrated()
        said = read_said(annotations, rows, self.labels(), kind)
        sets = self._sets(X, wanted, rows, coordinates).assign_coords({names.EXAMPLE: rows.names})
        found = evaluate(sets, plausibilities(said, self.aggregator, self.seed))
        return float(found["aggregated_coverage_mean"])

    def guarantee(self, alpha: AlphaLike | None = None) -> Guarantee:
        """Return what sets at `alpha` promise: level, of what, over what, if what, and why."""
        return self._calibrated().guarantee(self._one_alpha(alpha))

    def _calibrated(self) -> ConformalPredictor:
        if not hasattr(self, "predictor_"):
            fitted = hasattr(self, "estimator_")
            raise not_conformalized(type(self).__name__, fitted=fitted)
        return self.predictor_

    def _sets(
        self, x: object, alpha: Alphas, rows: Rows, coordinates: Coordinates | None
    ) -> xr.DataArray:
        """Return sets, (example, label[, alpha])."""
        predictor = self._calibrated()
        new = self.under_names(x, rows, coordinates, prefix=_NEW)
        sets = predictor.predict(new, alpha)
        return sets.transpose(names.EXAMPLE, names.LABEL, ...)

    def _alpha(self, alpha: Alphas | None) -> Alphas:
        return self.alpha if alpha is None else alpha

    def _one_alpha(self, alpha: AlphaLike | None) -> AlphaLike:
        return one_alpha(self._alpha(alpha))
