"""Sections of a report: figures with their sentences."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations

import attrs
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from plausibly.annotators.agreement import agreement, describe_annotators, measure_titles
from plausibly.annotators.answers import KINDS, Answers
from plausibly.calibration.scores import LABEL_CELLS
from plausibly.conformal.inputs import OVERLAP
from plausibly.data import names
from plausibly.data.names import name_text, name_texts, positions, quoted, several
from plausibly.data.select import select
from plausibly.errors import InputError, PlausiblyWarning, counted
from plausibly.evaluation import inputs
from plausibly.evaluation.describe import Judgement, Standing, decimal, judgement, outwards
from plausibly.evaluation.evaluate import AMBIGUITY, evaluate, stratum_of
from plausibly.evaluation.groups import (
    coverage_by_size,
    coverage_by_subgroup,
    in_order,
    sorted_coverage,
)
from plausibly.evaluation.inputs import judge
from plausibly.evaluation.intervals import COVERAGE, SET_SIZE
from plausibly.evaluation.results import DRAWS, METHOD, SIZE
from plausibly.evaluation.shift import shift
from plausibly.evaluation.uniformity import DRAWN, OF, TRUE, VOTED, p_value_uniformity
from plausibly.guarantee import Guarantee, bounded
from plausibly.kernels.coverage import Ties, row_sums
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Ints
from plausibly.report.model import (
    BROKEN,
    HELD,
    HIGHEST,
    LISTED,
    MOST,
    UNCHECKED,
    AnnotatorRow,
    Believe,
    Cases,
    Cell,
    Check,
    Disagreement,
    Finding,
    Interval,
    Measure,
    Part,
    Promise,
    Realised,
    ScoreColumn,
    SizeBar,
    Sizes,
    Splits,
    Uniformity,
    Verdict,
    Vote,
    Weak,
    Words,
)
from plausibly.report.subject import MethodSets, Subject, said_of


def interval(found: xr.Dataset, name: str) -> Interval:
    """Return NAME_mean, NAME_low and NAME_high of a result without dims."""
    mean, low, high = (float(found[f"{name}_{end}"]) for end in ("mean", "low", "high"))
    low, high = outwards(low, high)
    return Interval(mean=known(mean), low=known(low), high=known(high))


def known(value: float) -> float | None:
    """Return a number, None for NaN."""
    return None if math.isnan(value) else value


def measured_text(one: Interval) -> str:
    """Return ``.901 (.897 to .905)``."""
    if one.mean is None:
        return "-"
    if one.low is None or one.high is None:
        return decimal(one.mean)
    return f"{decimal(one.mean)} ({decimal(one.low)} to {decimal(one.high)})"


def percent(share: float) -> str:
    """Return a share in percent: ``90 %``, with a decimal where two would look alike otherwise."""
    whole = 100 * share
    text = f"{whole:.1f}".removesuffix(".0")
    return f"{text} %" if abs(whole - round(whole)) > 1e-9 else f"{round(whole)} %"


def about_percent(share: float) -> str:
    """Return a share in rounded percent; 100 and 0 only where it is all or none."""
    whole = round(100 * share)
    if whole == 100 and share < 1:
        return "more than 99 %"
    if whole == 0 and share > 0:
        return "less than 1 %"
    return f"{whole} %"


def thousandths(values: ArrayLike) -> list[int]:
    """Return numbers as whole thousandths; 0 and 1000 stand for 0 and 1 alone."""
    given = np.asarray(values, dtype=np.float64)
    found = np.rint(given * 1000).astype(np.int64)
    found = np.where((found == 0) & (given > 0), 1, found)
    found = np.where((found == 1000) & (given < 1), 999, found)
    return [int(value) for value in found.ravel()]


POLICIES: tuple[Ties, ...] = ("first", "fractional", "any", "all")
CROSSED = 2
"""Coordinates that a group is made of at most."""

MOST_CROSSED = 6
"""Coordinates from which groups are not crossed: each interval would pay for all of them."""

AT_LEAST = 20
"""Examples of the smallest group that is shown."""


@attrs.frozen(kw_only=True, eq=False)
class Measured:
    """Results for the sets of one method, all over ``alpha``."""

    evaluation: xr.Dataset
    votes: Mapping[str, xr.Dataset]
    sizes: xr.Dataset
    realised: xr.Dataset
    groups: xr.Dataset | None
    no_groups: str

    def at(self, place: int) -> Measured:
        """Return the results at one alpha."""

        def plane(found: xr.Dataset) -> xr.Dataset:
            return found.isel({names.ALPHA: place})

        return attrs.evolve(
            self,
            evaluation=plane(self.evaluation),
            votes={policy: plane(found) for policy, found in self.votes.items()},
            sizes=plane(self.sizes),
            realised=plane(self.realised),
            groups=None if self.groups is None else plane(self.groups),
        )


def measured(subject: Subject, method: MethodSets) -> Measured:
    """Return what the sets of a method cover."""
    sets, lam = method.sets, subject.plausibilities
    with warnings.catch_warnings():
        # What is to be said of the sets is said in the report.
        warnings.simplefilter("ignore", PlausiblyWarning)
        evaluation = evaluate(
            sets,
            lam,
            ties=subject.ties,
            true=subject.true,
            by=_guaranteed_by(method, sets),
            cluster=subject.cluster,
            seed=subject.seed,
        ).load()
        groups, why = _by_group(subject, sets)
        return Measured(
            evaluation=evaluation,
            votes=_votes(subject, sets, evaluation),
            sizes=coverage_by_size(sets, lam, cluster=subject.cluster, seed=subject.seed),
            realised=sorted_coverage(sets, lam),
            groups=groups,
            no_groups=why,
        )


def _guaranteed_by(method: MethodSets, sets: xr.DataArray) -> str | None:
    """Return the coordinate of each of whose values something is guaranteed."""
    by = method.promises[0].by
    known = by and by != LABEL_CELLS and inputs.known_values(by, (sets,)) is not None
    return by if known else None


def _votes(subject: Subject, sets: xr.DataArray, evaluation: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return coverage of the vote by policy: one policy where no vote is tied."""
    found = {str(subject.ties): evaluation}
    if not evaluation.attrs["tied_share"]:
        return found
    judged = judge(sets, subject.plausibilities, cluster=subject.cluster, seed=subject.seed)
    for policy in POLICIES:
        if policy not in found:
            outcomes = judged.outcomes(judged.measured(policy))
            found[policy] = judged.averaging.overall(outcomes)
    return found


