"""Sections of a report: figures with their sentences."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, product

import attrs
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import softmax

from plausibly.annotators.agreement import Agreement, agreement, measure_titles
from plausibly.annotators.answers import KINDS
from plausibly.data import names
from plausibly.data.names import quoted, several
from plausibly.errors import InputError, PlausiblyWarning, counted, listed
from plausibly.evaluation import inputs
from plausibly.evaluation.evaluation import (
    AMBIGUITY,
    COVERAGE,
    Judgement,
    evaluate,
    how_sure,
    judgement,
    stratum_of,
)
from plausibly.evaluation.groups import ByCoordinate, coverage_by
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
from plausibly.kernels.types import Bools, Floats
from plausibly.report.model import (
    BROKEN,
    HELD,
    UNCHECKED,
    Check,
    Finding,
    Interval,
    Section,
    Words,
)
from plausibly.report.subject import SURPRISING, MethodSets, Subject
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
MOST_CROSSED = 6  # coordinates whose combinations are shown at most


@attrs.frozen(kw_only=True, eq=False)
class Measured:
    """Measures of the sets of one view; groups, or why there are none."""

    evaluation: xr.Dataset
    sizes: xr.Dataset
    groups: xr.Dataset | str


def measured(subject: Subject, method: MethodSets) -> list[Measured]:
    arrays = (method.sets, subject.plausibilities)
    by = method.guarantees[0].by
    known = by and by != BY_LABEL and inputs.known_values(by, arrays[:1]) is not None
    groups: xr.Dataset | str = (
        f"There are no groups of {subject.words.examples}: a table of them with a column such "
        "as site (--examples, examples=) shows coverage by group."
    )
    with warnings.catch_warnings():
        # The report states what the measures warn of.
        warnings.simplefilter("ignore", PlausiblyWarning)
        evaluation = evaluate(
            *arrays,
            ties=subject.ties,
            true_label=subject.true_label,
            by=by if known else None,
            cluster=subject.cluster,
            seed=subject.seed,
        ).data
        sizes = coverage_by(*arrays, by="set-size", cluster=subject.cluster, seed=subject.seed)
        if subject.by:
            of = ByCoordinate(*subject.by, crossed=_crossed(subject), at_least=AT_LEAST)
            try:
                groups = coverage_by(*arrays, by=of, cluster=subject.cluster, seed=subject.seed)
            except InputError as error:
                if error.name != "subgroups-none":
                    raise
                groups = f"{error.what[0].upper()}{error.what[1:]}: too few to measure."
    return [
        Measured(
            evaluation=evaluation.isel(at),
            sizes=sizes.isel(at),
            groups=groups if isinstance(groups, str) else groups.isel(at),
        )
        for at in ({names.ALPHA: place} for place in range(len(subject.alphas)))
    ]


def group_values(subject: Subject) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the columns, with the code of a value each, that make a group of this title."""
    columns = [
        [(column, code) for code in range(len(values))]
        for column, (values, _) in enumerate(subject.coded)
    ]
    groups: list[tuple[tuple[int, int], ...]] = [(pair,) for column in columns for pair in column]
    groups += [pairs for two in combinations(columns, 2) for pairs in product(*two)]
    return {
        ", ".join(f"{subject.by[at]} {subject.coded[at][0][code]}" for at, code in group): group
        for group in groups
    }


def _crossed(subject: Subject) -> int:
    """Return the most coordinates of a group; of many coordinates each interval pays for all."""
    return 2 if len(subject.by) <= MOST_CROSSED else 1


BUDGET = 4_300_000  # bytes of the examples at most, so that a report stays below 5 MB
MOST = 10_000  # examples that a report shows at most

LISTED = 30
"""Labels of one example that a report shows at most: as many bits as a set has in a report."""

HIGHEST = 5  # labels with the highest scores, which are shown in any case


