"""From a subject to all that its report shows."""

from __future__ import annotations

import platform
from importlib.metadata import version

from plausibly.data import names
from plausibly.data.left_out import read_left_out
from plausibly.data.names import name_texts, several
from plausibly.errors import counted
from plausibly.evaluation import inputs
from plausibly.evaluation.evaluate import STRATA
from plausibly.report import sections
from plausibly.report.believing import believe, method_checks, uniformity
from plausibly.report.cases_made import SURPRISING, Outcomes, cases, severities
from plausibly.report.facts import Provenance
from plausibly.report.measuring import Measured, measured, wheres
from plausibly.report.model import GroupColumn, Label, Method, ReportData
from plausibly.report.numbers import about_percent
from plausibly.report.parting import called, disagreement
from plausibly.report.stills import stills
from plausibly.report.subject import Subject
from plausibly.report.verdicts import verdict
from plausibly.report.views import Surprising, View

LIBRARIES = ("plausibly", "numpy", "scipy", "xarray")


def gather(subject: Subject) -> ReportData:
    """Return all that a report shows.

    Parameters
    ----------
    subject : Subject

    Returns
    -------
    ReportData
        The same for the same data in any order of rows, and without the time of day.
    """
    severity, risks = severities(subject)
    outcomes = Outcomes(subject=subject, severity=severity)
    annotators = _annotators(subject)
    shown = called(annotators, by_name=subject.annotator_names)
    drawn = cases(outcomes, sorted(shown) if not subject.annotator_names else sorted(annotators))
    uniform = uniformity(subject)
    found = [measured(subject, method) for method in subject.methods]
    where = {name: place for place, name in enumerate(drawn.names)}
    scores = [column.name for column in drawn.scores]
    labels = name_texts(subject.predictions[names.LABEL].values)
    groups = wheres(subject)
    views: list[View] = []
    for place, method in enumerate(subject.methods):
        checks = method_checks(subject, place, uniform)
        for at, promise in enumerate(method.promises):
            here = found[place].at(at)
            weak = sections.weak(subject, here, promise, groups)
            view = len(views)
            views.append(
                View(
                    method=place,
                    alpha=at,
                    verdict=verdict(subject, here, promise, weak, checks),
                    vote=sections.vote(subject, here, _voted(subject, found, place, at)),
                    realised=sections.realised(subject, here),
                    weak=weak,
                    sizes=sections.sizes(subject, here),
                    surprising=_surprising(outcomes, view, where),
                    splits=sections.splits(subject, method.name, at),
                )
            )
    return ReportData(
        title=subject.title,
        subtitle=_subtitle(subject, len(annotators)),
        words=subject.words,
        labels=tuple(
            Label(name=label, risk=risk, severity=int(code))
            for label, risk, code in zip(labels, risks, severity, strict=True)
        ),
        methods=tuple(
            Method(
                name=method.name,
                about=method.about,
                score=scores.index(method.score),
                reference=method.reference,
            )
            for method in subject.methods
        ),
        alphas=tuple(subject.alphas),
        groups=tuple(_column(subject, name) for name in subject.by),
        strata=tuple(f"largest plausibility {stratum}" for stratum in STRATA),
        views=tuple(views),
        disagreement=disagreement(subject, shown),
        cases=drawn,
        believe=believe(subject, uniform),
        provenance=_provenance(subject),
        stills=stills(found[0].at(0), subject.words.examples),
    )


def _annotators(subject: Subject) -> list[str]:
    if subject.annotations is None:
        return []
    return name_texts(subject.annotations.indexes[names.ANNOTATOR])


def _subtitle(subject: Subject, annotators: int) -> str:
    words = subject.words
    parts = [
        f"{counted(subject.n)} {words.example if subject.n == 1 else words.examples}",
        several(subject.predictions.sizes[names.LABEL], "label"),
    ]
    if annotators:
        parts.append(
            f"{counted(annotators)} {words.annotator if annotators == 1 else words.annotators}"
        )
    return ", ".join(parts)


def _column(subject: Subject, name: str) -> GroupColumn:
    values = inputs.codes_of(inputs.example_values(name, (subject.predictions,)))[0]
    return GroupColumn(name=name, values=tuple(name_texts(values)))


def _voted(subject: Subject, found: list[Measured], place: int, at: int) -> Measured | None:
    """Return what sets calibrated on votes cover; None where this method is calibrated so."""
    of_votes = [
        other
        for other, method in enumerate(subject.methods)
        if method.promises[at].target == "voted"
    ]
    if not of_votes or place in of_votes:
        return None
    return found[of_votes[0]].at(at)


def _surprising(outcomes: Outcomes, view: int, where: dict[str, int]) -> Surprising:
    words, n = outcomes.subject.words, outcomes.subject.n
    rows = outcomes.most_missed(view)
    examples = name_texts(outcomes.subject.predictions[names.EXAMPLE].values)
    missed = outcomes.missed[view]
    if not rows:
        text = f"No set leaves out anything that {words.annotators} said."
    else:
        most = int((missed > 0.5 + 1e-9).sum())
        some = int((missed > 0).sum())
        text = (
            f"{about_percent(some / n).capitalize()} of the sets leave something out, "
            f"{counted(most)} of {counted(n)} most of what {words.annotators} said"
        )
        if some > SURPRISING:
            text += f"; these {SURPRISING} leave out most"
        text += "."
    kept = tuple(where[examples[row]] for row in rows if examples[row] in where)
    return Surprising(sentence=text, cases=kept)


def _provenance(subject: Subject) -> Provenance:
    rows = [*subject.facts, ("sets", subject.how)]
    for method in subject.methods:
        prints = " and ".join(dict.fromkeys(one.predictor.fingerprint for one in method.tested))
        rows.append((f"predictor, {method.name}", f"{method.about}; fingerprint {prints}"))
    rows.append(("seed", str(subject.seed)))
    left_out = read_left_out(subject.predictions.attrs)
    if left_out:
        told = ", ".join(f"{counted(count)} {why}" for why, count in sorted(left_out.items()))
        rows.append(("left out", told))
    versions = [("Python", platform.python_version())]
    versions += [(name, version(name)) for name in LIBRARIES]
    sentence = "This report was made in Python; its data, methods and seed are below."
    if subject.command:
        sentence = "This command gives this report again, byte for byte, with the same versions."
    return Provenance(
        sentence=sentence,
        command=subject.command,
        study=subject.study,
        rows=tuple(rows),
        versions=tuple(versions),
    )
