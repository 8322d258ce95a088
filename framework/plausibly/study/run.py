"""The study itself: calibrations compared on random splits, and what the first of them gives."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import attrs
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from plausibly.config.study import without_plugins
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.components import called
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.left_out import with_left_out
from plausibly.errors import PlausiblyWarning
from plausibly.evaluation.checkpoint import Checkpoint
from plausibly.evaluation.design import MethodTable, as_asked
from plausibly.evaluation.inputs import example_values
from plausibly.evaluation.shift import warn_of_copies
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.evaluation.study import Progress, compare
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools
from plausibly.protocols import AGGREGATOR
from plausibly.study.assumptions import grouped_by, warn_of_groups
from plausibly.study.prepare import Prepared, StudyLike, prepare
from plausibly.study.weakness import GroupCoverage, coverage_by_group

FIRST = 0
"""The split whose test examples get prediction sets in a file."""


@attrs.frozen(kw_only=True, eq=False)
class StudyResult:
    """A study that has run.

    Attributes
    ----------
    prepared : Prepared
        What it ran on.
    compared : Dataset
        From `plausibly.compare`: (method, split, alpha[, draws][, size]).
    sets : DataArray of bool, (example, label[, alpha])
        Of the test examples of the first split, by the first calibration with its own number of
        draws, on the whole calibration side.
    predictor : ConformalPredictor
        The first calibration, on all examples.
    groups : sequence of GroupCoverage
        Coverage of `sets` in the groups of the examples, the weakest first.
    """

    prepared: Prepared
    compared: xr.Dataset
    sets: xr.DataArray
    predictor: ConformalPredictor
    groups: Sequence[GroupCoverage]

    @property
    def first(self) -> str:
        """Name of the first calibration."""
        return self.prepared.study.calibrations[0].name


def run_study(
    source: Prepared | StudyLike,
    *,
    processes: int = 1,
    checkpoint: str | Path | Checkpoint | None = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Run a study.

    Parameters
    ----------
    source : Prepared, Study, mapping, Path or str
        What `prepare` gave, or takes.
    processes, checkpoint
        As in `plausibly.compare`: they change no result.
    progress : callable, optional
        Called with the number of finished splits, and of all.

    Returns
    -------
    StudyResult
        Nothing is written: see `write_study`. The order of rows in the files has no part in it.

    Raises
    ------
    InputError
        Those of `prepare`; ``split-empty`` and what the components say.

    Warns
    -----
    PlausiblyWarning
        ``group-on-both-sides``, ``group-repeats``, ``examples-alike``, and what
        `plausibly.compare` warns of.

    Examples
    --------
    >>> from plausibly.study import run_study, write_study
    >>> result = run_study("study.toml")  # doctest: +SKIP
    >>> write_study(result)  # doctest: +SKIP
    """
    ready = source if isinstance(source, Prepared) else prepare(source)
    study = ready.study
    with without_plugins(study.plugins.disable):
        compared = compare(
            ready.predictions,
            ready.plausibilities,
            methods(ready),
            alphas=study.alphas,
            splits=study.splits.count,
            test=study.splits.test,
            group=study.splits.group,
            stratify=study.splits.stratify,
            draws=study.splits.draws,
            sizes=study.splits.sizes,
            seed=study.seed,
            ties=study.evaluation.ties,
            true=study.evaluation.true,
            processes=processes,
            checkpoint=checkpoint,
            progress=progress,
        )
        test = _first_test(ready)
        warn_of_groups(
            ready.predictions, test, study.splits.group, grouped=_grouped(ready, study.splits.group)
        )
        warn_of_copies(_one_row(ready.predictions), _groups(ready), stacklevel=3)
        sets = _first_sets(ready, test)
        return StudyResult(
            prepared=ready,
            compared=with_left_out(compared, ready.left_out),
            sets=sets,
            predictor=first_predictor(ready),
            groups=coverage_by_group(
                sets,
                ready.plausibilities.isel({names.EXAMPLE: test}),
                study.evaluation.by or (),
                cluster=study.splits.group,
            ),
        )


def methods(ready: Prepared) -> dict[str, MethodTable]:
    """Return the calibrations as `plausibly.compare` takes them, with every parameter."""
    tables = cast("list[dict[str, object]]", ready.tables()["calibrations"])
    return {str(table.pop("name")): table for table in tables}


def _grouped(ready: Prepared, group: str | None) -> bool:
    """Return whether every calibration is for examples of new groups."""
    return group is not None and all(
        grouped_by(table["calibrator"], group) for table in methods(ready).values()
    )


def _one_row(predictions: xr.DataArray) -> xr.DataArray:
    """Return one row an example: the first of its augmentations, which copies share too."""
    if names.AUGMENTATION not in predictions.dims:
        return predictions
    return predictions.isel({names.AUGMENTATION: 0}, drop=True)


def _groups(ready: Prepared) -> NDArray[np.generic] | None:
    """Return by which values examples are split, (example,)."""
    group = ready.study.splits.group
    return None if group is None else example_values(group, [ready.predictions])


def _first_test(ready: Prepared) -> Bools:
    """Return which examples are test examples of the first split."""
    study = ready.study
    groups, strata = (
        None if name is None else example_values(name, [ready.predictions])
        for name in (study.splits.group, study.splits.stratify)
    )
    hashes = hash_names(ready.predictions[names.EXAMPLE].values)
    keys = split_keys(study.seed, FIRST)
    return split(hashes, keys, test=study.splits.test, groups=groups, strata=strata)


def _first_sets(ready: Prepared, test: Bools) -> xr.DataArray:
    """Return the sets of the test examples of the first split, and what they are."""
    study = ready.study
    alphas = list(study.alphas)
    with warnings.catch_warnings():
        # The study has warned of the same calibration.
        warnings.simplefilter("ignore", PlausiblyWarning)
        predictor = _calibrated(ready, ~test, seed=split_seed(study.seed, FIRST))
        new = as_asked(
            predictor,
            ready.predictions.isel({names.EXAMPLE: test}),
            split_keys(study.seed, FIRST),
        )
        sets = predictor.predict(new, alphas if len(alphas) > 1 else alphas[0])
    about = {
        "calibration": study.calibrations[0].name,
        "examples_are": f"the test examples of split {FIRST} of a study of {study.splits.count}",
    }
    return sets.assign_attrs(about)


def _calibrated(ready: Prepared, which: Bools, *, seed: int) -> ConformalPredictor:
    """Return the first calibration, on some of the examples."""
    first = ready.study.calibrations[0]
    return calibrate(
        ready.predictions.isel({names.EXAMPLE: which}),
        ready.plausibilities.isel({names.EXAMPLE: which}),
        calibrator=first.calibrator,
        score=first.score,
        combiner=first.combiner,
        allow_no_guarantee=first.allow_no_guarantee,
        seed=seed,
        group=ready.study.splits.group,
    )


def first_predictor(ready: Prepared) -> ConformalPredictor:
    """Return the first calibration, on all examples, with the name of the aggregator.

    Parameters
    ----------
    ready : Prepared
    """
    everything = np.ones(ready.predictions.sizes[names.EXAMPLE], dtype=np.bool_)
    predictor = _calibrated(ready, everything, seed=ready.study.seed)
    if ready.study.aggregator is None:
        return predictor
    name = called(AGGREGATOR, ready.study.aggregator)
    return attrs.evolve(predictor, facts=attrs.evolve(predictor.facts, aggregator=name))