def cases(subject: Subject, *, budget: int = BUDGET) -> tuple[Section, list[int]]:
    """Return section 6, of as many examples as fit into a report, and their places among all."""
    most = min(MOST, subject.n)
    while True:
        rows = set(np.argsort(subject.order, kind="stable")[:most].tolist())
        for view in range(len(subject.inside)):
            rows.update(subject.most_missed(view))
        # Sorted by the names that are shown: any other order would reveal the names they replace.
        shown = sorted(rows, key=subject.example_names.__getitem__)
        section = _cases(subject, shown, most)
        size = len(section.to_text().encode("utf-8", "replace"))
        if size <= budget or most <= 1:
            return section, shown
        most = max(1, int(most * min(0.95 * budget / size, 0.95)))


def _cases(subject: Subject, rows: list[int], most: int) -> Section:
    words = subject.words
    plausibility = subject.plausibilities.values[rows].astype(np.float64)
    inside = [sets[rows] for sets in subject.inside]
    union: Bools = np.logical_or.reduce(inside)
    chosen = []
    for shares, in_a_set, score in zip(
        plausibility, union, subject.methods[0].scores[rows], strict=True
    ):
        wanted = (shares > 0) | in_a_set
        wanted[np.argsort(-score, kind="stable")[:HIGHEST]] = True
        count = min(LISTED, int(wanted.sum()))
        chosen.append(np.sort(np.lexsort((-score, -shares, ~wanted))[:count]))
    unlisted = tuple(plausibility.shape[1] - len(places) for places in chosen)
    predicted, meaning = _prediction(subject)

    def bars(values: Floats) -> tuple[tuple[int, ...], ...]:
        scaled = np.array(thousandths(values)).reshape(values.shape)
        return tuple(
            tuple(row[places].tolist()) for row, places in zip(scaled, chosen, strict=True)
        )

    def bits(sets: Bools) -> tuple[int, ...]:
        """Return each set as a number: bit j is listed label j."""
        pairs = zip(sets, chosen, strict=True)
        return tuple(int((1 << np.flatnonzero(row[places])).sum()) for row, places in pairs)

    def picked(texts: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if texts is None else tuple(texts[row] for row in rows)

    def worst(which: Bools) -> tuple[int, ...]:
        return tuple(np.where(which, subject.severity, -1).max(axis=1).tolist())

    scores = {}
    for method in subject.methods:
        if method.score not in scores:
            same = predicted is not None and np.allclose(method.scores, predicted, atol=5e-4)
            values = None if same else bars(method.scores[rows])
            scores[method.score] = Section(name=method.score, values=values)
    at_most = f", {LISTED} at most" if max(map(len, chosen)) == LISTED else ""
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
        names=picked(subject.example_names),
        listed=tuple(tuple(places.tolist()) for places in chosen),
        unlisted=unlisted,
        unlisted_words=left if any(unlisted) else "",
        plausibility=bars(plausibility),
        prediction=None if predicted is None else bars(predicted[rows]),
        prediction_words=meaning,
        scores=tuple(scores.values()),
        p=tuple(None if method.p is None else bars(method.p[rows]) for method in subject.methods),
        sets=tuple(map(bits, inside)),
        size=tuple(tuple(sets.sum(axis=1).tolist()) for sets in inside),
        missed=tuple(tuple(thousandths(missed[rows])) for missed in subject.missed),
        largest=tuple(thousandths(plausibility.max(axis=1))),
        stratum=tuple(stratum_of(plausibility.max(axis=1)).tolist()),
        groups=tuple(tuple(codes[rows].tolist()) for _, codes in subject.coded),
        severity_missed=tuple(worst((plausibility > 0) & ~sets) for sets in inside),
        answers=tuple(tuple(subject.answers[row]) for row in rows),
        annotators=tuple(sorted(subject.annotator_names)),
        ranked=names.MENTION_BLOCK in (subject.annotations or ()),
        text=picked(subject.text),
        thumbnail=picked(subject.thumbnail),
    )


