"""The predictor of plain arrays, which a service uses without xarray."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import blake2b
from math import isnan
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import attrs
import numpy as np
from numpy import asarray
from numpy.typing import ArrayLike, NDArray

from plausibly import text
from plausibly.calibration.alphas import AlphaLike, read_alpha
from plausibly.calibration.examples import Examples
from plausibly.calibration.pools import Pool, Pools
from plausibly.calibration.pvalues import PValues, TestScores, combined
from plausibly.calibration.threshold import REMEMBERED, Metadata, ThresholdRule
from plausibly.calibration.vacuous import warn_if_vacuous, warn_of_small_groups
from plausibly.errors import IncompatibleComponents, InputError, counted, listed
from plausibly.guarantee import CalibrationSummary, Claim, Guarantee
from plausibly.kernels.random import Keys
from plausibly.kernels.ranks import at_least
from plausibly.kernels.types import Bools, Floats, FloatType, Hashes, unwritable
from plausibly.protocols import PValueCombiner, ScoreFunction
from plausibly.registry.entries import calling, failed

Scale: TypeAlias = Literal["probability", "logit", "independent", "any"]


@attrs.frozen(kw_only=True)
class Scoring:
    """How predictions become conformity scores, of calibration and new examples alike.

    Attributes
    ----------
    component : ScoreFunction
    called : str
        Its name, for messages.
    scale : str
        Scale of the predictions.
    seed : int
        Seed of the uniforms of a randomised score, which are keyed by the examples' names.
    """

    component: ScoreFunction
    called: str
    scale: str
    seed: int

    @property
    def identity(self) -> bool:
        """Whether scores are the numbers as given."""
        plain = self.scale != "logit" and self.component.reads == "probability"
        return plain and self.component.identity

    def scores(self, values: Floats, examples: Examples) -> Floats:
        """Return the scores ([augmentation,] example, label) of predictions."""
        uniform: Floats | None = None
        if self.component.randomised:
            # One an example, the same for its augmentations.
            one = Keys(self.seed).child("score").uniform(examples.hashes)
            uniform = np.array(np.broadcast_to(one, (*values.shape[:-1], 1)))
        return self.with_uniform(values, uniform)

    def with_uniform(self, values: Floats, uniform: Floats | None) -> Floats:
        """Return scores in the dtype of the predictions; larger = fits better."""
        whose = f"score {self.called}"
        given = np.array(self._read(values), copy=True, order="C")
        if uniform is not None:
            uniform = unwritable(uniform)
        with calling(whose, "score"):
            scores = np.asarray(self.component.score(given, uniform))
        got = ""
        if scores.shape != values.shape:
            got = f"shape {scores.shape}"
        elif scores.dtype.kind not in "fiu":
            got = str(scores.dtype)
        else:
            with np.errstate(over="ignore"):
                same = scores.astype(values.dtype, copy=False)
            # The extremes of numbers are NaN where one of them is: no mask of their size.
            if same.size and np.isnan(same.min()):
                got = "NaN"
            elif same.size and same.max() == np.inf and values.max() < np.inf:
                got = "inf"
        if got:
            raise IncompatibleComponents(
                "score-malformed",
                f"{whose} returned what cannot be compared",
                expected=f"numbers of shape {values.shape}, finite or -inf",
                got=got,
                do="mend the score function's score()",
                whose=whose,
            )
        # Adding zero turns -0.0 into 0.0, which compare equal but are different bits.
        # What was handed over is a copy that nobody else has.
        return np.add(same, values.dtype.type(0), out=same if same is given else None)

    def _read(self, values: Floats) -> Floats:
        """Return predictions in the form that the score function reads."""
        read: Floats = values
        if self.component.reads != "log-probability":
            if self.scale == "logit":
                from scipy.special import softmax

                read = softmax(values, axis=-1)
        elif self.scale == "any":
            raise IncompatibleComponents(
                "scale-unsuitable",
                f"score {self.called} reads log-probabilities, and the predictions are of scale "
                "any",
                expected="scale probability, logit or independent",
                got="any",
                do='score probability, or scale="logit", if they are logits',
                whose=f"score {self.called}",
            )
        elif self.scale == "logit":
            from scipy.special import log_softmax

            read = log_softmax(values, axis=-1)
        else:
            with np.errstate(divide="ignore"):
                read = np.log(values)
        return read


_LABELLED = ("predict", "p_values", "threshold", "largest_scores", "save")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ArrayPredictor:
    """A calibrated predictor of plain rows, from `load_predictor` with `array_only`."""

    labels: tuple[str, ...]
    score: ScoreFunction
    combiner: PValueCombiner
    components: Mapping[str, Mapping[str, object] | None]
    pools: Pools
    held_out_scores: Floats | None
    examples: Examples | None
    metadata: Metadata
    reference: Floats | None = None

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
        held_out = self.held_out_scores
        count = 0 if held_out is None else held_out.shape[-1]
        return self.pools.calibration.summary(self.metadata.calibrator, count)

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits that change with all that is predicted, promised or shown."""
        components = {
            "score": self.components["score"] or {"name": repr(self.score)},
            "combiner": self.components["combiner"] or {"name": repr(self.combiner)},
            "calibrator": self.components["calibrator"],
        }
        calibration = self.pools.calibration
        about = {
            "labels": self.labels,
            # The same predictor, however its files were read and plausibilities made.
            "metadata": {
                **attrs.asdict(self.metadata, filter=lambda field, _: field.name != "reading"),
                "aggregator": "",
            },
            "calibration": calibration.plain(),
            **components,
        }
        digest = blake2b(digest_size=16)
        digest.update(json.dumps(about, sort_keys=True, default=str).encode())
        for group in self.pools.groups:
            for pool in group.each if calibration.separate else (group.pooled,):
                digest.update(_canonical(pool, counting=calibration.counting))
        held_out = self.held_out_scores
        if held_out is not None:
            # Scores of one example stay together, where there are several.
            ordered = np.lexsort(np.atleast_2d(held_out)[::-1])
            digest.update(held_out[..., ordered].tobytes())
        if self.reference is not None:
            digest.update(np.sort(self.reference).tobytes())
        return digest.hexdigest()

    @cached_property
    def _scoring(self) -> Scoring:
        """How predictions become scores."""
        metadata = self.metadata
        return Scoring(
            component=self.score, called=metadata.score, scale=metadata.scale, seed=metadata.seed
        )

    @cached_property
    def _held_out(self) -> PValues | None:
        scores = self.held_out_scores
        return None if scores is None else PValues.of(self.pools, scores)

    def _combine(self, p: PValues) -> NDArray[np.float64]:
        return combine(self.combiner, self.metadata.combiner, p, self._held_out)

    @cached_property
    def _rule(self) -> ThresholdRule:
        return ThresholdRule(self.pools, self._combine, self.combiner.needs, self.metadata)

    @property
    def needs_only_scores(self) -> bool:
        """Whether `predict_array` works: nothing else is read of a new example."""
        return self._rule.needs_only_scores and not self.score.randomised

    @cached_property
    def _promise(self) -> Callable[[Fraction], Guarantee]:
        return lru_cache(REMEMBERED)(self._stated)

    def _stated(self, alpha: Fraction) -> Guarantee:
        calibration = self.pools.calibration
        stated = guarantee_of(
            self.combiner, self.metadata.combiner, calibration.claim, self.summary, alpha
        )
        stated = attrs.evolve(stated, groups=self._groups)
        if calibration.claim.weights:
            # Only new examples that weigh much get every label; `predict` warns of these.
            return attrs.evolve(stated, vacuous=False)
        if not self._rule.has_threshold:
            return stated
        # The sets decide: ties at the least score can make them vacuous too.
        return attrs.evolve(stated, vacuous=bool((self._rule.thresholds(alpha) == -np.inf).all()))

    @cached_property
    def _groups(self) -> tuple[tuple[str, float], ...]:
        calibration = self.pools.calibration
        return tuple(zip(calibration.groups, calibration.group_sizes(), strict=True))

    def _warn(self, alpha: Fraction) -> None:
        promise = self._promise(alpha)
        calibration = self.pools.calibration
        if calibration.claim.by and self._rule.has_threshold:
            small = np.flatnonzero(self._rule.thresholds(alpha) == -np.inf).tolist()
            warn_of_small_groups(promise, calibration, small)
        else:
            warn_if_vacuous(promise, self.metadata.combiner)

    def guarantee(self, alpha: AlphaLike) -> Guarantee:
        """Return what sets at `alpha` promise: level, of what, over what, if what, and why."""
        return self._promise(read_alpha(alpha))

    @cached_property
    def _dtype(self) -> FloatType:
        return self.pools.dtype

    @cached_property
    def _row(self) -> tuple[int]:
        return (len(self.labels),)

    @cached_property
    def _direct(self) -> bool:
        """Whether scores are the numbers as given, so that sets need one comparison."""
        return self._scoring.identity

    def threshold_array(self, alpha: AlphaLike) -> Floats:
        """Return the least score that stays in a set, as plain numbers."""
        return self._thresholds(alpha).copy()

    if not TYPE_CHECKING:  # pragma: no branch  # so that a checker knows a name that is not there

        def __getattr__(self, name: str) -> object:
            if name in _LABELLED:
                raise AttributeError(
                    f"a predictor of plain rows has no {name}: load_predictor(path), without "
                    "array_only=True, has it and imports xarray"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def predict_array(
        self, predictions: ArrayLike, alpha: AlphaLike, *, uniform: Floats | None = None
    ) -> Bools:
        """Return sets of one row or a batch of plain arrays."""
        values, thresholds = self._rows(predictions), self._thresholds(alpha)
        if not self._direct:
            scores = self._scores(values, uniform)
            return self._rule.at_least(scores, np.atleast_1d(thresholds), None).reshape(
                values.shape
            )
        kept: Bools = at_least(values, thresholds) if values.ndim > 1 else values >= thresholds
        return kept

    def p_values_array(
        self, predictions: ArrayLike, *, uniform: Floats | None = None
    ) -> NDArray[np.float64]:
        """Return the combined p-values of one row or a batch of plain arrays."""
        values = self._rows(predictions)
        self._rule.require_rows()
        test_scores = TestScores(scores=self._scores(values, uniform), uniform=None)
        return combined(self.pools, test_scores, self._combine).reshape(values.shape)

    def _rows(self, predictions: ArrayLike) -> Floats:
        values: Floats = asarray(predictions, self._dtype)
        if values.shape != self._row and (values.ndim != 2 or values.shape[1:] != self._row):
            raise InputError(
                "array-shape",
                f"predictions have shape {values.shape}",
                expected=f"({len(self.labels)},) or (examples, {len(self.labels)}), labels in the "
                "order of predictor.labels",
                got=str(values.shape),
                do="pass one row or a batch of rows",
                whose="predictions",
            )
        # The first NaN counts as the largest: one pass, at a third of the cost of `isnan`.
        if values.size and isnan(values.item(values.argmax())):
            raise self._not_numbers(values)
        return values

    @cached_property
    def _thresholds(self) -> Callable[[AlphaLike], Floats]:
        # By alpha as it was given, so that a service pays for its Fraction once; and by its type,
        # since a number of another type may equal a float and stand for another decimal.
        return lru_cache(REMEMBERED, typed=True)(self._compared_with)

    def _compared_with(self, alpha: AlphaLike) -> Floats:
        """Return what scores are compared with, and warn where every set is every label."""
        self._rule.require_rows()
        exact = read_alpha(alpha)
        thresholds = self._rule.thresholds(exact)
        self._warn(exact)
        # Without dims it is compared several times faster than as one number in a row.
        return thresholds if self.pools.calibration.claim.by else thresholds[0:1].reshape(())

    def _scores(self, values: Floats, uniform: Floats | None) -> Floats:
        if self.score.randomised and uniform is None:
            raise InputError(
                "uniform-missing",
                f"score {self.metadata.score} is randomised, and plain rows have no names",
                expected="one uniform an example, of shape (examples, 1)",
                do="uniform=..., or predict() with named examples",
                whose="predictions",
            )
        return self._scoring.with_uniform(np.atleast_2d(values), uniform)

    def _not_numbers(self, values: Floats) -> InputError:
        bad = np.isnan(np.atleast_2d(values))
        rows = np.flatnonzero(bad.any(axis=1))
        labels = [f'"{self.labels[place]}"' for place in np.flatnonzero(bad.any(axis=0))]
        return InputError(
            "array-nan",
            f"predictions, NaN in {counted(len(rows))} of {counted(len(bad))} rows",
            expected="numbers",
            got=f"{counted(int(bad.sum()))} NaN in {listed(labels)}",
            do="predict these again, or leave them out",
            whose="predictions",
        )

    def __repr__(self) -> str:
        metadata = self.metadata
        summary = self.summary
        held = f" (and {summary.n_held_out:,} held out)" if summary.n_held_out else ""
        lines = [
            f"{type(self).__name__}  {metadata.calibrator} + {metadata.combiner}, "
            f"score {metadata.score}, n {summary.n:,}{held}, {len(self.labels)} labels"
        ]
        for alpha in (Fraction(1, 10), Fraction(1, 20)):
            promise = self._promise(alpha)
            of = " of the voted label" if promise.target == "voted" else ""
            each = f" for {promise.per}" if promise.per else ""
            kept = f"guaranteed {promise.shown_level()}{of}{each}"
            lines.append(
                f"  alpha {float(alpha):g}  threshold {self._rule.shown(alpha)}  "
                f"{'no guarantee' if promise.level is None else kept}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return _html(self, self._rule.shown)


def combine(
    combiner: PValueCombiner, name: str, p: PValues, held_out: PValues | None
) -> NDArray[np.float64]:
    """Return a combiner's p-values of queries, (*query): checked."""
    whose = f"combiner {name}"
    with calling(whose, "combine"):
        found: object = combiner.combine(p, held_out)
    wrong = _problem(found, p)
    if wrong:
        raise failed(
            whose,
            "combine() returned no p-values",
            expected=f"float64 of shape {p.numerators.shape}, above 0 and at most 1",
            got=wrong,
        )
    return cast("NDArray[np.float64]", found)


def _problem(found: object, p: PValues) -> str:
    """Return what is wrong with a combiner's answer, or nothing."""
    if not isinstance(found, np.ndarray):
        return f"a {type(found).__name__}"
    if found.shape != p.numerators.shape:
        return f"shape {found.shape}"
    if found.dtype != np.float64:
        return str(found.dtype)
    # The least of numbers is NaN where one of them is.
    if not found.size or 0.0 < found.min() <= found.max() <= 1.0:
        return ""
    # A query without a mass of its own has the p-value 0 where it is below all atoms.
    alone = p.numerators == 0 if p.weight is None else np.broadcast_to(p.weight == 0, found.shape)
    wrong = ~((found > 0.0) | (found == 0.0) & alone) | (found > 1.0)
    return f"{found[wrong][0]:.4g}" if wrong.any() else ""


def guarantee_of(
    combiner: PValueCombiner, name: str, claim: Claim, summary: CalibrationSummary, alpha: Fraction
) -> Guarantee:
    """Return the guarantee that a combiner states of a calibration: checked."""
    whose = f"combiner {name}"
    with calling(whose, "guarantee"):
        found: object = combiner.guarantee(claim, summary, alpha)
    if not isinstance(found, Guarantee):
        wrong = f"a {type(found).__name__}"
    elif found.alpha != alpha:
        wrong = f"one for alpha {found.alpha}"
    else:
        shares: dict[str, object] = {
            "level": found.level,
            "confidence": found.confidence,
            "share": found.share,
        }
        wrong = ", ".join(
            f"{field} {value}"
            for field, value in shares.items()
            if value is not None and not (isinstance(value, Fraction | int) and 0 <= value <= 1)
        )
        if not wrong:
            return found
    raise failed(
        whose,
        "guarantee() returned none that can be stated",
        expected=f"a Guarantee for alpha {alpha}, its level a Fraction from 0 to 1",
        got=wrong,
    )


def _canonical(pool: Pool, *, counting: bool) -> bytes:
    """Return the bytes of a pool with ties merged, which no row order can change."""
    # Cut to the atoms, of which a label that was never voted has none.
    differs = np.append(pool.ordered[1:] != pool.ordered[:-1], True)[: len(pool.ordered)]
    last = np.flatnonzero(differs)
    masses = pool.cumulative[last + 1]
    wide = masses.dtype == object
    text = ",".join(map(str, masses)).encode() if wide else masses.astype("<i8").tobytes()
    if not counting:
        text += f"{pool.test_mass}/{pool.base}/{pool.total}/{pool.bits}".encode()
    return pool.ordered[last].tobytes() + text


_ALPHAS = ("0.1", "0.05")
_MOST_LABELS = 30


def _html(predictor: ArrayPredictor, threshold: Callable[[Fraction], str]) -> str:
    """Return what a predictor is, what it guarantees, and its labels, as HTML."""
    metadata, summary = predictor.metadata, predictor.summary
    held = f" and {counted(summary.n_held_out)} held out" if summary.n_held_out else ""
    rows = [
        ("calibrator", metadata.calibrator),
        ("combiner", metadata.combiner),
        ("score", metadata.score),
        ("aggregator", metadata.aggregator),
        ("calibrated on", f"{counted(summary.n)} examples{held}, seed {metadata.seed}"),
        ("labels", f"{len(predictor.labels)}: {listed(predictor.labels, most=_MOST_LABELS)}"),
        ("fingerprint", predictor.fingerprint),
    ]
    promises = [predictor.guarantee(alpha) for alpha in _ALPHAS]
    levels = [
        (alpha, threshold(Fraction(alpha)), promise.statement())
        for alpha, promise in zip(_ALPHAS, promises, strict=True)
    ]
    return text.framed(
        type(predictor).__name__,
        text.table(rows, titled=True),
        text.table(levels, head=("alpha", "threshold", "guaranteed"), titled=True),
        text.unfolded(
            f"the guarantee at alpha {_ALPHAS[0]} in full",
            text.table(promises[0].rows(), titled=True),
        ),
    )
