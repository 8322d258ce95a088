"""Sections of a report: figures with their sentences."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations, combinations_with_replacement

import attrs
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from plausibly.annotators.agreement import Agreement, agreement, measure_titles
from plausibly.annotators.answers import KINDS, Answers
from plausibly.data import names
from plausibly.data.names import name_texts, positions, quoted, several
from plausibly.errors import InputError, PlausiblyWarning, counted
from plausibly.evaluation import inputs
from plausibly.evaluation.evaluate import Judgement, evaluate, judgement, stratum_of
from plausibly.evaluation.groups import ByCoordinate, coverage_by, sorted_coverage
from plausibly.evaluation.inputs import prepare
from plausibly.evaluation.intervals import AMBIGUITY, COVERAGE
from plausibly.evaluation.result import (
    AGGREGATED,
    SET_SIZE,
    decimal,
    each,
    ends,
    figures,
    number,
    outwards,
)
from plausibly.evaluation.risk import in_order
from plausibly.evaluation.study import DRAWS, METHOD, SIZE
from plausibly.evaluation.uniformity import DRAWN, OF, TRUE, VOTED, p_value_uniformity
from plausibly.guarantee import BY_LABEL, Guarantee, bounded
from plausibly.kernels.coverage import Ties, row_sums
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Floats, Ints
from plausibly.report.model import (
    BROKEN,
    HELD,
    UNCHECKED,
    Check,
    Finding,
    Interval,
    Part,
    Section,
    Words,
)
from plausibly.report.subject import MethodSets, Subject


def interval(found: xr.Dataset, name: str) -> Interval:
    """Return NAME_mean, NAME_low and NAME_high of a result without dims."""
    mean, low, high = figures(found, name)
    return Interval(*map(number, (mean, *outwards(low, high))))


def measured_text(one: Interval) -> str:
    """Return ``0.901 (0.897 to 0.905)``."""
    if one.mean is None:
        return "-"
    if one.low is None or one.high is None:
        return decimal(one.mean)
    return f"{decimal(one.mean)} ({ends(one.low, one.high)})"


def about_percent(share: float) -> str:
    """Return a share in rounded percent; 100 and 0 only where it is all or none."""
    whole = round(100 * share)
    if whole == 100 and share < 1:
        return "more than 99%"
    if whole == 0 and share > 0:
        return "less than 1%"
    return f"{whole}%"


def thousandths(values: ArrayLike) -> list[int]:
    """Return numbers as whole thousandths; 0 and 1000 stand for 0 and 1 alone."""
    exact = np.asarray(values, dtype=np.float64)
    found = np.rint(exact * 1000).astype(np.int64)
    found = np.where((found == 0) & (exact > 0), 1, found)
    found = np.where((found == 1000) & (exact < 1), 999, found)
    return found.ravel().tolist()


POLICIES: tuple[Ties, ...] = ("first", "fractional", "any", "all")
AT_LEAST = 20
"""Examples of the smallest group that is shown."""


@attrs.frozen(kw_only=True, eq=False)
class Measured:
    evaluation: xr.Dataset
    votes: Mapping[str, xr.Dataset]
    sizes: xr.Dataset
    realised: xr.Dataset
    groups: xr.Dataset | None
    no_groups: str


def measured(subject: Subject, method: MethodSets) -> list[Measured]:
    sets, lam = method.sets, subject.plausibilities
    by = method.guarantees[0].by
    known = by and by != BY_LABEL and inputs.known_values(by, (sets,)) is not None
    with warnings.catch_warnings():
        # The report states what the measures warn of.
        warnings.simplefilter("ignore", PlausiblyWarning)
        evaluation = evaluate(
            sets,
            lam,
            ties=subject.ties,
            true_label=subject.true_label,
            by=by if known else None,
            cluster=subject.cluster,
            seed=subject.seed,
        ).data
        votes: dict[str, xr.Dataset] = {str(subject.ties): evaluation}
        if evaluation.attrs["tied_share"]:  # else every policy gives the same
            prepared = prepare(sets, lam, cluster=subject.cluster, seed=subject.seed)
            for policy in POLICIES:
                if policy not in votes:
                    outcomes = prepared.outcomes(prepared.measured(policy))
                    votes[policy] = prepared.averaging.overall(outcomes)
        groups, why = _by_group(subject, sets)
        sizes = coverage_by(sets, lam, by="set-size", cluster=subject.cluster, seed=subject.seed)
        realised = sorted_coverage(sets, lam)
    return [
        Measured(
            evaluation=evaluation.isel(at),
            votes={policy: one.isel(at) for policy, one in votes.items()},
            sizes=sizes.isel(at),
            realised=realised.isel(at),
            groups=None if groups is None else groups.isel(at),
            no_groups=why,
        )
        for at in ({names.ALPHA: place} for place in range(len(subject.alphas)))
    ]


def _by_group(subject: Subject, sets: xr.DataArray) -> tuple[xr.Dataset | None, str]:
    if not subject.by:
        return None, (
            f"Nothing is known of the {subject.words.examples} by which to group them: a table of "
            "them (examples) with a column such as the site would show where coverage is weak."
        )
    try:
        found = coverage_by(
            sets,
            subject.plausibilities,
            by=ByCoordinate(*subject.by, crossed=subject.crossed, at_least=AT_LEAST),
            cluster=subject.cluster,
            seed=subject.seed,
        )
    except InputError as error:
        if error.name != "subgroups-none":
            raise
        return None, f"{error.what[0].upper()}{error.what[1:]}: too few to say anything of them."
    return found, ""


def group_values(subject: Subject) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return which examples each group is made of, by its title: columns and their values."""
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for depth in range(1, subject.crossed + 1):
        for chosen in combinations(range(len(subject.by)), depth):
            codes = np.stack([subject.coded[at][1] for at in chosen], axis=1)
            for row in np.unique(codes, axis=0):
                where = tuple(zip(chosen, map(int, row), strict=True))
                titles = (f"{subject.by[at]} {subject.coded[at][0][value]}" for at, value in where)
                found[", ".join(titles)] = where
    return found