def _prediction(subject: Subject) -> tuple[Floats | None, str]:
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
    weak: Sequence[Finding],
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
    findings += weak
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
            f"{several(len(subject.labels), 'label')}: the guarantee is "
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
    per = f" for {guarantee.per}" if guarantee.per else ""
    resemble = f"{how_sure(guarantee)}{per}, if new {words.examples} resemble the calibration set."
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
    table, words = subject.annotations, subject.words
    kind = "" if table is None else str(table.attrs[names.KIND])
    if table is None or kind not in KINDS:
        nothing = f"Agreement of {kind} answers is not measured: each gives every label a share."
        if table is None:
            nothing = (
                "There are plausibilities, but no single answers: agreement of "
                f"{words.annotators} cannot be shown."
            )
        empty: dict[str, object] = dict.fromkeys(("measures", "annotators", "labels", "cells"), ())
        return Section(sentence=nothing, nothing=nothing, who="", note="", **empty)
    with warnings.catch_warnings():
        # The reader of the file warns of repeated answers and of a partial order.
        warnings.simplefilter("ignore", PlausiblyWarning)
        measures = agreement(
            table,
            resamples=FEW_RESAMPLES if subject.n > MANY else RESAMPLES,
            cluster=subject.cluster if subject.cluster in table.coords else None,
            seed=subject.seed,
        )
    data = measures.data
    cells = _cells(subject)
    kept, note = _heat_labels(cells, len(subject.labels), words)
    different = (cell for cell in cells if cell.a != cell.b)
    most = max(different, key=lambda cell: cell.pairs, default=None)
    nothing = sentence = f"All {words.annotators} agree on every {words.example}."
    if not data.attrs["compared"]:
        have = f"No {words.example} has answers of two {words.annotators}"
        nothing = sentence = f"{have}: disagreement cannot be measured."
    elif most is not None:
        same, nothing = round(100 * float(data["value"].sel(measure="percent"))), ""
        first, second = (quoted(subject.labels[label]) for label in (most.a, most.b))
        sentence = (
            f"Two {words.annotators} agree on {same}% of the {words.examples}. They disagree most "
            f"often on {first} and {second}."
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
        annotators=_annotators(subject, data),
        who=_who(subject, measures),
        labels=kept,
        cells=tuple(cell for cell in cells if {cell.a, cell.b} <= {*kept}),
        note=note,
        nothing=nothing,
    )


def _cells(subject: Subject) -> list[Section]:
    """Return pairs of answers to one example by the two labels that they name first."""
    pairs: Counter[tuple[int, int]] = Counter()
    examples: Counter[tuple[int, int]] = Counter()
    for answers in subject.answers:
        # How many answers name each label (a, a), and how many both a and b.
        named: Counter[tuple[int, int]] = Counter()
        for _, blocks, count in answers:
            for pair in combinations_with_replacement(blocks[0] if blocks else (), 2):
                named[pair] += int(count)
        for a, b in combinations_with_replacement(sorted({a for a, _ in named}), 2):
            with_a, with_b, both = named[a, a], named[b, b], named[a, b]
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


def _annotators(subject: Subject, data: xr.Dataset) -> tuple[Section, ...]:
    rows = []
    for name, annotator in zip(subject.annotator_names, each(data, names.ANNOTATOR), strict=True):
        answers, says = int(annotator["annotator_answers"]), str(annotator["annotator_says"].item())
        if answers:
            measured = ("agreement", "others", "vote", "says_share", "says_others")
            rows.append(
                Section(
                    name=name,
                    answers=answers,
                    low=bool(annotator["annotator_low"]),
                    says=subject.labels.index(says) if says in subject.labels else None,
                    **{part: number(annotator[f"annotator_{part}"]) for part in measured},
                )
            )
    rows.sort(key=lambda row: (not row.low, row.agreement is None, row.agreement or 0.0, row.name))
    return tuple(rows)


def _who(subject: Subject, measures: Agreement) -> str:
    low, agreements = (measures[f"annotator_{name}"].values for name in ("low", "agreement"))
    differ = [name for name, less in zip(subject.annotator_names, low, strict=True) if less]
    noun = subject.words.annotator
    if np.isnan(agreements).all():
        return f"No {noun} can be compared with others."
    span = f"{decimal(np.nanmin(agreements))} to {decimal(np.nanmax(agreements))}"
    rest = f"Agreement with the others is {span} ({several(len(agreements), noun)})."
    if not differ:
        return f"No {noun} agrees clearly less with the others. {rest}"
    less = "agrees less" if len(differ) == 1 else "agree less"
    return f"{listed(differ, most=5)} {less} with the others than these among themselves. {rest}"