def _by_group(subject: Subject, sets: xr.DataArray) -> tuple[xr.Dataset | None, str]:
    """Return coverage by group, or why there are no groups."""
    if not subject.by:
        return None, (
            f"Nothing is known of the {subject.words.examples} by which to group them: a table of "
            "them (examples) with a column such as the site would show where coverage is weak."
        )
    try:
        found = coverage_by_subgroup(
            sets,
            subject.plausibilities,
            list(subject.by),
            crossed=crossed(subject),
            at_least=AT_LEAST,
            cluster=subject.cluster,
            seed=subject.seed,
        )
    except InputError as error:
        if error.name != "subgroups-none":
            raise
        return None, f"{error.what[0].upper()}{error.what[1:]}: too few to say anything of them."
    return found, ""


def crossed(subject: Subject) -> int:
    """Return of how many coordinates a group is made at most."""
    return CROSSED if len(subject.by) <= MOST_CROSSED else 1


def wheres(subject: Subject) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return which examples each group is made of, by its title: columns and their values."""
    coded = [
        inputs.codes_of(inputs.example_values(name, (subject.predictions,))) for name in subject.by
    ]
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for depth in range(1, crossed(subject) + 1):
        for chosen in combinations(range(len(coded)), depth):
            for row in np.unique(np.stack([coded[at][1] for at in chosen], axis=1), axis=0):
                where = tuple(zip(chosen, map(int, row), strict=True))
                titles = [
                    f"{subject.by[at]} {name_text(coded[at][0][value])}" for at, value in where
                ]
                found[", ".join(titles)] = where
    return found


BUDGET = 4_300_000
"""Bytes of the examples at most, so that a report stays below 5 MB."""

SURPRISING = 10
"""Examples that are named as surprising, by method and alpha."""

PER_PLAUSIBILITY = "a plausibility, in a set, or among the five highest scores"


@attrs.frozen(kw_only=True, eq=False)
class Outcomes:
    """What the sets of all methods and alphas leave out of every example."""

    subject: Subject
    severity: Ints

    @cached_property
    def lam(self) -> NDArray[np.float64]:
        """Plausibilities, (example, label)."""
        return self.subject.plausibilities.values.astype(np.float64)

    @cached_property
    def inside(self) -> list[Bools]:
        """Sets of each view, (example, label)."""
        return [
            method.sets.values[:, :, place]
            for method in self.subject.methods
            for place in range(len(self.subject.alphas))
        ]

    @cached_property
    def missed(self) -> list[NDArray[np.float64]]:
        """Plausibility outside the sets of each view, (example,); nothing is exactly 0."""
        return [row_sums(np.where(inside, 0.0, self.lam)) for inside in self.inside]

    @cached_property
    def keys(self) -> NDArray[np.float64]:
        """A number for each example by its name alone, (example,)."""
        hashes = hash_names(self.subject.predictions[names.EXAMPLE].values)
        uniform: NDArray[np.float64] = Keys(self.subject.seed).child("report").uniform(hashes)[:, 0]
        return uniform

    def most_missed(self, view: int) -> list[int]:
        """Return the examples of which a view leaves out most, most first."""
        missed = self.missed[view]
        order = np.lexsort((self.keys, -missed))[:SURPRISING]
        return [int(row) for row in order if missed[row] > 0]

    def worst_of(self, which: Bools) -> Ints:
        """Return the highest severity among labels, (example,): `which` (example, label)."""
        worst: Ints = np.where(which, self.severity, -1).max(axis=1)
        return worst


def severities(subject: Subject) -> tuple[Ints, list[str]]:
    """Return the severity of each label, -1 where none is known, and the words of its level."""
    labels = name_texts(subject.predictions[names.LABEL].values)
    levels = [subject.risk.get(label) for label in labels]
    there = [at for at, level in enumerate(levels) if level is not None]
    severity = np.full(len(labels), -1, dtype=np.int64)
    if there:
        severity[there] = in_order([levels[at] for at in there], None)[1]
    return severity, ["" if level is None else str(level) for level in levels]


def chosen(outcomes: Outcomes, most: int) -> list[int]:
    """Return the rows of the examples that are shown, in the order of their names."""
    n = outcomes.subject.n
    if n <= most:
        return list(range(n))
    kept = set(np.argsort(outcomes.keys, kind="stable")[:most].tolist())
    for view in range(len(outcomes.inside)):
        kept.update(outcomes.most_missed(view))
    return sorted(kept)


def cases(outcomes: Outcomes, annotators: Sequence[str], *, budget: int = BUDGET) -> Cases:
    """Return section 6: as many examples as are shown at most, and as fit into a report."""
    most = min(MOST, outcomes.subject.n)
    while True:
        found = _cases(outcomes, chosen(outcomes, most), annotators, most)
        size = len(found.to_text().encode("utf-8", "replace"))
        if size <= budget or most <= 1:
            return found
        most = max(1, int(most * min(0.95 * budget / size, 0.95)))


def _cases(outcomes: Outcomes, rows: list[int], annotators: Sequence[str], most: int) -> Cases:
    subject = outcomes.subject
    lam = outcomes.lam[rows]
    inside = [sets[rows] for sets in outcomes.inside]
    first = subject.methods[0].scores[rows]
    listed = [_listed(*each) for each in zip(lam, _any(inside), first, strict=True)]
    labels = lam.shape[1]
    model = _prediction(subject)
    examples = name_texts(subject.predictions[names.EXAMPLE].values)
    mine = [examples[row] for row in rows]

    def bars(values: Floats) -> tuple[tuple[int, ...], ...]:
        scaled = np.array(thousandths(values)).reshape(values.shape)
        return tuple(tuple(row[some].tolist()) for row, some in zip(scaled, listed, strict=True))

    unlisted = tuple(labels - len(some) for some in listed)
    said = said_of(subject, mine)
    return Cases(
        sentence=_case_sentence(subject, outcomes),
        shown_sentence=_shown(subject, len(rows), most),
        total=subject.n,
        shown=len(rows),
        names=tuple(mine),
        listed=tuple(tuple(some.tolist()) for some in listed),
        unlisted=unlisted,
        unlisted_words=_left(subject, max(map(len, listed))) if any(unlisted) else "",
        plausibility=bars(lam),
        prediction=None if model is None else bars(model[0][rows]),
        prediction_words="" if model is None else model[1],
        scores=_scores(subject, model, rows, bars),
        p=tuple(bars(method.p[rows]) for method in subject.methods),
        sets=tuple(_bits(sets, listed) for sets in inside),
        size=tuple(tuple(sets.sum(axis=1).tolist()) for sets in inside),
        missed=tuple(tuple(thousandths(missed[rows])) for missed in outcomes.missed),
        largest=tuple(thousandths(lam.max(axis=1))),
        stratum=tuple(stratum_of(lam.max(axis=1)).tolist()),
        groups=tuple(
            tuple(
                inputs.codes_of(inputs.example_values(name, (subject.predictions,)))[1][
                    rows
                ].tolist()
            )
            for name in subject.by
        ),
        severity=tuple(outcomes.worst_of(lam > 0).tolist()),
        severity_missed=tuple(
            tuple(outcomes.worst_of((outcomes.lam[rows] > 0) & ~sets).tolist()) for sets in inside
        ),
        said=said.answers,
        annotators=tuple(annotators),
        ranked=said.ranked,
        text=_picked(subject.text, rows),
        thumbnail=_picked(subject.thumbnail, rows),
    )


def _any(inside: Sequence[Bools]) -> Bools:
    """Return which labels are in a set of any view, (example, label)."""
    found: Bools = np.logical_or.reduce(inside)
    return found


def _listed(lam: Floats, inside: Bools, scores: Floats) -> Ints:
    """Return the labels of one example whose bars are shown, ascending."""
    order = np.argsort(-scores, kind="stable")
    wanted = (lam > 0) | inside
    wanted[order[:HIGHEST]] = True
    if wanted.sum() > LISTED:
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        first = np.lexsort((place, -lam, ~wanted))[:LISTED]
        wanted = np.zeros_like(wanted)
        wanted[first] = True
    return np.flatnonzero(wanted)


def _bits(sets: Bools, listed: Sequence[Ints]) -> tuple[int, ...]:
    """Return the sets as numbers: bit j is listed label j."""
    return tuple(
        int((1 << np.flatnonzero(row[some])).sum()) for row, some in zip(sets, listed, strict=True)
    )


def _prediction(subject: Subject) -> tuple[NDArray[np.float64], str] | None:
    """Return what the model says of every label from 0 to 1, and what that is."""
    values = subject.predictions.values.astype(np.float64)
    scale = str(subject.predictions.attrs.get(names.SCALE, "probability"))
    if scale == "logit":
        from scipy.special import softmax

        return softmax(values, axis=1), "the model's probability (softmax of its logits)"
    if scale == "probability":
        return values, "the model's probability"
    if scale == "independent" and values.min() >= 0 and values.max() <= 1:
        return values, "the model's probability of each label on its own"
    return None


def _scores(
    subject: Subject,
    model: tuple[NDArray[np.float64], str] | None,
    rows: list[int],
    bars: Callable[[Floats], tuple[tuple[int, ...], ...]],
) -> tuple[ScoreColumn, ...]:
    """Return the scores of each score function, once."""
    columns = {}
    for method in subject.methods:
        if method.score not in columns:
            same = model is not None and np.allclose(method.scores, model[0], atol=5e-4)
            values = None if same else bars(method.scores[rows])
            columns[method.score] = ScoreColumn(name=method.score, values=values)
    return tuple(columns.values())


def _picked(texts: Sequence[str] | None, rows: list[int]) -> tuple[str, ...] | None:
    return None if texts is None else tuple(texts[row] for row in rows)


def _case_sentence(subject: Subject, outcomes: Outcomes) -> str:
    words = subject.words
    if subject.n == 1:
        return f"There is one {words.example}."
    return (
        f"{words.examples.capitalize()} where the set leaves out most of what {words.annotators} "
        "said come first."
    )


def _shown(subject: Subject, shown: int, most: int) -> str:
    if shown == subject.n:
        return ""
    fit = "as a report shows at most" if most == MOST else "as fit into a file of 5 MB"
    words = subject.words
    return (
        f"{counted(shown)} of {counted(subject.n)} {words.examples} are shown: {counted(most)}, as "
        f"many {fit}, chosen by a hash of their names (seed {subject.seed}) and so by no result, "
        "and besides those that the sections above name as surprising. All figures are of all "
        f"{words.examples}."
    )


def _left(subject: Subject, longest: int) -> str:
    text = f"Bars show the labels with {PER_PLAUSIBILITY} of a {subject.words.example}"
    if subject.words.example[0].casefold() in "aeiou":
        text = text.replace(" of a ", " of an ")
    if longest == LISTED:
        text += f", {LISTED} at most"
    return f"{text}; of the others only the number is stated."


SEVERITIES = ("broken", "vacuous", "weak", "kept")
_FLATTERING = ("examples-alike",)
"""Checks that flatter figures where they do not hold, by the share of what they name."""


def verdict(
    subject: Subject, found: Measured, promise: Guarantee, weak: Weak, checks: Sequence[Check]
) -> Verdict:
    """Return section 1 at one alpha."""
    judged = _judged(found.evaluation, promise)
    stands = judged.stands
    sentence = _verdict_sentence(subject, found.evaluation, promise, judged)
    findings = [
        Finding(severity=_severity(promise, stands), name=_name(promise, stands), sentence=sentence)
    ]
    findings += [
        Finding(
            severity="weak" if check.name in _FLATTERING else "broken",
            name=check.name,
            sentence=check.words,
        )
        for check in checks
        if check.state == BROKEN
    ]
    findings += _weak_parts(subject, weak)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    if findings[0].severity == "broken" and findings[0].sentence != sentence:
        sentence = f"{findings[0].sentence} {sentence}"
    words = subject.words
    return Verdict(
        sentence=sentence,
        limits=f"About what {words.annotators} say, not about the truth; about the average "
        f"{words.example}, not every {words.example}.",
        findings=tuple(findings),
        guarantee=_full(promise, checks),
    )


def _judged(evaluation: xr.Dataset, promise: Guarantee) -> Judgement:
    """Return how the guarantee stands; nothing where there is none, or it is not measured."""
    measured = f"{COVERAGE.get(promise.target, '')}_mean" in evaluation
    if promise.level is None or not (measured or promise.vacuous):
        return Judgement(None, None, "")
    return judgement(evaluation, promise)


def _severity(promise: Guarantee, stands: Standing | None) -> str:
    if stands in ("broken", "vacuous"):
        return str(stands)
    return "kept" if stands is not None and promise.target == "aggregated" else "weak"


def _name(promise: Guarantee, stands: Standing | None) -> str:
    if promise.level is None:
        return "guarantee-none"
    return f"guarantee-{(stands or 'other').replace(' ', '-')}"


def _verdict_sentence(
    subject: Subject, evaluation: xr.Dataset, promise: Guarantee, judged: Judgement
) -> str:
    """Return the first sentence of the report."""
    words = subject.words
    said = interval(evaluation, AGGREGATED)
    size = decimal_size(interval(evaluation, SET_SIZE))
    whole = f"{_share(said)} of what {words.annotators} say"
    if judged.stands == "vacuous":
        more = ""
        if promise.needed is not None:
            more = (
                f" It says something with {counted(promise.needed)} {promise.counted} or more; "
                f"there are {counted(promise.has)}."
            )
        return (
            f"At alpha {float(promise.alpha):g} every set is every label: the guarantee of "
            f"{promise.shown_level().removesuffix(', vacuous')} is kept, and says nothing.{more}"
        )
    if promise.level is None:
        return (
            f"Nothing is guaranteed. These sets cover {whole} (measured {_ends(said)}), "
            f"with {size}."
        )
    if promise.target == "risk":
        return (
            f"These sets are guaranteed a risk of at most {promise.bound()} on "
            f"average, if new {words.examples} resemble these. They cover {whole} (measured "
            f"{_ends(said)}), of which nothing is guaranteed."
        )
    if not judged.words:
        return (
            f"These sets cover {whole} (measured {_ends(said)}); guaranteed {promise.statement()}."
        )
    covered = interval(evaluation, COVERAGE[promise.target])
    one = judged.covered
    if promise.cluster and not promise.by and one is not None:
        covered = Interval(mean=one.mean, low=one.low, high=one.high)
    return _against(subject, promise, covered, said, judged)


def _against(
    subject: Subject,
    promise: Guarantee,
    covered: Interval,
    said: Interval,
    judged: Judgement,
) -> str:
    """Return what was measured against what is promised."""
    words = subject.words
    level = promise.bound()
    object_ = {
        "voted": f"of the votes of {words.annotators}",
        "mass": f"{bounded(promise.share or 1)} or more of what {words.annotators} say, for "
        f"{_share(covered)} of the {words.examples}",
    }.get(promise.target, f"of what {words.annotators} say")
    amount = "" if promise.target == "mass" else f"{_share(covered)} "
    resemble = f"if new {words.examples} resemble these"
    if promise.confidence is not None:
        resemble += f", with probability {bounded(promise.confidence)} over the calibration"
    rest = ""
    if promise.target != "aggregated":
        rest = (
            f" Of what {words.annotators} say nothing is guaranteed, and they cover {_share(said)} "
            f"(measured {_ends(said)})."
        )
    if judged.stands == "broken" and not promise.by:
        return (
            f"These sets cover less than is guaranteed: {amount}{object_} (measured "
            f"{_ends(covered)}; guaranteed {level}). The guarantee does not hold here, or these "
            f"{words.examples} are unlike those that calibrated.{rest}"
        )
    return (
        f"These sets cover {amount}{object_} (measured {_ends(covered)}; guaranteed {level}, "
        f"{resemble}): {judged.words}.{rest}"
    )


def _share(one: Interval) -> str:
    if one.mean is None:
        return "nothing"
    return percent(round(one.mean, 2)) if 0.005 <= one.mean < 0.995 else percent(round(one.mean, 3))


def _ends(one: Interval) -> str:
    """Return ``.901, .897 to .905``."""
    return measured_text(one).replace(" (", ", ").rstrip(")")


def decimal_size(one: Interval) -> str:
    """Return ``2.5 labels on average``."""
    return f"{one.mean or 0:.2f} labels on average"


def _weak_parts(subject: Subject, weak: Weak) -> list[Finding]:
    """Return the groups and strata that are covered clearly less than is promised."""
    found = []
    for place, part in enumerate(weak.parts):
        if part.clear:
            stratum = part.kind == "ambiguity"
            title = f"{part.title[0].upper()}{part.title[1:]}" if stratum else f"Group {part.title}"
            tail = f", which is not known of a new {subject.words.example}" if stratum else ""
            found.append(
                Finding(
                    severity="weak",
                    name="stratum-weak" if stratum else "group-weak",
                    sentence=f"{title}: {measured_text(part.covered)} where "
                    f"{decimal(weak.level or 0)} is promised on average, {counted(part.n)} "
                    f"{subject.words.examples}{tail}.",
                    part=place,
                )
            )
    return sorted(found, key=lambda finding: finding.name)


def _full(promise: Guarantee, checks: Sequence[Check]) -> Promise:
    rows = promise.rows()
    told = [f"{check.title}: {check.state}" for check in checks if check.state != UNCHECKED]
    if told and promise.level is not None:
        place = next((at for at, (title, _) in enumerate(rows) if title == "not"), len(rows))
        rows.insert(place, ("checked", "; ".join(told)))
    return Promise(
        statement=promise.statement(),
        level=level_of(promise),
        shown=promise.short(),
        rows=tuple(rows),
    )


MOST_LABELS = 20
"""Rows of the heat map at most."""

RESAMPLES = 1000
MANY = 20_000
"""Examples from which there are fewer resamples, since each of them adds less."""

FEW_RESAMPLES = 200

LIKENESS = {
    "percent": "same answer",
    "jaccard": "Jaccard",
    "partial-average-overlap": "overlap",
}


def called(annotators: Sequence[str], *, by_name: bool) -> list[str]:
    """Return what annotators are called: ``r01``, ``r02`` in the order of their names."""
    if by_name:
        return list(annotators)
    wide = max(2, len(str(len(annotators))))
    place = {name: at for at, name in enumerate(sorted(annotators), start=1)}
    return [f"r{place[name]:0{wide}}" for name in annotators]


def disagreement(subject: Subject, shown: Sequence[str]) -> Disagreement:
    """Return section 4."""
    table, words = subject.annotations, subject.words
    if table is None:
        return _of_nothing(
            f"There are plausibilities, but no single answers: what {words.annotators} disagree "
            "on, and who differs, cannot be shown."
        )
    kind = str(table.attrs[names.KIND])
    if kind not in KINDS:
        return _of_nothing(
            f"Agreement of {kind} answers is not measured: each is a share of every label."
        )
    with warnings.catch_warnings():
        # Repeated answers and half an order are said where the file is read.
        warnings.simplefilter("ignore", PlausiblyWarning)
        answers = Answers.of(table)
        few = answers.n > MANY
        found = agreement(
            table,
            resamples=FEW_RESAMPLES if few else RESAMPLES,
            cluster=subject.cluster if subject.cluster in table.coords else None,
            seed=subject.seed,
        )
    labels = name_texts(subject.predictions[names.LABEL].values)
    cells = _cells(answers, positions(labels, answers.labels))
    rows, note = _heat(cells, labels, words)
    kept = set(rows)
    nothing = ""
    if not found.attrs["compared"]:
        nothing = f"No {words.example} has answers of two {words.annotators}: nobody can disagree."
    elif not any(cell.a != cell.b for cell in cells):
        nothing = f"All {words.annotators} agree on every {words.example}."
    return Disagreement(
        sentence=nothing or _sentence(found, cells, labels, words),
        measures=tuple(_measures(found)),
        annotators=tuple(_annotators(found, shown, positions(labels, answers.labels))),
        likeness=LIKENESS[str(found.attrs["likeness"])],
        who=_who(found, shown),
        labels=rows,
        cells=tuple(cell for cell in cells if cell.a in kept and cell.b in kept),
        note=note,
        nothing=nothing,
    )


def _of_nothing(why: str) -> Disagreement:
    return Disagreement(sentence=why, nothing=why)


def _cells(answers: Answers, place: NDArray[np.int64]) -> list[Cell]:
    """Return over which labels two answers to one example part, and where they meet."""
    cell, mention = answers.spread(answers.cell_value)
    where = place[answers.mention_label[mention]]
    first = (answers.mention_block[mention] <= 1) & (where >= 0)
    cell, label = cell[first], where[first]
    count, example = answers.cell_count, answers.cell_example
    size = len(place)
    of_cell = np.bincount(cell, minlength=len(count))
    ends = np.cumsum(np.bincount(example, minlength=answers.n))
    found: dict[tuple[int, int], list[int]] = {}
    starts = np.concatenate([[0], np.cumsum(of_cell)])
    for one, end in enumerate(ends):
        begin = ends[one - 1] if one else 0
        if end - begin < 2 and count[begin:end].sum() < 2:
            continue
        _add(found, count, label, starts, range(int(begin), int(end)), size)
    return [
        Cell(a=a, b=b, pairs=pairs, examples=examples)
        for (a, b), (pairs, examples) in sorted(found.items())
        if pairs
    ]


def _add(
    found: dict[tuple[int, int], list[int]],
    count: NDArray[np.int64],
    label: NDArray[np.int64],
    starts: NDArray[np.int64],
    cells: range,
    size: int,
) -> None:
    """Add the pairs of one example."""
    named: dict[int, int] = {}
    both: dict[tuple[int, int], int] = {}
    for cell in cells:
        times = int(count[cell])
        mine = sorted(label[starts[cell] : starts[cell + 1]].tolist())
        for at, a in enumerate(mine):
            named[a] = named.get(a, 0) + times
            for b in mine[at + 1 :]:
                both[a, b] = both.get((a, b), 0) + times
    every = sorted(named)
    for at, a in enumerate(every):
        for b in every[at:]:
            if a == b:
                pairs = named[a] * (named[a] - 1) // 2
            else:
                same = both.get((a, b), 0)
                pairs = (named[a] - same) * (named[b] - same)
            if pairs:
                entry = found.setdefault((a, b), [0, 0])
                entry[0] += pairs
                entry[1] += 1


def _heat(
    cells: Sequence[Cell], labels: Sequence[str], words: Words
) -> tuple[tuple[int, ...], str]:
    """Return the labels of the heat map, and what it counts."""
    parted = np.zeros(len(labels))
    met = np.zeros(len(labels))
    for cell in cells:
        if cell.a == cell.b:
            met[cell.a] += cell.pairs
        else:
            parted[[cell.a, cell.b]] += cell.pairs
    order = sorted(range(len(labels)), key=lambda code: (-parted[code], -met[code], code))
    named = [code for code in order if parted[code] or met[code]]
    kept = tuple(sorted(named[:MOST_LABELS]))
    note = (
        f"Counts pairs of answers to one {words.example} of which one names a label and the other "
        "another; on the diagonal, pairs that name the same."
    )
    if len(named) > len(kept):
        note += (
            f" The {len(kept)} of {counted(len(named))} labels that are parted over most are shown."
        )
    return kept, note


def _sentence(found: xr.Dataset, cells: Sequence[Cell], labels: Sequence[str], words: Words) -> str:
    """Return how often two agree, and over what they part most."""
    percent = float(found["value"].sel(measure="percent"))
    most = max((cell for cell in cells if cell.a != cell.b), key=lambda cell: cell.pairs)
    return (
        f"Two {words.annotators} agree on {round(100 * percent)} of 100 {words.examples}; most "
        f"often they part over {quoted(labels[most.a])} and {quoted(labels[most.b])}."
    )


def _measures(found: xr.Dataset) -> list[Measure]:
    titles = measure_titles(str(found.attrs["kind"]))
    rows = []
    for place, name in enumerate(map(str, found["measure"].values)):
        value, low, high = (float(found[end].values[place]) for end in ("value", "low", "high"))
        rows.append(
            Measure(
                name=name,
                title=titles.get(name, name),
                value=Interval(mean=known(value), low=known(low), high=known(high)),
                reason=str(found["reason"].values[place]),
            )
        )
    return rows


def _annotators(
    found: xr.Dataset, shown: Sequence[str], place: NDArray[np.int64]
) -> list[AnnotatorRow]:
    """Return a row an annotator with answers: those who differ first, then by likeness."""
    label = dict(zip(name_texts(found[names.LABEL].values), place.tolist(), strict=True))
    rows = []
    for at, name in enumerate(shown):
        one = found.isel({names.ANNOTATOR: at})
        if not int(one["annotator_answers"]):
            continue
        says = str(one["annotator_says"].item())
        rows.append(
            AnnotatorRow(
                name=name,
                answers=int(one["annotator_answers"]),
                compared=int(one["annotator_compared"]),
                agreement=known(float(one["annotator_agreement"])),
                others=known(float(one["annotator_others"])),
                vote=known(float(one["annotator_vote"])),
                low=bool(one["annotator_low"]),
                says=label.get(says),
                says_share=known(float(one["annotator_says_share"])),
                says_others=known(float(one["annotator_says_others"])),
            )
        )
    return sorted(
        rows,
        key=lambda row: (not row.low, 2.0 if row.agreement is None else row.agreement, row.name),
    )


def _who(found: xr.Dataset, shown: Sequence[str]) -> str:
    """Return who stands out, in words."""
    if not len(shown) or np.isnan(found["annotator_agreement"].values).all():
        text = describe_annotators(found).replace("\n", " ")
        return f"{text[0].upper()}{text[1:]}."
    low = [name for at, name in enumerate(shown) if found["annotator_low"].values[at]]
    each = found["annotator_agreement"].values
    span = f"from {decimal(float(np.nanmin(each)))} to {decimal(float(np.nanmax(each)))}"
    if not low:
        return f"Nobody stands out: likeness with others runs {span}."
    named = ", ".join(low[:5]) + (f" and {counted(len(low) - 5)} more" if len(low) > 5 else "")
    agree = "agrees" if len(low) == 1 else "agree"
    return (
        f"{named} {agree} with others less than these do among themselves, beyond chance; "
        f"likeness runs {span} over {several(len(shown), 'annotator')}."
    )


def selected(table: xr.Dataset, examples: Sequence[str]) -> xr.Dataset:
    """Return the answers of a table to some examples, in the order of their names."""
    there = set(name_texts(table.indexes[names.EXAMPLE]))
    kept = sorted(name for name in examples if name in there)
    return select(table, example=kept)


BINS = 20
SUSPECT = 0.001
"""A p-value of a check below this breaks it: reports make many checks."""

_LABELS = {DRAWN: "a drawn label", VOTED: "the vote", TRUE: "the known label"}


def uniformity(subject: Subject) -> list[Uniformity]:
    """Return how p-values of each method are distributed, where they can be measured."""
    found: list[Uniformity] = []
    for place, method in enumerate(subject.methods):
        one = method.tested[0]
        if names.AUGMENTATION in one.predictions.dims:
            continue
        with warnings.catch_warnings():
            # That examples calibrated the predictor is a check of its own.
            warnings.simplefilter("ignore", PlausiblyWarning)
            made = p_value_uniformity(
                one.predictor,
                one.predictions,
                subject.plausibilities,
                true=subject.true,
                cluster=subject.cluster,
                seed=subject.seed,
                only_common=True,
            )
        found += [
            _of(place, made.sel({OF: of}), method, subject) for of in map(str, made[OF].values)
        ]
    return found


def _of(place: int, made: xr.Dataset, method: MethodSets, subject: Subject) -> Uniformity:
    values = made["p_value"].values
    counts = np.histogram(values, bins=BINS, range=(0.0, 1.0))[0]
    above, p = float(made["ks_above"]), float(made["p_super_uniform"])
    of, n = str(made[OF].item()), len(values)
    promised = bool(made["promised"])
    verdict = "as few small ones as there may be" if p >= SUSPECT else "more small ones than may be"
    sentence = (
        f"P-values of {_LABELS[of]}, {method.name}, {several(n, subject.words.example)}: {verdict} "
        f"(KS {above:.3f}, p {_p(p)})"
    )
    if not promised:
        sentence += "; nothing is promised of them"
    return Uniformity(
        method=place,
        of=of,
        promised=promised,
        counts=tuple(int(count) for count in counts),
        ks_above=above,
        ks_below=float(made["ks_below"]),
        p=p,
        n=n,
        sentence=f"{sentence}.",
    )


def _p(value: float) -> str:
    digits = 3 if value < 0.01 else 2
    return "< .001" if value < SUSPECT else f"{value:.{digits}f}".removeprefix("0")


def method_checks(subject: Subject, place: int, found: Sequence[Uniformity]) -> list[Check]:
    """Return the checks of one method: those of the examples, and of its p-values."""
    checks = list(subject.checks)
    mine = [one for one in found if one.method == place and one.promised]
    checks += [
        Check(
            name="p-values",
            title=f"p-values of {subject.methods[place].name} are no smaller than promised",
            state=HELD if one.p >= SUSPECT else BROKEN,
            words=one.sentence,
        )
        for one in mine
    ]
    return checks


def believe(subject: Subject, found: Sequence[Uniformity]) -> Believe:
    """Return section 7, for all methods."""
    checks = list(subject.checks)
    for place in range(len(subject.methods)):
        checks += [
            check
            for check in method_checks(subject, place, found)
            if check not in checks and not subject.methods[place].reference
        ]
    order = (BROKEN, UNCHECKED, HELD)
    checks.sort(key=lambda check: order.index(check.state))
    broken = sum(check.state == BROKEN for check in checks)
    unknown = sum(check.state == UNCHECKED for check in checks)
    start = "No assumption that can be checked is broken"
    if broken:
        start = f"{several(broken, 'assumption')} {'is' if broken == 1 else 'are'} broken: "
        start += "; ".join(check.title for check in checks if check.state == BROKEN)
    rest = f"; {counted(unknown)} cannot be checked from data." if unknown else "."
    return Believe(
        sentence=start + rest,
        checks=tuple(checks),
        uniformity=tuple(found),
        nothing="" if found else "P-values of several views together are not looked at.",
    )


def exchangeable(words: Words) -> list[Check]:
    """Return the two assumptions that no data can confirm."""
    many = words.examples
    return [
        Check(
            name="exchangeable",
            title=f"new {many} resemble those that calibrated",
            state=UNCHECKED,
            words=f"Guarantees hold for {many} that come from where these came from, in no "
            "particular order. Checks can show that this is not so; none can show that it is.",
        ),
        Check(
            name="model-saw-none",
            title=f"the model saw none of these {many}",
            state=UNCHECKED,
            words=f"A model is surer of {many} that it was fitted to. Its predictions here "
            "must come from a model that did not see them, or not those of the fold it predicts.",
        ),
    ]


def of_overlap(method: MethodSets, words: Words) -> Check:
    """Return whether the examples of the report calibrated the predictor that is reported."""
    title = f"no {words.example} here calibrated the predictor"
    overlap = int(method.sets.attrs[OVERLAP])
    n = method.sets.sizes[names.EXAMPLE]
    if method.tested[0].predictor.hashes is None:
        told = "The predictor was saved without the names of those that calibrated it."
        return Check(name="overlap", title=title, state=UNCHECKED, words=told)
    if overlap:
        who = f"All {counted(n)}" if overlap == n else f"{counted(overlap)} of {counted(n)}"
        told = (
            f"{who} {words.examples} calibrated the predictor: what their sets cover is no "
            "evidence."
        )
        return Check(name="evaluated-on-calibration", title=title, state=BROKEN, words=told)
    return Check(
        name="overlap",
        title=title,
        state=HELD,
        words=f"None of {counted(n)} names is among the {counted(method.tested[0].predictor.n)} "
        "that calibrated it.",
    )


def of_shift(method: MethodSets, words: Words) -> Check | None:
    """Return whether the largest scores look like calibration's; None if none are kept."""
    one = method.tested[0]
    if one.predictor.reference is None or one.predictor.pools.replicates.weight_by:
        return None
    found = shift(one.predictor.reference, one.predictor.largest_scores(one.predictions))
    told = f"Largest scores: KS {found.distance:.2f}, p {_p(found.p_value)}."
    return Check(
        name="shift-suspected" if found.suspected else "shift",
        title=f"{words.examples} score like those that calibrated",
        state=BROKEN if found.suspected else HELD,
        words=f"{told} Under a shift there is no guarantee." if found.suspected else told,
    )