BUDGET = 4_300_000
"""Bytes of the examples at most, so that a report stays below 5 MB."""

SURPRISING = 10
"""Examples that are named as surprising, by method and alpha."""

MOST = 10_000
"""Examples that a report shows at most."""

LISTED = 30
"""Labels of one example that a report shows at most: as many bits as a set has in a report."""

HIGHEST = 5
"""Labels with the highest scores, which are shown in any case."""


class Outcomes:
    """Missed plausibility per example, for all methods and alphas."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        labels = name_texts(subject.predictions[names.LABEL].values)
        self.risks = [str(subject.risk.get(label, "")) for label in labels]
        self.severity: Ints = np.full(len(labels), -1, dtype=np.int64)  # -1 without a risk
        known = [place for place, label in enumerate(labels) if label in subject.risk]
        if known:
            levels = [subject.risk[labels[place]] for place in known]
            self.severity[known] = in_order(levels, None)[1]
        self.lam: NDArray[np.float64] = subject.plausibilities.values.astype(np.float64)
        self.inside: list[Bools] = [  # of each view, (example, label)
            method.sets.values[:, :, place]
            for method in subject.methods
            for place in range(len(subject.alphas))
        ]
        # Plausibility outside of the sets, (example,): exactly 0 for nothing.
        self.missed = [row_sums(np.where(inside, 0.0, self.lam)) for inside in self.inside]
        hashes = hash_names(subject.predictions[names.EXAMPLE].values)
        self.keys = Keys(subject.seed).child("report").uniform(hashes)[:, 0]

    def most_missed(self, view: int) -> list[int]:
        """Return the examples of which a view leaves out most, most first."""
        missed = self.missed[view]
        order = np.lexsort((self.keys, -missed))[:SURPRISING]
        return [int(row) for row in order if missed[row] > 0]

    def worst_of(self, which: Bools) -> list[int]:
        """Return the highest severity among labels, (example,): `which` (example, label)."""
        worst: list[int] = np.where(which, self.severity, -1).max(axis=1).tolist()
        return worst


def cases(outcomes: Outcomes, annotators: Sequence[str], *, budget: int = BUDGET) -> Section:
    """Return section 6: as many examples as are shown at most, and as fit into a report."""
    most = min(MOST, outcomes.subject.n)
    while True:
        rows = set(np.argsort(outcomes.keys, kind="stable")[:most].tolist())
        for view in range(len(outcomes.inside)):
            rows.update(outcomes.most_missed(view))
        found = _cases(outcomes, sorted(rows), annotators, most)
        size = len(found.to_text().encode("utf-8", "replace"))
        if size <= budget or most <= 1:
            return found
        most = max(1, int(most * min(0.95 * budget / size, 0.95)))


def _cases(outcomes: Outcomes, rows: list[int], annotators: Sequence[str], most: int) -> Section:
    subject, words = outcomes.subject, outcomes.subject.words
    lam = outcomes.lam[rows]
    inside = [sets[rows] for sets in outcomes.inside]
    union: Bools = np.logical_or.reduce(inside)
    first = subject.methods[0].scores[rows]
    listed = [_listed(*each) for each in zip(lam, union, first, strict=True)]
    unlisted = tuple(lam.shape[1] - len(some) for some in listed)
    predicted, meaning = _prediction(subject)
    mine = name_texts(subject.predictions[names.EXAMPLE].values[rows])

    def bars(values: Floats) -> tuple[tuple[int, ...], ...]:
        scaled = np.array(thousandths(values)).reshape(values.shape)
        return tuple(tuple(row[some].tolist()) for row, some in zip(scaled, listed, strict=True))

    def bits(sets: Bools) -> tuple[int, ...]:
        """Return each set as a number: bit j is listed label j."""
        pairs = zip(sets, listed, strict=True)
        return tuple(int((1 << np.flatnonzero(row[some])).sum()) for row, some in pairs)

    def picked(texts: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if texts is None else tuple(texts[row] for row in rows)

    scores = {}
    for method in subject.methods:
        if method.score not in scores:
            same = predicted is not None and np.allclose(method.scores, predicted, atol=5e-4)
            values = None if same else bars(method.scores[rows])
            scores[method.score] = Section(name=method.score, values=values)
    article = "an" if words.example[0].casefold() in "aeiou" else "a"
    at_most = f", {LISTED} at most" if max(map(len, listed)) == LISTED else ""
    left = (
        "Bars show the labels with a plausibility, in a set, or among the five highest scores of "
        f"{article} {words.example}{at_most}; of the others only the number is stated."
    )
    sentence = (
        f"{words.examples.capitalize()} where the set leaves out most of what {words.annotators} "
        "said come first."
    )
    fit = "as a report shows at most" if most == MOST else "as fit into a file of 5 MB"
    shown_sentence = (
        f"{counted(len(rows))} of {counted(subject.n)} {words.examples} are shown: {counted(most)},"
        f" as many {fit}, chosen by a hash of their names (seed {subject.seed}) and so by no "
        "result, and besides those that the sections above name as surprising. All figures are of "
        f"all {words.examples}."
    )
    return Section(
        sentence=f"There is one {words.example}." if subject.n == 1 else sentence,
        shown_sentence="" if len(rows) == subject.n else shown_sentence,
        total=subject.n,
        shown=len(rows),
        names=tuple(mine),
        listed=tuple(tuple(some.tolist()) for some in listed),
        unlisted=unlisted,
        unlisted_words=left if any(unlisted) else "",
        plausibility=bars(lam),
        prediction=None if predicted is None else bars(predicted[rows]),
        prediction_words=meaning,
        scores=tuple(scores.values()),
        p=tuple(bars(method.p[rows]) for method in subject.methods),
        sets=tuple(map(bits, inside)),
        size=tuple(tuple(sets.sum(axis=1).tolist()) for sets in inside),
        missed=tuple(tuple(thousandths(missed[rows])) for missed in outcomes.missed),
        largest=tuple(thousandths(lam.max(axis=1))),
        stratum=tuple(stratum_of(lam.max(axis=1)).tolist()),
        groups=tuple(tuple(codes[rows].tolist()) for _, codes in subject.coded),
        severity=tuple(outcomes.worst_of(lam > 0)),
        severity_missed=tuple(tuple(outcomes.worst_of((lam > 0) & ~sets)) for sets in inside),
        said=subject.answers(mine),
        annotators=tuple(annotators),
        ranked=names.MENTION_BLOCK in (subject.annotations or ()),
        text=picked(subject.text),
        thumbnail=picked(subject.thumbnail),
    )


def _listed(lam: Floats, inside: Bools, scores: Floats) -> Ints:
    wanted = (lam > 0) | inside
    wanted[np.argsort(-scores, kind="stable")[:HIGHEST]] = True
    most = min(LISTED, int(wanted.sum()))
    return np.sort(np.lexsort((-scores, -lam, ~wanted))[:most])


def _prediction(subject: Subject) -> tuple[NDArray[np.float64] | None, str]:
    """Return what the model says of every label from 0 to 1, and what that is."""
    values = subject.predictions.values.astype(np.float64)
    scale = str(subject.predictions.attrs.get(names.SCALE, "probability"))
    if scale == "logit":
        return softmax(values, axis=1), "the model's probability (softmax of its logits)"
    if scale == "probability":
        return values, "the model's probability"
    if scale == "independent" and values.min() >= 0 and values.max() <= 1:
        return values, "the model's probability of each label on its own"
    return None, ""


SEVERITIES = ("broken", "vacuous", "weak", "kept")


def verdict(
    subject: Subject, found: Measured, guarantee: Guarantee, weak: Section, checks: Sequence[Check]
) -> Section:
    words, judged = subject.words, Judgement(None, None, "")
    measured = f"{COVERAGE.get(guarantee.target, '')}_mean" in found.evaluation
    if guarantee.level is not None and (measured or guarantee.vacuous):
        judged = judgement(found.evaluation, guarantee)
    sentence = _verdict_sentence(subject, found.evaluation, guarantee, judged)
    stands = "other" if judged.stands is None else judged.stands.replace(" ", "-")
    severity = "kept" if judged.stands and guarantee.target == "aggregated" else "weak"
    severity = stands if stands in ("broken", "vacuous") else severity
    name = "guarantee-none" if guarantee.level is None else f"guarantee-{stands}"
    findings = [Finding(severity, name, sentence)]
    for check in checks:
        if check.state == BROKEN:
            # Copies flatter figures by their share alone.
            severity = "weak" if check.name == "examples-alike" else "broken"
            findings.append(Finding(severity, check.name, check.words))
    findings += _weak_parts(subject, weak)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    if findings[0].severity == "broken" and findings[0].sentence != sentence:
        sentence = f"{findings[0].sentence} {sentence}"
    rows = guarantee.rows()
    checked = [f"{check.title}: {check.state}" for check in checks if check.state != UNCHECKED]
    if checked and guarantee.level is not None:
        # Before "not claimed", the last row.
        rows.insert(len(rows) - 1, ("checked", "; ".join(checked)))
    stated = Section(
        statement=guarantee.statement(),
        level=level_of(guarantee),
        shown=guarantee.short(),
        rows=tuple(rows),
    )
    return Section(
        sentence=sentence,
        limits=f"About what {words.annotators} say, not about the truth; about the average "
        f"{words.example}, not every {words.example}.",
        findings=tuple(findings),
        guarantee=stated,
    )


def _verdict_sentence(
    subject: Subject, evaluation: xr.Dataset, guarantee: Guarantee, judged: Judgement
) -> str:
    words = subject.words
    answers = interval(evaluation, AGGREGATED)
    measured = f"{_share(answers)} of what {words.annotators} say (measured {_ends(answers)})"
    if judged.stands == "vacuous":
        text = (
            f"At alpha {float(guarantee.alpha):g} every set is every label: the guarantee of "
            f"{guarantee.shown_level().removesuffix(', vacuous')} is kept, and says nothing."
        )
        if guarantee.needed is not None:
            text += (
                f" It says something with {counted(guarantee.needed)} {guarantee.unit} or more; "
            )
            text += f"there are {counted(guarantee.has)}."
        return text
    if guarantee.level is None:
        size = f"{interval(evaluation, SET_SIZE).mean or 0:.2f} labels on average"
        return f"Nothing is guaranteed. These sets cover {measured}, with {size}."
    if guarantee.target == "risk":
        return (
            f"These sets are guaranteed a risk of at most {guarantee.bound()} on "
            f"average, if new {words.examples} resemble these. They cover {measured}, of which "
            "nothing is guaranteed."
        )
    if not judged.words:
        return f"These sets cover {measured}; guaranteed {guarantee.statement()}."
    covered = interval(evaluation, COVERAGE[guarantee.target])
    one = judged.covered
    if guarantee.cluster and not guarantee.by and one is not None:
        covered = Interval(one.mean, one.low, one.high)
    level, share = guarantee.bound(), _share(covered)
    what = {
        "majority-vote": f"{share} of the votes of {words.annotators}",
        "mass": f"{bounded(guarantee.share or 1)} or more of what {words.annotators} say, for "
        f"{share} of the {words.examples}",
    }.get(guarantee.target, f"{share} of what {words.annotators} say")
    rest = ""
    if guarantee.target != "aggregated":
        rest = (
            f" Of what {words.annotators} say nothing is guaranteed, and they cover "
            f"{_share(answers)} (measured {_ends(answers)})."
        )
    if judged.stands == "broken" and not guarantee.by:
        return (
            f"These sets cover less than is guaranteed: {what} (measured {_ends(covered)}; "
            f"guaranteed {level}). The guarantee does not hold here, or these {words.examples} "
            f"are unlike those that calibrated.{rest}"
        )
    resemble = f"if new {words.examples} resemble these"
    if guarantee.confidence is not None:
        resemble += f", with probability {bounded(guarantee.confidence)} over the calibration"
    return (
        f"These sets cover {what} (measured {_ends(covered)}; guaranteed {level}, {resemble}): "
        f"{judged.words}{judged.remark}.{rest}"
    )


def _share(one: Interval) -> str:
    """Return a mean in whole percent: ``90%``; near 0 and 100 with a decimal."""
    if one.mean is None:
        return "nothing"
    rounded = round(one.mean, 2 if 0.005 <= one.mean < 0.995 else 3)
    return f"{100 * rounded:.1f}".removesuffix(".0") + "%"


def _ends(one: Interval) -> str:
    """Return ``0.901, 0.897 to 0.905``."""
    return measured_text(one).replace(" (", ", ").rstrip(")")


def _weak_parts(subject: Subject, weak: Section) -> list[Finding]:
    words, findings = subject.words, []
    for place, part in enumerate(weak.parts):
        name, title, tail = "group-weak", f"Group {part.title}", ""
        if part.kind == "ambiguity":
            name, title = "stratum-weak", f"{part.title[0].upper()}{part.title[1:]}"
            tail = f", which is not known of a new {words.example}"
        if part.clear:
            sentence = (
                f"{title}: {measured_text(part.covered)} where {decimal(weak.level)} is guaranteed "
                f"on average, {counted(part.n)} {words.examples}{tail}."
            )
            findings.append(Finding("weak", name, sentence, place))
    return sorted(findings, key=lambda finding: finding.name)


MOST_LABELS = 20
"""Rows of the heat map at most."""

RESAMPLES = 1000
MANY = 20_000
"""Examples from which there are fewer resamples, since each of them adds less."""

FEW_RESAMPLES = 200

LIKENESS = {"percent": "same answer", "jaccard": "Jaccard", "partial-average-overlap": "overlap"}


def called(subject: Subject) -> list[str]:
    """Return what annotators are called: ``r01``, ``r02`` in the order of their names."""
    table = subject.annotations
    annotators = [] if table is None else name_texts(table.indexes[names.ANNOTATOR])
    if subject.options.annotator_names:
        return annotators
    wide = max(2, len(str(len(annotators))))
    place = {name: at for at, name in enumerate(sorted(annotators), start=1)}
    return [f"r{place[name]:0{wide}}" for name in annotators]


def disagreement(subject: Subject, shown: Sequence[str]) -> Section:
    table, words = subject.annotations, subject.words
    kind = "" if table is None else str(table.attrs[names.KIND])
    if table is None or kind not in KINDS:
        nothing = f"Agreement of {kind} answers is not measured: each is a share of every label."
        if table is None:
            nothing = (
                f"There are plausibilities, but no single answers: what {words.annotators} "
                "disagree on, and who differs, cannot be shown."
            )
        empty: dict[str, object] = dict.fromkeys(("measures", "annotators", "labels", "cells"), ())
        texts = dict.fromkeys(("likeness", "who", "note"), "")
        return Section(sentence=nothing, nothing=nothing, **empty, **texts)
    with warnings.catch_warnings():
        # Repeated answers and half an order are said where the file is read.
        warnings.simplefilter("ignore", PlausiblyWarning)
        answers = Answers.of(table)
        measures = agreement(
            table,
            resamples=FEW_RESAMPLES if answers.n > MANY else RESAMPLES,
            cluster=subject.cluster if subject.cluster in table.coords else None,
            seed=subject.seed,
        )
    found = measures.data
    labels = name_texts(subject.predictions[names.LABEL].values)
    place = positions(labels, answers.labels)
    cells = _cells(answers, place)
    kept, note = _heat_labels(cells, len(labels), words)
    parted = max((one for one in cells if one.a != one.b), key=lambda one: one.pairs, default=None)
    nothing = sentence = f"All {words.annotators} agree on every {words.example}."
    if not found.attrs["compared"]:
        have = f"No {words.example} has answers of two {words.annotators}"
        nothing = f"{have}: disagreement cannot be measured."
        sentence = nothing
    elif parted is not None:
        same, nothing = round(100 * float(found["value"].sel(measure="percent"))), ""
        sentence = (
            f"Two {words.annotators} agree on {same} of 100 {words.examples}; most often they "
            f"disagree on {quoted(labels[parted.a])} and {quoted(labels[parted.b])}."
        )
    titles, rows = measure_titles(kind), []
    for one in each(found, "measure"):
        name = str(one["measure"].item())
        value = Interval(*(number(one[end]) for end in ("value", "low", "high")))
        title, reason = titles.get(name, name), str(one["reason"].item())
        rows.append(Section(name=name, title=title, value=value, reason=reason))
    return Section(
        sentence=sentence,
        measures=tuple(rows),
        annotators=tuple(_annotators(found, shown, place)),
        likeness=LIKENESS[str(found.attrs["likeness"])],
        who=_who(measures, shown),
        labels=kept,
        cells=tuple(cell for cell in cells if {cell.a, cell.b} <= {*kept}),
        note=note,
        nothing=nothing,
    )


def _cells(answers: Answers, place: NDArray[np.int64]) -> list[Section]:
    """Return over which labels two answers to one example part, and where they meet."""
    cell, mention = answers.spread(answers.cells.value)
    label = place[answers.mention_label[mention]]
    first = (answers.mention_block[mention] <= 1) & (label >= 0)
    codes: defaultdict[int, list[int]] = defaultdict(list)
    for one, code in zip(cell[first].tolist(), label[first].tolist(), strict=True):
        codes[one].append(code)
    # By example: how many answers name each label (a, a), and how many both a and b.
    named: defaultdict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    for one, of_one in codes.items():
        for pair in combinations_with_replacement(sorted(of_one), 2):
            named[int(answers.cells.example[one])][pair] += int(answers.cells.n[one])
    pairs: Counter[tuple[int, int]] = Counter()
    examples: Counter[tuple[int, int]] = Counter()
    for times in named.values():
        for a, b in combinations_with_replacement(sorted({a for a, _ in times}), 2):
            one, other, both = times[a, a], times[b, b], times[a, b]
            met = one * (one - 1) // 2 if a == b else (one - both) * (other - both)
            pairs[a, b] += met
            examples[a, b] += met > 0
    return [
        Section(a=a, b=b, pairs=count, examples=examples[a, b])
        for (a, b), count in sorted(pairs.items())
        if count
    ]


def _heat_labels(
    cells: Sequence[Section], labels: int, words: Words
) -> tuple[tuple[int, ...], str]:
    """Return the labels of the heat map, and what it counts."""
    met = np.zeros((2, labels))  # other labels, then the same
    for cell in cells:
        met[int(cell.a == cell.b), [cell.a, cell.b]] += cell.pairs
    named = [int(code) for code in np.lexsort(-met[::-1]) if met[:, code].any()]
    kept = tuple(sorted(named[:MOST_LABELS]))
    note = (
        f"Counts pairs of answers to one {words.example} of which one names a label and the "
        "other another; on the diagonal, pairs that name the same."
    )
    few = f" The {len(kept)} of {counted(len(named))} labels that are parted over most are shown."
    return kept, note + few if len(named) > len(kept) else note


_LIKENESSES = ("agreement", "others", "vote", "says_share", "says_others")


def _annotators(found: xr.Dataset, shown: Sequence[str], place: NDArray[np.int64]) -> list[Section]:
    """Return a row per annotator with answers: those who differ first, then by likeness."""
    label = dict(zip(name_texts(found[names.LABEL].values), place.tolist(), strict=True))
    rows = [
        Section(
            name=name,
            answers=int(one["annotator_answers"]),
            compared=int(one["annotator_compared"]),
            low=bool(one["annotator_low"]),
            says=label.get(str(one["annotator_says"].item())),
            **{part: number(one[f"annotator_{part}"]) for part in _LIKENESSES},
        )
        for name, one in zip(shown, each(found, names.ANNOTATOR), strict=True)
        if int(one["annotator_answers"])
    ]
    return sorted(
        rows, key=lambda row: (not row.low, row.agreement is None, row.agreement or 0.0, row.name)
    )


def _who(found: Agreement, shown: Sequence[str]) -> str:
    agreements = found["annotator_agreement"].values
    if not len(shown) or np.isnan(agreements).all():
        return " ".join(found.annotator_lines())
    low = np.array(shown)[found["annotator_low"].values.astype(bool)].tolist()
    span = f"from {decimal(np.nanmin(agreements))} to {decimal(np.nanmax(agreements))}"
    if not low:
        return f"No annotator stands out: likeness with others runs {span}."
    named = ", ".join(low[:5]) + (f" and {counted(len(low) - 5)} more" if len(low) > 5 else "")
    agree = "agrees" if len(low) == 1 else "agree"
    return (
        f"{named} {agree} with others less than these do among themselves, beyond chance; "
        f"likeness runs {span} over {several(len(shown), 'annotator')}."
    )


BINS = 20
SUSPECT = 0.001
"""A p-value of a check below this breaks it: reports make many checks."""

_LABELS = {DRAWN: "a drawn label", VOTED: "the vote", TRUE: "the known label"}


def uniformity(subject: Subject) -> list[Section]:
    """Return how p-values of each method are distributed, where they can be measured."""
    found: list[Section] = []
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
                true_label=subject.true_label,
                cluster=subject.cluster,
                seed=subject.seed,
                only_common=True,
            )
        for kind in each(made, OF):
            values, of = kind["p_value"].values, str(kind[OF].item())
            above, p = float(kind["ks_above"]), float(kind["p_super_uniform"])
            few = "more small ones than may" if p < SUSPECT else "as few small ones as there may"
            nothing = "" if kind["guaranteed"] else "; nothing is guaranteed about them"
            count = several(len(values), subject.words.example)
            found.append(
                Section(
                    method=place,
                    of=of,
                    guaranteed=bool(kind["guaranteed"]),
                    counts=tuple(np.histogram(values, bins=BINS, range=(0.0, 1.0))[0].tolist()),
                    ks_above=above,
                    ks_below=float(kind["ks_below"]),
                    p=p,
                    n=len(values),
                    sentence=f"P-values of {_LABELS[of]}, {method.name}, {count}: {few} be "
                    f"(KS {above:.3f}, p {p_value_text(p)}){nothing}.",
                )
            )
    return found


def p_value_text(value: float) -> str:
    return "< 0.001" if value < SUSPECT else decimal(value, 3 if value < 0.01 else 2)


def method_checks(subject: Subject, place: int, found: Sequence[Section]) -> list[Check]:
    """Return the checks of one method: those of the examples, and of its p-values."""
    title = f"p-values of {subject.methods[place].name} are no smaller than guaranteed"
    own = (one for one in found if one.method == place and one.guaranteed)
    state = {True: HELD, False: BROKEN}
    return [
        *subject.checks,
        *(Check("p-values", title, state[one.p >= SUSPECT], one.sentence) for one in own),
    ]


def believe(subject: Subject, found: Sequence[Section]) -> Section:
    checks = list(subject.checks)
    for place, method in enumerate(subject.methods):
        if not method.reference:
            checks += [one for one in method_checks(subject, place, found) if one not in checks]
    checks.sort(key=lambda check: (BROKEN, UNCHECKED, HELD).index(check.state))
    broken = [check.title for check in checks if check.state == BROKEN]
    unknown = sum(check.state == UNCHECKED for check in checks)
    start, are = "No assumption that can be checked is broken", "is" if len(broken) == 1 else "are"
    if broken:
        start = f"{several(len(broken), 'assumption')} {are} broken: {'; '.join(broken)}"
    rest = f"; {counted(unknown)} cannot be checked from data." if unknown else "."
    return Section(
        sentence=start + rest,
        checks=tuple(checks),
        uniformity=tuple(found),
        nothing="" if found else "P-values of several views together are not looked at.",
    )


PLACES = 200
"""Points of a curve over all examples."""

MOST_PARTS = 60
"""Groups that are shown: those that are covered least."""

_SAME = 0.005  # of coverage: what rounds to no opinion in a hundred


def level_of(guarantee: Guarantee) -> float | None:
    """Return the level that is guaranteed for annotators' answers, None where there is none."""
    level = guarantee.level if guarantee.target == "aggregated" else None
    return None if level is None else float(level)


