"""What a report is about: sets of several methods for the same examples, and what experts say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import xarray as xr

from plausibly.conformal.predictor import ConformalPredictor
from plausibly.guarantee import Guarantee
from plausibly.kernels.coverage import Ties
from plausibly.kernels.types import Floats
from plausibly.report.facts import Check
from plausibly.report.model import Words


@attrs.frozen(kw_only=True, eq=False)
class Tested:
    """A predictor and the examples that it never saw.

    Attributes
    ----------
    predictor : ConformalPredictor
    predictions : DataArray, ([augmentation,] example, label)
        As the predictor reads them.
    """

    predictor: ConformalPredictor
    predictions: xr.DataArray


@attrs.frozen(kw_only=True, eq=False)
class MethodSets:
    """The sets of one method, for every example.

    Attributes
    ----------
    name, about : str
    reference : bool
        Whether it was added for comparison.
    tested : sequence of Tested
        One predictor for all examples, or one for each half of them.
    sets : DataArray of bool, (example, label, alpha)
        With the attributes of a prediction set: guarantees, fingerprint, overlap.
    p, scores : ndarray of float, (example, label)
        In the order of `Subject.predictions`.
    score : str
        What the score function is called.
    promises : sequence of Guarantee
        One an alpha: where two predictors promise, what both do.
    """

    name: str
    about: str
    reference: bool
    tested: Sequence[Tested]
    sets: xr.DataArray
    p: Floats
    scores: Floats
    score: str
    promises: Sequence[Guarantee]


@attrs.frozen(kw_only=True, eq=False)
class Subject:
    """All that the figures of a report are made of.

    Attributes
    ----------
    predictions : DataArray, (example, label)
        Examples in the order of their names, with their coordinates; means over augmentations.
    plausibilities : DataArray, (example, label)
        Of the same examples and labels, in the same order; means over draws.
    annotations : Dataset or None
        The annotation table, perhaps with other examples too.
    risk : mapping of str to object
        Level of risk by label; empty where none is known.
    methods : sequence of MethodSets
    alphas : sequence of str
        As they were typed.
    by : sequence of str
        Coordinates whose groups are compared.
    cluster, true : str or None
        Coordinates: of examples that belong together, and of known labels.
    ties : str
    seed : int
    how : str
        How the sets were made, in words.
    compared : Dataset or None
        What repeated splits covered, from `plausibly.compare`.
    checks : sequence of Check
        What was found out about the examples while the sets were made.
    words : Words
    title : str
    command, study : str
        See `Provenance`.
    facts : sequence of (title, text)
        What is told of the data, in `Provenance.rows`.
    text, thumbnail : sequence of str, or None
        One an example.
    annotator_names : bool
        Whether annotators appear under their own names.
    """

    predictions: xr.DataArray
    plausibilities: xr.DataArray
    annotations: xr.Dataset | None
    risk: Mapping[str, object]
    methods: Sequence[MethodSets]
    alphas: Sequence[str]
    by: Sequence[str]
    cluster: str | None
    true: str | None
    ties: Ties
    seed: int
    how: str
    compared: xr.Dataset | None = None
    checks: Sequence[Check] = ()
    words: Words = attrs.field(factory=Words)
    title: str
    command: str
    study: str
    facts: Sequence[tuple[str, str]] = ()
    text: Sequence[str] | None = None
    thumbnail: Sequence[str] | None = None
    annotator_names: bool = False

    @property
    def n(self) -> int:
        """Number of examples."""
        return int(np.prod(self.predictions.shape[:1]))