AGGREGATED = "aggregated_coverage"
PLACES = 200
"""Points of a curve over all examples."""

MOST_PARTS = 60
"""Groups that are shown: those that are covered least."""

_SAME = 0.005  # of coverage: what rounds to no opinion in a hundred


def level_of(promise: Guarantee) -> float | None:
    """Return what is promised of what experts say, None where nothing is."""
    if promise.level is None or promise.target != "aggregated":
        return None
    return float(promise.level)


def vote(subject: Subject, found: Measured, voted: Measured | None) -> Vote:
    """Return section 2 at one alpha."""
    evaluation = found.evaluation
    aggregated, size = interval(evaluation, AGGREGATED), interval(evaluation, SET_SIZE)
    votes = tuple(
        (policy, interval(result, "voted_coverage")) for policy, result in found.votes.items()
    )
    true = interval(evaluation, "true_coverage") if "true_coverage_mean" in evaluation else None
    if voted is None:
        sentence = (
            f"These sets hold {measured_text(aggregated)} of what "
            f"{subject.words.annotators} say, and {measured_text(votes[0][1])} of their votes."
        )
    else:
        sentence = _beside(subject, evaluation, voted.evaluation)
    return Vote(
        sentence=sentence,
        aggregated=aggregated,
        voted=votes,
        true=true,
        size=size,
        share_empty=float(evaluation["share_empty"]),
        share_single=float(evaluation["share_singleton"]),
    )


