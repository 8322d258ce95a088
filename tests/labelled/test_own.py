"""Shares of plain votes need no second look, and are the caller's in the end."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest
import xarray as xr

import plausibly
from plausibly.data import own, validate
from plausibly.errors import ComponentError, InputError
from plausibly.plugin import Keys, Rows, answered_rows

VOTES = [("a", "x", "k"), ("a", "y", "l"), ("b", "x", "k"), ("b", "y", "k")]


@attrs.frozen
class Shared:
    """Shares of votes, and what a test makes of them."""

    accepts: ClassVar[frozenset[str]] = frozenset({"single-label"})
    extra: float = 0.0
    unlike: bool = False
    there: bool = False

    def aggregate(self, annotations: xr.Dataset, keys: Keys) -> xr.DataArray:
        """Return shares, changed."""
        rows = answered_rows(annotations, self.accepts)
        total = rows.votes * 2 if self.unlike else rows.votes
        lam = rows.shares(rows.weight, total, denominator=total.astype(np.int64))
        if self.there:
            lam.values[0, 0] += self.extra
            return lam
        return lam if not self.extra else lam + self.extra


def table() -> xr.Dataset:
    return plausibly.build_annotations("single-label", VOTES)


def test_they_are_not_looked_at_again_and_can_be_changed_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: object) -> tuple[bool, bool]:
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(validate, "sound", never)
        lam = plausibly.aggregate(table(), "label-frequency")
    assert lam.values.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert lam["denominator"].values.tolist() == [2, 2]
    lam.values[0, 0] = 3.0
    assert not own.is_sound(lam.values, lam["denominator"].values)
    with pytest.raises(InputError, match="sum"):
        plausibly.calibrate(lam.rename("p").drop_vars("denominator"), lam)


@pytest.mark.parametrize("component", [Shared(extra=0.1), Shared(unlike=True)])
def test_what_is_made_of_them_is_looked_at(component: Shared) -> None:
    with pytest.raises(ComponentError, match="sum") as caught:
        plausibly.aggregate(table(), component)
    assert caught.value.name == "component-failed"


def test_a_component_works_on_a_copy() -> None:
    with pytest.raises(ValueError, match="read-only"):
        plausibly.aggregate(table(), Shared(extra=0.1, there=True))


def test_whoever_asks_a_component_has_the_array() -> None:
    rows = Rows.of(table())
    lam = rows.shares(rows.weight, rows.votes, denominator=rows.votes.astype(np.int64))
    assert lam.values.flags.writeable
    assert not own.is_sound(lam.values, lam["denominator"].values)