def vote(subject: Subject, found: Measured, voted: Measured | None) -> Section:
    evaluation = found.evaluation
    aggregated = interval(evaluation, AGGREGATED)
    votes = tuple(
        (policy, interval(one, "majority_vote_coverage")) for policy, one in found.votes.items()
    )
    sentence = (
        f"These sets hold {measured_text(aggregated)} of what "
        f"{subject.words.annotators} say, and {measured_text(votes[0][1])} of their votes."
    )
    if voted is not None:  # what calibrating on votes would change
        more, labels = (
            float(evaluation[f"{name}_mean"] - voted.evaluation[f"{name}_mean"])
            for name in (AGGREGATED, SET_SIZE)
        )
        size = f"{abs(labels):.1f} labels {'fewer' if labels > 0 else 'more'} in a set"
        if abs(labels) < _SAME * 10:
            size = "sets of the same size"
        change = f"{'leave out' if more > 0 else 'cover'} {round(100 * abs(more))} more of every "
        change = "cover as many opinions here" if abs(more) < _SAME else f"{change}100 opinions"
        sentence = f"Calibrating on the majority vote would {change}, with {size}."
    return Section(
        sentence=sentence,
        aggregated=aggregated,
        voted=votes,
        true=interval(evaluation, "true_coverage") if "true_coverage_mean" in evaluation else None,
        size=interval(evaluation, SET_SIZE),
        share_empty=float(evaluation["share_empty"]),
        share_single=float(evaluation["share_singleton"]),
    )