def _beside(subject: Subject, these: xr.Dataset, voted: xr.Dataset) -> str:
    """Return what calibrating on votes would change."""
    more = float(these[f"{AGGREGATED}_mean"]) - float(voted[f"{AGGREGATED}_mean"])
    labels = float(these[f"{SET_SIZE}_mean"]) - float(voted[f"{SET_SIZE}_mean"])
    size = f"{abs(labels):.1f} labels {'fewer' if labels > 0 else 'more'} in a set"
    if abs(labels) < _SAME * 10:
        size = "sets of the same size"
    if abs(more) < _SAME:
        return f"Calibrating on the majority vote would cover as many opinions here, with {size}."
    number = f"{round(100 * abs(more))} more of every 100 opinions"
    if more > 0:
        return f"Calibrating on the majority vote would leave out {number}, with {size}."
    return f"Calibrating on the majority vote would cover {number}, with {size}."


def realised(subject: Subject, found: Measured) -> Realised:
    """Return coverage of single examples in ascending order, at one alpha."""
    curve = found.realised
    n = curve.sizes["share"]
    places = np.unique(np.linspace(0, n - 1, min(n, PLACES)).round().astype(np.int64))
    covered = curve[AGGREGATED].values
    whole = float((covered > 1 - 1e-9).mean())
    half = float((covered < 0.5 - 1e-9).mean())
    words = subject.words
    little = "none holds" if not half else f"{about_percent(half)} hold"
    return Realised(
        sentence=f"{about_percent(whole).capitalize()} of the sets hold all that "
        f"{words.annotators} said of their {words.example}; {little} less than half of it.",
        share=_floats(curve["share"].values[places]),
        aggregated=_floats(covered[places]),
        voted=_floats(curve["voted_coverage"].values[places]),
        largest=_floats(curve["largest_plausibility"].values[places]),
    )


