"""The demo as a study file, to be edited and run again."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path

from plausibly.atomic import replacing
from plausibly.config.document import toml_text
from plausibly.demo.files import PREDICTIONS, VOTES, check_unedited, opinions
from plausibly.demo.study import ALPHA, EXPECTED, METHODS, TEST
from plausibly.demo.subjects import Subject

STUDY = "study.toml"
FOLDER = "study"


def study_text(subject: Subject, splits: int, seed: int) -> str:
    """Return the study file of a demo, whose results are those of the demo.

    Parameters
    ----------
    subject : Subject
        Its files lie beside the study file.
    splits, seed : int
    """
    said = opinions(subject)
    what: dict[str, object] = (
        {"annotations": {"path": said, "reader": "counts"}}
        if said == VOTES
        else {"plausibilities": {"path": said}}
    )
    calibrations: list[dict[str, object]] = []
    # The first calibration makes the predictor, which should be the one to start with.
    for name in sorted(METHODS, key=lambda name: name != EXPECTED):
        table: dict[str, object] = dict(METHODS[name])
        draws = table.pop("draws", None)
        if draws is not None:
            table["calibrator"] = {"name": table["calibrator"], "draws": draws}
        calibrations.append({"name": name, **table})
    parts: dict[str, object] = {"count": splits, "test": TEST}
    examples: dict[str, object] = {}
    if subject.group is not None:
        examples = {"examples": {"path": f"{subject.group}s.csv"}}
        parts["group"] = subject.group
    return toml_text(
        {"seed": seed, "alphas": [Decimal(ALPHA)]}
        | what
        | {"predictions": {"path": PREDICTIONS}}
        | examples
        | {"calibrations": calibrations, "splits": parts, "output": {"folder": FOLDER}}
    )


def _splits_of(path: Path) -> int:
    """Return how many splits an older study file asks for; 0 where that cannot be told."""
    try:
        return int(tomllib.loads(path.read_text(encoding="utf-8"))["splits"]["count"])
    except (OSError, ValueError, LookupError, TypeError):
        return 0


def write_study_file(subject: Subject, folder: Path, *, splits: int, seed: int) -> str:
    """Write the study file beside the data, and return its name.

    Raises
    ------
    InputError
        ``output-occupied`` where a user has edited it; ``output-unwritable``.
    """
    path, text = folder / STUDY, study_text(subject, splits, seed)
    check_unedited(path, text.encode(), study_text(subject, _splits_of(path), seed).encode())
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return STUDY
