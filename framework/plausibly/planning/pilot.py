"""The spread of coverage over calibrations of n examples, by formula and from a pilot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product

import attrs
import numpy as np
import xarray as xr

from plausibly import registry
from plausibly.calibration.alphas import rounded_up
from plausibly.conformal.aggregate import aggregated, default_aggregator
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.data.annotations import Rows, check_table, is_annotations
from plausibly.data.names import text_array
from plausibly.data.plausibilities import Plausibilities
from plausibly.errors import InputError, counted
from plausibly.evaluation import inputs
from plausibly.evaluation.inputs import as_predictions, p_value_rows
from plausibly.evaluation.intervals import Doubles, groups_of
from plausibly.evaluation.splits import out_of_range
from plausibly.guarantee import CalibrationSummary, Claim
from plausibly.kernels.blocks import row_blocks
from plausibly.kernels.coverage import row_sums
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Ints
from plausibly.protocols import (
    AGGREGATOR,
    COMBINER,
    SCORE,
    Aggregator,
    ComponentLike,
    PValueCombiner,
    ScoreFunction,
)
from plausibly.registry import called

_WHOLE = 1.0 - 1e-9
_WINDOW = 20.0  # the edge of what is enough wavers over a few square roots of n


@attrs.frozen(kw_only=True)
class Shares:
    """Components of the variance of missed mass; L_i is the plausibility that a set misses."""

    between: float
    within: float
    design_effect: float = 1.0
    atom: float = 1.0

    def ratio(self, draws: float) -> float:
        """Return the variance with m draws in units of that of one draw, without clusters."""
        drawn = 0.0 if math.isinf(draws) else self.within / draws
        return (self.design_effect * self.between + drawn) / (self.between + self.within)

    def step(self, draws: float) -> float:
        """Return how much of an example's mass stands at one score: ``(1 + (m - 1) atom) / m``."""
        return self.atom if math.isinf(draws) else (1.0 + (draws - 1.0) * self.atom) / draws

    @classmethod
    def mean(cls, several: Sequence[Shares]) -> Shares:
        means = np.mean([attrs.astuple(shares) for shares in several], axis=0).tolist()
        return cls(**dict(zip(attrs.fields_dict(cls), means, strict=True)))


ONE_DRAW = Shares(between=0.0, within=1.0)
"""Variance without a pilot: one draw, for any data."""