def weak(
    subject: Subject,
    found: Measured,
    promise: Guarantee,
    wheres: dict[str, tuple[tuple[int, int], ...]],
) -> Weak:
    """Return section 3 at one alpha."""
    level = level_of(promise)
    strata = _strata(found.evaluation, level)
    groups: list[Part] = []
    note, nothing = "", found.no_groups
    if found.groups is not None:
        groups = _groups(found.groups, level, wheres)
        compared = int(found.groups.attrs["compared"])
        note = f"Intervals of groups hold for all {counted(compared)} together"
        left = int(found.groups.attrs["left_out_subgroups"])
        if left:
            few = f"{several(left, 'group')} of fewer than {found.groups.attrs['at_least']}"
            note += f"; {few} {'is' if left == 1 else 'are'} left out"
        if len(groups) > MOST_PARTS:
            note += f"; the {MOST_PARTS} that are covered least are shown"
            groups = groups[:MOST_PARTS]
        note += ". Those of strata hold for each alone."
    return Weak(
        sentence=_weak_sentence(subject, strata, groups, level),
        level=level,
        parts=(*strata, *groups),
        note=note,
        nothing=nothing,
    )


def _strata(evaluation: xr.Dataset, level: float | None) -> list[Part]:
    parts = []
    for place in range(evaluation.sizes[AMBIGUITY]):
        one = evaluation.isel({AMBIGUITY: place})
        if not int(one["stratum_n"]):
            continue
        covered = interval(one, f"stratum_{AGGREGATED}")
        parts.append(
            Part(
                kind="ambiguity",
                title=f"largest plausibility {one[AMBIGUITY].item()}",
                n=int(one["stratum_n"]),
                covered=covered,
                size=interval(one, f"stratum_{SET_SIZE}"),
                clear=_clear(covered, level),
                stratum=place,
            )
        )
    return parts


