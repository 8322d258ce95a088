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
from plausibly.evaluation.evaluation import (
    AMBIGUITY,
    COVERAGE,
    Judgement,
    evaluate,
    judgement,
    stratum_of,
)
from plausibly.evaluation.groups import ByCoordinate, coverage_by, in_order, sorted_coverage
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
from plausibly.evaluation.study import DRAWS, METHOD, SIZE
from plausibly.evaluation.uniformity import DRAWN, OF, TRUE, VOTED, p_value_uniformity
from plausibly.guarantee import BY_LABEL, Guarantee, bounded
from plausibly.kernels.coverage import row_sums
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
from plausibly.text import percent


def interval(result: xr.Dataset, name: str) -> Interval:
    mean, low, high = figures(result, name)
    return Interval(*map(number, (mean, *outwards(low, high))))


def measured_text(estimate: Interval) -> str:
    if estimate.mean is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return decimal(estimate.mean)
    return f"{decimal(estimate.mean)} ({ends(estimate.low, estimate.high)})"


def thousandths(values: ArrayLike) -> list[int]:
    """Return numbers as whole thousandths; 0 and 1000 stand for 0 and 1 alone."""
    exact = np.asarray(values, dtype=np.float64)
    whole = np.rint(exact * 1000).astype(np.int64)
    whole = np.where((whole == 0) & (exact > 0), 1, whole)
    whole = np.where((whole == 1000) & (exact < 1), 999, whole)
    return whole.ravel().tolist()


AT_LEAST = 20  # examples of the smallest group that is shown


@attrs.frozen(kw_only=True, eq=False)
class Measured:
    evaluation: xr.Dataset
    sizes: xr.Dataset
    realised: xr.Dataset
    groups: xr.Dataset | None
    no_groups: str