def realised(subject: Subject, found: Measured) -> Section:
    curve = found.realised
    n = curve.sizes["share"]
    places = np.unique(np.linspace(0, n - 1, min(n, PLACES)).round().astype(np.int64))
    covered = curve[AGGREGATED].values
    whole = float((covered > 1 - 1e-9).mean())
    half = float((covered < 0.5 - 1e-9).mean())
    words, little = subject.words, f"{about_percent(half)} hold" if half else "none holds"
    return Section(
        sentence=f"{about_percent(whole).capitalize()} of the sets hold all that "
        f"{words.annotators} said of their {words.example}; {little} less than half of it.",
        share=tuple(curve["share"].values[places].tolist()),
        aggregated=tuple(covered[places].tolist()),
        voted=tuple(curve["majority_vote_coverage"].values[places].tolist()),
        largest=tuple(curve["largest_plausibility"].values[places].tolist()),
    )


def weak(
    subject: Subject,
    found: Measured,
    guarantee: Guarantee,
    group_values: Mapping[str, tuple[tuple[int, int], ...]],
) -> Section:
    level = level_of(guarantee)
    strata = [
        _part(one, level, "ambiguity", f"largest plausibility {one[AMBIGUITY].item()}", at)
        for at, one in enumerate(each(found.evaluation, AMBIGUITY))
        if int(one["stratum_n"])
    ]
    groups: list[Part] = []
    note = ""
    if found.groups is not None:
        for one in each(found.groups, "subgroup"):
            title = str(one["subgroup"].item())
            kind = "group" if int(one["depth"]) == 1 else "crossed"
            groups.append(_part(one, level, kind, title, where=group_values[title]))
        groups.sort(key=lambda part: (part.kind != "group", part.covered.high or 0.0))
        counts = found.groups.attrs
        note = f"Intervals of groups hold for all {counted(int(counts['compared']))} together"
        left = int(counts["left_out_subgroups"])
        if left:
            few = f"{several(left, 'group')} of fewer than {counts['at_least']}"
            note += f"; {few} {'is' if left == 1 else 'are'} left out"
        if len(groups) > MOST_PARTS:
            note += f"; the {MOST_PARTS} that are covered least are shown"
        groups = groups[:MOST_PARTS]
        note += ". Those of strata hold for each alone."
    return Section(
        sentence=_weak_sentence(subject, strata, groups, level),
        level=level,
        parts=(*strata, *groups),
        note=note,
        nothing=found.no_groups,
    )


