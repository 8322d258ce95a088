"""A study that runs: calibrations compared on random splits, and the files of results."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import attrs
import numpy as np
import xarray as xr

from plausibly.atomic import check_ours, check_writable, holds, make_folder, together, unwritable
from plausibly.config.document import toml_text
from plausibly.config.load import resolved
from plausibly.config.settings import with_paths, without_plugins
from plausibly.conformal.calibrate import calibrate
from plausibly.conformal.files import is_predictor
from plausibly.conformal.predictor import ConformalPredictor
from plausibly.data import names
from plausibly.data.names import several
from plausibly.data.states import with_left_out
from plausibly.errors import InputError, PlausiblyWarning, counted, warn
from plausibly.evaluation.checkpoint import Checkpoint
from plausibly.evaluation.design import MethodTable, as_asked
from plausibly.evaluation.groups import ByCoordinate, coverage_by
from plausibly.evaluation.inputs import codes_of, example_values
from plausibly.evaluation.shift import warn_of_copies
from plausibly.evaluation.splits import Values, split, split_keys, split_seed
from plausibly.evaluation.study import (
    Study as ComparedStudy,
    compare,
    designed,
    is_study,
)
from plausibly.io import write_sets
from plausibly.io.sets import check_output as check_sets
from plausibly.kernels.random import hash_names
from plausibly.kernels.types import Bools
from plausibly.progress import Progress
from plausibly.protocols import AGGREGATOR
from plausibly.registry import called
from plausibly.study.prepare import Groups, Prepared, StudyLike, groups_of, owners, plural, prepare
from plausibly.study.reading import remembering


def assumptions(predictions: xr.DataArray, cluster: str | None) -> list[str]:
    """Return in words what holds of the examples, and what their files cannot show."""
    sides = [] if cluster is None else [f"no {cluster} on both sides"]
    belonging = owners(predictions) if cluster is None else [groups_of(predictions, cluster)]
    repeats = [
        f"{counted(owner.several)} of {counted(owner.groups)} {plural(owner.name)} "
        f"{'has' if owner.several == 1 else 'have'} several"
        for owner in belonging
    ]
    trained = "that the model was trained on none of them"
    unknown = f"not checked: that examples are exchangeable, and {trained}"
    return ["no example twice", *sides, *repeats, unknown]


def clustered_by(calibrator: object, cluster: str) -> bool:
    """Return whether a calibrator, as a table, is for examples of new values of `cluster`."""
    if not isinstance(calibrator, Mapping):
        return False
    if calibrator.get("name") == "clustered" and calibrator.get("by") == cluster:
        return True
    return clustered_by(calibrator.get("inner"), cluster)


def warn_of_groups(
    predictions: xr.DataArray, test: Bools, cluster: str | None, *, grouped: bool = False
) -> None:
    """Warn where examples that may be alike stand on both sides of a split, or on one side."""
    if cluster is not None:
        clusters = groups_of(predictions, cluster)
        if clusters.several and not grouped:
            of = f"{counted(clusters.groups)} {plural(clusters.name)}"
            warn(
                "cluster-repeats",
                f"there are {several(clusters.examples, 'example')} of {of}",
                expected=f"exchangeable examples; those of one {cluster} may be alike",
                found=f"{counted(clusters.several)} with several examples",
                hint=f'calibrator = {{ name = "clustered", by = "{cluster}" }}; or compare with '
                f'[examples] one_per = "{cluster}" and another -o; report both',
                source=cluster,
            )
        return
    for owner, both, shared in on_both_sides(predictions, test):
        warn(
            "cluster-on-both-sides",
            f"{counted(both)} {plural(owner.name)} are in calibration and in test",
            expected=f"each {owner.name} on one side",
            found=f"{counted(shared)} of {several(owner.examples, 'example')} shared",
            hint=f'[examples] cluster = "{owner.name}"',
            source=owner.name,
        )
        return


def on_both_sides(predictions: xr.DataArray, test: Bools) -> Iterator[tuple[Groups, int, int]]:
    """Yield what examples belong to, how many of it a split parts, and the examples of these."""
    for owner in owners(predictions):
        codes = codes_of(example_values(owner.name, [predictions]))[1]
        both = np.intersect1d(codes[test], codes[~test])
        if both.size:
            yield owner, both.size, int(np.isin(codes, both).sum())


RESULTS = "results.nc"
SETS = "sets.csv"
PREDICTOR = "predictor.nc"
RESOLVED = "resolved.toml"
_NAMES = (RESULTS, SETS, PREDICTOR, RESOLVED)

_HEAD = "# A study with everything filled in: it gives the same results again.\n\n"


def write_study(result: StudyResult) -> list[Path]:
    """Write the results of a study, all of them or none."""
    folder = result.prepared.study.output.folder
    text = resolved_text(result.prepared, folder)
    targets = targets_of(result.prepared)
    make_folder(folder)
    try:
        with together(folder) as part:
            ComparedStudy(result.compared).save(part / RESULTS)
            write_sets(result.sets, part / SETS)
            result.predictor.save(part / PREDICTOR)
            (part / RESOLVED).write_text(text, encoding="utf-8", newline="\n")
    except OSError as reason:
        raise unwritable(folder, reason) from reason
    return targets


def targets_of(prepared: Prepared) -> list[Path]:
    """Return the files that a study will write; none of them may be read, or be another's."""
    study = prepared.study
    results, sets, predictor, described = (study.output.folder / name for name in _NAMES)
    targets = [results, sets, sets.with_suffix(".json"), predictor, described]
    read: set[str] = set()

    def note(path: Path) -> Path:
        read.add(os.path.realpath(path))
        return path

    parts = (study.annotations, study.plausibilities, study.predictions, study.examples)
    with_paths((*parts, study.labels, study.methods), note)
    # A resolved study may be run again, and writes itself.
    for target in targets:
        if os.path.realpath(target) in read:
            raise InputError(
                "output-is-input",
                f"{target} would overwrite what {prepared.name} reads",
                expected="another folder",
                found=str(target.parent),
                hint="-o elsewhere, or another [output] folder",
                source=str(target),
            )
    check_writable(results, below=True)
    check_ours(results, is_study, "older results")
    check_sets(sets)
    check_ours(predictor, is_predictor, "an older predictor")
    check_ours(described, lambda path: holds(path, _HEAD.encode()), "an older resolved study")
    return targets


