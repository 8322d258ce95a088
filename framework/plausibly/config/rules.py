"""Rules for values of a study file, as the validators of its classes."""

from __future__ import annotations

from typing import TypeAlias

import attrs

Counts: TypeAlias = tuple[int, ...] | None


def counts(_: object, field: attrs.Attribute[Counts], value: Counts) -> None:
    """Raise `ValueError` unless they are different numbers from 1 on, or were left out."""
    if value is None:
        return
    if not value:
        raise ValueError("expected one number or more, got none")
    for number in value:
        if number < 1:
            raise ValueError(f"must be >= 1, got {number}")
        if value.count(number) > 1:
            raise ValueError(f"expected each number once, got {number} {value.count(number)} times")