def _part(
    one: xr.Dataset,
    level: float | None,
    kind: str,
    title: str,
    stratum: int | None = None,
    where: tuple[tuple[int, int], ...] = (),
) -> Part:
    prefix, n = ("", "count") if stratum is None else ("stratum_", "stratum_n")
    covered = interval(one, f"{prefix}{AGGREGATED}")
    return Part(
        kind=kind,
        title=title,
        n=int(one[n]),
        covered=covered,
        size=interval(one, f"{prefix}{SET_SIZE}"),
        clear=level is not None and covered.high is not None and covered.high < level - 1e-9,
        where=where,
        stratum=stratum,
    )


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
            f"Nothing is guaranteed about what {words.annotators} say; least is covered of one "
            f"part, {weakest.title}: {measured_text(weakest.covered)}."
        )
    clear = [part for part in groups if part.clear]
    guaranteed = "is guaranteed on average"
    if clear:
        most = f"most of all {clear[0].title}" if len(clear) > 1 else clear[0].title
        return (
            f"In {counted(len(clear))} of {several(len(groups), 'group')} the sets cover clearly "
            f"less than {guaranteed}: {most}, {decimal(clear[0].covered.mean or 0)}."
        )
    start = ""
    if groups:
        least = f"{groups[0].title}, {measured_text(groups[0].covered)}"
        start = (
            f"No group is covered clearly less than {guaranteed} ({counted(len(groups))} compared; "
            f"least: {least}). "
        )
    split = next((part for part in strata if part.clear), None)
    if split is not None:
        return (
            f"{start}Where {words.annotators} split most ({split.title}), the sets cover "
            f"{measured_text(split.covered)}; that is not known of a new "
            f"{words.example} beforehand."
        )
    even = f"However much {words.annotators} split, the sets cover about what {guaranteed}."
    return start or even


