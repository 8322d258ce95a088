"""Every calibrator that claims a guarantee, with its equation and its promise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from calibrators_methods import Method, Reads
from calibrators_oracles import (
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
from calibrators_worlds import World


def drawing(m: int) -> dict[str, object]:
    return {"name": "monte-carlo", "draws": m}


def wrapped(name: str, by: str, inner: dict[str, object] | None = None) -> dict[str, object]:
    table: dict[str, object] = {"name": name, "by": by}
    return table if inner is None else {**table, "inner": inner}


THIRD = Fraction(1, 3)
RISK = wrapped("risk", "risk")


def mass(leave_out: Fraction) -> dict[str, object]:
    return {"name": "mass-coverage", "leave_out": float(leave_out)}


def _largest(world: World) -> Fraction:
    return max(world.risk)


PLAIN = (
    Method("expected", {"name": "expected"}, plain()),
    *(Method(f"{m} draws", drawing(m), plain(), m=m, counts=True) for m in (1, 2)),
    Method("votes", {"name": "voted"}, plain(voted), target="vote", counts=True),
)

BY_GROUP = (
    Method("group: expected", wrapped("mondrian", "group"), in_group(plain()), given="group"),
    *(
        Method(
            f"group: {m} draws",
            wrapped("mondrian", "group", drawing(m)),
            in_group(plain()),
            m=m,
            given="group",
            apart=True,
            counts=True,
        )
        for m in (1, 2)
    ),
    Method(
        "group: votes",
        wrapped("mondrian", "group", {"name": "voted"}),
        in_group(plain(voted)),
        given="group",
        target="vote",
        apart=True,
        counts=True,
    ),
    Method(
        "group: risk",
        wrapped("mondrian", "group", RISK),
        in_group(plain(lost, own=_largest)),
        given="group",
        target="risk",
    ),
    Method(
        "group: mass",
        wrapped("mondrian", "group", mass(Fraction(1, 10))),
        in_group(plain(held(Fraction(1, 10)))),
        given="group",
        target="mass",
        leave_out=Fraction(1, 10),
        counts=True,
    ),
)

BY_LABEL = (
    Method("label: expected", wrapped("mondrian", "label"), of_label, given="label"),
    *(
        Method(
            f"label: {m} draws",
            wrapped("mondrian", "label", drawing(m)),
            of_label,
            m=m,
            given="label",
        )
        for m in (1, 2, 3)
    ),
    Method(
        "label: votes",
        wrapped("mondrian", "label", {"name": "voted"}),
        of_vote,
        given="label",
        target="vote",
    ),
)

WEIGHTED = (
    Method("weights: expected", wrapped("weighted", "weight"), weighted(), shifted=True),
    *(
        Method(
            f"weights: {m} draws",
            wrapped("weighted", "weight", drawing(m)),
            weighted(),
            m=m,
            shifted=True,
            apart=True,
        )
        for m in (1, 2)
    ),
    Method(
        "weights: risk",
        wrapped("weighted", "weight", RISK),
        weighted(lost, own=_largest),
        shifted=True,
        target="risk",
    ),
    Method(
        "weights: mass",
        wrapped("weighted", "weight", mass(THIRD)),
        weighted(held(Fraction(float(THIRD)))),
        shifted=True,
        target="mass",
        leave_out=THIRD,
    ),
    Method(
        "weights: votes",
        wrapped("weighted", "weight", {"name": "voted"}),
        weighted(voted),
        shifted=True,
        target="vote",
        apart=True,
    ),
    Method(
        "group of weights: expected",
        wrapped("mondrian", "group", wrapped("weighted", "weight")),
        in_group(weighted()),
        shifted=True,
        given="group",
    ),
    Method(
        "group of weights: 2 draws",
        wrapped("mondrian", "group", wrapped("weighted", "weight", drawing(2))),
        in_group(weighted()),
        m=2,
        shifted=True,
        given="group",
        apart=True,
    ),
)

GROUPED = (
    Method("patients: expected", wrapped("grouped", "patient"), grouped(), by_patient=True),
    *(
        Method(
            f"patients: {m} draws",
            wrapped("grouped", "patient", drawing(m)),
            grouped(),
            m=m,
            by_patient=True,
            apart=True,
        )
        for m in (1, 2)
    ),
    Method(
        "patients: votes",
        wrapped("grouped", "patient", {"name": "voted"}),
        grouped(voted),
        by_patient=True,
        target="vote",
        apart=True,
    ),
    Method(
        "patients: risk",
        wrapped("grouped", "patient", RISK),
        grouped(lost, own=_largest),
        by_patient=True,
        target="risk",
    ),
    Method(
        "patients: mass",
        wrapped("grouped", "patient", mass(Fraction(0))),
        grouped(held(Fraction(0))),
        by_patient=True,
        target="mass",
    ),
)

LOST = (
    Method("risk", RISK, plain(lost, own=_largest), target="risk"),
    *(
        Method(
            f"mass: {leave_out} left out",
            mass(leave_out),
            plain(held(Fraction(str(float(leave_out))))),
            target="mass",
            leave_out=leave_out,
            counts=True,
        )
        for leave_out in (Fraction(0), Fraction(1, 10), Fraction(1, 2), THIRD)
    ),
)

SPACED = tuple(
    Method(
        f"spaced: {m} draws",
        {**drawing(m), "systematic": True},
        plain(),
        m=m,
        apart=m == 2,
        spaced=True,
        counts=True,
    )
    for m in (1, 2, 3)
)

METHODS = (*BY_GROUP, *BY_LABEL, *WEIGHTED, *GROUPED, *LOST, *SPACED)


def augmented(reads: Reads, part: Part) -> tuple[Method, ...]:
    """Return augmentation by one kind of score, as it is and inside each wrapper."""
    table: dict[str, object] = {
        "name": "augmentation",
        "scores": {"single": "pooled"}.get(reads, reads),
    }
    one = Method(reads, table, plain(part), apart=reads == "separate", reads=reads)
    group = replace(
        one,
        name=f"group of {reads}",
        table=wrapped("mondrian", "group", table),
        oracle=in_group(plain(part)),
        given="group",
    )
    weights = replace(
        one,
        name=f"weights of {reads}",
        table=wrapped("weighted", "weight", table),
        oracle=weighted(part),
        shifted=True,
    )
    patients = replace(
        one,
        name=f"patients of {reads}",
        table=wrapped("grouped", "patient", table),
        oracle=grouped(part),
        by_patient=True,
    )
    return one, group, weights, patients


AUGMENTED = (
    *augmented("mean", seen_on_average),
    *augmented("single", seen_once),
    *augmented("separate", seen_apart),
)

SMOOTHED = (
    *PLAIN,
    *BY_GROUP,
    *BY_LABEL,
    *GROUPED,
    *LOST,
    *SPACED,
    *(one for one in AUGMENTED if one.reads != "separate" and not one.shifted),
)
"""Calibrators whose ties can be split: equal weights, one score."""