def resolved_text(prepared: Prepared, folder: Path) -> str:
    """Return the study with everything filled in, as a file that lies in `folder`."""
    study = prepared.study
    base = os.path.realpath(folder)

    def seen_from_there(path: Path) -> Path:
        if path == study.output.folder:
            return Path()
        # What a link of this name points to is not what the user named.
        there = Path(os.path.realpath(path.parent), path.name)
        try:
            return Path(os.path.relpath(there, base))
        except ValueError:  # on another drive
            return there

    with without_plugins(study.plugins.disable):
        tables = resolved(study, seen_from_there)
    return _HEAD + toml_text(tables)


FIRST = 0
"""The split whose test examples get prediction sets in a file."""


@attrs.frozen(kw_only=True, eq=False)
class StudyResult:
    prepared: Prepared
    compared: xr.Dataset
    sets: xr.DataArray
    predictor: ConformalPredictor
    groups: xr.Dataset | None

    @property
    def first(self) -> str:
        return self.prepared.study.methods[0].name


def run_study(
    source: Prepared | StudyLike,
    *,
    processes: int = 1,
    checkpoint: str | Path | Checkpoint | None = None,
    progress: Progress | None = None,
) -> StudyResult:
    ready = source if isinstance(source, Prepared) else prepare(source)
    study, model = ready.study, ready.predictions
    splits, cluster = study.splits, study.examples.cluster
    with without_plugins(study.plugins.disable):
        compared = compare(
            **_design(ready),
            splits=splits.count,
            processes=processes,
            checkpoint=checkpoint,
            progress=progress,
        )
        test, groups = first_split(model, study.seed, splits.test, cluster, splits.stratify)
        grouped = cluster is not None and all(
            clustered_by(table["calibrator"], cluster) for table in methods(ready).values()
        )
        warn_of_groups(model, test, cluster, grouped=grouped)
        warn_of_copies(model, groups)
        sets, columns = _first_sets(ready, test), study.evaluation.columns
        return StudyResult(
            prepared=ready,
            compared=with_left_out(compared.data, ready.left_out),
            sets=sets,
            predictor=first_predictor(ready),
            groups=coverage_by(
                sets,
                ready.plausibilities.isel({names.EXAMPLE: test}),
                by=ByCoordinate(*columns, crossed=1, at_least=1),
                cluster=cluster,
            )
            if columns
            else None,
        )