def _groups(
    found: xr.Dataset, level: float | None, wheres: dict[str, tuple[tuple[int, int], ...]]
) -> list[Part]:
    parts = []
    for place in range(found.sizes["subgroup"]):
        one = found.isel(subgroup=place)
        title = str(one["subgroup"].item())
        covered = interval(one, AGGREGATED)
        parts.append(
            Part(
                kind="group" if int(one["depth"]) == 1 else "crossed",
                title=title,
                n=int(one["count"]),
                covered=covered,
                size=interval(one, SET_SIZE),
                clear=_clear(covered, level),
                where=wheres[title],
            )
        )
    return sorted(parts, key=lambda part: (part.kind != "group", part.covered.high or 0.0))


def _clear(covered: Interval, level: float | None) -> bool:
    return level is not None and covered.high is not None and covered.high < level - 1e-9


def _weak_sentence(
    subject: Subject, strata: list[Part], groups: list[Part], level: float | None
) -> str:
    words = subject.words
    every = [part for part in (*strata, *groups) if part.covered.mean is not None]
    if not every:
        return f"There is no {words.example} to look at."
    weakest = min(every, key=lambda part: part.covered.mean or 0.0)
    if level is None:
        return (
            f"Nothing is promised of what {words.annotators} say; least is covered of one part, "
            f"{weakest.title}: {measured_text(weakest.covered)}."
        )
    clear = [part for part in groups if part.clear]
    promised = f"the average {words.example} is promised"
    if clear:
        named = f"{clear[0].title}, {decimal(clear[0].covered.mean or 0.0)}"
        if len(clear) > 1:
            named = f"most of all {named}"
        return (
            f"In {counted(len(clear))} of {several(len(groups), 'group')} the sets cover clearly "
            f"less than {promised}: {named}."
        )
    start = ""
    if groups:
        low = groups[0]
        start = (
            f"No group is covered clearly less than {promised} ({counted(len(groups))} compared; "
            f"least: {low.title}, {measured_text(low.covered)}). "
        )
    split = next((part for part in strata if part.clear), None)
    if split is not None:
        return (
            f"{start}Where {words.annotators} split most ({split.title}), the sets cover "
            f"{measured_text(split.covered)}; that is not known of a new "
            f"{words.example} beforehand."
        )
    return start or f"However much {words.annotators} split, the sets cover about what {promised}."


