"""Predictions of models beside the answers of an export: labels with scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs
import xarray as xr

from plausibly.plugin import InputError
from plausibly.plugin.readers import NamedPrediction, from_named
from plausibly_builtins.readers import base

Scores: TypeAlias = tuple[Iterable[NamedPrediction], Iterable[str], Sequence[str]]
"""Predictions, the names of all examples, and labels that the file offers."""


@attrs.frozen(kw_only=True)
class Scored:
    """Base of a format that holds predictions too."""

    def scored(self, path: Path) -> Scores:
        """Return the predictions that a file holds."""
        raise NotImplementedError(type(self).__name__)

    def predictions(self, path: Path, labels: base.Labels, model: str | None) -> xr.DataArray:
        """Return the predictions in the file or folder, of one of its models."""
        with base.about(path.name):
            named, examples, offered = self.scored(path)
            declared = labels or offered or None
            return from_named(named, declared, source=path.name, model=model, examples=examples)


def predictions_ranked(noun: str) -> InputError:
    what, hint = f": {noun} are rankings", "choose another one, with answers that are labels"
    return base.refused("predictions-ranked", what, "labels with scores", "labels in order", hint)