def measured(subject: Subject, method: MethodSets) -> list[Measured]:
    sets, plausibility = method.sets, subject.plausibilities
    by = method.guarantees[0].by
    known = by and by != BY_LABEL and inputs.known_values(by, (sets,)) is not None
    with warnings.catch_warnings():
        # The report states what the measures warn of.
        warnings.simplefilter("ignore", PlausiblyWarning)
        evaluation = evaluate(
            sets,
            plausibility,
            ties=subject.ties,
            true_label=subject.true_label,
            by=by if known else None,
            cluster=subject.cluster,
            seed=subject.seed,
        ).data
        groups, why = _by_group(subject, sets)
        sizes = coverage_by(
            sets, plausibility, by="set-size", cluster=subject.cluster, seed=subject.seed
        )
        realised = sorted_coverage(sets, plausibility)
    return [
        Measured(
            evaluation=evaluation.isel(at),
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
            f"There are no groups of {subject.words.examples}: a table of them with a column such "
            "as site (--examples, examples=) shows coverage by group."
        )
    try:
        groups = coverage_by(
            sets,
            subject.plausibilities,
            by=ByCoordinate(*subject.by, crossed=subject.crossed, at_least=AT_LEAST),
            cluster=subject.cluster,
            seed=subject.seed,
        )
    except InputError as error:
        if error.name != "subgroups-none":
            raise
        return None, f"{error.what[0].upper()}{error.what[1:]}: too few to measure."
    return groups, ""


def group_values(subject: Subject) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return which examples each group is made of, by its title: columns and their values."""
    by_title: dict[str, tuple[tuple[int, int], ...]] = {}
    for depth in range(1, subject.crossed + 1):
        for chosen in combinations(range(len(subject.by)), depth):
            codes = np.stack([subject.coded[at][1] for at in chosen], axis=1)
            for row in np.unique(codes, axis=0):
                where = tuple(zip(chosen, map(int, row), strict=True))
                titles = (f"{subject.by[at]} {subject.coded[at][0][value]}" for at, value in where)
                by_title[", ".join(titles)] = where
    return by_title


BUDGET = 4_300_000  # bytes of the examples at most, so that a report stays below 5 MB
SURPRISING = 10  # examples that are named as surprising, by method and alpha
MOST = 10_000  # examples that a report shows at most

LISTED = 30
"""Labels of one example that a report shows at most: as many bits as a set has in a report."""

HIGHEST = 5  # labels with the highest scores, which are shown in any case


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
        self.plausibility: NDArray[np.float64] = subject.plausibilities.values.astype(np.float64)
        self.inside: list[Bools] = [  # of each view, (example, label)
            method.sets.values[:, :, place]
            for method in subject.methods
            for place in range(len(subject.alphas))
        ]
        # Plausibility outside of the sets, (example,): exactly 0 for nothing.
        self.missed = [row_sums(np.where(inside, 0.0, self.plausibility)) for inside in self.inside]

    def most_missed(self, view: int) -> list[int]:
        missed = self.missed[view]
        order = np.lexsort((self.subject.order, -missed))[:SURPRISING]
        return [int(row) for row in order if missed[row] > 0]

    def worst_of(self, which: Bools) -> list[int]:
        worst: list[int] = np.where(which, self.severity, -1).max(axis=1).tolist()
        return worst


def cases(outcomes: Outcomes, *, budget: int = BUDGET) -> Section:
    """Return section 6: as many examples as are shown at most, and as fit into a report."""
    subject = outcomes.subject
    most = min(MOST, subject.n)
    while True:
        rows = set(np.argsort(subject.order, kind="stable")[:most].tolist())
        for view in range(len(outcomes.inside)):
            rows.update(outcomes.most_missed(view))
        # Sorted by the names that are shown: any other order would reveal the names they replace.
        section = _cases(outcomes, sorted(rows, key=subject.example_names.__getitem__), most)
        size = len(section.to_text().encode("utf-8", "replace"))
        if size <= budget or most <= 1:
            return section
        most = max(1, int(most * min(0.95 * budget / size, 0.95)))


def _cases(outcomes: Outcomes, rows: list[int], most: int) -> Section:
    subject, words = outcomes.subject, outcomes.subject.words
    plausibility = outcomes.plausibility[rows]
    inside = [sets[rows] for sets in outcomes.inside]
    union: Bools = np.logical_or.reduce(inside)
    first = subject.methods[0].scores[rows]
    listed = [_listed(*each) for each in zip(plausibility, union, first, strict=True)]
    unlisted = tuple(plausibility.shape[1] - len(places) for places in listed)
    predicted, meaning = _prediction(subject)

    def bars(values: Floats) -> tuple[tuple[int, ...], ...]:
        scaled = np.array(thousandths(values)).reshape(values.shape)
        return tuple(
            tuple(row[places].tolist()) for row, places in zip(scaled, listed, strict=True)
        )

    def bits(sets: Bools) -> tuple[int, ...]:
        """Return each set as a number: bit j is listed label j."""
        pairs = zip(sets, listed, strict=True)
        return tuple(int((1 << np.flatnonzero(row[places])).sum()) for row, places in pairs)

    def picked(texts: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if texts is None else tuple(texts[row] for row in rows)

    scores = {}
    for method in subject.methods:
        if method.score not in scores:
            same = predicted is not None and np.allclose(method.scores, predicted, atol=5e-4)
            values = None if same else bars(method.scores[rows])
            scores[method.score] = Section(name=method.score, values=values)
    at_most = f", {LISTED} at most" if max(map(len, listed)) == LISTED else ""
    left = (
        "Bars show the labels with a plausibility, in a set, or among the five highest scores of "
        f"each {words.example}{at_most}; the others are counted."
    )
    sentence = (
        f"{words.examples.capitalize()} whose sets leave out the largest share of the "
        f"{words.of_annotators} answers come first."
    )
    fit = "as a report shows at most" if most == MOST else "as fit into a file of 5 MB"
    shown_sentence = (
        f"{counted(len(rows))} of {counted(subject.n)} {words.examples} are shown: {counted(most)},"
        f" as many {fit}, chosen by a hash of their names (random seed {subject.seed}) and so by no"
        f" result, and all that the page names. All figures are of all {words.examples}."
    )
    return Section(
        sentence=f"There is one {words.example}." if subject.n == 1 else sentence,
        shown_sentence="" if len(rows) == subject.n else shown_sentence,
        total=subject.n,
        shown=len(rows),
        rows=tuple(rows),
        names=tuple(subject.example_names[row] for row in rows),
        listed=tuple(tuple(places.tolist()) for places in listed),
        unlisted=unlisted,
        unlisted_words=left if any(unlisted) else "",
        plausibility=bars(plausibility),
        prediction=None if predicted is None else bars(predicted[rows]),
        prediction_words=meaning,
        scores=tuple(scores.values()),
        p=tuple(None if method.p is None else bars(method.p[rows]) for method in subject.methods),
        sets=tuple(map(bits, inside)),
        size=tuple(tuple(sets.sum(axis=1).tolist()) for sets in inside),
        missed=tuple(tuple(thousandths(missed[rows])) for missed in outcomes.missed),
        largest=tuple(thousandths(plausibility.max(axis=1))),
        stratum=tuple(stratum_of(plausibility.max(axis=1)).tolist()),
        groups=tuple(tuple(codes[rows].tolist()) for _, codes in subject.coded),
        severity_missed=tuple(
            tuple(outcomes.worst_of((plausibility > 0) & ~sets)) for sets in inside
        ),
        answers=subject.answers(rows),
        annotators=tuple(sorted(subject.annotator_names)),
        ranked=names.MENTION_BLOCK in (subject.annotations or ()),
        text=picked(subject.text),
        thumbnail=picked(subject.thumbnail),
    )


def _listed(plausibility: Floats, inside: Bools, scores: Floats) -> Ints:
    wanted = (plausibility > 0) | inside
    wanted[np.argsort(-scores, kind="stable")[:HIGHEST]] = True
    most = min(LISTED, int(wanted.sum()))
    return np.sort(np.lexsort((-scores, -plausibility, ~wanted))[:most])


def _prediction(subject: Subject) -> tuple[NDArray[np.float64] | None, str]:
    values = subject.predictions.values.astype(np.float64)
    scale = str(subject.predictions.attrs.get(names.SCALE, "probability"))
    if scale == "logit":
        return softmax(values, axis=1), "the model's probability (softmax of its logits)"
    if scale == "probability":
        return values, "the model's probability"
    if scale == "independent" and values.min() >= 0 and values.max() <= 1:
        return values, "the model's probability of each label on its own"
    return None, ""


SEVERITIES = ("broken", "vacuous", "kept", "weak")
WIDE = 0.1  # an interval this wide shows little
GAP = 0.05  # a group this far below the level is named, though its interval contains the level
NAMED = 3  # groups that the verdict names


def verdict(
    subject: Subject,
    results: Measured,
    guarantee: Guarantee,
    weak: Section,
    checks: Sequence[Check],
) -> Section:
    judged, words = Judgement(None, None, ""), subject.words
    measured = f"{COVERAGE.get(guarantee.target, '')}_mean" in results.evaluation
    if guarantee.level is not None and (measured or guarantee.vacuous):
        judged = judgement(results.evaluation, guarantee)
    sentence, about = _headline(subject, results.evaluation, guarantee, judged)
    findings = _standing(subject, results.evaluation, guarantee, judged)
    for check in checks:
        if check.state == BROKEN:
            # Copies flatter figures by their share alone.
            severity = "weak" if check.name == "examples-alike" else "broken"
            findings.append(Finding(severity, check.name, check.words))
    findings += weak_findings(subject, weak, guarantee)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    if findings[0].severity == "broken" and findings[0].name != "guarantee-broken":
        sentence = f"{findings[0].sentence} {sentence}"
    rows = guarantee.rows()
    checked = [f"{check.title}: {check.state}" for check in checks if check.state != UNCHECKED]
    if checked and guarantee.level is not None:
        rows.insert(len(rows) - 1, ("checked", "; ".join(checked)))  # before what is not claimed
    stated = guarantee.level is not None and guarantee.target != "majority-vote"
    return Section(
        sentence=sentence,
        about=about,
        limits=f"The sets say what {words.annotators} answer, not what is true, and hold on "
        f"average, not for each {words.example}.",
        findings=tuple(findings),
        guarantee=Section(
            statement=guarantee.statement(),
            level=level_of(guarantee),
            shown=guarantee.short() if stated else "none",
            rows=tuple(rows),
        ),
    )


def _headline(
    subject: Subject, evaluation: xr.Dataset, guarantee: Guarantee, judged: Judgement
) -> tuple[str, str]:
    words, size = subject.words, interval(evaluation, SET_SIZE).mean or 0
    answers = covered = interval(evaluation, AGGREGATED)
    if judged.stands == "vacuous":
        return (
            f"At alpha {float(guarantee.alpha):g} every set contains all "
            f"{several(subject.predictions.sizes[names.LABEL], 'label')}: the guarantee is "
            "vacuous, and the sets say nothing.",
            f"Guaranteed {guarantee.bound()}, which holds for any data.",
        )
    contain = f"contain {_percent(answers)} of the {words.of_annotators} answers"
    of = ""
    if guarantee.target in ("majority-vote", "mass") and COVERAGE[guarantee.target] in evaluation:
        covered = interval(evaluation, COVERAGE[guarantee.target])
        contain = f"contain {_percent(covered)} of the {words.of_annotators} majority votes"
        if guarantee.target == "mass":
            contain = (
                f"contain {bounded(guarantee.share or 1)} or more of the {words.of_annotators} "
                f"answers for {_percent(covered)} of the {words.examples}"
            )
    if guarantee.cluster and not guarantee.by and judged.covered is not None:
        estimate = judged.covered
        covered = Interval(estimate.mean, *map(number, outwards(estimate.low, estimate.high)))
        of = f" for a new {guarantee.cluster}"
    below = f", below the guaranteed {guarantee.bound()}" if judged.stands == "broken" else ""
    sentence = f"The sets {contain}, with {size:.2f} labels per set{below}."
    measured = f"Measured {measured_text(covered)}{of}"
    if guarantee.level is None:
        return sentence, f"{measured}. Nothing is guaranteed."
    if guarantee.confidence is None:
        how = "on average"
    else:
        sure = bounded(guarantee.confidence)
        how = f"on average, with probability {sure} over the calibration"
    per = f" for {guarantee.per}" if guarantee.per else ""
    resemble = f"{how}{per}, if new {words.examples} resemble the calibration set."
    if guarantee.target == "risk":
        bound = f"guaranteed is a mean risk of at most {guarantee.bound()}"
        return sentence, f"{measured}; {bound} {resemble}"
    return sentence, f"{measured}, guaranteed {guarantee.bound()} {resemble}"


def _standing(
    subject: Subject, evaluation: xr.Dataset, guarantee: Guarantee, judged: Judgement
) -> list[Finding]:
    words, findings = subject.words, []
    every_answer = "Calibrate on all answers (calibrator expected)."
    if judged.stands == "vacuous":
        action = "Use a larger alpha."
        if guarantee.needed is not None and guarantee.needed > guarantee.has:
            action = (
                f"Use at least {counted(guarantee.needed)} {guarantee.unit} (there are "
                f"{counted(guarantee.has)}), or a larger alpha."
            )
        sentence = "Vacuous: every set contains all labels."
        return [Finding("vacuous", "guarantee-vacuous", sentence, action)]
    if guarantee.level is None:
        return [Finding("weak", "guarantee-none", "Nothing is guaranteed.", every_answer)]
    if judged.words:
        text = f"{judged.words[0].upper()}{judged.words[1:]}{judged.remark}."
        name = f"guarantee-{(judged.stands or 'other').replace(' ', '-')}"
        severity, action = ("kept" if judged.stands else "weak"), ""
        if judged.stands == "broken":
            severity, action = "broken", f"Calibrate again, on {words.examples} like these."
        findings.append(Finding(severity, name, text, action))
    if guarantee.target != "aggregated":
        answers = measured_text(interval(evaluation, AGGREGATED))
        text = (
            f"Coverage of the {words.of_annotators} answers is {answers}, and nothing is "
            "guaranteed for it."
        )
        action = every_answer if guarantee.target == "majority-vote" else ""
        findings.append(Finding("weak", "guarantee-other", text, action))
    return findings


def _percent(estimate: Interval) -> str:
    if estimate.mean is None:
        return "none"
    rounded = round(estimate.mean, 2 if 0.005 <= estimate.mean < 0.995 else 3)
    return f"{100 * rounded:.1f}".removesuffix(".0") + "%"


def weak_findings(subject: Subject, weak: Section, guarantee: Guarantee) -> list[Finding]:
    """Return the lowest level of agreement and the groups that are clearly below the guarantee.

    Where no group is, the lowest one if there are too few examples to tell.
    """
    words, findings = subject.words, []
    low = [(at, part) for at, part in enumerate(weak.parts) if part.clear]
    strata = [(at, part) for at, part in low if part.kind == "ambiguity"]
    clear = [(at, part) for at, part in low if part.kind != "ambiguity"][:NAMED]
    if strata:
        at, part = min(strata, key=lambda stratum: stratum[1].covered.mean)
        where = f"at {part.title}"
        if part.stratum == 0:
            where = f"where {words.annotators} disagree most"
        sentence = (
            f"Lowest {where}: {decimal(part.covered.mean)} ({several(part.n, words.example)})."
        )
        action = "Show these sets to a person; do not act on a single label there."
        findings.append(Finding("weak", "stratum-weak", sentence, action, at))
    groups = [(at, part) for at, part in enumerate(weak.parts) if part.kind == "group"]
    lowest = min(groups, key=lambda group: group[1].covered.mean or 0.0, default=None)
    for at, part in clear or ([lowest] if lowest else []):
        covered, n = part.covered, several(part.n, words.example)
        columns = " and ".join(subject.by[column] for column, _ in part.where)
        values = " and ".join(subject.coded[column][0][value] for column, value in part.where)
        apart = f"calibrate by {columns} (mondrian)"
        if guarantee.by == columns:
            apart = "calibrate again"
        elif len(part.where) > 1:
            apart = f"calibrate by one column that joins {columns} (mondrian)"
        if clear:
            sentence = f"Below the guarantee: {part.title}, {measured_text(covered)}, {n}."
            action = f"{apart[0].upper()}{apart[1:]}."
        else:
            low, high, level = covered.low, covered.high, weak.level
            if covered.mean is None or low is None or high is None or level is None:
                continue
            if covered.mean > level - GAP or high - low <= WIDE:
                continue
            sentence = (
                f"Lowest {columns}: {values}, {decimal(covered.mean)} ({n}, too few to tell)."
            )
            action = f"Annotate more {words.examples} of {values}, then {apart}."
        findings.append(Finding("weak", "group-weak", sentence, action, at))
    return findings


MOST_LABELS = 20  # rows of the heat map at most

RESAMPLES = 1000
MANY = 20_000  # examples from which there are fewer resamples, since each of them adds less

FEW_RESAMPLES = 200


def disagreement(subject: Subject) -> Section:
    table, words, shown = subject.annotations, subject.words, subject.annotator_names
    kind = "" if table is None else str(table.attrs[names.KIND])
    if table is None or kind not in KINDS:
        nothing = f"Agreement of {kind} answers is not measured: each gives every label a share."
        if table is None:
            nothing = (
                "There are plausibilities, but no single answers: agreement of "
                f"{words.annotators} cannot be shown."
            )
        empty: dict[str, object] = dict.fromkeys(("measures", "annotators", "labels", "cells"), ())
        texts = dict.fromkeys(("who", "note"), "")
        return Section(sentence=nothing, nothing=nothing, **empty, **texts)
    with warnings.catch_warnings():
        # The reader of the file warns of repeated answers and of a partial order.
        warnings.simplefilter("ignore", PlausiblyWarning)
        answers = Answers.of(table)
        measures = agreement(
            table,
            resamples=FEW_RESAMPLES if answers.n > MANY else RESAMPLES,
            cluster=subject.cluster if subject.cluster in table.coords else None,
            seed=subject.seed,
        )
    data = measures.data
    labels = name_texts(subject.predictions[names.LABEL].values)
    place = positions(labels, answers.labels)
    cells = _cells(answers, place)
    kept, note = _heat_labels(cells, len(labels), words)
    different = (cell for cell in cells if cell.a != cell.b)
    most = max(different, key=lambda cell: cell.pairs, default=None)
    nothing = sentence = f"All {words.annotators} agree on every {words.example}."
    if not data.attrs["compared"]:
        have = f"No {words.example} has answers of two {words.annotators}"
        nothing = f"{have}: disagreement cannot be measured."
        sentence = nothing
    elif most is not None:
        same, nothing = round(100 * float(data["value"].sel(measure="percent"))), ""
        sentence = (
            f"Two {words.annotators} agree on {same}% of the {words.examples}. They disagree most "
            f"often on {quoted(labels[most.a])} and {quoted(labels[most.b])}."
        )
    titles, rows = measure_titles(kind), []
    for measure in each(data, "measure"):
        name = str(measure["measure"].item())
        value = Interval(*(number(measure[end]) for end in ("value", "low", "high")))
        title, reason = titles.get(name, name), str(measure["reason"].item())
        rows.append(Section(name=name, title=title, value=value, reason=reason))
    return Section(
        sentence=sentence,
        measures=tuple(rows),
        annotators=tuple(_annotators(data, shown, place)),
        who=_who(measures, shown, words),
        labels=kept,
        cells=tuple(cell for cell in cells if {cell.a, cell.b} <= {*kept}),
        note=note,
        nothing=nothing,
    )


def _cells(answers: Answers, place: NDArray[np.int64]) -> list[Section]:
    """Return pairs of answers to one example by the two labels that they name first."""
    cell, mention = answers.spread(answers.cells.value)
    label = place[answers.mention_label[mention]]
    first = (answers.mention_block[mention] <= 1) & (label >= 0)
    codes: defaultdict[int, list[int]] = defaultdict(list)
    for row, code in zip(cell[first].tolist(), label[first].tolist(), strict=True):
        codes[row].append(code)
    # By example: how many answers name each label (a, a), and how many both a and b.
    named: defaultdict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    for row, row_labels in codes.items():
        for pair in combinations_with_replacement(sorted(row_labels), 2):
            named[int(answers.cells.example[row])][pair] += int(answers.cells.n[row])
    pairs: Counter[tuple[int, int]] = Counter()
    examples: Counter[tuple[int, int]] = Counter()
    for times in named.values():
        for a, b in combinations_with_replacement(sorted({a for a, _ in times}), 2):
            with_a, with_b, both = times[a, a], times[b, b], times[a, b]
            met = with_a * (with_a - 1) // 2 if a == b else (with_a - both) * (with_b - both)
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
    met = np.zeros((2, labels))  # other labels, then the same
    for cell in cells:
        met[int(cell.a == cell.b), [cell.a, cell.b]] += cell.pairs
    named = [int(code) for code in np.lexsort(-met[::-1]) if met[:, code].any()]
    kept = tuple(sorted(named[:MOST_LABELS]))
    note = (
        f"Number of pairs of answers to one {words.example} that name these two labels; on the "
        "diagonal, pairs that agree."
    )
    few = f" The {len(kept)} of {counted(len(named))} labels with the most disagreement are shown."
    return kept, note + few if len(named) > len(kept) else note


_LIKENESSES = ("agreement", "others", "vote", "says_share", "says_others")


def _annotators(data: xr.Dataset, shown: Sequence[str], place: NDArray[np.int64]) -> list[Section]:
    label = dict(zip(name_texts(data[names.LABEL].values), place.tolist(), strict=True))
    rows = [
        Section(
            name=name,
            answers=int(annotator["annotator_answers"]),
            low=bool(annotator["annotator_low"]),
            says=label.get(str(annotator["annotator_says"].item())),
            **{part: number(annotator[f"annotator_{part}"]) for part in _LIKENESSES},
        )
        for name, annotator in zip(shown, each(data, names.ANNOTATOR), strict=True)
        if int(annotator["annotator_answers"])
    ]
    return sorted(
        rows, key=lambda row: (not row.low, row.agreement is None, row.agreement or 0.0, row.name)
    )


def _who(measures: Agreement, shown: Sequence[str], words: Words) -> str:
    agreements = measures["annotator_agreement"].values
    if not len(shown) or np.isnan(agreements).all():
        return " ".join(measures.annotator_lines())
    low = np.array(shown)[measures["annotator_low"].values.astype(bool)].tolist()
    span = f"{decimal(np.nanmin(agreements))} to {decimal(np.nanmax(agreements))}"
    rest = f"Agreement with the others is {span} ({several(len(shown), words.annotator)})."
    if not low:
        return f"No {words.annotator} agrees clearly less with the others. {rest}"
    named = ", ".join(low[:5]) + (f" and {counted(len(low) - 5)} more" if len(low) > 5 else "")
    agree = "agrees" if len(low) == 1 else "agree"
    return f"{named} {agree} less with the others than these agree among themselves. {rest}"


BINS = 20
SUSPECT = 0.001  # p-value below which a check is broken: reports make many checks

_LABELS = {DRAWN: "drawn answers", VOTED: "the majority vote", TRUE: "the true label"}


def uniformity(subject: Subject) -> list[Section]:
    tests: list[Section] = []
    for place, method in enumerate(subject.methods):
        tested = method.tested[0]
        if _not_examined(method):
            continue
        with warnings.catch_warnings():
            # That examples calibrated the predictor is a check of its own.
            warnings.simplefilter("ignore", PlausiblyWarning)
            made = p_value_uniformity(
                tested.predictor,
                tested.predictions,
                subject.plausibilities,
                true_label=subject.true_label,
                cluster=subject.cluster,
                seed=subject.seed,
                only_common=True,
            )
        for kind in each(made, OF):
            values, of = kind["p_value"].values, str(kind[OF].item())
            above, p = float(kind["ks_above"]), float(kind["p_super_uniform"])
            count = several(len(values), subject.words.example)
            verb = "are smaller than" if p < SUSPECT else "are no smaller than"
            compared = f"{verb} guaranteed" if kind["guaranteed"] else f"{verb} uniform"
            nothing = "" if kind["guaranteed"] else "; nothing is guaranteed about them"
            tests.append(
                Section(
                    method=place,
                    of=of,
                    guaranteed=bool(kind["guaranteed"]),
                    counts=tuple(np.histogram(values, bins=BINS, range=(0.0, 1.0))[0].tolist()),
                    p=p,
                    n=len(values),
                    sentence=f"P-values of {_LABELS[of]} ({method.name}, {count}) {compared}: "
                    f"KS {above:.3f}, p {p_value_text(p)}{nothing}.",
                )
            )
    return tests


def p_value_text(value: float) -> str:
    return "< 0.001" if value < SUSPECT else decimal(value, 3 if value < 0.01 else 2)


def method_checks(subject: Subject, place: int, tests: Sequence[Section]) -> list[Check]:
    title = f"p-values of {subject.methods[place].name} are no smaller than guaranteed"
    own = (test for test in tests if test.method == place and test.guaranteed)
    state = {True: HELD, False: BROKEN}
    return [
        *subject.checks,
        *(Check("p-values", title, state[test.p >= SUSPECT], test.sentence) for test in own),
    ]


def assumptions(subject: Subject, tests: Sequence[Section]) -> Section:
    checks = list(subject.checks)
    for place, method in enumerate(subject.methods):
        if not method.reference:
            checks += [new for new in method_checks(subject, place, tests) if new not in checks]
    checks.sort(key=lambda check: (BROKEN, UNCHECKED, HELD).index(check.state))
    broken = [check.title for check in checks if check.state == BROKEN]
    unknown = sum(check.state == UNCHECKED for check in checks)
    start = "No assumption that can be checked is broken"
    if broken:
        verb = "is" if len(broken) == 1 else "are"
        start = f"{several(len(broken), 'assumption')} {verb} broken: {'; '.join(broken)}"
    rest = f"; {counted(unknown)} cannot be checked from data." if unknown else "."
    return Section(
        sentence=start + rest,
        checks=tuple(checks),
        uniformity=tuple(tests),
        nothing=tuple(_not_examined(method) for method in subject.methods),
    )


def _not_examined(method: MethodSets) -> str:
    """Return why the p-values of a method are not examined; empty where they are."""
    tested = method.tested[0]
    if not tested.predictor.has_p_values:
        reason = "its combiner has thresholds only"
    elif names.AUGMENTATION in tested.predictions.dims:
        reason = "each example has several augmentations"
    else:
        return ""
    return f"P-values of {method.name} are not examined: {reason}."


PLACES = 200  # points of a curve over all examples
MOST_PARTS = 60  # groups that are shown: those that are covered least


def level_of(guarantee: Guarantee) -> float | None:
    """Return the level that is guaranteed for annotators' answers, None where there is none."""
    level = guarantee.level if guarantee.target == "aggregated" else None
    return None if level is None else float(level)


def vote(subject: Subject, results: Measured, voted: Measured | None) -> Section:
    evaluation, words = results.evaluation, subject.words
    answers, size = interval(evaluation, AGGREGATED), interval(evaluation, SET_SIZE)
    votes = interval(evaluation, "majority_vote_coverage")
    sentence = (
        f"These sets contain {measured_text(answers)} of the {words.of_annotators} answers, and "
        f"{measured_text(votes)} of their majority votes."
    )
    if voted is not None:
        voted_evaluation = voted.evaluation
        sentence = (
            f"These sets contain {_percent(answers)} of the {words.of_annotators} answers, with "
            f"{size.mean or 0:.2f} labels per set. Calibrated on the majority vote, they would "
            f"contain {_percent(interval(voted_evaluation, AGGREGATED))}, with "
            f"{interval(voted_evaluation, SET_SIZE).mean or 0:.2f}."
        )
    return Section(
        sentence=sentence,
        aggregated=answers,
        voted=votes,
        true=interval(evaluation, "true_coverage") if "true_coverage_mean" in evaluation else None,
        size=size,
        share_empty=float(evaluation["share_empty"]),
        share_single=float(evaluation["share_singleton"]),
    )


def realised(subject: Subject, results: Measured) -> Section:
    curve = results.realised
    n = curve.sizes["share"]
    places = np.unique(np.linspace(0, n - 1, min(n, PLACES)).round().astype(np.int64))
    covered = curve[AGGREGATED].values
    whole = float((covered > 1 - 1e-9).mean())
    half = float((covered < 0.5 - 1e-9).mean())
    little = f"{percent(half)} contain" if half else "none contains"
    return Section(
        sentence=f"{percent(whole).capitalize()} of the sets contain all answers to their "
        f"{subject.words.example}; {little} less than half of them.",
        share=tuple(curve["share"].values[places].tolist()),
        aggregated=tuple(covered[places].tolist()),
        voted=tuple(curve["majority_vote_coverage"].values[places].tolist()),
        largest=tuple(curve["largest_plausibility"].values[places].tolist()),
    )


def weak(
    subject: Subject,
    results: Measured,
    guarantee: Guarantee,
    group_values: Mapping[str, tuple[tuple[int, int], ...]],
) -> Section:
    level = level_of(guarantee)
    strata = [
        _part(part, level, "ambiguity", f"most frequent answer {part[AMBIGUITY].item()}", at)
        for at, part in enumerate(each(results.evaluation, AMBIGUITY))
        if int(part["stratum_n"])
    ]
    groups: list[Part] = []
    note = ""
    if results.groups is not None:
        for subgroup in each(results.groups, "subgroup"):
            title = str(subgroup["subgroup"].item())
            kind = "group" if int(subgroup["depth"]) == 1 else "crossed"
            groups.append(_part(subgroup, level, kind, title, where=group_values[title]))
        groups.sort(key=lambda part: (part.kind != "group", part.covered.high or 0.0))
        counts = results.groups.attrs
        note = f"Intervals are widened for {several(int(counts['compared']), 'group')}"
        left = int(counts["left_out_subgroups"])
        if left:
            few = f"{several(left, 'group')} of fewer than {counts['at_least']}"
            note += f"; {few} {'is' if left == 1 else 'are'} left out"
        if len(groups) > MOST_PARTS:
            note += f"; the {MOST_PARTS} with the lowest coverage are shown"
        groups = groups[:MOST_PARTS]
        note += ". Those by agreement hold for each alone."
    section = Section(level=level, parts=(*strata, *groups), note=note, nothing=results.no_groups)
    findings = weak_findings(subject, section, guarantee)
    sentences = [f"{finding.sentence} {finding.action}" for finding in findings]
    if level is None:
        known = [part for part in section.parts if part.covered.mean is not None]
        lowest = min(known, key=lambda part: part.covered.mean or 0.0)
        sentences = [f"Lowest coverage: {lowest.title}, {measured_text(lowest.covered)}."]
    even = "No group and no level of agreement is shown to be below the guarantee."
    section.sentence = " ".join(sentences) or even
    return section


def _part(
    part: xr.Dataset,
    level: float | None,
    kind: str,
    title: str,
    stratum: int | None = None,
    where: tuple[tuple[int, int], ...] = (),
) -> Part:
    prefix, n = ("", "count") if stratum is None else ("stratum_", "stratum_n")
    covered = interval(part, f"{prefix}{AGGREGATED}")
    return Part(
        kind=kind,
        title=title,
        n=int(part[n]),
        covered=covered,
        size=interval(part, f"{prefix}{SET_SIZE}"),
        clear=level is not None and covered.high is not None and covered.high < level - 1e-9,
        where=where,
        stratum=stratum,
    )


def sizes(subject: Subject, results: Measured) -> Section:
    bars = []
    for row in each(results.sizes, "size"):
        low, high, count = (int(row[name]) for name in ("size_from", "size_to", "count"))
        covered = interval(row, AGGREGATED)
        bars.append(Section(low=low, high=high, count=count, covered=covered))
    labels = subject.predictions.sizes[names.LABEL]
    ordered = np.sort(results.evaluation[SET_SIZE].values)
    n, empty = len(ordered), float((ordered == 0).mean())
    middle, large = int(ordered[(n - 1) // 2]), int(ordered[min(n - 1, int(0.95 * n))])
    text = f"Half of the sets have at most {several(middle, 'label')} of {counted(labels)}"
    if large > middle:
        more = "all of them" if large == labels else f"{counted(large)} or more"
        text += f"; {percent(float((ordered >= large).mean()))} have {more}"
    text += f"; {f'{percent(empty)} are empty' if empty else 'none is empty'}."
    if ordered[0] == labels:
        text = f"Every set contains all {counted(labels)} labels: the sets say nothing."
    elif ordered[0] == ordered[-1]:
        text = f"Every set has {several(middle, 'label')} of {counted(labels)}."
    return Section(sentence=text, bars=tuple(bars))


def surprising(outcomes: Outcomes, view: int, shown: Sequence[int]) -> Section:
    words, n = outcomes.subject.words, outcomes.subject.n
    rows, missed = outcomes.most_missed(view), outcomes.missed[view]
    text = f"Every set contains all answers to its {words.example}."
    if rows:
        most, incomplete = int((missed > 0.5 + 1e-9).sum()), int((missed > 0).sum())
        text = (
            f"{percent(incomplete / n).capitalize()} of the sets leave out an answer, "
            f"{counted(most)} of {counted(n)} more than half of them."
        )
        if incomplete > SURPRISING:
            text += f" The {SURPRISING} that leave out most:"
    place = {row: at for at, row in enumerate(shown)}
    return Section(sentence=text, cases=tuple(place[row] for row in rows if row in place))


def splits(subject: Subject, method: str, place: int) -> Section | None:
    compared = subject.compared
    if compared is None or method not in compared[METHOD].values:
        return None
    coverage = compared[AGGREGATED].sel({METHOD: method}).isel({names.ALPHA: place})
    for dim in (DRAWS, SIZE):
        if dim in coverage.dims:
            coverage = coverage.isel({dim: int(np.argmax(coverage[dim].values))})
    values = coverage.values
    mean = float(values.mean())
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    text = f"Over {several(len(values), 'random split')}, coverage is {decimal(mean)} on average"
    if spread is not None:
        text += (
            f", with a standard deviation of {decimal(spread)} between calibrations "
            f"({decimal(values.min())} to {decimal(values.max())})"
        )
    return Section(sentence=f"{text}.", aggregated=tuple(values.tolist()))