def sizes(subject: Subject, found: Measured) -> Sizes:
    """Return section 5 at one alpha."""
    table = found.sizes
    bars = [
        SizeBar(
            low=int(one["size_from"]),
            high=int(one["size_to"]),
            count=int(one["count"]),
            covered=interval(one, AGGREGATED),
        )
        for one in (table.isel(size=place) for place in range(table.sizes["size"]))
    ]
    each = np.sort(found.evaluation[SET_SIZE].values)
    return Sizes(
        sentence=_size_sentence(each, len(subject.predictions[names.LABEL])), bars=tuple(bars)
    )


def _size_sentence(each: np.ndarray, labels: int) -> str:
    n = len(each)
    if each[0] == labels:
        return f"Every set is every label, all {counted(labels)} of them: they say nothing."
    empty = int((each == 0).sum())
    none = "none is empty" if not empty else f"{about_percent(empty / n)} are empty"
    if each[0] == each[-1]:
        return f"Every set has {several(int(each[0]), 'label')} of {counted(labels)}."
    middle, large = int(each[(n - 1) // 2]), int(each[min(n - 1, int(0.95 * n))])
    text = f"Half of the sets have at most {several(middle, 'label')} of {counted(labels)}"
    if large > middle:
        share = float((each >= large).mean())
        more = "all of them" if large == labels else f"{counted(large)} or more"
        text += f"; {about_percent(share)} have {more}"
    return f"{text}; {none}."


def splits(subject: Subject, method: str, place: int) -> Splits | None:
    """Return what repeated splits covered, with the most draws and the most examples."""
    compared = subject.compared
    if compared is None or method not in compared[METHOD].values:
        return None
    one = compared["aggregated_coverage"].sel({METHOD: method}).isel({names.ALPHA: place})
    for dim in (DRAWS, SIZE):
        if dim in one.dims:
            one = one.isel({dim: int(np.argmax(one[dim].values))})
    values = one.values
    mean = float(values.mean())
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    text = f"Over {several(len(values), 'random split')} the sets cover {decimal(mean)} on average"
    if spread is not None:
        text += (
            f", with a spread of {decimal(spread)}, from {decimal(float(values.min()))} to "
            f"{decimal(float(values.max()))}; that is how much one calibration differs from another"
        )
    return Splits(sentence=f"{text}.", aggregated=_floats(values), mean=mean, spread=spread)


def _floats(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