@attrs.frozen(kw_only=True)
class Law:
    """The beta law of the coverage of calibrations, for several n."""

    covered: Doubles
    missed: Doubles
    vacuous: Bools  # of sets with every label: missed is 1 there

    @classmethod
    def of(cls, alpha: Fraction, n: Ints, draws: float, shares: Shares = ONE_DRAW) -> Law:
        size, step = n.astype(np.float64), shares.step(draws)
        top, bottom = alpha.as_integer_ratio()
        # In Python's integers, which may be of any size: floor(alpha (n + 1)).
        rank = np.array([(count + 1) * top // bottom for count in n.tolist()], dtype=np.int64)
        if step >= _WHOLE:
            missed = rank / (size + 1.0)
        else:
            # Mass passes alpha (n + 1) - 1 somewhere within a step.
            missed = (float(alpha) * (size + 1.0) - 1.0 + step / 2.0) / (size + step)
        vacuous: Bools = rank < 1
        strength = np.maximum((size + 2.0) / shares.ratio(draws) - 1.0, np.finfo(np.float64).tiny)
        missed, covered = missed * strength, (1.0 - missed) * strength
        return cls(covered=covered, missed=np.where(vacuous, 1.0, missed), vacuous=vacuous)

    def mean(self) -> Doubles:
        means = self.covered / (self.covered + self.missed)
        return np.where(self.vacuous, 1.0, means)

    def spread(self) -> Doubles:
        """Return the standard deviation of coverage over calibrations, (n,)."""
        total = self.covered + self.missed
        variance = self.covered * self.missed / (total**2 * (total + 1.0))
        return np.where(self.vacuous, 0.0, np.sqrt(variance))

    def quantile(self, share: float) -> Doubles:
        """Return the coverage below which a share of calibrations stays, (n,)."""
        from scipy.special import betaincinv

        return np.where(self.vacuous, 1.0, betaincinv(self.covered, self.missed, share))

    def within(self, alpha: Fraction, width: float, *, one_sided: bool = False) -> Doubles:
        """Return the share of calibrations whose coverage is within `width` of 1 - alpha, (n,)."""
        from scipy.special import betainc

        level = float(1 - alpha)
        low, high = level - width, min(1.0, level + width)
        below = betainc(self.covered, self.missed, max(0.0, low))
        above = 0.0 if one_sided else 1.0 - betainc(self.covered, self.missed, high)
        return np.where(self.vacuous, 0.0, 1.0 - below - above)


def pool_rank(alpha: Fraction, n: int, draws: int) -> int:
    """Return the rank of the threshold among m n drawn scores; every label where it is below 1."""
    return math.floor(alpha * draws * (n + 1)) - draws + 1


def examples_needed(
    alpha: Fraction,
    draws: float,
    *,
    within: float,
    confidence: float,
    shares: Shares = ONE_DRAW,
    one_sided: bool = False,
) -> int:
    """Return the n from which on enough calibrations are close enough to 1 - alpha."""
    from scipy.special import ndtri

    share = confidence if one_sided else (1.0 + confidence) / 2.0
    variance = float(alpha * (1 - alpha)) * shares.ratio(draws)
    guess = max(float(ndtri(share)) ** 2 * variance / within**2, 1.0)
    reach = _WINDOW * math.sqrt(guess) + 50.0 / float(alpha)
    while True:
        low, high = max(1, math.floor(guess - reach)), math.ceil(guess + reach)
        n = np.arange(low, high + 1)
        law = Law.of(alpha, n, draws, shares)
        bad = np.flatnonzero(law.within(alpha, within, one_sided=one_sided) < confidence)
        if bad.size and bad[-1] < 0.75 * len(n):
            return int(n[bad[-1]]) + 1
        if not bad.size and low == 1:
            return 1
        reach *= 2.0


_TWO_DRAWS = CalibrationSummary(n=20, m=2, n_held_out=20)
"""The numbers that are needed depend on neither."""


def needed_by_combiner(
    combiners: Sequence[ComponentLike[PValueCombiner]], alphas: Sequence[Fraction]
) -> xr.Dataset:
    """Return the number of examples from which on sets do not contain all labels."""
    made = [registry.resolve(COMBINER, combiner) for combiner in combiners]
    called_by = [called(COMBINER, combiner) for combiner in made]
    needed, counts = [], []
    for name, combiner in zip(called_by, made, strict=True):
        guarantees = [combiner.guarantee(Claim(), _TWO_DRAWS, alpha) for alpha in alphas]
        if guarantees[0].level is None:
            expected, hint = "combiners with a guarantee", 'combiners=["average"]'
            raise out_of_range("combiners", name, expected=expected, hint=hint)
        needed.append([guarantee.needed or 1 for guarantee in guarantees])
        counts.append(guarantees[0].unit)
    return xr.Dataset(
        {
            "needed": ((names.ALPHA, "combiner"), np.transpose(needed)),
            "needed_counts": ("combiner", text_array(counts)),
        },
        coords={
            names.ALPHA: [float(alpha) for alpha in alphas],
            "combiner": text_array(called_by),
        },
    )


LADDER = (1, 2, 3, 5, 10, 20, 50, 100)
_THINNINGS = 3
_MOST_HAVE = 0.1  # the last step is one that all but this share of the examples reach


@attrs.frozen(kw_only=True, eq=False)
class Responses:
    """The single responses of a table, ready to be thinned."""

    table: xr.Dataset
    place: Ints
    order: Ints
    counts: Ints

    @classmethod
    def of(cls, table: xr.Dataset, keys: Keys) -> Responses:
        """Return the responses of a table, each of which counts a whole number of times."""
        rows = Rows.of(table)
        ordered = rows.by_name()
        says = ordered[rows.mentions[ordered] > 0]
        place = np.repeat(says, rows.weight[says].astype(np.int64))
        owner = rows.example[place].astype(np.int64)
        counts = np.bincount(owner, minlength=rows.n)
        uniforms = keys.ragged(rows.hashes, counts)
        drawn = np.lexsort((uniforms, owner))
        order = np.empty(len(owner), dtype=np.int64)
        order[drawn] = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return cls(table=table, place=place, order=order, counts=counts)

    def thinned(self, most: int) -> xr.Dataset:
        """Return the table with at most so many responses per example."""
        size = self.table.sizes[names.RESPONSE]
        times = np.bincount(self.place[self.order < most], minlength=size)
        kept = np.flatnonzero(times)
        weighted = names.RESPONSE_WEIGHT in self.table.variables
        return Rows.of(self.table).take(kept, times[kept].astype(float) if weighted else None)

    def steps(self, wanted: Sequence[int] | None) -> list[int]:
        """Return the numbers of responses to look at, or raise ``option-range``."""
        if wanted is None:  # a ladder up to what nearly all have
            most = int(np.quantile(self.counts, _MOST_HAVE, method="lower"))
            return [*(step for step in LADDER if step < most), most]
        most = int(self.counts.max())
        bad = [number for number in wanted if not 1 <= number <= most]
        if bad:
            expected = f"1 to {counted(most)} per example"
            raise out_of_range("responses", bad[0], expected=expected, hint=f"responses=[{most}]")
        return sorted(set(wanted))


def read_pilot(
    predictions: xr.DataArray | None,
    plausibilities: xr.DataArray | xr.Dataset | None,
    score: ComponentLike[ScoreFunction],
    aggregator: ComponentLike[Aggregator] | None,
    cluster: str | None,
    seed: int,
    only_common: bool,
) -> Pilot | None:
    """Return the pilot, matched by name; None where there is none."""
    if predictions is None and plausibilities is None:
        return None
    if predictions is None or plausibilities is None:
        raise pilot_half("predictions" if predictions is None else "annotations")
    model = as_predictions(predictions)
    table, component = None, None
    if is_annotations(plausibilities):
        table = check_table(plausibilities)
        chosen = aggregator or default_aggregator(str(table.attrs[names.KIND]))
        component = registry.resolve(AGGREGATOR, chosen)
        record = aggregated(table, component, seed=seed).averaged()
    else:
        record = inputs.read_plausibilities(plausibilities)
    model, record = inputs.matched_with(model, record, only_common)
    clusters = None
    if cluster is not None:
        values, clusters = inputs.codes_of(inputs.example_values(cluster, (model, record.about)))
        if len(values) < 2:
            raise InputError(
                "clusters-few",
                f'all examples of the pilot are of one "{cluster}"',
                expected="two or more, to see how alike their examples are",
                found=f"{values[0]} alone",
                hint="leave cluster out",
                source="pilot",
            )
    function = registry.resolve(SCORE, score)
    return Pilot(
        predictions=model,
        plausibilities=record,
        score=function,
        seed=seed,
        clusters=clusters,
        table=table,
        aggregator=component,
        settings={
            "pilot_examples": model.sizes[names.EXAMPLE],
            "score": called(SCORE, function),
            "aggregator": "" if component is None else called(AGGREGATOR, component),
            **({} if clusters is None else {"cluster": cluster, "clusters": len(values)}),
        },
    )


def pilot_half(lacks: str) -> InputError:
    return InputError(
        "pilot-half",
        f"the pilot has no {lacks}",
        expected="predictions and annotations (or plausibilities) of the same examples",
        hint=f"pass {lacks} too, or neither, for one draw without a pilot",
        source="pilot",
    )


_ROUNDING = 1e-9  # sums of shares are off by less; what they are compared with is often whole


@attrs.frozen(kw_only=True, eq=False)
class Pilot:
    """Predictions and answers of the same examples, whose calibrations are resampled."""

    predictions: xr.DataArray
    plausibilities: Plausibilities
    score: ComponentLike[ScoreFunction]
    seed: int
    clusters: Ints | None = None
    table: xr.Dataset | None = None
    aggregator: Aggregator | None = None
    settings: Mapping[str, object] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return self.predictions.sizes[names.EXAMPLE]

    def thinned(
        self, alphas: Sequence[Fraction], responses: Sequence[int] | None
    ) -> tuple[list[int], Doubles, list[list[Shares]]] | None:
        """Return numbers of answers per example, with the distance and shares of such pilots.

        None where there are no answers to leave out.
        """
        if responses is not None and not len(responses):
            return None
        answers = []
        if self.table is not None and Rows.of(self.table).counts:
            for number in range(_THINNINGS):
                keys = Keys(self.seed).child(f"plan/thinning-{number}")
                answers.append(Responses.of(self.table, keys))
        if responses is None and (not answers or int(answers[0].counts.max()) < 2):
            return None
        if not answers:
            raise InputError(
                "responses-unknown",
                "the pilot has no single answers to leave out",
                expected="an annotation table whose answers count whole numbers of times",
                hint="pass an annotation table with every answer, or leave responses out",
                source="responses",
            )
        steps, every = answers[0].steps(responses), self.plausibilities.stored
        shares: list[list[list[Shares]]] = [[[] for _ in alphas] for _ in steps]
        distances = np.zeros(len(steps))
        try:
            for pilot_answers, (place, most) in product(answers, enumerate(steps)):
                fewer = aggregated(
                    pilot_answers.thinned(most), self.aggregator, seed=self.seed
                ).averaged()
                _, fewer = inputs.matched_with(self.predictions, fewer, only_common=True)
                off = np.empty(len(self))
                for rows in row_blocks(every.shape):
                    those, here = (s.take(rows).dense() for s in (fewer.stored, every))
                    off[rows] = row_sums(np.abs(those.astype(np.float64) - here), most=2.0)
                distances[place] += float(off.mean()) / 2 / _THINNINGS
                pilot = attrs.evolve(self, plausibilities=fewer)
                for column, alpha in enumerate(alphas):
                    shares[place][column].append(pilot.shares(alpha))
        except InputError as error:
            # Fewer answers are more alike than all are; without `responses`, they are left out.
            if responses is None and error.name == "pilot-flat":
                return None
            raise
        return steps, distances, [[Shares.mean(cell) for cell in row] for row in shares]

    @cached_property
    def _ordered(self) -> tuple[Floats, Floats, Ints | None]:
        """P-values and weights of the plausible labels of each example, and clusters, by name."""
        examples, labels = (
            np.argsort(hash_names(self.predictions[dim].values))
            for dim in (names.EXAMPLE, names.LABEL)
        )
        array = self.plausibilities.array
        predictor = calibrate(self.predictions, array, score=self.score, seed=self.seed)
        slots = self.plausibilities.stored.above_zero().ordered(labels)
        filled = np.minimum(np.arange(slots.label.shape[1]), slots.filled[:, None] - 1)
        code = np.take_along_axis(slots.label, filled, axis=1)
        values = np.empty(code.shape)
        for rows, p_values in p_value_rows(predictor, self.predictions):
            values[rows] = np.take_along_axis(p_values, labels[code[rows]], axis=1)
        clusters = None if self.clusters is None else self.clusters[examples]
        return values[examples], slots.weight.astype(np.float64)[examples], clusters

    def missed(self, alpha: Fraction) -> Doubles:
        """Return the plausibility (example,) that sets of the whole pilot at `alpha` miss."""
        values, weights, _ = self._ordered
        ascending, _, cumulative, _ = self._atoms
        share = cumulative[np.searchsorted(ascending, values, side="right")] / len(self)
        return row_sums(np.where(share <= float(alpha) + _ROUNDING, weights, 0.0))

    def shares(self, alpha: Fraction) -> Shares:
        size = len(self)
        least = max(math.ceil(1 / alpha), 2)  # one whole vote of the pilot may then be missed
        if size < least:
            raise InputError(
                "pilot-too-small",
                f"the pilot is too small for alpha {float(alpha):g}",
                expected=f"{counted(least)} examples or more",
                found=counted(size),
                hint=f"alpha {rounded_up(1 / max(size, 2))}, or plan without a pilot",
                source="pilot",
            )
        missed = self.missed(alpha)
        if float(missed.sum()) <= 0.0:
            raise InputError(
                "pilot-flat",
                f"at alpha {float(alpha):g} the sets of the pilot miss nothing",
                expected="scores that tell labels apart",
                hint="another score, a larger alpha, or plan without a pilot",
                source="pilot",
            )
        off = missed - missed.mean()
        between, clusters = float(off @ off) / (size - 1), self._ordered[2]
        _, masses, cumulative, _ = self._atoms
        share = cumulative[1:] / size
        near = (share >= float(alpha) / 2) & (share <= 2 * float(alpha))
        masses = masses[near] if near.any() else masses
        # The variance of sums over clusters in units of that of independent examples.
        design_effect, alone = 1.0, float(off @ off) * size / (size - 1)
        if clusters is not None and alone > 0:
            sums = np.bincount(clusters, weights=off)
            design_effect = float(sums @ sums) * len(sums) / (len(sums) - 1) / alone
        return Shares(
            between=between,
            within=float((missed * (1.0 - missed)).mean()),
            design_effect=design_effect,
            atom=float(masses @ masses) / float(masses.sum()),
        )

    @cached_property
    def _atoms(self) -> tuple[Floats, Floats, Floats, Ints]:
        """Values, masses, cumulative masses and rows of all plausible labels, by value."""
        values, weights, _ = self._ordered
        order = np.argsort(values, axis=None, kind="stable")
        order = order[weights.ravel()[order] > 0]
        masses = weights.ravel()[order]
        cumulative = np.concatenate(([0.0], np.cumsum(masses)))
        return values.ravel()[order], masses, cumulative, order // values.shape[1]

    def resampled(
        self, alphas: Sequence[Fraction], n: int, draws: Sequence[float], resamples: int, keys: Keys
    ) -> Doubles:
        """Return the coverage (alpha, draws, resample) of resampled calibrations."""
        values, masses, cumulative, row = self._atoms
        most = max((int(m) for m in draws if not math.isinf(m)), default=0)
        tau = np.empty((len(alphas), len(draws), resamples))
        for number in range(resamples):
            stream = keys.child(f"resample-{number}")
            examples = np.sort(self._examples(n, stream))  # neighbours are found faster
            drawn = self._draw(examples, most, stream)
            for column, m in enumerate(draws):
                if math.isinf(m):
                    # The least value above which all but alpha N - 1 of the mass lies.
                    times = np.bincount(examples, minlength=len(self))
                    mass = np.cumsum(masses * times[row])
                    limits = np.array([float(alpha * (n + 1) - 1) for alpha in alphas])
                    places = np.searchsorted(mass, limits + _ROUNDING)
                    at = values[np.minimum(places, len(mass) - 1)]
                    tau[:, column, number] = np.where(limits < 0, -math.inf, at)
                    continue
                pool = drawn[:, : int(m)].ravel()
                ranks = [pool_rank(alpha, n, int(m)) for alpha in alphas]
                kept = [rank - 1 for rank in ranks if rank > 0]
                pool = np.partition(pool, kept) if kept else pool
                tau[:, column, number] = [pool[k - 1] if k > 0 else -math.inf for k in ranks]
        below = cumulative[np.searchsorted(values, tau, side="left")]
        coverage: Doubles = 1.0 - below / cumulative[-1]
        return coverage

    def _examples(self, n: int, keys: Keys) -> Ints:
        """Return `n` rows of the pilot, drawn with replacement."""
        hashes, clusters = hash_names(["examples"]), self._ordered[2]
        if clusters is None:
            rows: Ints = (keys.uniform(hashes, n)[0] * len(self)).astype(np.int64)
            return rows
        sizes = np.bincount(clusters)
        # Enough clusters, were all as small as the smallest.
        most = math.ceil(n / int(sizes.min()))
        drawn = (keys.uniform(hashes, most)[0] * len(sizes)).astype(np.int64)
        drawn = drawn[: int(np.searchsorted(np.cumsum(sizes[drawn]), n)) + 1]
        members = groups_of(clusters, len(sizes))
        return np.concatenate([members[cluster] for cluster in drawn.tolist()])[:n]

    def _draw(self, examples: Ints, draws: int, keys: Keys) -> Floats:
        """Return the values (example, draw) of labels drawn from the plausibilities."""
        values, weights, _ = self._ordered
        slots = values.shape[1]
        shares = np.cumsum(weights, axis=1)
        # The labels of row i end in [i, i + 1), one row after the other.
        ends = (shares / shares[:, -1:] + np.arange(len(self))[:, None]).ravel()
        hashes = hash_names(["labels"])
        drawn = np.empty((len(examples), draws))
        for draw in range(draws):
            # A stream for each draw: it does not depend on how many there are.
            uniforms = keys.child(f"draw-{draw}").uniform(hashes, len(examples))[0]
            place = np.searchsorted(ends, examples + uniforms, side="right")
            drawn[:, draw] = values.ravel()[np.minimum(place, examples * slots + slots - 1)]
        return drawn