BINS = 20
SUSPECT = 0.001  # p-value below which a check is broken: reports make many checks

_LABELS = {DRAWN: "drawn answers", VOTED: "the majority vote", TRUE: "the true label"}


def uniformity(subject: Subject) -> list[Section]:
    tests: list[Section] = []
    for place, method in enumerate(subject.methods):
        predictor, predictions = method.tested[0]
        if _not_examined(method):
            continue
        with warnings.catch_warnings():
            # That examples calibrated the predictor is a check of its own.
            warnings.simplefilter("ignore", PlausiblyWarning)
            result = p_value_uniformity(
                predictor,
                predictions,
                subject.plausibilities,
                true_label=subject.true_label,
                cluster=subject.cluster,
                seed=subject.seed,
                only_common=True,
            )
        for kind in each(result, OF):
            of, values = str(kind[OF].item()), kind["p_value"].values
            p, guaranteed = float(kind["p_super_uniform"]), bool(kind["guaranteed"])
            count = several(len(values), subject.words.example)
            verb = "are smaller than" if p < SUSPECT else "are no smaller than"
            compared = f"{verb} guaranteed" if guaranteed else f"{verb} uniform"
            nothing = "" if guaranteed else "; nothing is guaranteed about them"
            tests.append(
                Section(
                    method=place,
                    of=of,
                    guaranteed=guaranteed,
                    counts=tuple(np.histogram(values, bins=BINS, range=(0.0, 1.0))[0].tolist()),
                    p=p,
                    n=len(values),
                    sentence=f"P-values of {_LABELS[of]} ({method.name}, {count}) {compared}: "
                    f"KS {float(kind['ks_above']):.3f}, p {p_value_text(p)}{nothing}.",
                )
            )
    return tests


def p_value_text(value: float) -> str:
    return "< 0.001" if value < SUSPECT else decimal(value, 3 if value < 0.01 else 2)


def method_checks(subject: Subject, place: int, tests: Sequence[Section]) -> list[Check]:
    title = f"p-values of {subject.methods[place].name} are no smaller than guaranteed"
    own = [test for test in tests if test.method == place and test.guaranteed]
    states = [HELD if test.p >= SUSPECT else BROKEN for test in own]
    checks = [
        Check("p-values", title, state, test.sentence)
        for test, state in zip(own, states, strict=True)
    ]
    return [*subject.checks, *checks]


