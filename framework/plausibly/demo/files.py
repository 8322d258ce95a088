"""The files of a demo: its data in the forms that commands read, one split's sets, the figure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import xarray as xr

from plausibly.atomic import check_ours, replacing, unwritable
from plausibly.data import names
from plausibly.demo.figure import write_figure
from plausibly.demo.study import Result
from plausibly.demo.subjects import Subject
from plausibly.io import write_plausibilities, write_sets

FIGURE = "coverage.png"
SETS = "sets.csv"
PREDICTIONS = "probabilities.csv"
VOTES = "votes.csv"
PLAUSIBILITIES = "plausibilities.csv"


def make_folder(folder: Path) -> None:
    """Make the folder of the demo, if it is not there.

    Raises
    ------
    InputError
        ``output-unwritable``.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise unwritable(folder, reason) from reason


def write_data(subject: Subject, folder: Path) -> list[str]:
    """Write predictions, what experts said, and the groups of the examples.

    Parameters
    ----------
    subject : Subject
    folder : Path

    Returns
    -------
    list of str
        Names of the files: counted votes where plausibilities are counts over a total, else the
        plausibilities; then predictions; then groups, where examples have them.

    Raises
    ------
    InputError
        ``output-occupied`` or ``output-unwritable``.
    """
    lam, model = subject.plausibilities, subject.predictions
    examples = [str(name) for name in model[names.EXAMPLE].values]
    labels = [str(name) for name in model[names.LABEL].values]
    said = opinions(subject)
    if said == VOTES:
        votes = (lam * lam[names.DENOMINATOR]).round().astype(int)
        _write_table(folder / VOTES, [names.EXAMPLE, *labels], examples, _texts(votes))
    else:
        with replacing(folder / PLAUSIBILITIES) as part:
            write_plausibilities(lam, part)
            check_unedited(folder / PLAUSIBILITIES, part.read_bytes())
    _write_table(folder / PREDICTIONS, [names.EXAMPLE, *labels], examples, _texts(model))
    written = [said, PREDICTIONS]
    if subject.group is not None and subject.groups is not None:
        written.append(f"{subject.group}s.csv")
        groups = [[group] for group in subject.groups]
        _write_table(folder / written[-1], [names.EXAMPLE, subject.group], examples, groups)
    return written


def opinions(subject: Subject) -> str:
    """Return the name of the file of what experts said."""
    return VOTES if names.DENOMINATOR in subject.plausibilities.coords else PLAUSIBILITIES


def write_result(result: Result, folder: Path, *, figure: bool) -> list[str]:
    """Write the prediction sets of the first split, their guarantee, and the figure.

    Parameters
    ----------
    result : Result
    folder : Path
    figure : bool
        Whether to draw.

    Returns
    -------
    list of str
        Names of the files.

    Raises
    ------
    InputError
        ``output-unwritable``.
    MissingExtra
        ``extra-missing``, for the figure without matplotlib.
    """
    written = []
    if figure:
        write_figure(result, folder / FIGURE)
        written.append(FIGURE)
    write_sets(result.sets, folder / SETS)
    return [*written, SETS, Path(SETS).with_suffix(".json").name]


def _texts(array: xr.DataArray) -> list[list[str]]:
    """Return every number in the shortest text that reads back as the same."""
    return [[repr(value) for value in row] for row in array.values.tolist()]


def _write_table(
    path: Path, header: Sequence[str], examples: Sequence[str], rows: Iterable[Sequence[str]]
) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([name, *row] for name, row in zip(examples, rows, strict=True))
    content = file.getvalue().encode()
    check_unedited(path, content)
    with replacing(path) as part:
        part.write_bytes(content)


def check_unedited(path: Path, *contents: bytes) -> None:
    """Raise ``output-occupied`` where a file holds something else: it may have been edited."""
    check_ours(
        path,
        lambda there: there.read_bytes() in contents,
        "what this demo writes there",
        do=f"-o {path.parent}-2",
    )
