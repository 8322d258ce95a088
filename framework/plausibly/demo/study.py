"""The study of the demo: its methods, table, figure, and files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any  # Any below: objects of matplotlib, which may not be installed

import attrs
import numpy as np
import xarray as xr

from plausibly import plots
from plausibly.atomic import check_ours, replacing
from plausibly.config.document import toml_text
from plausibly.conformal.calibrate import calibrate
from plausibly.data import names
from plausibly.demo.subjects import Subject
from plausibly.errors import counted
from plausibly.evaluation.design import MethodTable
from plausibly.evaluation.inputs import HOLES
from plausibly.evaluation.result import decimal
from plausibly.evaluation.splits import split, split_keys, split_seed
from plausibly.evaluation.study import METHOD, SPLIT, compare
from plausibly.extras import require
from plausibly.guarantee import rounded
from plausibly.io import write_plausibilities, write_sets
from plausibly.kernels.random import hash_names
from plausibly.plots.style import picture
from plausibly.progress import Progress
from plausibly.text import percent

ALPHA = "0.1"
DRAWS = 10
TEST = 0.5
EXPECTED = "all answers (expected)"
VOTED = "majority vote"

_DRAWN: MethodTable = {"calibrator": "monte-carlo", "draws": DRAWS}
METHODS: Mapping[str, MethodTable] = {
    EXPECTED: {"calibrator": "expected"},
    f"{DRAWS} drawn answers (monte-carlo)": _DRAWN,
    VOTED: {"calibrator": "majority-vote"},
}
"""Methods that the demo compares; the first makes the predictor."""

EVERY: Mapping[str, MethodTable] = {
    **METHODS,
    **{
        f"{DRAWS} drawn, {combiner}": {**_DRAWN, "combiner": combiner}
        for combiner in ("maximum", "held-out-rank", "ecdf")
    },
}
"""Methods with ``--all``."""

ORDERED = "ordered (ordinal)"
EVERY_ORDERED: Mapping[str, MethodTable] = {
    **EVERY,
    ORDERED: {"score": {"name": "ordinal", "order": "columns"}},
}
"""Methods with ``--all`` of data whose labels are grades."""

FIGURE = "coverage.png"
SETS = "sets.csv"
PREDICTIONS = "probabilities.csv"
VOTES = "votes.csv"
PLAUSIBILITIES = "plausibilities.csv"
STUDY = "study.toml"
_SETS = f"{percent(1 - float(ALPHA))} sets"


@attrs.frozen(kw_only=True, eq=False)
class Result:
    subject: Subject
    study: xr.Dataset
    sets: xr.DataArray


_MEASURES = ("aggregated_coverage", "majority_vote_coverage", "true_coverage", "set_size", HOLES)


def figures(study: xr.Dataset, method: str) -> dict[str, float]:
    part = study.sel({METHOD: method}).isel({names.ALPHA: 0})
    known = (name for name in (*_MEASURES, "guaranteed_level") if name in part)
    return {name: float(part[name].mean()) for name in known}


def _halves(subject: Subject, splits: int) -> str:
    by = "" if subject.cluster is None else f" split by {subject.cluster}"
    return f"{counted(splits)} random {'half' if splits == 1 else 'halves'}{by}"


def design(subject: Subject, splits: int) -> str:
    return f"{subject.fitted}, {_halves(subject, splits)}, alpha {ALPHA}"


def table(result: Result) -> list[str]:
    lines = [
        f"{_SETS + ' calibrated on':<31}{'all answers':>11}{'majority vote':>15}{'labels':>9}"
        f"{'guarantee':>11}",
        f"{'':<31}{'covered':>11}{'covered':>15}{'per set':>9}",
    ]
    for name in map(str, result.study[METHOD].values):
        means = figures(result.study, name)
        level = means["guaranteed_level"]
        lines.append(
            f"{name:<31}{decimal(means['aggregated_coverage']):>11}"
            f"{decimal(means['majority_vote_coverage']):>15}{means['set_size']:>9.2f}"
            f"{'none' if np.isnan(level) else rounded(level):>11}"
        )
    return lines


def meaning(result: Result) -> str:
    subject = result.subject
    voted, expected = (figures(result.study, name) for name in (VOTED, EXPECTED))
    difference = expected["set_size"] - voted["set_size"]
    more = f"{abs(difference):.1f} {'fewer' if difference < 0 else 'more'} labels per set"
    left, hidden = (
        [percent(1 - means[name]) for means in (voted, expected) if name in means]
        for name in ("aggregated_coverage", "true_coverage")
    )
    text = (
        f"Sets calibrated on the majority vote miss {left[0]} of {subject.answers}. Sets "
        f"calibrated on all answers miss {left[1]}, with {more}. "
    )
    if ORDERED in result.study[METHOD].values:
        grades = figures(result.study, ORDERED)
        text += (
            f"Of the sets calibrated on all answers, {expected[HOLES]:.1%} have holes, such as "
            "grades 2 and 4 without 3; sets of ordered labels have none, with "
            f"{grades['set_size']:.2f} labels per set instead of {expected['set_size']:.2f}. "
        )
    if hidden:
        text += f"Of the true labels, which real data hide, they miss {' and '.join(hidden)}. "
    return (
        f"{text}The guarantee holds on average over new {subject.examples} that are exchangeable "
        "with these."
    )


def study_text(subject: Subject, splits: int, seed: int, methods: Mapping[str, MethodTable]) -> str:
    answers = answers_file(subject)
    source: dict[str, object] = {"plausibilities": {"path": answers}}
    if answers == VOTES:
        source = {"annotations": {"path": answers, "reader": "counts"}}
    tables = [{"name": name, **method} for name, method in methods.items()]
    for entry in tables:
        if "draws" in entry:
            entry["calibrator"] = {"name": entry["calibrator"], "draws": entry.pop("draws")}
    source["predictions"] = {"path": PREDICTIONS}
    if subject.cluster is not None:
        source["examples"] = {"path": f"{subject.cluster}s.csv", "cluster": subject.cluster}
    return toml_text(
        {
            "seed": seed,
            "alphas": [Decimal(ALPHA)],
            **source,
            "methods": tables,
            "splits": {"count": splits, "test": TEST},
            "output": {"folder": "study"},
        }
    )


def write_study_file(
    subject: Subject,
    folder: Path,
    *,
    splits: int,
    seed: int,
    methods: Mapping[str, MethodTable] = METHODS,
) -> str:
    """Write the study file beside the data, or in place of an older one, and return its name."""
    try:
        older = int(tomllib.loads((folder / STUDY).read_text(encoding="utf-8"))["splits"]["count"])
    except (OSError, ValueError, LookupError, TypeError):
        older = 0
    text, *others = (
        study_text(subject, count, seed, tables)
        for tables in (methods, METHODS, EVERY, EVERY_ORDERED)
        for count in (splits, older)
    )
    _write(folder / STUDY, text, *others)
    return STUDY


def drawing() -> ModuleType:
    return require("matplotlib.figure", extra="demo", source="plausibly demo")


def draw(result: Result) -> Any:  # Any: a Figure of matplotlib, which may not be installed
    drawn = drawing().Figure(figsize=(12, 5.4), layout="constrained")
    first, second = drawn.subplots(1, 2)
    plots.coverage(result.study, axes=first)
    plots.sizes(result.study, axes=second)
    second.set_yticklabels([])
    second.get_legend().remove()
    subject, halves = result.subject, _halves(result.subject, result.study.sizes[SPLIT])
    what = f"{_SETS} for {counted(len(subject))} {subject.examples}, on {halves}"
    drawn.suptitle(what, x=0.01, ha="left", fontweight="bold")
    return drawn


def run(
    subject: Subject,
    *,
    splits: int,
    seed: int,
    methods: Mapping[str, MethodTable] = METHODS,
    progress: Progress | None = None,
) -> Result:
    study = compare(
        subject.predictions,
        subject.plausibilities,
        methods,
        alphas=[ALPHA],
        splits=splits,
        test=TEST,
        seed=seed,
        cluster=subject.cluster,
        true_label=subject.true_label,
        progress=progress,
    ).data
    return Result(subject=subject, study=study, sets=first_sets(subject, seed))


def first_sets(subject: Subject, seed: int) -> xr.DataArray:
    """Return the prediction sets of the first split's test examples, as the study made them."""
    hashes = hash_names(subject.predictions[names.EXAMPLE].values)
    test = split(hashes, split_keys(seed, 0), test=TEST, groups=subject.groups)
    predictor = calibrate(
        subject.predictions[~test],
        subject.plausibilities[~test],
        seed=split_seed(seed, 0),
        cluster=subject.cluster,
    )
    return predictor.predict(subject.predictions[test], ALPHA)


