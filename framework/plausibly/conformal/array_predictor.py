"""The predictor of plain arrays, which a service uses without xarray."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import blake2b
from math import isnan
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import attrs
import numpy as np
from numpy import asarray
from numpy.typing import ArrayLike, NDArray

from plausibly import text
from plausibly.calibration.alphas import AlphaLike, read_alpha
from plausibly.calibration.pvalues import Pools, PValues, TestScores, combined
from plausibly.calibration.threshold import exceed, threshold, warn_of_small_groups, warn_of_vacuous
from plausibly.errors import IncompatibleComponents, InputError, an, counted, listed
from plausibly.guarantee import CalibrationSummary, Guarantee, rounded
from plausibly.kernels.random import Keys
from plausibly.kernels.ranks import Array, hull
from plausibly.kernels.types import Bools, Floats, Hashes, unwritable
from plausibly.protocols import PValueCombiner, ScoreFunction
from plausibly.registry.entries import calling, failed

if TYPE_CHECKING:
    from plausibly.calibration.examples import HashedNames
    from plausibly.data.names import Names

Scale: TypeAlias = Literal["probability", "logit", "independent", "any"]


@attrs.frozen(kw_only=True)
class Scoring:
    """Conformity scores of predictions on a scale; the seed is that of uniforms.

    `order` holds the places of the labels along their order, where the score reads one.
    """

    component: ScoreFunction
    called: str
    scale: str
    seed: int
    order: tuple[int, ...] = ()

    @cached_property
    def identity(self) -> bool:
        """True if scores are the numbers as given."""
        plain = self.scale != "logit" and self.component.reads == "probability" and not self.order
        return plain and self.component.identity

    @cached_property
    def _back(self) -> NDArray[np.intp]:
        return np.argsort(self.order)

    def hull(self, values: Array) -> Array:
        """Return values (..., label) without holes along the order, if there is one."""
        if not self.order:
            return values
        return cast("Array", hull(values[..., list(self.order)])[..., self._back])

    def scores(
        self, values: Floats, examples: Names | None, uniform: Floats | None = None
    ) -> Floats:
        """Return the scores ([augmentation,] example, label) of predictions, in their dtype.

        A randomised score gets uniforms that are keyed by the examples, or those that are given.
        """
        if examples is not None and self.component.randomised:
            # One per example, the same for its augmentations.
            uniforms = Keys(self.seed).child("score").uniform(examples.hashes)
            uniform = np.array(np.broadcast_to(uniforms, (*values.shape[:-1], 1)))
        source = f"score {self.called}"
        read, log = values, self.component.reads == "log-probability"
        if log and self.scale == "any":
            raise IncompatibleComponents(
                "scale-unsuitable",
                f"{source} reads log-probabilities, and the predictions are of scale any",
                expected="scale probability, logit or independent",
                found="any",
                hint='score probability, or scale="logit", if they are logits',
                source=source,
            )
        if self.scale == "logit":
            from scipy.special import log_softmax, softmax

            read = (log_softmax if log else softmax)(values, axis=-1)
        elif log:
            with np.errstate(divide="ignore"):
                read = np.log(values)
        ordered = np.array(read[..., list(self.order)] if self.order else read, order="C")
        if uniform is not None:
            uniform = unwritable(uniform)
        with calling(source, "score"):
            scores = np.asarray(self.component.score(ordered, uniform))
        found = f"{scores.dtype} of shape {scores.shape}"
        if scores.shape == values.shape and scores.dtype.kind in "fiu":
            with np.errstate(over="ignore"):
                same = scores.astype(values.dtype, copy=False)
            # The largest of numbers is NaN where one of them is: no mask of their size.
            most = same.max(initial=-np.inf)
            sound = most < np.inf or (most == np.inf and values.max() == np.inf)
            found = "" if sound else str(most)
        if found:
            raise IncompatibleComponents(
                "score-malformed",
                f"{source} returned what cannot be compared",
                expected=f"numbers of shape {values.shape}, finite or -inf",
                found=found,
                hint="fix the score function's score()",
                source=source,
            )
        same = same[..., self._back] if self.order else same
        # Adding zero turns -0.0 into 0.0, which compare equal but are different bits.
        # What was handed over is a copy of our own.
        return np.add(same, values.dtype.type(0), out=same if same is ordered else None)


@attrs.frozen(kw_only=True)
class Metadata:
    """Record of how a predictor was calibrated."""

    scale: str
    seed: int
    calibrator: str
    score: str
    combiner: str
    aggregator: str
    calibrated_on: int
    augmentations: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    """Places of the labels along their order; empty where the score reads none."""
    reading: Mapping[str, str] = attrs.field(factory=dict, eq=False)
    """Parameters with which predictions were read: `example`, `variable`, `augmentation`."""


REMEMBERED = 128
"""Answers that a predictor remembers: a service may be asked for any number of alphas."""


@attrs.frozen(eq=False)
class _AtAlpha:
    """Threshold of each group, none where sets have none; the guarantee, and its JSON."""

    thresholds: Floats
    guarantee: Guarantee
    dumped: str


_SHOWN_ALPHAS = (Fraction(1, 10), Fraction(1, 20))
_MOST_LABELS = 30


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ArrayPredictor:
    """A calibrated predictor of plain rows, from `load_predictor` with `array_only`."""

    labels: tuple[str, ...]
    scoring: Scoring
    combiner: PValueCombiner
    components: Mapping[str, Mapping[str, object] | None]
    pools: Pools
    held_out_scores: Floats | None
    examples: Names | HashedNames | None
    metadata: Metadata
    reference: Floats | None = None
    _remembered: dict[Fraction, _AtAlpha] = attrs.field(factory=dict, init=False)

    if not TYPE_CHECKING:  # type checkers know which methods there are

        def __getattr__(self, name: str) -> object:
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in ("predict", "p_values", "threshold"):
                message += f": use {name}_array(...), or load_predictor(path) without array_only"
            raise AttributeError(message, name=name, obj=self)

    @property
    def score(self) -> ScoreFunction:
        """The score function."""
        return self.scoring.component

    @property
    def hashes(self) -> Hashes | None:
        """Hashes of the names of all calibration examples; None where the user left them out."""
        return None if self.examples is None else self.examples.hashes

    @property
    def n(self) -> int:
        """Number of calibration examples, held-out ones included."""
        return self.metadata.calibrated_on + self.summary.n_held_out

    @cached_property
    def summary(self) -> CalibrationSummary:
        """Numbers of the calibration on which guarantees depend."""
        calibration, held_out = self.pools.calibration, self.held_out_scores
        largest = calibration.examples
        if calibration.group is not None and not calibration.of_atoms:
            largest = int(max(calibration.group_sizes(), default=0))
        return CalibrationSummary(
            n=largest,
            m=len(calibration.scores),
            n_held_out=0 if held_out is None else held_out.shape[-1],
            test_mass=calibration.test_mass,
            equal_masses=calibration.counting,
            separate=calibration.separate,
            shared_score=calibration.augmentation != "separate",
            calibrator=self.metadata.calibrator,
        )

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits that change with all that is predicted, guaranteed or shown."""
        calibration = self.pools.calibration
        about = {
            "labels": self.labels,
            # The same predictor, however its files were read and plausibilities made.
            "metadata": attrs.asdict(attrs.evolve(self.metadata, aggregator="", reading={})),
            "calibration": calibration.plain(),
            **self.components,
            "score": self.components["score"] or repr(self.score),
            "combiner": self.components["combiner"] or repr(self.combiner),
        }
        digest = blake2b(json.dumps(about, sort_keys=True, default=str).encode(), digest_size=16)
        for group in self.pools.groups:
            for pool in group.each if calibration.separate else (group.pooled,):
                # Ties are merged, so that no order of rows changes the bytes. A label that was
                # never voted has no atoms.
                differs = np.append(pool.ordered[1:] != pool.ordered[:-1], True)
                last = np.flatnonzero(differs[: len(pool.ordered)])
                digest.update(pool.ordered[last].tobytes())
                masses = pool.cumulative[last + 1]
                wide = masses.dtype == object
                digest.update(repr(masses.tolist()).encode() if wide else masses.tobytes())
                totals = (pool.test_mass, pool.base, pool.total, pool.bits)
                digest.update(repr(totals).encode())
        if calibration.order is not None and calibration.uniform is not None:
            # Of which example each score is, and the order of the examples, matter too.
            units, row, _ = calibration.masses()
            columns = (units, *calibration.scores, calibration.order[row])
            atoms = np.lexsort(columns)
            for column in columns:
                digest.update(column[atoms].tobytes())
            digest.update(calibration.uniform[np.argsort(calibration.order)].tobytes())
        if self.held_out_scores is not None:
            # Scores of one example stay together, where there are several.
            ordered = np.lexsort(np.atleast_2d(self.held_out_scores)[::-1])
            digest.update(self.held_out_scores[..., ordered].tobytes())
        if self.reference is not None:
            digest.update(np.sort(self.reference).tobytes())
        return digest.hexdigest()

    @cached_property
    def _held_out(self) -> PValues | None:
        scores = self.held_out_scores
        return None if scores is None else PValues.of(self.pools, scores)

    def _p_values(self, test_scores: TestScores) -> NDArray[np.float64]:
        """Return the combined p-value of every label, (example, label)."""
        p = combined(self.pools, test_scores, self._combine)
        return self.scoring.hull(p)

    @property
    def has_p_values(self) -> bool:
        """True if the combiner has p-values beside thresholds."""
        return self.combiner.p_values_exist(self.summary)

    def _require_p_values(self) -> None:
        """Raise `IncompatibleComponents` where there are none."""
        if not self.has_p_values:
            raise IncompatibleComponents(
                "p-values-none",
                f"combiner {self.metadata.combiner} has thresholds, but no p-values",
                expected="a combiner whose sets are nested in alpha, such as average",
                hint="predict(...) or threshold(...)",
                source=f"combiner {self.metadata.combiner}",
            )

    def _combine(self, p: PValues) -> NDArray[np.float64]:
        """Return the combiner's p-values of test scores, (*query): checked."""
        source, found = f"combiner {self.metadata.combiner}", ""
        with calling(source, "combine"):
            values: object = self.combiner.combine(p, self._held_out)
        if not isinstance(values, np.ndarray):
            found = an(type(values).__name__)
        elif values.shape != p.numerators.shape or values.dtype != np.float64:
            found = f"{values.dtype} of shape {values.shape}"
        # The least of numbers is NaN where one of them is.
        elif values.size and not 0.0 < values.min() <= values.max() <= 1.0:
            # A query without a mass of its own has the p-value 0 where it is below all atoms.
            alone = p.numerators == 0 if p.weight is None else p.weight == 0
            wrong = ~((values > 0.0) | (values == 0.0) & alone) | (values > 1.0)
            found = f"{values[wrong][0]:.4g}" if wrong.any() else ""
        if found:
            raise failed(
                source,
                "combine() returned no p-values",
                expected=f"float64 of shape {p.numerators.shape}, above 0 and at most 1",
                found=found,
            )
        return cast("NDArray[np.float64]", values)

    def _stated(self, alpha: Fraction) -> Guarantee:
        """Return the guarantee that the combiner states: checked."""
        source, claim = f"combiner {self.metadata.combiner}", self.pools.calibration.claim
        with calling(source, "guarantee"):
            stated: object = self.combiner.guarantee(claim, self.summary, alpha)
        found = an(type(stated).__name__)
        if isinstance(stated, Guarantee):
            shares: list[object] = [stated.level, stated.confidence, stated.share]
            sound = all(
                value is None or (isinstance(value, Fraction | int) and 0 <= value <= 1)
                for value in shares
            )
            if sound and stated.alpha == alpha:
                return stated
            found = f"alpha {stated.alpha}, level {stated.level}, confidence {stated.confidence}"
        raise failed(
            source,
            "guarantee() returned none that can be stated",
            expected=f"a Guarantee for alpha {alpha}, level and confidence Fractions from 0 to 1",
            found=found,
        )

    @property
    def _has_threshold(self) -> bool:
        """True if a label is in the set by its score alone, given its group."""
        calibration = self.pools.calibration
        separate = calibration.augmentation == "separate"
        return not (calibration.claim.weights or separate or self.combiner.needs == "smoothed")

    @property
    def needs_only_scores(self) -> bool:
        """True if `predict_array` works: nothing else is read of a new example."""
        calibration = self.pools.calibration
        plain = calibration.augmentation in ("none", "pooled") and not calibration.by_examples
        return self._has_threshold and plain and not self.scoring.component.randomised

    def _at(self, alpha: Fraction) -> _AtAlpha:
        """Return thresholds and guarantee at `alpha`, remembered."""
        if remembered := self._remembered.get(alpha):
            return remembered
        calibration, groups = self.pools.calibration, self.pools.groups
        needs = self.combiner.needs
        taus: list[np.floating[Any]] = []  # Any: the type of the scores
        if needs == "losses":
            source, dtype = f"combiner {self.metadata.combiner}", self.pools.dtype
            with calling(source, "threshold"):
                taus = [dtype.type(self.combiner.threshold(self.pools, alpha))]
            if isnan(taus[0]):
                raise failed(source, "threshold() returned none", expected="a number", found="NaN")
        elif self._has_threshold:
            taus = [threshold(group, self._combine, alpha, needs) for group in groups]
        thresholds = np.array(taus, dtype=self.pools.dtype)
        guarantee = self._stated(alpha)
        vacuous = guarantee.vacuous
        if calibration.claim.weights:
            # Only new examples that weigh much get every label; `predict` warns of these.
            vacuous = False
        elif taus:
            # The sets decide: ties at the least score can make them vacuous too.
            vacuous = bool((thresholds == -np.inf).all())
        sizes: tuple[tuple[str, float], ...] = ()
        if calibration.groups:
            sizes = tuple(zip(calibration.groups, calibration.group_sizes(), strict=True))
        guarantee = attrs.evolve(guarantee, vacuous=vacuous, groups=sizes)
        answer = _AtAlpha(thresholds, guarantee, json.dumps(guarantee.to_json()))
        if len(self._remembered) >= REMEMBERED:
            self._remembered.clear()
        self._remembered[alpha] = answer
        return answer

    def _sets(self, test_scores: TestScores, alphas: Sequence[Fraction]) -> list[Bools]:
        """Return the sets (example, label) at each alpha, labels in the order of `labels`."""
        if not self._has_threshold:
            p = self._p_values(test_scores)
            return [exceed(p, alpha) for alpha in alphas]
        sets: list[Bools] = []
        group = test_scores.group
        for alpha in alphas:
            thresholds = self._at(alpha).thresholds
            if group is not None:
                # The last entry is that of a group that calibration lacks, -1: every label.
                thresholds = np.append(thresholds, thresholds.dtype.type(-np.inf))[group][:, None]
            kept: Bools = test_scores.scores >= thresholds
            # Thresholds of each label, and means of scores over augmentations, make holes.
            sets.append(self.scoring.hull(kept))
        return sets

    def _warn(self, alpha: Fraction) -> None:
        """Warn where every set, or every set of a group, is every label."""
        stated, calibration = self._at(alpha), self.pools.calibration
        if calibration.claim.by and self._has_threshold:
            small = np.flatnonzero(stated.thresholds == -np.inf).tolist()
            warn_of_small_groups(stated.guarantee, calibration, small)
        elif stated.guarantee.vacuous:
            warn_of_vacuous(stated.guarantee, self.metadata.combiner)

    def guarantee(self, alpha: AlphaLike) -> Guarantee:
        """Return what sets at `alpha` guarantee: level, of what, over what, if what, and why."""
        return self._at(read_alpha(alpha)).guarantee

    def threshold_array(self, alpha: AlphaLike) -> Floats:
        """Return the least score that stays in a set, as plain numbers."""
        return self._row_thresholds(alpha).copy()

    def predict_array(
        self, predictions: ArrayLike, alpha: AlphaLike, *, uniform: Floats | None = None
    ) -> Bools:
        """Return sets of one row or a batch of plain arrays."""
        values, thresholds = self._rows(predictions), self._row_thresholds(alpha)
        if not self.scoring.identity:
            kept: Bools = self._scores(values, uniform) >= thresholds
            return self.scoring.hull(kept).reshape(values.shape)
        return values >= thresholds

    def p_values_array(
        self, predictions: ArrayLike, *, uniform: Floats | None = None
    ) -> NDArray[np.float64]:
        """Return the combined p-values of one row or a batch of plain arrays."""
        self._require_p_values()
        values = self._rows(predictions)
        self._require_rows()
        test_scores = TestScores(scores=self._scores(values, uniform), uniform=None)
        return self._p_values(test_scores).reshape(values.shape)

    def _rows(self, predictions: ArrayLike) -> Floats:
        """Return rows of numbers in the float type of the scores."""
        values: Floats = asarray(predictions, self.pools.dtype)
        if values.shape[-1:] != (len(self.labels),) or values.ndim > 2:
            raise InputError(
                "array-shape",
                f"predictions have shape {values.shape}",
                expected=f"({len(self.labels)},) or (examples, {len(self.labels)}), labels in the "
                "order of predictor.labels",
                found=str(values.shape),
                hint="pass one row or a batch of rows",
                source="predictions",
            )
        # The first NaN counts as the largest: one pass, at a third of the cost of `isnan`.
        if not values.size or not isnan(values.item(values.argmax())):
            return values
        bad: Bools = np.isnan(np.atleast_2d(values).max(axis=1))
        raise InputError(
            "array-nan",
            "predictions have NaN",
            expected="numbers",
            found=f"NaN in {counted(int(bad.sum()))} of {counted(len(bad))} rows",
            hint="predict these again, or leave them out",
            source="predictions",
        )

    @cached_property
    def _row_thresholds(self) -> Callable[[AlphaLike], Floats]:
        """Threshold of scores of plain rows; warns if every set contains all labels."""

        # By alpha as it was given, so that a service pays for its Fraction once; and by its type,
        # since a number of another type may equal a float and stand for another decimal.
        @lru_cache(REMEMBERED, typed=True)
        def thresholds(alpha: AlphaLike) -> Floats:
            self._require_rows()
            exact = read_alpha(alpha)
            taus = self._at(exact).thresholds
            self._warn(exact)
            # Without dims it is compared several times faster than as one number in a row.
            return taus if self.pools.calibration.claim.by else taus[0:1].reshape(())

        return thresholds

    def _require_rows(self) -> None:
        """Raise `IncompatibleComponents` where rows of numbers do not say enough."""
        calibration = self.pools.calibration
        if (
            not self._has_threshold
            or calibration.by_examples
            or calibration.augmentation in ("separate", "mean")
        ):
            raise IncompatibleComponents(
                "array-not-enough",
                f"calibrator {self.metadata.calibrator} with combiner {self.metadata.combiner} "
                "reads more than rows of numbers",
                expected="a DataArray with names, augmentations or coordinates of the examples",
                hint="predict(), with such a DataArray",
                source="predictions",
            )

    def _scores(self, values: Floats, uniform: Floats | None) -> Floats:
        """Return the scores of plain rows, (example, label)."""
        if self.scoring.component.randomised and uniform is None:
            raise InputError(
                "uniform-missing",
                f"score {self.metadata.score} is randomised, and plain rows have no names",
                expected="one uniform per example, of shape (examples, 1)",
                hint="uniform=..., or predict() with named examples",
                source="predictions",
            )
        return self.scoring.scores(np.atleast_2d(values), None, uniform)

    def _shown_threshold(self, alpha: Fraction) -> str:
        """Return the threshold as text, or the least and the largest."""
        if not self._has_threshold:
            return "none"
        taus = sorted({float(tau) for tau in self._at(alpha).thresholds})
        ends = [rounded(tau) if 0 <= tau <= 1 else f"{tau:.4g}" for tau in (taus[0], taus[-1])]
        return " to ".join(ends[: len(taus)])

    def __repr__(self) -> str:
        metadata = self.metadata
        summary = self.summary
        held = f" (and {summary.n_held_out:,} held out)" if summary.n_held_out else ""
        lines = [
            f"{type(self).__name__}  {metadata.calibrator} + {metadata.combiner}, "
            f"score {metadata.score}, n {summary.n:,}{held}, {len(self.labels)} labels"
        ]
        for alpha in _SHOWN_ALPHAS:
            guarantee = self._at(alpha).guarantee
            of = " of the majority vote" if guarantee.target == "majority-vote" else ""
            each = f" for {guarantee.per}" if guarantee.per else ""
            kept = f"guaranteed {guarantee.shown_level()}{of}{each}"
            lines.append(
                f"  alpha {float(alpha):g}  threshold {self._shown_threshold(alpha)}  "
                f"{'no guarantee' if guarantee.level is None else kept}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        metadata, summary = self.metadata, self.summary
        held = f" and {counted(summary.n_held_out)} held out" if summary.n_held_out else ""
        rows = [
            ("calibrator", metadata.calibrator),
            ("combiner", metadata.combiner),
            ("score", metadata.score),
            ("aggregator", metadata.aggregator),
            ("calibrated on", f"{counted(summary.n)} examples{held}, seed {metadata.seed}"),
            ("labels", f"{len(self.labels)}: {listed(self.labels, most=_MOST_LABELS)}"),
            ("fingerprint", self.fingerprint),
        ]
        guarantees = [self._at(alpha).guarantee for alpha in _SHOWN_ALPHAS]
        levels = [
            (
                f"{float(guarantee.alpha):g}",
                self._shown_threshold(guarantee.alpha),
                guarantee.statement(),
            )
            for guarantee in guarantees
        ]
        return text.framed(
            type(self).__name__,
            text.table(rows, titled=True),
            text.table(levels, head=("alpha", "threshold", "guaranteed"), titled=True),
            text.unfolded(
                f"the guarantee at alpha {levels[0][0]} in full",
                text.table(guarantees[0].rows(), titled=True),
            ),
        )
