"""The files of a study: all of them are written, or none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from plausibly.atomic import check_ours, holds, together
from plausibly.config.document import toml_text
from plausibly.config.resolved import resolved, without_unset
from plausibly.config.study import with_paths, without_plugins
from plausibly.conformal.files import is_predictor
from plausibly.errors import InputError
from plausibly.evaluation.results import is_study, save_study
from plausibly.io import write_sets
from plausibly.io.sets import check_output as check_sets
from plausibly.study.prepare import Prepared
from plausibly.study.run import StudyResult

RESULTS = "results.nc"
SETS = "sets.csv"
PREDICTOR = "predictor.nc"
RESOLVED = "resolved.toml"

_HEAD = "# A study with everything filled in: it gives the same results again.\n\n"


def write_study(result: StudyResult) -> list[Path]:
    """Write what a study gave into its output folder.

    Parameters
    ----------
    result : StudyResult
        From `run_study`.

    Returns
    -------
    list of Path
        ``results.nc`` (what the calibrations covered, see `plausibly.load_study`), ``sets.csv`` and
        ``sets.json`` (sets of the test examples of the first split, by the first calibration),
        ``predictor.nc`` (the first calibration on all examples) and ``resolved.toml`` (the study
        with everything filled in, which gives the same results again).

    Raises
    ------
    InputError
        ``output-unwritable``, ``output-is-input`` or ``output-occupied``: then every file is as it
        was.
    """
    folder = result.prepared.study.output.folder
    text = resolved_text(result.prepared, folder)
    targets = targets_of(result.prepared)
    with _together(folder) as part:
        save_study(result.compared, part / RESULTS)
        write_sets(result.sets, part / SETS)
        result.predictor.save(part / PREDICTOR)
        (part / RESOLVED).write_text(text, encoding="utf-8", newline="\n")
    return targets


def targets_of(prepared: Prepared) -> list[Path]:
    """Return the files that a study will write.

    Parameters
    ----------
    prepared : Prepared

    Raises
    ------
    InputError
        ``output-is-input`` or ``output-occupied``.
    """
    folder = prepared.study.output.folder
    names = [RESULTS, SETS, Path(SETS).with_suffix(".json").name, PREDICTOR, RESOLVED]
    targets = [folder / name for name in names]
    text = resolved_text(prepared, folder)
    _check_output(prepared, targets, text)
    check_ours(folder / RESULTS, is_study, "older results")
    check_sets(folder / SETS)
    check_ours(folder / PREDICTOR, is_predictor, "an older predictor")
    check_ours(
        folder / RESOLVED, lambda path: holds(path, _HEAD.encode()), "an older resolved study"
    )
    return targets


def resolved_text(prepared: Prepared, folder: Path) -> str:
    """Return the study with everything filled in, as a file that lies in `folder`.

    Parameters
    ----------
    prepared : Prepared
    folder : Path
        Where relative paths start.
    """
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
    return _HEAD + toml_text(without_unset(tables))


def _check_output(prepared: Prepared, targets: list[Path], text: str) -> None:
    """Raise ``output-is-input`` where a file to be written is one that was read."""
    read: dict[str, Path] = {}

    def note(path: Path) -> Path:
        read[os.path.realpath(path)] = path
        return path

    with_paths(prepared.study, note)
    file = prepared.file
    if file is not None:
        note(file)
    for target in targets:
        source = read.get(os.path.realpath(target))
        # Run again, a resolved study writes itself.
        if source is None or (source == file and file.read_bytes() == text.encode()):
            continue
        raise InputError(
            "output-is-input",
            f"{target} would overwrite what {prepared.name} reads"
            if source != file
            else f"{target} would overwrite the study file",
            expected="another folder",
            got=str(target.parent),
            do="-o elsewhere, or another [output] folder",
            whose=str(target),
        )


@contextlib.contextmanager
def _together(folder: Path) -> Iterator[Path]:
    """Yield a folder whose files go to `folder` when the block ends well, all of them or none."""
    made = [path for path in [*reversed(folder.parents), folder] if not path.exists()]
    done = False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with together(folder) as part:
            yield part
        done = True
    except OSError as reason:
        raise _unwritable(folder, (reason.strerror or str(reason)).lower(), made) from reason
    except InputError as error:
        if error.name != "output-unwritable":
            raise
        # What a writer says is about the folder that nobody else sees.
        got = error.got.strip('"')
        raise _unwritable(folder / Path(error.whose).name, got, made) from error.__cause__
    finally:
        for path in () if done else reversed(made):
            with contextlib.suppress(OSError):  # somebody's file is in it, or it was never made
                path.rmdir()


def _unwritable(path: Path, why: str, made: list[Path]) -> InputError:
    return InputError(
        "output-unwritable",
        f"cannot write {path}",
        expected="a writable folder",
        got=f'"{why}"',
        do="-o elsewhere" if made else "-o elsewhere; all old files are as they were",
        whose=str(path),
    )
