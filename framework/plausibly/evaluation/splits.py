"""Random splits into calibration and test examples that follow names, not rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plausibly.calibration.alphas import exact
from plausibly.calibration.data import group_names
from plausibly.calibration.pvalues import keyed_share
from plausibly.data.names import several
from plausibly.errors import InputError, counted, listed
from plausibly.kernels.random import Keys, hash_names
from plausibly.kernels.types import Bools, Hashes, Ints

_SEED_BITS = 53  # a uniform carries this many

Values = NDArray[np.generic]
"""A coordinate of the examples: groups, or strata."""


def is_whole(value: object, *, minimum: int = 1) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return int(value) >= minimum


def out_of_range(argument: str, value: object, *, expected: str, hint: str) -> InputError:
    """Return the error ``option-range``: an argument has a value that means nothing."""
    what = f"{argument} is out of range"
    return InputError(
        "option-range", what, expected=expected, found=str(value), hint=hint, source=argument
    )


def check_count(argument: str, value: object, *, usual: int, minimum: int = 1) -> None:
    """Raise ``option-range`` unless the value is a whole number from the minimum on."""
    if not is_whole(value, minimum=minimum):
        expected, hint = f"a whole number from {minimum} on", f"{argument}={usual}"
        raise out_of_range(argument, repr(value), expected=expected, hint=hint)


def read_numbers(argument: str, value: int | Sequence[int]) -> tuple[int, ...]:
    """Return one number or several, each once."""
    numbers = np.asarray(value, dtype=object).ravel().tolist()
    wrong = listed(repr(entry) for entry in numbers if not is_whole(entry))
    if not wrong and len(set(numbers)) < len(numbers):
        wrong = f"{listed(sorted({n for n in numbers if numbers.count(n) > 1}))} more than once"
    if wrong or not numbers:
        expected, hint = "whole numbers from 1 on, each once", f"{argument}=[20, 50]"
        raise out_of_range(argument, wrong or "none", expected=expected, hint=hint)
    return tuple(map(int, numbers))


def check_resamples(value: object) -> int:
    """Return the number of resamples, or raise ``option-range``."""
    if not isinstance(value, int | np.integer) or not is_whole(value, minimum=0) or value == 1:
        expected, hint = "2 or more, or 0 for none", "resamples=200"
        raise out_of_range("resamples", repr(value), expected=expected, hint=hint)
    return int(value)


def check_share(argument: str, value: object, usual: float, most: Fraction = Fraction(1)) -> float:
    """Return a number between 0 and `most`, or raise ``option-range``."""
    number = exact(value)
    if number is None or not 0 < number < most:
        expected, hint = f"0 < {argument} < {float(most):g}", f"{argument}={usual:g}"
        raise out_of_range(argument, value, expected=expected, hint=hint)
    return float(number)


def check_option(what: str, value: str, known: Iterable[str], hint: str) -> None:
    """Raise ``option-unknown`` unless a value is one of those that are known."""
    names = list(known)
    if value not in names:
        expected = f"one of {', '.join(names)}"
        raise InputError("option-unknown", f'no {what} "{value}"', expected=expected, hint=hint)


def check_strata(groups: Values, strata: Values, *, cluster: str, stratify: str) -> None:
    """Raise ``stratify-cluster`` where a cluster lies in several strata."""
    pairs = np.unique(np.stack([group_names(groups), group_names(strata)], axis=1), axis=0)
    distinct, strewn = np.unique(pairs[:, 0], return_counts=True)
    if (strewn > 1).any():
        mixed = distinct[strewn > 1]
        raise InputError(
            "stratify-cluster",
            f'{counted(len(mixed))} of {counted(len(distinct))} values of "{cluster}" lie in '
            f'several strata of "{stratify}"',
            expected="groups that stay whole, each in one stratum",
            found=f"several for {listed(mixed)}",
            hint=f'stratify by a coordinate that "{cluster}" determines, or leave out one of both',
        )


def split(
    hashes: Hashes,
    keys: Keys,
    *,
    test: float = 0.5,
    groups: Values | None = None,
    strata: Values | None = None,
) -> Bools:
    """Return which examples are test examples; the others calibrate."""
    check_share("test", test, 0.5)
    share = exact(test) or Fraction(0)
    own = keys.child("test")
    if strata is None:
        chosen = keyed_share(share, hashes, own, groups)
    else:
        units, member = units_of(hashes, groups)
        of_unit = np.empty(len(units), dtype=strata.dtype)
        of_unit[member] = strata
        # The exact share of each stratum, but for one example.
        distinct, codes = np.unique(of_unit, return_inverse=True)
        quotas = [share * int(size) for size in np.bincount(codes)]
        numbers = np.array([math.floor(quota) for quota in quotas])
        remainders = [quota % 1 for quota in quotas]
        total = sum(remainders, Fraction(0))
        if total >= 1:
            # Each stratum gives one example more about as often as its remainder says.
            before = Fraction(float(own.child("start").uniform(hash_names(["start"]))[0, 0]))
            uniform = own.child("strata").uniform(hash_names(distinct))[:, 0]
            for stratum in np.argsort(uniform, kind="stable").tolist():
                after = before + remainders[stratum] * math.floor(total) / total
                numbers[stratum] += math.floor(after) - math.floor(before)
                before = after
        places = _places(np.lexsort((units, own.uniform(units)[:, 0])), codes)
        chosen = (places < numbers[codes])[member]
    if not 0 < chosen.sum() < len(hashes):
        raise InputError(
            "split-empty",
            f"a test share of {test} leaves one side of a split without examples",
            expected="an example, or a whole cluster, on each side",
            found=f"{counted(chosen.sum())} of {several(len(hashes), 'example')} to test",
            hint="another test share, more examples, or splits without a cluster",
        )
    return chosen


def units_of(hashes: Hashes, groups: Values | None) -> tuple[Hashes, NDArray[np.intp]]:
    """Return hashes of the names of what is drawn, examples or groups, and that of each example."""
    if groups is None:
        return hashes, np.arange(len(hashes))
    distinct, member = np.unique(group_names(groups), return_inverse=True)
    return hash_names(distinct), member


def _places(order: Ints, codes: Ints) -> Ints:
    """Return the place of each example among those of its stratum, in this order."""
    place = np.empty(len(order), dtype=np.int64)
    for code in np.unique(codes):
        rows = order[codes[order] == code]
        place[rows] = np.arange(len(rows))
    return place


def nested(
    hashes: Hashes,
    keys: Keys,
    sizes: Sequence[int],
    *,
    groups: Values | None = None,
    strata: Values | None = None,
) -> list[Bools]:
    """Return subsets of the examples, of which a smaller one is always part of a larger one."""
    if strata is None:
        return [keyed_share(Fraction(size, len(hashes)), hashes, keys, groups) for size in sizes]
    units, member = units_of(hashes, groups)
    uniform = keys.uniform(units)[:, 0]
    order = np.lexsort((units, uniform))
    of_unit = np.empty(len(units), dtype=np.int64)
    of_unit[member] = np.unique(strata, return_inverse=True)[1]
    middle = (_places(order, of_unit) + 0.5) / np.bincount(of_unit)[of_unit]
    order = np.lexsort((units, uniform, middle))
    return [np.isin(member, order[: size * len(units) // len(hashes)]) for size in sizes]


def split_keys(seed: int, number: int) -> Keys:
    return Keys(seed).child(f"split-{number}")


def split_seed(seed: int, number: int) -> int:
    """Return the seed of all that is drawn inside split `number`, so that splits differ in it."""
    uniform = split_keys(seed, number).uniform(hash_names(["seed"]))[0, 0]
    return int(uniform * 2**_SEED_BITS)