def first_split(
    model: xr.DataArray, seed: int, test: float, cluster: str | None, stratify: str | None
) -> tuple[Bools, Values | None]:
    """Return the test examples of the first split of a study, and the clusters of all examples."""
    groups, strata = (
        None if name is None else example_values(name, [model]) for name in (cluster, stratify)
    )
    hashes = hash_names(model[names.EXAMPLE].values)
    keys = split_keys(seed, FIRST)
    return split(hashes, keys, test=test, groups=groups, strata=strata), groups


def _design(ready: Prepared) -> dict[str, Any]:  # Any: each argument has its own type
    """Return the arguments of `compare` that decide on what each split gives."""
    study, splits = ready.study, ready.study.splits
    return {
        "predictions": ready.predictions,
        "plausibilities": ready.plausibilities,
        "methods": methods(ready),
        "alphas": study.alphas,
        "test": splits.test,
        "cluster": study.examples.cluster,
        "stratify": splits.stratify,
        "draws": splits.draws,
        "sizes": splits.sizes,
        "seed": study.seed,
        "ties": study.evaluation.ties,
        "true_label": study.evaluation.true_label,
    }


def kept_splits(ready: Prepared, checkpoint: Checkpoint) -> int:
    """Return how many splits of a study are finished, or raise where these are of another."""
    with without_plugins(ready.study.plugins.disable):
        return len(checkpoint.open(designed(**_design(ready)), ready.study.splits.count))


def methods(ready: Prepared) -> dict[str, MethodTable]:
    """Return the calibrations as `plausibly.compare` takes them, with every parameter."""
    tables = cast("list[dict[str, object]]", ready.tables()["methods"])
    return {str(table.pop("name")): table for table in tables}


def _first_sets(ready: Prepared, test: Bools) -> xr.DataArray:
    """Return the sets of the test examples of the first split, and what they are."""
    study = ready.study
    alphas = list(study.alphas)
    keys = split_keys(study.seed, FIRST)
    with warnings.catch_warnings():
        # The study has warned of the same calibration.
        warnings.simplefilter("ignore", PlausiblyWarning)
        predictor = _calibrated(ready, ~test, seed=split_seed(study.seed, FIRST))
        new = as_asked(predictor, ready.predictions.isel({names.EXAMPLE: test}), keys)
        sets = predictor.predict(new, alphas if len(alphas) > 1 else alphas[0])
    about = {
        "calibration": study.methods[0].name,
        "examples_are": f"the test examples of split {FIRST} of a study of {study.splits.count}",
    }
    return sets.assign_attrs(about)


def _calibrated(ready: Prepared, which: Bools | slice, *, seed: int) -> ConformalPredictor:
    return calibrate(
        ready.predictions.isel({names.EXAMPLE: which}),
        ready.plausibilities.isel({names.EXAMPLE: which}),
        **ready.study.methods[0].arguments(),
        seed=seed,
        cluster=ready.study.examples.cluster,
    )


def first_predictor(ready: Prepared) -> ConformalPredictor:
    """Return the first calibration, on all examples, with the name of the aggregator."""
    predictor = _calibrated(ready, slice(None), seed=ready.study.seed)
    aggregator = ready.study.annotations.aggregator
    name = None if aggregator is None else called(AGGREGATOR, aggregator)
    return remembering(predictor, ready.study, name)
