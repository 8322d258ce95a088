"""Every calibrator that claims a guarantee, with its equation and its guarantee."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from calibrators_labelled import Table, inside

from .methods import Method, Reads
from .oracles import (
    Part,
    grouped,
    held,
    in_group,
    lost,
    of_label,
    of_vote,
    plain,
    seen_apart,
    seen_on_average,
    seen_once,
    voted,
    weighted,
)

TENTH, THIRD, HALF = Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)


def drawing(m: int, **more: object) -> Table:
    return {"name": "monte-carlo", "draws": m, **more}


def by_group(inner: Method) -> Method:
    return replace(
        inner,
        name=f"group: {inner.name}",
        table=inside("mondrian", "group", inner.table),
        oracle=in_group(inner.oracle),
        given="group",
    )


def by_weight(inner: Method) -> Method:
    return replace(
        inner,
        name=f"weights: {inner.name}",
        table=inside("weighted", "weight", inner.table),
        oracle=weighted(inner.part, inner.own),
        shifted=True,
        counts=False,
    )


def by_patient(inner: Method) -> Method:
    return replace(
        inner,
        name=f"patients: {inner.name}",
        table=inside("clustered", "patient", inner.table),
        oracle=grouped(inner.part, inner.own),
        by_patient=True,
        counts=False,
    )


def holding(leave_out: Fraction) -> Method:
    part = held(Fraction(str(float(leave_out))))
    return Method(
        f"mass: {leave_out} left out",
        {"name": "mass-coverage", "leave_out": float(leave_out)},
        plain(part),
        part=part,
        target="mass",
        leave_out=leave_out,
        counts=True,
    )


EXPECTED = Method("expected", {"name": "expected"}, plain())
DRAWN = tuple(
    Method(f"{m} draws", drawing(m), plain(), m=m, apart=True, counts=True) for m in (1, 2)
)
VOTED = Method(
    "votes",
    {"name": "majority-vote"},
    plain(voted),
    part=voted,
    target="vote",
    apart=True,
    counts=True,
)
RISK = Method(
    "risk",
    {"name": "risk", "by": "risk"},
    plain(lost, lambda world: max(world.risk)),
    part=lost,
    own=lambda world: max(world.risk),
    target="risk",
)
PLAIN = (EXPECTED, *DRAWN, VOTED)
BY_GROUP = tuple(map(by_group, (*PLAIN, RISK, holding(TENTH))))
BY_LABEL = (
    Method("label: expected", inside("mondrian", "label"), of_label, given="label"),
    *(
        Method(
            f"label: {m} draws",
            inside("mondrian", "label", drawing(m)),
            of_label,
            m,
            given="label",
        )
        for m in (1, 2, 3)
    ),
    Method(
        "label: votes",
        inside("mondrian", "label", {"name": "majority-vote"}),
        of_vote,
        given="label",
        target="vote",
    ),
)
WEIGHTED = (
    *map(by_weight, (*PLAIN, RISK, holding(THIRD))),
    by_group(by_weight(EXPECTED)),
    by_group(by_weight(DRAWN[1])),
)
CLUSTERED = tuple(map(by_patient, (*PLAIN, RISK, holding(Fraction(0)))))
LOST = (RISK, *map(holding, (Fraction(0), TENTH, HALF, THIRD)))
SPACED = tuple(
    Method(
        f"spaced: {m} draws",
        drawing(m, systematic=True),
        plain(),
        m,
        apart=m == 2,
        spaced=True,
        counts=True,
    )
    for m in (1, 2, 3)
)

METHODS = (*BY_GROUP, *BY_LABEL, *WEIGHTED, *CLUSTERED, *LOST, *SPACED)


def augmented(reads: Reads, part: Part) -> tuple[Method, ...]:
    """Return augmentation by one kind of score, as it is and inside each wrapper."""
    table: Table = {"name": "augmentation", "scores": "pooled" if reads == "single" else reads}
    one = Method(reads, table, plain(part), part=part, apart=reads == "separate", reads=reads)
    return one, by_group(one), by_weight(one), by_patient(one)


AUGMENTED = (
    *augmented("mean", seen_on_average),
    *augmented("single", seen_once),
    *augmented("separate", seen_apart),
)

SMOOTHED = (
    *(*PLAIN, *BY_GROUP, *BY_LABEL, *CLUSTERED, *LOST, *SPACED),
    *(one for one in AUGMENTED if one.reads != "separate" and not one.shifted),
)
"""Calibrators whose ties can be split: equal weights, one score."""
