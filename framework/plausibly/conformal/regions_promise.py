"""What regions, and label sets made of them, promise; what is refused; results over alphas."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeVar

import xarray as xr

from plausibly.calibration.alphas import Alphas, exact, is_several, read_alphas, rounded_up
from plausibly.conformal.regions_simplex import grid_size
from plausibly.data import names
from plausibly.data.names import several
from plausibly.errors import InputError, counted, warn
from plausibly.guarantee import Guarantee, Target, bounded

Labelled = TypeVar("Labelled", xr.DataArray, xr.Dataset)

REFERENCE = "Stutz et al., arXiv 2307.09302, version 1"
ASSUMPTIONS = (
    "calibration and new examples are exchangeable, with their plausibilities",
    "the model saw none of them",
    "the new example's plausibilities come from the same annotation process and aggregator",
)
_WHY = "the new example's expected score is one of n + 1 exchangeable ones"
_OVER = "calibration examples and the new example together; not per example, label or group"
_MOST_POINTS = 1_000_000
_DRAWABLE = (2, 3, 4)


def _needed(alpha: Fraction) -> int:
    return math.ceil(1 / alpha) - 1


def _promise(
    alpha: Fraction,
    n: int,
    *,
    target: Target,
    of_what: str,
    event: str = "",
    so: str = "",
    notes: tuple[str, ...] = (),
) -> Guarantee:
    return Guarantee(
        alpha=alpha,
        level=1 - alpha,
        target=target,
        of_what=of_what,
        event=event,
        over=_OVER,
        assumptions=ASSUMPTIONS,
        why=_WHY + so,
        reference=REFERENCE,
        vacuous=n < _needed(alpha),
        has=n,
        needed=_needed(alpha),
        least_alpha=1 / (n + 1),
        notes=notes,
    )


def of_region(alpha: Fraction, n: int) -> Guarantee:
    """Return what the region of n calibration examples promises at `alpha`."""
    return _promise(
        alpha,
        n,
        target="aggregated",
        of_what="the plausibilities of a new example, as one vector",
        event="lambda in R(X)",
    )


def of_label_sets(alpha: Fraction, n: int, leave_out: Fraction) -> Guarantee:
    """Return what sets promise that leave out at most `leave_out` of any vector of the region."""
    kept = bounded(1 - leave_out)
    least = bounded((1 - leave_out) * (1 - alpha), typed=False)
    return _promise(
        alpha,
        n,
        target="mass",
        of_what="the share of a new example's plausibilities that is in its set",
        event=f"lambda(C(X)) >= {kept}",
        so=f", and every vector of the region has {kept} or more on the set",
        notes=(f"hence of what experts say {least} is covered on average",),
    )


def of_vote_sets(alpha: Fraction, n: int) -> Guarantee:
    """Return what sets of all labels promise that a vector of the region votes for."""
    return _promise(
        alpha,
        n,
        target="voted",
        of_what="the voted label of a new example, however ties are broken",
        so=", and the set holds every label that a vector of the region votes for",
        notes=("nothing is promised of labels drawn from the plausibilities",),
    )


def warn_if_vacuous(alpha: Fraction, n: int, *, stacklevel: int) -> None:
    """Warn where every vector conforms, with the number that would change it."""
    needed = _needed(alpha)
    if n >= needed:
        return
    works = rounded_up(1 / (n + 1))
    warn(
        "region-vacuous",
        f"every plausibility vector conforms at alpha {float(alpha):g}",
        expected=f"{counted(needed)} calibration examples or more",
        got=counted(n),
        do=f"alpha {works} works with {counted(n)}; or annotate {counted(needed - n)} more",
        whose="region",
        stacklevel=stacklevel,
    )


def read_leave_out(value: object) -> Fraction:
    """Return the share that label sets may leave out, exactly as typed.

    Raises
    ------
    InputError
        ``leave-out-range`` where it is not a number between 0 and 1.
    """
    number = exact(value)
    if number is None or not 0 < number < 1:
        raise InputError(
            "leave-out-range",
            f"leave_out {value!r} is not a share of plausibility that may be left out",
            expected="0 < leave_out < 1; at 0 every label is needed, since every vector next to "
            "one that conforms has a little on each",
            got=repr(value),
            do="leave_out=0.1 for sets that hold .90 of the plausibility",
            whose="leave_out",
        )
    return number


def check_grid(parts: object, labels: int, examples: int) -> None:
    """Raise `InputError` ``parts-range`` or ``grid-too-large``."""
    if isinstance(parts, bool) or not isinstance(parts, int) or parts < 1:
        raise InputError(
            "parts-range",
            f"a grid of {parts!r} parts",
            expected="a whole number from 1 on",
            got=repr(parts),
            do="parts=10",
            whose="parts",
        )
    points = grid_size(labels, parts)
    if points * examples <= _MOST_POINTS:
        return
    fitting = 0
    while grid_size(labels, fitting + 1) * examples <= _MOST_POINTS:
        fitting += 1
    raise InputError(
        "grid-too-large",
        f"a grid of {parts} parts has {counted(points)} points over {several(labels, 'label')}",
        expected=f"{counted(_MOST_POINTS)} at most, for all examples together",
        got=f"{counted(points * examples)} for {several(examples, 'example')}",
        do=(f"parts={fitting}, or fewer examples" if fitting else "fewer examples")
        + "; bounds(), label_sets(), vote_sets() and contains() need no grid",
        whose="parts",
    )


def check_drawable(labels: int, examples: int) -> None:
    """Raise `InputError` ``examples-several`` or ``region-undrawable``."""
    if examples != 1:
        raise InputError(
            "examples-several",
            f"one region is drawn at a time, and there are {counted(examples)} examples",
            expected="one example",
            got=counted(examples),
            do='predictions.sel(example=["NAME"])',
            whose="predictions",
        )
    if labels not in _DRAWABLE:
        raise InputError(
            "region-undrawable",
            f"a simplex of {several(labels, 'label')} has no picture",
            expected="2, 3 or 4 labels",
            got=counted(labels),
            do="bounds(), which says how plausible each label can be",
            whose="region",
        )


def over_alphas(alpha: Alphas, found: list[Labelled]) -> Labelled:
    """Return one result an alpha as one: over the dim ``alpha``, or with it as a scalar."""
    alphas = [float(one) for one in read_alphas(alpha)]
    named = [
        one.assign_coords({names.ALPHA: value}) for one, value in zip(found, alphas, strict=True)
    ]
    return (
        xr.concat(named, dim=names.ALPHA, coords="different", compat="equals", join="exact")
        if is_several(alpha)
        else named[0]
    )
