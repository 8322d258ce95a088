"""Section 7: what can be checked of the assumptions, and whether p-values are what they promise."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import xarray as xr

from plausibly.conformal.inputs import OVERLAP
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import PlausiblyWarning, counted
from plausibly.evaluation.shift import shift
from plausibly.evaluation.uniformity import DRAWN, OF, TRUE, VOTED, p_value_uniformity
from plausibly.report.facts import BROKEN, HELD, UNCHECKED, Believe, Check, Uniformity
from plausibly.report.model import Words
from plausibly.report.subject import MethodSets, Subject

BINS = 20
SUSPECT = 0.001
"""A p-value of a check below this breaks it: reports make many checks."""

_LABELS = {DRAWN: "a drawn label", VOTED: "the vote", TRUE: "the known label"}


def uniformity(subject: Subject) -> list[Uniformity]:
    """Return how p-values of each method are distributed, where they can be measured.

    Parameters
    ----------
    subject : Subject
        Where a method has two predictors, the first one and its examples are looked at: the tests
        are about one calibration.
    """
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
    """Return the checks of one method: those of the examples, and of its p-values.

    Parameters
    ----------
    subject : Subject
    place : int
        Of the method.
    found : sequence of Uniformity
        Of all methods.
    """
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
    """Return section 7, for all methods.

    Parameters
    ----------
    subject : Subject
    found : sequence of Uniformity
    """
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
    """Return the two assumptions that no data can confirm.

    Parameters
    ----------
    words : Words
    """
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
    """Return whether the examples of the report calibrated the predictor that is reported.

    Parameters
    ----------
    method : MethodSets
    words : Words
    """
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
    """Return whether the largest scores look like those of calibration; None where none are kept.

    Parameters
    ----------
    method : MethodSets
    words : Words
    """
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
