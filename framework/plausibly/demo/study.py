"""The study of the demo: its methods, table, figure, and files."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
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
from plausibly.io import write_sets
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


def figures(study: xr.Dataset, method: str) -> dict[str, float]:
    part = study.sel({METHOD: method}).isel({names.ALPHA: 0})
    coverages = ("aggregated_coverage", "majority_vote_coverage", "true_coverage")
    known = (name for name in (*coverages, "set_size", HOLES, "guaranteed_level") if name in part)
    return {name: float(part[name].mean()) for name in known}


def _halves(subject: Subject, splits: int) -> str:
    by = "" if subject.cluster is None else f" split by {subject.cluster}"
    return f"{counted(splits)} random {'half' if splits == 1 else 'halves'}{by}"


def design(subject: Subject, splits: int) -> str:
    return f"{subject.fitted}, {_halves(subject, splits)}, alpha {ALPHA}"


def table(result: Result) -> list[str]:
    rows = [
        [f"{_SETS} calibrated on", "all answers", "majority vote", "labels", "guarantee"],
        ["", "covered", "covered", "per set", ""],
    ]
    for name in map(str, result.study[METHOD].values):
        means = figures(result.study, name)
        level = means["guaranteed_level"]
        covered = [decimal(means[f"{of}_coverage"]) for of in ("aggregated", "majority_vote")]
        guarantee = "none" if np.isnan(level) else rounded(level)
        rows.append([name, *covered, f"{means['set_size']:.2f}", guarantee])
    return [
        f"{name:<31}{answers:>11}{votes:>15}{size:>9}{level:>11}".rstrip()
        for name, answers, votes, size, level in rows
    ]


def meaning(result: Result) -> str:
    subject = result.subject
    voted, expected = (figures(result.study, name) for name in (VOTED, EXPECTED))
    more = expected["set_size"] - voted["set_size"]
    left, hidden = (
        [percent(1 - means[name]) for means in (voted, expected) if name in means]
        for name in ("aggregated_coverage", "true_coverage")
    )
    text = (
        f"Sets calibrated on the majority vote miss {left[0]} of {subject.answers}. Sets "
        f"calibrated on all answers miss {left[1]}, with {more:.1f} more labels per set. "
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


def write_study_file(
    subject: Subject,
    folder: Path,
    *,
    splits: int,
    seed: int,
    methods: Mapping[str, MethodTable] = METHODS,
) -> str:
    """Write the study file beside the data, and return its name."""
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
    text = toml_text(
        {
            "seed": seed,
            "alphas": [Decimal(ALPHA)],
            **source,
            "methods": tables,
            "splits": {"count": splits, "test": TEST},
            "output": {"folder": "study"},
        }
    )
    # A study file that an older demo wrote may be replaced, unless it was edited since.
    _write(folder / STUDY, _sealed(text), lambda old: old == _sealed(old.partition("\n")[2]))
    return STUDY


def _sealed(text: str) -> str:
    return f"# Written by plausibly demo ({zlib.crc32(text.encode()):08x}).\n{text}"


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
    """Compare the methods; the sets are those of the first split's test examples."""
    model, plausibilities = subject.predictions, subject.plausibilities
    study = compare(
        model,
        plausibilities,
        methods,
        alphas=[ALPHA],
        splits=splits,
        test=TEST,
        seed=seed,
        cluster=subject.cluster,
        true_label=subject.true_label,
        progress=progress,
    ).data
    hashes = hash_names(model[names.EXAMPLE].values)
    test = split(hashes, split_keys(seed, 0), test=TEST, groups=subject.groups)
    predictor = calibrate(
        model[~test], plausibilities[~test], seed=split_seed(seed, 0), cluster=subject.cluster
    )
    return Result(subject=subject, study=study, sets=predictor.predict(model[test], ALPHA))


def write_data(subject: Subject, folder: Path) -> list[str]:
    plausibilities, model = subject.plausibilities, subject.predictions
    answers = answers_file(subject)
    if answers == VOTES:
        plausibilities = (plausibilities * plausibilities[names.DENOMINATOR]).round().astype(int)
    tables = {answers: plausibilities.to_pandas(), PREDICTIONS: model.to_pandas()}
    if subject.cluster is not None:
        tables[f"{subject.cluster}s.csv"] = model[subject.cluster].to_series().to_frame()
    for name, table in tables.items():
        _write(folder / name, table.to_csv(lineterminator="\n"))
    return list(tables)


def answers_file(subject: Subject) -> str:
    return VOTES if names.DENOMINATOR in subject.plausibilities.coords else PLAUSIBILITIES


def write_result(result: Result, folder: Path, *, figure: bool) -> list[str]:
    if figure:
        content = picture(draw(result), "png")
        with replacing(folder / FIGURE) as part:
            part.write_bytes(content)
    write_sets(result.sets, folder / SETS)
    return [*([FIGURE] if figure else []), SETS, Path(SETS).with_suffix(".json").name]


def _write(path: Path, text: str, ours: Callable[[str], bool] = lambda old: False) -> None:
    """Write a text, unless something else is there, which may have been edited."""

    def replaceable(there: Path) -> bool:
        old = there.read_bytes().decode()
        return old == text or ours(old)

    hint = f"-o {path.parent}-2"
    check_ours(path, replaceable, "what this demo writes there", hint=hint)
    with replacing(path) as part:
        part.write_bytes(text.encode())