def sizes(subject: Subject, found: Measured) -> Section:
    bars = []
    for one in each(found.sizes, "size"):
        low, high, count = (int(one[name]) for name in ("size_from", "size_to", "count"))
        covered = interval(one, AGGREGATED)
        bars.append(Section(low=low, high=high, count=count, covered=covered))
    labels = subject.predictions.sizes[names.LABEL]
    ordered = np.sort(found.evaluation[SET_SIZE].values)
    n, empty = len(ordered), float((ordered == 0).mean())
    middle, large = int(ordered[(n - 1) // 2]), int(ordered[min(n - 1, int(0.95 * n))])
    text = f"Half of the sets have at most {several(middle, 'label')} of {counted(labels)}"
    if large > middle:
        more = "all of them" if large == labels else f"{counted(large)} or more"
        text += f"; {about_percent(float((ordered >= large).mean()))} have {more}"
    text += f"; {f'{about_percent(empty)} are empty' if empty else 'none is empty'}."
    if ordered[0] == labels:
        text = f"Every set is every label, all {counted(labels)} of them: they say nothing."
    elif ordered[0] == ordered[-1]:
        text = f"Every set has {several(middle, 'label')} of {counted(labels)}."
    return Section(sentence=text, bars=tuple(bars))


def surprising(outcomes: Outcomes, view: int, shown: Sequence[str]) -> Section:
    words, n = outcomes.subject.words, outcomes.subject.n
    rows, missed = outcomes.most_missed(view), outcomes.missed[view]
    text = f"No set leaves out anything that {words.annotators} said."
    if rows:
        most, some = int((missed > 0.5 + 1e-9).sum()), int((missed > 0).sum())
        these = f"; these {SURPRISING} leave out most" if some > SURPRISING else ""
        text = (
            f"{about_percent(some / n).capitalize()} of the sets leave something out, "
            f"{counted(most)} of {counted(n)} most of what {words.annotators} said{these}."
        )
    examples = name_texts(outcomes.subject.predictions[names.EXAMPLE].values[rows])
    places = {name: place for place, name in enumerate(shown)}
    cases = tuple(places[name] for name in examples if name in places)
    return Section(sentence=text, cases=cases)


def splits(subject: Subject, method: str, place: int) -> Section | None:
    compared = subject.compared
    if compared is None or method not in compared[METHOD].values:
        return None
    one = compared[AGGREGATED].sel({METHOD: method}).isel({names.ALPHA: place})
    for dim in (DRAWS, SIZE):
        if dim in one.dims:
            one = one.isel({dim: int(np.argmax(one[dim].values))})
    values = one.values
    mean = float(values.mean())
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    text = f"Over {several(len(values), 'random split')} the sets cover {decimal(mean)} on average"
    if spread is not None:
        text += (
            f", with a spread of {decimal(spread)}, from {decimal(values.min())} to "
            f"{decimal(values.max())}; that is how much one calibration differs from another"
        )
    return Section(sentence=f"{text}.", aggregated=tuple(values.tolist()), mean=mean, spread=spread)
