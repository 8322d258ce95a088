"""Section 1: what was measured beside what is guaranteed, and what to know first."""

from __future__ import annotations

from collections.abc import Sequence

import xarray as xr

from plausibly.errors import counted
from plausibly.evaluation.describe import Judgement, Standing, decimal, judgement
from plausibly.evaluation.intervals import COVERAGE, SET_SIZE
from plausibly.guarantee import Guarantee, bounded
from plausibly.report.facts import BROKEN, UNCHECKED, Check
from plausibly.report.measuring import Measured
from plausibly.report.numbers import interval, measured, percent
from plausibly.report.sections import AGGREGATED, level_of
from plausibly.report.subject import Subject
from plausibly.report.views import Finding, Interval, Promise, Verdict, Weak

SEVERITIES = ("broken", "vacuous", "weak", "kept")
_FLATTERING = ("examples-alike",)
"""Checks that flatter figures where they do not hold, by the share of what they name."""


def verdict(
    subject: Subject, found: Measured, promise: Guarantee, weak: Weak, checks: Sequence[Check]
) -> Verdict:
    """Return section 1 at one alpha.

    Parameters
    ----------
    subject : Subject
    found : Measured
    promise : Guarantee
    weak : Weak
        Section 3.
    checks : sequence of Check
        Of section 7, of this method.
    """
    judged = _judged(found.evaluation, promise)
    stands = judged.stands
    sentence = _sentence(subject, found.evaluation, promise, judged)
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


def _sentence(
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
    return measured(one).replace(" (", ", ").rstrip(")")


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
                    sentence=f"{title}: {measured(part.covered)} where "
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