def assumptions(subject: Subject, tests: Sequence[Section]) -> Section:
    every = [method_checks(subject, place, tests) for place in range(len(subject.methods))]
    kept = zip(subject.methods, every, strict=True)
    known = dict.fromkeys(
        check for method, checks in kept for check in checks if not method.reference
    )
    checks = sorted(known, key=lambda check: (BROKEN, UNCHECKED, HELD).index(check.state))
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
    predictor, predictions = method.tested[0]
    reason = ""
    if not predictor.has_p_values:
        reason = "its combiner has thresholds only"
    elif names.AUGMENTATION in predictions.dims:
        reason = "each example has several augmentations"
    return reason and f"P-values of {method.name} are not examined: {reason}."


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
        others, other_size = (interval(voted.evaluation, name) for name in (AGGREGATED, SET_SIZE))
        sentence = (
            f"These sets contain {_percent(answers)} of the {words.of_annotators} answers, with "
            f"{size.mean or 0:.2f} labels per set. Calibrated on the majority vote, they would "
            f"contain {_percent(others)}, with {other_size.mean or 0:.2f}."
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
    shown = (AGGREGATED, "majority_vote_coverage", "largest_plausibility")
    curves = [np.sort(results.evaluation[name].values) for name in shown]
    n, covered = subject.n, curves[0]
    places = np.unique(np.linspace(0, n - 1, min(n, PLACES)).round().astype(np.int64))
    aggregated, voted, largest = (tuple(curve[places].tolist()) for curve in curves)
    whole = float((covered > 1 - 1e-9).mean())
    half = float((covered < 0.5 - 1e-9).mean())
    little = f"{percent(half)} contain" if half else "none contains"
    return Section(
        sentence=f"{percent(whole).capitalize()} of the sets contain all answers to their "
        f"{subject.words.example}; {little} less than half of them.",
        share=tuple(((places + 1) / n).tolist()),
        aggregated=aggregated,
        voted=voted,
        largest=largest,
    )


def weak(
    subject: Subject, results: Measured, guarantee: Guarantee
) -> tuple[Section, list[Finding]]:
    """Return section 4, and what the verdict names of it."""
    level = level_of(guarantee)

    def part(measured: xr.Dataset, kind: str, title: str, **which: object) -> Section:
        prefix, n = ("stratum_", "stratum_n") if kind == "ambiguity" else ("", "count")
        covered = interval(measured, f"{prefix}{AGGREGATED}")
        return Section(
            kind=kind,
            title=title,
            n=int(measured[n]),
            covered=covered,
            size=interval(measured, f"{prefix}{SET_SIZE}"),
            clear=level is not None and covered.high is not None and covered.high < level - 1e-9,
            **{"where": (), "stratum": None, **which},
        )

    strata = []
    for at, stratum in enumerate(each(results.evaluation, AMBIGUITY)):
        if int(stratum["stratum_n"]):
            title = f"most frequent answer {stratum[AMBIGUITY].item()}"
            strata.append(part(stratum, "ambiguity", title, stratum=at))
    groups: list[Section] = []
    note = ""
    nothing = results.groups if isinstance(results.groups, str) else ""
    if not isinstance(results.groups, str):
        values = group_values(subject)
        for group in each(results.groups, "subgroup"):
            title = str(group["subgroup"].item())
            kind = "group" if int(group["depth"]) == 1 else "crossed"
            groups.append(part(group, kind, title, where=values[title]))
        groups.sort(key=lambda part: (part.kind != "group", part.covered.high or 0.0))
        counts = results.groups.attrs
        note = f"Intervals are widened for {several(int(counts['compared']), 'group')}"
        left = int(counts["left_out_subgroups"])
        if left:
            few = f"{several(left, 'group')} of fewer than {counts['at_least']}"
            note += f"; {few} {'is' if left == 1 else 'are'} left out"
        if len(groups) > MOST_PARTS:
            note += f"; the {MOST_PARTS} with the lowest coverage are shown"
        note += ". Those by agreement hold for each alone."
    parts = (*strata, *groups[:MOST_PARTS])
    section = Section(level=level, parts=parts, note=note, nothing=nothing)
    findings = weak_findings(subject, section, guarantee)
    sentences = [f"{finding.sentence} {finding.action}" for finding in findings]
    if level is None:
        known = [part for part in parts if part.covered.mean is not None]
        lowest = min(known, key=lambda part: part.covered.mean)
        sentences = [f"Lowest coverage: {lowest.title}, {measured_text(lowest.covered)}."]
    even = "No group and no level of agreement is shown to be below the guarantee."
    section.sentence = " ".join(sentences) or even
    return section, findings


def sizes(subject: Subject, results: Measured) -> Section:
    bars = []
    for row in each(results.sizes, "size"):
        low, high, count = (int(row[name]) for name in ("size_from", "size_to", "count"))
        covered = interval(row, AGGREGATED)
        bars.append(Section(low=low, high=high, count=count, covered=covered))
    labels = len(subject.labels)
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


def surprising(subject: Subject, view: int, shown: Sequence[int]) -> Section:
    words, n = subject.words, subject.n
    rows, missed = subject.most_missed(view), subject.missed[view]
    text = f"Every set contains all answers to its {words.example}."
    if rows:
        most, incomplete = int((missed > 0.5 + 1e-9).sum()), int((missed > 0).sum())
        text = (
            f"{percent(incomplete / n).capitalize()} of the sets leave out an answer, "
            f"{counted(most)} of {counted(n)} more than half of them."
        )
        if incomplete > SURPRISING:
            text += f" The {SURPRISING} that leave out most:"
    return Section(sentence=text, cases=tuple(shown.index(row) for row in rows))


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
