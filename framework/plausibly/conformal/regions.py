"""Plausibility regions: plausibility vectors that conform, with a guarantee."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from itertools import combinations
from typing import TypeVar

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly import registry
from plausibly.calibration.alphas import (
    AlphaLike,
    Alphas,
    exact,
    is_several,
    read_alpha,
    read_alphas,
    rounded_up,
)
from plausibly.calibration.examples import HashedNames
from plausibly.conformal.array_predictor import Scoring
from plausibly.conformal.inputs import (
    NewExamples,
    matched_inputs,
    read_test,
    scoring_of,
    sets_array,
)
from plausibly.data import align, names
from plausibly.data.names import Named, Names
from plausibly.data.plausibilities import Plausibilities, check_plausibilities
from plausibly.errors import InputError, counted, warn
from plausibly.guarantee import UNSEEN, CalibrationSummary, Claim, Exchangeable, Guarantee, bounded
from plausibly.io.accept import as_predictions
from plausibly.kernels.masses import share
from plausibly.kernels.ranks import order_statistic
from plausibly.kernels.types import Bools, Floats, FloatType, Hashes
from plausibly.protocols import SCORE, ComponentLike, ScoreFunction

_EPS = float(np.finfo(np.float64).eps)


def expected_scores(scores: Floats, plausibilities: Floats) -> NDArray[np.float64]:
    """Return the score that a label drawn from the plausibilities has on average, (example,)."""
    weights = plausibilities.astype(np.float64)
    # A label of plausibility zero counts nothing, though its score be infinite.
    terms = weights * np.where(weights > 0, scores.astype(np.float64), 0)
    # Rows that sum to one only nearly would shift with the scores.
    total: NDArray[np.float64] = terms.sum(axis=1) / weights.sum(axis=1)
    return total


def rounding(scores: Floats) -> NDArray[np.float64]:
    """Return a bound, (example, 1), of the error with which `expected_scores` is computed."""
    finite = np.where(np.isfinite(scores), np.abs(scores), 0).astype(np.float64)
    bound: NDArray[np.float64] = (4 * (scores.shape[1] + 2) * _EPS) * finite.max(
        axis=1, keepdims=True
    )
    return bound


def simplex_maximum(scores: Floats, tau: float) -> NDArray[np.float64]:
    """Return the largest plausibility of each label among the vectors that conform."""
    largest = np.ones(scores.shape, dtype=np.float64)
    if tau == -math.inf:
        return largest
    values = scores.astype(np.float64)
    best = values.max(axis=1, keepdims=True)
    apart = values < np.minimum(best, tau)
    np.divide(best - tau, _below(best, values), out=largest, where=apart)
    largest[best[:, 0] < tau] = np.nan
    return largest


def simplex_minimum(scores: Floats, tau: float) -> NDArray[np.float64]:
    """Return the smallest plausibility of each label among the vectors that conform."""
    values = scores.astype(np.float64)
    smallest = np.zeros(values.shape, dtype=np.float64)
    rows = np.arange(len(values))
    top = values.argmax(axis=1)
    best = values[rows, top]
    if values.shape[1] == 1:
        smallest[:] = 1
    else:
        others = values.copy()
        others[rows, top] = -np.inf
        second = others.max(axis=1)
        alone = rows[second < np.minimum(best, tau)]
        share = (best[alone] - tau) / (best[alone] - second[alone])
        smallest[alone, top[alone]] = 1 - share
    smallest[best < tau] = np.nan
    return smallest


def plausible_above(scores: Floats, tau: float, mass: Fraction) -> Bools:
    """Return the labels of which some vector that conforms has more than `mass`."""
    if tau == -math.inf:
        return np.ones(scores.shape, dtype=np.bool_)
    values = scores.astype(np.float64)
    best = values.max(axis=1, keepdims=True)
    low = tau - rounding(values)
    room = (best - low) * (1 + 8 * _EPS)
    allowed = float(mass) * _below(best, values) * (1 - 8 * _EPS)
    # A label whose own score conforms can have all mass, also where nothing is above tau.
    inside: Bools = ((room > allowed) & (best >= low)) | (values >= low)
    return inside


def _below(best: Floats, values: Floats) -> NDArray[np.float64]:
    """Return how far scores lie below the best; 0 where even that is -inf."""
    return np.where(best > -np.inf, best, 0) - np.where(best > -np.inf, values, 0)


def votable(scores: Floats, tau: float) -> Bools:
    """Return labels that are a majority vote, alone or tied, under some vector that conforms."""
    values = scores.astype(np.float64)
    ordered = -np.sort(-values, axis=1)
    total, mean = values.copy(), values.copy()
    for count in range(values.shape[1] - 1):
        # A label that is already in, k itself among them, is never above the mean.
        gains = ordered[:, count : count + 1] > mean
        if not gains.any():
            break
        total += np.where(gains, ordered[:, count : count + 1], 0)
        mean = np.where(gains, total / (count + 2), mean)
    return mean >= tau - rounding(values)


def grid(labels: int, parts: int) -> NDArray[np.float64]:
    """Return every plausibility vector in multiples of 1/parts, (point, label)."""
    slots = parts + labels - 1
    bars = np.array(list(combinations(range(slots), labels - 1)), dtype=np.int64)
    ends = np.pad(bars, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, slots)))
    counts = np.diff(ends, axis=1) - 1
    return counts / parts


_CLAIM = Claim(
    covers="the plausibilities of a new example, as one vector",
    event="lambda in R(X)",
    assumption=Exchangeable(with_plausibilities=True),
    conditions=(
        UNSEEN,
        "the new example's plausibilities come from the same annotation process and aggregator",
    ),
    reason="the new example's expected score is one of n + 1 exchangeable ones",
    reference="Stutz et al., arXiv 2307.09302, version 1",
)
_MOST_POINTS = 1_000_000
POINT = "point"

_VOTES = attrs.evolve(
    _CLAIM,
    target="majority-vote",
    covers="the majority vote of a new example, however ties are broken",
    event="",
    reason=f"{_CLAIM.reason}, and the set holds every label that a vector of the region votes for",
    notes=("nothing is guaranteed about labels drawn from the plausibilities",),
)


Labelled = TypeVar("Labelled", xr.DataArray, xr.Dataset)


def over_alphas(alpha: Alphas, results: list[Labelled]) -> Labelled:
    """Return one result per alpha as one: over the dim ``alpha``, or with it as a scalar."""
    named = [
        result.assign_coords({names.ALPHA: float(rate)})
        for result, rate in zip(results, read_alphas(alpha), strict=True)
    ]
    if not is_several(alpha):
        return named[0]
    return xr.concat(named, dim=names.ALPHA, coords="different", compat="equals", join="exact")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class PlausibilityRegion:
    """Regions of plausibility vectors with a stated guarantee, from `calibrate_region`.

    A region is the simplex cut by a plane: for any number of labels, only `grid` enumerates.

    Attributes
    ----------
    labels : tuple of str
        In the order of the calibration predictions.
    scoring, dtype
        How predictions are scored, and their float type.
    ordered : ndarray of float64, (example,)
        Expected scores of the calibration examples, in ascending order.
    hashes : ndarray of uint64, (example,)
        Hashes of their names.
    """

    labels: tuple[str, ...]
    scoring: Scoring
    dtype: FloatType
    ordered: NDArray[np.float64]
    hashes: Hashes

    @property
    def n(self) -> int:
        """Number of calibration examples."""
        return len(self.ordered)

    @property
    def _summary(self) -> CalibrationSummary:
        return CalibrationSummary(n=self.n)

    @cached_property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that change with anything a region depends on."""
        table = registry.default().describe(SCORE, self.scoring.component)
        metadata = (self.labels, table, self.scoring.scale, self.scoring.seed, str(self.dtype))
        return blake2b(repr(metadata).encode() + self.ordered.tobytes(), digest_size=16).hexdigest()

    def _rank(self, alpha: Fraction) -> int:
        """Return the rank of the threshold; warn where every vector conforms."""
        rank = math.floor(alpha * (self.n + 1))
        if rank < 1:
            needed = math.ceil(1 / alpha) - 1
            warn(
                "region-vacuous",
                f"every plausibility vector conforms at alpha {float(alpha):g}",
                expected=f"at least {counted(needed)} calibration examples",
                found=counted(self.n),
                hint=f"alpha {rounded_up(1 / (self.n + 1))}, or annotate more",
                source="region",
            )
        return rank

    def warned(self, alpha: Fraction) -> float:
        """Return the threshold; warn where every vector conforms."""
        return float(order_statistic(self.ordered, self._rank(alpha)))

    def threshold(self, alpha: Alphas) -> xr.DataArray:
        """Return the least expected score that conforms, () or (alpha,).

        -inf where every vector conforms: with fewer than ``1/alpha - 1`` calibration examples.
        """
        values = [self.warned(rate) for rate in read_alphas(alpha)]
        return over_alphas(alpha, [xr.DataArray(value, name="threshold") for value in values])

    def guarantee(self, alpha: AlphaLike) -> Guarantee:
        """Return what the region at `alpha` guarantees."""
        return self._summary.guarantee_of_rank(_CLAIM, read_alpha(alpha))

    def read(self, predictions: xr.DataArray) -> tuple[NewExamples, Floats]:
        """Return new predictions, matched by name, and their scores (example, label)."""
        array = as_predictions(predictions, scale=self.scoring.scale, labels=self.labels)
        labels = Names.of(self.labels, names.LABEL)
        new = read_test(array, labels, self.scoring.scale, self.dtype)
        return new, self.scoring.scores(new.values, new.examples)

    def p_values(self, predictions: xr.DataArray, plausibilities: xr.DataArray) -> xr.DataArray:
        """Return the p-value of one plausibility vector per example.

        ``(#{i : S_i <= s} + 1) / (n + 1)``: above alpha, the vector is in the region at alpha.

        Parameters
        ----------
        predictions : DataArray, (example, label)
            Of the model that calibrated; labels are matched by name.
        plausibilities : DataArray or Dataset, (example, label)
            The vectors, dense or sparse, of the same examples.

        Returns
        -------
        DataArray of float64, (example,)
        """
        counts = self._numerators(predictions, plausibilities)
        return counts.copy(data=share(counts.values, self.n + 1)).rename("p_values")

    def _numerators(self, predictions: xr.DataArray, plausibilities: xr.DataArray) -> xr.DataArray:
        """Return the numerators of the p-values of the examples."""
        new, scores = self.read(predictions)
        examples = new.checked.isel({names.LABEL: 0}, drop=True).drop_attrs()
        expected = expected_scores(scores, self.match(new, plausibilities))
        return examples.copy(data=self._counts(expected))

    def match(self, new: NewExamples, plausibilities: xr.DataArray) -> Floats:
        """Return plausibilities (example, label) of new examples, matched to them by name."""
        checked = Plausibilities.of(check_plausibilities(plausibilities, draws=False))
        checked = align.with_labels(
            checked, self.labels, source="plausibilities", other="the region"
        )
        return align.same_examples(Named.of(new.checked), checked)[1].stored.dense()

    def _counts(self, expected: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.searchsorted(self.ordered, expected, side="right").astype(np.int64) + 1

    def contains(
        self, predictions: xr.DataArray, plausibilities: xr.DataArray, alpha: Alphas
    ) -> xr.DataArray:
        """Return whether each example's plausibility vector is in its region.

        Parameters
        ----------
        predictions, plausibilities
            As for `p_values`.
        alpha : number, text, or a sequence of them

        Returns
        -------
        DataArray of bool, (example[, alpha])
        """
        counts = self._numerators(predictions, plausibilities)
        inside = [counts > self._rank(rate) for rate in read_alphas(alpha)]
        return over_alphas(alpha, inside).rename("contains").transpose(names.EXAMPLE, ...)

    def bounds(self, predictions: xr.DataArray, alpha: Alphas) -> xr.Dataset:
        """Return the least and the largest plausibility of each label within the region.

        With probability 1 - alpha all plausibilities of the new example lie between them at once.

        Parameters
        ----------
        predictions : DataArray, (example, label)
        alpha : number, text, or a sequence of them

        Returns
        -------
        Dataset
            `least` and `most`, (example, label[, alpha]); NaN for an example with which no vector
            conforms, whose largest score is below the threshold.
        """
        new, scores = self.read(predictions)
        bounds = []
        for rate in read_alphas(alpha):
            tau = self.warned(rate)
            least, most = simplex_minimum(scores, tau), simplex_maximum(scores, tau)
            parts = {"least": new.like_input(least, "least"), "most": new.like_input(most, "most")}
            bounds.append(xr.Dataset(parts))
        return over_alphas(alpha, bounds)

    def label_sets(
        self, predictions: xr.DataArray, alpha: Alphas, *, leave_out: AlphaLike = 0.1
    ) -> xr.DataArray:
        """Return the smallest label sets that leave out at most `leave_out` of any vector within.

        A label is in the set where some vector of the region gives it more than `leave_out`. Every
        vector of the region then has at least ``1 - leave_out`` on the set, and with the region's
        guarantee ``P(lambda(C) >= 1 - leave_out) >= 1 - alpha``. The calibrator `mass-coverage`
        guarantees the same, with smaller sets as a rule.

        Parameters
        ----------
        predictions : DataArray, (example, label)
        alpha : number, text, or a sequence of them
        leave_out : number or text
            0 < leave_out < 1. To leave out nothing takes every label.

        Returns
        -------
        DataArray of bool, dims of `predictions` [and alpha]
            As `ConformalPredictor.predict` returns sets; empty where no vector conforms.

        References
        ----------
        The set of highest lower probability of Caprio, Stutz, Li & Doucet, Conformalized credal
        regions for classification with ambiguous ground truth, arXiv 2411.04852, in closed form.
        """
        mass = exact(leave_out)
        if mass is None or not 0 < mass < 1:
            raise InputError(
                "option-range",
                f"leave_out {leave_out!r} is not a share of plausibility that may be left out",
                expected="0 < leave_out < 1; at 0 every label is needed",
                found=repr(leave_out),
                hint="leave_out=0.1 for sets that hold 0.90 of the plausibility",
                source="leave_out",
            )
        kept = bounded(1 - mass)

        def claim(alpha: Fraction) -> Claim:
            least = bounded((1 - mass) * (1 - alpha), typed=False)
            return attrs.evolve(
                _CLAIM,
                target="mass",
                covers="the share of a new example's plausibilities that is in its set",
                event=f"lambda(C(X)) >= {kept}",
                reason=f"{_CLAIM.reason}, and every vector of the region has {kept} or more on "
                "the set",
                notes=(f"hence {least} of the annotators' answers are covered on average",),
            )

        return self._sets(
            predictions, alpha, lambda scores, tau: plausible_above(scores, tau, mass), claim
        )

    def vote_sets(self, predictions: xr.DataArray, alpha: Alphas) -> xr.DataArray:
        """Return every label that some vector of the region would vote for.

        The labels that have the largest plausibility, alone or tied, of a vector in the region:
        ``P(vote in C) >= 1 - alpha`` however ties are broken.

        Parameters
        ----------
        predictions : DataArray, (example, label)
        alpha : number, text, or a sequence of them

        Returns
        -------
        DataArray of bool, dims of `predictions` [and alpha]
        """
        return self._sets(predictions, alpha, votable, lambda _: _VOTES)

    def _sets(
        self,
        predictions: xr.DataArray,
        alpha: Alphas,
        reduced: Callable[[Floats, float], Bools],
        claim: Callable[[Fraction], Claim],
    ) -> xr.DataArray:
        (new, scores), alphas = self.read(predictions), read_alphas(alpha)
        return sets_array(
            new,
            [reduced(scores, self.warned(rate)) for rate in alphas],
            alphas,
            [
                json.dumps(self._summary.guarantee_of_rank(claim(rate), rate).to_json())
                for rate in alphas
            ],
            several=is_several(alpha),
            fingerprint=self.fingerprint,
            labels=self.labels,
            known=HashedNames(self.hashes),
        )

    def grid(self, predictions: xr.DataArray, alpha: Alphas, *, parts: int = 10) -> xr.Dataset:
        """Return which vectors of a grid on the simplex are in each example's region.

        Parameters
        ----------
        predictions : DataArray, (example, label)
        alpha : number, text, or a sequence of them
        parts : int
            The grid holds the ``C(parts + K - 1, K - 1)`` vectors of whole multiples of
            ``1 / parts`` that sum to 1.

        Returns
        -------
        Dataset
            `plausibilities`, (point, label); `p_values`, (example, point); `inside`,
            (example, point[, alpha]).

        Raises
        ------
        InputError
            ``option-range``; ``grid-too-large`` where examples times points pass 1,000,000.
        """
        new, scores = self.read(predictions)
        number: object = parts
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise InputError(
                "option-range",
                f"a grid of {parts!r} parts",
                expected="a whole number from 1 on",
                found=repr(parts),
                hint="parts=10",
                source="parts",
            )
        size = math.comb(parts + len(self.labels) - 1, parts) * len(scores)
        if size > _MOST_POINTS:
            raise InputError(
                "grid-too-large",
                f"a grid of {parts} parts has too many points for these labels and examples",
                expected=f"{counted(_MOST_POINTS)} at most, for all examples together",
                found=counted(size),
                hint="fewer parts or examples; bounds(), label_sets(), vote_sets() and contains() "
                "need no grid",
                source="parts",
            )
        points = grid(len(self.labels), parts)
        counts = self._counts(np.stack([expected_scores(row[None], points) for row in scores]))
        dataset = xr.Dataset(
            {"plausibilities": ((POINT, names.LABEL), points)},
            coords={names.EXAMPLE: new.checked[names.EXAMPLE], names.LABEL: list(self.labels)},
        )
        dataset["p_values"] = ((names.EXAMPLE, POINT), share(counts, self.n + 1))
        inside = [
            dataset["p_values"].copy(data=counts > self._rank(rate)) for rate in read_alphas(alpha)
        ]
        return dataset.assign(
            inside=over_alphas(alpha, inside).transpose(names.EXAMPLE, POINT, ...)
        )

    def __repr__(self) -> str:
        metadata = f"score {self.scoring.called}, n {self.n:,}, {len(self.labels)} labels"
        lines = [f"PlausibilityRegion  {metadata}"]
        for alpha in (Fraction(1, 10), Fraction(1, 20)):
            tau = order_statistic(self.ordered, math.floor(alpha * (self.n + 1)))
            level = self.guarantee(alpha).shown_level()
            lines.append(f"  alpha {float(alpha):g}  threshold {tau:.4g}  guaranteed {level}")
        return "\n".join(lines)


def calibrate_region(
    predictions: xr.DataArray,
    plausibilities: xr.DataArray | xr.Dataset,
    *,
    score: ComponentLike[ScoreFunction] = "probability",
    seed: int = 0,
    only_common: bool = False,
) -> PlausibilityRegion:
    """Calibrate regions of plausibility vectors.

    Each calibration example has one score, ``S_i = sum_k lambda_ik E(X_i, k)``, and nothing is
    drawn. At alpha a vector lambda conforms with x where ``sum_k lambda_k E(x, k) >= tau``, tau
    the ``floor(alpha (n + 1))``-th smallest S_i.

    Parameters
    ----------
    predictions : DataArray, (example, label)
        What the model says of the calibration examples; it must not have been trained on them.
    plausibilities : DataArray or Dataset, (example, label)
        Plausibilities, dense or sparse, or an annotation table, which is aggregated by the default
        of its kind. Aligned with the predictions by the names of examples and labels.
    score : str, mapping or ScoreFunction
    seed : int
        Seed of randomised scores, which are keyed by the examples' names.
    only_common : bool
        Leave out the examples that only one side has, instead of refusing.

    Returns
    -------
    PlausibilityRegion

    Raises
    ------
    InputError
        Where inputs are malformed or do not match.

    References
    ----------
    Stutz et al., arXiv 2307.09302v1 (the published version leaves regions out).
    """
    model, plausible, _ = matched_inputs(
        predictions, plausibilities, seed=seed, only_common=only_common
    )
    if plausible.draws is not None:
        check_plausibilities(plausible.array, draws=False)  # refuses them
    scoring = scoring_of(model, plausible, score, seed)
    values: Floats = model.array.values
    scores = scoring.scores(values, model.examples)
    return PlausibilityRegion(
        labels=tuple(model.labels.texts),
        scoring=scoring,
        dtype=values.dtype,
        ordered=np.sort(expected_scores(scores, plausible.stored.dense())),
        hashes=model.examples.hashes,
    )