def write_data(subject: Subject, folder: Path) -> list[str]:
    plausibilities, model = subject.plausibilities, subject.predictions
    answers = answers_file(subject)
    tables = {PREDICTIONS: model.to_pandas()}
    if answers == VOTES:
        tables[VOTES] = (
            (plausibilities * plausibilities[names.DENOMINATOR]).round().astype(int).to_pandas()
        )
    else:
        with replacing(folder / answers) as part:
            write_plausibilities(plausibilities, part)
            check_unedited(folder / answers, part.read_bytes())
    if subject.cluster is not None:
        tables[f"{subject.cluster}s.csv"] = model[subject.cluster].to_series().to_frame()
    for name, table in tables.items():
        _write(folder / name, table.to_csv(lineterminator="\n"))
    return [answers, *(name for name in tables if name != answers)]


def answers_file(subject: Subject) -> str:
    return VOTES if names.DENOMINATOR in subject.plausibilities.coords else PLAUSIBILITIES


def write_result(result: Result, folder: Path, *, figure: bool) -> list[str]:
    if figure:
        content = picture(draw(result), "png")
        with replacing(folder / FIGURE) as part:
            part.write_bytes(content)
    write_sets(result.sets, folder / SETS)
    return [*([FIGURE] if figure else []), SETS, Path(SETS).with_suffix(".json").name]


def _write(path: Path, text: str, *older: str) -> None:
    """Write a text, where it replaces nothing but itself or what an older demo wrote."""
    check_unedited(path, *(content.encode() for content in (text, *older)))
    with replacing(path) as part:
        part.write_bytes(text.encode())


def check_unedited(path: Path, *contents: bytes) -> None:
    """Raise ``output-occupied`` where a file holds something else: it may have been edited."""
    ours, hint = "what this demo writes there", f"-o {path.parent}-2"
    check_ours(path, lambda there: there.read_bytes() in contents, ours, hint=hint)
