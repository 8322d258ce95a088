"""Random splits into calibration and test examples that follow names, not rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plausibly.arrays import Bools, Hashes
from plausibly.conformal.alphas import exact
from plausibly.conformal.calibrate import held_out_rows
from plausibly.errors import InputError, counted
from plausibly.keys import Keys, hash_names
from plausibly.labelled.text import several

_SEED_BITS = 53  # a uniform carries this many


def check_share(test: object) -> None:
    """Raise `InputError` ``test-share`` unless it is a number between 0 and 1."""
    share = exact(test)
    if share is None or not 0 < share < 1:
        raise InputError(
            "test-share",
            f"test {test!r} is not a share of the examples",
            expected="0 < test < 1",
            got=repr(test),
            do="test=0.5 for halves",
        )


def split(
    hashes: Hashes, keys: Keys, *, test: float = 0.5, groups: NDArray[np.generic] | None = None
) -> Bools:
    """Return which examples are test examples; the others calibrate.

    Parameters
    ----------
    hashes : ndarray of uint64, (example,)
        From `plausibly.keys.hash_names`.
    keys : Keys
        One stream a split: split i of a study is the same, however many splits it has.
    test : float
        Share of the examples, read as the decimal that was typed: ``floor(test n)`` of them, those
        with the smallest keys.
    groups : ndarray, (example,), optional
        Whole groups, in the order of their keys, as long as their examples fit into that number:
        so the share is one of examples, not of groups, and is reached but for one group.

    Returns
    -------
    ndarray of bool, (example,)

    Raises
    ------
    InputError
        ``test-share``; ``split-empty`` where one side would have no example.
    """
    check_share(test)
    named = None if groups is None else groups.astype(np.str_)
    rows = held_out_rows(test, hashes, keys.child("test"), named)
    chosen = np.zeros(len(hashes), dtype=np.bool_)
    chosen[rows] = True
    if not 0 < rows.size < len(hashes):
        whole = "" if groups is None else f" in {several(len(np.unique(groups)), 'group')}"
        raise InputError(
            "split-empty",
            f"a test share of {test} leaves one side of a split without examples",
            expected="an example, or a whole group, on each side",
            got=f"{several(len(hashes), 'example')}{whole}, {counted(rows.size)} to test",
            do="another test share, more examples, or splits without a group",
        )
    return chosen


def split_keys(seed: int, number: int) -> Keys:
    """Return the stream of split `number` of a study."""
    return Keys(seed).child(f"split-{number}")


def split_seed(seed: int, number: int) -> int:
    """Return the seed of whatever is drawn inside split `number`, so that splits differ in it."""
    uniform = split_keys(seed, number).uniform(hash_names(["seed"]))[0, 0]
    return int(uniform * 2**_SEED_BITS)
